/* SPDX-License-Identifier: MIT */
#include "ui/pane/play.h"

#include "src/base/mem.h"
#include "src/ev/ev.h"
#include "ui/pane/player.h"

struct pane_play {
	struct zw_chan *chan;	 /* borrowed */
	struct pane_grid *grid;	 /* borrowed, mapped */
	struct zev_timer *timer; /* runs while there is something to do */
	struct pane_player player;
	bool has_credit; /* the grid is ours to write */
	bool is_going;	 /* play_at is owed */
};

static void on_mark(void *arg, int64_t at_us, const char *text)
{
	struct pane_play *p = arg;

	zw_send(p->chan, play_mark, .at_us = at_us, .text = zw_span(text));
}

static void tell_info(struct pane_play *p)
{
	const struct pane_player *q = &p->player;
	uint8_t busy[PANE_PLAYER_PARTS];
	size_t n = q->is_known ? pane_player_busy(q, busy) : 0;
	unsigned rows = q->head.rows < PANE_ROWS_MAX ? q->head.rows : PANE_ROWS_MAX;
	unsigned cols = q->head.cols < PANE_COLS_MAX ? q->head.cols : PANE_COLS_MAX;

	zw_send(p->chan, play_info, .status = q->error, .rows = (uint16_t)rows,
		.cols = (uint16_t)cols, .t_s = q->head.t_s, .end_us = q->end_us,
		.n_marks = q->n_marks, .n_bad = q->n_bad, .busy = zw_span_n(busy, n));
}

static void tell_frame(struct pane_play *p)
{
	struct pane_vt_state s;

	if (!p->has_credit || p->player.vt == NULL || !pane_vt_is_dirty(p->player.vt))
		return;
	pane_vt_publish(p->player.vt, p->grid);
	pane_vt_state(p->player.vt, &s);
	zw_send(p->chan, pane_frame, .rows = (uint16_t)s.rows, .cols = (uint16_t)s.cols,
		.cursor_row = (uint16_t)s.cursor_row, .cursor_col = (uint16_t)s.cursor_col,
		.cursor_shape = s.cursor_shape, .modes = s.modes);
	p->has_credit = false;
}

/* A piece of whatever is to be done; between two of them messages are read. */
static void on_timer(void *arg)
{
	struct pane_play *p = arg;

	if (!p->player.is_known && p->player.error == 0) {
		if (!pane_player_look(&p->player, on_mark, p))
			tell_info(p);
	} else if (p->is_going && !pane_player_step(&p->player)) {
		p->is_going = false;
		tell_frame(p);
		zw_send(p->chan, play_at, .at_us = p->player.at_us,
			.next_us = pane_player_next_us(&p->player));
	}
	if (p->is_going || (!p->player.is_known && p->player.error == 0))
		zev_timer_start(p->timer, 0);
}

struct pane_play *pane_play_new(struct zev_loop *loop, struct zw_chan *chan, struct pane_grid *grid,
				int take_fd)
{
	struct pane_play *p = zw_xnew(struct pane_play);

	p->chan = chan;
	p->grid = grid;
	p->has_credit = true;
	p->timer = zev_timer_new(loop, on_timer, p);
	if (pane_player_init(&p->player, take_fd) < 0)
		tell_info(p);
	else
		zev_timer_start(p->timer, 0);
	return p;
}

void pane_play_free(struct pane_play *p)
{
	if (p == NULL)
		return;
	zev_timer_free(p->timer);
	pane_player_fini(&p->player);
	free(p);
}

void pane_play_msg(struct pane_play *p, enum zw_msg_id id, const union zw_msg_any *msg)
{
	if (id == ZW_ID_pane_next) {
		p->has_credit = true;
		if (!p->is_going && p->player.is_known)
			tell_frame(p);
	} else if (id == ZW_ID_play_go && p->player.is_known) {
		pane_player_go(&p->player, msg->play_go.at_us);
		p->is_going = true;
		zev_timer_start(p->timer, 0);
	}
}
