/* SPDX-License-Identifier: MIT
 * ClientHellos: those of real programs (captured by tests/support/capture_hello.py), cut at every
 * byte and put into other records, and those that no honest program sends. */
#include "tests/support/test.h"

#include "proxy/hello.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"

#define FOLDER "tests/fuzz/corpus/hello/"

struct bytes {
	uint8_t p[PX_HELLO_RAW_MAX + 4096];
	size_t len;
};

static void put(struct bytes *b, const void *p, size_t len)
{
	assert_true(b->len + len <= sizeof(b->p));
	if (len > 0)
		memcpy(b->p + b->len, p, len);
	b->len += len;
}

static void put_uint(struct bytes *b, unsigned value, unsigned n)
{
	while (n-- > 0) {
		uint8_t byte = (uint8_t)(value >> 8 * n);

		put(b, &byte, 1);
	}
}

static struct bytes *load(const char *name)
{
	zw_autofree char *path = zw_xasprintf(FOLDER "%s", name);
	zw_autofree char *data = NULL;
	struct bytes *b = zw_xnew(struct bytes);
	size_t len = 0;

	assert_int_equal(zw_read_file(path, sizeof(b->p), &data, &len), 0);
	put(b, data, len);
	return b;
}

/* The same message in records of @piece bytes. */
static struct bytes *refragment(const struct bytes *in, size_t piece)
{
	struct bytes *message = zw_xnew(struct bytes), *out = zw_xnew(struct bytes);

	for (size_t off = 0; off < in->len;) {
		size_t n = (size_t)in->p[off + 3] << 8 | in->p[off + 4];

		put(message, in->p + off + 5, n);
		off += 5 + n;
	}
	for (size_t off = 0; off < message->len; off += piece) {
		size_t n = message->len - off < piece ? message->len - off : piece;

		put_uint(out, 0x160301, 3);
		put_uint(out, (unsigned)n, 2);
		put(out, message->p + off, n);
	}
	free(message);
	return out;
}

/* A message with these extensions (types and bodies, without the length before them). */
static struct bytes *build(const void *exts, size_t len)
{
	struct bytes *b = zw_xnew(struct bytes);
	uint8_t random[32] = {0};
	size_t body = 2 + 32 + 1 + 4 + 2 + 2 + len;

	put_uint(b, 0x160301, 3);
	put_uint(b, (unsigned)body + 4, 2);
	put_uint(b, 1, 1);
	put_uint(b, (unsigned)body, 3);
	put_uint(b, 0x0303, 2);
	put(b, random, sizeof(random));
	put_uint(b, 0, 1);
	put_uint(b, 0x00021301, 4);
	put_uint(b, 0x0100, 2);
	put_uint(b, (unsigned)len, 2);
	put(b, exts, len);
	return b;
}

static int parse_exts(const void *exts, size_t len, struct px_hello *ret)
{
	zw_autofree struct bytes *b = build(exts, len);

	return px_hello_parse(b->p, b->len, ret);
}

#define EXTS(s) s, sizeof(s) - 1

static const struct {
	const char *file, *sni, *alpn;
} real[] = {
	{"curl", "www.example.com", "h2"},
	{"curl_http1", "www.example.com", "http/1.1"},
	{"openssl", "openssl.example.com", "h2"},
	{"openssl_tls12_no_sni", "", ""},
	{"openssl_split", "split.example.com", "dot"},
	{"gnutls", "gnutls.example.com", "dot"},
	{"python", "python.example.com", ""},
	{"node", "node.example.com", "h2"},
	{"wget", "localhost", ""},
};

static void test_parse__hellos_of_real_programs(void **state)
{
	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(real); i++) {
		zw_autofree struct bytes *b = load(real[i].file);
		struct px_hello h;

		assert_int_equal(px_hello_parse(b->p, b->len, &h), b->len);
		assert_int_equal(h.has_sni, real[i].sni[0] != '\0');
		if (h.has_sni)
			assert_string_equal(h.sni.name, real[i].sni);
		assert_false(h.has_ech);
		assert_true(px_hello_is_confirmed(b->p, b->len, &h));
		if (real[i].alpn[0] != '\0')
			assert_true(px_hello_has_alpn(&h, real[i].alpn));
		else
			assert_int_equal(h.alpn_len_b, 0);
		assert_false(px_hello_has_alpn(&h, "doq"));
		assert_false(px_hello_has_alpn(&h, "d"));
	}
}

static void test_parse__every_prefix_waits(void **state)
{
	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(real); i++) {
		zw_autofree struct bytes *b = load(real[i].file);
		struct px_hello h;

		for (size_t len = 0; len < b->len; len++)
			assert_int_equal(px_hello_parse(b->p, len, &h), 0);
	}
}

static void test_parse__name_split_over_records_is_seen(void **state)
{
	(void)state;
	for (size_t piece = 9; piece < 600; piece++) {
		zw_autofree struct bytes *b = load("curl");
		zw_autofree struct bytes *split = refragment(b, piece);
		struct px_hello h;

		assert_int_equal(px_hello_parse(split->p, split->len, &h), split->len);
		assert_string_equal(h.sni.name, "www.example.com");
		assert_true(px_hello_is_confirmed(split->p, split->len, &h));
	}
}

/* What the other parser reads in another way is not confirmed. */
static void test_confirm__a_difference_is_one(void **state)
{
	zw_autofree struct bytes *b = load("curl");
	struct px_hello h, other;

	(void)state;
	assert_int_equal(px_hello_parse(b->p, b->len, &h), b->len);
	other = h;
	other.has_sni = false;
	assert_false(px_hello_is_confirmed(b->p, b->len, &other));
	other = h;
	other.sni.name[0] = 'x';
	assert_false(px_hello_is_confirmed(b->p, b->len, &other));
	other = h;
	other.alpn[1] ^= 1;
	assert_false(px_hello_is_confirmed(b->p, b->len, &other));
	other = h;
	other.alpn_len_b = 0;
	assert_false(px_hello_is_confirmed(b->p, b->len, &other));
	assert_false(px_hello_is_confirmed(b->p, b->len - 1, &h));
	assert_false(px_hello_is_confirmed(b->p, 5, &h));
}

static void test_parse__bounds(void **state)
{
	zw_autofree struct bytes *b = load("curl");
	zw_autofree struct bytes *split = refragment(b, 8); /* 512 bytes: 64 records */
	zw_autofree struct bytes *finer = refragment(b, 7);
	zw_autofree struct bytes *big = zw_xnew(struct bytes);
	struct px_hello h;

	(void)state;
	assert_int_equal(px_hello_parse(split->p, split->len, &h), split->len);
	assert_int_equal(px_hello_parse(finer->p, finer->len, &h), ZW_E_TOOBIG);
	put_uint(big, 0x16030100, 4);
	put_uint(big, 0x04010040, 4); /* 4 bytes, a message of 0x4000 and its head: too long */
	put_uint(big, 0, 1);
	assert_int_equal(px_hello_parse(big->p, big->len, &h), ZW_E_TOOBIG);
}

static void test_parse__not_tls(void **state)
{
	static const char *const rows[] = {"GET / HTTP/1.1\r\n", "SSH-2.0-OpenSSH", "\x05\x01",
					   "\x80\x2e\x01",	 "\x17\x03\x03",    "\x15\x03\x01"};
	struct px_hello h;

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++)
		assert_int_equal(px_hello_parse((const uint8_t *)rows[i], strlen(rows[i]), &h),
				 ZW_E_UNSUPPORTED);
	assert_int_equal(px_hello_parse((const uint8_t *)"", 0, &h), 0);
}

static void test_parse__malformed(void **state)
{
	static const struct {
		const char *p;
		size_t len;
	} rows[] = {
		{EXTS("\x16\x02")},				/* SSL 2 */
		{EXTS("\x16\x03\x01\x00\x00")},			/* empty record */
		{EXTS("\x16\x03\x01\x40\x01")},			/* record above 2^14 */
		{EXTS("\x16\x03\x01\x00\x04\x02")},		/* ServerHello */
		{EXTS("\x16\x03\x01\x00\x04\x01\x00\x00\x00")}, /* empty message */
		{EXTS("\x16\x03\x01\x00\x02\x01\x00\x17")},	/* another kind of record between */
		{EXTS("\x16\x03\x01\x00\x02\x01\x00\x15\x03\x01")},
	};
	struct px_hello h;

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		int r = px_hello_parse((const uint8_t *)rows[i].p, rows[i].len, &h);

		if (r != ZW_E_SYNTAX)
			fail_msg("row %zu: %d", i, r);
	}
}

static void test_parse__bytes_behind_the_message(void **state)
{
	zw_autofree struct bytes *b = load("curl");
	struct px_hello h;

	(void)state;
	/* in the same record: refused */
	b->p[4]++;
	put_uint(b, 0, 1);
	assert_int_equal(px_hello_parse(b->p, b->len, &h), ZW_E_SYNTAX);
	/* a record of its own (early data): not this parser's */
	b->p[4]--;
	assert_int_equal(px_hello_parse(b->p, b->len, &h), b->len - 1);
}

static void test_extensions__good(void **state)
{
	struct px_hello h;

	(void)state;
	assert_true(parse_exts("", 0, &h) > 0);
	assert_false(h.has_sni);
	assert_true(parse_exts(EXTS("\0\0\0\x0a\0\x08\0\0\x05"
				    "A.cOm"),
			       &h) > 0);
	assert_string_equal(h.sni.name, "a.com");
	assert_true(parse_exts(EXTS("\0\0\0\x0b\0\x09\0\0\x06"
				    "a.com."),
			       &h) > 0);
	assert_string_equal(h.sni.name, "a.com");
	assert_true(parse_exts(EXTS("\0\0\0\x0c\0\x0a\0\0\x07"
				    "1.2.3.4"),
			       &h) > 0);
	assert_int_equal(h.sni.addr.family, POL_FAMILY_V4);
	assert_true(parse_exts(EXTS("\0\x10\0\x0b\0\x09\x02h2\x03"
				    "doq\x01x"),
			       &h) > 0);
	assert_true(px_hello_has_alpn(&h, "h2"));
	assert_true(px_hello_has_alpn(&h, "doq"));
	assert_true(px_hello_has_alpn(&h, "x"));
	assert_false(px_hello_has_alpn(&h, "2"));
	assert_true(parse_exts(EXTS("\xfe\x0d\0\x02\0\0"), &h) > 0);
	assert_true(h.has_ech);
	assert_true(parse_exts(EXTS("\xff\xce\0\0"), &h) > 0);
	assert_true(h.has_ech);
}

static void test_extensions__refused(void **state)
{
	static const struct {
		const char *p;
		size_t len;
	} rows[] = {
		{EXTS("\0")},
		{EXTS("\0\0\0")},
		{EXTS("\0\0\0\x01")},		  /* body missing */
		{EXTS("\0\0\0\0")},		  /* empty SNI */
		{EXTS("\0\0\0\x02\0\0")},	  /* empty list */
		{EXTS("\0\0\0\x05\0\x03\0\0\0")}, /* empty name */
		{EXTS("\0\0\0\x06\0\x04\x01\0\x01"
		      "a")}, /* another type of name */
		{EXTS("\0\0\0\x0a\0\x08\0\0\x01"
		      "a\0\0\x01"
		      "b")}, /* two names */
		{EXTS("\0\0\0\x07\0\x04\0\0\x01"
		      "ab")}, /* bytes behind the list */
		{EXTS("\0\0\0\x06\0\x04\0\0\x02"
		      "a")}, /* name longer than the list */
		{EXTS("\0\0\0\x08\0\x06\0\0\x03"
		      "a\0b")}, /* NUL */
		{EXTS("\0\0\0\x08\0\x06\0\0\x03"
		      "a b")},
		{EXTS("\0\0\0\x06\0\x04\0\0\x01"
		      "a\0\0\0\x06\0\x04\0\0\x01"
		      "b")},			    /* SNI twice */
		{EXTS("\x12\x34\0\0\x12\x34\0\0")}, /* any extension twice */
		{EXTS("\0\x10\0\x02\0\0")},	    /* empty ALPN */
		{EXTS("\0\x10\0\x03\0\x01\0")},	    /* empty protocol */
		{EXTS("\0\x10\0\x04\0\x02\x02h")},  /* protocol cut off */
		{EXTS("\xfe\x0d\0\x01\x01")},	    /* inner ECH in the open */
		{EXTS("\xfe\x0d\0\0")},
	};
	struct px_hello h;

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		int r = parse_exts(rows[i].p, rows[i].len, &h);

		if (r != ZW_E_SYNTAX)
			fail_msg("row %zu: %d", i, r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse__hellos_of_real_programs),
		cmocka_unit_test(test_parse__every_prefix_waits),
		cmocka_unit_test(test_confirm__a_difference_is_one),
		cmocka_unit_test(test_parse__name_split_over_records_is_seen),
		cmocka_unit_test(test_parse__bounds),
		cmocka_unit_test(test_parse__not_tls),
		cmocka_unit_test(test_parse__malformed),
		cmocka_unit_test(test_parse__bytes_behind_the_message),
		cmocka_unit_test(test_extensions__good),
		cmocka_unit_test(test_extensions__refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
