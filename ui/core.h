/* SPDX-License-Identifier: MIT
 * The dashboard without a terminal and without a clock: keys in, cells out. ui.c gives it both, and
 * tests do. */
#ifndef ZW_UI_CORE_H
#define ZW_UI_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ui/attend.h"
#include "ui/draw.h"
#include "ui/input.h"
#include "ui/layout.h"
#include "ui/list.h"
#include "ui/ui.h"
#include "ui/view.h"

#define UI_MESSAGE_MS 8000

enum ui_focus { UI_FOCUS_AGENT, UI_FOCUS_CONNS, UI_FOCUS_SOCKS, UI_FOCUS_MAX };

/** What the core wants done to the terminal. All are called from its functions. */
struct ui_effects {
	void (*bell)(void *arg);
	void (*notice)(void *arg, const char *text);
	void (*suspend)(void *arg);
	/** The last view was closed and there is no session below it: the history program ends. */
	void (*quit)(void *arg);
	void (*reply)(void *arg, enum ui_reply what, int value);
	/** Text for the user's clipboard; @is_cut: it was longer. */
	void (*copy)(void *arg, const char *text, size_t len, bool is_cut);
	void *arg;
};

/** The modes that the terminal should be in now; as struct term_modes. */
struct ui_modes {
	bool cursor_keys, keypad;
	int mouse, kitty, modify_other_keys;
};

/** One line of the connection or socket list: a question that waits, or a row of the model. */
struct ui_row {
	const struct mdl_ask *ask;
	const struct mdl_conn *conn;
	const struct mdl_sock *sock;
};

struct ui_rows {
	struct ui_row *row; /* owned */
	size_t n, cap;
};

struct ui_core {
	struct mdl_session *model;    /* borrowed */
	const struct pane_grid *grid; /* borrowed, shared with zwatch-pane; NULL: no agent here */
	struct ui_host host;
	struct ui_config config;
	struct ui_effects effects;
	bool has_session; /* false: the history program */

	int rows, cols;
	struct ui_rects rects;
	enum ui_layout layout;
	enum ui_focus focus;
	struct view *top;		    /* stack; NULL: the dashboard has the keys */
	struct ui_list lists[UI_FOCUS_MAX]; /* CONNS and SOCKS */
	struct ui_rows list_rows[UI_FOCUS_MAX];

	struct ui_input input;
	bool is_prefix;		 /* the next key is zwatch's */
	bool is_paste_for_agent; /* where the open paste goes */
	bool has_mouse, is_mouse_down;
	bool is_pressed; /* the left button, over agent text that can be selected */
	struct ui_place pressed;
	int cell_width, cell_height; /* pixels, for mouse reports in pixels; 0 = not known */
	int64_t now_ms, prefix_ms, key_ms;
	bool is_away; /* the terminal said that it lost the focus */

	struct ui_frame frame;	 /* newest */
	bool has_frame;		 /* the grid waits to be copied */
	unsigned n_flood;	 /* newest frames that each left nothing of the one before */
	struct pane_cell *cells; /* owned; the agent's screen, unfiltered */
	int cell_rows, cell_cols;

	char message[512];
	int64_t message_ms;
	bool is_frozen;
	uint64_t knocked;  /* newest question that rang */
	int64_t notice_ms; /* of the last notice; 0 = none */
	struct ui_attend attend;
	bool is_dirty; /* something but the agent's cells changed */

	/* The cursor after drawing: the agent's, or that of a view in which one types. */
	bool is_cursor_visible;
	int cursor_row, cursor_col, cursor_shape;
};

/** Fills *core; strings and pointers of the arguments are borrowed. */
void ui_core_init(struct ui_core *core, struct mdl_session *model, const struct pane_grid *grid,
		  const struct ui_host *host, const struct ui_config *config,
		  const struct ui_effects *effects, int rows, int cols, int64_t now_ms);
void ui_core_fini(struct ui_core *core);

void ui_core_input(struct ui_core *core, const void *bytes, size_t len, int64_t now_ms);
/** The rest of a key sequence did not come (ui_input_wait_ms()). */
void ui_core_input_timeout(struct ui_core *core, int64_t now_ms);
void ui_core_resize(struct ui_core *core, int rows, int cols, int64_t now_ms);
void ui_core_changed(struct ui_core *core, unsigned changed, int64_t now_ms);
void ui_core_frame(struct ui_core *core, const struct ui_frame *frame, int64_t now_ms);
void ui_core_message(struct ui_core *core, const char *text, int64_t now_ms);
/** What the agent did on its terminal besides printing (ZW_NOTE_KIND_*); @text is the agent's. */
void ui_core_note(struct ui_core *core, unsigned kind, uint32_t value, const char *text,
		  int64_t now_ms);

/** Draws all; copies the agent's frame first, if one waits. The cursor is in the core after it. */
void ui_core_draw(struct ui_core *core, const struct draw_ctx *c, int64_t now_ms);
/** The last frame has been written to the terminal. */
void ui_core_written(struct ui_core *core, int64_t now_ms);
/** When something will look different without any event, ms from now; -1 = never. */
int64_t ui_core_next_ms(const struct ui_core *core, int64_t now_ms);
void ui_core_modes(const struct ui_core *core, struct ui_modes *ret);

/* -- for the views ----------------------------------------------------------------------------- */

/** Runs a command of the PREFIX section. */
void ui_core_cmd(struct ui_core *core, enum ui_cmd cmd);
/** Whether typed bytes go to the agent. */
bool ui_core_agent_has_keys(const struct ui_core *core);
/** Shows @fmt on the event row for some seconds. */
void ui_core_say(struct ui_core *core, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** The text cursor of a view: row and column of its context. */
void ui_core_cursor(struct ui_core *core, const struct draw_ctx *c, int row, int col);

/** dash.c: everything below the views, and the status line. */
void dash_draw(struct ui_core *core, const struct draw_ctx *c);
void dash_draw_status(struct ui_core *core, const struct draw_ctx *c);
/** Rebuilds the rows of both lists from the model. */
void dash_update(struct ui_core *core);
uint64_t dash_row_key(size_t row, void *rows);

/** Style and word of what was done (ZW_DID_*): "DENY", bold red. */
enum ui_style ui_did_style(unsigned did);
const char *ui_did_shown(unsigned did);
enum ui_style ui_risk_style(enum pol_risk risk);

#endif
