/* SPDX-License-Identifier: MIT
 * Looking back: which keys do what, what is asked of zwatch-pane, and what its answers may do. */
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/ui_fake.h"

#define PREFIX "\x1d"

static struct ui_fake f;

/* A frame of lines 100 to 115 out of those from 40 on; the screen begins at 100. */
static void frame(uint64_t first, uint64_t top, uint64_t screen)
{
	struct ui_frame now = f.core.frame;

	now.first_line = first;
	now.top_line = top;
	now.screen_line = screen;
	now.cursor_row = 5;
	now.cursor_col = 3;
	ui_core_frame(&f.core, &now, f.now_ms);
	ui_fake_draw(&f);
}

/* The pane does what it was asked for. */
static void follow(void)
{
	frame(f.core.frame.first_line, f.look.from.line, f.core.frame.screen_line);
}

static int start(void **state)
{
	(void)state;
	ui_fake_init(&f, UI_LAYOUT_DASHBOARD, 30, 100);
	frame(40, 100, 100);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	ui_fake_fini(&f);
	return 0;
}

static void assert_look(enum ui_look_kind kind, uint64_t line)
{
	assert_int_equal(f.look.kind, kind);
	assert_int_equal(f.look.from.line, line);
}

static void test_open__holds_the_view_and_closes_live(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "[");
	assert_look(UI_LOOK_SCROLL, 100);
	assert_true(ui_fake_shows(&f, "scrolled 0 of 60 lines"));
	assert_int_equal(f.core.cursor_row, f.core.rects.agent.top + 5);
	frame(40, 100, 4131); /* output: the frame stays, the mark counts */
	assert_true(ui_fake_shows(&f, "scrolled 4,031 of 4,091 lines"));
	ui_fake_type(&f, "q");
	assert_look(UI_LOOK_SCROLL, UI_LINE_LIVE);
	assert_false(ui_fake_shows(&f, "scrolled"));
}

static void test_keys__move_the_cursor_and_then_the_view(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "[kkkkk");
	assert_look(UI_LOOK_SCROLL, 100);
	ui_fake_type(&f, "\033[A");
	assert_look(UI_LOOK_SCROLL, 99);
	follow();
	assert_true(ui_fake_shows(&f, "scrolled 1 of 60"));
	ui_fake_type(&f, "g");
	assert_look(UI_LOOK_SCROLL, 40);
	ui_fake_type(&f, "k\033[5~\x15"); /* no further */
	assert_look(UI_LOOK_SCROLL, 40);
	ui_fake_type(&f, "\x04");
	assert_look(UI_LOOK_SCROLL, 48);
	ui_fake_type(&f, "\033[6~");
	assert_look(UI_LOOK_SCROLL, 63);
	ui_fake_type(&f, "G");
	assert_look(UI_LOOK_SCROLL, 100);
}

static void test_keys__none_reaches_the_agent(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "[rm -rf x\rzZ!\t\033[15~");
	ui_fake_type(&f, "\033[200~pasted\033[201~");
	assert_int_equal(f.input.len, 0);
	assert_true(ui_fake_shows(&f, "scrolled"));
}

static void test_search__asks_upwards_and_goes_on_at_the_other_end(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "[/n\xc3\xa4 q");
	assert_true(ui_fake_shows(&f, "/n\xc3\xa4 q_"));
	ui_fake_type(&f, "\x7f\x7f\r");
	assert_look(UI_LOOK_FIND, 105);
	assert_true(f.look.is_up);
	assert_string_equal(f.needle, "n\xc3\xa4");
	view_scroll_found(&f.core, true, (struct ui_place){50, 7}, (struct ui_place){50, 8});
	assert_look(UI_LOOK_SCROLL, 50);
	ui_fake_type(&f, "n");
	assert_look(UI_LOOK_FIND, 50);
	assert_int_equal(f.look.from.col, 7);
	ui_fake_type(&f, "N");
	assert_false(f.look.is_up);
	view_scroll_found(&f.core, false, (struct ui_place){0}, (struct ui_place){0});
	assert_look(UI_LOOK_FIND, UI_LINE_LIVE); /* once more from the far end */
	view_scroll_found(&f.core, false, (struct ui_place){0}, (struct ui_place){0});
	ui_fake_draw(&f);
	assert_true(ui_fake_shows(&f, "Not found: n\xc3\xa4"));
	ui_fake_type(&f, "/\033"); /* Esc leaves the needle, then the mode */
	assert_true(ui_fake_shows(&f, "scrolled"));
	ui_fake_type(&f, "\033");
	assert_false(ui_fake_shows(&f, "scrolled"));
}

static void test_copy__selection_either_way(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "[vjll");
	ui_fake_type(&f, "y");
	assert_look(UI_LOOK_COPY, 105);
	assert_int_equal(f.look.from.col, 3);
	assert_int_equal(f.look.to.line, 106);
	assert_int_equal(f.look.to.col, 5);
	assert_false(f.look.is_lines);
	view_scroll_text(&f.core, "one ", 4, false, false);
	view_scroll_text(&f.core, "two", 3, true, false);
	ui_fake_draw(&f);
	assert_string_equal(f.copied, "one two");
	assert_false(ui_fake_shows(&f, "scrolled"));
	ui_fake_type(&f, PREFIX "[Vkk\r");
	assert_int_equal(f.look.kind, UI_LOOK_COPY);
	assert_int_equal(f.look.from.line, 103);
	assert_int_equal(f.look.to.line, 105);
	assert_true(f.look.is_lines);
}

static void test_copy__nothing_that_was_not_asked_for(void **state)
{
	(void)state;
	view_scroll_text(&f.core, "evil", 4, true, false);
	ui_fake_type(&f, PREFIX "[");
	view_scroll_text(&f.core, "evil", 4, true, false);
	ui_fake_type(&f, "y");
	view_scroll_text(&f.core, "good", 4, true, false);
	view_scroll_text(&f.core, "evil", 4, true, false);
	assert_string_equal(f.copied, "good");
}

static void test_link__shown_and_copied(void **state)
{
	(void)state;
	view_scroll_link(&f.core, "https://nobody.asked/");
	ui_fake_type(&f, PREFIX "[c");
	assert_true(ui_fake_shows(&f, "No link under the cursor."));
	view_scroll_link(&f.core, "https://example.com/");
	ui_fake_draw(&f);
	assert_true(ui_fake_shows(&f, "c copies https://example.com/"));
	ui_fake_type(&f, "c");
	assert_string_equal(f.copied, "https://example.com/");
	ui_fake_type(&f, "j");
	assert_false(ui_fake_shows(&f, "example.com/"));
}

static void test_wheel__opens_scrolls_and_is_arrows_on_the_alternate_screen(void **state)
{
	struct ui_frame now = f.core.frame;

	(void)state;
	ui_fake_type(&f, "\033[<64;10;5M");
	assert_look(UI_LOOK_SCROLL, 97);
	follow();
	assert_true(ui_fake_shows(&f, "scrolled 3 of 60"));
	ui_fake_type(&f, "\033[<65;10;5M");
	assert_look(UI_LOOK_SCROLL, 100);
	ui_fake_type(&f, "q");
	now.modes |= PANE_MODE_ALT_SCREEN;
	ui_core_frame(&f.core, &now, f.now_ms);
	ui_fake_type(&f, "\033[<65;10;5M");
	assert_int_equal(f.input.len, 9);
	assert_memory_equal(zw_buf_head(&f.input), "\033[B\033[B\033[B", 9);
	assert_false(ui_fake_shows(&f, "scrolled"));
}

static void test_mouse__drag_selects_and_release_copies(void **state)
{
	struct ui_modes modes;

	(void)state;
	ui_fake_type(&f, PREFIX "[");
	ui_core_modes(&f.core, &modes);
	assert_int_equal(modes.mouse, 1002);
	ui_fake_type(&f, "\033[<0;4;3M\033[<32;6;4M\033[<0;6;4m");
	assert_look(UI_LOOK_COPY, 101);
	assert_int_equal(f.look.from.col, 3);
	assert_int_equal(f.look.to.line, 102);
	assert_int_equal(f.look.to.col, 5);
	f.look.kind = UI_LOOK_LINK;
	ui_fake_type(&f, "\033[<0;4;3M\033[<0;4;3m"); /* a click alone */
	assert_int_not_equal(f.look.kind, UI_LOOK_COPY);
}

static void test_mouse__drag_over_the_screen_selects(void **state)
{
	struct ui_modes modes;

	(void)state;
	ui_core_modes(&f.core, &modes);
	assert_int_equal(modes.mouse, 1002);
	ui_fake_type(&f, "\033[<0;4;3M\033[<0;4;3m"); /* a click is none */
	assert_false(ui_fake_shows(&f, "scrolled"));
	ui_fake_type(&f, "\033[<0;4;3M\033[<32;6;4M");
	assert_true(ui_fake_shows(&f, "scrolled"));
	ui_fake_type(&f, "\033[<0;6;4m");
	assert_look(UI_LOOK_COPY, 101);
	assert_int_equal(f.look.from.col, 3);
	assert_int_equal(f.look.to.line, 102);
	assert_int_equal(f.look.to.col, 5);
	view_scroll_text(&f.core, "text", 4, true, false);
	assert_string_equal(f.copied, "text");
	ui_fake_draw(&f);
	assert_false(ui_fake_shows(&f, "scrolled"));
	assert_int_equal(f.input.len, 0);
}

static void test_mouse__an_agents_own_is_left_alone_but_with_shift(void **state)
{
	struct ui_frame now = f.core.frame;

	(void)state;
	now.modes |= PANE_MODE_MOUSE_DRAG | PANE_MODE_MOUSE_SGR;
	ui_core_frame(&f.core, &now, f.now_ms);
	ui_fake_type(&f, "\033[<0;4;3M\033[<32;6;4M\033[<0;6;4m");
	assert_false(ui_fake_shows(&f, "scrolled"));
	assert_memory_equal(zw_buf_head(&f.input), "\033[<0;4;2M\033[<32;6;3M\033[<0;6;3m", 28);
	zw_buf_consume(&f.input, f.input.len);
	ui_fake_type(&f, "\033[<4;4;3M\033[<36;6;4M");
	assert_true(ui_fake_shows(&f, "scrolled"));
	ui_fake_type(&f, "\033[<4;6;4m");
	assert_look(UI_LOOK_COPY, 101);
	assert_int_equal(f.input.len, 0);
}

static void test_frame__numbers_out_of_order_do_no_harm(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "[");
	frame(UINT64_MAX, 5, 3);
	ui_fake_type(&f, "gGkj\033[5~\033[6~v\033[B");
	frame(0, UINT64_MAX, UINT64_MAX);
	ui_fake_type(&f, "gGkj\033[5~\033[6~");
	frame(0, 0, 0);
	ui_fake_type(&f, "gGkj\033[5~\033[6~");
	ui_fake_resize(&f, 24, 80);
	ui_fake_type(&f, "kky");
}

#define T(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_open__holds_the_view_and_closes_live),
		T(test_keys__move_the_cursor_and_then_the_view),
		T(test_keys__none_reaches_the_agent),
		T(test_search__asks_upwards_and_goes_on_at_the_other_end),
		T(test_copy__selection_either_way),
		T(test_copy__nothing_that_was_not_asked_for),
		T(test_link__shown_and_copied),
		T(test_wheel__opens_scrolls_and_is_arrows_on_the_alternate_screen),
		T(test_mouse__drag_selects_and_release_copies),
		T(test_mouse__drag_over_the_screen_selects),
		T(test_mouse__an_agents_own_is_left_alone_but_with_shift),
		T(test_frame__numbers_out_of_order_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
