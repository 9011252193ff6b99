/* SPDX-License-Identifier: MIT */
#include "ui/list.h"

static void show_selected(struct ui_list *l)
{
	size_t height = l->height > 0 ? l->height : 1;

	if (l->sel < l->top)
		l->top = l->sel;
	if (l->sel >= l->top + height)
		l->top = l->sel - height + 1;
	if (l->n <= height)
		l->top = 0;
	else if (l->top > l->n - height)
		l->top = l->n - height;
}

void ui_list_update(struct ui_list *l, size_t n, size_t height,
		    uint64_t (*key_of)(size_t row, void *arg), void *arg)
{
	l->n = n;
	l->height = height;
	if (n == 0) {
		l->sel = l->top = 0;
		l->key = 0;
		return;
	}
	if (l->sel == 0 && l->top == 0 && (l->is_at_top || l->key == 0)) {
		l->key = key_of(0, arg);
		l->is_at_top = true;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (key_of(i, arg) == l->key) {
			/* The rows above the selected one stay where they are on screen. */
			l->top = i >= l->sel ? l->top + (i - l->sel)
					     : l->top - (l->sel - i < l->top ? l->sel - i : l->top);
			l->sel = i;
			show_selected(l);
			return;
		}
	}
	l->sel = l->sel < n ? l->sel : n - 1;
	l->key = key_of(l->sel, arg);
	show_selected(l);
}

bool ui_list_move(struct ui_list *l, enum ui_cmd cmd, uint64_t (*key_of)(size_t row, void *arg),
		  void *arg)
{
	static const struct {
		enum ui_cmd cmd;
		int pages, halves, rows;
	} moves[] = {
		{UI_CMD_DOWN, 0, 0, 1},		{UI_CMD_UP, 0, 0, -1},
		{UI_CMD_PAGE_DOWN, 1, 0, 0},	{UI_CMD_PAGE_UP, -1, 0, 0},
		{UI_CMD_HALF_DOWN, 0, 1, 0},	{UI_CMD_HALF_UP, 0, -1, 0},
		{UI_CMD_FIRST, 0, 0, -1000000}, {UI_CMD_LAST, 0, 0, 1000000},
	};

	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		if (moves[i].cmd != cmd)
			continue;
		int64_t height = l->height > 1 ? (int64_t)l->height : 2;
		int64_t to = (int64_t)l->sel + moves[i].pages * height +
			     moves[i].halves * (height / 2) + moves[i].rows;

		if (to > (int64_t)l->n - 1)
			to = (int64_t)l->n - 1;
		l->sel = to > 0 ? (size_t)to : 0;
		l->is_at_top = l->sel == 0;
		l->key = l->n > 0 ? key_of(l->sel, arg) : 0;
		show_selected(l);
		return true;
	}
	return false;
}
