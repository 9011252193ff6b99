/* SPDX-License-Identifier: MIT */
#include "src/audit/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"

#define POLL_MS	       200
#define PAGE_N	       500
#define CURSOR_MAX_B   65536
#define CURSOR_HEADER  "zwatch-cursor 1"
#define NO_OF(id)      ((id)&INT64_C(0xffffffff))
#define SESSION_OF(id) ((id) >> 32)

struct place {
	int64_t last; /* AUD_EVENT_ID() of the newest told */
	int64_t open[AUD_FOLLOW_OPEN_MAX];
	size_t n_open;
};

/* -- the place, kept in a file ----------------------------------------------------------------- */

/* "zwatch-cursor 1 LAST OPEN...". Returns 1 read, 0 there is none, or an error. */
static int place_read(const char *path, struct place *ret)
{
	zw_autofree char *text = NULL;
	size_t len = 0;
	int r = zw_read_file(path, CURSOR_MAX_B, &text, &len);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	char *at = text, *end = NULL;
	if (strncmp(text, CURSOR_HEADER " ", sizeof(CURSOR_HEADER)) != 0)
		return ZW_E_SYNTAX;
	at += sizeof(CURSOR_HEADER);
	ret->last = strtoll(at, &end, 10);
	if (end == at || ret->last < 0)
		return ZW_E_SYNTAX;
	for (at = end; ret->n_open < AUD_FOLLOW_OPEN_MAX; at = end) {
		int64_t id = strtoll(at, &end, 10);

		if (end == at)
			break;
		ret->open[ret->n_open++] = id;
	}
	return 1;
}

/* Whole or not at all: another file, then its name. */
static int place_write(const char *path, const struct place *p)
{
	zw_autofree char *next = zw_xasprintf("%s.new", path);
	struct zw_buf text;

	zw_buf_init(&text, CURSOR_MAX_B);
	int r = zw_buf_addf(&text, CURSOR_HEADER " %lld", (long long)p->last);
	for (size_t i = 0; i < p->n_open && r == 0; i++)
		r = zw_buf_addf(&text, " %lld", (long long)p->open[i]);
	if (r == 0)
		r = zw_buf_add(&text, "\n", 1);
	zw_autoclose int fd = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (r == 0)
		r = fd < 0 ? -errno : zw_write_all(fd, zw_buf_head(&text), text.len);
	if (r == 0 && rename(next, path) < 0)
		r = -errno;
	zw_buf_fini(&text);
	return r;
}

/* -- telling ----------------------------------------------------------------------------------- */

static bool stays_open(const struct aud_event *e)
{
	return (e->row == AUD_ROW_CONN || e->row == AUD_ROW_SOCKET) &&
	       e->closed_us == AUD_UNKNOWN && zw_span_eq(e->did, "allow");
}

/* What is new. Returns how many, or an error. */
static int64_t tell_new(struct aud_query *q, const struct aud_follow *what, struct place *p,
			struct aud_sink *sink)
{
	struct aud_event_page page = {0};
	int64_t n = 0;
	int r = 0;

	do {
		r = aud_find(q, what->filter, what->session, AUD_FORWARD, p->last, PAGE_N, &page);
		for (size_t i = 0; r == 0 && i < page.n_rows; i++) {
			const struct aud_event *e = &page.rows[i];

			r = aud_sink_event(sink, e);
			p->last = AUD_EVENT_ID(e->session, e->no);
			if (stays_open(e) && p->n_open < AUD_FOLLOW_OPEN_MAX)
				p->open[p->n_open++] = p->last;
			n++;
		}
	} while (r == 0 && page.has_more);
	aud_event_page_clear(&page);
	return r < 0 ? r : n;
}

/* What was open and has closed; what is no longer there is forgotten. */
static int64_t tell_closed(struct aud_query *q, struct place *p, struct aud_sink *sink)
{
	struct aud_event_page page = {0};
	size_t n_kept = 0;
	int64_t n = 0;
	int r = 0;

	for (size_t i = 0; i < p->n_open; i++) {
		if (r < 0) {
			p->open[n_kept++] = p->open[i];
			continue;
		}
		int found = aud_event_get(q, SESSION_OF(p->open[i]), NO_OF(p->open[i]), &page);
		if (found == ZW_E_NOT_FOUND)
			continue;
		if (found < 0) {
			r = found;
			p->open[n_kept++] = p->open[i];
		} else if (stays_open(&page.rows[0])) {
			p->open[n_kept++] = p->open[i];
		} else {
			r = aud_sink_event(sink, &page.rows[0]);
			n++;
		}
	}
	p->n_open = n_kept;
	aud_event_page_clear(&page);
	return r < 0 ? r : n;
}

/* One look at the store. Returns how many were told, or an error. */
static int64_t look(struct aud_query *q, const struct aud_follow *what, struct place *p,
		    struct aud_sink *sink)
{
	int64_t n = tell_closed(q, p, sink);
	int64_t more = n < 0 ? n : tell_new(q, what, p, sink);
	int r = more < 0 ? (int)more : aud_sink_flush(sink);

	/* The place moves only behind what the taker has. */
	if (r == 0 && what->cursor != NULL && n + more > 0)
		r = place_write(what->cursor, p);
	return r < 0 ? r : n + more;
}

static bool is_over(struct aud_query *q, int64_t session)
{
	struct aud_session_page page = {0};
	bool over = session > 0 && aud_session_get(q, session, &page) == 0 &&
		    page.rows[0].ended_us != AUD_UNKNOWN;

	aud_session_page_clear(&page);
	return over;
}

/* The newest event of all, to begin behind it. */
static int newest(struct aud_query *q, const struct aud_follow *what, int64_t *ret)
{
	struct aud_event_page page = {0};
	int r = aud_find(q, what->filter, what->session, AUD_BACKWARD, 0, 1, &page);

	*ret = r == 0 && page.n_rows > 0 ? AUD_EVENT_ID(page.rows[0].session, page.rows[0].no) : 0;
	aud_event_page_clear(&page);
	return r;
}

/* Whether the taker of a pipe or socket is gone, without writing to it. */
static bool is_taker_gone(int fd)
{
	struct pollfd p = {.fd = fd};

	return poll(&p, 1, POLL_MS) > 0 && (p.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

static int begin(struct aud_query *q, const struct aud_follow *what, struct place *p)
{
	int r = what->cursor != NULL ? place_read(what->cursor, p) : 0;

	if (r == 0 && what->from_now)
		r = newest(q, what, &p->last);
	return r < 0 ? r : 0;
}

int64_t aud_follow(struct aud_query *q, const struct aud_follow *what, const struct aud_print *p)
{
	struct place place = {0};
	struct aud_sink *sink = NULL;
	int64_t n = 0, version = -1;
	int r = begin(q, what, &place);

	if (r == 0)
		r = aud_sink_new(p, &sink);
	while (r == 0) {
		bool was_over =
			is_over(q, what->session); /* asked first: rows may come behind it */
		int64_t now = aud_query_version(q);

		if (now != version || version < 0) {
			int64_t more = look(q, what, &place, sink);

			version = now;
			r = more == ZW_E_BUSY ? 0 : more < 0 ? (int)more : 0;
			n += more > 0 ? more : 0;
		}
		if (r == 0 && (was_over || what->is_once))
			break;
		if (r == 0 && is_taker_gone(p->fd))
			r = -EPIPE;
	}
	int64_t closed = sink != NULL ? aud_sink_close(sink, r) : r;
	return closed < 0 ? closed : n;
}
