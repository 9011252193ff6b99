/* SPDX-License-Identifier: MIT
 * Plain mode: everything the dashboard does, as lines, for screen readers and for terminals that
 * cannot move a cursor. No terminal and no clock in here: keys in, bytes out.
 *
 * zwatch prints whole lines and nothing else: no byte below 0x20 but CR LF, no number that ticks. The
 * agent's output passes between them. All keys go to the agent but what follows zwatch's key; then
 * zwatch asks, one line at a time, and the agent's output is held back until it has its answer.
 *
 * The rules of an open question are ui/ask.h's. A number chooses and Enter takes it; Enter alone
 * denies or goes back; what allows HIGH or CRITICAL is typed as a word. A dumb terminal does not mark
 * a paste: a line whose Enter came in one piece with it allows nothing. */
#ifndef ZW_UI_PLAIN_H
#define ZW_UI_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "ui/ask.h"
#include "ui/input.h"
#include "ui/nudge.h"
#include "ui/ui.h"

/** A question that was told of, while it waits. */
struct plain_told {
	uint64_t id;
	int64_t full_ms;       /* its hold time; INT64_MAX = none */
	bool is_half, is_last; /* what is left was said */
};

/** Who has the line that is typed. */
enum plain_with {
	PLAIN_AGENT,
	PLAIN_ASK,
	PLAIN_WAITING, /* list of questions */
	PLAIN_SOCKS,
	PLAIN_MODE,
	PLAIN_STOP,
};

struct plain_config {
	bool is_ascii, is_second_key;
	int64_t arm_ms, quiet_ms;
	int repeat_n, flood_n;
	int64_t flood_ms;
	const char *agent_name; /* borrowed */
	const char *why;	/* where plain mode was asked for: "ZWATCH_PLAIN"; borrowed */
};

struct plain_effects {
	/** Bytes for the terminal, in order; plain_written() when it has them all. */
	void (*write)(void *arg, const void *bytes, size_t len);
	void (*suspend)(void *arg);
	/** The user is not looking: enum ui_nudge_way. NULL: nobody is told. */
	void (*nudge)(void *arg, unsigned ways, const char *text);
	void *arg;
};

#define PLAIN_TOLD_MAX 512
#define PLAIN_ROWS_MAX 30

struct plain {
	struct mdl_session *model; /* borrowed */
	struct ui_host host;
	struct plain_config config;
	struct plain_effects effects;
	int cols;
	int64_t now_ms;

	struct ui_input input;
	bool is_prefix, is_paste_for_agent;
	enum plain_with with;
	char line[UI_NOTE_MAX + 1];
	size_t len;
	int64_t line_ms;       /* when the first key of the line came */
	int64_t line_quiet_ms; /* how long there had been none before */
	int64_t prompt_ms;     /* since when the prompt has been on screen; -1 = not yet */
	uint64_t n_inputs;     /* calls so far; that of the newest key of the line */
	uint64_t key_input;
	unsigned n_keys; /* in this call */
	bool is_pasted;	 /* the line came in one piece */

	bool is_at_start;     /* the terminal's cursor stands at the start of a line */
	bool owes_frame;      /* the agent's output waits for frame_done */
	bool has_agent_modes; /* it set some, perhaps */
	struct zw_buf held;   /* the agent's, while zwatch has the screen */

	uint64_t seen; /* newest question that was told of, or folded */
	struct plain_told told[PLAIN_TOLD_MAX];
	size_t n_told;
	int64_t tell_ms[8]; /* when the last ones were told, for floods */
	unsigned n_tell;
	uint64_t refused_us; /* newest refusal that was told */
	int64_t refused_ms;
	struct ui_nudge nudge;
	int64_t key_ms;	   /* of the last key */
	int64_t before_ms; /* of the one before it */

	/* PLAIN_ASK */
	struct ui_ask ask;
	uint64_t id;
	int64_t open_ms;
	bool is_clocked, is_drawn;
	bool is_answering; /* what changes now is our own doing */
	struct zw_buf shown;
	/* lists: what a number names */
	uint64_t row[PLAIN_ROWS_MAX];
	size_t n_rows;
};

/** Strings and pointers of the arguments are borrowed. Prints the first line. */
void plain_init(struct plain *p, struct mdl_session *model, const struct ui_host *host,
		const struct plain_config *config, const struct plain_effects *effects, int cols,
		int64_t now_ms);
void plain_fini(struct plain *p);

void plain_input(struct plain *p, const void *bytes, size_t len, int64_t now_ms);
/** The rest of a key sequence did not come (ui_input_wait_ms()). */
void plain_input_timeout(struct plain *p, int64_t now_ms);
void plain_changed(struct plain *p, unsigned changed, int64_t now_ms);
/** The agent printed; it prints no more until frame_done. */
void plain_agent(struct plain *p, const void *bytes, size_t len, int64_t now_ms);
/** All that was written has reached the terminal. */
void plain_written(struct plain *p, int64_t now_ms);
void plain_message(struct plain *p, const char *text, int64_t now_ms);
void plain_note(struct plain *p, unsigned kind, const char *text, int64_t now_ms);
/** Something to say without any event, ms from now; -1 = never. */
int64_t plain_next_ms(const struct plain *p, int64_t now_ms);
void plain_tick(struct plain *p, int64_t now_ms);
void plain_resize(struct plain *p, int cols);

/* -- for its own files -------------------------------------------------------------------------- */

/** One line of text, wrapped to the terminal. */
void plain_say(struct plain *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** What is typed stands behind it. */
void plain_prompt(struct plain *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** zwatch's screen from now on; the agent's waits. */
void plain_take(struct plain *p, enum plain_with with);
/** The agent has the screen again. */
void plain_give_back(struct plain *p);
/** One, two or three lines about a question. */
void plain_tell_ask(struct plain *p, const struct mdl_ask *a);
/** It is not told of any more: the user has answered. */
void plain_forget(struct plain *p, uint64_t id);

/* plain_ask.c */
void plain_ask_open(struct plain *p, uint64_t id);
void plain_ask_line(struct plain *p);
void plain_ask_later(struct plain *p);
/** The model changed: the question may be over. */
void plain_ask_changed(struct plain *p);

/* plain_list.c */
void plain_waiting_open(struct plain *p);
void plain_waiting_line(struct plain *p);
void plain_socks_open(struct plain *p);
void plain_socks_line(struct plain *p);
void plain_conns_say(struct plain *p);
void plain_status_say(struct plain *p);
void plain_help_say(struct plain *p);

#endif
