/* SPDX-License-Identifier: MIT
 * A few threads for what may wait: paths on slow storage, /proc, a full backlog. The loop hands a
 * job over and gets it back; meanwhile it does not touch what the job uses.
 *
 * When all threads hang in something (a file server that does not answer) and nothing has been taken
 * up for a moment, there are more of them, so that others need not wait for it. */
#ifndef ZW_SANDBOX_BROKER_POOL_H
#define ZW_SANDBOX_BROKER_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "src/ev/ev.h"

struct brk_pool;

struct brk_job {
	STAILQ_ENTRY(brk_job) link;
	/* On a thread. Returns false to be called again later, behind all others that wait. */
	bool (*work)(struct brk_job *job);
	/* On the loop, when work() has returned true. */
	void (*done)(struct brk_job *job);
};

/** Never NULL. Threads start with the first job, so after the lock-down. */
struct brk_pool *brk_pool_new(struct zev_loop *loop, unsigned n_threads);
/**
 * Waits a moment for the jobs that run; others are dropped, not done.
 *
 * Returns  true; false = a thread hangs and may come back to what its job uses. Then nothing of that
 *          may be freed: end by _exit()
 */
bool brk_pool_free(struct brk_pool *p);

/** Ownership: @job is the pool's until done(). */
void brk_pool_add(struct brk_pool *p, struct brk_job *job);

/** Whether others wait for a thread, so that a job should not hold it long. Any thread. */
bool brk_pool_is_busy(struct brk_pool *p);

#endif
