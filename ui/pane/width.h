/* SPDX-License-Identifier: MIT
 * How many columns a character takes, and which characters share a cell.
 *
 * The table (width.inc, made by gen_width.py) stands in for libc's wcwidth, which knows neither
 * emoji sequences nor the Unicode version that agents count with. Pure. */
#ifndef ZW_UI_PANE_WIDTH_H
#define ZW_UI_PANE_WIDTH_H

#include <stdbool.h>
#include <stdint.h>

/** Grapheme_Cluster_Break of UAX #29, plus Extended_Pictographic. Order as in gen_width.py. */
enum pane_gc {
	PANE_GC_OTHER,
	PANE_GC_PREPEND,
	PANE_GC_EXTEND,
	PANE_GC_FLAG, /* Regional_Indicator */
	PANE_GC_SPACING,
	PANE_GC_L,
	PANE_GC_V,
	PANE_GC_T,
	PANE_GC_LV,
	PANE_GC_LVT,
	PANE_GC_ZWJ,
	PANE_GC_PICT,
	PANE_GC_CONTROL,
};

struct pane_width {
	enum pane_gc gc;
	uint8_t width; /* columns when it stands alone: 0, 1, 2 */
	bool is_emoji; /* VS16 behind it makes it 2 wide */
};

/** Properties of a code point; above U+10FFFF as a control. */
struct pane_width pane_width(uint32_t cp);

/** @cp as it is compared when case does not count (simple case folding of Unicode). */
uint32_t pane_fold(uint32_t cp);

/** A grapheme cluster that is being printed. All zero = none. */
struct pane_cluster {
	enum pane_gc last; /* class of its last character */
	uint8_t width;	   /* columns so far; 0 = there is no cluster */
	bool has_pict;	   /* a pictograph, then only Extend: ZWJ may join another */
	bool has_pair;	   /* two flag letters are complete */
	bool is_emoji;	   /* the base is one that VS16 widens */
};

/**
 * Whether @cp joins the cluster (UAX #29, GB6 to GB13, Unicode 15.0). If so *c is moved on, with
 * its new width; if not, *c is the state of a new cluster that begins with @cp.
 */
bool pane_cluster_join(struct pane_cluster *c, uint32_t cp, struct pane_width w);

#endif
