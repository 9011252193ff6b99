/* SPDX-License-Identifier: MIT
 * The part of sandbox/limits.h that runs in zwatch-init: libc only. */
#include <sys/resource.h>

#include "sandbox/limits.h"

static bool lower(int what, rlim_t to)
{
	struct rlimit r;

	if (getrlimit((__rlimit_resource_t)what, &r) < 0)
		return false;
	if (r.rlim_max == RLIM_INFINITY || r.rlim_max > to)
		r.rlim_max = to;
	if (r.rlim_cur == RLIM_INFINITY || r.rlim_cur > r.rlim_max)
		r.rlim_cur = r.rlim_max;
	return setrlimit((__rlimit_resource_t)what, &r) == 0;
}

unsigned sb_limits_rlimit(const struct sb_limits *l, unsigned missing)
{
	unsigned set = 0;

	/* Data, not address space: many runtimes reserve far more of that than they ever use. */
	if (missing & SB_LIMIT_MEMORY && lower(RLIMIT_DATA, (rlim_t)l->memory_b))
		set |= SB_LIMIT_MEMORY;
	/* Counted in the sandbox's own user namespace; one is pid 1. */
	if (missing & SB_LIMIT_PROCESSES && lower(RLIMIT_NPROC, (rlim_t)l->processes + 1))
		set |= SB_LIMIT_PROCESSES;
	return set;
}
