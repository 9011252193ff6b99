/* SPDX-License-Identifier: MIT */
#include "sandbox/broker/pool.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "src/base/mem.h"

#define THREADS_MAX 8

STAILQ_HEAD(job_list, brk_job);

struct brk_pool {
	struct zev_io *io;
	int event_fd; /* owned; counts jobs that are done */
	unsigned n_threads, n_wanted;
	pthread_t threads[THREADS_MAX];
	pthread_mutex_t lock; /* all below */
	pthread_cond_t more;
	struct job_list todo, done;
	unsigned n_todo, n_idle;
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
	p->io = zev_io_new(loop, p->event_fd, ZEV_READ, on_jobs_done, p);
	return p;
}

void brk_pool_free(struct brk_pool *p)
{
	if (p == NULL)
		return;
	pthread_mutex_lock(&p->lock);
	p->is_ending = true;
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->n_threads; i++)
		pthread_join(p->threads[i], NULL);
	zev_io_free(p->io);
	zw_close(&p->event_fd);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->more);
	free(p);
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

void brk_pool_add(struct brk_pool *p, struct brk_job *job)
{
	pthread_mutex_lock(&p->lock);
	STAILQ_INSERT_TAIL(&p->todo, job, link);
	p->n_todo++;
	bool need_thread = p->n_idle < p->n_todo && p->n_threads < p->n_wanted;
	pthread_cond_signal(&p->more);
	pthread_mutex_unlock(&p->lock);
	if (need_thread)
		start_thread(p);
}

bool brk_pool_is_busy(struct brk_pool *p)
{
	pthread_mutex_lock(&p->lock);
	bool is_busy = p->n_todo > 0;
	pthread_mutex_unlock(&p->lock);
	return is_busy;
}
