/* SPDX-License-Identifier: MIT
 * The dashboard with a made-up session, a host that writes down what it is told, a clock that the
 * test turns, and a screen of cells instead of a terminal. */
#ifndef ZW_TESTS_SUPPORT_UI_FAKE_H
#define ZW_TESTS_SUPPORT_UI_FAKE_H

#include <stddef.h>

#include "src/base/buf.h"
#include "tests/support/ui_model.h"
#include "ui/core.h"

struct ui_fake {
	struct mdl_session model;
	struct pane_grid *grid;
	struct ui_core core;
	struct draw_grid screen;
	int64_t now_ms;
	bool is_ascii, has_colour;

	struct zw_buf input; /* what the agent got */
	int pane_rows, pane_cols, n_frames_done, n_bells, n_desktops, n_answers, n_quits;
	struct ui_answer answer; /* the last one; its strings are the copies below */
	char note[512], key[64], shown[8192], notice[256];
	struct ui_look look; /* the last wish, with its needle */
	char needle[512], copied[4096];
	int n_looks;
	uint64_t opened; /* question whose clock stands, 0 = none */
	bool is_frozen, is_stopped;
	int n_pane_restarts;
	const struct mdl_sock *closed; /* the last row that was to be closed */
	const struct mdl_conn *closed_conn;
	struct ui_deny deny; /* the last one; its strings are the copies below */
	char deny_target[512], deny_program[512];
	int n_denies;
	bool is_watched;    /* the processes */
	uint32_t signalled; /* the last one, and how */
	int signal;
	const char *refusal; /* what the host says to the next answers; NULL = takes them */
	uint64_t strict;     /* question whose program is refused from now on */
	enum pol_until tried;
};

/** A dashboard of this size; questions are added by the test with ui_model_ask_*(). */
void ui_fake_init(struct ui_fake *f, enum ui_layout layout, int rows, int cols);
/** The same with the history alone. */
void ui_fake_init_history(struct ui_fake *f, int rows, int cols);
void ui_fake_fini(struct ui_fake *f);

/** Bytes from the keyboard, then a frame that is written at once. */
void ui_fake_type(struct ui_fake *f, const char *bytes);
void ui_fake_type_n(struct ui_fake *f, const void *bytes, size_t len);
/** Draws, and says that it was written. */
void ui_fake_draw(struct ui_fake *f);
/** Turns the clock on, and draws. */
void ui_fake_wait(struct ui_fake *f, int64_t ms);
void ui_fake_resize(struct ui_fake *f, int rows, int cols);

/** The whole screen as text, a line a row. Ownership: caller frees. */
char *ui_fake_text(const struct ui_fake *f);
/** Whether @text stands on the screen (in one row). */
bool ui_fake_shows(const struct ui_fake *f, const char *text);

#endif
