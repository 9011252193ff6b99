/* SPDX-License-Identifier: MIT */
#include "ui/plain_tty.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "ui/term.h"

#define QUEUE_MAX_B (512u << 10)
#define READ_B	    4096
#define END_MS	    500 /* for what is still in the queue at the end */

struct plain_tty {
	struct zev_loop *loop; /* borrowed */
	int fd;		       /* borrowed */
	struct plain p;
	struct zw_buf out;
	struct zev_io *io;
	struct zev_timer *tick_timer, *input_timer;
	bool is_paused, is_raw;
	struct ui_desktop desktop;
};

/* For a signal that ends the process: how the terminal was. */
static int saved_fd = -1;
static struct termios saved;

void plain_tty_restore(void)
{
	if (saved_fd >= 0)
		tcsetattr(saved_fd, TCSANOW, &saved);
}

static int raw(struct plain_tty *t)
{
	struct termios now;

	if (tcgetattr(t->fd, &saved) < 0)
		return -errno;
	saved_fd = t->fd;
	now = saved;
	cfmakeraw(&now);
	if (tcsetattr(t->fd, TCSANOW, &now) < 0)
		return -errno;
	t->is_raw = true;
	return 0;
}

static void cooked(struct plain_tty *t)
{
	if (t->is_raw)
		plain_tty_restore();
	t->is_raw = false;
	saved_fd = -1;
}

void plain_tty_size(int tty_fd, int *ret_rows, int *ret_cols)
{
	struct winsize size = {.ws_row = 0};

	bool is_told = ioctl(tty_fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0;
	*ret_rows = is_told ? size.ws_row : 24;
	*ret_cols = is_told ? size.ws_col : 80;
}

/* -- output ------------------------------------------------------------------------------------- */

static void io_want(struct plain_tty *t)
{
	zev_io_set(t->io, (t->is_paused ? 0u : ZEV_READ) | (t->out.len > 0 ? ZEV_WRITE : 0u));
}

static void flush(struct plain_tty *t)
{
	while (t->out.len > 0) {
		ssize_t n = write(t->fd, zw_buf_head(&t->out), t->out.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			zw_buf_consume(&t->out, t->out.len); /* gone: SIGHUP ends the session */
		if (n <= 0)
			break;
		zw_buf_consume(&t->out, (size_t)n);
	}
}

static void timers(struct plain_tty *t)
{
	int64_t next = plain_next_ms(&t->p, zw_mono_ms());
	int ms = ui_input_wait_ms(&t->p.input);

	if (next < 0)
		zev_timer_stop(t->tick_timer);
	else
		zev_timer_start(t->tick_timer, next > 0 ? next : 1);
	if (ms > 0)
		zev_timer_start(t->input_timer, ms);
	else
		zev_timer_stop(t->input_timer);
}

/* After whatever happened. */
static void step(struct plain_tty *t)
{
	flush(t);
	if (t->out.len == 0)
		plain_written(&t->p, zw_mono_ms());
	io_want(t);
	timers(t);
}

static void effect_write(void *arg, const void *bytes, size_t len)
{
	struct plain_tty *t = arg;

	/* The agent's output comes by credit and zwatch's lines are few: it does not get full before
	 * a terminal has not read for very long. */
	zw_buf_add(&t->out, bytes, len);
}

/* -- input -------------------------------------------------------------------------------------- */

static void read_keys(struct plain_tty *t)
{
	char bytes[READ_B];
	ssize_t n = read(t->fd, bytes, sizeof(bytes));

	if (n > 0) {
		plain_input(&t->p, bytes, (size_t)n, zw_mono_ms());
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		t->is_paused = true; /* hung up: SIGHUP tells the session */
	}
}

static void on_ready(int fd, unsigned what, void *arg)
{
	struct plain_tty *t = arg;

	(void)fd;
	if ((what & ZEV_READ) != 0)
		read_keys(t);
	step(t);
}

static void on_tick(void *arg)
{
	struct plain_tty *t = arg;

	plain_tick(&t->p, zw_mono_ms());
	step(t);
}

static void on_input_timer(void *arg)
{
	struct plain_tty *t = arg;

	plain_input_timeout(&t->p, zw_mono_ms());
	step(t);
}

static void effect_suspend(void *arg)
{
	struct plain_tty *t = arg;

	flush(t);
	cooked(t);
	struct sigaction dfl = {.sa_handler = SIG_DFL}, old;
	sigaction(SIGTSTP, &dfl, &old);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &old, NULL);
	plain_tty_continued(t);
}

/* No bell: lines are read aloud anyhow. */
static void effect_nudge(void *arg, unsigned ways, const char *text)
{
	struct plain_tty *t = arg;

	if ((ways & UI_NUDGE_TERMINAL) != 0)
		ui_desktop_command(&t->desktop, text);
	if ((ways & UI_NUDGE_DESKTOP) != 0)
		ui_desktop_show(&t->desktop, text);
}

/* -- life --------------------------------------------------------------------------------------- */

int plain_tty_new(struct zev_loop *loop, int tty_fd, struct mdl_session *model,
		  const struct ui_host *host, const struct plain_config *config,
		  const struct ui_desktop *desktop, struct plain_tty **ret)
{
	struct plain_tty *t = zw_xnew(struct plain_tty);
	struct plain_config c = *config;
	int rows, cols;

	t->loop = loop;
	t->fd = tty_fd;
	t->desktop = *desktop;
	int r = raw(t);
	if (r < 0) {
		free(t);
		return r;
	}
	zw_buf_init(&t->out, QUEUE_MAX_B);
	t->io = zev_io_new(loop, tty_fd, ZEV_READ, on_ready, t);
	t->tick_timer = zev_timer_new(loop, on_tick, t);
	t->input_timer = zev_timer_new(loop, on_input_timer, t);
	plain_tty_size(tty_fd, &rows, &cols);
	c.is_ascii = c.is_ascii || !term_locale_is_utf8();
	const struct plain_effects effects = {
		.write = effect_write, .suspend = effect_suspend, .nudge = effect_nudge, .arg = t};
	plain_init(&t->p, model, host, &c, &effects, cols, zw_mono_ms());
	step(t);
	*ret = t;
	return 0;
}

/* What the agent may have left on: the terminal is the user's again. */
static const char reset[] = "\033[?1000l\033[?1002l\033[?1003l\033[?1004l\033[?1006l\033[?2004l"
			    "\033[?1l\033>\033[?25h\033[m";

void plain_tty_free(struct plain_tty *t)
{
	if (t == NULL)
		return;
	int64_t end_ms = zw_mono_ms() + END_MS;
	if (t->p.held.len > 0)
		effect_write(t, zw_buf_head(&t->p.held), t->p.held.len);
	if (t->p.has_agent_modes)
		effect_write(t, reset, sizeof(reset) - 1);
	if (!t->p.is_at_start)
		effect_write(t, "\r\n", 2);
	for (flush(t); t->out.len > 0 && zw_mono_ms() < end_ms; flush(t))
		usleep(5000);
	cooked(t);
	plain_fini(&t->p);
	zev_io_free(t->io);
	zev_timer_free(t->tick_timer);
	zev_timer_free(t->input_timer);
	zw_buf_fini(&t->out);
	free(t);
}

void plain_tty_changed(struct plain_tty *t, unsigned changed)
{
	plain_changed(&t->p, changed, zw_mono_ms());
	step(t);
}

void plain_tty_agent(struct plain_tty *t, const void *bytes, size_t len)
{
	plain_agent(&t->p, bytes, len, zw_mono_ms());
	step(t);
}

void plain_tty_message(struct plain_tty *t, const char *text)
{
	plain_message(&t->p, text, zw_mono_ms());
	step(t);
}

void plain_tty_note(struct plain_tty *t, unsigned kind, const char *text)
{
	plain_note(&t->p, kind, text, zw_mono_ms());
	step(t);
}

void plain_tty_pause(struct plain_tty *t, bool is_full)
{
	t->is_paused = is_full;
	io_want(t);
}

void plain_tty_resized(struct plain_tty *t)
{
	int rows, cols;

	plain_tty_size(t->fd, &rows, &cols);
	plain_resize(&t->p, cols);
	t->p.host.pane_resize(t->p.host.arg, rows, cols);
	step(t);
}

void plain_tty_suspend(struct plain_tty *t)
{
	effect_suspend(t);
	step(t);
}

void plain_tty_continued(struct plain_tty *t)
{
	if (!t->is_raw)
		raw(t);
	plain_tty_resized(t);
}
