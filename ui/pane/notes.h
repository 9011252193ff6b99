/* SPDX-License-Identifier: MIT
 * Events of the terminal between two frames, folded: the last title, one bell, the last progress,
 * one clipboard and a few notifications. So a program that rings without end costs zwatch a
 * handful of messages a frame and no memory. */
#ifndef ZW_UI_PANE_NOTES_H
#define ZW_UI_PANE_NOTES_H

#include <stdbool.h>
#include <stddef.h>

#include "src/ipc/chan.h"
#include "ui/pane/vt.h"

#define PANE_NOTES_MAX 4 /* notifications kept between frames; more are dropped */

struct pane_notes {
	char *title;		    /* owned; NULL = no change */
	char *text[PANE_NOTES_MAX]; /* owned */
	size_t n_texts;
	unsigned n_more; /* behind them, dropped */
	unsigned n_bells;
	unsigned n_clip_reads, n_clip_sets; /* wishes that were refused */
	size_t clipboard_len_b;		    /* of the last one that was to be set */
	char *clip; /* owned; what the last one set, NULL = nothing that it may */
	size_t clip_len_b;
	bool has_progress;
	unsigned progress; /* state << 8 | percent */
};

/** The engine's callbacks; their argument is a struct pane_notes, zeroed at first. */
extern const struct pane_vt_events pane_notes_events;

bool pane_notes_is_empty(const struct pane_notes *n);
/** Sends pane_title, pane_note and pane_clip messages and forgets what was sent. */
void pane_notes_send(struct pane_notes *n, struct zw_chan *chan);
/** Frees; the object is empty again. */
void pane_notes_clear(struct pane_notes *n);

#endif
