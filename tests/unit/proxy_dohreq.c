/* SPDX-License-Identifier: MIT
 * What a request of DNS over HTTPS asks for. */
#include "tests/support/test.h"

#include "proxy/dohreq.h"
#include "src/base/mem.h"

/* good.zw.test, A: RFC 8484's form of RFC 4648. */
#define GOOD "AAABAAABAAAAAAAABGdvb2QCencEdGVzdAAAAQAB"

static struct px_dohreq_question question;

static int parse(const char *method, const char *target, const char *type, const void *body,
		 size_t len)
{
	struct px_dohreq r = {.method = zw_span(method),
			      .target = zw_span(target),
			      .content_type = zw_span(type),
			      .accept = zw_span(""),
			      .body = zw_span_n(body, len)};

	return px_dohreq_parse(&r, &question);
}

static const char *name_of(uint16_t *ret_type)
{
	static struct px_dns_query q;

	assert_int_equal(px_dns_query_parse(question.wire, question.len, &q), 0);
	assert_int_equal(q.rcode, PX_DNS_NOERROR);
	*ret_type = q.type;
	return q.host.name;
}

static void test_get__base64url(void **state)
{
	uint16_t type;

	(void)state;
	assert_int_equal(parse("GET", "/dns-query?dns=" GOOD, "", "", 0), 200);
	assert_string_equal(name_of(&type), "good.zw.test");
	assert_int_equal(type, 1);
	assert_false(question.is_json);
	assert_int_equal(parse("GET", "/x?a=1&dns=" GOOD "==&b", "", "", 0), 200);
	assert_int_equal(parse("HEAD", "/dns-query?dns=" GOOD, "", "", 0), 200);
	assert_int_equal(parse("GET", "/dns-query?dns=AAA+", "", "", 0), 400);
	assert_int_equal(parse("GET", "/dns-query?dns=A", "", "", 0), 400);
	assert_int_equal(parse("GET", "/dns-query?dns=", "", "", 0), 400);
	assert_int_equal(parse("GET", "/dns-query?xdns=" GOOD, "", "", 0), 404);
	assert_int_equal(parse("GET", "dns-query", "", "", 0), 400);
	assert_int_equal(parse("PUT", "/dns-query", "", "", 0), 405);
}

static void test_post__is_the_message(void **state)
{
	uint8_t wire[PX_DNS_QUERY_MAX + 1] = {0};
	uint16_t type;

	(void)state;
	assert_int_equal(parse("GET", "/?dns=" GOOD, "", "", 0), 200);
	size_t len = question.len;
	memcpy(wire, question.wire, len);
	assert_int_equal(parse("POST", "/anything", "Application/DNS-Message; x=y", wire, len),
			 200);
	assert_string_equal(name_of(&type), "good.zw.test");
	assert_int_equal(parse("POST", "/", "text/plain", wire, len), 415);
	assert_int_equal(parse("POST", "/", "xapplication/dns-message", wire, len), 415);
	assert_int_equal(parse("POST", "/", "application/dns-message", wire, 3), 400);
	assert_int_equal(parse("POST", "/", "application/dns-message", wire, sizeof(wire)), 413);
}

static void test_json__name_and_type(void **state)
{
	static const struct {
		const char *target;
		int status;
		unsigned type;
	} rows[] = {
		{"/resolve?name=Good.zw.test", 200, 1},
		{"/resolve?name=good.zw.test.&type=AAAA", 200, 28},
		{"/resolve?type=65&name=good%2Ezw.test", 200, 65},
		{"/resolve?name=good.zw.test&type=nothing", 400, 0},
		{"/resolve?name=good.zw.test&type=65536", 400, 0},
		{"/resolve?name=", 400, 0},
		{"/resolve?name=a..b", 400, 0},
		{"/resolve?name=a%00b", 400, 0},
		{"/resolve?name=%2", 400, 0},
	};
	uint16_t type;

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		assert_int_equal(parse("GET", rows[i].target, "", "", 0), rows[i].status);
		if (rows[i].status != 200)
			continue;
		assert_true(question.is_json);
		assert_string_equal(name_of(&type), "good.zw.test");
		assert_int_equal(type, rows[i].type);
	}
}

static void test_json__answer(void **state)
{
	struct px_dns_query q;
	struct pol_addr addr = {.family = POL_FAMILY_V4, .b = {198, 18, 0, 7}};
	struct zw_buf out;

	(void)state;
	assert_int_equal(parse("GET", "/resolve?name=good.zw.test", "", "", 0), 200);
	assert_int_equal(px_dns_query_parse(question.wire, question.len, &q), 0);
	zw_buf_init(&out, 2048);
	assert_int_equal(px_doh_json_write(&q, PX_DNS_NOERROR, &addr, 1, "", &out), 0);
	assert_int_equal(zw_buf_add(&out, "", 1), 0);
	assert_non_null(strstr((char *)zw_buf_head(&out), "\"data\":\"198.18.0.7\""));
	out.len = 0;
	assert_int_equal(px_doh_json_write(&q, PX_DNS_NXDOMAIN, NULL, 0, "say \"no\"\n", &out), 0);
	assert_int_equal(zw_buf_add(&out, "", 1), 0);
	assert_non_null(strstr((char *)zw_buf_head(&out), "\"Comment\":\"say  no  \""));
	assert_null(strstr((char *)zw_buf_head(&out), "Answer"));
	zw_buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_get__base64url),
		cmocka_unit_test(test_post__is_the_message),
		cmocka_unit_test(test_json__name_and_type),
		cmocka_unit_test(test_json__answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
