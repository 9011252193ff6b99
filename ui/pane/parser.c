/* SPDX-License-Identifier: MIT */
#include "ui/pane/parser.h"

#include <string.h>

#include "src/base/utf8.h"

#define CAN 0x18
#define SUB 0x1a
#define ESC 0x1b
#define BEL 0x07
#define DEL 0x7f

void pane_parser_init(struct pane_parser *p, const struct pane_parser_ops *ops, void *arg)
{
	memset(p, 0, sizeof(*p));
	p->ops = ops;
	p->arg = arg;
	zw_buf_init(&p->data, PANE_STRING_MAX);
}

void pane_parser_fini(struct pane_parser *p)
{
	zw_buf_fini(&p->data);
}

static void string_begin(struct pane_parser *p)
{
	zw_buf_consume(&p->data, p->data.len);
	p->too_long = false;
	p->string_end = false;
	p->string_len = 0;
	p->n_strings++;
}

void pane_parser_reset(struct pane_parser *p)
{
	p->state = PANE_PS_GROUND;
	p->utf8_len = 0;
	string_begin(p);
}

static void seq_begin(struct pane_parser *p)
{
	memset(&p->seq, 0, sizeof(p->seq));
	p->has_digit = false;
	p->too_many = false;
}

static void enter_escape(struct pane_parser *p)
{
	switch (p->state) {
	case PANE_PS_OSC_STRING:
	case PANE_PS_DCS_PASSTHROUGH:
		p->string_end = true;
		p->string = p->state;
		break;
	case PANE_PS_GROUND:
	case PANE_PS_ESCAPE:
	case PANE_PS_ESCAPE_INTERMEDIATE:
	case PANE_PS_CSI_ENTRY:
	case PANE_PS_CSI_PARAM:
	case PANE_PS_CSI_INTERMEDIATE:
	case PANE_PS_CSI_IGNORE:
	case PANE_PS_DCS_ENTRY:
	case PANE_PS_DCS_PARAM:
	case PANE_PS_DCS_INTERMEDIATE:
	case PANE_PS_DCS_IGNORE:
	case PANE_PS_IGNORED_STRING:
		p->string_end = false;
		break;
	}
	p->state = PANE_PS_ESCAPE;
	if (!p->string_end)
		seq_begin(p); /* a DCS still needs its head */
}

static void param_digit(struct pane_parser *p, uint8_t c)
{
	uint32_t v;

	if (!p->has_digit) {
		p->has_digit = true;
		if (p->seq.n_params == 0)
			p->seq.n_params = 1;
	}
	if (p->too_many)
		return;
	v = p->seq.param[p->seq.n_params - 1] * 10u + (c - '0');
	p->seq.param[p->seq.n_params - 1] = v > PANE_PARAM_MAX ? PANE_PARAM_MAX : (uint16_t)v;
}

static void param_next(struct pane_parser *p, bool is_sub)
{
	if (p->seq.n_params == 0)
		p->seq.n_params = 1; /* an empty first one */
	if (p->seq.n_params == PANE_PARAMS_MAX) {
		p->too_many = true;
		return;
	}
	if (is_sub)
		p->seq.is_sub |= 1u << p->seq.n_params;
	p->seq.n_params++;
	p->has_digit = false;
}

static void collect(struct pane_parser *p, uint8_t c)
{
	if (p->seq.n_intermediates < PANE_INTERMEDIATES_MAX)
		p->seq.intermediate[p->seq.n_intermediates] = c;
	if (p->seq.n_intermediates < UINT8_MAX)
		p->seq.n_intermediates++;
}

static bool dispatch_csi(struct pane_parser *p, uint8_t c)
{
	p->state = PANE_PS_GROUND;
	p->seq.final = c;
	if (p->seq.n_intermediates > PANE_INTERMEDIATES_MAX)
		return false;
	return p->ops->on_csi(p->arg, &p->seq);
}

static void string_finish(struct pane_parser *p, bool by_bel)
{
	const uint8_t *data;

	p->string_end = false;
	if (p->too_long)
		return;
	data = p->data.len > 0 ? zw_buf_head(&p->data) : (const uint8_t *)"";
	if (p->string == PANE_PS_OSC_STRING)
		p->ops->on_osc(p->arg, data, p->data.len, by_bel);
	else if (p->seq.n_intermediates <= PANE_INTERMEDIATES_MAX)
		p->ops->on_dcs(p->arg, &p->seq, data, p->data.len);
}

static void in_escape(struct pane_parser *p, uint8_t c)
{
	if (p->string_end) {
		if (c == '\\') {
			p->state = PANE_PS_GROUND;
			string_finish(p, false);
			return;
		}
		p->string_end = false; /* ESC and something else: the string is dropped */
		seq_begin(p);
	}
	if (c < 0x30) {
		collect(p, c);
		p->state = PANE_PS_ESCAPE_INTERMEDIATE;
	} else if (c == '[') {
		p->state = PANE_PS_CSI_ENTRY;
	} else if (c == ']') {
		string_begin(p);
		p->state = PANE_PS_OSC_STRING;
	} else if (c == 'P') {
		string_begin(p);
		p->state = PANE_PS_DCS_ENTRY;
	} else if (c == 'X' || c == '^' || c == '_') {
		string_begin(p);
		p->state = PANE_PS_IGNORED_STRING;
	} else {
		p->state = PANE_PS_GROUND;
		p->seq.final = c;
		p->ops->on_esc(p->arg, &p->seq);
	}
}

static void in_escape_intermediate(struct pane_parser *p, uint8_t c)
{
	if (c < 0x30) {
		collect(p, c);
		return;
	}
	p->state = PANE_PS_GROUND;
	p->seq.final = c;
	if (p->seq.n_intermediates <= PANE_INTERMEDIATES_MAX)
		p->ops->on_esc(p->arg, &p->seq);
}

/* Bytes 0x20 to 0x3f of CSI and DCS heads go the same ways, to states with the same names. */
struct head_states {
	enum pane_parser_state entry, param, intermediate, ignore;
};

static void in_head(struct pane_parser *p, uint8_t c, const struct head_states *s)
{
	bool at_entry = p->state == s->entry;

	if (c < 0x30) {
		collect(p, c);
		p->state = s->intermediate;
	} else if (p->state == s->intermediate) {
		p->state = s->ignore;
	} else if (c <= '9') {
		param_digit(p, c);
		p->state = s->param;
	} else if (c == ':' || c == ';') {
		param_next(p, c == ':');
		p->state = s->param;
	} else if (at_entry) {
		p->seq.prefix = c;
		p->state = s->param;
	} else {
		p->state = s->ignore;
	}
}

static const struct head_states csi_states = {
	PANE_PS_CSI_ENTRY,
	PANE_PS_CSI_PARAM,
	PANE_PS_CSI_INTERMEDIATE,
	PANE_PS_CSI_IGNORE,
};
static const struct head_states dcs_states = {
	PANE_PS_DCS_ENTRY,
	PANE_PS_DCS_PARAM,
	PANE_PS_DCS_INTERMEDIATE,
	PANE_PS_DCS_IGNORE,
};

/* Takes as much of a string as has no control in it. Returns the number of bytes, maybe 0. */
static size_t in_string(struct pane_parser *p, const uint8_t *b, size_t len)
{
	size_t n = 0;

	while (n < len && b[n] >= 0x20)
		n++;
	if (n > 0 && p->state != PANE_PS_IGNORED_STRING && p->state != PANE_PS_DCS_IGNORE &&
	    !p->too_long && zw_buf_add(&p->data, b, n) < 0)
		p->too_long = true;
	p->string_len += n;
	if (p->string_len > PANE_STRING_LOST)
		p->state = PANE_PS_GROUND;
	return n;
}

/* A byte of 0x20 to 0x7e outside of ground and strings. Returns true to stop the feed. */
static bool in_sequence(struct pane_parser *p, uint8_t c)
{
	switch (p->state) {
	case PANE_PS_ESCAPE:
		in_escape(p, c);
		break;
	case PANE_PS_ESCAPE_INTERMEDIATE:
		in_escape_intermediate(p, c);
		break;
	case PANE_PS_CSI_ENTRY:
	case PANE_PS_CSI_PARAM:
	case PANE_PS_CSI_INTERMEDIATE:
		if (c >= 0x40)
			return dispatch_csi(p, c);
		in_head(p, c, &csi_states);
		break;
	case PANE_PS_CSI_IGNORE:
		if (c >= 0x40)
			p->state = PANE_PS_GROUND;
		break;
	case PANE_PS_DCS_ENTRY:
	case PANE_PS_DCS_PARAM:
	case PANE_PS_DCS_INTERMEDIATE:
		if (c >= 0x40) {
			p->seq.final = c;
			p->state = PANE_PS_DCS_PASSTHROUGH;
		} else {
			in_head(p, c, &dcs_states);
		}
		break;
	case PANE_PS_GROUND:
	case PANE_PS_DCS_PASSTHROUGH:
	case PANE_PS_DCS_IGNORE:
	case PANE_PS_OSC_STRING:
	case PANE_PS_IGNORED_STRING:
		break;
	}
	return false;
}

static bool is_string(enum pane_parser_state s)
{
	return s >= PANE_PS_DCS_PASSTHROUGH;
}

/* C0 controls work in the midst of a sequence; in a string only its ends count. */
static void control(struct pane_parser *p, uint8_t c)
{
	if (c == ESC) {
		enter_escape(p);
	} else if (c == CAN || c == SUB) {
		p->string_end = false;
		p->state = PANE_PS_GROUND;
	} else if (p->state == PANE_PS_OSC_STRING && c == BEL) {
		p->state = PANE_PS_GROUND;
		p->string = PANE_PS_OSC_STRING;
		string_finish(p, true);
	} else if (!is_string(p->state) &&
		   !(p->state >= PANE_PS_DCS_ENTRY && p->state <= PANE_PS_DCS_INTERMEDIATE)) {
		p->ops->on_control(p->arg, c);
	}
}

static bool is_utf8_tail(uint8_t c)
{
	return (c & 0xc0) == 0x80;
}

/* How many bytes at @b could still become one character: 0 = none. Rejects as early as the Unicode
 * standard's table 3-7 does, so that each bad stretch becomes one U+FFFD. */
static size_t utf8_prefix(const uint8_t *b, size_t len)
{
	uint8_t lo = 0x80, hi = 0xbf;
	size_t want, n = 1;

	if (b[0] < 0xc2 || b[0] > 0xf4)
		return 0;
	want = b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;
	if (b[0] == 0xe0)
		lo = 0xa0;
	else if (b[0] == 0xed)
		hi = 0x9f;
	else if (b[0] == 0xf0)
		lo = 0x90;
	else if (b[0] == 0xf4)
		hi = 0x8f;
	while (n < want && n < len) {
		if (b[n] < lo || b[n] > hi)
			break;
		lo = 0x80;
		hi = 0xbf;
		n++;
	}
	return n;
}

static void emit(struct pane_parser *p, uint32_t cp)
{
	if (cp >= 0xa0) /* C1 controls written as UTF-8 are dropped: no program needs them */
		p->ops->on_char(p->arg, cp);
}

/* Text beyond ASCII at @b; returns the bytes taken (> 0), keeping a cut-off character. */
static size_t text(struct pane_parser *p, const uint8_t *b, size_t len)
{
	uint32_t cp;
	int n = zw_utf8_decode(b, len, &cp);
	size_t bad;

	if (n > 0) {
		emit(p, cp);
		return (size_t)n;
	}
	bad = utf8_prefix(b, len);
	if (bad == len && len < 4) {
		memcpy(p->utf8, b, len);
		p->utf8_len = (uint8_t)len;
		return len;
	}
	emit(p, 0xfffd);
	return bad > 0 ? bad : 1;
}

/* Goes on with a character that the last read cut off. Returns the bytes taken, maybe 0. */
static size_t text_rest(struct pane_parser *p, const uint8_t *b, size_t len)
{
	size_t taken = 0;

	while (p->utf8_len > 0 && taken < len) {
		uint8_t tmp[4];
		size_t had = p->utf8_len;
		uint32_t cp;
		int n;

		memcpy(tmp, p->utf8, had);
		tmp[had] = b[taken];
		n = zw_utf8_decode(tmp, had + 1, &cp);
		if (n > 0 || !is_utf8_tail(b[taken]) || utf8_prefix(tmp, had + 1) <= had) {
			p->utf8_len = 0;
			emit(p, n > 0 ? cp : 0xfffd);
			return n > 0 ? taken + 1 : taken;
		}
		p->utf8[p->utf8_len++] = b[taken++];
	}
	return taken;
}

/* Whether all of eight bytes are 0x20 to 0x7e. A borrow from a neighbour may say no where it is yes. */
static bool is_text8(const uint8_t *b)
{
	uint64_t v;

	memcpy(&v, b, sizeof(v));
	return ((v | (v - 0x2020202020202020u) | (v + 0x0101010101010101u)) &
		0x8080808080808080u) == 0;
}

static size_t ground(struct pane_parser *p, const uint8_t *b, size_t len)
{
	size_t n = 0;

	while (n + sizeof(uint64_t) <= len && is_text8(b + n))
		n += sizeof(uint64_t);
	while (n < len && b[n] >= 0x20 && b[n] < DEL)
		n++;
	if (n > 0)
		p->ops->on_ascii(p->arg, b, n);
	while (n < len && b[n] >= 0x80)
		n += text(p, b + n, len - n);
	return n;
}

/* Text in the midst of a sequence. That of a DCS is not text: it goes on to its end. */
static void void_sequence(struct pane_parser *p)
{
	bool is_dcs = p->state >= PANE_PS_DCS_ENTRY && p->state <= PANE_PS_DCS_INTERMEDIATE;

	p->string_end = false;
	p->state = is_dcs ? PANE_PS_DCS_IGNORE : PANE_PS_GROUND;
}

size_t pane_parser_feed(struct pane_parser *p, const uint8_t *bytes, size_t len)
{
	size_t i = 0;

	if (p->utf8_len > 0)
		i = text_rest(p, bytes, len);
	while (i < len) {
		uint8_t c = bytes[i];

		if (is_string(p->state)) {
			size_t n = in_string(p, bytes + i, len - i);

			i += n;
			if (n == 0)
				control(p, bytes[i++]);
		} else if (c < 0x20) {
			control(p, c);
			i++;
		} else if (p->state == PANE_PS_GROUND) {
			i += c == DEL ? 1 : ground(p, bytes + i, len - i);
		} else if (c >= 0x80) {
			void_sequence(p);
		} else {
			i++;
			if (c != DEL && in_sequence(p, c))
				return i;
		}
	}
	return i;
}
