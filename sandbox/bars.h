/* SPDX-License-Identifier: MIT
 * What stands in the place of guarded paths that are missing, so that the agent cannot make them.
 *
 * The kernel mounts only on what exists, so an empty folder (or a file whose content means the same
 * as no file) is made in the real place, for as long as the session lasts, and covered inside. Where the agent has to
 * be able to read it, a FIFO that nobody may open stands there, covered by the null device: git sees neither.
 * Removing it is the work of a process of its own: it outlives zwatch, however that ends, waits for
 * the end of the sandbox and takes away what it finds as it was made. Only when that process is
 * killed too, or the machine stops, something stays; it carries a mark, by which the next session
 * there takes it over. Sessions at the same place share: the last one removes. */
#ifndef ZW_SANDBOX_BARS_H
#define ZW_SANDBOX_BARS_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "sandbox/plan.h"

struct sb_bars {
	struct sb_bar_held *held; /* owned */
	size_t n;
};

/** Whether this is one that was left behind, or that another session is using. */
bool sb_bar_is_left(const struct stat *st);

/**
 * Makes the bars of @l, or shares those that are there.
 * Returns  0, or -errno after removing what was made. Ownership: sb_bars_fini()
 */
int sb_bars_make(const struct sb_layout *l, struct sb_bars *ret);

/**
 * Hands them to a process that removes them when both the caller and the sandbox have ended.
 *
 * @init_pidfd  pid 1 of the sandbox
 * @ret_pid     our child; 0 when there is nothing to do
 * @ret_fd      it waits for the end of this descriptor (close-on-exec); -1
 * Returns      0, or -errno: then the caller still holds them
 */
int sb_bars_leave(struct sb_bars *b, int init_pidfd, pid_t *ret_pid, int *ret_fd);

/** Removes those that nobody else shares, and forgets them. */
void sb_bars_remove(struct sb_bars *b);

void sb_bars_fini(struct sb_bars *b);

#endif
