/* SPDX-License-Identifier: MIT */
#include "ui/ask.h"

#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"
#include "src/base/words.h"

void ui_ask_init(struct ui_ask *a, enum pol_risk risk, const char *word, int64_t arm_ms,
		 int64_t quiet_ms, int64_t now_ms)
{
	/* A class without a word of its own still asks for one. */
	*a = (struct ui_ask){.risk = risk,
			     .word = *word != '\0' ? word : "allow",
			     .target = "",
			     .arm_ms = arm_ms,
			     .quiet_ms = quiet_ms,
			     .written_ms = -1,
			     .key_ms = now_ms};
}

void ui_ask_written(struct ui_ask *a, int64_t now_ms)
{
	if (a->is_drawn && a->written_ms < 0)
		a->written_ms = now_ms;
}

void ui_ask_drawn(struct ui_ask *a)
{
	a->is_drawn = true;
}

void ui_ask_rearm(struct ui_ask *a)
{
	a->is_drawn = false;
	a->written_ms = -1;
}

int64_t ui_ask_asleep_ms(const struct ui_ask *a, int64_t now_ms)
{
	if (a->written_ms < 0)
		return -1;
	if (a->is_second_key)
		return 0;
	int64_t arm = a->written_ms + a->arm_ms - now_ms, quiet = a->key_ms + a->quiet_ms - now_ms;
	int64_t left = arm > quiet ? arm : quiet;

	return left > 0 ? left : 0;
}

static void hint(struct ui_ask *a, const char *text)
{
	zw_strlcpy(a->hint, text, sizeof(a->hint));
}

static void to_step(struct ui_ask *a, enum ui_ask_step step)
{
	a->step = step;
	a->len = 0;
	a->text[0] = '\0';
	ui_ask_rearm(a);
}

static enum ui_ask_result answer(struct ui_ask *a, enum ui_ask_result result, unsigned scope,
				 const char *key)
{
	a->scope = scope;
	zw_strlcpy(a->key, key, sizeof(a->key));
	return result;
}

/* Whether a key that allows counts yet; else the hint says why not. */
static bool is_awake(struct ui_ask *a, bool is_read, int64_t asleep_ms)
{
	if (asleep_ms != 0)
		hint(a, "Too early: allow keys are asleep.");
	else if (!is_read)
		hint(a, a->step == UI_ASK_KEEP ? "Read on first: PgDn." : "Read on first: Space.");
	return asleep_ms == 0 && is_read;
}

/* y or s: at once only where little is at stake. */
static enum ui_ask_result want_allow(struct ui_ask *a, bool is_session, int64_t asleep_ms)
{
	const char *key = is_session ? "s" : "y";

	if (!is_awake(a, a->is_read, asleep_ms))
		return UI_ASK_NOTHING;
	if (a->is_late && !is_session) {
		hint(a, "That try is over. s allows for this session.");
		return UI_ASK_NOTHING;
	}
	a->scope = is_session ? ZW_SCOPE_SESSION : ZW_SCOPE_ONCE;
	if (a->risk == POL_RISK_CRITICAL || (a->risk == POL_RISK_HIGH && is_session))
		to_step(a, UI_ASK_WORD);
	else if (a->risk == POL_RISK_HIGH || a->is_second_key)
		to_step(a, UI_ASK_CONFIRM);
	else
		return answer(a, UI_ASK_ALLOW, a->scope, key);
	return UI_ASK_NOTHING;
}

/* The narrow choice stands first, and what is dangerous ends by itself. */
static enum ui_ask_result want_always(struct ui_ask *a, int64_t asleep_ms)
{
	if (!is_awake(a, a->is_read, asleep_ms))
		return UI_ASK_NOTHING;
	if (a->risk == POL_RISK_CRITICAL && strlen(a->target) + sizeof(" no end") > UI_NOTE_MAX) {
		hint(a, "This path is too long to be typed. s allows for this session.");
		return UI_ASK_NOTHING;
	}
	a->scope = ZW_SCOPE_ALWAYS;
	a->row = UI_KEEP_UNTIL;
	a->until = a->risk >= POL_RISK_HIGH ? POL_UNTIL_WEEK : POL_UNTIL_NO_END;
	a->is_everywhere = a->is_any_program = a->is_whole_domain = a->is_keep_read = false;
	to_step(a, UI_ASK_KEEP);
	return UI_ASK_NOTHING;
}

static enum ui_ask_result choose(struct ui_ask *a, struct ui_key key, int64_t asleep_ms)
{
	char name[16];

	a->cmd = ui_cmd_of_key(UI_SECTION_ASK, key);
	if (a->cmd == UI_CMD_DENY_ONCE)
		return answer(a, UI_ASK_DENY, a->is_late ? ZW_SCOPE_SESSION : ZW_SCOPE_ONCE,
			      ui_key_name(name, key));
	if (a->cmd == UI_CMD_DENY_SESSION)
		return answer(a, UI_ASK_DENY, ZW_SCOPE_SESSION, "N");
	if (a->cmd == UI_CMD_LATER)
		return UI_ASK_LATER;
	if (a->cmd == UI_CMD_ALLOW_ONCE || a->cmd == UI_CMD_ALLOW_SESSION)
		return want_allow(a, a->cmd == UI_CMD_ALLOW_SESSION, asleep_ms);
	if (a->cmd == UI_CMD_DENY_NOTE)
		to_step(a, UI_ASK_NOTE);
	else if (a->cmd == UI_CMD_ALLOW_ALWAYS)
		return want_always(a, asleep_ms);
	else if (a->cmd == UI_CMD_NONE)
		snprintf(a->hint, sizeof(a->hint),
			 "%s does nothing here. n or Enter denies, Esc: later.",
			 ui_key_name(name, key));
	else
		return UI_ASK_COMMAND;
	return UI_ASK_NOTHING;
}

static void go_back(struct ui_ask *a, const char *why)
{
	to_step(a, UI_ASK_CHOOSE);
	hint(a, why);
}

static enum ui_ask_result confirm(struct ui_ask *a, struct ui_key key)
{
	if (key.code == UI_KEY_ENTER && key.mods == 0)
		return answer(a, UI_ASK_ALLOW, a->scope,
			      a->scope == ZW_SCOPE_ONCE ? "y+Enter" : "s+Enter");
	go_back(a, "Nothing was allowed.");
	return UI_ASK_NOTHING;
}

static void text_add(struct ui_ask *a, uint32_t cp)
{
	char c[4];

	if (cp >= UI_KEY_FIRST || !zw_vis_is_safe(cp) || cp == 0)
		return;
	size_t n = (size_t)zw_utf8_encode(c, cp);
	if (a->len + n > UI_NOTE_MAX)
		return;
	memcpy(a->text + a->len, c, n);
	a->len += n;
	a->text[a->len] = '\0';
}

static void text_back(struct ui_ask *a)
{
	while (a->len > 0 && ((uint8_t)a->text[--a->len] & 0xc0) == 0x80)
		;
	a->text[a->len] = '\0';
}

/* Editing of the word and the note. True: the key was taken. */
static bool text_key(struct ui_ask *a, struct ui_key key)
{
	if (key.code == UI_KEY_BACKSPACE)
		text_back(a);
	else if (key.code == 'u' && key.mods == UI_MOD_CTRL)
		a->text[a->len = 0] = '\0';
	else if (key.mods == 0 && key.code < UI_KEY_FIRST)
		text_add(a, key.code);
	else
		return false;
	return true;
}

static enum ui_ask_result word(struct ui_ask *a, struct ui_key key)
{
	char keys[sizeof(a->key)];

	if (key.code == UI_KEY_ESC || (key.code == UI_KEY_ENTER && a->len == 0)) {
		go_back(a, "Nothing was allowed.");
		return UI_ASK_NOTHING;
	}
	if (key.code != UI_KEY_ENTER) {
		text_key(a, key);
		return UI_ASK_NOTHING;
	}
	if (strcmp(a->text, a->word) == 0) {
		snprintf(keys, sizeof(keys), "%s+%s", a->scope == ZW_SCOPE_ONCE ? "y" : "s",
			 a->word);
		return answer(a, UI_ASK_ALLOW, a->scope, keys);
	}
	go_back(a, "");
	snprintf(a->hint, sizeof(a->hint), "Not the same as %s. Nothing was allowed.", a->word);
	return UI_ASK_NOTHING;
}

const char *ui_ask_keep_text(const struct ui_ask *a, char *out, size_t size)
{
	bool is_endless = a->until == POL_UNTIL_NO_END;

	if (a->risk == POL_RISK_CRITICAL)
		snprintf(out, size, "%s%s", a->target, is_endless ? " no end" : "");
	else
		zw_strlcpy(out, a->risk == POL_RISK_HIGH ? a->word : "", size);
	return out;
}

/* Another sentence: it has to be read before it can be saved. */
static void keep_change(struct ui_ask *a, int by)
{
	unsigned n = POL_UNTIL_MAX;

	switch (a->row) {
	case UI_KEEP_UNTIL:
		a->until = (enum pol_until)(((unsigned)a->until + n + (unsigned)by) % n);
		break;
	case UI_KEEP_WHERE:
		a->is_everywhere = !a->is_everywhere;
		break;
	case UI_KEEP_WHO:
		a->is_any_program = !a->is_any_program;
		break;
	case UI_KEEP_WHAT:
		a->is_whole_domain = !a->is_whole_domain;
		break;
	case UI_KEEP_MAX:
		break;
	}
	a->is_keep_read = false;
	ui_ask_rearm(a);
}

static void keep_move(struct ui_ask *a, int by)
{
	unsigned n = a->has_below ? UI_KEEP_MAX : UI_KEEP_WHAT;

	a->row = (enum ui_keep_row)(((unsigned)a->row + n + (unsigned)by) % n);
}

static enum ui_ask_result keep_enter(struct ui_ask *a, int64_t asleep_ms)
{
	char want[UI_NOTE_MAX + 1], keys[UI_NOTE_MAX + 8];

	ui_ask_keep_text(a, want, sizeof(want));
	if (*want != '\0' && a->len == 0) {
		go_back(a, "Nothing was saved.");
		return UI_ASK_NOTHING;
	}
	/* What was typed was meant; what it is about has to have been on screen all the same. */
	if (!is_awake(a, a->is_keep_read, *want == '\0' ? asleep_ms : asleep_ms < 0 ? -1 : 0))
		return UI_ASK_NOTHING;
	if (strcmp(a->text, want) != 0) {
		a->len = 0;
		a->text[0] = '\0';
		hint(a, "Not the same. Nothing was saved.");
		return UI_ASK_NOTHING;
	}
	snprintf(keys, sizeof(keys), "A+%s", *want != '\0' ? want : "Enter");
	return answer(a, UI_ASK_ALLOW, ZW_SCOPE_ALWAYS, keys);
}

static enum ui_ask_result keep(struct ui_ask *a, struct ui_key key, int64_t asleep_ms)
{
	char want[UI_NOTE_MAX + 1];
	bool is_typed = *ui_ask_keep_text(a, want, sizeof(want)) != '\0';

	a->cmd = key.code == UI_KEY_PGUP   ? UI_CMD_ASK_UP
		 : key.code == UI_KEY_PGDN ? UI_CMD_ASK_DOWN
					   : UI_CMD_NONE;
	if (a->cmd != UI_CMD_NONE)
		return UI_ASK_COMMAND;
	if (key.code == UI_KEY_ESC)
		go_back(a, "Nothing was saved.");
	else if (key.code == UI_KEY_ENTER && key.mods == 0)
		return keep_enter(a, asleep_ms);
	else if (key.code == UI_KEY_UP || key.code == UI_KEY_DOWN)
		keep_move(a, key.code == UI_KEY_UP ? -1 : 1);
	else if (key.code == UI_KEY_TAB || key.code == UI_KEY_RIGHT)
		keep_change(a, 1);
	else if (key.code == UI_KEY_BACKTAB || key.code == UI_KEY_LEFT)
		keep_change(a, -1);
	else if (key.code == 'T' && a->len == 0)
		return UI_ASK_TRY;
	else if (!is_typed || !text_key(a, key))
		hint(a, "Up Down: line. Left Right: change. Enter: save. Esc: back.");
	return UI_ASK_NOTHING;
}

static enum ui_ask_result note(struct ui_ask *a, struct ui_key key)
{
	if (key.code == UI_KEY_ESC)
		go_back(a, "");
	else if (key.code == UI_KEY_ENTER)
		return answer(a, UI_ASK_DENY, a->is_late ? ZW_SCOPE_SESSION : ZW_SCOPE_ONCE, "t");
	else
		text_key(a, key);
	return UI_ASK_NOTHING;
}

enum ui_ask_result ui_ask_key(struct ui_ask *a, struct ui_key key, int64_t now_ms)
{
	int64_t asleep_ms = ui_ask_asleep_ms(a, now_ms);

	a->key_ms = now_ms;
	a->hint[0] = '\0';
	/* Typed ahead: nobody has seen what it would answer. A word may begin at once, it has to be
	 * complete before it does anything. */
	if (asleep_ms < 0 && a->step != UI_ASK_WORD && a->step != UI_ASK_NOTE &&
	    a->step != UI_ASK_KEEP)
		return UI_ASK_NOTHING;
	switch (a->step) {
	case UI_ASK_CONFIRM:
		return confirm(a, key);
	case UI_ASK_WORD:
		return word(a, key);
	case UI_ASK_NOTE:
		return note(a, key);
	case UI_ASK_KEEP:
		return keep(a, key, asleep_ms);
	case UI_ASK_CHOOSE:
	default:
		return choose(a, key, asleep_ms);
	}
}

void ui_ask_paste(struct ui_ask *a, const void *bytes, size_t len, int64_t now_ms)
{
	const uint8_t *b = bytes;

	a->key_ms = now_ms;
	if (a->step != UI_ASK_NOTE) {
		hint(a, "Pasting is off here on purpose.");
		return;
	}
	for (size_t i = 0; i < len;) {
		uint32_t cp = 0;
		int n = zw_utf8_decode(b + i, len - i, &cp);

		if (n > 0)
			text_add(a, cp == '\n' || cp == '\r' || cp == '\t' ? ' ' : cp);
		i += n > 0 ? (size_t)n : 1;
	}
}
