/* SPDX-License-Identifier: MIT
 * The history as a program of its own: `zwatch history` on a terminal. */
#ifndef ZW_UI_HISTORY_H
#define ZW_UI_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ev/ev.h"

struct ui_player;

struct ui_history_config {
	const char *store_path;
	int64_t session;		/* > 0: straight into this one */
	bool is_replay;			/* and its recorded screen */
	const char *file;		/* this recording and nothing else; NULL = none */
	const struct ui_player *player; /* NULL = nothing can be played */
	bool is_ascii, has_colour;
};

/**
 * Shows the store's sessions and their events until the user leaves. Reads only. Runs @loop, which
 * must not be running.
 *
 * @tty_fd   the terminal; stays the caller's
 * @config   all borrowed
 * Returns   0, or as ui_new(): then nothing was shown
 */
int ui_history_run(struct zev_loop *loop, int tty_fd, const struct ui_history_config *config);

#endif
