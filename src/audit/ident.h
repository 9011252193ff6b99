/* SPDX-License-Identifier: MIT
 * Which process of zwatch a session belongs to, so that the next start can tell a session that still
 * runs from one that was cut off. A pid alone is given again; with its start time it is not. */
#ifndef ZW_AUDIT_IDENT_H
#define ZW_AUDIT_IDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct aud_ident {
	int64_t pid, start; /* start: clock ticks after boot */
	int64_t pid_ns;	    /* inode of its pid namespace, 0 = not known */
	char boot[40];	    /* id of the boot, "" = not known */
};

/** Who @pid is. Returns 0 or -errno (-ESRCH: no such process). */
int aud_ident_get(pid_t pid, struct aud_ident *ret);

/**
 * Whether the process may still run. Yes as well when that cannot be seen from here (another pid
 * namespace of this boot): a session is called crashed only when it is sure.
 */
bool aud_ident_may_live(const struct aud_ident *who);

/** Start time out of the text of /proc/PID/stat. Returns 0 or ZW_E_SYNTAX. Pure. */
int aud_stat_start(const char *text, int64_t *ret_start);

#endif
