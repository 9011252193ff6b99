/* SPDX-License-Identifier: MIT
 * Numbers of system calls and flags that older kernel headers (Debian 12: 6.1) do not have. */
#ifndef ZW_SANDBOX_SYSCALLS_H
#define ZW_SANDBOX_SYSCALLS_H

#include <sys/syscall.h>

#ifndef __NR_open_tree_attr
#define __NR_open_tree_attr 467
#endif
#ifndef __NR_set_mempolicy_home_node
#define __NR_set_mempolicy_home_node 450
#endif

#ifndef PIDFD_THREAD
#define PIDFD_THREAD 0200 /* O_EXCL, since 6.9 */
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5) /* since 5.19 */
#endif

#endif
