/* SPDX-License-Identifier: MIT
 * The dashboard: what a user sees and types while a session runs.
 *
 * It reads the model (src/model), copies the agent's cells out of the shared grid, and tells its
 * host what the user wants. It decides nothing and opens nothing. The tty is read raw and written
 * through a non-blocking queue, so a stuck terminal never blocks the loop. */
#ifndef ZW_UI_UI_H
#define ZW_UI_UI_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ev/ev.h"
#include "src/model/model.h"
#include "src/policy/saved.h"
#include "ui/desktop.h"
#include "ui/pane/grid.h"

struct ui;
struct ui_player;

/** What an answer was: kept with the record. */
struct ui_answer {
	uint64_t ask;		  /* mdl_ask.id */
	enum pol_verdict verdict; /* POL_ALLOW or POL_DENY */
	unsigned scope;		  /* ZW_SCOPE_* */
	const char *note;	  /* for the agent, "" = none; borrowed */
	const char *key;	  /* what was pressed: "n", "Enter", "y+docker"; borrowed */
	const char *shown;	  /* the question's text as it stood on screen; borrowed */
	int64_t shown_ms;	  /* how long */
	/* Scope ALWAYS: what is kept. */
	enum pol_until until;
	bool is_everywhere, is_any_program, is_whole_domain;
};

/** A cell of the agent's output; lines are numbered from the first that ever was. */
struct ui_place {
	uint64_t line;
	int col;
};

/** What the user refuses from a list, without having been asked. Strings borrowed. */
struct ui_deny {
	enum pol_kind kind;
	const char *target;  /* host:port, or path or @name of a socket as records have it */
	const char *program; /* "" = whatever the agent runs */
	bool is_always;	     /* beyond the session, in this project */
};

#define UI_LINE_LIVE UINT64_MAX /* the screen as it is; in a search: from the far end */

enum ui_look_kind {
	UI_LOOK_SCROLL, /* frames show the lines from .from on */
	UI_LOOK_FIND,	/* .needle, from .from; answer: ui_found() */
	UI_LOOK_COPY,	/* the text from .from to .to; answer: ui_text() */
	UI_LOOK_LINK,	/* the link at .from; answer: ui_link() */
};

/** A wish while looking back. */
struct ui_look {
	enum ui_look_kind kind;
	struct ui_place from, to; /* both included */
	bool is_up;		  /* towards older lines */
	bool is_lines;		  /* whole lines */
	const char *needle;	  /* UTF-8; borrowed */
};

/** What the user's terminal told of itself. */
struct ui_terminal {
	uint32_t fg_rgb, bg_rgb; /* 0xrrggbb */
	bool has_kitty;
	int cell_width, cell_height; /* pixels, 0 = not told */
};

/** What the dashboard asks of zwatch. All are called from the loop; @arg is ui_host.arg. */
struct ui_host {
	/** Bytes for the agent's pty, in order. The host buffers; see ui_input_pause(). */
	void (*input)(void *arg, const void *bytes, size_t len);
	/** The pane has this size now. */
	void (*pane_resize)(void *arg, int rows, int cols);
	/** The grid has been copied: zwatch-pane may go on. */
	void (*frame_done)(void *arg);
	/** The question is on screen (its clock stands) or no more (it runs again). */
	void (*ask_open)(void *arg, uint64_t ask, bool is_open);
	/** NULL: taken; else a sentence why it was not. Then nothing was allowed, and what still waits
	 * waits on. Valid until the next call. */
	const char *(*answer)(void *arg, const struct ui_answer *answer);
	/** From now on all that the program of this question asks is refused. */
	void (*strict)(void *arg, uint64_t ask);
	/** What past sessions say of such a rule: a sentence, valid until the next call; NULL = not
	 * known. */
	const char *(*try_rule)(void *arg, const struct ui_answer *answer);
	/** Takes back the last allow of this session. Returns a sentence to show; static or model-owned. */
	const char *(*undo)(void *arg);
	/** Ends what the process of this row has open to its socket. */
	void (*close_sock)(void *arg, const struct mdl_sock *sock);
	/** Ends this connection. False: there is no way to. */
	bool (*close_conn)(void *arg, const struct mdl_conn *conn);
	/** Refuses from now on. Returns a sentence to show, valid until the next call. */
	const char *(*deny)(void *arg, const struct ui_deny *deny);
	/** The processes of the sandbox are on screen (mdl_session.tasks), or no more. */
	void (*watch_tasks)(void *arg, bool is_on);
	/** A signal to one of them. NULL, or a sentence why not. */
	const char *(*task_signal)(void *arg, const struct mdl_task *task, int sig);
	/** What a rule says and where it stands; NULL = not known. Valid until the next call. */
	const char *(*rule_text)(void *arg, uint32_t rule);
	/** All of the agent stands still, or goes on (mdl_session.is_frozen). Returns a sentence that says
	 * how, or why not; static. */
	const char *(*freeze)(void *arg, bool is_frozen);
	/** NULL: done; else a sentence why not, valid until the next call. */
	const char *(*mode)(void *arg, enum pol_mode mode);
	/** The user wants the agent to end (after typing the word). */
	void (*stop_agent)(void *arg);
	/** zwatch-pane is to be started anew: it died, or it hangs. */
	void (*pane_restart)(void *arg);
	void (*look)(void *arg, const struct ui_look *look);
	/** The user copied a link of the agent's output: for the record. NULL: of no interest. */
	void (*link_used)(void *arg, const char *uri);
	/** Once the terminal has answered, and when something of it changes. Never called when it does
	 * not answer. */
	void (*terminal)(void *arg, const struct ui_terminal *terminal);
	void *arg;
};

enum ui_layout { UI_LAYOUT_DASHBOARD, UI_LAYOUT_COLLAPSED };

struct ui_config {
	enum ui_layout layout;
	bool is_ascii, has_colour, has_mouse;
	int theme;	    /* enum ui_theme */
	int64_t arm_ms;	    /* after the frame was written; 500 */
	int64_t quiet_ms;   /* without a key; 300 */
	bool is_second_key; /* no delay; what allows takes Enter as well */
	int repeat_n;	    /* equal denials after which N is offered first; 0 = never */
	int flood_n;	    /* more new questions than this ... */
	int64_t flood_ms;   /* ... within this time are one card; flood_n 0 = never */
	const struct ui_player
		*player;	    /* of recordings, for the history view; NULL = none; borrowed */
	const char *history_path;   /* of the store, for the history view; borrowed */
	const char *agent_name;	    /* shown in texts: "claude"; borrowed */
	int64_t wall0_us;	    /* wall clock when the monotonic one was 0 */
	bool is_silent, has_no_osc; /* no bell; no notices by the terminal */
	struct ui_desktop desktop;  /* strings never NULL with a session */
	const char *const *warning; /* lines for the first frame, NULL-terminated; may be NULL */
};

/** A frame of the agent, as pane_frame tells it. The grid is readable until frame_done. */
struct ui_frame {
	int rows, cols, cursor_row, cursor_col;
	int cursor_shape; /* DECSCUSR 0 to 6 */
	uint32_t modes;	  /* enum pane_mode */
	uint8_t kitty_flags, modify_other_keys;
	uint64_t first_line, top_line,
		screen_line; /* oldest kept, top of the frame, of the screen */
};

/** Size of the pane in a terminal of @rows x @cols. Pure; at least 1 x 1. */
void ui_pane_size(enum ui_layout layout, int rows, int cols, int *ret_rows, int *ret_cols);

/**
 * Whether the terminal that TERM names can be used at all; cheap, changes nothing.
 * Returns  0 or ZW_E_UNSUPPORTED
 */
int ui_check_terminal(void);

/**
 * Takes the terminal @tty_fd (read and write, opened by the caller, stays the caller's): raw mode,
 * alternate screen, first frame.
 *
 * @model, @grid, @host, @config's strings  borrowed until ui_free()
 * Returns  0, or -errno / ZW_E_UNSUPPORTED: no usable terminal (TERM unknown, not a tty)
 */
int ui_new(struct zev_loop *loop, int tty_fd, struct mdl_session *model, struct pane_grid *grid,
	   const struct ui_host *host, const struct ui_config *config, struct ui **ret);

/** Restores the terminal: modes, cursor, main screen. NULL is ok. */
void ui_free(struct ui *ui);

/** Async-signal-safe: writes the bytes that make the terminal sane. For fatal signals only. */
void ui_emergency_restore(void);

/** The model changed: enum mdl_changed, or-ed. Drawn at the turn's end, at most 60 times a second. */
void ui_changed(struct ui *ui, unsigned changed);
/** A frame of the agent is in the grid; frame_done follows once it has been copied. */
void ui_frame(struct ui *ui, const struct ui_frame *frame);
/** The agent rang, or wants attention: shown on the status line, passed on as a bell. */
void ui_note(struct ui *ui, unsigned kind, uint32_t value, const char *text);
/** Answers to ui_host.look(). Spans live for the call. */
void ui_found(struct ui *ui, bool is_found, struct ui_place from, struct ui_place to);
void ui_text(struct ui *ui, const void *bytes, size_t len, bool is_last, bool is_cut);
void ui_link(struct ui *ui, const char *uri);
/** The agent put @text, any bytes, on the clipboard; the caller has seen to it that it may. */
void ui_agent_clip(struct ui *ui, const void *text, size_t len);
/** A line on the event row: printable text, borrowed only during the call. */
void ui_message(struct ui *ui, const char *text);
/** The host's input buffer for the agent is full / has room again: reading the tty stops / goes on. */
void ui_input_pause(struct ui *ui, bool is_full);
/** SIGWINCH came. */
void ui_resized(struct ui *ui);
/** SIGTSTP came: as the key, the agent is frozen, the terminal given back, this process stopped. */
void ui_suspend(struct ui *ui);
/** SIGCONT came: takes the terminal again, if somebody has had it meanwhile (after SIGSTOP). */
void ui_continued(struct ui *ui);

#endif
