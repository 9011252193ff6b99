/* SPDX-License-Identifier: MIT
 * What is said to another proxy, and how its answers are taken. */
#include "tests/support/test.h"

#include <errno.h>

#include "proxy/via.h"
#include "src/base/err.h"
#include "src/base/mem.h"

struct f {
	struct px_via via;
	struct px_via_talk talk;
	struct pol_host host;
	struct zw_buf out;
	size_t used;
};

static void begin(struct f *f, const char *url, const char *login, const char *host)
{
	*f = (struct f){.used = 0};
	assert_int_equal(px_via_set(&f->via, zw_span(url), zw_span(login)), 0);
	assert_int_equal(pol_host_parse(host, strlen(host), &f->host), 0);
	zw_buf_init(&f->out, PX_VIA_OUT_MAX);
	assert_int_equal(px_via_step(&f->via, &f->talk, &f->host, 443, NULL, 0, &f->out, &f->used),
			 0);
}

static void said(struct f *f, const void *p, size_t len)
{
	assert_int_equal(f->out.len, len);
	assert_memory_equal(zw_buf_head(&f->out), p, len);
	zw_buf_consume(&f->out, len);
}

static int hear(struct f *f, const void *p, size_t len)
{
	return px_via_step(&f->via, &f->talk, &f->host, 443, p, len, &f->out, &f->used);
}

static void test_http__connect(void **state)
{
	static const char ask[] = "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n";
	static const char yes[] = "HTTP/1.1 200 OK\r\nX: y\r\n\r\nSSH-2.0";
	struct f f;

	(void)state;
	begin(&f, "http://proxy.example:3128", "", "a.example");
	said(&f, ask, sizeof(ask) - 1);
	for (size_t len = 1; len < sizeof(yes) - 8; len++) {
		assert_int_equal(hear(&f, yes, len), 0);
		assert_int_equal(f.used, 0);
	}
	assert_int_equal(hear(&f, yes, sizeof(yes) - 1), 1);
	assert_int_equal(f.used, sizeof(yes) - 8);
	zw_buf_fini(&f.out);
}

static void test_http__login_and_refusals(void **state)
{
	static const char ask[] = "CONNECT [fd00::1]:443 HTTP/1.1\r\nHost: [fd00::1]:443\r\n"
				  "Proxy-Authorization: Basic dTpwYXNz\r\n\r\n";
	struct f f;

	(void)state;
	begin(&f, "http://[::1]:3128", "u:pass", "[fd00::1]");
	said(&f, ask, sizeof(ask) - 1);
	assert_int_equal(hear(&f, "HTTP/1.1 407 No\r\n\r\n", 19), -ECONNREFUSED);
	assert_non_null(strstr(f.talk.why, "upstreamProxyCredentials"));
	assert_int_equal(hear(&f, "HTTP/1.1 403 No\r\n\r\n", 19), -ECONNREFUSED);
	assert_string_equal(f.talk.why, "the proxy answers 403");
	assert_int_equal(hear(&f, "220 mail\r\n\r\n", 12), ZW_E_SYNTAX);
	zw_autofree char *junk = zw_xcalloc(1, PX_VIA_IN_MAX);
	assert_int_equal(hear(&f, junk, PX_VIA_IN_MAX), ZW_E_TOOBIG);
	zw_buf_fini(&f.out);
}

static void test_socks5__name(void **state)
{
	struct f f;

	(void)state;
	begin(&f, "socks5://127.0.0.1:1080", "", "a.example");
	said(&f, "\5\1\0", 3);
	assert_int_equal(hear(&f, "\5", 1), 0);
	assert_int_equal(hear(&f, "\5\0", 2), 0);
	assert_int_equal(f.used, 2);
	said(&f, "\5\1\0\3\11a.example\1\273", 16);
	assert_int_equal(hear(&f, "\5\0\0\1\0\0\0\0\0", 9), 0);
	assert_int_equal(hear(&f, "\5\0\0\1\0\0\0\0\0\0more", 14), 1);
	assert_int_equal(f.used, 10);
	zw_buf_fini(&f.out);
}

static void test_socks5__login_and_refusals(void **state)
{
	struct f f;

	(void)state;
	begin(&f, "socks5://proxy.example:1080", "u:pw", "10.0.0.1");
	said(&f, "\5\2\0\2", 4);
	assert_int_equal(hear(&f, "\5\2", 2), 0);
	said(&f, "\1\1u\2pw", 6);
	assert_int_equal(hear(&f, "\1\0", 2), 0);
	said(&f, "\5\1\0\1\12\0\0\1\1\273", 10);
	assert_int_equal(hear(&f, "\5\2\0\1\0\0\0\0\0\0", 10), -ECONNREFUSED);
	assert_string_equal(f.talk.why, "the proxy answers SOCKS error 2");
	zw_buf_fini(&f.out);
	begin(&f, "socks5://proxy.example:1080", "", "10.0.0.1");
	assert_int_equal(hear(&f, "\5\377", 2), -ECONNREFUSED);
	zw_buf_fini(&f.out);
	begin(&f, "socks5://proxy.example:1080", "", "10.0.0.1");
	assert_int_equal(hear(&f, "HT", 2), ZW_E_SYNTAX);
	zw_buf_fini(&f.out);
}

static void test_set__what_is_no_proxy(void **state)
{
	struct px_via v;

	(void)state;
	assert_int_equal(px_via_set(&v, zw_span(""), zw_span("")), 0);
	assert_int_equal(v.kind, PX_VIA_NONE);
	assert_int_equal(px_via_set(&v, zw_span("https://a:1"), zw_span("")), ZW_E_SYNTAX);
	assert_int_equal(px_via_set(&v, zw_span("http://a"), zw_span("")), ZW_E_SYNTAX);
	assert_int_equal(px_via_set(&v, zw_span("http://"), zw_span("")), ZW_E_SYNTAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_http__connect),
		cmocka_unit_test(test_http__login_and_refusals),
		cmocka_unit_test(test_socks5__name),
		cmocka_unit_test(test_socks5__login_and_refusals),
		cmocka_unit_test(test_set__what_is_no_proxy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
