/* SPDX-License-Identifier: MIT
 * Writes what the agent prints to an asciicast v2 file, for replay.
 *
 * One line of JSON for the header, then one an event: [seconds, "o", output], [seconds, "r",
 * "COLSxROWS"] for a new size, [seconds, "m", text] for a decision. Typed keys are not in it. Bytes
 * that are no UTF-8 stand as U+FFFD, as the screen shows them. Only whole lines are written, by one
 * process; the file never grows above its maximum. An error ends the recording, and the caller tells. */
#ifndef ZW_UI_PANE_CAST_H
#define ZW_UI_PANE_CAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/buf.h"
#include "src/base/str.h"

struct pane_cast {
	int fd;		  /* owned; -1 = nothing is recorded */
	int64_t start_us; /* monotonic; time 0 of the events */
	uint64_t size_b;  /* of the file, with what waits in out */
	uint64_t max_b;
	struct zw_buf out; /* whole lines */
	int64_t last_us;   /* of the last output */
	uint8_t rest[4];   /* of a character that is not complete yet */
	size_t rest_len;
	int error; /* why it ended: -errno, or ZW_E_TOOBIG; 0 = it did not */
};

/** What a recording is begun, or gone on, with. */
struct pane_cast_begin {
	int take_fd;	  /* for appending; the cast's from now on */
	uint64_t size_b;  /* of the file: 0 = a header comes first */
	uint64_t max_b;	  /* more is not written */
	int64_t t_us;	  /* wall clock of the start */
	int64_t start_us; /* the same, monotonic */
	struct zw_span title;
	unsigned rows, cols;
};

/** Nothing is recorded: all functions but pane_cast_begin() do nothing then. */
void pane_cast_init(struct pane_cast *c);
void pane_cast_begin(struct pane_cast *c, const struct pane_cast_begin *b);
/** Writes what waits, closes. */
void pane_cast_fini(struct pane_cast *c);

/** @now_us: monotonic, in all of these. */
void pane_cast_output(struct pane_cast *c, const void *bytes, size_t len, int64_t now_us);
void pane_cast_resize(struct pane_cast *c, unsigned rows, unsigned cols, int64_t now_us);
/** @text: UTF-8. */
void pane_cast_mark(struct pane_cast *c, struct zw_span text, int64_t now_us);

/** Hands what waits to the kernel. */
void pane_cast_flush(struct pane_cast *c);
/** True once, when the recording has ended by itself; then @c->error says why. */
bool pane_cast_has_ended(struct pane_cast *c);

#endif
