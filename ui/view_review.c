/* SPDX-License-Identifier: MIT
 * The page at the end of a session. What was typed for the agent when it ended must not decide anything:
 * no key counts for a moment, and what is kept is said once more and taken with y. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "ui/core.h"
#include "ui/review.h"

#define ASLEEP_MS   500
#define DETAIL_ROWS 7

struct view_review {
	struct view view;
	struct ui_review *r; /* borrowed */
	struct ui_list list;
	bool is_saving;	  /* the second step */
	int64_t awake_ms; /* when keys count; 0 = the picture is not on the terminal yet */
	bool is_drawn;	  /* the picture that the keys are for is on its way to the terminal */
	bool is_end_drawn,
		is_seen; /* the last line of the second step was drawn, is on the terminal */
	int scroll;	 /* of the second step */
	char said[400];
};

static uint64_t key_of(size_t row, void *arg)
{
	(void)arg;
	return row + 1;
}

static struct ui_review_row *selected(const struct view_review *v)
{
	return v->list.sel < v->r->n ? &v->r->rows[v->list.sel] : NULL;
}

/* -- drawing ------------------------------------------------------------------------------------- */

struct columns {
	int what, often, said, next; /* 0 = not shown */
};

static struct columns columns_of(int cols)
{
	struct columns c = {.what = 10, .next = cols >= 60 ? cols - 23 : cols - 9};

	if (cols >= 76)
		c.said = c.next - 19;
	if (cols >= 60)
		c.often = (c.said > 0 ? c.said : c.next) - 6;
	return c;
}

/* "[ask]  always  never", or the choice alone. */
static void draw_next(const struct draw_ctx *c, int row, int col, const struct ui_review_row *r)
{
	for (int i = UI_NEXT_AS_IS; i < UI_NEXT_MAX; i++) {
		enum ui_next next = (enum ui_next)i;
		bool is_it = next == r->next;
		char text[16];

		if (!ui_next_is_there(r, next) || (c->cols < 60 && !is_it))
			continue;
		snprintf(text, sizeof(text), "%s%s%s", is_it ? "[" : " ", ui_next_word(r, next),
			 is_it ? "]" : " ");
		col = draw_text(c, row, col,
				!is_it			 ? UI_STYLE_TEXT
				: next == UI_NEXT_AS_IS	 ? UI_STYLE_STRONG
				: next == UI_NEXT_ALWAYS ? UI_STYLE_ALLOW
							 : UI_STYLE_DENY,
				text);
	}
}

static void draw_row(struct view_review *v, const struct draw_ctx *c, int row, size_t i)
{
	const struct ui_review_row *r = &v->r->rows[i];
	struct columns col = columns_of(c->cols);
	int right = col.often > 0 ? col.often : col.said > 0 ? col.said : col.next;
	char text[32];

	draw_fit(c, row, 2, 4, UI_STYLE_TEXT, r->kind);
	if (r->is_new)
		draw_text(c, row, 8, UI_STYLE_NEW, "*");
	draw_fit_end(c, row, col.what, right - col.what - 1, UI_STYLE_TEXT, r->what);
	snprintf(text, sizeof(text), "x%u", r->n_times);
	if (col.often > 0)
		draw_right(c, row, col.often, 5, UI_STYLE_TEXT, text);
	if (col.said > 0)
		draw_fit(c, row, col.said, col.next - col.said - 1, UI_STYLE_TEXT, r->said);
	if (i == v->list.sel) {
		draw_restyle(c, row, 0, c->cols, UI_STYLE_SELECT);
		draw_text(c, row, 0, UI_STYLE_SELECT, ">");
		ui_core_cursor(v->view.core, c, row, 0);
	}
	draw_next(c, row, col.next, r);
}

static void draw_heads(const struct draw_ctx *c, int row)
{
	struct columns col = columns_of(c->cols);

	draw_text(c, row, col.what, UI_STYLE_HEAD, "WHAT");
	if (col.often > 0)
		draw_right(c, row, col.often, 5, UI_STYLE_HEAD, "TIMES");
	if (col.said > 0)
		draw_text(c, row, col.said, UI_STYLE_HEAD, "YOU SAID");
	draw_text(c, row, col.next + 1, UI_STYLE_HEAD, c->cols >= 60 ? "NEXT TIME" : "NEXT");
}

static int wrap(const struct draw_ctx *c, int row, enum ui_style style, const char *text)
{
	struct zw_span line;

	while (draw_wrap_next(&text, c->cols - 2 > 1 ? c->cols - 2 : 1, &line)) {
		zw_autofree char *one = zw_span_dup(line);

		if (row >= 0)
			draw_text(c, row, 1, style, one);
		row++;
	}
	return row;
}

static void draw_detail(struct view_review *v, const struct draw_ctx *c)
{
	const struct ui_review_row *r = selected(v);
	const char *sentence = r != NULL ? ui_review_sentence(r) : NULL;
	char text[600];

	draw_hline(c, 0, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	if (r == NULL)
		return;
	snprintf(text, sizeof(text), " %.40s, %u %s: %.60s%s ", r->program, r->n_times,
		 r->n_times == 1 ? "time" : "times", r->said,
		 r->is_new ? ", NEW in this project" : "");
	draw_fit(c, 0, 1, c->cols - 2, UI_STYLE_TITLE, text);
	int row = wrap(c, 1, UI_STYLE_STRONG,
		       sentence != NULL ? sentence
		       : r->can_always	? "As it is, zwatch asks again in the next session."
		       : !r->can_never	? "It stays as it is."
		       : r->is_asked
			       ? "As it is, zwatch asks again. An allow is given when it is used."
			       : "As it is, nothing changes.");
	row = wrap(c, row, UI_STYLE_TEXT, v->said);
	if (row + 1 < c->rows)
		draw_fit(c, c->rows - 1, 1, c->cols - 2, UI_STYLE_QUIET,
			 c->cols >= 76 ? "Turn this page off:  \"ui\": { \"review\": false }  in "
					 "config.json"
				       : "Off: \"ui\": { \"review\": false }");
}

/* Once more, in full, what is going to be kept. */
static void draw_saving(struct view_review *v, const struct draw_ctx *c)
{
	int row = 1 - v->scroll;

	for (size_t i = 0; i < v->r->n; i++) {
		const char *sentence = ui_review_sentence(&v->r->rows[i]);

		if (sentence != NULL)
			row = wrap(c, row, UI_STYLE_STRONG, sentence) + 1;
	}
	row = wrap(c, row, UI_STYLE_TEXT,
		   "Saved in rules.json. Taken back by zwatch rules rm and the number.");
	row = wrap(c, row, UI_STYLE_WARN, v->said);
	int n = row + v->scroll - c->rows;
	v->is_end_drawn = v->is_end_drawn || v->scroll >= n;
	v->scroll = v->scroll < n ? v->scroll : n > 0 ? n : 0;
}

static void review_draw(struct view *view, const struct draw_ctx *c)
{
	struct view_review *v = (struct view_review *)view;
	int detail = c->rows >= 20 ? DETAIL_ROWS : c->rows >= 9 ? 4 : 0;
	int top = c->rows >= 16 ? 3 : 1, height = c->rows - top - 1 - detail;
	char title[200];

	v->is_drawn = true;
	view->core->is_cursor_visible = false;
	ui_list_update(&v->list, v->r->n, height > 0 ? (size_t)height : 1, key_of, v);
	draw_clear(c);
	draw_hline(c, 0, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	snprintf(title, sizeof(title), " %.150s ", v->r->title);
	draw_fit(c, 0, 1, c->cols - 2, UI_STYLE_FOCUS, title);
	struct draw_ctx below = draw_sub(c, 1, 0, c->rows - 1, c->cols);
	if (v->is_saving) {
		draw_saving(v, &below);
		return;
	}
	if (top == 3)
		draw_fit(c, 2, 1, c->cols - 2, UI_STYLE_TEXT,
			 "Now is a good time to decide. Nothing here is saved unless you choose "
			 "it.");
	draw_heads(c, top);
	struct draw_ctx in = draw_sub(c, top + 1, 0, height, c->cols);
	for (size_t i = v->list.top; i < v->r->n && (int)(i - v->list.top) < height; i++)
		draw_row(v, &in, (int)(i - v->list.top), i);
	if (detail > 0) {
		struct draw_ctx d = draw_sub(c, c->rows - detail, 0, detail, c->cols);

		draw_detail(v, &d);
	}
}

/* -- keys ---------------------------------------------------------------------------------------- */

static bool is_asleep(struct view_review *v)
{
	return v->awake_ms == 0 || v->view.core->now_ms < v->awake_ms;
}

static void choose(struct ui_review_row *r, int step)
{
	int next = (int)r->next;

	do
		next += step;
	while (next >= 0 && next < UI_NEXT_MAX && !ui_next_is_there(r, (enum ui_next)next));
	if (next >= 0 && next < UI_NEXT_MAX)
		r->next = (enum ui_next)next;
}

/* The choice of this row for all of the same program that have it. */
static void choose_same(struct view_review *v, const struct ui_review_row *from)
{
	for (size_t i = 0; i < v->r->n; i++) {
		struct ui_review_row *r = &v->r->rows[i];

		if (strcmp(r->identity, from->identity) == 0 &&
		    strcmp(r->program, from->program) == 0 && ui_next_is_there(r, from->next))
			r->next = from->next;
	}
	snprintf(v->said, sizeof(v->said), "All of %.40s: %s.", from->program,
		 ui_next_word(from, from->next));
}

static void try_row(struct view_review *v)
{
	const struct ui_review_row *r = selected(v);
	const char *text = r != NULL && r->next != UI_NEXT_AS_IS
				   ? v->r->try_row(v->r->arg, v->list.sel)
				   : "Choose always or never first: then it can be tried.";

	zw_strlcpy(v->said, text != NULL ? text : "No past session is kept to try it on.",
		   sizeof(v->said));
}

static void save(struct view_review *v)
{
	const char *why = v->r->save(v->r->arg);

	if (why == NULL)
		view_pop(v->view.core);
	else
		zw_strlcpy(v->said, why, sizeof(v->said));
}

static bool saving_key(struct view_review *v, struct ui_key key)
{
	if (key.mods == 0 && key.code == 'y') {
		if (v->is_seen)
			save(v);
		else
			v->scroll++;
	} else if (key.code == UI_KEY_DOWN || key.code == UI_KEY_PGDN || key.code == ' ') {
		v->scroll++;
	} else if (key.code == UI_KEY_UP || key.code == UI_KEY_PGUP) {
		v->scroll -= v->scroll > 0;
	} else {
		v->is_saving = false;
		v->said[0] = '\0';
	}
	return true;
}

static bool review_key(struct view *view, struct ui_key key)
{
	struct view_review *v = (struct view_review *)view;

	if (is_asleep(v)) {
		/* Who is still typing for the agent does not decide here. */
		if (v->awake_ms != 0)
			v->awake_ms = view->core->now_ms + ASLEEP_MS;
		return true;
	}
	return v->is_saving && saving_key(v, key);
}

static enum ui_cmd review_cmd(struct view *view, enum ui_cmd cmd)
{
	struct view_review *v = (struct view_review *)view;
	struct ui_review_row *r = selected(v);

	if (cmd == UI_CMD_BACK || cmd == UI_CMD_LIST_HELP)
		return cmd;
	v->said[0] = '\0';
	if (ui_list_move(&v->list, cmd, key_of, v) || r == NULL)
		return UI_CMD_NONE;
	if (cmd == UI_CMD_REVIEW_NEXT || cmd == UI_CMD_REVIEW_PREVIOUS)
		choose(r, cmd == UI_CMD_REVIEW_NEXT ? 1 : -1);
	else if (cmd == UI_CMD_REVIEW_SAME)
		choose_same(v, r);
	else if (cmd == UI_CMD_REVIEW_TRY)
		try_row(v);
	else if (cmd == UI_CMD_OPEN && ui_review_count(v->r) == 0)
		return UI_CMD_BACK;
	else if (cmd == UI_CMD_OPEN) {
		v->is_saving = true;
		v->scroll = 0;
		v->awake_ms = 0;
		v->is_drawn = v->is_end_drawn = v->is_seen = false;
	}
	return UI_CMD_NONE;
}

static void review_written(struct view *view)
{
	struct view_review *v = (struct view_review *)view;

	if (v->awake_ms == 0 && v->is_drawn)
		v->awake_ms = view->core->now_ms + ASLEEP_MS;
	v->is_seen = v->is_end_drawn;
}

static const char *review_hints(struct view *view)
{
	struct view_review *v = (struct view_review *)view;
	int cols = view->core->cols;

	if (v->is_saving)
		return v->is_end_drawn ? "y save   Esc back" : "Down read on   Esc back";
	if (ui_review_count(v->r) == 0)
		return cols >= 70
			       ? "Left Right choose  m all of its program  q leave all as they are"
		       : cols >= 40 ? "Left Right choose  q leave all"
				    : "q leave";
	return cols >= 70   ? "Left Right choose  m same  T try  Enter save  q save nothing"
	       : cols >= 40 ? "T try  Enter save  q save nothing"
			    : "Enter save  q";
}

static const struct view_ops review_ops = {.name = "review",
					   .section = UI_SECTION_REVIEW,
					   .draw = review_draw,
					   .key = review_key,
					   .cmd = review_cmd,
					   .written = review_written,
					   .hints = review_hints};

void view_review_open(struct ui_core *core, struct ui_review *review)
{
	struct view_review *v = zw_xnew(struct view_review);

	v->view.ops = &review_ops;
	v->r = review;
	view_push(core, &v->view);
}
