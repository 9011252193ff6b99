/* SPDX-License-Identifier: MIT
 * zwatch-init: pid 1 of the sandbox, and the stage that becomes the agent. Libc only, static.
 *
 * Pid 1 is outside the agent's fences, so it must be of no use to the agent: not dumpable (no
 * /proc/1/mem, no ptrace), no descriptors, a filter with a handful of system calls. */
#ifndef ZW_SANDBOX_INIT_INIT_H
#define ZW_SANDBOX_INIT_INIT_H

#include <linux/filter.h>
#include <stddef.h>

#include "sandbox/init/proto.h"

/** Instructions, taken apart. All spans are borrowed from the mapped memfd. */
struct init_conf {
	struct sb_conf head;
	struct sock_filter *filter;
	size_t n_filter;
	char **env; /* owned; NULL-terminated */
	const char *socket_dirs;
	size_t socket_dirs_len;
	const char *canary, *runtime_dir, *cwd;
};

/** Reads the memfd and closes it. Returns 0 or -errno (-EPROTO: not from this build's zwatch). */
int init_conf_load(int fd, struct init_conf *ret);

/** Tells zwatch what failed and ends this process. */
void init_fail(int ctl, enum sb_stage stage, int error, const char *detail)
	__attribute__((noreturn));

/** Pid 1's whole life: gives everything up, reaps, ends with the status of @agent. */
void init_reap(int agent) __attribute__((noreturn));

/** The agent's side: session, terminal, fences, hand-over, self-test, exec. */
void init_stage(const struct init_conf *c, char **argv) __attribute__((noreturn));

/**
 * Tries from inside what must not work, and what must.
 *
 * Returns  NULL when all is right; else the name of the test (static) and *ret_error: errno that
 *          it gave, 0 for success
 */
const char *init_selftest(const struct init_conf *c, int *ret_error);

#endif
