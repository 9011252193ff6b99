/* SPDX-License-Identifier: MIT
 * Stand-ins: socket files of nobody, at the paths of host sockets that are not visible inside.
 *
 * Programs that look for a socket first find it and go on to connect(), which the broker carries to
 * the host after an allow. A connect() that escaped the broker would be refused by the kernel, for
 * nothing listens there. They are made in folders of the sandbox's own alone, so nothing of them is
 * ever on a disk: by zwatch-init in private ones, before its own fences stand, and from outside in
 * hidden ones, which are read-only. */
#ifndef ZW_SANDBOX_STANDINS_H
#define ZW_SANDBOX_STANDINS_H

#include "sandbox/init/proto.h"
#include "sandbox/plan.h"
#include "src/base/buf.h"

/** What is to be made: "dMMMM/PATH" a folder, "sMMMM/PATH" a socket file, MMMM its mode in octal, NUL
 * behind each, parents first. */
struct sb_standins {
	struct zw_buf fresh;  /* in private folders; at most SB_STANDINS_MAX */
	struct zw_buf hidden; /* in hidden ones; "w" and "r" with their paths open and close them */
};

/**
 * Writes both lists, with the modes that the real ones have for this user. What lies elsewhere gets
 * none.
 *
 * @paths  of real sockets, NUL behind each
 * @ret    initialised, empty
 */
void sb_standins_write(const struct sb_layout *l, const char *paths, size_t len,
		       struct sb_standins *ret);

/** Makes one entry, inside. What stands there already is not touched. Only system calls. */
void sb_standin_make(const char *entry);

/** Makes those of the hidden folders in the sandbox whose pid 1 is @pid. Returns 0 or -errno. */
int sb_standins_hide(pid_t pid, const struct sb_standins *s);

#endif
