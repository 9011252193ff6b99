/* SPDX-License-Identifier: MIT
 * zwatch-pane: everything the agent prints is parsed here, and only here; recordings of it as well
 * (play.h), in a process of their own.
 *
 * Reads the pty's master, feeds the terminal engine, writes the engine's answers back to the pty,
 * and hands frames over in a shared grid. It holds no other descriptor than the channel, the log,
 * the pty, the grid and, with --record, the file that zwatch opened for it. If it dies, a new one
 * takes over the same master with a blank screen. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "sandbox/role_lock.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/ipc/chan.h"
#include "ui/pane/cast.h"
#include "ui/pane/notes.h"
#include "ui/pane/pace.h"
#include "ui/pane/pass.h"
#include "ui/pane/play.h"
#include "ui/pane/vt.h"

#define READ_PER_TURN_B (64u << 10)
#define READ_SHORT_B	1024 /* less than that was all there is */
#define COPY_MAX_B	(1u << 20)
#define COPY_PIECE_B	(32u << 10)
#define PASS_MAX_B	(READ_PER_TURN_B * 2) /* one read beyond the mark below */
#define PASS_HIGH_B	READ_PER_TURN_B	      /* plain mode: behind it the pty is not read */

struct pane {
	struct zev_loop *loop;
	struct zw_chan *chan;
	struct zev_timer *timer; /* for the next frame */
	struct zev_io *io;	 /* of the pty; NULL before pane_setup and after its end */
	int fd_pty;		 /* owned; -1 = none */
	struct pane_grid *grid;	 /* owned mapping; NULL before pane_setup */
	struct pane_vt *vt;
	struct pane_vt_state shown; /* as of the last frame */
	struct pane_vt_view view;   /* likewise */
	struct pane_notes notes;
	struct pane_pace pace;
	struct pane_cast cast;
	struct pane_play *play; /* a recording in the place of a terminal; NULL = none */
	bool is_plain;		/* bytes for the user's terminal in the place of frames */
	struct pane_pass pass;
	struct zw_buf plain; /* what waits for zwatch to take it */
	bool is_eof;	     /* the pty has ended */
	bool is_eof_told;    /* and zwatch knows */
};

static bool state_differs(const struct pane *p)
{
	struct pane_vt_state now;

	pane_vt_state(p->vt, &now);
	return now.cursor_row != p->shown.cursor_row || now.cursor_col != p->shown.cursor_col ||
	       now.cursor_shape != p->shown.cursor_shape ||
	       now.kitty_flags != p->shown.kitty_flags ||
	       now.modify_other_keys != p->shown.modify_other_keys || now.modes != p->shown.modes;
}

/* How much there is besides what a user who looks back sees. */
static bool view_differs(const struct pane *p)
{
	struct pane_vt_view now;

	pane_vt_view(p->vt, &now);
	return now.top != p->view.top || now.first != p->view.first ||
	       now.screen_top != p->view.screen_top;
}

static bool has_news(const struct pane *p)
{
	return pane_vt_is_dirty(p->vt) || state_differs(p) || view_differs(p) ||
	       !pane_notes_is_empty(&p->notes);
}

static void frame_send(struct pane *p)
{
	struct pane_vt_state *s = &p->shown;

	pane_notes_send(&p->notes, p->chan);
	pane_cast_flush(&p->cast);
	pane_vt_publish(p->vt, p->grid);
	atomic_store(&p->grid->is_awaited, 0);
	atomic_store(&p->grid->is_taken, 0);
	pane_vt_state(p->vt, s);
	pane_vt_view(p->vt, &p->view);
	zw_send(p->chan, pane_frame, .rows = (uint16_t)s->rows, .cols = (uint16_t)s->cols,
		.cursor_row = (uint16_t)s->cursor_row, .cursor_col = (uint16_t)s->cursor_col,
		.cursor_shape = s->cursor_shape, .modes = s->modes, .kitty_flags = s->kitty_flags,
		.modify_other_keys = s->modify_other_keys, .first_line = p->view.first,
		.top_line = p->view.top, .screen_line = p->view.screen_top);
	pane_pace_sent(&p->pace, zw_mono_ms());
}

/* What of the pty is of interest now. */
static void pty_want(struct pane *p)
{
	bool is_full = p->is_plain && p->plain.len >= PASS_HIGH_B;

	if (p->io != NULL)
		zev_io_set(p->io, (is_full ? 0u : ZEV_READ) |
					  (pane_vt_replies(p->vt)->len > 0 ? ZEV_WRITE : 0u));
}

/* The last frame is out, or there was nothing left to show. */
static void eof_tell(struct pane *p)
{
	if (!p->is_eof || p->is_eof_told)
		return;
	p->is_eof_told = true;
	pane_cast_flush(&p->cast);
	zw_send(p->chan, pane_eof, .unused = 0);
}

/* A disk that is full is the user's to know, now. */
static void cast_tell(struct pane *p)
{
	if (pane_cast_has_ended(&p->cast))
		zw_send(p->chan, pane_record_end, .status = p->cast.error);
}

/* Plain mode: hands on what there is, and reads on where that makes room. */
static void bytes_step(struct pane *p)
{
	size_t n = p->plain.len < COPY_PIECE_B ? p->plain.len : COPY_PIECE_B;

	pane_notes_send(&p->notes, p->chan);
	if (n > 0 && p->pace.has_credit) {
		zw_send(p->chan, pane_bytes, .bytes = zw_span_n(zw_buf_head(&p->plain), n));
		zw_buf_consume(&p->plain, n);
		p->pace.has_credit = false;
		pane_cast_flush(&p->cast);
	}
	if (p->plain.len == 0)
		eof_tell(p);
	cast_tell(p);
	pty_want(p);
}

/* Whether zwatch has taken the last frame. Said that it is waited for first: whichever of the two comes
 * second, sees the other's. */
static void credit_look(struct pane *p, bool has)
{
	if (p->pace.has_credit || !has)
		return;
	atomic_store(&p->grid->is_awaited, 1);
	p->pace.has_credit = atomic_load(&p->grid->is_taken) != 0;
}

/* Sends a frame if one is due, else sets the timer for it. */
static void frame_step(struct pane *p)
{
	int64_t now = zw_mono_ms(), wait;

	if (p->is_plain) {
		bytes_step(p);
		return;
	}
	bool has = has_news(p);

	credit_look(p, has);
	if (has)
		pane_pace_change(&p->pace, now);
	wait = p->is_eof && p->pace.has_credit && has
		       ? 0
		       : pane_pace_wait(&p->pace, pane_vt_sync_since(p->vt), now);
	if (wait == 0) {
		/* A block that is still open was held for as long as any may be. */
		if (pane_vt_sync_since(p->vt) >= 0)
			pane_vt_sync_end(p->vt);
		frame_send(p);
		has = false;
	}
	if (wait > 0)
		zev_timer_start(p->timer, wait);
	else
		zev_timer_stop(p->timer);
	if (!has)
		eof_tell(p);
	cast_tell(p);
}

static void on_frame_timer(void *arg)
{
	frame_step(arg);
}

/* Writes what the terminal answered. What the pty does not take now waits, bounded by the engine. */
static void replies_write(struct pane *p)
{
	struct zw_buf *b = pane_vt_replies(p->vt);

	while (b->len > 0 && p->io != NULL) {
		ssize_t n = write(p->fd_pty, zw_buf_head(b), b->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		zw_buf_consume(b, (size_t)n);
	}
	pty_want(p);
}

static void feed(struct pane *p, const uint8_t *bytes, size_t len)
{
	pane_pace_read(&p->pace, len, zw_mono_ms());
	pane_cast_output(&p->cast, bytes, len, zw_mono_us());
	if (p->is_plain)
		pane_pass_feed(&p->pass, bytes, len, &p->plain);
	while (len > 0) {
		size_t n = pane_vt_feed(p->vt, bytes, len, zw_mono_ms());

		bytes += n;
		len -= n;
		if (len > 0) /* a synchronized block ended here: the moment for a whole picture */
			frame_step(p);
	}
}

static void pty_end(struct pane *p)
{
	zev_io_free(p->io);
	p->io = NULL;
	p->is_eof = true;
}

static void pty_read(struct pane *p)
{
	static uint8_t bytes[READ_PER_TURN_B];
	size_t total = 0;

	while (total < READ_PER_TURN_B) {
		ssize_t n = read(p->fd_pty, bytes, sizeof(bytes) - total);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n <= 0) { /* EIO: the last program has closed its side */
			pty_end(p);
			break;
		}
		feed(p, bytes, (size_t)n);
		total += (size_t)n;
		/* To ask a pty that is empty waits for the kernel's worker; what comes wakes us anyway. */
		if (n < READ_SHORT_B)
			break;
	}
}

static void on_pty_ready(int fd, unsigned what, void *arg)
{
	struct pane *p = arg;

	(void)fd;
	if ((what & ZEV_READ) != 0)
		pty_read(p);
	replies_write(p);
	frame_step(p);
}

static struct pane_grid *grid_map(int fd)
{
	struct stat st;
	void *map;

	if (fstat(fd, &st) < 0 || st.st_size < (off_t)PANE_GRID_SIZE_B)
		return NULL;
	map = mmap(NULL, PANE_GRID_SIZE_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return map == MAP_FAILED ? NULL : map;
}

static void on_msg_setup(struct pane *p, const struct zw_msg_pane_setup *m, int *fds)
{
	struct pane_vt_config config = {
		.rows = m->rows,
		.cols = m->cols,
		.fg_rgb = m->fg_rgb,
		.bg_rgb = m->bg_rgb,
		.has_kitty = m->has_kitty != 0,
		.has_clipboard = m->has_clipboard != 0,
		.scrollback_n = m->scrollback_n,
	};

	if (p->vt != NULL || p->play != NULL)
		zw_fatal("second pane_setup");
	p->grid = grid_map(fds[1]);
	if (p->grid == NULL)
		zw_fatal("cannot map the grid");
	p->fd_pty = zw_steal_fd(&fds[0]);
	if (zw_set_nonblock(p->fd_pty) < 0)
		zw_fatal("cannot use the pty");
	p->vt = pane_vt_new(&config, &pane_notes_events, &p->notes);
	p->is_plain = m->is_plain != 0;
	p->pace.has_credit = true;
	p->io = zev_io_new(p->loop, p->fd_pty, ZEV_READ, on_pty_ready, p);
	frame_step(p);
}

/* This process then plays a file and nothing else. */
static void on_msg_play_setup(struct pane *p, int *fds)
{
	if (p->vt != NULL || p->play != NULL)
		zw_fatal("second pane_setup");
	p->grid = grid_map(fds[1]);
	if (p->grid == NULL)
		zw_fatal("cannot map the grid");
	p->play = pane_play_new(p->loop, p->chan, p->grid, zw_steal_fd(&fds[0]));
}

/* -- looking back --------------------------------------------------------------------------------- */

static void on_msg_find(struct pane *p, const struct zw_msg_pane_find *m)
{
	struct pane_vt_place from = {0}, to = {0};
	bool is_found = pane_vt_find(p->vt, m->needle, m->is_up != 0,
				     (struct pane_vt_place){m->line, m->col}, &from, &to);

	zw_send(p->chan, pane_found, .is_found = is_found, .line = from.line,
		.col = (uint16_t)from.col, .end_line = to.line, .end_col = (uint16_t)to.col);
}

static void on_msg_copy(struct pane *p, const struct zw_msg_pane_copy *m)
{
	struct zw_buf text;

	zw_buf_init(&text, COPY_MAX_B);
	bool is_whole = pane_vt_text(p->vt, (struct pane_vt_place){m->line, m->col},
				     (struct pane_vt_place){m->end_line, m->end_col},
				     m->is_lines != 0, &text);
	do {
		size_t n = text.len < COPY_PIECE_B ? text.len : COPY_PIECE_B;

		zw_send(p->chan, pane_text,
			.text = zw_span_n(n > 0 ? zw_buf_head(&text) : (const uint8_t *)"", n),
			.is_last = n == text.len, .is_cut = !is_whole);
		zw_buf_consume(&text, n);
	} while (text.len > 0);
	zw_buf_fini(&text);
}

static void on_msg_link(struct pane *p, const struct zw_msg_pane_link *m)
{
	const char *uri = pane_vt_link_at(p->vt, (struct pane_vt_place){m->line, m->col});

	zw_send(p->chan, pane_link_is, .uri = zw_span(uri != NULL ? uri : ""));
}

static void on_msg_resize(struct pane *p, const struct zw_msg_pane_resize *m)
{
	pane_vt_resize(p->vt, m->rows, m->cols);
	pane_cast_resize(&p->cast, m->rows, m->cols, zw_mono_us());
}

/* Comes before pane_setup, so that the first byte of output is in it. */
static void on_msg_record(struct pane *p, const struct zw_msg_pane_record *m, int *fds)
{
	pane_cast_begin(&p->cast, &(struct pane_cast_begin){.take_fd = zw_steal_fd(&fds[0]),
							    .size_b = m->size_b,
							    .max_b = m->max_b,
							    .t_us = m->t_us,
							    .start_us = m->start_us,
							    .title = m->title,
							    .rows = m->rows,
							    .cols = m->cols});
	cast_tell(p);
}

static void on_msg_colours(struct pane *p, const struct zw_msg_pane_colours *m)
{
	pane_vt_set_terminal(p->vt, &(struct pane_vt_config){.cell_w = m->cell_w,
							     .cell_h = m->cell_h,
							     .fg_rgb = m->fg_rgb,
							     .bg_rgb = m->bg_rgb,
							     .has_kitty = m->has_kitty != 0});
	replies_write(p);
}

static void on_msg(struct pane *p, enum zw_msg_id id, const union zw_msg_any *msg)
{
	if (id == ZW_ID_pane_resize)
		on_msg_resize(p, &msg->pane_resize);
	else if (id == ZW_ID_pane_mark)
		pane_cast_mark(&p->cast, msg->pane_mark.text, zw_mono_us());
	else if (id == ZW_ID_pane_next && p->is_plain)
		p->pace.has_credit = true; /* else the grid tells */
	else if (id == ZW_ID_pane_scroll)
		pane_vt_look_at(p->vt, msg->pane_scroll.line);
	else if (id == ZW_ID_pane_find)
		on_msg_find(p, &msg->pane_find);
	else if (id == ZW_ID_pane_copy)
		on_msg_copy(p, &msg->pane_copy);
	else if (id == ZW_ID_pane_link)
		on_msg_link(p, &msg->pane_link);
	else if (id == ZW_ID_pane_colours)
		on_msg_colours(p, &msg->pane_colours);
	frame_step(p);
}

static void on_chan_msg(struct zw_chan *chan, enum zw_msg_id id, const union zw_msg_any *msg,
			int *fds, void *arg)
{
	struct pane *p = arg;

	(void)chan;
	if (id == ZW_ID_pane_setup)
		on_msg_setup(p, &msg->pane_setup, fds);
	else if (id == ZW_ID_pane_record)
		on_msg_record(p, &msg->pane_record, fds);
	else if (id == ZW_ID_play_setup)
		on_msg_play_setup(p, fds);
	else if (p->play != NULL)
		pane_play_msg(p->play, id, msg);
	else if (p->vt == NULL)
		zw_fatal("%s before pane_setup", zw_msg_name(id));
	else
		on_msg(p, id, msg);
}

static void on_chan_end(struct zw_chan *chan, int error, void *arg)
{
	struct pane *p = arg;

	(void)chan;
	if (error != ZW_E_EOF && error != -ECONNRESET) /* both: zwatch has gone */
		zw_error("channel: %s", zw_strerror(error));
	zev_stop(p->loop);
}

static const struct zw_chan_ops chan_ops = {.on_msg = on_chan_msg, .on_end = on_chan_end};

static void pane_fini(struct pane *p)
{
	zev_io_free(p->io);
	zev_timer_free(p->timer);
	zw_chan_free(p->chan);
	pane_play_free(zw_steal(&p->play));
	zev_loop_free(p->loop);
	pane_vt_free(p->vt);
	pane_notes_clear(&p->notes);
	pane_cast_fini(&p->cast);
	zw_buf_fini(&p->plain);
	if (p->grid != NULL)
		munmap(p->grid, PANE_GRID_SIZE_B);
	zw_close(&p->fd_pty);
}

int main(void)
{
	struct pane p = {.fd_pty = -1};
	int r;

	zw_log_init("zwatch-pane", ZW_FD_LOG, ZW_LOG_WARN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN); /* zwatch decides when its helpers end */
	signal(SIGXFSZ,
	       SIG_IGN); /* the limit that zwatch sets for a recording is an error of write(2) */
	pane_pace_init(&p.pace);
	pane_cast_init(&p.cast);
	zw_buf_init(&p.plain, PASS_MAX_B);
	p.loop = zev_loop_new();
	p.timer = zev_timer_new(p.loop, on_frame_timer, &p);
	p.chan = zw_chan_new(p.loop, ZW_FD_CONTROL, ROLE_PANE, ROLE_SUPER, &chan_ops, &p);
	zw_send(p.chan, hello, .version = ZW_MSG_VERSION, .pid = (uint32_t)getpid());
	r = sb_role_lock(SB_ROLE_PANE, NULL);
	if (r < 0)
		zw_fatal("lock-down: %s", zw_strerror(r));
	zw_send(p.chan, locked, .how = (uint8_t)r);
	r = zev_run(p.loop);
	if (r < 0)
		zw_error("loop: %s", zw_strerror(r));
	pane_fini(&p);
	return r < 0 ? 1 : 0;
}
