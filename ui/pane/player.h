/* SPDX-License-Identifier: MIT
 * Plays a recording of a screen: looks through the file once for how long it is and where the marks
 * are, then brings the terminal engine to any time of it. To go back is to begin anew, so that memory
 * does not grow with the file. All is done in pieces: no call takes long, whatever the file holds. */
#ifndef ZW_UI_PANE_PLAYER_H
#define ZW_UI_PANE_PLAYER_H

#include "ui/pane/cast_read.h"
#include "ui/pane/vt.h"

/* Parts of the time line for which it is told how busy they were. */
#define PANE_PLAYER_PARTS 240
/* Marks that are told; more are counted. */
#define PANE_PLAYER_MARKS_MAX 4000
#define PANE_PLAYER_MARK_MAX  200 /* characters */

struct pane_player {
	int fd; /* owned; -1 = none */
	struct pane_vt *vt;
	struct pane_cast_reader reader;
	char text[PANE_CAST_LINE_MAX_B]; /* of the line that was read last */
	struct pane_cast_head head;
	int error; /* why it cannot be played, or ended early; 0 = nothing is wrong */

	/* What was found when it was looked through. */
	bool is_known; /* it was, to its end */
	int64_t end_us;
	uint64_t n_marks, n_bad;
	int64_t part_us;		  /* how long a part is; doubled when they do not reach */
	uint64_t part[PANE_PLAYER_PARTS]; /* bytes */

	/* Where it stands. */
	int64_t at_us, want_us;
	struct pane_cast_line next; /* was read, and is not due yet */
	bool has_next, is_over;
};

/** @take_fd: for reading, at any place. Returns 0, ZW_E_SYNTAX (no asciicast v2) or -errno; then only
 * pane_player_fini() may follow. */
int pane_player_init(struct pane_player *p, int take_fd);
void pane_player_fini(struct pane_player *p);

/** Looks on through the file, a piece. @on_mark: text printable, UTF-8. Returns false when it is over. */
bool pane_player_look(struct pane_player *p,
		      void (*on_mark)(void *arg, int64_t at_us, const char *text), void *arg);
/** How busy each part of the time was, 0 to 255; call it when all was looked at. Returns how many. */
size_t pane_player_busy(const struct pane_player *p, uint8_t ret[PANE_PLAYER_PARTS]);

/** Where to go. */
void pane_player_go(struct pane_player *p, int64_t at_us);
/** Goes on there, a piece. Returns false when it is there (or all was played). */
bool pane_player_step(struct pane_player *p);
/** When the next thing happens; -1 = nothing more does. */
int64_t pane_player_next_us(const struct pane_player *p);

#endif
