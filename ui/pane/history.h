/* SPDX-License-Identifier: MIT
 * Lines that left the screen at its top, oldest first, each packed into one piece of memory.
 *
 * A packed row is trimmed, holds the look of a run of cells once, and one byte for an ASCII
 * character: ordinary text of 80 columns takes about 120 bytes, a tenth of its cells. Bounded
 * twice, in lines and in bytes; the oldest go first. No knowledge of screens. */
#ifndef ZW_UI_PANE_HISTORY_H
#define ZW_UI_PANE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ui/pane/vt_int.h"

/* For what a hostile program may print: each cell with a look and a cluster of its own. */
#define PANE_HISTORY_MAX_B (64u << 20)

/** A row that is not on the screen. Opaque but for these. */
struct pane_packed {
	uint32_t size_b;    /* of data */
	uint16_t n_cells;   /* kept; what follows is blank */
	uint16_t n_content; /* columns up to the last character, as reflow counts */
	bool is_wrapped, has_links;
	uint8_t data[];
};

/** Returns the packed row. Ownership: caller, free(). */
struct pane_packed *pane_pack(const struct pane_vt_row *row, unsigned cols);
/** Fills @out, which has @cols columns; what does not fit is cut. */
void pane_unpack(const struct pane_packed *p, struct pane_vt_row *out, unsigned cols);

/** Calls @fn for each run of cells that is a link. */
void pane_packed_links(const struct pane_packed *p, void (*fn)(uint16_t link, void *arg),
		       void *arg);

void pane_history_init(struct pane_history *h, size_t max_n);
void pane_history_fini(struct pane_history *h);
/** Forgets all lines; their numbers are not used again. */
void pane_history_clear(struct pane_history *h);
/** Takes @take_row as the newest. Returns how many of the oldest had to go. Keeps none when max_n is 0. */
size_t pane_history_push(struct pane_history *h, struct pane_packed *take_row);
/** The newest, taken out; NULL = none. Ownership: caller. */
struct pane_packed *pane_history_pop(struct pane_history *h);
/** The line @i from the oldest on. @i < h->n. */
static inline const struct pane_packed *pane_history_at(const struct pane_history *h, size_t i)
{
	return h->row[(h->first + i) % h->cap];
}

#endif
