/* SPDX-License-Identifier: MIT
 * Who calls: what /proc tells about a task of the sandbox. The task can change its own name and
 * arguments, so this is for people to read, never to decide on; only `exe` takes part in rules. */
#ifndef ZW_SANDBOX_BROKER_WHO_H
#define ZW_SANDBOX_BROKER_WHO_H

#include <stddef.h>
#include <stdint.h>

#include "sandbox/broker/sys.h"

struct brk_who {
	uint32_t pid; /* of the process, as the host counts */
	char exe[4096];
	uint64_t exe_id; /* zw_file_id() of it, 0 = could not be told */
	char cwd[4096];
	char argv[4096]; /* NUL between arguments */
	size_t argv_len;
	char chain[1024]; /* "PID NAME" of each parent, NUL between */
	size_t chain_len;
};

/** The lines of /proc/PID/status that matter. */
struct brk_status {
	uint32_t tgid, ppid;
	uint32_t ns_tgid, ns_pid; /* as the innermost pid namespace counts */
};

/** Pure. Returns 0 or ZW_E_SYNTAX when a line is missing. */
int brk_status_parse(const char *text, struct brk_status *ret);
/** Reads and parses it; 0 or -errno, ZW_E_SYNTAX. */
int brk_status_read(const struct brk_sys *sys, pid_t tid, struct brk_status *ret);

/**
 * Fills @ret as far as it goes; what cannot be read stays empty. Parents are followed up to, and
 * without, @init_pid, at most 16 of them.
 *
 * Returns  0, or -errno when not even the process could be told
 */
int brk_who_read(const struct brk_sys *sys, pid_t tid, pid_t init_pid, struct brk_who *ret);

#endif
