/* SPDX-License-Identifier: MIT
 * SOCKS5 and SOCKS4/4a: requests as clients send them, cut at every byte, and hostile ones. */
#include "tests/support/test.h"

#include <errno.h>

#include "proxy/socks.h"
#include "src/base/err.h"
#include "src/base/mem.h"

#define BYTES(s) (const uint8_t *)(s), sizeof(s) - 1

struct row {
	const uint8_t *p;
	size_t len;
	const char *host;
	uint16_t port;
};

static const struct row good[] = {
	{BYTES("\5\1\0\3\x0b"
	       "example.com\1\xbb"),
	 "example.com", 443},
	{BYTES("\5\1\0\3\x0c"
	       "EXAMPLE.com.\0\x50"),
	 "example.com", 80},
	{BYTES("\5\1\0\1\1\2\3\4\x1f\x90"), "1.2.3.4", 8080},
	{BYTES("\5\1\0\4\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1\0\x16"), "2001:db8::1", 22},
	{BYTES("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1\0\x16"), "127.0.0.1", 22},
	{BYTES("\4\1\0\x50\1\2\3\4\0"), "1.2.3.4", 80},
	{BYTES("\4\1\0\x50\1\2\3\4user\0"), "1.2.3.4", 80},
	{BYTES("\4\1\1\xbb\0\0\0\1\0example.com\0"), "example.com", 443},
	{BYTES("\4\1\1\xbb\0\0\0\xffuser\0example.com\0"), "example.com", 443},
	{BYTES("\4\1\1\xbb\0\0\0\0\0"), "0.0.0.0", 443},
};

static void test_request__good_and_every_prefix_waits(void **state)
{
	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(good); i++) {
		struct px_socks_request r;

		for (size_t len = 0; len < good[i].len; len++)
			assert_int_equal(px_socks_request_parse(good[i].p, len, &r), 0);
		assert_int_equal(px_socks_request_parse(good[i].p, good[i].len, &r), good[i].len);
		assert_string_equal(r.host.name, good[i].host);
		assert_int_equal(r.port, good[i].port);
		assert_int_equal(r.version, good[i].p[0]);
	}
}

static void test_request__bytes_behind_it_are_left(void **state)
{
	static const uint8_t b[] = "\5\1\0\1\1\2\3\4\0\x50GET /";
	struct px_socks_request r;

	(void)state;
	assert_int_equal(px_socks_request_parse(b, sizeof(b) - 1, &r), 10);
}

static void test_request__Z043_address_as_a_name(void **state)
{
	static const char *const names[] = {
		"0x7f.1", "2130706433", "0177.0.0.1", "127.1", "[::ffff:127.0.0.1]",
		"::1",	  "0",		"[0:0::1]"};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++) {
		uint8_t b[64] = {5, 1, 0, 3, (uint8_t)strlen(names[i])};
		size_t len = 5 + strlen(names[i]);
		struct px_socks_request r;

		memcpy(b + 5, names[i], strlen(names[i]));
		b[len + 1] = 80;
		assert_int_equal(px_socks_request_parse(b, len + 2, &r), len + 2);
		assert_int_not_equal(r.host.addr.family, POL_FAMILY_NONE);
		assert_int_not_equal(pol_addr_classify(&r.host.addr), POL_ADDR_PUBLIC);
	}
}

static void test_request__refused(void **state)
{
	static const struct {
		const uint8_t *p;
		size_t len;
		int error;
	} rows[] = {
		{BYTES("\x16\x03\x01"), ZW_E_SYNTAX},
		{BYTES("GET / HTTP/1.1\r\n"), ZW_E_SYNTAX},
		{BYTES("\0"), ZW_E_SYNTAX},
		{BYTES("\5\2"), ZW_E_UNSUPPORTED},
		{BYTES("\5\3\0\1\1\2\3\4\0\x50"), ZW_E_UNSUPPORTED},
		{BYTES("\5\1\1"), ZW_E_SYNTAX},
		{BYTES("\5\1\0\2"), -EAFNOSUPPORT},
		{BYTES("\5\1\0\0"), -EAFNOSUPPORT},
		{BYTES("\5\1\0\1\1\2\3\4\0\0"), ZW_E_SYNTAX},
		{BYTES("\5\1\0\3\0\0\x50"), ZW_E_SYNTAX},
		{BYTES("\5\1\0\3\3a\0b\0\x50"), ZW_E_SYNTAX},
		{BYTES("\5\1\0\3\3a\nb\0\x50"), ZW_E_SYNTAX},
		{BYTES("\5\1\0\3\7a@b:443\0\x50"), ZW_E_SYNTAX},
		{BYTES("\5\1\0\3\5"
		       "999.1\0\x50"),
		 ZW_E_SYNTAX},
		{BYTES("\4\2"), ZW_E_UNSUPPORTED},
		{BYTES("\4\1\0\0\1\2\3\4\0"), ZW_E_SYNTAX},
		{BYTES("\4\1\0\x50\0\0\0\1\0\0"), ZW_E_SYNTAX},
		{BYTES("\4\1\0\x50\0\0\0\1\0a b\0"), ZW_E_SYNTAX},
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		struct px_socks_request r;
		int e = px_socks_request_parse(rows[i].p, rows[i].len, &r);

		if (e != rows[i].error)
			fail_msg("row %zu: %d", i, e);
	}
}

static void test_request__socks4_text_is_bounded(void **state)
{
	uint8_t b[PX_SOCKS_REQUEST_MAX + 1];
	struct px_socks_request r;

	(void)state;
	memset(b, 'a', sizeof(b));
	memcpy(b, "\4\1\0\x50\0\0\0\1", 8);
	assert_int_equal(px_socks_request_parse(b, 8 + 255, &r), 0);
	assert_int_equal(px_socks_request_parse(b, 8 + 256, &r), ZW_E_TOOBIG);
	b[8 + 255] = 0;
	assert_int_equal(px_socks_request_parse(b, 8 + 256 + 255, &r), 0);
	assert_int_equal(px_socks_request_parse(b, 8 + 256 + 256, &r), ZW_E_TOOBIG);
}

static void test_hello__Z055_methods(void **state)
{
	uint8_t out[2];
	bool none;

	(void)state;
	assert_int_equal(px_socks5_hello_parse(BYTES(""), &none), 0);
	assert_int_equal(px_socks5_hello_parse(BYTES("\5"), &none), 0);
	assert_int_equal(px_socks5_hello_parse(BYTES("\5\2\0"), &none), 0);
	assert_int_equal(px_socks5_hello_parse(BYTES("\5\2\2\0"), &none), 4);
	assert_true(none);
	assert_int_equal(px_socks5_hello_parse(BYTES("\5\1\0\5\1\0\1"), &none), 3);
	assert_true(none);
	assert_int_equal(px_socks5_hello_parse(BYTES("\5\1\1"), &none), 3); /* GSSAPI alone */
	assert_false(none);
	assert_int_equal(px_socks5_method_write(none, out), 2);
	assert_memory_equal(out, "\5\xff", 2);
	px_socks5_method_write(true, out);
	assert_memory_equal(out, "\5\0", 2);
	assert_int_equal(px_socks5_hello_parse(BYTES("\5\0"), &none), ZW_E_SYNTAX);
	assert_int_equal(px_socks5_hello_parse(BYTES("\x16\x03"), &none), ZW_E_SYNTAX);
	assert_int_equal(px_socks5_hello_parse(BYTES("\4\1"), &none), ZW_E_SYNTAX);
}

static void test_reply(void **state)
{
	static const struct {
		int error;
		enum px_socks_reply code;
	} rows[] = {
		{0, PX_SOCKS_GRANTED},
		{ZW_E_DENIED, PX_SOCKS_DENIED},
		{ZW_E_UNSUPPORTED, PX_SOCKS_BAD_COMMAND},
		{-EAFNOSUPPORT, PX_SOCKS_BAD_ADDRESS},
		{-ECONNREFUSED, PX_SOCKS_REFUSED},
		{-EHOSTUNREACH, PX_SOCKS_HOST_UNREACHABLE},
		{-ENETUNREACH, PX_SOCKS_NET_UNREACHABLE},
		{ZW_E_TIMEOUT, PX_SOCKS_TTL_EXPIRED},
		{ZW_E_SYNTAX, PX_SOCKS_FAILED},
		{-EIO, PX_SOCKS_FAILED},
	};
	uint8_t out[PX_SOCKS_REPLY_MAX];

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++)
		assert_int_equal(px_socks_reply_of(rows[i].error), rows[i].code);
	assert_int_equal(px_socks_reply_write(5, PX_SOCKS_DENIED, out), 10);
	assert_memory_equal(out, "\5\2\0\1\0\0\0\0\0\0", 10);
	assert_int_equal(px_socks_reply_write(4, PX_SOCKS_GRANTED, out), 8);
	assert_memory_equal(out, "\0\x5a\0\0\0\0\0\0", 8);
	assert_int_equal(px_socks_reply_write(4, PX_SOCKS_REFUSED, out), 8);
	assert_int_equal(out[1], 0x5b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request__good_and_every_prefix_waits),
		cmocka_unit_test(test_request__bytes_behind_it_are_left),
		cmocka_unit_test(test_request__Z043_address_as_a_name),
		cmocka_unit_test(test_request__refused),
		cmocka_unit_test(test_request__socks4_text_is_bounded),
		cmocka_unit_test(test_hello__Z055_methods),
		cmocka_unit_test(test_reply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
