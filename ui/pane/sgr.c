/* SPDX-License-Identifier: MIT */
#include "ui/pane/vt_int.h"

/* Parameters behind @i that belong to it by colons. */
static unsigned n_subs(const struct pane_seq *seq, unsigned i)
{
	unsigned n = 0;

	while (i + 1 + n < seq->n_params && (seq->is_sub >> (i + 1 + n) & 1) != 0)
		n++;
	return n;
}

static uint32_t channel(uint16_t v)
{
	return v > 255 ? 255 : v;
}

static uint32_t rgb(const uint16_t *v)
{
	return PANE_COLOUR_RGB | channel(v[0]) << 16 | channel(v[1]) << 8 | channel(v[2]);
}

/* 38, 48 or 58 at @i, in the forms 38;5;n 38;2;r;g;b 38:5:n 38:2:r:g:b 38:2:space:r:g:b. Returns
 * the number of parameters behind it that were its own. */
static unsigned colour(const struct pane_seq *seq, unsigned i, uint32_t *ret)
{
	const uint16_t *v = seq->param + i + 1;
	unsigned subs = n_subs(seq, i), left = seq->n_params - i - 1;

	if (subs > 0) {
		if (v[0] == 5 && subs >= 2)
			*ret = PANE_COLOUR_INDEX | channel(v[1]);
		else if (v[0] == 2 && subs >= 5)
			*ret = rgb(v + 2);
		else if (v[0] == 2 && subs == 4)
			*ret = rgb(v + 1);
		return subs;
	}
	if (left >= 2 && v[0] == 5) {
		*ret = PANE_COLOUR_INDEX | channel(v[1]);
		return 2;
	}
	if (left >= 4 && v[0] == 2) {
		*ret = rgb(v + 1);
		return 4;
	}
	return left; /* cut short: the rest cannot be told apart */
}

static void underline(struct pane_vt_cell *pen, unsigned style)
{
	if (style <= PANE_UL_DASHED)
		pen->underline = style;
}

static void set_attr(struct pane_vt_cell *pen, unsigned code)
{
	static const uint16_t on[10] = {
		[1] = PANE_ATTR_BOLD,	 [2] = PANE_ATTR_DIM,	 [3] = PANE_ATTR_ITALIC,
		[5] = PANE_ATTR_BLINK,	 [6] = PANE_ATTR_BLINK,	 [7] = PANE_ATTR_REVERSE,
		[8] = PANE_ATTR_CONCEAL, [9] = PANE_ATTR_STRIKE,
	};

	pen->attrs |= on[code];
}

static void clear_attr(struct pane_vt_cell *pen, unsigned code)
{
	static const uint16_t off[10] = {
		[2] = PANE_ATTR_BOLD | PANE_ATTR_DIM,
		[3] = PANE_ATTR_ITALIC,
		[5] = PANE_ATTR_BLINK,
		[7] = PANE_ATTR_REVERSE,
		[8] = PANE_ATTR_CONCEAL,
		[9] = PANE_ATTR_STRIKE,
	};

	pen->attrs &= (uint16_t)~off[code - 20];
}

/* One code that has no parameters of its own. */
static void plain(struct pane_vt_cell *pen, unsigned code)
{
	if (code == 0)
		*pen = (struct pane_vt_cell){.link = pen->link};
	else if (code == 4)
		pen->underline = PANE_UL_SINGLE;
	else if (code == 21)
		pen->underline = PANE_UL_DOUBLE;
	else if (code == 24)
		pen->underline = PANE_UL_NONE;
	else if (code < 10)
		set_attr(pen, code);
	else if (code >= 20 && code < 30)
		clear_attr(pen, code);
	else if (code >= 30 && code <= 37)
		pen->fg = PANE_COLOUR_INDEX | (code - 30);
	else if (code >= 40 && code <= 47)
		pen->bg = PANE_COLOUR_INDEX | (code - 40);
	else if (code >= 90 && code <= 97)
		pen->fg = PANE_COLOUR_INDEX | (code - 90 + 8);
	else if (code >= 100 && code <= 107)
		pen->bg = PANE_COLOUR_INDEX | (code - 100 + 8);
	else if (code == 39)
		pen->fg = PANE_COLOUR_DEFAULT;
	else if (code == 49)
		pen->bg = PANE_COLOUR_DEFAULT;
	else if (code == 59)
		pen->ul_colour = PANE_COLOUR_DEFAULT;
	else if (code == 53)
		pen->attrs |= PANE_ATTR_OVERLINE;
	else if (code == 55)
		pen->attrs &= (uint16_t)~PANE_ATTR_OVERLINE;
}

void pane_vt_sgr(struct pane_vt *vt, const struct pane_seq *seq)
{
	struct pane_vt_cell *pen = &vt->pen;

	if (seq->n_params == 0)
		plain(pen, 0);
	for (unsigned i = 0; i < seq->n_params; i++) {
		unsigned code = seq->param[i];

		if (code == 38) {
			i += colour(seq, i, &pen->fg);
		} else if (code == 48) {
			i += colour(seq, i, &pen->bg);
		} else if (code == 58) {
			i += colour(seq, i, &pen->ul_colour);
		} else if (n_subs(seq, i) > 0) {
			if (code == 4)
				underline(pen, seq->param[i + 1]);
			i += n_subs(seq, i);
		} else {
			plain(pen, code);
		}
	}
}
