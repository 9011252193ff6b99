/* SPDX-License-Identifier: MIT
 * Counts and times: limits, the wheel, the table of who has which port. */
#include "tests/support/test.h"

#include <unistd.h>

#include "proxy/limits.h"
#include "src/base/err.h"
#include "proxy/wheel.h"
#include "proxy/who.h"
#include "src/base/io.h"
#include "src/base/mem.h"

static void test_limits__in_all_and_per_host(void **state)
{
	struct px_limits l;

	(void)state;
	px_limits_init(&l, 3, 2, 0, 0);
	assert_null(px_limits_open(&l, 1));
	assert_null(px_limits_open(&l, 1));
	assert_null(px_limits_open(&l, 1));
	assert_non_null(px_limits_open(&l, 1));
	px_limits_close(&l);
	px_limits_close(&l);
	assert_null(px_limits_open(&l, 1));
	assert_null(px_limits_host_open(&l, "a"));
	assert_null(px_limits_host_open(&l, "a"));
	assert_non_null(px_limits_host_open(&l, "a"));
	assert_null(px_limits_host_open(&l, "b"));
	px_limits_host_close(&l, "a");
	assert_null(px_limits_host_open(&l, "a"));
	px_limits_fini(&l);
}

static void test_limits__rate_with_burst(void **state)
{
	struct px_limits l;
	int n = 0;

	(void)state;
	px_limits_init(&l, 0, 0, 0, 50);
	for (int i = 0; i < 1000; i++)
		n += px_limits_open(&l, 1000) == NULL;
	assert_int_equal(n, 200);
	n = 0;
	for (int i = 0; i < 1000; i++)
		n += px_limits_open(&l, 1000 + i) == NULL;
	assert_in_range(n, 49, 51);
	/* After a pause the burst is whole again, not larger. */
	n = 0;
	for (int i = 0; i < 1000; i++)
		n += px_limits_open(&l, 100000) == NULL;
	assert_int_equal(n, 200);
	px_limits_fini(&l);
}

static void test_limits__zero_is_none(void **state)
{
	struct px_limits l;

	(void)state;
	px_limits_init(&l, 0, 0, 0, 0);
	for (int i = 0; i < 10000; i++) {
		assert_null(px_limits_open(&l, 1));
		assert_null(px_limits_host_open(&l, "a"));
	}
	px_limits_fini(&l);
}

struct shot {
	struct px_wheel *wheel;
	struct zev_loop *loop;
	struct px_timeout t, other;
	int64_t at_ms;
	int n;
};

static void on_shot(void *arg)
{
	struct shot *s = arg;

	s->at_ms = zw_mono_ms();
	s->n++;
	/* A callback may clear another one that is due in the same turn. */
	px_timeout_clear(s->wheel, &s->other);
}

static void on_stop(void *arg)
{
	zev_stop(((struct shot *)arg)->loop);
}

static void test_wheel__fires_in_time_and_once(void **state)
{
	struct zev_loop *loop = zev_loop_new();
	struct px_wheel *w = px_wheel_new(loop);
	struct shot a = {.wheel = w, .loop = loop}, b = a, never = a, end = a;
	int64_t t0 = zw_mono_ms();

	(void)state;
	px_timeout_set(w, &a.t, 120, on_shot, &a);
	px_timeout_set(w, &a.other, 120, on_shot, &never);
	px_timeout_set(w, &b.t, 5000, on_shot, &b);
	px_timeout_set(w, &b.t, 200, on_shot, &b);
	px_timeout_set(w, &never.t, 100, on_shot, &never);
	px_timeout_clear(w, &never.t);
	px_timeout_set(w, &end.t, 400, on_stop, &end);
	assert_int_equal(px_wheel_n(w), 4);
	zev_run(loop);
	assert_int_equal(a.n, 1);
	assert_int_equal(b.n, 1);
	assert_int_equal(never.n, 0);
	assert_true(a.at_ms - t0 >= 120);
	assert_true(b.at_ms - t0 >= 200);
	assert_true(a.at_ms <= b.at_ms);
	assert_int_equal(px_wheel_n(w), 0);
	px_wheel_free(w);
	zev_loop_free(loop);
}

static void test_whos__taken_once_and_not_for_ever(void **state)
{
	struct zev_loop *loop = zev_loop_new();
	struct px_wheel *w = px_wheel_new(loop);
	struct px_whos *whos = px_whos_new(w);
	struct zw_msg_tcp_who m = {.local_port = 4000,
				   .family = 4,
				   .addr = zw_span("\1\2\3\4"),
				   .port = 443,
				   .pid = 7,
				   .exe = zw_span("/bin/a")};

	(void)state;
	assert_null(px_whos_take(whos, 4000));
	px_whos_put(whos, &m);
	m.exe = zw_span("/bin/b");
	px_whos_put(whos, &m); /* a newer word about the same port */
	struct px_who *who = px_whos_take(whos, 4000);
	assert_string_equal(who->exe, "/bin/b");
	assert_int_equal(who->addr.family, POL_FAMILY_V4);
	assert_int_equal(who->addr.b[3], 4);
	assert_null(px_whos_take(whos, 4000));
	px_who_unref(who);
	px_whos_put(whos, &m);
	usleep((PX_WHO_KEEP_MS + 10) * 1000);
	assert_null(px_whos_take(whos, 4000));
	px_whos_put(whos, &m);
	px_whos_free(whos);
	px_wheel_free(w);
	zev_loop_free(loop);
}

static void test_programs__have_slots_of_their_own(void **state)
{
	struct px_limits l;

	(void)state;
	px_limits_init(&l, 0, 0, 2, 0);
	assert_null(px_limits_program_open(&l, "/bin/a"));
	assert_null(px_limits_program_open(&l, "/bin/a"));
	const char *over = px_limits_program_open(&l, "/bin/a");
	assert_non_null(over);
	assert_false(px_limits_is_rate(over));
	assert_null(px_limits_program_open(&l, "/bin/b"));
	px_limits_program_close(&l, "/bin/a");
	assert_null(px_limits_program_open(&l, "/bin/a"));
	px_limits_fini(&l);
}

static struct pol_host host_of(const char *name)
{
	struct pol_host h;

	assert_int_equal(pol_host_parse(name, strlen(name), &h), 0);
	return h;
}

static void test_quotas__of_a_session(void **state)
{
	struct px_limits l;

	(void)state;
	px_limits_init(&l, 0, 0, 0, 0);
	assert_null(px_limits_bytes(&l, 0, UINT64_MAX / 4, UINT64_MAX / 4));
	l.up_b = l.down_b = 0;
	l.quota_up_b = 100;
	l.quota_down_b = 1000;
	assert_null(px_limits_bytes(&l, 0, 99, 999));
	const char *down = px_limits_bytes(&l, 0, 0, 1);
	assert_non_null(down);
	assert_non_null(strstr(down, "network.quotas.down"));
	assert_true(px_limits_is_rate(down));
	assert_non_null(strstr(px_limits_bytes(&l, 0, 1, 0), "network.quotas.up"));
	/* Whoever comes later is told without a byte. */
	assert_non_null(px_limits_bytes(&l, 0, 0, 0));
	px_limits_fini(&l);
}

static void test_quotas__of_sites(void **state)
{
	struct px_limits l;
	struct pol_host a = host_of("a.example"), sub = host_of("x.a.example");
	struct pol_host v4 = host_of("10.1.2.3"), other = host_of("b.example");

	(void)state;
	px_limits_init(&l, 0, 0, 0, 0);
	assert_int_equal(px_limits_quotas_add(
				 &l, zw_span("a.example 10\n*.a.example:443 20\n10.1.0.0/16 5\n")),
			 0);
	assert_int_equal(px_limits_quotas_add(&l, zw_span("nothing\n")), ZW_E_SYNTAX);
	assert_int_equal(px_limits_quotas_add(&l, zw_span("a.example x\n")), ZW_E_SYNTAX);
	assert_int_equal(px_limits_quotas_of(&l, &a, 443), 1);
	assert_int_equal(px_limits_quotas_of(&l, &sub, 443), 2);
	assert_int_equal(px_limits_quotas_of(&l, &sub, 80), 0);
	assert_int_equal(px_limits_quotas_of(&l, &v4, 22), 4);
	assert_int_equal(px_limits_quotas_of(&l, &other, 443), 0);
	assert_null(px_limits_bytes(&l, 1, 4, 5));
	assert_non_null(px_limits_bytes(&l, 1, 0, 1));
	assert_null(px_limits_bytes(&l, 2, 19, 0));
	assert_null(px_limits_bytes(&l, 0, 1000, 1000));
	px_limits_fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits__in_all_and_per_host),
		cmocka_unit_test(test_limits__rate_with_burst),
		cmocka_unit_test(test_limits__zero_is_none),
		cmocka_unit_test(test_wheel__fires_in_time_and_once),
		cmocka_unit_test(test_whos__taken_once_and_not_for_ever),
		cmocka_unit_test(test_programs__have_slots_of_their_own),
		cmocka_unit_test(test_quotas__of_a_session),
		cmocka_unit_test(test_quotas__of_sites),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
