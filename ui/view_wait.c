/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/words.h"
#include "ui/core.h"
#include "ui/fmt.h"

#define DETAIL_ROWS 8
#define SHOWN_MAX   MDL_ASKS_MAX

struct view_wait {
	struct view view;
	struct ui_list list;
	size_t n;
	const struct mdl_ask *row[SHOWN_MAX]; /* of the model; rebuilt before each use */
	uint64_t tag[SHOWN_MAX];	      /* numbers of the tagged ones */
	size_t n_tag;
	/* What allows sleeps as in a question, and wakes anew with every other picture. */
	bool is_drawn;
	int64_t written_ms, key_ms;
};

static void rearm(struct view_wait *v)
{
	v->is_drawn = false;
	v->written_ms = -1;
}

static bool is_awake(const struct view_wait *v, int64_t last_key_ms)
{
	const struct ui_core *core = v->view.core;

	return v->written_ms >= 0 && core->now_ms - v->written_ms >= core->config.arm_ms &&
	       core->now_ms - last_key_ms >= core->config.quiet_ms;
}

static size_t tag_find(const struct view_wait *v, uint64_t id)
{
	size_t i = 0;

	while (i < v->n_tag && v->tag[i] != id)
		i++;
	return i;
}

static uint64_t key_of(size_t row, void *arg)
{
	return ((struct view_wait *)arg)->row[row]->id + 1;
}

static void add_rows(struct view_wait *v, bool is_missed, enum pol_risk risk)
{
	const struct mdl_ask *a;

	TAILQ_FOREACH (a, &v->view.core->model->asks, link) {
		bool is_held = a->state == MDL_ASK_HELD || a->state == MDL_ASK_OPEN;

		if (v->n < SHOWN_MAX && a->risk == risk &&
		    (is_missed ? a->state == MDL_ASK_MISSED : is_held))
			v->row[v->n++] = a;
	}
}

/* In the order in which they would be answered; missed ones behind. */
static void rebuild(struct view_wait *v, size_t height)
{
	v->n = 0;
	for (int is_missed = 0; is_missed <= 1; is_missed++)
		for (int risk = POL_RISK_CRITICAL; risk >= POL_RISK_HARMLESS; risk--)
			add_rows(v, is_missed, (enum pol_risk)risk);
	ui_list_update(&v->list, v->n, height, key_of, v);
}

static const struct mdl_ask *selected(struct view_wait *v)
{
	rebuild(v, v->list.height);
	return v->list.sel < v->n ? v->row[v->list.sel] : NULL;
}

/* -- drawing ----------------------------------------------------------------------------------- */

static void draw_row(struct view_wait *v, const struct draw_ctx *c, int row, size_t i)
{
	const struct mdl_ask *a = v->row[i];
	bool is_wide = c->cols >= 76;
	int what = is_wide ? 21 : 16, state = c->cols - 7, times = state - 6,
	    who_w = is_wide ? 20 : 0;
	char text[160];

	if (tag_find(v, a->id) < v->n_tag)
		draw_text(c, row, 1, UI_STYLE_STRONG, "x");
	draw_right(c, row, 2, 5, UI_STYLE_TEXT,
		   ui_fmt_span(text, v->view.core->now_ms - a->since_ms));
	draw_text(c, row, 8, ui_risk_style(a->risk), zw_risk_word(a->risk));
	if (is_wide)
		draw_text(c, row, 17, UI_STYLE_TEXT, a->kind == POL_KIND_SITE ? "net" : "unix");
	draw_fit(c, row, what + 1, (is_wide ? times - who_w - 2 : state) - what - 2,
		 UI_STYLE_STRONG, a->title);
	if (is_wide) {
		snprintf(text, sizeof(text), "%.40s(%u)", mdl_proc_name(&a->proc), a->proc.pid);
		draw_fit(c, row, times - who_w - 1, who_w, UI_STYLE_TEXT, text);
		snprintf(text, sizeof(text), "x%u", a->n_waiting);
		draw_right(c, row, times - 1, 5, UI_STYLE_TEXT, text);
	}
	if (a->is_new)
		draw_text(c, row, what, UI_STYLE_NEW, "*");
	bool is_missed = a->state == MDL_ASK_MISSED;
	draw_fit(c, row, state, 6, is_missed ? UI_STYLE_MISS : UI_STYLE_ASK,
		 is_missed ? "missed" : "held");
	if (i == v->list.sel) {
		draw_restyle(c, row, 0, c->cols, UI_STYLE_SELECT);
		draw_text(c, row, 0, UI_STYLE_SELECT, ">");
		ui_core_cursor(v->view.core, c, row, 0);
	}
}

static void draw_heads(const struct draw_ctx *c)
{
	bool is_wide = c->cols >= 76;

	draw_right(c, 1, 1, 6, UI_STYLE_HEAD, "AGE");
	draw_text(c, 1, 8, UI_STYLE_HEAD, "RISK");
	draw_text(c, 1, is_wide ? 22 : 17, UI_STYLE_HEAD, "WHAT");
	if (is_wide) {
		draw_text(c, 1, c->cols - 34, UI_STYLE_HEAD, "WHO");
		draw_right(c, 1, c->cols - 14, 5, UI_STYLE_HEAD, "TRIES");
	}
	draw_text(c, 1, c->cols - 7, UI_STYLE_HEAD, "STATE");
}

static int draw_wrapped(const struct draw_ctx *c, int row, enum ui_style style, const char *text)
{
	struct zw_span line;

	while (row < c->rows && draw_wrap_next(&text, c->cols - 2, &line)) {
		zw_autofree char *one = zw_span_dup(line);

		draw_text(c, row++, 1, style, one);
	}
	return row;
}

static void draw_detail(const struct draw_ctx *c, const struct mdl_ask *a)
{
	char text[1024];

	draw_hline(c, 0, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	snprintf(text, sizeof(text), " %s%s%s(%u) ", a->proc.chain,
		 *a->proc.chain != '\0' ? " > " : "", mdl_proc_name(&a->proc), a->proc.pid);
	draw_fit(c, 0, 1, c->cols - 2, UI_STYLE_TITLE, text);
	draw_fit(c, 1, 1, c->cols - 2, UI_STYLE_TEXT, a->proc.command);
	snprintf(text, sizeof(text), "If you allow it: %.900s", a->consequence);
	int row = draw_wrapped(c, 2, UI_STYLE_TEXT, text);
	if (a->state == MDL_ASK_MISSED)
		draw_wrapped(c, row, UI_STYLE_QUIET,
			     "Nobody answered in time, so it was denied once. An answer now counts "
			     "for the "
			     "next try.");
}

static void draw_title(struct view_wait *v, const struct draw_ctx *c)
{
	size_t n_held = mdl_asks_waiting(v->view.core->model);
	char title[96];

	snprintf(title, sizeof(title), " Waiting  %zu held  %zu missed ", n_held, v->n - n_held);
	draw_hline(c, 0, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	draw_fit(c, 0, 1, c->cols - 2, UI_STYLE_FOCUS, title);
}

static void wait_draw(struct view *view, const struct draw_ctx *c)
{
	struct view_wait *v = (struct view_wait *)view;
	int detail = c->rows >= 2 * DETAIL_ROWS ? DETAIL_ROWS : 0, height = c->rows - 2 - detail;
	struct draw_ctx in = draw_sub(c, 2, 0, height, c->cols);

	view->core->is_cursor_visible = false;
	rebuild(v, height > 0 ? (size_t)height : 0);
	v->is_drawn = true;
	draw_clear(c);
	draw_title(v, c);
	draw_heads(c);
	if (v->n == 0)
		draw_fit(&in, 0, 1, in.cols - 2, UI_STYLE_QUIET, "Nothing waits.");
	for (size_t i = v->list.top; i < v->n && (int)(i - v->list.top) < height; i++)
		draw_row(v, &in, (int)(i - v->list.top), i);
	if (detail > 0 && v->list.sel < v->n) {
		struct draw_ctx d = draw_sub(c, c->rows - detail, 0, detail, c->cols);

		draw_detail(&d, v->row[v->list.sel]);
	}
}

/* -- keys -------------------------------------------------------------------------------------- */

static void deny(struct ui_core *core, uint64_t id, unsigned scope, const char *key)
{
	struct ui_answer answer = {.ask = id,
				   .verdict = POL_DENY,
				   .scope = scope,
				   .note = "",
				   .key = key,
				   .shown = "(in the list of questions)"};

	core->host.answer(core->host.arg, &answer);
}

static void deny_all(struct view_wait *v)
{
	struct ui_core *core = v->view.core;
	uint64_t ids[SHOWN_MAX];
	size_t n = 0;

	/* An answer changes the model: the numbers first. */
	rebuild(v, v->list.height);
	for (size_t i = 0; i < v->n; i++)
		if (v->row[i]->state == MDL_ASK_HELD)
			ids[n++] = v->row[i]->id;
	for (size_t i = 0; i < n; i++)
		deny(core, ids[i], ZW_SCOPE_ONCE, "D");
	ui_core_say(core, "Denied once: %zu.", n);
}

static void deny_selected(struct view_wait *v, enum ui_cmd cmd)
{
	const struct mdl_ask *a = selected(v);
	bool is_session = cmd == UI_CMD_WAIT_DENY_SESSION;

	if (a == NULL)
		return;
	if (a->state == MDL_ASK_MISSED)
		is_session = true;
	ui_core_say(v->view.core, "Denied %s: %.200s.", is_session ? "for this session" : "once",
		    a->title);
	deny(v->view.core, a->id, is_session ? ZW_SCOPE_SESSION : ZW_SCOPE_ONCE,
	     cmd == UI_CMD_WAIT_DENY_SESSION ? "N" : "n");
}

static void tag(struct view_wait *v, const struct mdl_ask *a)
{
	size_t at = tag_find(v, a->id);

	if (at < v->n_tag) {
		v->tag[at] = v->tag[--v->n_tag];
		return;
	}
	if (a->risk >= POL_RISK_HIGH)
		ui_core_say(v->view.core, "%s cannot be tagged: it needs its own answer.",
			    zw_risk_word(a->risk));
	else if (a->state != MDL_ASK_HELD)
		ui_core_say(v->view.core, "It does not wait any more: Enter opens it.");
	else if (v->n_tag < SHOWN_MAX)
		v->tag[v->n_tag++] = a->id;
}

static size_t allow_one(struct ui_core *core, uint64_t id)
{
	const struct mdl_ask *a = mdl_ask_find(core->model, id);
	struct ui_answer answer = {.ask = id,
				   .verdict = POL_ALLOW,
				   .scope = ZW_SCOPE_ONCE,
				   .note = "",
				   .key = "y",
				   .shown = "(tagged in the list of questions)"};

	if (a == NULL || a->state != MDL_ASK_HELD || a->risk >= POL_RISK_HIGH)
		return 0;
	return core->host.answer(core->host.arg, &answer) == NULL;
}

static void allow_tagged(struct view_wait *v, int64_t last_key_ms)
{
	struct ui_core *core = v->view.core;
	size_t n = 0;

	if (v->n_tag == 0) {
		ui_core_say(core, "Nothing is tagged: Space tags a row, Enter opens it.");
		return;
	}
	if (!is_awake(v, last_key_ms)) {
		ui_core_say(core, "Too early: allow keys are asleep for a moment.");
		return;
	}
	for (size_t i = 0; i < v->n_tag; i++)
		n += allow_one(core, v->tag[i]);
	v->n_tag = 0;
	ui_core_say(core, "Allowed once: %zu.", n);
}

static void copy(struct view_wait *v, const struct mdl_ask *a)
{
	struct ui_core *core = v->view.core;
	zw_autofree char *text =
		zw_xasprintf("%s %s %s %s(%u) %s", zw_risk_word(a->risk),
			     a->kind == POL_KIND_SITE ? "net" : "unix", a->target,
			     mdl_proc_name(&a->proc), a->proc.pid, a->proc.command);

	core->effects.copy(core->effects.arg, text, strlen(text), false);
}

static enum ui_cmd wait_cmd(struct view *view, enum ui_cmd cmd)
{
	struct view_wait *v = (struct view_wait *)view;
	const struct mdl_ask *a = selected(v);
	int64_t last_key_ms = v->key_ms;

	v->key_ms = view->core->now_ms;
	if (cmd == UI_CMD_WAIT_ALLOW) {
		allow_tagged(v, last_key_ms);
		return UI_CMD_NONE;
	}
	rearm(v);
	if (ui_list_move(&v->list, cmd, key_of, v))
		return UI_CMD_NONE;
	if (cmd == UI_CMD_WAIT_TAG && a != NULL)
		tag(v, a);
	else if (cmd == UI_CMD_WAIT_COPY && a != NULL)
		copy(v, a);
	else if (cmd == UI_CMD_WAIT_DENY || cmd == UI_CMD_WAIT_DENY_SESSION)
		deny_selected(v, cmd);
	else if (cmd == UI_CMD_WAIT_DENY_ALL)
		deny_all(v);
	else if (cmd == UI_CMD_OPEN && a != NULL)
		view_ask_open(view->core, a->id);
	else
		return cmd;
	return UI_CMD_NONE;
}

static const char *wait_hints(struct view *view)
{
	return view->core->cols >= 60 ? "Enter open  Space tag  y allow tagged  n N D deny  Esc"
				      : "Enter open  Esc back";
}

static void wait_update(struct view *view, unsigned changed)
{
	if ((changed & MDL_CHANGED_ASKS) != 0)
		rearm((struct view_wait *)view);
}

static void wait_written(struct view *view)
{
	struct view_wait *v = (struct view_wait *)view;

	if (v->is_drawn && v->written_ms < 0)
		v->written_ms = view->core->now_ms;
}

static void wait_resized(struct view *view)
{
	rearm((struct view_wait *)view);
}

static const struct view_ops wait_ops = {.name = "waiting",
					 .section = UI_SECTION_WAIT,
					 .update = wait_update,
					 .written = wait_written,
					 .resized = wait_resized,
					 .draw = wait_draw,
					 .cmd = wait_cmd,
					 .hints = wait_hints};

void view_wait_open(struct ui_core *core)
{
	if (view_is(core, &wait_ops))
		return;
	struct view_wait *v = zw_xnew(struct view_wait);
	v->key_ms = core->now_ms;
	rearm(v);
	v->view.ops = &wait_ops;
	view_push(core, &v->view);
}
