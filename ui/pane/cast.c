/* SPDX-License-Identifier: MIT */
#include "ui/pane/cast.h"

#include <errno.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/utf8.h"

#define OUT_HIGH_B  (64u << 10) /* is written at once */
#define PIECE_B	    (8u << 10)	/* of output in one line */
#define LINE_MAX_B  (PIECE_B * 6 + 128)
#define OUT_MAX_B   (OUT_HIGH_B + 4 * LINE_MAX_B)
#define LAST_LINE_B 128 /* kept free for the line that says that the file is full */

static const char replacement[] = "\xef\xbf\xbd";

void pane_cast_init(struct pane_cast *c)
{
	*c = (struct pane_cast){.fd = -1};
	zw_buf_init(&c->out, OUT_MAX_B);
}

static void end(struct pane_cast *c, int error)
{
	c->error = error;
	zw_close(&c->fd);
	zw_buf_consume(&c->out, c->out.len);
}

void pane_cast_flush(struct pane_cast *c)
{
	if (c->fd < 0 || c->out.len == 0)
		return;
	int r = zw_write_all(c->fd, zw_buf_head(&c->out), c->out.len);
	if (r < 0)
		end(c, r);
	else
		zw_buf_consume(&c->out, c->out.len);
}

bool pane_cast_has_ended(struct pane_cast *c)
{
	bool has = c->fd < 0 && c->error != 0 && c->max_b > 0;

	if (has)
		c->max_b = 0;
	return has;
}

/* -- lines of JSON ------------------------------------------------------------------------------ */

/* The inside of a JSON string: at most six bytes for one. */
static char *escape(char *out, const uint8_t *p, size_t len)
{
	static const char digit[] = "0123456789abcdef";
	uint32_t cp;

	for (size_t i = 0; i < len;) {
		if (p[i] >= 0x20 && p[i] < 0x7f) {
			if (p[i] == '"' || p[i] == '\\')
				*out++ = '\\';
			*out++ = (char)p[i++];
			continue;
		}
		if (p[i] < 0x80) {
			memcpy(out, "\\u00", 4);
			out[4] = digit[p[i] >> 4];
			out[5] = digit[p[i++] & 15];
			out += 6;
			continue;
		}
		int n = zw_utf8_decode(p + i, len - i, &cp);
		memcpy(out, n > 0 ? (const char *)p + i : replacement, n > 0 ? (size_t)n : 3);
		out += n > 0 ? n : 3;
		i += n > 0 ? (size_t)n : 1;
	}
	return out;
}

/* Adds a line; the last one when the file has no more room. */
static void line_add(struct pane_cast *c, const char *line, size_t len, int64_t now_us)
{
	char last[LAST_LINE_B];

	if (c->size_b + len + LAST_LINE_B > c->max_b) {
		int n = snprintf(last, sizeof(last),
				 "[%lld.%06lld, \"m\", \"end: the recording is full\"]\n",
				 (long long)(now_us / 1000000), (long long)(now_us % 1000000));

		zw_buf_add(&c->out, last, (size_t)n);
		pane_cast_flush(c);
		if (c->fd >= 0)
			end(c, ZW_E_TOOBIG);
		return;
	}
	zw_buf_add(&c->out, line, len);
	c->size_b += len;
	if (c->out.len >= OUT_HIGH_B)
		pane_cast_flush(c);
}

/* @len at most PIECE_B. */
static void event(struct pane_cast *c, char kind, const void *bytes, size_t len, int64_t now_us)
{
	static char line[LINE_MAX_B];
	int64_t us = now_us > c->start_us ? now_us - c->start_us : 0;

	if (c->fd < 0 || len > PIECE_B)
		return;
	int n = snprintf(line, sizeof(line), "[%lld.%06lld, \"%c\", \"", (long long)(us / 1000000),
			 (long long)(us % 1000000), kind);
	char *p = escape(line + n, bytes, len);
	memcpy(p, "\"]\n", 3);
	line_add(c, line, (size_t)(p + 3 - line), us);
}

/* -- events ------------------------------------------------------------------------------------- */

void pane_cast_begin(struct pane_cast *c, const struct pane_cast_begin *b)
{
	char line[1024];

	zw_close(&c->fd);
	c->fd = b->take_fd;
	c->size_b = b->size_b;
	c->max_b = b->max_b;
	c->start_us = b->start_us;
	if (b->size_b > 0)
		return;
	int n = snprintf(line, sizeof(line),
			 "{\"version\": 2, \"width\": %u, \"height\": %u, \"timestamp\": %lld, "
			 "\"env\": {\"TERM\": \"xterm-256color\"}, \"title\": \"",
			 b->cols, b->rows, (long long)(b->t_us / 1000000));
	size_t len = b->title.len < 128 ? b->title.len : 128;
	char *p = escape(line + n, (const uint8_t *)b->title.p, len);
	memcpy(p, "\"}\n", 3);
	line_add(c, line, (size_t)(p + 3 - line), 0);
	pane_cast_flush(c);
}

void pane_cast_fini(struct pane_cast *c)
{
	if (c->rest_len > 0)
		event(c, 'o', replacement, 3, c->last_us);
	pane_cast_flush(c);
	zw_close(&c->fd);
	zw_buf_fini(&c->out);
}

/* Bytes at the end that may be the begin of a character. */
static size_t open_end(const uint8_t *p, size_t len)
{
	for (size_t n = 1; n <= 3 && n <= len; n++) {
		uint8_t b = p[len - n];

		if (b < 0x80)
			return 0;
		if (b >= 0xc0)
			return (b >= 0xf0 ? 4u : b >= 0xe0 ? 3u : 2u) > n ? n : 0;
	}
	return 0;
}

void pane_cast_output(struct pane_cast *c, const void *bytes, size_t len, int64_t now_us)
{
	uint8_t piece[PIECE_B];
	const uint8_t *p = bytes;

	c->last_us = now_us;
	while (c->fd >= 0 && len > 0) {
		size_t n = PIECE_B - c->rest_len < len ? PIECE_B - c->rest_len : len;
		size_t all = c->rest_len + n;

		memcpy(piece, c->rest, c->rest_len);
		memcpy(piece + c->rest_len, p, n);
		p += n;
		len -= n;
		c->rest_len = open_end(piece, all);
		all -= c->rest_len;
		memcpy(c->rest, piece + all, c->rest_len);
		if (all > 0)
			event(c, 'o', piece, all, now_us);
	}
}

void pane_cast_resize(struct pane_cast *c, unsigned rows, unsigned cols, int64_t now_us)
{
	char size[32];
	int n = snprintf(size, sizeof(size), "%ux%u", cols, rows);

	event(c, 'r', size, (size_t)n, now_us);
}

void pane_cast_mark(struct pane_cast *c, struct zw_span text, int64_t now_us)
{
	event(c, 'm', text.p, text.len, now_us);
}
