/* SPDX-License-Identifier: MIT */
#include "proxy/resolver/gloop.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "src/base/mem.h"

/* No end of waiting, in the terms of getdns. */
#define FOREVER UINT64_MAX
/* Sent data that nobody acknowledges for so long ends a connection: the network has changed. */
#define USER_TIMEOUT_MS 4000

struct watch {
	getdns_eventloop_event *event; /* borrowed from getdns until clear() */
	struct zev_io *io;
	struct zev_timer *timer;
};

static void on_fd_ready(int fd, unsigned what, void *arg)
{
	struct watch *w = arg;
	getdns_eventloop_event *e = w->event;

	(void)fd;
	/* Either callback may clear the event and with it @w: only one is made in a turn, the other
	 * comes again, since readiness is level triggered. */
	if ((what & ZEV_READ) && e->read_cb != NULL)
		e->read_cb(e->userarg);
	else if ((what & ZEV_WRITE) && e->write_cb != NULL)
		e->write_cb(e->userarg);
}

static void on_timeout(void *arg)
{
	struct watch *w = arg;

	if (w->event->timeout_cb != NULL)
		w->event->timeout_cb(w->event->userarg);
}

/* The server holds back its answer until the session tickets are acknowledged, so that a delayed
 * ACK costs 40 ms at each new connection: both options together take that away. QUICKACK does not
 * last, hence here, at every wait. On UDP they fail, which is right. */
static void set_options(int fd)
{
	int on = 1, timeout_ms = USER_TIMEOUT_MS;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof(timeout_ms));
}

static getdns_return_t gloop_clear(getdns_eventloop *base, getdns_eventloop_event *e)
{
	struct watch *w = e->ev;

	(void)base;
	if (w == NULL)
		return GETDNS_RETURN_GOOD;
	zev_io_free(w->io);
	zev_timer_free(w->timer);
	free(w);
	e->ev = NULL;
	return GETDNS_RETURN_GOOD;
}

static getdns_return_t gloop_schedule(getdns_eventloop *base, int fd, uint64_t timeout_ms,
				      getdns_eventloop_event *e)
{
	struct res_gloop *g = (struct res_gloop *)base;
	struct watch *w = zw_xnew(struct watch);
	unsigned what = 0;

	w->event = e;
	if (e->read_cb != NULL)
		what |= ZEV_READ;
	if (e->write_cb != NULL)
		what |= ZEV_WRITE;
	if (fd >= 0 && what != 0) {
		set_options(fd);
		w->io = zev_io_new(g->loop, fd, what, on_fd_ready, w);
	}
	if (e->timeout_cb != NULL && timeout_ms != FOREVER) {
		w->timer = zev_timer_new(g->loop, on_timeout, w);
		zev_timer_start(w->timer, timeout_ms > INT32_MAX ? INT32_MAX : (int64_t)timeout_ms);
	}
	e->ev = w;
	return GETDNS_RETURN_GOOD;
}

/* The loop belongs to the program: getdns neither runs nor ends it. */
static void gloop_nothing(getdns_eventloop *base)
{
	(void)base;
}

static void gloop_run_once(getdns_eventloop *base, int is_blocking)
{
	(void)base;
	(void)is_blocking;
}

void res_gloop_init(struct res_gloop *g, struct zev_loop *loop)
{
	static getdns_eventloop_vmt vmt = {gloop_nothing, gloop_schedule, gloop_clear,
					   gloop_nothing, gloop_run_once};

	g->base.vmt = &vmt;
	g->loop = loop;
}
