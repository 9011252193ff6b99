/* SPDX-License-Identifier: MIT
 * What a program asks by DCS: its own settings and what the terminal can do. No answer holds a byte
 * of the question. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "src/base/mem.h"
#include "ui/pane/vt_int.h"

struct words {
	char text[112];
	size_t n;
};

static void words_add(struct words *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void words_add(struct words *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(s->text + s->n, sizeof(s->text) - s->n, fmt, ap);
	va_end(ap);
	assert(n > 0 && (size_t)n < sizeof(s->text) - s->n);
	s->n += (size_t)n;
}

static void sgr_colour(struct words *s, unsigned code, uint32_t c)
{
	if ((c & PANE_COLOUR_KIND) == PANE_COLOUR_INDEX)
		words_add(s, ";%u:5:%u", code, c & 255);
	else if ((c & PANE_COLOUR_KIND) == PANE_COLOUR_RGB)
		words_add(s, ";%u:2::%u:%u:%u", code, c >> 16 & 255, c >> 8 & 255, c & 255);
}

/* The pen as SGR would set it. */
static void pen_text(const struct pane_vt_cell *pen, struct words *s)
{
	static const uint8_t code[] = {1, 2, 3, 5,
				       7, 8, 9, 53}; /* in the order of enum pane_attr */

	s->n = 0;
	words_add(s, "0");
	for (unsigned i = 0; i < sizeof(code); i++)
		if ((pen->attrs >> i & 1) != 0)
			words_add(s, ";%u", code[i]);
	if (pen->underline == PANE_UL_SINGLE)
		words_add(s, ";4");
	else if (pen->underline != PANE_UL_NONE)
		words_add(s, ";4:%u", (unsigned)pen->underline);
	sgr_colour(s, 38, pen->fg);
	sgr_colour(s, 48, pen->bg);
	sgr_colour(s, 58, pen->ul_colour);
}

/* DECRQSS: settings that this terminal has, with its own values. */
static void request_setting(struct pane_vt *vt, struct zw_span what)
{
	struct words sgr;

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

/* -- XTGETTCAP: names in hex, each answered with zwatch's own spelling of it -------------------------- */

struct capability {
	const char *name, *value; /* "": it is there, and that is all */
	bool needs_clipboard;
};

static const struct capability capabilities[] = {
	{"TN", "xterm-256color", false},
	{"Co", "256", false},
	{"colors", "256", false},
	{"RGB", "8/8/8", false},
	{"Su", "", false},
	{"Smulx", "\033[4:%p1%dm", false},
	{"Ms", "\033]52;%p1%s;%p2%s\a", true},
};

/* Whether @hex spells @name. */
static bool spells(struct zw_span hex, const char *name)
{
	char two[3];

	if (hex.len != 2 * strlen(name))
		return false;
	for (size_t i = 0; name[i] != '\0'; i++) {
		snprintf(two, sizeof(two), "%02x", (unsigned)(uint8_t)name[i]);
		if (strncasecmp(hex.p + 2 * i, two, 2) != 0)
			return false;
	}
	return true;
}

static void add_hex(struct words *s, const char *text)
{
	for (; *text != '\0'; text++)
		words_add(s, "%02X", (unsigned)(uint8_t)*text);
}

static void request_capability(struct pane_vt *vt, struct zw_span hex)
{
	struct words s = {.n = 0};

	for (size_t i = 0; i < ZW_N_ELEMENTS(capabilities); i++) {
		const struct capability *c = &capabilities[i];

		if (!spells(hex, c->name) || (c->needs_clipboard && !vt->config.has_clipboard))
			continue;
		add_hex(&s, c->name);
		if (*c->value != '\0') {
			words_add(&s, "=");
			add_hex(&s, c->value);
		}
		pane_vt_reply(vt, "\033P1+r%s\033\\", s.text);
		return;
	}
	pane_vt_reply(vt, "\033P0+r\033\\");
}

static void request_capabilities(struct pane_vt *vt, struct zw_span names)
{
	do
		request_capability(vt, pane_vt_field(&names));
	while (names.p != NULL);
}

void pane_vt_dcs(struct pane_vt *vt, const struct pane_seq *seq, const uint8_t *data, size_t len)
{
	pane_vt_end_cluster(vt);
	if (seq->n_intermediates != 1 || seq->final != 'q')
		return;
	if (seq->intermediate[0] == '$')
		request_setting(vt, zw_span_n(data, len));
	else if (seq->intermediate[0] == '+')
		request_capabilities(vt, zw_span_n(data, len));
}
