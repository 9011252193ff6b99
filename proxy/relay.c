/* SPDX-License-Identifier: MIT */
#include "proxy/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"

/* A filter may hold a hello of 16 KiB back and let it go at once, on top of a full buffer. */
#define PENDING_ROOM (PX_PENDING_MAX + 64u * 1024)

#define PIPE_B (1u << 20)
#define PIPE_MIN_B \
	(256u * 1024) /* a page may hold few bytes: one as large as a read is none too big */

/* Empty but within splice_through(). */
static int pipe_fds[2] = {-1, -1};

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

/* Nothing more goes to it: all bytes are out and the other side has ended. */
static bool is_done(struct px_side *s)
{
	return s->pending.len == 0 && other(s)->has_ended;
}

/* Passes an end on once all bytes before it are out. A request that is complete needs no end. */
static void shut_if_due(struct px_side *s)
{
	struct px_relay *r = s->relay;

	if (s->is_shut || !is_done(s))
		return;
	s->is_shut = true;
	if (s == &r->client || !r->is_complete)
		(void)shutdown(s->fd, SHUT_WR);
}

static void end_if_due(struct px_relay *r)
{
	/* Both are closed then, which tells them as well. */
	if (is_done(&r->client) && (is_done(&r->server) || r->is_complete)) {
		end(r, r->ended_first_is_client ? PX_END_CLIENT : PX_END_SERVER);
		return;
	}
	shut_if_due(&r->client);
	shut_if_due(&r->server);
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

/* -- bytes that nobody looks at ----------------------------------------------------------------- */

void px_relay_pipe_open(void)
{
	int size;

	if (pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return;
	size = fcntl(pipe_fds[1], F_SETPIPE_SZ, PIPE_B);
	if (size < 0)
		size = fcntl(pipe_fds[1], F_GETPIPE_SZ);
	if (size < (int)PIPE_MIN_B)
		px_relay_pipe_close();
}

void px_relay_pipe_close(void)
{
	zw_close(&pipe_fds[0]);
	zw_close(&pipe_fds[1]);
}

/* Takes @len bytes out of the pipe; they wait for @to, or are dropped (NULL). Bytes of one connection
 * must never be those of another. */
static int pipe_empty(struct px_side *to, uint8_t *buf, size_t len)
{
	int r = 0;

	while (len > 0) {
		ssize_t n = read(pipe_fds[0], buf, len < PX_READ_B ? len : PX_READ_B);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			px_relay_pipe_close();
			return ZW_E_EOF;
		}
		len -= (size_t)n;
		if (to != NULL && r == 0)
			r = zw_buf_add(&to->pending, buf, (size_t)n);
	}
	return r;
}

/* Returns bytes read, 0 = the end, < 0 as recv(). *@ret_error: < 0 when the other side is broken. */
static ssize_t splice_through(struct px_side *s, int *ret_error)
{
	const unsigned how = SPLICE_F_MOVE | SPLICE_F_NONBLOCK;
	struct px_side *to = other(s);
	ssize_t n = splice(s->fd, NULL, pipe_fds[1], NULL, PX_READ_B, how), m = 0;

	if (n <= 0)
		return n;
	if (s == &s->relay->server)
		s->relay->down_b += (size_t)n;
	else
		s->relay->up_b += (size_t)n;
	do
		m = splice(pipe_fds[0], NULL, to->fd, NULL, (size_t)n, how);
	while (m < 0 && errno == EINTR);
	if (m < 0 && errno != EAGAIN) {
		*ret_error = -errno;
		(void)pipe_empty(NULL, s->relay->buf, (size_t)n);
		return n;
	}
	*ret_error = pipe_empty(to, s->relay->buf, (size_t)(n - (m > 0 ? m : 0)));
	return n;
}

static bool can_splice(struct px_side *s)
{
	const struct px_relay *r = s->relay;

	/* Nothing overtakes what waits. */
	return s->is_bulk && pipe_fds[0] >= 0 && other(s)->pending.len == 0 &&
	       (s == &r->server ? r->on_down == NULL : r->on_up == NULL);
}

/* splice() asks the descriptors themselves whether it may wait. */
static void bulk_set(struct px_side *s, bool is_bulk)
{
	if (is_bulk && !s->is_bulk) {
		(void)zw_set_nonblock(s->fd);
		(void)zw_set_nonblock(other(s)->fd);
	}
	s->is_bulk = is_bulk;
}

/* -- */

/* As recv(); the bytes are on their way. *@ret_error: < 0 when the other side is broken. */
static ssize_t pass(struct px_side *s, int *ret_error)
{
	struct px_relay *r = s->relay;
	bool is_spliced = can_splice(s);
	ssize_t n = is_spliced ? splice_through(s, ret_error)
			       : recv(s->fd, r->buf, PX_READ_B, MSG_DONTWAIT);

	if (n > 0 && !is_spliced)
		*ret_error = take(s, (size_t)n);
	if (n > 0)
		bulk_set(s, (size_t)n >= PX_SPLICE_B);
	return n;
}

static void on_readable(struct px_side *s)
{
	struct px_relay *r = s->relay;
	int error = 0;
	ssize_t n = pass(s, &error);

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
	} else if (error < 0) {
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
