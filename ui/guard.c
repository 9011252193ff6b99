/* SPDX-License-Identifier: MIT */
#include "ui/guard.h"

#include <string.h>

#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"

#define ESC 0x1b
#define BEL 0x07

enum state {
	GROUND,
	CHARACTER, /* of several bytes; held */
	AFTER_ESC, /* held is the sequence without its ESC */
	OSC_HEAD,
	OSC_TEXT,
	OSC_CHARACTER, /* in the text */
	OSC_BASE64,
	DCS_HEAD,   /* of a wrapped OSC 52 */
	DCS_BASE64, /* the same, or its end */
	LITERAL,    /* ->left, then on with ->held[0] */
};

static const char *const forms[] = {
#define UI_GUARD(form) form,
#include "ui/guard.def"
#undef UI_GUARD
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool matches(const char *form, const char *seq)
{
	for (; *form != '\0'; form++) {
		if (*form == '#' || *form == '*')
			while (is_digit(*seq) || (*form == '*' && (*seq == ';' || *seq == ':')))
				seq++;
		else if (*seq++ != *form)
			return false;
	}
	return *seq == '\0';
}

static bool is_listed(const char *seq)
{
	for (size_t i = 0; i < ZW_N_ELEMENTS(forms); i++)
		if (matches(forms[i], seq))
			return true;
	return false;
}

static bool is_base64(uint8_t c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || is_digit((char)c) || c == '+' ||
	       c == '/' || c == '=';
}

static bool to(struct ui_guard *g, enum state state)
{
	g->state = state;
	g->n = 0;
	return true;
}

/* @text and then @state. */
static bool expect(struct ui_guard *g, const char *text, enum state state)
{
	g->left = text;
	g->held[0] = (char)state;
	g->state = LITERAL;
	return true;
}

static bool hold(struct ui_guard *g, uint8_t c)
{
	if (g->n + 1 >= sizeof(g->held))
		return false;
	g->held[g->n++] = (char)c;
	g->held[g->n] = '\0';
	return true;
}

static bool begin_character(struct ui_guard *g, uint8_t c, enum state state)
{
	to(g, state);
	return hold(g, c);
}

/* One more byte of a character; then the state is @after. */
static bool in_character(struct ui_guard *g, uint8_t c, enum state after)
{
	uint32_t cp;

	if ((c & 0xc0) != 0x80 || !hold(g, c))
		return false;
	if (zw_utf8_decode((const uint8_t *)g->held, g->n, &cp) < 0)
		return g->n < 4;
	return cp >= 0xa0 && zw_vis_is_safe(cp) && to(g, after);
}

static bool in_ground(struct ui_guard *g, uint8_t c)
{
	g->is_wrapped = false;
	if (c == ESC)
		return to(g, AFTER_ESC);
	if (c >= 0x80)
		return begin_character(g, c, CHARACTER);
	/* SO and SI: line drawing of old terminals */
	return (c >= 0x20 && c < 0x7f) || (c != 0 && strchr("\a\b\t\n\r\x0e\x0f", c) != NULL);
}

/* Whether @held, begun by [ or by an intermediate, lacks its last byte. */
static bool is_open(const char *held, size_t n)
{
	uint8_t c = (uint8_t)held[n - 1];

	if (held[0] == '[')
		return n == 1 || c < 0x40;
	return n == 1 && c < 0x30;
}

static bool after_esc(struct ui_guard *g, uint8_t c)
{
	if (g->n == 0 && c == ']')
		return to(g, OSC_HEAD);
	if (g->n == 0 && c == 'P')
		return to(g, DCS_HEAD);
	if (c < 0x20 || c >= 0x7f || !hold(g, c))
		return false;
	if (is_open(g->held, g->n))
		return true;
	return is_listed(g->held) && to(g, GROUND);
}

/* 2 title, 9, 99 and 777 notices, 52 clipboard; 10 and 11 only as questions. */
static bool osc_head(struct ui_guard *g, uint8_t c)
{
	static const char *const notices[] = {"9;", "99;i=zwatch;", "777;notify;zwatch;",
					      "99;i=zwatch:p=close;"};

	if (c == BEL)
		return !g->is_wrapped &&
		       (strcmp(g->held, "10;?") == 0 || strcmp(g->held, "11;?") == 0) &&
		       to(g, GROUND);
	if (c < 0x20 || c >= 0x7f || !hold(g, c) || g->n > strlen(notices[3]))
		return false;
	if (strcmp(g->held, "2;") == 0)
		return !g->is_wrapped && to(g, OSC_TEXT);
	for (size_t i = 0; i < ZW_N_ELEMENTS(notices); i++)
		if (strcmp(g->held, notices[i]) == 0)
			return to(g, OSC_TEXT);
	if (strcmp(g->held, "52;c;") == 0)
		return to(g, g->is_wrapped ? DCS_BASE64 : OSC_BASE64);
	return true;
}

static bool osc_text(struct ui_guard *g, uint8_t c)
{
	if (c == BEL)
		return g->is_wrapped ? expect(g, "\033\\", GROUND) : to(g, GROUND);
	if (c >= 0x80)
		return begin_character(g, c, OSC_CHARACTER);
	return c >= 0x20 && c < 0x7f;
}

/* Around OSC 52 and notices, for tmux with ESC doubled; for screen, OSC 52 in pieces. */
static bool dcs_head(struct ui_guard *g, uint8_t c)
{
	g->is_wrapped = true;
	if (c == 't')
		return expect(g, "mux;\033\033]", OSC_HEAD);
	return c == ESC && expect(g, "]", OSC_HEAD);
}

static bool dcs_base64(struct ui_guard *g, uint8_t c)
{
	if (c == ESC)
		return expect(g, "\\\033P", DCS_BASE64);
	if (c == BEL)
		return expect(g, "\033\\", GROUND);
	return is_base64(c);
}

static bool literal(struct ui_guard *g, uint8_t c)
{
	if (c != (uint8_t)*g->left)
		return false;
	g->left++;
	if (*g->left == '\0')
		to(g, (enum state)g->held[0]);
	return true;
}

static bool step(struct ui_guard *g, uint8_t c)
{
	switch ((enum state)g->state) {
	case GROUND:
		return in_ground(g, c);
	case CHARACTER:
		return in_character(g, c, GROUND);
	case AFTER_ESC:
		return after_esc(g, c);
	case OSC_HEAD:
		return osc_head(g, c);
	case OSC_TEXT:
		return osc_text(g, c);
	case OSC_CHARACTER:
		return in_character(g, c, OSC_TEXT);
	case OSC_BASE64:
		return c == BEL ? to(g, GROUND) : is_base64(c);
	case DCS_HEAD:
		return dcs_head(g, c);
	case DCS_BASE64:
		return dcs_base64(g, c);
	case LITERAL:
		return literal(g, c);
	}
	return false;
}

bool ui_guard_pass(struct ui_guard *g, const void *bytes, size_t len)
{
	const uint8_t *b = bytes;

	for (size_t i = 0; i < len; i++)
		if (!step(g, b[i]))
			return false;
	return true;
}

bool ui_guard_is_between(const struct ui_guard *g)
{
	return g->state == GROUND;
}
