/* SPDX-License-Identifier: MIT
 * A line that is typed: one field, with the lines that were typed before. Pure. */
#ifndef ZW_UI_EDIT_H
#define ZW_UI_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/input.h"

#define UI_EDIT_MAX   1024
#define UI_EDIT_LINES 20

struct ui_edit {
	char text[UI_EDIT_MAX + 1];
	size_t len;
	char *line[UI_EDIT_LINES]; /* owned; newest first */
	int n_lines, at;	   /* at: which one is shown, -1 = what is typed */
};

void ui_edit_fini(struct ui_edit *e);
/** Begins with @text. */
void ui_edit_set(struct ui_edit *e, const char *text);
/** A key that types, shortens or recalls. False: it does none of that. */
bool ui_edit_key(struct ui_edit *e, struct ui_key key);
/** Bytes of a paste: controls are left out. */
void ui_edit_paste(struct ui_edit *e, const void *bytes, size_t len);
/** The line is used: it can be recalled. */
void ui_edit_keep(struct ui_edit *e);

#endif
