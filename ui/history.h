/* SPDX-License-Identifier: MIT
 * The history as a program of its own: `zwatch history` on a terminal. */
#ifndef ZW_UI_HISTORY_H
#define ZW_UI_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ev/ev.h"

/**
 * Shows the store's sessions and their events until the user leaves. Reads only. Runs @loop, which
 * must not be running.
 *
 * @tty_fd   the terminal; stays the caller's
 * @session  > 0: straight into this session
 * Returns   0, or as ui_new(): then nothing was shown
 */
int ui_history_run(struct zev_loop *loop, int tty_fd, const char *store_path, int64_t session,
		   bool is_ascii, bool has_colour);

#endif
