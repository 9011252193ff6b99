/* SPDX-License-Identifier: MIT */
#include "src/ev/ev.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <sys/queue.h>

#include "src/base/mem.h"

struct deferred {
	STAILQ_ENTRY(deferred) link;
	void (*fn)(void *arg);
	void *arg;
};

struct zev_loop {
	struct event_base *base;
	STAILQ_HEAD(, deferred) deferred;
	bool is_running, want_stop;
};

/* Small: there may be two for each of thousands of silent connections. */
struct zev_io {
	struct event event; /* knows the loop, watched or not */
	int fd;
	unsigned what;
	void (*on_ready)(int fd, unsigned what, void *arg);
	void *arg;
};

struct zev_timer {
	struct event event;
	void (*on_timer)(void *arg);
	void *arg;
};

struct zev_signal {
	struct event event;
	void (*on_signal)(int signo, void *arg);
	void *arg;
};

struct zev_loop *zev_loop_new(void)
{
	struct zev_loop *loop = zw_xnew(struct zev_loop);

	loop->base = event_base_new();
	if (loop->base == NULL)
		zw_fatal("no event backend (epoll) is available");
	STAILQ_INIT(&loop->deferred);
	return loop;
}

static void run_deferred(struct zev_loop *loop)
{
	struct deferred *d;

	while ((d = STAILQ_FIRST(&loop->deferred)) != NULL) {
		STAILQ_REMOVE_HEAD(&loop->deferred, link);
		d->fn(d->arg);
		free(d);
	}
}

void zev_loop_free(struct zev_loop *loop)
{
	if (loop == NULL)
		return;
	run_deferred(loop);
	event_base_free(loop->base);
	free(loop);
}

int zev_run(struct zev_loop *loop)
{
	int r = 0;

	assert(!loop->is_running);
	loop->is_running = true;
	loop->want_stop = false;
	run_deferred(loop);
	while (!loop->want_stop && r >= 0) {
		r = event_base_loop(loop->base, EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY);
		run_deferred(loop);
	}
	loop->is_running = false;
	return r < 0 ? -EIO : 0;
}

void zev_stop(struct zev_loop *loop)
{
	loop->want_stop = true;
	event_base_loopbreak(loop->base);
}

void zev_defer(struct zev_loop *loop, void (*fn)(void *arg), void *arg)
{
	struct deferred *d = zw_xnew(struct deferred);

	d->fn = fn;
	d->arg = arg;
	STAILQ_INSERT_TAIL(&loop->deferred, d, link);
}

static void on_io_event(evutil_socket_t fd, short events, void *arg)
{
	struct zev_io *io = arg;
	unsigned what = 0;

	if (events & EV_READ)
		what |= ZEV_READ;
	if (events & EV_WRITE)
		what |= ZEV_WRITE;
	io->on_ready((int)fd, what, io->arg);
}

struct zev_io *zev_io_new(struct zev_loop *loop, int fd, unsigned what,
			  void (*on_ready)(int fd, unsigned what, void *arg), void *arg)
{
	struct zev_io *io = zw_xnew(struct zev_io);

	*io = (struct zev_io){.fd = fd, .on_ready = on_ready, .arg = arg};
	event_assign(&io->event, loop->base, fd, EV_PERSIST, on_io_event, io);
	zev_io_set(io, what);
	return io;
}

void zev_io_set(struct zev_io *io, unsigned what)
{
	short events = EV_PERSIST;

	if (what == io->what)
		return;
	if (io->what != 0)
		event_del(&io->event);
	io->what = what;
	if (what == 0)
		return;
	if (what & ZEV_READ)
		events |= EV_READ;
	if (what & ZEV_WRITE)
		events |= EV_WRITE;
	event_assign(&io->event, event_get_base(&io->event), io->fd, events, on_io_event, io);
	event_add(&io->event, NULL);
}

void zev_io_free(struct zev_io *io)
{
	if (io == NULL)
		return;
	zev_io_set(io, 0);
	free(io);
}

static void on_timer_event(evutil_socket_t fd, short events, void *arg)
{
	struct zev_timer *t = arg;

	(void)fd;
	(void)events;
	t->on_timer(t->arg);
}

struct zev_timer *zev_timer_new(struct zev_loop *loop, void (*on_timer)(void *arg), void *arg)
{
	struct zev_timer *t = zw_xnew(struct zev_timer);

	t->on_timer = on_timer;
	t->arg = arg;
	evtimer_assign(&t->event, loop->base, on_timer_event, t);
	return t;
}

void zev_timer_start(struct zev_timer *t, int64_t delay_ms)
{
	if (delay_ms < 0)
		delay_ms = 0;
	struct timeval tv = {.tv_sec = delay_ms / 1000, .tv_usec = delay_ms % 1000 * 1000};

	evtimer_add(&t->event, &tv);
}

void zev_timer_stop(struct zev_timer *t)
{
	evtimer_del(&t->event);
}

bool zev_timer_is_running(const struct zev_timer *t)
{
	return evtimer_pending(&t->event, NULL) != 0;
}

void zev_timer_free(struct zev_timer *t)
{
	if (t == NULL)
		return;
	evtimer_del(&t->event);
	free(t);
}

static void on_signal_event(evutil_socket_t signo, short events, void *arg)
{
	struct zev_signal *s = arg;

	(void)events;
	s->on_signal((int)signo, s->arg);
}

struct zev_signal *zev_signal_new(struct zev_loop *loop, int signo,
				  void (*on_signal)(int signo, void *arg), void *arg)
{
	struct zev_signal *s = zw_xnew(struct zev_signal);

	s->on_signal = on_signal;
	s->arg = arg;
	evsignal_assign(&s->event, loop->base, signo, on_signal_event, s);
	evsignal_add(&s->event, NULL);
	return s;
}

void zev_signal_free(struct zev_signal *s)
{
	if (s == NULL)
		return;
	evsignal_del(&s->event);
	free(s);
}
