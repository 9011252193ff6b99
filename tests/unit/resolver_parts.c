/* SPDX-License-Identifier: MIT
 * Upstream lines, chains of CNAMEs, the cache. */
#include "tests/support/test.h"

#include "proxy/resolver/answer.h"
#include "proxy/resolver/cache.h"
#include "proxy/resolver/upstream.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/words.h"

static void test_upstream__good_lines(void **state)
{
	struct res_upstream u;

	(void)state;
	assert_int_equal(res_upstream_parse(zw_span("tls://9.9.9.9#dns.quad9.net"), &u, NULL), 0);
	assert_int_equal(u.kind, RES_UPSTREAM_DOT);
	assert_int_equal(u.port, 853);
	assert_string_equal(u.auth_name, "dns.quad9.net");
	assert_int_equal(u.has_pin, 0);
	assert_int_equal(
		res_upstream_parse(zw_span("tls://[2620:fe::fe]:8853#dns.quad9.net;pin-sha256="
					   "//////////////////////////////////////////8=;ca=/x"),
				   &u, NULL),
		0);
	assert_int_equal(u.addr.family, 6);
	assert_int_equal(u.port, 8853);
	assert_int_equal(u.has_pin, 1);
	assert_int_equal(u.pin[0], 0xff);
	assert_int_equal(u.pin[31], 0xff);
	assert_string_equal(u.ca_file, "/x");
	assert_int_equal(
		res_upstream_parse(zw_span("https://dns.quad9.net/dns-query{?dns};addr=9.9.9.9"),
				   &u, NULL),
		0);
	assert_int_equal(u.kind, RES_UPSTREAM_DOH);
	assert_int_equal(u.port, 443);
	assert_int_equal(u.addr.b[0], 9);
	assert_string_equal(u.auth_name, "dns.quad9.net");
	assert_string_equal(u.path, "/dns-query");
	assert_string_equal(u.zone, "");
	assert_int_equal(
		res_upstream_parse(zw_span("https://[2620:fe::fe]:5053/q?a=b;ca=/x"), &u, NULL), 0);
	assert_int_equal(u.addr.family, 6);
	assert_int_equal(u.port, 5053);
	assert_string_equal(u.auth_name, "2620:fe::fe");
	assert_string_equal(u.path, "/q?a=b");
	assert_int_equal(res_upstream_parse(zw_span("corp.example=system"), &u, NULL), 0);
	assert_int_equal(u.kind, RES_UPSTREAM_SYSTEM);
	assert_string_equal(u.zone, "corp.example");
	assert_int_equal(res_upstream_parse(zw_span("a.b=tls://9.9.9.9#x;ca=/y"), &u, NULL), 0);
	assert_string_equal(u.zone, "a.b");
	assert_string_equal(u.ca_file, "/y");
	assert_int_equal(res_upstream_parse(zw_span("system"), &u, NULL), 0);
	assert_int_equal(u.kind, RES_UPSTREAM_SYSTEM);
}

static void test_upstream__bad_lines_say_why(void **state)
{
	static const char *const bad[] = {
		"9.9.9.9",
		"udp://9.9.9.9",
		"tls://dns.quad9.net",
		"tls://9.9.9.9",
		"tls://9.9.9.9#",
		"tls://9.9.9.9:0#a",
		"tls://9.9.9.9:65536#a",
		"tls://9.9.9.9:8x#a",
		"tls://[::1#a",
		"tls://[::1]8#a",
		"tls://9.9.9#a",
		"tls://9.9.9.9#a b",
		"tls://9.9.9.9#a;pin=x",
		"tls://9.9.9.9#a;pin-sha256=AAAA",
		"tls://9.9.9.9#a;ca=",
		"System",
		"https://dns.quad9.net/dns-query",
		"https://dns.quad9.net;addr=9.9.9.9",
		"https:///dns-query;addr=9.9.9.9",
		"https://a b/q;addr=9.9.9.9",
		"https://a/q r;addr=9.9.9.9",
		"https://a:0/q;addr=9.9.9.9",
		"https://a/q;addr=b",
		"tls://9.9.9.9#a;addr=9.9.9.9",
		"https://9.9.9.9/q#x",
		"",
		/* spare bits of the last digit are not zero */
		"tls://9.9.9.9#a;pin-sha256=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=",
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(bad); i++) {
		struct res_upstream u;
		const char *why = NULL;

		assert_int_equal(res_upstream_parse(zw_span(bad[i]), &u, &why), ZW_E_SYNTAX);
		assert_non_null(why);
	}
}

static void test_resolvconf__nameserver_lines(void **state)
{
	static const char text[] =
		"# nameserver 1.1.1.1\nsearch a b\nnameserver 10.0.0.1\n"
		"nameserver\t10.0.0.2 # x\n nameserver fe80::1\nnameserver oops\n"
		"nameserver 10.0.0.3\nnameserver 10.0.0.4\n";
	struct res_upstream u[3];

	(void)state;
	assert_int_equal(res_resolvconf_parse(zw_span(text), u, 3), 3);
	assert_int_equal(u[0].addr.b[3], 1);
	assert_int_equal(u[1].addr.b[3], 2);
	assert_int_equal(u[2].addr.family, 6);
	assert_int_equal(u[0].kind, RES_UPSTREAM_PLAIN);
	assert_int_equal(u[0].port, 53);
}

static struct res_reply reply;

static void add(enum res_type type, const char *owner, const char *target, uint8_t last)
{
	struct res_rr *rr = &reply.rrs[reply.n_rrs++];

	*rr = (struct res_rr){
		.type = type, .ttl_s = 100 + last, .addr = {.family = 4, .b = {1, 1, 1, last}}};
	zw_strlcpy(rr->owner, owner, sizeof(rr->owner));
	zw_strlcpy(rr->target, target, sizeof(rr->target));
}

static struct res_result read_a(void)
{
	struct res_result r;

	res_answer_read(&reply, "a.example", RES_TYPE_A, &r);
	return r;
}

static void test_answer__follows_the_chain_and_nothing_else(void **state)
{
	(void)state;
	reply = (struct res_reply){0};
	add(RES_TYPE_A, "c.example", "", 3);
	add(RES_TYPE_A, "evil.example", "", 66); /* not in the chain */
	add(RES_TYPE_CNAME, "b.example", "c.example", 2);
	add(RES_TYPE_CNAME, "a.example", "b.example", 1);
	add(RES_TYPE_A, "a.example", "", 67); /* beside a CNAME */
	add(RES_TYPE_A, "c.example", "", 4);
	struct res_result r = read_a();
	assert_int_equal(r.status, ZW_RES_STATUS_OK);
	assert_int_equal(r.n_addrs, 2);
	assert_int_equal(r.addrs[0].b[3], 3);
	assert_int_equal(r.addrs[1].b[3], 4);
	assert_int_equal(r.ttl_s, 101);
	assert_int_equal(r.cnames_len_b, 19);
	assert_memory_equal(r.cnames, "b.example\0c.example", 19);
}

static void test_answer__loops_and_nothing(void **state)
{
	(void)state;
	reply = (struct res_reply){0};
	add(RES_TYPE_CNAME, "a.example", "b.example", 1);
	add(RES_TYPE_CNAME, "b.example", "a.example", 1);
	assert_int_equal(read_a().status, ZW_RES_STATUS_FAILED);
	reply = (struct res_reply){.rcode = 3, .negative_ttl_s = 900};
	assert_int_equal(read_a().status, ZW_RES_STATUS_NO_NAME);
	assert_int_equal(read_a().ttl_s, 60);
	reply = (struct res_reply){0};
	assert_int_equal(read_a().status, ZW_RES_STATUS_NO_DATA);
	reply = (struct res_reply){.rcode = 2};
	assert_int_equal(read_a().status, ZW_RES_STATUS_FAILED);
	reply = (struct res_reply){.error = ZW_E_TIMEOUT};
	assert_int_equal(read_a().status, ZW_RES_STATUS_TIMEOUT);
}

static void test_answer__merge(void **state)
{
	struct res_result a = {.status = ZW_RES_STATUS_OK, .n_addrs = 1, .ttl_s = 300}, r;
	struct res_result none = {.status = ZW_RES_STATUS_NO_DATA, .ttl_s = 20};
	struct res_result failed = {.status = ZW_RES_STATUS_FAILED};
	struct res_result no_name = {.status = ZW_RES_STATUS_NO_NAME, .ttl_s = 20};

	(void)state;
	res_answer_merge(&a, &none, &r);
	assert_int_equal(r.status, ZW_RES_STATUS_OK);
	assert_int_equal(r.ttl_s, 300);
	res_answer_merge(&a, &failed, &r);
	assert_int_equal(r.status, ZW_RES_STATUS_OK);
	assert_int_equal(r.ttl_s, 5);
	res_answer_merge(&failed, &none, &r);
	assert_int_equal(r.status, ZW_RES_STATUS_FAILED);
	res_answer_merge(&none, &failed, &r);
	assert_int_equal(r.status, ZW_RES_STATUS_FAILED);
	res_answer_merge(&no_name, &no_name, &r);
	assert_int_equal(r.status, ZW_RES_STATUS_NO_NAME);
	res_answer_merge(&no_name, &none, &r);
	assert_int_equal(r.status, ZW_RES_STATUS_NO_DATA);
}

static void test_cache__lives_and_dies(void **state)
{
	struct res_cache *c = res_cache_new(2);
	struct res_result r = {.status = ZW_RES_STATUS_OK,
			       .ttl_s = 10,
			       .n_addrs = 1,
			       .addrs = {{.family = 4, .b = {9}}},
			       .cnames = "x",
			       .cnames_len_b = 1};
	struct res_result got = {0};

	(void)state;
	res_cache_put(c, "a", RES_TYPE_ADDR, &r, 1000);
	assert_int_equal(res_cache_get(c, "a", RES_TYPE_ADDR, 5000, &got), 1);
	assert_int_equal(got.ttl_s, 6);
	assert_int_equal(got.addrs[0].b[0], 9);
	assert_int_equal(got.cnames[0], 'x');
	assert_int_equal(res_cache_get(c, "a", RES_TYPE_ADDR, 11000, &got), 0);
	res_cache_put(c, "a", RES_TYPE_ADDR, &r, 1000);
	res_cache_put(c, "b", RES_TYPE_ADDR, &r, 1000);
	assert_int_equal(res_cache_get(c, "a", RES_TYPE_ADDR, 1000, &got), 1);
	res_cache_put(c, "c", RES_TYPE_ADDR, &r, 1000);
	assert_int_equal(res_cache_get(c, "b", RES_TYPE_ADDR, 1000, &got), 0);
	assert_int_equal(res_cache_get(c, "a", RES_TYPE_ADDR, 1000, &got), 1);
	r.status = ZW_RES_STATUS_FAILED;
	res_cache_put(c, "a", RES_TYPE_ADDR, &r, 1000); /* a failure ends what was known */
	assert_int_equal(res_cache_get(c, "a", RES_TYPE_ADDR, 1000, &got), 0);
	assert_int_equal(res_cache_n(c), 1);
	res_cache_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_upstream__good_lines),
		cmocka_unit_test(test_upstream__bad_lines_say_why),
		cmocka_unit_test(test_resolvconf__nameserver_lines),
		cmocka_unit_test(test_answer__follows_the_chain_and_nothing_else),
		cmocka_unit_test(test_answer__loops_and_nothing),
		cmocka_unit_test(test_answer__merge),
		cmocka_unit_test(test_cache__lives_and_dies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
