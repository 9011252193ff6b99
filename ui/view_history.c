/* SPDX-License-Identifier: MIT
 * The screens of the history: sessions, the events of one, a page of text, and their keys. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "ui/fmt.h"
#include "ui/hist.h"

/* -- words ------------------------------------------------------------------------------------- */

static const char *bytes(char *out, int64_t n)
{
	if (n <= 0)
		zw_strlcpy(out, "-", UI_FMT_MAX);
	else
		ui_fmt_bytes(out, (uint64_t)n);
	return out;
}

/* -- the list of sessions ---------------------------------------------------------------------- */

static void draw_selection(struct view_history *v, const struct draw_ctx *c, int row)
{
	draw_restyle(c, row, 0, c->cols, UI_STYLE_SELECT);
	draw_text(c, row, 0, UI_STYLE_SELECT, ">");
	ui_core_cursor(v->view.core, c, row, 0);
}

static void draw_sessions(struct view_history *v, const struct draw_ctx *c)
{
	struct ui_list *l = &v->list[HIST_SESSIONS];
	struct hist_layout lay;

	hist_cols_lay(v, HIST_SESSIONS, c->cols, &lay);

	ui_list_update(l, v->sessions.n, c->rows > 1 ? (size_t)c->rows - 1 : 1, hist_session_key,
		       v);
	hist_cols_heads(v, HIST_SESSIONS, &lay, c);
	for (size_t i = l->top; i < l->n && (int)(i - l->top) + 1 < c->rows; i++) {
		int row = (int)(i - l->top) + 1;

		hist_cols_row(v, HIST_SESSIONS, &lay, c, row, v->sessions.row[i]);
		if (v->marked[0] == v->sessions.row[i]->id ||
		    v->marked[1] == v->sessions.row[i]->id)
			draw_text(c, row, 1, UI_STYLE_STRONG, "*");
		if (i == l->sel)
			draw_selection(v, c, row);
	}
	if (l->n == 0)
		draw_fit(c, 1, 1, c->cols - 2, UI_STYLE_QUIET,
			 v->filter != NULL ? "Nothing matches the filter."
					   : "No session is recorded yet.");
}

/* -- the events of a session ------------------------------------------------------------------- */

static void draw_events(struct view_history *v, const struct draw_ctx *all)
{
	struct ui_list *l = &v->list[HIST_EVENTS];
	int line = hist_line_rows(v, all->rows);
	struct draw_ctx in = draw_sub(all, 0, 0, all->rows - line, all->cols), *c = &in;
	struct draw_ctx below = draw_sub(all, all->rows - line, 0, line, all->cols);
	struct hist_layout lay;

	if (line > 0)
		hist_line_draw(v, &below);

	hist_cols_lay(v, HIST_EVENTS, c->cols, &lay);
	ui_list_update(l, v->events.n, c->rows > 1 ? (size_t)c->rows - 1 : 1, hist_event_key, v);
	hist_cols_heads(v, HIST_EVENTS, &lay, c);
	for (size_t i = l->top; i < l->n && (int)(i - l->top) + 1 < c->rows; i++) {
		int row = (int)(i - l->top) + 1;

		hist_cols_row(v, HIST_EVENTS, &lay, c, row, v->events.row[i]);
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

/* -- the whole --------------------------------------------------------------------------------- */

/* How much is kept, and since when: "84.1M, oldest 2026-08-31". */
static void kept_text(const struct view_history *v, char *out, size_t size)
{
	char b[UI_FMT_MAX], day[16] = "";
	time_t s = (time_t)(v->totals.oldest_us / 1000000);
	struct stat st;
	struct tm tm;

	*out = '\0';
	if (v->totals.oldest_us == AUD_UNKNOWN || stat(v->path, &st) < 0 ||
	    localtime_r(&s, &tm) == NULL || strftime(day, sizeof(day), "%Y-%m-%d", &tm) == 0)
		return;
	snprintf(out, size, " %s, oldest %s ", ui_fmt_bytes(b, (uint64_t)st.st_size), day);
}

static void title_text(struct view_history *v, char *out, size_t size)
{
	char day[UI_FMT_MAX];

	if (v->level == HIST_SESSIONS) {
		snprintf(out, size, " Sessions  %lld ", (long long)v->totals.n_sessions);
		return;
	}
	if (v->level == HIST_TEXT) {
		snprintf(out, size, " %s ", v->title);
		return;
	}
	if (v->now.n_rows == 0) {
		zw_strlcpy(out, " No such session ", size);
		return;
	}
	const struct aud_session *s = &v->now.rows[0];
	char folder[512];
	hist_folder(v, folder, sizeof(folder), s);
	snprintf(out, size, " Session %lld  %s  %s ", (long long)s->id, folder,
		 ui_fmt_day(day, s->started_us, zw_now_us()));
}

/* The user's own words on a session: "name  [tag tag]  note". */
static void own_words(char *out, size_t size, const struct aud_session *s)
{
	char name[120], tags[200], note[300];

	hist_shown(name, sizeof(name), s->name);
	hist_shown(tags, sizeof(tags), s->tags);
	hist_shown(note, sizeof(note), s->note);
	snprintf(out, size, "%s%s%s%s%s%s%s", name, *name != '\0' && *tags != '\0' ? "  " : "",
		 *tags != '\0' ? "[" : "", tags, *tags != '\0' ? "]" : "",
		 *note != '\0' ? "  " : "", note);
}

/* One line of sums below the title. */
static void sums_text(struct view_history *v, char *out, size_t size)
{
	char up[UI_FMT_MAX], down[UI_FMT_MAX], end[48], words[700];
	const struct aud_session *s = v->level == HIST_SESSIONS ? hist_session(v)
				      : v->now.n_rows > 0	? &v->now.rows[0]
								: NULL;

	*out = *words = '\0';
	if (s != NULL)
		own_words(words, sizeof(words), s);
	if (v->level == HIST_SESSIONS) {
		if (*words != '\0')
			snprintf(out, size, "%lld  %s", (long long)s->id, words);
		else
			snprintf(out, size, "%lld events in all. Newest first.",
				 (long long)v->totals.n_events);
	} else if (v->level == HIST_EVENTS && s != NULL) {
		hist_end_text(end, sizeof(end), s);
		snprintf(out, size,
			 "allow %lld   deny %lld   ask %lld   missed %lld   up %s   down %s   %s   "
			 "%s",
			 (long long)s->n_allow, (long long)s->n_deny, (long long)s->n_ask,
			 (long long)s->n_miss, bytes(up, s->up_b), bytes(down, s->down_b), end,
			 words);
	}
}

/* What is typed and what is to be said of it, in the place of the sums. */
static void draw_typed(struct view_history *v, const struct draw_ctx *c)
{
	static const char *const heads[] = {
		[HIST_NOT_TYPING] = "/", [HIST_FILTER] = "/",	[HIST_EXPORT] = "export to:",
		[HIST_NOTE] = "note:",	 [HIST_TAGS] = "tags:", [HIST_COLUMNS] = "columns:"};
	char text[AUD_FILTER_LEN_MAX + 16];
	bool is_columns = v->typing == HIST_COLUMNS;
	int said = is_columns ? 0 : draw_width(v->said), room = c->cols - 3 - said;
	int at = 1;

	draw_clear_row(c, 1, UI_STYLE_TEXT);
	snprintf(text, sizeof(text), "%s %s", heads[v->typing], v->typed);
	at += draw_fit_end(c, 1, 1, room > 10 ? room : c->cols - 2, UI_STYLE_STRONG, text);
	if (room > 10 && !is_columns) {
		draw_text(c, 1, c->cols - 1 - said, v->is_bad ? UI_STYLE_WARN : UI_STYLE_QUIET,
			  v->said);
	} else if (*v->said !=
		   '\0') { /* narrow: what is wrong with it counts more than heads of columns */
		draw_clear_row(c, 2, UI_STYLE_TEXT);
		draw_fit(c, 2, 1, c->cols - 2, is_columns ? UI_STYLE_QUIET : UI_STYLE_WARN,
			 v->said);
	}
	if (v->typing != HIST_NOT_TYPING) {
		v->view.core->is_cursor_visible = true;
		ui_core_cursor(v->view.core, c, 1, at < c->cols ? at : c->cols - 1);
	}
}

static void history_draw(struct view *view, const struct draw_ctx *c)
{
	struct view_history *v = (struct view_history *)view;
	struct draw_ctx in = draw_sub(c, 2, 0, c->rows - 2, c->cols);
	char text[1024];

	view->core->is_cursor_visible = false;
	hist_sort(v);
	draw_clear(c);
	draw_hline(c, 0, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	title_text(v, text, sizeof(text));
	int used = draw_fit(c, 0, 1, c->cols - 2, UI_STYLE_FOCUS, text);
	if (v->level == HIST_SESSIONS && c->cols >= 60 && v->error >= 0) {
		kept_text(v, text, sizeof(text));
		draw_right(c, 0, 2 + used, c->cols - used - 3, UI_STYLE_TEXT, text);
	}
	if (v->error < 0) {
		snprintf(text, sizeof(text), "The history cannot be read: %s.",
			 zw_strerror(v->error));
		draw_fit(c, 2, 1, c->cols - 2, UI_STYLE_WARN, text);
		return;
	}
	sums_text(v, text, sizeof(text));
	draw_fit(c, 1, 1, c->cols - 2, UI_STYLE_TEXT, text);
	if (v->level == HIST_SESSIONS)
		draw_sessions(v, &in);
	else if (v->level == HIST_EVENTS)
		draw_events(v, &in);
	else
		hist_text_draw(v, &in);
	if (v->typing != HIST_NOT_TYPING || (v->filter != NULL && v->level != HIST_TEXT)) {
		draw_typed(v, c); /* last: its cursor is the one that counts */
	} else if (v->said[0] != '\0') {
		draw_clear_row(c, 1, UI_STYLE_TEXT);
		draw_fit(c, 1, 1, c->cols - 2, UI_STYLE_STRONG, v->said);
	}
}

/* -- keys -------------------------------------------------------------------------------------- */

static void open_selected(struct view_history *v)
{
	if (v->level == HIST_SESSIONS && hist_session(v) != NULL) {
		int64_t id = hist_session(v)->id;

		v->level = HIST_EVENTS;
		v->list[HIST_EVENTS] = (struct ui_list){0};
		hist_load_events(v, id, false);
	} else if (v->level == HIST_EVENTS && hist_event(v) != NULL) {
		hist_text_event(v, hist_event(v));
	}
}

static enum ui_cmd go_back(struct view_history *v)
{
	if (hist_stop(v))
		return UI_CMD_NONE;
	v->said[0] = '\0';
	v->is_ruling = v->is_copying = false;
	if (v->level == HIST_TEXT) {
		bool was_working = v->child.pid > 0;

		hist_run_stop(v);
		v->level = v->below;
		if (was_working)
			zw_strlcpy(v->said, "stopped", sizeof(v->said));
		if (v->level == HIST_SESSIONS) /* a note may be there now */
			hist_load_sessions(v);
		return UI_CMD_NONE;
	}
	if (v->level == v->bottom)
		return UI_CMD_BACK;
	v->level = HIST_SESSIONS;
	hist_load_sessions(v);
	return UI_CMD_NONE;
}

static void scroll_text(struct view_history *v, enum ui_cmd cmd)
{
	int page = v->view.core->rows - 6;

	if (cmd == UI_CMD_DOWN || cmd == UI_CMD_UP)
		v->scroll += cmd == UI_CMD_DOWN ? 1 : -1;
	else if (cmd == UI_CMD_PAGE_DOWN || cmd == UI_CMD_PAGE_UP)
		v->scroll += cmd == UI_CMD_PAGE_DOWN ? page : -page;
	else if (cmd == UI_CMD_FIRST || cmd == UI_CMD_LAST)
		v->scroll = cmd == UI_CMD_FIRST ? 0 : v->n_lines;
	v->scroll = v->scroll > 0 ? v->scroll : 0;
}

/* The next row that was refused or missed, as far as rows are read. */
static void go_denial(struct view_history *v, int step)
{
	struct ui_list *l = &v->list[HIST_EVENTS];

	if (v->level != HIST_EVENTS)
		return;
	for (size_t i = l->sel + (size_t)step; i < v->events.n; i += (size_t)step) {
		const struct aud_event *e = v->events.row[i];

		if (!zw_span_eq(e->did, "deny") && !zw_span_eq(e->did, "miss"))
			continue;
		l->key = hist_event_key(i, v);
		l->is_at_top = false;
		ui_list_update(l, v->events.n, l->height, hist_event_key, v);
		hist_load_near(v);
		return;
	}
	zw_strlcpy(v->said, "no other denial here; / did:deny finds all", sizeof(v->said));
}

/* The ends may not be what is read: back at the top there is news, too. */
static void read_end(struct view_history *v, enum ui_cmd cmd)
{
	struct ui_list *l = &v->list[v->level];
	bool of_sessions = v->level == HIST_SESSIONS;

	if (cmd == UI_CMD_FIRST && of_sessions)
		hist_load_sessions(v);
	else if (of_sessions && cmd == UI_CMD_LAST)
		for (size_t n = 0; v->sessions.has_more && n != v->sessions.n; hist_load_near(v)) {
			n = v->sessions.n;
			l->sel = n > 0 ? n - 1 : 0;
		}
	else if (cmd == UI_CMD_FIRST && v->now.n_rows > 0)
		hist_load_events(v, v->now.rows[0].id, false);
	else if (cmd == UI_CMD_LAST && v->now.n_rows > 0 && v->events.has_older)
		hist_load_events(v, v->now.rows[0].id, true);
}

static void move(struct view_history *v, enum ui_cmd cmd)
{
	struct ui_list *l = &v->list[v->level];
	bool of_sessions = v->level == HIST_SESSIONS;

	if (v->sort[v->level].col < 0) /* else all of it is read */
		read_end(v, cmd);
	l->n = of_sessions ? v->sessions.n : v->events.n;
	if (l->n > 0)
		ui_list_move(l, cmd, of_sessions ? hist_session_key : hist_event_key, v);
	hist_load_near(v);
}

static void export_begin(struct view_history *v)
{
	char name[64];

	if (v->level == HIST_EVENTS && v->now.n_rows > 0)
		snprintf(name, sizeof(name), "zwatch-%lld.csv", (long long)v->now.rows[0].id);
	else
		snprintf(name, sizeof(name), "zwatch.csv");
	hist_type_begin(v, HIST_EXPORT, name);
	zw_strlcpy(v->said, ".csv .json .ndjson .cast", sizeof(v->said));
}

static void words_begin(struct view_history *v, enum hist_typing what)
{
	const struct aud_session *s =
		v->level == HIST_EVENTS && v->now.n_rows > 0 ? &v->now.rows[0] : hist_session(v);
	char text[700];

	if (s == NULL)
		return;
	hist_type_begin(v, what,
			hist_shown(text, sizeof(text), what == HIST_NOTE ? s->note : s->tags));
}

void hist_typed(struct view_history *v, enum hist_typing what)
{
	v->said[0] = '\0';
	if (what == HIST_EXPORT && v->typed_len > 0)
		hist_export(v, v->typed);
	else if (what == HIST_NOTE || what == HIST_TAGS)
		hist_words(v, what, v->typed);
	else if (what == HIST_COLUMNS)
		hist_cols_choose(v, v->level, v->typed);
}

static void replay(struct view_history *v)
{
	int64_t id = v->level == HIST_EVENTS && v->now.n_rows > 0 ? v->now.rows[0].id
		     : hist_session(v) != NULL			  ? hist_session(v)->id
								  : 0;
	int r = id > 0 ? view_replay_open(v->view.core, v->path, id, NULL) : 0;

	if (r == -ENOENT)
		snprintf(v->said, sizeof(v->said),
			 "the screen of session %lld was not recorded; --record does it",
			 (long long)id);
	else if (r < 0)
		snprintf(v->said, sizeof(v->said), "the recording cannot be played: %s",
			 zw_strerror(r));
}

/* s: by the next column; r: the other way round. */
static void sort_by(struct view_history *v, enum ui_cmd cmd)
{
	struct hist_sort *s = &v->sort[v->level];
	struct hist_layout l;
	const char *name;

	if (cmd == UI_CMD_HIST_SORT) {
		hist_cols_lay(v, v->level, v->view.core->cols, &l);
		hist_sort_next(v, v->level, &l);
	} else if (s->col >= 0) {
		s->is_up = !s->is_up;
	}
	v->sessions.is_sorted = v->events.is_sorted = false;
	hist_load_near(v);
	hist_sort(v);
	name = hist_sort_name(v, v->level);
	if (name == NULL)
		zw_strlcpy(v->said, "the newest first; s sorts by a column", sizeof(v->said));
	else
		snprintf(v->said, sizeof(v->said), "by %s; s next column  r other way round", name);
}

static void columns_begin(struct view_history *v)
{
	char names[AUD_FILTER_LEN_MAX];

	hist_cols_names(v, v->level, names, sizeof(names));
	hist_type_begin(v, HIST_COLUMNS, names);
	hist_cols_all(v->level, v->said, sizeof(v->said));
}

/* Commands that do something with the row. False: not one of them. */
static bool act(struct view_history *v, enum ui_cmd cmd)
{
	bool is_list = v->level != HIST_TEXT;

	if (cmd == UI_CMD_HIST_COPY) {
		v->is_copying = v->level == HIST_EVENTS;
		if (!v->is_copying)
			hist_copy(v, 'j');
		else
			zw_strlcpy(v->said, "copy: l line  j JSON  t target", sizeof(v->said));
	} else if (cmd == UI_CMD_FILTER && is_list) {
		hist_type_begin(v, HIST_FILTER, v->filter != NULL ? v->typed : "");
	} else if ((cmd == UI_CMD_FILTER_ROW || cmd == UI_CMD_FILTER_OUT) && is_list) {
		hist_filter_row(v, cmd == UI_CMD_FILTER_OUT);
	} else if ((cmd == UI_CMD_HIST_SORT || cmd == UI_CMD_HIST_REVERSE) && is_list) {
		sort_by(v, cmd);
	} else if (cmd == UI_CMD_HIST_COLUMNS && is_list) {
		columns_begin(v);
	} else if (cmd == UI_CMD_HIST_STATS && is_list) {
		hist_stats(v);
	} else if (cmd == UI_CMD_HIST_EXPORT && is_list) {
		export_begin(v);
	} else if ((cmd == UI_CMD_HIST_NOTE || cmd == UI_CMD_HIST_TAGS) && is_list) {
		words_begin(v, cmd == UI_CMD_HIST_NOTE ? HIST_NOTE : HIST_TAGS);
	} else if (cmd == UI_CMD_HIST_MARK && v->level == HIST_SESSIONS) {
		hist_mark(v);
		move(v, UI_CMD_DOWN);
	} else if (cmd == UI_CMD_HIST_REPLAY && is_list) {
		replay(v);
	} else if (cmd == UI_CMD_HIST_DIFF && v->level == HIST_SESSIONS) {
		hist_diff(v);
	} else if ((cmd == UI_CMD_HIST_RULE || cmd == UI_CMD_HIST_TRY) && v->level == HIST_EVENTS) {
		v->is_trying = cmd == UI_CMD_HIST_TRY;
		hist_rule(v, '\0');
	} else if (cmd == UI_CMD_HIST_SHOWN && v->level == HIST_EVENTS && hist_event(v) != NULL) {
		if (!hist_text_shown(v, hist_event(v)))
			zw_strlcpy(v->said, "nothing was asked for this row", sizeof(v->said));
	} else if (cmd == UI_CMD_HIST_NEXT || cmd == UI_CMD_HIST_PREVIOUS) {
		go_denial(v, cmd == UI_CMD_HIST_NEXT ? 1 : -1);
	} else {
		return false;
	}
	return true;
}

static bool history_key(struct view *view, struct ui_key key)
{
	struct view_history *v = (struct view_history *)view;

	if (v->is_copying) {
		v->is_copying = false;
		v->said[0] = '\0';
		if (key.code == 'l' || key.code == 'j' || key.code == 't')
			hist_copy(v, (char)key.code);
		return true;
	}
	if (v->is_ruling && key.code >= '1' && key.code <= '4') {
		v->is_ruling = false;
		hist_rule(v, (char)key.code);
		return true;
	}
	return hist_type_key(v, key);
}

static void history_paste(struct view *view, const void *bytes, size_t len)
{
	hist_type_paste((struct view_history *)view, bytes, len);
}

static enum ui_cmd history_cmd(struct view *view, enum ui_cmd cmd)
{
	struct view_history *v = (struct view_history *)view;

	if (cmd == UI_CMD_BACK)
		return go_back(v);
	if (v->error < 0 || cmd == UI_CMD_LIST_HELP)
		return cmd;
	if (v->filter == NULL && v->scan == NULL)
		v->said[0] = '\0';
	if (act(v, cmd))
		return UI_CMD_NONE;
	if (cmd == UI_CMD_HIST_MARK) /* the blank is a page down elsewhere */
		cmd = UI_CMD_PAGE_DOWN;
	if (v->level == HIST_TEXT)
		scroll_text(v, cmd);
	else if (cmd == UI_CMD_OPEN)
		open_selected(v);
	else
		move(v, cmd);
	return UI_CMD_NONE;
}

static void history_close(struct view *view)
{
	struct view_history *v = (struct view_history *)view;

	hist_run_stop(v);
	hist_rows_fini(v);
	hist_lines_clear(v);
	hist_recall_free(v);
	aud_filter_free(v->filter);
	aud_query_free(v->query);
	free(v->path);
	free(v);
}

static const char *history_hints(struct view *view)
{
	const struct view_history *v = (const struct view_history *)view;
	int cols = view->core->cols;

	if (v->typing == HIST_FILTER)
		return cols >= 60 ? "Enter use it   Tab complete   Up earlier ones   Esc no filter"
				  : "Enter use it   Esc no filter";
	if (v->typing != HIST_NOT_TYPING)
		return "Enter do it   Esc leave it";
	if (v->level == HIST_TEXT)
		return v->is_ruling ? v->is_trying ? "1 2 3 4 try it   Esc back"
						   : "1 2 3 4 make it   Esc back"
				    : "c copy   Esc back";
	if (cols < 60)
		return "Enter open  Esc back";
	if (cols < 90)
		return "Enter open  / filter  s sort  S stats  e export  ? help  Esc back";
	return v->level == HIST_SESSIONS
		       ? "Enter open  / filter  s sort  p replay  S stats  e export  Space d"
			 " compare  m note  ? help"
		       : "Enter open  / filter  s sort  v as shown  R rule  T try  c copy  e"
			 " export  ? help";
}

static void history_work(struct view *view)
{
	hist_work((struct view_history *)view);
}

static int64_t history_due(const struct view *view, int64_t now_ms)
{
	return hist_due_ms((const struct view_history *)view, now_ms);
}

static const struct view_ops history_ops = {.name = "history",
					    .section = UI_SECTION_HISTORY,
					    .close = history_close,
					    .draw = history_draw,
					    .key = history_key,
					    .paste = history_paste,
					    .cmd = history_cmd,
					    .work = history_work,
					    .due_ms = history_due,
					    .hints = history_hints};

void view_history_open(struct ui_core *core, const char *path, int64_t session)
{
	if (view_is(core, &history_ops))
		return;
	struct view_history *v = zw_xnew(struct view_history);
	v->view.ops = &history_ops;
	v->path = zw_xstrdup(path);
	v->child.fd = -1;
	v->sort[HIST_SESSIONS].col = v->sort[HIST_EVENTS].col = -1;
	v->error = aud_query_open(path, &v->query);
	v->sessions.has_more = v->events.has_older = true;
	v->level = v->bottom = session > 0 ? HIST_EVENTS : HIST_SESSIONS;
	hist_recall_load(v);
	view_push(core, &v->view);
	if (v->error < 0)
		return;
	if (session > 0)
		hist_load_events(v, session, false);
	else
		hist_load_sessions(v);
}
