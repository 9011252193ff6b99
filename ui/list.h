/* SPDX-License-Identifier: MIT
 * Selection and scrolling of any list of rows. The selected row keeps its key when rows come and
 * go above it. Pure. */
#ifndef ZW_UI_LIST_H
#define ZW_UI_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ui/cmd.h"

struct ui_list {
	size_t n, sel, top; /* rows; selected; first on screen */
	size_t height;	    /* rows on screen */
	uint64_t key;	    /* of the selected row, 0 = none */
	bool is_at_top;	    /* the user stays with the newest row */
};

/** New rows, or another height. @key_of gives a row's key, never 0. */
void ui_list_update(struct ui_list *l, size_t n, size_t height,
		    uint64_t (*key_of)(size_t row, void *arg), void *arg);
/** Moves by a command of the LIST section. False: not a move. */
bool ui_list_move(struct ui_list *l, enum ui_cmd cmd, uint64_t (*key_of)(size_t row, void *arg),
		  void *arg);

#endif
