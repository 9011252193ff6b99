/* SPDX-License-Identifier: MIT
 * `--events FILE|fd:N`: the session's events as they come, one JSON object a line.
 *
 * A process of its own reads them out of the store, like `zwatch log -f`: a taker that stops reading
 * stops nobody but that process. */
#ifndef ZW_MAIN_EVENTS_OUT_H
#define ZW_MAIN_EVENTS_OUT_H

#include "src/main/cli.h"

struct events_out {
	int done_fd; /* reads as ended when all is written; -1 = there is none */
};

/**
 * Begins it, before the terminal is taken and the session starts. Prints what is wrong.
 * Returns 0 or an exit status.
 */
int events_out_start(const struct cli *cli, const char *store_path, struct events_out *ret);

/** After the session: waits a moment for what is left; a taker that does not read is left alone. */
void events_out_end(struct events_out *e);

#endif
