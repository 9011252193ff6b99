/* SPDX-License-Identifier: MIT
 * The mount namespace of a sandbox, joined from outside by a child of sb_vmchild(). Nobody inside has
 * power over it: its owner is the outer of bwrap's two user namespaces. */
#ifndef ZW_SANDBOX_MNTNS_H
#define ZW_SANDBOX_MNTNS_H

#include <sys/types.h>

/**
 * Runs @fn in a child that shares our memory and has joined the mount namespace of @pid, with the power
 * of its owner. Only system calls there; paths are those inside.
 *
 * Returns  what @fn did, or -errno when it did not come to that
 */
int sb_mntns_run(pid_t pid, int (*fn)(void *arg), void *arg);

#endif
