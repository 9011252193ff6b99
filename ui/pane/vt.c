/* SPDX-License-Identifier: MIT */
#include "ui/pane/vt_int.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "src/base/mem.h"
#include "ui/pane/history.h"
#include "ui/pane/links.h"

#define DEFAULT_CELL_W 8
#define DEFAULT_CELL_H 16
#define REPLY_ONE_B    128
#define STRING_WAIT_MS 5000 /* for the end of a string, as other terminals wait */

/* -- between parser and engine -------------------------------------------------------------------- */

static void on_ascii(void *arg, const uint8_t *text, size_t len)
{
	pane_vt_print_ascii(arg, text, len);
}

static void on_char(void *arg, uint32_t cp)
{
	pane_vt_print_char(arg, cp);
}

static void on_control(void *arg, uint8_t c)
{
	pane_vt_end_cluster(arg);
	pane_vt_control(arg, c);
}

static bool on_csi(void *arg, const struct pane_seq *seq)
{
	return pane_vt_csi(arg, seq);
}

static void on_esc(void *arg, const struct pane_seq *seq)
{
	pane_vt_end_cluster(arg);
	pane_vt_esc(arg, seq);
}

static void on_osc(void *arg, const uint8_t *data, size_t len, bool ended_by_bel)
{
	pane_vt_osc(arg, data, len, ended_by_bel);
}

static void on_dcs(void *arg, const struct pane_seq *seq, const uint8_t *data, size_t len)
{
	pane_vt_dcs(arg, seq, data, len);
}

static const struct pane_parser_ops parser_ops = {
	.on_ascii = on_ascii,
	.on_char = on_char,
	.on_control = on_control,
	.on_csi = on_csi,
	.on_esc = on_esc,
	.on_osc = on_osc,
	.on_dcs = on_dcs,
};

/* -- life ----------------------------------------------------------------------------------------- */

static unsigned clamp(unsigned v, unsigned lo, unsigned hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static void size_clamp(unsigned *rows, unsigned *cols)
{
	*rows = clamp(*rows, 1, PANE_ROWS_MAX);
	*cols = clamp(*cols, 2, PANE_COLS_MAX); /* a wide character must fit */
}

void pane_vt_tabs_default(struct pane_vt *vt, unsigned from)
{
	for (unsigned x = from; x < PANE_COLS_MAX; x++)
		vt->tab[x] = x > 0 && x % 8 == 0;
}

static void settings_default(struct pane_vt *vt)
{
	vt->modes = PANE_VT_BIT(FIXED_SET) | PANE_VT_BIT(AUTOWRAP) | PANE_VT_BIT(CURSOR_VISIBLE);
	vt->pen = (struct pane_vt_cell){0};
	memset(vt->charset, PANE_VT_ASCII, sizeof(vt->charset));
	vt->gl = vt->single_shift = 0;
	pane_vt_colours_reset(vt);
	vt->cursor_shape = 0;
	vt->modify_other_keys = 0;
	vt->sync_since_ms = -1;
	vt->scr = &vt->screen[0];
	vt->x = 0;
	vt->y = 0;
	for (int i = 0; i < 2; i++) {
		vt->screen[i].top = 0;
		vt->screen[i].bottom = vt->rows - 1;
		vt->screen[i].saved = (struct pane_vt_saved){0};
		vt->screen[i].kitty = (struct pane_vt_kitty){0};
	}
	pane_vt_tabs_default(vt, 0);
	pane_vt_end_cluster(vt);
}

struct pane_vt *pane_vt_new(const struct pane_vt_config *config,
			    const struct pane_vt_events *events, void *arg)
{
	struct pane_vt *vt = zw_xnew(struct pane_vt);

	vt->config = *config;
	size_clamp(&vt->config.rows, &vt->config.cols);
	if (vt->config.cell_w == 0 || vt->config.cell_h == 0) {
		vt->config.cell_w = DEFAULT_CELL_W;
		vt->config.cell_h = DEFAULT_CELL_H;
	}
	vt->events = events;
	vt->arg = arg;
	vt->rows = vt->config.rows;
	vt->cols = vt->config.cols;
	pane_parser_init(&vt->parser, &parser_ops, vt);
	zw_buf_init(&vt->replies, PANE_VT_REPLY_MAX_B);
	for (int i = 0; i < 2; i++)
		for (unsigned y = 0; y < vt->rows; y++)
			vt->screen[i].row[y] = pane_vt_row_new(vt->cols);
	pane_history_init(&vt->history, config->scrollback_n);
	pane_links_init(&vt->links);
	vt->view_top = PANE_VT_LIVE;
	vt->string_ms = -1;
	settings_default(vt);
	vt->all_dirty = true;
	return vt;
}

static void titles_clear(struct pane_vt *vt)
{
	while (vt->n_titles > 0)
		free(vt->titles[--vt->n_titles]);
}

void pane_vt_free(struct pane_vt *vt)
{
	if (vt == NULL)
		return;
	for (int i = 0; i < 2; i++)
		for (unsigned y = 0; y < vt->rows; y++)
			pane_vt_row_free(vt->screen[i].row[y]);
	pane_history_fini(&vt->history);
	pane_links_fini(&vt->links);
	titles_clear(vt);
	free(vt->title);
	pane_parser_fini(&vt->parser);
	zw_buf_fini(&vt->replies);
	free(vt);
}

void pane_vt_reset(struct pane_vt *vt)
{
	settings_default(vt);
	titles_clear(vt);
	for (int i = 0; i < 2; i++) {
		vt->scr = &vt->screen[i];
		for (unsigned y = 0; y < vt->rows; y++)
			pane_vt_erase_row(vt, y);
	}
	vt->scr = &vt->screen[0];
	pane_history_clear(&vt->history);
	vt->all_dirty = true;
}

void pane_vt_soft_reset(struct pane_vt *vt)
{
	vt->modes |= PANE_VT_BIT(CURSOR_VISIBLE) | PANE_VT_BIT(AUTOWRAP);
	vt->modes &= ~(PANE_VT_BIT(INSERT) | PANE_VT_BIT(ORIGIN) | PANE_VT_BIT(CURSOR_KEYS) |
		       PANE_VT_BIT(KEYPAD) | PANE_VT_BIT(REVERSE_WRAP));
	vt->scr->top = 0;
	vt->scr->bottom = vt->rows - 1;
	vt->scr->saved = (struct pane_vt_saved){0};
	vt->pen = (struct pane_vt_cell){0};
	memset(vt->charset, PANE_VT_ASCII, sizeof(vt->charset));
	vt->gl = 0;
}

/* Its program died, or never meant to begin it: what comes now is text again. */
static void string_give_up(struct pane_vt *vt)
{
	if (vt->string_ms >= 0 && vt->now_ms - vt->string_ms >= STRING_WAIT_MS)
		pane_parser_reset(&vt->parser);
}

static void string_watch(struct pane_vt *vt)
{
	if (!pane_parser_in_string(&vt->parser))
		vt->string_ms = -1;
	else if (vt->string_ms < 0 || vt->string_no != vt->parser.n_strings)
		vt->string_ms = vt->now_ms;
	vt->string_no = vt->parser.n_strings;
}

size_t pane_vt_feed(struct pane_vt *vt, const void *bytes, size_t len, int64_t now_ms)
{
	vt->now_ms = now_ms;
	string_give_up(vt);
	size_t n = pane_parser_feed(&vt->parser, bytes, len);
	string_watch(vt);
	return n;
}

/* -- resize --------------------------------------------------------------------------------------- */

/* Takes away rows: the @n_top first, then what is too much at the end. */
static void rows_cut(struct pane_vt_screen *s, unsigned old_rows, unsigned rows, unsigned n_top)
{
	for (unsigned y = 0; y < n_top; y++)
		pane_vt_row_free(s->row[y]);
	memmove(s->row, s->row + n_top, (old_rows - n_top) * sizeof(s->row[0]));
	for (unsigned y = rows; y < old_rows - n_top; y++)
		pane_vt_row_free(s->row[y]);
	for (unsigned y = rows; y < old_rows; y++)
		s->row[y] = NULL;
}

/* The alternate screen: a program that uses it draws it anew, so cutting is enough. */
static void resize_alt(struct pane_vt *vt, unsigned rows, unsigned cols)
{
	struct pane_vt_screen *s = &vt->screen[1];
	unsigned *y = s == vt->scr ? &vt->y : &s->y;
	unsigned n_top = *y >= rows ? *y - (rows - 1) : 0;

	if (rows < vt->rows)
		rows_cut(s, vt->rows, rows, n_top);
	for (unsigned i = vt->rows; i < rows; i++)
		s->row[i] = pane_vt_row_new(vt->cols);
	if (cols != vt->cols)
		for (unsigned i = 0; i < rows; i++)
			pane_vt_row_resize(s->row[i], vt->cols, cols);
	*y -= n_top;
	s->saved.y -= s->saved.y > n_top ? n_top : s->saved.y;
}

void pane_vt_resize(struct pane_vt *vt, unsigned rows, unsigned cols)
{
	size_clamp(&rows, &cols);
	if (rows == vt->rows && cols == vt->cols)
		return;
	resize_alt(vt, rows, cols);
	pane_vt_resize_main(vt, rows, cols);
	for (int i = 0; i < 2; i++) {
		struct pane_vt_screen *s = &vt->screen[i];

		s->top = 0;
		s->bottom = rows - 1;
		s->x = clamp(s->x, 0, cols - 1);
		s->saved.x = clamp(s->saved.x, 0, cols - 1);
		s->saved.y = clamp(s->saved.y, 0, rows - 1);
	}
	vt->rows = rows;
	vt->cols = cols;
	vt->x = clamp(vt->x, 0, cols - 1);
	pane_vt_end_cluster(vt);
	vt->all_dirty = true;
}

/* -- replies and state ---------------------------------------------------------------------------- */

void pane_vt_reply(struct pane_vt *vt, const char *fmt, ...)
{
	char one[REPLY_ONE_B];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(one, sizeof(one), fmt, ap);
	va_end(ap);
	assert(n > 0 && n < REPLY_ONE_B);
	/* A child that asks without reading the answers loses some: dropping is the plan. */
	(void)zw_buf_add(&vt->replies, one, (size_t)n);
}

bool pane_vt_is_dark(const struct pane_vt *vt)
{
	uint32_t bg = pane_vt_special_rgb(vt, 1);

	return (bg >> 16 & 255) * 299 + (bg >> 8 & 255) * 587 + (bg & 255) * 114 < 127500;
}

void pane_vt_set_terminal(struct pane_vt *vt, const struct pane_vt_config *config)
{
	bool was_dark = pane_vt_is_dark(vt);

	vt->config.fg_rgb = config->fg_rgb & 0xffffff;
	vt->config.bg_rgb = config->bg_rgb & 0xffffff;
	vt->config.has_kitty = config->has_kitty;
	if (config->cell_w > 0 && config->cell_h > 0) {
		vt->config.cell_w = config->cell_w;
		vt->config.cell_h = config->cell_h;
	}
	if (was_dark != pane_vt_is_dark(vt) && pane_vt_has(vt, PANE_VT_BIT(SCHEME_REPORTS)))
		pane_vt_report_scheme(vt);
}

struct zw_buf *pane_vt_replies(struct pane_vt *vt)
{
	return &vt->replies;
}

int64_t pane_vt_sync_since(const struct pane_vt *vt)
{
	return vt->sync_since_ms;
}

void pane_vt_sync_end(struct pane_vt *vt)
{
	vt->modes &= ~PANE_VT_BIT(SYNC);
	vt->sync_since_ms = -1;
}

void pane_vt_state(const struct pane_vt *vt, struct pane_vt_state *ret)
{
	static const struct {
		uint32_t in, out;
	} map[] = {
		{PANE_VT_BIT(CURSOR_KEYS), PANE_MODE_CURSOR_KEYS},
		{PANE_VT_BIT(KEYPAD), PANE_MODE_KEYPAD},
		{PANE_VT_BIT(PASTE), PANE_MODE_PASTE},
		{PANE_VT_BIT(FOCUS), PANE_MODE_FOCUS},
		{PANE_VT_BIT(MOUSE_CLICK), PANE_MODE_MOUSE_CLICK},
		{PANE_VT_BIT(MOUSE_DRAG), PANE_MODE_MOUSE_DRAG},
		{PANE_VT_BIT(MOUSE_MOVE), PANE_MODE_MOUSE_MOVE},
		{PANE_VT_BIT(MOUSE_SGR), PANE_MODE_MOUSE_SGR},
		{PANE_VT_BIT(MOUSE_PIXEL), PANE_MODE_MOUSE_PIXEL},
		{PANE_VT_BIT(CURSOR_VISIBLE), PANE_MODE_CURSOR_VISIBLE},
		{PANE_VT_BIT(ALT_SCREEN), PANE_MODE_ALT_SCREEN},
	};

	*ret = (struct pane_vt_state){
		.rows = vt->rows,
		.cols = vt->cols,
		.cursor_row = vt->y,
		.cursor_col = vt->x < vt->cols ? vt->x : vt->cols - 1,
		.cursor_shape = vt->cursor_shape,
		.kitty_flags = vt->scr->kitty.flags[vt->scr->kitty.top],
		.modify_other_keys = vt->modify_other_keys,
	};
	for (size_t i = 0; i < ZW_N_ELEMENTS(map); i++)
		if (pane_vt_has(vt, map[i].in))
			ret->modes |= map[i].out;
}

/* -- cells for the grid --------------------------------------------------------------------------- */

void pane_vt_dirty(struct pane_vt *vt, unsigned first, unsigned last)
{
	memset(vt->dirty + first, 1, last - first + 1);
}

bool pane_vt_is_dirty(const struct pane_vt *vt)
{
	uint64_t above = pane_vt_screen_top(vt) - pane_vt_view_top(vt);

	if (vt->all_dirty)
		return true;
	return above < vt->rows && memchr(vt->dirty, 1, (size_t)(vt->rows - above)) != NULL;
}

static void copy_cell(const struct pane_vt *vt, const struct pane_vt_row *row, unsigned x,
		      uint16_t flip, struct pane_cell *out)
{
	const struct pane_vt_cell *c = &row->cell[x];

	*out = (struct pane_cell){
		.cp = {c->cp},
		.width = c->half == PANE_VT_WIDE   ? 2
			 : c->half == PANE_VT_TAIL ? 0
						   : 1,
		.underline = c->underline,
		.attrs = (uint16_t)((c->attrs & ~PANE_VT_ATTR_MORE) ^ flip),
		.fg = pane_vt_shown_colour(vt, c->fg, 0),
		.bg = pane_vt_shown_colour(vt, c->bg, 1),
		.ul_colour = c->ul_colour,
	};
	if ((c->attrs & PANE_VT_ATTR_MORE) != 0)
		memcpy(out->cp + 1, row->more[x].cp, (PANE_CLUSTER_MAX - 1) * sizeof(uint32_t));
}

static void copy_row(const struct pane_vt *vt, const struct pane_vt_row *row, struct pane_cell *out)
{
	uint16_t flip = pane_vt_has(vt, PANE_VT_BIT(REVERSE_SCREEN)) ? PANE_ATTR_REVERSE : 0;

	for (unsigned x = 0; x < vt->cols; x++)
		copy_cell(vt, row, x, flip, &out[x]);
}

void pane_vt_copy_row(const struct pane_vt *vt, unsigned y, struct pane_cell *out)
{
	copy_row(vt, vt->scr->row[y], out);
}

bool pane_vt_copy_line(const struct pane_vt *vt, uint64_t line, struct pane_cell *out)
{
	struct pane_vt_row *spare = pane_vt_row_new(vt->cols);
	const struct pane_vt_row *row = pane_vt_line(vt, line, spare);

	if (row != NULL)
		copy_row(vt, row, out);
	pane_vt_row_free(spare);
	return row != NULL;
}

unsigned pane_vt_publish(struct pane_vt *vt, struct pane_grid *grid)
{
	uint64_t top = pane_vt_view_top(vt), screen = pane_vt_screen_top(vt);
	struct pane_vt_row *spare = top < screen ? pane_vt_row_new(vt->cols) : NULL;
	unsigned n = 0;

	grid->rows = vt->rows;
	grid->cols = vt->cols;
	for (unsigned y = 0; y < vt->rows; y++) {
		bool is_old = top + y < screen;
		bool changed = vt->all_dirty || (!is_old && vt->dirty[top + y - screen] != 0);

		grid->dirty[y] = changed;
		if (changed)
			copy_row(vt, pane_vt_line(vt, top + y, spare), grid->cell[y]);
		n += changed;
	}
	memset(vt->dirty, 0, sizeof(vt->dirty));
	vt->all_dirty = false;
	pane_vt_row_free(spare);
	return n;
}
