/* SPDX-License-Identifier: MIT
 * The dashboard with a made-up session, to look at it: build it, run it in a terminal.
 *   ui_demo [--collapsed] [--ascii] [--history STORE] [ask...]    ask: docker ssh site
 * Keys that go to the agent are echoed into its last row; after 3 seconds the next ask of the
 * command line arrives. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "tests/support/ui_model.h"
#include "ui/history.h"
#include "ui/ui.h"

struct demo {
	struct zev_loop *loop;
	struct ui *ui;
	struct mdl_session model;
	struct pane_grid *grid;
	struct zev_timer *timer;
	char **asks; /* that are still to come */
	int rows, cols, echo;
	uint64_t next_id;
};

static void send_frame(struct demo *d, uint32_t modes)
{
	struct ui_frame frame = {.rows = d->rows,
				 .cols = d->cols,
				 .cursor_row = d->rows - 1,
				 .cursor_col = d->echo,
				 .modes = modes | PANE_MODE_CURSOR_VISIBLE};

	ui_frame(d->ui, &frame);
}

static void on_input(void *arg, const void *bytes, size_t len)
{
	struct demo *d = arg;
	const uint8_t *b = bytes;

	for (size_t i = 0; i < len; i++) {
		if (b[i] == 'q' - 'a' + 1)
			zev_stop(d->loop); /* Ctrl-Q */
		if (d->echo >= d->cols)
			d->echo = 0;
		d->grid->cell[d->rows - 1][d->echo++].cp[0] =
			b[i] >= ' ' && b[i] < 0x7f ? b[i] : '?';
		d->grid->dirty[d->rows - 1] = 1;
	}
	send_frame(d, 0);
}

static void on_pane_resize(void *arg, int rows, int cols)
{
	struct demo *d = arg;

	d->rows = rows;
	d->cols = cols;
	d->echo = 0;
	ui_model_grid(d->grid, rows, cols);
	if (d->ui != NULL)
		send_frame(d, 0);
}

static void on_frame_done(void *arg)
{
	struct demo *d = arg;

	memset(d->grid->dirty, 0, sizeof(d->grid->dirty));
}

static void on_ask_open(void *arg, uint64_t id, bool is_open)
{
	struct demo *d = arg;
	struct mdl_ask *a = mdl_ask_find(&d->model, id);

	if (a == NULL)
		return;
	a->left_ms = mdl_ask_left_ms(a, zw_mono_ms());
	a->clock_ms = zw_mono_ms();
	a->state = is_open ? MDL_ASK_OPEN : MDL_ASK_HELD;
}

static const char *on_answer(void *arg, const struct ui_answer *answer)
{
	struct demo *d = arg;
	struct mdl_ask *a = mdl_ask_find(&d->model, answer->ask);

	if (a != NULL)
		a->state = MDL_ASK_ANSWERED;
	if (answer->verdict == POL_ALLOW)
		d->model.n_allow++;
	else
		d->model.n_deny++;
	return NULL;
}

static void on_strict(void *arg, uint64_t ask)
{
	(void)arg;
	(void)ask;
}

static const char *on_try(void *arg, const struct ui_answer *answer)
{
	(void)arg;
	(void)answer;
	return "Tried on 12 past sessions: answers 6 questions, matches nothing that was denied.";
}

static const char *on_undo(void *arg)
{
	(void)arg;
	return "Nothing to take back.";
}

static void on_close_sock(void *arg, const struct mdl_sock *sock)
{
	(void)arg;
	(void)sock;
}

static const char *on_freeze(void *arg, bool is_frozen)
{
	(void)arg;
	return is_frozen ? "The agent is frozen." : "The agent goes on.";
}

static const char *on_mode(void *arg, enum pol_mode mode)
{
	((struct demo *)arg)->model.mode = mode;
	return NULL;
}

static void on_stop(void *arg)
{
	zev_stop(((struct demo *)arg)->loop);
}

static void on_timer(void *arg)
{
	struct demo *d = arg;
	struct mdl_ask *a;

	if (*d->asks == NULL)
		return;
	if (strcmp(*d->asks, "docker") == 0)
		a = ui_model_ask_docker(&d->model, ++d->next_id);
	else if (strcmp(*d->asks, "ssh") == 0)
		a = ui_model_ask_ssh(&d->model, ++d->next_id);
	else
		a = ui_model_ask_site(&d->model, ++d->next_id);
	a->since_ms = a->clock_ms = zw_mono_ms();
	d->asks++;
	ui_changed(d->ui, MDL_CHANGED_ASKS);
	zev_timer_start(d->timer, 300);
}

static void on_winch(int signo, void *arg)
{
	(void)signo;
	ui_resized(((struct demo *)arg)->ui);
}

static void on_fatal(int signo)
{
	ui_emergency_restore();
	signal(signo, SIG_DFL);
	raise(signo);
}

static int run(struct demo *d, int tty, const struct ui_config *config)
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
				     .freeze = on_freeze,
				     .mode = on_mode,
				     .stop_agent = on_stop,
				     .pane_restart = on_stop,
				     .arg = d};

	ui_model_fill(&d->model);
	d->model.started_ms = zw_mono_ms() - 761000;
	int r = ui_new(d->loop, tty, &d->model, d->grid, &host, config, &d->ui);
	if (r < 0)
		return r;
	send_frame(d, PANE_MODE_PASTE);
	signal(SIGSEGV, on_fatal);
	struct zev_signal *winch = zev_signal_new(d->loop, SIGWINCH, on_winch, d);
	d->timer = zev_timer_new(d->loop, on_timer, d);
	zev_timer_start(d->timer, 300);
	zev_run(d->loop);
	zev_timer_free(d->timer);
	zev_signal_free(winch);
	ui_free(d->ui);
	mdl_session_fini(&d->model);
	return 0;
}

int main(int argc, char **argv)
{
	struct ui_config config = {.layout = UI_LAYOUT_DASHBOARD,
				   .has_colour = true,
				   .has_mouse = true,
				   .arm_ms = 500,
				   .quiet_ms = 300,
				   .repeat_n = 3,
				   .flood_n = 8,
				   .flood_ms = 10000,
				   .agent_name = "claude"};
	struct demo d = {.loop = zev_loop_new()};
	const char *history = NULL;
	int tty = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10), r;

	for (argv++; *argv != NULL && **argv == '-'; argv++) {
		if (strcmp(*argv, "--collapsed") == 0)
			config.layout = UI_LAYOUT_COLLAPSED;
		else if (strcmp(*argv, "--ascii") == 0)
			config.is_ascii = true;
		else if (strcmp(*argv, "--history") == 0 && argv[1] != NULL)
			config.history_path = history = *++argv;
	}
	d.asks = argv;
	d.grid = zw_xcalloc(1, PANE_GRID_SIZE_B);
	if (history != NULL && *argv == NULL)
		r = ui_history_run(d.loop, tty,
				   &(struct ui_history_config){.store_path = history,
							       .is_ascii = config.is_ascii,
							       .has_colour = true});
	else
		r = run(&d, tty, &config);
	if (r < 0)
		fprintf(stderr, "ui_demo: %s\n", zw_strerror(r));
	free(d.grid);
	zev_loop_free(d.loop);
	close(tty);
	return argc > 0 && r < 0 ? 1 : 0;
}
