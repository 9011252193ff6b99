/* SPDX-License-Identifier: MIT
 * Limits on what a session takes of the machine. A control group (cgroup v2) bounds all processes
 * of the sandbox together, and freezes them at once; it needs a part of the tree that is the user's own, as systemd gives to
 * each user manager. Where there is none, rlimits bound each process by itself, which is less: what
 * was asked for and what came of it are told apart. */
#ifndef ZW_SANDBOX_LIMITS_H
#define ZW_SANDBOX_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** What is wanted; 0 = no limit. */
struct sb_limits {
	uint64_t memory_b;
	uint32_t processes;
	uint32_t cpu_percent; /* of one processor: 150 is one and a half */
};

enum sb_limit { SB_LIMIT_MEMORY = 1, SB_LIMIT_PROCESSES = 2, SB_LIMIT_CPU = 4 };

/** A control group of one session. */
struct sb_group {
	char *path;   /* owned; NULL = none */
	int procs_fd; /* cgroup.procs; writing 0 moves the writer in. -1 = none */
	unsigned has; /* enum sb_limit or-ed: in force for all processes together */
	char *why;    /* owned; why it is not there, or not all of it; NULL = all is */
};

/** How often limits were met so far. */
struct sb_group_events {
	uint64_t n_forks_refused, n_killed; /* by number of processes; for want of memory */
};

/** Which limits are wanted (enum sb_limit or-ed). */
unsigned sb_limits_wanted(const struct sb_limits *l);

/**
 * Which limits a control group could set for a session here, tried by making one.
 *
 * @ret_why  owned by the caller; a sentence when something is missing, else NULL
 */
unsigned sb_limits_possible(char **ret_why);

/** Makes the group for @l. What it cannot do is told in @ret; it never fails otherwise. With no
 * limit wanted there is no group. */
void sb_group_make(const struct sb_limits *l, struct sb_group *ret);
/**
 * A group without limits, to freeze what is moved into it. @ret holds none yet.
 *
 * Returns  0, or -errno: no part of the tree of groups is the user's own
 */
int sb_group_make_bare(struct sb_group *ret);
/** Moves a process into it, and what it forks from then on. Returns 0 or -errno. */
int sb_group_add(const struct sb_group *g, pid_t pid);
/** Stops all that is in it, and all that is moved into it, until it is thawed. Returns 0 or -errno. */
int sb_group_freeze(const struct sb_group *g, bool is_frozen);
void sb_group_events(const struct sb_group *g, struct sb_group_events *ret);
/** Ends every process that is left in it, and removes it. */
void sb_group_fini(struct sb_group *g);

/** Sets, in the calling process, what @missing of @l an rlimit can do; never above what is in force.
 * Only system calls. Returns enum sb_limit or-ed: what was set. */
unsigned sb_limits_rlimit(const struct sb_limits *l, unsigned missing);

#endif
