/* SPDX-License-Identifier: MIT
 * Columns of the lists in the history view: one table a list. What is drawn, what the rows are
 * sorted by and what the user chooses from is all in it. */
#include <stdlib.h>
#include <string.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "ui/fmt.h"
#include "ui/hist.h"

#define GAP	     1
#define FLEX_MIN     18 /* of the column that takes what is left */
#define FLEX_FULL    44 /* with less no column of little worth stands beside it */
#define WORTH_LITTLE 10

enum session_col {
	S_NO,
	S_STARTED,
	S_AGENT,
	S_PROJECT,
	S_LENGTH,
	S_ALLOW,
	S_DENY,
	S_ASK,
	S_NEW,
	S_UP,
	S_DOWN,
	S_MISSED,
	S_EVENTS,
	S_MODE,
	S_NAME,
	S_TAGS,
	S_NOTE,
	S_END
};
enum event_col {
	E_TIME,
	E_DID,
	E_KIND,
	E_WHAT,
	E_WHO,
	E_BY,
	E_TOOK,
	E_NOTE,
	E_NO,
	E_RISK,
	E_COUNT,
	E_UP,
	E_DOWN,
	E_ADDRESS,
	E_FOLDER,
	E_REASON
};

/* worth: the lowest go first where there is no room; 0 = only when it is chosen. width 0: takes what
 * is left. */
struct col {
	const char *name, *head;
	int width, worth;
	bool is_right, is_number;
};

static const struct col session_cols[] = {
	[S_NO] = {"no", "#", 6, 20, true, true},
	[S_STARTED] = {"started", "STARTED", 15, 19, false, true},
	[S_AGENT] = {"agent", "AGENT", 8, 15, false, false},
	[S_PROJECT] = {"project", "PROJECT", 0, 16, false, false},
	[S_LENGTH] = {"length", "LENGTH", 7, 11, true, true},
	[S_ALLOW] = {"allow", "ALLOW", 5, 12, true, true},
	[S_DENY] = {"deny", "DENY", 5, 18, true, true},
	[S_ASK] = {"ask", "ASK", 5, 13, true, true},
	[S_NEW] = {"new", "NEW", 5, 10, true, true},
	[S_UP] = {"up", "UP", 6, 8, true, true},
	[S_DOWN] = {"down", "DOWN", 6, 9, true, true},
	[S_MISSED] = {"missed", "MISSED", 6, 0, true, true},
	[S_EVENTS] = {"events", "EVENTS", 7, 0, true, true},
	[S_MODE] = {"mode", "MODE", 6, 0, false, false},
	[S_NAME] = {"name", "NAME", 14, 0, false, false},
	[S_TAGS] = {"tags", "TAGS", 12, 0, false, false},
	[S_NOTE] = {"note", "NOTE", 20, 0, false, false},
	[S_END] = {"end", "END", 8, 17, false, false},
};

static const struct col event_cols[] = {
	[E_TIME] = {"time", "TIME", 8, 18, false, true},
	[E_DID] = {"did", "DID", 6, 19, false, false},
	[E_KIND] = {"kind", "KIND", 8, 15, false, false},
	[E_WHAT] = {"what", "WHAT", 0, 20, false, false},
	[E_WHO] = {"who", "WHO", 14, 14, false, false},
	[E_BY] = {"by", "BY", 12, 16, false, false},
	[E_TOOK] = {"took", "TOOK", 6, 8, true, true},
	[E_NOTE] = {"note", "NOTE", 14, 7, false, false},
	[E_NO] = {"no", "#", 7, 0, true, true},
	[E_RISK] = {"risk", "RISK", 8, 0, false, false},
	[E_COUNT] = {"count", "COUNT", 6, 0, true, true},
	[E_UP] = {"up", "UP", 6, 0, true, true},
	[E_DOWN] = {"down", "DOWN", 6, 0, true, true},
	[E_ADDRESS] = {"address", "ADDRESS", 20, 0, false, false},
	[E_FOLDER] = {"folder", "FOLDER", 20, 0, false, false},
	[E_REASON] = {"reason", "REASON", 20, 0, false, false},
};

static const struct col *cols_of(enum hist_level level, int *ret_n)
{
	*ret_n = (int)(level == HIST_SESSIONS ? ZW_N_ELEMENTS(session_cols)
					      : ZW_N_ELEMENTS(event_cols));
	return level == HIST_SESSIONS ? session_cols : event_cols;
}

/* -- what stands in a cell ----------------------------------------------------------------------- */

const char *hist_folder(const struct view_history *v, char *out, size_t size,
			const struct aud_session *s)
{
	struct zw_span folder = s->project.len > 0 ? s->project : s->cwd;
	char *text = NULL;

	mdl_set_path(v->view.core->model, &text, folder.p != NULL ? folder : zw_span(""));
	zw_strlcpy(out, text != NULL ? text : "", size);
	free(text);
	return out;
}

void hist_end_text(char *out, size_t size, const struct aud_session *s)
{
	char how[32];

	hist_shown(how, sizeof(how), s->how);
	if (s->ended_us == AUD_UNKNOWN)
		zw_strlcpy(out, "running", size);
	else if (s->exit_status > 0)
		snprintf(out, size, "exit %lld", (long long)s->exit_status);
	else if (s->exit_status == 0)
		zw_strlcpy(out, "ok", size);
	else
		zw_strlcpy(out, how, size);
}

static int64_t length_us(const struct aud_session *s)
{
	int64_t end_us = s->ended_us == AUD_UNKNOWN ? s->last_us : s->ended_us;

	return end_us > s->started_us ? end_us - s->started_us : 0;
}

static int64_t session_number(const struct aud_session *s, int col)
{
	const int64_t n[] = {[S_NO] = s->id,
			     [S_STARTED] = s->started_us,
			     [S_LENGTH] = length_us(s),
			     [S_ALLOW] = s->n_allow,
			     [S_DENY] = s->n_deny,
			     [S_ASK] = s->n_ask,
			     [S_NEW] = s->n_new,
			     [S_UP] = s->up_b,
			     [S_DOWN] = s->down_b,
			     [S_MISSED] = s->n_miss,
			     [S_EVENTS] = s->n_events};

	return n[col];
}

static int64_t event_number(const struct aud_event *e, int col)
{
	const int64_t n[] = {[E_TIME] = e->t_us,   [E_TOOK] = e->waited_ms, [E_NO] = e->no,
			     [E_COUNT] = e->count, [E_UP] = e->up_b,	    [E_DOWN] = e->down_b};

	return n[col];
}

/* Numbers as lists show them: "-" for what is not known. */
static void number(char *out, size_t size, int64_t n)
{
	if (n < 0)
		zw_strlcpy(out, "-", size);
	else
		snprintf(out, size, "%lld", (long long)n);
}

static void bytes(char *out, int64_t n)
{
	if (n <= 0)
		zw_strlcpy(out, "-", UI_FMT_MAX);
	else
		ui_fmt_bytes(out, (uint64_t)n);
}

static void session_text(const struct view_history *v, const struct aud_session *s, int col,
			 char *out, size_t size)
{
	int64_t min = length_us(s) / 60000000;

	if (col == S_STARTED)
		ui_fmt_day(out, s->started_us, zw_now_us());
	else if (col == S_LENGTH)
		snprintf(out, size, "%lld:%02lld%s", (long long)(min / 60), (long long)(min % 60),
			 s->ended_us == AUD_UNKNOWN ? "+" : "");
	else if (col == S_UP || col == S_DOWN)
		bytes(out, session_number(s, col));
	else if (session_cols[col].is_number)
		number(out, size, session_number(s, col));
	else if (col == S_PROJECT)
		hist_folder(v, out, size, s);
	else if (col == S_END)
		hist_end_text(out, size, s);
	else
		hist_shown(out, size,
			   col == S_AGENT  ? s->agent
			   : col == S_MODE ? s->mode
			   : col == S_NAME ? s->name
			   : col == S_TAGS ? s->tags
					   : s->note);
}

static unsigned did_of(struct zw_span word)
{
	for (unsigned i = ZW_DID_ALLOW; i <= ZW_DID_FAIL; i++)
		if (zw_span_eq(word, zw_did_word(i)))
			return i;
	return ZW_DID_FAIL + 1;
}

static void event_text(const struct aud_event *e, int col, char *out, size_t size)
{
	unsigned did = did_of(e->did);

	if (col == E_TIME) {
		ui_fmt_clock(out, e->t_us);
	} else if (col == E_DID) {
		zw_strlcpy(out, did <= ZW_DID_FAIL ? ui_did_shown(did) : "-", size);
	} else if (col == E_KIND) {
		hist_shown(out, 32, e->kind);
		if (e->is_new)
			zw_strlcpy(out + strlen(out), " *", 4);
	} else if (col == E_WHAT) {
		hist_target(out, size, e);
	} else if (col == E_WHO) {
		hist_proc(out, size, e);
	} else if (col == E_BY) {
		hist_by(out, size, e);
	} else if (col == E_TOOK) {
		if (e->waited_ms > 0)
			snprintf(out, size, "%.1f s", (double)e->waited_ms / 1000);
		else
			zw_strlcpy(out, "-", size);
	} else if (col == E_UP || col == E_DOWN) {
		bytes(out, event_number(e, col));
	} else if (event_cols[col].is_number) {
		number(out, size, event_number(e, col));
	} else {
		hist_shown(out, size,
			   col == E_RISK      ? e->risk
			   : col == E_ADDRESS ? e->address
			   : col == E_FOLDER  ? e->cwd
			   : col == E_REASON  ? e->reason
					      : e->note);
	}
}

/* -- which stand where ---------------------------------------------------------------------------- */

void hist_cols_lay(const struct view_history *v, enum hist_level level, int width,
		   struct hist_layout *ret)
{
	int n_all, n = 0, fixed = 2; /* the mark of the selection */
	const struct col *cols = cols_of(level, &n_all);
	const struct hist_choice *choice = &v->choice[level];
	int order[HIST_COLS_MAX];

	for (int i = 0; choice->n == 0 && i < n_all; i++)
		if (cols[i].worth > 0)
			order[n++] = i;
	for (int i = 0; i < choice->n; i++)
		order[n++] = choice->col[i];
	for (;;) {
		int least = 0;

		fixed = 2;
		for (int i = 0; i < n; i++) {
			const struct col *c = &cols[order[i]];

			fixed += (c->width > 0 ? c->width : FLEX_MIN) + GAP;
			/* Of those that the user chose the last goes first. */
			if (choice->n > 0 || c->worth < cols[order[least]].worth)
				least = i;
		}
		bool is_little = choice->n == 0 && cols[order[least]].worth < WORTH_LITTLE;
		if (fixed - GAP + (is_little ? FLEX_FULL - FLEX_MIN : 0) <= width || n <= 1)
			break;
		memmove(order + least, order + least + 1, (size_t)(--n - least) * sizeof(*order));
	}
	int at = 2, spare = width - (fixed - GAP);
	ret->n = n;
	for (int i = 0; i < n; i++) {
		int own = cols[order[i]].width;

		ret->col[i] = order[i];
		ret->at[i] = at;
		ret->width[i] = own > 0 ? own : FLEX_MIN + (spare > 0 ? spare : 0);
		if (at + ret->width[i] > width)
			ret->width[i] = width > at ? width - at : 0;
		at += ret->width[i] + GAP;
	}
}

void hist_cols_heads(const struct view_history *v, enum hist_level level,
		     const struct hist_layout *l, const struct draw_ctx *c)
{
	const struct hist_sort *sort = &v->sort[level];
	int n_all;
	const struct col *cols = cols_of(level, &n_all);

	for (int i = 0; i < l->n; i++) {
		const struct col *col = &cols[l->col[i]];
		char head[24];

		snprintf(head, sizeof(head), "%s%s", col->head,
			 sort->col != l->col[i] ? ""
			 : sort->is_up		? "^"
						: "v");
		if (col->is_right)
			draw_right(c, 0, l->at[i], l->width[i], UI_STYLE_HEAD, head);
		else
			draw_fit(c, 0, l->at[i], l->width[i], UI_STYLE_HEAD, head);
	}
}

static enum ui_style style_of(enum hist_level level, const void *row, int col)
{
	const struct aud_session *s = row;

	if (level != HIST_SESSIONS)
		return col == E_DID ? ui_did_style(did_of(((const struct aud_event *)row)->did))
				    : UI_STYLE_TEXT;
	if (col == S_NO)
		return UI_STYLE_STRONG;
	if (col == S_DENY && s->n_deny > 0)
		return UI_STYLE_DENY;
	return col == S_END && s->ended_us == AUD_UNKNOWN ? UI_STYLE_ALLOW : UI_STYLE_TEXT;
}

void hist_cols_row(const struct view_history *v, enum hist_level level, const struct hist_layout *l,
		   const struct draw_ctx *c, int row, const void *what)
{
	char text[1200];
	int n_all;
	const struct col *cols = cols_of(level, &n_all);

	for (int i = 0; i < l->n; i++) {
		int col = l->col[i];
		enum ui_style style = style_of(level, what, col);

		*text = '\0';
		if (level == HIST_SESSIONS)
			session_text(v, what, col, text, sizeof(text));
		else
			event_text(what, col, text, sizeof(text));
		if (cols[col].is_right)
			draw_right(c, row, l->at[i], l->width[i], style, text);
		else if (cols[col].width == 0)
			draw_fit_end(c, row, l->at[i], l->width[i], style, text);
		else
			draw_fit(c, row, l->at[i], l->width[i], style, text);
	}
}

/* -- choice ------------------------------------------------------------------------------------------ */

void hist_cols_names(const struct view_history *v, enum hist_level level, char *out, size_t size)
{
	int n_all;
	const struct col *cols = cols_of(level, &n_all);
	const struct hist_choice *choice = &v->choice[level];
	size_t used = 0;

	*out = '\0';
	for (int i = 0; i < (choice->n > 0 ? choice->n : n_all) && used < size; i++) {
		int col = choice->n > 0 ? choice->col[i] : i;

		if (choice->n > 0 || cols[col].worth > 0)
			used += (size_t)snprintf(out + used, size - used, "%s%s",
						 used > 0 ? " " : "", cols[col].name);
	}
}

void hist_cols_all(enum hist_level level, char *out, size_t size)
{
	int n_all;
	const struct col *cols = cols_of(level, &n_all);
	size_t used = 0;

	*out = '\0';
	for (int i = 0; i < n_all && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? " " : "",
					 cols[i].name);
}

bool hist_cols_choose(struct view_history *v, enum hist_level level, const char *words)
{
	struct hist_choice choice = {.n = 0};
	int n_all;
	const struct col *cols = cols_of(level, &n_all);

	while (*(words += strspn(words, " ,")) != '\0') {
		struct zw_span word = zw_span_n(words, strcspn(words, " ,"));
		int i = 0;

		while (i < n_all && !zw_span_eq(word, cols[i].name))
			i++;
		if (i == n_all || choice.n == HIST_COLS_MAX) {
			snprintf(v->said, sizeof(v->said), "no column '%.*s'", (int)word.len,
				 word.p);
			return false;
		}
		choice.col[choice.n++] = i;
		words += word.len;
	}
	v->choice[level] = choice;
	return true;
}

/* -- sorting ----------------------------------------------------------------------------------------- */

void hist_sort_next(struct view_history *v, enum hist_level level, const struct hist_layout *l)
{
	struct hist_sort *s = &v->sort[level];
	int i = 0;

	while (i < l->n && s->col >= 0 && l->col[i] != s->col)
		i++;
	i = s->col < 0 || i == l->n ? 0 : i + 1;
	s->col = i < l->n ? l->col[i] : -1;
	s->is_up = false;
}

const char *hist_sort_name(const struct view_history *v, enum hist_level level)
{
	int n_all;
	const struct col *cols = cols_of(level, &n_all);

	return v->sort[level].col < 0 ? NULL : cols[v->sort[level].col].name;
}

struct key {
	const void *row;
	char *text; /* owned; NULL = by the number */
	int64_t number;
	size_t at; /* where it stood: equal ones stay in this order */
};

static int compare(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int r = x->text != NULL ? strcasecmp(x->text, y->text)
				: (x->number > y->number) - (x->number < y->number);

	return r != 0 ? r : (x->at > y->at) - (x->at < y->at);
}

static int compare_down(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int r = x->text != NULL ? strcasecmp(y->text, x->text)
				: (y->number > x->number) - (y->number < x->number);

	return r != 0 ? r : (x->at > y->at) - (x->at < y->at);
}

void hist_sort_rows(const struct view_history *v, enum hist_level level, const void **rows,
		    size_t n)
{
	const struct hist_sort *s = &v->sort[level];
	int n_all;
	const struct col *cols = cols_of(level, &n_all);
	char text[1200];

	if (s->col < 0 || n == 0)
		return;
	struct key *keys = zw_xcalloc(n, sizeof(*keys));
	for (size_t i = 0; i < n; i++) {
		keys[i] = (struct key){.row = rows[i], .at = i};
		if (cols[s->col].is_number) {
			keys[i].number = level == HIST_SESSIONS ? session_number(rows[i], s->col)
								: event_number(rows[i], s->col);
			continue;
		}
		*text = '\0';
		if (level == HIST_SESSIONS)
			session_text(v, rows[i], s->col, text, sizeof(text));
		else
			event_text(rows[i], s->col, text, sizeof(text));
		keys[i].text = zw_xstrdup(text);
	}
	/* Numbers the largest first, words from A; the other way round on request. */
	qsort(keys, n, sizeof(*keys), cols[s->col].is_number != s->is_up ? compare_down : compare);
	for (size_t i = 0; i < n; i++) {
		rows[i] = keys[i].row;
		free(keys[i].text);
	}
	free(keys);
}
