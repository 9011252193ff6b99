/* SPDX-License-Identifier: MIT
 * A child that shares our memory and that we wait for until it executes a program or exits, as
 * vfork(2) does, on a stack of its own. Where a fork costs milliseconds (page tables, faults), this
 * costs some tens of microseconds, however large zwatch has grown. */
#ifndef ZW_SANDBOX_VMCHILD_H
#define ZW_SANDBOX_VMCHILD_H

#include <sys/types.h>

/**
 * Runs @fn(@arg) in a child and returns when that has executed a program or ended. Signals are
 * blocked meanwhile, in the child too. What @fn writes to memory we see; so it must not allocate,
 * and it ends by returning its exit status.
 *
 * @flags   more of clone(2): CLONE_FILES for one table of descriptors, and the signal of its end
 * Returns  the child's pid, which the caller reaps, or -errno
 */
pid_t sb_vmchild(int (*fn)(void *), void *arg, int flags);

#endif
