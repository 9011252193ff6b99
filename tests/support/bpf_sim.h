/* SPDX-License-Identifier: MIT
 * A simulator of seccomp's BPF, as far as zwatch's filters use it. Anything else fails the test. */
#ifndef ZW_TESTS_SUPPORT_BPF_SIM_H
#define ZW_TESTS_SUPPORT_BPF_SIM_H

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>

#include "tests/support/test.h"

/** One load, as the kernel does it: 32 bits, inside the data, aligned. */
static uint32_t sim_load(const struct seccomp_data *d, uint32_t off)
{
	uint32_t value;

	assert_true(off % 4 == 0 && off + 4 <= sizeof(*d));
	memcpy(&value, (const char *)d + off, sizeof(value));
	return value;
}

/** The action that @prog gives for @d. */
static uint32_t sim_run(const struct sock_filter *prog, size_t n, const struct seccomp_data *d)
{
	uint32_t a = 0;

	for (size_t pc = 0; pc < n; pc++) {
		const struct sock_filter *i = &prog[pc];

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			a = sim_load(d, i->k);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			break;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= i->k ? i->jt : i->jf;
			break;
		case BPF_RET | BPF_K:
			return i->k;
		default:
			fail_msg("instruction %zu: code %#x", pc, i->code);
		}
	}
	fail_msg("runs off the end");
	return SECCOMP_RET_KILL_PROCESS;
}

static inline uint32_t sim_call(const struct sock_filter *prog, size_t n, uint32_t nr,
				const uint64_t args[6])
{
	struct seccomp_data d = {.nr = (int)nr, .arch = AUDIT_ARCH_X86_64};

	memcpy(d.args, args, sizeof(d.args));
	return sim_run(prog, n, &d);
}

#endif
