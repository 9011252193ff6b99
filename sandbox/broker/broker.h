/* SPDX-License-Identifier: MIT
 * zwatch-broker: answers the calls of the agent that the kernel holds for it (seccomp
 * notifications): connect(), the few socket() and socketpair() that make datagram sockets, and bind().
 *
 * It carries each connect() out itself, on a duplicate of the caller's socket, to a file that it has
 * pinned. None of those is ever let through to the kernel ("continue"): the caller could change the
 * address, or the descriptor, after they were judged. bind() is: it is only put on record, and Landlock
 * decides it. Whatever cannot be looked at is refused. */
#ifndef ZW_SANDBOX_BROKER_BROKER_H
#define ZW_SANDBOX_BROKER_BROKER_H

#include "sandbox/broker/sys.h"
#include "src/ev/ev.h"

struct broker;

struct broker_ops {
	/* Set up: lock down now. Returns 0, or < 0 to end. */
	int (*on_setup)(void *arg);
	/* Nothing is left to do: 0 = zwatch or the last task of the sandbox has gone, < 0 an error. */
	void (*on_end)(int error, void *arg);
};

/**
 * Starts on control channel @take_fd; says hello and waits for its setup.
 *
 * @sys   calls to look into other processes; borrowed
 * Returns  never NULL. Ownership: caller, broker_free()
 */
struct broker *broker_new(struct zev_loop *loop, int take_fd, const struct brk_sys *sys,
			  const struct broker_ops *ops, void *arg);
void broker_free(struct broker *b);

#endif
