/* SPDX-License-Identifier: MIT
 * zwatch-pane as a player: the messages play_* on one side, a struct pane_player on the other. The
 * clock is zwatch's: it says to which time to go, and gets the picture. */
#ifndef ZW_UI_PANE_PLAY_H
#define ZW_UI_PANE_PLAY_H

#include "src/ipc/chan.h"
#include "ui/pane/grid.h"

struct pane_play;

/** Begins to look through the file @take_fd. @loop, @chan, @grid: borrowed. Ownership: caller. */
struct pane_play *pane_play_new(struct zev_loop *loop, struct zw_chan *chan, struct pane_grid *grid,
				int take_fd);
void pane_play_free(struct pane_play *p);
/** play_go and pane_next; any other is ignored. */
void pane_play_msg(struct pane_play *p, enum zw_msg_id id, const union zw_msg_any *msg);

#endif
