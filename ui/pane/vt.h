/* SPDX-License-Identifier: MIT
 * The terminal that an agent talks to: bytes in, a grid of cells, replies and events out.
 *
 * A VT220 with what xterm, kitty and others added and agents ask for: true colour, all underlines,
 * alternate screens, synchronized output, bracketed paste, focus and mouse modes, kitty keys.
 * Pure: no I/O, no clock, no signals. Any bytes are safe: every size is bounded, a string that
 * nobody ends is given up after 5 s or 8 MB, no reply holds
 * text that the child chose, and nothing is handed on but cells, numbers and filtered strings.
 *
 * Left out on purpose: answers about the title, the clipboard and graphics (the child could make
 * them say what it likes to whoever reads the terminal next), C1 controls, VT52, printing, DECLRMM.
 * The working directory (OSC 7) and the marks of a shell (OSC 133) are read over: nobody here needs
 * to believe a child about them.
 *
 * Where terminals differ, it does as xterm.js does, the one that agents are developed with. */
#ifndef ZW_UI_PANE_VT_H
#define ZW_UI_PANE_VT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/str.h"
#include "ui/pane/grid.h"

#define PANE_VT_REPLY_MAX_B (64u << 10)
#define PANE_VT_TITLE_MAX   256 /* characters */
#define PANE_VT_NOTE_MAX    256

struct pane_vt;

/** What the child did that is not on the screen. Texts are UTF-8, filtered, and live for the call.
 * Every slot must be set. */
struct pane_vt_events {
	void (*on_title)(void *arg, const char *title);
	void (*on_bell)(void *arg);
	/** OSC 9 and OSC 777. @title may be "". */
	void (*on_note)(void *arg, const char *title, const char *text);
	/** OSC 9;4. @state 0 none, 1 normal, 2 error, 3 busy, 4 paused; @percent 0 to 100. */
	void (*on_progress)(void *arg, unsigned state, unsigned percent);
	/** OSC 52: the child wants to read the clipboard, which is never answered, or to set it
	 * (@len_b of base64). @text holds any bytes; .p is NULL where the config does not let it. */
	void (*on_clipboard)(void *arg, bool is_read, size_t len_b, struct zw_span text);
};

struct pane_vt_config {
	unsigned rows, cols;	 /* clamped to 1 and 2 up to PANE_ROWS_MAX, PANE_COLS_MAX */
	unsigned cell_w, cell_h; /* pixels of a cell, for 14t and 16t; 0 = a usual size */
	uint32_t fg_rgb, bg_rgb; /* 0xrrggbb, to answer OSC 10 and 11 */
	bool has_kitty;		 /* answer kitty keyboard queries */
	bool has_clipboard;	 /* the child may set the clipboard */
	uint32_t scrollback_n;	 /* lines kept that left the main screen; also bounded in bytes */
};

/** Everything about the terminal that is not a cell. */
struct pane_vt_state {
	unsigned rows, cols;
	unsigned cursor_row, cursor_col; /* from 0, always inside */
	uint8_t cursor_shape;		 /* DECSCUSR, 0 to 6 */
	uint8_t kitty_flags;
	uint8_t modify_other_keys; /* 0 to 3 */
	uint32_t modes;		   /* enum pane_mode, or-ed */
};

/**
 * @config, @events  config is copied, events borrowed
 * Ownership         caller, pane_vt_free(); NULL is ok there
 */
struct pane_vt *pane_vt_new(const struct pane_vt_config *config,
			    const struct pane_vt_events *events, void *arg);
void pane_vt_free(struct pane_vt *vt);

/**
 * Feeds what the child printed.
 *
 * @now_ms   any monotonic clock; dates the begin of a synchronized block and of a string
 * Returns   bytes taken: @len, or fewer: a synchronized block (?2026) ended there. That is the
 *           moment to take a frame; then feed the rest
 */
size_t pane_vt_feed(struct pane_vt *vt, const void *bytes, size_t len, int64_t now_ms);

/**
 * Changes the size. On the main screen lines that wrapped are joined and wrapped anew, history
 * included, but for the line with the cursor, which its program draws again; rows go to the history
 * and come back from it. The alternate screen is cut. Margins are reset. Sizes are clamped as in the
 * config.
 */
void pane_vt_resize(struct pane_vt *vt, unsigned rows, unsigned cols);

/** The real terminal told more of itself: @config's fg_rgb, bg_rgb, has_kitty, cell_w and cell_h (0 =
 * as before). A program that asked for it (?2031) hears of a change between dark and light. */
void pane_vt_set_terminal(struct pane_vt *vt, const struct pane_vt_config *config);

/** Answers for the child, to be written to it and consumed. Over the maximum they are dropped. */
struct zw_buf *pane_vt_replies(struct pane_vt *vt);

/** @now_ms of the feed in which the open synchronized block began, -1 = none is open. */
int64_t pane_vt_sync_since(const struct pane_vt *vt);
/** Closes an open block that lasted too long; DECRQM then says so too. */
void pane_vt_sync_end(struct pane_vt *vt);

void pane_vt_state(const struct pane_vt *vt, struct pane_vt_state *ret);

/** Whether cells changed since the last pane_vt_publish(). */
bool pane_vt_is_dirty(const struct pane_vt *vt);

/**
 * Copies the rows that changed into the shared grid and marks them there; other rows' marks are
 * cleared. The first call, and the first after a change of size, copies all.
 *
 * Returns  number of rows copied
 */
unsigned pane_vt_publish(struct pane_vt *vt, struct pane_grid *grid);

/* -- looking back --------------------------------------------------------------------------------- */

/** Instead of a line: the screen as it is. */
#define PANE_VT_LIVE UINT64_MAX

/** Where the frame stands in all that is kept. Lines are numbered from the first that ever was, so
 * a number stays with its text while the program prints; a change of width gives new ones. */
struct pane_vt_view {
	uint64_t first;	     /* the oldest line kept */
	uint64_t top;	     /* at the top of the frame */
	uint64_t screen_top; /* at the top of the screen: the view is live when it is `top` */
};

void pane_vt_view(const struct pane_vt *vt, struct pane_vt_view *ret);
/** Frames show the lines from @line on, whatever is printed, or PANE_VT_LIVE. Clamped; the screen's
 * own top holds what stands there now. */
void pane_vt_look_at(struct pane_vt *vt, uint64_t line);

/** A cell of a line. */
struct pane_vt_place {
	uint64_t line;
	unsigned col;
};

#define PANE_VT_NEEDLE_MAX 256 /* characters */

/**
 * Searches text, also over the end of a row that wrapped. A needle without capital letters finds
 * them too, of any script.
 *
 * @needle    UTF-8; cut at the maximum
 * @is_up     towards older lines: the nearest match that begins before @from, else behind it;
 *            PANE_VT_LIVE as a line: from the newest or the oldest on
 * @ret_from, @ret_to  its first and last cell
 */
bool pane_vt_find(const struct pane_vt *vt, struct zw_span needle, bool is_up,
		  struct pane_vt_place from, struct pane_vt_place *ret_from,
		  struct pane_vt_place *ret_to);

/**
 * Text of the cells from @from to @to, both included; rows that wrapped are one line, blanks at the
 * end of a line are left out. Only characters that may be shown, and joiners within one.
 *
 * @is_lines  whole rows
 * @out       appended to, up to its maximum
 * Returns    false when it was cut there
 */
bool pane_vt_text(const struct pane_vt *vt, struct pane_vt_place from, struct pane_vt_place to,
		  bool is_lines, struct zw_buf *out);

/** Target of the link in a cell; NULL = none. Printable; borrowed until the next feed. */
const char *pane_vt_link_at(const struct pane_vt *vt, struct pane_vt_place at);

/** Any line as the grid shows it. Returns false when it is not kept. @out as below. */
bool pane_vt_copy_line(const struct pane_vt *vt, uint64_t line, struct pane_cell *out);
/** One row of the screen as the grid shows it. @row < rows; @out has room for cols cells. */
void pane_vt_copy_row(const struct pane_vt *vt, unsigned row, struct pane_cell *out);

#endif
