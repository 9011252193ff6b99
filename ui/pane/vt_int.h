/* SPDX-License-Identifier: MIT
 * The inside of the terminal engine, for the files that make it up and nobody else:
 *
 *   vt.c       life, feeding, resize, reset, handing over
 *   screen.c   rows and cells: scroll, erase, insert, delete, the two screens
 *   history.c  lines that left the main screen, packed
 *   reflow.c   the main screen and its history in another size
 *   links.c    targets of links
 *   lookback.c what a user who scrolls back sees, finds and copies
 *   print.c    text into cells: wrapping, clusters, character sets
 *   control.c  C0 and ESC sequences
 *   csi.c      CSI sequences; sgr.c the one that colours; mode.c those that set modes
 *   string.c   OSC; colours.c those that ask for and set colours; dcs.c DCS
 *
 * The cursor's column may be `cols`: the last column was printed and the wrap is pending. */
#ifndef ZW_UI_PANE_VT_INT_H
#define ZW_UI_PANE_VT_INT_H

#include <stddef.h>
#include <string.h>

#include "src/base/map.h"
#include "src/base/str.h"
#include "ui/pane/parser.h"
#include "ui/pane/vt.h"
#include "ui/pane/width.h"

#define PANE_VT_CLUSTER_MAX 8 /* code points that a cell keeps */
#define PANE_VT_KITTY_MAX   16
#define PANE_VT_TITLES_MAX  8
#define PANE_LINKS_MAX	    4095
#define PANE_LINK_MAX_B	    2083    /* what browsers take */
#define PANE_VT_ATTR_MORE   0x8000u /* in attrs: row->more holds the rest of the cluster */

enum pane_vt_half { PANE_VT_SINGLE, PANE_VT_WIDE, PANE_VT_TAIL };

/* All zero is a blank cell in default colours. No padding: cells are compared as bytes. */
struct pane_vt_cell {
	uint32_t cp : 24;	/* 0 = blank */
	uint32_t half : 4;	/* enum pane_vt_half */
	uint32_t underline : 4; /* enum pane_underline */
	uint32_t fg, bg, ul_colour;
	uint16_t attrs; /* enum pane_attr and PANE_VT_ATTR_MORE */
	uint16_t link;	/* number of an OSC 8 link, 0 = none */
};

/* The code points of a cluster behind its first, 0-filled. */
struct pane_vt_more {
	uint32_t cp[PANE_VT_CLUSTER_MAX - 1];
};

struct pane_vt_row {
	struct pane_vt_cell *cell; /* owned; cols of them */
	struct pane_vt_more *more; /* owned; NULL until a cell needs it, then cols of them */
	unsigned used;		   /* cells from here on are all zero */
	unsigned plain;		   /* so many at the left are known to be ASCII that looks alike */
	bool is_wrapped;	   /* goes on from the row above */
};

struct pane_packed;

/* Lines that scrolled off the main screen; history.h. Every line that ever was has a number: the
 * oldest kept is `base`, the screen's top row base + n. */
struct pane_history {
	struct pane_packed **row; /* owned ring of owned rows */
	size_t cap, first, n;
	size_t max_n;
	size_t size_b; /* of all of them */
	uint64_t base;
};

struct pane_link;

/* links.h. Numbers are from 1: link[number - 1]. */
struct pane_links {
	struct zw_map by_uri;
	struct pane_link **link; /* owned; NULL = free */
	size_t n, n_free, search;
	uint64_t next_sweep; /* not before this line is at the top of the screen */
};

enum pane_vt_charset { PANE_VT_ASCII, PANE_VT_GRAPHIC, PANE_VT_UK };

struct pane_vt_saved {
	unsigned x, y;
	struct pane_vt_cell pen;
	uint8_t charset[4];
	uint8_t gl;
	bool is_origin;
};

struct pane_vt_kitty {
	uint8_t flags[PANE_VT_KITTY_MAX];
	uint8_t top; /* index of the flags in force */
};

struct pane_vt_screen {
	struct pane_vt_row *row[PANE_ROWS_MAX]; /* owned */
	unsigned top, bottom;			/* scroll margins, both inside */
	struct pane_vt_saved saved;
	struct pane_vt_kitty kitty;
	unsigned x, y; /* the cursor when the other screen was chosen */
};

enum pane_vt_mode_no {
	PANE_VT_NO_CURSOR_KEYS,
	PANE_VT_NO_REVERSE_SCREEN,
	PANE_VT_NO_ORIGIN,
	PANE_VT_NO_AUTOWRAP,
	PANE_VT_NO_CURSOR_BLINK,
	PANE_VT_NO_CURSOR_VISIBLE,
	PANE_VT_NO_REVERSE_WRAP,
	PANE_VT_NO_ALT_SCREEN,
	PANE_VT_NO_KEYPAD,
	PANE_VT_NO_MOUSE_CLICK,
	PANE_VT_NO_MOUSE_DRAG,
	PANE_VT_NO_MOUSE_MOVE,
	PANE_VT_NO_FOCUS,
	PANE_VT_NO_MOUSE_SGR,
	PANE_VT_NO_ALT_SCROLL,
	PANE_VT_NO_MOUSE_PIXEL,
	PANE_VT_NO_PASTE,
	PANE_VT_NO_SYNC,
	PANE_VT_NO_SCHEME_REPORTS,
	PANE_VT_NO_INSERT,
	PANE_VT_NO_NEW_LINE,
	PANE_VT_NO_FIXED_SET, /* always 1 in modes */
	PANE_VT_NO_FIXED_RESET,
};

/* Bit of a mode in struct pane_vt.modes: PANE_VT_BIT(ORIGIN). */
#define PANE_VT_BIT(name) (1u << PANE_VT_NO_##name)

struct pane_vt {
	struct pane_vt_config config;
	const struct pane_vt_events *events; /* borrowed */
	void *arg;
	struct pane_parser parser;
	struct zw_buf replies;

	unsigned rows, cols;
	struct pane_vt_screen screen[2]; /* main, alternate */
	struct pane_vt_screen *scr;	 /* the one shown */
	unsigned x, y;			 /* x <= cols, y < rows */
	struct pane_vt_cell pen;	 /* cp and half are 0 */
	uint8_t charset[4];		 /* G0 to G3, enum pane_vt_charset */
	uint8_t gl;			 /* which of them is in use */
	uint8_t single_shift;		 /* SS2, SS3: 2 or 3 for the next character; 0 = none */
	uint32_t modes;
	uint8_t cursor_shape;
	uint8_t modify_other_keys;
	int64_t sync_since_ms; /* -1 = no block open */
	int64_t now_ms;	       /* of the feed that runs */
	int64_t string_ms;     /* when the string that is open was first seen, -1 = none is */
	unsigned string_no;    /* which of the parser's it is */
	bool tab[PANE_COLS_MAX];

	struct pane_cluster cluster; /* being printed; width 0 = the last thing was not text */
	unsigned cluster_x;	     /* where it is */
	bool is_cluster_hidden;	     /* it did not fit: wide, at the edge, wrapping off */

	char *title;			  /* owned, NULL = none yet */
	char *titles[PANE_VT_TITLES_MAX]; /* owned; pushed by CSI 22 t */
	unsigned n_titles;

	uint8_t dirty[PANE_ROWS_MAX];
	bool all_dirty;

	/* What the child changed of the colours: PANE_COLOUR_RGB | 0xrrggbb, 0 = as it was. */
	uint32_t palette[256], special[3]; /* the latter: foreground, background, cursor */
	bool has_colours;		   /* any of them is set */

	struct pane_history history;
	struct pane_links links;
	uint64_t view_top; /* line at the top of the frame; PANE_VT_LIVE = the screen */
};

/** Whether two cells differ in nothing but their characters; a cluster may count as another look. */
static inline bool pane_vt_same_look(const struct pane_vt_cell *a, const struct pane_vt_cell *b)
{
	return memcmp(&a->fg, &b->fg, sizeof(*a) - offsetof(struct pane_vt_cell, fg)) == 0 &&
	       a->underline == b->underline;
}

static inline bool pane_vt_has(const struct pane_vt *vt, uint32_t bit)
{
	return (vt->modes & bit) != 0;
}

/** Number of the line at the top of the screen. */
static inline uint64_t pane_vt_screen_top(const struct pane_vt *vt)
{
	return vt->history.base + vt->history.n;
}

static inline struct pane_vt_row *pane_vt_row(struct pane_vt *vt, unsigned y)
{
	return vt->scr->row[y];
}

/* -- vt.c ---- */

/** RIS: as new, same size. */
void pane_vt_reset(struct pane_vt *vt);
/** DECSTR, as xterm.js does it. */
void pane_vt_soft_reset(struct pane_vt *vt);
void pane_vt_tabs_default(struct pane_vt *vt, unsigned from);
/** Whether the background is dark, by the eye's weights of the channels. */
bool pane_vt_is_dark(const struct pane_vt *vt);
/** CSI ? 997 n: dark or light. */
void pane_vt_report_scheme(struct pane_vt *vt);
/** Queues one reply, whole or not at all. */
void pane_vt_reply(struct pane_vt *vt, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void pane_vt_dirty(struct pane_vt *vt, unsigned first, unsigned last);

/* -- screen.c ---- */

struct pane_vt_row *pane_vt_row_new(unsigned cols);
void pane_vt_row_free(struct pane_vt_row *row);
void pane_vt_row_resize(struct pane_vt_row *row, unsigned old_cols, unsigned cols);
/** Blanks cells [from, to) with the pen's background; halves of wide characters cut go too. */
void pane_vt_erase(struct pane_vt *vt, unsigned y, unsigned from, unsigned to);
/** A whole row, which also no longer counts as wrapped. */
void pane_vt_erase_row(struct pane_vt *vt, unsigned y);
/** The row before something is written to [from, to): cut wide characters are blanked. */
void pane_vt_cut(struct pane_vt *vt, unsigned y, unsigned from, unsigned to);
void pane_vt_insert_cells(struct pane_vt *vt, unsigned n);
void pane_vt_delete_cells(struct pane_vt *vt, unsigned n);
/** The screen's row @y goes into the history, as a copy. */
void pane_vt_keep_row(struct pane_vt *vt, unsigned y);
/** Scrolls rows [top, bottom] by @n; new rows have the pen's background. */
void pane_vt_scroll_up(struct pane_vt *vt, unsigned top, unsigned bottom, unsigned n);
void pane_vt_scroll_down(struct pane_vt *vt, unsigned top, unsigned bottom, unsigned n);
/** Down one row, scrolling at the bottom margin. */
void pane_vt_line_down(struct pane_vt *vt);
/** Into the screen; with origin mode into the margins. @x_max: cols - 1, or cols to keep a wrap. */
void pane_vt_restrict(struct pane_vt *vt, unsigned x_max);
/** Absolute, from 0, counted from the margin in origin mode; clamped. */
void pane_vt_move_to(struct pane_vt *vt, unsigned x, unsigned y);
void pane_vt_save_cursor(struct pane_vt *vt);
void pane_vt_restore_cursor(struct pane_vt *vt);
void pane_vt_use_screen(struct pane_vt *vt, bool alt);

/* -- reflow.c ---- */

/** Gives the main screen another size: lines that wrapped are joined and wrapped anew. */
void pane_vt_resize_main(struct pane_vt *vt, unsigned rows, unsigned cols);

/* -- lookback.c ---- */

/** The line that stands at the top of a frame. */
uint64_t pane_vt_view_top(const struct pane_vt *vt);
/** Line @line (history or screen); @spare has room for a row. NULL = there is none. */
const struct pane_vt_row *pane_vt_line(const struct pane_vt *vt, uint64_t line,
				       struct pane_vt_row *spare);

/* -- print.c ---- */

void pane_vt_print_ascii(struct pane_vt *vt, const uint8_t *text, size_t len);
void pane_vt_print_char(struct pane_vt *vt, uint32_t cp);
/** REP: the last cluster @n times more. */
void pane_vt_repeat(struct pane_vt *vt, unsigned n);
/** Anything but text came: the next character begins a new cluster. */
static inline void pane_vt_end_cluster(struct pane_vt *vt)
{
	vt->cluster.width = 0;
}

/* -- colours.c ---- */

/** OSC 4 and 104, @rest behind the number. */
void pane_vt_osc_palette(struct pane_vt *vt, struct zw_span rest, bool by_bel);
void pane_vt_osc_palette_reset(struct pane_vt *vt, struct zw_span rest);
/** OSC 10 to 12, and 110 to 112. */
void pane_vt_osc_special(struct pane_vt *vt, unsigned first, struct zw_span rest, bool by_bel);
void pane_vt_osc_special_reset(struct pane_vt *vt, unsigned which);
void pane_vt_colours_reset(struct pane_vt *vt);
/** Default foreground (0), background (1) or cursor (2) as the child is told it: 0xrrggbb. */
uint32_t pane_vt_special_rgb(const struct pane_vt *vt, unsigned which);
/** A colour of a cell with the child's changes; @special 0 or 1 says which default it has. */
uint32_t pane_vt_shown_colour(const struct pane_vt *vt, uint32_t colour, unsigned special);
/** The field before the next semicolon; *rest moves behind it, to .p == NULL at the end. */
struct zw_span pane_vt_field(struct zw_span *rest);
/** A decimal number up to @max. */
bool pane_vt_number(struct zw_span s, uint64_t max, unsigned *ret);

/* -- control.c, csi.c, sgr.c, mode.c, string.c ---- */

void pane_vt_control(struct pane_vt *vt, uint8_t c);
void pane_vt_esc(struct pane_vt *vt, const struct pane_seq *seq);
/** Returns true when a synchronized block ended. */
bool pane_vt_csi(struct pane_vt *vt, const struct pane_seq *seq);
void pane_vt_sgr(struct pane_vt *vt, const struct pane_seq *seq);
/** DECSET, DECRST, SM, RM; true when a synchronized block ended. */
bool pane_vt_set_modes(struct pane_vt *vt, const struct pane_seq *seq, bool on);
void pane_vt_request_mode(struct pane_vt *vt, unsigned number, bool is_dec);
void pane_vt_kitty(struct pane_vt *vt, const struct pane_seq *seq);
void pane_vt_osc(struct pane_vt *vt, const uint8_t *data, size_t len, bool by_bel);
void pane_vt_dcs(struct pane_vt *vt, const struct pane_seq *seq, const uint8_t *data, size_t len);
void pane_vt_push_title(struct pane_vt *vt);
void pane_vt_pop_title(struct pane_vt *vt);

#endif
