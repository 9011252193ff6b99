/* SPDX-License-Identifier: MIT */
#include "ui/core.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/prefix.h"
#include "src/base/words.h"

#define AWAY_MS		    30000 /* without a key: the user looks elsewhere */
#define NOTICE_GAP_MS	    20000
#define BELL_GAP_MS	    1000
#define BELL_OF_KEY_MS	    1000 /* a bell so soon after a key is about that key */
#define PREFIX_HINT_MS	    500
#define PASTE_LOST_AGENT_MS 2000 /* of silence inside a paste */
#define PASTE_LOST_MS	    10000
#define TICK_MS		    1000
#define COUNTDOWN_MS	    100
#define WHEEL_ROWS	    3

/* -- life -------------------------------------------------------------------------------------- */

static void relayout(struct ui_core *core)
{
	int rows, cols;

	ui_layout_make(core->layout, core->rows, core->cols, &core->rects);
	core->is_dirty = true;
	if (!core->has_session)
		return;
	ui_pane_size(core->layout, core->rows, core->cols, &rows, &cols);
	core->host.pane_resize(core->host.arg, rows, cols);
}

void ui_core_init(struct ui_core *core, struct mdl_session *model, struct pane_grid *grid,
		  const struct ui_host *host, const struct ui_config *config,
		  const struct ui_effects *effects, int rows, int cols, int64_t now_ms)
{
	*core = (struct ui_core){.model = model,
				 .grid = grid,
				 .config = *config,
				 .effects = *effects,
				 .has_session = grid != NULL,
				 .rows = rows,
				 .cols = cols,
				 .layout = config->layout,
				 .has_mouse = config->has_mouse,
				 .is_stale = true,
				 .now_ms = now_ms,
				 .key_ms = now_ms};
	if (host != NULL)
		core->host = *host;
	core->frame.modes = PANE_MODE_CURSOR_VISIBLE;
	if (config->warning != NULL && config->warning[0] != NULL)
		ui_core_message(core, config->warning[0], now_ms);
	relayout(core);
}

void ui_core_fini(struct ui_core *core)
{
	core->has_session = true; /* closing the last view ends no program now */
	while (core->top != NULL)
		view_pop(core);
	for (int i = 0; i < UI_FOCUS_MAX; i++) {
		free(core->list_rows[i].row);
		aud_filter_free(core->picks[i].filter);
	}
	ui_edit_fini(&core->edit);
	draw_grid_fini(&core->agent);
}

void view_push(struct ui_core *core, struct view *v)
{
	v->core = core;
	v->below = core->top;
	core->top = v;
	core->is_dirty = true;
}

void view_pop(struct ui_core *core)
{
	struct view *v = core->top;

	core->top = v->below;
	core->is_dirty = true;
	if (v->ops->close != NULL)
		v->ops->close(v);
	else
		free(v);
	if (core->top == NULL && !core->has_session)
		core->effects.quit(core->effects.arg);
}

bool view_is(const struct ui_core *core, const struct view_ops *ops)
{
	return core->top != NULL && core->top->ops == ops;
}

void ui_core_message(struct ui_core *core, const char *text, int64_t now_ms)
{
	zw_strlcpy(core->message, text, sizeof(core->message));
	core->message_ms = now_ms;
	core->is_dirty = true;
}

void ui_core_say(struct ui_core *core, const char *fmt, ...)
{
	char text[sizeof(core->message)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ui_core_message(core, text, core->now_ms);
}

void ui_core_cursor(struct ui_core *core, const struct draw_ctx *c, int row, int col)
{
	core->is_cursor_visible = row >= 0 && row < c->rows && col >= 0 && col < c->cols;
	core->cursor_row = c->top + row;
	core->cursor_col = c->left + col;
	core->cursor_shape = 0;
}

/* -- commands ---------------------------------------------------------------------------------- */

static void cmd_answer(struct ui_core *core)
{
	struct mdl_ask *ask = mdl_ask_first(core->model);

	if (view_is(core, &view_ask_ops))
		ui_core_say(core, "A question is open.");
	else if (ask == NULL)
		ui_core_say(core, "Nothing waits for an answer.");
	else if (view_flood_is(core))
		view_flood_open(core);
	else
		view_ask_open(core, ask->id);
}

static void cmd_panes(struct ui_core *core)
{
	struct ui_rects r;

	if (core->top != NULL)
		return;
	ui_layout_make(UI_LAYOUT_DASHBOARD, core->rows, core->cols, &r);
	if (core->layout == UI_LAYOUT_COLLAPSED && r.shape == UI_SHAPE_AGENT)
		ui_core_say(core, "No room for panes beside the agent. %s 2 and %s 3 show them.",
			    zw_prefix_name(), zw_prefix_name());
	core->layout =
		core->layout == UI_LAYOUT_DASHBOARD ? UI_LAYOUT_COLLAPSED : UI_LAYOUT_DASHBOARD;
	if (core->layout == UI_LAYOUT_COLLAPSED)
		dash_focus(core, UI_FOCUS_AGENT);
	relayout(core);
}

static void cmd_focus(struct ui_core *core, enum ui_focus focus)
{
	if (core->top == NULL)
		dash_focus(core, focus);
}

static void cmd_freeze(struct ui_core *core)
{
	const char *text = core->host.freeze(core->host.arg, !core->model->is_frozen);

	bool is_frozen = core->model->is_frozen;
	ui_core_say(core, "%s%s%s%s", text, is_frozen ? " " : "", is_frozen ? zw_prefix_name() : "",
		    is_frozen ? " f thaws it." : "");
}

static void cmd_suspend(struct ui_core *core)
{
	bool was_frozen = core->model->is_frozen;

	if (!was_frozen)
		core->host.freeze(core->host.arg, true);
	core->effects.suspend(core->effects.arg);
	if (!was_frozen)
		core->host.freeze(core->host.arg, false);
}

static void cmd_pane(struct ui_core *core)
{
	core->host.pane_restart(core->host.arg);
	ui_core_say(core, "The agent's screen starts anew.");
}

static void cmd_mouse(struct ui_core *core)
{
	core->has_mouse = !core->has_mouse;
	ui_core_say(core, core->has_mouse
				  ? "Mouse on: a click chooses the part that has the keys."
				  : "Mouse off: the terminal's own selection works everywhere.");
}

static void cmd_history(struct ui_core *core)
{
	if (core->config.history_path == NULL)
		ui_core_say(core, "No history is kept.");
	else
		view_history_open(core, core->config.history_path, 0);
}

static void stop_agent(struct ui_core *core)
{
	core->host.stop_agent(core->host.arg);
	ui_core_say(core, "The agent was told to end.");
}

static void cmd_session(struct ui_core *core, enum ui_cmd cmd)
{
	const char *text;

	if (cmd == UI_CMD_ANSWER)
		cmd_answer(core);
	else if (cmd == UI_CMD_WAITING)
		view_wait_open(core);
	else if (cmd == UI_CMD_PANES)
		cmd_panes(core);
	else if (cmd == UI_CMD_FOCUS_AGENT)
		cmd_focus(core, UI_FOCUS_AGENT);
	else if (cmd == UI_CMD_FOCUS_CONNS)
		cmd_focus(core, UI_FOCUS_CONNS);
	else if (cmd == UI_CMD_FOCUS_SOCKS)
		cmd_focus(core, UI_FOCUS_SOCKS);
	else if (cmd == UI_CMD_FOCUS_NEXT)
		cmd_focus(core, (core->focus + 1) % UI_FOCUS_MAX);
	else if (cmd == UI_CMD_TASKS)
		view_tasks_open(core);
	else if (cmd == UI_CMD_SCROLL)
		view_scroll_open(core, 0);
	else if (cmd == UI_CMD_HISTORY)
		cmd_history(core);
	else if (cmd == UI_CMD_MODE)
		view_mode_open(core);
	else if (cmd == UI_CMD_FREEZE)
		cmd_freeze(core);
	else if (cmd == UI_CMD_PANE)
		cmd_pane(core);
	else if (cmd == UI_CMD_STOP)
		view_word_open(core, "Stop the agent",
			       "It ends now, with everything that it started. What it has not "
			       "saved is lost.",
			       "stop", stop_agent);
	else if (cmd == UI_CMD_UNDO && (text = core->host.undo(core->host.arg)) != NULL)
		ui_core_say(core, "%s", text);
}

void ui_core_cmd(struct ui_core *core, enum ui_cmd cmd)
{
	core->is_dirty = true;
	if (cmd == UI_CMD_HELP)
		view_help_open(core);
	else if (cmd == UI_CMD_SUSPEND && core->has_session)
		cmd_suspend(core);
	else if (cmd == UI_CMD_MOUSE)
		cmd_mouse(core);
	else if (core->has_session)
		cmd_session(core, cmd);
}

/* -- keys -------------------------------------------------------------------------------------- */

bool ui_core_agent_has_keys(const struct ui_core *core)
{
	return core->has_session && core->top == NULL && core->focus == UI_FOCUS_AGENT &&
	       !core->is_prefix;
}

static void to_agent(struct ui_core *core, const void *bytes, size_t len)
{
	if (len > 0)
		core->host.input(core->host.arg, bytes, len);
}

static void prefix_key(struct ui_core *core, struct ui_key key)
{
	enum ui_cmd cmd = ui_cmd_of_key(UI_SECTION_PREFIX, key);
	char name[16];

	core->is_prefix = false;
	if (cmd == UI_CMD_NONE)
		ui_core_say(core, "%s %s is not a command. %s ? lists them.", zw_prefix_name(),
			    ui_key_name(name, key), zw_prefix_name());
	else if (cmd != UI_CMD_CANCEL)
		ui_core_cmd(core, cmd);
}

static void view_key(struct ui_core *core, struct ui_key key)
{
	struct view *v = core->top;

	if (v->ops->key != NULL && v->ops->key(v, key))
		return;
	enum ui_cmd cmd = ui_cmd_of_key(v->ops->section, key);
	if (cmd == UI_CMD_NONE)
		cmd = ui_cmd_of_key(UI_SECTION_LIST, key);
	cmd = v->ops->cmd(v, cmd);
	if (cmd == UI_CMD_BACK)
		view_pop(core);
	else if (cmd == UI_CMD_LIST_HELP)
		view_help_open(core);
}

static void key(struct ui_core *core, struct ui_key k)
{
	core->key_ms = core->now_ms;
	core->is_dirty = core->is_stale = true;
	if (k.code == UI_KEY_NONE)
		return;
	if (core->is_prefix)
		prefix_key(core, k);
	else if (core->top != NULL)
		view_key(core, k);
	else if (core->focus != UI_FOCUS_AGENT)
		dash_key(core, k);
}

/* The user is there: what the agent wanted, it has. */
static void typed_to_agent(struct ui_core *core, const void *bytes, size_t len)
{
	core->key_ms = core->now_ms;
	if (core->attend.needs_user)
		core->is_dirty = true;
	core->attend.needs_user = false;
	to_agent(core, bytes, len);
}

static void text(struct ui_core *core, const uint8_t *bytes, size_t len)
{
	struct ui_key k;

	while (len > 0) {
		if (ui_core_agent_has_keys(core)) {
			typed_to_agent(core, bytes, len);
			return;
		}
		size_t n = ui_input_text_key(bytes, len, &k);
		key(core, k);
		bytes += n;
		len -= n;
	}
}

static void prefix(struct ui_core *core, const struct ui_token *token)
{
	core->key_ms = core->now_ms;
	core->is_dirty = true;
	if (!core->is_prefix) {
		core->is_prefix = true;
		core->prefix_ms = core->now_ms;
		return;
	}
	core->is_prefix = false;
	if (ui_core_agent_has_keys(core))
		to_agent(core, token->bytes, token->len);
}

static void paste(struct ui_core *core, const struct ui_token *token)
{
	struct view *v = core->top;

	if (token->kind == UI_TOKEN_PASTE_BEGIN) {
		core->is_prefix = false;
		core->is_paste_for_agent = ui_core_agent_has_keys(core);
	}
	core->key_ms = core->now_ms;
	core->is_dirty = true;
	if (core->is_paste_for_agent) {
		if (token->kind == UI_TOKEN_PASTE || (core->frame.modes & PANE_MODE_PASTE) != 0)
			to_agent(core, token->bytes, token->len);
	} else if (token->kind == UI_TOKEN_PASTE && v != NULL && v->ops->paste != NULL) {
		v->ops->paste(v, token->bytes, token->len);
	} else if (token->kind == UI_TOKEN_PASTE && v == NULL) {
		dash_paste(core, token->bytes, token->len);
	}
	if (token->kind == UI_TOKEN_PASTE_END)
		core->is_paste_for_agent = false;
}

/* -- mouse ------------------------------------------------------------------------------------- */

#define MOUSE_MODES (PANE_MODE_MOUSE_CLICK | PANE_MODE_MOUSE_DRAG | PANE_MODE_MOUSE_MOVE)

static bool inside(const struct ui_rect *r, int row, int col)
{
	return row >= r->top && row < r->top + r->rows && col >= r->left && col < r->left + r->cols;
}

static int clamp(int n, int low, int high)
{
	return n < low ? low : n > high ? high : n;
}

/* A report as the agent's own terminal would give it, in the form that it asked for. */
static void mouse_to_agent(struct ui_core *core, const struct ui_token *token)
{
	const struct ui_rect *r = &core->rects.agent;
	int row = clamp(token->mouse.row - r->top, 0, r->rows - 1);
	int col = clamp(token->mouse.col - r->left, 0, r->cols - 1);
	bool is_release = token->mouse.is_release;
	char report[64];
	int n;

	if ((core->frame.modes & (PANE_MODE_MOUSE_SGR | PANE_MODE_MOUSE_PIXEL)) != 0) {
		if ((core->frame.modes & PANE_MODE_MOUSE_PIXEL) != 0) {
			int w = core->cell_width > 0 ? core->cell_width : 8;
			int h = core->cell_height > 0 ? core->cell_height : 16;

			row = row * h + h / 2;
			col = col * w + w / 2;
		}
		n = snprintf(report, sizeof(report), "\033[<%d;%d;%d%c", token->mouse.button,
			     col + 1, row + 1, is_release ? 'm' : 'M');
	} else {
		int button = is_release ? (token->mouse.button & ~3) | 3 : token->mouse.button;

		if (row > 222 || col > 222)
			return;
		n = snprintf(report, sizeof(report), "\033[M%c%c%c", 32 + button, 33 + col,
			     33 + row);
	}
	to_agent(core, report, (size_t)n);
}

static void click(struct ui_core *core, int row, int col)
{
	const struct ui_rects *r = &core->rects;

	if (core->top != NULL)
		return;
	if (r->shape == UI_SHAPE_AGENT && core->focus != UI_FOCUS_AGENT)
		dash_click(core, core->focus, row - 1);
	else if (inside(&r->agent, row, col))
		dash_focus(core, UI_FOCUS_AGENT);
	else if (inside(&r->conns, row, col))
		dash_click(core, UI_FOCUS_CONNS, row - r->conns.top);
	else if (inside(&r->socks, row, col))
		dash_click(core, UI_FOCUS_SOCKS, row - r->socks.top);
}

static bool wants_mouse(const struct ui_core *core, const struct ui_token *token)
{
	unsigned modes = core->frame.modes;
	bool is_motion = (token->mouse.button & UI_MOUSE_MOTION) != 0;
	bool is_wheel = (token->mouse.button & UI_MOUSE_WHEEL) != 0;

	if (!ui_core_agent_has_keys(core) || (modes & MOUSE_MODES) == 0)
		return false;
	if (!core->is_mouse_down && (token->mouse.button & UI_MOUSE_SHIFT) != 0)
		return false;
	if (core->is_mouse_down)
		return !is_motion || (modes & (PANE_MODE_MOUSE_DRAG | PANE_MODE_MOUSE_MOVE)) != 0;
	if (!inside(&core->rects.agent, token->mouse.row, token->mouse.col))
		return false;
	if (token->mouse.is_release && !is_wheel)
		return false;
	return !is_motion || (modes & PANE_MODE_MOUSE_MOVE) != 0;
}

/* The wheel over an agent that did not ask for the mouse: back in its output, or, on the alternate
 * screen, which has no past, arrow keys as terminals make of it. */
static bool wheel_on_agent(struct ui_core *core, const struct ui_token *token)
{
	bool is_up = (token->mouse.button & 1) == 0;

	if (!ui_core_agent_has_keys(core) ||
	    !inside(&core->rects.agent, token->mouse.row, token->mouse.col))
		return false;
	if ((core->frame.modes & PANE_MODE_ALT_SCREEN) != 0) {
		bool is_app = (core->frame.modes & PANE_MODE_CURSOR_KEYS) != 0;
		const char *key =
			is_app ? (is_up ? "\033OA" : "\033OB") : (is_up ? "\033[A" : "\033[B");

		for (int i = 0; i < WHEEL_ROWS; i++)
			to_agent(core, key, 3);
	} else if (is_up) {
		view_scroll_open(core, WHEEL_ROWS);
	}
	return true;
}

/* The left button over the agent's text, when the mouse is not the agent's: dragging selects, as it
 * does while looking back. Returns true when there is no more to do. */
static bool select_text(struct ui_core *core, const struct ui_token *token)
{
	const struct ui_rect *r = &core->rects.agent;
	int row = token->mouse.row, col = token->mouse.col;
	bool was_pressed = core->is_pressed;

	core->is_pressed = false;
	if (token->mouse.is_release || !ui_core_agent_has_keys(core) ||
	    (token->mouse.button & (UI_MOUSE_WHEEL | 3)) != 0)
		return false;
	if ((token->mouse.button & UI_MOUSE_MOTION) != 0) {
		if (was_pressed)
			view_scroll_select(core, core->pressed);
		return false;
	}
	if (!inside(r, row, col))
		return false;
	core->is_pressed = true;
	core->pressed =
		(struct ui_place){core->frame.top_line + (uint64_t)(row - r->top), col - r->left};
	return true;
}

static void mouse(struct ui_core *core, const struct ui_token *token)
{
	bool is_wheel = (token->mouse.button & UI_MOUSE_WHEEL) != 0;
	bool is_press = !token->mouse.is_release && (token->mouse.button & UI_MOUSE_MOTION) == 0;

	core->is_dirty = true;
	if (wants_mouse(core, token)) {
		mouse_to_agent(core, token);
		if (!is_wheel && (token->mouse.button & UI_MOUSE_MOTION) == 0)
			core->is_mouse_down = is_press;
		return;
	}
	if (token->mouse.is_release)
		core->is_mouse_down = false;
	if (select_text(core, token))
		return;
	if (core->top != NULL && core->top->ops->mouse != NULL && !core->is_prefix) {
		core->top->ops->mouse(core->top, token);
		return;
	}
	if (!is_press)
		return;
	if (!is_wheel && (token->mouse.button & 3) == 0)
		click(core, token->mouse.row, token->mouse.col);
	else if (is_wheel && !wheel_on_agent(core, token) && !ui_core_agent_has_keys(core) &&
		 !core->is_prefix && !view_is(core, &view_ask_ops))
		key(core,
		    (struct ui_key){(token->mouse.button & 1) != 0 ? UI_KEY_DOWN : UI_KEY_UP, 0});
}

/* -- tokens ------------------------------------------------------------------------------------ */

static void on_token(const struct ui_token *token, void *arg)
{
	struct ui_core *core = arg;

	switch (token->kind) {
	case UI_TOKEN_TEXT:
		text(core, token->bytes, token->len);
		break;
	case UI_TOKEN_KEY:
		if (!ui_core_agent_has_keys(core)) {
			key(core, token->key);
			break;
		}
		typed_to_agent(core, token->bytes, token->len);
		break;
	case UI_TOKEN_PREFIX:
		prefix(core, token);
		break;
	case UI_TOKEN_MOUSE:
		mouse(core, token);
		break;
	case UI_TOKEN_FOCUS:
		core->is_away = !token->is_in;
		if (ui_core_agent_has_keys(core) && (core->frame.modes & PANE_MODE_FOCUS) != 0)
			to_agent(core, token->bytes, token->len);
		break;
	case UI_TOKEN_PASTE_BEGIN:
	case UI_TOKEN_PASTE:
	case UI_TOKEN_PASTE_END:
		paste(core, token);
		break;
	case UI_TOKEN_REPLY:
	default:
		core->effects.reply(core->effects.arg, token->what, token->value);
	}
}

static void knock(struct ui_core *core);

void ui_core_input(struct ui_core *core, const void *bytes, size_t len, int64_t now_ms)
{
	int64_t silence_ms = core->is_paste_for_agent ? PASTE_LOST_AGENT_MS : PASTE_LOST_MS;

	/* A paste whose end mark got lost must not take the keyboard away for good. */
	if (ui_input_is_pasting(&core->input) && now_ms - core->key_ms >= silence_ms) {
		ui_input_end_paste(&core->input, on_token, core);
		core->is_paste_for_agent = false;
	}
	core->now_ms = now_ms;
	ui_input_feed(&core->input, bytes, len, on_token, core);
	/* What a notice is about may be on screen now. */
	if (core->has_session && core->nudge.is_up)
		knock(core);
}

void ui_core_input_timeout(struct ui_core *core, int64_t now_ms)
{
	core->now_ms = now_ms;
	ui_input_timeout(&core->input, on_token, core);
}

/* -- what comes from the session --------------------------------------------------------------- */

void ui_core_resize(struct ui_core *core, int rows, int cols, int64_t now_ms)
{
	core->now_ms = now_ms;
	core->rows = rows;
	core->cols = cols;
	relayout(core);
	for (struct view *v = core->top; v != NULL; v = v->below)
		if (v->ops->resized != NULL)
			v->ops->resized(v);
}

static bool is_looking(const struct ui_core *core)
{
	return !core->is_away && core->now_ms - core->key_ms < AWAY_MS;
}

/* Passes on that the agent wants its user, to one who is not looking, seldom, and in zwatch's own words.
 * A question of zwatch's is told of by itself, and not held back by what the agent does. */
static void attend_tell(struct ui_core *core)
{
	struct ui_attend *a = &core->attend;
	char notice[UI_NUDGE_TEXT_MAX], name[UI_NUDGE_NAME_MAX], where[UI_NUDGE_NAME_MAX];

	core->is_dirty = true;
	if (is_looking(core) || mdl_asks_waiting(core->model) > 0 ||
	    (a->told_ms != 0 && core->now_ms - a->told_ms < NOTICE_GAP_MS))
		return;
	a->told_ms = a->bell_ms = core->now_ms;
	snprintf(notice, sizeof(notice), "zwatch: %s needs you (%s)",
		 ui_nudge_name(name, core->config.agent_name),
		 ui_nudge_name(where, core->model->project));
	core->effects.bell(core->effects.arg);
	core->effects.notice(core->effects.arg, notice);
}

static void attend_bell(struct ui_core *core)
{
	struct ui_attend *a = &core->attend;

	if (core->now_ms - core->key_ms >= BELL_OF_KEY_MS) {
		a->needs_user = true;
		attend_tell(core);
	}
	if (a->bell_ms != 0 && core->now_ms - a->bell_ms < BELL_GAP_MS)
		return;
	/* One who is not looking was told, and will not be again before the gap is over. */
	if (!is_looking(core))
		return;
	a->bell_ms = core->now_ms;
	core->effects.bell(core->effects.arg);
}

void ui_core_note(struct ui_core *core, unsigned kind, uint32_t value, const char *said,
		  int64_t now_ms)
{
	char line[320];

	core->now_ms = now_ms;
	if (kind == ZW_NOTE_KIND_BELL) {
		attend_bell(core);
	} else if (kind == ZW_NOTE_KIND_PROGRESS) {
		core->attend.progress = value;
		core->is_dirty = true;
	} else if (kind == ZW_NOTE_KIND_NOTIFY) {
		/* Quoted: these are not zwatch's words. */
		snprintf(line, sizeof(line), "%.40s says: \"%.200s\"", core->config.agent_name,
			 said);
		ui_core_message(core, line, now_ms);
		core->attend.needs_user = true;
		attend_tell(core);
	} else {
		ui_core_message(core, said, now_ms);
	}
}

/* Tells the user who is not looking. */
static void knock(struct ui_core *core)
{
	char text[UI_NUDGE_TEXT_MAX];
	unsigned ways = ui_nudge_step(&core->nudge, core->model, core->config.agent_name,
				      is_looking(core), core->now_ms, text);

	if ((ways & UI_NUDGE_TERMINAL) != 0) {
		core->effects.bell(core->effects.arg);
		core->effects.notice(core->effects.arg, text);
	}
	if (ways == UI_NUDGE_WITHDRAW)
		core->effects.notice(core->effects.arg, NULL);
	if ((ways & UI_NUDGE_DESKTOP) != 0)
		core->effects.desktop(core->effects.arg, text);
}

void ui_core_tick(struct ui_core *core, int64_t now_ms)
{
	core->now_ms = now_ms;
	core->is_dirty = true;
	if (core->has_session)
		knock(core);
}

void ui_core_changed(struct ui_core *core, unsigned changed, int64_t now_ms)
{
	core->now_ms = now_ms;
	core->is_dirty = core->is_stale = true;
	if ((changed & MDL_CHANGED_ASKS) != 0)
		knock(core);
	if ((changed & MDL_CHANGED_STATUS) != 0 &&
	    ui_attend_title(&core->attend, core->model->title))
		attend_tell(core);
	for (struct view *v = core->top, *below; v != NULL; v = below) {
		below = v->below;
		if (v->ops->update != NULL)
			v->ops->update(v, changed);
	}
}

/* Numbers of lines are counted with: in order, and far from the end of their type. */
static void lines_check(struct ui_frame *f)
{
	if (f->screen_line > UINT64_MAX / 2)
		f->screen_line = UINT64_MAX / 2;
	if (f->top_line > f->screen_line)
		f->top_line = f->screen_line;
	if (f->first_line > f->top_line)
		f->first_line = f->top_line;
}

void ui_core_frame(struct ui_core *core, const struct ui_frame *frame, int64_t now_ms)
{
	bool is_flood = frame->rows > 0 && frame->screen_line >= core->frame.screen_line &&
			frame->screen_line - core->frame.screen_line >= (uint64_t)frame->rows;

	core->now_ms = now_ms;
	core->n_flood = is_flood ? core->n_flood + 1 : 0;
	core->frame = *frame;
	core->frame.rows = clamp(frame->rows, 0, PANE_ROWS_MAX);
	core->frame.cols = clamp(frame->cols, 0, PANE_COLS_MAX);
	lines_check(&core->frame);
	core->has_frame = true;
}

/* Copies rows out before anything looks at them: the other side may write on. Filters those that changed,
 * so that to draw the agent's screen is only to copy it. */
static void take_frame(struct ui_core *core)
{
	const struct ui_frame *f = &core->frame;
	bool is_other = f->rows != core->agent.rows || f->cols != core->agent.cols;
	struct pane_cell copy[PANE_COLS_MAX];

	if (is_other) {
		draw_grid_fini(&core->agent);
		draw_grid_init(&core->agent, f->rows, f->cols);
	}
	struct draw_ctx c = draw_all(&core->agent, false, true);
	for (int row = 0; row < f->rows; row++) {
		core->agent.touched[row] = is_other || core->grid->dirty[row] != 0;
		if (core->agent.touched[row] == 0)
			continue;
		memcpy(copy, core->grid->cell[row], (size_t)f->cols * sizeof(*copy));
		draw_cells(&c, row, 0, copy, f->cols);
	}
	core->has_frame = false;
	core->owes_frame = true;
}

/* -- drawing ----------------------------------------------------------------------------------- */

static void agent_cursor(struct ui_core *core)
{
	const struct ui_rect *r = &core->rects.agent;
	const struct ui_frame *f = &core->frame;

	core->is_cursor_visible = false;
	core->cursor_row = clamp(r->top + f->cursor_row, 0, core->rows - 1);
	core->cursor_col = clamp(r->left + f->cursor_col, 0, core->cols - 1);
	core->cursor_shape = 0;
	if (!core->has_session || core->top != NULL || core->focus != UI_FOCUS_AGENT)
		return;
	core->is_cursor_visible = (f->modes & PANE_MODE_CURSOR_VISIBLE) != 0 &&
				  f->cursor_row < r->rows && f->cursor_col < r->cols;
	core->cursor_shape = clamp(f->cursor_shape, 0, 6);
}

/* Nearly every picture while the agent works: its cells changed, and nothing else. */
static bool is_part_enough(const struct ui_core *core, const struct draw_ctx *c)
{
	return core->has_session && core->has_frame && !core->is_dirty && core->top == NULL &&
	       core->frame.rows == core->agent.rows && core->frame.cols == core->agent.cols &&
	       c->rows == core->rows && c->cols == core->cols && dash_is_agent_alone(core);
}

void ui_core_draw(struct ui_core *core, const struct draw_ctx *c, int64_t now_ms)
{
	const struct ui_rect *r = &core->rects.above;
	struct draw_ctx above = draw_sub(c, r->top, r->left, r->rows, r->cols);
	bool is_part = is_part_enough(core, c);

	core->now_ms = now_ms;
	if (core->has_frame && core->grid != NULL)
		take_frame(core);
	memset(c->grid->touched, !is_part, (size_t)c->grid->rows);
	if (is_part) {
		agent_cursor(core);
		dash_draw_agent(core, &above);
		return;
	}
	draw_clear(c);
	agent_cursor(core);
	if (core->has_session) {
		dash_update(core);
		dash_draw(core, &above);
	}
	if (core->top != NULL)
		core->top->ops->draw(core->top, &above);
	dash_draw_status(core, c);
	core->cursor_row = clamp(core->cursor_row, 0, core->rows - 1);
	core->cursor_col = clamp(core->cursor_col, 0, core->cols - 1);
	core->is_dirty = false;
}

void ui_core_drawn(struct ui_core *core)
{
	if (!core->owes_frame)
		return;
	core->owes_frame = false;
	atomic_store(&core->grid->is_taken, 1);
	if (atomic_load(&core->grid->is_awaited) != 0)
		core->host.frame_done(core->host.arg);
}

void ui_core_written(struct ui_core *core, int64_t now_ms)
{
	core->now_ms = now_ms;
	if (core->top != NULL && core->top->ops->written != NULL)
		core->top->ops->written(core->top);
}

void ui_core_work(struct ui_core *core, int64_t now_ms)
{
	struct view *v = core->top;

	core->now_ms = now_ms;
	if (v == NULL || v->ops->work == NULL || v->ops->due_ms(v, now_ms) < 0)
		return;
	v->ops->work(v);
	core->is_dirty = true;
}

static int64_t next_ms(const struct ui_core *core, int64_t now_ms)
{
	int64_t next = -1;

	if (core->is_prefix && now_ms < core->prefix_ms + PREFIX_HINT_MS)
		return core->prefix_ms + PREFIX_HINT_MS - now_ms;
	if (view_ask_asleep_ms(core) > 0)
		return COUNTDOWN_MS;
	if (core->has_session &&
	    (core->rects.shape != UI_SHAPE_AGENT || mdl_ask_first(core->model) != NULL))
		next = TICK_MS - now_ms % TICK_MS;
	else if (core->message[0] != '\0' && now_ms < core->message_ms + UI_MESSAGE_MS)
		next = core->message_ms + UI_MESSAGE_MS - now_ms;
	return next;
}

int64_t ui_core_next_ms(const struct ui_core *core, int64_t now_ms)
{
	int64_t next = next_ms(core, now_ms);
	const struct view *v = core->top;
	int64_t due = v != NULL && v->ops->due_ms != NULL ? v->ops->due_ms(v, now_ms) : -1;

	return due < 0 ? next : next < 0 || due < next ? due : next;
}

void ui_core_modes(const struct ui_core *core, struct ui_modes *ret)
{
	unsigned modes = core->frame.modes;

	*ret = (struct ui_modes){0};
	/* Also over the agent alone: else the wheel would be arrow keys, which the agent takes for
	 * typing. */
	if (core->has_mouse)
		ret->mouse =
			core->has_session && (core->top == NULL || view_is(core, &view_scroll_ops))
				? 1002
				: 1000;
	if (!ui_core_agent_has_keys(core))
		return;
	ret->cursor_keys = (modes & PANE_MODE_CURSOR_KEYS) != 0;
	ret->keypad = (modes & PANE_MODE_KEYPAD) != 0;
	ret->kitty = core->frame.kitty_flags;
	ret->modify_other_keys =
		core->frame.modify_other_keys <= 3 ? core->frame.modify_other_keys : 0;
	if ((modes & PANE_MODE_MOUSE_MOVE) != 0)
		ret->mouse = 1003;
	else if ((modes & PANE_MODE_MOUSE_DRAG) != 0)
		ret->mouse = 1002;
	else if ((modes & PANE_MODE_MOUSE_CLICK) != 0)
		ret->mouse = 1000;
}
