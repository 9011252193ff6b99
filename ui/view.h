/* SPDX-License-Identifier: MIT
 * A view: something that has the keys and draws over the dashboard. Views lie on a stack; the
 * status line is never theirs. */
#ifndef ZW_UI_VIEW_H
#define ZW_UI_VIEW_H

#include <stdbool.h>

#include "ui/cmd.h"
#include "ui/draw.h"
#include "ui/ui.h"

struct ui_core;
struct view;

struct view_ops {
	const char *name;
	enum ui_section section; /* where its keys stand; those of LIST are tried after it */
	/** Frees it. NULL: free() is enough. */
	void (*close)(struct view *v);
	/** The model changed (enum mdl_changed). NULL: drawing is enough. */
	void (*update)(struct view *v, unsigned changed);
	/** Draws all of it, clipped; @c is everything but the status line. */
	void (*draw)(struct view *v, const struct draw_ctx *c);
	/** A key before its command is looked up. True: taken. NULL: none is. */
	bool (*key)(struct view *v, struct ui_key key);
	/** Handles a command (NONE: a key without one), or hands it on for the core. */
	enum ui_cmd (*cmd)(struct view *v, enum ui_cmd cmd);
	/** Bytes of a paste. NULL: thrown away. */
	void (*paste)(struct view *v, const void *bytes, size_t len);
	/** A press, release, motion or turn of the wheel. NULL: the wheel is Up and Down. */
	void (*mouse)(struct view *v, const struct ui_token *token);
	/** The last frame is on the terminal. NULL: of no interest. */
	void (*written)(struct view *v);
	/** The size changed. NULL: drawing is enough. */
	void (*resized)(struct view *v);
	/** Does a piece of what takes long, at most some 30 ms. NULL: nothing does. */
	void (*work)(struct view *v);
	/** When work() wants to be called, ms from now; -1 = not. NULL with work. */
	int64_t (*due_ms)(const struct view *v, int64_t now_ms);
	/** Its keys for the status line. NULL: the usual ones. */
	const char *(*hints)(struct view *v);
};

struct view {
	const struct view_ops *ops;
	struct ui_core *core; /* borrowed */
	struct view *below;   /* owned by the stack */
};

/** Puts @v (its ops are set) on top; the stack owns it. */
void view_push(struct ui_core *core, struct view *v);
/** Takes the top view off and frees it. */
void view_pop(struct ui_core *core);

/** Opens a question by its number; nothing when it is gone. */
void view_ask_open(struct ui_core *core, uint64_t ask);
void view_wait_open(struct ui_core *core);
/** Whether so many came at once that prefix a shows them as one. */
bool view_flood_is(const struct ui_core *core);
void view_flood_open(struct ui_core *core);
void view_help_open(struct ui_core *core);
/** All about one row of the lists, by its key (ui_row_key()). */
void view_row_open(struct ui_core *core, uint64_t row);
/** The processes of the sandbox. */
void view_tasks_open(struct ui_core *core);
/** Which part of a row is to be copied. */
void view_copy_open(struct ui_core *core, uint64_t row);
/** Whether a row's target is denied from now on, and for how long. */
void view_deny_open(struct ui_core *core, uint64_t row);
/** Choice of the mode. */
void view_mode_open(struct ui_core *core);
/** Sessions of the store at @path; with @session > 0 straight into that one. */
void view_history_open(struct ui_core *core, const char *path, int64_t session);
/** Plays the recorded screen of a session, or (@file not NULL) a file. Returns 0; -ENOENT: it was not
 * recorded; ZW_E_UNSUPPORTED: nothing plays here; or another error. */
int view_replay_open(struct ui_core *core, const char *store_path, int64_t session,
		     const char *file);
/** Asks for a typed word; @fn runs when it was right. Texts borrowed for good. */
void view_word_open(struct ui_core *core, const char *title, const char *text, const char *word,
		    void (*fn)(struct ui_core *core));

/** Looks back in the agent's output, @lines_up at once. Nothing while another view is open. */
void view_scroll_open(struct ui_core *core, int lines_up);
/** The same to select from @from on with the mouse, whose report comes next. */
void view_scroll_select(struct ui_core *core, struct ui_place from);
/** Answers to ui_host.look(); ignored when nobody asked. */
void view_scroll_found(struct ui_core *core, bool is_found, struct ui_place from,
		       struct ui_place to);
void view_scroll_text(struct ui_core *core, const void *bytes, size_t len, bool is_last,
		      bool is_cut);
void view_scroll_link(struct ui_core *core, const char *uri);

/** Whether the top view is this one's kind. */
bool view_is(const struct ui_core *core, const struct view_ops *ops);
extern const struct view_ops view_ask_ops;
extern const struct view_ops view_scroll_ops;
/** Milliseconds until the keys that allow wake in the open question; 0 = awake or none is open. */
int64_t view_ask_asleep_ms(const struct ui_core *core);

#endif
