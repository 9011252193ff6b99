/* SPDX-License-Identifier: MIT
 * What keys may do to a question: arming, second steps, words, pastes. */
#include "tests/support/test.h"

#include <string.h>

#include "src/base/words.h"
#include "ui/ask.h"

#define T0 INT64_C(1000000)

static const struct ui_key enter = {UI_KEY_ENTER, 0}, esc = {UI_KEY_ESC, 0};

static struct ui_ask question(enum pol_risk risk, const char *word)
{
	struct ui_ask a;

	ui_ask_init(&a, risk, word, 500, 300, T0);
	a.is_read = true;
	return a;
}

static void show(struct ui_ask *a, int64_t now_ms)
{
	ui_ask_drawn(a);
	ui_ask_written(a, now_ms);
}

static enum ui_ask_result press(struct ui_ask *a, uint32_t code, int64_t now_ms)
{
	return ui_ask_key(a, (struct ui_key){code, 0}, now_ms);
}

static enum ui_ask_result type(struct ui_ask *a, const char *text, int64_t now_ms)
{
	for (; *text != '\0'; text++)
		assert_int_equal(press(a, (uint8_t)*text, now_ms), UI_ASK_NOTHING);
	return ui_ask_key(a, enter, now_ms);
}

static void test_allow__asleep_until_the_frame_was_read(void **state)
{
	struct ui_ask a = question(POL_RISK_LOW, "");

	(void)state;
	/* no frame: nothing at all */
	assert_int_equal(press(&a, 'y', T0 + 5000), UI_ASK_NOTHING);
	assert_int_equal(ui_ask_asleep_ms(&a, T0 + 5000), -1);
	/* a frame without the question in it does not count */
	ui_ask_written(&a, T0 + 5000);
	assert_int_equal(ui_ask_asleep_ms(&a, T0 + 5000), -1);
	show(&a, T0 + 6000);
	assert_int_equal(press(&a, 'y', T0 + 6100), UI_ASK_NOTHING);
	assert_true(a.hint[0] != '\0');
	assert_int_equal(press(&a, 'y', T0 + 6499), UI_ASK_NOTHING);
	/* 500 ms are over, but the last key is younger than 300 ms */
	assert_int_equal(press(&a, 'y', T0 + 6700), UI_ASK_NOTHING);
	assert_int_equal(press(&a, 'y', T0 + 7000), UI_ASK_ALLOW);
	assert_int_equal(a.scope, ZW_SCOPE_ONCE);
	assert_string_equal(a.key, "y");
}

static void test_allow__a_held_key_never_arms(void **state)
{
	struct ui_ask a = question(POL_RISK_LOW, "");

	(void)state;
	show(&a, T0);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(press(&a, 'y', T0 + i * 33), UI_ASK_NOTHING);
}

static void test_allow__rearmed_by_another_picture(void **state)
{
	struct ui_ask a = question(POL_RISK_LOW, "");

	(void)state;
	show(&a, T0);
	ui_ask_rearm(&a);
	assert_int_equal(press(&a, 'y', T0 + 5000), UI_ASK_NOTHING);
	show(&a, T0 + 5000);
	assert_int_equal(press(&a, 'y', T0 + 5400), UI_ASK_NOTHING);
	assert_int_equal(press(&a, 'y', T0 + 5800), UI_ASK_ALLOW);
}

static void test_allow__only_what_was_read(void **state)
{
	struct ui_ask a = question(POL_RISK_LOW, "");

	(void)state;
	a.is_read = false;
	show(&a, T0);
	assert_int_equal(press(&a, 'y', T0 + 5000), UI_ASK_NOTHING);
	assert_int_equal(press(&a, 's', T0 + 6000), UI_ASK_NOTHING);
	assert_int_equal(ui_ask_key(&a, enter, T0 + 6001), UI_ASK_DENY);
}

static void test_deny__at_once_but_not_typed_ahead(void **state)
{
	struct ui_ask a = question(POL_RISK_CRITICAL, "docker");

	(void)state;
	assert_int_equal(press(&a, 'n', T0 + 1), UI_ASK_NOTHING);
	assert_int_equal(ui_ask_key(&a, enter, T0 + 2), UI_ASK_NOTHING);
	show(&a, T0 + 3);
	assert_int_equal(ui_ask_key(&a, enter, T0 + 4), UI_ASK_DENY);
	assert_int_equal(a.scope, ZW_SCOPE_ONCE);
	assert_string_equal(a.key, "Enter");
	assert_int_equal(press(&a, 'N', T0 + 5), UI_ASK_DENY);
	assert_int_equal(a.scope, ZW_SCOPE_SESSION);
	assert_int_equal(ui_ask_key(&a, esc, T0 + 6), UI_ASK_LATER);
}

static void test_critical__always_the_word(void **state)
{
	struct ui_ask a = question(POL_RISK_CRITICAL, "docker");

	(void)state;
	show(&a, T0);
	assert_int_equal(press(&a, 'y', T0 + 1000), UI_ASK_NOTHING);
	assert_int_equal(a.step, UI_ASK_WORD);
	assert_int_equal(type(&a, "dockr", T0 + 1001), UI_ASK_NOTHING);
	assert_string_equal(a.hint, "Not the same as docker. Nothing was allowed.");
	assert_int_equal(a.step, UI_ASK_CHOOSE);
	/* and back at the start the keys are asleep again */
	show(&a, T0 + 1100);
	assert_int_equal(press(&a, 'y', T0 + 1200), UI_ASK_NOTHING);
	assert_int_equal(a.step, UI_ASK_CHOOSE);
	assert_int_equal(press(&a, 's', T0 + 2000), UI_ASK_NOTHING);
	assert_int_equal(ui_ask_key(&a, enter, T0 + 2001), UI_ASK_NOTHING); /* Enter alone */
	assert_int_equal(a.step, UI_ASK_CHOOSE);
	show(&a, T0 + 2002);
	assert_int_equal(press(&a, 's', T0 + 3000), UI_ASK_NOTHING);
	assert_int_equal(type(&a, "docker", T0 + 3001), UI_ASK_ALLOW);
	assert_int_equal(a.scope, ZW_SCOPE_SESSION);
	assert_string_equal(a.key, "s+docker");
}

static void test_critical__a_class_without_a_word_asks_for_one(void **state)
{
	struct ui_ask a = question(POL_RISK_CRITICAL, "");

	(void)state;
	show(&a, T0);
	assert_int_equal(press(&a, 'y', T0 + 1000), UI_ASK_NOTHING);
	assert_int_equal(ui_ask_key(&a, enter, T0 + 1001), UI_ASK_NOTHING);
	show(&a, T0 + 1002);
	assert_int_equal(press(&a, 'y', T0 + 2000), UI_ASK_NOTHING);
	assert_int_equal(type(&a, "allow", T0 + 2001), UI_ASK_ALLOW);
}

static void test_high__a_second_key_or_the_word(void **state)
{
	struct ui_ask a = question(POL_RISK_HIGH, "ssh");

	(void)state;
	show(&a, T0);
	assert_int_equal(press(&a, 'y', T0 + 1000), UI_ASK_NOTHING);
	assert_int_equal(a.step, UI_ASK_CONFIRM);
	/* not before the second step was on screen */
	assert_int_equal(ui_ask_key(&a, enter, T0 + 1001), UI_ASK_NOTHING);
	show(&a, T0 + 1010);
	assert_int_equal(press(&a, 'y', T0 + 1100), UI_ASK_NOTHING);
	assert_int_equal(a.step, UI_ASK_CHOOSE);
	show(&a, T0 + 1110);
	assert_int_equal(press(&a, 'y', T0 + 2000), UI_ASK_NOTHING);
	show(&a, T0 + 2001);
	assert_int_equal(ui_ask_key(&a, enter, T0 + 2100), UI_ASK_ALLOW);
	assert_string_equal(a.key, "y+Enter");
	a = question(POL_RISK_HIGH, "ssh");
	show(&a, T0);
	assert_int_equal(press(&a, 's', T0 + 1000), UI_ASK_NOTHING);
	assert_int_equal(a.step, UI_ASK_WORD);
}

static void test_paste__never_answers(void **state)
{
	struct ui_ask a = question(POL_RISK_CRITICAL, "docker");

	(void)state;
	show(&a, T0);
	ui_ask_paste(&a, "y", 1, T0 + 1000);
	assert_int_equal(a.step, UI_ASK_CHOOSE);
	assert_int_equal(press(&a, 'y', T0 + 2000), UI_ASK_NOTHING);
	assert_int_equal(a.step, UI_ASK_WORD);
	ui_ask_paste(&a, "docker\n", 7, T0 + 2001);
	assert_int_equal(a.len, 0);
	assert_int_equal(a.step, UI_ASK_WORD);
	assert_string_equal(a.hint, "Pasting is off here on purpose.");
	assert_int_equal(ui_ask_key(&a, enter, T0 + 2002), UI_ASK_NOTHING);
}

static void test_note__typed_and_pasted(void **state)
{
	struct ui_ask a = question(POL_RISK_LOW, "");

	(void)state;
	show(&a, T0);
	assert_int_equal(press(&a, 't', T0 + 1), UI_ASK_NOTHING);
	ui_ask_paste(&a, "use\nlocalhost\033[2J", 17, T0 + 2);
	assert_string_equal(a.text, "use localhost[2J");
	for (int i = 0; i < 3; i++)
		press(&a, UI_KEY_BACKSPACE, T0 + 3);
	assert_string_equal(a.text, "use localhost");
	assert_int_equal(ui_ask_key(&a, enter, T0 + 4), UI_ASK_DENY);
	assert_int_equal(a.scope, ZW_SCOPE_ONCE);
	for (int i = 0; i < 1000; i++)
		press(&a, 0xe4, T0 + 5); /* never beyond its room, never half a character */
	assert_true(a.len <= UI_NOTE_MAX && (a.len - strlen("use localhost")) % 2 == 0);
}

static void test_late__no_once(void **state)
{
	struct ui_ask a = question(POL_RISK_LOW, "");

	(void)state;
	a.is_late = true;
	show(&a, T0);
	assert_int_equal(press(&a, 'y', T0 + 1000), UI_ASK_NOTHING);
	assert_int_equal(press(&a, 's', T0 + 2000), UI_ASK_ALLOW);
	assert_int_equal(a.scope, ZW_SCOPE_SESSION);
}

static void test_keys__all_others_do_nothing_and_say_so(void **state)
{
	struct ui_ask a = question(POL_RISK_LOW, "");

	(void)state;
	show(&a, T0);
	for (uint32_t code = '!'; code < 0x7f; code++) {
		if (strchr("nNtysdfjkAec", (int)code) != NULL)
			continue;
		assert_int_equal(press(&a, code, T0 + 10000 + code * 1000), UI_ASK_NOTHING);
		assert_non_null(strstr(a.hint, "does nothing here"));
	}
	assert_int_equal(ui_ask_key(&a, (struct ui_key){'y', UI_MOD_CTRL}, T0 + 990000),
			 UI_ASK_NOTHING);
	assert_int_equal(ui_ask_key(&a, (struct ui_key){'y', UI_MOD_ALT}, T0 + 991000),
			 UI_ASK_NOTHING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allow__asleep_until_the_frame_was_read),
		cmocka_unit_test(test_allow__a_held_key_never_arms),
		cmocka_unit_test(test_allow__rearmed_by_another_picture),
		cmocka_unit_test(test_allow__only_what_was_read),
		cmocka_unit_test(test_deny__at_once_but_not_typed_ahead),
		cmocka_unit_test(test_critical__always_the_word),
		cmocka_unit_test(test_critical__a_class_without_a_word_asks_for_one),
		cmocka_unit_test(test_high__a_second_key_or_the_word),
		cmocka_unit_test(test_paste__never_answers),
		cmocka_unit_test(test_note__typed_and_pasted),
		cmocka_unit_test(test_late__no_once),
		cmocka_unit_test(test_keys__all_others_do_nothing_and_say_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
