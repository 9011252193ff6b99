/* SPDX-License-Identifier: MIT
 * The agent's system call filter: what the table filter.def says, as BPF for seccomp(2). */
#ifndef ZW_SANDBOX_FILTER_H
#define ZW_SANDBOX_FILTER_H

#include <stdbool.h>

#include "sandbox/bpf.h"

/**
 * Makes the filter of the agent and all its children. Pure.
 *
 * @has_landlock  Landlock confines ptrace and process_vm_* to the agent's own processes; without
 *                it they are refused
 * @ret           filled, room for @max instructions
 * Returns        instructions, or ZW_E_TOOBIG
 */
int sb_filter_make(bool has_landlock, struct sock_filter *ret, size_t max);

#endif
