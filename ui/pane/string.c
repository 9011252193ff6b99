/* SPDX-License-Identifier: MIT */
#include "ui/pane/links.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
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

struct zw_span pane_vt_field(struct zw_span *rest)
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

bool pane_vt_number(struct zw_span s, uint64_t max, unsigned *ret)
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

	if (!pane_vt_number(pane_vt_field(&rest), 4, &state))
		return;
	if (rest.p != NULL && !pane_vt_number(pane_vt_field(&rest), 100, &percent))
		percent = 0;
	vt->events->on_progress(vt->arg, state, percent);
}

/* OSC 9: a notification, unless it begins with one of ConEmu's numbers. */
static void osc_9(struct pane_vt *vt, struct zw_span rest)
{
	struct zw_span whole = rest, head = pane_vt_field(&rest);
	unsigned n;

	if (rest.p != NULL && pane_vt_number(head, 12, &n)) {
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

	if (!zw_span_eq(pane_vt_field(&rest), "notify") || rest.p == NULL)
		return;
	title = pane_vt_field(&rest);
	note(vt, title, rest.p != NULL ? rest : zw_span(""));
}

static void osc_52(struct pane_vt *vt, struct zw_span rest)
{
	pane_vt_field(&rest); /* which selection */
	vt->events->on_clipboard(vt->arg, zw_span_eq(rest, "?"), rest.len);
}

/* OSC 8;parameters;target: what is printed from here on is a link, an empty target ends it. */
static void osc_8(struct pane_vt *vt, struct zw_span rest)
{
	pane_vt_field(&rest);
	vt->pen.link = rest.p != NULL ? pane_link_open(vt, rest) : 0;
}

void pane_vt_osc(struct pane_vt *vt, const uint8_t *data, size_t len, bool by_bel)
{
	struct zw_span rest = zw_span_n(data, len);
	unsigned n;

	pane_vt_end_cluster(vt);
	if (!pane_vt_number(pane_vt_field(&rest), 9999, &n))
		return;
	if (n == 104)
		pane_vt_osc_palette_reset(vt, rest);
	else if (n >= 110 && n <= 112)
		pane_vt_osc_special_reset(vt, n - 110);
	if (rest.p == NULL)
		return;
	switch (n) {
	case 0:
	case 2:
		title_set(vt, rest);
		break;
	case 4:
		pane_vt_osc_palette(vt, rest, by_bel);
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
		pane_vt_osc_special(vt, n, rest, by_bel);
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

struct sgr {
	char text[112];
	size_t n;
};

static void sgr_add(struct sgr *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void sgr_add(struct sgr *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(s->text + s->n, sizeof(s->text) - s->n, fmt, ap);
	va_end(ap);
	assert(n > 0 && (size_t)n < sizeof(s->text) - s->n);
	s->n += (size_t)n;
}

static void sgr_colour(struct sgr *s, unsigned code, uint32_t c)
{
	if ((c & PANE_COLOUR_KIND) == PANE_COLOUR_INDEX)
		sgr_add(s, ";%u:5:%u", code, c & 255);
	else if ((c & PANE_COLOUR_KIND) == PANE_COLOUR_RGB)
		sgr_add(s, ";%u:2::%u:%u:%u", code, c >> 16 & 255, c >> 8 & 255, c & 255);
}

/* The pen as SGR would set it. */
static void pen_text(const struct pane_vt_cell *pen, struct sgr *s)
{
	static const uint8_t code[] = {1, 2, 3, 5,
				       7, 8, 9, 53}; /* in the order of enum pane_attr */

	s->n = 0;
	sgr_add(s, "0");
	for (unsigned i = 0; i < sizeof(code); i++)
		if ((pen->attrs >> i & 1) != 0)
			sgr_add(s, ";%u", code[i]);
	if (pen->underline == PANE_UL_SINGLE)
		sgr_add(s, ";4");
	else if (pen->underline != PANE_UL_NONE)
		sgr_add(s, ";4:%u", (unsigned)pen->underline);
	sgr_colour(s, 38, pen->fg);
	sgr_colour(s, 48, pen->bg);
	sgr_colour(s, 58, pen->ul_colour);
}

/* DECRQSS: settings that this terminal has, with its own values. */
static void request_setting(struct pane_vt *vt, struct zw_span what)
{
	struct sgr sgr;

	pen_text(&vt->pen, &sgr);
	if (zw_span_eq(what, "m"))
		pane_vt_reply(vt, "\033P1$r%sm\033\\", sgr.text);
	else if (zw_span_eq(what, "r"))
		pane_vt_reply(vt, "\033P1$r%u;%ur\033\\", vt->scr->top + 1, vt->scr->bottom + 1);
	else if (zw_span_eq(what, " q"))
		pane_vt_reply(vt, "\033P1$r%u q\033\\", vt->cursor_shape);
	else if (zw_span_eq(what, "\"p"))
		pane_vt_reply(vt, "\033P1$r62;1\"p\033\\");
	else if (zw_span_eq(what, "\"q")) /* nothing is ever protected */
		pane_vt_reply(vt, "\033P1$r0\"q\033\\");
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
