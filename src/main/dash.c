/* SPDX-License-Identifier: MIT */
#include "src/main/dash.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "src/base/mem.h"
#include "src/main/tryout.h"

/* -- what the dashboard wants of the session ---------------------------------------------------- */

static void host_input(void *arg, const void *bytes, size_t len)
{
	struct dash *d = arg;

	sup_input(d->sup, bytes, len);
}

static void host_pane_resize(void *arg, int rows, int cols)
{
	struct dash *d = arg;

	sup_pane_resize(d->sup, rows, cols);
}

static void host_frame_done(void *arg)
{
	struct dash *d = arg;

	sup_frame_done(d->sup);
}

static void host_ask_open(void *arg, uint64_t ask, bool is_open)
{
	struct dash *d = arg;

	sup_ask_open(d->sup, ask, is_open);
}

static const char *host_answer(void *arg, const struct ui_answer *a)
{
	struct dash *d = arg;
	struct sup_reply reply = {.verdict = a->verdict,
				  .scope = a->scope,
				  .note = a->note != NULL ? a->note : "",
				  .key = a->key,
				  .shown = a->shown,
				  .shown_ms = a->shown_ms,
				  .until = a->until,
				  .is_everywhere = a->is_everywhere,
				  .is_any_program = a->is_any_program,
				  .is_whole_domain = a->is_whole_domain};

	return sup_answer(d->sup, a->ask, &reply);
}

/* A rule as this answer would make it, tried on the record. */
static const char *host_try_rule(void *arg, const struct ui_answer *a)
{
	struct dash *d = arg;
	struct pol_saved rule;
	struct tryout t;

	if (sup_rule_of(d->sup, a->ask, a->is_everywhere, a->is_any_program, a->is_whole_domain,
			&rule) < 0)
		return NULL;
	int r = tryout_run(d->config.history_path, &rule, NULL, &t);
	pol_saved_fini(&rule);
	if (r < 0)
		return NULL;
	free(d->tried);
	d->tried = tryout_text(&t);
	return d->tried;
}

static void host_strict(void *arg, uint64_t ask)
{
	struct dash *d = arg;

	sup_strict(d->sup, ask);
}

static const char *host_undo(void *arg)
{
	struct dash *d = arg;

	return sup_undo(d->sup);
}

static void host_close_sock(void *arg, const struct mdl_sock *sock)
{
	struct dash *d = arg;

	sup_close(d->sup, sock);
}

static bool host_close_conn(void *arg, const struct mdl_conn *conn)
{
	struct dash *d = arg;

	return sup_close_conn(d->sup, conn);
}

static const char *host_deny(void *arg, const struct ui_deny *deny)
{
	struct dash *d = arg;

	return sup_deny(d->sup, &(struct sup_deny){.kind = deny->kind,
						   .target = deny->target,
						   .program = deny->program,
						   .is_always = deny->is_always});
}

static void host_watch_tasks(void *arg, bool is_on)
{
	struct dash *d = arg;

	sup_watch_tasks(d->sup, is_on);
}

static const char *host_task_signal(void *arg, const struct mdl_task *task, int sig)
{
	struct dash *d = arg;

	return sup_task_signal(d->sup, task->pid, task->started, sig);
}

static const char *host_rule_text(void *arg, uint32_t rule)
{
	struct dash *d = arg;

	return sup_rule_text(d->sup, rule);
}

static const char *host_freeze(void *arg, bool is_frozen)
{
	struct dash *d = arg;

	return sup_freeze(d->sup, is_frozen);
}

static const char *host_mode(void *arg, enum pol_mode mode)
{
	struct dash *d = arg;

	return sup_set_mode(d->sup, mode);
}

static void host_pane_restart(void *arg)
{
	struct dash *d = arg;

	sup_pane_restart(d->sup);
}

static void host_stop_agent(void *arg)
{
	struct dash *d = arg;

	sup_stop_agent(d->sup);
}

static void host_look(void *arg, const struct ui_look *l)
{
	struct dash *d = arg;
	uint16_t col = (uint16_t)l->from.col, end_col = (uint16_t)l->to.col;

	switch (l->kind) {
	case UI_LOOK_SCROLL:
		sup_pane_ask(d->sup, ZW_ID_pane_scroll,
			     &(struct zw_msg_pane_scroll){.line = l->from.line});
		break;
	case UI_LOOK_FIND:
		sup_pane_ask(d->sup, ZW_ID_pane_find,
			     &(struct zw_msg_pane_find){.needle = zw_span(l->needle),
							.is_up = l->is_up,
							.line = l->from.line,
							.col = col});
		break;
	case UI_LOOK_COPY:
		sup_pane_ask(d->sup, ZW_ID_pane_copy,
			     &(struct zw_msg_pane_copy){.line = l->from.line,
							.col = col,
							.end_line = l->to.line,
							.end_col = end_col,
							.is_lines = l->is_lines});
		break;
	case UI_LOOK_LINK:
		sup_pane_ask(d->sup, ZW_ID_pane_link,
			     &(struct zw_msg_pane_link){.line = l->from.line, .col = col});
		break;
	}
}

static void host_link_used(void *arg, const char *uri)
{
	struct dash *d = arg;

	sup_noted_link(d->sup, uri);
}

static void host_terminal(void *arg, const struct ui_terminal *t)
{
	struct dash *d = arg;

	sup_pane_colours(d->sup, &(struct zw_msg_pane_colours){.fg_rgb = t->fg_rgb,
							       .bg_rgb = t->bg_rgb,
							       .has_kitty = t->has_kitty,
							       .cell_w = (uint16_t)t->cell_width,
							       .cell_h = (uint16_t)t->cell_height});
}

/* -- what the session tells the dashboard ------------------------------------------------------- */

static void face_pane_size(void *arg, int *ret_rows, int *ret_cols)
{
	struct dash *d = arg;
	struct winsize size = {.ws_row = 24, .ws_col = 80};

	if (ioctl(d->tty_fd, TIOCGWINSZ, &size) < 0 || size.ws_row == 0 || size.ws_col == 0)
		size = (struct winsize){.ws_row = 24, .ws_col = 80};
	ui_pane_size(d->config.layout, size.ws_row, size.ws_col, ret_rows, ret_cols);
}

void dash_host(struct dash *d, struct ui_host *ret)
{
	*ret = (struct ui_host){.input = host_input,
				.pane_resize = host_pane_resize,
				.frame_done = host_frame_done,
				.ask_open = host_ask_open,
				.answer = host_answer,
				.strict = host_strict,
				.try_rule = host_try_rule,
				.undo = host_undo,
				.close_sock = host_close_sock,
				.close_conn = host_close_conn,
				.deny = host_deny,
				.rule_text = host_rule_text,
				.watch_tasks = host_watch_tasks,
				.task_signal = host_task_signal,
				.freeze = host_freeze,
				.mode = host_mode,
				.stop_agent = host_stop_agent,
				.pane_restart = host_pane_restart,
				.look = host_look,
				.link_used = host_link_used,
				.terminal = host_terminal,
				.arg = d};
}

/* A crash must not leave the user without a usable terminal. */
static void on_fatal_signal(int signo)
{
	ui_emergency_restore();
	signal(signo, SIG_DFL);
	raise(signo);
}

static int face_open(struct sup *sup, struct zev_loop *loop, struct mdl_session *model, void *arg)
{
	/* Faults, and what ends a program that does not know it. */
	static const int fatal[] = {SIGSEGV, SIGBUS,  SIGFPE,	 SIGILL,  SIGABRT, SIGSYS,
				    SIGTRAP, SIGXCPU, SIGUSR1,	 SIGUSR2, SIGALRM, SIGVTALRM,
				    SIGPROF, SIGIO,   SIGSTKFLT, SIGPWR};
	struct dash *d = arg;
	struct ui_host host;

	dash_host(d, &host);
	d->sup = sup;
	d->player.pane.loop = loop;
	d->config.player = &d->player.ops;
	for (size_t i = 0; i < ZW_N_ELEMENTS(fatal); i++)
		signal(fatal[i], on_fatal_signal);
	return ui_new(loop, d->tty_fd, model, d->grid, &host, &d->config, &d->ui);
}

static void face_close(void *arg)
{
	struct dash *d = arg;

	ui_free(zw_steal(&d->ui));
}

static int face_grid_fd(void *arg)
{
	struct dash *d = arg;

	return d->grid_fd;
}

static void face_changed(void *arg, unsigned changed)
{
	struct dash *d = arg;

	ui_changed(d->ui, changed);
}

static void face_frame(void *arg, const struct zw_msg_pane_frame *m)
{
	struct dash *d = arg;
	struct ui_frame frame = {.rows = m->rows <= PANE_ROWS_MAX ? m->rows : PANE_ROWS_MAX,
				 .cols = m->cols <= PANE_COLS_MAX ? m->cols : PANE_COLS_MAX,
				 .cursor_row = m->cursor_row,
				 .cursor_col = m->cursor_col,
				 .cursor_shape = m->cursor_shape,
				 .modes = m->modes,
				 .kitty_flags = m->kitty_flags,
				 .modify_other_keys = m->modify_other_keys,
				 .first_line = m->first_line,
				 .top_line = m->top_line,
				 .screen_line = m->screen_line};

	ui_frame(d->ui, &frame);
}

static void face_note(void *arg, unsigned kind, uint32_t value, const char *text)
{
	struct dash *d = arg;

	ui_note(d->ui, kind, value, text);
}

static void face_clip(void *arg, const void *text, size_t len)
{
	struct dash *d = arg;

	ui_agent_clip(d->ui, text, len);
}

static void face_pane_answer(void *arg, enum zw_msg_id id, const union zw_msg_any *msg)
{
	struct dash *d = arg;

	if (id == ZW_ID_pane_found) {
		const struct zw_msg_pane_found *m = &msg->pane_found;

		ui_found(d->ui, m->is_found != 0, (struct ui_place){m->line, m->col},
			 (struct ui_place){m->end_line, m->end_col});
	} else if (id == ZW_ID_pane_text) {
		const struct zw_msg_pane_text *m = &msg->pane_text;

		ui_text(d->ui, m->text.p, m->text.len, m->is_last != 0, m->is_cut != 0);
	} else if (id == ZW_ID_pane_link_is) {
		zw_autofree char *uri = zw_span_dup(msg->pane_link_is.uri);

		ui_link(d->ui, uri);
	}
}

static void face_message(void *arg, const char *text)
{
	struct dash *d = arg;

	ui_message(d->ui, text);
}

static void face_input_pause(void *arg, bool is_full)
{
	struct dash *d = arg;

	if (d->ui != NULL)
		ui_input_pause(d->ui, is_full);
}

static void face_resized(void *arg)
{
	struct dash *d = arg;

	ui_resized(d->ui);
}

static void face_job(void *arg, bool is_continued)
{
	struct dash *d = arg;

	if (is_continued)
		ui_continued(d->ui);
	else
		ui_suspend(d->ui);
}

int dash_init(struct dash *d)
{
	char name[64];

	d->ui = NULL;
	d->plain = NULL;
	d->grid = NULL;
	d->grid_fd = d->tty_fd = -1;
	player_init(&d->player, NULL); /* before an agent runs */
	/* Before anything starts: the screen itself is taken when the agent already runs. */
	int r = d->plain_why == NULL ? ui_check_terminal() : 0;
	if (r < 0)
		return r;
	/* Opened anew: O_NONBLOCK on the inherited descriptor would reach the shell behind it. */
	if (ttyname_r(STDIN_FILENO, name, sizeof(name)) != 0)
		return -ENOTTY;
	d->tty_fd = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (d->tty_fd < 0)
		return -errno;
	d->grid_fd = memfd_create("zwatch-grid", MFD_CLOEXEC);
	if (d->grid_fd < 0 || ftruncate(d->grid_fd, (off_t)PANE_GRID_SIZE_B) < 0)
		return -errno;
	void *map = mmap(NULL, PANE_GRID_SIZE_B, PROT_READ | PROT_WRITE, MAP_SHARED, d->grid_fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	d->grid = map;
	d->face = (struct sup_face){.pane_size = face_pane_size,
				    .open = face_open,
				    .close = face_close,
				    .grid_fd = face_grid_fd,
				    .changed = face_changed,
				    .frame = face_frame,
				    .note = face_note,
				    .clip = face_clip,
				    .pane_answer = face_pane_answer,
				    .message = face_message,
				    .input_pause = face_input_pause,
				    .resized = face_resized,
				    .job = face_job,
				    .arg = d};
	if (d->plain_why != NULL)
		dash_plain_face(d, &d->face);
	return 0;
}

void dash_fini(struct dash *d)
{
	free(zw_steal(&d->tried));
	free(zw_steal(&d->path));
	free(zw_steal(&d->notify_send));
	ui_free(zw_steal(&d->ui));
	player_fini(&d->player);
	if (d->grid != NULL)
		munmap(d->grid, PANE_GRID_SIZE_B);
	d->grid = NULL;
	zw_close(&d->grid_fd);
	zw_close(&d->tty_fd);
}

const struct sup_face *dash_face(struct dash *d)
{
	return &d->face;
}
