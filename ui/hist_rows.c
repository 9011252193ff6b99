/* SPDX-License-Identifier: MIT
 * Rows of the history view: pages by key, a search in pieces, news of a session that runs. */
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "ui/fmt.h"
#include "ui/hist.h"

/* A piece of a search; keys wait no longer than this and one picture. */
#define PIECE_MS 25
/* How often the store is looked at for news. */
#define NEWS_MS 500
/* A session that runs: up to so many events its time line is drawn anew with each that comes. */
#define LINE_ANEW_MAX 5000

uint64_t hist_session_key(size_t row, void *arg)
{
	return (uint64_t)((const struct view_history *)arg)->sessions.row[row]->id;
}

uint64_t hist_event_key(size_t row, void *arg)
{
	return (uint64_t)((const struct view_history *)arg)->events.row[row]->no;
}

const struct aud_session *hist_session(const struct view_history *v)
{
	size_t i = v->list[HIST_SESSIONS].sel;

	return i < v->sessions.n ? v->sessions.row[i] : NULL;
}

const struct aud_event *hist_event(const struct view_history *v)
{
	size_t i = v->list[HIST_EVENTS].sel;

	return i < v->events.n ? v->events.row[i] : NULL;
}

/* -- what is kept ------------------------------------------------------------------------------ */

static void sessions_clear(struct hist_sessions *s)
{
	for (size_t i = 0; i < s->n_pages; i++)
		aud_session_page_clear(&s->page[i]);
	free(s->page);
	free(s->row);
	*s = (struct hist_sessions){.has_more = true};
}

static void sessions_add(struct hist_sessions *s, struct aud_session_page page)
{
	s->page = zw_xrealloc(s->page, s->n_pages + 1, sizeof(page));
	s->page[s->n_pages++] = page;
	s->row = zw_xrealloc(s->row, s->n + page.n_rows, sizeof(*s->row));
	for (size_t i = 0; i < page.n_rows; i++)
		s->row[s->n++] = &page.rows[i];
	s->is_sorted = false;
}

static void sessions_index(struct hist_sessions *s)
{
	s->n = 0;
	for (size_t p = 0; p < s->n_pages; p++)
		for (size_t i = 0; i < s->page[p].n_rows; i++)
			s->row[s->n++] = &s->page[p].rows[i];
}

/* The oldest that was read, whatever the rows are sorted by; 0 = none was. */
static int64_t sessions_oldest(const struct hist_sessions *s)
{
	const struct aud_session_page *last = s->n_pages > 0 ? &s->page[s->n_pages - 1] : NULL;

	return last != NULL ? last->rows[last->n_rows - 1].id : 0;
}

static void events_clear(struct hist_events *e)
{
	for (size_t i = 0; i < e->n_pages; i++)
		aud_event_page_clear(&e->page[i]);
	free(e->page);
	free(e->row);
	*e = (struct hist_events){.has_older = true};
}

static void events_index(struct hist_events *e)
{
	e->n = 0;
	for (size_t p = 0; p < e->n_pages; p++)
		e->n += e->page[p].n_rows;
	e->row = zw_xrealloc(e->row, e->n + 1, sizeof(*e->row));
	for (size_t p = 0, n = 0; p < e->n_pages; p++)
		for (size_t i = 0; i < e->page[p].n_rows; i++)
			e->row[n++] = &e->page[p].rows[i];
	e->is_sorted = false;
}

/* Number of the event at an end of what was read, whatever the rows are sorted by; 0 = none was. */
static int64_t events_end(const struct hist_events *e, bool is_newest)
{
	const struct aud_event_page *p = e->n_pages == 0 ? NULL
					 : is_newest	 ? &e->page[0]
							 : &e->page[e->n_pages - 1];

	return p == NULL ? 0 : p->rows[is_newest ? 0 : p->n_rows - 1].no;
}

void hist_sort(struct view_history *v)
{
	bool of_sessions = v->level == HIST_SESSIONS;
	bool *is_sorted = of_sessions ? &v->sessions.is_sorted : &v->events.is_sorted;

	if (v->level == HIST_TEXT || *is_sorted)
		return;
	if (of_sessions)
		sessions_index(&v->sessions);
	else
		events_index(&v->events);
	*is_sorted = true;
	if (of_sessions)
		hist_sort_rows(v, v->level, (const void **)v->sessions.row, v->sessions.n);
	else
		hist_sort_rows(v, v->level, (const void **)v->events.row, v->events.n);
}

static void events_drop(struct hist_events *e, size_t at)
{
	aud_event_page_clear(&e->page[at]);
	memmove(e->page + at, e->page + at + 1, (--e->n_pages - at) * sizeof(*e->page));
}

/* Adds a page at one end; what is too much goes at the other. Takes @page, newest row first. */
static void events_add(struct hist_events *e, struct aud_event_page page, bool is_newer)
{
	e->page = zw_xrealloc(e->page, e->n_pages + 1, sizeof(page));
	if (is_newer)
		memmove(e->page + 1, e->page, e->n_pages * sizeof(page));
	e->page[is_newer ? 0 : e->n_pages] = page;
	e->n_pages++;
	for (size_t n = e->n + page.n_rows; n > HIST_EVENTS_MAX && e->n_pages > 2;) {
		size_t at = is_newer ? e->n_pages - 1 : 0;

		n -= e->page[at].n_rows;
		events_drop(e, at);
		*(is_newer ? &e->has_older : &e->has_newer) = true;
	}
	events_index(e);
}

static void reverse(struct aud_event_page *page)
{
	for (size_t i = 0; i < page->n_rows / 2; i++) {
		struct aud_event keep = page->rows[i];

		page->rows[i] = page->rows[page->n_rows - 1 - i];
		page->rows[page->n_rows - 1 - i] = keep;
	}
}

void hist_rows_fini(struct view_history *v)
{
	hist_line_stop(v);
	aud_scan_free(zw_steal(&v->scan));
	aud_filter_free(zw_steal(&v->counted));
	sessions_clear(&v->sessions);
	events_clear(&v->events);
	aud_session_page_clear(&v->now);
}

/* -- a search in pieces ------------------------------------------------------------------------ */

static void scan_said(struct view_history *v, bool is_over, int64_t n)
{
	char looked[UI_FMT_MAX], all[UI_FMT_MAX];
	int64_t total = v->now.n_rows > 0 && v->level != HIST_SESSIONS ? v->now.rows[0].n_events
								       : v->totals.n_events;

	v->is_bad = false;
	if (is_over) {
		snprintf(v->said, sizeof(v->said), "ok  %lld match  %lld ms", (long long)n,
			 (long long)v->scan_ms);
		return;
	}
	ui_fmt_count(looked, (uint64_t)aud_scan_n_looked(v->scan));
	ui_fmt_count(all, (uint64_t)total);
	if (zw_mono_ms() - v->scan_from_ms > 300)
		snprintf(v->said, sizeof(v->said), "%lld match, %s of %s  %lld s  Esc stops",
			 (long long)n, looked, all,
			 (long long)((zw_mono_ms() - v->scan_from_ms) / 1000));
	else
		snprintf(v->said, sizeof(v->said), "ok  %lld+ match", (long long)n);
}

static void scan_begin(struct view_history *v, const struct aud_filter *f, int64_t session,
		       int64_t from)
{
	aud_scan_free(v->scan);
	v->scan = aud_scan_new(v->query, f, session, from);
	v->is_count = false;
	v->scan_ms = 0;
	v->scan_from_ms = zw_mono_ms();
	v->wanted = HIST_PAGE_N;
}

static void scan_end(struct view_history *v)
{
	aud_scan_free(zw_steal(&v->scan));
	aud_filter_free(zw_steal(&v->counted));
	v->is_count = false;
}

bool hist_stop(struct view_history *v)
{
	if (v->scan == NULL || v->is_count ||
	    (v->level == HIST_SESSIONS ? v->sessions.n : v->events.n) >= v->wanted)
		return false;
	scan_end(v);
	zw_strlcpy(v->said, "stopped; / Enter searches again", sizeof(v->said));
	return true;
}

void hist_count(struct view_history *v, struct aud_filter *f)
{
	if (v->is_count)
		scan_end(v);
	if (f == NULL)
		return;
	scan_begin(v, f, v->level == HIST_EVENTS && v->now.n_rows > 0 ? v->now.rows[0].id : 0, 0);
	v->is_count = true;
	v->counted = f;
	v->n_counted = 0;
}

/* The session of a match becomes a row. Returns as aud_scan_next(). */
static int scan_session(struct view_history *v)
{
	struct aud_event_page hit = {0};
	struct aud_session_page page = {0};
	int r = aud_scan_next(v->scan, PIECE_MS, 1, &hit);

	if (hit.n_rows > 0) {
		int64_t id = hit.rows[0].session;

		aud_scan_skip_session(v->scan, id);
		if (aud_session_get(v->query, id, &page) == 0)
			sessions_add(&v->sessions, page);
		r = 1;
	}
	aud_event_page_clear(&hit);
	return r;
}

static int scan_events(struct view_history *v)
{
	struct aud_event_page page = {0};
	int r = aud_scan_next(v->scan, PIECE_MS, HIST_PAGE_N, &page);

	if (page.n_rows > 0)
		events_add(&v->events, page, false);
	else
		aud_event_page_clear(&page);
	return r;
}

static bool is_scanning(const struct view_history *v)
{
	if (v->scan == NULL)
		return false;
	return v->is_count || (v->level == HIST_SESSIONS ? v->sessions.n : v->events.n) < v->wanted;
}

static void scan_piece(struct view_history *v)
{
	int64_t from_ms = zw_mono_ms(), end_ms = from_ms + PIECE_MS;
	bool of_sessions = v->level == HIST_SESSIONS;
	int r = 1;

	while (r > 0 && is_scanning(v) && zw_mono_ms() < end_ms)
		r = v->is_count	  ? aud_scan_count(v->scan, PIECE_MS, &v->n_counted)
		    : of_sessions ? scan_session(v)
				  : scan_events(v);
	v->scan_ms += zw_mono_ms() - from_ms;
	if (v->typing == HIST_NOT_TYPING || v->is_count)
		scan_said(v, r <= 0,
			  v->is_count	? v->n_counted
			  : of_sessions ? (int64_t)v->sessions.n
					: (int64_t)v->events.n);
	v->error = r < 0 ? r : v->error;
	if (r > 0)
		return;
	*(of_sessions ? &v->sessions.has_more : &v->events.has_older) = v->is_count;
	scan_end(v);
}

/* -- loading ----------------------------------------------------------------------------------- */

static void more_sessions(struct view_history *v)
{
	struct hist_sessions *s = &v->sessions;
	int64_t before = sessions_oldest(s);
	struct aud_session_page page = {0};

	if (v->scan != NULL) {
		v->wanted = s->n + HIST_PAGE_N;
		return;
	}
	if (!s->has_more)
		return;
	int r = v->filter != NULL
			? aud_sessions_find(v->query, v->filter, before, HIST_PAGE_N, &page)
			: aud_sessions(v->query, before, HIST_PAGE_N, &page);
	s->has_more = r >= 0 && page.has_more;
	v->error = r < 0 ? r : v->error;
	if (r >= 0 && page.n_rows > 0)
		sessions_add(s, page);
	else
		aud_session_page_clear(&page);
}

void hist_load_sessions(struct view_history *v)
{
	sessions_clear(&v->sessions);
	scan_end(v);
	(void)aud_totals(v->query, &v->totals);
	v->version = aud_query_version(v->query);
	v->looked_ms = zw_mono_ms();
	if (v->filter == NULL || aud_filter_is_of_sessions(v->filter)) {
		more_sessions(v);
		if (v->filter != NULL)
			snprintf(v->said, sizeof(v->said), "ok  %zu%s match", v->sessions.n,
				 v->sessions.has_more ? "+" : "");
		return;
	}
	v->sessions.has_more = false; /* what there is comes from the search */
	scan_begin(v, v->filter, 0, 0);
	scan_piece(v);
}

static int64_t session_now(const struct view_history *v)
{
	return v->now.n_rows > 0 ? v->now.rows[0].id : 0;
}

/* Reads a page beyond one end, without a filter. */
static void more_events(struct view_history *v, bool is_newer)
{
	struct hist_events *e = &v->events;
	int64_t from = events_end(e, is_newer);
	struct aud_event_page page = {0};
	int r = aud_events(v->query, session_now(v), is_newer ? AUD_FORWARD : AUD_BACKWARD, from,
			   HIST_PAGE_N, &page);

	*(is_newer ? &e->has_newer : &e->has_older) = r >= 0 && page.has_more;
	v->error = r < 0 ? r : v->error;
	if (r < 0 || page.n_rows == 0) {
		aud_event_page_clear(&page);
		return;
	}
	if (is_newer)
		reverse(&page);
	events_add(e, page, is_newer);
}

void hist_load_events(struct view_history *v, int64_t session, bool from_oldest)
{
	events_clear(&v->events);
	scan_end(v);
	aud_session_page_clear(&v->now);
	v->error = aud_session_get(v->query, session, &v->now);
	v->version = aud_query_version(v->query);
	v->looked_ms = zw_mono_ms();
	hist_line_start(v);
	if (v->error < 0)
		return;
	if (v->filter == NULL) {
		more_events(v, from_oldest);
		if (from_oldest) {
			v->events.has_newer = v->events.n == HIST_PAGE_N;
			v->events.has_older = false;
		}
		return;
	}
	scan_begin(v, v->filter, session, 0);
	v->wanted = from_oldest ? HIST_EVENTS_MAX : HIST_PAGE_N;
	scan_piece(v);
}

/* To be sorted all has to be read, up to a limit; more sessions at once, more events in pieces. */
static void load_all(struct view_history *v)
{
	size_t max = v->level == HIST_SESSIONS ? HIST_SORT_MAX : HIST_EVENTS_MAX;

	if (v->scan != NULL) {
		v->wanted = max;
		return;
	}
	while (v->level == HIST_SESSIONS && v->sessions.has_more && v->sessions.n < max &&
	       v->error >= 0)
		more_sessions(v);
}

/* Whether events are still to be read to be sorted. */
static bool is_filling(const struct view_history *v)
{
	return v->level == HIST_EVENTS && v->sort[HIST_EVENTS].col >= 0 && v->scan == NULL &&
	       v->filter == NULL && v->error >= 0 && v->events.n + HIST_PAGE_N <= HIST_EVENTS_MAX &&
	       (v->events.has_older || v->events.has_newer);
}

static void fill_piece(struct view_history *v)
{
	int64_t end_ms = zw_mono_ms() + PIECE_MS;

	while (is_filling(v) && zw_mono_ms() < end_ms)
		more_events(v, !v->events.has_older);
	if (is_filling(v))
		snprintf(v->said, sizeof(v->said), "%zu of %lld rows read to be sorted",
			 v->events.n, (long long)v->now.rows[0].n_events);
	else if (v->events.has_older)
		snprintf(v->said, sizeof(v->said), "sorted: the newest %zu of %lld", v->events.n,
			 (long long)v->now.rows[0].n_events);
}

void hist_load_near(struct view_history *v)
{
	struct ui_list *l = &v->list[v->level == HIST_SESSIONS ? HIST_SESSIONS : HIST_EVENTS];
	struct hist_events *e = &v->events;

	if (v->level != HIST_TEXT && v->sort[v->level].col >= 0) {
		load_all(v);
		return;
	}
	if (v->level == HIST_SESSIONS && l->sel + l->height + 1 >= v->sessions.n)
		more_sessions(v);
	if (v->level != HIST_EVENTS)
		return;
	if (v->filter != NULL) {
		if (l->sel + l->height + 1 >= e->n && e->n < HIST_EVENTS_MAX)
			v->wanted = e->n + HIST_PAGE_N;
		return;
	}
	if (e->has_older && l->sel + l->height + 1 >= e->n)
		more_events(v, false);
	else if (e->has_newer && l->sel <= l->height)
		more_events(v, true);
}

/* -- news -------------------------------------------------------------------------------------- */

/* At the top of a list the newest rows come by themselves. */
static bool is_following(const struct view_history *v)
{
	if (v->query == NULL || v->error < 0 || v->scan != NULL || v->typing != HIST_NOT_TYPING ||
	    v->filter != NULL || v->level == HIST_TEXT || v->sort[v->level].col >= 0)
		return false;
	if (v->list[v->level].top > 0 || v->list[v->level].sel > 0)
		return false;
	return v->level == HIST_SESSIONS || !v->events.has_newer;
}

static void news(struct view_history *v)
{
	int64_t version = aud_query_version(v->query);

	v->looked_ms = zw_mono_ms();
	if (version == v->version)
		return;
	v->version = version;
	if (v->level == HIST_SESSIONS) {
		hist_load_sessions(v);
		return;
	}
	int64_t session = session_now(v);
	struct aud_event_page page = {0};
	int64_t from = events_end(&v->events, true);
	int r = aud_events(v->query, session, AUD_FORWARD, from, HIST_PAGE_N, &page);
	aud_session_page_clear(&v->now);
	if (r >= 0)
		r = aud_session_get(v->query, session, &v->now);
	if (r < 0)
		v->error = r;
	bool is_far = page.has_more;
	if (r >= 0 && page.n_rows > 0 && !is_far) {
		reverse(&page);
		events_add(&v->events, page, true);
		if (v->now.rows[0].n_events <= LINE_ANEW_MAX)
			hist_line_start(v);
		return;
	}
	aud_event_page_clear(&page);
	if (is_far) /* more than a page since: the newest page counts */
		hist_load_events(v, session, false);
}

void hist_work(struct view_history *v)
{
	if (v->child.pid > 0)
		hist_run_read(v);
	if (is_scanning(v))
		scan_piece(v);
	else if (is_filling(v))
		fill_piece(v);
	else if (hist_line_is_filling(v))
		hist_line_piece(v);
	else if (is_following(v) && zw_mono_ms() - v->looked_ms >= NEWS_MS)
		news(v);
}

int64_t hist_due_ms(const struct view_history *v, int64_t now_ms)
{
	if (is_scanning(v) || is_filling(v) || hist_line_is_filling(v))
		return 0;
	if (v->child.pid > 0)
		return 50;
	if (!is_following(v))
		return -1;
	int64_t left_ms = v->looked_ms + NEWS_MS - now_ms;
	return left_ms > 1 ? left_ms : 1;
}
