/* SPDX-License-Identifier: MIT
 * Two small things over a list or a page: which part of a row is copied, and whether its target is
 * denied from now on. */
#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/prefix.h"
#include "src/base/words.h"
#include "ui/core.h"

struct view_pick {
	struct view view;
	uint64_t row;
	bool is_program; /* deny: this program only */
};

/* What was on screen stays. */
static void draw_below(struct view *view, const struct draw_ctx *c)
{
	if (view->below != NULL)
		view->below->ops->draw(view->below, c);
}

static struct view_pick *open(struct ui_core *core, const struct view_ops *ops, uint64_t row)
{
	struct view_pick *v = zw_xnew(struct view_pick);

	v->view.ops = ops;
	v->row = row;
	view_push(core, &v->view);
	return v;
}

/* -- copy ---------------------------------------------------------------------------------------- */

static const struct {
	uint32_t key;
	enum ui_row_part part;
	const char *what;
} parts[] = {
	{'h', UI_ROW_TARGET, "host or path"}, {'a', UI_ROW_ADDRESS, "address"},
	{'p', UI_ROW_PROCESS, "process"},     {'l', UI_ROW_LINE, "line"},
	{UI_KEY_ENTER, UI_ROW_LINE, "line"},  {'j', UI_ROW_JSON, "JSON"},
	{'r', UI_ROW_RULE, "rule"},
};

static bool copy_key(struct view *view, struct ui_key key)
{
	struct ui_core *core = view->core;
	struct ui_row r = ui_row_find(core->model, ((struct view_pick *)view)->row);

	if (key.mods != 0)
		return false;
	for (size_t i = 0; i < ZW_N_ELEMENTS(parts); i++) {
		if (parts[i].key != key.code)
			continue;
		bool is_row = r.ask != NULL || r.conn != NULL || r.sock != NULL;
		zw_autofree char *text = is_row ? ui_row_text(&r, parts[i].part) : NULL;

		view_pop(core);
		if (text == NULL)
			ui_core_say(core, "It has no %s.", parts[i].what);
		else
			core->effects.copy(core->effects.arg, text, strlen(text), false);
		return true;
	}
	return false;
}

static enum ui_cmd pick_cmd(struct view *view, enum ui_cmd cmd)
{
	(void)view;
	return cmd == UI_CMD_BACK || cmd == UI_CMD_LIST_HELP ? cmd : UI_CMD_NONE;
}

static const char *copy_hints(struct view *view)
{
	return view->core->cols >= 70
		       ? "copy: h host  a address  p process  l line  j json  r rule  Esc"
		       : "copy: h a p l j r  Esc";
}

static const struct view_ops copy_ops = {.name = "copy",
					 .section = UI_SECTION_LIST,
					 .draw = draw_below,
					 .key = copy_key,
					 .cmd = pick_cmd,
					 .hints = copy_hints};

void view_copy_open(struct ui_core *core, uint64_t row)
{
	open(core, &copy_ops, row);
}

/* -- deny from now on ---------------------------------------------------------------------------- */

/* Of a program whose path shows escapes the true one is not known here. */
static bool has_program(const struct ui_row *r)
{
	const char *exe = ui_row_proc(r)->exe;

	return exe[0] == '/' && strchr(exe, '\\') == NULL;
}

static void deny(struct view_pick *v, const struct ui_row *r, bool is_always)
{
	struct ui_core *core = v->view.core;
	char target[4200];

	if (r->conn != NULL)
		ui_site_text(target, sizeof(target), r->conn);
	else
		zw_strlcpy(target, r->sock->raw_target, sizeof(target));
	const struct ui_deny d = {.kind = r->conn != NULL ? POL_KIND_SITE : POL_KIND_SOCKET,
				  .target = target,
				  .program = v->is_program ? ui_row_proc(r)->exe : "",
				  .is_always = is_always};

	view_pop(core);
	ui_core_say(core, "%s", core->host.deny(core->host.arg, &d));
}

static bool deny_key(struct view *view, struct ui_key key)
{
	struct view_pick *v = (struct view_pick *)view;
	struct ui_row r = ui_row_find(view->core->model, v->row);

	if (r.conn == NULL && r.sock == NULL) {
		view_pop(view->core);
		return true;
	}
	if (key.mods == 0 && (key.code == UI_KEY_TAB || key.code == 'p')) {
		v->is_program = !v->is_program && has_program(&r);
		return true;
	}
	if (key.mods == 0 && (key.code == 's' || key.code == 'A' || key.code == UI_KEY_ENTER)) {
		deny(v, &r, key.code == 'A');
		return true;
	}
	return false;
}

static int wrap(const struct draw_ctx *c, int row, enum ui_style style, const char *text)
{
	struct zw_span line;

	while (row < c->rows && draw_wrap_next(&text, c->cols - 2 > 1 ? c->cols - 2 : 1, &line)) {
		zw_autofree char *one = zw_span_dup(line);

		draw_text(c, row++, 1, style, one);
	}
	return row;
}

static void deny_draw(struct view *view, const struct draw_ctx *all)
{
	struct view_pick *v = (struct view_pick *)view;
	struct ui_row r = ui_row_find(view->core->model, v->row);
	int rows = all->rows < 9 ? all->rows : 9;
	struct draw_ctx c = draw_sub(all, all->rows - rows, 0, rows, all->cols);
	char target[4200], text[4600];

	draw_below(view, all);
	view->core->is_cursor_visible = false;
	draw_clear(&c);
	draw_hline(&c, 0, 0, c.cols, DRAW_THIN, UI_STYLE_LINE);
	draw_text(&c, 0, 1, UI_STYLE_FOCUS, " Deny from now on ");
	if (r.conn == NULL && r.sock == NULL)
		return;
	ui_row_target(target, sizeof(target), &r);
	snprintf(text, sizeof(text), "%s, for %s.", target,
		 v->is_program ? ui_row_proc(&r)->exe : "whatever the agent runs");
	int row = wrap(&c, 1, UI_STYLE_STRONG, text);
	snprintf(text, sizeof(text),
		 "What is open to it is closed, and no allow counts against it. Undo: %s u",
		 zw_prefix_name());
	row = wrap(&c, row, UI_STYLE_TEXT, text);
	row += row + 3 < c.rows;
	draw_fit(&c, row, 1, c.cols - 2, UI_STYLE_KEY, "s Enter  for this session");
	draw_fit(&c, row + 1, 1, c.cols - 2, UI_STYLE_KEY, "A        always, in this project");
	draw_fit(&c, row + 2, 1, c.cols - 2, UI_STYLE_KEY,
		 v->is_program	   ? "p        for whatever the agent runs"
		 : has_program(&r) ? "p        for this program only"
				   : "");
}

static const char *deny_hints(struct view *view)
{
	(void)view;
	return "s session  A always  Esc back";
}

static const struct view_ops deny_ops = {.name = "deny",
					 .section = UI_SECTION_LIST,
					 .draw = deny_draw,
					 .key = deny_key,
					 .cmd = pick_cmd,
					 .hints = deny_hints};

void view_deny_open(struct ui_core *core, uint64_t row)
{
	open(core, &deny_ops, row);
}
