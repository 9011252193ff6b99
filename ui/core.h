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
#include "ui/edit.h"
#include "ui/input.h"
#include "ui/layout.h"
#include "ui/list.h"
#include "ui/rows.h"
#include "ui/nudge.h"
#include "ui/ui.h"
#include "ui/view.h"

#define UI_MESSAGE_MS 8000

enum ui_focus { UI_FOCUS_AGENT, UI_FOCUS_CONNS, UI_FOCUS_SOCKS, UI_FOCUS_MAX };

/** What the core wants done to the terminal. All are called from its functions. */
struct ui_effects {
	void (*bell)(void *arg);
	/** A notice by the terminal; NULL: what it was about is over. */
	void (*notice)(void *arg, const char *text);
	/** A notice by the desktop. */
	void (*desktop)(void *arg, const char *text);
	void (*suspend)(void *arg);
	/** The last view was closed and there is no session below it: the history program ends. */
	void (*quit)(void *arg);
	void (*reply)(void *arg, enum ui_reply what, int value);
	/** Text for the user's clipboard; @is_cut: it was longer. */
	void (*copy)(void *arg, const char *text, size_t len, bool is_cut);
	/** Something came that is to be drawn, and not by a function of this header. NULL: not needed. */
	void (*wake)(void *arg);
	void *arg;
};

/** The modes that the terminal should be in now; as struct term_modes. */
struct ui_modes {
	bool cursor_keys, keypad;
	int mouse, kitty, modify_other_keys;
};

/** How a list of the dashboard is looked at. */
struct ui_pick {
	struct aud_filter *filter; /* owned; NULL = all */
	char text[UI_EDIT_MAX + 1];
	enum ui_sort sort;
};

struct ui_core {
	struct mdl_session *model; /* borrowed */
	struct pane_grid *grid;	   /* borrowed, shared with zwatch-pane; NULL: no agent here */
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
	struct ui_pick picks[UI_FOCUS_MAX];
	bool is_stale;	    /* the rows have to be read anew */
	uint64_t n_dropped; /* of the model, and how many rows it had, when they were read */
	size_t n_conns, n_socks, n_asks;
	struct ui_edit edit; /* the filter that is typed */
	bool is_filtering;
	char said[160]; /* of it */

	struct ui_input input;
	bool is_prefix;		 /* the next key is zwatch's */
	bool is_paste_for_agent; /* where the open paste goes */
	bool has_mouse, is_mouse_down;
	bool is_pressed; /* the left button, over agent text that can be selected */
	struct ui_place pressed;
	int cell_width, cell_height; /* pixels, for mouse reports in pixels; 0 = not known */
	int64_t now_ms, prefix_ms, key_ms;
	bool is_away; /* the terminal said that it lost the focus */

	struct ui_frame frame;	/* newest */
	bool has_frame;		/* the grid waits to be copied */
	bool owes_frame;	/* it was, and zwatch-pane is to be told */
	unsigned n_flood;	/* newest frames that each left nothing of the one before */
	struct draw_grid agent; /* the agent's screen, filtered */

	char message[512];
	int64_t message_ms;
	struct ui_nudge nudge;
	struct ui_attend attend;
	bool is_dirty; /* something but the agent's cells changed */

	/* The cursor after drawing: the agent's, or that of a view in which one types. */
	bool is_cursor_visible;
	int cursor_row, cursor_col, cursor_shape;
};

/** Fills *core; strings and pointers of the arguments are borrowed. */
void ui_core_init(struct ui_core *core, struct mdl_session *model, struct pane_grid *grid,
		  const struct ui_host *host, const struct ui_config *config,
		  const struct ui_effects *effects, int rows, int cols, int64_t now_ms);
void ui_core_fini(struct ui_core *core);

void ui_core_input(struct ui_core *core, const void *bytes, size_t len, int64_t now_ms);
/** The rest of a key sequence did not come (ui_input_wait_ms()). */
void ui_core_input_timeout(struct ui_core *core, int64_t now_ms);
void ui_core_resize(struct ui_core *core, int rows, int cols, int64_t now_ms);
void ui_core_changed(struct ui_core *core, unsigned changed, int64_t now_ms);
void ui_core_frame(struct ui_core *core, const struct ui_frame *frame, int64_t now_ms);
/** Time has passed: is something due that no event says? */
void ui_core_tick(struct ui_core *core, int64_t now_ms);
void ui_core_message(struct ui_core *core, const char *text, int64_t now_ms);
/** What the agent did on its terminal besides printing (ZW_NOTE_KIND_*); @text is the agent's. */
void ui_core_note(struct ui_core *core, unsigned kind, uint32_t value, const char *text,
		  int64_t now_ms);

/** Draws all; copies the agent's frame first, if one waits. The cursor is in the core after it. @c is of the
 * same grid every time: when nothing but the agent's cells changed, only those rows are drawn. */
void ui_core_draw(struct ui_core *core, const struct draw_ctx *c, int64_t now_ms);
/** After ui_core_draw(), when the picture was handed to the terminal: only now the agent's next frame is asked
 * for, so that zwatch-pane does not run in the way of this one. */
void ui_core_drawn(struct ui_core *core);
/** The last frame has been written to the terminal. */
void ui_core_written(struct ui_core *core, int64_t now_ms);
/** Lets the top view do a piece of what takes long. */
void ui_core_work(struct ui_core *core, int64_t now_ms);
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

/** The traffic of the last @n seconds, a column each, the newest at the right. */
void ui_spark(const struct draw_ctx *c, int row, int col, int n, const struct mdl_rate *rate,
	      int64_t now_s);

/** dash.c: everything below the views, and the status line. */
void dash_draw(struct ui_core *core, const struct draw_ctx *c);
/** Only what the agent's last frame touched; only when the agent's part is all there to see. */
void dash_draw_agent(struct ui_core *core, const struct draw_ctx *c);
/** Whether all but the agent's cells is as it was drawn last. */
bool dash_is_agent_alone(const struct ui_core *core);
void dash_draw_status(struct ui_core *core, const struct draw_ctx *c);
/** Rebuilds the rows of both lists from the model. */
void dash_update(struct ui_core *core);
/** The selected row of the list that has the keys; all NULL when there is none. */
struct ui_row dash_selected(struct ui_core *core);

/** dash_keys.c: a key, a paste, a press of the mouse while a list has the keys. */
void dash_key(struct ui_core *core, struct ui_key key);
void dash_paste(struct ui_core *core, const void *bytes, size_t len);
/** A click inside a list's part; the first only gives it the keys. */
void dash_click(struct ui_core *core, enum ui_focus which, int row);
/** Gives another part the keys; typing a filter ends. */
void dash_focus(struct ui_core *core, enum ui_focus focus);
/** Gives the connections the keys, with only those of this process. */
void dash_show_process(struct ui_core *core, uint32_t pid);
/** A command of the ROWS section on the row with this key. False: it is none. */
bool dash_row_cmd(struct ui_core *core, enum ui_cmd cmd, uint64_t key);

/** What state a connection or socket is in: "live", "DENY". */
void dash_row_state(const struct ui_row *r, const char **ret_word, enum ui_style *ret_style);

/** Style and word of what was done (ZW_DID_*): "DENY", bold red. */
enum ui_style ui_did_style(unsigned did);
const char *ui_did_shown(unsigned did);
enum ui_style ui_risk_style(enum pol_risk risk);

#endif
