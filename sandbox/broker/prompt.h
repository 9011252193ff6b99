/* SPDX-License-Identifier: MIT
 * Questions to the user, one for each who + what however many calls wait on it, and the answers that
 * hold for the session. */
#ifndef ZW_SANDBOX_BROKER_PROMPT_H
#define ZW_SANDBOX_BROKER_PROMPT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "sandbox/broker/lookup.h"
#include "src/ev/ev.h"
#include "src/policy/policy.h"

struct brk_prompts;
struct brk_prompt;

/** One call's place in a question. */
struct brk_wait {
	TAILQ_ENTRY(brk_wait) link;
	struct brk_prompt *prompt; /* NULL = not waiting */
};

struct brk_answer {
	enum pol_verdict verdict; /* ALLOW or DENY */
	unsigned did;		  /* ZW_DID_* to record a refusal as */
	unsigned by;
	uint32_t rule;
	char note[512];
};

struct brk_prompts_ops {
	/* First of its kind: put question @ask. */
	void (*ask)(struct brk_wait *first, uint64_t ask, void *arg);
	void (*more)(uint64_t ask, uint32_t n_waiting, void *arg);
	void (*gone)(uint64_t ask, void *arg);
	/* The verdict for one; it waits no more. */
	void (*answered)(struct brk_wait *w, const struct brk_answer *a, void *arg);
};

/** @hold_ms: how long a question may stay open, 0 = no limit. Never NULL. */
struct brk_prompts *brk_prompts_new(struct zev_loop *loop, const struct brk_prompts_ops *ops,
				    void *arg);
/** No call may wait any more. */
void brk_prompts_free(struct brk_prompts *p);
void brk_prompts_hold(struct brk_prompts *p, int64_t hold_ms);

/**
 * Lets @w wait for the answer about @f and @who (program, with what tells it from others of the same
 * path), in an open question or a new one.
 * Returns 0, or ZW_E_BUSY when there are too many questions.
 */
int brk_prompts_wait(struct brk_prompts *p, const struct brk_found *f, const char *who,
		     struct brk_wait *w);
/** Whether @w waits in question @ask. */
bool brk_prompts_is(const struct brk_wait *w, uint64_t ask);
/** Takes @w out: its caller is gone. The last one takes the question with it. NULL prompt is ok. */
void brk_prompts_leave(struct brk_prompts *p, struct brk_wait *w);
/** Answers question @ask; an unknown number is an answer that came too late. */
void brk_prompts_answer(struct brk_prompts *p, uint64_t ask, const struct brk_answer *a);
/** Answers whatever question @w waits in, for instance because a rule was added; zwatch is told that
 * it is gone. */
void brk_prompts_settle(struct brk_prompts *p, struct brk_wait *w, const struct brk_answer *a);

/** An answer for the rest of the session. */
struct brk_memory;
struct brk_memory *brk_memory_new(void);
void brk_memory_free(struct brk_memory *m);

/** Keeps @a for @f and @exe; the file stays pinned. The oldest of 256 makes room. */
void brk_memory_add(struct brk_memory *m, const struct brk_found *f, const char *exe,
		    const struct brk_answer *a);
/** Forgets what is kept for @path and @exe; @exe "" = for any program. */
void brk_memory_forget(struct brk_memory *m, struct zw_span path, struct zw_span exe);
/**
 * The answer kept for this socket and program, or NULL. The same file is the same socket. A new file
 * under the same path counts only where the agent cannot make one (not visible inside), and with the
 * same program of the same user behind it.
 */
const struct brk_answer *brk_memory_find(const struct brk_memory *m, const struct brk_found *f,
					 const char *exe);

#endif
