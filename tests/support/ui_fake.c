/* SPDX-License-Identifier: MIT */
#include "tests/support/ui_fake.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/words.h"

static void on_input(void *arg, const void *bytes, size_t len)
{
	int r = zw_buf_add(&((struct ui_fake *)arg)->input, bytes, len);

	assert(r == 0);
}

static void on_pane_resize(void *arg, int rows, int cols)
{
	struct ui_fake *f = arg;

	f->pane_rows = rows;
	f->pane_cols = cols;
}

static void on_frame_done(void *arg)
{
	((struct ui_fake *)arg)->n_frames_done++;
}

static void on_ask_open(void *arg, uint64_t id, bool is_open)
{
	struct ui_fake *f = arg;
	struct mdl_ask *a = mdl_ask_find(&f->model, id);

	assert(a != NULL);
	f->opened = is_open ? id : 0;
	a->left_ms = mdl_ask_left_ms(a, f->now_ms);
	a->clock_ms = f->now_ms;
	a->state = is_open ? MDL_ASK_OPEN : MDL_ASK_HELD;
}

static const char *on_answer(void *arg, const struct ui_answer *answer)
{
	struct ui_fake *f = arg;
	struct mdl_ask *a = mdl_ask_find(&f->model, answer->ask);

	f->n_answers++;
	f->opened = 0;
	f->answer = *answer;
	zw_strlcpy(f->note, answer->note, sizeof(f->note));
	zw_strlcpy(f->key, answer->key, sizeof(f->key));
	zw_strlcpy(f->shown, answer->shown, sizeof(f->shown));
	f->answer.note = f->note;
	f->answer.key = f->key;
	f->answer.shown = f->shown;
	if (f->refusal != NULL)
		return f->refusal;
	if (a != NULL)
		a->state = MDL_ASK_ANSWERED;
	return NULL;
}

static void on_strict(void *arg, uint64_t id)
{
	((struct ui_fake *)arg)->strict = id;
}

static const char *on_try(void *arg, const struct ui_answer *answer)
{
	((struct ui_fake *)arg)->tried = answer->until;
	return "Tried on 12 past sessions: answers 6 questions, matches nothing that was denied.";
}

static const char *on_undo(void *arg)
{
	(void)arg;
	return "Taken back: docker.sock.";
}

static void on_close_sock(void *arg, const struct mdl_sock *sock)
{
	((struct ui_fake *)arg)->closed = sock;
}

static bool on_close_conn(void *arg, const struct mdl_conn *conn)
{
	((struct ui_fake *)arg)->closed_conn = conn;
	return true;
}

static const char *on_deny(void *arg, const struct ui_deny *deny)
{
	struct ui_fake *f = arg;

	f->n_denies++;
	f->deny = *deny;
	zw_strlcpy(f->deny_target, deny->target, sizeof(f->deny_target));
	zw_strlcpy(f->deny_program, deny->program, sizeof(f->deny_program));
	return "From now on denied. Undo: Ctrl-] u";
}

static void on_watch_tasks(void *arg, bool is_on)
{
	((struct ui_fake *)arg)->is_watched = is_on;
}

static const char *on_task_signal(void *arg, const struct mdl_task *task, int sig)
{
	struct ui_fake *f = arg;

	f->signalled = task->pid;
	f->signal = sig;
	return f->refusal;
}

static const char *on_rule_text(void *arg, uint32_t rule)
{
	(void)arg;
	return rule == 7 ? "allow *.pkgs.test, from ~/.config/zwatch/config.json:9" : NULL;
}

static const char *on_freeze(void *arg, bool is_frozen)
{
	struct ui_fake *f = arg;

	f->is_frozen = f->model.is_frozen = is_frozen;
	return is_frozen ? "The agent is frozen." : "The agent goes on.";
}

static const char *on_mode(void *arg, enum pol_mode mode)
{
	((struct ui_fake *)arg)->model.mode = mode;
	return NULL;
}

static void on_pane_restart(void *arg)
{
	((struct ui_fake *)arg)->n_pane_restarts++;
}

static void on_stop(void *arg)
{
	((struct ui_fake *)arg)->is_stopped = true;
}

static void on_look(void *arg, const struct ui_look *look)
{
	struct ui_fake *f = arg;

	if (look->kind == UI_LOOK_LINK)
		return;
	f->n_looks++;
	f->look = *look;
	zw_strlcpy(f->needle, look->needle != NULL ? look->needle : "", sizeof(f->needle));
}

static void on_terminal(void *arg, const struct ui_terminal *terminal)
{
	(void)arg;
	(void)terminal;
}

static void on_copy(void *arg, const char *text, size_t len, bool is_cut)
{
	struct ui_fake *f = arg;

	(void)is_cut;
	zw_span_cpy(f->copied, sizeof(f->copied), zw_span_n(text, len));
}

static void on_bell(void *arg)
{
	((struct ui_fake *)arg)->n_bells++;
}

static void on_notice(void *arg, const char *text)
{
	struct ui_fake *f = arg;

	zw_strlcpy(f->notice, text != NULL ? text : "(withdrawn)", sizeof(f->notice));
}

static void on_desktop(void *arg, const char *text)
{
	(void)text;
	((struct ui_fake *)arg)->n_desktops++;
}

static void on_suspend(void *arg)
{
	(void)arg;
}

static void on_quit(void *arg)
{
	((struct ui_fake *)arg)->n_quits++;
}

static void on_reply(void *arg, enum ui_reply what, int value)
{
	(void)arg;
	(void)what;
	(void)value;
}

static void init(struct ui_fake *f, enum ui_layout layout, int rows, int cols, bool has_session)
{
	const struct ui_host host = {.input = on_input,
				     .pane_resize = on_pane_resize,
				     .frame_done = on_frame_done,
				     .ask_open = on_ask_open,
				     .answer = on_answer,
				     .strict = on_strict,
				     .try_rule = on_try,
				     .undo = on_undo,
				     .close_sock = on_close_sock,
				     .close_conn = on_close_conn,
				     .deny = on_deny,
				     .rule_text = on_rule_text,
				     .watch_tasks = on_watch_tasks,
				     .task_signal = on_task_signal,
				     .freeze = on_freeze,
				     .mode = on_mode,
				     .stop_agent = on_stop,
				     .pane_restart = on_pane_restart,
				     .look = on_look,
				     .terminal = on_terminal,
				     .arg = f};
	const struct ui_effects effects = {on_bell,  on_notice, on_desktop, on_suspend, on_quit,
					   on_reply, on_copy,	NULL,	    f};
	const struct ui_config config = {.layout = layout,
					 .arm_ms = 500,
					 .quiet_ms = 300,
					 .repeat_n = 3,
					 .flood_n = 8,
					 .flood_ms = 10000,
					 .has_mouse = true,
					 .wall0_us = UI_MODEL_NOW_US - UI_MODEL_NOW_MS * 1000,
					 .agent_name = "claude"};

	memset(f, 0, sizeof(*f));
	draw_locale_init();
	f->now_ms = UI_MODEL_NOW_MS;
	f->is_ascii = f->has_colour = true;
	zw_buf_init(&f->input, 1u << 22);
	f->grid = zw_xcalloc(1, PANE_GRID_SIZE_B);
	ui_model_fill(&f->model);
	ui_core_init(&f->core, &f->model, has_session ? f->grid : NULL, has_session ? &host : NULL,
		     &config, &effects, rows, cols, f->now_ms);
	draw_grid_init(&f->screen, rows, cols);
}

void ui_fake_init(struct ui_fake *f, enum ui_layout layout, int rows, int cols)
{
	init(f, layout, rows, cols, true);
	ui_fake_resize(f, rows, cols);
}

void ui_fake_init_history(struct ui_fake *f, int rows, int cols)
{
	init(f, UI_LAYOUT_COLLAPSED, rows, cols, false);
}

void ui_fake_fini(struct ui_fake *f)
{
	ui_core_fini(&f->core);
	draw_grid_fini(&f->screen);
	zw_buf_fini(&f->input);
	mdl_session_fini(&f->model);
	free(f->grid);
}

void ui_fake_draw(struct ui_fake *f)
{
	const struct view *v;

	while ((v = f->core.top) != NULL && v->ops->due_ms != NULL &&
	       v->ops->due_ms(v, f->now_ms) == 0)
		ui_core_work(&f->core, f->now_ms);
	struct draw_ctx c = draw_all(&f->screen, f->is_ascii, f->has_colour);

	ui_core_draw(&f->core, &c, f->now_ms);
	ui_core_drawn(&f->core);
	ui_core_written(&f->core, f->now_ms);
}

void ui_fake_type_n(struct ui_fake *f, const void *bytes, size_t len)
{
	ui_core_input(&f->core, bytes, len, f->now_ms);
	ui_fake_draw(f);
}

void ui_fake_type(struct ui_fake *f, const char *bytes)
{
	ui_fake_type_n(f, bytes, strlen(bytes));
	if (ui_input_wait_ms(&f->core.input) > 0) {
		ui_core_input_timeout(&f->core, f->now_ms);
		ui_fake_draw(f);
	}
}

void ui_fake_wait(struct ui_fake *f, int64_t ms)
{
	f->now_ms += ms;
	ui_fake_draw(f);
}

void ui_fake_resize(struct ui_fake *f, int rows, int cols)
{
	struct ui_frame frame = {.modes = PANE_MODE_CURSOR_VISIBLE | PANE_MODE_PASTE};

	draw_grid_fini(&f->screen);
	draw_grid_init(&f->screen, rows, cols);
	ui_core_resize(&f->core, rows, cols, f->now_ms);
	ui_model_grid(f->grid, f->pane_rows, f->pane_cols);
	frame.rows = f->pane_rows;
	frame.cols = f->pane_cols;
	ui_core_frame(&f->core, &frame, f->now_ms);
	ui_fake_draw(f);
}

char *ui_fake_text(const struct ui_fake *f)
{
	size_t cap = (size_t)f->screen.rows * ((size_t)f->screen.cols * 8 + 2) + 1, used = 0;
	char *all = zw_xcalloc(cap, 1);

	for (int row = 0; row < f->screen.rows; row++) {
		zw_autofree char *line = draw_row_text(&f->screen, row);

		used += (size_t)snprintf(all + used, cap - used, "%s\n", line);
		assert(used < cap);
	}
	return all;
}

bool ui_fake_shows(const struct ui_fake *f, const char *text)
{
	zw_autofree char *all = ui_fake_text(f);

	return strstr(all, text) != NULL;
}
