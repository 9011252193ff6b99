/* SPDX-License-Identifier: MIT
 * connect() on a socket that belongs to somebody else, without waiting longer than a moment.
 *
 * O_NONBLOCK belongs to the open file, which the caller shares, so it is left alone. The send timeout
 * bounds a connect() as well (socket(7)); it is set for the moment and put back. A Unix connect() that
 * times out has had no effect, an internet one goes on and is asked again. */
#ifndef ZW_SANDBOX_BROKER_GUARD_H
#define ZW_SANDBOX_BROKER_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct brk_guard {
	bool is_started;
	bool is_blocking; /* the caller's socket is */
	int64_t start_ms;
	int64_t limit_ms; /* the caller's own SO_SNDTIMEO, 0 = none */
};

#define BRK_GUARD_AGAIN (-10000)

/**
 * Tries for at most @slice_ms.
 *
 * @g       zeroed before the first try of a call
 * Returns  0 or -errno as the caller would get it; BRK_GUARD_AGAIN: it would still wait, try again
 */
int brk_guard_connect(struct brk_guard *g, int fd, const void *addr, size_t len, int slice_ms);

#endif
