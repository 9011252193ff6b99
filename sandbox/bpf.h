/* SPDX-License-Identifier: MIT
 * Seccomp filters out of rule tables.
 *
 * A table is a list of rules; the first one that matches a call gives the answer, and a call that
 * no rule matches gets the default. Arguments are compared in their low 32 bits only, as the kernel
 * takes an int: a caller who sets the upper ones gains nothing. Calls of another architecture kill
 * the process; x32 numbers (>= 0x40000000) are answered ENOSYS, whatever the table says. */
#ifndef ZW_SANDBOX_BPF_H
#define ZW_SANDBOX_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

#define SB_BPF_MAX 1024 /* instructions; the kernel takes 4096 */

enum sb_cond_op { SB_COND_ANY, SB_COND_EQ, SB_COND_NE };

/** (argument & mask) compared with value. */
struct sb_cond {
	uint8_t op;  /* enum sb_cond_op */
	uint8_t arg; /* 0 to 5 */
	uint32_t mask, value;
};

struct sb_rule {
	uint32_t nr;		/* system call; rules of one call stand together */
	struct sb_cond cond[2]; /* both must hold */
	uint32_t action;	/* SECCOMP_RET_* with data */
};

/**
 * Compiles @rules. Pure.
 *
 * @fallback  action of what no rule matches
 * @ret       filled, room for @max instructions
 * Returns    instructions, or ZW_E_TOOBIG
 */
int sb_bpf_compile(const struct sb_rule *rules, size_t n_rules, uint32_t fallback,
		   struct sock_filter *ret, size_t max);

/* Words in which the tables are written. */
#define SB_ANY                       \
	{                            \
		SB_COND_ANY, 0, 0, 0 \
	}
#define SB_IS(arg, v)                                         \
	{                                                     \
		SB_COND_EQ, (arg), 0xffffffffu, (uint32_t)(v) \
	}
#define SB_ISNT(arg, v)                                       \
	{                                                     \
		SB_COND_NE, (arg), 0xffffffffu, (uint32_t)(v) \
	}
#define SB_BITS(arg, m, v)                                      \
	{                                                       \
		SB_COND_EQ, (arg), (uint32_t)(m), (uint32_t)(v) \
	}
#define SB_HAS_ANY(arg, m)                          \
	{                                           \
		SB_COND_NE, (arg), (uint32_t)(m), 0 \
	}
#define SB_ERRNO(e) (SECCOMP_RET_ERRNO | (uint32_t)(e))

#endif
