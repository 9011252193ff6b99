/* SPDX-License-Identifier: MIT
 * Drawing of zwatch's own screens into a plain grid of cells.
 *
 * Views draw here and know nothing of curses: term.c brings the grid to a terminal, tests read it
 * as text. Every call is clipped to its context, and every code point passes zw_vis_is_safe(), so
 * that no text can leave its place, shift a row or reach the terminal as a control. */
#ifndef ZW_UI_DRAW_H
#define ZW_UI_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/str.h"
#include "ui/pane/grid.h"

enum ui_style {
#define UI_STYLE(name, fg, bg, attrs, mono, contrast, bo_fg, bo_bg) UI_STYLE_##name,
#include "ui/style.def"
#undef UI_STYLE
	UI_STYLE_MAX
};

/** Sets of colours; as the setting ui.theme numbers them. */
enum ui_theme {
	UI_THEME_TERMINAL,
	UI_THEME_MONO,
	UI_THEME_HIGH_CONTRAST,
	UI_THEME_BLUE_ORANGE,
	UI_THEME_MAX
};

/** The three looks of a frame; ASCII: - and |, =, #. */
enum draw_line { DRAW_THIN, DRAW_DOUBLE, DRAW_HEAVY };

/** Parts of a thin line. */
enum draw_part {
	DRAW_H,
	DRAW_V,
	DRAW_TOP_LEFT,
	DRAW_TOP_RIGHT,
	DRAW_BOTTOM_LEFT,
	DRAW_BOTTOM_RIGHT,
	DRAW_TEE_DOWN, /* a line goes down from a horizontal one */
	DRAW_TEE_UP,
	DRAW_TEE_RIGHT, /* a line goes right from a vertical one */
};

/** A screen. Cells as the agent's grid has them; blank = cp[0] 0 or ' '. */
struct draw_grid {
	int rows, cols;
	struct pane_cell *cell; /* owned; rows * cols */
	uint8_t *touched;	/* owned; rows: 0 = as in the picture before. All 1 at first */
};

/** Part of a grid, with the look. Small, passed by value. */
struct draw_ctx {
	struct draw_grid *grid; /* borrowed */
	int top, left, rows, cols;
	bool is_ascii, has_colour;
	enum ui_theme theme;
};

/** Makes wcwidth() and ncurses speak UTF-8 whatever the user's locale is. Once per process. */
void draw_locale_init(void);

void draw_grid_init(struct draw_grid *g, int rows, int cols);
void draw_grid_fini(struct draw_grid *g);
struct draw_ctx draw_all(struct draw_grid *g, bool is_ascii, bool has_colour);
/** A part of @c, clipped to it. May come out empty. */
struct draw_ctx draw_sub(const struct draw_ctx *c, int top, int left, int rows, int cols);

/** Columns that @text takes when drawn. */
int draw_width(const char *text);

/** Blanks the whole context. */
void draw_clear(const struct draw_ctx *c);
/** Blanks one row in @style. */
void draw_clear_row(const struct draw_ctx *c, int row, enum ui_style style);

/** Draws @text from @row, @col; what does not fit is cut off. Returns the column behind its end. */
int draw_text(const struct draw_ctx *c, int row, int col, enum ui_style style, const char *text);
int draw_textf(const struct draw_ctx *c, int row, int col, enum ui_style style, const char *fmt,
	       ...) __attribute__((format(printf, 5, 6)));
/** As draw_text in at most @width columns; ".." marks what was cut. Returns the columns used. */
int draw_fit(const struct draw_ctx *c, int row, int col, int width, enum ui_style style,
	     const char *text);
/** As draw_fit, but the beginning is cut: for paths, whose end tells more. */
int draw_fit_end(const struct draw_ctx *c, int row, int col, int width, enum ui_style style,
		 const char *text);
/** As draw_fit at the right edge of the @width columns. */
int draw_right(const struct draw_ctx *c, int row, int col, int width, enum ui_style style,
	       const char *text);

/**
 * The next line of @text when it is wrapped at blanks to @width columns (at least 1). Words that
 * are longer are broken.
 *
 * @text    moved behind the line and its blank
 * @ret     the line; borrowed from the text
 * Returns  false at the end
 */
bool draw_wrap_next(const char **text, int width, struct zw_span *ret);
/** Lines that draw_wrap_next() would give. */
int draw_wrap_rows(const char *text, int width);

/** @n cells of a line. */
void draw_hline(const struct draw_ctx *c, int row, int col, int n, enum draw_line line,
		enum ui_style style);
void draw_vline(const struct draw_ctx *c, int row, int col, int n, enum draw_line line,
		enum ui_style style);
/** One joint of a thin line. */
void draw_part(const struct draw_ctx *c, int row, int col, enum draw_part part,
	       enum ui_style style);
/** A frame around the whole context. */
void draw_frame(const struct draw_ctx *c, enum draw_line line, enum ui_style style);

/** Changes the looks of @n cells that are drawn already. */
void draw_restyle(const struct draw_ctx *c, int row, int col, int n, enum ui_style style);

/**
 * Copies foreign cells: what is not safe to show comes out as U+FFFD, a half of a wide character
 * as a blank. @n is clipped.
 */
void draw_cells(const struct draw_ctx *c, int row, int col, const struct pane_cell *cells, int n);

/** Copies row @from_row of another grid to the left of @row, cut off where @c ends. */
void draw_copy_row(const struct draw_ctx *c, int row, const struct draw_grid *from, int from_row);

/** One row as text, trailing blanks kept off. Ownership: caller frees. */
char *draw_row_text(const struct draw_grid *g, int row);

#endif
