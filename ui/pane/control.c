/* SPDX-License-Identifier: MIT */
#include "ui/pane/vt_int.h"

#include <string.h>

static void line_feed(struct pane_vt *vt)
{
	if (pane_vt_has(vt, PANE_VT_BIT(NEW_LINE)))
		vt->x = 0;
	else if (vt->x == vt->cols)
		vt->x--;
	pane_vt_line_down(vt);
	pane_vt_row(vt, vt->y)->is_wrapped = false; /* whoever gets there by LF begins a line */
}

/* With reverse wrap on (?45), from the first column back to the row that wrapped into this one. */
static void back_over_wrap(struct pane_vt *vt)
{
	struct pane_vt_row *row = pane_vt_row(vt, vt->y);

	if (vt->y <= vt->scr->top || vt->y > vt->scr->bottom || !row->is_wrapped)
		return;
	row->is_wrapped = false;
	vt->y--;
	vt->x = vt->cols - 1;
	row = pane_vt_row(vt, vt->y);
	if (row->cell[vt->x].half == PANE_VT_SINGLE && row->cell[vt->x].cp == 0)
		vt->x--; /* left free by a wide character that did not fit */
}

static void backspace(struct pane_vt *vt)
{
	bool reverse = pane_vt_has(vt, PANE_VT_BIT(REVERSE_WRAP));

	pane_vt_restrict(vt, reverse ? vt->cols : vt->cols - 1);
	if (vt->x > 0)
		vt->x--;
	else if (reverse)
		back_over_wrap(vt);
}

static void tab(struct pane_vt *vt)
{
	if (vt->x >= vt->cols)
		return;
	do
		vt->x++;
	while (vt->x < vt->cols && !vt->tab[vt->x]);
	if (vt->x >= vt->cols)
		vt->x = vt->cols - 1;
}

void pane_vt_control(struct pane_vt *vt, uint8_t c)
{
	switch (c) {
	case '\a':
		vt->events->on_bell(vt->arg);
		break;
	case '\b':
		backspace(vt);
		break;
	case '\t':
		tab(vt);
		break;
	case '\n':
	case '\v':
	case '\f':
		line_feed(vt);
		break;
	case '\r':
		vt->x = 0;
		break;
	case 0x0e: /* SO */
		vt->gl = 1;
		break;
	case 0x0f: /* SI */
		vt->gl = 0;
		break;
	default:
		break;
	}
}

static void designate(struct pane_vt *vt, const struct pane_seq *seq)
{
	uint8_t g = (uint8_t)(seq->intermediate[0] - '(');

	if (g > 3 || seq->n_intermediates != 1)
		return;
	vt->charset[g] = seq->final == '0'   ? PANE_VT_GRAPHIC
			 : seq->final == 'A' ? PANE_VT_UK
					     : PANE_VT_ASCII;
}

/* DECALN: the screen full of E, to adjust the picture tube. */
static void alignment_pattern(struct pane_vt *vt)
{
	static const uint8_t e = 'E';

	vt->scr->top = 0;
	vt->scr->bottom = vt->rows - 1;
	vt->modes &= ~PANE_VT_BIT(ORIGIN);
	for (unsigned y = 0; y < vt->rows; y++) {
		struct pane_vt_row *row = pane_vt_row(vt, y);

		for (unsigned x = 0; x < vt->cols; x++) {
			row->cell[x] = (struct pane_vt_cell){.bg = vt->pen.bg, .fg = vt->pen.fg};
			row->cell[x].cp = e;
		}
		row->used = vt->cols;
		row->plain = 0;
		row->is_wrapped = false;
	}
	pane_vt_dirty(vt, 0, vt->rows - 1);
	pane_vt_move_to(vt, 0, 0);
}

static void index_down(struct pane_vt *vt)
{
	pane_vt_restrict(vt, vt->cols - 1);
	pane_vt_line_down(vt);
}

static void index_up(struct pane_vt *vt)
{
	pane_vt_restrict(vt, vt->cols - 1);
	if (vt->y == vt->scr->top)
		pane_vt_scroll_down(vt, vt->scr->top, vt->scr->bottom, 1);
	else if (vt->y > 0)
		vt->y--;
}

static void esc_plain(struct pane_vt *vt, uint8_t final)
{
	switch (final) {
	case '7':
		pane_vt_save_cursor(vt);
		break;
	case '8':
		pane_vt_restore_cursor(vt);
		break;
	case '=':
		vt->modes |= PANE_VT_BIT(KEYPAD);
		break;
	case '>':
		vt->modes &= ~PANE_VT_BIT(KEYPAD);
		break;
	case 'D':
		index_down(vt);
		break;
	case 'E':
		vt->x = 0;
		index_down(vt);
		break;
	case 'H':
		if (vt->x < vt->cols)
			vt->tab[vt->x] = true;
		break;
	case 'M':
		index_up(vt);
		break;
	case 'N':
		vt->single_shift = 2;
		break;
	case 'O':
		vt->single_shift = 3;
		break;
	case 'c':
		pane_vt_reset(vt);
		break;
	case 'n':
		vt->gl = 2;
		break;
	case 'o':
		vt->gl = 3;
		break;
	default:
		break;
	}
}

void pane_vt_esc(struct pane_vt *vt, const struct pane_seq *seq)
{
	if (seq->n_intermediates == 0)
		esc_plain(vt, seq->final);
	else if (seq->intermediate[0] == '#' && seq->final == '8')
		alignment_pattern(vt);
	else if (seq->intermediate[0] >= '(' && seq->intermediate[0] <= '+')
		designate(vt, seq);
}
