/* SPDX-License-Identifier: MIT
 * What of the agent's output reaches the user's own terminal in plain mode, in any pieces. */
#include "tests/support/test.h"

#include <string.h>

#include "src/base/mem.h"
#include "ui/pane/pass.h"

static void check(const char *in, const char *wanted)
{
	for (size_t piece = 1; piece <= strlen(in); piece++) {
		struct pane_pass p = {0};
		struct zw_buf out;

		zw_buf_init(&out, 4096);
		for (size_t i = 0; i < strlen(in); i += piece) {
			size_t left = strlen(in) - i;

			pane_pass_feed(&p, (const uint8_t *)in + i, left < piece ? left : piece,
				       &out);
		}
		zw_buf_add(&out, "", 1);
		assert_string_equal((char *)zw_buf_head(&out), wanted);
		zw_buf_fini(&out);
	}
}

static void same(const char *in)
{
	check(in, in);
}

static void test_text_and_pictures_pass(void **state)
{
	(void)state;
	same("hello\r\n\tworld\a\b");
	same("\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x8b\xc2\xa0");
	same("\033[1;31mred\033[m\033[2J\033[10;20H\033[K\0337\0338\033M");
	same("\033[?1049h\033[?25l\033[4 q\033[?2004h\033[>4;1m");
	same("\033(0lqk\033(B");
}

static void test_questions_to_the_terminal_do_not(void **state)
{
	(void)state;
	check("a\033[cb\033[>cc\033[6nd\033[?6ne\033[21tf", "abcdef");
	check("\033[>qa\033[?2026$pb\033[?uc\033Zd\x05"
	      "e",
	      "abcde");
	check("\033]52;c;aGVsbG8=\ax\033]0;title\033\\y\033]10;?\az", "xyz");
	check("\033P$qm\033\\x\033_Gi=1\033\\y\033^z\033\\", "xy");
}

static void test_other_forms_of_controls_do_not(void **state)
{
	(void)state;
	check("a\xc2\x9b"
	      "6nb",
	      "a6nb"); /* CSI as a character */
	check("a\x9b"
	      "6nb",
	      "a6nb"); /* and as a byte */
	check("\033[1\0336nx", "nx");
	check("\033[1;2;3;4;5;6;7;8;9;10;11;12;13;14;15mx", "x");
	check("\033c\033#8x\016y\017", "xy");
	check("a\x7f"
	      "b",
	      "ab");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_and_pictures_pass),
		cmocka_unit_test(test_questions_to_the_terminal_do_not),
		cmocka_unit_test(test_other_forms_of_controls_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
