/* SPDX-License-Identifier: MIT */
#include "ui/pane/history.h"

static bool is_alt(const struct pane_vt *vt)
{
	return vt->scr != &vt->screen[0];
}

/* The alternate screen has no past. */
static uint64_t first_line(const struct pane_vt *vt)
{
	return is_alt(vt) ? pane_vt_screen_top(vt) : vt->history.base;
}

uint64_t pane_vt_view_top(const struct pane_vt *vt)
{
	uint64_t screen = pane_vt_screen_top(vt), first = first_line(vt);

	if (vt->view_top >= screen)
		return screen;
	return vt->view_top < first ? first : vt->view_top;
}

void pane_vt_view(const struct pane_vt *vt, struct pane_vt_view *ret)
{
	*ret = (struct pane_vt_view){
		.first = first_line(vt),
		.top = pane_vt_view_top(vt),
		.screen_top = pane_vt_screen_top(vt),
	};
}

void pane_vt_look_at(struct pane_vt *vt, uint64_t line)
{
	uint64_t was = pane_vt_view_top(vt);

	vt->view_top = line;
	vt->view_top = line >= pane_vt_screen_top(vt) ? PANE_VT_LIVE : pane_vt_view_top(vt);
	if (pane_vt_view_top(vt) != was)
		vt->all_dirty = true;
}

const struct pane_vt_row *pane_vt_line(const struct pane_vt *vt, uint64_t line,
				       struct pane_vt_row *spare)
{
	uint64_t screen = pane_vt_screen_top(vt);

	if (line < first_line(vt) || line >= screen + vt->rows)
		return NULL;
	if (line >= screen)
		return vt->scr->row[line - screen];
	pane_unpack(pane_history_at(&vt->history, (size_t)(line - vt->history.base)), spare,
		    vt->cols);
	return spare;
}
