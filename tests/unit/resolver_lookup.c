/* SPDX-License-Identifier: MIT
 * Lookups over name servers that a test plays: order, company for the slow, coalescing, limits. */
#include "tests/support/test.h"

#include "proxy/resolver/lookup.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"

/* A server: answers after a while, or never, or is not there. */
struct server {
	struct zev_loop *loop;
	int a_ms, aaaa_ms; /* -1 never, -2 not there */
	unsigned rcode;
	unsigned n_asked;
	int error;
};

struct pending {
	struct server *server;
	struct zev_timer *timer;
	enum res_type type;
	char name[64];
	void (*on_reply)(void *arg, const struct res_reply *reply);
	void *arg;
	struct pending *next;
};

static struct pending *all_pending;
static struct zev_loop *loop;
static struct zev_timer *stopper;
static unsigned n_answers, last_status;
static size_t last_n_addrs;
static uint64_t last_query;

static void on_due(void *arg)
{
	struct pending *p = arg;
	static struct res_reply r;

	r = (struct res_reply){.rcode = p->server->rcode, .error = p->server->error};
	if (r.rcode == 0 && r.error == 0) {
		r.n_rrs = 1;
		r.rrs[0] = (struct res_rr){.type = (uint16_t)p->type,
					   .ttl_s = 60,
					   .addr = {.family = p->type == RES_TYPE_A ? 4 : 6}};
		zw_strlcpy(r.rrs[0].owner, p->name, sizeof(r.rrs[0].owner));
	}
	p->on_reply(p->arg, &r);
	p->on_reply = NULL;
}

static int ask(void *server, const char *name, enum res_type type,
	       void (*on_reply)(void *arg, const struct res_reply *reply), void *arg)
{
	struct server *s = server;
	bool is_dead = strstr(name, ".dead.") != NULL;
	int ms = is_dead ? -1 : type == RES_TYPE_A ? s->a_ms : s->aaaa_ms;

	s->n_asked++;
	if (ms == -2)
		return ZW_E_EOF;
	struct pending *p = zw_xnew(struct pending);
	*p = (struct pending){
		.server = s, .type = type, .on_reply = on_reply, .arg = arg, .next = all_pending};
	zw_strlcpy(p->name, name, sizeof(p->name));
	p->timer = zev_timer_new(s->loop, on_due, p);
	all_pending = p;
	if (ms >= 0)
		zev_timer_start(p->timer, ms);
	return 0;
}

static void on_answer(void *arg, uint64_t query, const struct res_result *r, const char *detail)
{
	(void)arg;
	(void)detail;
	n_answers++;
	last_query = query;
	last_status = r->status;
	last_n_addrs = r->n_addrs;
}

static void on_stop(void *arg)
{
	(void)arg;
	zev_stop(loop);
}

static void run(int ms)
{
	zev_timer_start(stopper, ms);
	zev_run(loop);
}

static struct res_lookups *make(struct server *servers, size_t n, unsigned timeout_ms)
{
	struct res_source sources[4];

	loop = zev_loop_new();
	stopper = zev_timer_new(loop, on_stop, NULL);
	n_answers = 0;
	last_status = 99;
	for (size_t i = 0; i < n; i++) {
		servers[i].loop = loop;
		sources[i] = (struct res_source){
			.text = "s", .zone = "", .server = &servers[i], .ask = ask};
	}
	return res_lookups_new(loop, sources, n, timeout_ms, on_answer, NULL);
}

/* Late answers still come to a lookup that is over: they must find nothing to break. */
static void finish(struct res_lookups *l)
{
	struct pending *p;

	res_lookups_free(l);
	for (p = all_pending; p != NULL; p = p->next)
		if (p->on_reply != NULL)
			on_due(p);
	while ((p = all_pending) != NULL) {
		all_pending = p->next;
		zev_timer_free(p->timer);
		free(p);
	}
	zev_timer_free(stopper);
	zev_loop_free(loop);
}

static void test_lookup__both_types_then_cache(void **state)
{
	struct server s[1] = {{.a_ms = 5, .aaaa_ms = 10}};
	struct res_lookups *l = make(s, 1, 1000);

	(void)state;
	for (uint64_t i = 0; i < 50; i++)
		res_lookup_start(l, i, "a.example", RES_TYPE_ADDR);
	assert_int_equal(res_lookups_n_open(l), 1);
	run(40);
	assert_int_equal(n_answers, 50);
	assert_int_equal(last_n_addrs, 2);
	assert_int_equal(s[0].n_asked, 2);
	res_lookup_start(l, 99, "a.example", RES_TYPE_ADDR);
	assert_int_equal(n_answers, 51);
	assert_int_equal(last_query, 99);
	finish(l);
}

static void test_lookup__dead_first_server_costs_nothing(void **state)
{
	struct server s[2] = {{.a_ms = -2, .aaaa_ms = -2}, {.a_ms = 5, .aaaa_ms = 5}};
	struct res_lookups *l = make(s, 2, 1000);

	(void)state;
	res_lookup_start(l, 1, "a.example", RES_TYPE_ADDR);
	run(30);
	assert_int_equal(last_status, ZW_RES_STATUS_OK);
	/* It is asked last from now on. */
	res_lookup_start(l, 2, "b.example", RES_TYPE_ADDR);
	run(30);
	assert_int_equal(n_answers, 2);
	assert_int_equal(s[0].n_asked, 2);
	finish(l);
}

static void test_lookup__silent_server_gets_company(void **state)
{
	struct server s[2] = {{.a_ms = -1, .aaaa_ms = -1}, {.a_ms = 5, .aaaa_ms = 5}};
	struct res_lookups *l = make(s, 2, 3000);

	(void)state;
	int64_t t0 = zw_mono_ms();
	res_lookup_start(l, 1, "a.example", RES_TYPE_ADDR);
	run(700);
	assert_int_equal(n_answers, 0);
	run(200);
	assert_int_equal(last_status, ZW_RES_STATUS_OK);
	/* long before the first server's 3 s, unless this process was not let run */
	assert_true(zw_mono_ms() - t0 < 2500 || s[1].n_asked > 0);
	res_lookup_start(l, 2, "b.example", RES_TYPE_ADDR);
	run(30);
	assert_int_equal(n_answers, 2);
	finish(l);
}

static void test_lookup__one_family_is_enough(void **state)
{
	struct server s[1] = {{.a_ms = 5, .aaaa_ms = -1}};
	struct res_lookups *l = make(s, 1, 2000);

	(void)state;
	res_lookup_start(l, 1, "a.example", RES_TYPE_ADDR);
	run(200);
	assert_int_equal(n_answers, 0);
	run(200);
	assert_int_equal(last_status, ZW_RES_STATUS_OK);
	assert_int_equal(last_n_addrs, 1);
	finish(l);
}

static void test_lookup__no_such_name_is_an_answer(void **state)
{
	struct server s[2] = {{.a_ms = 5, .aaaa_ms = 5, .rcode = 3}, {.a_ms = 5, .aaaa_ms = 5}};
	struct res_lookups *l = make(s, 2, 1000);

	(void)state;
	res_lookup_start(l, 1, "a.example", RES_TYPE_ADDR);
	run(30);
	assert_int_equal(last_status, ZW_RES_STATUS_NO_NAME);
	assert_int_equal(s[1].n_asked, 0);
	finish(l);
}

static void test_lookup__fails_and_times_out(void **state)
{
	struct server s[1] = {{.a_ms = -1, .aaaa_ms = -1}};
	struct res_lookups *l = make(s, 1, 300);

	(void)state;
	res_lookup_start(l, 1, "a.example", RES_TYPE_ADDR);
	run(350);
	assert_int_equal(last_status, ZW_RES_STATUS_TIMEOUT);
	/* A server that breaks is tried again within the time. */
	s[0] = (struct server){.loop = loop, .a_ms = 1, .aaaa_ms = 1, .error = ZW_E_EOF};
	res_lookup_start(l, 2, "b.example", RES_TYPE_ADDR);
	run(250);
	assert_int_equal(n_answers, 1);
	s[0].error = 0;
	run(100);
	finish(l);
}

static void test_lookup__bounds(void **state)
{
	struct server s[1] = {{.a_ms = -1, .aaaa_ms = -1}};
	struct res_lookups *l = make(s, 1, 60000);

	(void)state;
	res_lookup_start(l, 1, "", RES_TYPE_ADDR);
	res_lookup_start(l, 2, "a b", RES_TYPE_ADDR);
	res_lookup_start(l, 3, "back\\slash", RES_TYPE_ADDR);
	assert_int_equal(n_answers, 3);
	for (int i = 0; i < 2000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "n.example%d.test", i);
		res_lookup_start(l, 10, name, RES_TYPE_ADDR);
	}
	assert_int_equal(res_lookups_n_open(l), 1024);
	assert_int_equal(n_answers, 3 + 2000 - 1024);
	assert_int_equal(last_status, ZW_RES_STATUS_FAILED);
	finish(l);
	l = make(NULL, 0, 1000);
	res_lookup_start(l, 1, "a.example", RES_TYPE_ADDR);
	assert_int_equal(last_status, ZW_RES_STATUS_FAILED);
	finish(l);
}

/* Two thousand names of a domain whose servers are dead, and some of others beside them. */
static void test_Z079_lookup__a_dead_domain_does_not_take_all(void **state)
{
	struct server s[1] = {{.a_ms = 1, .aaaa_ms = 1}};
	struct res_lookups *l = make(s, 1, 60000);
	char name[64];

	(void)state;
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "n%d.dead.test", i);
		res_lookup_start(l, 1, name, RES_TYPE_ADDR);
	}
	assert_int_equal(res_lookups_n_open(l), 48);
	assert_int_equal(n_answers, 2000 - 48);
	assert_int_equal(last_status, ZW_RES_STATUS_FAILED);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "www.site%d.test", i);
		res_lookup_start(l, 2, name, RES_TYPE_ADDR);
	}
	for (int i = 0; i < 100 && n_answers < 2000 - 48 + 200; i++)
		run(50);
	assert_int_equal(n_answers, 2000 - 48 + 200);
	assert_int_equal(last_status, ZW_RES_STATUS_OK);
	finish(l);
}

/* A zone's names are asked of its servers alone, the longest zone first. */
static void test_zone__has_its_own_servers(void **state)
{
	struct server s[4] = {{.a_ms = 1, .aaaa_ms = 1},
			      {.a_ms = 1, .aaaa_ms = 1},
			      {.a_ms = 1, .aaaa_ms = 1},
			      {.a_ms = -2, .aaaa_ms = -2}};
	static const char *const zones[4] = {"", "corp.test", "eu.corp.test", "gone.corp.test"};
	static const char *const names[] = {"a.test", "xcorp.test", "corp.test", "a.corp.test",
					    "a.eu.corp.test"};
	static const unsigned of[] = {0, 0, 1, 1, 2};
	struct res_source sources[4];

	(void)state;
	finish(make(s, 1, 1000));
	loop = zev_loop_new();
	stopper = zev_timer_new(loop, on_stop, NULL);
	for (size_t i = 0; i < 4; i++) {
		s[i].loop = loop;
		sources[i] = (struct res_source){
			.text = "s", .zone = zones[i], .server = &s[i], .ask = ask};
	}
	struct res_lookups *l = res_lookups_new(loop, sources, 4, 3000, on_answer, NULL);
	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++) {
		unsigned before = s[of[i]].n_asked;

		res_lookup_start(l, i, names[i], RES_TYPE_ADDR);
		assert_int_equal(s[of[i]].n_asked, before + 2);
	}
	unsigned n = s[0].n_asked + s[1].n_asked + s[2].n_asked;
	assert_int_equal(n, 2 * ZW_N_ELEMENTS(names));
	n_answers = 0;
	res_lookup_start(l, 9, "x.gone.corp.test", RES_TYPE_ADDR);
	for (int i = 0; i < 100 && n_answers < 6; i++)
		run(50);
	assert_int_equal(last_status, ZW_RES_STATUS_FAILED);
	assert_int_equal(s[0].n_asked + s[1].n_asked + s[2].n_asked, n);
	finish(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lookup__both_types_then_cache),
		cmocka_unit_test(test_lookup__dead_first_server_costs_nothing),
		cmocka_unit_test(test_lookup__silent_server_gets_company),
		cmocka_unit_test(test_lookup__one_family_is_enough),
		cmocka_unit_test(test_lookup__no_such_name_is_an_answer),
		cmocka_unit_test(test_lookup__fails_and_times_out),
		cmocka_unit_test(test_lookup__bounds),
		cmocka_unit_test(test_Z079_lookup__a_dead_domain_does_not_take_all),
		cmocka_unit_test(test_zone__has_its_own_servers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
