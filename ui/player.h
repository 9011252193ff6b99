/* SPDX-License-Identifier: MIT
 * Who plays the recording of a screen for the history view: a process of its own behind this table,
 * since what is in such a file was chosen by an agent. One at a time. */
#ifndef ZW_UI_PLAYER_H
#define ZW_UI_PLAYER_H

#include <stddef.h>
#include <stdint.h>

#include "ui/pane/grid.h"
#include "ui/ui.h"

/** What a recording holds; once, when it was looked through. */
struct ui_reel {
	int status; /* 0, or why it cannot be played: -errno, ZW_E_SYNTAX */
	int rows, cols;
	int64_t t_us; /* wall clock of the start, 0 = not told */
	int64_t end_us;
	uint64_t n_marks;    /* more than come, when there are very many */
	uint64_t n_bad;	     /* lines that could not be read */
	const uint8_t *busy; /* of each part of the time, 0 to 255; borrowed */
	size_t n_busy;
};

/** What comes back, from the loop. Texts are printable and live for the call. */
struct ui_player_ear {
	void (*on_mark)(void *arg, int64_t at_us, const char *text); /* before on_reel */
	void (*on_reel)(void *arg, const struct ui_reel *reel);
	/** A picture is in grid(), until frame_done(). */
	void (*on_frame)(void *arg, const struct ui_frame *frame);
	/** It stands there. @next_us: when something happens after it, -1 = nothing does. */
	void (*on_at)(void *arg, int64_t at_us, int64_t next_us);
	/** It is no more; @how is one sentence. */
	void (*on_dead)(void *arg, const char *how);
};

struct ui_player {
	/** Opens a file. Returns 0, or -errno (-ENOENT: there is none) and then nothing comes. */
	int (*open)(void *arg, const char *path, const struct ui_player_ear *ear, void *ear_arg);
	void (*go)(void *arg, int64_t at_us);
	const struct pane_grid *(*grid)(void *arg);
	void (*frame_done)(void *arg);
	void (*close)(void *arg);
	void *arg;
};

#endif
