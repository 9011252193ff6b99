/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/prefix.h"
#include "src/base/words.h"
#include "ui/core.h"
#include "ui/fmt.h"

#define PREFIX_HINT_MS 500
#define SPARK_COLS_MIN 8

/* -- words ------------------------------------------------------------------------------------- */

enum ui_style ui_did_style(unsigned did)
{
	static const enum ui_style style[] = {
		[ZW_DID_ALLOW] = UI_STYLE_ALLOW, [ZW_DID_DENY] = UI_STYLE_DENY,
		[ZW_DID_AUTO] = UI_STYLE_AUTO,	 [ZW_DID_ASK] = UI_STYLE_ASK,
		[ZW_DID_MISS] = UI_STYLE_MISS,	 [ZW_DID_GONE] = UI_STYLE_AUTO,
		[ZW_DID_FAIL] = UI_STYLE_AUTO,
	};

	return did < ZW_N_ELEMENTS(style) ? style[did] : UI_STYLE_TEXT;
}

/* Capitals for what needs an eye, so that no colour is needed. */
const char *ui_did_shown(unsigned did)
{
	if (did == ZW_DID_DENY)
		return "DENY";
	if (did == ZW_DID_ASK)
		return "ASK";
	if (did == ZW_DID_MISS)
		return "MISS";
	return zw_did_word(did);
}

enum ui_style ui_risk_style(enum pol_risk risk)
{
	if (risk == POL_RISK_CRITICAL)
		return UI_STYLE_CRITICAL;
	return risk == POL_RISK_HIGH ? UI_STYLE_HIGH : UI_STYLE_TEXT;
}

/* -- rows -------------------------------------------------------------------------------------- */

static size_t list_height(const struct ui_core *core, enum ui_focus which)
{
	int rows = which == UI_FOCUS_CONNS ? core->rects.conns.rows : core->rects.socks.rows;

	if (core->rects.shape == UI_SHAPE_AGENT)
		rows = core->rects.above.rows - 1;
	rows -= core->rects.has_heads || core->rects.shape == UI_SHAPE_AGENT ? 1 : 0;
	return rows > 0 ? (size_t)rows : 0;
}

/* Rows point into the model: read anew when something was said to have changed, and in any case
 * when a row came or had to make room. */
static bool is_stale(const struct ui_core *core)
{
	const struct mdl_session *m = core->model;

	return core->is_stale || core->n_dropped != m->n_dropped || core->n_conns != m->n_conns ||
	       core->n_socks != m->n_socks || core->n_asks != m->n_asks;
}

static void read_rows(struct ui_core *core)
{
	static const enum pol_kind kinds[] = {
		[UI_FOCUS_CONNS] = POL_KIND_SITE, [UI_FOCUS_SOCKS] = POL_KIND_SOCKET};

	for (int i = UI_FOCUS_CONNS; i <= UI_FOCUS_SOCKS; i++)
		ui_rows_fill(&core->list_rows[i], core->model, kinds[i], core->picks[i].filter,
			     core->picks[i].sort);
	core->is_stale = false;
	core->n_dropped = core->model->n_dropped;
	core->n_conns = core->model->n_conns;
	core->n_socks = core->model->n_socks;
	core->n_asks = core->model->n_asks;
}

void dash_update(struct ui_core *core)
{
	if (is_stale(core))
		read_rows(core);
	for (int i = UI_FOCUS_CONNS; i <= UI_FOCUS_SOCKS; i++) {
		/* A key has to act on the row that was seen when it was pressed: with the keys, the
		 * selection stays on its row and does not go along with the newest. */
		if (core->focus == (enum ui_focus)i)
			core->lists[i].is_at_top = false;
		ui_list_update(&core->lists[i], core->list_rows[i].n,
			       list_height(core, (enum ui_focus)i), ui_row_key,
			       &core->list_rows[i]);
	}
}

struct ui_row dash_selected(struct ui_core *core)
{
	const struct ui_rows *rows = &core->list_rows[core->focus];
	const struct ui_list *list = &core->lists[core->focus];

	return core->focus != UI_FOCUS_AGENT && list->sel < rows->n ? rows->row[list->sel]
								    : (struct ui_row){0};
}

/* -- lists ------------------------------------------------------------------------------------- */

/* Columns of a list of some width; 0 = not shown. */
struct columns {
	int name, proc, up, down, why; /* where each begins */
	int name_w, proc_w, why_w;
	bool has_pid;
};

static struct columns conn_columns(int width)
{
	struct columns c = {.name = 7};
	int right = width - 1;

	if (width >= 56) {
		c.down = right - 6;
		c.up = c.down - 7;
		right = c.up - 1;
	}
	c.has_pid = width >= 56;
	c.proc_w = c.has_pid ? 12 : width >= 36 ? 10 : 0;
	c.proc = c.proc_w > 0 ? right - c.proc_w : 0;
	c.name_w = (c.proc > 0 ? c.proc - 1 : right) - c.name;
	return c;
}

static struct columns sock_columns(int width)
{
	struct columns c = {.name = 7};
	int right = width - 1;

	c.why_w = width >= 48 ? 9 : width >= 30 ? 6 : 0;
	c.why = c.why_w > 0 ? right - c.why_w + 1 : 0;
	right = c.why_w > 0 ? c.why - 1 : right;
	c.has_pid = width >= 52;
	c.proc_w = c.has_pid ? 13 : width >= 38 ? 8 : width >= 26 ? 6 : 0;
	c.proc = c.proc_w > 0 ? right - c.proc_w : 0;
	c.name_w = (c.proc > 0 ? c.proc - 1 : right) - c.name;
	return c;
}

static void draw_proc(const struct draw_ctx *c, int row, const struct columns *col,
		      const struct mdl_proc *p)
{
	char text[64];

	if (col->proc == 0)
		return;
	if (col->has_pid)
		snprintf(text, sizeof(text), "%.40s(%u)", mdl_proc_name(p), p->pid);
	else
		snprintf(text, sizeof(text), "%.40s", mdl_proc_name(p));
	draw_fit(c, row, col->proc, col->proc_w, UI_STYLE_TEXT, text);
}

static void draw_state(const struct draw_ctx *c, int row, enum ui_style style, const char *word,
		       bool is_new)
{
	draw_fit(c, row, 1, 5, style, word);
	if (is_new)
		draw_text(c, row, strlen(word) < 5 ? 5 : 6, UI_STYLE_NEW, "*");
}

static void draw_ask_row(const struct draw_ctx *c, int row, const struct columns *col,
			 const struct mdl_ask *a, int64_t now_ms)
{
	char held[UI_FMT_MAX];

	draw_state(c, row, UI_STYLE_ASK, "ASK", a->is_new);
	draw_fit(c, row, col->name, col->name_w, UI_STYLE_STRONG, a->title);
	draw_proc(c, row, col, &a->proc);
	ui_fmt_span(held, now_ms - a->since_ms);
	if (col->why > 0)
		draw_fit(c, row, col->why, col->why_w, UI_STYLE_ASK, held);
	else if (col->down > 0)
		draw_right(c, row, col->down, 6, UI_STYLE_ASK, held);
}

void dash_row_state(const struct ui_row *r, const char **ret_word, enum ui_style *ret_style)
{
	const struct mdl_conn *m = r->conn;
	unsigned did = r->ask != NULL ? ZW_DID_ASK : m != NULL ? m->did : r->sock->did;

	*ret_style = ui_did_style(did);
	*ret_word = ui_did_shown(did);
	if (m != NULL && did == ZW_DID_ALLOW) {
		*ret_word = ui_conn_is_live(m) ? "live" : "done";
		*ret_style = ui_conn_is_live(m) ? UI_STYLE_ALLOW : UI_STYLE_TEXT;
	}
}

static void host_text(char *out, size_t size, const struct mdl_conn *m)
{
	ui_site_text(out, size, m);
	if (m->n_times > 1) {
		size_t used = strlen(out);

		snprintf(out + used, size - used, " x%u", m->n_times);
	}
}

static void draw_conn_row(const struct draw_ctx *c, int row, const struct columns *col,
			  const struct mdl_conn *m)
{
	char host[320], n[UI_FMT_MAX];
	enum ui_style style;
	const char *word;

	dash_row_state(&(struct ui_row){.conn = m}, &word, &style);
	draw_state(c, row, style, word, m->is_new);
	host_text(host, sizeof(host), m);
	draw_fit(c, row, col->name, col->name_w, UI_STYLE_TEXT, host);
	draw_proc(c, row, col, &m->proc);
	if (col->up == 0)
		return;
	bool has_bytes = m->did == ZW_DID_ALLOW;
	draw_right(c, row, col->up, 6, UI_STYLE_TEXT, has_bytes ? ui_fmt_bytes(n, m->up_b) : "-");
	draw_right(c, row, col->down, 6, UI_STYLE_TEXT,
		   has_bytes ? ui_fmt_bytes(n, m->down_b) : "-");
}

/* The end of a path tells most: all of it, or its last two parts, or the last. */
static void sock_name(char *out, size_t size, const struct mdl_sock *m, int width)
{
	const char *name = m->target, *last = strrchr(name, '/'), *two = last;
	char times[16] = "";

	if (m->n_times > 1)
		snprintf(times, sizeof(times), " x%u", m->n_times);
	width -= (int)strlen(times);
	while (two != NULL && two > name && two[-1] != '/')
		two--;
	if (draw_width(name) > width && two != NULL)
		name = draw_width(two) <= width ? two : last + 1;
	snprintf(out, size, "%s", name);
	if (draw_width(out) <= width || size < 4) {
		size_t used = strlen(out);

		snprintf(out + used, size - used, "%s", times);
	}
}

static void draw_sock_row(const struct draw_ctx *c, int row, const struct columns *col,
			  const struct mdl_sock *m)
{
	char name[512], why[64];

	draw_state(c, row, ui_did_style(m->did), ui_did_shown(m->did), m->is_new);
	sock_name(name, sizeof(name), m, col->name_w);
	draw_fit(c, row, col->name, col->name_w,
		 m->risk >= POL_RISK_HIGH ? UI_STYLE_STRONG : UI_STYLE_TEXT, name);
	draw_proc(c, row, col, &m->proc);
	ui_why_text(why, sizeof(why), m->by, m->rule, m->reason);
	if (col->why > 0)
		draw_fit(c, row, col->why, col->why_w, UI_STYLE_TEXT, why);
}

static void draw_heads(const struct draw_ctx *c, const struct columns *col, enum ui_focus which)
{
	bool is_conns = which == UI_FOCUS_CONNS;

	draw_text(c, 0, 1, UI_STYLE_HEAD, is_conns ? "STATE" : "DID");
	draw_text(c, 0, col->name, UI_STYLE_HEAD, is_conns ? "HOST" : "SOCKET");
	if (col->proc > 0)
		draw_text(c, 0, col->proc, UI_STYLE_HEAD, "PROC");
	if (col->up > 0) {
		draw_right(c, 0, col->up, 6, UI_STYLE_HEAD, "UP");
		draw_right(c, 0, col->down, 6, UI_STYLE_HEAD, "DOWN");
	}
	if (col->why > 0)
		draw_text(c, 0, col->why, UI_STYLE_HEAD, "WHY");
}

static void draw_row(struct ui_core *core, const struct draw_ctx *c, int row,
		     const struct columns *col, const struct ui_row *r)
{
	if (r->ask != NULL)
		draw_ask_row(c, row, col, r->ask, core->now_ms);
	else if (r->conn != NULL)
		draw_conn_row(c, row, col, r->conn);
	else
		draw_sock_row(c, row, col, r->sock);
}

static void draw_list(struct ui_core *core, const struct draw_ctx *c, enum ui_focus which,
		      bool has_heads)
{
	const struct ui_list *list = &core->lists[which];
	const struct ui_rows *rows = &core->list_rows[which];
	struct columns col =
		which == UI_FOCUS_CONNS ? conn_columns(c->cols) : sock_columns(c->cols);
	int top = has_heads ? 1 : 0;

	if (has_heads)
		draw_heads(c, &col, which);
	if (rows->n == 0)
		draw_fit(c, top, 1, c->cols - 2, UI_STYLE_QUIET,
			 core->picks[which].filter != NULL ? "nothing matches; Esc shows all"
			 : which == UI_FOCUS_CONNS	   ? "no connection so far"
							   : "no socket so far");
	for (size_t i = list->top; i < rows->n && top + (int)(i - list->top) < c->rows; i++) {
		int row = top + (int)(i - list->top);

		draw_row(core, c, row, &col, &rows->row[i]);
		if (core->focus == which && i == list->sel)
			draw_restyle(c, row, 0, c->cols, UI_STYLE_SELECT);
	}
}

/* -- traffic ----------------------------------------------------------------------------------- */

void ui_spark(const struct draw_ctx *c, int row, int col, int n, const struct mdl_rate *rate,
	      int64_t now_s)
{
	static const char *const utf8[] = {"\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83",
					   "\xe2\x96\x84", "\xe2\x96\x85", "\xe2\x96\x86",
					   "\xe2\x96\x87", "\xe2\x96\x88"};
	static const char *const ascii[] = {".", ".", ":", ":", ":", "|", "|", "|"};
	uint64_t max = 1, sum[MDL_RATE_N];
	uint32_t up, down;

	n = n < MDL_RATE_N ? n : MDL_RATE_N;
	for (int i = 0; i < n; i++) {
		mdl_rate_at(rate, now_s, n - 1 - i, &up, &down);
		sum[i] = (uint64_t)up + down;
		max = sum[i] > max ? sum[i] : max;
	}
	for (int i = 0; i < n; i++) {
		uint64_t step = 1;

		/* By the square root: one large second must not make all others vanish. */
		while (step < 7 && sum[i] * 49 > max * step * step)
			step++;
		draw_text(c, row, col + i, UI_STYLE_AUTO,
			  sum[i] == 0 ? (c->is_ascii ? "." : utf8[0])
				      : (c->is_ascii ? ascii : utf8)[step]);
	}
}

/* -- titles ------------------------------------------------------------------------------------ */

/* At most @width columns. Returns the column behind it. */
static int draw_title(const struct draw_ctx *c, int row, int col, int width, bool has_keys,
		      const char *text)
{
	draw_text(c, row, col, UI_STYLE_LINE, " ");
	int used = draw_fit(c, row, col + 1, width - 2, has_keys ? UI_STYLE_FOCUS : UI_STYLE_TITLE,
			    text);

	return draw_text(c, row, col + 1 + used, UI_STYLE_LINE, " ");
}

/* The last seconds of traffic, at the right end of a title, where there is room. */
static void draw_traffic(struct ui_core *core, const struct draw_ctx *c, int row, int from, int to)
{
	int64_t now_s = core->now_ms / 1000;
	int width = to - from - 2 < MDL_RATE_N ? to - from - 2 : MDL_RATE_N;

	if (width < SPARK_COLS_MIN || core->model->rate.newest_s <= now_s - MDL_RATE_N)
		return;
	draw_text(c, row, to - width - 1, UI_STYLE_LINE, " ");
	ui_spark(c, row, to - width, width, &core->model->rate, now_s);
	draw_text(c, row, to, UI_STYLE_LINE, " ");
}

/* What is not to be seen in the list, and why: a filter, an order, rows above. */
static void pick_text(struct ui_core *core, enum ui_focus which, char *out, size_t size)
{
	const struct ui_pick *pick = &core->picks[which];
	const struct ui_rows *rows = &core->list_rows[which];
	size_t used = 0;

	*out = '\0';
	if (core->focus == which && core->lists[which].top > 0)
		used += (size_t)snprintf(out, size, "  +%zu above", core->lists[which].top);
	if (pick->sort != UI_SORT_NEWEST)
		used += (size_t)snprintf(out + used, size - used, "  by %s",
					 ui_sort_word(pick->sort));
	if (pick->filter != NULL)
		snprintf(out + used, size - used, "  %zu of %zu: %.*s", rows->n, rows->n_all,
			 (int)(size - used) - 48, pick->text);
}

static void conns_title(struct ui_core *core, char *out, size_t size, int width)
{
	const struct mdl_session *s = core->model;
	char pick[128];

	pick_text(core, UI_FOCUS_CONNS, pick, sizeof(pick));
	if (width >= 43 && core->picks[UI_FOCUS_CONNS].filter == NULL)
		snprintf(out, size, "2 Connections  %ju live  %zu seen%s", (uintmax_t)s->n_live,
			 s->n_conns, pick);
	else
		snprintf(out, size, "2 Network  %ju live%s", (uintmax_t)s->n_live, pick);
}

static void socks_title(struct ui_core *core, char *out, size_t size, int width)
{
	const struct ui_rows *rows = &core->list_rows[UI_FOCUS_SOCKS];
	char pick[128];
	size_t n_ask = 0;

	while (n_ask < rows->n && rows->row[n_ask].ask != NULL)
		n_ask++;
	int used = snprintf(out, size, width >= 34 ? "3 Unix sockets" : "3 Sockets");
	if (core->model->n_auto > 0 && width >= 30)
		used += snprintf(out + used, size - (size_t)used, "  %ju auto",
				 (uintmax_t)core->model->n_auto);
	if (n_ask > 0)
		used += snprintf(out + used, size - (size_t)used, "  %zu ask", n_ask);
	pick_text(core, UI_FOCUS_SOCKS, pick, sizeof(pick));
	snprintf(out + used, size - (size_t)used, "%s", pick);
}

static void draw_stack(struct ui_core *core, const struct draw_ctx *c)
{
	const struct ui_rects *r = &core->rects;
	int top = r->lists.top, split = r->conns.cols, bottom = top + r->lists.rows - 1;
	char title[256];

	draw_hline(c, top, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	draw_part(c, top, split, DRAW_TEE_DOWN, UI_STYLE_LINE);
	draw_vline(c, top + 1, split, r->conns.rows, DRAW_THIN, UI_STYLE_LINE);
	draw_hline(c, bottom, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	draw_part(c, bottom, split, DRAW_TEE_UP, UI_STYLE_LINE);
	conns_title(core, title, sizeof(title), r->conns.cols);
	int end = draw_title(c, top, 1, split - 2, core->focus == UI_FOCUS_CONNS, title);
	draw_traffic(core, c, top, end, split - 2);
	socks_title(core, title, sizeof(title), r->socks.cols);
	draw_title(c, top, split + 2, c->cols - split - 3, core->focus == UI_FOCUS_SOCKS, title);
}

static void draw_side(struct ui_core *core, const struct draw_ctx *c)
{
	const struct ui_rects *r = &core->rects;
	int left = r->lists.left - 1, socks = r->socks.top - 1;
	char title[256];

	draw_vline(c, r->lists.top, left, r->lists.rows, DRAW_THIN, UI_STYLE_LINE);
	draw_hline(c, r->lists.top, left, r->lists.cols + 1, DRAW_THIN, UI_STYLE_LINE);
	draw_part(c, r->lists.top, left, DRAW_TOP_LEFT, UI_STYLE_LINE);
	draw_hline(c, socks, left, r->lists.cols + 1, DRAW_THIN, UI_STYLE_LINE);
	draw_part(c, socks, left, DRAW_TEE_RIGHT, UI_STYLE_LINE);
	conns_title(core, title, sizeof(title), r->conns.cols);
	int end = draw_title(c, r->lists.top, left + 1, r->lists.cols - 1,
			     core->focus == UI_FOCUS_CONNS, title);
	draw_traffic(core, c, r->lists.top, end, c->cols - 2);
	socks_title(core, title, sizeof(title), r->socks.cols);
	draw_title(c, socks, left + 1, r->lists.cols - 1, core->focus == UI_FOCUS_SOCKS, title);
}

static void draw_top_title(struct ui_core *core, const struct draw_ctx *c)
{
	const struct mdl_session *s = core->model;
	const char *dash = c->is_ascii ? "-" : "\xe2\x94\x80";
	int64_t age_s = (core->now_ms - s->started_ms) / 1000;
	char right[256], number[32] = "", left[320];

	if (s->number != 0)
		snprintf(number, sizeof(number), " %s #%ju", dash, (uintmax_t)s->number);
	snprintf(right, sizeof(right), " %.120s %s %s%s %s %02d:%02d:%02d ", s->project, dash,
		 zw_mode_word(s->mode), number, dash, (int)(age_s / 3600), (int)(age_s / 60 % 60),
		 (int)(age_s % 60));
	int right_w = draw_width(right), room = c->cols - right_w - 4;
	snprintf(left, sizeof(left), "%s%s%s", s->agent, *s->title != '\0' ? ": " : "", s->title);
	draw_hline(c, 0, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	if (room > 8)
		draw_text(c, 0, c->cols - right_w - 1, UI_STYLE_TEXT, right);
	draw_text(c, 0, 1, UI_STYLE_LINE, " ");
	int used = draw_fit(c, 0, 2, room > 8 ? room - 2 : c->cols - 4,
			    ui_core_agent_has_keys(core) ? UI_STYLE_FOCUS : UI_STYLE_TITLE, left);
	draw_text(c, 0, 2 + used, UI_STYLE_LINE, " ");
}

/* -- the agent --------------------------------------------------------------------------------- */

static void draw_agent(struct ui_core *core, const struct draw_ctx *all)
{
	const struct ui_rect *r = &core->rects.agent;
	struct draw_ctx c = draw_sub(all, r->top, r->left, r->rows, r->cols);

	for (int row = 0; row < core->agent.rows; row++)
		draw_copy_row(&c, row, &core->agent, row);
}

void dash_draw_agent(struct ui_core *core, const struct draw_ctx *all)
{
	const struct ui_rect *r = &core->rects.agent;
	struct draw_ctx c = draw_sub(all, r->top, r->left, r->rows, r->cols);

	for (int row = 0; row < core->agent.rows && row < c.rows; row++) {
		if (core->agent.touched[row] == 0)
			continue;
		draw_copy_row(&c, row, &core->agent, row);
		c.grid->touched[c.top + row] = 1;
	}
}

bool dash_is_agent_alone(const struct ui_core *core)
{
	return !is_stale(core) && *core->model->pane_gone == '\0' &&
	       (core->rects.shape != UI_SHAPE_AGENT || core->focus == UI_FOCUS_AGENT);
}

/* -- the row of events ------------------------------------------------------------------------- */

static void conn_event(char *out, size_t size, const struct mdl_conn *m)
{
	char clock[UI_FMT_MAX], why[64], host[320];

	ui_why_text(why, sizeof(why), m->by, m->rule, m->reason);
	host_text(host, sizeof(host), m);
	snprintf(out, size, "%s %s %.40s(%u) %.160s - %s", ui_fmt_clock(clock, m->opened_us),
		 ui_did_shown(m->did), mdl_proc_name(&m->proc), m->proc.pid, host, why);
}

static void sock_event(char *out, size_t size, const struct mdl_sock *m)
{
	char clock[UI_FMT_MAX], why[64];

	ui_why_text(why, sizeof(why), m->by, m->rule, m->reason);
	snprintf(out, size, "%s %s %.40s(%u) %.200s - %s", ui_fmt_clock(clock, m->t_us),
		 ui_did_shown(m->did), mdl_proc_name(&m->proc), m->proc.pid, m->target, why);
}

static bool is_quiet(unsigned did)
{
	return did == ZW_DID_AUTO || did == ZW_DID_ALLOW || did == ZW_DID_ASK;
}

/* The newest thing that was not simply let through. */
static bool newest_event(struct ui_core *core, char *out, size_t size)
{
	const struct mdl_conn *c;
	const struct mdl_sock *k;

	TAILQ_FOREACH (c, &core->model->conns, link)
		if (!is_quiet(c->did))
			break;
	TAILQ_FOREACH (k, &core->model->socks, link)
		if (!is_quiet(k->did))
			break;
	if (c == NULL && k == NULL)
		return false;
	if (k == NULL || (c != NULL && c->opened_us > k->t_us))
		conn_event(out, size, c);
	else
		sock_event(out, size, k);
	return true;
}

static void ask_detail(char *out, size_t size, const struct mdl_ask *a)
{
	snprintf(out, size, "Enter opens it: %.40s(%u) %.100s   %.200s", mdl_proc_name(&a->proc),
		 a->proc.pid, a->wants, a->target);
}

/* All about the selected row that the list has no room for. */
static bool selected_detail(struct ui_core *core, char *out, size_t size)
{
	const struct ui_rows *rows = &core->list_rows[core->focus];
	const struct ui_list *list = &core->lists[core->focus];

	if (core->focus == UI_FOCUS_AGENT || list->sel >= rows->n)
		return false;
	const struct ui_row *r = &rows->row[list->sel];
	if (r->ask != NULL) {
		ask_detail(out, size, r->ask);
		return true;
	}
	const struct mdl_proc *p = r->conn != NULL ? &r->conn->proc : &r->sock->proc;
	const char *reason = r->conn != NULL ? r->conn->reason : r->sock->reason;
	if (r->conn != NULL)
		conn_event(out, size, r->conn);
	else
		sock_event(out, size, r->sock);
	size_t used = strlen(out);
	snprintf(out + used, size - used, "   %s%s%s", reason, *reason != '\0' ? "   " : "",
		 p->command);
	return true;
}

/* "/ did:deny_" and what is to be said of it. */
static void draw_filter(struct ui_core *core, const struct draw_ctx *c, int row)
{
	const struct ui_rows *rows = &core->list_rows[core->focus];
	char said[200];

	snprintf(said, sizeof(said), "ok %zu of %zu", rows->n, rows->n_all);
	if (core->said[0] != '\0')
		zw_strlcpy(said, core->said, sizeof(said));
	else if (core->edit.len == 0)
		zw_strlcpy(said,
			   c->cols >= 80 ? "did:deny  host:*.example  -proc:npm  down>1m"
					 : "did:deny",
			   sizeof(said));
	int right = draw_width(said) < c->cols / 2 ? draw_width(said) : c->cols / 2;
	int room = c->cols - right - 6 > 1 ? c->cols - right - 6 : 1;
	draw_clear_row(c, row, UI_STYLE_TEXT);
	draw_text(c, row, 1, UI_STYLE_ASK, "/");
	int used = draw_fit_end(c, row, 3, room, UI_STYLE_STRONG, core->edit.text);
	draw_right(c, row, c->cols - 1 - right, right,
		   core->said[0] != '\0' ? UI_STYLE_WARN : UI_STYLE_QUIET, said);
	ui_core_cursor(core, c, row, 3 + used);
}

static void draw_event(struct ui_core *core, const struct draw_ctx *c, int row)
{
	char text[1024] = "";
	enum ui_style style = UI_STYLE_TEXT;
	bool has_message =
		core->message[0] != '\0' && core->now_ms - core->message_ms < UI_MESSAGE_MS;

	if (has_message) {
		zw_strlcpy(text, core->message, sizeof(text));
		style = UI_STYLE_STRONG;
	} else if (*core->model->warning != '\0' && core->focus == UI_FOCUS_AGENT) {
		zw_strlcpy(text, core->model->warning, sizeof(text));
		style = UI_STYLE_WARN;
	} else if (!selected_detail(core, text, sizeof(text))) {
		newest_event(core, text, sizeof(text));
	}
	draw_fit(c, row, 1, c->cols - 2, style, text);
}

/* -- a question knocks ------------------------------------------------------------------------- */

static enum draw_line risk_line(enum pol_risk risk)
{
	return risk == POL_RISK_CRITICAL ? DRAW_HEAVY
	       : risk == POL_RISK_HIGH	 ? DRAW_DOUBLE
					 : DRAW_THIN;
}

static enum ui_style risk_line_style(enum pol_risk risk)
{
	return risk == POL_RISK_CRITICAL ? UI_STYLE_CRITICAL_LINE
	       : risk == POL_RISK_HIGH	 ? UI_STYLE_HIGH_LINE
					 : UI_STYLE_ASK;
}

static void first_sentence(char *out, size_t size, const char *text)
{
	const char *end = strstr(text, ". ");

	zw_span_cpy(out, size,
		    end != NULL ? zw_span_n(text, (size_t)(end - text) + 1) : zw_span(text));
}

static int draw_wrapped(const struct draw_ctx *c, int row, int col, const char *text)
{
	struct zw_span line;

	while (row < c->rows && draw_wrap_next(&text, c->cols - col - 1, &line)) {
		char one[1024];

		zw_span_cpy(one, sizeof(one), line);
		draw_text(c, row++, col, UI_STYLE_TEXT, one);
	}
	return row;
}

static void draw_band(struct ui_core *core, const struct draw_ctx *all, const struct mdl_ask *a)
{
	const struct ui_rect *r = &core->rects.lists;
	char who[512], means[256], held[160];
	const char *risk = a->risk >= POL_RISK_HIGH ? zw_risk_word(a->risk) : "";

	first_sentence(means, sizeof(means), a->consequence);
	snprintf(who, sizeof(who), "%.40s(%u) %.120s. If allowed: %.200s", mdl_proc_name(&a->proc),
		 a->proc.pid, a->wants, means);
	snprintf(held, sizeof(held),
		 "%s a answers it. Until then it is held; your typing goes to %.20s.",
		 zw_prefix_name(), core->config.agent_name);
	int left = 6 + (*risk != '\0' ? (int)strlen(risk) + 2 : 0), width = r->cols - left - 1;
	int rows = 2 + draw_wrap_rows(who, width) + draw_wrap_rows(held, r->cols - 7);
	struct draw_ctx c =
		draw_sub(all, r->top, r->left, rows < r->rows ? rows : r->rows, r->cols);
	draw_clear(&c);
	draw_hline(&c, 0, 0, c.cols, risk_line(a->risk), risk_line_style(a->risk));
	draw_hline(&c, c.rows - 1, 0, c.cols, risk_line(a->risk), risk_line_style(a->risk));
	struct draw_ctx in = draw_sub(&c, 1, 0, c.rows - 2, c.cols);
	draw_text(&in, 0, 1, UI_STYLE_ASK, "ASK");
	draw_text(&in, 0, 6, ui_risk_style(a->risk), risk);
	draw_wrapped(&in, draw_wrapped(&in, 0, left, who), 6, held);
}

/* Over the agent's pane, which nobody draws: what happened, what goes on, what can be done. */
static void draw_pane_gone(struct ui_core *core, const struct draw_ctx *all)
{
	const struct ui_rect *r = &core->rects.agent;
	char died[256], lives[160];

	snprintf(lives, sizeof(lives),
		 "The agent, its rules and the record go on; what it prints waits. "
		 "%s r starts a new one.",
		 zw_prefix_name());
	snprintf(died, sizeof(died), "zwatch-pane, which draws the agent's screen, %.100s.",
		 core->model->pane_gone);
	int width = r->cols - 4 > 0 ? r->cols - 4 : 1;
	int rows = 2 + draw_wrap_rows(died, width) + draw_wrap_rows(lives, width);
	struct draw_ctx c =
		draw_sub(all, r->top, r->left, rows < r->rows ? rows : r->rows, r->cols);
	draw_clear(&c);
	draw_hline(&c, 0, 0, c.cols, DRAW_THIN, UI_STYLE_WARN);
	draw_hline(&c, rows - 1, 0, c.cols, DRAW_THIN, UI_STYLE_WARN);
	struct draw_ctx in = draw_sub(&c, 1, 0, c.rows - 1, c.cols);
	draw_wrapped(&in, draw_wrapped(&in, 0, 2, died), 2, lives);
}

/* -- all --------------------------------------------------------------------------------------- */

static void draw_part_list(struct ui_core *core, const struct draw_ctx *c, const struct ui_rect *r,
			   enum ui_focus which)
{
	struct draw_ctx part = draw_sub(c, r->top, r->left, r->rows, r->cols);

	draw_list(core, &part, which, core->rects.has_heads);
}

/* Where there is no room beside the agent, a list takes its place while it has the keys. */
static void draw_full_list(struct ui_core *core, const struct draw_ctx *c)
{
	struct ui_rect r = core->rects.above;
	struct draw_ctx list = draw_sub(c, 1, 0, r.rows - 1, r.cols);
	char title[256];

	draw_clear(c);
	draw_hline(c, 0, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	if (core->focus == UI_FOCUS_CONNS)
		conns_title(core, title, sizeof(title), r.cols);
	else
		socks_title(core, title, sizeof(title), r.cols);
	int end = draw_title(c, 0, 1, c->cols - 2, true, title);
	draw_traffic(core, c, 0, end, c->cols - 2);
	draw_list(core, &list, core->focus, true);
	/* Its place is the last row of the list: heads and newest rows stay in view. */
	if (core->is_filtering)
		draw_filter(core, c, c->rows - 1);
}

void dash_draw(struct ui_core *core, const struct draw_ctx *c)
{
	const struct ui_rects *r = &core->rects;
	const struct mdl_ask *ask = mdl_ask_first(core->model);

	if (r->shape == UI_SHAPE_AGENT && core->focus != UI_FOCUS_AGENT) {
		draw_full_list(core, c);
		return;
	}
	draw_agent(core, c);
	if (*core->model->pane_gone != '\0')
		draw_pane_gone(core, c);
	if (r->shape == UI_SHAPE_AGENT)
		return;
	draw_top_title(core, c);
	if (r->shape == UI_SHAPE_STACK)
		draw_stack(core, c);
	else
		draw_side(core, c);
	draw_part_list(core, c, &r->conns, UI_FOCUS_CONNS);
	draw_part_list(core, c, &r->socks, UI_FOCUS_SOCKS);
	if (core->is_filtering)
		draw_filter(core, c, r->event.top);
	else
		draw_event(core, c, r->event.top);
	if (ask != NULL && core->focus == UI_FOCUS_AGENT && core->top == NULL)
		draw_band(core, c, ask);
}

/* -- the status line --------------------------------------------------------------------------- */

#define SEGMENTS_MAX  16
#define TITLE_SHOWN_B 60
#define LEVEL_FULL    3 /* of the sandbox; below it something is missing */

struct segment {
	char text[160];
	enum ui_style style;
	int rank; /* the highest goes first when room is short */
	bool is_right;
};

struct segments {
	struct segment seg[SEGMENTS_MAX];
	int n;
};

static void add(struct segments *s, int rank, enum ui_style style, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void add(struct segments *s, int rank, enum ui_style style, const char *fmt, ...)
{
	struct segment *g = &s->seg[s->n];
	va_list ap;

	if (s->n == SEGMENTS_MAX)
		return;
	*g = (struct segment){.rank = rank, .style = style};
	va_start(ap, fmt);
	vsnprintf(g->text, sizeof(g->text), fmt, ap);
	va_end(ap);
	if (g->text[0] != '\0')
		s->n++;
}

static int segments_width(const struct segments *s)
{
	int sum = 2;

	for (int i = 0; i < s->n; i++)
		sum += draw_width(s->seg[i].text) + (i > 0 ? 3 : 0);
	return sum;
}

static void drop_until_fit(struct segments *s, int width)
{
	while (s->n > 1 && segments_width(s) > width) {
		int worst = 0;

		for (int i = 1; i < s->n; i++)
			if (s->seg[i].rank >= s->seg[worst].rank)
				worst = i;
		memmove(&s->seg[worst], &s->seg[worst + 1],
			(size_t)(s->n - worst - 1) * sizeof(s->seg[0]));
		s->n--;
	}
}

/* Segments with bars between; what is_right stands at the right edge. */
static void draw_segments(const struct draw_ctx *c, int row, struct segments *s)
{
	const char *bar = c->is_ascii ? " | " : " \xe2\x94\x82 ";
	int col = 1;

	drop_until_fit(s, c->cols);
	for (int i = 0; i < s->n; i++) {
		const struct segment *g = &s->seg[i];
		int width = draw_width(g->text);

		if (g->is_right && c->cols - 1 - width > col + 2)
			col = c->cols - 1 - width;
		else if (i > 0)
			col = draw_text(c, row, col, UI_STYLE_QUIET, bar);
		draw_fit(c, row, col, c->cols - col, g->style, g->text);
		col += width;
	}
}

static void add_waiting(struct ui_core *core, struct segments *s)
{
	const struct mdl_ask *a = mdl_ask_first(core->model);
	size_t n = mdl_asks_waiting(core->model);
	char held[UI_FMT_MAX];

	if (a == NULL)
		return;
	ui_fmt_span(held, core->now_ms - a->since_ms);
	enum ui_style style = a->risk == POL_RISK_CRITICAL ? UI_STYLE_CRITICAL : UI_STYLE_ASK;
	bool is_open = core->top != NULL;
	if (core->rects.shape != UI_SHAPE_AGENT || is_open)
		add(s, 1, style, "%zu waiting%s%s", n, is_open ? "" : " ", is_open ? "" : held);
	else if (core->cols >= 80)
		add(s, 1, style, "%zu WAITING %s %s %.30s by %.20s", n, held,
		    a->risk >= POL_RISK_HIGH ? zw_risk_word(a->risk) : "", a->title,
		    mdl_proc_name(&a->proc));
	else
		add(s, 1, style, "%zu WAITING %.*s", n, core->cols > 30 ? core->cols - 27 : 0,
		    a->title);
}

static void add_numbers(struct ui_core *core, struct segments *s)
{
	const struct mdl_session *m = core->model;
	char up[UI_FMT_MAX], down[UI_FMT_MAX];

	add(s, 5, UI_STYLE_TEXT, "%ju live  up %s dn %s", (uintmax_t)m->n_live,
	    ui_fmt_bytes(up, m->up_b), ui_fmt_bytes(down, m->down_b));
	add(s, 6, UI_STYLE_TEXT, "allow %ju deny %ju", (uintmax_t)m->n_allow, (uintmax_t)m->n_deny);
	if (m->n_miss > 0)
		add(s, 4, UI_STYLE_MISS, "missed %ju", (uintmax_t)m->n_miss);
}

/* Bytes of a title that are shown: whole characters. */
static int title_len(const char *title)
{
	int n = (int)strlen(title);

	if (n > TITLE_SHOWN_B)
		for (n = TITLE_SHOWN_B; n > 0 && ((unsigned char)title[n] & 0xc0) == 0x80;)
			n--;
	return n;
}

/* What the agent says of itself. Its title stands in the frame, where there is one. */
static void add_agent(struct ui_core *core, struct segments *s)
{
	char progress[32];

	if (core->attend.needs_user)
		add(s, 2, UI_STYLE_ASK, "%.20s needs you", core->config.agent_name);
	add(s, 4, UI_STYLE_TEXT, "%s",
	    ui_attend_progress(&core->attend, progress, sizeof(progress)));
	if (core->rects.shape == UI_SHAPE_AGENT)
		add(s, 7, UI_STYLE_TEXT, "%.*s", title_len(core->model->title), core->model->title);
}

/* A sandbox that is weaker than usual stays in view; else its level is the first to make room. */
static void add_level(struct ui_core *core, struct segments *s)
{
	unsigned level = core->model->level;

	if (level > 0)
		add(s, level < LEVEL_FULL ? 1 : 7,
		    level < LEVEL_FULL ? UI_STYLE_WARN : UI_STYLE_QUIET,
		    level < LEVEL_FULL ? "WEAKER: level %u" : "level %u", level);
}

/* One segment at the right edge: the keys that matter now. */
static void add_hints(struct ui_core *core, struct segments *s)
{
	bool is_wide = core->cols >= 80;
	int n = s->n;

	if (core->top != NULL && core->top->ops->hints != NULL)
		add(s, 2, UI_STYLE_KEY, "%s", core->top->ops->hints(core->top));
	else if (core->is_filtering)
		add(s, 2, UI_STYLE_KEY, "Enter keep   Esc show all");
	else if (core->top != NULL)
		add(s, 2, UI_STYLE_KEY, is_wide ? "j k move   ? help   Esc back" : "Esc back");
	else if (core->focus != UI_FOCUS_AGENT)
		add(s, 2, UI_STYLE_KEY,
		    core->cols >= 100
			    ? "Enter open  / filter  s sort  c copy  b close  n deny  ? Esc"
		    : is_wide ? "Enter open  / filter  c copy  n deny  ? help"
			      : "/ filter  ? help  Esc");
	else if (mdl_ask_first(core->model) != NULL && core->cols >= 100)
		add(s, 1, UI_STYLE_KEY, "%s a answer  %s ? menu", zw_prefix_name(),
		    zw_prefix_name());
	else if (mdl_ask_first(core->model) != NULL)
		add(s, 1, UI_STYLE_KEY, core->cols >= 60 ? "%s a answer" : "%s a",
		    zw_prefix_name());
	else
		add(s, 4, UI_STYLE_KEY, "%s ? menu", zw_prefix_name());
	if (s->n > n)
		s->seg[n].is_right = true;
}

static void draw_prefix(const struct draw_ctx *c, int row)
{
	int col = draw_text(c, row, 1, UI_STYLE_ASK, zw_prefix_name());

	for (int i = 1; i < UI_CMD_MAX; i++) {
		enum ui_cmd cmd = (enum ui_cmd)i;
		const char *brief = ui_cmd_brief(cmd), *keys = ui_cmd_keys(cmd);

		if (ui_cmd_section(cmd) != UI_SECTION_PREFIX || *brief == '\0')
			continue;
		int width = (int)(strlen(keys) + strlen(brief)) + 3;
		if (col + width > c->cols)
			return;
		col = draw_text(c, row, col + 2, UI_STYLE_KEY, keys);
		col = draw_text(c, row, col + 1, UI_STYLE_TEXT, brief);
	}
}

void dash_draw_status(struct ui_core *core, const struct draw_ctx *c)
{
	struct segments s = {.n = 0};
	int row = core->rects.status.top;
	bool is_collapsed = core->rects.shape == UI_SHAPE_AGENT;
	/* Where no row of events is in view. */
	bool has_message = (is_collapsed || core->top != NULL) && core->message[0] != '\0' &&
			   core->now_ms - core->message_ms < UI_MESSAGE_MS;

	if (core->is_prefix && core->now_ms - core->prefix_ms >= PREFIX_HINT_MS) {
		draw_prefix(c, row);
		return;
	}
	if (core->has_session && core->model->is_dangerous)
		add(&s, 0, UI_STYLE_CRITICAL,
		    c->cols >= 60 ? "DANGEROUS SOCKETS OPEN" : "DANGEROUS");
	if (core->has_session)
		add(&s, 3, UI_STYLE_STRONG, "%s", zw_mode_word(core->model->mode));
	if (core->has_session && core->model->is_private)
		add(&s, 3, UI_STYLE_STRONG, "PRIVATE");
	if (core->has_session && core->model->is_recorded)
		add(&s, 3, UI_STYLE_STRONG, "REC");
	if (core->model->is_frozen)
		add(&s, 1, UI_STYLE_WARN, "FROZEN");
	if (core->has_session)
		add_waiting(core, &s);
	if (has_message)
		add(&s, 2, UI_STYLE_STRONG, "%s", core->message);
	else if (is_collapsed && core->has_session && *core->model->warning != '\0')
		add(&s, 2, UI_STYLE_WARN, "%s", core->model->warning);
	if (core->has_session)
		add_agent(core, &s);
	if (core->has_session)
		add_numbers(core, &s);
	if (core->has_session)
		add_level(core, &s);
	add_hints(core, &s);
	draw_segments(c, row, &s);
}
