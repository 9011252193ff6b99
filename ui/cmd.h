/* SPDX-License-Identifier: MIT
 * Commands of the user and their keys, out of cmd.def. Pure. */
#ifndef ZW_UI_CMD_H
#define ZW_UI_CMD_H

#include <stdbool.h>

#include "ui/input.h"

enum ui_cmd {
	UI_CMD_NONE,
#define UI_CMD(name, section, keys, brief, help) UI_CMD_##name,
#include "ui/cmd.def"
#undef UI_CMD
	UI_CMD_MAX
};

enum ui_section {
	UI_SECTION_PREFIX,
	UI_SECTION_LIST,
	UI_SECTION_ROWS,
	UI_SECTION_REVIEW,
	UI_SECTION_HISTORY,
	UI_SECTION_TASKS,
	UI_SECTION_ASK,
	UI_SECTION_WAIT,
	UI_SECTION_FLOOD,
	UI_SECTION_SCROLL,
	UI_SECTION_REPLAY
};

/** Command of a key; UI_CMD_NONE when it has none there. */
enum ui_cmd ui_cmd_of_key(enum ui_section section, struct ui_key key);

/** As in the table; static. @cmd is not NONE. */
enum ui_section ui_cmd_section(enum ui_cmd cmd);
const char *ui_cmd_keys(enum ui_cmd cmd);
const char *ui_cmd_brief(enum ui_cmd cmd);
const char *ui_cmd_help(enum ui_cmd cmd);

/** Name of a key: "a", "Ctrl-D", "Enter", "?" when it has none. Returns @out. */
const char *ui_key_name(char out[16], struct ui_key key);

#endif
