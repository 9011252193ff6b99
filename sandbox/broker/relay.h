/* SPDX-License-Identifier: MIT
 * Carries bytes between the caller and a host socket. What is received here is received without
 * room for control data, so descriptors that either side passes are dropped by the kernel. */
#ifndef ZW_SANDBOX_BROKER_RELAY_H
#define ZW_SANDBOX_BROKER_RELAY_H

#include <stdint.h>

#include "src/ev/ev.h"

struct brk_relay;

/**
 * Starts. STREAM: bytes, half-close on each side by itself; SEQPACKET: message boundaries stay.
 *
 * @type       SOCK_STREAM or SOCK_SEQPACKET
 * @take_*_fd  owned from now on
 * @on_end     called once, on the loop, when both directions are over; the relay is gone after it
 * Returns     never NULL; ownership: its own until on_end, or brk_relay_free()
 */
struct brk_relay *brk_relay_new(struct zev_loop *loop, int type, int take_inside_fd,
				int take_host_fd,
				void (*on_end)(uint64_t up_b, uint64_t down_b, void *arg),
				void *arg);
/** Bytes so far, from and to the caller. */
void brk_relay_counts(const struct brk_relay *r, uint64_t *ret_up_b, uint64_t *ret_down_b);
/** Ends it now, without on_end. */
void brk_relay_free(struct brk_relay *r);

#endif
