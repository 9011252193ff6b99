/* SPDX-License-Identifier: MIT
 * Rule table to BPF. The code is plain and in table order, so that a listing can be read beside
 * the table; since 5.11 the kernel answers calls without argument rules from a bitmap anyway. */
#include "sandbox/bpf.h"

#include <errno.h>
#include <linux/audit.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/base/err.h"

#if !defined(__x86_64__)
#error "the rule tables name x86-64 system calls: add the architecture here and there"
#endif

#define SB_ARCH	   AUDIT_ARCH_X86_64
#define SB_X32_BIT 0x40000000u

#define OFF_NR	   offsetof(struct seccomp_data, nr)
#define OFF_ARCH   offsetof(struct seccomp_data, arch)
#define OFF_ARG(n) (offsetof(struct seccomp_data, args) + (n) * sizeof(uint64_t)) /* low half */

struct out {
	struct sock_filter *insn; /* borrowed */
	size_t n, max;
};

static void emit(struct out *o, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	if (o->n < o->max)
		o->insn[o->n] = (struct sock_filter){code, jt, jf, k};
	o->n++; /* counts on, so that too little room is seen at the end */
}

static void emit_load(struct out *o, size_t off)
{
	emit(o, BPF_LD | BPF_W | BPF_ABS, (uint32_t)off, 0, 0);
}

static void emit_return(struct out *o, uint32_t action)
{
	emit(o, BPF_RET | BPF_K, action, 0, 0);
}

static size_t cond_len(const struct sb_cond *c)
{
	if (c->op == SB_COND_ANY)
		return 0;
	return c->mask == UINT32_MAX ? 2 : 3;
}

/** Goes on when @c holds, else jumps over the @rest instructions that follow. */
static void emit_cond(struct out *o, const struct sb_cond *c, size_t rest)
{
	if (c->op == SB_COND_ANY)
		return;
	emit_load(o, OFF_ARG(c->arg));
	if (c->mask != UINT32_MAX)
		emit(o, BPF_ALU | BPF_AND | BPF_K, c->mask, 0, 0);
	if (c->op == SB_COND_EQ)
		emit(o, BPF_JMP | BPF_JEQ | BPF_K, c->value, 0, (uint8_t)rest);
	else
		emit(o, BPF_JMP | BPF_JEQ | BPF_K, c->value, (uint8_t)rest, 0);
}

static void emit_rule(struct out *o, const struct sb_rule *r)
{
	emit_cond(o, &r->cond[0], cond_len(&r->cond[1]) + 1);
	emit_cond(o, &r->cond[1], 1);
	emit_return(o, r->action);
}

static size_t rule_len(const struct sb_rule *r)
{
	return cond_len(&r->cond[0]) + cond_len(&r->cond[1]) + 1;
}

static bool is_unconditional(const struct sb_rule *r)
{
	return r->cond[0].op == SB_COND_ANY && r->cond[1].op == SB_COND_ANY;
}

/** One call's rules: the number is in the accumulator before and, when none matched, nothing is
 * left to compare, so the group ends in the fallback. Returns rules taken. */
static size_t emit_group(struct out *o, const struct sb_rule *rules, size_t n, uint32_t fallback)
{
	size_t n_group = 1, len = 0;

	while (n_group < n && rules[n_group].nr == rules[0].nr)
		n_group++;
	for (size_t i = 0; i < n_group; i++)
		len += rule_len(&rules[i]);
	if (!is_unconditional(&rules[n_group - 1]))
		len++;
	/* A far jump, since a group may be longer than the 255 that a test can skip. */
	if (len > 255) {
		emit(o, BPF_JMP | BPF_JEQ | BPF_K, rules[0].nr, 1, 0);
		emit(o, BPF_JMP | BPF_JA, (uint32_t)len, 0, 0);
	} else {
		emit(o, BPF_JMP | BPF_JEQ | BPF_K, rules[0].nr, 0, (uint8_t)len);
	}
	for (size_t i = 0; i < n_group; i++)
		emit_rule(o, &rules[i]);
	if (!is_unconditional(&rules[n_group - 1]))
		emit_return(o, fallback);
	return n_group;
}

int sb_bpf_compile(const struct sb_rule *rules, size_t n_rules, uint32_t fallback,
		   struct sock_filter *ret, size_t max)
{
	struct out o = {ret, 0, max};

	emit_load(&o, OFF_ARCH);
	emit(&o, BPF_JMP | BPF_JEQ | BPF_K, SB_ARCH, 1, 0);
	emit_return(&o, SECCOMP_RET_KILL_PROCESS);
	emit_load(&o, OFF_NR);
	emit(&o, BPF_JMP | BPF_JGE | BPF_K, SB_X32_BIT, 0, 1);
	emit_return(&o, SB_ERRNO(ENOSYS));
	for (size_t i = 0; i < n_rules;)
		i += emit_group(&o, &rules[i], n_rules - i, fallback);
	emit_return(&o, fallback);
	return o.n <= max ? (int)o.n : ZW_E_TOOBIG;
}
