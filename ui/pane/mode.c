/* SPDX-License-Identifier: MIT */
#include "ui/pane/vt_int.h"

#include <string.h>

#include "src/base/mem.h"

#define MOUSE_ANY (PANE_VT_BIT(MOUSE_CLICK) | PANE_VT_BIT(MOUSE_DRAG) | PANE_VT_BIT(MOUSE_MOVE))
#define FIXED	  (PANE_VT_BIT(FIXED_SET) | PANE_VT_BIT(FIXED_RESET))

enum kind { ANSI, DEC };

struct mode {
	uint16_t number;
	uint8_t kind;
	uint32_t bit;
};

#define PANE_MODE(number, kind, bit) {number, kind, PANE_VT_BIT(bit)},
static const struct mode modes[] = {
#include "ui/pane/mode.def"
};
#undef PANE_MODE

static const struct mode *mode_find(unsigned number, bool is_dec)
{
	for (size_t i = 0; i < ZW_N_ELEMENTS(modes); i++)
		if (modes[i].number == number && (modes[i].kind == DEC) == is_dec)
			return &modes[i];
	return NULL;
}

static void set_mouse(struct pane_vt *vt, uint32_t bit, bool on)
{
	vt->modes &= ~MOUSE_ANY; /* one at a time, and any reset turns the mouse off, as in xterm */
	if (on)
		vt->modes |= bit;
}

static bool set_sync(struct pane_vt *vt, bool on)
{
	bool was_open = vt->sync_since_ms >= 0;

	if (on && !was_open) {
		vt->modes |= PANE_VT_BIT(SYNC);
		vt->sync_since_ms = vt->now_ms;
	} else if (!on) {
		pane_vt_sync_end(vt);
	}
	return !on && was_open;
}

static void set_alt(struct pane_vt *vt, unsigned number, bool on)
{
	if (number == 1049 && on)
		pane_vt_save_cursor(vt);
	pane_vt_use_screen(vt, on);
	if (number == 1049 && !on)
		pane_vt_restore_cursor(vt);
}

/* Modes that do more than to hold their bit. Returns false when there is no more to do. */
static bool set_special(struct pane_vt *vt, const struct mode *m, bool on, bool *ret_sync_ended)
{
	if (m->number == 1048) {
		if (on)
			pane_vt_save_cursor(vt);
		else
			pane_vt_restore_cursor(vt);
		return false;
	}
	if ((m->bit & FIXED) != 0)
		return false;
	if ((m->bit & MOUSE_ANY) != 0) {
		set_mouse(vt, m->bit, on);
		return false;
	}
	if (m->bit == PANE_VT_BIT(ALT_SCREEN)) {
		set_alt(vt, m->number, on);
		return false;
	}
	if (m->bit == PANE_VT_BIT(SYNC)) {
		*ret_sync_ended |= set_sync(vt, on);
		return false;
	}
	if (m->bit == PANE_VT_BIT(MOUSE_SGR) || m->bit == PANE_VT_BIT(MOUSE_PIXEL))
		vt->modes &= ~(PANE_VT_BIT(MOUSE_SGR) | PANE_VT_BIT(MOUSE_PIXEL));
	return true;
}

bool pane_vt_set_modes(struct pane_vt *vt, const struct pane_seq *seq, bool on)
{
	bool sync_ended = false;

	for (unsigned i = 0; i < seq->n_params; i++) {
		const struct mode *m = mode_find(seq->param[i], seq->prefix == '?');

		if (m == NULL || !set_special(vt, m, on, &sync_ended))
			continue;
		vt->modes &= ~m->bit;
		if (on)
			vt->modes |= m->bit;
		if (m->bit == PANE_VT_BIT(ORIGIN))
			pane_vt_move_to(vt, 0, 0);
		if (m->bit == PANE_VT_BIT(REVERSE_SCREEN))
			vt->all_dirty = true;
	}
	return sync_ended;
}

void pane_vt_request_mode(struct pane_vt *vt, unsigned number, bool is_dec)
{
	const struct mode *m = mode_find(number, is_dec);
	unsigned state = 0;

	if (m == NULL)
		state = 0;
	else if (m->bit == PANE_VT_BIT(FIXED_SET))
		state = 3;
	else if (m->bit == PANE_VT_BIT(FIXED_RESET))
		state = 4;
	else
		state = pane_vt_has(vt, m->bit) ? 1 : 2;
	pane_vt_reply(vt, "\033[%s%u;%u$y", is_dec ? "?" : "", number, state);
}

static void kitty_push(struct pane_vt_kitty *k, uint8_t flags)
{
	if (k->top == PANE_VT_KITTY_MAX - 1)
		memmove(k->flags, k->flags + 1, PANE_VT_KITTY_MAX - 1); /* the oldest goes */
	else
		k->top++;
	k->flags[k->top] = flags;
}

static void kitty_pop(struct pane_vt_kitty *k, unsigned n)
{
	if (n > k->top) {
		*k = (struct pane_vt_kitty){0};
		return;
	}
	k->top = (uint8_t)(k->top - n);
}

static void kitty_set(struct pane_vt_kitty *k, uint8_t flags, unsigned how)
{
	uint8_t *now = &k->flags[k->top];

	if (how == 2)
		*now |= flags;
	else if (how == 3)
		*now &= (uint8_t)~flags;
	else
		*now = flags;
}

/* CSI ? u, CSI > flags u, CSI < n u, CSI = flags ; how u: kitty's keyboard protocol. */
void pane_vt_kitty(struct pane_vt *vt, const struct pane_seq *seq)
{
	struct pane_vt_kitty *k = &vt->scr->kitty;
	unsigned p = seq->param[0];
	uint8_t flags = p & 31;

	if (seq->prefix == '?' && vt->config.has_kitty)
		pane_vt_reply(vt, "\033[?%uu", k->flags[k->top]);
	else if (seq->prefix == '>')
		kitty_push(k, flags);
	else if (seq->prefix == '<')
		kitty_pop(k, p > 0 ? p : 1);
	else if (seq->prefix == '=')
		kitty_set(k, flags, seq->param[1]);
}
