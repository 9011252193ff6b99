/* SPDX-License-Identifier: MIT
 * When the next frame may go out. Pure decisions, the clock is handed in.
 *
 * At most one frame in 8 ms, and only while zwatch has given the grid back: that draws 60 a second, but for
 * a moment after each key, when the echo is not to wait in the midst of a flood. A key's echo goes at
 * once; after a larger piece of output, which is seldom whole, 3 ms are waited for its rest. A
 * synchronized block holds the frame back, but never for more than 150 ms. */
#ifndef ZW_UI_PANE_PACE_H
#define ZW_UI_PANE_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PANE_PACE_FRAME_MS 8
#define PANE_PACE_MORE_MS  3
#define PANE_PACE_SYNC_MS  150
#define PANE_PACE_BURST_B  1024 /* output that counts as a piece of something larger */

struct pane_pace {
	int64_t frame_ms;  /* when the last frame went out */
	int64_t change_ms; /* when the first change since then came, -1 = none */
	int64_t read_ms;   /* when output was last read */
	bool is_burst;	   /* that was a larger piece */
	bool has_credit;   /* the grid is ours to write */
};

/** As before the first frame: no change, no credit. */
void pane_pace_init(struct pane_pace *p);
/** @len bytes of output came at @now_ms. */
void pane_pace_read(struct pane_pace *p, size_t len, int64_t now_ms);
/** Something is to be shown. */
void pane_pace_change(struct pane_pace *p, int64_t now_ms);
/** A frame went out; the grid is zwatch's now. */
void pane_pace_sent(struct pane_pace *p, int64_t now_ms);

/**
 * @sync_since_ms  begin of the open synchronized block, -1 = none
 * Returns         0 = send a frame now, > 0 = look again after so many ms, -1 = not before
 *                 something happens
 */
int64_t pane_pace_wait(const struct pane_pace *p, int64_t sync_since_ms, int64_t now_ms);

#endif
