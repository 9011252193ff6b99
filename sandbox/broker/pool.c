/* SPDX-License-Identifier: MIT */
#include "sandbox/broker/pool.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "src/base/mem.h"

#define THREADS_MAX 64
#define STALLED_MS  40 /* nothing taken up: one thread more */
#define JOIN_MS	    500

STAILQ_HEAD(job_list, brk_job);

struct brk_pool {
	struct zev_io *io;
	int event_fd; /* owned; counts jobs that are done */
	unsigned n_threads, n_wanted;
	struct zev_timer *stalled;
	unsigned n_taken_before; /* when it was started */
	pthread_t threads[THREADS_MAX];
	pthread_mutex_t lock; /* all below */
	pthread_cond_t more;
	struct job_list todo, done;
	unsigned n_todo, n_idle, n_taken;
	bool is_ending;
};

static void *pool_thread(void *arg)
{
	struct brk_pool *p = arg;
	const uint64_t one = 1;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		struct brk_job *job = STAILQ_FIRST(&p->todo);

		if (p->is_ending)
			break;
		if (job == NULL) {
			p->n_idle++;
			pthread_cond_wait(&p->more, &p->lock);
			p->n_idle--;
			continue;
		}
		STAILQ_REMOVE_HEAD(&p->todo, link);
		p->n_todo--;
		p->n_taken++;
		pthread_mutex_unlock(&p->lock);
		bool is_done = job->work(job);
		pthread_mutex_lock(&p->lock);
		if (!is_done) {
			STAILQ_INSERT_TAIL(&p->todo, job, link);
			p->n_todo++;
			continue;
		}
		bool was_empty = STAILQ_EMPTY(&p->done);
		STAILQ_INSERT_TAIL(&p->done, job, link);
		if (was_empty && write(p->event_fd, &one, sizeof(one)) < 0)
			zw_fatal("eventfd: %d", errno);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static void on_jobs_done(int fd, unsigned what, void *arg)
{
	struct brk_pool *p = arg;
	struct job_list list = STAILQ_HEAD_INITIALIZER(list);
	struct brk_job *job;
	uint64_t n;

	(void)what;
	if (read(fd, &n, sizeof(n)) < 0)
		return;
	pthread_mutex_lock(&p->lock);
	STAILQ_CONCAT(&list, &p->done);
	pthread_mutex_unlock(&p->lock);
	while ((job = STAILQ_FIRST(&list)) != NULL) {
		STAILQ_REMOVE_HEAD(&list, link);
		job->done(job);
	}
}

/* Signals stay with the loop's thread. */
static void start_thread(struct brk_pool *p)
{
	sigset_t all, old;
	pthread_attr_t attr;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 512 * 1024);
	int r = pthread_create(&p->threads[p->n_threads], &attr, pool_thread, p);
	if (r == 0)
		p->n_threads++;
	else if (p->n_threads == 0)
		zw_fatal("no thread can be started: %d", r);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Whether jobs wait although all threads are at something; notes what has been taken up so far. */
static bool is_stalled(struct brk_pool *p, bool *ret_waits)
{
	pthread_mutex_lock(&p->lock);
	bool is_stalled = p->n_todo > 0 && p->n_taken == p->n_taken_before;
	p->n_taken_before = p->n_taken;
	*ret_waits = p->n_todo > 0;
	pthread_mutex_unlock(&p->lock);
	return is_stalled;
}

static void on_stalled(void *arg)
{
	struct brk_pool *p = arg;
	bool waits;

	if (is_stalled(p, &waits) && p->n_threads < THREADS_MAX)
		start_thread(p);
	if (waits)
		zev_timer_start(p->stalled, STALLED_MS);
}

struct brk_pool *brk_pool_new(struct zev_loop *loop, unsigned n_threads)
{
	struct brk_pool *p = zw_xnew(struct brk_pool);

	p->n_wanted = n_threads < THREADS_MAX ? n_threads : THREADS_MAX;
	p->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->event_fd < 0)
		zw_fatal("eventfd: %d", errno);
	STAILQ_INIT(&p->todo);
	STAILQ_INIT(&p->done);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, NULL);
	p->stalled = zev_timer_new(loop, on_stalled, p);
	p->io = zev_io_new(loop, p->event_fd, ZEV_READ, on_jobs_done, p);
	return p;
}

/* All threads together get JOIN_MS. */
static bool join_threads(struct brk_pool *p)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += JOIN_MS * 1000000L;
	end.tv_sec += end.tv_nsec / 1000000000L;
	end.tv_nsec %= 1000000000L;
	for (unsigned i = 0; i < p->n_threads; i++)
		if (pthread_timedjoin_np(p->threads[i], NULL, &end) != 0)
			return false;
	return true;
}

bool brk_pool_free(struct brk_pool *p)
{
	if (p == NULL)
		return true;
	pthread_mutex_lock(&p->lock);
	p->is_ending = true;
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
	if (!join_threads(p))
		return false;
	zev_timer_free(p->stalled);
	zev_io_free(p->io);
	zw_close(&p->event_fd);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->more);
	free(p);
	return true;
}

void brk_pool_add(struct brk_pool *p, struct brk_job *job)
{
	pthread_mutex_lock(&p->lock);
	STAILQ_INSERT_TAIL(&p->todo, job, link);
	p->n_todo++;
	bool need_thread = p->n_idle < p->n_todo && p->n_threads < p->n_wanted;
	pthread_cond_signal(&p->more);
	unsigned n_taken = p->n_taken;
	pthread_mutex_unlock(&p->lock);
	if (need_thread)
		start_thread(p);
	if (zev_timer_is_running(p->stalled))
		return;
	p->n_taken_before = n_taken;
	zev_timer_start(p->stalled, STALLED_MS);
}

bool brk_pool_is_busy(struct brk_pool *p)
{
	pthread_mutex_lock(&p->lock);
	bool is_busy = p->n_todo > 0;
	pthread_mutex_unlock(&p->lock);
	return is_busy;
}
