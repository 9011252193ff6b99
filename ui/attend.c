/* SPDX-License-Identifier: MIT */
#include "ui/attend.h"

#include <stdio.h>

#include "src/base/str.h"
#include "src/base/utf8.h"

#define BRAILLE_FIRST 0x2800u
#define BRAILLE_LAST  0x28ffu

/* Signs that agents put in front of their titles: Claude Code and codex turn a wheel of Braille dots
 * while they work, gemini has a sign for each state. */
static const struct {
	const char *sign;
	enum ui_work work;
} signs[] = {
	{"\u2733", UI_WORK_READY}, /* Claude Code: eight spoked asterisk */
	{"\u25c7", UI_WORK_READY}, /* gemini: white diamond */
	{"\u2726", UI_WORK_BUSY},  /* gemini: black four pointed star */
	{"\u270b", UI_WORK_ASKS},  /* gemini: raised hand */
};

enum ui_work ui_attend_work(const char *title)
{
	uint32_t cp = 0;

	if (zw_utf8_decode((const uint8_t *)title, zw_span(title).len, &cp) > 0 &&
	    cp >= BRAILLE_FIRST && cp <= BRAILLE_LAST)
		return UI_WORK_BUSY;
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (zw_starts_with(title, signs[i].sign))
			return signs[i].work;
	return UI_WORK_UNKNOWN;
}

bool ui_attend_title(struct ui_attend *a, const char *title)
{
	enum ui_work before = a->work, now = ui_attend_work(title);

	/* codex has no sign when it is ready. */
	if (now == UI_WORK_UNKNOWN && before != UI_WORK_UNKNOWN)
		now = UI_WORK_READY;
	if (now == before)
		return false;
	a->work = now;
	if (now == UI_WORK_BUSY)
		a->needs_user = false;
	if (now == UI_WORK_ASKS || (now == UI_WORK_READY && before == UI_WORK_BUSY)) {
		a->needs_user = true;
		return true;
	}
	return false;
}

const char *ui_attend_progress(const struct ui_attend *a, char *out, size_t size)
{
	unsigned state = a->progress >> 8, percent = a->progress & 0xff;

	if (percent > 100)
		percent = 100;
	if (state == 1)
		snprintf(out, size, "%u%%", percent);
	else if (state == 2)
		snprintf(out, size, "failed at %u%%", percent);
	else if (state == 3)
		snprintf(out, size, "busy");
	else if (state == 4)
		snprintf(out, size, "paused at %u%%", percent);
	else
		out[0] = '\0';
	return out;
}
