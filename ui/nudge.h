/* SPDX-License-Identifier: MIT
 * When a user who is not looking is told that a question waits, and in which words. Pure.
 *
 * At once by bell and terminal; ten seconds later, for HIGH and CRITICAL, by the desktop too; once
 * more, the last time, when half of the hold time is over. At most one notice of a kind in 20
 * seconds. The words are zwatch's: from inside come the name of the agent and of what it wants, cut
 * at 40 characters. A notice asks for a look and never for an answer. */
#ifndef ZW_UI_NUDGE_H
#define ZW_UI_NUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/model.h"

#define UI_NUDGE_TEXT_MAX 640
#define UI_NUDGE_NAME_MAX 164 /* 40 characters */

/** How; or-ed. WITHDRAW: nothing waits any more of what a notice is about; it comes alone, once. */
enum ui_nudge_way {
	UI_NUDGE_TERMINAL = 1 << 0,
	UI_NUDGE_DESKTOP = 1 << 1,
	UI_NUDGE_WITHDRAW = 1 << 2
};

#define UI_NUDGE_ASKS_MAX 64

/** All zero is a good start. */
struct ui_nudge {
	uint64_t newest;	     /* question that was seen last */
	int64_t told_ms, desktop_ms; /* of the last notice of each way; 0 = none */
	bool is_up;		     /* a notice is, and was not withdrawn */
	struct {
		uint64_t id;
		bool is_new, was_desktop, was_half;
	} ask[UI_NUDGE_ASKS_MAX]; /* what waits */
	size_t n;
};

/** @text, cut at 40 characters. Returns @out. */
const char *ui_nudge_name(char out[UI_NUDGE_NAME_MAX], const char *text);

/**
 * Looks at what waits.
 *
 * @is_looking  the user typed a moment ago, and the terminal has the focus
 * @text        of UI_NUDGE_TEXT_MAX bytes: what to say, when the result is not 0
 * Returns      enum ui_nudge_way
 */
unsigned ui_nudge_step(struct ui_nudge *n, const struct mdl_session *model, const char *agent,
		       bool is_looking, int64_t now_ms, char *text);

#endif
