/* SPDX-License-Identifier: MIT */
#include "ui/ui.h"

#include <stdio.h>
#include <signal.h>
#include <string.h>
#include <termios.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "ui/clip.h"
#include "ui/core.h"
#include "ui/history.h"
#include "ui/review.h"
#include "ui/term.h"

#define FRAME_MS      16 /* between frames while much is going on: 60 a second */
#define STUCK_MS      50
#define KEY_FRAME_MS  3 /* and while the user types */
#define KEY_RECENT_MS 60
/* When nobody could read a line before it is gone, fewer pictures show as much. */
#define FLOOD_FRAMES   6
#define FLOOD_FRAME_MS 50
#define AGENT_CLIP_MS  200
#define FG_UNTOLD      0xd0d0d0 /* colours of a terminal that does not say */
#define BG_UNTOLD      0x000000

struct ui {
	struct zev_loop *loop; /* borrowed */
	struct ui_core core;
	struct ui_term *term;
	struct draw_grid grid;
	struct zev_timer *frame_timer, *tick_timer, *input_timer;
	int64_t drawn_ms, agent_clip_ms;
	char title[160];
	struct ui_terminal told;
	bool is_told; /* the terminal has answered */
	void (*on_quit)(void *arg);
	void *quit_arg;
};

/* -- drawing ----------------------------------------------------------------------------------- */

static void set_title(struct ui *ui)
{
	const struct ui_core *core = &ui->core;
	size_t n = core->has_session ? mdl_asks_waiting(core->model) : 0;
	char title[sizeof(ui->title)];

	if (n > 0)
		snprintf(title, sizeof(title), "(!) zwatch: %zu waiting", n);
	else if (core->has_session)
		snprintf(title, sizeof(title), "zwatch: %.40s %.60s", core->config.agent_name,
			 core->model->project);
	else
		zw_strlcpy(title, "zwatch history", sizeof(title));
	if (strcmp(title, ui->title) == 0)
		return;
	zw_strlcpy(ui->title, title, sizeof(ui->title));
	term_title(ui->term, title);
}

static void apply_modes(struct ui *ui)
{
	struct ui_modes m;

	ui_core_modes(&ui->core, &m);
	term_set_modes(ui->term, &(struct term_modes){.cursor_keys = m.cursor_keys,
						      .keypad = m.keypad,
						      .mouse = m.mouse,
						      .kitty = m.kitty,
						      .modify_other_keys = m.modify_other_keys});
}

static void tick_start(struct ui *ui)
{
	int64_t next = ui_core_next_ms(&ui->core, zw_mono_ms());

	if (next < 0)
		zev_timer_stop(ui->tick_timer);
	else
		zev_timer_start(ui->tick_timer, next > 0 ? next : 1);
}

static void draw(struct ui *ui)
{
	struct ui_core *core = &ui->core;

	/* A terminal that does not read gets no more. on_written() comes when it has read a picture; what
	 * else it has to read (a copied text) is looked after. */
	if (!term_is_ready(ui->term)) {
		if (!zev_timer_is_running(ui->frame_timer))
			zev_timer_start(ui->frame_timer, STUCK_MS);
		return;
	}
	if (ui->grid.rows != core->rows || ui->grid.cols != core->cols) {
		draw_grid_fini(&ui->grid);
		draw_grid_init(&ui->grid, core->rows, core->cols);
	}
	ui->drawn_ms = zw_mono_ms();
	core->config.wall0_us = zw_now_us() - ui->drawn_ms * 1000;
	struct draw_ctx c = draw_all(&ui->grid, core->config.is_ascii, core->config.has_colour);
	c.theme = (enum ui_theme)core->config.theme;
	ui_core_draw(core, &c, ui->drawn_ms);
	set_title(ui);
	apply_modes(ui);
	if (term_is_ready(ui->term)) {
		term_draw(ui->term, &ui->grid,
			  &(struct term_cursor){.row = core->cursor_row,
						.col = core->cursor_col,
						.is_visible = core->is_cursor_visible,
						.shape = core->cursor_shape});
	} else {
		core->is_dirty = true;
		zev_timer_start(ui->frame_timer, STUCK_MS);
	}
	ui_core_drawn(core);
	tick_start(ui);
}

static void on_frame_timer(void *arg)
{
	draw(arg);
}

static bool is_typing(const struct ui *ui, int64_t now)
{
	return now - ui->core.key_ms < KEY_RECENT_MS;
}

/* How long the next picture has to wait yet; not above 0 when nothing was drawn lately. */
static int64_t left_ms(const struct ui *ui, int64_t now)
{
	int64_t gap = is_typing(ui, now)		 ? KEY_FRAME_MS
		      : ui->core.n_flood >= FLOOD_FRAMES ? FLOOD_FRAME_MS
							 : FRAME_MS;

	return ui->drawn_ms + gap - now;
}

/* As soon as this turn is over when nothing was drawn lately, else when its time comes. */
static void schedule(struct ui *ui)
{
	int64_t now = zw_mono_ms(), left = left_ms(ui, now);

	/* A key does not wait for a time that was set before it. */
	if (is_typing(ui, now) || !zev_timer_is_running(ui->frame_timer))
		zev_timer_start(ui->frame_timer, left > 0 ? left : 0);
}

static void on_tick(void *arg)
{
	struct ui *ui = arg;

	ui_core_work(&ui->core, zw_mono_ms());
	ui_core_tick(&ui->core, zw_mono_ms());
	schedule(ui);
}

/* -- the terminal ------------------------------------------------------------------------------ */

static void input_timer_start(struct ui *ui)
{
	int ms = ui_input_wait_ms(&ui->core.input);

	if (ms > 0)
		zev_timer_start(ui->input_timer, ms);
	else
		zev_timer_stop(ui->input_timer);
}

static void on_input_timer(void *arg)
{
	struct ui *ui = arg;

	ui_core_input_timeout(&ui->core, zw_mono_ms());
	schedule(ui);
}

static void on_input(const void *bytes, size_t len, void *arg)
{
	struct ui *ui = arg;

	ui_core_input(&ui->core, bytes, len, zw_mono_ms());
	input_timer_start(ui);
	if (ui->core.is_dirty)
		schedule(ui);
}

static void on_written(void *arg)
{
	struct ui *ui = arg;

	ui_core_written(&ui->core, zw_mono_ms());
	if (ui->core.is_dirty || ui->core.has_frame)
		schedule(ui);
}

static void on_hangup(void *arg)
{
	struct ui *ui = arg;

	/* A session is told by SIGHUP, as any program; a program of ours has nothing else to do. */
	if (!ui->core.has_session && ui->on_quit != NULL)
		ui->on_quit(ui->quit_arg);
}

static void effect_bell(void *arg)
{
	struct ui *ui = arg;

	if (!ui->core.config.is_silent)
		term_bell(ui->term);
}

static void effect_notice(void *arg, const char *text)
{
	struct ui *ui = arg;

	if (!ui->core.config.has_no_osc)
		term_notice(ui->term, text);
	if (text != NULL)
		ui_desktop_command(&ui->core.config.desktop, text);
}

static void effect_desktop(void *arg, const char *text)
{
	ui_desktop_show(&((struct ui *)arg)->core.config.desktop, text);
}

static void effect_suspend(void *arg)
{
	struct ui *ui = arg;

	term_suspend(ui->term);
	ui->title[0] = '\0';
	ui_resized(ui);
}

static void effect_quit(void *arg)
{
	struct ui *ui = arg;

	if (ui->on_quit != NULL)
		ui->on_quit(ui->quit_arg);
}

/* Passes on what is known of the terminal, once it has answered. */
static void tell_terminal(struct ui *ui)
{
	struct ui_core *core = &ui->core;

	ui->told.cell_width = core->cell_width;
	ui->told.cell_height = core->cell_height;
	if (ui->is_told && core->has_session)
		core->host.terminal(core->host.arg, &ui->told);
}

static void effect_reply(void *arg, enum ui_reply what, int value)
{
	struct ui *ui = arg;

	if (what == UI_REPLY_SYNC)
		term_has_sync(ui->term, value == 1 || value == 2);
	else if (what == UI_REPLY_FG)
		ui->told.fg_rgb = (uint32_t)value;
	else if (what == UI_REPLY_BG)
		ui->told.bg_rgb = (uint32_t)value;
	else if (what == UI_REPLY_KITTY)
		term_has_kitty(ui->term, ui->told.has_kitty = true);
	if (what != UI_REPLY_DA1)
		return;
	term_probes_done(ui->term); /* the last question: all that is answered is answered */
	ui->core.input.wants_osc = false;
	ui->is_told = true;
	tell_terminal(ui);
}

static void effect_copy(void *arg, const char *text, size_t len, bool is_cut)
{
	struct ui *ui = arg;
	char said[256];

	clip_copy(ui->term, text, len, is_cut, said, sizeof(said));
	ui_core_say(&ui->core, "%s", said);
}

static void effect_wake(void *arg)
{
	schedule(arg);
}

/* -- life -------------------------------------------------------------------------------------- */

static int start(struct ui *ui, int tty_fd, struct mdl_session *model, struct pane_grid *grid,
		 const struct ui_host *host, const struct ui_config *config)
{
	const struct term_host th = {on_input, on_written, on_hangup, ui};
	const struct ui_effects effects = {effect_bell,	   effect_notice, effect_desktop,
					   effect_suspend, effect_quit,	  effect_reply,
					   effect_copy,	   effect_wake,	  ui};
	struct ui_config c = *config;
	int rows, cols;

	c.is_ascii = c.is_ascii || !term_locale_is_utf8();
	c.has_colour = c.has_colour && term_colour_is_wanted();
	int r = term_new(ui->loop, tty_fd, c.has_colour, &th, &ui->term);
	if (r < 0)
		return r;
	ui->frame_timer = zev_timer_new(ui->loop, on_frame_timer, ui);
	ui->tick_timer = zev_timer_new(ui->loop, on_tick, ui);
	ui->input_timer = zev_timer_new(ui->loop, on_input_timer, ui);
	term_size(ui->term, &rows, &cols);
	ui_core_init(&ui->core, model, grid, host, &c, &effects, rows, cols, zw_mono_ms());
	term_cell_size(ui->term, &ui->core.cell_width, &ui->core.cell_height);
	ui->told = (struct ui_terminal){.fg_rgb = FG_UNTOLD, .bg_rgb = BG_UNTOLD};
	ui->core.input.wants_osc = true;
	return 0;
}

int ui_new(struct zev_loop *loop, int tty_fd, struct mdl_session *model, struct pane_grid *grid,
	   const struct ui_host *host, const struct ui_config *config, struct ui **ret)
{
	struct ui *ui = zw_xnew(struct ui);

	ui->loop = loop;
	int r = start(ui, tty_fd, model, grid, host, config);
	if (r < 0) {
		free(ui);
		return r;
	}
	schedule(ui);
	*ret = ui;
	return 0;
}

void ui_free(struct ui *ui)
{
	if (ui == NULL)
		return;
	/* First the terminal: answers that are still on their way go through the core. */
	term_free(ui->term);
	ui_core_fini(&ui->core);
	zev_timer_free(ui->frame_timer);
	zev_timer_free(ui->tick_timer);
	zev_timer_free(ui->input_timer);
	draw_grid_fini(&ui->grid);
	free(ui);
}

void ui_emergency_restore(void)
{
	term_emergency_restore();
}

void ui_changed(struct ui *ui, unsigned changed)
{
	ui_core_changed(&ui->core, changed, zw_mono_ms());
	schedule(ui);
}

void ui_frame(struct ui *ui, const struct ui_frame *frame)
{
	int64_t now = zw_mono_ms();

	ui_core_frame(&ui->core, frame, now);
	/* The echo of a key: nothing else is waited for. */
	if (!ui->core.is_dirty && left_ms(ui, now) <= 0)
		draw(ui);
	else
		schedule(ui);
}

void ui_note(struct ui *ui, unsigned kind, uint32_t value, const char *text)
{
	ui_core_note(&ui->core, kind, value, text, zw_mono_ms());
	schedule(ui);
}

void ui_agent_clip(struct ui *ui, const void *text, size_t len)
{
	int64_t now = zw_mono_ms();
	char said[256];

	/* Each may start a program of the desktop. */
	if (ui->agent_clip_ms != 0 && now - ui->agent_clip_ms < AGENT_CLIP_MS)
		return;
	ui->agent_clip_ms = now;
	clip_agent(ui->term, text, len, said, sizeof(said));
	ui_core_message(&ui->core, said, now);
	schedule(ui);
}

void ui_found(struct ui *ui, bool is_found, struct ui_place from, struct ui_place to)
{
	view_scroll_found(&ui->core, is_found, from, to);
	schedule(ui);
}

void ui_text(struct ui *ui, const void *bytes, size_t len, bool is_last, bool is_cut)
{
	view_scroll_text(&ui->core, bytes, len, is_last, is_cut);
	schedule(ui);
}

void ui_link(struct ui *ui, const char *uri)
{
	view_scroll_link(&ui->core, uri);
	schedule(ui);
}

void ui_message(struct ui *ui, const char *text)
{
	ui_core_message(&ui->core, text, zw_mono_ms());
	schedule(ui);
}

void ui_input_pause(struct ui *ui, bool is_full)
{
	term_read_pause(ui->term, is_full);
}

void ui_resized(struct ui *ui)
{
	int rows, cols;

	term_size(ui->term, &rows, &cols);
	term_cell_size(ui->term, &ui->core.cell_width, &ui->core.cell_height);
	ui_core_resize(&ui->core, rows, cols, zw_mono_ms());
	if (ui->told.cell_width != ui->core.cell_width ||
	    ui->told.cell_height != ui->core.cell_height)
		tell_terminal(ui);
	schedule(ui);
}

void ui_suspend(struct ui *ui)
{
	ui_core_cmd(&ui->core, UI_CMD_SUSPEND);
	schedule(ui);
}

void ui_continued(struct ui *ui)
{
	if (!term_retake(ui->term))
		return;
	ui->title[0] = '\0';
	ui_resized(ui);
}

/* -- the history program ----------------------------------------------------------------------- */

struct history_run {
	struct zev_loop *loop;
	struct ui *ui;
};

static void on_history_quit(void *arg)
{
	zev_stop(((struct history_run *)arg)->loop);
}

static void on_history_winch(int signo, void *arg)
{
	(void)signo;
	ui_resized(((struct history_run *)arg)->ui);
}

static void on_history_signal(int signo, void *arg)
{
	(void)signo;
	on_history_quit(arg);
}

static void history_open(struct ui_core *core, void *arg)
{
	const struct ui_history_config *config = arg;
	int r = 0;

	if (config->file == NULL)
		view_history_open(core, config->store_path, config->session);
	if (config->file != NULL || config->is_replay)
		r = view_replay_open(core, config->store_path, config->session, config->file);
	if (r < 0)
		ui_core_say(core, "The recording cannot be played: %s.", zw_strerror(r));
	if (core->top == NULL)
		effect_quit(core->effects.arg);
}

/* A program whose whole screen is one view. */
struct idle {
	struct history_run *run;
	struct zev_timer *timer;
	int64_t since_ms, max_ms;
};

static void on_idle(void *arg)
{
	struct idle *i = arg;
	int64_t key_ms = i->run->ui->core.key_ms;
	int64_t left = (key_ms > i->since_ms ? key_ms : i->since_ms) + i->max_ms - zw_mono_ms();

	if (left <= 0)
		zev_stop(i->run->loop);
	else
		zev_timer_start(i->timer, left);
}

/* @idle_ms: without a key for so long it ends by itself; 0 = never */
static int page_run(struct zev_loop *loop, int tty_fd, const struct ui_config *config,
		    int64_t idle_ms, void (*open)(struct ui_core *core, void *arg), void *arg)
{
	static const int ends[] = {SIGTERM, SIGHUP, SIGINT};
	struct zev_signal *end[ZW_N_ELEMENTS(ends)];
	struct history_run run = {.loop = loop};
	struct mdl_session model;

	mdl_session_init(&model, getenv("HOME"));
	run.ui = zw_xnew(struct ui);
	run.ui->loop = loop;
	run.ui->on_quit = on_history_quit;
	run.ui->quit_arg = &run;
	int r = start(run.ui, tty_fd, &model, NULL, NULL, config);
	if (r < 0) {
		free(run.ui);
		mdl_session_fini(&model);
		return r;
	}
	open(&run.ui->core, arg);
	struct zev_signal *winch = zev_signal_new(loop, SIGWINCH, on_history_winch, &run);
	for (size_t i = 0; i < ZW_N_ELEMENTS(ends); i++)
		end[i] = zev_signal_new(loop, ends[i], on_history_signal, &run);
	schedule(run.ui);
	struct idle idle = {.run = &run, .since_ms = zw_mono_ms(), .max_ms = idle_ms};
	idle.timer = zev_timer_new(loop, on_idle, &idle);
	if (idle_ms > 0)
		zev_timer_start(idle.timer, idle_ms);
	r = zev_run(loop);
	zev_timer_free(idle.timer);
	zev_signal_free(winch);
	for (size_t i = 0; i < ZW_N_ELEMENTS(ends); i++)
		zev_signal_free(end[i]);
	ui_free(run.ui);
	mdl_session_fini(&model);
	return r;
}

int ui_history_run(struct zev_loop *loop, int tty_fd, const struct ui_history_config *config)
{
	const struct ui_config c = {.layout = UI_LAYOUT_COLLAPSED,
				    .is_ascii = config->is_ascii,
				    .has_colour = config->has_colour,
				    .player = config->player};

	return page_run(loop, tty_fd, &c, 0, history_open, (void *)(uintptr_t)config);
}

static void review_open(struct ui_core *core, void *arg)
{
	view_review_open(core, arg);
}

int ui_review_run(struct zev_loop *loop, int tty_fd, struct ui_review *review, bool is_ascii,
		  bool has_colour, int theme)
{
	const struct ui_config c = {.layout = UI_LAYOUT_COLLAPSED,
				    .is_ascii = is_ascii,
				    .has_colour = has_colour,
				    .theme = theme};

	/* What was typed for the agent when it ended is for nobody. */
	tcflush(tty_fd, TCIFLUSH);
	return page_run(loop, tty_fd, &c, UI_REVIEW_IDLE_MS, review_open, review);
}
