/* SPDX-License-Identifier: MIT */
#include "ui/pane/cast_read.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/utf8.h"

#define SURROGATE_FIRST 0xd800u
#define SURROGATE_LOW	0xdc00u
#define SURROGATE_LAST	0xdfffu
#define REPLACEMENT	0xfffdu
#define DEPTH_MAX	16 /* of what stands in a head */

/* -- lines of a file ---------------------------------------------------------------------------- */

void pane_cast_rewind(struct pane_cast_reader *r, int fd)
{
	r->fd = fd;
	r->start = r->len = 0;
	r->n_bad = 0;
	r->is_end = lseek(fd, 0, SEEK_SET) < 0;
}

/* Returns 1, 0 at the end, or -errno. */
static int fill(struct pane_cast_reader *r)
{
	memmove(r->buf, r->buf + r->start, r->len - r->start);
	r->len -= r->start;
	r->start = 0;
	ssize_t n;
	do
		n = read(r->fd, r->buf + r->len, sizeof(r->buf) - r->len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	r->len += (size_t)n;
	r->is_end = n == 0;
	return n > 0 ? 1 : 0;
}

int pane_cast_next(struct pane_cast_reader *r, struct zw_span *ret)
{
	bool is_skipping = false;

	for (;;) {
		const char *from = r->buf + r->start;
		const char *end = memchr(from, '\n', r->len - r->start);

		if (end != NULL) {
			r->start += (size_t)(end - from) + 1;
			if (!is_skipping) {
				*ret = zw_span_n(from, (size_t)(end - from));
				return 1;
			}
			is_skipping = false;
			continue;
		}
		if (r->is_end)
			return 0;
		if (r->len - r->start ==
		    sizeof(r->buf)) { /* too long: up to its end it counts as one */
			r->n_bad += is_skipping ? 0 : 1;
			is_skipping = true;
			r->start = r->len;
		}
		int n = fill(r);
		if (n <= 0)
			return n;
	}
}

/* -- JSON: as much of it as such a line has ----------------------------------------------------- */

struct in {
	const char *p, *end;
};

static void blanks(struct in *in)
{
	while (in->p < in->end && (*in->p == ' ' || *in->p == '\t' || *in->p == '\r'))
		in->p++;
}

static bool take(struct in *in, char c)
{
	blanks(in);
	if (in->p == in->end || *in->p != c)
		return false;
	in->p++;
	return true;
}

static bool digits(struct in *in, uint64_t max, uint64_t *ret)
{
	const char *from = in->p;
	uint64_t n = 0;

	for (; in->p < in->end && *in->p >= '0' && *in->p <= '9'; in->p++) {
		n = n * 10 + (uint64_t)(*in->p - '0');
		if (n > max)
			return false;
	}
	*ret = n;
	return in->p > from;
}

/* Seconds with a fraction. */
static bool seconds(struct in *in, int64_t *ret_us)
{
	uint64_t whole, us = 0;

	blanks(in);
	if (!digits(in, PANE_CAST_TIME_MAX_US / 1000000 - 1, &whole))
		return false;
	if (in->p < in->end && *in->p == '.') {
		uint64_t unit = 100000;

		for (in->p++; in->p < in->end && *in->p >= '0' && *in->p <= '9'; in->p++) {
			us += (uint64_t)(*in->p - '0') * unit;
			unit /= 10;
		}
	}
	*ret_us = (int64_t)(whole * 1000000 + us);
	return true;
}

static bool hex4(struct in *in, uint32_t *ret)
{
	uint32_t n = 0;

	if (in->end - in->p < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		char c = *in->p++;
		uint32_t d = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
			     : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
			     : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
						    : 16;
		if (d == 16)
			return false;
		n = n << 4 | d;
	}
	*ret = n;
	return true;
}

/* Behind "\u"; a pair of halves is one character. */
static bool escaped_char(struct in *in, char *out, size_t *used)
{
	uint32_t cp, low;

	if (!hex4(in, &cp))
		return false;
	if (cp >= SURROGATE_FIRST && cp < SURROGATE_LOW && in->end - in->p >= 6 &&
	    in->p[0] == '\\' && in->p[1] == 'u') {
		struct in after = {in->p + 2, in->end};

		if (!hex4(&after, &low))
			return false;
		if (low >= SURROGATE_LOW && low <= SURROGATE_LAST) {
			cp = 0x10000 + ((cp - SURROGATE_FIRST) << 10) + (low - SURROGATE_LOW);
			*in = after;
		}
	}
	if (cp >= SURROGATE_FIRST && cp <= SURROGATE_LAST)
		cp = REPLACEMENT;
	*used += (size_t)zw_utf8_encode(out + *used, cp);
	return true;
}

#define CHAR_MAX_B 4

/* At most @size bytes; more is an error. What is written is never longer than what is read. */
static bool string(struct in *in, char *out, size_t size, size_t *ret_len)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	size_t used = 0;

	if (!take(in, '"'))
		return false;
	while (in->p < in->end && *in->p != '"') {
		bool is_plain = *in->p != '\\';
		if (used + (is_plain ? 1 : CHAR_MAX_B) > size)
			return false;
		if (is_plain) {
			out[used++] = *in->p++;
			continue;
		}
		if (in->end - in->p < 2)
			return false;
		char c = in->p[1];
		in->p += 2;
		const char *known = c != '\0' ? strchr(from, c) : NULL;
		if (known != NULL)
			out[used++] = to[known - from];
		else if (c != 'u' || !escaped_char(in, out, &used))
			return false;
	}
	*ret_len = used;
	return take(in, '"');
}

/* -- lines --------------------------------------------------------------------------------------- */

/* "COLSxROWS" */
static bool size_of(struct zw_span text, struct pane_cast_line *ret)
{
	struct in in = {text.p, text.p + text.len};
	uint64_t cols, rows;

	if (!digits(&in, 100000, &cols) || in.p == in.end || *in.p++ != 'x' ||
	    !digits(&in, 100000, &rows) || in.p != in.end)
		return false;
	ret->cols = (unsigned)cols;
	ret->rows = (unsigned)rows;
	return true;
}

int pane_cast_line_parse(struct zw_span line, char *text, struct pane_cast_line *ret)
{
	struct pane_cast_line l = {.kind = PANE_CAST_OTHER};
	struct in in = {line.p, line.p + line.len};
	size_t len = 0;

	if (!take(&in, '[') || !seconds(&in, &l.at_us) || !take(&in, ',') ||
	    !string(&in, text, line.len, &len) || len != 1 || !take(&in, ','))
		return ZW_E_SYNTAX;
	char kind = text[0];
	if (!string(&in, text, line.len, &len) || !take(&in, ']'))
		return ZW_E_SYNTAX;
	blanks(&in);
	if (in.p != in.end)
		return ZW_E_SYNTAX;
	l.text = zw_span_n(text, len);
	if (kind == 'o')
		l.kind = PANE_CAST_OUTPUT;
	else if (kind == 'm')
		l.kind = PANE_CAST_MARK;
	else if (kind == 'r' && size_of(l.text, &l))
		l.kind = PANE_CAST_SIZE;
	*ret = l;
	return 0;
}

/* Passes over one value of any kind. */
static bool value_skip(struct in *in)
{
	int depth = 0;

	blanks(in);
	do {
		if (in->p == in->end)
			return false;
		char c = *in->p++;
		if (c == '{' || c == '[')
			depth++;
		else if (c == '}' || c == ']')
			depth--;
		else if (c == '"')
			for (; in->p < in->end && *in->p++ != '"';)
				if (in->p[-1] == '\\' && in->p < in->end)
					in->p++;
		if (depth == 0 && in->p < in->end && (*in->p == ',' || *in->p == '}'))
			return true;
	} while (depth >= 0 && depth <= DEPTH_MAX);
	return false;
}

int pane_cast_head_parse(struct zw_span line, struct pane_cast_head *ret)
{
	struct in in = {line.p, line.p + line.len};
	struct pane_cast_head h = {0};
	uint64_t version = 0;
	char key[64];

	if (!take(&in, '{'))
		return ZW_E_SYNTAX;
	do {
		size_t len;

		if (!string(&in, key, sizeof(key), &len) || !take(&in, ':'))
			return ZW_E_SYNTAX;
		struct zw_span name = zw_span_n(key, len);
		uint64_t n = 0;
		struct in at = in;
		blanks(&at);
		bool is_number = digits(&at, INT64_MAX / 1000000 - 1, &n);
		if (zw_span_eq(name, "version") && is_number)
			version = n;
		else if (zw_span_eq(name, "width") && is_number)
			h.cols = n < 100000 ? (unsigned)n : 100000;
		else if (zw_span_eq(name, "height") && is_number)
			h.rows = n < 100000 ? (unsigned)n : 100000;
		else if (zw_span_eq(name, "timestamp") && is_number)
			h.t_s = (int64_t)n;
		if (!value_skip(&in))
			return ZW_E_SYNTAX;
	} while (take(&in, ','));
	if (!take(&in, '}') || version != 2 || h.rows == 0 || h.cols == 0)
		return ZW_E_SYNTAX;
	*ret = h;
	return 0;
}
