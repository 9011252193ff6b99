/* SPDX-License-Identifier: MIT */
#include "ui/pane/links.h"

#include <string.h>

#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"

#define TITLE_SIZE_B (PANE_VT_TITLE_MAX * 4 + 1)
#define NOTE_SIZE_B  (PANE_VT_NOTE_MAX * 4 + 1)

/* @src as text that may be shown: at most @max_chars safe characters. @out has 4 bytes for each. */
static void clean(char *out, struct zw_span src, unsigned max_chars)
{
	const uint8_t *p = (const uint8_t *)src.p;
	size_t i = 0, used = 0;

	while (i < src.len && max_chars > 0) {
		uint32_t cp;
		int n = zw_utf8_decode(p + i, src.len - i, &cp);

		if (n > 0 && zw_vis_is_safe(cp)) {
			memcpy(out + used, p + i, (size_t)n);
			used += (size_t)n;
			max_chars--;
		}
		i += n > 0 ? (size_t)n : 1;
	}
	out[used] = '\0';
}

/* The field before the next semicolon; *rest moves behind it, to .p == NULL at the end. */
static struct zw_span field(struct zw_span *rest)
{
	const char *semi = rest->len > 0 ? memchr(rest->p, ';', rest->len) : NULL;
	struct zw_span f = *rest;

	if (semi == NULL) {
		*rest = (struct zw_span){NULL, 0};
		return f;
	}
	f.len = (size_t)(semi - f.p);
	rest->p = semi + 1;
	rest->len -= f.len + 1;
	return f;
}

static bool number(struct zw_span s, uint64_t max, unsigned *ret)
{
	uint64_t v;

	if (s.len == 0 || zw_parse_u64(s.p, s.len, max, &v) < 0)
		return false;
	*ret = (unsigned)v;
	return true;
}

static void title_show(struct pane_vt *vt)
{
	vt->events->on_title(vt->arg, vt->title != NULL ? vt->title : "");
}

static void title_set(struct pane_vt *vt, struct zw_span text)
{
	char out[TITLE_SIZE_B];

	clean(out, text, PANE_VT_TITLE_MAX);
	free(vt->title);
	vt->title = zw_xstrdup(out);
	title_show(vt);
}

void pane_vt_push_title(struct pane_vt *vt)
{
	if (vt->n_titles == PANE_VT_TITLES_MAX) {
		free(vt->titles[0]);
		memmove(vt->titles, vt->titles + 1, sizeof(vt->titles) - sizeof(vt->titles[0]));
		vt->n_titles--;
	}
	vt->titles[vt->n_titles++] = zw_xstrdup(vt->title != NULL ? vt->title : "");
}

void pane_vt_pop_title(struct pane_vt *vt)
{
	if (vt->n_titles == 0)
		return;
	free(vt->title);
	vt->title = vt->titles[--vt->n_titles];
	title_show(vt);
}

static void reply_colour(struct pane_vt *vt, const char *which, uint32_t rgb, bool by_bel)
{
	unsigned r = rgb >> 16 & 255, g = rgb >> 8 & 255, b = rgb & 255;

	pane_vt_reply(vt, "\033]%s;rgb:%02x%02x/%02x%02x/%02x%02x%s", which, r, r, g, g, b, b,
		      by_bel ? "\a" : "\033\\");
}

/* xterm's own palette: 16 names, a cube of 6 levels, 24 greys. */
static uint32_t palette(unsigned i)
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

/* OSC 4: pairs of index and colour. Colours are answered, never set. */
static void osc_palette(struct pane_vt *vt, struct zw_span rest, bool by_bel)
{
	while (rest.p != NULL) {
		struct zw_span index = field(&rest), spec;
		char which[16];
		unsigned i;

		if (rest.p == NULL)
			return;
		spec = field(&rest);
		if (!zw_span_eq(spec, "?") || !number(index, 255, &i))
			continue;
		snprintf(which, sizeof(which), "4;%u", i);
		reply_colour(vt, which, palette(i), by_bel);
	}
}

/* OSC 10 to 12: foreground, background, cursor; a list goes on with the next of them. */
static void osc_special_colour(struct pane_vt *vt, unsigned first, struct zw_span rest, bool by_bel)
{
	static const char *const name[] = {"10", "11", "12"};

	for (unsigned i = first - 10; rest.p != NULL && i < ZW_N_ELEMENTS(name); i++)
		if (zw_span_eq(field(&rest), "?"))
			reply_colour(vt, name[i], i == 1 ? vt->config.bg_rgb : vt->config.fg_rgb,
				     by_bel);
}

static void note(struct pane_vt *vt, struct zw_span title, struct zw_span text)
{
	char t[NOTE_SIZE_B], b[NOTE_SIZE_B];

	clean(t, title, PANE_VT_NOTE_MAX);
	clean(b, text, PANE_VT_NOTE_MAX);
	vt->events->on_note(vt->arg, t, b);
}

static void progress(struct pane_vt *vt, struct zw_span rest)
{
	unsigned state = 0, percent = 0;

	if (!number(field(&rest), 4, &state))
		return;
	if (rest.p != NULL && !number(field(&rest), 100, &percent))
		percent = 0;
	vt->events->on_progress(vt->arg, state, percent);
}

/* OSC 9: a notification, unless it begins with one of ConEmu's numbers. */
static void osc_9(struct pane_vt *vt, struct zw_span rest)
{
	struct zw_span whole = rest, head = field(&rest);
	unsigned n;

	if (rest.p != NULL && number(head, 12, &n)) {
		if (n == 4)
			progress(vt, rest);
		return;
	}
	note(vt, zw_span(""), whole);
}

/* OSC 777;notify;title;text. */
static void osc_777(struct pane_vt *vt, struct zw_span rest)
{
	struct zw_span title;

	if (!zw_span_eq(field(&rest), "notify") || rest.p == NULL)
		return;
	title = field(&rest);
	note(vt, title, rest.p != NULL ? rest : zw_span(""));
}

static void osc_52(struct pane_vt *vt, struct zw_span rest)
{
	field(&rest); /* which selection */
	vt->events->on_clipboard(vt->arg, zw_span_eq(rest, "?"), rest.len);
}

/* OSC 8;parameters;target: what is printed from here on is a link, an empty target ends it. */
static void osc_8(struct pane_vt *vt, struct zw_span rest)
{
	field(&rest);
	vt->pen.link = rest.p != NULL ? pane_link_open(vt, rest) : 0;
}

void pane_vt_osc(struct pane_vt *vt, const uint8_t *data, size_t len, bool by_bel)
{
	struct zw_span rest = zw_span_n(data, len);
	unsigned n;

	pane_vt_end_cluster(vt);
	if (!number(field(&rest), 9999, &n) || rest.p == NULL)
		return;
	switch (n) {
	case 0:
	case 2:
		title_set(vt, rest);
		break;
	case 4:
		osc_palette(vt, rest, by_bel);
		break;
	case 8:
		osc_8(vt, rest);
		break;
	case 9:
		osc_9(vt, rest);
		break;
	case 10:
	case 11:
	case 12:
		osc_special_colour(vt, n, rest, by_bel);
		break;
	case 52:
		osc_52(vt, rest);
		break;
	case 777:
		osc_777(vt, rest);
		break;
	default:
		break; /* others change nothing that is shown */
	}
}

/* DECRQSS for the three settings that programs ask for. */
static void request_setting(struct pane_vt *vt, struct zw_span what)
{
	if (zw_span_eq(what, "r"))
		pane_vt_reply(vt, "\033P1$r%u;%ur\033\\", vt->scr->top + 1, vt->scr->bottom + 1);
	else if (zw_span_eq(what, " q"))
		pane_vt_reply(vt, "\033P1$r%u q\033\\", vt->cursor_shape);
	else if (zw_span_eq(what, "\"p"))
		pane_vt_reply(vt, "\033P1$r62;1\"p\033\\");
	else
		pane_vt_reply(vt, "\033P0$r\033\\");
}

void pane_vt_dcs(struct pane_vt *vt, const struct pane_seq *seq, const uint8_t *data, size_t len)
{
	pane_vt_end_cluster(vt);
	if (seq->n_intermediates != 1 || seq->final != 'q')
		return;
	if (seq->intermediate[0] == '$')
		request_setting(vt, zw_span_n(data, len));
	else if (seq->intermediate[0] == '+')
		pane_vt_reply(vt, "\033P0+r\033\\"); /* XTGETTCAP: no such capability */
}
