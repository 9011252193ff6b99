/* SPDX-License-Identifier: MIT
 * DNS messages: questions as resolvers send them, replies byte for byte, and hostile names. */
#include "tests/support/test.h"

#include "proxy/dnsmsg.h"
#include "src/base/err.h"
#include "src/base/mem.h"

#define BYTES(s)  (const uint8_t *)(s), sizeof(s) - 1
#define HEAD	  "\x12\x34\1\0\0\1\0\0\0\0\0\0"
#define HEAD_EDNS "\x12\x34\1\0\0\1\0\0\0\0\0\1"
#define EXAMPLE	  "\7eXample\3com\0"
#define OPT	  "\0\0\x29\x10\0\0\0\x80\0\0\0"
#define OPT_COOKIE                                   \
	"\0\0\x29\x04\xd0\0\0\0\0\0\x0c\0\x0a\0\x08" \
	"12345678"
#define OPT_VERSION "\0\0\x29\x10\0\0\1\0\0\0\0"

static void test_query__good(void **state)
{
	struct px_dns_query q;

	(void)state;
	assert_int_equal(px_dns_query_parse(BYTES(HEAD EXAMPLE "\0\1\0\1"), &q), 0);
	assert_int_equal(q.rcode, PX_DNS_NOERROR);
	assert_int_equal(q.id, 0x1234);
	assert_true(q.want_recursion);
	assert_false(q.has_edns);
	assert_int_equal(q.type, PX_DNS_A);
	assert_string_equal(q.host.name, "example.com");
	assert_int_equal(px_dns_query_parse(BYTES(HEAD_EDNS EXAMPLE "\0\x41\0\1" OPT), &q), 0);
	assert_int_equal(q.rcode, PX_DNS_NOERROR);
	assert_int_equal(q.type, PX_DNS_HTTPS);
	assert_true(q.has_edns);
	assert_true(q.dnssec_ok);
	assert_int_equal(px_dns_query_parse(BYTES(HEAD_EDNS EXAMPLE "\0\x1c\0\1" OPT_COOKIE), &q),
			 0);
	assert_int_equal(q.rcode, PX_DNS_NOERROR);
	assert_false(q.dnssec_ok);
	assert_int_equal(px_dns_query_parse(BYTES(HEAD "\0\0\2\0\1"), &q), 0); /* . NS */
	assert_int_equal(q.rcode, PX_DNS_NOERROR);
	assert_string_equal(q.host.name, "");
	assert_int_equal(px_dns_query_parse(BYTES(HEAD "\1"
						       "1\1"
						       "2\1"
						       "3\1"
						       "4\0\0\1\0\1"),
					    &q),
			 0);
	assert_int_equal(q.rcode, PX_DNS_NOERROR);
	assert_int_equal(q.host.addr.family, POL_FAMILY_V4);
	assert_int_equal(px_dns_query_parse(BYTES(HEAD "\4_dns\x08resolver\4arpa\0\0\x40\0\1"), &q),
			 0);
	assert_string_equal(q.host.name, "_dns.resolver.arpa");
}

static void test_query__what_gets_another_answer(void **state)
{
	static const struct {
		const uint8_t *p;
		size_t len;
		enum px_dns_rcode rcode;
	} rows[] = {
		{BYTES("\x12\x34\x11\0\0\1\0\0\0\0\0\0" EXAMPLE "\0\1\0\1"), PX_DNS_NOTIMP},
		{BYTES("\x12\x34\x28\0\0\1\0\0\0\0\0\0"), PX_DNS_NOTIMP}, /* UPDATE */
		{BYTES("\x12\x34\1\0\0\0\0\0\0\0\0\0"), PX_DNS_FORMERR},
		{BYTES("\x12\x34\1\0\0\2\0\0\0\0\0\0" EXAMPLE "\0\1\0\1" EXAMPLE "\0\1\0\1"),
		 PX_DNS_FORMERR},
		{BYTES("\x12\x34\1\0\0\1\0\1\0\0\0\0" EXAMPLE "\0\1\0\1"), PX_DNS_FORMERR},
		{BYTES("\x12\x34\1\0\0\1\0\0\0\1\0\0" EXAMPLE "\0\1\0\1"), PX_DNS_FORMERR},
		{BYTES("\x12\x34\1\0\0\1\0\0\0\0\0\2" EXAMPLE "\0\1\0\1" OPT OPT), PX_DNS_FORMERR},
		{BYTES(HEAD EXAMPLE "\0\1\0"), PX_DNS_FORMERR},
		{BYTES(HEAD EXAMPLE "\0\1\0\1"
				    "x"),
		 PX_DNS_FORMERR},
		{BYTES(HEAD "\7exa"), PX_DNS_FORMERR},
		{BYTES(HEAD), PX_DNS_FORMERR},
		{BYTES(HEAD "\xc0\x0c\0\1\0\1"), PX_DNS_FORMERR}, /* points at itself */
		{BYTES(HEAD "\xc0\0\0\1\0\1"), PX_DNS_FORMERR},	  /* into the head */
		{BYTES(HEAD "\1a\xc0\x0c\0\1\0\1"), PX_DNS_FORMERR},
		{BYTES(HEAD "\x41"
			    "a\0\0\1\0\1"),
		 PX_DNS_FORMERR},
		{BYTES(HEAD_EDNS EXAMPLE "\0\1\0\1"), PX_DNS_FORMERR},
		{BYTES(HEAD_EDNS EXAMPLE "\0\1\0\1" EXAMPLE "\0\1\0\1\0\0\0\0\0\0"),
		 PX_DNS_FORMERR},
		{BYTES(HEAD_EDNS EXAMPLE "\0\1\0\1"
					 "\0\0\x29\x10\0\0\0\0\0\0\1"),
		 PX_DNS_FORMERR},
		{BYTES(HEAD_EDNS EXAMPLE "\0\1\0\1" OPT_VERSION), PX_DNS_BADVERS},
		{BYTES(HEAD EXAMPLE "\0\1\0\3"), PX_DNS_REFUSED}, /* CHAOS */
		{BYTES(HEAD "\3a b\0\0\1\0\1"), PX_DNS_REFUSED},
		{BYTES(HEAD "\3a.b\0\0\1\0\1"), PX_DNS_REFUSED}, /* a dot inside a label */
		{BYTES(HEAD "\3a\0b\0\0\1\0\1"), PX_DNS_REFUSED},
		{BYTES(HEAD "\2\xc3\xa4\0\0\1\0\1"), PX_DNS_REFUSED},
		{BYTES(HEAD "\2-a\0\0\1\0\1"), PX_DNS_REFUSED},
		{BYTES(HEAD "\1a\3"
			    "123\0\0\1\0\1"),
		 PX_DNS_REFUSED},
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		uint8_t out[PX_DNS_REPLY_MAX];
		struct px_dns_query q;

		assert_int_equal(px_dns_query_parse(rows[i].p, rows[i].len, &q), 0);
		if (q.rcode != rows[i].rcode)
			fail_msg("row %zu: %d", i, q.rcode);
		assert_int_equal(q.id, 0x1234);
		assert_true(px_dns_reply_write(&q, q.rcode, NULL, 0, out) >= 12);
		assert_int_equal(out[3] & 15, rows[i].rcode & 15);
		assert_int_equal(out[7], 0);
	}
}

static void test_query__what_is_dropped(void **state)
{
	struct px_dns_query q;

	(void)state;
	assert_int_equal(px_dns_query_parse(BYTES(""), &q), ZW_E_SYNTAX);
	assert_int_equal(px_dns_query_parse(BYTES("\x12\x34\1\0\0\1\0\0\0\0\0"), &q), ZW_E_SYNTAX);
	/* an answer: two servers must not talk to each other */
	assert_int_equal(
		px_dns_query_parse(BYTES("\x12\x34\x81\0\0\1\0\0\0\0\0\0" EXAMPLE "\0\1\0\1"), &q),
		ZW_E_SYNTAX);
}

static void test_reply__bytes(void **state)
{
	static const struct pol_addr v4 = {POL_FAMILY_V4, {198, 18, 0, 1}};
	uint8_t out[PX_DNS_REPLY_MAX];
	struct px_dns_query q;
	size_t n;

	(void)state;
	assert_int_equal(px_dns_query_parse(BYTES(HEAD EXAMPLE "\0\1\0\1"), &q), 0);
	n = px_dns_reply_write(&q, PX_DNS_NOERROR, &v4, 1, out);
#define A_REPLY                                               \
	"\x12\x34\x81\x80\0\1\0\1\0\0\0\0" EXAMPLE "\0\1\0\1" \
	"\xc0\x0c\0\1\0\1\0\0\0\1\0\4\xc6\x12\0\1"
	assert_int_equal(n, sizeof(A_REPLY) - 1);
	assert_memory_equal(out, A_REPLY, n);
	n = px_dns_reply_write(&q, PX_DNS_NOERROR, NULL, 1, out);
#define NODATA "\x12\x34\x81\x80\0\1\0\0\0\0\0\0" EXAMPLE "\0\1\0\1"
	assert_int_equal(n, sizeof(NODATA) - 1);
	assert_memory_equal(out, NODATA, n);
	n = px_dns_reply_write(&q, PX_DNS_NXDOMAIN, &v4, 1, out);
#define NXDOMAIN "\x12\x34\x81\x83\0\1\0\0\0\0\0\0" EXAMPLE "\0\1\0\1"
	assert_int_equal(n, sizeof(NXDOMAIN) - 1);
	assert_memory_equal(out, NXDOMAIN, n);
}

static void test_reply__edns(void **state)
{
	static const struct pol_addr v6 = {POL_FAMILY_V6, {0x20, 1, [15] = 7}};
	uint8_t out[PX_DNS_REPLY_MAX];
	struct px_dns_query q;
	size_t n;

	(void)state;
	assert_int_equal(px_dns_query_parse(BYTES(HEAD_EDNS EXAMPLE "\0\x1c\0\1" OPT), &q), 0);
	n = px_dns_reply_write(&q, PX_DNS_NOERROR, &v6, 0x01020304, out);
#define AAAA_REPLY                                                           \
	"\x12\x34\x81\x80\0\1\0\1\0\0\0\1" EXAMPLE "\0\x1c\0\1"              \
	"\xc0\x0c\0\x1c\0\1\1\2\3\4\0\x10\x20\1\0\0\0\0\0\0\0\0\0\0\0\0\0\7" \
	"\0\0\x29\x04\xd0\0\0\x80\0\0\0"
	assert_int_equal(n, sizeof(AAAA_REPLY) - 1);
	assert_memory_equal(out, AAAA_REPLY, n);
	assert_int_equal(px_dns_query_parse(BYTES(HEAD_EDNS EXAMPLE "\0\1\0\1" OPT_VERSION), &q),
			 0);
	n = px_dns_reply_write(&q, q.rcode, NULL, 0, out);
	assert_int_equal(out[3] & 15, 0);
	assert_memory_equal(out + n - 11, "\0\0\x29\x04\xd0\1\0\0\0\0\0", 11);
}

/* The longest question and the longest answer stay below PX_DNS_REPLY_MAX. */
static void test_reply__longest_name(void **state)
{
	static const struct pol_addr v6 = {POL_FAMILY_V6, {0x20}};
	uint8_t msg[512] = HEAD_EDNS, out[PX_DNS_REPLY_MAX];
	char name[POL_HOST_MAX + 1];
	struct px_dns_query q;
	size_t len = 12;
	int n;

	(void)state;
	memset(name, 'a', sizeof(name));
	name[63] = name[127] = name[191] = '.';
	name[253] = '\0';
	n = px_dns_name_write(name, msg + len);
	assert_int_equal(n, 255);
	len += (size_t)n;
	memcpy(msg + len, "\0\x1c\0\1" OPT, 15);
	assert_int_equal(px_dns_query_parse(msg, len + 15, &q), 0);
	assert_int_equal(q.rcode, PX_DNS_NOERROR);
	assert_string_equal(q.host.name, name);
	assert_int_equal(px_dns_reply_write(&q, PX_DNS_NOERROR, &v6, 1, out), 12 + 259 + 28 + 11);
}

static void test_name__write_refuses(void **state)
{
	uint8_t out[PX_DNS_NAME_WIRE_MAX];
	char name[POL_HOST_MAX + 2];

	(void)state;
	assert_int_equal(px_dns_name_write("", out), 1);
	assert_int_equal(px_dns_name_write("a.b", out), 5);
	assert_memory_equal(out, "\1a\1b\0", 5);
	assert_int_equal(px_dns_name_write("a.b.", out), ZW_E_SYNTAX);
	assert_int_equal(px_dns_name_write(".a", out), ZW_E_SYNTAX);
	assert_int_equal(px_dns_name_write("a..b", out), ZW_E_SYNTAX);
	memset(name, 'a', sizeof(name));
	name[64] = '\0';
	assert_int_equal(px_dns_name_write(name, out), ZW_E_SYNTAX);
	for (size_t i = 1; i < 254; i += 2)
		name[i] = '.';
	name[64] = 'a';
	name[254] = '\0';
	assert_int_equal(px_dns_name_write(name, out), ZW_E_TOOBIG);
}

static void test_name__read_follows_pointers_backwards(void **state)
{
	static const uint8_t msg[] = "............\3com\0\1a\xc0\x0c\1b\xc0\x11\xc0\x1f\xc0\x1d";
	char name[POL_HOST_MAX + 1];
	size_t end;

	(void)state;
	assert_int_equal(px_dns_name_read(msg, sizeof(msg) - 1, 21, name, &end), 0);
	assert_string_equal(name, "b.a.com");
	assert_int_equal(end, 25);
	/* forwards, and round in a circle */
	assert_int_equal(px_dns_name_read(msg, sizeof(msg) - 1, 25, name, &end), ZW_E_SYNTAX);
	assert_int_equal(px_dns_name_read(msg, sizeof(msg) - 1, 27, name, &end), ZW_E_SYNTAX);
	assert_int_equal(px_dns_name_read(msg, sizeof(msg) - 1, 29, name, &end), ZW_E_SYNTAX);
	assert_int_equal(px_dns_name_read(msg, 22, 21, name, &end), ZW_E_SYNTAX);
}

static void test_frame(void **state)
{
	struct zw_span msg;

	(void)state;
	assert_int_equal(px_dns_frame(BYTES(""), &msg), 0);
	assert_int_equal(px_dns_frame(BYTES("\0"), &msg), 0);
	assert_int_equal(px_dns_frame(BYTES("\0\3ab"), &msg), 0);
	assert_int_equal(px_dns_frame(BYTES("\0\3abcd"), &msg), 5);
	assert_int_equal(msg.len, 3);
	assert_memory_equal(msg.p, "abc", 3);
	assert_int_equal(px_dns_frame(BYTES("\0\0"), &msg), ZW_E_SYNTAX);
	assert_int_equal(px_dns_frame(BYTES("\x10\1"), &msg), ZW_E_TOOBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_query__good),
		cmocka_unit_test(test_query__what_gets_another_answer),
		cmocka_unit_test(test_query__what_is_dropped),
		cmocka_unit_test(test_reply__bytes),
		cmocka_unit_test(test_reply__edns),
		cmocka_unit_test(test_reply__longest_name),
		cmocka_unit_test(test_name__write_refuses),
		cmocka_unit_test(test_name__read_follows_pointers_backwards),
		cmocka_unit_test(test_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
