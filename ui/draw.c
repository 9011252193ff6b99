/* SPDX-License-Identifier: MIT */
#include "ui/draw.h"

#include <locale.h>
#include <stdarg.h>
#include <string.h>
#include <wchar.h>

#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"

#define REPLACEMENT 0xfffdu
#define VS16	    0xfe0fu
#define FLAG_A	    0x1f1e6u
#define FLAG_Z	    0x1f1ffu

enum { DEFAULT = -1, RED = 1, GREEN = 2, YELLOW = 3, MAGENTA = 5, CYAN = 6, WHITE = 15 };
/* Legible on black as on white. */
enum { BLUE = 33, ORANGE = 166 };
#define BOLD	  PANE_ATTR_BOLD
#define DIM	  PANE_ATTR_DIM
#define REVERSE	  PANE_ATTR_REVERSE
#define UNDERLINE (1 << 15) /* lives in its own field of a cell */

static const struct {
	int fg, bg;
	unsigned attrs, mono, contrast;
	int bo_fg, bo_bg;
} looks[] = {
#define UI_STYLE(name, fg, bg, attrs, mono, contrast, bo_fg, bo_bg) \
	{fg, bg, attrs, mono, contrast, bo_fg, bo_bg},
#include "ui/style.def"
#undef UI_STYLE
};

void draw_locale_init(void)
{
	static const char *const names[] = {"C.UTF-8", "C.utf8", "en_US.UTF-8", ""};

	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++)
		if (setlocale(LC_CTYPE, names[i]) != NULL && MB_CUR_MAX > 1)
			return;
}

void draw_grid_init(struct draw_grid *g, int rows, int cols)
{
	*g = (struct draw_grid){.rows = rows, .cols = cols};
	g->cell = zw_xcalloc((size_t)rows * (size_t)cols, sizeof(*g->cell));
	g->touched = zw_xcalloc((size_t)rows, 1);
	memset(g->touched, 1, (size_t)rows);
	struct draw_ctx all = draw_all(g, false, true);
	draw_clear(&all);
}

void draw_grid_fini(struct draw_grid *g)
{
	free(g->cell);
	free(g->touched);
	*g = (struct draw_grid){0};
}

struct draw_ctx draw_all(struct draw_grid *g, bool is_ascii, bool has_colour)
{
	return (struct draw_ctx){.grid = g,
				 .rows = g->rows,
				 .cols = g->cols,
				 .is_ascii = is_ascii,
				 .has_colour = has_colour};
}

static int clip(int n, int low, int high)
{
	return n < low ? low : n > high ? high : n;
}

struct draw_ctx draw_sub(const struct draw_ctx *c, int top, int left, int rows, int cols)
{
	struct draw_ctx s = *c;
	int t = clip(top, 0, c->rows), l = clip(left, 0, c->cols);

	s.top = c->top + t;
	s.left = c->left + l;
	s.rows = clip(top + rows, t, c->rows) - t;
	s.cols = clip(left + cols, l, c->cols) - l;
	return s;
}

static struct pane_cell *cell_at(const struct draw_ctx *c, int row, int col)
{
	struct draw_grid *g = c->grid;

	return &g->cell[(size_t)(c->top + row) * (size_t)g->cols + (size_t)(c->left + col)];
}

static void cell_style(const struct draw_ctx *c, struct pane_cell *cell, enum ui_style style)
{
	bool has_colour = c->has_colour && c->theme != UI_THEME_MONO;
	bool is_orange = c->theme == UI_THEME_BLUE_ORANGE;
	int fg = is_orange ? looks[style].bo_fg : looks[style].fg;
	int bg = is_orange ? looks[style].bo_bg : looks[style].bg;
	unsigned attrs = c->theme == UI_THEME_HIGH_CONTRAST ? looks[style].contrast
			 : has_colour			    ? looks[style].attrs
							    : looks[style].mono;

	cell->attrs = (uint16_t)(attrs & ~(unsigned)UNDERLINE);
	cell->underline = (attrs & UNDERLINE) != 0 ? PANE_UL_SINGLE : PANE_UL_NONE;
	cell->fg = cell->bg = PANE_COLOUR_DEFAULT;
	if (has_colour && fg != DEFAULT)
		cell->fg = PANE_COLOUR_INDEX | (uint32_t)fg;
	if (has_colour && bg != DEFAULT)
		cell->bg = PANE_COLOUR_INDEX | (uint32_t)bg;
}

static void cell_blank(struct pane_cell *cell)
{
	memset(cell->cp, 0, sizeof(cell->cp));
	cell->cp[0] = ' ';
	cell->width = 1;
}

/* Drawing over one half of a wide character leaves no other half behind. */
static void split_wide(const struct draw_ctx *c, int row, int col)
{
	struct pane_cell *cell = cell_at(c, row, col);

	if (cell->width == 0 && c->left + col > 0)
		cell_blank(cell - 1);
	if (cell->width == 2 && c->left + col + 1 < c->grid->cols)
		cell_blank(cell + 1);
	cell_blank(cell);
}

/* Puts one character of @width columns; the caller has clipped. */
static void put(const struct draw_ctx *c, int row, int col, uint32_t cp, int width,
		enum ui_style style)
{
	for (int i = 0; i < width; i++) {
		split_wide(c, row, col + i);
		cell_style(c, cell_at(c, row, col + i), style);
	}
	cell_at(c, row, col)->cp[0] = cp;
	cell_at(c, row, col)->width = (uint8_t)width;
	if (width == 2) {
		cell_at(c, row, col + 1)->cp[0] = 0;
		cell_at(c, row, col + 1)->width = 0;
	}
}

static bool has_row(const struct draw_ctx *c, int row)
{
	return row >= 0 && row < c->rows && c->cols > 0;
}

void draw_clear(const struct draw_ctx *c)
{
	for (int row = 0; row < c->rows; row++) {
		if (row == 0 || c->cols < c->grid->cols)
			draw_clear_row(c, row, UI_STYLE_TEXT);
		else /* nothing beside it that could be cut */
			memcpy(cell_at(c, row, 0), cell_at(c, 0, 0),
			       (size_t)c->cols * sizeof(*c->grid->cell));
	}
}

void draw_clear_row(const struct draw_ctx *c, int row, enum ui_style style)
{
	if (!has_row(c, row))
		return;
	split_wide(c, row, 0);
	split_wide(c, row, c->cols - 1);
	for (int col = 0; col < c->cols; col++) {
		struct pane_cell *cell = cell_at(c, row, col);

		cell_blank(cell);
		cell->ul_colour = 0;
		cell_style(c, cell, style);
	}
}

/* One character of a text: its length in bytes, code point as shown, columns (0 = combining). */
static int next_char(const char *p, size_t len, uint32_t *ret_cp, int *ret_width)
{
	uint32_t cp = REPLACEMENT;
	int n = zw_utf8_decode((const uint8_t *)p, len, &cp);

	if (n < 0 || !zw_vis_is_safe(cp))
		cp = REPLACEMENT;
	int width = cp < 0x80 ? 1 : wcwidth((wchar_t)cp);
	if (width < 0) {
		cp = REPLACEMENT;
		width = 1;
	}
	*ret_cp = cp;
	*ret_width = width;
	return n < 0 ? 1 : n;
}

static int span_width(struct zw_span s)
{
	int sum = 0, width;
	uint32_t cp;

	for (size_t i = 0; i < s.len;) {
		i += (size_t)next_char(s.p + i, s.len - i, &cp, &width);
		sum += width;
	}
	return sum;
}

int draw_width(const char *text)
{
	return span_width(zw_span(text));
}

static void add_mark(struct pane_cell *cell, uint32_t cp)
{
	for (int i = 1; i < PANE_CLUSTER_MAX; i++) {
		if (cell->cp[i] == 0) {
			cell->cp[i] = cp;
			return;
		}
	}
}

static int draw_span(const struct draw_ctx *c, int row, int col, enum ui_style style,
		     struct zw_span s)
{
	int width, last = -1;
	uint32_t cp;

	if (!has_row(c, row))
		return col + span_width(s);
	for (size_t i = 0; i < s.len;) {
		i += (size_t)next_char(s.p + i, s.len - i, &cp, &width);
		if (c->is_ascii && cp == REPLACEMENT)
			cp = '?';
		if (width == 0 && last >= 0)
			add_mark(cell_at(c, row, last), cp);
		if (width > 0)
			last = -1;
		if (width > 0 && col >= 0 && col + width <= c->cols) {
			put(c, row, col, cp, width, style);
			last = col;
		}
		col += width;
	}
	return col;
}

int draw_text(const struct draw_ctx *c, int row, int col, enum ui_style style, const char *text)
{
	return draw_span(c, row, col, style, zw_span(text));
}

int draw_textf(const struct draw_ctx *c, int row, int col, enum ui_style style, const char *fmt,
	       ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return draw_text(c, row, col, style, text);
}

/* The longest beginning of @s that fits into @width columns. */
static struct zw_span head_of(struct zw_span s, int width)
{
	int used = 0, w;
	uint32_t cp;
	size_t i = 0;

	while (i < s.len) {
		int n = next_char(s.p + i, s.len - i, &cp, &w);

		if (used + w > width)
			break;
		used += w;
		i += (size_t)n;
	}
	return zw_span_n(s.p, i);
}

int draw_fit(const struct draw_ctx *c, int row, int col, int width, enum ui_style style,
	     const char *text)
{
	struct zw_span s = zw_span(text);

	if (width <= 0)
		return 0;
	if (span_width(s) <= width)
		return draw_span(c, row, col, style, s) - col;
	if (width < 4)
		return draw_span(c, row, col, style, head_of(s, width)) - col;
	int end = draw_span(c, row, col, style, head_of(s, width - 2));
	return draw_text(c, row, end, style, "..") - col;
}

int draw_fit_end(const struct draw_ctx *c, int row, int col, int width, enum ui_style style,
		 const char *text)
{
	struct zw_span s = zw_span(text);
	int over = span_width(s) - width, w;
	uint32_t cp;

	if (over <= 0 || width < 4)
		return draw_fit(c, row, col, width, style, text);
	for (over += 2; over > 0 && s.len > 0; over -= w) {
		int n = next_char(s.p, s.len, &cp, &w);

		s = zw_span_n(s.p + n, s.len - (size_t)n);
	}
	int end = draw_text(c, row, col, style, "..");
	return draw_span(c, row, end, style, s) - col;
}

int draw_right(const struct draw_ctx *c, int row, int col, int width, enum ui_style style,
	       const char *text)
{
	int w = draw_width(text);

	return draw_fit(c, row, w < width ? col + width - w : col, width, style, text);
}

bool draw_wrap_next(const char **text, int width, struct zw_span *ret)
{
	while (**text == ' ')
		(*text)++;
	if (**text == '\0')
		return false;
	struct zw_span all = zw_span(*text);
	struct zw_span line = head_of(all, width > 0 ? width : 1);
	if (line.len == 0) {
		uint32_t cp;
		int w;

		line.len = (size_t)next_char(all.p, all.len, &cp, &w);
	}
	if (line.len < all.len && all.p[line.len] != ' ') {
		size_t n = line.len;

		while (n > 0 && all.p[n - 1] != ' ')
			n--;
		if (n > 0)
			line.len = n;
	}
	*text += line.len;
	while (line.len > 0 && line.p[line.len - 1] == ' ')
		line.len--;
	*ret = line;
	return true;
}

int draw_wrap_rows(const char *text, int width)
{
	struct zw_span line;
	int n = 0;

	while (draw_wrap_next(&text, width, &line))
		n++;
	return n;
}

static const uint32_t thin[] = {
	[DRAW_H] = 0x2500,	   [DRAW_V] = 0x2502,		[DRAW_TOP_LEFT] = 0x250c,
	[DRAW_TOP_RIGHT] = 0x2510, [DRAW_BOTTOM_LEFT] = 0x2514, [DRAW_BOTTOM_RIGHT] = 0x2518,
	[DRAW_TEE_DOWN] = 0x252c,  [DRAW_TEE_UP] = 0x2534,	[DRAW_TEE_RIGHT] = 0x251c,
};
static const uint32_t doubled[] = {
	[DRAW_H] = 0x2550,	   [DRAW_V] = 0x2551,		[DRAW_TOP_LEFT] = 0x2554,
	[DRAW_TOP_RIGHT] = 0x2557, [DRAW_BOTTOM_LEFT] = 0x255a, [DRAW_BOTTOM_RIGHT] = 0x255d,
};

static uint32_t line_char(const struct draw_ctx *c, enum draw_line line, enum draw_part part)
{
	if (line == DRAW_HEAVY)
		return c->is_ascii ? '#' : 0x2588;
	if (line == DRAW_DOUBLE)
		return c->is_ascii ? '=' : doubled[part];
	if (!c->is_ascii)
		return thin[part];
	return part == DRAW_V ? '|' : part == DRAW_H ? '-' : '+';
}

static void put_clipped(const struct draw_ctx *c, int row, int col, uint32_t cp,
			enum ui_style style)
{
	if (has_row(c, row) && col >= 0 && col < c->cols)
		put(c, row, col, cp, 1, style);
}

void draw_hline(const struct draw_ctx *c, int row, int col, int n, enum draw_line line,
		enum ui_style style)
{
	for (int i = 0; i < n; i++)
		put_clipped(c, row, col + i, line_char(c, line, DRAW_H), style);
}

void draw_vline(const struct draw_ctx *c, int row, int col, int n, enum draw_line line,
		enum ui_style style)
{
	for (int i = 0; i < n; i++)
		put_clipped(c, row + i, col, line_char(c, line, DRAW_V), style);
}

void draw_part(const struct draw_ctx *c, int row, int col, enum draw_part part, enum ui_style style)
{
	put_clipped(c, row, col, line_char(c, DRAW_THIN, part), style);
}

void draw_frame(const struct draw_ctx *c, enum draw_line line, enum ui_style style)
{
	int right = c->cols - 1, bottom = c->rows - 1;

	draw_hline(c, 0, 0, c->cols, line, style);
	draw_hline(c, bottom, 0, c->cols, line, style);
	draw_vline(c, 1, 0, c->rows - 2, line, style);
	draw_vline(c, 1, right, c->rows - 2, line, style);
	put_clipped(c, 0, 0, line_char(c, line, DRAW_TOP_LEFT), style);
	put_clipped(c, 0, right, line_char(c, line, DRAW_TOP_RIGHT), style);
	put_clipped(c, bottom, 0, line_char(c, line, DRAW_BOTTOM_LEFT), style);
	put_clipped(c, bottom, right, line_char(c, line, DRAW_BOTTOM_RIGHT), style);
}

void draw_restyle(const struct draw_ctx *c, int row, int col, int n, enum ui_style style)
{
	if (!has_row(c, row))
		return;
	for (int i = 0; i < n; i++)
		if (col + i >= 0 && col + i < c->cols)
			cell_style(c, cell_at(c, row, col + i), style);
}

static bool is_flag(uint32_t cp)
{
	return cp >= FLAG_A && cp <= FLAG_Z;
}

/* Characters of one foreign cell, such that wcwidth() and the cell agree on the columns. */
static void cell_filter(struct pane_cell *out, const struct pane_cell *in)
{
	uint32_t base = in->cp[0];

	memset(out->cp, 0, sizeof(out->cp));
	out->width = in->width == 2 ? 2 : 1;
	if (base > ' ' && base < 0x7f && in->cp[1] == 0) { /* nearly all that there is */
		out->cp[0] = base;
		out->width = 1;
		return;
	}
	if (base == 0 || base == ' ') {
		out->cp[0] = ' ';
		out->width = 1;
		return;
	}
	int width = zw_vis_is_safe(base) ? wcwidth((wchar_t)base) : -1;
	/* Of what libc knows as narrow the rest of the room stays blank; too wide is not shown. */
	if (width < 1 || width > out->width) {
		out->cp[0] = REPLACEMENT;
		out->width = 1;
		return;
	}
	out->cp[0] = base;
	out->width = (uint8_t)width;
	for (int i = 1, n = 1; i < PANE_CLUSTER_MAX && in->cp[i] != 0; i++)
		if (in->cp[i] != VS16 && zw_vis_is_safe(in->cp[i]) &&
		    wcwidth((wchar_t)in->cp[i]) == 0)
			out->cp[n++] = in->cp[i];
}

static void look_copy(struct pane_cell *out, const struct pane_cell *in)
{
	out->attrs = in->attrs;
	out->underline = in->underline <= PANE_UL_DASHED ? in->underline : PANE_UL_NONE;
	out->fg = in->fg;
	out->bg = in->bg;
	out->ul_colour = 0;
}

void draw_cells(const struct draw_ctx *c, int row, int col, const struct pane_cell *cells, int n)
{
	if (!has_row(c, row) || col < 0)
		return;
	n = clip(n, 0, c->cols - col);
	for (int i = 0; i < n; i++) {
		struct pane_cell *out = cell_at(c, row, col + i);
		const struct pane_cell *in = &cells[i];

		look_copy(out, in);
		cell_filter(out, in);
		bool has_half = in->width == 2 && i + 1 < n && cells[i + 1].width == 0;
		if (in->width == 0 || (out->width == 2 && !has_half)) {
			cell_blank(out);
			continue;
		}
		if (!has_half)
			continue;
		/* The right half: a half, the second letter of a flag, or a blank. */
		i++;
		look_copy(&out[1], in);
		cell_blank(&out[1]);
		if (out->width == 2) {
			out[1].cp[0] = 0;
			out[1].width = 0;
		} else if (is_flag(in->cp[0]) && is_flag(in->cp[1]) &&
			   wcwidth((wchar_t)in->cp[1]) == 1) {
			out[1].cp[0] = in->cp[1];
		}
	}
}

void draw_copy_row(const struct draw_ctx *c, int row, const struct draw_grid *from, int from_row)
{
	int n = from->cols < c->cols ? from->cols : c->cols;

	if (!has_row(c, row) || n <= 0)
		return;
	memcpy(cell_at(c, row, 0), &from->cell[(size_t)from_row * (size_t)from->cols],
	       (size_t)n * sizeof(*from->cell));
	if (cell_at(c, row, n - 1)->width == 2)
		cell_blank(cell_at(c, row, n - 1));
}

char *draw_row_text(const struct draw_grid *g, int row)
{
	const struct pane_cell *cell = &g->cell[(size_t)row * (size_t)g->cols];
	char *text = zw_xcalloc((size_t)g->cols * PANE_CLUSTER_MAX * 4 + 1, 1);
	size_t used = 0, end = 0;

	for (int col = 0; col < g->cols; col++) {
		for (int i = 0; cell[col].width > 0 && i < PANE_CLUSTER_MAX && cell[col].cp[i] != 0;
		     i++)
			used += (size_t)zw_utf8_encode(text + used, cell[col].cp[i]);
		if (cell[col].width > 0 && cell[col].cp[0] != ' ')
			end = used;
	}
	text[end] = '\0';
	return text;
}
