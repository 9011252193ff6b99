/* SPDX-License-Identifier: MIT
 * Replay of a recorded screen: the picture, what happened around that moment, and the time line with
 * the decisions on it. The clock is here; the pictures come from a process of their own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/audit/print.h"
#include "src/audit/query.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "ui/fmt.h"
#include "ui/hist.h"
#include "ui/player.h"

#define TICK_MS	    33
#define JUMP_US	    INT64_C(5000000)
#define IDLE_US	    INT64_C(2000000)
#define IDLE_END_US INT64_C(300000) /* of the silence that is left, so that one sees where one is */
#define MARKS_MAX   4000
#define BUSY_MAX    256
#define PAN_COLS    8
#define SHOWN_LINES 60

static const int speeds[] = {250, 500, 1000, 2000, 4000, 8000, 16000, 64000}; /* thousandths */
#define SPEED_ONE 2

struct mark {
	int64_t at_us;
	char *text; /* owned */
};

struct view_replay {
	struct view view;
	const struct ui_player *player; /* borrowed */
	struct aud_query *query;	/* owned; NULL: nothing of the record can be read */
	int64_t session, start_us;	/* start_us: wall clock */

	bool is_ready; /* the file was looked through */
	bool is_dead;
	char why[160]; /* why there is nothing to see */
	int64_t end_us;
	uint64_t n_marks, n_bad;
	struct mark mark[MARKS_MAX];
	size_t n_kept;
	uint8_t busy[BUSY_MAX];
	size_t n_busy;

	int64_t pos_us;		/* where the user is */
	int64_t at_us, next_us; /* where the picture is; when the next thing happens */
	bool is_going;		/* asked for and not there yet */
	bool is_playing, keeps_idle;
	size_t speed;
	int64_t tick_ms;

	struct draw_grid screen;
	struct ui_frame frame;
	bool has_frame;
	int pan_row, pan_col; /* pan_row -1: with the cursor */

	struct aud_event_page moment; /* newest first */
	int64_t moment_us;
	char typed[12];
	bool is_typing;
	char said[120];
	char *shown[SHOWN_LINES]; /* owned; the question as it stood there */
	int n_shown;
};

/* -- what comes from the player ------------------------------------------------------------------ */

static void wake(struct view_replay *v)
{
	struct ui_core *core = v->view.core;

	core->is_dirty = true;
	if (core->effects.wake != NULL)
		core->effects.wake(core->effects.arg);
}

static void go(struct view_replay *v)
{
	if (!v->is_ready || v->is_dead || v->is_going || v->pos_us == v->at_us)
		return;
	v->is_going = true;
	v->player->go(v->player->arg, v->pos_us);
}

static void seek(struct view_replay *v, int64_t us)
{
	v->pos_us = us < 0 ? 0 : us < v->end_us ? us : v->end_us;
	v->said[0] = '\0';
	go(v);
}

static void on_mark(void *arg, int64_t at_us, const char *text)
{
	struct view_replay *v = arg;

	if (v->n_kept < MARKS_MAX)
		v->mark[v->n_kept++] = (struct mark){at_us, zw_xstrdup(text)};
}

static void on_reel(void *arg, const struct ui_reel *r)
{
	struct view_replay *v = arg;

	if (r->status < 0) {
		snprintf(v->why, sizeof(v->why), "The recording cannot be played: %s.",
			 r->status == ZW_E_SYNTAX ? "it is no asciicast v2"
						  : zw_strerror(r->status));
		wake(v);
		return;
	}
	v->end_us = r->end_us;
	v->n_marks = r->n_marks;
	v->n_bad = r->n_bad;
	v->n_busy = r->n_busy < BUSY_MAX ? r->n_busy : BUSY_MAX;
	memcpy(v->busy, r->busy, v->n_busy);
	if (v->start_us == 0)
		v->start_us = r->t_us;
	v->is_ready = true;
	v->is_playing = true;
	v->tick_ms = zw_mono_ms();
	v->at_us = -1; /* the first picture is asked for as any other */
	go(v);
	wake(v);
}

static void on_frame(void *arg, const struct ui_frame *frame)
{
	struct view_replay *v = arg;

	v->frame = *frame;
	v->has_frame = true;
	wake(v);
}

static void on_at(void *arg, int64_t at_us, int64_t next_us)
{
	struct view_replay *v = arg;

	v->is_going = false;
	v->at_us = at_us;
	v->next_us = next_us;
	go(v);
	wake(v);
}

static void on_dead(void *arg, const char *how)
{
	struct view_replay *v = arg;

	v->is_dead = true;
	v->is_playing = v->is_going = false;
	snprintf(v->why, sizeof(v->why), "The player has ended: %.100s.", how);
	wake(v);
}

static const struct ui_player_ear ear = {.on_mark = on_mark,
					 .on_reel = on_reel,
					 .on_frame = on_frame,
					 .on_at = on_at,
					 .on_dead = on_dead};

/* As the agent's own frames are taken: copied before anything looks at a cell. */
static void take_frame(struct view_replay *v)
{
	const struct ui_frame *f = &v->frame;
	const struct pane_grid *grid = v->player->grid(v->player->arg);
	bool is_other = f->rows != v->screen.rows || f->cols != v->screen.cols;
	struct pane_cell copy[PANE_COLS_MAX];

	v->has_frame = false;
	if (grid == NULL)
		return;
	if (is_other) {
		draw_grid_fini(&v->screen);
		draw_grid_init(&v->screen, f->rows, f->cols);
	}
	struct draw_ctx c = draw_all(&v->screen, false, true);
	for (int row = 0; row < f->rows; row++) {
		if (!is_other && grid->dirty[row] == 0)
			continue;
		memcpy(copy, grid->cell[row], (size_t)f->cols * sizeof(*copy));
		draw_cells(&c, row, 0, copy, f->cols);
	}
	v->player->frame_done(v->player->arg);
}

/* -- the record at that moment ------------------------------------------------------------------- */

/* Number of the newest event that had happened by @t_us; 0 = none. They are numbered as they became
 * known, which is nearly the order of time. */
static int64_t event_at(struct view_replay *v, int64_t t_us)
{
	struct aud_event_page page = {0};
	int64_t low = 0, high = 0;

	if (aud_events(v->query, v->session, AUD_BACKWARD, 0, 1, &page) == 0 && page.n_rows == 1)
		high = page.rows[0].no;
	while (low < high) {
		int64_t mid = low + (high - low) / 2;

		if (aud_events(v->query, v->session, AUD_FORWARD, mid, 1, &page) < 0 ||
		    page.n_rows == 0 || page.rows[0].no > high || page.rows[0].t_us > t_us)
			high = mid;
		else
			low = page.rows[0].no;
	}
	aud_event_page_clear(&page);
	return low;
}

static void look_moment(struct view_replay *v)
{
	if (v->query == NULL || v->start_us == 0 || v->moment_us == v->at_us)
		return;
	v->moment_us = v->at_us;
	int64_t no = event_at(v, v->start_us + v->at_us);
	if (no == 0)
		aud_event_page_clear(&v->moment);
	else if (aud_events(v->query, v->session, AUD_BACKWARD, no + 1, 3, &v->moment) < 0)
		aud_event_page_clear(&v->moment);
}

static void shown_clear(struct view_replay *v)
{
	while (v->n_shown > 0)
		free(v->shown[--v->n_shown]);
}

/* The question that was asked last at this moment, as it stood on screen. */
static void show_question(struct view_replay *v)
{
	struct aud_event_page page = {0};
	struct aud_filter *f = NULL;
	struct aud_filter_error error;
	char line[1024];

	shown_clear(v);
	if (v->query == NULL || aud_filter_parse("kind:question", zw_now_us(), &f, &error) < 0)
		return;
	int64_t no = event_at(v, v->start_us + v->at_us);
	int r = aud_find(v->query, f, v->session, AUD_BACKWARD, AUD_EVENT_ID(v->session, no + 1), 1,
			 &page);
	aud_filter_free(f);
	struct zw_span s = r == 0 && page.n_rows == 1 ? page.rows[0].text : zw_span_n(NULL, 0);
	while (s.p != NULL && s.len > 0 && v->n_shown < SHOWN_LINES) {
		const char *end = memchr(s.p, '\n', s.len);
		size_t n = end != NULL ? (size_t)(end - s.p) : s.len;

		v->shown[v->n_shown++] =
			zw_xstrdup(hist_shown(line, sizeof(line), zw_span_n(s.p, n)));
		n += end != NULL ? 1 : 0;
		s = zw_span_n(s.p + n, s.len - n);
	}
	aud_event_page_clear(&page);
	if (v->n_shown == 0)
		zw_strlcpy(v->said, "nothing was asked before this moment", sizeof(v->said));
}

/* -- drawing ------------------------------------------------------------------------------------- */

/* The mark that was reached last; -1 = none yet. */
static int mark_at(const struct view_replay *v)
{
	int i = -1;

	while (i + 1 < (int)v->n_kept && v->mark[i + 1].at_us <= v->pos_us)
		i++;
	return i;
}

static const char *clock_of(const struct view_replay *v, char out[UI_FMT_MAX], int64_t us)
{
	if (v->start_us > 0)
		return ui_fmt_clock(out, v->start_us + us);
	return ui_fmt_span(out, us / 1000);
}

static void draw_title(struct view_replay *v, const struct draw_ctx *c)
{
	char at[UI_FMT_MAX], now[UI_FMT_MAX], end[UI_FMT_MAX], text[200], name[40] = "";
	int speed = speeds[v->speed];

	if (v->session > 0)
		snprintf(name, sizeof(name), "session %lld", (long long)v->session);
	draw_hline(c, 0, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	snprintf(text, sizeof(text), " Replay%s%s ", c->cols >= 60 && *name != '\0' ? "  " : "",
		 c->cols >= 60 ? name : "");
	int used = draw_fit(c, 0, 1, c->cols - 2, UI_STYLE_FOCUS, text);
	if (!v->is_ready)
		return;
	snprintf(text, sizeof(text), c->cols >= 60 ? " %s  %s of %s  x%g  %s " : " %s%s/%s x%g %s ",
		 c->cols >= 60 ? clock_of(v, at, v->pos_us) : "",
		 ui_fmt_span(now, v->pos_us / 1000), ui_fmt_span(end, v->end_us / 1000),
		 speed / 1000.0,
		 v->is_playing		  ? "playing"
		 : v->pos_us >= v->end_us ? "at its end"
					  : "paused");
	draw_right(c, 0, 2 + used, c->cols - used - 3, UI_STYLE_TEXT, text);
}

static void draw_picture(struct view_replay *v, const struct draw_ctx *c)
{
	const struct draw_grid *g = &v->screen;
	int max = g->rows > c->rows ? g->rows - c->rows : 0;
	int top = v->pan_row >= 0 ? v->pan_row : v->frame.cursor_row - c->rows + 1;

	top = top < 0 ? 0 : top < max ? top : max;
	v->pan_row = v->pan_row > max ? max : v->pan_row;
	for (int row = 0; row < c->rows && row < v->n_shown; row++)
		draw_fit(c, row, 1, c->cols - 2, UI_STYLE_TEXT, v->shown[row]);
	if (v->n_shown > 0)
		return;
	if (v->why[0] != '\0' || g->cell == NULL) {
		draw_fit(c, 0, 1, c->cols - 2, v->why[0] != '\0' ? UI_STYLE_WARN : UI_STYLE_QUIET,
			 v->why[0] != '\0' ? v->why : "reading the recording ...");
		return;
	}
	for (int row = 0; row < c->rows && top + row < g->rows; row++) {
		int n = g->cols - v->pan_col;

		if (n > 0)
			draw_cells(c, row, 0,
				   &g->cell[(size_t)(top + row) * (size_t)g->cols +
					    (size_t)v->pan_col],
				   n < c->cols ? n : c->cols);
	}
}

static void draw_moment(struct view_replay *v, const struct draw_ctx *c)
{
	struct aud_print p = {.home = NULL};

	draw_hline(c, 0, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	draw_fit(c, 0, 1, c->cols - 2, UI_STYLE_TEXT, " at this moment ");
	for (size_t i = 0; i < v->moment.n_rows && (int)i + 1 < c->rows; i++) {
		struct zw_buf out;

		zw_buf_init(&out, 65536);
		if (aud_line_event(&out, &v->moment.rows[i], &p) == 0 &&
		    zw_buf_add(&out, "", 1) == 0)
			draw_fit(c, (int)i + 1, 1, c->cols - 2, UI_STYLE_TEXT,
				 (const char *)zw_buf_head(&out));
		zw_buf_fini(&out);
	}
	if (v->moment.n_rows == 0)
		draw_fit(c, 1, 1, c->cols - 2, UI_STYLE_QUIET, "nothing is recorded before it");
}

static char mark_char(const char *text)
{
	return zw_starts_with(text, "deny")    ? '!'
	       : zw_starts_with(text, "miss")  ? '?'
	       : zw_starts_with(text, "ask")   ? '?'
	       : zw_starts_with(text, "mode")  ? '='
	       : zw_starts_with(text, "allow") ? '+'
					       : '*';
}

/* The time line: a column is a part of the time. */
static void draw_line(struct view_replay *v, const struct draw_ctx *c, int row)
{
	char text[UI_FMT_MAX], one[2] = "";
	int from = c->cols >= 60 ? 11 : 1, n = c->cols - 2 * from;
	int64_t end_us = v->end_us > 0 ? v->end_us : 1;
	int here = (int)(v->pos_us * (n - 1) / end_us);

	if (n < 4)
		return;
	if (from > 1) {
		draw_right(c, row, 1, 8, UI_STYLE_QUIET, clock_of(v, text, 0));
		draw_fit(c, row, c->cols - 9, 8, UI_STYLE_QUIET, clock_of(v, text, v->end_us));
	}
	for (int col = 0; col < n; col++) {
		size_t a = (size_t)col * v->n_busy / (size_t)n,
		       b = ((size_t)col + 1) * v->n_busy / (size_t)n;
		unsigned most = 0;

		for (size_t i = a; i < v->n_busy && (i < b || i == a); i++)
			most = v->busy[i] > most ? v->busy[i] : most;
		one[0] = most > 85 ? ':' : most > 0 ? '.' : ' ';
		draw_text(c, row, from + col, UI_STYLE_QUIET, one);
	}
	for (size_t i = 0; i < v->n_kept; i++) {
		one[0] = mark_char(v->mark[i].text);
		draw_text(c, row, from + (int)(v->mark[i].at_us * (n - 1) / end_us),
			  one[0] == '!' ? UI_STYLE_DENY : UI_STYLE_STRONG, one);
	}
	if (row + 1 < c->rows)
		draw_text(c, row + 1, from + here, UI_STYLE_FOCUS, "^");
	else
		draw_restyle(c, row, from + here, 1, UI_STYLE_SELECT);
}

static void mark_text(const struct view_replay *v, char *out, size_t size)
{
	int i = mark_at(v);

	if (v->is_typing)
		snprintf(out, size, "go to (HH:MM or HH:MM:SS): %s", v->typed);
	else if (v->said[0] != '\0')
		zw_strlcpy(out, v->said, size);
	else if (i >= 0)
		snprintf(out, size, "%d of %llu  %s", i + 1, (unsigned long long)v->n_marks,
			 v->mark[i].text);
	else if (v->n_bad > 0)
		snprintf(out, size, "%llu lines of the file could not be read",
			 (unsigned long long)v->n_bad);
	else
		snprintf(out, size, "%llu decisions; ] goes to the first",
			 (unsigned long long)v->n_marks);
}

static void draw_time(struct view_replay *v, const struct draw_ctx *c)
{
	char text[300];

	mark_text(v, text, sizeof(text));
	draw_hline(c, 0, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	if (c->rows == 2) { /* very small: the mark stands on the line itself */
		draw_fit(c, 0, 1, c->cols - 2, UI_STYLE_STRONG, text);
		draw_line(v, c, 1);
		return;
	}
	draw_fit(c, 1, 1, c->cols - 2, UI_STYLE_STRONG, text);
	draw_line(v, c, 2);
	if (c->rows > 4)
		draw_fit(c, 4, 1, c->cols - 2, UI_STYLE_QUIET,
			 "deny !   asked or missed ?   allow +   mode =   busy :");
}

static void replay_draw(struct view *view, const struct draw_ctx *c)
{
	struct view_replay *v = (struct view_replay *)view;
	int time = !v->is_ready ? 0 : c->rows >= 26 ? 5 : c->rows >= 16 ? 4 : 2;
	int moment = v->is_ready && c->rows >= 26 ? 4 : v->is_ready && c->rows >= 20 ? 2 : 0;
	struct draw_ctx picture = draw_sub(c, 1, 0, c->rows - 1 - time - moment, c->cols);
	struct draw_ctx at = draw_sub(c, c->rows - time - moment, 0, moment, c->cols);
	struct draw_ctx line = draw_sub(c, c->rows - time, 0, time, c->cols);

	view->core->is_cursor_visible = false;
	if (v->has_frame)
		take_frame(v);
	draw_clear(c);
	draw_title(v, c);
	draw_picture(v, &picture);
	if (moment > 0) {
		look_moment(v);
		draw_moment(v, &at);
	}
	if (time > 0)
		draw_time(v, &line);
	ui_core_cursor(view->core, c, 0, 0);
}

/* -- keys ----------------------------------------------------------------------------------------- */

/* A time of the day, on the first day on which the recording has it. */
static void go_clock(struct view_replay *v)
{
	unsigned h = 0, m = 0, s = 0;
	time_t start_s = (time_t)(v->start_us / 1000000);
	struct tm tm;
	int n = sscanf(v->typed, "%2u:%2u:%2u", &h, &m, &s);

	v->said[0] = '\0';
	if (n < 2 || h > 23 || m > 59 || s > 59 || v->start_us == 0 ||
	    localtime_r(&start_s, &tm) == NULL) {
		zw_strlcpy(v->said, "no time of the day: HH:MM or HH:MM:SS", sizeof(v->said));
		return;
	}
	int64_t from = tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec;
	int64_t to = (int64_t)h * 3600 + m * 60 + s;
	if (n == 2 && to < from && to + 60 > from)
		to = from;
	seek(v, ((to - from + 86400) % 86400) * 1000000);
}

static bool replay_key(struct view *view, struct ui_key key)
{
	struct view_replay *v = (struct view_replay *)view;
	size_t n = strlen(v->typed);

	if (v->n_shown > 0) { /* any key: back to the picture */
		shown_clear(v);
		return true;
	}
	if (!v->is_typing)
		return false;
	if (key.code == UI_KEY_ENTER || key.code == UI_KEY_ESC) {
		v->is_typing = false;
		if (key.code == UI_KEY_ENTER)
			go_clock(v);
	} else if (key.code == UI_KEY_BACKSPACE && n > 0) {
		v->typed[n - 1] = '\0';
	} else if (((key.code >= '0' && key.code <= '9') || key.code == ':') &&
		   n + 1 < sizeof(v->typed)) {
		v->typed[n] = (char)key.code;
		v->typed[n + 1] = '\0';
	}
	return true;
}

static void play(struct view_replay *v)
{
	if (!v->is_playing && v->pos_us >= v->end_us)
		seek(v, 0);
	v->is_playing = !v->is_playing;
	v->tick_ms = zw_mono_ms();
}

static void go_mark(struct view_replay *v, int step)
{
	int i = mark_at(v);

	v->is_playing = false;
	if (step > 0)
		i++;
	else
		while (i >= 0 && v->mark[i].at_us >= v->pos_us)
			i--;
	if (i < 0 || i >= (int)v->n_kept)
		zw_strlcpy(v->said, "no other decision there", sizeof(v->said));
	else
		seek(v, v->mark[i].at_us);
}

static void step(struct view_replay *v)
{
	v->is_playing = false;
	if (v->next_us >= 0 && !v->is_going)
		seek(v, v->next_us);
}

static void pan(struct view_replay *v, enum ui_cmd cmd)
{
	int step_row = cmd == UI_CMD_DOWN ? 1 : cmd == UI_CMD_UP ? -1 : 0;
	int step_col = cmd == UI_CMD_REPLAY_PAN_RIGHT  ? PAN_COLS
		       : cmd == UI_CMD_REPLAY_PAN_LEFT ? -PAN_COLS
						       : 0;

	if (step_row != 0)
		v->pan_row = v->pan_row + step_row < 0 ? 0 : v->pan_row + step_row;
	v->pan_col += step_col;
	if (v->pan_col > v->screen.cols - 1)
		v->pan_col = v->screen.cols - 1;
	v->pan_col = v->pan_col < 0 ? 0 : v->pan_col;
}

/* What moves in time. False: not one of them. */
static bool move(struct view_replay *v, enum ui_cmd cmd)
{
	if (cmd == UI_CMD_REPLAY_PLAY)
		play(v);
	else if (cmd == UI_CMD_REPLAY_STEP)
		step(v);
	else if (cmd == UI_CMD_REPLAY_NEXT || cmd == UI_CMD_REPLAY_PREVIOUS)
		go_mark(v, cmd == UI_CMD_REPLAY_NEXT ? 1 : -1);
	else if (cmd == UI_CMD_REPLAY_FORWARD || cmd == UI_CMD_REPLAY_BACK)
		seek(v, v->pos_us + (cmd == UI_CMD_REPLAY_FORWARD ? JUMP_US : -JUMP_US));
	else if (cmd == UI_CMD_REPLAY_BEGIN || cmd == UI_CMD_REPLAY_END)
		seek(v, cmd == UI_CMD_REPLAY_BEGIN ? 0 : v->end_us);
	else
		return false;
	return true;
}

static enum ui_cmd replay_cmd(struct view *view, enum ui_cmd cmd)
{
	struct view_replay *v = (struct view_replay *)view;

	if (cmd == UI_CMD_BACK || cmd == UI_CMD_LIST_HELP)
		return cmd;
	if (!v->is_ready)
		return UI_CMD_NONE;
	v->said[0] = '\0';
	if (move(v, cmd))
		return UI_CMD_NONE;
	if (cmd == UI_CMD_REPLAY_FASTER && v->speed + 1 < ZW_N_ELEMENTS(speeds)) {
		v->speed++;
	} else if (cmd == UI_CMD_REPLAY_SLOWER && v->speed > 0) {
		v->speed--;
	} else if (cmd == UI_CMD_REPLAY_IDLE) {
		v->keeps_idle = !v->keeps_idle;
		snprintf(v->said, sizeof(v->said), "silence over 2 s: %s",
			 v->keeps_idle ? "as long as it was" : "skipped");
	} else if (cmd == UI_CMD_REPLAY_GO) {
		v->is_typing = true;
		v->typed[0] = '\0';
	} else if (cmd == UI_CMD_REPLAY_SHOWN) {
		show_question(v);
	} else if (cmd == UI_CMD_REPLAY_EXPORT) {
		zw_strlcpy(v->said, "e in the list of sessions; or: zwatch export N --format cast",
			   sizeof(v->said));
	} else {
		pan(v, cmd);
	}
	return UI_CMD_NONE;
}

static void replay_work(struct view *view)
{
	struct view_replay *v = (struct view_replay *)view;
	int64_t now = zw_mono_ms(), ms = now - v->tick_ms;

	v->tick_ms = now;
	if (!v->is_playing || v->is_going)
		return; /* a picture that takes long is waited for */
	ms = ms < 1000 ? ms : 1000;
	v->pos_us += ms * speeds[v->speed];
	if (!v->keeps_idle && v->next_us - v->pos_us > IDLE_US)
		v->pos_us = v->next_us - IDLE_END_US;
	if (v->pos_us >= v->end_us) {
		v->pos_us = v->end_us;
		v->is_playing = false;
	}
	go(v);
	view->core->is_dirty = true;
}

static int64_t replay_due(const struct view *view, int64_t now_ms)
{
	const struct view_replay *v = (const struct view_replay *)view;

	if (!v->is_playing)
		return -1;
	return v->tick_ms + TICK_MS > now_ms ? v->tick_ms + TICK_MS - now_ms : 1;
}

static const char *replay_hints(struct view *view)
{
	int cols = view->core->cols;

	if (((struct view_replay *)view)->is_typing)
		return "Enter go there   Esc leave it";
	if (((struct view_replay *)view)->n_shown > 0)
		return "any key: back to the picture";
	return cols >= 96 ? "Space play/pause  [ ] decision  < > speed  . step  g go to  i silence"
			    "  v as shown  ? help  Esc"
	       : cols >= 76 ? "Space play/pause   [ ] decision   < > speed   ? help   Esc back"
	       : cols >= 56 ? "Space play   [ ] decision   < > speed   Esc back"
			    : "Space  [ ] decision  < >  Esc";
}

static void replay_close(struct view *view)
{
	struct view_replay *v = (struct view_replay *)view;

	v->player->close(v->player->arg);
	aud_query_free(v->query);
	aud_event_page_clear(&v->moment);
	draw_grid_fini(&v->screen);
	shown_clear(v);
	for (size_t i = 0; i < v->n_kept; i++)
		free(v->mark[i].text);
	free(v);
}

static const struct view_ops replay_ops = {.name = "replay",
					   .section = UI_SECTION_REPLAY,
					   .close = replay_close,
					   .draw = replay_draw,
					   .key = replay_key,
					   .cmd = replay_cmd,
					   .work = replay_work,
					   .due_ms = replay_due,
					   .hints = replay_hints};

int view_replay_open(struct ui_core *core, const char *store_path, int64_t session,
		     const char *file)
{
	const struct ui_player *player = core->config.player;
	const char *name = store_path != NULL ? zw_basename(store_path) : "";
	struct aud_session_page page = {0};

	if (player == NULL)
		return ZW_E_UNSUPPORTED;
	zw_autofree char *path =
		file != NULL ? zw_xstrdup(file)
			     : zw_xasprintf("%.*sscreens/%lld.cast", (int)(name - store_path),
					    store_path, (long long)session);
	struct view_replay *v = zw_xnew(struct view_replay);
	v->view.ops = &replay_ops;
	v->player = player;
	v->session = session;
	v->speed = SPEED_ONE;
	v->pan_row = -1;
	v->next_us = v->moment_us = -1;
	v->view.core = core;
	int r = player->open(player->arg, path, &ear, v);
	if (r < 0) {
		free(v);
		return r;
	}
	if (session > 0 && aud_query_open(store_path, &v->query) == 0 &&
	    aud_session_get(v->query, session, &page) == 0)
		v->start_us = page.rows[0].started_us;
	aud_session_page_clear(&page);
	view_push(core, &v->view);
	return 0;
}
