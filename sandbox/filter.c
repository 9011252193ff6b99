/* SPDX-License-Identifier: MIT
 * The agent's filter, from its table. */
#include "sandbox/filter.h"

#include <errno.h>
#include <linux/net.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>

#include "sandbox/syscalls.h"
#include "src/base/err.h"
#include "src/base/mem.h"

#define TYPE_MASK 0xf /* SOCK_TYPE_MASK: the rest are SOCK_NONBLOCK and SOCK_CLOEXEC */
#define CLONE_NEW_ANY                                                                  \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET)

#define ALLOW  SECCOMP_RET_ALLOW
#define ASK    SECCOMP_RET_USER_NOTIF
#define FENCED SECCOMP_RET_TRACE /* stands for itself until sb_filter_make() knows */

static const struct sb_rule rows[] = {
#define SB_ROW(call, c1, c2, act) {__NR_##call, {c1, c2}, (act)},
#include "sandbox/filter.def"
#undef SB_ROW
};

int sb_filter_make(bool has_landlock, struct sock_filter *ret, size_t max)
{
	struct sb_rule rules[ZW_N_ELEMENTS(rows)];

	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		rules[i] = rows[i];
		if (rules[i].action == FENCED)
			rules[i].action = has_landlock ? ALLOW : SB_ERRNO(EPERM);
	}
	return sb_bpf_compile(rules, ZW_N_ELEMENTS(rules), ALLOW, ret, max);
}
