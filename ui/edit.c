/* SPDX-License-Identifier: MIT */
#include "ui/edit.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"

void ui_edit_fini(struct ui_edit *e)
{
	for (int i = 0; i < e->n_lines; i++)
		free(e->line[i]);
	e->n_lines = 0;
}

void ui_edit_set(struct ui_edit *e, const char *text)
{
	zw_strlcpy(e->text, text, sizeof(e->text));
	e->len = strlen(e->text);
	e->at = -1;
}

static void add(struct ui_edit *e, uint32_t cp)
{
	char bytes[4];

	if (cp < ' ' || !zw_vis_is_safe(cp))
		return;
	size_t n = (size_t)zw_utf8_encode(bytes, cp);
	if (e->len + n > UI_EDIT_MAX)
		return;
	memcpy(e->text + e->len, bytes, n);
	e->len += n;
	e->text[e->len] = '\0';
}

static void shorten(struct ui_edit *e)
{
	while (e->len > 0 && ((uint8_t)e->text[--e->len] & 0xc0) == 0x80)
		;
	e->text[e->len] = '\0';
}

static void shorten_word(struct ui_edit *e)
{
	while (e->len > 0 && e->text[e->len - 1] == ' ')
		e->len--;
	while (e->len > 0 && e->text[e->len - 1] != ' ')
		e->len--;
	e->text[e->len] = '\0';
}

static void recall(struct ui_edit *e, int by)
{
	int at = e->at + by;

	if (at < -1 || at >= e->n_lines)
		return;
	ui_edit_set(e, at >= 0 ? e->line[at] : "");
	e->at = at;
}

bool ui_edit_key(struct ui_edit *e, struct ui_key key)
{
	if (key.code == UI_KEY_BACKSPACE)
		shorten(e);
	else if (key.code == UI_KEY_UP || key.code == UI_KEY_DOWN)
		recall(e, key.code == UI_KEY_UP ? 1 : -1);
	else if (key.code == 'u' && key.mods == UI_MOD_CTRL)
		ui_edit_set(e, "");
	else if (key.code == 'w' && key.mods == UI_MOD_CTRL)
		shorten_word(e);
	else if (key.mods == 0 && key.code < UI_KEY_FIRST)
		add(e, key.code);
	else
		return false;
	return true;
}

void ui_edit_paste(struct ui_edit *e, const void *bytes, size_t len)
{
	const uint8_t *b = bytes;

	for (size_t i = 0; i < len;) {
		uint32_t cp;
		int n = zw_utf8_decode(b + i, len - i, &cp);

		if (n > 0)
			add(e, cp);
		i += n > 0 ? (size_t)n : 1;
	}
}

void ui_edit_keep(struct ui_edit *e)
{
	if (e->len == 0 || (e->n_lines > 0 && strcmp(e->line[0], e->text) == 0))
		return;
	if (e->n_lines == UI_EDIT_LINES)
		free(e->line[--e->n_lines]);
	memmove(&e->line[1], &e->line[0], (size_t)e->n_lines * sizeof(e->line[0]));
	e->line[0] = zw_xstrdup(e->text);
	e->n_lines++;
	e->at = -1;
}
