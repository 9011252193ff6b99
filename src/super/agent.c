/* SPDX-License-Identifier: MIT
 * The agent seen from outside: its terminal's master, the pane that reads it, its end. zwatch
 * itself only writes to the master; what comes out of it is zwatch-pane's to parse. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/super/super_i.h"

/* After SIGTERM, until the whole sandbox is killed. */
#define STOP_GRACE_MS 3000
/* A pane that dies twice in this time may be dying of what the agent prints: the next one is the user's
 * to start. */
#define PANE_DEATHS_MS 60000
/* Between the two changes of size: a program that reads the size late would see none. */
#define REDRAW_MS 150
/* After the agent's end, for its last output to reach the screen. */
#define PANE_DRAIN_MS 500

static void input_run(struct sup *s)
{
	while (s->input.len > 0) {
		ssize_t n = write(s->pty_fd, zw_buf_head(&s->input), s->input.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			zw_buf_consume(&s->input, s->input.len); /* the terminal is closed inside */
		if (n <= 0)
			break;
		zw_buf_consume(&s->input, (size_t)n);
	}
	zev_io_set(s->pty_io, s->input.len > 0 ? ZEV_WRITE : 0);
	bool is_full = s->input.len > (s->is_input_full ? SUP_INPUT_LOW_B : SUP_INPUT_HIGH_B);
	if (is_full != s->is_input_full) {
		s->is_input_full = is_full;
		s->face->input_pause(s->face->arg, is_full);
	}
}

static void on_pty_writable(int fd, unsigned what, void *arg)
{
	(void)fd;
	(void)what;
	input_run(arg);
}

/* Ctrl-C while a paste waits for a program that does not read: the terminal inside is full and would
 * never see the key. What it does then is done here: the signal, and what was not read is gone. */
static bool interrupt(struct sup *s, const void *bytes, size_t len)
{
	struct termios t;

	if (s->input.len == 0 || len != 1 || tcgetattr(s->pty_fd, &t) < 0 ||
	    (t.c_lflag & ISIG) == 0 || *(const uint8_t *)bytes != t.c_cc[VINTR])
		return false;
	if ((t.c_lflag & NOFLSH) == 0) {
		zw_buf_consume(&s->input, s->input.len);
		tcflush(s->pty_fd, TCOFLUSH);
	}
	return ioctl(s->pty_fd, TIOCSIG, SIGINT) == 0;
}

void sup_input(struct sup *s, const void *bytes, size_t len)
{
	if (s->pty_fd < 0 || s->is_agent_over)
		return;
	if (interrupt(s, bytes, len)) {
		input_run(s);
		return;
	}
	/* The dashboard stops reading at the high mark; one read beyond it still fits. */
	if (zw_buf_add(&s->input, bytes, len) < 0)
		sup_warn(s, "the agent reads nothing; %zu typed bytes were dropped", len);
	input_run(s);
}

void sup_pane_resize(struct sup *s, int rows, int cols)
{
	struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};

	if (rows == s->rows && cols == s->cols)
		return;
	s->rows = rows;
	s->cols = cols;
	/* The engine learns its size first, so that what the agent draws after SIGWINCH fits. */
	if (s->pane.chan != NULL)
		zw_send(s->pane.chan, pane_resize, .rows = (uint16_t)rows, .cols = (uint16_t)cols);
	if (s->pty_fd >= 0)
		ioctl(s->pty_fd, TIOCSWINSZ, &size);
}

void sup_frame_done(struct sup *s)
{
	if (s->pane.chan != NULL)
		zw_send(s->pane.chan, pane_next, .unused = 0);
}

void sup_pane_ask(struct sup *s, enum zw_msg_id id, const void *msg)
{
	if (s->pane.chan != NULL && s->pty_fd >= 0)
		zw_chan_send_fds(s->pane.chan, id, msg, NULL, 0);
}

void sup_pane_colours(struct sup *s, const struct zw_msg_pane_colours *m)
{
	s->terminal = *m;
	s->has_terminal = true;
	sup_pane_ask(s, ZW_ID_pane_colours, m);
}

static void pane_setup(struct sup *s)
{
	int fds[2] = {s->pty_fd, s->face->grid_fd(s->face->arg)};
	struct zw_msg_pane_setup m = {.rows = (uint16_t)s->rows,
				      .cols = (uint16_t)s->cols,
				      .fg_rgb = 0xd0d0d0,
				      .bg_rgb = 0x000000,
				      .has_kitty = s->config->has_kitty,
				      .has_clipboard = s->config->has_clipboard,
				      .is_plain = s->face->bytes != NULL,
				      .scrollback_n = s->config->scrollback_n};

	if (s->pane.chan == NULL || s->pty_fd < 0)
		return;
	zw_chan_send_fds(s->pane.chan, ZW_ID_pane_setup, &m, fds, 2);
	if (s->has_terminal)
		sup_pane_ask(s, ZW_ID_pane_colours, &s->terminal);
}

static void pty_size(struct sup *s, int cols)
{
	struct winsize size = {.ws_row = (unsigned short)s->rows, .ws_col = (unsigned short)cols};

	if (s->pty_fd >= 0)
		ioctl(s->pty_fd, TIOCSWINSZ, &size);
}

static void on_redraw_timer(void *arg)
{
	struct sup *s = arg;

	pty_size(s, s->cols);
}

/* A new engine knows nothing of the screen: a change of size makes the program draw it again. */
static void redraw_ask(struct sup *s)
{
	pty_size(s, s->cols > 2 ? s->cols - 1 : s->cols + 1);
	if (s->redraw_timer == NULL)
		s->redraw_timer = zev_timer_new(s->loop, on_redraw_timer, s);
	zev_timer_start(s->redraw_timer, REDRAW_MS);
}

static void pane_gone(struct sup *s, const char *how)
{
	mdl_set(&s->model.pane_gone, zw_span(how), 128);
	sup_changed(s, MDL_CHANGED_STATUS);
}

void sup_pane_start(struct sup *s)
{
	int r = sup_helper_start(&s->pane, s->config->log_fd);
	if (r < 0) {
		sup_warn(s, "zwatch-pane cannot be started: %s", zw_strerror(r));
		pane_gone(s, zw_strerror(r));
		return;
	}
	pane_gone(s, "");
	sup_cast_start(s);
	pane_setup(s);
	if (s->pane.n_starts > 1) {
		sup_mark(s, "warning: zwatch-pane was started anew");
		redraw_ask(s);
	}
}

void sup_pane_dead(struct sup *s, const char *how)
{
	int64_t now = zw_mono_ms();
	bool is_wanted = s->is_pane_wanted;
	bool is_again = s->pane_died_ms != 0 && now - s->pane_died_ms < PANE_DEATHS_MS;

	s->is_pane_wanted = false;
	if (s->is_pane_over)
		return;
	if (!is_wanted)
		s->pane_died_ms = now;
	if (is_again && !is_wanted) {
		sup_warn(s, "zwatch-pane %s, again: it is not started by itself any more", how);
		pane_gone(s, how);
		return;
	}
	if (is_wanted)
		sup_record(s, "terminal", "zwatch-pane was ended by the user, and started anew");
	else
		sup_warn(s, "zwatch-pane %s: started anew", how);
	sup_pane_start(s);
}

void sup_pane_restart(struct sup *s)
{
	if (s->pty_fd < 0 || s->is_agent_over)
		return;
	if (s->pane.pid <= 0) {
		sup_pane_start(s);
		return;
	}
	/* One that hangs. Its death starts the next. */
	s->is_pane_wanted = true;
	kill(s->pane.pid, SIGKILL);
}

static void maybe_over(struct sup *s)
{
	if (!s->is_agent_over)
		return;
	if (s->is_pane_over || s->face == NULL || s->pane.chan == NULL)
		zev_stop(s->loop);
	else if (!zev_timer_is_running(s->patience))
		zev_timer_start(s->patience, PANE_DRAIN_MS);
}

static void clipboard_refused(struct sup *s, const struct zw_msg_pane_note *m)
{
	bool is_read = zw_span_eq(m->text, "read");

	sup_noted(s, is_read ? SUP_NOTED_CLIP_READ : SUP_NOTED_CLIP_SET,
		  m->times > 0 ? m->times : 1, zw_span(""));
	if (s->is_face_open)
		s->face->note(s->face->arg, ZW_NOTE_KIND_CLIPBOARD, m->value,
			      is_read ? "The agent wanted to read the clipboard: refused."
				      : "The agent wanted to set the clipboard: refused.");
}

/* zwatch-pane has it from the agent: the setting is looked at here again. */
static void clipboard_set(struct sup *s, struct zw_span text)
{
	if (!s->config->has_clipboard)
		return;
	sup_noted(s, SUP_NOTED_CLIP_DONE, 1, zw_span(""));
	if (s->is_face_open)
		s->face->clip(s->face->arg, text.p, text.len);
}

void sup_on_pane_msg(struct sup *s, enum zw_msg_id id, const union zw_msg_any *msg)
{
	if (id == ZW_ID_pane_frame && s->is_face_open) {
		s->face->frame(s->face->arg, &msg->pane_frame);
	} else if (id == ZW_ID_pane_bytes && s->is_face_open && s->face->bytes != NULL) {
		s->face->bytes(s->face->arg, msg->pane_bytes.bytes.p, msg->pane_bytes.bytes.len);
		/* The agent is over and its output is not: it goes on while it moves. */
		if (s->is_agent_over)
			zev_timer_start(s->patience, PANE_DRAIN_MS);
	} else if ((id == ZW_ID_pane_found || id == ZW_ID_pane_text || id == ZW_ID_pane_link_is) &&
		   s->is_face_open) {
		s->face->pane_answer(s->face->arg, id, msg);
	} else if (id == ZW_ID_pane_title) {
		mdl_set(&s->model.title, msg->pane_title.title, 256);
		sup_changed(s, MDL_CHANGED_STATUS);
	} else if (id == ZW_ID_pane_clip) {
		clipboard_set(s, msg->pane_clip.text);
	} else if (id == ZW_ID_pane_note && msg->pane_note.kind == ZW_NOTE_KIND_CLIPBOARD) {
		clipboard_refused(s, &msg->pane_note);
	} else if (id == ZW_ID_pane_note) {
		zw_autofree char *text = NULL;

		mdl_set(&text, msg->pane_note.text, 256);
		if (msg->pane_note.kind == ZW_NOTE_KIND_NOTIFY)
			sup_noted(s, SUP_NOTED_NOTICE,
				  msg->pane_note.times > 0 ? msg->pane_note.times : 1,
				  zw_span(text));
		if (s->is_face_open)
			s->face->note(s->face->arg, msg->pane_note.kind, msg->pane_note.value,
				      text);
	} else if (id == ZW_ID_pane_record_end) {
		sup_on_record_end(s, msg->pane_record_end.status);
	} else if (id == ZW_ID_pane_eof) {
		s->is_pane_over = true;
		maybe_over(s);
	}
}

static void on_sandbox_over(int fd, unsigned what, void *arg)
{
	struct sup *s = arg;

	(void)fd;
	(void)what;
	if (sb_session_ended(&s->sandbox, &s->agent_status) == 0)
		return;
	s->is_agent_over = true;
	zev_io_set(s->bwrap_io, 0);
	maybe_over(s);
}

void sup_agent_start(struct sup *s)
{
	zw_buf_init(&s->input, SUP_INPUT_MAX_B);
	s->pty_fd = zw_steal_fd(&s->sandbox.pty);
	if (s->pty_fd >= 0) {
		zw_set_nonblock(s->pty_fd);
		s->pty_io = zev_io_new(s->loop, s->pty_fd, 0, on_pty_writable, s);
	}
	s->bwrap_io = zev_io_new(s->loop, s->sandbox.bwrap_pidfd, ZEV_READ, on_sandbox_over, s);
}

void sup_agent_fini(struct sup *s)
{
	zev_io_free(zw_steal(&s->pty_io));
	zev_io_free(zw_steal(&s->bwrap_io));
	zev_timer_free(zw_steal(&s->kill_timer));
	zev_timer_free(zw_steal(&s->redraw_timer));
	sup_tasks_fini(s);
	zw_buf_fini(&s->input);
	zw_close(&s->pty_fd);
}

static void on_kill_timer(void *arg)
{
	struct sup *s = arg;

	if (!s->is_agent_over && s->sandbox.init_pid > 0)
		kill(s->sandbox.bwrap_pid, SIGKILL);
}

void sup_stop_agent(struct sup *s)
{
	if (s->is_agent_over)
		return;
	sup_thaw_all(s);
	sb_session_signal(&s->sandbox, SIGTERM);
	if (s->kill_timer == NULL)
		s->kill_timer = zev_timer_new(s->loop, on_kill_timer, s);
	zev_timer_start(s->kill_timer, STOP_GRACE_MS);
}
