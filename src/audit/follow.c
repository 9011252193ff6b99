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
#define GROWN_MS       5000 /* a storm of refusals is told again at most this often */
#define OPEN	       0
#define PAGE_N	       500
#define CURSOR_MAX_B   65536
#define CURSOR_HEADER  "zwatch-cursor 1"
#define NO_OF(id)      ((id)&INT64_C(0xffffffff))
#define SESSION_OF(id) ((id) >> 32)

/* A row that may change after it was told. */
struct told {
	int64_t id;
	int64_t count; /* as told; OPEN = a connection that is told again when it has closed */
};

struct place {
	int64_t last; /* AUD_EVENT_ID() of the newest told */
	struct told told[AUD_FOLLOW_OPEN_MAX];
	size_t n_told;
	int64_t grown_ms, grown_version; /* when refusals were last looked at for more tries */
};

/* -- the place, kept in a file ----------------------------------------------------------------- */

/* "zwatch-cursor 1 LAST ID ID:COUNT...". Returns 1 read, 0 there is none, or an error. */
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
	for (at = end; ret->n_told < AUD_FOLLOW_OPEN_MAX; at = end) {
		struct told t = {.id = strtoll(at, &end, 10), .count = OPEN};

		if (end == at)
			break;
		if (*end == ':')
			t.count = strtoll(end + 1, &end, 10);
		ret->told[ret->n_told++] = t;
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
	for (size_t i = 0; i < p->n_told && r == 0; i++) {
		const struct told *t = &p->told[i];

		r = zw_buf_addf(&text, t->count == OPEN ? " %lld" : " %lld:%lld", (long long)t->id,
				(long long)t->count);
	}
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

static bool may_change(const struct aud_event *e)
{
	return e->row == AUD_ROW_CONN || e->row == AUD_ROW_SOCKET;
}

static bool is_open(const struct aud_event *e)
{
	return e->closed_us == AUD_UNKNOWN && zw_span_eq(e->did, "allow");
}

static void told_remove(struct place *p, size_t i)
{
	memmove(&p->told[i], &p->told[i + 1], (--p->n_told - i) * sizeof(p->told[0]));
}

/* Full: the oldest refusal makes room, as most storms are over soon. */
static void told_add(struct place *p, const struct aud_event *e)
{
	struct told t = {AUD_EVENT_ID(e->session, e->no), is_open(e) ? OPEN : e->count};

	if (!may_change(e) ||
	    (!is_open(e) && e->closed_us != AUD_UNKNOWN && zw_span_eq(e->did, "allow")))
		return;
	for (size_t i = 0; p->n_told == AUD_FOLLOW_OPEN_MAX && i < p->n_told; i++)
		if (p->told[i].count != OPEN)
			told_remove(p, i);
	if (p->n_told < AUD_FOLLOW_OPEN_MAX)
		p->told[p->n_told++] = t;
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
			told_add(p, e);
			n++;
		}
	} while (r == 0 && page.has_more);
	aud_event_page_clear(&page);
	return r < 0 ? r : n;
}

/* One row that was told. Returns whether it was told again, or an error; *@ret_keep whether it may
 * change once more. */
static int tell_again(struct aud_query *q, struct told *t, struct aud_sink *sink, bool *ret_keep)
{
	struct aud_event_page page = {0};
	int r = aud_event_get(q, SESSION_OF(t->id), NO_OF(t->id), &page);

	*ret_keep = r != ZW_E_NOT_FOUND;
	if (r == ZW_E_NOT_FOUND)
		return 0;
	if (r == 0) {
		const struct aud_event *e = &page.rows[0];
		bool is_same = t->count == OPEN ? is_open(e) : e->count == t->count;

		if (!is_same)
			r = aud_sink_event(sink, e);
		if (r == 0) {
			*ret_keep = is_same || t->count != OPEN;
			t->count = t->count == OPEN ? OPEN : e->count;
			r = !is_same;
		}
	}
	aud_event_page_clear(&page);
	return r;
}

/* What was open and has closed and, if @with_grown, refusals that have become more. */
static int64_t tell_changed(struct aud_query *q, struct place *p, bool with_grown,
			    struct aud_sink *sink)
{
	size_t n_kept = 0;
	int64_t n = 0;
	int r = 0;

	for (size_t i = 0; i < p->n_told; i++) {
		struct told t = p->told[i];
		bool keep = true;

		if (r >= 0 && (t.count == OPEN || with_grown)) {
			r = tell_again(q, &t, sink, &keep);
			n += r > 0;
		}
		if (keep)
			p->told[n_kept++] = t;
	}
	p->n_told = n_kept;
	return r < 0 ? r : n;
}

/* One look at the store. Returns how many were told, or an error. */
static int64_t look(struct aud_query *q, const struct aud_follow *what, bool with_grown,
		    struct place *p, struct aud_sink *sink)
{
	int64_t n = tell_changed(q, p, with_grown, sink);
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

static bool is_grown_due(const struct place *p, int64_t version)
{
	return p->grown_version != version && zw_mono_ms() - p->grown_ms >= GROWN_MS;
}

/* Looks if there is something to see. Returns how many were told, ZW_E_BUSY: to be tried again, or
 * an error. */
static int64_t look_if_new(struct aud_query *q, const struct aud_follow *what, bool is_last,
			   int64_t *version, struct place *p, struct aud_sink *sink)
{
	int64_t now = aud_query_version(q);
	bool with_grown = is_last || is_grown_due(p, now);

	if (now == *version && now >= 0 && !with_grown)
		return 0;
	int64_t n = look(q, what, with_grown, p, sink);
	*version = n < 0 ? -1 : now;
	if (with_grown && n >= 0) {
		p->grown_ms = zw_mono_ms();
		p->grown_version = now;
	}
	return n;
}

int64_t aud_follow(struct aud_query *q, const struct aud_follow *what, const struct aud_print *p)
{
	struct place place = {.grown_ms = zw_mono_ms(), .grown_version = -1};
	struct aud_sink *sink = NULL;
	int64_t n = 0, version = -1;
	int r = begin(q, what, &place);

	if (r == 0)
		r = aud_sink_new(p, &sink);
	while (r == 0) {
		/* asked first: rows may come behind it */
		bool is_last = what->is_once || is_over(q, what->session);
		int64_t more = look_if_new(q, what, is_last, &version, &place, sink);

		n += more > 0 ? more : 0;
		r = more < 0 && more != ZW_E_BUSY ? (int)more : 0;
		if (r == 0 && is_last && more != ZW_E_BUSY)
			break;
		if (r == 0 && is_taker_gone(p->fd))
			r = -EPIPE;
	}
	int64_t closed = sink != NULL ? aud_sink_close(sink, r) : r;
	return closed < 0 ? closed : n;
}
