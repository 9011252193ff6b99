/* SPDX-License-Identifier: MIT
 * Policy over a channel: zwatch sends it as pol_* messages, the deciding process builds the same
 * `struct policy` from them. A new policy takes the place of the old one only when it is complete. */
#ifndef ZW_FEED_FEED_H
#define ZW_FEED_FEED_H

#include <stdbool.h>

#include "src/ipc/chan.h"
#include "src/policy/policy.h"

struct feed;

/** Never NULL; starts with a policy that denies everything (mode strict, no rule). */
struct feed *feed_new(void);
void feed_free(struct feed *f);

/**
 * Takes a pol_* message.
 *
 * Returns  1 taken, 0 not a pol_* message, < 0 a row that does not fit (class CHILD: the sender is
 *          zwatch, so a bad row is a bug; the policy in force stays)
 */
int feed_on_msg(struct feed *f, enum zw_msg_id id, const union zw_msg_any *msg);

/** The policy in force; borrowed, valid until the next feed_on_msg(). */
struct policy *feed_policy(struct feed *f);
/** Changes with every completed policy and every added rule; 0 = none has come yet. */
uint64_t feed_generation(const struct feed *f);

/** Sends one rule. */
void feed_send_rule(struct zw_chan *chan, const struct pol_rule *rule);

#endif
