/* SPDX-License-Identifier: MIT
 * The last line before each helper's loop: from here on the process can do what its role needs
 * and no more. The tables are in role.def. */
#ifndef ZW_SANDBOX_ROLE_LOCK_H
#define ZW_SANDBOX_ROLE_LOCK_H

#include <linux/filter.h>
#include <stddef.h>
#include <sys/types.h>

enum sb_role {
	SB_ROLE_PANE,
	SB_ROLE_PROXY,
	SB_ROLE_RESOLVER,
	SB_ROLE_BROKER,
	SB_ROLE_AUDIT,
	SB_ROLE_MAX
};

/**
 * Locks the calling process (all its threads) for good: NO_NEW_PRIVS, not dumpable, the
 * role's Landlock and system call filter. A call outside the role gets EPERM; one that only an
 * attack makes (execve, ptrace, mount ...) kills the process.
 * Descriptors that are open stay usable: open first, lock then. Landlock holds for the calling
 * thread and those it starts; call it before there are others.
 *
 * @folder  SB_ROLE_AUDIT: the store's folder, which stays readable and writable; else NULL
 * Returns  0 locked; 1 sanitized build, not filtered (say so); -errno: do not go on
 */
int sb_role_lock(enum sb_role role, const char *folder);

/**
 * The role's filter alone. Pure; for sb_role_lock() and its test.
 *
 * @self    process id that the filter takes for the caller's own
 * Returns  instructions, or ZW_E_TOOBIG
 */
int sb_role_filter(enum sb_role role, pid_t self, struct sock_filter *ret, size_t max);

/** "pane", "proxy", ... Static storage. */
const char *sb_role_name(enum sb_role role);

#endif
