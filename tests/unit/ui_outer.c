/* SPDX-License-Identifier: MIT
 * Which terminals are taken to speak the kitty keyboard protocol, by environment alone. */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/str.h"
#include "ui/outer.h"

static const char *const names[] = {"TERM", "TERM_PROGRAM", "KITTY_WINDOW_ID", "TMUX", "STY"};

/* @env: pairs as env(1) takes them, blanks between. */
static const char *outer(const char *env)
{
	static char text[256];
	char *save = NULL;

	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++)
		unsetenv(names[i]);
	zw_strlcpy(text, env, sizeof(text));
	for (char *p = strtok_r(text, " ", &save); p != NULL; p = strtok_r(NULL, " ", &save)) {
		char *value = strchr(p, '=');

		*value++ = '\0';
		setenv(p, value, 1);
	}
	return ui_outer_kitty();
}

static void test_known__by_program_or_term(void **state)
{
	(void)state;
	assert_string_equal(outer("TERM=xterm-256color TERM_PROGRAM=ghostty"), "ghostty");
	assert_string_equal(outer("TERM=xterm-256color TERM_PROGRAM=iTerm.app"), "iTerm.app");
	assert_string_equal(outer("TERM=xterm-kitty"), "kitty");
	assert_string_equal(outer("TERM=foot-extra"), "foot");
	assert_string_equal(outer("TERM=xterm-256color KITTY_WINDOW_ID=1"), "kitty");
}

static void test_others__are_not(void **state)
{
	(void)state;
	assert_null(outer(""));
	assert_null(outer("TERM=xterm-256color"));
	assert_null(outer("TERM=xterm-256color TERM_PROGRAM=Apple_Terminal"));
	assert_null(outer("TERM=xterm-kitty TERM_PROGRAM=vscode"));
	/* They do not pass such keys on, and their windows inherit the variables of others. */
	assert_null(outer("TERM=tmux-256color TERM_PROGRAM=tmux KITTY_WINDOW_ID=1"));
	assert_null(outer("TERM=screen.xterm-kitty TERM_PROGRAM=ghostty"));
	assert_null(outer("TERM=xterm-256color TERM_PROGRAM=kitty TMUX=/tmp/tmux-0/default,1,0"));
	assert_null(outer("TERM=xterm-kitty STY=1.pts-0.host"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known__by_program_or_term),
		cmocka_unit_test(test_others__are_not),
	};

	return cmocka_run_group_tests_name("ui_outer", tests, NULL, NULL);
}
