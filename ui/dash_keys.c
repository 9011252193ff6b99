/* SPDX-License-Identifier: MIT
 * The keys of the two lists: moving, filter, sort, and what is done to a row. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "src/base/mem.h"
#include "src/base/words.h"
#include "ui/core.h"

/* -- the filter ---------------------------------------------------------------------------------- */

static int64_t wall_us(const struct ui_core *core)
{
	return core->config.wall0_us + core->now_ms * 1000;
}

/* Puts a text that is a filter into force; says where it is none. */
static bool filter_set(struct ui_core *core, const char *text)
{
	struct ui_pick *pick = &core->picks[core->focus];
	struct aud_filter_error error;
	struct aud_filter *f = NULL;

	if (aud_filter_parse(text, wall_us(core), &f, &error) < 0) {
		zw_strlcpy(core->said, error.text, sizeof(core->said));
		return false;
	}
	if (aud_filter_is_empty(f)) {
		aud_filter_free(f);
		f = NULL;
	}
	aud_filter_free(pick->filter);
	pick->filter = f;
	zw_strlcpy(pick->text, f != NULL ? text : "", sizeof(pick->text));
	core->said[0] = '\0';
	core->is_stale = true;
	dash_update(core);
	return true;
}

static void filter_begin(struct ui_core *core)
{
	ui_edit_set(&core->edit, core->picks[core->focus].text);
	core->is_filtering = true;
	core->said[0] = '\0';
}

/* The same while it is typed: a last word that may become the name of a field does not count yet, so
 * that the list is not empty for the time of typing it. */
static void filter_try(struct ui_core *core)
{
	const char *const *fields = aud_filter_fields();
	char text[UI_EDIT_MAX + 1];

	zw_strlcpy(text, core->edit.text, sizeof(text));
	char *last = strrchr(text, ' ');
	last = last != NULL ? last + 1 : text;
	const char *word = last + (*last == '-');
	for (; *fields != NULL; fields++) {
		if (strncasecmp(*fields, word, strlen(word)) == 0) {
			*last = '\0';
			break;
		}
	}
	filter_set(core, text);
}

/* What is typed counts as soon as it is a filter; Enter keeps it, Esc shows all again. */
static void filter_key(struct ui_core *core, struct ui_key key)
{
	if (key.code == UI_KEY_ENTER) {
		if (!filter_set(core, core->edit.text))
			return;
		ui_edit_keep(&core->edit);
		core->is_filtering = false;
	} else if (key.code == UI_KEY_ESC) {
		filter_set(core, "");
		core->is_filtering = false;
	} else if (ui_edit_key(&core->edit, key)) {
		filter_try(core);
	}
}

/* Adds a term that the row fits, or, with @is_out, does not. */
static void filter_by(struct ui_core *core, const struct ui_row *r, bool is_program, bool is_out)
{
	struct ui_pick *pick = &core->picks[core->focus];
	zw_autofree char *term = ui_row_term(r, is_program);
	zw_autofree char *text = zw_xasprintf(
		"%s%s%s%s", pick->text, *pick->text != '\0' ? " " : "", is_out ? "-" : "", term);

	if (!filter_set(core, text))
		ui_core_say(core, "Not added to the filter: %s.", core->said);
	core->said[0] = '\0';
}

void dash_paste(struct ui_core *core, const void *bytes, size_t len)
{
	if (!core->is_filtering)
		return;
	ui_edit_paste(&core->edit, bytes, len);
	filter_try(core);
}

void dash_focus(struct ui_core *core, enum ui_focus focus)
{
	core->is_filtering = false;
	core->focus = focus;
	core->is_dirty = true;
}

/* -- what is done to a row ----------------------------------------------------------------------- */

static void close_row(struct ui_core *core, const struct ui_row *r)
{
	const struct mdl_proc *p = ui_row_proc(r);
	char target[600];

	ui_row_target(target, sizeof(target), r);
	if (r->ask != NULL || (r->conn != NULL && !ui_conn_is_live(r->conn)) ||
	    (r->sock != NULL && r->sock->did != ZW_DID_ALLOW)) {
		ui_core_say(core, "Nothing is open there.");
	} else if (r->conn != NULL) {
		bool is_done = core->host.close_conn(core->host.arg, r->conn);

		ui_core_say(core,
			    is_done ? "Closed: %s(%u) to %s." : "Cannot be closed: %s(%u) to %s.",
			    mdl_proc_name(p), p->pid, target);
	} else {
		/* What is direct cannot be ended: zwatch has no part in it. */
		core->host.close_sock(core->host.arg, r->sock);
		ui_core_say(core, "Ended: what %s(%u) had open to %s through zwatch.",
			    mdl_proc_name(p), p->pid, target);
	}
}

static void deny_row(struct ui_core *core, const struct ui_row *r, uint64_t key)
{
	if (r->ask != NULL)
		ui_core_say(core, "It waits for an answer: Enter opens it.");
	else if (r->sock != NULL && r->sock->did == ZW_DID_AUTO)
		ui_core_say(core, "Both ends are inside the sandbox: no rule is about that.");
	else
		view_deny_open(core, key);
}

bool dash_row_cmd(struct ui_core *core, enum ui_cmd cmd, uint64_t key)
{
	struct ui_row r = ui_row_find(core->model, key);
	bool is_row = r.ask != NULL || r.conn != NULL || r.sock != NULL;

	if (cmd != UI_CMD_ROW_COPY && cmd != UI_CMD_ROW_CLOSE && cmd != UI_CMD_ROW_DENY &&
	    cmd != UI_CMD_ROW_PROGRAM && cmd != UI_CMD_FILTER_ROW && cmd != UI_CMD_FILTER_OUT)
		return false;
	if (!is_row)
		ui_core_say(core, "There is no row.");
	else if (cmd == UI_CMD_ROW_COPY)
		view_copy_open(core, key);
	else if (cmd == UI_CMD_ROW_CLOSE)
		close_row(core, &r);
	else if (cmd == UI_CMD_ROW_DENY)
		deny_row(core, &r, key);
	else if (r.ask == NULL)
		filter_by(core, &r, cmd == UI_CMD_ROW_PROGRAM, cmd == UI_CMD_FILTER_OUT);
	return true;
}

void dash_show_process(struct ui_core *core, uint32_t pid)
{
	char text[32];

	dash_focus(core, UI_FOCUS_CONNS);
	snprintf(text, sizeof(text), "pid:%u", pid);
	(void)filter_set(core, text);
}

/* -- keys ---------------------------------------------------------------------------------------- */

static void open_row(struct ui_core *core)
{
	struct ui_row r = dash_selected(core);

	if (r.ask != NULL)
		view_ask_open(core, r.ask->id);
	else if (r.conn != NULL || r.sock != NULL)
		view_row_open(core, core->lists[core->focus].key);
}

static void sort_next(struct ui_core *core)
{
	struct ui_pick *pick = &core->picks[core->focus];

	pick->sort = (pick->sort + 1) % UI_SORT_MAX;
	core->is_stale = true;
	ui_core_say(core, "Sorted by %s.", ui_sort_word(pick->sort));
}

/* Back: first what narrows the list, then the list. */
static void list_back(struct ui_core *core)
{
	if (core->picks[core->focus].filter != NULL)
		filter_set(core, "");
	else
		dash_focus(core, UI_FOCUS_AGENT);
}

void dash_key(struct ui_core *core, struct ui_key key)
{
	enum ui_cmd cmd = ui_cmd_of_key(UI_SECTION_ROWS, key);

	if (core->is_filtering) {
		filter_key(core, key);
		return;
	}
	if (cmd == UI_CMD_NONE)
		cmd = ui_cmd_of_key(UI_SECTION_LIST, key);
	dash_update(core); /* rows may have come since the last frame */
	if (ui_list_move(&core->lists[core->focus], cmd, ui_row_key, &core->list_rows[core->focus]))
		return;
	if (dash_row_cmd(core, cmd, core->lists[core->focus].key))
		return;
	if (cmd == UI_CMD_BACK)
		list_back(core);
	else if (cmd == UI_CMD_LIST_HELP)
		view_help_open(core);
	else if (cmd == UI_CMD_FILTER)
		filter_begin(core);
	else if (cmd == UI_CMD_ROW_SORT)
		sort_next(core);
	else if (cmd == UI_CMD_OPEN)
		open_row(core);
}

void dash_click(struct ui_core *core, enum ui_focus which, int row)
{
	struct ui_list *list = &core->lists[which];
	bool has_heads = core->rects.has_heads || core->rects.shape == UI_SHAPE_AGENT;
	size_t at = list->top + (size_t)(row > has_heads ? row - has_heads : 0);

	if (core->focus != which) {
		dash_focus(core, which);
		return;
	}
	if (row < has_heads || at >= core->list_rows[which].n)
		return;
	if (at == list->sel) {
		open_row(core);
		return;
	}
	list->sel = at;
	list->key = ui_row_key(at, &core->list_rows[which]);
}
