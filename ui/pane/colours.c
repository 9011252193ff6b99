/* SPDX-License-Identifier: MIT
 * Colours that the child may ask for and change. A change is seen in the pane's cells only: the real
 * terminal's palette is never touched. */
#include <string.h>

#include "src/base/mem.h"
#include "ui/pane/vt_int.h"

static void reply_colour(struct pane_vt *vt, const char *which, uint32_t rgb, bool by_bel)
{
	unsigned r = rgb >> 16 & 255, g = rgb >> 8 & 255, b = rgb & 255;

	pane_vt_reply(vt, "\033]%s;rgb:%02x%02x/%02x%02x/%02x%02x%s", which, r, r, g, g, b, b,
		      by_bel ? "\a" : "\033\\");
}

/* xterm's own palette: 16 names, a cube of 6 levels, 24 greys. */
static uint32_t palette_default(unsigned i)
{
	static const uint32_t base[16] = {
		0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
		0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
	};
	static const uint8_t level[6] = {0, 0x5f, 0x87, 0xaf, 0xd7, 0xff};
	uint32_t grey;

	if (i < 16)
		return base[i];
	if (i < 232) {
		i -= 16;
		return (uint32_t)level[i / 36] << 16 | (uint32_t)level[i / 6 % 6] << 8 |
		       level[i % 6];
	}
	grey = 8 + (i - 232) * 10;
	return grey << 16 | grey << 8 | grey;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* @s, one to four digits, as 8 bits. */
static bool channel(struct zw_span s, uint32_t *ret)
{
	uint32_t v = 0, max = 0;

	for (size_t i = 0; i < s.len && i < 5; i++) {
		int digit = hex_digit(s.p[i]);

		if (digit < 0)
			return false;
		v = v << 4 | (uint32_t)digit;
		max = max << 4 | 15;
	}
	if (s.len == 0 || s.len > 4)
		return false;
	*ret = v * 255 / max;
	return true;
}

/* rgb:R/G/B or #RGB, with one to four digits a channel. Names are not known. */
static bool colour_parse(struct zw_span s, uint32_t *ret)
{
	size_t n = s.len > 0 && s.p[0] == '#' ? (s.len - 1) / 3 : 0;
	uint32_t rgb = 0, one;

	if (n == 0 && (s.len < 9 || memcmp(s.p, "rgb:", 4) != 0))
		return false;
	if (n > 0 && n * 3 != s.len - 1)
		return false;
	const char *p = s.p + (n > 0 ? 1 : 4), *end = s.p + s.len;
	for (int i = 0; i < 3; i++) {
		const char *slash = i < 2 && n == 0 ? memchr(p, '/', (size_t)(end - p)) : end;

		if (slash == NULL)
			return false;
		size_t len = n > 0 ? n : (size_t)(slash - p);
		if (!channel(zw_span_n(p, len), &one))
			return false;
		rgb = rgb << 8 | one;
		p += len + (n == 0 && i < 2);
	}
	*ret = PANE_COLOUR_RGB | rgb;
	return true;
}

static void changed(struct pane_vt *vt)
{
	vt->has_colours = true;
	vt->all_dirty = true;
}

void pane_vt_osc_palette(struct pane_vt *vt, struct zw_span rest, bool by_bel)
{
	while (rest.p != NULL) {
		struct zw_span index = pane_vt_field(&rest), spec;
		char which[16];
		unsigned i;

		if (rest.p == NULL)
			return;
		spec = pane_vt_field(&rest);
		if (!pane_vt_number(index, 255, &i))
			continue;
		if (colour_parse(spec, &vt->palette[i])) {
			changed(vt);
		} else if (zw_span_eq(spec, "?")) {
			snprintf(which, sizeof(which), "4;%u", i);
			reply_colour(vt, which,
				     vt->palette[i] != 0 ? vt->palette[i] : palette_default(i),
				     by_bel);
		}
	}
}

void pane_vt_osc_palette_reset(struct pane_vt *vt, struct zw_span rest)
{
	unsigned i;

	changed(vt);
	if (rest.p == NULL || rest.len == 0)
		memset(vt->palette, 0, sizeof(vt->palette));
	while (rest.p != NULL)
		if (pane_vt_number(pane_vt_field(&rest), 255, &i))
			vt->palette[i] = 0;
}

uint32_t pane_vt_special_rgb(const struct pane_vt *vt, unsigned which)
{
	if (vt->special[which] != 0)
		return vt->special[which] & 0xffffff;
	return which == 1 ? vt->config.bg_rgb : vt->config.fg_rgb;
}

/* A list goes on with the next of them. */
void pane_vt_osc_special(struct pane_vt *vt, unsigned first, struct zw_span rest, bool by_bel)
{
	static const char *const name[] = {"10", "11", "12"};

	for (unsigned i = first - 10; rest.p != NULL && i < ZW_N_ELEMENTS(name); i++) {
		struct zw_span spec = pane_vt_field(&rest);

		if (zw_span_eq(spec, "?"))
			reply_colour(vt, name[i], pane_vt_special_rgb(vt, i), by_bel);
		else if (colour_parse(spec, &vt->special[i]))
			changed(vt);
	}
}

void pane_vt_osc_special_reset(struct pane_vt *vt, unsigned which)
{
	vt->special[which] = 0;
	changed(vt);
}

void pane_vt_colours_reset(struct pane_vt *vt)
{
	memset(vt->palette, 0, sizeof(vt->palette));
	memset(vt->special, 0, sizeof(vt->special));
	vt->has_colours = false;
}

uint32_t pane_vt_shown_colour(const struct pane_vt *vt, uint32_t colour, unsigned special)
{
	uint32_t set = 0;

	if (!vt->has_colours)
		return colour;
	if ((colour & PANE_COLOUR_KIND) == PANE_COLOUR_INDEX)
		set = vt->palette[colour & 255];
	else if (colour == PANE_COLOUR_DEFAULT)
		set = vt->special[special];
	return set != 0 ? set : colour;
}
