/* SPDX-License-Identifier: MIT
 * What is recorded: events on their way to zwatch. The same thing by the same program is one row
 * with a count, so that a loop inside is not a storm outside. */
#ifndef ZW_SANDBOX_BROKER_RECORD_H
#define ZW_SANDBOX_BROKER_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/broker/lookup.h"
#include "sandbox/broker/who.h"
#include "src/ipc/chan.h"
#include "src/policy/policy.h"

/** One row. */
struct brk_event {
	uint64_t seq; /* given when it is first sent */
	bool is_conn; /* conn_event (an address that was refused) instead of sock_event */
	int64_t t_us; /* wall clock */
	unsigned did, op, by;
	unsigned risk; /* enum pol_risk */
	uint32_t rule;
	char target[BRK_PATH_MAX]; /* sock_event: path or name; conn_event: the address */
	char asked[BRK_PATH_MAX];
	char class_name[64];
	char reason[512], note[512];
	uint16_t port; /* conn_event */
	struct brk_listener listener;
	uint64_t waited_ms, up_b, down_b;
	uint32_t n_times;
	struct brk_who who;
};

struct brk_recorder;

/** Never NULL. @chan is borrowed. */
struct brk_recorder *brk_recorder_new(struct zev_loop *loop, struct zw_chan *chan);
/** Sends what is still counted, then frees. */
void brk_recorder_free(struct brk_recorder *r);

/**
 * Sends a row, or an update of it (the same seq, kept in @e).
 *
 * @phase  0 opened or refused, 1 counts, 2 closed
 */
void brk_record(struct brk_recorder *r, struct brk_event *e, bool want_commit, unsigned phase);

/** What makes two events the same. Strings are borrowed. */
struct brk_fold_key {
	unsigned did, op, by;
	const char *target, *exe, *reason;
};

/**
 * Counts one more of a row that was sent before; told to zwatch at most once a second.
 * Returns false when there is none: fill an event and brk_fold_add() it.
 */
bool brk_fold_count(struct brk_recorder *r, const struct brk_fold_key *k);
/** Sends a first row and remembers it under @k. Ownership: takes @take_event (from the heap). */
void brk_fold_add(struct brk_recorder *r, const struct brk_fold_key *k,
		  struct brk_event *take_event);

#endif
