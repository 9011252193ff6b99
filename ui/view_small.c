/* SPDX-License-Identifier: MIT
 * Two small sheets above the status line: a word to type, and the choice of the mode. */
#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/words.h"
#include "ui/core.h"

#define WORD_MAX 32

static struct draw_ctx sheet(const struct draw_ctx *c, int rows, const char *title)
{
	struct draw_ctx s = draw_sub(c, c->rows - rows > 0 ? c->rows - rows : 0, 0, rows, c->cols);

	draw_clear(&s);
	draw_hline(&s, 0, 0, s.cols, DRAW_THIN, UI_STYLE_LINE);
	draw_fit(&s, 0, 1, s.cols - 2, UI_STYLE_FOCUS, title);
	return s;
}

/* -- a word ------------------------------------------------------------------------------------ */

struct view_word {
	struct view view;
	const char *title, *text, *word; /* borrowed */
	void (*fn)(struct ui_core *core);
	char typed[WORD_MAX + 1];
	size_t len;
};

static void word_draw(struct view *view, const struct draw_ctx *c)
{
	struct view_word *v = (struct view_word *)view;
	char title[96], prompt[96];
	const char *text = v->text;
	struct zw_span line;
	int row = 1;

	snprintf(title, sizeof(title), " %s ", v->title);
	struct draw_ctx s = sheet(c, 3 + draw_wrap_rows(v->text, c->cols - 2), title);
	while (draw_wrap_next(&text, s.cols - 2, &line)) {
		zw_autofree char *one = zw_span_dup(line);

		draw_text(&s, row++, 1, UI_STYLE_TEXT, one);
	}
	snprintf(prompt, sizeof(prompt),
		 s.cols >= 76 ? "Type %s and Enter. Enter alone goes back: " : "Type %s + Enter: ",
		 v->word);
	int col = draw_text(&s, row, 1, UI_STYLE_STRONG, prompt);
	col = draw_text(&s, row, col, UI_STYLE_TEXT, v->typed);
	ui_core_cursor(view->core, &s, row, col);
}

static bool word_key(struct view *view, struct ui_key key)
{
	struct view_word *v = (struct view_word *)view;
	struct ui_core *core = view->core;
	void (*fn)(struct ui_core *) = v->fn;

	if (key.code == UI_KEY_ENTER && strcmp(v->typed, v->word) == 0) {
		view_pop(core);
		fn(core);
	} else if (key.code == UI_KEY_ENTER || key.code == UI_KEY_ESC) {
		ui_core_say(core, v->len == 0 || key.code == UI_KEY_ESC
					  ? "Nothing was done."
					  : "Not the same. Nothing was done.");
		view_pop(core);
	} else if (key.code == UI_KEY_BACKSPACE && v->len > 0) {
		v->typed[--v->len] = '\0';
	} else if (key.mods == 0 && key.code > ' ' && key.code < 0x7f && v->len < WORD_MAX) {
		v->typed[v->len++] = (char)key.code;
		v->typed[v->len] = '\0';
	}
	return true;
}

static enum ui_cmd no_cmd(struct view *view, enum ui_cmd cmd)
{
	(void)view;
	return cmd;
}

static const char *back_hint(struct view *view)
{
	(void)view;
	return "Esc back";
}

static const struct view_ops word_ops = {.name = "word",
					 .section = UI_SECTION_LIST,
					 .draw = word_draw,
					 .key = word_key,
					 .cmd = no_cmd,
					 .hints = back_hint};

void view_word_open(struct ui_core *core, const char *title, const char *text, const char *word,
		    void (*fn)(struct ui_core *core))
{
	if (view_is(core, &word_ops))
		return;
	struct view_word *v = zw_xnew(struct view_word);
	v->view.ops = &word_ops;
	v->title = title;
	v->text = text;
	v->word = word;
	v->fn = fn;
	view_push(core, &v->view);
}

/* -- the mode ---------------------------------------------------------------------------------- */

static const char *const mode_texts[] = {
	[POL_MODE_WATCH] = "Watch   sites: allowed and listed     sockets: the risky ones ask",
	[POL_MODE_GUARD] = "Guard   sites: each new one asks      sockets: those outside ask",
	[POL_MODE_STRICT] = "Strict  sites: only those you listed  sockets: refused",
};

static const char *const mode_briefs[] = {
	[POL_MODE_WATCH] = "Watch   list, ask what is risky",
	[POL_MODE_GUARD] = "Guard   ask for what is new",
	[POL_MODE_STRICT] = "Strict  refuse what is not listed",
};

static void mode_draw(struct view *view, const struct draw_ctx *c)
{
	struct draw_ctx s = sheet(c, 6, " Mode ");
	const char *const *texts = s.cols >= 72 ? mode_texts : mode_briefs;

	view->core->is_cursor_visible = false;
	for (int i = 0; i < POL_MODE_MAX; i++) {
		bool is_now = view->core->model->mode == (enum pol_mode)i;

		draw_text(&s, 1 + i, 1, UI_STYLE_KEY, is_now ? ">" : " ");
		draw_textf(&s, 1 + i, 3, UI_STYLE_KEY, "%d", i + 1);
		draw_fit(&s, 1 + i, 6, s.cols - 7, is_now ? UI_STYLE_STRONG : UI_STYLE_TEXT,
			 texts[i]);
	}
	draw_fit(&s, 5, 1, s.cols - 2, UI_STYLE_QUIET,
		 s.cols >= 72 ? "Rules and your answers stay in force in every mode.  1 2 3 choose"
			      : "1 2 3 choose");
}

static bool mode_key(struct view *view, struct ui_key key)
{
	struct ui_core *core = view->core;

	if (key.mods != 0 || key.code < '1' || key.code > '3')
		return false;
	enum pol_mode mode = (enum pol_mode)(key.code - '1');
	const char *why = core->host.mode(core->host.arg, mode);
	if (why != NULL)
		ui_core_say(core, "%s", why);
	else
		ui_core_say(core, "Mode %s.", zw_mode_word(mode));
	view_pop(core);
	return true;
}

static const struct view_ops mode_ops = {.name = "mode",
					 .section = UI_SECTION_LIST,
					 .draw = mode_draw,
					 .key = mode_key,
					 .cmd = no_cmd,
					 .hints = back_hint};

void view_mode_open(struct ui_core *core)
{
	if (view_is(core, &mode_ops))
		return;
	struct view *v = zw_xnew(struct view);
	v->ops = &mode_ops;
	view_push(core, v);
}
