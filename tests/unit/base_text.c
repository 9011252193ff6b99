/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"
#include "src/base/words.h"
#include "tests/support/test.h"

static void vis_is(const char *in, size_t len, const char *wanted)
{
	zw_autofree char *out = zw_vis_dup(in, len, 200);

	assert_string_equal(out, wanted);
}

static void test_vis__controls_are_escaped(void **state)
{
	(void)state;
	vis_is("a\033[2Jb", 6, "a\\x1b[2Jb");
	vis_is("a\nb\tc\\", 6, "a\\nb\\tc\\\\");
	vis_is("\xc2\x9b", 2, "\\x9b");
	vis_is("\0x", 2, "\\x00x");
}

static void test_vis__text_that_reorders_or_hides_is_escaped(void **state)
{
	(void)state;
	vis_is("a\u202Eb", 5, "a\\u{202e}b");
	vis_is("\u200b\ufeff", 6, "\\u{200b}\\u{feff}");
	vis_is("日本", 6, "日本");
}

static void test_vis__bytes_that_are_no_utf8(void **state)
{
	(void)state;
	vis_is("\xff\xfe", 2, "\\xff\\xfe");
	vis_is("\xc0\xaf", 2, "\\xc0\\xaf");
	vis_is("\xed\xa0\x80", 3, "\\xed\\xa0\\x80");
	vis_is("\xe6\x97", 2, "\\xe6\\x97");
}

static void test_vis__cut_at_a_whole_character(void **state)
{
	char out[6];

	(void)state;
	assert_int_equal(zw_vis(out, sizeof(out), "a日本", 7), 4);
	assert_string_equal(out, "a日");
	assert_int_equal(zw_vis(out, 1, "abc", 3), 0);
	assert_string_equal(out, "");
}

static void test_utf8__round_trip(void **state)
{
	(void)state;
	for (uint32_t cp = 1; cp <= 0x10ffff; cp += cp < 0x3000 ? 1 : 97) {
		char b[4];
		uint32_t back = 0;

		if (cp >= 0xd800 && cp <= 0xdfff)
			continue;
		int n = zw_utf8_encode(b, cp);
		assert_int_equal(zw_utf8_decode((uint8_t *)b, (size_t)n, &back), n);
		assert_int_equal(back, cp);
		assert_int_equal(zw_utf8_decode((uint8_t *)b, (size_t)n - 1, &back), -1);
	}
}

static void test_buf__never_beyond_its_maximum(void **state)
{
	struct zw_buf b;

	(void)state;
	zw_buf_init(&b, 10);
	assert_int_equal(zw_buf_add(&b, "12345678", 8), 0);
	assert_int_equal(zw_buf_add(&b, "abc", 3), ZW_E_TOOBIG);
	assert_int_equal(b.len, 8);
	zw_buf_consume(&b, 5);
	assert_int_equal(zw_buf_add(&b, "abcdefg", 7), 0);
	assert_memory_equal(zw_buf_head(&b), "678abcdefg", 10);
	assert_null(zw_buf_room(&b, 1));
	zw_buf_fini(&b);
}

static void test_parse_u64__digits_only(void **state)
{
	uint64_t v = 7;

	(void)state;
	assert_int_equal(zw_parse_u64("", 0, 100, &v), ZW_E_SYNTAX);
	assert_int_equal(zw_parse_u64("+3", 2, 100, &v), ZW_E_SYNTAX);
	assert_int_equal(zw_parse_u64(" 3", 2, 100, &v), ZW_E_SYNTAX);
	assert_int_equal(zw_parse_u64("101", 3, 100, &v), ZW_E_TOOBIG);
	assert_int_equal(zw_parse_u64("99999999999999999999999", 23, UINT64_MAX, &v), ZW_E_TOOBIG);
	assert_int_equal(v, 7);
	assert_int_equal(zw_parse_u64("100", 3, 100, &v), 0);
	assert_int_equal(v, 100);
}

static void test_glob__stars(void **state)
{
	static const struct {
		const char *pattern, *s;
		bool fits;
	} rows[] = {
		{"/run/docker.sock", "/run/docker.sock", true},
		{"/tmp/ssh-*/agent.*", "/tmp/ssh-XX/agent.12", true},
		{"/tmp/ssh-*/agent.*", "/tmp/ssh-XX/y/agent.12", false},
		{"/run/**", "/run/a/b/c", true},
		{"/a/**/z", "/a/b/c/z", true},
		{"/a?c", "/abc", true},
		{"/a?c", "/a/c", false},
		{"*", "", true},
		{"", "x", false},
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++)
		assert_int_equal(zw_glob(rows[i].pattern, rows[i].s, strlen(rows[i].s)),
				 rows[i].fits);
}

static void test_glob__hostile_pattern_ends(void **state)
{
	char s[2000];

	(void)state;
	memset(s, 'a', sizeof(s));
	assert_false(zw_glob("**a**a**a**a**a**a**a**a**b", s, sizeof(s)));
	/* An answer, however long the path is: a pattern that gives up hides what is dangerous. */
	s[sizeof(s) - 1] = 'b';
	assert_true(zw_glob("**a**a**a**a**a**a**a**a**b", s, sizeof(s)));
	assert_true(zw_glob("*a*a*a*a*a*a*a*a*?b", s, sizeof(s)));
}

/* The definition, as short as it gets. */
static bool glob_plain(const char *p, const char *s, const char *end)
{
	if (*p == '\0')
		return s == end;
	if (p[0] == '*') {
		size_t n = p[1] == '*' ? 2 : 1;

		return glob_plain(p + n, s, end) ||
		       (s < end && (n == 2 || *s != '/') && glob_plain(p, s + 1, end));
	}
	return s < end && (*p == *s || (*p == '?' && *s != '/')) && glob_plain(p + 1, s + 1, end);
}

static void test_glob__as_defined(void **state)
{
	static const char in_pattern[] = "a/b**?", in_text[] = "a/b";
	uint32_t seed = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		char p[8], s[8];
		size_t p_len = (seed >> 8) % 8, s_len = (seed >> 12) % 9;

		for (size_t k = 0; k < 8; k++) {
			seed = seed * 1664525u + 1013904223u;
			p[k] = k < p_len ? in_pattern[(seed >> 16) % (sizeof(in_pattern) - 1)]
					 : '\0';
			s[k] = in_text[(seed >> 20) % (sizeof(in_text) - 1)];
		}
		p[7] = '\0';
		assert_int_equal(zw_glob(p, s, s_len), glob_plain(p, s, s + s_len));
	}
}

static void test_nearest__only_what_is_near(void **state)
{
	static const char *const words[] = {"claude", "codex", "history", NULL};

	(void)state;
	assert_string_equal(zw_nearest("clude", words), "claude");
	assert_string_equal(zw_nearest("histroy", words), "history");
	assert_null(zw_nearest("zzzzz", words));
	assert_null(zw_nearest("x", words));
}

static void test_words__out_of_range_is_harmless(void **state)
{
	(void)state;
	assert_string_equal(zw_did_word(ZW_DID_ALLOW), "allow");
	assert_string_equal(zw_did_word(ZW_DID_FAIL), "fail");
	assert_string_equal(zw_did_word(ZW_DID_FAIL + 1), "?");
	assert_string_equal(zw_by_word(ZW_BY_USER), "user");
	assert_string_equal(zw_res_status_word(4000000000u), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vis__controls_are_escaped),
		cmocka_unit_test(test_vis__text_that_reorders_or_hides_is_escaped),
		cmocka_unit_test(test_vis__bytes_that_are_no_utf8),
		cmocka_unit_test(test_vis__cut_at_a_whole_character),
		cmocka_unit_test(test_utf8__round_trip),
		cmocka_unit_test(test_buf__never_beyond_its_maximum),
		cmocka_unit_test(test_parse_u64__digits_only),
		cmocka_unit_test(test_glob__stars),
		cmocka_unit_test(test_glob__hostile_pattern_ends),
		cmocka_unit_test(test_glob__as_defined),
		cmocka_unit_test(test_nearest__only_what_is_near),
		cmocka_unit_test(test_words__out_of_range_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
