/* SPDX-License-Identifier: MIT
 * The screen of the history, by itself. */
#ifndef ZW_MAIN_CMD_REPLAY_H
#define ZW_MAIN_CMD_REPLAY_H

#include "src/main/cli.h"
#include "src/main/start.h"

/** What to play at once. */
struct cmd_replay {
	int64_t session; /* with `file` NULL */
	const char *file;
};

/** @replay: NULL = the list of sessions. Returns 0, or an error: then nothing was shown. */
int cmd_history_screen(const struct start *st, const struct cli *cli,
		       const struct cmd_replay *replay);

#endif
