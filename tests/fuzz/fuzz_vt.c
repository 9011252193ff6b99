/* SPDX-License-Identifier: MIT
 * The terminal engine, fed with anything in pieces of any size and resized in between.
 *
 * The first four bytes steer: rows, columns, seed of the splits, how often to resize. What must hold
 * after every piece is in check(), what must hold for the cells in cells_check(). */
#include <assert.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"
#include "ui/pane/vt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SCROLLBACK  20	 /* few, so that it is full soon */
#define INPUT_MAX_B 4096 /* longer ones find nothing more, only later */

static struct pane_grid grid;

static void text_check(const char *s, size_t max_chars)
{
	const uint8_t *p = (const uint8_t *)s;
	size_t len = strlen(s), n = 0;

	while (len > 0) {
		uint32_t cp;
		int k = zw_utf8_decode(p, len, &cp);

		assert(k > 0 && zw_vis_is_safe(cp));
		p += k;
		len -= (size_t)k;
		n++;
	}
	assert(n <= max_chars);
}

static void on_title(void *arg, const char *title)
{
	(void)arg;
	text_check(title, PANE_VT_TITLE_MAX);
}

static void on_bell(void *arg)
{
	(void)arg;
}

static void on_note(void *arg, const char *title, const char *text)
{
	(void)arg;
	text_check(title, PANE_VT_NOTE_MAX);
	text_check(text, PANE_VT_NOTE_MAX);
}

static void on_progress(void *arg, unsigned state, unsigned percent)
{
	(void)arg;
	assert(state <= 4 && percent <= 100);
}

static void on_clipboard(void *arg, bool is_read, size_t len_b, struct zw_span text)
{
	(void)arg;
	(void)is_read;
	assert(len_b <= 64u << 10);
	assert(text.p == NULL || (!is_read && text.len > 0 && text.len <= len_b * 3 / 4));
}

static const struct pane_vt_events events = {
	.on_title = on_title,
	.on_bell = on_bell,
	.on_note = on_note,
	.on_progress = on_progress,
	.on_clipboard = on_clipboard,
};

static void row_check(const struct pane_cell *c, unsigned cols)
{
	for (unsigned x = 0; x < cols; x++) {
		assert(c[x].width <= 2 && c[x].underline <= PANE_UL_DASHED);
		assert(c[x].attrs < 1u << 8);
		if (c[x].width == 2)
			assert(x + 1 < cols && c[x + 1].width == 0);
		if (c[x].width == 0)
			assert(x > 0 && c[x - 1].width == 2 && c[x].cp[0] == 0);
		for (int i = 0; i < PANE_CLUSTER_MAX; i++) {
			assert(c[x].cp[i] <= 0x10ffff);
			assert(c[x].cp[i] == 0 || c[x].cp[i] >= 0xa0 ||
			       (c[x].cp[i] >= 0x20 && c[x].cp[i] < 0x7f));
			assert(i == 0 || c[x].cp[i] == 0 || c[x].cp[i - 1] != 0);
		}
		assert((c[x].fg & PANE_COLOUR_KIND) <= PANE_COLOUR_RGB);
		assert((c[x].bg & PANE_COLOUR_KIND) <= PANE_COLOUR_RGB);
	}
}

/* Replies are made of the engine's own words and of numbers: printable ASCII, ESC and BEL. */
static void replies_check(struct zw_buf *b)
{
	const uint8_t *p = b->len > 0 ? zw_buf_head(b) : NULL;

	assert(b->len <= PANE_VT_REPLY_MAX_B);
	for (size_t i = 0; i < b->len; i++)
		assert(p[i] == '\033' || p[i] == '\a' || (p[i] >= 0x20 && p[i] < 0x7f));
	zw_buf_consume(b, b->len);
}

static void check(struct pane_vt *vt)
{
	struct pane_vt_state s;

	pane_vt_state(vt, &s);
	assert(s.rows >= 1 && s.rows <= PANE_ROWS_MAX && s.cols >= 2 && s.cols <= PANE_COLS_MAX);
	assert(s.cursor_row < s.rows && s.cursor_col < s.cols && s.cursor_shape <= 6);
	assert(s.kitty_flags < 32 && s.modify_other_keys <= 3);
	assert(pane_vt_sync_since(vt) >= -1);
	replies_check(pane_vt_replies(vt));
}

/* What can be copied may be shown, and what is found is where it is said to be. */
static void text_all_check(const struct pane_vt *vt, const struct pane_vt_view *v,
			   const struct pane_vt_state *s)
{
	struct pane_vt_place first = {v->first, 0},
			     last = {v->screen_top + s->rows - 1, s->cols - 1};
	struct pane_vt_place from = {PANE_VT_LIVE, 0}, to;
	struct zw_buf text;

	zw_buf_init(&text, 1u << 20);
	assert(pane_vt_text(vt, first, last, true, &text));
	for (size_t i = 0; i < text.len;) {
		uint32_t cp;
		int n = zw_utf8_decode(zw_buf_head(&text) + i, text.len - i, &cp);

		assert(n > 0 && (cp == '\n' || zw_vis_is_safe(cp) || (cp | 1) == 0x200d));
		i += (size_t)n;
	}
	for (int i = 0; i < 50 && pane_vt_find(vt, zw_span("a"), false, from, &from, &to); i++) {
		assert(from.line >= v->first && from.line <= last.line && from.col < s->cols);
		assert(from.line == to.line && from.col == to.col);
	}
	pane_vt_link_at(vt, from);
	zw_buf_fini(&text);
}

/* Every line that is kept is one that the grid could show. */
static void lines_check(const struct pane_vt *vt)
{
	static struct pane_cell cell[PANE_COLS_MAX];
	struct pane_vt_state s;
	struct pane_vt_view v;
	uint64_t line;

	pane_vt_state(vt, &s);
	pane_vt_view(vt, &v);
	assert(v.first <= v.top && v.top <= v.screen_top);
	assert(v.screen_top - v.first <= SCROLLBACK);
	for (line = v.first; pane_vt_copy_line(vt, line, cell); line++)
		row_check(cell, s.cols);
	assert(line == v.screen_top + s.rows);
	text_all_check(vt, &v, &s);
}

/* The cells as they are handed over; and what was handed over piece by piece is what the screen
 * shows: no change was forgotten. */
static void cells_check(struct pane_vt *vt)
{
	static struct pane_cell cell[PANE_COLS_MAX];
	struct pane_vt_view v;

	pane_vt_view(vt, &v);
	pane_vt_publish(vt, &grid);
	assert(!pane_vt_is_dirty(vt));
	for (unsigned y = 0; y < grid.rows; y++) {
		if (grid.dirty[y] != 0)
			row_check(grid.cell[y], grid.cols);
		assert(pane_vt_copy_line(vt, v.top + y, cell));
		assert(memcmp(cell, grid.cell[y], grid.cols * sizeof(cell[0])) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pane_vt_config config = {
		.has_kitty = true, .has_clipboard = true, .scrollback_n = SCROLLBACK};
	struct pane_vt *vt;
	unsigned seed, resize, piece_max;

	if (size < 4)
		return 0;
	if (size > INPUT_MAX_B)
		size = INPUT_MAX_B;
	config.rows = 1 + data[0] % 30;
	config.cols = 2 + data[1] % 60;
	seed = data[2];
	resize = data[3];
	data += 4;
	size -= 4;
	piece_max = (unsigned)(size / 8 + 16);
	vt = pane_vt_new(&config, &events, NULL);
	while (size > 0) {
		size_t n;

		seed = seed * 1103515245u + 12345u;
		n = 1 + (seed >> 16) % piece_max;
		n = pane_vt_feed(vt, data, n < size ? n : size, (int64_t)(seed >> 8));
		assert(n > 0 && n <= size);
		data += n;
		size -= n;
		check(vt);
		if (seed >> 28 == 0)
			cells_check(vt);
		if (resize > 0 && seed % 256 < resize / 4u) {
			pane_vt_resize(vt, (seed >> 9) % 40, (seed >> 12) % 70);
			check(vt);
			lines_check(vt);
		}
		if (seed >> 29 == 1)
			pane_vt_look_at(vt, (seed & 64) != 0 ? PANE_VT_LIVE : (seed >> 7) % 64);
	}
	cells_check(vt);
	lines_check(vt);
	pane_vt_free(vt);
	return 0;
}
