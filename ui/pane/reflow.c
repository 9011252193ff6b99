/* SPDX-License-Identifier: MIT
 * As xterm.js does it: rows are taken from below the cursor first; the line with the cursor is left
 * as it is, because its program draws it again; nothing is lost above. Unlike there the cursor stays
 * on its text also when lines below it change their number of rows.
 *
 * All rows are packed, in one list with the history; only lines that need it are unpacked, one row
 * at a time, so a full history costs no more memory while it is done. */
#include <assert.h>
#include <string.h>

#include "src/base/mem.h"
#include "ui/pane/history.h"

enum mark { MARK_CURSOR, MARK_SAVED, MARK_VIEW, MARK_MAX };

struct list {
	struct pane_packed **row; /* owned, and so are the rows */
	size_t n, cap;
};

struct flow {
	unsigned old_cols, cols, rows;
	struct list in, out;
	size_t mark[MARK_MAX]; /* lines that are followed */
	size_t mark_before[MARK_MAX];
	size_t top; /* where the screen begins */
	struct pane_vt_row *src, *next, *dest;
	unsigned dest_x;
	bool dest_is_wrapped;
};

static void list_add(struct list *l, struct pane_packed *take_row)
{
	if (l->n == l->cap) {
		l->cap = l->cap == 0 ? 512 : l->cap * 2;
		l->row = zw_xrealloc(l->row, l->cap, sizeof(struct pane_packed *));
	}
	l->row[l->n++] = take_row;
}

static void list_drop_last(struct list *l)
{
	free(l->row[--l->n]);
}

static struct pane_packed *blank(bool is_wrapped)
{
	struct pane_packed *p = zw_xcalloc(1, sizeof(*p));

	p->is_wrapped = is_wrapped;
	return p;
}

/* -- one line ------------------------------------------------------------------------------------- */

static void dest_flush(struct flow *f)
{
	f->dest->used = f->dest_x;
	f->dest->is_wrapped = f->dest_is_wrapped;
	list_add(&f->out, pane_pack(f->dest, f->cols));
	memset(f->dest->cell, 0, f->cols * sizeof(*f->dest->cell));
	f->dest_x = 0;
	f->dest_is_wrapped = true;
}

static void dest_add(struct flow *f, const struct pane_vt_row *src, unsigned x)
{
	if (src->cell[x].half == PANE_VT_WIDE && f->dest_x == f->cols - 1)
		dest_flush(f);
	f->dest->cell[f->dest_x] = src->cell[x];
	if ((src->cell[x].attrs & PANE_VT_ATTR_MORE) != 0) {
		if (f->dest->more == NULL)
			f->dest->more = zw_xcalloc(f->cols, sizeof(*f->dest->more));
		f->dest->more[f->dest_x] = src->more[x];
	}
	if (++f->dest_x == f->cols)
		dest_flush(f);
}

/* Columns of f->src that count. A blank before a wide character that wrapped is no text. */
static unsigned src_length(const struct flow *f, const struct pane_packed *p, bool is_last)
{
	const struct pane_vt_cell *end = &f->src->cell[f->old_cols - 1];

	if (is_last)
		return p->n_content < f->old_cols ? p->n_content : f->old_cols;
	if (end->cp == 0 && end->half == PANE_VT_SINGLE && f->next->cell[0].half == PANE_VT_WIDE)
		return f->old_cols - 1;
	return f->old_cols;
}

/* Wraps the line of rows [from, to) anew. */
static void wrap(struct flow *f, size_t from, size_t to)
{
	size_t first_out = f->out.n;
	bool is_larger = f->cols > f->old_cols;

	f->dest_x = 0;
	f->dest_is_wrapped = f->in.row[from]->is_wrapped;
	pane_unpack(f->in.row[from], f->next, f->old_cols);
	for (size_t i = from; i < to; i++) {
		struct pane_vt_row *was = f->src;

		f->src = f->next;
		f->next = was;
		if (i + 1 < to)
			pane_unpack(f->in.row[i + 1], f->next, f->old_cols);
		unsigned n = src_length(f, f->in.row[i], i + 1 == to);
		for (unsigned x = 0; x < n; x++)
			dest_add(f, f->src, x);
		free(f->in.row[i]);
	}
	if (f->dest_x > 0 || f->out.n == first_out)
		dest_flush(f);
	while (is_larger && f->out.n > first_out + 1 && f->out.row[f->out.n - 1]->n_content == 0)
		list_drop_last(&f->out);
	while (!is_larger && f->out.n - first_out < to - from)
		list_add(&f->out, blank(true));
}

/* -- all lines ------------------------------------------------------------------------------------ */

static void marks_move(struct flow *f, size_t from, size_t to, size_t first_out)
{
	for (int i = 0; i < MARK_MAX; i++) {
		size_t off = f->mark_before[i] - from;

		if (f->mark_before[i] < from || f->mark_before[i] >= to)
			continue;
		if (first_out + off >= f->out.n)
			off = f->out.n - 1 - first_out;
		f->mark[i] = first_out + off;
	}
}

static bool must_wrap(const struct flow *f, size_t from, size_t to)
{
	if (f->mark_before[MARK_CURSOR] >= from && f->mark_before[MARK_CURSOR] < to)
		return false;
	if (to - from > 1)
		return true;
	return f->cols < f->old_cols && f->in.row[from]->n_content > f->cols;
}

/* Rows that stay as they are, but for what is beyond the new edge. */
static void keep(struct flow *f, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		struct pane_packed *p = f->in.row[i];

		if (p->n_cells > f->cols) {
			pane_unpack(p, f->src, f->cols);
			free(p);
			p = pane_pack(f->src, f->cols);
		}
		list_add(&f->out, p);
	}
}

static void wrap_all(struct flow *f)
{
	memcpy(f->mark_before, f->mark, sizeof(f->mark));
	for (size_t from = 0, to; from < f->in.n; from = to) {
		size_t first_out = f->out.n;

		for (to = from + 1; to < f->in.n && f->in.row[to]->is_wrapped;)
			to++;
		if (must_wrap(f, from, to))
			wrap(f, from, to);
		else
			keep(f, from, to);
		marks_move(f, from, to, first_out);
	}
}

/* More or fewer rows, before any wrapping. */
static void rows_change(struct flow *f, unsigned old_rows)
{
	struct list *l = &f->in;

	for (unsigned y = old_rows; y < f->rows; y++) {
		if (f->top > 0 && l->n <= f->mark[MARK_CURSOR] + 1)
			f->top--; /* the cursor is in the last row: one comes back */
		else
			list_add(l, blank(false));
	}
	for (unsigned y = old_rows; y > f->rows; y--) {
		if (l->n > f->mark[MARK_CURSOR] + 1)
			list_drop_last(l);
		else
			f->top++;
	}
}

/* Where the screen begins in the wrapped list, and that it has all its rows. */
static void place_screen(struct flow *f)
{
	size_t cursor = f->mark[MARK_CURSOR], y = f->mark_before[MARK_CURSOR] - f->top;

	if (f->out.n <= f->in.n) {
		size_t gone = f->in.n - f->out.n;

		f->top -= gone < f->top ? gone : f->top;
		while (f->out.n < f->top + f->rows)
			list_add(&f->out, blank(false));
		return;
	}
	/* While nothing was scrolled off, the room below the cursor is used up first. */
	for (size_t more = f->out.n - f->in.n; more > 0; more--) {
		if (f->top == 0 && y < f->rows - 1 && cursor < f->out.n - 1) {
			y++;
			list_drop_last(&f->out);
		} else {
			f->top++;
		}
	}
	f->top = f->out.n - f->rows;
	while (f->top > cursor) {
		f->top--;
		list_drop_last(&f->out);
	}
}

/* -- in and out ----------------------------------------------------------------------------------- */

static void gather(struct pane_vt *vt, struct flow *f)
{
	struct pane_vt_screen *s = &vt->screen[0];
	struct pane_history *h = &vt->history;
	unsigned y = s == vt->scr ? vt->y : s->y;

	f->top = h->n;
	f->mark[MARK_CURSOR] = f->top + y;
	f->mark[MARK_SAVED] = f->top + (s->saved.y < vt->rows ? s->saved.y : vt->rows - 1);
	f->mark[MARK_VIEW] = vt->view_top < h->base ? 0 : (size_t)(vt->view_top - h->base);
	for (size_t i = 0; i < h->n; i++)
		list_add(&f->in, h->row[(h->first + i) % h->cap]);
	h->n = h->first = h->size_b = 0;
	for (unsigned i = 0; i < vt->rows; i++) {
		list_add(&f->in, pane_pack(s->row[i], vt->cols));
		pane_vt_row_free(zw_steal(&s->row[i]));
	}
}

static unsigned row_on_screen(const struct flow *f, enum mark m)
{
	size_t y = f->mark[m] > f->top ? f->mark[m] - f->top : 0;

	return y < f->rows ? (unsigned)y : f->rows - 1;
}

static void scatter(struct pane_vt *vt, struct flow *f)
{
	struct pane_vt_screen *s = &vt->screen[0];
	uint64_t base = vt->history.base;

	for (size_t i = 0; i < f->top; i++)
		pane_history_push(&vt->history, f->out.row[i]);
	for (unsigned y = 0; y < f->rows; y++) {
		s->row[y] = pane_vt_row_new(f->cols);
		pane_unpack(f->out.row[f->top + y], s->row[y], f->cols);
	}
	for (size_t i = f->top; i < f->out.n; i++)
		free(f->out.row[i]);
	*(s == vt->scr ? &vt->y : &s->y) = row_on_screen(f, MARK_CURSOR);
	s->saved.y = row_on_screen(f, MARK_SAVED);
	if (vt->view_top != PANE_VT_LIVE)
		vt->view_top = base + f->mark[MARK_VIEW];
}

void pane_vt_resize_main(struct pane_vt *vt, unsigned rows, unsigned cols)
{
	unsigned wider = cols > vt->cols ? cols : vt->cols;
	struct flow f = {.old_cols = vt->cols, .cols = cols, .rows = rows};

	gather(vt, &f);
	rows_change(&f, vt->rows);
	f.src = pane_vt_row_new(wider);
	f.next = pane_vt_row_new(wider);
	f.dest = pane_vt_row_new(wider);
	if (cols != vt->cols) {
		wrap_all(&f);
		place_screen(&f);
	} else {
		struct list none = f.out;

		f.out = f.in;
		f.in = none;
	}
	assert(f.out.n >= f.top + rows);
	scatter(vt, &f);
	free(f.in.row);
	free(f.out.row);
	pane_vt_row_free(f.src);
	pane_vt_row_free(f.next);
	pane_vt_row_free(f.dest);
}
