/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/prefix.h"
#include "ui/core.h"
#include "ui/edit.h"

#define LINES_MAX 160

struct help_line {
	const char *key, *text; /* borrowed; key NULL: text is a headline */
};

struct view_help {
	struct view view;
	int scroll, n, height, max;
	char after[32], twice[48];
	int split; /* first line of the second column */
	struct help_line line[LINES_MAX], found[LINES_MAX];
	struct ui_edit edit; /* what is searched for: only lines with it are there; "" = all are */
	bool is_typing;
};

static void add(struct view_help *v, const char *key, const char *text)
{
	if (v->n < LINES_MAX)
		v->line[v->n++] = (struct help_line){key, text};
}

static void add_section(struct view_help *v, const char *title, enum ui_section section)
{
	add(v, NULL, title);
	for (int i = 1; i < UI_CMD_MAX; i++) {
		enum ui_cmd cmd = (enum ui_cmd)i;

		if (ui_cmd_section(cmd) == section && *ui_cmd_help(cmd) != '\0')
			add(v, ui_cmd_keys(cmd), ui_cmd_help(cmd));
	}
	add(v, "", "");
}

static void fill_all(struct view_help *v)
{
	if (!v->view.core
		     ->has_session) { /* the history by itself: no agent to type to, nothing to answer */
		add_section(v, "IN THE HISTORY", UI_SECTION_HISTORY);
		v->split = v->n;
		add_section(v, "IN A LIST", UI_SECTION_LIST);
		add_section(v, "AT THE END OF A SESSION, besides", UI_SECTION_REVIEW);
		add_section(v, "IN A REPLAY", UI_SECTION_REPLAY);
		return;
	}
	snprintf(v->after, sizeof(v->after), "AFTER %s", zw_prefix_name());
	snprintf(v->twice, sizeof(v->twice), "send %s to the agent", zw_prefix_name());
	add_section(v, v->after, UI_SECTION_PREFIX);
	v->line[v->n - 1] = (struct help_line){zw_prefix_name(), v->twice};
	add(v, "", "");
	add_section(v, "IN A LIST", UI_SECTION_LIST);
	add_section(v, "CONNECTIONS AND SOCKETS, besides", UI_SECTION_ROWS);
	add_section(v, "PROCESSES, besides", UI_SECTION_TASKS);
	add_section(v, "IN THE HISTORY", UI_SECTION_HISTORY);
	v->split = v->n;
	add_section(v, "IN A QUESTION", UI_SECTION_ASK);
	add_section(v, "IN THE LIST OF QUESTIONS", UI_SECTION_WAIT);
	add_section(v, "WITH VERY MANY QUESTIONS", UI_SECTION_FLOOD);
	add_section(v, "SCROLLING, besides", UI_SECTION_SCROLL);
	add_section(v, "IN A REPLAY", UI_SECTION_REPLAY);
	add(v, NULL, "WORDS (colour only repeats them)");
	add(v, "allow", "green: let through");
	add(v, "auto", "both ends are inside the sandbox");
	add(v, "DENY", "red: refused");
	add(v, "ASK", "yellow: waits for you");
	add(v, "MISS", "nobody answered: denied once");
	add(v, "*", "first time here");
	add(v, "CRITICAL", "control of this computer");
	add(v, "HIGH", "acts as you");
	add(v, "low", "limited");
}

/* Lines that say it, each below its headline. */
static void keep_found(struct view_help *v)
{
	const struct help_line *title = NULL;
	int n = v->n;

	v->n = 0;
	for (int i = 0; i < n; i++) {
		struct help_line l = v->line[i];

		if (l.key == NULL)
			title = &v->line[i];
		if (l.key == NULL || (strcasestr(l.key, v->edit.text) == NULL &&
				      strcasestr(l.text, v->edit.text) == NULL))
			continue;
		if (title != NULL)
			v->found[v->n++] = *title;
		title = NULL;
		v->found[v->n++] = l;
	}
	memcpy(v->line, v->found, (size_t)v->n * sizeof(*v->line));
	v->split = v->n;
}

static void fill(struct view_help *v)
{
	v->n = v->scroll = 0;
	fill_all(v);
	if (*v->edit.text != '\0')
		keep_found(v);
}

static void draw_line(const struct draw_ctx *c, int row, const struct help_line *l)
{
	if (l->key == NULL) {
		draw_fit(c, row, 0, c->cols, UI_STYLE_TITLE, l->text);
		return;
	}
	draw_fit(c, row, 2, 10, UI_STYLE_KEY, l->key);
	draw_fit(c, row, 13, c->cols - 13, UI_STYLE_TEXT, l->text);
}

static void draw_column(const struct draw_ctx *c, const struct view_help *v, int from, int to,
			int scroll)
{
	for (int i = from + scroll, row = 0; i < to && row < c->rows; i++, row++)
		draw_line(c, row, &v->line[i]);
}

static void draw_search(const struct view_help *v, const struct draw_ctx *c)
{
	zw_autofree char *text = zw_xasprintf("/ %s%s%s", v->edit.text, v->is_typing ? "_" : "",
					      v->n == 0 ? "   nothing says this" : "");

	draw_fit(c, 1, 1, c->cols - 2, UI_STYLE_TEXT, text);
}

static void help_draw(struct view *view, const struct draw_ctx *c)
{
	struct view_help *v = (struct view_help *)view;
	struct draw_ctx in = draw_sub(c, 2, 1, c->rows - 2, c->cols - 2);
	int split = c->cols >= 96 ? v->split : v->n;
	int longest = split > v->n - split ? split : v->n - split;

	char typed[120];

	snprintf(typed, sizeof(typed),
		 "Everything you type goes to the agent, except after %s (%sF12).",
		 zw_prefix_name(), zw_prefix_is_ctrl(']') ? "Ctrl-5, " : "");
	view->core->is_cursor_visible = false;
	draw_clear(c);
	draw_hline(c, 0, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	draw_text(c, 0, 1, UI_STYLE_FOCUS, " Help ");
	draw_text(c, 0, c->cols - 16, UI_STYLE_TEXT, " zwatch " ZW_VERSION " ");
	if (v->is_typing || *v->edit.text != '\0')
		draw_search(v, c);
	else
		draw_fit(c, 1, 1, c->cols - 2, UI_STYLE_TEXT,
			 view->core->has_session
				 ? typed
				 : "The history is read here; what changes it asks before, "
				   "or says what it did.");
	v->height = in.rows;
	v->max = longest > in.rows ? longest - in.rows : 0;
	v->scroll = v->scroll > v->max ? v->max : v->scroll;
	struct draw_ctx left = draw_sub(&in, 0, 0, in.rows, split < v->n ? in.cols / 2 : in.cols);
	draw_column(&left, v, 0, split, v->scroll);
	if (split < v->n) {
		struct draw_ctx right =
			draw_sub(&in, 0, in.cols / 2 + 1, in.rows, in.cols - in.cols / 2 - 1);

		draw_column(&right, v, split, v->n, v->scroll);
	}
}

static bool help_key(struct view *view, struct ui_key key)
{
	struct view_help *v = (struct view_help *)view;

	if (!v->is_typing && !(key.code == UI_KEY_ESC && *v->edit.text != '\0'))
		return false;
	if (key.code == UI_KEY_ENTER) {
		v->is_typing = false;
	} else if (key.code == UI_KEY_ESC) {
		ui_edit_set(&v->edit, "");
		v->is_typing = false;
		fill(v);
	} else if (ui_edit_key(&v->edit, key)) {
		fill(v);
	}
	view->core->is_dirty = true;
	return true;
}

static void help_close(struct view *view)
{
	ui_edit_fini(&((struct view_help *)view)->edit);
	free(view);
}

static enum ui_cmd help_cmd(struct view *view, enum ui_cmd cmd)
{
	struct view_help *v = (struct view_help *)view;
	if (cmd == UI_CMD_FILTER) {
		v->is_typing = true;
		return UI_CMD_NONE;
	}
	int page = v->height > 2 ? v->height - 2 : 1;
	int by = cmd == UI_CMD_DOWN	   ? 1
		 : cmd == UI_CMD_UP	   ? -1
		 : cmd == UI_CMD_PAGE_DOWN ? page
		 : cmd == UI_CMD_PAGE_UP   ? -page
		 : cmd == UI_CMD_HALF_DOWN ? page / 2
		 : cmd == UI_CMD_HALF_UP   ? -page / 2
		 : cmd == UI_CMD_LAST	   ? LINES_MAX
		 : cmd == UI_CMD_FIRST	   ? -LINES_MAX
					   : 0;

	v->scroll = v->scroll + by > 0 ? v->scroll + by : 0;
	return cmd == UI_CMD_LIST_HELP || cmd == UI_CMD_OPEN ? UI_CMD_BACK : cmd;
}

static const char *help_hints(struct view *view)
{
	const struct view_help *v = (const struct view_help *)view;

	if (v->is_typing)
		return "Enter keeps it   Esc all";
	if (*v->edit.text != '\0')
		return "/ search   Esc all";
	return v->scroll < v->max ? "/ search   Space more   Esc back" : "/ search   Esc back";
}

static const struct view_ops help_ops = {.name = "help",
					 .section = UI_SECTION_LIST,
					 .close = help_close,
					 .draw = help_draw,
					 .key = help_key,
					 .cmd = help_cmd,
					 .hints = help_hints};

void view_help_open(struct ui_core *core)
{
	if (view_is(core, &help_ops))
		return;
	struct view_help *v = zw_xnew(struct view_help);
	v->view.ops = &help_ops;
	ui_edit_set(&v->edit, "");
	view_push(core, &v->view);
	fill(v);
}
