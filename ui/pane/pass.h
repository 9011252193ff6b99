/* SPDX-License-Identifier: MIT
 * Plain mode: the agent's output on its way to the user's own terminal, byte for byte, without what
 * makes that terminal answer, change its settings, or touch the clipboard: the answer would be typed
 * text, and in zwatch's questions too.
 *
 * Text, the usual controls, and sequences that move, colour, erase or set a mode pass; queries,
 * strings (OSC, DCS, ...), 8-bit controls and what is cut off do not. Pure; any bytes are safe. */
#ifndef ZW_UI_PANE_PASS_H
#define ZW_UI_PANE_PASS_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"

#define PANE_PASS_SEQ_MAX 32

/** All zero is a good start. */
struct pane_pass {
	int state;
	unsigned n_follow; /* bytes of a UTF-8 character that are still to come */
	uint8_t seq[PANE_PASS_SEQ_MAX];
	size_t n;
};

/**
 * Adds to @out what may pass of @bytes. What is begun waits for its end.
 * @out  has room for @len + PANE_PASS_SEQ_MAX bytes; else the rest is lost
 */
void pane_pass_feed(struct pane_pass *p, const uint8_t *bytes, size_t len, struct zw_buf *out);

#endif
