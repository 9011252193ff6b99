/* SPDX-License-Identifier: MIT
 * Carries bytes between the caller and a host socket. What is received here is received without
 * room for control data, so descriptors that either side passes are dropped by the kernel, which says
 * so. */
#ifndef ZW_SANDBOX_BROKER_RELAY_H
#define ZW_SANDBOX_BROKER_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ev/ev.h"

struct brk_relay;

struct brk_relay_ops {
	/* Once, on the loop, when both directions are over; the relay is gone after it. */
	void (*on_end)(uint64_t up_b, uint64_t down_b, void *arg);
	/* A message came with descriptors, which were dropped; its bytes go on. NULL = not told. */
	void (*on_passed)(bool is_from_inside, void *arg);
};

/**
 * Starts. STREAM: bytes, half-close on each side by itself; SEQPACKET: message boundaries stay.
 *
 * @type       SOCK_STREAM or SOCK_SEQPACKET
 * @take_*_fd  owned from now on
 * @ops        borrowed
 * Returns     never NULL; ownership: its own until on_end, or brk_relay_free()
 */
struct brk_relay *brk_relay_new(struct zev_loop *loop, int type, int take_inside_fd,
				int take_host_fd, const struct brk_relay_ops *ops, void *arg);
/** Bytes so far, from and to the caller. */
void brk_relay_counts(const struct brk_relay *r, uint64_t *ret_up_b, uint64_t *ret_down_b);
/** Ends it now, without on_end. */
void brk_relay_free(struct brk_relay *r);

#endif
