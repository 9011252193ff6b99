/* SPDX-License-Identifier: MIT
 * Time limits of many connections on one timer: a wheel of slots that turns every PX_TICK_MS. A
 * limit fires at its time or up to one tick later; setting and clearing cost a list operation. */
#ifndef ZW_PROXY_WHEEL_H
#define ZW_PROXY_WHEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "src/ev/ev.h"

#define PX_TICK_MS 50

struct px_timeout;
TAILQ_HEAD(px_timeouts, px_timeout);

/** A time limit inside the caller's object; zero it before the first use. */
struct px_timeout {
	TAILQ_ENTRY(px_timeout) link;
	struct px_timeouts *list; /* where it hangs, NULL = not set */
	int64_t due_ms;
	void (*on_timeout)(void *arg);
	void *arg;
};

struct px_wheel;

/** Never NULL. Ownership: px_wheel_free(), NULL is ok; nothing may hang in it then. */
struct px_wheel *px_wheel_new(struct zev_loop *loop);
void px_wheel_free(struct px_wheel *w);

/** Calls @on_timeout(@arg) once in @delay_ms, in the place of what was set before. */
void px_timeout_set(struct px_wheel *w, struct px_timeout *t, int64_t delay_ms,
		    void (*on_timeout)(void *arg), void *arg);
void px_timeout_clear(struct px_wheel *w, struct px_timeout *t);

/** Limits that are set. */
size_t px_wheel_n(const struct px_wheel *w);

#endif
