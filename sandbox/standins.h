/* SPDX-License-Identifier: MIT
 * Stand-ins: socket files of nobody, at the paths of host sockets that are not visible inside.
 *
 * Programs that look for a socket first find it and go on to connect(), which the broker carries to
 * the host after an allow. A connect() that escaped the broker would be refused by the kernel, for
 * nothing listens there. They are made by zwatch-init in the sandbox's private folders alone, before
 * its own fences stand, so nothing of them is ever on a disk. */
#ifndef ZW_SANDBOX_STANDINS_H
#define ZW_SANDBOX_STANDINS_H

#include "sandbox/init/proto.h"
#include "sandbox/plan.h"

/**
 * Writes what zwatch-init has to make: "dMMMM/PATH" a folder, "sMMMM/PATH" a socket file, MMMM its
 * mode in octal, NUL behind each, parents first. Only for what lies in a private folder of @l, and
 * with the modes that the real ones have for this user.
 *
 * @paths  of real sockets, NUL behind each
 * @ret    empty, of at most SB_STANDINS_MAX
 */
void sb_standins_write(const struct sb_layout *l, const char *paths, size_t len,
		       struct zw_buf *ret);

#endif
