/* SPDX-License-Identifier: MIT
 * Plain mode as a session's face: the same seam as dash.c, with lines in the place of a screen. */
#include "ui/plain_tty.h"

#include <signal.h>

#include "src/main/dash.h"

static void face_pane_size(void *arg, int *ret_rows, int *ret_cols)
{
	plain_tty_size(((struct dash *)arg)->tty_fd, ret_rows, ret_cols);
}

static void on_fatal_signal(int signo)
{
	plain_tty_restore();
	signal(signo, SIG_DFL);
	raise(signo);
}

static int face_open(struct sup *sup, struct zev_loop *loop, struct mdl_session *model, void *arg)
{
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
	struct dash *d = arg;
	const struct ui_config *c = &d->config;
	const struct plain_config config = {.is_ascii = c->is_ascii,
					    .is_second_key = c->is_second_key,
					    .arm_ms = c->arm_ms,
					    .quiet_ms = c->quiet_ms,
					    .repeat_n = c->repeat_n,
					    .flood_n = c->flood_n,
					    .flood_ms = c->flood_ms,
					    .agent_name = c->agent_name,
					    .why = d->plain_why};
	struct ui_host host;

	d->sup = sup;
	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		signal(fatal[i], on_fatal_signal);
	dash_host(d, &host);
	return plain_tty_new(loop, d->tty_fd, model, &host, &config, &c->desktop, &d->plain);
}

static void face_close(void *arg)
{
	struct dash *d = arg;

	plain_tty_free(d->plain);
	d->plain = NULL;
}

static int face_grid_fd(void *arg)
{
	return ((struct dash *)arg)->grid_fd;
}

static void face_changed(void *arg, unsigned changed)
{
	plain_tty_changed(((struct dash *)arg)->plain, changed);
}

static void face_frame(void *arg, const struct zw_msg_pane_frame *frame)
{
	(void)arg;
	(void)frame;
}

static void face_bytes(void *arg, const void *bytes, size_t len)
{
	plain_tty_agent(((struct dash *)arg)->plain, bytes, len);
}

static void face_note(void *arg, unsigned kind, uint32_t value, const char *text)
{
	(void)value;
	plain_tty_note(((struct dash *)arg)->plain, kind, text);
}

/* The clipboard is the terminal's, and nothing is sent to it here. */
static void face_clip(void *arg, const void *text, size_t len)
{
	(void)arg;
	(void)text;
	(void)len;
}

static void face_pane_answer(void *arg, enum zw_msg_id id, const union zw_msg_any *msg)
{
	(void)arg;
	(void)id;
	(void)msg;
}

static void face_message(void *arg, const char *text)
{
	plain_tty_message(((struct dash *)arg)->plain, text);
}

static void face_input_pause(void *arg, bool is_full)
{
	struct dash *d = arg;

	if (d->plain != NULL)
		plain_tty_pause(d->plain, is_full);
}

static void face_resized(void *arg)
{
	plain_tty_resized(((struct dash *)arg)->plain);
}

static void face_job(void *arg, bool is_continued)
{
	struct dash *d = arg;

	if (is_continued)
		plain_tty_continued(d->plain);
	else
		plain_tty_suspend(d->plain);
}

void dash_plain_face(struct dash *d, struct sup_face *ret)
{
	*ret = (struct sup_face){.pane_size = face_pane_size,
				 .open = face_open,
				 .close = face_close,
				 .grid_fd = face_grid_fd,
				 .changed = face_changed,
				 .frame = face_frame,
				 .bytes = face_bytes,
				 .note = face_note,
				 .clip = face_clip,
				 .pane_answer = face_pane_answer,
				 .message = face_message,
				 .input_pause = face_input_pause,
				 .resized = face_resized,
				 .job = face_job,
				 .arg = d};
}
