/* SPDX-License-Identifier: MIT */
#include "ui/pane/history.h"
#include "ui/pane/vt_int.h"

static unsigned arg(const struct pane_seq *seq, unsigned i, unsigned missing)
{
	return i < seq->n_params && seq->param[i] > 0 ? seq->param[i] : missing;
}

static void move_by(struct pane_vt *vt, int dx, int dy)
{
	int x, y;

	pane_vt_restrict(vt, vt->cols - 1);
	x = (int)vt->x + dx;
	y = (int)vt->y + dy;
	vt->x = x > 0 ? (unsigned)x : 0;
	vt->y = y > 0 ? (unsigned)y : 0;
	if (vt->y >= vt->rows)
		vt->y = vt->rows - 1;
	pane_vt_restrict(vt, vt->cols - 1);
}

/* Up and down stop at a margin when they begin inside of it. */
static void up(struct pane_vt *vt, unsigned n)
{
	unsigned room = vt->y >= vt->scr->top ? vt->y - vt->scr->top : vt->y;

	move_by(vt, 0, -(int)(n < room ? n : room));
}

static void down(struct pane_vt *vt, unsigned n)
{
	unsigned end = vt->y <= vt->scr->bottom ? vt->scr->bottom : vt->rows - 1;

	move_by(vt, 0, (int)(n < end - vt->y ? n : end - vt->y));
}

/* Part of the cursor's row; if its begin goes, it no longer goes on from the row above. */
static void erase_part(struct pane_vt *vt, unsigned from, unsigned to, bool unwrap)
{
	pane_vt_erase(vt, vt->y, from, to);
	if (unwrap)
		pane_vt_row(vt, vt->y)->is_wrapped = false;
}

static void erase_display(struct pane_vt *vt, unsigned how)
{
	pane_vt_restrict(vt, vt->cols);
	if (how == 0) {
		erase_part(vt, vt->x, vt->cols, vt->x == 0);
		for (unsigned y = vt->y + 1; y < vt->rows; y++)
			pane_vt_erase_row(vt, y);
	} else if (how == 1) {
		for (unsigned y = 0; y < vt->y; y++)
			pane_vt_erase_row(vt, y);
		erase_part(vt, 0, vt->x + 1, true);
		if (vt->x + 1 >= vt->cols && vt->y + 1 < vt->rows)
			pane_vt_row(vt, vt->y + 1)->is_wrapped = false;
	} else if (how == 2) {
		for (unsigned y = 0; y < vt->rows; y++)
			pane_vt_erase_row(vt, y);
	} else if (how == 3 && vt->scr == &vt->screen[0]) {
		pane_history_clear(&vt->history);
		vt->all_dirty = true;
	}
}

static void erase_line(struct pane_vt *vt, unsigned how)
{
	pane_vt_restrict(vt, vt->cols);
	if (how == 0)
		erase_part(vt, vt->x, vt->cols, vt->x == 0);
	else if (how == 1)
		erase_part(vt, 0, vt->x + 1, false);
	else if (how == 2)
		erase_part(vt, 0, vt->cols, true);
}

static void lines(struct pane_vt *vt, unsigned n, bool insert)
{
	pane_vt_restrict(vt, vt->cols - 1);
	if (vt->y < vt->scr->top || vt->y > vt->scr->bottom)
		return;
	if (insert)
		pane_vt_scroll_down(vt, vt->y, vt->scr->bottom, n);
	else
		pane_vt_scroll_up(vt, vt->y, vt->scr->bottom, n);
	vt->x = 0;
}

/* Columns from @x on, in all rows between the margins: in or out, at the right they are lost. */
static void columns(struct pane_vt *vt, unsigned x, unsigned n, bool insert)
{
	unsigned was_x = vt->x, was_y = vt->y;

	if (was_y < vt->scr->top || was_y > vt->scr->bottom)
		return;
	vt->x = x < vt->cols ? x : vt->cols - 1;
	for (vt->y = vt->scr->top; vt->y <= vt->scr->bottom; vt->y++) {
		if (insert)
			pane_vt_insert_cells(vt, n);
		else
			pane_vt_delete_cells(vt, n);
		pane_vt_row(vt, vt->y)->is_wrapped = false;
	}
	vt->x = was_x;
	vt->y = was_y;
}

static void tabs(struct pane_vt *vt, unsigned n, bool forward)
{
	if (vt->x >= vt->cols)
		return;
	for (; n > 0 && (forward ? vt->x < vt->cols - 1 : vt->x > 0); n--) {
		do
			vt->x = forward ? vt->x + 1 : vt->x - 1;
		while (vt->x > 0 && vt->x < vt->cols - 1 && !vt->tab[vt->x]);
	}
}

static void tab_clear(struct pane_vt *vt, unsigned how)
{
	if (how == 0 && vt->x < vt->cols)
		vt->tab[vt->x] = false;
	else if (how == 3)
		for (unsigned x = 0; x < PANE_COLS_MAX; x++)
			vt->tab[x] = false;
}

static void margins(struct pane_vt *vt, unsigned top, unsigned bottom)
{
	if (bottom == 0 || bottom > vt->rows)
		bottom = vt->rows;
	if (top >= bottom)
		return;
	vt->scr->top = top - 1;
	vt->scr->bottom = bottom - 1;
	pane_vt_move_to(vt, 0, 0);
}

void pane_vt_report_scheme(struct pane_vt *vt)
{
	pane_vt_reply(vt, "\033[?997;%un", pane_vt_is_dark(vt) ? 1 : 2);
}

static void report_status(struct pane_vt *vt, unsigned what, bool is_dec)
{
	unsigned x = vt->x < vt->cols ? vt->x : vt->cols - 1;
	unsigned y = vt->y;

	if (pane_vt_has(vt, PANE_VT_BIT(ORIGIN)) && y >= vt->scr->top)
		y -= vt->scr->top;
	if (what == 5 && !is_dec)
		pane_vt_reply(vt, "\033[0n");
	else if (what == 6)
		pane_vt_reply(vt, "\033[%s%u;%uR", is_dec ? "?" : "", y + 1, x + 1);
	else if (what == 996 && is_dec)
		pane_vt_report_scheme(vt);
}

static void window(struct pane_vt *vt, const struct pane_seq *seq)
{
	unsigned w = vt->config.cell_w, h = vt->config.cell_h;
	unsigned what = arg(seq, 0, 0), which = arg(seq, 1, 0);

	if (what == 14 && which == 0)
		pane_vt_reply(vt, "\033[4;%u;%ut", vt->rows * h, vt->cols * w);
	else if (what == 16)
		pane_vt_reply(vt, "\033[6;%u;%ut", h, w);
	else if (what == 18)
		pane_vt_reply(vt, "\033[8;%u;%ut", vt->rows, vt->cols);
	else if (what == 22 && which != 1)
		pane_vt_push_title(vt);
	else if (what == 23 && which != 1)
		pane_vt_pop_title(vt);
}

/* Cursor movement; false when @final is none. */
static bool csi_cursor(struct pane_vt *vt, const struct pane_seq *seq)
{
	unsigned n = arg(seq, 0, 1);
	unsigned y = vt->y;

	switch (seq->final) {
	case 'A':
		up(vt, n);
		break;
	case 'B':
		down(vt, n);
		break;
	case 'C':
	case 'a':
		move_by(vt, (int)n, 0);
		break;
	case 'D':
		move_by(vt, -(int)n, 0);
		break;
	case 'E':
		down(vt, n);
		vt->x = 0;
		break;
	case 'F':
		up(vt, n);
		vt->x = 0;
		break;
	case 'G':
	case '`':
		if (pane_vt_has(vt, PANE_VT_BIT(ORIGIN)))
			y -= y >= vt->scr->top ? vt->scr->top : y;
		pane_vt_move_to(vt, n - 1, y);
		break;
	case 'H':
	case 'f':
		pane_vt_move_to(vt, arg(seq, 1, 1) - 1, n - 1);
		break;
	case 'd':
		pane_vt_move_to(vt, vt->x, n - 1);
		break;
	case 'e':
		move_by(vt, 0, (int)n);
		break;
	case 'I':
		tabs(vt, n, true);
		break;
	case 'Z':
		tabs(vt, n, false);
		break;
	case 's':
		pane_vt_save_cursor(vt);
		break;
	case 'u':
		pane_vt_restore_cursor(vt);
		break;
	default:
		return false;
	}
	return true;
}

/* What changes cells; false when @final is none. */
static bool csi_edit(struct pane_vt *vt, const struct pane_seq *seq)
{
	unsigned n = arg(seq, 0, 1);

	switch (seq->final) {
	case '@':
		pane_vt_restrict(vt, vt->cols - 1);
		pane_vt_insert_cells(vt, n);
		break;
	case 'J':
		erase_display(vt, arg(seq, 0, 0));
		break;
	case 'K':
		erase_line(vt, arg(seq, 0, 0));
		break;
	case 'L':
		lines(vt, n, true);
		break;
	case 'M':
		lines(vt, n, false);
		break;
	case 'P':
		pane_vt_restrict(vt, vt->cols - 1);
		pane_vt_delete_cells(vt, n);
		break;
	case 'S':
		pane_vt_scroll_up(vt, vt->scr->top, vt->scr->bottom, n);
		break;
	case 'T':
		if (seq->n_params < 2) /* with five it is xterm's mouse highlighting */
			pane_vt_scroll_down(vt, vt->scr->top, vt->scr->bottom, n);
		break;
	case 'X':
		pane_vt_restrict(vt, vt->cols - 1);
		pane_vt_erase(vt, vt->y, vt->x, vt->x + n);
		break;
	default:
		return false;
	}
	return true;
}

static bool csi_plain(struct pane_vt *vt, const struct pane_seq *seq)
{
	if (csi_cursor(vt, seq) || csi_edit(vt, seq))
		return false;
	switch (seq->final) {
	case 'c':
		if (arg(seq, 0, 0) == 0)
			pane_vt_reply(vt, "\033[?62;22c");
		break;
	case 'g':
		tab_clear(vt, arg(seq, 0, 0));
		break;
	case 'h':
	case 'l':
		return pane_vt_set_modes(vt, seq, seq->final == 'h');
	case 'm':
		pane_vt_sgr(vt, seq);
		break;
	case 'n':
		report_status(vt, arg(seq, 0, 0), false);
		break;
	case 'r':
		margins(vt, arg(seq, 0, 1), arg(seq, 1, 0));
		break;
	case 't':
		window(vt, seq);
		break;
	default:
		break;
	}
	return false;
}

static bool csi_question(struct pane_vt *vt, const struct pane_seq *seq)
{
	switch (seq->final) {
	case 'h':
	case 'l':
		return pane_vt_set_modes(vt, seq, seq->final == 'h');
	case 'J': /* selective; nothing is ever protected */
		erase_display(vt, arg(seq, 0, 0));
		break;
	case 'K':
		erase_line(vt, arg(seq, 0, 0));
		break;
	case 'm':
		if (arg(seq, 0, 0) == 4)
			pane_vt_reply(vt, "\033[>4;%um", vt->modify_other_keys);
		break;
	case 'n':
		report_status(vt, arg(seq, 0, 0), true);
		break;
	case 'u':
		pane_vt_kitty(vt, seq);
		break;
	default:
		break;
	}
	return false;
}

static void csi_greater(struct pane_vt *vt, const struct pane_seq *seq)
{
	unsigned what = arg(seq, 0, 0), value = arg(seq, 1, 0);

	if (seq->final == 'c' && what == 0)
		pane_vt_reply(vt, "\033[>1;10;0c");
	else if (seq->final == 'q' && what == 0)
		pane_vt_reply(vt, "\033P>|zwatch %s\033\\", ZW_VERSION);
	else if (seq->final == 'u')
		pane_vt_kitty(vt, seq);
	else if (seq->final == 'm' && (what == 4 || seq->n_params == 0))
		vt->modify_other_keys = value <= 3 ? (uint8_t)value : 0;
	else if (seq->final == 'n' && what == 4)
		vt->modify_other_keys = 0;
}

static void csi_intermediate(struct pane_vt *vt, const struct pane_seq *seq)
{
	uint8_t mid = seq->intermediate[0];

	if (seq->n_intermediates != 1)
		return;
	if (mid == ' ' && seq->prefix == 0 && (seq->final == '@' || seq->final == 'A'))
		columns(vt, 0, arg(seq, 0, 1), seq->final == 'A'); /* SL, SR */
	else if (mid == '\'' && seq->prefix == 0 && (seq->final == '}' || seq->final == '~'))
		columns(vt, vt->x, arg(seq, 0, 1), seq->final == '}'); /* DECIC, DECDC */
	else if (mid == ' ' && seq->final == 'q' && seq->prefix == 0 && arg(seq, 0, 0) <= 6)
		vt->cursor_shape = (uint8_t)arg(seq, 0, 0);
	else if (mid == '!' && seq->final == 'p' && seq->prefix == 0)
		pane_vt_soft_reset(vt);
	else if (mid == '$' && seq->final == 'p' && (seq->prefix == 0 || seq->prefix == '?'))
		pane_vt_request_mode(vt, arg(seq, 0, 0), seq->prefix == '?');
}

/* Colons mean something to SGR only; elsewhere what follows them is not there. */
static struct pane_seq without_subs(const struct pane_seq *seq)
{
	struct pane_seq out = *seq;

	out.n_params = 0;
	out.is_sub = 0;
	for (unsigned i = 0; i < seq->n_params; i++)
		if ((seq->is_sub >> i & 1) == 0)
			out.param[out.n_params++] = seq->param[i];
	return out;
}

bool pane_vt_csi(struct pane_vt *vt, const struct pane_seq *seq)
{
	struct pane_seq plain;

	if (seq->final == 'b' && seq->prefix == 0 && seq->n_intermediates == 0) {
		pane_vt_repeat(vt, arg(seq, 0, 1));
		pane_vt_end_cluster(vt);
		return false;
	}
	pane_vt_end_cluster(vt);
	if (seq->is_sub != 0 && seq->final != 'm') {
		plain = without_subs(seq);
		seq = &plain;
	}
	if (seq->n_intermediates > 0)
		csi_intermediate(vt, seq);
	else if (seq->prefix == 0)
		return csi_plain(vt, seq);
	else if (seq->prefix == '?')
		return csi_question(vt, seq);
	else if (seq->prefix == '>')
		csi_greater(vt, seq);
	else if (seq->final == 'u')
		pane_vt_kitty(vt, seq);
	return false;
}
