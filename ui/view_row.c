/* SPDX-License-Identifier: MIT
 * All about one connection or socket, on a page of its own. */
#include <stdio.h>
#include <string.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/prefix.h"
#include "src/base/vis.h"
#include "src/base/words.h"
#include "ui/core.h"
#include "ui/fmt.h"

#define LABEL_COLS  10
#define OTHERS_MAX  12
#define EARLIER_MAX 5
/* The look into earlier sessions is given up rather than holding up the screen. */
#define EARLIER_MS 150

struct view_row {
	struct view view;
	uint64_t row; /* key */
	enum ui_focus from;
	int scroll, height, n_lines;
	bool is_earlier_known;
	size_t n_earlier;
	char earlier[EARLIER_MAX][200];
	int64_t until_ms;
};

/* Where the next line goes: lines above the scrolled part are counted, not drawn. */
struct pen {
	const struct draw_ctx *c;
	int line, scroll;
};

static void put(struct pen *p, int col, enum ui_style style, const char *text)
{
	if (p->line >= p->scroll)
		draw_fit(p->c, p->line - p->scroll, col, p->c->cols - col - 1, style, text);
}

/* Where texts begin; where it is narrow, below their labels. */
static int text_left(const struct draw_ctx *c)
{
	return c->cols >= 36 ? LABEL_COLS : 3;
}

static void put_wrapped(struct pen *p, const char *label, enum ui_style style, const char *text)
{
	int left = text_left(p->c);
	int width = p->c->cols - left - 1 > 1 ? p->c->cols - left - 1 : 1;
	struct zw_span line;

	if (*text == '\0')
		return;
	put(p, 1, UI_STYLE_QUIET, label);
	if (left == 3)
		p->line++;
	while (draw_wrap_next(&text, width, &line)) {
		zw_autofree char *one = zw_span_dup(line);

		put(p, left, style, one);
		p->line++;
	}
}

static void putf(struct pen *p, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void putf(struct pen *p, const char *label, const char *fmt, ...)
{
	char text[2600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	put_wrapped(p, label, UI_STYLE_TEXT, text);
}

static void put_title(struct pen *p, const char *text)
{
	p->line++;
	if (p->line >= p->scroll) {
		draw_hline(p->c, p->line - p->scroll, 0, p->c->cols, DRAW_THIN, UI_STYLE_LINE);
		draw_text(p->c, p->line - p->scroll, 1, UI_STYLE_TITLE, " ");
		int end = draw_text(p->c, p->line - p->scroll, 2, UI_STYLE_TITLE, text);
		draw_text(p->c, p->line - p->scroll, end, UI_STYLE_TITLE, " ");
	}
	p->line++;
}

/* -- earlier sessions ---------------------------------------------------------------------------- */

static bool is_too_long(void *arg)
{
	return zw_mono_ms() > ((struct view_row *)arg)->until_ms;
}

static void earlier_add(struct view_row *v, const struct aud_event *e)
{
	char day[UI_FMT_MAX], did[32], by[32], who[64];

	zw_vis(did, sizeof(did), e->did.p, e->did.len);
	zw_vis(by, sizeof(by), e->by.p, e->by.len);
	zw_autofree char *exe = zw_span_dup(e->exe);
	zw_vis(who, sizeof(who), zw_basename(exe), strlen(zw_basename(exe)));
	snprintf(v->earlier[v->n_earlier++], sizeof(v->earlier[0]),
		 "session %-5lld %-16s %-6s %s by %s", (long long)e->session,
		 ui_fmt_day(day, e->t_us, zw_now_us()), did, who, by);
}

/* The newest rows of the same target in other sessions of this project. */
static void earlier_find(struct view_row *v, const struct ui_row *r)
{
	struct ui_core *core = v->view.core;
	const struct mdl_session *m = core->model;
	zw_autofree char *term = ui_row_term(r, false);
	bool is_home = m->project[0] == '~' && m->home[0] != '\0';
	zw_autofree char *text = zw_xasprintf("%s project=\"%s%s\" -session:%ju -did:auto -did:ask",
					      term, is_home ? m->home : "",
					      m->project + (is_home ? 1 : 0), (uintmax_t)m->number);
	struct aud_filter_error error;
	struct aud_filter *f = NULL;
	struct aud_query *q = NULL;
	struct aud_event_page page = {0};

	v->is_earlier_known = false;
	v->n_earlier = 0;
	if (core->config.history_path == NULL ||
	    aud_filter_parse(text, zw_now_us(), &f, &error) < 0)
		return;
	v->until_ms = zw_mono_ms() + EARLIER_MS;
	if (aud_query_open(core->config.history_path, &q) == 0) {
		aud_query_on_progress(q, is_too_long, v);
		v->is_earlier_known = aud_find(q, f, 0, AUD_BACKWARD, 0, EARLIER_MAX, &page) == 0;
		for (size_t i = 0; i < page.n_rows && v->n_earlier < EARLIER_MAX; i++)
			earlier_add(v, &page.rows[i]);
		aud_event_page_clear(&page);
		aud_query_free(q);
	}
	aud_filter_free(f);
}

static void put_earlier(struct view_row *v, struct pen *p)
{
	put_title(p, "Before this session, in this project");
	if (!v->is_earlier_known)
		put(p, 3, UI_STYLE_QUIET,
		    v->view.core->config.history_path == NULL
			    ? "no history is kept"
			    : "not known: the search took too long");
	else if (v->n_earlier == 0)
		put(p, 3, UI_STYLE_TEXT, "never");
	p->line += v->n_earlier == 0;
	for (size_t i = 0; i < v->n_earlier; i++, p->line++)
		put(p, 3, UI_STYLE_TEXT, v->earlier[i]);
}

/* -- what both kinds have ------------------------------------------------------------------------ */

static void put_decision(struct view_row *v, struct pen *p, unsigned did, unsigned by,
			 uint32_t rule, const char *reason)
{
	struct ui_core *core = v->view.core;
	const char *says = by == ZW_BY_RULE ? core->host.rule_text(core->host.arg, rule) : NULL;
	char why[600];

	ui_why_text(why, sizeof(why), by, rule, reason);
	putf(p, "Decision", "%s by %s%s%s", ui_did_shown(did), why, says != NULL ? ": " : "",
	     says != NULL ? says : "");
	if (by != ZW_BY_NATIVE)
		put_wrapped(p, "Why", UI_STYLE_TEXT, reason);
}

static void put_proc(struct pen *p, const struct mdl_proc *proc)
{
	putf(p, "Who", "%s%s%s(%u)", proc->chain, *proc->chain != '\0' ? " > " : "",
	     mdl_proc_name(proc), proc->pid);
	put_wrapped(p, "Command", UI_STYLE_TEXT, proc->command);
	put_wrapped(p, "Folder", UI_STYLE_TEXT, proc->cwd);
	put_wrapped(p, "Program", UI_STYLE_TEXT, proc->exe);
}

/* -- a connection -------------------------------------------------------------------------------- */

static void put_times(struct view_row *v, struct pen *p, const struct mdl_conn *m)
{
	const struct ui_core *core = v->view.core;
	int64_t now_us = core->config.wall0_us + core->now_ms * 1000;
	char at[UI_FMT_MAX], end[UI_FMT_MAX], open[UI_FMT_MAX];

	ui_fmt_clock(at, m->opened_us);
	if (m->did != ZW_DID_ALLOW) {
		putf(p, "Tried", "%s%s", at, m->n_times > 1 ? ", first of several times" : "");
		if (m->n_times > 1)
			putf(p, "Times", "%u", m->n_times);
	} else if (ui_conn_is_live(m)) {
		putf(p, "Open", "since %s, %s", at,
		     ui_fmt_span(open, (now_us - m->opened_us) / 1000));
	} else {
		putf(p, "Open", "%s to %s, %s", at, ui_fmt_clock(end, m->closed_us),
		     ui_fmt_span(open, (m->closed_us - m->opened_us) / 1000));
		put_wrapped(p, "End", UI_STYLE_TEXT, m->end);
	}
}

static void put_rate(struct view_row *v, struct pen *p, const struct mdl_conn *m)
{
	int64_t now_s = v->view.core->now_ms / 1000;
	int left = text_left(p->c), n = p->c->cols - left - 8;

	if (m->rate.newest_s <= now_s - MDL_RATE_N || n < 8)
		return;
	put(p, 1, UI_STYLE_QUIET, "Rate");
	p->line += left == 3;
	n = n < MDL_RATE_N ? n : MDL_RATE_N;
	if (p->line >= p->scroll) {
		ui_spark(p->c, p->line - p->scroll, left, n, &m->rate, now_s);
		draw_textf(p->c, p->line - p->scroll, left + n + 1, UI_STYLE_QUIET, "%d s", n);
	}
	p->line++;
}

static void put_others(struct view_row *v, struct pen *p, const struct mdl_conn *m)
{
	char at[UI_FMT_MAX], up[UI_FMT_MAX], down[UI_FMT_MAX], text[320];
	const struct mdl_conn *o;
	int n = 0;

	TAILQ_FOREACH (o, &v->view.core->model->conns, link) {
		if (o == m || o->port != m->port || strcmp(o->host, m->host) != 0 ||
		    o->did == ZW_DID_ASK || n == OTHERS_MAX)
			continue;
		if (n++ == 0)
			put_title(p, "Also to this site in this session");
		snprintf(text, sizeof(text), "%s  %-6s %6s %6s  %.40s(%u)  %.120s",
			 ui_fmt_clock(at, o->opened_us),
			 ui_conn_is_live(o) ? "live" : ui_did_shown(o->did),
			 ui_fmt_bytes(up, o->up_b), ui_fmt_bytes(down, o->down_b),
			 mdl_proc_name(&o->proc), o->proc.pid, o->end);
		put(p, 3, UI_STYLE_TEXT, text);
		p->line++;
	}
}

static void put_conn(struct view_row *v, struct pen *p, const struct mdl_conn *m)
{
	char up[UI_FMT_MAX], down[UI_FMT_MAX];

	put_decision(v, p, m->did, m->by, m->rule, m->reason);
	put_proc(p, &m->proc);
	putf(p, "Name", "%s (by %s)", *m->host != '\0' ? m->host : "none", zw_via_word(m->via));
	put_wrapped(p, "Address", UI_STYLE_TEXT, m->address);
	put_times(v, p, m);
	if (m->did == ZW_DID_ALLOW) {
		putf(p, "Bytes", "up %s   down %s", ui_fmt_count(up, m->up_b),
		     ui_fmt_count(down, m->down_b));
		put_rate(v, p, m);
	}
	put_others(v, p, m);
}

/* -- a socket ------------------------------------------------------------------------------------ */

static void put_sock(struct view_row *v, struct pen *p, const struct mdl_sock *k)
{
	char at[UI_FMT_MAX], up[UI_FMT_MAX], down[UI_FMT_MAX];

	put_decision(v, p, k->did, k->by, k->rule, k->reason);
	put_wrapped(p, "Asked", UI_STYLE_TEXT, strcmp(k->asked, k->target) != 0 ? k->asked : "");
	putf(p, "Class", "%s, %s", *k->class_name != '\0' ? k->class_name : "not in the catalogue",
	     zw_risk_word(k->risk));
	if (k->n_times == 1)
		putf(p, "Call", "%s, once, %s", zw_op_word(k->op), ui_fmt_clock(at, k->t_us));
	else
		putf(p, "Call", "%s, %u times, last %s", zw_op_word(k->op), k->n_times,
		     ui_fmt_clock(at, k->t_us));
	put_proc(p, &k->proc);
	if (k->up_b > 0 || k->down_b > 0)
		putf(p, "Bytes", "up %s   down %s", ui_fmt_count(up, k->up_b),
		     ui_fmt_count(down, k->down_b));
	if (k->did == ZW_DID_AUTO)
		putf(p, "Meaning",
		     "Both ends are inside the sandbox: nobody is asked, no rule is "
		     "about it.");
}

/* -- the page ------------------------------------------------------------------------------------ */

static void draw_head(struct view_row *v, const struct draw_ctx *c, const struct ui_row *r)
{
	const struct ui_rows *rows = &v->view.core->list_rows[v->from];
	enum ui_style style;
	char text[4200];
	const char *word;
	size_t at = 0;

	while (at < rows->n && ui_row_key(at, (void *)(uintptr_t)rows) != v->row)
		at++;
	snprintf(text, sizeof(text), " %s %zu of %zu ", r->conn != NULL ? "Connection" : "Socket",
		 at < rows->n ? at + 1 : 0, rows->n);
	draw_hline(c, 0, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	draw_fit(c, 0, 1, c->cols - 2, UI_STYLE_FOCUS, text);
	dash_row_state(r, &word, &style);
	ui_row_target(text, sizeof(text), r);
	bool is_new = c->cols >= 60 && (r->conn != NULL ? r->conn->is_new : r->sock->is_new);
	int right = (int)strlen(word) + 1 + (is_new ? 21 : 0);
	draw_fit(c, 1, 1, c->cols - right - 3, UI_STYLE_STRONG, text);
	draw_text(c, 1, c->cols - right, style, word);
	if (is_new)
		draw_text(c, 1, c->cols - 21, UI_STYLE_NEW, "NEW in this project");
}

static void row_draw(struct view *view, const struct draw_ctx *c)
{
	struct view_row *v = (struct view_row *)view;
	struct ui_row r = ui_row_find(view->core->model, v->row);
	struct draw_ctx in = draw_sub(c, 3, 0, c->rows - 3, c->cols);

	view->core->is_cursor_visible = false;
	draw_clear(c);
	if (r.conn == NULL && r.sock == NULL) {
		char gone[120];

		snprintf(gone, sizeof(gone),
			 "This row made room for newer ones. The history still has it: %s h",
			 zw_prefix_name());
		draw_fit(c, 0, 1, c->cols - 2, UI_STYLE_TEXT, gone);
		return;
	}
	draw_head(v, c, &r);
	v->height = in.rows;
	for (int pass = 0; pass < 2; pass++) { /* how long it is shows when it is drawn */
		struct pen p = {.c = &in, .scroll = v->scroll};

		draw_clear(&in);
		if (r.conn != NULL)
			put_conn(v, &p, r.conn);
		else
			put_sock(v, &p, r.sock);
		put_earlier(v, &p);
		v->n_lines = p.line;
		int max = v->n_lines > in.rows ? v->n_lines - in.rows : 0;
		if (v->scroll <= max)
			break;
		v->scroll = max;
	}
}

static bool scroll(struct view_row *v, enum ui_cmd cmd)
{
	int page = v->height > 2 ? v->height - 1 : 1;
	int by = cmd == UI_CMD_DOWN	   ? 1
		 : cmd == UI_CMD_UP	   ? -1
		 : cmd == UI_CMD_PAGE_DOWN ? page
		 : cmd == UI_CMD_PAGE_UP   ? -page
		 : cmd == UI_CMD_HALF_DOWN ? page / 2
		 : cmd == UI_CMD_HALF_UP   ? -page / 2
		 : cmd == UI_CMD_LAST	   ? v->n_lines
		 : cmd == UI_CMD_FIRST	   ? -v->n_lines
					   : 0;

	v->scroll = v->scroll + by > 0 ? v->scroll + by : 0;
	return by != 0;
}

static void load(struct view_row *v)
{
	struct ui_row r = ui_row_find(v->view.core->model, v->row);

	v->scroll = 0;
	if (r.conn != NULL || r.sock != NULL)
		earlier_find(v, &r);
}

/* The row beside it in the list, whose selection goes along. */
static void go(struct view_row *v, enum ui_cmd move)
{
	struct ui_core *core = v->view.core;
	struct ui_list *list = &core->lists[v->from];
	struct ui_rows *rows = &core->list_rows[v->from];

	dash_update(core);
	ui_list_move(list, move, ui_row_key, rows);
	if (list->sel >= rows->n || rows->row[list->sel].ask != NULL)
		return;
	v->row = list->key;
	load(v);
}

static enum ui_cmd row_cmd(struct view *view, enum ui_cmd cmd)
{
	struct view_row *v = (struct view_row *)view;
	struct ui_core *core = view->core;

	if (scroll(v, cmd))
		return UI_CMD_NONE;
	if (cmd == UI_CMD_ROW_NEXT || cmd == UI_CMD_ROW_PREVIOUS) {
		go(v, cmd == UI_CMD_ROW_NEXT ? UI_CMD_DOWN : UI_CMD_UP);
		return UI_CMD_NONE;
	}
	uint64_t row = v->row;
	bool is_filter =
		cmd == UI_CMD_FILTER_ROW || cmd == UI_CMD_FILTER_OUT || cmd == UI_CMD_ROW_PROGRAM;
	if (is_filter)
		view_pop(core); /* what is filtered is the list below */
	if (dash_row_cmd(core, cmd, row))
		return UI_CMD_NONE;
	return cmd;
}

static const char *row_hints(struct view *view)
{
	struct view_row *v = (struct view_row *)view;
	bool is_more = v->scroll + v->height < v->n_lines;

	if (view->core->cols >= 100)
		return "c copy  b close  n deny from now on  f this site  p program  ? Esc";
	if (view->core->cols >= 60)
		return is_more ? "Space more  c copy  b close  n deny  Esc"
			       : "c copy  b close  n deny  ? help  Esc";
	return is_more ? "Space more  Esc" : "Esc back";
}

static const struct view_ops row_ops = {.name = "row",
					.section = UI_SECTION_ROWS,
					.draw = row_draw,
					.cmd = row_cmd,
					.hints = row_hints};

void view_row_open(struct ui_core *core, uint64_t row)
{
	struct view_row *v = zw_xnew(struct view_row);

	v->view.ops = &row_ops;
	v->row = row;
	v->from = core->focus;
	view_push(core, &v->view);
	load(v);
}
