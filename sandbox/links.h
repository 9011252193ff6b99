/* SPDX-License-Identifier: MIT
 * Symbolic links on the way to what must not change: whoever may replace one decides where the way
 * leads the next time, however well the place is guarded to which it leads now.
 *
 * A mount on the link itself holds it: a mount point can be neither renamed nor removed. bwrap cannot
 * make one (its binds follow links), so it is made from outside, in the sandbox's own mount
 * namespace, before anything of the agent's runs. */
#ifndef ZW_SANDBOX_LINKS_H
#define ZW_SANDBOX_LINKS_H

#include <stddef.h>
#include <sys/types.h>

#include "sandbox/plan.h"

#define SB_LINKS_MAX 40 /* on one way, as for the kernel */

/**
 * Follows @path, which is absolute, part by part.
 *
 * @on_link  called for each link on the way with its own canonical path; NULL = nobody asks
 * @ret_at   where the first part that is missing begins (at its slash); SIZE_MAX: nothing is missing
 * @ret_is_dir  whether it is a folder, when nothing is missing
 * Returns   the path without links, with what is missing at its end. NULL with errno: ELOOP, or a
 *           way that cannot be followed. Ownership: caller frees
 */
char *sb_links_follow(const char *path, void (*on_link)(const char *link, void *arg), void *arg,
		      size_t *ret_at, bool *ret_is_dir);

/**
 * Holds every link of @l (SB_PLACE_LINK) inside the sandbox whose pid 1 is @pid.
 *
 * Returns  0, or < 0 with *ret_failure filled: then one of them could be replaced
 */
int sb_links_hold(pid_t pid, const struct sb_layout *l, struct sb_failure *ret_failure);

#endif
