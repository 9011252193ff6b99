/* SPDX-License-Identifier: MIT */
#include "ui/cmd.h"

#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"

static const struct {
	enum ui_section section;
	const char *keys, *brief, *help;
} rows[] = {
	{0, "", "", ""},
#define UI_CMD(name, section, keys, brief, help) {UI_SECTION_##section, keys, brief, help},
#include "ui/cmd.def"
#undef UI_CMD
};

static const struct {
	const char *name;
	uint32_t code;
} named[] = {
	{"Enter", UI_KEY_ENTER},
	{"Tab", UI_KEY_TAB},
	{"Esc", UI_KEY_ESC},
	{"Space", ' '},
	{"Up", UI_KEY_UP},
	{"Down", UI_KEY_DOWN},
	{"Left", UI_KEY_LEFT},
	{"Right", UI_KEY_RIGHT},
	{"Home", UI_KEY_HOME},
	{"End", UI_KEY_END},
	{"PgUp", UI_KEY_PGUP},
	{"PgDn", UI_KEY_PGDN},
	{"Backspace", UI_KEY_BACKSPACE},
	{"Delete", UI_KEY_DELETE},
	{"F12", UI_KEY_F12},
	{"Shift-Tab", UI_KEY_BACKTAB},
};

static struct ui_key key_of_name(struct zw_span name)
{
	if (name.len == 3 && name.p[0] == 'C' && name.p[1] == '-')
		return (struct ui_key){(uint8_t)name.p[2], UI_MOD_CTRL};
	for (size_t i = 0; i < ZW_N_ELEMENTS(named); i++)
		if (zw_span_eq(name, named[i].name))
			return (struct ui_key){named[i].code, 0};
	return (struct ui_key){(uint8_t)name.p[0], 0};
}

static bool has_key(const char *keys, struct ui_key key)
{
	while (*keys != '\0') {
		size_t len = strcspn(keys, " ");
		struct ui_key k = key_of_name(zw_span_n(keys, len));

		if (k.code == key.code && k.mods == key.mods)
			return true;
		keys += len + strspn(keys + len, " ");
	}
	return false;
}

enum ui_cmd ui_cmd_of_key(enum ui_section section, struct ui_key key)
{
	for (int i = 1; i < UI_CMD_MAX; i++)
		if (rows[i].section == section && has_key(rows[i].keys, key))
			return (enum ui_cmd)i;
	return UI_CMD_NONE;
}

enum ui_section ui_cmd_section(enum ui_cmd cmd)
{
	return rows[cmd].section;
}

const char *ui_cmd_keys(enum ui_cmd cmd)
{
	return rows[cmd].keys;
}

const char *ui_cmd_brief(enum ui_cmd cmd)
{
	return rows[cmd].brief;
}

const char *ui_cmd_help(enum ui_cmd cmd)
{
	return rows[cmd].help;
}

const char *ui_key_name(char out[16], struct ui_key key)
{
	const char *mod = (key.mods & UI_MOD_CTRL) != 0	 ? "Ctrl-"
			  : (key.mods & UI_MOD_ALT) != 0 ? "Alt-"
							 : "";
	char text[5] = "?";

	for (size_t i = 0; i < ZW_N_ELEMENTS(named); i++) {
		if (named[i].code == key.code) {
			snprintf(out, 16, "%s%s", mod, named[i].name);
			return out;
		}
	}
	if (key.code < UI_KEY_FIRST && zw_vis_is_safe(key.code))
		text[zw_utf8_encode(text, key.code)] = '\0';
	if (*mod == 'C' && text[0] >= 'a' && text[0] <= 'z' && text[1] == '\0')
		text[0] = (char)(text[0] - 'a' + 'A');
	snprintf(out, 16, "%s%s", mod, text);
	return out;
}
