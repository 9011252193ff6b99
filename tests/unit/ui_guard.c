/* SPDX-License-Identifier: MIT
 * The grammar of what may reach the user's terminal: what zwatch writes is in it, and nothing that a
 * hostile program would like to be. */
#include "tests/support/test.h"

#include <string.h>

#include "ui/guard.h"

static bool passes(const char *s, size_t len)
{
	struct ui_guard g = {.state = 0}, h = {.state = 0};
	bool ok = ui_guard_pass(&g, s, len), ok_bytewise = true;

	for (size_t i = 0; ok_bytewise && i < len; i++)
		ok_bytewise = ui_guard_pass(&h, s + i, 1);
	assert_int_equal(ok, ok_bytewise);
	return ok && ui_guard_is_between(&g);
}

static void test_listed__passes(void **state)
{
	static const char *const good[] = {
		"",
		"plain text\r\n\b\a",
		"\xc3\xa9\xe6\x97\xa5\xf0\x9f\x8e\x89",
		"\033[H\033[2J\033[12;34H\033[5;6r\033[m\033[0;1;38;2;1;2;3;48;5;200m\033[4:3m",
		"\033[K\033[1K\033[J\033[3A\033[B\033[10C\033[X\033[12@\033[3P\033[L\033[2M\033[5b",
		"\033(B\033)0\033M\0337\0338\033=\033>",
		"\033[?1049h\033[22;0;0t\033[?25l\033[?2004h\033[?1004h",
		"\033[22;2t\033[23;2t\033[?2026h\033[?2026l\033[?1006h\033[?1003l",
		"\033[>5u\033[=7;1u\033[<u\033[<9u\033[>4;2m\033[>4m\033[4 q\033[0 q",
		"\033[?2026$p\033[?u\033]10;?\a\033]11;?\a\033[c",
		"\033]2;zwatch: caf\xc3\xa9; x\a\033]9;claude waits\a",
		"\033]99;i=zwatch;claude waits\a\033]99;i=zwatch:p=close;\a",
		"\033]52;c;aGVsbG8=\a",
		"\033Ptmux;\033\033]52;c;aGVsbG8=\a\033\\",
		"\033P\033]52;c;aGVs\033\\\033PbG8=\a\033\\",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!passes(good[i], strlen(good[i])))
			fail_msg("refused: number %zu", i);
}

static void test_everything_else__is_refused(void **state)
{
	static const char *const bad[] = {
		"\033",	    /* begun, not ended */
		"\033[",    /* */
		"\xe6\x97", /* */
		"\177",	    /* */
		"\x1a",	    /* */
		"\x80",	    /* not UTF-8 */
		"\xff",	    /* */
		("\xc2\x9b"
		 "31m"),	      /* C1 */
		"\xe2\x80\xae",	      /* turns the order of reading */
		"\xe2\x80\x8b",	      /* zero width */
		"\xed\xa0\x80",	      /* half of a pair */
		"\xf3\xa0\x81\x81",   /* a tag */
		"\033[6n",	      /* questions */
		"\033[5n",	      /* */
		"\033[>c",	      /* */
		"\033[>q",	      /* */
		"\033[21t",	      /* */
		"\033[18t",	      /* */
		"\033[?1049$p",	      /* */
		"\033[?997n",	      /* */
		"\033]4;1;?\a",	      /* */
		"\033]12;?\a",	      /* */
		"\033]10;#000000\a",  /* the user's colours */
		"\033]4;1;#000000\a", /* */
		"\033]104\a",	      /* */
		"\033]0;title\a",     /* */
		"\033]2;a\033]9;b\a", /* one inside another */
		"\033]2;a\033\\",     /* */
		"\033]2;\xe2\x80\xae\a",
		"\033]7;file:///\a",  /* */
		"\033]8;;http://x\a", /* links are shown, not passed on */
		"\033]52;c;?\a",      /* reading the clipboard */
		"\033]52;p;aGk=\a",   /* */
		"\033]52;c;a b\a",    /* */
		"\033]133;A\a",	      /* */
		"\033]777;notify;a;b\a",
		"\033]1337;File=:AAAA\a",
		"\033]99;;x\a", /* */
		"\033]99;i=zwatch:p=open;\a",
		"\033P$qm\033\\",    /* */
		"\033P+q544e\033\\", /* */
		"\033Pq#0\033\\",    /* a picture */
		"\033Ptmux;\033\033]2;x\a\033\\",
		"\033Ptmux;\033\033]52;c;?\a\033\\",
		"\033_Gi=1;AAAA\033\\", /* */
		"\033^x\033\\",		/* */
		"\033Xx\033\\",		/* */
		"\033c",		/* */
		"\033#8",		/* */
		"\033%G",		/* */
		"\033N",		/* */
		"\033[i",		/* prints */
		"\033[5i",		/* */
		"\033[!p",		/* */
		"\033[?5h",		/* modes that are not mirrored */
		"\033[?3h",		/* */
		"\033[?69h",		/* */
		"\033[?47h",		/* */
		"\033[?1015h",		/* */
		"\033[?1000;1006h",	/* */
		"\033[20h",		/* */
		"\033[8;10;10t",	/* sizes of the window */
		"\033[3;0;0t",		/* */
		"\033[1;1m\033[1;1",	/* */
		"\033[1;2;3H",		/* */
		"\033[?H",		/* */
		"\033[12y",		/* */
		"\033[\x1b[m",		/* */
		"\033[1\nH",		/* */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (passes(bad[i], strlen(bad[i])))
			fail_msg("passed: number %zu", i);
	assert_false(passes("a\0b", 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listed__passes),
		cmocka_unit_test(test_everything_else__is_refused),
	};

	return cmocka_run_group_tests_name("ui_guard", tests, NULL, NULL);
}
