/* SPDX-License-Identifier: MIT
 * Very many questions at once: one card, by program. It only refuses; what is to be allowed is opened
 * one by one. */
#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/words.h"
#include "ui/core.h"
#include "ui/fmt.h"

#define GROUPS_MAX 64

/** The questions of one program. */
struct group {
	const struct mdl_ask *first; /* oldest; of the model */
	size_t n;
	enum pol_risk risk; /* the highest */
};

struct view_flood {
	struct view view;
	struct ui_list list;
	struct group group[GROUPS_MAX]; /* rebuilt before each use */
	size_t n;
};

static bool is_held(const struct mdl_ask *a)
{
	return a->state == MDL_ASK_HELD || a->state == MDL_ASK_OPEN;
}

bool view_flood_is(const struct ui_core *core)
{
	const struct mdl_ask *a, *from = NULL;
	int n = 0;

	if (core->config.flood_n <= 0)
		return false;
	/* They stand in the order in which they came: a window that moves along. */
	TAILQ_FOREACH (a, &core->model->asks, link) {
		if (!is_held(a))
			continue;
		if (from == NULL)
			from = a;
		n++;
		while (a->since_ms - from->since_ms > core->config.flood_ms) {
			n -= is_held(from);
			from = TAILQ_NEXT(from, link);
		}
		if (n > core->config.flood_n)
			return true;
	}
	return false;
}

static struct group *group_of(struct view_flood *v, const struct mdl_ask *a)
{
	for (size_t i = 0; i < v->n; i++)
		if (strcmp(v->group[i].first->proc.exe, a->proc.exe) == 0)
			return &v->group[i];
	if (v->n == GROUPS_MAX)
		return &v->group[GROUPS_MAX - 1];
	v->group[v->n] = (struct group){.first = a, .risk = a->risk};
	return &v->group[v->n++];
}

static uint64_t key_of(size_t row, void *arg)
{
	return ((struct view_flood *)arg)->group[row].first->id + 1;
}

static void rebuild(struct view_flood *v, size_t height)
{
	const struct mdl_ask *a;

	v->n = 0;
	TAILQ_FOREACH (a, &v->view.core->model->asks, link) {
		if (!is_held(a))
			continue;
		struct group *g = group_of(v, a);
		g->n++;
		g->risk = a->risk > g->risk ? a->risk : g->risk;
	}
	ui_list_update(&v->list, v->n, height, key_of, v);
}

static struct group *selected(struct view_flood *v)
{
	rebuild(v, v->list.height);
	return v->list.sel < v->n ? &v->group[v->list.sel] : NULL;
}

static void draw_row(struct view_flood *v, const struct draw_ctx *c, int row, size_t i)
{
	const struct group *g = &v->group[i];
	char text[160], count[UI_FMT_MAX];

	snprintf(text, sizeof(text), "%.60s(%u)", mdl_proc_name(&g->first->proc),
		 g->first->proc.pid);
	draw_right(c, row, 1, 5, UI_STYLE_STRONG, ui_fmt_count(count, g->n));
	draw_text(c, row, 8, ui_risk_style(g->risk), zw_risk_word(g->risk));
	draw_fit(c, row, 17, 24, UI_STYLE_STRONG, text);
	draw_fit(c, row, 42, c->cols - 43, UI_STYLE_TEXT, g->first->title);
	if (i == v->list.sel) {
		draw_restyle(c, row, 0, c->cols, UI_STYLE_SELECT);
		draw_text(c, row, 0, UI_STYLE_SELECT, ">");
		ui_core_cursor(v->view.core, c, row, 0);
	}
}

static void flood_draw(struct view *view, const struct draw_ctx *all)
{
	struct view_flood *v = (struct view_flood *)view;
	size_t n = mdl_asks_waiting(view->core->model);
	char title[96];

	view->core->is_cursor_visible = false;
	rebuild(v, all->rows > 6 ? (size_t)all->rows - 6 : 1);
	int rows = (int)v->n + 6 < all->rows ? (int)v->n + 6 : all->rows;
	struct draw_ctx c = draw_sub(all, all->rows - rows, 0, rows, all->cols);
	struct draw_ctx in = draw_sub(&c, 3, 0, rows - 6 > 1 ? rows - 6 : 1, c.cols);
	draw_clear(&c);
	snprintf(title, sizeof(title), " %zu questions at once ", n);
	draw_hline(&c, 0, 0, c.cols, DRAW_THIN, UI_STYLE_LINE);
	draw_fit(&c, 0, 1, c.cols - 2, UI_STYLE_FOCUS, title);
	draw_fit(&c, 1, 1, c.cols - 2, UI_STYLE_TEXT,
		 "All are held. Nothing is allowed from here; Enter opens one.");
	draw_right(&c, 2, 1, 5, UI_STYLE_HEAD, "N");
	draw_text(&c, 2, 8, UI_STYLE_HEAD, "RISK");
	draw_text(&c, 2, 17, UI_STYLE_HEAD, "PROGRAM");
	draw_fit(&c, 2, 42, c.cols - 43, UI_STYLE_HEAD, "THE FIRST OF THEM");
	for (size_t i = v->list.top; i < v->n && (int)(i - v->list.top) < in.rows; i++)
		draw_row(v, &in, (int)(i - v->list.top), i);
	draw_fit(&c, rows - 2, 1, c.cols - 2, UI_STYLE_TEXT,
		 "n deny all of this program, once   S refuse whatever it asks, this session");
	draw_fit(&c, rows - 1, 1, c.cols - 2, UI_STYLE_TEXT,
		 "Enter open its first question   l list   Esc back");
}

/* An answer changes the model: the numbers first. */
static void deny_program(struct view_flood *v, const struct group *g)
{
	struct ui_core *core = v->view.core;
	zw_autofree char *exe = zw_xstrdup(g->first->proc.exe);
	uint64_t ids[MDL_ASKS_MAX];
	const struct mdl_ask *a;
	size_t n = 0;

	TAILQ_FOREACH (a, &core->model->asks, link)
		if (a->state == MDL_ASK_HELD && n < MDL_ASKS_MAX && strcmp(a->proc.exe, exe) == 0)
			ids[n++] = a->id;
	for (size_t i = 0; i < n; i++) {
		struct ui_answer answer = {.ask = ids[i],
					   .verdict = POL_DENY,
					   .scope = ZW_SCOPE_ONCE,
					   .note = "",
					   .key = "n",
					   .shown = "(in the card of many questions)"};

		core->host.answer(core->host.arg, &answer);
	}
	ui_core_say(core, "Denied once: %zu of %.100s.", n, zw_basename(exe));
}

static void strict(struct view_flood *v, const struct group *g)
{
	struct ui_core *core = v->view.core;

	ui_core_say(core, "From now on %.100s is refused whatever it asks, in this session.",
		    mdl_proc_name(&g->first->proc));
	core->host.strict(core->host.arg, g->first->id);
}

static enum ui_cmd flood_cmd(struct view *view, enum ui_cmd cmd)
{
	struct view_flood *v = (struct view_flood *)view;
	struct ui_core *core = view->core;
	struct group *g = selected(v);

	if (ui_list_move(&v->list, cmd, key_of, v))
		return UI_CMD_NONE;
	if (cmd == UI_CMD_FLOOD_LOOK) {
		view_pop(core);
		view_wait_open(core);
		return UI_CMD_NONE;
	}
	if (g == NULL ||
	    (cmd != UI_CMD_FLOOD_DENY && cmd != UI_CMD_FLOOD_STRICT && cmd != UI_CMD_OPEN))
		return cmd;
	if (cmd == UI_CMD_OPEN)
		view_ask_open(core, g->first->id);
	else if (cmd == UI_CMD_FLOOD_DENY)
		deny_program(v, g);
	else
		strict(v, g);
	return UI_CMD_NONE;
}

static const char *flood_hints(struct view *view)
{
	(void)view;
	return "n deny all   S strict   Esc back";
}

static const struct view_ops flood_ops = {.name = "many questions",
					  .section = UI_SECTION_FLOOD,
					  .draw = flood_draw,
					  .cmd = flood_cmd,
					  .hints = flood_hints};

void view_flood_open(struct ui_core *core)
{
	struct view_flood *v = zw_xnew(struct view_flood);

	if (view_is(core, &flood_ops)) {
		free(v);
		return;
	}
	v->view.ops = &flood_ops;
	view_push(core, &v->view);
}
