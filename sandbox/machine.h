/* SPDX-License-Identifier: MIT
 * What this machine can do, for `zwatch check`: each feature that the sandbox stands on is tried,
 * not guessed from version numbers. */
#ifndef ZW_SANDBOX_MACHINE_H
#define ZW_SANDBOX_MACHINE_H

#include <stddef.h>

enum sb_grade { SB_GRADE_OK, SB_GRADE_WARN, SB_GRADE_FAIL };

struct sb_check {
	const char *name; /* "user namespaces"; static */
	enum sb_grade grade;
	char found[240]; /* what is there: "bubblewrap 0.8.0, /usr/bin/bwrap" */
	char fix[512];	 /* what to do; "" when ok */
};

#define SB_CHECK_MAX 12

/**
 * Tries them all: kernel, user namespaces, AppArmor, bwrap, seccomp notifications, Landlock, Yama,
 * access to processes, zwatch-init, what is around us; the last one is the level that they come to.
 * Takes some milliseconds; forks.
 *
 * @bwrap, @init  paths; NULL = not found
 * @ret           room for SB_CHECK_MAX
 * Returns        number of checks
 */
size_t sb_machine_check(const char *bwrap, const char *init, struct sb_check ret[SB_CHECK_MAX]);

#endif
