/* SPDX-License-Identifier: MIT
 * HTTP/1 request heads: what clients send, what is read in two ways elsewhere, how it is sent on,
 * and where a body ends. */
#include "tests/support/test.h"

#include "proxy/http1.h"
#include "src/base/err.h"
#include "src/base/mem.h"

#define H "Host: a.test\r\n"

static int parse_n(const char *s, size_t len, struct px_http1_head *ret, const char **ret_why)
{
	return px_http1_parse((const uint8_t *)s, len, 0, NULL, ret, ret_why);
}

static int parse(const char *s, struct px_http1_head *ret)
{
	return parse_n(s, strlen(s), ret, NULL);
}

static void test_parse__good(void **state)
{
	static const struct {
		const char *in;
		enum px_http1_form form;
		const char *host;
		uint16_t port;
		const char *path;
	} rows[] = {
		{"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n", PX_FORM_CONNECT,
		 "a.test", 443, ""},
		{"CONNECT a.test:443 HTTP/1.1\r\n" H "\r\n", PX_FORM_CONNECT, "a.test", 443, ""},
		{"CONNECT A.TEST.:22 HTTP/1.0\r\n\r\n", PX_FORM_CONNECT, "a.test", 22, ""},
		{"CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: [2001:DB8::1]:443\r\n\r\n",
		 PX_FORM_CONNECT, "2001:db8::1", 443, ""},
		{"CONNECT 0x7f.1:80 HTTP/1.0\r\n\r\n", PX_FORM_CONNECT, "127.0.0.1", 80, ""},
		{"GET http://a.test/x?y=1 HTTP/1.1\r\n" H "\r\n", PX_FORM_ABSOLUTE, "a.test", 80,
		 "/x?y=1"},
		{"GET HTTP://A.test HTTP/1.1\r\n" H "\r\n", PX_FORM_ABSOLUTE, "a.test", 80, ""},
		{"GET http://a.test?q HTTP/1.1\r\n" H "\r\n", PX_FORM_ABSOLUTE, "a.test", 80, "?q"},
		{"GET http://a.test:8080/ HTTP/1.1\r\nhost:\ta.test:8080 \r\n\r\n",
		 PX_FORM_ABSOLUTE, "a.test", 8080, "/"},
		{"GET http://a.test:80/ HTTP/1.1\r\n" H "\r\n", PX_FORM_ABSOLUTE, "a.test", 80,
		 "/"},
		{"GET http://a.test/ HTTP/1.0\r\n\r\n", PX_FORM_ABSOLUTE, "a.test", 80, "/"},
		{"GET http://a.test/@x://y HTTP/1.0\r\n\r\n", PX_FORM_ABSOLUTE, "a.test", 80,
		 "/@x://y"},
		{"GET /p\xc3\xbc HTTP/1.1\r\nHost: a.test:81\r\n\r\n", PX_FORM_ORIGIN, "a.test", 81,
		 "/p\xc3\xbc"},
		{"GET //b.test/ HTTP/1.1\r\n" H "\r\n", PX_FORM_ORIGIN, "a.test", 80, "//b.test/"},
		{"OPTIONS * HTTP/1.1\r\n" H "\r\n", PX_FORM_ASTERISK, "a.test", 80, "*"},
		{"M-SEARCH / HTTP/1.1\r\n" H "\r\n", PX_FORM_ORIGIN, "a.test", 80, "/"},
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		struct px_http1_head h;

		if (parse(rows[i].in, &h) != (int)strlen(rows[i].in))
			fail_msg("refused: %s", rows[i].in);
		assert_int_equal(h.form, rows[i].form);
		assert_true(h.has_host);
		assert_string_equal(h.host.name, rows[i].host);
		assert_int_equal(h.port, rows[i].port);
		assert_true(zw_span_eq(h.path, rows[i].path));
		assert_int_equal(h.body, PX_BODY_NONE);
	}
}

static void test_parse__fields(void **state)
{
	struct px_http1_head h;

	(void)state;
	assert_true(parse("GET / HTTP/1.1\r\n" H "X: \t a b\t \r\nEmpty:\r\nx:2\r\n\r\nrest", &h) >
		    0);
	assert_int_equal(h.n_fields, 4);
	assert_true(zw_span_eq(px_http1_field(&h, "x")->value, "a b"));
	assert_true(zw_span_eq(px_http1_field(&h, "EMPTY")->value, ""));
	assert_null(px_http1_field(&h, "emp"));
	assert_true(parse("GET / HTTP/1.0\r\n\r\n", &h) > 0);
	assert_false(h.has_host);
	assert_int_equal(h.n_fields, 0);
}

/* Heads that some parsers take (design of the network side, section 5) and more of the kind. */
static const struct {
	const char *in;
	size_t len;
	int error;
} refused[] = {
#define BAD(s)                                \
	{                                     \
		s, sizeof(s) - 1, ZW_E_SYNTAX \
	}
#define OTHER(s, e)                 \
	{                           \
		s, sizeof(s) - 1, e \
	}
	BAD("POST / HTTP/1.1\r\n" H "Content-Length: 3\r\nContent-Length: 4\r\n\r\n"),
	BAD("POST / HTTP/1.1\r\n" H "Content-Length: 3\r\nContent-Length: 3\r\n\r\n"),
	BAD("POST / HTTP/1.1\r\n" H "Content-Length: 3, 3\r\n\r\n"),
	BAD("POST / HTTP/1.1\r\n" H "Content-Length: +3\r\n\r\n"),
	BAD("POST / HTTP/1.1\r\n" H "Content-Length: -1\r\n\r\n"),
	BAD("POST / HTTP/1.1\r\n" H "Content-Length: 0x10\r\n\r\n"),
	BAD("POST / HTTP/1.1\r\n" H "Content-Length: 1 2\r\n\r\n"),
	BAD("POST / HTTP/1.1\r\n" H "Content-Length:\r\n\r\n"),
	BAD("POST / HTTP/1.1\r\n" H "Content-Length: 9223372036854775808\r\n\r\n"),
	BAD("POST / HTTP/1.1\r\n" H "Content-Length: 18446744073709551617\r\n\r\n"),
	BAD("POST / HTTP/1.1\r\n" H "Transfer-Encoding: xchunked\r\n\r\n"),
	BAD("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked, identity\r\n\r\n"),
	BAD("POST / HTTP/1.1\r\n" H "Transfer-Encoding: gzip, chunked\r\n\r\n"),
	BAD("POST / HTTP/1.1\r\n" H "Transfer-Encoding: \x0b"
	    "chunked\r\n\r\n"),
	BAD("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nTransfer-Encoding: "
	    "identity\r\n\r\n"),
	BAD("POST / HTTP/1.1\r\n" H "Transfer-Encoding:\r\n\r\n"),
	BAD("POST / HTTP/1.0\r\n" H "Transfer-Encoding: chunked\r\n\r\n"),
	BAD("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\n" H "X: a\0b\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\n" H "X: a\x7f\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\n" H ": a\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\n" H "X\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\nHost : a.test\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\n" H "X : a\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\n" H "X\t: a\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\n" H "X(y): a\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\n" H "X: a\r\n folded\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\n Host: a.test\r\n\r\n"),
	BAD("GET / HTTP/1.1\nHost: a.test\n\n"),
	BAD("GET / HTTP/1.1\r\n" H "\n"),
	BAD("GET / HTTP/1.1\r\n" H "X: a\n\r\n"),
	BAD("GET / HTTP/1.1\r\n" H "X: a\rb\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\n" H "X: a\r\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\n" H "Host: b.test\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\n" H H "\r\n"),
	BAD("GET / HTTP/1.1\r\nHost:\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\nHost: a.test, b.test\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\nHost: a.test b.test\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\nHost: u@a.test\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\nHost: a.test:0\r\n\r\n"),
	BAD("GET http://a.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n"),
	BAD("GET http://a.test/ HTTP/1.0\r\nHost: b.test\r\n\r\n"),
	BAD("GET http://a.test/ HTTP/1.1\r\nHost: a.test:81\r\n\r\n"),
	BAD("GET http://a.test/ HTTP/1.1\r\nHost:\r\n\r\n"),
	BAD("GET http://a.test:81/ HTTP/1.1\r\n" H "\r\n"),
	BAD("GET http://u:p@a.test/ HTTP/1.1\r\n" H "\r\n"),
	BAD("GET http://b.test@a.test/ HTTP/1.1\r\n" H "\r\n"),
	BAD("GET http://a.test\\@b.test/ HTTP/1.1\r\n" H "\r\n"),
	BAD("GET http://a.test#@b.test/ HTTP/1.1\r\n" H "\r\n"),
	BAD("GET http://a.test/#x HTTP/1.1\r\n" H "\r\n"),
	BAD("GET http:///x HTTP/1.1\r\n" H "\r\n"),
	BAD("GET http://:80/ HTTP/1.1\r\n" H "\r\n"),
	BAD("GET http://a.test:/ HTTP/1.1\r\n" H "\r\n"),
	BAD("GET http://a.test:65536/ HTTP/1.1\r\n" H "\r\n"),
	BAD("GET http://a.test:-1/ HTTP/1.1\r\n" H "\r\n"),
	BAD("GET http://a%2etest/ HTTP/1.1\r\n" H "\r\n"),
	BAD("CONNECT a.test HTTP/1.1\r\n" H "\r\n"),
	BAD("CONNECT a.test: HTTP/1.1\r\n" H "\r\n"),
	BAD("CONNECT a.test:443x HTTP/1.1\r\n" H "\r\n"),
	BAD("CONNECT ::1:443 HTTP/1.1\r\nHost: x\r\n\r\n"),
	BAD("CONNECT [::1]443 HTTP/1.0\r\n\r\n"),
	BAD("CONNECT u:p@a.test:443 HTTP/1.0\r\n\r\n"),
	BAD("CONNECT http://a.test:443 HTTP/1.0\r\n\r\n"),
	BAD("CONNECT a.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\n"),
	BAD("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:80\r\n\r\n"),
	BAD("CONNECT a.test:443 HTTP/1.1\r\n\r\n"),
	BAD("CONNECT a.test:443 HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\n"),
	BAD("GET  / HTTP/1.1\r\n" H "\r\n"),
	BAD("GET / HTTP/1.1 \r\n" H "\r\n"),
	BAD("GET /a b HTTP/1.1\r\n" H "\r\n"),
	BAD("GET\t/ HTTP/1.1\r\n" H "\r\n"),
	BAD("GET /\r\n" H "\r\n"),
	BAD("G(T / HTTP/1.1\r\n" H "\r\n"),
	BAD("GET / HTTP/1.11\r\n" H "\r\n"),
	BAD("GET / HTTP/01.1\r\n" H "\r\n"),
	BAD("GET / http/1.1\r\n" H "\r\n"),
	BAD("GET / HTTP/4294967295.255\r\n" H "\r\n"),
	BAD("\r\nGET / HTTP/1.1\r\n" H "\r\n"),
	BAD(" GET / HTTP/1.1\r\n" H "\r\n"),
	BAD("\x16\x03\x01\x02"),
	BAD("\x05\x01"),
	OTHER("GET / HTTP/1.2\r\n" H "\r\n", ZW_E_UNSUPPORTED),
	OTHER("PRI * HTTP/2.0\r\n\r\n", ZW_E_UNSUPPORTED),
	OTHER("GET https://a.test/ HTTP/1.1\r\n" H "\r\n", ZW_E_UNSUPPORTED),
	OTHER("GET ftp://a.test/ HTTP/1.1\r\n" H "\r\n", ZW_E_UNSUPPORTED),
	OTHER("GET a.test:443 HTTP/1.1\r\n" H "\r\n", ZW_E_UNSUPPORTED),
	OTHER("GET * HTTP/1.1\r\n" H "\r\n", ZW_E_UNSUPPORTED),
};

static void test_parse__Z046_what_is_read_in_two_ways_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(refused); i++) {
		struct px_http1_head h;
		const char *why = NULL;
		int r = parse_n(refused[i].in, refused[i].len, &h, &why);

		if (r != refused[i].error)
			fail_msg("%d for: %s", r, refused[i].in);
		assert_non_null(why);
	}
}

static void test_parse__every_prefix_waits_or_is_judged_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(refused); i++) {
		size_t scanned = 0;

		for (size_t len = 0; len <= refused[i].len; len++) {
			const uint8_t *p = (const uint8_t *)refused[i].in;
			struct px_http1_head h;
			int r = px_http1_parse(p, len, 0, &scanned, &h, NULL);

			if (r != 0)
				assert_int_equal(r, refused[i].error);
			assert_int_equal(px_http1_parse(p, len, 0, NULL, &h, NULL), r);
		}
	}
}

static void test_parse__Z052_bounds(void **state)
{
	zw_autofree char *s = zw_xmalloc(PX_HEAD_CEILING + 64);
	struct px_http1_head h;
	int n, at;

	(void)state;
	n = snprintf(s, 64, "GET / HTTP/1.1\r\n" H "X: ");
	memset(s + n, 'a', PX_HEAD_CEILING);
	assert_int_equal(parse_n(s, PX_HEAD_MAX - 1, &h, NULL), 0);
	assert_int_equal(parse_n(s, PX_HEAD_MAX, &h, NULL), ZW_E_TOOBIG);
	memcpy(s + PX_HEAD_MAX - 4, "\r\n\r\n", 4);
	assert_int_equal(parse_n(s, PX_HEAD_MAX, &h, NULL), PX_HEAD_MAX);
	assert_int_equal(px_http1_parse((uint8_t *)s, PX_HEAD_MAX, 100, NULL, &h, NULL),
			 ZW_E_TOOBIG);
	memset(s + n, 'a', PX_HEAD_CEILING);
	assert_int_equal(px_http1_parse((uint8_t *)s, PX_HEAD_CEILING, SIZE_MAX, NULL, &h, NULL),
			 ZW_E_TOOBIG);
	n = snprintf(s, 64, "GET / HTTP/1.1\r\n" H);
	for (at = n; at < n + 99 * 4; at += 4)
		memcpy(s + at, "X:\r\n", 4);
	memcpy(s + at, "\r\n", 3);
	assert_int_equal(parse(s, &h), at + 2);
	assert_int_equal(h.n_fields, PX_FIELDS_MAX);
	memcpy(s + at, "X:\r\n\r\n", 7);
	assert_int_equal(parse(s, &h), ZW_E_TOOBIG);
}

static void test_body__of_a_head(void **state)
{
	struct px_http1_head h;

	(void)state;
	assert_true(parse("POST / HTTP/1.1\r\n" H "Content-Length: 12\r\n\r\n", &h) > 0);
	assert_int_equal(h.body, PX_BODY_LENGTH);
	assert_int_equal(h.body_len_b, 12);
	assert_true(parse("POST / HTTP/1.1\r\n" H "Transfer-Encoding: CHUNKED\r\n\r\n", &h) > 0);
	assert_int_equal(h.body, PX_BODY_CHUNKED);
	assert_true(parse("POST / HTTP/1.1\r\n" H "Content-Length: 0\r\n\r\n", &h) > 0);
	assert_int_equal(h.body, PX_BODY_NONE);
	assert_true(parse("CONNECT a.test:1 HTTP/1.1\r\n" H "Content-Length: 0\r\n\r\n", &h) > 0);
}

static void assert_written(const char *in, bool keep_upgrade, const char *expected)
{
	struct px_http1_head h;
	struct zw_buf out;

	zw_buf_init(&out, PX_HEAD_MAX);
	if (parse(in, &h) <= 0)
		fail_msg("refused: %s", in);
	assert_int_equal(px_http1_write(&h, keep_upgrade, &out), 0);
	assert_int_equal(zw_buf_add(&out, "", 1), 0);
	assert_string_equal((const char *)zw_buf_head(&out), expected);
	zw_buf_fini(&out);
}

static void test_write__Z053_hop_by_hop_fields_end_here(void **state)
{
	(void)state;
	assert_written("GET http://A.test HTTP/1.0\r\n\r\n", false,
		       "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n");
	assert_written("GET http://a.test:8080?q HTTP/1.1\r\nHost: a.test:8080\r\n\r\n", false,
		       "GET /?q HTTP/1.1\r\nHost: a.test:8080\r\nConnection: close\r\n\r\n");
	assert_written("OPTIONS http://a.test HTTP/1.1\r\n" H "\r\n", false,
		       "OPTIONS * HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n");
	assert_written("GET http://[::1]:81/ HTTP/1.1\r\nHost: [0::1]:81\r\n\r\n", false,
		       "GET / HTTP/1.1\r\nHost: [::1]:81\r\nConnection: close\r\n\r\n");
	assert_written("POST http://a.test/x HTTP/1.1\r\nAccept: */*\r\n" H
		       "Proxy-Authorization: Basic c2VjcmV0\r\nproxy-connection: keep-alive\r\n"
		       "Connection: Connection, X-Hop,, close,\r\nconnection:te\r\nX-Hop: 1\r\n"
		       "Keep-Alive: 5\r\nTE: trailers\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n"
		       "Content-Length: 007\r\nExpect: 100-continue\r\nCookie:  a=b \r\n\r\n",
		       false,
		       "POST /x HTTP/1.1\r\nHost: a.test\r\nAccept: */*\r\nExpect: 100-continue\r\n"
		       "Cookie: a=b\r\nContent-Length: 7\r\nConnection: close\r\n\r\n");
	assert_written("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n", false,
		       "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n"
		       "Connection: close\r\n\r\n");
	assert_written("POST / HTTP/1.1\r\n" H "Content-Length: 0\r\n\r\n", false,
		       "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n"
		       "Connection: close\r\n\r\n");
}

static void test_write__upgrade(void **state)
{
	static const char ws[] = "GET / HTTP/1.1\r\n" H "Connection: keep-alive, Upgrade\r\n"
				 "Upgrade: WebSocket\r\nSec-WebSocket-Key: x\r\n\r\n";

	(void)state;
	assert_written(ws, true,
		       "GET / HTTP/1.1\r\nHost: a.test\r\nUpgrade: WebSocket\r\n"
		       "Sec-WebSocket-Key: x\r\nConnection: Upgrade\r\n\r\n");
	assert_written(ws, false,
		       "GET / HTTP/1.1\r\nHost: a.test\r\nSec-WebSocket-Key: x\r\n"
		       "Connection: close\r\n\r\n");
	/* requests behind an upgrade to h2c would be seen by nobody */
	assert_written("GET / HTTP/1.1\r\n" H "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n", true,
		       "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n");
}

static void test_write__a_full_buffer_is_left_alone(void **state)
{
	struct px_http1_head h;
	struct zw_buf out;

	(void)state;
	zw_buf_init(&out, 60);
	assert_int_equal(zw_buf_add(&out, "before", 6), 0);
	assert_true(parse("GET / HTTP/1.1\r\n" H "X: aaaaaaaaaaaaaaaaaaaaaaaaaa\r\n\r\n", &h) > 0);
	assert_int_equal(px_http1_write(&h, false, &out), ZW_E_TOOBIG);
	assert_int_equal(out.len, 6);
	assert_true(parse("CONNECT a.test:443 HTTP/1.0\r\n\r\n", &h) > 0);
	assert_int_equal(px_http1_write(&h, false, &out), ZW_E_UNSUPPORTED);
	zw_buf_fini(&out);
}

static void test_dns_query__in_clear_text(void **state)
{
	static const char *const yes[] = {
		"GET /dns-query?dns=AAAB HTTP/1.1\r\n" H "\r\n",
		"POST /dns-query HTTP/1.1\r\n" H "\r\n",
		"GET http://a.test/x?a=1&dns=AAAB HTTP/1.1\r\n" H "\r\n",
		"GET /resolve?name=a.test&type=A HTTP/1.1\r\n" H "\r\n",
		"GET / HTTP/1.1\r\n" H "Accept: text/html, application/dns-message\r\n\r\n",
	};
	static const char *const no[] = {
		"GET / HTTP/1.1\r\n" H "\r\n",
		"GET /resolve?id=1 HTTP/1.1\r\n" H "\r\n",
		"GET /?adns=1 HTTP/1.1\r\n" H "\r\n",
		"GET http://a.test HTTP/1.1\r\n" H "\r\n",
	};
	struct px_http1_head h;

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(yes); i++) {
		assert_true(parse(yes[i], &h) > 0);
		assert_true(px_http1_is_dns_query(&h));
	}
	for (size_t i = 0; i < ZW_N_ELEMENTS(no); i++) {
		assert_true(parse(no[i], &h) > 0);
		assert_false(px_http1_is_dns_query(&h));
	}
}

static void test_status(void **state)
{
	static const struct {
		const char *in;
		int status;
	} rows[] = {
		{"", 0},
		{"HTTP/1.1 20", 0},
		{"HTTP/1.1 200 OK\r\n", 200},
		{"HTTP/1.0 404\r\n", 404},
		{"HTTP/1.1 101 Switching Protocols\r\n\r\n", 101},
		{"HTTP/2 200 OK\r\n", ZW_E_SYNTAX},
		{"SSH-2.0", ZW_E_SYNTAX},
		{"HTTP/1.1 0x1 OK", ZW_E_SYNTAX},
		{"HTTP/1.1 099 OK", ZW_E_SYNTAX},
		{"HTTP/1.1 2000 OK", ZW_E_SYNTAX},
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++)
		assert_int_equal(px_http1_status((const uint8_t *)rows[i].in, strlen(rows[i].in)),
				 rows[i].status);
}

/* Feeds @in in pieces; the bytes that belong to the body, or an error. */
static int64_t feed(enum px_body_kind kind, uint64_t len_b, const char *in, size_t len,
		    size_t piece, bool *ret_done)
{
	struct px_http1_head h = {.body = kind, .body_len_b = len_b};
	struct px_body b;
	int64_t total = 0;

	px_body_init(&b, &h);
	for (size_t off = 0; off < len && !px_body_is_done(&b); off += piece) {
		int64_t n = px_body_feed(&b, (const uint8_t *)in + off,
					 len - off < piece ? len - off : piece);

		if (n < 0) {
			assert_int_equal(px_body_feed(&b, (const uint8_t *)"0", 1), 0);
			assert_false(px_body_is_done(&b));
			return n;
		}
		total += n;
	}
	*ret_done = px_body_is_done(&b);
	return total;
}

static void test_body__Z048_chunks(void **state)
{
	static const struct {
		const char *in;
		int64_t n; /* of the body, or an error */
		bool is_done;
	} rows[] = {
		{"0\r\n\r\nGET / HTTP/1.1", 5, true},
		{"3\r\nabc\r\n0\r\n\r\nX", 13, true},
		{"00003\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n", 32, true},
		{"3;name=value\r\nabc\r\n0\r\nT: 1\r\nU: 2\r\n\r\nX", 36, true},
		{"3\r\nab", 5, false},
		{"3\r\nabc\r\n0\r\n", 11, false},
		{"3\r\nabcd\r\n", ZW_E_SYNTAX, false},
		{"3\r\nabc0\r\n\r\n", ZW_E_SYNTAX, false},
		{"3\nabc\r\n", ZW_E_SYNTAX, false},
		{"3\r\nabc\n0\r\n\r\n", ZW_E_SYNTAX, false},
		{"3;a\nbc\r\n", ZW_E_SYNTAX, false},
		{"3;a\0bc\r\n", ZW_E_SYNTAX, false},
		{"3 \r\nabc\r\n", ZW_E_SYNTAX, false},
		{" 3\r\nabc\r\n", ZW_E_SYNTAX, false},
		{"-3\r\nabc\r\n", ZW_E_SYNTAX, false},
		{"+3\r\nabc\r\n", ZW_E_SYNTAX, false},
		{"0x3\r\nabc\r\n", ZW_E_SYNTAX, false},
		{"\r\n", ZW_E_SYNTAX, false},
		{";\r\n", ZW_E_SYNTAX, false},
		{"ffffffffffffffff\r\n", ZW_E_TOOBIG, false},
		{"8000000000000000\r\n", ZW_E_TOOBIG, false},
		{"00000000000000003\r\n", ZW_E_TOOBIG, false},
		{"10000000000000003\r\n", ZW_E_TOOBIG, false},
		{"0\r\nT: 1\n\r\n", ZW_E_SYNTAX, false},
		{"0\r\n folded\r\n\r\n", ZW_E_SYNTAX, false},
		{"0\r\n\rX", ZW_E_SYNTAX, false},
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		for (size_t piece = 1; piece < 40; piece++) {
			size_t len = strlen(rows[i].in);
			bool is_done = false;
			int64_t n;

			if (strcmp(rows[i].in, "3;a") == 0)
				len = 9; /* goes on behind its NUL */
			n = feed(PX_BODY_CHUNKED, 0, rows[i].in, len, piece, &is_done);
			if (n != rows[i].n || is_done != rows[i].is_done)
				fail_msg("%lld (%d) for: %s", (long long)n, is_done, rows[i].in);
		}
	}
}

static void test_body__chunk_text_is_bounded(void **state)
{
	zw_autofree char *s = zw_xmalloc(10000);
	bool is_done;

	(void)state;
	memset(s, 'a', 10000);
	memcpy(s, "1;", 2);
	assert_int_equal(feed(PX_BODY_CHUNKED, 0, s, 258, 7, &is_done), 258);
	assert_int_equal(feed(PX_BODY_CHUNKED, 0, s, 259, 7, &is_done), ZW_E_TOOBIG);
	memcpy(s, "0\r\n", 3);
	assert_int_equal(feed(PX_BODY_CHUNKED, 0, s, 3 + 8192, 999, &is_done), 3 + 8192);
	assert_int_equal(feed(PX_BODY_CHUNKED, 0, s, 3 + 8193, 999, &is_done), ZW_E_TOOBIG);
}

static void test_body__length(void **state)
{
	bool is_done = false;

	(void)state;
	assert_int_equal(feed(PX_BODY_LENGTH, 5, "hello world", 11, 2, &is_done), 5);
	assert_true(is_done);
	assert_int_equal(feed(PX_BODY_LENGTH, 5, "hell", 4, 3, &is_done), 4);
	assert_false(is_done);
	assert_int_equal(feed(PX_BODY_NONE, 0, "GET /", 5, 5, &is_done), 0);
	assert_true(is_done);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse__good),
		cmocka_unit_test(test_parse__fields),
		cmocka_unit_test(test_parse__Z046_what_is_read_in_two_ways_is_refused),
		cmocka_unit_test(test_parse__every_prefix_waits_or_is_judged_the_same),
		cmocka_unit_test(test_parse__Z052_bounds),
		cmocka_unit_test(test_body__of_a_head),
		cmocka_unit_test(test_write__Z053_hop_by_hop_fields_end_here),
		cmocka_unit_test(test_write__upgrade),
		cmocka_unit_test(test_write__a_full_buffer_is_left_alone),
		cmocka_unit_test(test_dns_query__in_clear_text),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_body__Z048_chunks),
		cmocka_unit_test(test_body__chunk_text_is_bounded),
		cmocka_unit_test(test_body__length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
