/* SPDX-License-Identifier: MIT
 * Paths as the caller sees them, turned into a descriptor of the very file (O_PATH): from there on
 * no text is looked at again.
 *
 * The quick way asks the kernel alone. Where that may wait for a disk or has to leave the caller's
 * root (symbolic links of a relative path, /proc/self/...), the slow way goes component by component. */
#ifndef ZW_SANDBOX_BROKER_WALK_H
#define ZW_SANDBOX_BROKER_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "sandbox/broker/sys.h"

#define BRK_PATH_MAX 4096

/** Where a call stands. Descriptors are borrowed. */
struct brk_place {
	pid_t tid;
	int pidfd;
	int root_fd; /* O_PATH of its root */
	int cwd_fd;  /* O_PATH of its working folder; -1 when only absolute paths are looked up */
};

/**
 * The quick way. Never waits for storage.
 *
 * Returns  descriptor, or -errno: -EAGAIN, -ELOOP, -EXDEV and -ENOENT mean that brk_walk() has to look
 */
int brk_walk_quick(const struct brk_sys *sys, const struct brk_place *at, const char *path);

/**
 * The slow way. Follows links of the caller's root and, of /proc, those that belong to the caller
 * itself: self, thread-self, root, cwd and fd/N. Links of other processes in /proc are -EACCES.
 *
 * @ret_missing  BRK_PATH_MAX bytes. On -ENOENT: absolute path, free of links and dots, of what is not
 *               there; "" when it has no such name
 * Returns       descriptor of the file (O_PATH, or the caller's own for fd/N), or -errno
 * Ownership     caller closes
 */
int brk_walk(const struct brk_sys *sys, const struct brk_place *at, const char *path,
	     char *ret_missing);

/**
 * Absolute path of what @fd stands for, as the caller sees it; free of links.
 *
 * @out     BRK_PATH_MAX bytes
 * Returns  0, or ZW_E_NOT_FOUND: it was removed, or lies outside the caller's root
 */
int brk_walk_name(const struct brk_place *at, int fd, char *out);

#endif
