/* SPDX-License-Identifier: MIT
 * What the agent says of itself, read as states: it works, it is ready, it wants its user. Pure.
 *
 * Sources are its title (what known agents put in front of it), BEL, OSC 9 and 777, and the progress
 * of OSC 9;4. All of it is the agent's word and nothing but shown: it decides nothing. */
#ifndef ZW_UI_ATTEND_H
#define ZW_UI_ATTEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ui_work {
	UI_WORK_UNKNOWN,
	UI_WORK_BUSY,  /* a turning sign: it works */
	UI_WORK_READY, /* it waits for what the user wants next */
	UI_WORK_ASKS,  /* it cannot go on without the user */
};

struct ui_attend {
	enum ui_work work;
	bool needs_user;
	unsigned progress; /* state << 8 | percent, of OSC 9;4; state 0 = none */
	int64_t told_ms;   /* when the user was last told of it; 0 = not yet */
	int64_t bell_ms;   /* of the last BEL that was passed on */
};

/** What a title says. */
enum ui_work ui_attend_work(const char *title);

/**
 * A new title.
 * Returns  true when the agent needs its user from now on: it asks, or has ended its work
 */
bool ui_attend_title(struct ui_attend *a, const char *title);

/** "42%", "busy", "failed at 42%", "paused at 42%"; "" = none. @out: at least 32 bytes. */
const char *ui_attend_progress(const struct ui_attend *a, char *out, size_t size);

#endif
