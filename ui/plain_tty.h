/* SPDX-License-Identifier: MIT
 * Plain mode on a terminal: raw keys, a queue that does not block, the clock. */
#ifndef ZW_UI_PLAIN_TTY_H
#define ZW_UI_PLAIN_TTY_H

#include "src/ev/ev.h"
#include "ui/plain.h"

struct plain_tty;

/**
 * Takes the terminal @tty_fd (the caller's) and prints the first line. Strings and pointers of the
 * arguments are borrowed until plain_tty_free().
 * Returns  0 or -errno
 */
int plain_tty_new(struct zev_loop *loop, int tty_fd, struct mdl_session *model,
		  const struct ui_host *host, const struct plain_config *config,
		  const struct ui_desktop *desktop, struct plain_tty **ret);
/** Gives the terminal back. NULL is ok. */
void plain_tty_free(struct plain_tty *t);
/** Async-signal-safe, for a process that is about to die. */
void plain_tty_restore(void);
/** Size of the terminal, all of which is the agent's; 24 x 80 where it does not tell. */
void plain_tty_size(int tty_fd, int *ret_rows, int *ret_cols);

void plain_tty_changed(struct plain_tty *t, unsigned changed);
void plain_tty_agent(struct plain_tty *t, const void *bytes, size_t len);
void plain_tty_message(struct plain_tty *t, const char *text);
void plain_tty_note(struct plain_tty *t, unsigned kind, const char *text);
void plain_tty_pause(struct plain_tty *t, bool is_full);
void plain_tty_resized(struct plain_tty *t);
/** SIGTSTP came: as the key. */
void plain_tty_suspend(struct plain_tty *t);
/** SIGCONT came. */
void plain_tty_continued(struct plain_tty *t);

#endif
