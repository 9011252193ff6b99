/* SPDX-License-Identifier: MIT
 * Locking a helper into its role. */
#include "sandbox/role_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/bpf.h"
#include "sandbox/landlock.h"
#include "sandbox/syscalls.h"
#include "src/base/err.h"
#include "src/base/mem.h"

#define P   (1u << SB_ROLE_PANE)
#define X   (1u << SB_ROLE_PROXY)
#define R   (1u << SB_ROLE_RESOLVER)
#define B   (1u << SB_ROLE_BROKER)
#define A   (1u << SB_ROLE_AUDIT)
#define NET (X | R)
#define ALL (P | X | R | B | A)

#define TYPE_MASK	0xf
#define SELF		0xfffffffe		 /* no process has this id */
#define NOTIF_SET_FLAGS SECCOMP_IOW(4, uint64_t) /* since 6.6 */

#define DIE SECCOMP_RET_KILL_PROCESS

static const struct row {
	unsigned roles;
	struct sb_rule rule;
} rows[] = {
#define SB_GIVES(roles, call, action)  {(roles), {__NR_##call, {SB_ANY, SB_ANY}, (action)}},
#define SB_MAY(roles, call)	       SB_GIVES(roles, call, SECCOMP_RET_ALLOW)
#define SB_MAY_IF(roles, call, c1, c2) {(roles), {__NR_##call, {c1, c2}, SECCOMP_RET_ALLOW}},
#define SB_DIES(call)		       SB_GIVES(ALL, call, DIE)
#include "sandbox/role.def"
};

const char *sb_role_name(enum sb_role role)
{
	static const char *const names[SB_ROLE_MAX] = {
		[SB_ROLE_PANE] = "pane",	 [SB_ROLE_PROXY] = "proxy",
		[SB_ROLE_RESOLVER] = "resolver", [SB_ROLE_BROKER] = "broker",
		[SB_ROLE_AUDIT] = "audit",
	};

	return (unsigned)role < SB_ROLE_MAX ? names[role] : "?";
}

int sb_role_filter(enum sb_role role, pid_t self, struct sock_filter *ret, size_t max)
{
	struct sb_rule rules[ZW_N_ELEMENTS(rows)];
	size_t n = 0;

	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		if (!(rows[i].roles & (1u << role)))
			continue;
		rules[n] = rows[i].rule;
		if (rules[n].cond[0].op != SB_COND_ANY && rules[n].cond[0].value == SELF)
			rules[n].cond[0].value = (uint32_t)self;
		n++;
	}
	return sb_bpf_compile(rules, n, SB_ERRNO(EPERM), ret, max);
}

#ifdef ZW_SANITIZED

int sb_role_lock(enum sb_role role, const char *folder)
{
	(void)role;
	(void)folder;
	return 1; /* the sanitizers' own system calls are not in the tables */
}

#else

static int landlock(enum sb_role role, const char *folder)
{
	int r;

	/* Landlock would keep the broker from reading the agent, which is in another domain. */
	if (role == SB_ROLE_BROKER)
		return 0;
	r = sb_landlock_helper(role == SB_ROLE_AUDIT ? folder : NULL);
	return r == -ENOSYS ? 0 : r;
}

int sb_role_lock(enum sb_role role, const char *folder)
{
	struct sock_filter filter[SB_BPF_MAX];
	int n = sb_role_filter(role, getpid(), filter, SB_BPF_MAX);
	struct sock_fprog prog = {(unsigned short)(n > 0 ? n : 0), filter};
	int r;

	if (n < 0)
		return n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	r = landlock(role, folder);
	if (r < 0)
		return r;
	long done = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &prog);
	/* A positive number is a thread that could not be filtered. */
	return done < 0 ? -errno : done > 0 ? -EBUSY : 0;
}

#endif
