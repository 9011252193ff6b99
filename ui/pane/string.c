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

static int base64_digit(char c)
{
	return c >= 'A' && c <= 'Z'   ? c - 'A'
	       : c >= 'a' && c <= 'z' ? c - 'a' + 26
	       : c >= '0' && c <= '9' ? c - '0' + 52
	       : c == '+'	      ? 62
	       : c == '/'	      ? 63
				      : -1;
}

/* What @src spells. @out has room for three quarters of it; false when it is not base64. */
static bool base64_decode(struct zw_span src, char *out, size_t *ret_len)
{
	uint32_t bits = 0;
	size_t n = 0, used = 0;

	while (src.len > 0 && src.p[src.len - 1] == '=')
		src.len--;
	for (size_t i = 0; i < src.len; i++) {
		int digit = base64_digit(src.p[i]);

		if (digit < 0)
			return false;
		bits = bits << 6 | (uint32_t)digit;
		if (++n % 4 != 1)
			out[used++] = (char)(bits >> (2 * (3 - (n + 3) % 4)) & 255);
	}
	*ret_len = used;
	return n % 4 != 1;
}

/* OSC 52;selection;base64, or ? to read, which nobody may. */
static void osc_52(struct pane_vt *vt, struct zw_span rest)
{
	pane_vt_field(&rest); /* which selection */
	bool is_read = zw_span_eq(rest, "?");
	zw_autofree char *text = NULL;
	size_t len = 0;

	if (vt->config.has_clipboard && !is_read && rest.len > 0) {
		text = zw_xmalloc(rest.len);
		if (!base64_decode(rest, text, &len) || len == 0)
			free(zw_steal(&text));
	}
	vt->events->on_clipboard(vt->arg, is_read, rest.len, zw_span_n(text, len));
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
		break; /* others, 7 and 133 among them, change nothing that is shown */
	}
}
