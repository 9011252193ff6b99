/* SPDX-License-Identifier: MIT
 * The page at the end of a session: what was asked and what was new, and what of it is to last. It saves
 * nothing by itself: the choices go to the caller, after a second key that is not Enter. */
#ifndef ZW_UI_REVIEW_H
#define ZW_UI_REVIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "src/ev/ev.h"

/** Nobody is there who answers: a script on a terminal of its own must not wait for ever. */
#define UI_REVIEW_IDLE_MS 300000

enum ui_next { UI_NEXT_AS_IS, UI_NEXT_ALWAYS, UI_NEXT_NEVER, UI_NEXT_MAX };

/** One thing; strings borrowed, printable. */
struct ui_review_row {
	const char *kind, *what, *program, *said; /* "net" "pypi.org:443" "pip" "allow session" */
	const char
		*identity; /* of the program, in full: rows that have the same are one program's */
	unsigned n_times;
	bool is_new, is_asked;	    /* is_asked: as it is, it is asked again */
	bool can_always, can_never; /* which choices there are */
	const char *always, *never; /* sentences of what is kept then */
	enum ui_next next;	    /* the choice; AS_IS at first */
};

struct ui_review {
	const char *title; /* "Session 42 is over  0:47, exit 0" */
	struct ui_review_row *rows;
	size_t n;
	/** What past sessions say of the row's choice; valid until the next call. NULL = not known. */
	const char *(*try_row)(void *arg, size_t row);
	/** Keeps all choices. NULL: done, and the page closes; else a sentence why not. */
	const char *(*save)(void *arg);
	void *arg;
};

/** "ask" or "as is", "always", "never". Static. */
const char *ui_next_word(const struct ui_review_row *r, enum ui_next next);
/** Whether the row has this choice. */
bool ui_next_is_there(const struct ui_review_row *r, enum ui_next next);
/** The sentence of the row's choice; NULL when nothing of it is kept. */
const char *ui_review_sentence(const struct ui_review_row *r);
/** How many rows are to be kept. */
size_t ui_review_count(const struct ui_review *r);

/**
 * Shows the page on the terminal until the user leaves it, or presses no key for five minutes. Runs @loop, which must not be running.
 *
 * @tty_fd   stays the caller's
 * Returns   0, or as ui_new(): then nothing was shown
 */
int ui_review_run(struct zev_loop *loop, int tty_fd, struct ui_review *review, bool is_ascii,
		  bool has_colour, int theme);

/** The same as lines, for a terminal that is as the shell has it: reads lines until one ends it. */
void ui_review_plain(int tty_fd, struct ui_review *review);

struct ui_core;
/** The page as a view; @review is borrowed until it closes. */
void view_review_open(struct ui_core *core, struct ui_review *review);

#endif
