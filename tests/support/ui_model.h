/* SPDX-License-Identifier: MIT
 * A made-up session for the tests of the dashboard and for its demo: what a day's work looks like. */
#ifndef ZW_TESTS_SUPPORT_UI_MODEL_H
#define ZW_TESTS_SUPPORT_UI_MODEL_H

#include "src/model/model.h"
#include "ui/pane/grid.h"

#define UI_MODEL_NOW_MS INT64_C(10000000) /* monotonic clock at which the pictures are taken */

/** The wall clock then: 2026-11-30 12:41:02 UTC. */
#define UI_MODEL_NOW_US INT64_C(1796042462000000)

/** Connections and sockets of a session that has run for 12:41; no question. */
void ui_model_fill(struct mdl_session *s);
/** Questions. All are HELD since 38, 12 and 9 seconds. */
struct mdl_ask *ui_model_ask_docker(struct mdl_session *s, uint64_t id);
struct mdl_ask *ui_model_ask_ssh(struct mdl_session *s, uint64_t id);
struct mdl_ask *ui_model_ask_site(struct mdl_session *s, uint64_t id);

/** An agent's screen. All rows are marked dirty. */
void ui_model_grid(struct pane_grid *grid, int rows, int cols);

#endif
