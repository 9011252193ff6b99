/* SPDX-License-Identifier: MIT
 * Drawing: nothing leaves its place, whatever the text. */
#include "tests/support/test.h"

#include <string.h>

#include "src/base/mem.h"
#include "ui/draw.h"
#include "ui/fmt.h"
#include "ui/layout.h"

static struct draw_grid grid;

static struct draw_ctx screen(int rows, int cols)
{
	draw_grid_fini(&grid);
	draw_grid_init(&grid, rows, cols);
	return draw_all(&grid, false, true);
}

static void assert_row(int row, const char *expected)
{
	zw_autofree char *text = draw_row_text(&grid, row);

	assert_string_equal(text, expected);
}

/* Every row holds exactly its columns, however the characters are spread. */
static void assert_columns(void)
{
	for (int row = 0; row < grid.rows; row++) {
		int sum = 0;

		for (int col = 0; col < grid.cols; col++) {
			const struct pane_cell *c = &grid.cell[row * grid.cols + col];

			if (c->width == 2) {
				assert_true(col + 1 < grid.cols);
				assert_int_equal(c[1].width, 0);
			}
			if (c->width == 0)
				assert_true(col > 0 && c[-1].width == 2);
			sum += c->width;
		}
		assert_int_equal(sum, grid.cols);
	}
}

static void test_text__clipped_to_its_part(void **state)
{
	struct draw_ctx all = screen(3, 10), part = draw_sub(&all, 1, 2, 1, 4);

	(void)state;
	assert_int_equal(draw_text(&part, 0, 1, UI_STYLE_TEXT, "abcdef"), 7);
	draw_text(&part, 1, 0, UI_STYLE_TEXT, "below");
	draw_text(&part, -1, 0, UI_STYLE_TEXT, "above");
	draw_text(&all, 2, -2, UI_STYLE_TEXT, "xyz");
	assert_row(0, "");
	assert_row(1, "   abc");
	assert_row(2, "z");
	part = draw_sub(&all, 5, 5, 100, 100);
	draw_text(&part, 0, 0, UI_STYLE_TEXT, "nowhere");
	assert_columns();
}

static void test_text__controls_come_out_harmless(void **state)
{
	struct draw_ctx c = screen(1, 20);

	(void)state;
	draw_text(&c, 0, 0, UI_STYLE_TEXT,
		  "a\033[2J\n\xe2\x80\xae"
		  "b\xff\xc2\x9b");
	assert_row(0, "a\xef\xbf\xbd[2J\xef\xbf\xbd\xef\xbf\xbd"
		      "b\xef\xbf\xbd\xef\xbf\xbd");
	c.is_ascii = true;
	draw_text(&c, 0, 0, UI_STYLE_TEXT, "\033\033\033\033\033\033\033\033\033\033");
	assert_row(0, "??????????");
}

static void test_text__wide_characters_keep_the_columns(void **state)
{
	struct draw_ctx c = screen(1, 6);

	(void)state;
	draw_text(&c, 0, 0, UI_STYLE_TEXT, "\xe4\xbd\xa0\xe5\xa5\xbd\xe4\xbd\xa0");
	assert_columns();
	draw_text(&c, 0, 1, UI_STYLE_TEXT, "x"); /* over a right half */
	assert_row(0, " x\xe5\xa5\xbd\xe4\xbd\xa0");
	draw_text(&c, 0, 4, UI_STYLE_TEXT, "y"); /* over a left half */
	assert_row(0, " x\xe5\xa5\xbdy");
	draw_text(&c, 0, 5, UI_STYLE_TEXT, "\xe4\xbd\xa0"); /* no room */
	assert_row(0, " x\xe5\xa5\xbdy");
	draw_text(&c, 0, 0, UI_STYLE_TEXT, "e\xcc\x81");
	assert_row(0, "e\xcc\x81x\xe5\xa5\xbdy");
	assert_columns();
}

static void test_fit__marks_what_is_cut(void **state)
{
	struct draw_ctx c = screen(4, 20);

	(void)state;
	assert_int_equal(draw_fit(&c, 0, 0, 8, UI_STYLE_TEXT, "0123456789"), 8);
	assert_row(0, "012345..");
	assert_int_equal(draw_fit_end(&c, 1, 0, 8, UI_STYLE_TEXT, "/run/docker.sock"), 8);
	assert_row(1, "..r.sock");
	draw_right(&c, 2, 0, 8, UI_STYLE_TEXT, "12");
	assert_row(2, "      12");
	assert_int_equal(draw_fit(&c, 3, 0, 0, UI_STYLE_TEXT, "x"), 0);
}

static void test_wrap__at_blanks_and_inside_long_words(void **state)
{
	const char *text = "  the agent gets /a/very/long/path here";
	static const char *const lines[] = {"the agent", "gets", "/a/very/lo", "ng/path", "here"};
	struct zw_span line;

	(void)state;
	assert_int_equal(draw_wrap_rows(text, 10), 5);
	for (size_t i = 0; i < 5; i++) {
		assert_true(draw_wrap_next(&text, 10, &line));
		assert_true(zw_span_eq(line, lines[i]));
	}
	assert_false(draw_wrap_next(&text, 10, &line));
	text = "\xe4\xbd\xa0";
	assert_true(draw_wrap_next(&text, 1,
				   &line)); /* wider than the line: it moves on all the same */
	assert_false(draw_wrap_next(&text, 1, &line));
}

static struct pane_cell cell(uint32_t cp, uint32_t mark, int width)
{
	return (struct pane_cell){.cp = {cp, mark}, .width = (uint8_t)width};
}

static void test_cells__hostile_ones_do_not_shift_the_row(void **state)
{
	const struct pane_cell cells[] = {
		cell(0x1b, 0, 1),
		cell(0x202e, 0, 1), /* controls */
		cell(0x4f60, 0, 1), /* wide, said to be narrow */
		cell('a', 0, 2),
		cell(0, 0, 0), /* narrow, said to be wide */
		cell(0x4f60, 0, 2),
		cell('b', 0, 1), /* wide without its right half */
		cell(0, 0, 0),	 /* a right half without its left */
		cell(0x1f468, 0x200d, 2),
		cell(0, 0, 0), /* a sequence with a joiner */
		cell('e', 0x301, 1),
		cell('z', 0, 77),
		cell(0x1f1e9, 0x1f1ea, 2),
		cell(0, 0, 0),	    /* a flag */
		cell(0x4f60, 0, 2), /* cut off at the edge */
	};
	struct draw_ctx c = screen(1, ZW_N_ELEMENTS(cells));

	(void)state;
	draw_cells(&c, 0, 0, cells, ZW_N_ELEMENTS(cells));
	assert_columns();
	assert_row(0, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
		      "a  b \xf0\x9f\x91\xa8"
		      "e\xcc\x81z"
		      "\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa");
	draw_cells(&c, 0, 3, cells, 10000); /* a count that is too large is cut */
	draw_cells(&c, 7, 0, cells, 3);
	assert_columns();
}

static void test_frame__three_looks(void **state)
{
	struct draw_ctx c = screen(3, 4);

	(void)state;
	c.is_ascii = true;
	draw_frame(&c, DRAW_HEAVY, UI_STYLE_CRITICAL_LINE);
	assert_row(0, "####");
	assert_row(1, "#  #");
	draw_frame(&c, DRAW_DOUBLE, UI_STYLE_HIGH_LINE);
	assert_row(2, "====");
	draw_frame(&c, DRAW_THIN, UI_STYLE_LINE);
	assert_row(0, "+--+");
	assert_row(1, "|  |");
}

static void test_style__meaning_without_colour(void **state)
{
	struct draw_ctx c = screen(1, 4);

	(void)state;
	draw_text(&c, 0, 0, UI_STYLE_DENY, "D");
	assert_int_equal(grid.cell[0].fg, PANE_COLOUR_INDEX | 1);
	c.has_colour = false;
	for (int style = 0; style < UI_STYLE_MAX; style++) {
		draw_text(&c, 0, 0, (enum ui_style)style, "D");
		assert_int_equal(grid.cell[0].fg, PANE_COLOUR_DEFAULT);
		assert_int_equal(grid.cell[0].bg, PANE_COLOUR_DEFAULT);
	}
	draw_text(&c, 0, 0, UI_STYLE_CRITICAL, "C");
	assert_true((grid.cell[0].attrs & PANE_ATTR_REVERSE) != 0);
}

static void test_fmt__numbers(void **state)
{
	char s[UI_FMT_MAX];

	(void)state;
	assert_string_equal(ui_fmt_bytes(s, 0), "0");
	assert_string_equal(ui_fmt_bytes(s, 999), "999");
	assert_string_equal(ui_fmt_bytes(s, 1228), "1.2K");
	assert_string_equal(ui_fmt_bytes(s, 421888), "412K");
	assert_string_equal(ui_fmt_bytes(s, 4299161), "4.1M");
	assert_in_range(strlen(ui_fmt_bytes(s, UINT64_MAX)), 1, 5);
	for (uint64_t n = 1; n < UINT64_MAX / 11; n *= 11)
		assert_in_range(strlen(ui_fmt_bytes(s, n)), 1, 5);
	assert_string_equal(ui_fmt_span(s, 38000), "0:38");
	assert_string_equal(ui_fmt_span(s, 3723000), "1:02:03");
	assert_string_equal(ui_fmt_span(s, -5), "0:00");
}

static void test_layout__every_size(void **state)
{
	(void)state;
	for (int layout = 0; layout <= UI_LAYOUT_COLLAPSED; layout++) {
		for (int rows = 1; rows <= 120; rows++) {
			for (int cols = 1; cols <= 320; cols += 3) {
				struct ui_rects r;
				int pane_rows, pane_cols;

				ui_layout_make((enum ui_layout)layout, rows, cols, &r);
				ui_pane_size((enum ui_layout)layout, rows, cols, &pane_rows,
					     &pane_cols);
				assert_in_range(pane_rows, 1, rows > 1 ? rows - 1 : 1);
				assert_in_range(pane_cols, 1, cols);
				assert_int_equal(r.status.top, rows - 1);
				assert_true(r.agent.top + r.agent.rows <= r.status.top);
				assert_true(r.lists.top + r.lists.rows <= r.status.top);
				assert_true(r.lists.left + r.lists.cols <= cols);
				assert_true(r.socks.left + r.socks.cols <= cols);
				assert_true(r.socks.top + r.socks.rows <= r.status.top);
			}
		}
	}
}

static void test_layout__sizes_of_the_drawings(void **state)
{
	int rows, cols;

	(void)state;
	ui_pane_size(UI_LAYOUT_DASHBOARD, 30, 100, &rows, &cols);
	assert_int_equal(rows, 16);
	assert_int_equal(cols, 100);
	ui_pane_size(UI_LAYOUT_DASHBOARD, 24, 80, &rows, &cols);
	assert_int_equal(rows, 13);
	ui_pane_size(UI_LAYOUT_COLLAPSED, 30, 100, &rows, &cols);
	assert_int_equal(rows, 29);
	ui_pane_size(UI_LAYOUT_DASHBOARD, 12, 40, &rows, &cols);
	assert_int_equal(rows, 11);
	ui_pane_size(UI_LAYOUT_DASHBOARD, 40, 160, &rows, &cols);
	assert_true(cols >= 100);
}

static int start(void **state)
{
	(void)state;
	draw_locale_init();
	return 0;
}

static int stop(void **state)
{
	(void)state;
	draw_grid_fini(&grid);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text__clipped_to_its_part),
		cmocka_unit_test(test_text__controls_come_out_harmless),
		cmocka_unit_test(test_text__wide_characters_keep_the_columns),
		cmocka_unit_test(test_fit__marks_what_is_cut),
		cmocka_unit_test(test_wrap__at_blanks_and_inside_long_words),
		cmocka_unit_test(test_cells__hostile_ones_do_not_shift_the_row),
		cmocka_unit_test(test_frame__three_looks),
		cmocka_unit_test(test_style__meaning_without_colour),
		cmocka_unit_test(test_fmt__numbers),
		cmocka_unit_test(test_layout__every_size),
		cmocka_unit_test(test_layout__sizes_of_the_drawings),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
