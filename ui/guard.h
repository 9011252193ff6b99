/* SPDX-License-Identifier: MIT
 * What may be written to the user's terminal, as a grammar: text that may be shown, and a short list
 * of sequences (guard.def). Debug builds hold every byte against it, so that a way for the agent's
 * bytes to the terminal is found by whatever test first takes it. Pure. */
#ifndef ZW_UI_GUARD_H
#define ZW_UI_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** All zero is a good start: between two sequences. */
struct ui_guard {
	int state;
	char held[64]; /* the sequence or character that was begun */
	size_t n;
	bool is_wrapped;  /* in a string for tmux or screen, which has its own end */
	const char *left; /* of what must come literally; NULL = nothing */
};

/** Whether @len more bytes are in the grammar. Once false, what follows means nothing. */
bool ui_guard_pass(struct ui_guard *g, const void *bytes, size_t len);
/** Whether nothing is begun: the terminal would take text now. */
bool ui_guard_is_between(const struct ui_guard *g);

#endif
