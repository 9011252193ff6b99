/* SPDX-License-Identifier: MIT
 * What the agent says of itself: on the status line always, passed on to a user who is not looking,
 * seldom and in zwatch's own words. And what stands there when nobody draws its screen. */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/words.h"
#include "tests/support/ui_fake.h"

#define AWAY_MS 31000

static struct ui_fake f;

static int start(void **state)
{
	(void)state;
	ui_fake_init(&f, UI_LAYOUT_DASHBOARD, 30, 140);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	ui_fake_fini(&f);
	return 0;
}

static void title(const char *text)
{
	mdl_set(&f.model.title, zw_span(text), 256);
	ui_core_changed(&f.core, MDL_CHANGED_STATUS, f.now_ms);
	ui_fake_draw(&f);
}

static void note(unsigned kind, uint32_t value, const char *text)
{
	ui_core_note(&f.core, kind, value, text, f.now_ms);
	ui_fake_draw(&f);
}

static void test_work__of_known_titles(void **state)
{
	(void)state;
	assert_int_equal(ui_attend_work("\u2733 Claude Code"), UI_WORK_READY);
	assert_int_equal(ui_attend_work("\u2802 Claude Code"), UI_WORK_BUSY);
	assert_int_equal(ui_attend_work("\u2819 hello there | proj"), UI_WORK_BUSY);
	assert_int_equal(ui_attend_work("\u25c7  Ready (proj)"), UI_WORK_READY);
	assert_int_equal(ui_attend_work("\u2726  Working\u2026 (proj)"), UI_WORK_BUSY);
	assert_int_equal(ui_attend_work("\u270b  Action Required (proj)"), UI_WORK_ASKS);
	assert_int_equal(ui_attend_work("vim"), UI_WORK_UNKNOWN);
	assert_int_equal(ui_attend_work(""), UI_WORK_UNKNOWN);
}

static void test_title__work_that_ends_is_shown(void **state)
{
	(void)state;
	title("\u2733 Claude Code");
	assert_false(ui_fake_shows(&f, "claude needs you"));
	title("\u2802 Claude Code");
	title("\u2810 Claude Code");
	assert_false(ui_fake_shows(&f, "claude needs you"));
	title("\u2733 Claude Code");
	assert_true(ui_fake_shows(&f, "claude needs you"));
	ui_fake_type(&f, "x");
	assert_false(ui_fake_shows(&f, "claude needs you"));
	/* codex: no sign at all when it is ready */
	title("\u2819 proj");
	title("proj");
	assert_true(ui_fake_shows(&f, "claude needs you"));
	title("\u2819 proj");
	assert_false(ui_fake_shows(&f, "claude needs you"));
	title("\u270b  Action Required (proj)");
	assert_true(ui_fake_shows(&f, "claude needs you"));
	assert_int_equal(f.n_bells, 0); /* the user looks */
}

static void test_bell__of_a_key_is_only_rung(void **state)
{
	(void)state;
	ui_fake_type(&f, "\t");
	note(ZW_NOTE_KIND_BELL, 1, "");
	assert_int_equal(f.n_bells, 1);
	assert_false(ui_fake_shows(&f, "needs you"));
	/* a storm of them is one a second */
	for (int i = 0; i < 600; i++) {
		f.now_ms += 16;
		note(ZW_NOTE_KIND_BELL, 60, "");
	}
	assert_in_range(f.n_bells, 9, 11);
	assert_true(ui_fake_shows(&f, "claude needs you"));
}

static void test_notice__for_one_who_is_not_looking(void **state)
{
	(void)state;
	ui_fake_type(&f, "\033[O"); /* the window lost the focus */
	f.now_ms += 2000;
	note(ZW_NOTE_KIND_NOTIFY, 0, "EVIL text \u202e");
	assert_int_equal(f.n_bells, 1);
	assert_string_equal(f.notice, "zwatch: claude needs you (~/src/shop)");
	assert_true(ui_fake_shows(&f, "claude says: \"EVIL text"));
	/* at most one in 20 s, of whatever kind */
	f.notice[0] = '\0';
	for (int i = 0; i < 180; i++) {
		f.now_ms += 100;
		note(i % 2 == 0 ? ZW_NOTE_KIND_NOTIFY : ZW_NOTE_KIND_BELL, 0, "again");
		title(i % 4 == 0 ? "\u270b a" : "\u2726 b");
	}
	assert_int_equal(f.n_bells, 1);
	assert_string_equal(f.notice, "");
	f.now_ms += 3000;
	note(ZW_NOTE_KIND_BELL, 0, "");
	assert_int_equal(f.n_bells, 2);
	assert_string_equal(f.notice, "zwatch: claude needs you (~/src/shop)");
	/* back again: shown, not told */
	ui_fake_type(&f, "\033[I");
	ui_fake_type(&f, "x");
	f.notice[0] = '\0';
	f.now_ms += 25000;
	note(ZW_NOTE_KIND_NOTIFY, 0, "x");
	assert_string_equal(f.notice, "");
	assert_int_equal(f.n_bells, 2);
}

/* What the agent does must not take the notice of a question away. */
static void test_notice__a_question_comes_through(void **state)
{
	(void)state;
	f.now_ms += AWAY_MS;
	note(ZW_NOTE_KIND_BELL, 0, "");
	assert_string_equal(f.notice, "zwatch: claude needs you (~/src/shop)");
	f.now_ms += 100;
	ui_model_ask_docker(&f.model, 1);
	ui_core_changed(&f.core, MDL_CHANGED_ASKS, f.now_ms);
	assert_non_null(strstr(f.notice, "waits for you (docker.sock"));
	/* and as long as it waits the agent is silent */
	f.notice[0] = '\0';
	f.now_ms += 60000;
	note(ZW_NOTE_KIND_NOTIFY, 0, "look here");
	assert_string_equal(f.notice, "");
}

static void test_progress__is_shown(void **state)
{
	(void)state;
	note(ZW_NOTE_KIND_PROGRESS, 1 << 8 | 42, "");
	assert_true(ui_fake_shows(&f, "42%"));
	note(ZW_NOTE_KIND_PROGRESS, 3 << 8, "");
	assert_true(ui_fake_shows(&f, "busy"));
	note(ZW_NOTE_KIND_PROGRESS, 2 << 8 | 255, "");
	assert_true(ui_fake_shows(&f, "failed at 100%"));
	note(ZW_NOTE_KIND_PROGRESS, 4 << 8 | 7, "");
	assert_true(ui_fake_shows(&f, "paused at 7%"));
	note(ZW_NOTE_KIND_PROGRESS, 0, "");
	assert_false(ui_fake_shows(&f, "%"));
	note(ZW_NOTE_KIND_PROGRESS, UINT32_MAX, "");
	assert_false(ui_fake_shows(&f, "%"));
}

static void test_title__stands_on_the_status_line_without_a_frame(void **state)
{
	zw_autofree char *text = NULL;

	(void)state;
	title("the title");
	assert_true(ui_fake_shows(&f, "claude: the title"));
	ui_fake_type(&f, "\x1dz");
	ui_fake_wait(&f, 10000);
	text = ui_fake_text(&f);
	assert_non_null(strstr(text, "the title"));
	assert_null(strstr(text, "REC"));
	/* cut between two characters */
	title("\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e\u65e5\u672c"
	      "\u8a9e\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e");
	assert_false(ui_fake_shows(&f, "\ufffd"));
	assert_true(ui_fake_shows(&f, "\u65e5\u672c\u8a9e"));
}

static void test_gone__the_pane_says_so(void **state)
{
	(void)state;
	mdl_set(&f.model.pane_gone, zw_span("killed by signal 11 (Segmentation fault)"), 128);
	ui_core_changed(&f.core, MDL_CHANGED_STATUS, f.now_ms);
	ui_fake_draw(&f);
	assert_true(ui_fake_shows(
		&f, "zwatch-pane, which draws the agent's screen, killed by signal 11"));
	assert_true(ui_fake_shows(&f, "Ctrl-] r starts a new one."));
	ui_fake_type(&f, "\x1dr");
	assert_int_equal(f.n_pane_restarts, 1);
	mdl_set(&f.model.pane_gone, zw_span(""), 128);
	ui_fake_draw(&f);
	assert_false(ui_fake_shows(&f, "zwatch-pane, which"));
	/* smallest screens: nothing breaks */
	mdl_set(&f.model.pane_gone, zw_span("killed"), 128);
	for (int rows = 1; rows < 6; rows++)
		for (int cols = 1; cols < 12; cols++)
			ui_fake_resize(&f, rows, cols);
}

#define CASE(t) cmocka_unit_test_setup_teardown(t, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work__of_known_titles),
		CASE(test_title__work_that_ends_is_shown),
		CASE(test_bell__of_a_key_is_only_rung),
		CASE(test_notice__for_one_who_is_not_looking),
		CASE(test_notice__a_question_comes_through),
		CASE(test_progress__is_shown),
		CASE(test_title__stands_on_the_status_line_without_a_frame),
		CASE(test_gone__the_pane_says_so),
	};

	draw_locale_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
