/* SPDX-License-Identifier: MIT
 * Pid 1 after its work is done: it waits, and ends with the agent. */
#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/bpf.h"
#include "sandbox/init/init.h"

static void lock(void)
{
	static const struct sb_rule rules[] = {
		{__NR_wait4, {SB_ANY, SB_ANY}, SECCOMP_RET_ALLOW},
		{__NR_exit_group, {SB_ANY, SB_ANY}, SECCOMP_RET_ALLOW},
		{__NR_rt_sigreturn, {SB_ANY, SB_ANY}, SECCOMP_RET_ALLOW},
		{__NR_kill, {SB_IS(0, -1), SB_IS(1, SIGSTOP)}, SECCOMP_RET_ALLOW},
	};
	struct sock_filter filter[64];
	int n = sb_bpf_compile(rules, sizeof(rules) / sizeof(rules[0]), SECCOMP_RET_KILL_PROCESS,
			       filter, 64);
	struct sock_fprog prog = {(unsigned short)(n > 0 ? n : 0), filter};

	/* An open pid 1 is a way around everything: rather no sandbox at all. */
	if (n < 0 || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
		_exit(125);
}

/* zwatch wants all to stand still. Only pid 1 can stop them in one call, which no fork escapes. The
 * kernel says 0 for a sender outside. It may say so as well of one inside that has used up its signal
 * queue: that one stops itself and its own, which it can do anyway, so nothing more may hang on it. */
static void on_stop_all(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_code == SI_USER && info->si_pid == 0)
		syscall(SYS_kill, -1, SIGSTOP);
}

void init_reap(int agent)
{
	struct sigaction stop_all = {.sa_sigaction = on_stop_all, .sa_flags = SA_SIGINFO};

	prctl(PR_SET_NAME, "zwatch-init");
	if (close_range(0, ~0u, 0) < 0)
		_exit(125);
	sigaction(SB_SIGNAL_STOP_ALL, &stop_all, NULL);
	lock();
	for (;;) {
		int status;
		long pid = syscall(SYS_wait4, -1, &status, 0, NULL);

		if (pid != agent)
			continue; /* an orphan, or a stop */
		if (WIFEXITED(status))
			syscall(SYS_exit_group, WEXITSTATUS(status));
		if (WIFSIGNALED(status))
			syscall(SYS_exit_group, 128 + WTERMSIG(status));
	}
}
