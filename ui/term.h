/* SPDX-License-Identifier: MIT
 * The user's terminal: raw mode, alternate screen, modes, drawing through ncurses, writing.
 *
 * ncurses never sees the tty: it draws into a memory file, and its bytes go through a queue that
 * does not block. While the queue is not empty no frame is drawn, so a terminal that does not read
 * costs nothing and holds up nothing. The only bytes that reach the terminal are ncurses' own and
 * the fixed strings in term.c.
 *
 * One terminal at a time (ncurses has global state). This file's .c is the only one with curses. */
#ifndef ZW_UI_TERM_H
#define ZW_UI_TERM_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ev/ev.h"
#include "ui/draw.h"

struct ui_term;

/** Modes of the keyboard and mouse that are the agent's business while it has the keys. */
struct term_modes {
	bool cursor_keys, keypad;
	int mouse;	       /* 0, 1000, 1002 or 1003; reports come in SGR form where possible */
	int kitty;	       /* flags; only where the terminal speaks the protocol */
	int modify_other_keys; /* 0 to 3 */
};

struct term_cursor {
	int row, col;
	bool is_visible;
	int shape; /* DECSCUSR, 0 to 6 */
};

struct term_host {
	void (*on_input)(const void *bytes, size_t len, void *arg);
	/** All that was drawn has been taken by the kernel. */
	void (*on_written)(void *arg);
	/** The terminal is gone. */
	void (*on_hangup)(void *arg);
	void *arg;
};

/** Whether the environment (LC_ALL, LC_CTYPE, LANG) says that the terminal shows UTF-8. */
bool term_locale_is_utf8(void);
/** Whether the environment (NO_COLOR) lets zwatch use colour. */
bool term_colour_is_wanted(void);

/**
 * Takes the terminal behind @tty_fd.
 *
 * @host    copied
 * Returns  0, -ENOTTY, -errno, or ZW_E_UNSUPPORTED: TERM is unset, unknown, dumb, or not of the
 *          ECMA-48 family
 */
int term_new(struct zev_loop *loop, int tty_fd, bool has_colour, const struct term_host *host,
	     struct ui_term **ret);
/** Makes the terminal as it was. NULL is ok. */
void term_free(struct ui_term *t);
/** Async-signal-safe: the same for a process that is about to die. */
void term_emergency_restore(void);

/** Current size; 24 x 80 where the terminal does not tell. */
void term_size(const struct ui_term *t, int *ret_rows, int *ret_cols);
/** Pixels of a cell; 0 = not told. */
void term_cell_size(const struct ui_term *t, int *ret_width, int *ret_height);

/** Whether the terminal takes output now: nothing waits to be written. */
bool term_is_ready(const struct ui_term *t);
/**
 * Draws what differs from the last frame; only when term_is_ready().
 * @grid  a change of its size starts from a blank screen; only rows that it calls touched are looked at
 */
void term_draw(struct ui_term *t, const struct draw_grid *grid, const struct term_cursor *cursor);
/** Forgets what the screen shows: the next frame draws all. */
void term_redraw(struct ui_term *t);

void term_set_modes(struct ui_term *t, const struct term_modes *modes);
/** Bell. */
void term_bell(struct ui_term *t);
/** A notice by OSC 9, 777 or 99, as the terminal has it, through tmux and screen where it runs in them;
 * unsafe characters are escaped. NULL: what the last one was about is over. */
void term_notice(struct ui_term *t, const char *text);
/** Puts @text on the terminal's clipboard by OSC 52, through tmux and screen where it runs in them.
 * Unsafe bytes cannot get there: the text travels in base64. */
void term_copy(struct ui_term *t, const char *text, size_t len);
/** Whether the terminal is known to take that. */
bool term_has_clipboard(const struct ui_term *t);
void term_title(struct ui_term *t, const char *text);
/** Answer to a probe. */
void term_has_sync(struct ui_term *t, bool is_there);
void term_has_kitty(struct ui_term *t, bool is_there);
void term_probes_done(struct ui_term *t);
/** Stops and resumes reading the keyboard. */
void term_read_pause(struct ui_term *t, bool is_paused);
/** After a stop that could not be prepared for: takes the terminal again. False: it still is as it was. */
bool term_retake(struct ui_term *t);
/** Gives the terminal back, stops the process with SIGTSTP, takes the terminal again. */
void term_suspend(struct ui_term *t);

#endif
