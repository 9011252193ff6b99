/* SPDX-License-Identifier: MIT
 * The tokeniser of the keyboard: what is zwatch's, and that everything else stays as it came. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/prefix.h"
#include "ui/input.h"

struct seen {
	struct ui_token last;
	char kinds[256]; /* one letter a token: T K P M F ( = ) R */
	size_t n;
	uint8_t bytes[4096]; /* of all tokens */
	size_t len;
};

static void on_token(const struct ui_token *t, void *arg)
{
	struct seen *s = arg;

	s->last = *t;
	if (s->n < sizeof(s->kinds) - 1)
		s->kinds[s->n++] = "TKPMF(=)R"[t->kind];
	assert_true(s->len + t->len <= sizeof(s->bytes));
	memcpy(s->bytes + s->len, t->bytes, t->len);
	s->len += t->len;
}

static struct seen feed(const char *bytes)
{
	struct ui_input in = {0};
	struct seen s = {.n = 0};

	ui_input_feed(&in, bytes, strlen(bytes), on_token, &s);
	ui_input_timeout(&in, on_token, &s);
	assert_int_equal(s.len, strlen(bytes));
	assert_memory_equal(s.bytes, bytes, s.len);
	return s;
}

static void test_prefix__all_spellings(void **state)
{
	static const char *const prefixes[] = {
		"\x1d",	    "\033[93;5u",   "\033[93;5:1u",   "\033[93;133u",	  "\033[27;5;93~",
		"\033[24~", "\033[24;1:1~", "\033[93:125;5u", "\033[1098::93;5u",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		assert_string_equal(feed(prefixes[i]).kinds, "P");
}

static void test_prefix__others_are_not(void **state)
{
	(void)state;
	assert_string_equal(feed("\033[93u").kinds, "K");
	assert_string_equal(feed("\033[93;7u").kinds, "K");
	assert_string_equal(feed("\033[24;5~").kinds, "K");
	assert_string_equal(feed("\033[23~").kinds, "K");
	assert_string_equal(feed("\033[43::93;5u").kinds, "K"); /* another layout's + */
	assert_string_equal(feed("]").kinds, "T");
	/* the key goes up, or repeats: not pressed again */
	assert_string_equal(feed("\033[93;5:3u").kinds, "R");
	assert_string_equal(feed("\033[93;5:2u").kinds, "R");
}

/* Each way in which terminals say the key that the settings chose; the usual one is the agent's then. */
static void test_prefix__another_key(void **state)
{
	static const struct {
		const char *name, *shown, *spoken, *is[8], *not [4];
	} cases[] = {
		{"C-a",
		 "Ctrl-A",
		 "Control a",
		 {"\x01", "\033[97;5u", "\033[97;5:1u", "\033[27;5;97~", "\033[1092::97;5u",
		  "\033[24~"},
		 {"\033[93;5u", "\033[97u", "\033a", "\033[97;6u"}},
		{"C-\\",
		 "Ctrl-\\",
		 "Control backslash",
		 {"\x1c", "\033[92;5u", "\033[27;5;92~"},
		 {"\033[93;5u"}},
		{"M-x",
		 "Alt-x",
		 "Alt x",
		 {"\033x", "\033[120;3u", "\033[27;3;120~", "\033[24~"},
		 {"\033y", "\033[120;5u"}},
		{"F1",
		 "F1",
		 "F1",
		 {"\033OP", "\033[P", "\033[11~", "\033[1;1P"},
		 {"\033OQ", "\033[12~"}},
		{"F9", "F9", "F9", {"\033[20~", "\033[20;1:1~"}, {"\033[21~", "\033[20;5~"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *name = strdup(cases[i].name);

		zw_prefix_set(&name, 1);
		free(name);
		assert_string_equal(zw_prefix_name(), cases[i].shown);
		assert_string_equal(zw_prefix_spoken(), cases[i].spoken);
		for (size_t k = 0; k < 8 && cases[i].is[k] != NULL; k++)
			assert_string_equal(feed(cases[i].is[k]).kinds, "P");
		for (size_t k = 0; k < 4 && cases[i].not [k] != NULL; k++)
			assert_string_equal(feed(cases[i].not [k]).kinds, "K");
		assert_string_equal(feed("\x1d").kinds, "T");
	}
	char usual[] = "C-]", *names[] = {usual};
	zw_prefix_set(names, 1);
}

static void test_prefix__after_half_a_sequence(void **state)
{
	(void)state;
	assert_string_equal(feed("\033\x1d").kinds, "KP");
	assert_string_equal(feed("\033[1;\x1d"
				 "a")
				    .kinds,
			    "KPT");
	assert_string_equal(feed("\033O\x1d").kinds, "KP");
}

static void test_paste__nothing_inside_is_a_key(void **state)
{
	struct seen s = feed("\033[200~ay\x1d\033[93;5u\033[24~\r\033[201~y");

	(void)state;
	assert_int_equal(s.kinds[0], '(');
	assert_int_equal(strspn(s.kinds + 1, "="), s.n - 3);
	assert_string_equal(s.kinds + s.n - 2, ")T");
}

static void test_paste__marks_split_anywhere(void **state)
{
	static const char text[] = "a\033[200~b\x1d\033[20\033[201~c\x1d";

	(void)state;
	for (size_t cut = 0; cut <= strlen(text); cut++) {
		for (size_t cut2 = cut; cut2 <= strlen(text); cut2++) {
			struct ui_input in = {0};
			struct seen s = {.n = 0};
			int n_prefix = 0, n_begin = 0, n_end = 0;

			ui_input_feed(&in, text, cut, on_token, &s);
			ui_input_feed(&in, text + cut, cut2 - cut, on_token, &s);
			ui_input_feed(&in, text + cut2, strlen(text) - cut2, on_token, &s);
			for (size_t i = 0; i < s.n; i++) {
				n_prefix += s.kinds[i] == 'P';
				n_begin += s.kinds[i] == '(';
				n_end += s.kinds[i] == ')';
			}
			assert_int_equal(n_prefix, 1);
			assert_int_equal(n_begin, 1);
			assert_int_equal(n_end, 1);
			assert_int_equal(s.len, strlen(text));
			assert_memory_equal(s.bytes, text, s.len);
		}
	}
}

static void test_Z095_paste__an_end_mark_that_was_copied_ends_nothing(void **state)
{
	(void)state;
	assert_string_equal(feed("\033[200~\033[201~\nrm x\n\033[201~").kinds, "(R=)");
	assert_string_equal(feed("\033[200~a\033[201~b\033[201~c\033[201~d").kinds, "(=R=R=)T");
	/* What follows a true end is typed, and another paste is another one. */
	assert_string_equal(feed("\033[200~a\033[201~b").kinds, "(=)T");
	assert_string_equal(feed("\033[200~a\033[201~b\033[200~c\033[201~").kinds, "(=)T(=)");
}

static void test_paste__no_timeout_inside(void **state)
{
	struct ui_input in = {0};
	struct seen s = {.n = 0};

	(void)state;
	ui_input_feed(&in, "\033[200~abc\033[20", 13, on_token, &s);
	assert_int_equal(ui_input_wait_ms(&in), 0);
	assert_true(ui_input_is_pasting(&in));
	ui_input_feed(&in, "1~", 2, on_token, &s);
	assert_false(ui_input_is_pasting(&in));
}

static void test_escape__alone_after_a_while(void **state)
{
	struct ui_input in = {0};
	struct seen s = {.n = 0};

	(void)state;
	ui_input_feed(&in, "\033", 1, on_token, &s);
	assert_int_equal(s.n, 0);
	assert_in_range(ui_input_wait_ms(&in), 1, 99);
	ui_input_timeout(&in, on_token, &s);
	assert_string_equal(s.kinds, "K");
	assert_int_equal(s.last.key.code, UI_KEY_ESC);
	assert_int_equal(ui_input_wait_ms(&in), 0);
}

static void test_keys__names(void **state)
{
	static const struct {
		const char *bytes;
		uint32_t code;
		unsigned mods;
	} keys[] = {
		{"\033[A", UI_KEY_UP, 0},
		{"\033OA", UI_KEY_UP, 0},
		{"\033[1;5A", UI_KEY_UP, UI_MOD_CTRL},
		{"\033[5~", UI_KEY_PGUP, 0},
		{"\033[13u", UI_KEY_ENTER, 0},
		{"\033[27;2;65~", 'A', 0},
		{"\033[97;2u", 'A', 0},
		{"\033[27u", UI_KEY_ESC, 0},
		{"\033x", 'x', UI_MOD_ALT},
		{"\033[97;1:3u", UI_KEY_NONE, 0},
		{"\033[100;5u", 'd', UI_MOD_CTRL},
		{"\033[Z", UI_KEY_BACKTAB, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct seen s = feed(keys[i].bytes);

		assert_string_equal(s.kinds, "K");
		assert_int_equal(s.last.key.code, keys[i].code);
		assert_int_equal(s.last.key.mods, keys[i].mods);
	}
}

static void test_mouse__sgr_and_x10(void **state)
{
	struct seen s = feed("\033[<0;10;5M");

	(void)state;
	assert_string_equal(s.kinds, "M");
	assert_int_equal(s.last.mouse.col, 9);
	assert_int_equal(s.last.mouse.row, 4);
	assert_false(s.last.mouse.is_release);
	assert_true(feed("\033[<0;10;5m").last.mouse.is_release);
	s = feed("\033[M *%");
	assert_string_equal(s.kinds, "M");
	assert_int_equal(s.last.mouse.button, 0);
	assert_int_equal(s.last.mouse.col, 9);
	assert_int_equal(s.last.mouse.row, 4);
}

static void test_replies__are_nobodys_input(void **state)
{
	struct seen s = feed("\033[?2026;2$y");

	(void)state;
	assert_string_equal(s.kinds, "R");
	assert_int_equal(s.last.what, UI_REPLY_SYNC);
	assert_int_equal(s.last.value, 2);
	assert_int_equal(feed("\033[?62;22c").last.what, UI_REPLY_DA1);
	s = feed("\033[?5u");
	assert_int_equal(s.last.what, UI_REPLY_KITTY);
	assert_int_equal(s.last.value, 5);
	assert_string_equal(feed("\033[I\033[O").kinds, "FF");
}

/* With the terminal asked for its colours; split at every byte it is the same. */
static struct seen feed_asked(const char *bytes)
{
	struct ui_input in = {.wants_osc = true};
	struct seen s = {.n = 0};

	for (size_t i = 0; i < strlen(bytes); i++)
		ui_input_feed(&in, bytes + i, 1, on_token, &s);
	ui_input_timeout(&in, on_token, &s);
	assert_int_equal(s.len, strlen(bytes));
	assert_memory_equal(s.bytes, bytes, s.len);
	return s;
}

static void test_colours__answers_and_what_only_begins_like_one(void **state)
{
	struct seen s = feed_asked("\033]10;rgb:ffff/8080/0000\033\\");

	(void)state;
	assert_string_equal(s.kinds, "R");
	assert_int_equal(s.last.what, UI_REPLY_FG);
	assert_int_equal(s.last.value, 0xff8000);
	s = feed_asked("\033]11;rgb:1/ab/fff\a");
	assert_int_equal(s.last.what, UI_REPLY_BG);
	assert_int_equal(s.last.value, 0x11abff);
	assert_int_equal(feed_asked("\033]11;rgb:12/34\a").last.what, UI_REPLY_OTHER);
	assert_int_equal(feed_asked("\033]11;rgb:\a").last.what, UI_REPLY_OTHER);
	s = feed_asked("\033]"); /* Alt-] */
	assert_string_equal(s.kinds, "K");
	assert_int_equal(s.last.key.code, ']');
	assert_int_equal(s.last.key.mods, UI_MOD_ALT);
	assert_string_equal(feed_asked("\033]1\x1dx").kinds, "KPT");
	assert_string_equal(feed_asked("\033]11;\033[A").kinds, "KTT");
	assert_string_equal(feed("\033]11;rgb:1/2/3\a").kinds, "KT"); /* nobody asked */
}

static void test_sequence__too_long_is_text_again(void **state)
{
	char bytes[300] = "\033[";

	(void)state;
	memset(bytes + 2, '1', 200);
	assert_string_equal(feed(bytes).kinds, "KT");
}

static void test_Z093_escape__split_sequences(void **state)
{
	static const char text[] = "\033[<35;12;40M\033[1;5C\033OP";
	struct ui_input in = {0};
	struct seen s = {.n = 0};

	(void)state;
	for (size_t i = 0; i < strlen(text); i++)
		ui_input_feed(&in, text + i, 1, on_token, &s);
	assert_string_equal(s.kinds, "MKK");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prefix__all_spellings),
		cmocka_unit_test(test_prefix__others_are_not),
		cmocka_unit_test(test_prefix__after_half_a_sequence),
		cmocka_unit_test(test_paste__nothing_inside_is_a_key),
		cmocka_unit_test(test_paste__marks_split_anywhere),
		cmocka_unit_test(test_Z095_paste__an_end_mark_that_was_copied_ends_nothing),
		cmocka_unit_test(test_paste__no_timeout_inside),
		cmocka_unit_test(test_escape__alone_after_a_while),
		cmocka_unit_test(test_keys__names),
		cmocka_unit_test(test_mouse__sgr_and_x10),
		cmocka_unit_test(test_replies__are_nobodys_input),
		cmocka_unit_test(test_colours__answers_and_what_only_begins_like_one),
		cmocka_unit_test(test_prefix__another_key),
		cmocka_unit_test(test_sequence__too_long_is_text_again),
		cmocka_unit_test(test_Z093_escape__split_sequences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
