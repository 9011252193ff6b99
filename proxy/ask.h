/* SPDX-License-Identifier: MIT
 * Questions to the user: one per program and destination, however many connections wait for it.
 * "Once" covers what the same program opens to the same place in the next seconds, since one click
 * of a user is seldom one connection. */
#ifndef ZW_PROXY_ASK_H
#define ZW_PROXY_ASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "proxy/wheel.h"
#include "proxy/who.h"
#include "src/policy/policy.h"
#include "src/ipc/chan.h"

/* How long "once" lasts. */
#define PX_ONCE_MS 10000

/** An answer, as the one who waits gets it. */
struct px_answer {
	bool is_allowed;
	unsigned did; /* ZW_DID_ALLOW, DENY or MISS */
	unsigned by;
	uint32_t rule;
	unsigned scope;
	const char *reason; /* static or borrowed for the call */
	const char *note;   /* of the user, for the agent; borrowed for the call */
};

struct px_question;

/** Part of a connection that waits; zero it first. */
struct px_waiter {
	TAILQ_ENTRY(px_waiter) link;
	struct px_question *question; /* NULL = does not wait */
	void (*on_answer)(void *arg, const struct px_answer *a);
	void *arg;
};

struct px_asks;

/** @hold_ms  a question that is not answered by then is missed; 0 = it waits for as long as it takes */
struct px_asks *px_asks_new(struct zw_chan *chan, struct px_wheel *wheel, bool can_ask,
			    uint64_t hold_ms);
/** Waiters are dropped without an answer. NULL is ok. */
void px_asks_free(struct px_asks *a);

/**
 * Asks, or joins a question that is open, or takes the answer of a moment ago.
 *
 * @target      host:port, canonical; @asked: as the client spelt it
 * @why         the decision that it is asked by
 * @on_answer   called once, unless px_ask_cancel() comes first; never from within this call
 * Returns      1 waits; 0 and ret_answer: it was answered a moment ago, or nobody can be asked
 *              (strings there live until the next call)
 */
int px_ask(struct px_asks *a, const char *target, const char *asked, const struct px_who *who,
	   const struct pol_decision *why, struct px_waiter *w,
	   void (*on_answer)(void *arg, const struct px_answer *answer), void *arg,
	   struct px_answer *ret_answer);

/** The client has gone. */
void px_ask_cancel(struct px_asks *a, struct px_waiter *w);

/** The user's answer. */
void px_ask_answered(struct px_asks *a, const struct zw_msg_ask_answer *m);

/**
 * Answers every question for which @judge has an answer by now: the rules have changed.
 *
 * @judge  returns true and fills the answer; arg is px_waiter.arg
 */
void px_ask_rejudge(struct px_asks *a, bool (*judge)(void *arg, struct px_answer *ret));

/** Answers of a moment ago count no more. */
void px_asks_forget(struct px_asks *a);

/** Questions that are open. */
size_t px_asks_n(const struct px_asks *a);

#endif
