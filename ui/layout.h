/* SPDX-License-Identifier: MIT
 * Where everything stands on a screen of any size. Pure. */
#ifndef ZW_UI_LAYOUT_H
#define ZW_UI_LAYOUT_H

#include <stdbool.h>

#include "ui/ui.h"

enum ui_shape {
	UI_SHAPE_AGENT, /* the agent and the status line */
	UI_SHAPE_STACK, /* lists below the agent */
	UI_SHAPE_SIDE,	/* lists to its right */
};

struct ui_rect {
	int top, left, rows, cols;
};

/** Parts that a shape does not have are empty. */
struct ui_rects {
	enum ui_shape shape;
	bool has_heads; /* names of columns above the lists */
	struct ui_rect title, agent;
	struct ui_rect lists;	     /* both, with their frame; a new question knocks here */
	struct ui_rect conns, socks; /* the rows of each, heads included, titles not */
	struct ui_rect event, status;
	struct ui_rect above; /* everything but the status line */
};

void ui_layout_make(enum ui_layout layout, int rows, int cols, struct ui_rects *ret);

#endif
