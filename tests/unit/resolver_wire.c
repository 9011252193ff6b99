/* SPDX-License-Identifier: MIT
 * Messages to and from servers outside: Z080 what is malformed, cut, forged or turns in a circle. */
#include "tests/support/test.h"

#include "proxy/resolver/wire.h"
#include "src/base/err.h"
#include "src/base/mem.h"

static uint8_t msg[4096];
static size_t len;
static struct res_reply reply;

static void put(const void *p, size_t n)
{
	memcpy(msg + len, p, n);
	len += n;
}
#define PUT(text) put(text, sizeof(text) - 1)

/* Head and question: a.test, type. */
static void begin(uint8_t type, uint8_t n_answers, uint8_t n_authority, uint8_t n_additional)
{
	const uint8_t head[] = {0, 0,	      0x81, 0x80,	 0, 1,
				0, n_answers, 0,    n_authority, 0, n_additional};
	const uint8_t tail[] = {0, type, 0, 1};

	len = 0;
	put(head, sizeof(head));
	PUT("\1a\4TEST\0");
	put(tail, sizeof(tail));
}

static int read_as(const char *name, enum res_type type)
{
	return res_wire_reply(msg, len, name, type, 0, &reply);
}

static void test_query__padded_and_of_the_same_name(void **state)
{
	uint8_t out[RES_WIRE_QUERY_MAX];
	char longest[254];

	(void)state;
	assert_int_equal(res_wire_query("a.test", RES_TYPE_MX, out), 128);
	assert_memory_equal(out, "\0\0\1\0\0\1\0\0\0\0\0\1\1a\4test\0\0\17\0\1\0\0\51", 27);
	memset(longest, 'x', 253);
	longest[63] = longest[127] = longest[191] = '.';
	longest[253] = '\0';
	assert_int_equal(res_wire_query(longest, RES_TYPE_A, out), 384);
	assert_int_equal(res_wire_query("a..test", RES_TYPE_A, out), ZW_E_SYNTAX);
}

static void test_reply__records_of_every_type(void **state)
{
	(void)state;
	begin(15, 3, 0, 1);
	PUT("\xc0\x0c\0\17\0\1\0\0\0\x3c\0\7\0\12\2MX\xc0\x0c");
	PUT("\xc0\x0c\0\17\0\1\0\0\0\x3c\0\3\0\24\0"); /* no mail: the root */
	PUT("\1b\4test\0\0\1\0\1\x80\0\0\0\0\4\1\2\3\4");
	PUT("\0\0\51\4\xd0\0\0\0\0\0\0"); /* OPT */
	assert_int_equal(read_as("a.test", RES_TYPE_MX), 0);
	assert_int_equal(reply.n_rrs, 3);
	assert_int_equal(reply.rrs[0].data_len, 13);
	assert_memory_equal(reply.data + reply.rrs[0].data_off, "\0\12\2mx\1a\4test", 13);
	assert_memory_equal(reply.data + reply.rrs[1].data_off, "\0\24\0", 3);
	assert_string_equal(reply.rrs[2].owner, "b.test");
	assert_int_equal(reply.rrs[2].ttl_s, 0); /* the highest bit */
	/* Age of a cache on the way */
	assert_int_equal(res_wire_reply(msg, len, "a.test", RES_TYPE_MX, 20, &reply), 0);
	assert_int_equal(reply.rrs[0].ttl_s, 40);
	assert_int_equal(res_wire_reply(msg, len, "a.test", RES_TYPE_MX, 1000, &reply), 0);
	assert_int_equal(reply.rrs[0].ttl_s, 0);
}

static void test_reply__negative_with_its_time(void **state)
{
	(void)state;
	begin(1, 0, 1, 0);
	msg[3] |= 3;
	PUT("\4test\0\0\6\0\1\0\0\0\x64\0\x16\0\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\x1e");
	assert_int_equal(read_as("a.test", RES_TYPE_A), 0);
	assert_int_equal(reply.rcode, 3);
	assert_int_equal(reply.negative_ttl_s, 30);
	begin(1, 0, 0, 1);
	PUT("\0\0\51\4\xd0\1\0\0\0\0\0"); /* BADVERS: the upper bits of the rcode */
	assert_int_equal(read_as("a.test", RES_TYPE_A), 0);
	assert_int_equal(reply.rcode, 16);
}

/* Every cut of a good reply is refused, and so is what belongs to another question. */
static void test_Z080_reply__malformed_or_of_another_question(void **state)
{
	(void)state;
	begin(1, 2, 0, 0);
	PUT("\xc0\x0c\0\5\0\1\0\0\0\x3c\0\4\1b\xc0\x0e");
	PUT("\1b\xc0\x0e\0\1\0\1\0\0\0\x3c\0\4\1\2\3\4");
	assert_int_equal(read_as("a.test", RES_TYPE_A), 0);
	assert_int_equal(reply.n_rrs, 2);
	assert_string_equal(reply.rrs[0].target, "b.test");
	size_t whole = len;
	for (len = 0; len < whole; len++)
		assert_int_equal(read_as("a.test", RES_TYPE_A), ZW_E_SYNTAX);
	len = whole + 1;
	assert_int_equal(read_as("a.test", RES_TYPE_A), ZW_E_SYNTAX);
	len = whole;
	assert_int_equal(read_as("b.test", RES_TYPE_A), ZW_E_SYNTAX);
	assert_int_equal(read_as("a.test", RES_TYPE_AAAA), ZW_E_SYNTAX);
	static const struct {
		size_t at;
		uint8_t value;
	} bad[] = {
		{2, 0x01}, /* a question */
		{2, 0x83}, /* truncated */
		{2, 0xa9}, /* another opcode */
		{5, 2},	   /* two questions */
		{7, 3},	   /* more records than there are */
		{7, 1},	   /* fewer */
		{6, 0xff}, /* far more */
		{23, 3},   /* another class */
	};
	for (size_t i = 0; i < ZW_N_ELEMENTS(bad); i++) {
		uint8_t was = msg[bad[i].at];

		msg[bad[i].at] = bad[i].value;
		assert_int_equal(read_as("a.test", RES_TYPE_A), ZW_E_SYNTAX);
		msg[bad[i].at] = was;
	}
	/* An address of another length */
	begin(1, 1, 0, 0);
	PUT("\xc0\x0c\0\1\0\1\0\0\0\x3c\0\3\1\2\3");
	assert_int_equal(read_as("a.test", RES_TYPE_A), ZW_E_SYNTAX);
}

static void test_Z080_reply__pointers_in_a_circle(void **state)
{
	static const char *const owners[] = {"\xc0\x18", "\xc0\x19", "\xc0\xff", "\xff\xff",
					     "\xc0\x00"};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(owners); i++) {
		begin(1, 1, 0, 0);
		put(owners[i], 2);
		PUT("\0\1\0\1\0\0\0\x3c\0\4\1\2\3\4");
		assert_int_equal(read_as("a.test", RES_TYPE_A), ZW_E_SYNTAX);
	}
}

static void test_data__of_each_type(void **state)
{
	uint8_t out[600];

	(void)state;
#define DATA(type, text)                                                               \
	res_wire_data((const uint8_t *)"............" text, 12 + sizeof(text) - 1, 12, \
		      sizeof(text) - 1, type, out, sizeof(out))
	assert_int_equal(DATA(RES_TYPE_TXT, "\2hi\0"), 4);
	assert_int_equal(DATA(RES_TYPE_TXT, ""), ZW_E_SYNTAX);
	assert_int_equal(DATA(RES_TYPE_TXT, "\3hi"), ZW_E_SYNTAX);
	assert_int_equal(DATA(RES_TYPE_CAA, "\0\5issueca"), 9);
	assert_int_equal(DATA(RES_TYPE_CAA, "\0\0ca"), ZW_E_SYNTAX);
	assert_int_equal(DATA(RES_TYPE_CAA, "\0\5is"), ZW_E_SYNTAX);
	assert_int_equal(DATA(RES_TYPE_CAA, "\0\2i.x"), ZW_E_SYNTAX);
	assert_int_equal(DATA(RES_TYPE_SRV, "\0\1\0\2\0\3\1X\0"), 9);
	assert_memory_equal(out, "\0\1\0\2\0\3\1x\0", 9);
	assert_int_equal(DATA(RES_TYPE_SRV, "\0\1\0\2\0\3"), ZW_E_SYNTAX);
	assert_int_equal(DATA(RES_TYPE_MX, "\0\1\1x\0more"), ZW_E_SYNTAX);
	assert_int_equal(DATA(RES_TYPE_PTR, "\1 \0"), ZW_E_UNSUPPORTED);
	assert_int_equal(DATA(6, "\0"), ZW_E_UNSUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_query__padded_and_of_the_same_name),
		cmocka_unit_test(test_reply__records_of_every_type),
		cmocka_unit_test(test_reply__negative_with_its_time),
		cmocka_unit_test(test_Z080_reply__malformed_or_of_another_question),
		cmocka_unit_test(test_Z080_reply__pointers_in_a_circle),
		cmocka_unit_test(test_data__of_each_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
