/* SPDX-License-Identifier: MIT
 * The processes of the sandbox: a tree with what each uses and has open; one can be frozen or ended. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/prefix.h"
#include "src/base/words.h"
#include "ui/core.h"
#include "ui/fmt.h"

#define DETAIL_ROWS 3

enum sort { SORT_TREE, SORT_CPU, SORT_MEMORY, SORT_MAX };

static const char *const sort_words[] = {"tree", "CPU", "memory"};

struct view_tasks {
	struct view view;
	struct ui_list list;
	enum sort sort;
	struct mdl_task *row; /* owned copy: the model's are others each second */
	size_t n;
};

static uint64_t key_of(size_t row, void *arg)
{
	return ((struct view_tasks *)arg)->row[row].pid;
}

static int by_cpu(const void *a, const void *b)
{
	uint32_t x = ((const struct mdl_task *)a)->cpu_permille,
		 y = ((const struct mdl_task *)b)->cpu_permille;

	return x != y ? (x < y ? 1 : -1)
		      : (int)((const struct mdl_task *)a)->pid -
				(int)((const struct mdl_task *)b)->pid;
}

static int by_memory(const void *a, const void *b)
{
	uint64_t x = ((const struct mdl_task *)a)->memory_b,
		 y = ((const struct mdl_task *)b)->memory_b;

	return x < y ? 1 : x > y ? -1 : 0;
}

static void rebuild(struct view_tasks *v, size_t height)
{
	const struct mdl_session *m = v->view.core->model;

	free(v->row);
	v->n = m->n_tasks;
	v->row = zw_xcalloc(v->n + 1, sizeof(*v->row));
	if (v->n > 0)
		memcpy(v->row, m->tasks, v->n * sizeof(*v->row));
	if (v->sort != SORT_TREE)
		qsort(v->row, v->n, sizeof(*v->row), v->sort == SORT_CPU ? by_cpu : by_memory);
	/* A key acts on the row that was seen. */
	v->list.is_at_top = false;
	ui_list_update(&v->list, v->n, height, key_of, v);
}

static const struct mdl_task *selected(const struct view_tasks *v)
{
	return v->list.sel < v->n ? &v->row[v->list.sel] : NULL;
}

static unsigned n_open(const struct mdl_session *m, uint32_t pid)
{
	const struct mdl_conn *c;
	unsigned n = 0;

	TAILQ_FOREACH (c, &m->conns, link)
		n += ui_conn_is_live(c) && c->proc.pid == pid;
	return n;
}

/* -- drawing ------------------------------------------------------------------------------------- */

struct columns {
	int cpu, memory, open, state, command; /* 0 = not shown */
};

static struct columns columns_of(int cols)
{
	if (cols >= 60)
		return (struct columns){9, 16, 24, 30, 38};
	if (cols >= 36)
		return (struct columns){9, 16, 0, 0, 24};
	return (struct columns){0, 0, 0, 0, 9};
}

static const char *state_word(char state)
{
	return state == 'R'		      ? "run"
	       : state == 'T' || state == 't' ? "FROZEN"
	       : state == 'Z' || state == 'X' ? "dead"
	       : state == 'D'		      ? "disk"
					      : "sleep";
}

static void draw_row(struct view_tasks *v, const struct draw_ctx *c, int row, size_t i)
{
	const struct mdl_task *t = &v->row[i];
	struct columns col = columns_of(c->cols);
	unsigned open = n_open(v->view.core->model, t->pid);
	char text[64];

	snprintf(text, sizeof(text), "%u", t->pid);
	draw_right(c, row, 1, 7, UI_STYLE_TEXT, text);
	if (col.cpu > 0) {
		snprintf(text, sizeof(text), "%u.%u", t->cpu_permille / 10, t->cpu_permille % 10);
		draw_right(c, row, col.cpu, 6, UI_STYLE_TEXT, t->cpu_permille > 0 ? text : "-");
		draw_right(c, row, col.memory, 7, UI_STYLE_TEXT, ui_fmt_bytes(text, t->memory_b));
	}
	snprintf(text, sizeof(text), "%u", open);
	if (col.open > 0)
		draw_right(c, row, col.open, 4, UI_STYLE_TEXT, open > 0 ? text : "-");
	bool is_frozen = t->state == 'T' || t->state == 't';
	if (col.state > 0)
		draw_fit(c, row, col.state, 6, is_frozen ? UI_STYLE_WARN : UI_STYLE_TEXT,
			 state_word(t->state));
	int depth = v->sort == SORT_TREE ? (t->depth < 12 ? t->depth : 12) : 0;
	int at = col.command + depth * 2;
	draw_fit(c, row, at, c->cols - at - 1, UI_STYLE_TEXT,
		 t->command[0] != '\0' ? t->command : t->name);
	if (i == v->list.sel) {
		draw_restyle(c, row, 0, c->cols, UI_STYLE_SELECT);
		ui_core_cursor(v->view.core, c, row, 0);
	}
}

static void draw_heads(const struct draw_ctx *c, int row)
{
	struct columns col = columns_of(c->cols);

	draw_right(c, row, 1, 7, UI_STYLE_HEAD, "PID");
	if (col.cpu > 0) {
		draw_right(c, row, col.cpu, 6, UI_STYLE_HEAD, "CPU%");
		draw_right(c, row, col.memory, 7, UI_STYLE_HEAD, "MEMORY");
	}
	if (col.open > 0)
		draw_right(c, row, col.open, 4, UI_STYLE_HEAD, "NET");
	if (col.state > 0)
		draw_text(c, row, col.state, UI_STYLE_HEAD, "STATE");
	draw_text(c, row, col.command, UI_STYLE_HEAD, "COMMAND");
}

static void draw_title(struct view_tasks *v, const struct draw_ctx *c)
{
	const struct mdl_session *m = v->view.core->model;
	char title[128], memory[UI_FMT_MAX];
	uint64_t sum_b = 0, permille = 0;

	for (size_t i = 0; i < v->n; i++) {
		sum_b += v->row[i].memory_b;
		permille += v->row[i].cpu_permille;
	}
	snprintf(title, sizeof(title), " Processes  %zu%s  CPU %ju%%  memory %s%s%s ", v->n,
		 m->is_tasks_cut ? "+" : "", (uintmax_t)(permille / 10),
		 ui_fmt_bytes(memory, sum_b), v->sort != SORT_TREE ? "  by " : "",
		 v->sort != SORT_TREE ? sort_words[v->sort] : "");
	draw_hline(c, 0, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	draw_fit(c, 0, 1, c->cols - 2, UI_STYLE_FOCUS, title);
}

static void draw_detail(const struct draw_ctx *c, const struct mdl_task *t)
{
	char span[UI_FMT_MAX], text[200];
	const char *rest = t->command;
	struct zw_span line;

	draw_hline(c, 0, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	snprintf(text, sizeof(text), " %s(%u)  CPU time %s ", t->name, t->pid,
		 ui_fmt_span(span, t->cpu_ms));
	draw_fit(c, 0, 1, c->cols - 2, UI_STYLE_TITLE, text);
	for (int row = 1; row < c->rows && draw_wrap_next(&rest, c->cols - 2, &line); row++) {
		zw_autofree char *one = zw_span_dup(line);

		draw_text(c, row, 1, UI_STYLE_TEXT, one);
	}
}

static void tasks_draw(struct view *view, const struct draw_ctx *c)
{
	struct view_tasks *v = (struct view_tasks *)view;
	int detail = c->rows >= 14 ? DETAIL_ROWS : 0, height = c->rows - 2 - detail;
	struct draw_ctx in = draw_sub(c, 2, 0, height, c->cols);

	view->core->is_cursor_visible = false;
	rebuild(v, height > 0 ? (size_t)height : 0);
	draw_clear(c);
	draw_title(v, c);
	draw_heads(c, 1);
	if (v->n == 0)
		draw_fit(&in, 0, 1, in.cols - 2, UI_STYLE_QUIET, "No process runs.");
	for (size_t i = v->list.top; i < v->n && (int)(i - v->list.top) < height; i++)
		draw_row(v, &in, (int)(i - v->list.top), i);
	const struct mdl_task *t = selected(v);
	if (detail > 0 && t != NULL) {
		struct draw_ctx d = draw_sub(c, c->rows - detail, 0, detail, c->cols);

		draw_detail(&d, t);
	}
}

/* -- keys ---------------------------------------------------------------------------------------- */

static void send(struct view_tasks *v, const struct mdl_task *t, int sig, const char *done)
{
	struct ui_core *core = v->view.core;
	struct mdl_task copy = *t; /* the call may read them anew */
	bool is_end = sig == SIGTERM || sig == SIGKILL;
	char own[80];
	snprintf(own, sizeof(own), "That is the agent itself: %s x ends it.", zw_prefix_name());
	const char *why = copy.depth == 0 && is_end
				  ? own
				  : core->host.task_signal(core->host.arg, &copy, sig);

	if (why != NULL)
		ui_core_say(core, "%s", why);
	else
		ui_core_say(core, "%s: %s(%u).", done, copy.name, copy.pid);
}

static void copy(struct ui_core *core, const struct mdl_task *t)
{
	zw_autofree char *text = zw_xasprintf("%u %s", t->pid, t->command);

	core->effects.copy(core->effects.arg, text, strlen(text), false);
}

static enum ui_cmd tasks_cmd(struct view *view, enum ui_cmd cmd)
{
	struct view_tasks *v = (struct view_tasks *)view;
	struct ui_core *core = view->core;

	if (v->row == NULL) /* typed ahead of the first picture */
		rebuild(v, v->list.height);
	if (ui_list_move(&v->list, cmd, key_of, v))
		return UI_CMD_NONE;
	const struct mdl_task *t = selected(v);
	bool is_frozen = t != NULL && (t->state == 'T' || t->state == 't');
	if (cmd == UI_CMD_TASK_SORT) {
		v->sort = (v->sort + 1) % SORT_MAX;
		return UI_CMD_NONE;
	}
	if (cmd == UI_CMD_BACK || cmd == UI_CMD_LIST_HELP || t == NULL)
		return cmd;
	if (cmd == UI_CMD_TASK_FREEZE)
		send(v, t, is_frozen ? SIGCONT : SIGSTOP, is_frozen ? "Goes on" : "Frozen");
	else if (cmd == UI_CMD_TASK_END)
		send(v, t, SIGTERM, "Asked to end");
	else if (cmd == UI_CMD_TASK_KILL)
		send(v, t, SIGKILL, "Ended");
	else if (cmd == UI_CMD_TASK_COPY)
		copy(core, t);
	else if (cmd == UI_CMD_OPEN) {
		uint32_t pid = t->pid;

		while (core->top != NULL)
			view_pop(core);
		dash_show_process(core, pid);
	}
	return UI_CMD_NONE;
}

static const char *tasks_hints(struct view *view)
{
	return view->core->cols >= 80
		       ? "Enter its connections  f freeze  x end  X kill  s sort  c copy  Esc"
	       : view->core->cols >= 40 ? "f freeze  x end  Esc"
					: "Esc";
}

static void tasks_close(struct view *view)
{
	struct view_tasks *v = (struct view_tasks *)view;

	view->core->host.watch_tasks(view->core->host.arg, false);
	free(v->row);
	free(v);
}

static const struct view_ops tasks_ops = {.name = "processes",
					  .section = UI_SECTION_TASKS,
					  .close = tasks_close,
					  .draw = tasks_draw,
					  .cmd = tasks_cmd,
					  .hints = tasks_hints};

void view_tasks_open(struct ui_core *core)
{
	if (view_is(core, &tasks_ops))
		return;
	struct view_tasks *v = zw_xnew(struct view_tasks);

	v->view.ops = &tasks_ops;
	view_push(core, &v->view);
	core->host.watch_tasks(core->host.arg, true);
}
