/* SPDX-License-Identifier: MIT */
#include "ui/pane/pass.h"

#include <stdbool.h>
#include <string.h>

#define ESC 0x1b

enum state {
	TEXT,
	AFTER_C2, /* U+0080 to U+00BF begin so: half of them are controls */
	AFTER_ESC,
	CHARSET, /* ESC ( or ) */
	OTHER,	 /* ESC and an intermediate that is of no use here */
	CSI,
	STRING, /* OSC, DCS, SOS, PM, APC: thrown away */
	STRING_ESC,
};

static void hold(struct pane_pass *p, uint8_t b)
{
	/* Longer than anything that passes: its end throws it away. */
	if (p->n < sizeof(p->seq))
		p->seq[p->n] = b;
	p->n++;
}

static void release(struct pane_pass *p, struct zw_buf *out)
{
	if (p->n <= sizeof(p->seq))
		zw_buf_add(out, p->seq, p->n);
	p->n = 0;
	p->state = TEXT;
}

static void drop(struct pane_pass *p)
{
	p->n = 0;
	p->state = TEXT;
}

static void text(struct pane_pass *p, uint8_t b, struct zw_buf *out)
{
	bool is_follower = (b & 0xc0) == 0x80;

	if (b == ESC) {
		hold(p, b);
		p->state = AFTER_ESC;
	} else if (b == 0xc2) {
		hold(p, b);
		p->state = AFTER_C2;
	} else if (b < 0x20
			   ? strchr("\a\b\t\n\v\f\r", b) != NULL && b != 0
			   : (b < 0x7f || (is_follower ? p->n_follow > 0 : b > 0xc2 && b < 0xf5))) {
		zw_buf_add(out, &b, 1);
	}
	p->n_follow = is_follower ? p->n_follow - (p->n_follow > 0)
		      : b >= 0xf0 ? 3
		      : b >= 0xe0 ? 2
		      : b > 0xc2  ? 1
				  : 0;
}

static void after_esc(struct pane_pass *p, uint8_t b, struct zw_buf *out)
{
	hold(p, b);
	if (b == '[')
		p->state = CSI;
	else if (b < 0x80 && b != 0 && strchr("]PX^_", b) != NULL)
		p->state = STRING;
	else if (b == '(' || b == ')')
		p->state = CHARSET;
	else if (b >= 0x20 && b < 0x30)
		p->state = OTHER;
	else if (b < 0x80 && b != 0 && strchr("78MDE=>", b) != NULL)
		release(p, out);
	else
		drop(p);
}

/* Whether a sequence with this end does something to the screen and nothing else. */
static bool passes(const struct pane_pass *p, uint8_t end)
{
	const uint8_t *args = p->seq + 2;
	size_t n = p->n < sizeof(p->seq) ? p->n - 2 : 0;
	bool has_mark = n > 0 && args[0] >= '<' && args[0] <= '?';

	if (end == 'q') /* form of the cursor; >q asks for the terminal's name */
		return n > 0 && args[n - 1] == ' ' && !has_mark;
	for (size_t i = 0; i < n; i++)
		if (args[i] < '0' && args[i] >= ' ')
			return false; /* an intermediate: $p asks for a mode */
	if (end == 'h' || end == 'l')
		return !has_mark || args[0] == '?';
	if (end == 'm')
		return !has_mark || args[0] == '>';
	return !has_mark && strchr("@ABCDEFGHIJKLMPSTXZ`abdefrsu", end) != NULL;
}

static void csi(struct pane_pass *p, uint8_t b, struct zw_buf *out)
{
	if (b < 0x20 || b > 0x7e) {
		drop(p);
		text(p, b, out);
		return;
	}
	hold(p, b);
	if (b < 0x40)
		return;
	p->n--;
	bool is_good = passes(p, b);
	p->n++;
	if (is_good)
		release(p, out);
	else
		drop(p);
}

static void one(struct pane_pass *p, uint8_t b, struct zw_buf *out)
{
	switch ((enum state)p->state) {
	case AFTER_C2:
		hold(p, b);
		if (b >= 0xa0 && b < 0xc0)
			release(p, out);
		else
			drop(p);
		break;
	case AFTER_ESC:
		after_esc(p, b, out);
		break;
	case CHARSET:
		hold(p, b);
		if (b == 'B' || b == '0')
			release(p, out);
		else
			drop(p);
		break;
	case OTHER:
		if (b >= 0x30 || b < 0x20)
			drop(p);
		break;
	case CSI:
		csi(p, b, out);
		break;
	case STRING:
		if (b == ESC)
			p->state = STRING_ESC;
		else if (b == '\a' || b == 0x18 || b == 0x1a)
			drop(p);
		break;
	case STRING_ESC:
		if (b == '\\') {
			drop(p);
		} else {
			p->n = 0;
			hold(p, ESC);
			after_esc(p, b, out);
		}
		break;
	case TEXT:
	default:
		text(p, b, out);
	}
}

void pane_pass_feed(struct pane_pass *p, const uint8_t *bytes, size_t len, struct zw_buf *out)
{
	for (size_t i = 0; i < len; i++)
		one(p, bytes[i], out);
}
