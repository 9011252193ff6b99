/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include <sys/socket.h>

#include "sandbox/broker/record.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/words.h"

/* What zwatch would take. */
struct taken {
	unsigned n_rows, n_updates;
	uint32_t n_times;
	char target[128];
};

static void on_msg(struct zw_chan *chan, enum zw_msg_id id, const union zw_msg_any *msg, int *fds,
		   void *arg)
{
	struct taken *t = arg;

	(void)chan;
	(void)fds;
	assert_int_equal(id, ZW_ID_sock_event);
	if (msg->sock_event.phase == 0)
		t->n_rows++;
	else
		t->n_updates++;
	t->n_times = msg->sock_event.n_times;
	zw_span_cpy(t->target, sizeof(t->target), msg->sock_event.target);
}

static void on_end(struct zw_chan *chan, int error, void *arg)
{
	(void)chan;
	(void)error;
	(void)arg;
}

static void stop(void *arg)
{
	zev_stop(arg);
}

struct bench {
	struct zev_loop *loop;
	struct zw_chan *here, *there;
	struct brk_recorder *recorder;
	struct zev_timer *timer;
	struct taken taken;
};

static struct bench *bench_new(void)
{
	static const struct zw_chan_ops ops = {.on_msg = on_msg, .on_end = on_end};
	struct bench *b = zw_xnew(struct bench);
	int fds[2];

	assert_int_equal(zw_chan_pair(fds), 0);
	b->loop = zev_loop_new();
	b->here = zw_chan_new(b->loop, fds[0], ROLE_BROKER, ROLE_SUPER, &ops, &b->taken);
	b->there = zw_chan_new(b->loop, fds[1], ROLE_SUPER, ROLE_BROKER, &ops, &b->taken);
	b->recorder = brk_recorder_new(b->loop, b->here);
	b->timer = zev_timer_new(b->loop, stop, b->loop);
	return b;
}

static void bench_run(struct bench *b, int64_t ms)
{
	zev_timer_start(b->timer, ms);
	zev_run(b->loop);
}

static void bench_free(struct bench *b)
{
	brk_recorder_free(b->recorder);
	zev_timer_free(b->timer);
	zw_chan_free(b->here);
	zw_chan_free(b->there);
	zev_loop_free(b->loop);
	free(b);
}

static void happen(struct bench *b, const char *target, const char *exe)
{
	struct brk_fold_key k = {.did = ZW_DID_FAIL, .target = target, .exe = exe, .reason = ""};

	if (brk_fold_count(b->recorder, &k))
		return;
	struct brk_event *e = zw_xnew(struct brk_event);
	zw_strlcpy(e->target, target, sizeof(e->target));
	e->did = ZW_DID_FAIL;
	brk_fold_add(b->recorder, &k, e);
}

static void test_fold__first_at_once_then_a_count_a_second(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	for (int i = 0; i < 1000; i++)
		happen(b, "/run/nscd/socket", "/bin/id");
	happen(b, "/run/nscd/socket", "/bin/ls");
	bench_run(b, 50);
	assert_int_equal(b->taken.n_rows, 2);
	assert_int_equal(b->taken.n_updates, 0);
	bench_run(b, 1100);
	assert_int_equal(b->taken.n_updates, 1);
	assert_int_equal(b->taken.n_times, 1000);
	bench_free(b);
}

static void test_fold__a_flood_of_different_things_becomes_a_sum(void **state)
{
	struct bench *b = bench_new();
	char target[64];

	(void)state;
	for (int i = 0; i < 5000; i++) { /* zwatch reads nothing meanwhile */
		snprintf(target, sizeof(target), "/none/%d", i);
		happen(b, target, "/bin/x");
	}
	assert_true(zw_chan_n_queued(b->here) < 1200);
	bench_run(b, 1300);
	assert_true(b->taken.n_rows < 2000);
	assert_string_equal(b->taken.target, "(more than could be listed)");
	assert_true(b->taken.n_rows + b->taken.n_times >= 5000);
	bench_free(b);
}

/* Also when zwatch takes it all: what is on the disk stays there. */
static void test_fold__a_flood_that_is_read_is_bounded_too(void **state)
{
	struct bench *b = bench_new();
	char target[64];
	int64_t from_ms = zw_mono_ms();

	(void)state;
	for (int i = 0; i < 8000; i++) {
		snprintf(target, sizeof(target), "/none/%d", i);
		happen(b, target, "/bin/x");
		if (i % 50 == 0)
			bench_run(b, 1);
	}
	bench_run(b, 1300);
	/* 2,000 at once, 100 a second, and one that stands for the rest */
	uint64_t most = 2001 + (uint64_t)(zw_mono_ms() - from_ms + 10) / 10;
	assert_in_range(b->taken.n_rows, 2000, most);
	assert_true(b->taken.n_times + b->taken.n_rows >= 8000);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fold__first_at_once_then_a_count_a_second),
		cmocka_unit_test(test_fold__a_flood_of_different_things_becomes_a_sum),
		cmocka_unit_test(test_fold__a_flood_that_is_read_is_bounded_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
