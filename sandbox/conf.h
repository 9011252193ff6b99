/* SPDX-License-Identifier: MIT
 * The memfds that bwrap and zwatch-init read, made out of a plan. */
#ifndef ZW_SANDBOX_CONF_H
#define ZW_SANDBOX_CONF_H

#include "sandbox/plan.h"

#define SB_CONF_BYTES_MAX (4u * 1024 * 1024) /* instructions of zwatch-init; environment included */
#define SB_ETC_MAX	  (256u * 1024)	     /* a file of /etc that is rewritten */

/** A close-on-exec memfd with these bytes, its offset at the start. Returns it or -errno. */
int sb_conf_memfd(const char *name, const void *p, size_t len);

/**
 * The rewritten nsswitch.conf of the layout.
 * Returns  a memfd; -1 where it cannot be read: the system's own stays then
 */
int sb_conf_nsswitch(const struct sb_layout *l);

/**
 * Instructions for zwatch-init (sandbox/init/proto.h).
 *
 * @ctl           number of its control socket
 * @stdio         numbers of the agent's standard descriptors; -1 with a terminal
 * @landlock_abi  0 = do without
 * @rlimits       enum sb_limit or-ed: limits of the plan that each process gets by itself
 * @canary        abstract name of a listener outside that the self-test must not reach
 * Returns        a memfd, -errno or ZW_E_TOOBIG
 */
int sb_conf_init(const struct sb_plan *p, const struct sb_layout *l, int ctl, const int stdio[3],
		 int landlock_abi, unsigned rlimits, const char *canary);

#endif
