/* SPDX-License-Identifier: MIT */
#include "ui/layout.h"

/* title, title of the lists, their bottom line, event row, status line */
#define STACK_FRAME_ROWS 5
#define SIDE_COLS_MIN	 50

static int at_least(int n, int min)
{
	return n > min ? n : min;
}

/* Sockets get the smaller part: their names are short. */
static void lists_abreast(struct ui_rects *r)
{
	struct ui_rect in = r->lists;
	int left = in.cols >= 90 ? in.cols * 61 / 100 : in.cols * 54 / 100;

	r->conns = (struct ui_rect){in.top + 1, 0, in.rows - 2, left};
	r->socks = (struct ui_rect){in.top + 1, left + 1, in.rows - 2, in.cols - left - 1};
}

static void make_stack(struct ui_rects *r, int rows, int cols)
{
	int list = rows >= 30 ? 8 + (rows - 30) / 4 : 6;

	r->has_heads = rows >= 30;
	if (r->has_heads)
		list++;
	r->title = (struct ui_rect){0, 0, 1, cols};
	r->agent = (struct ui_rect){1, 0, rows - STACK_FRAME_ROWS - list, cols};
	r->lists = (struct ui_rect){1 + r->agent.rows, 0, list + 2, cols};
	r->event = (struct ui_rect){rows - 2, 0, 1, cols};
	lists_abreast(r);
}

static void make_side(struct ui_rects *r, int rows, int cols)
{
	int agent = at_least(cols * 64 / 100, 100);

	if (cols - agent - 1 < SIDE_COLS_MIN - 1)
		agent = cols - SIDE_COLS_MIN;
	int left = agent + 1, width = cols - left, height = rows - 3,
	    half = (height - 2) * 55 / 100;
	r->has_heads = true;
	r->title = (struct ui_rect){0, 0, 1, cols};
	r->agent = (struct ui_rect){1, 0, height, agent};
	r->lists = (struct ui_rect){1, left, height, width};
	r->conns = (struct ui_rect){2, left, half, width};
	r->socks = (struct ui_rect){3 + half, left, height - 2 - half, width};
	r->event = (struct ui_rect){rows - 2, 0, 1, cols};
}

void ui_layout_make(enum ui_layout layout, int rows, int cols, struct ui_rects *ret)
{
	*ret = (struct ui_rects){.shape = UI_SHAPE_AGENT};
	ret->status = (struct ui_rect){rows - 1, 0, 1, cols};
	ret->above = (struct ui_rect){0, 0, rows - 1, cols};
	if (layout == UI_LAYOUT_DASHBOARD && cols >= 150 && rows >= 30) {
		ret->shape = UI_SHAPE_SIDE;
		make_side(ret, rows, cols);
	} else if (layout == UI_LAYOUT_DASHBOARD && cols >= 80 && rows >= 24) {
		ret->shape = UI_SHAPE_STACK;
		make_stack(ret, rows, cols);
	} else {
		ret->agent = ret->above;
	}
}

void ui_pane_size(enum ui_layout layout, int rows, int cols, int *ret_rows, int *ret_cols)
{
	struct ui_rects r;

	ui_layout_make(layout, rows, cols, &r);
	*ret_rows = at_least(r.agent.rows < PANE_ROWS_MAX ? r.agent.rows : PANE_ROWS_MAX, 1);
	*ret_cols = at_least(r.agent.cols < PANE_COLS_MAX ? r.agent.cols : PANE_COLS_MAX, 1);
}
