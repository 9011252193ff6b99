/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/audit/query.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"
#include "src/base/words.h"
#include "ui/core.h"
#include "ui/fmt.h"

#define PAGE_N	    200
#define PAGES_MAX   5000
#define DETAIL_ROWS 5
#define LINES_MAX   256
/* A filter that finds too little is given up rather than holding up the screen. */
#define FIND_MS 400

enum level { SESSIONS, EVENTS, EVENT, LEVEL_MAX };

struct view_history {
	struct view view;
	struct aud_query *query; /* owned; NULL: it could not be opened */
	int error;
	enum level level, bottom; /* bottom: Esc leaves the view there */
	struct ui_list list[2];	  /* SESSIONS, EVENTS */

	struct aud_session_page *spages; /* owned, newest first, as far as scrolled */
	size_t n_spages, n_sessions;
	bool has_more_sessions;
	struct aud_session_page now; /* the session whose events are shown */
	struct aud_event_page *epages;
	size_t n_epages, n_events;
	bool has_more_events;
	struct aud_totals totals;

	struct aud_filter *filter; /* owned; NULL = all */
	char typed[AUD_FILTER_LEN_MAX + 1];
	size_t typed_len;
	bool is_typing;
	char said[200]; /* of what is typed, or of the search */
	int64_t until_ms;

	int scroll, n_lines;   /* of one event's text */
	char *line[LINES_MAX]; /* owned */
};

/* -- pages ------------------------------------------------------------------------------------- */

/* All pages but the last hold PAGE_N rows. */
static const struct aud_session *session_at(const struct view_history *v, size_t i)
{
	return &v->spages[i / PAGE_N].rows[i % PAGE_N];
}

static const struct aud_event *event_at(const struct view_history *v, size_t i)
{
	return &v->epages[i / PAGE_N].rows[i % PAGE_N];
}

static uint64_t session_key(size_t row, void *arg)
{
	return (uint64_t)session_at(arg, row)->id;
}

static uint64_t event_key(size_t row, void *arg)
{
	return (uint64_t)event_at(arg, row)->no;
}

static void sessions_clear(struct view_history *v)
{
	for (size_t i = 0; i < v->n_spages; i++)
		aud_session_page_clear(&v->spages[i]);
	free(zw_steal(&v->spages));
	v->n_spages = v->n_sessions = 0;
	v->has_more_sessions = true;
}

static void events_clear(struct view_history *v)
{
	for (size_t i = 0; i < v->n_epages; i++)
		aud_event_page_clear(&v->epages[i]);
	free(zw_steal(&v->epages));
	v->n_epages = v->n_events = 0;
	v->has_more_events = true;
}

static bool is_too_long(void *arg)
{
	struct view_history *v = arg;

	return zw_mono_ms() > v->until_ms;
}

/* Around each look into the store that a filter may make long. */
static void look_begin(struct view_history *v)
{
	v->until_ms = zw_mono_ms() + FIND_MS;
	aud_query_on_progress(v->query, v->filter != NULL ? is_too_long : NULL, v);
}

/* Returns what the look came to: giving up is no error. */
static int look_end(struct view_history *v, int r)
{
	aud_query_on_progress(v->query, NULL, NULL);
	if (r != -ECANCELED)
		return r;
	snprintf(v->said, sizeof(v->said), "stopped after %.1f s; zwatch log has the time",
		 (double)FIND_MS / 1000);
	return 0;
}

static void more_sessions(struct view_history *v)
{
	int64_t before = v->n_sessions > 0 ? session_at(v, v->n_sessions - 1)->id : 0;
	struct aud_session_page page = {0};

	if (!v->has_more_sessions || v->n_spages >= PAGES_MAX)
		return;
	look_begin(v);
	int r = v->filter != NULL ? aud_sessions_find(v->query, v->filter, before, PAGE_N, &page)
				  : aud_sessions(v->query, before, PAGE_N, &page);
	r = look_end(v, r);
	v->has_more_sessions = r >= 0 && page.has_more;
	if (r < 0 || page.n_rows == 0) {
		v->error = r < 0 ? r : v->error;
		aud_session_page_clear(&page);
		return;
	}
	v->spages = zw_xrealloc(v->spages, v->n_spages + 1, sizeof(page));
	v->spages[v->n_spages++] = page;
	v->n_sessions += page.n_rows;
}

static void more_events(struct view_history *v)
{
	int64_t from = v->n_events > 0 ? event_at(v, v->n_events - 1)->no : 0;
	struct aud_event_page page = {0};

	if (!v->has_more_events || v->n_epages >= PAGES_MAX || v->now.n_rows == 0)
		return;
	int64_t session = v->now.rows[0].id;
	look_begin(v);
	int r = v->filter != NULL
			? aud_find(v->query, v->filter, session, AUD_BACKWARD,
				   from > 0 ? AUD_EVENT_ID(session, from) : 0, PAGE_N, &page)
			: aud_events(v->query, session, AUD_BACKWARD, from, PAGE_N, &page);
	r = look_end(v, r);
	v->has_more_events = r >= 0 && page.has_more;
	if (r < 0 || page.n_rows == 0) {
		v->error = r < 0 ? r : v->error;
		aud_event_page_clear(&page);
		return;
	}
	v->epages = zw_xrealloc(v->epages, v->n_epages + 1, sizeof(page));
	v->epages[v->n_epages++] = page;
	v->n_events += page.n_rows;
}

static void load_sessions(struct view_history *v)
{
	sessions_clear(v);
	(void)aud_totals(v->query, &v->totals);
	more_sessions(v);
}

static void load_events(struct view_history *v, int64_t session)
{
	events_clear(v);
	aud_session_page_clear(&v->now);
	v->error = aud_session_get(v->query, session, &v->now);
	more_events(v);
}

/* Pages come as the selection nears what is there. */
static void load_ahead(struct view_history *v)
{
	struct ui_list *l = &v->list[v->level == SESSIONS ? SESSIONS : EVENTS];

	if (v->level == SESSIONS && l->sel + l->height + 1 >= v->n_sessions)
		more_sessions(v);
	else if (v->level == EVENTS && l->sel + l->height + 1 >= v->n_events)
		more_events(v);
}

static void load_all(struct view_history *v)
{
	while (v->level == SESSIONS && v->has_more_sessions && v->n_spages < PAGES_MAX)
		more_sessions(v);
	while (v->level == EVENTS && v->has_more_events && v->n_epages < PAGES_MAX)
		more_events(v);
}

/* -- words ------------------------------------------------------------------------------------- */

/* The store holds bytes as they came; a screen gets them printable. NUL between arguments: blanks. */
static const char *shown(char *out, size_t size, struct zw_span s)
{
	char raw[2048];
	size_t len = s.len < sizeof(raw) ? s.len : sizeof(raw);

	if (s.p == NULL)
		len = 0;
	for (size_t i = 0; i < len; i++)
		raw[i] = s.p[i] == '\0' ? ' ' : s.p[i];
	while (len > 0 && raw[len - 1] == ' ')
		len--;
	zw_vis(out, size, raw, len);
	return out;
}

/* Folder of a session, with ~ for the home folder. Ownership: caller frees. */
static char *folder_of(const struct view_history *v, const struct aud_session *s)
{
	char *text = NULL;
	struct zw_span folder = s->project.len > 0 ? s->project : s->cwd;

	mdl_set_path(v->view.core->model, &text, folder.p != NULL ? folder : zw_span(""));
	return text;
}

static unsigned did_of(struct zw_span word)
{
	for (unsigned i = ZW_DID_ALLOW; i <= ZW_DID_FAIL; i++)
		if (zw_span_eq(word, zw_did_word(i)))
			return i;
	return ZW_DID_FAIL + 1;
}

static const char *number(char *out, int64_t n)
{
	if (n < 0)
		zw_strlcpy(out, "-", UI_FMT_MAX);
	else
		snprintf(out, UI_FMT_MAX, "%lld", (long long)n);
	return out;
}

static const char *bytes(char *out, int64_t n)
{
	if (n <= 0)
		zw_strlcpy(out, "-", UI_FMT_MAX);
	else
		ui_fmt_bytes(out, (uint64_t)n);
	return out;
}

static void end_text(char *out, size_t size, const struct aud_session *s)
{
	char how[32];

	shown(how, sizeof(how), s->how);
	if (s->ended_us == AUD_UNKNOWN)
		zw_strlcpy(out, "running", size);
	else if (s->exit_status > 0)
		snprintf(out, size, "exit %lld", (long long)s->exit_status);
	else if (s->exit_status == 0)
		zw_strlcpy(out, "ok", size);
	else
		zw_strlcpy(out, how, size);
}

static void length_text(char *out, size_t size, const struct aud_session *s)
{
	bool is_running = s->ended_us == AUD_UNKNOWN;
	int64_t end_us = is_running ? s->last_us : s->ended_us;
	int64_t min = end_us > s->started_us ? (end_us - s->started_us) / 60000000 : 0;

	snprintf(out, size, "%lld:%02lld%s", (long long)(min / 60), (long long)(min % 60),
		 is_running ? "+" : "");
}

/* -- the list of sessions ---------------------------------------------------------------------- */

/* Columns of numbers stand from the right edge; those that do not fit are left out. */
struct session_columns {
	int started, agent, project, project_w, length, counts, n_counts, end;
};

static struct session_columns session_columns(int width)
{
	struct session_columns c = {.started = 7, .end = width - 8};

	c.n_counts = width >= 112 ? 6 : width >= 92 ? 4 : width >= 56 ? 3 : 0;
	c.counts = c.end - c.n_counts * 6 - 1;
	c.length = c.counts - 8;
	c.agent = width >= 56 ? 23 : 0;
	c.project = c.agent > 0 ? 31 : 23;
	c.project_w = c.length - c.project;
	return c;
}

static void session_count(char *out, const struct aud_session *s, int column)
{
	const int64_t n[] = {s->n_allow, s->n_deny, s->n_ask, s->n_new};

	if (column < 4)
		number(out, n[column]);
	else
		bytes(out, column == 4 ? s->up_b : s->down_b);
}

static void draw_session_heads(const struct draw_ctx *c, const struct session_columns *col)
{
	static const char *const names[] = {"ALLOW", "DENY", "ASK", "NEW", "UP", "DOWN"};

	draw_right(c, 0, 1, 5, UI_STYLE_HEAD, "#");
	draw_text(c, 0, col->started, UI_STYLE_HEAD, "STARTED");
	if (col->agent > 0)
		draw_text(c, 0, col->agent, UI_STYLE_HEAD, "AGENT");
	if (col->project_w > 8)
		draw_text(c, 0, col->project, UI_STYLE_HEAD, "PROJECT");
	draw_right(c, 0, col->length, 7, UI_STYLE_HEAD, "LENGTH");
	for (int i = 0; i < col->n_counts; i++)
		draw_right(c, 0, col->counts + i * 6, 6, UI_STYLE_HEAD, names[i]);
	draw_text(c, 0, col->end, UI_STYLE_HEAD, "END");
}

static void draw_session(const struct view_history *v, const struct draw_ctx *c, int row,
			 const struct session_columns *col, const struct aud_session *s,
			 int64_t now_us)
{
	zw_autofree char *folder = folder_of(v, s);
	char text[512];

	draw_right(c, row, 1, 5, UI_STYLE_STRONG, number(text, s->id));
	draw_fit(c, row, col->started, 15, UI_STYLE_TEXT, ui_fmt_day(text, s->started_us, now_us));
	if (col->agent > 0)
		draw_fit(c, row, col->agent, 7, UI_STYLE_TEXT, shown(text, sizeof(text), s->agent));
	if (col->project_w > 8)
		draw_fit_end(c, row, col->project, col->project_w - 1, UI_STYLE_TEXT, folder);
	length_text(text, sizeof(text), s);
	draw_right(c, row, col->length, 7, UI_STYLE_TEXT, text);
	for (int i = 0; i < col->n_counts; i++) {
		session_count(text, s, i);
		draw_right(c, row, col->counts + i * 6, 6,
			   i == 1 && s->n_deny > 0 ? UI_STYLE_DENY : UI_STYLE_TEXT, text);
	}
	end_text(text, sizeof(text), s);
	draw_fit(c, row, col->end, 8, s->ended_us == AUD_UNKNOWN ? UI_STYLE_ALLOW : UI_STYLE_TEXT,
		 text);
}

static void draw_selection(struct view_history *v, const struct draw_ctx *c, int row)
{
	draw_restyle(c, row, 0, c->cols, UI_STYLE_SELECT);
	draw_text(c, row, 0, UI_STYLE_SELECT, ">");
	ui_core_cursor(v->view.core, c, row, 0);
}

static void draw_sessions(struct view_history *v, const struct draw_ctx *c)
{
	struct session_columns col = session_columns(c->cols);
	struct ui_list *l = &v->list[SESSIONS];
	int64_t now_us = zw_now_us();

	ui_list_update(l, v->n_sessions, c->rows > 1 ? (size_t)c->rows - 1 : 1, session_key, v);
	draw_session_heads(c, &col);
	for (size_t i = l->top; i < l->n && (int)(i - l->top) + 1 < c->rows; i++) {
		int row = (int)(i - l->top) + 1;

		draw_session(v, c, row, &col, session_at(v, i), now_us);
		if (i == l->sel)
			draw_selection(v, c, row);
	}
	if (l->n == 0)
		draw_fit(c, 1, 1, c->cols - 2, UI_STYLE_QUIET,
			 v->filter != NULL ? "Nothing matches the filter."
					   : "No session is recorded yet.");
}

/* -- the events of a session ------------------------------------------------------------------- */

static const char *target_text(char *out, size_t size, const struct aud_event *e)
{
	char text[1024];

	if (e->row == AUD_ROW_MISC)
		shown(text, sizeof(text), e->text);
	else
		shown(text, sizeof(text), e->target);
	if (e->row == AUD_ROW_CONN && e->port > 0)
		snprintf(out, size, "%s:%lld", text, (long long)e->port);
	else
		zw_strlcpy(out, text, size);
	if (e->count > 1) {
		size_t used = strlen(out);

		snprintf(out + used, size - used, " x%lld", (long long)e->count);
	}
	return out;
}

static const char *proc_text(char *out, size_t size, const struct aud_event *e)
{
	char exe[512];

	*out = '\0';
	shown(exe, sizeof(exe), e->exe);
	if (e->pid > 0)
		snprintf(out, size, "%s(%lld)", zw_basename(exe), (long long)e->pid);
	return out;
}

static const char *by_text(char *out, size_t size, const struct aud_event *e)
{
	char by[32];

	shown(by, sizeof(by), e->by);
	if (e->rule > 0)
		snprintf(out, size, "rule %lld", (long long)e->rule);
	else
		zw_strlcpy(out, strcmp(by, "user") == 0 ? "you" : by, size);
	return out;
}

static void draw_event_row(const struct draw_ctx *c, int row, const struct aud_event *e)
{
	bool has_by = c->cols >= 60, has_proc = c->cols >= 76;
	unsigned did = did_of(e->did);
	char text[1200];
	int kind_w = has_by ? 9 : 0, what = 18 + kind_w;
	int by = c->cols - 11, proc = (has_by ? by : c->cols) - 15,
	    right = has_proc ? proc
		    : has_by ? by
			     : c->cols;

	draw_text(c, row, 2, UI_STYLE_TEXT, ui_fmt_clock(text, e->t_us));
	draw_fit(c, row, 11, 6, ui_did_style(did), did <= ZW_DID_FAIL ? ui_did_shown(did) : "-");
	shown(text, 32, e->kind);
	if (e->is_new)
		zw_strlcpy(text + strlen(text), " *", 4);
	draw_fit(c, row, 18, kind_w - 1, UI_STYLE_TEXT, text);
	target_text(text, sizeof(text), e);
	draw_fit_end(c, row, what, right - what - 1, UI_STYLE_TEXT, text);
	if (has_proc)
		draw_fit(c, row, proc, 14, UI_STYLE_TEXT, proc_text(text, sizeof(text), e));
	if (has_by)
		draw_fit(c, row, by, 10, UI_STYLE_TEXT, by_text(text, sizeof(text), e));
}

static void draw_event_heads(const struct draw_ctx *c)
{
	draw_text(c, 0, 2, UI_STYLE_HEAD, "TIME");
	draw_text(c, 0, 11, UI_STYLE_HEAD, "DID");
	if (c->cols >= 60)
		draw_text(c, 0, 18, UI_STYLE_HEAD, "KIND");
	draw_text(c, 0, c->cols >= 60 ? 27 : 18, UI_STYLE_HEAD, "WHAT");
	if (c->cols >= 76)
		draw_text(c, 0, c->cols - 26, UI_STYLE_HEAD, "WHO");
	if (c->cols >= 60)
		draw_text(c, 0, c->cols - 11, UI_STYLE_HEAD, "BY");
}

static void draw_events(struct view_history *v, const struct draw_ctx *c)
{
	struct ui_list *l = &v->list[EVENTS];

	ui_list_update(l, v->n_events, c->rows > 1 ? (size_t)c->rows - 1 : 1, event_key, v);
	draw_event_heads(c);
	for (size_t i = l->top; i < l->n && (int)(i - l->top) + 1 < c->rows; i++) {
		int row = (int)(i - l->top) + 1;

		draw_event_row(c, row, event_at(v, i));
		if (i == l->sel)
			draw_selection(v, c, row);
	}
	if (l->n == 0)
		draw_fit(c, 1, 1, c->cols - 2, UI_STYLE_QUIET,
			 v->now.n_rows > 0 && v->now.rows[0].is_private
				 ? "A private session: only its sums are kept."
			 : v->filter != NULL ? "Nothing matches the filter."
					     : "Nothing is recorded in this session.");
}

/* -- one event --------------------------------------------------------------------------------- */

static void lines_clear(struct view_history *v)
{
	for (int i = 0; i < v->n_lines; i++)
		free(v->line[i]);
	v->n_lines = v->scroll = 0;
}

static void line(struct view_history *v, const char *label, const char *text)
{
	int width = v->view.core->cols - 14;
	struct zw_span part;

	while (*text != '\0' && v->n_lines < LINES_MAX &&
	       draw_wrap_next(&text, width > 10 ? width : 10, &part)) {
		zw_autofree char *one = zw_span_dup(part);

		v->line[v->n_lines++] = zw_xasprintf("%-11s%s", label, one);
		label = "";
	}
}

static void span_line(struct view_history *v, const char *label, struct zw_span s)
{
	char text[4200];

	line(v, label, shown(text, sizeof(text), s));
}

/* The text of a question has lines of its own. */
static void text_lines(struct view_history *v, struct zw_span s)
{
	const char *label = "Shown";

	while (s.p != NULL && s.len > 0) {
		const char *end = memchr(s.p, '\n', s.len);
		size_t n = end != NULL ? (size_t)(end - s.p) : s.len;

		span_line(v, label, zw_span_n(s.p, n));
		label = "";
		n += end != NULL ? 1 : 0;
		s = zw_span_n(s.p + n, s.len - n);
	}
}

static void number_line(struct view_history *v, const char *label, int64_t n, const char *unit)
{
	char text[64];

	if (n <= 0)
		return;
	snprintf(text, sizeof(text), "%lld%s", (long long)n, unit);
	line(v, label, text);
}

static void event_lines(struct view_history *v, const struct aud_event *e)
{
	char text[1200], clock[UI_FMT_MAX];

	lines_clear(v);
	snprintf(text, sizeof(text), "%s", ui_fmt_clock(clock, e->t_us));
	line(v, "Time", text);
	span_line(v, "Decision", e->did);
	line(v, "By", by_text(text, sizeof(text), e));
	span_line(v, "Scope", e->scope);
	span_line(v, "Reason", e->reason);
	span_line(v, "Note", e->note);
	line(v, "What", target_text(text, sizeof(text), e));
	span_line(v, "Asked", e->asked);
	span_line(v, "Address", e->address);
	span_line(v, "Class", e->class_name);
	span_line(v, "Risk", e->risk);
	span_line(v, "Answers", e->listener_exe);
	line(v, "Program", proc_text(text, sizeof(text), e));
	span_line(v, "Command", e->argv);
	span_line(v, "Folder", e->cwd);
	span_line(v, "Started by", e->chain);
	number_line(v, "Up", e->up_b, " bytes");
	number_line(v, "Down", e->down_b, " bytes");
	span_line(v, "End", e->end);
	number_line(v, "Waited", e->waited_ms, " ms");
	span_line(v, "Keys", e->key);
	number_line(v, "On screen", e->shown_ms, " ms");
	if (e->row == AUD_ROW_QUESTION)
		text_lines(v, e->text);
}

static void draw_one_event(struct view_history *v, const struct draw_ctx *c)
{
	int max = v->n_lines > c->rows ? v->n_lines - c->rows : 0;

	v->scroll = v->scroll > max ? max : v->scroll;
	for (int row = 0; row < c->rows && v->scroll + row < v->n_lines; row++) {
		draw_text(c, row, 1, UI_STYLE_TEXT, v->line[v->scroll + row]);
		draw_restyle(c, row, 1, 11, UI_STYLE_QUIET);
	}
}

/* -- the whole --------------------------------------------------------------------------------- */

static void title_text(struct view_history *v, char *out, size_t size)
{
	char day[UI_FMT_MAX];

	if (v->level == SESSIONS) {
		snprintf(out, size, " Sessions  %lld ", (long long)v->totals.n_sessions);
		return;
	}
	if (v->now.n_rows == 0) {
		zw_strlcpy(out, " No such session ", size);
		return;
	}
	const struct aud_session *s = &v->now.rows[0];
	zw_autofree char *folder = folder_of(v, s);
	snprintf(out, size, " Session %lld  %s  %s ", (long long)s->id, folder,
		 ui_fmt_day(day, s->started_us, zw_now_us()));
}

/* One line of sums below the title. */
static void sums_text(struct view_history *v, char *out, size_t size)
{
	char up[UI_FMT_MAX], down[UI_FMT_MAX], end[48];

	*out = '\0';
	if (v->level == SESSIONS) {
		snprintf(out, size, "%lld events in all. Newest first.",
			 (long long)v->totals.n_events);
	} else if (v->now.n_rows > 0) {
		const struct aud_session *s = &v->now.rows[0];

		end_text(end, sizeof(end), s);
		snprintf(out, size,
			 "allow %lld   deny %lld   ask %lld   missed %lld   up %s   down %s   %s",
			 (long long)s->n_allow, (long long)s->n_deny, (long long)s->n_ask,
			 (long long)s->n_miss, bytes(up, s->up_b), bytes(down, s->down_b), end);
	}
}

/* "/ did:deny" and what is to be said of it, in the place of the sums. */
static void draw_filter(struct view_history *v, const struct draw_ctx *c)
{
	char text[AUD_FILTER_LEN_MAX + 8];
	int said = draw_width(v->said), room = c->cols - 3 - said;
	int at = 1;

	draw_clear_row(c, 1, UI_STYLE_TEXT);
	snprintf(text, sizeof(text), "/ %s", v->typed);
	at += draw_fit_end(c, 1, 1, room > 10 ? room : c->cols - 2, UI_STYLE_STRONG, text);
	if (room > 10) {
		draw_text(c, 1, c->cols - 1 - said, UI_STYLE_QUIET, v->said);
	} else if (said > 0) { /* narrow: what is wrong with it counts more than heads of columns */
		draw_clear_row(c, 2, UI_STYLE_TEXT);
		draw_fit(c, 2, 1, c->cols - 2, UI_STYLE_WARN, v->said);
	}
	if (v->is_typing) {
		v->view.core->is_cursor_visible = true;
		ui_core_cursor(v->view.core, c, 1, at < c->cols ? at : c->cols - 1);
	}
}

/* -- typing a filter --------------------------------------------------------------------------- */

/* What is typed, read and not yet used. Returns whether it is a filter. */
static bool filter_check(struct view_history *v, struct aud_filter **ret)
{
	struct aud_filter_error error;
	struct aud_filter *f = NULL;

	v->said[0] = '\0';
	if (aud_filter_parse(v->typed, zw_now_us(), &f, &error) < 0) {
		zw_strlcpy(v->said, error.text, sizeof(v->said));
		return false;
	}
	if (ret != NULL)
		*ret = f;
	else
		aud_filter_free(f);
	return true;
}

static void reload(struct view_history *v)
{
	v->list[SESSIONS] = v->list[EVENTS] = (struct ui_list){0};
	load_sessions(v);
	if (v->now.n_rows > 0)
		load_events(v, v->now.rows[0].id);
}

static void filter_apply(struct view_history *v)
{
	struct aud_filter *f = NULL;

	if (!filter_check(v, &f))
		return;
	aud_filter_free(v->filter);
	v->filter = NULL;
	if (aud_filter_is_empty(f))
		aud_filter_free(f);
	else
		v->filter = f;
	v->is_typing = false;
	reload(v);
}

static void typed_set(struct view_history *v, const char *text)
{
	zw_strlcpy(v->typed, text, sizeof(v->typed));
	v->typed_len = strlen(v->typed);
}

static void typed_add(struct view_history *v, uint32_t cp)
{
	char bytes[4];

	if (cp < ' ' || !zw_vis_is_safe(cp))
		return;
	size_t n = (size_t)zw_utf8_encode(bytes, cp);
	if (v->typed_len + n >= sizeof(v->typed))
		return;
	memcpy(v->typed + v->typed_len, bytes, n);
	v->typed_len += n;
	v->typed[v->typed_len] = '\0';
}

static void typed_shorten(struct view_history *v)
{
	while (v->typed_len > 0 && ((uint8_t)v->typed[--v->typed_len] & 0xc0) == 0x80)
		;
	v->typed[v->typed_len] = '\0';
}

static bool history_key(struct view *view, struct ui_key key)
{
	struct view_history *v = (struct view_history *)view;

	if (!v->is_typing)
		return false;
	if (key.code == UI_KEY_ENTER) {
		filter_apply(v);
		return true;
	}
	if (key.code == UI_KEY_ESC) { /* nothing of it counts */
		typed_set(v, "");
		v->is_typing = false;
		filter_apply(v);
		return true;
	}
	if (key.code == UI_KEY_BACKSPACE)
		typed_shorten(v);
	else if (key.mods == 0 && key.code < UI_KEY_FIRST)
		typed_add(v, key.code);
	if (filter_check(v, NULL))
		zw_strlcpy(v->said, "Enter", sizeof(v->said));
	return true;
}

static void history_paste(struct view *view, const void *bytes, size_t len)
{
	struct view_history *v = (struct view_history *)view;
	const uint8_t *b = bytes;

	for (size_t i = 0; v->is_typing && i < len;) {
		uint32_t cp;
		int n = zw_utf8_decode(b + i, len - i, &cp);

		if (n > 0)
			typed_add(v, cp);
		i += n > 0 ? (size_t)n : 1;
	}
	if (v->is_typing)
		filter_check(v, NULL);
}

/* f and F: the target of the row, in quotes, is added to the filter. */
static void filter_by_row(struct view_history *v, bool is_out)
{
	char raw[300], quoted[700];
	size_t n = 0;

	if (v->level != EVENTS || v->list[EVENTS].sel >= v->n_events)
		return;
	const struct aud_event *e = event_at(v, v->list[EVENTS].sel);
	if (e->target.len == 0 || e->row == AUD_ROW_MISC)
		return;
	zw_span_cpy(raw, sizeof(raw), e->target);
	for (const char *c = raw; *c != '\0' && n + 3 < sizeof(quoted); c++) {
		if (*c == '"' || *c == '\\')
			quoted[n++] = '\\';
		quoted[n++] = *c;
	}
	quoted[n] = '\0';
	bool is_host = e->row == AUD_ROW_CONN || zw_span_eq(e->op, "net");
	zw_autofree char *text =
		zw_xasprintf("%s%s%s%s=\"%s\"", v->typed, *v->typed != '\0' ? " " : "",
			     is_out ? "-" : "", is_host ? "host" : "path", quoted);
	typed_set(v, text);
	filter_apply(v);
}

static void history_draw(struct view *view, const struct draw_ctx *c)
{
	struct view_history *v = (struct view_history *)view;
	struct draw_ctx in = draw_sub(c, 2, 0, c->rows - 2, c->cols);
	char text[512];

	view->core->is_cursor_visible = false;
	draw_clear(c);
	draw_hline(c, 0, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	title_text(v, text, sizeof(text));
	draw_fit(c, 0, 1, c->cols - 2, UI_STYLE_FOCUS, text);
	if (v->error < 0) {
		snprintf(text, sizeof(text), "The history cannot be read: %s.",
			 zw_strerror(v->error));
		draw_fit(c, 2, 1, c->cols - 2, UI_STYLE_WARN, text);
		return;
	}
	sums_text(v, text, sizeof(text));
	draw_fit(c, 1, 1, c->cols - 2, UI_STYLE_TEXT, text);
	if (v->level == SESSIONS)
		draw_sessions(v, &in);
	else if (v->level == EVENTS)
		draw_events(v, &in);
	else
		draw_one_event(v, &in);
	if (v->is_typing || v->filter != NULL)
		draw_filter(v, c); /* last: its cursor is the one that counts */
}

static void open_selected(struct view_history *v)
{
	struct ui_list *l = &v->list[v->level == SESSIONS ? SESSIONS : EVENTS];

	if (v->level == SESSIONS && l->sel < v->n_sessions) {
		load_events(v, session_at(v, l->sel)->id);
		v->list[EVENTS] = (struct ui_list){0};
		v->level = EVENTS;
	} else if (v->level == EVENTS && l->sel < v->n_events) {
		event_lines(v, event_at(v, l->sel));
		v->level = EVENT;
	}
}

static enum ui_cmd go_back(struct view_history *v)
{
	if (v->level == v->bottom)
		return UI_CMD_BACK;
	v->level = v->level == EVENT ? EVENTS : SESSIONS;
	if (v->level == SESSIONS && v->n_spages == 0)
		load_sessions(v);
	return UI_CMD_NONE;
}

static void scroll_event(struct view_history *v, enum ui_cmd cmd)
{
	int page = v->view.core->rows - 6;

	if (cmd == UI_CMD_DOWN || cmd == UI_CMD_UP)
		v->scroll += cmd == UI_CMD_DOWN ? 1 : -1;
	else if (cmd == UI_CMD_PAGE_DOWN || cmd == UI_CMD_PAGE_UP)
		v->scroll += cmd == UI_CMD_PAGE_DOWN ? page : -page;
	else if (cmd == UI_CMD_FIRST)
		v->scroll = 0;
	v->scroll = v->scroll > 0 ? v->scroll : 0;
}

static enum ui_cmd history_cmd(struct view *view, enum ui_cmd cmd)
{
	struct view_history *v = (struct view_history *)view;

	if (cmd == UI_CMD_BACK)
		return go_back(v);
	if (v->error < 0 || cmd == UI_CMD_LIST_HELP)
		return cmd;
	if (v->level == EVENT) {
		scroll_event(v, cmd);
		return UI_CMD_NONE;
	}
	if (cmd == UI_CMD_FILTER) {
		v->is_typing = true;
		zw_strlcpy(v->said, "did:deny  host:*.example  -proc:npm  since:2d",
			   sizeof(v->said));
		return UI_CMD_NONE;
	}
	if (cmd == UI_CMD_FILTER_ROW || cmd == UI_CMD_FILTER_OUT) {
		filter_by_row(v, cmd == UI_CMD_FILTER_OUT);
		return UI_CMD_NONE;
	}
	if (cmd == UI_CMD_OPEN) {
		open_selected(v);
		return UI_CMD_NONE;
	}
	if (cmd == UI_CMD_LAST)
		load_all(v);
	/* Back at the top: what has come in meanwhile. */
	if (cmd == UI_CMD_FIRST && v->level == SESSIONS)
		load_sessions(v);
	else if (cmd == UI_CMD_FIRST && v->now.n_rows > 0)
		load_events(v, v->now.rows[0].id);
	struct ui_list *l = &v->list[v->level];
	l->n = v->level == SESSIONS ? v->n_sessions : v->n_events;
	ui_list_move(l, cmd, v->level == SESSIONS ? session_key : event_key, v);
	load_ahead(v);
	return UI_CMD_NONE;
}

static void history_close(struct view *view)
{
	struct view_history *v = (struct view_history *)view;

	sessions_clear(v);
	events_clear(v);
	aud_session_page_clear(&v->now);
	lines_clear(v);
	aud_filter_free(v->filter);
	aud_query_free(v->query);
	free(v);
}

static const char *history_hints(struct view *view)
{
	const struct view_history *v = (const struct view_history *)view;

	if (v->level == EVENT)
		return "Esc back";
	if (v->is_typing)
		return "Enter use it   Esc no filter";
	return view->core->cols >= 60
		       ? "Enter open   / filter   g newest   G oldest   ? help   Esc back"
		       : "Enter open  Esc back";
}

static const struct view_ops history_ops = {.name = "history",
					    .section = UI_SECTION_LIST,
					    .close = history_close,
					    .draw = history_draw,
					    .key = history_key,
					    .paste = history_paste,
					    .cmd = history_cmd,
					    .hints = history_hints};

void view_history_open(struct ui_core *core, const char *path, int64_t session)
{
	if (view_is(core, &history_ops))
		return;
	struct view_history *v = zw_xnew(struct view_history);
	v->view.ops = &history_ops;
	v->error = aud_query_open(path, &v->query);
	v->has_more_sessions = v->has_more_events = true;
	v->level = v->bottom = session > 0 ? EVENTS : SESSIONS;
	view_push(core, &v->view);
	if (v->error < 0)
		return;
	if (session > 0)
		load_events(v, session);
	else
		load_sessions(v);
}
