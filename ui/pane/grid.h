/* SPDX-License-Identifier: MIT
 * The grid of cells that zwatch-pane hands to zwatch in shared memory.
 *
 * One memfd, made by zwatch, mapped by both. Only one side touches the cells at a time: zwatch-pane
 * writes them, sends `pane_frame` and then keeps its hands off until zwatch sets is_taken. Only when
 * zwatch-pane has said that it waits for that (is_awaited), zwatch wakes it by `pane_next`: else every
 * frame would cost a second wake-up, in the way of the first. zwatch trusts nothing in it all the same: it copies a row out before it looks at it, and every code point passes
 * zw_vis_is_safe() before it is drawn. */
#ifndef ZW_UI_PANE_GRID_H
#define ZW_UI_PANE_GRID_H

#include <stddef.h>
#include <stdint.h>

#define PANE_ROWS_MAX	 300
#define PANE_COLS_MAX	 500
#define PANE_CLUSTER_MAX 5 /* code points of one cell that are handed over: ncurses' CCHARW_MAX */

/* Colours: PANE_COLOUR_DEFAULT, PANE_COLOUR_INDEX | 0..255, or PANE_COLOUR_RGB | 0xrrggbb. */
#define PANE_COLOUR_DEFAULT 0x00000000u
#define PANE_COLOUR_INDEX   0x01000000u
#define PANE_COLOUR_RGB	    0x02000000u
#define PANE_COLOUR_KIND    0xff000000u

enum pane_attr {
	PANE_ATTR_BOLD = 1 << 0,
	PANE_ATTR_DIM = 1 << 1,
	PANE_ATTR_ITALIC = 1 << 2,
	PANE_ATTR_BLINK = 1 << 3,
	PANE_ATTR_REVERSE = 1 << 4,
	PANE_ATTR_CONCEAL = 1 << 5,
	PANE_ATTR_STRIKE = 1 << 6,
	PANE_ATTR_OVERLINE = 1 << 7,
};

enum pane_underline {
	PANE_UL_NONE,
	PANE_UL_SINGLE,
	PANE_UL_DOUBLE,
	PANE_UL_CURLY,
	PANE_UL_DOTTED,
	PANE_UL_DASHED,
};

struct pane_cell {
	uint32_t cp
		[PANE_CLUSTER_MAX]; /* base and combining marks, 0-filled; cp[0] == 0 is a blank */
	uint8_t width;		    /* 1 or 2 columns; 0 = right half of the cell before */
	uint8_t underline;	    /* enum pane_underline */
	uint16_t attrs;		    /* enum pane_attr, or-ed */
	uint32_t fg, bg, ul_colour; /* PANE_COLOUR_* */
};

/** Modes of the terminal that the child set and that zwatch mirrors to the real one. */
enum pane_mode {
	PANE_MODE_CURSOR_KEYS = 1 << 0,	   /* DECCKM, ?1 */
	PANE_MODE_KEYPAD = 1 << 1,	   /* DECKPAM */
	PANE_MODE_PASTE = 1 << 2,	   /* ?2004 */
	PANE_MODE_FOCUS = 1 << 3,	   /* ?1004 */
	PANE_MODE_MOUSE_CLICK = 1 << 4,	   /* ?1000 */
	PANE_MODE_MOUSE_DRAG = 1 << 5,	   /* ?1002 */
	PANE_MODE_MOUSE_MOVE = 1 << 6,	   /* ?1003 */
	PANE_MODE_MOUSE_SGR = 1 << 7,	   /* ?1006 */
	PANE_MODE_MOUSE_PIXEL = 1 << 8,	   /* ?1016 */
	PANE_MODE_CURSOR_VISIBLE = 1 << 9, /* DECTCEM, ?25 */
	PANE_MODE_ALT_SCREEN = 1 << 10,
};

struct pane_grid {
	_Atomic uint32_t is_taken;    /* by zwatch: the cells are zwatch-pane's to write */
	_Atomic uint32_t is_awaited;  /* by zwatch-pane: it has more, and sleeps until is_taken */
	uint32_t rows, cols;	      /* of the frame; at most the maxima */
	uint8_t dirty[PANE_ROWS_MAX]; /* 1 = this row changed since the last frame */
	struct pane_cell cell[PANE_ROWS_MAX][PANE_COLS_MAX];
};

#define PANE_GRID_SIZE_B sizeof(struct pane_grid)

#endif
