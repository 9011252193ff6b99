/* SPDX-License-Identifier: MIT
 * A child that shares our memory and that we wait for until it executes a program or exits, as
 * vfork(2) does, on a stack of its own. Where a fork costs milliseconds (page tables, faults), this
 * costs some tens of microseconds, however large zwatch has grown. */
#ifndef ZW_SANDBOX_VMCHILD_H
#define ZW_SANDBOX_VMCHILD_H

#include <sys/types.h>

/**
 * Runs @fn(@arg) in a child and returns when it has called execve() or _exit(). Signals are blocked
 * meanwhile, in the child too. @fn must not return to its caller by other ways, nor allocate; what
 * it writes to memory we see.
 *
 * @flags   more of clone(2): CLONE_FILES for one table of descriptors, and the signal of its end
 * Returns  the child's pid, which the caller reaps, or -errno
 */
pid_t sb_vmchild(int (*fn)(void *), void *arg, int flags);

#endif
