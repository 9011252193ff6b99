/* SPDX-License-Identifier: MIT */
#include "proxy/relay.h"

#include <errno.h>
#include <sys/socket.h>

#include "src/base/err.h"
#include "src/base/mem.h"

/* A filter may hold a hello of 16 KiB back and let it go at once, on top of a full buffer. */
#define PENDING_ROOM (PX_PENDING_MAX + 64u * 1024)

static void end(struct px_relay *r, enum px_relay_end how)
{
	if (r->is_over)
		return;
	r->is_over = true;
	zev_io_set(r->client.io, 0);
	zev_io_set(r->server.io, 0);
	r->on_end(r->arg, how);
}

static struct px_side *other(struct px_side *s)
{
	return s == &s->relay->client ? &s->relay->server : &s->relay->client;
}

/* Read from one side only while the other takes what comes. */
static void watch(struct px_side *s)
{
	bool is_deaf = s->relay->is_deaf && s == &s->relay->client;
	unsigned what = 0;

	if (!s->has_ended && !is_deaf && other(s)->pending.len == 0)
		what |= ZEV_READ;
	if (s->pending.len > 0)
		what |= ZEV_WRITE;
	zev_io_set(s->io, what);
}

static void watch_both(struct px_relay *r)
{
	if (r->is_over)
		return;
	watch(&r->client);
	watch(&r->server);
}

/* Passes an end on once all bytes before it are out. A request that is complete needs no end. */
static void shut_if_due(struct px_side *s)
{
	struct px_relay *r = s->relay;

	if (s->is_shut || s->pending.len > 0 || !other(s)->has_ended)
		return;
	s->is_shut = true;
	if (s == &r->client || !r->is_complete)
		(void)shutdown(s->fd, SHUT_WR);
}

static void end_if_due(struct px_relay *r)
{
	shut_if_due(&r->client);
	shut_if_due(&r->server);
	if (r->client.is_shut && (r->server.is_shut || r->is_complete))
		end(r, r->ended_first_is_client ? PX_END_CLIENT : PX_END_SERVER);
}

/* Returns bytes sent, 0 = later, < 0 broken. */
static ssize_t try_send(int fd, const uint8_t *p, size_t len)
{
	ssize_t n;

	do
		n = send(fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	return n;
}

static int side_send(struct px_side *s, const uint8_t *p, size_t len)
{
	if (s->pending.len == 0) {
		ssize_t n = try_send(s->fd, p, len);

		if (n < 0)
			return (int)n;
		p += n;
		len -= (size_t)n;
	}
	return len > 0 ? zw_buf_add(&s->pending, p, len) : 0;
}

int px_relay_send_up(struct px_relay *r, const uint8_t *p, size_t len)
{
	r->up_b += len;
	return side_send(&r->server, p, len);
}

int px_relay_send_down(struct px_relay *r, const uint8_t *p, size_t len)
{
	return side_send(&r->client, p, len);
}

void px_relay_complete(struct px_relay *r, bool want_deaf)
{
	r->is_complete = true;
	r->is_deaf = r->is_deaf || want_deaf;
}

static int take(struct px_side *s, size_t len)
{
	struct px_relay *r = s->relay;

	if (s == &r->server) {
		r->down_b += len;
		if (r->on_down != NULL)
			r->on_down(r->arg, r->buf, len);
		return side_send(&r->client, r->buf, len);
	}
	if (r->on_up == NULL)
		return px_relay_send_up(r, r->buf, len);
	int e = r->on_up(r->arg, r->buf, len);
	if (e < 0)
		end(r, PX_END_FILTER);
	return 0;
}

static void on_readable(struct px_side *s)
{
	struct px_relay *r = s->relay;
	ssize_t n = recv(s->fd, r->buf, PX_READ_B, MSG_DONTWAIT);

	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			end(r, PX_END_RESET);
		return;
	}
	if (n == 0) {
		s->has_ended = true;
		if (!r->has_end)
			r->ended_first_is_client = s == &r->client;
		r->has_end = true;
	} else if (take(s, (size_t)n) < 0) {
		end(r, PX_END_RESET);
	}
	if (!r->is_over)
		r->on_activity(r->arg);
}

static void on_writable(struct px_side *s)
{
	ssize_t n = try_send(s->fd, zw_buf_head(&s->pending), s->pending.len);

	if (n < 0) {
		end(s->relay, PX_END_RESET);
		return;
	}
	if (n > 0)
		s->relay->on_activity(s->relay->arg);
	zw_buf_consume(&s->pending, (size_t)n);
	/* An idle relay keeps no buffer. */
	if (s->pending.len == 0)
		zw_buf_fini(&s->pending);
}

static void on_ready(int fd, unsigned what, void *arg)
{
	struct px_side *s = arg;
	struct px_relay *r = s->relay;

	(void)fd;
	if (what & ZEV_WRITE && s->pending.len > 0)
		on_writable(s);
	if (what & ZEV_READ && !r->is_over)
		on_readable(s);
	if (r->is_over)
		return;
	end_if_due(r);
	watch_both(r);
}

static void side_init(struct px_side *s, struct px_relay *r, struct zev_loop *loop, int take_fd)
{
	*s = (struct px_side){.relay = r, .fd = take_fd};
	zw_buf_init(&s->pending, PENDING_ROOM);
	s->io = zev_io_new(loop, take_fd, ZEV_READ, on_ready, s);
}

void px_relay_start(struct px_relay *r, struct zev_loop *loop, int take_client_fd,
		    int take_server_fd, uint8_t *buf)
{
	r->buf = buf;
	r->is_over = r->is_deaf = r->is_complete = r->has_end = false;
	side_init(&r->client, r, loop, take_client_fd);
	side_init(&r->server, r, loop, take_server_fd);
}

void px_relay_kick(struct px_relay *r, bool client_ended)
{
	if (r->is_over)
		return;
	if (client_ended) {
		r->client.has_ended = true;
		r->ended_first_is_client = !r->has_end;
		r->has_end = true;
	}
	end_if_due(r);
	watch_both(r);
}

void px_relay_end(struct px_relay *r, enum px_relay_end how)
{
	end(r, how);
}

void px_relay_fini(struct px_relay *r)
{
	zev_io_free(zw_steal(&r->client.io));
	zev_io_free(zw_steal(&r->server.io));
	zw_close(&r->client.fd);
	zw_close(&r->server.fd);
	zw_buf_fini(&r->client.pending);
	zw_buf_fini(&r->server.pending);
}
