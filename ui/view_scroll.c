/* SPDX-License-Identifier: MIT
 * Looking back: the agent's pane as a text with a cursor, a search, a selection. The text is
 * zwatch-pane's; this knows numbers of lines and columns, and asks. All keys stay here until Esc,
 * so that nothing typed by mistake reaches the agent. */
#include <stdio.h>
#include <string.h>

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"
#include "ui/core.h"
#include "ui/fmt.h"

#define NEEDLE_MAX_B 256
#define COPY_MAX_B   (1u << 20)
#define LINK_MAX_B   2083
#define WHEEL_ROWS   3

enum selecting { SELECT_NONE, SELECT_CHARS, SELECT_LINES };

struct view_scroll {
	struct view view;
	uint64_t top; /* wanted; the frame follows */
	struct ui_place cursor, anchor;
	enum selecting selecting;

	bool is_typing; /* the needle */
	char needle[NEEDLE_MAX_B + 1];
	size_t needle_len;
	bool is_up, is_second; /* of the running search; it began again at the other end */
	bool has_found;
	struct ui_place found, found_end;

	bool is_copying;
	struct zw_buf text;
	char link[LINK_MAX_B + 1];
	char hint[160];
};

static struct view_scroll *find_view(struct ui_core *core)
{
	for (struct view *v = core->top; v != NULL; v = v->below)
		if (v->ops == &view_scroll_ops)
			return (struct view_scroll *)v;
	return NULL;
}

static uint64_t clamp(uint64_t n, uint64_t low, uint64_t high)
{
	return n < low ? low : n > high ? high : n;
}

static uint64_t moved(uint64_t n, int by)
{
	if (by < 0 && n < (uint64_t)-by)
		return 0;
	return n + (uint64_t)(int64_t)by;
}

static bool is_before(const struct ui_place *a, const struct ui_place *b)
{
	return a->line != b->line ? a->line < b->line : a->col < b->col;
}

/* -- moving --------------------------------------------------------------------------------------- */

static unsigned view_rows(const struct view_scroll *v)
{
	int rows = v->view.core->frame.rows;

	return rows > 0 ? (unsigned)rows : 1;
}

static void ask(struct view_scroll *v, struct ui_look look)
{
	struct ui_core *core = v->view.core;

	core->host.look(core->host.arg, &look);
}

static void ask_link(struct view_scroll *v)
{
	v->link[0] = '\0';
	ask(v, (struct ui_look){.kind = UI_LOOK_LINK, .from = v->cursor});
}

static void show_from(struct view_scroll *v, uint64_t top)
{
	const struct ui_frame *f = &v->view.core->frame;

	top = clamp(top, f->first_line, f->screen_line);
	if (top == v->top)
		return;
	v->top = top;
	ask(v, (struct ui_look){.kind = UI_LOOK_SCROLL, .from = {.line = top}});
}

/* The cursor to a place, and the view after it. */
static void go_to(struct view_scroll *v, struct ui_place p)
{
	const struct ui_frame *f = &v->view.core->frame;
	unsigned rows = view_rows(v);

	p.line = clamp(p.line, f->first_line, f->screen_line + rows - 1);
	p.col = p.col >= f->cols ? f->cols - 1 : p.col;
	p.col = p.col < 0 ? 0 : p.col;
	v->cursor = p;
	if (p.line < v->top)
		show_from(v, p.line);
	else if (p.line >= v->top + rows)
		show_from(v, p.line - (rows - 1));
	ask_link(v);
}

static void go_by(struct view_scroll *v, int lines, int cols)
{
	go_to(v, (struct ui_place){moved(v->cursor.line, lines), v->cursor.col + cols});
}

/* The view by some lines, the cursor with it. */
static void scroll_by(struct view_scroll *v, int lines)
{
	show_from(v, moved(v->top, lines));
	go_by(v, lines, 0);
}

static void scroll_view(struct view_scroll *v, int lines)
{
	struct ui_place p = v->cursor;

	show_from(v, moved(v->top, lines));
	p.line = clamp(p.line, v->top, v->top + view_rows(v) - 1);
	go_to(v, p);
}

/* -- search --------------------------------------------------------------------------------------- */

static void find_next(struct view_scroll *v, bool is_up, struct ui_place from)
{
	if (v->needle_len == 0)
		return;
	v->is_up = is_up;
	ask(v, (struct ui_look){
		       .kind = UI_LOOK_FIND, .from = from, .is_up = is_up, .needle = v->needle});
}

void view_scroll_found(struct ui_core *core, bool is_found, struct ui_place from,
		       struct ui_place to)
{
	struct view_scroll *v = find_view(core);
	char shown[NEEDLE_MAX_B + 1];

	if (v == NULL)
		return;
	v->has_found = is_found;
	core->is_dirty = true;
	if (is_found) {
		v->found = from;
		v->found_end = to;
		if (v->is_second)
			ui_core_say(core, "Searched on from the other end.");
		go_to(v, from);
	} else if (!v->is_second) {
		v->is_second = true;
		find_next(v, v->is_up, (struct ui_place){UI_LINE_LIVE, 0});
	} else {
		zw_vis(shown, sizeof(shown), v->needle, v->needle_len);
		ui_core_say(core, "Not found: %s", shown);
	}
}

static void needle_add(struct view_scroll *v, uint32_t cp)
{
	char bytes[4];

	if (cp < ' ' || !zw_vis_is_safe(cp))
		return;
	size_t n = (size_t)zw_utf8_encode(bytes, cp);
	if (v->needle_len + n > NEEDLE_MAX_B)
		return;
	memcpy(v->needle + v->needle_len, bytes, n);
	v->needle_len += n;
	v->needle[v->needle_len] = '\0';
}

static void needle_shorten(struct view_scroll *v)
{
	while (v->needle_len > 0 && ((uint8_t)v->needle[--v->needle_len] & 0xc0) == 0x80)
		;
	v->needle[v->needle_len] = '\0';
}

static void typing_key(struct view_scroll *v, struct ui_key key)
{
	if (key.code == UI_KEY_ENTER) {
		v->is_typing = v->is_second = false;
		find_next(v, true, v->cursor);
	} else if (key.code == UI_KEY_ESC) {
		v->is_typing = false;
	} else if (key.code == UI_KEY_BACKSPACE) {
		needle_shorten(v);
	} else if (key.mods == 0 && key.code < UI_KEY_FIRST) {
		needle_add(v, key.code);
	}
}

static bool scroll_key(struct view *view, struct ui_key key)
{
	struct view_scroll *v = (struct view_scroll *)view;

	if (v->is_typing) {
		typing_key(v, key);
		return true;
	}
	if (key.code == UI_KEY_ESC && v->selecting != SELECT_NONE) {
		v->selecting = SELECT_NONE;
		return true;
	}
	return false;
}

static void scroll_paste(struct view *view, const void *bytes, size_t len)
{
	struct view_scroll *v = (struct view_scroll *)view;
	const uint8_t *b = bytes;

	for (size_t i = 0; v->is_typing && i < len;) {
		uint32_t cp;
		int n = zw_utf8_decode(b + i, len - i, &cp);

		if (n > 0)
			needle_add(v, cp);
		i += n > 0 ? (size_t)n : 1;
	}
}

/* -- selection and copy --------------------------------------------------------------------------- */

static void selection(const struct view_scroll *v, struct ui_place *from, struct ui_place *to)
{
	bool is_forward = !is_before(&v->cursor, &v->anchor);

	*from = is_forward ? v->anchor : v->cursor;
	*to = is_forward ? v->cursor : v->anchor;
}

static void select_begin(struct view_scroll *v, enum selecting how)
{
	if (v->selecting == how) {
		v->selecting = SELECT_NONE;
		return;
	}
	if (v->selecting == SELECT_NONE)
		v->anchor = v->cursor;
	v->selecting = how;
}

/* What is selected; without a selection the line with the cursor. */
static void copy(struct view_scroll *v)
{
	struct ui_look look = {.kind = UI_LOOK_COPY, .is_lines = v->selecting != SELECT_CHARS};

	look.from = look.to = v->cursor;
	if (v->selecting != SELECT_NONE)
		selection(v, &look.from, &look.to);
	v->is_copying = true;
	zw_buf_consume(&v->text, v->text.len);
	ask(v, look);
}

void view_scroll_text(struct ui_core *core, const void *bytes, size_t len, bool is_last,
		      bool is_cut)
{
	struct view_scroll *v = find_view(core);

	/* Only what was asked for: zwatch-pane must not be able to fill the clipboard by itself. */
	if (v == NULL || !v->is_copying)
		return;
	is_cut |= zw_buf_add(&v->text, bytes, len) < 0;
	if (!is_last)
		return;
	v->is_copying = false;
	v->selecting = SELECT_NONE;
	if (v->text.len == 0)
		ui_core_say(core, "Nothing there to copy.");
	else
		core->effects.copy(core->effects.arg, (const char *)zw_buf_head(&v->text),
				   v->text.len, is_cut);
	if (view_is(core, &view_scroll_ops))
		view_pop(core);
}

void view_scroll_link(struct ui_core *core, const char *uri)
{
	struct view_scroll *v = find_view(core);

	if (v == NULL)
		return;
	zw_strlcpy(v->link, uri, sizeof(v->link));
	core->is_dirty = true;
}

static void copy_link(struct view_scroll *v)
{
	struct ui_core *core = v->view.core;

	if (v->link[0] == '\0')
		ui_core_say(core, "No link under the cursor.");
	if (v->link[0] == '\0')
		return;
	core->effects.copy(core->effects.arg, v->link, strlen(v->link), false);
	if (core->host.link_used != NULL)
		core->host.link_used(core->host.arg, v->link);
}

/* -- commands ------------------------------------------------------------------------------------- */

static bool cmd_move(struct view_scroll *v, enum ui_cmd cmd)
{
	const struct ui_frame *f = &v->view.core->frame;
	int rows = (int)view_rows(v), page = rows > 2 ? rows - 1 : 1;

	if (cmd == UI_CMD_DOWN || cmd == UI_CMD_UP)
		go_by(v, cmd == UI_CMD_DOWN ? 1 : -1, 0);
	else if (cmd == UI_CMD_SCROLL_LEFT || cmd == UI_CMD_SCROLL_RIGHT)
		go_by(v, 0, cmd == UI_CMD_SCROLL_RIGHT ? 1 : -1);
	else if (cmd == UI_CMD_SCROLL_BEGIN || cmd == UI_CMD_SCROLL_END)
		go_by(v, 0, cmd == UI_CMD_SCROLL_END ? f->cols : -f->cols);
	else if (cmd == UI_CMD_PAGE_DOWN || cmd == UI_CMD_PAGE_UP)
		scroll_by(v, cmd == UI_CMD_PAGE_DOWN ? page : -page);
	else if (cmd == UI_CMD_HALF_DOWN || cmd == UI_CMD_HALF_UP)
		scroll_by(v, cmd == UI_CMD_HALF_DOWN ? rows / 2 : -(rows / 2));
	else if (cmd == UI_CMD_FIRST)
		go_to(v, (struct ui_place){f->first_line, v->cursor.col});
	else if (cmd == UI_CMD_LAST)
		go_to(v, (struct ui_place){f->screen_line + (unsigned)rows - 1, v->cursor.col});
	else
		return false;
	return true;
}

static enum ui_cmd scroll_cmd(struct view *view, enum ui_cmd cmd)
{
	struct view_scroll *v = (struct view_scroll *)view;

	if (cmd_move(v, cmd))
		return UI_CMD_NONE;
	if (cmd == UI_CMD_SCROLL_SELECT || cmd == UI_CMD_SCROLL_LINES) {
		select_begin(v, cmd == UI_CMD_SCROLL_LINES ? SELECT_LINES : SELECT_CHARS);
	} else if (cmd == UI_CMD_SCROLL_COPY) {
		copy(v);
	} else if (cmd == UI_CMD_SCROLL_LINK) {
		copy_link(v);
	} else if (cmd == UI_CMD_SCROLL_FIND) {
		v->is_typing = true;
		v->needle[v->needle_len = 0] = '\0';
	} else if (cmd == UI_CMD_SCROLL_NEXT || cmd == UI_CMD_SCROLL_PREVIOUS) {
		v->is_second = false;
		find_next(v, cmd == UI_CMD_SCROLL_NEXT, v->cursor);
	} else {
		return cmd;
	}
	return UI_CMD_NONE;
}

static void scroll_mouse(struct view *view, const struct ui_token *token)
{
	struct view_scroll *v = (struct view_scroll *)view;
	const struct ui_rect *r = &view->core->rects.agent;
	int row = token->mouse.row - r->top, col = token->mouse.col - r->left;
	int button = token->mouse.button;

	if ((button & UI_MOUSE_WHEEL) != 0) {
		scroll_view(v, (button & 1) != 0 ? WHEEL_ROWS : -WHEEL_ROWS);
		return;
	}
	if ((button & 3) != 0 && !token->mouse.is_release)
		return;
	row = row < -1 ? -1 : row > r->rows ? r->rows : row; /* beyond an edge it scrolls by one */
	struct ui_place at = {moved(v->top, row), col};
	if (token->mouse.is_release) {
		if (v->selecting == SELECT_CHARS &&
		    (is_before(&v->anchor, &v->cursor) || is_before(&v->cursor, &v->anchor)))
			copy(v);
		return;
	}
	if ((button & UI_MOUSE_MOTION) == 0) {
		go_to(v, at);
		v->selecting = SELECT_NONE;
		v->anchor = v->cursor;
		return;
	}
	v->selecting = SELECT_CHARS;
	go_to(v, at);
}

/* -- drawing -------------------------------------------------------------------------------------- */

static void restyle(struct view_scroll *v, const struct draw_ctx *c, struct ui_place from,
		    struct ui_place to, bool is_lines, enum ui_style style)
{
	uint64_t top = v->view.core->frame.top_line;

	for (int row = 0; row < c->rows; row++) {
		uint64_t line = top + (unsigned)row;
		int begin = line == from.line && !is_lines ? from.col : 0;
		int end = line == to.line && !is_lines ? to.col : c->cols - 1;

		if (line >= from.line && line <= to.line)
			draw_restyle(c, row, begin, end - begin + 1, style);
	}
}

static void draw_mark(struct view_scroll *v, const struct draw_ctx *c)
{
	const struct ui_rects *r = &v->view.core->rects;
	const struct ui_frame *f = &v->view.core->frame;
	char back[UI_FMT_MAX], all[UI_FMT_MAX], text[96];

	ui_fmt_count(back, f->screen_line - clamp(f->top_line, f->first_line, f->screen_line));
	ui_fmt_count(all, f->screen_line - clamp(f->first_line, 0, f->screen_line));
	snprintf(text, sizeof(text), " scrolled %s of %s lines ", back, all);
	if (draw_width(text) > r->agent.cols)
		snprintf(text, sizeof(text), " %s/%s ", back, all);
	draw_right(c, r->title.rows > 0 ? 0 : r->agent.top, r->agent.left, r->agent.cols,
		   UI_STYLE_ASK, text);
}

static void scroll_draw(struct view *view, const struct draw_ctx *all)
{
	struct view_scroll *v = (struct view_scroll *)view;
	struct ui_core *core = view->core;
	const struct ui_rect *r = &core->rects.agent;
	struct draw_ctx c = draw_sub(all, r->top, r->left, r->rows, r->cols);
	struct ui_place from, to;

	if (v->has_found)
		restyle(v, &c, v->found, v->found_end, false, UI_STYLE_ASK);
	if (v->selecting != SELECT_NONE) {
		selection(v, &from, &to);
		restyle(v, &c, from, to, v->selecting == SELECT_LINES, UI_STYLE_SELECT);
	}
	draw_mark(v, all);
	core->is_cursor_visible = false;
	if (v->cursor.line >= core->frame.top_line &&
	    v->cursor.line - core->frame.top_line < (uint64_t)c.rows)
		ui_core_cursor(core, &c, (int)(v->cursor.line - core->frame.top_line),
			       v->cursor.col);
}

static const char *scroll_hints(struct view *view)
{
	struct view_scroll *v = (struct view_scroll *)view;
	int cols = view->core->cols;

	if (v->is_typing)
		snprintf(v->hint, sizeof(v->hint), "/%.*s_", cols / 2, v->needle);
	else if (v->selecting != SELECT_NONE)
		zw_strlcpy(v->hint, cols >= 60 ? "y copy   Esc drop the selection" : "y copy",
			   sizeof(v->hint));
	else if (v->link[0] != '\0')
		snprintf(v->hint, sizeof(v->hint), "c copies %.*s", cols / 2, v->link);
	else
		zw_strlcpy(v->hint,
			   cols >= 80	? "/ search  v select  y copy  ? help  Esc back"
			   : cols >= 60 ? "v select  y copy  Esc back"
					: "Esc back",
			   sizeof(v->hint));
	return v->hint;
}

/* -- life ----------------------------------------------------------------------------------------- */

static void scroll_close(struct view *view)
{
	struct view_scroll *v = (struct view_scroll *)view;

	ask(v, (struct ui_look){.kind = UI_LOOK_SCROLL, .from = {.line = UI_LINE_LIVE}});
	zw_buf_fini(&v->text);
	free(v);
}

/* Another width, other lines: what was selected and found is elsewhere now. */
static void scroll_resized(struct view *view)
{
	struct view_scroll *v = (struct view_scroll *)view;

	v->selecting = SELECT_NONE;
	v->has_found = false;
	v->top = view->core->frame.top_line;
}

const struct view_ops view_scroll_ops = {.name = "scroll",
					 .section = UI_SECTION_SCROLL,
					 .close = scroll_close,
					 .draw = scroll_draw,
					 .key = scroll_key,
					 .cmd = scroll_cmd,
					 .paste = scroll_paste,
					 .mouse = scroll_mouse,
					 .resized = scroll_resized,
					 .hints = scroll_hints};

static struct view_scroll *open_view(struct ui_core *core)
{
	const struct ui_frame *f = &core->frame;
	struct view_scroll *v = zw_xnew(struct view_scroll);

	v->view.ops = &view_scroll_ops;
	zw_buf_init(&v->text, COPY_MAX_B);
	v->top = UI_LINE_LIVE;
	v->cursor = (struct ui_place){f->top_line + (unsigned)f->cursor_row, f->cursor_col};
	core->focus = UI_FOCUS_AGENT;
	view_push(core, &v->view);
	show_from(v, f->top_line); /* from now on it stands still */
	return v;
}

void view_scroll_select(struct ui_core *core, struct ui_place from)
{
	if (core->top != NULL)
		return;
	struct view_scroll *v = open_view(core);
	go_to(v, from);
	v->anchor = v->cursor;
}

void view_scroll_open(struct ui_core *core, int lines_up)
{
	if (core->top != NULL)
		return;
	struct view_scroll *v = open_view(core);
	if (lines_up > 0)
		scroll_view(v, -lines_up);
	else
		ask_link(v);
}
