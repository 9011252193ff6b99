/* SPDX-License-Identifier: MIT
 * clone(2) with shared memory. */
#include "sandbox/vmchild.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>

#include "src/base/mem.h"

#define STACK_B (256 * 1024) /* more than snprintf() and two pages of paths need; touched as used */

pid_t sb_vmchild(int (*fn)(void *), void *arg, int flags)
{
	zw_autofree char *stack = zw_xmalloc(STACK_B);
	uintptr_t top = ((uintptr_t)stack + STACK_B) & ~(uintptr_t)15;
	sigset_t all, before;

	/* A handler that runs in the child would change our memory. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid_t pid = clone(fn, (void *)top, CLONE_VM | CLONE_VFORK | flags, arg);
	int error = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? -error : pid;
}
