/* SPDX-License-Identifier: MIT
 * What the keys of an open question do: a state machine without clock, screen or model.
 *
 * Its rules: nothing allows that was typed before the question could be read (the frame has been
 * written, arm_ms passed, no key for quiet_ms, the whole consequence was on screen); Enter alone
 * denies; a HIGH grant takes a second key, a CRITICAL one a typed word; what is to last is shown as
 * a sentence first, and takes the word (HIGH) or the path (CRITICAL); a paste is no key. Denying
 * works as soon as the frame has been written. */
#ifndef ZW_UI_ASK_H
#define ZW_UI_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/policy/policy.h"
#include "src/policy/saved.h"
#include "ui/cmd.h"
#include "ui/input.h"

#define UI_NOTE_MAX 400

enum ui_ask_step {
	UI_ASK_CHOOSE,
	UI_ASK_CONFIRM, /* Enter allows, all else goes back */
	UI_ASK_WORD,	/* the word and Enter allow */
	UI_ASK_NOTE,	/* a line for the agent, Enter denies */
	UI_ASK_KEEP,	/* what is kept beyond the session; Enter, or a text and Enter, saves it */
};

/** Rows of the choices of UI_ASK_KEEP. */
enum ui_keep_row { UI_KEEP_UNTIL, UI_KEEP_WHERE, UI_KEEP_WHO, UI_KEEP_WHAT, UI_KEEP_MAX };

/** What came of a key. */
enum ui_ask_result {
	UI_ASK_NOTHING, /* perhaps another step or hint: draw */
	UI_ASK_DENY,
	UI_ASK_ALLOW,
	UI_ASK_LATER,
	UI_ASK_COMMAND, /* .cmd is for the view: DETAILS, ASK_FREEZE, ASK_DOWN, ASK_UP ... */
	UI_ASK_TRY,	/* what would the rule have done in the past? */
};

struct ui_ask {
	enum pol_risk risk;
	const char *word; /* to type; borrowed */
	int64_t arm_ms, quiet_ms;
	bool is_late;	    /* the time was over: no "once", the answer is for the session */
	bool is_second_key; /* in place of a delay, Enter as well */

	enum ui_ask_step step;
	unsigned scope; /* ZW_SCOPE_*, of the answer that is being given */
	enum ui_cmd cmd;
	bool is_drawn;	    /* this step is in a frame that will be written */
	int64_t written_ms; /* the frame that shows this step; -1 = not yet */
	int64_t key_ms;	    /* of the last key */
	bool is_read;	    /* the whole consequence was on screen */
	/* UI_ASK_KEEP */
	enum ui_keep_row row;
	enum pol_until until;
	bool is_everywhere, is_any_program, is_whole_domain;
	bool has_below;	    /* the choice of UI_KEEP_WHAT is there */
	bool is_keep_read;  /* the whole sentence was on screen */
	const char *target; /* to type for CRITICAL; borrowed */
	char text[UI_NOTE_MAX + 1];
	size_t len;
	char key[32];  /* what answered: "n", "y+docker" */
	char hint[96]; /* what the last key came to, "" = nothing to say */
};

/** @now_ms is the key that opened it. */
void ui_ask_init(struct ui_ask *a, enum pol_risk risk, const char *word, int64_t arm_ms,
		 int64_t quiet_ms, int64_t now_ms);

/** The question is in the frame that goes out next. */
void ui_ask_drawn(struct ui_ask *a);
/** A frame reached the terminal. Counts when the question was in it, and only the first time. */
void ui_ask_written(struct ui_ask *a, int64_t now_ms);
/** The picture changes (size, another page): what is typed stays, arming starts anew. */
void ui_ask_rearm(struct ui_ask *a);

/** Milliseconds until keys that allow work; 0 = now, -1 = not known before the frame is written. */
int64_t ui_ask_asleep_ms(const struct ui_ask *a, int64_t now_ms);

/** A key. On DENY and ALLOW scope, key and text (the note) are filled in. */
enum ui_ask_result ui_ask_key(struct ui_ask *a, struct ui_key key, int64_t now_ms);
/** What has to be typed to save, "" = Enter is enough. @out of UI_NOTE_MAX + 1 bytes. */
const char *ui_ask_keep_text(const struct ui_ask *a, char *out, size_t size);

/** A paste arrived: text for the note, nothing elsewhere. */
void ui_ask_paste(struct ui_ask *a, const void *bytes, size_t len, int64_t now_ms);

#endif
