/* SPDX-License-Identifier: MIT */
#include "ui/pane/vt_int.h"

#include <assert.h>
#include <string.h>

#include "src/base/mem.h"
#include "ui/pane/history.h"

#define CELL_SIZE sizeof(struct pane_vt_cell)

struct pane_vt_row *pane_vt_row_new(unsigned cols)
{
	struct pane_vt_row *row = zw_xnew(struct pane_vt_row);

	row->cell = zw_xcalloc(cols, CELL_SIZE);
	return row;
}

void pane_vt_row_free(struct pane_vt_row *row)
{
	if (row == NULL)
		return;
	free(row->cell);
	free(row->more);
	free(row);
}

void pane_vt_row_resize(struct pane_vt_row *row, unsigned old_cols, unsigned cols)
{
	row->cell = zw_xrealloc(row->cell, cols, CELL_SIZE);
	row->plain = 0;
	if (row->more != NULL)
		row->more = zw_xrealloc(row->more, cols, sizeof(*row->more));
	if (cols > old_cols) {
		memset(row->cell + old_cols, 0, (cols - old_cols) * CELL_SIZE);
		return;
	}
	if (row->used > cols)
		row->used = cols;
	if (row->cell[cols - 1].half == PANE_VT_WIDE)
		row->cell[cols - 1] = (struct pane_vt_cell){.bg = row->cell[cols - 1].bg};
}

/* Both halves of the wide character that has its right one at @x. */
static void halves_blank(struct pane_vt *vt, struct pane_vt_row *row, unsigned x)
{
	row->plain = 0;
	row->cell[x - 1] = (struct pane_vt_cell){.bg = vt->pen.bg};
	row->cell[x] = (struct pane_vt_cell){.bg = vt->pen.bg};
}

void pane_vt_cut(struct pane_vt *vt, unsigned y, unsigned from, unsigned to)
{
	struct pane_vt_row *row = pane_vt_row(vt, y);

	if (from < vt->cols && row->cell[from].half == PANE_VT_TAIL)
		halves_blank(vt, row, from);
	if (to < vt->cols && row->cell[to].half == PANE_VT_TAIL)
		halves_blank(vt, row, to);
}

/* Blanks [from, to) of a row where no wide character is cut. */
static void fill(struct pane_vt *vt, struct pane_vt_row *row, unsigned from, unsigned to)
{
	if (from < row->plain)
		row->plain = from;
	if (vt->pen.bg != PANE_COLOUR_DEFAULT) {
		for (unsigned x = from; x < to; x++)
			row->cell[x] = (struct pane_vt_cell){.bg = vt->pen.bg};
		if (to > row->used)
			row->used = to;
		return;
	}
	if (from >= row->used)
		return;
	if (to >= row->used) {
		to = row->used;
		row->used = from;
	}
	memset(row->cell + from, 0, (to - from) * CELL_SIZE);
}

void pane_vt_erase(struct pane_vt *vt, unsigned y, unsigned from, unsigned to)
{
	if (to > vt->cols)
		to = vt->cols;
	if (from >= to)
		return;
	pane_vt_cut(vt, y, from, to);
	fill(vt, pane_vt_row(vt, y), from, to);
	vt->dirty[y] = 1;
}

static void row_clear(struct pane_vt *vt, struct pane_vt_row *row)
{
	fill(vt, row, 0, vt->cols);
	row->is_wrapped = false;
}

void pane_vt_erase_row(struct pane_vt *vt, unsigned y)
{
	row_clear(vt, pane_vt_row(vt, y));
	vt->dirty[y] = 1;
}

static void shift(struct pane_vt_row *row, unsigned to, unsigned from, unsigned n)
{
	row->plain = 0;
	memmove(row->cell + to, row->cell + from, n * CELL_SIZE);
	if (row->more != NULL)
		memmove(row->more + to, row->more + from, n * sizeof(*row->more));
}

void pane_vt_insert_cells(struct pane_vt *vt, unsigned n)
{
	struct pane_vt_row *row = pane_vt_row(vt, vt->y);
	unsigned room = vt->cols - vt->x;

	assert(vt->x < vt->cols);
	if (n > room)
		n = room;
	pane_vt_cut(vt, vt->y, vt->x, vt->cols - n);
	shift(row, vt->x + n, vt->x, room - n);
	row->used = row->used > vt->x ? vt->cols : row->used;
	fill(vt, row, vt->x, vt->x + n);
	vt->dirty[vt->y] = 1;
}

void pane_vt_delete_cells(struct pane_vt *vt, unsigned n)
{
	struct pane_vt_row *row = pane_vt_row(vt, vt->y);
	unsigned room = vt->cols - vt->x;

	assert(vt->x < vt->cols);
	if (n > room)
		n = room;
	pane_vt_cut(vt, vt->y, vt->x, vt->x + n);
	shift(row, vt->x, vt->x + n, room - n);
	row->used = row->used > vt->x ? vt->cols : row->used;
	fill(vt, row, vt->cols - n, vt->cols);
	vt->dirty[vt->y] = 1;
}

void pane_vt_keep_row(struct pane_vt *vt, unsigned y)
{
	uint64_t base = vt->history.base;

	if (vt->history.max_n == 0)
		return;
	/* In a view that stands still: a change of the row is no longer seen by its mark, and rows
	 * below the margin get other numbers. */
	if (vt->view_top != PANE_VT_LIVE && pane_vt_screen_top(vt) < vt->view_top + vt->rows &&
	    (vt->dirty[y] != 0 || vt->scr->bottom < vt->rows - 1))
		vt->all_dirty = true;
	pane_history_push(&vt->history, pane_pack(vt->scr->row[y], vt->cols));
	if (vt->view_top < vt->history.base && base != vt->history.base)
		vt->all_dirty = true; /* what a user looks at was dropped */
}

void pane_vt_scroll_up(struct pane_vt *vt, unsigned top, unsigned bottom, unsigned n)
{
	struct pane_vt_row **rows = vt->scr->row;

	if (n > bottom - top + 1)
		n = bottom - top + 1;
	while (n-- > 0) {
		struct pane_vt_row *row = rows[top];

		memmove(rows + top, rows + top + 1, (bottom - top) * sizeof(*rows));
		row_clear(vt, row);
		rows[bottom] = row;
	}
	pane_vt_dirty(vt, top, bottom);
}

void pane_vt_scroll_down(struct pane_vt *vt, unsigned top, unsigned bottom, unsigned n)
{
	struct pane_vt_row **rows = vt->scr->row;

	if (n > bottom - top + 1)
		n = bottom - top + 1;
	while (n-- > 0) {
		struct pane_vt_row *row = rows[bottom];

		memmove(rows + top + 1, rows + top, (bottom - top) * sizeof(*rows));
		row_clear(vt, row);
		rows[top] = row;
	}
	pane_vt_dirty(vt, top, bottom);
}

void pane_vt_line_down(struct pane_vt *vt)
{
	if (vt->y == vt->scr->bottom) {
		if (vt->scr->top == 0 && vt->scr == &vt->screen[0])
			pane_vt_keep_row(vt, 0);
		pane_vt_scroll_up(vt, vt->scr->top, vt->scr->bottom, 1);
	} else if (vt->y < vt->rows - 1) {
		vt->y++;
	}
}

void pane_vt_restrict(struct pane_vt *vt, unsigned x_max)
{
	if (vt->x > x_max)
		vt->x = x_max;
	if (!pane_vt_has(vt, PANE_VT_BIT(ORIGIN)))
		return;
	if (vt->y < vt->scr->top)
		vt->y = vt->scr->top;
	if (vt->y > vt->scr->bottom)
		vt->y = vt->scr->bottom;
}

void pane_vt_move_to(struct pane_vt *vt, unsigned x, unsigned y)
{
	if (pane_vt_has(vt, PANE_VT_BIT(ORIGIN)))
		y += vt->scr->top;
	vt->x = x;
	vt->y = y < vt->rows ? y : vt->rows - 1;
	pane_vt_restrict(vt, vt->cols - 1);
}

void pane_vt_save_cursor(struct pane_vt *vt)
{
	struct pane_vt_saved *s = &vt->scr->saved;

	s->x = vt->x;
	s->y = vt->y;
	s->pen = vt->pen;
	memcpy(s->charset, vt->charset, sizeof(s->charset));
	s->gl = vt->gl;
	s->is_origin = pane_vt_has(vt, PANE_VT_BIT(ORIGIN));
}

void pane_vt_restore_cursor(struct pane_vt *vt)
{
	const struct pane_vt_saved *s = &vt->scr->saved;

	vt->pen = s->pen;
	memcpy(vt->charset, s->charset, sizeof(vt->charset));
	vt->gl = s->gl;
	vt->modes &= ~PANE_VT_BIT(ORIGIN);
	if (s->is_origin)
		vt->modes |= PANE_VT_BIT(ORIGIN);
	vt->x = s->x;
	vt->y = s->y < vt->rows ? s->y : vt->rows - 1;
	pane_vt_restrict(vt, vt->cols - 1);
}

void pane_vt_use_screen(struct pane_vt *vt, bool alt)
{
	if (alt == (vt->scr == &vt->screen[1]))
		return;
	vt->scr->x = vt->x;
	vt->scr->y = vt->y;
	vt->scr = &vt->screen[alt];
	vt->modes &= ~PANE_VT_BIT(ALT_SCREEN);
	if (alt) {
		vt->modes |= PANE_VT_BIT(ALT_SCREEN);
		vt->scr->top = 0;
		vt->scr->bottom = vt->rows - 1;
		vt->scr->kitty = (struct pane_vt_kitty){0};
		for (unsigned y = 0; y < vt->rows; y++)
			row_clear(vt, vt->scr->row[y]);
	}
	vt->all_dirty = true;
}
