/* SPDX-License-Identifier: MIT
 * Plays recordings for the history view: starts a zwatch-pane for one file, and stands between its
 * messages and the view. */
#ifndef ZW_MAIN_PLAYER_H
#define ZW_MAIN_PLAYER_H

#include "src/super/helper.h"
#include "ui/player.h"

struct player {
	struct ui_player ops; /* for ui_config.player */
	struct sup_helper pane;
	struct pane_grid *grid; /* owned mapping while it plays */
	int grid_fd;
	const struct ui_player_ear *ear; /* borrowed; NULL = nothing plays */
	void *ear_arg;
};

/** Finds the program; to be called before an agent runs. Starts nothing. */
void player_init(struct player *p, struct zev_loop *loop);
void player_fini(struct player *p);

#endif
