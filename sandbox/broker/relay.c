/* SPDX-License-Identifier: MIT */
#include "sandbox/broker/relay.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "src/base/buf.h"
#include "src/base/io.h"
#include "src/base/mem.h"

#define STREAM_MAX_B 262144u
/* One message: the default send buffer of a Unix socket is 212,992 bytes. */
#define PACKET_MAX_B 262144u

/* One direction. */
struct pipe_half {
	struct zw_buf buf; /* STREAM: bytes on their way; SEQPACKET: one message */
	bool has_packet;   /* SEQPACKET: buf holds one, which may be empty */
	bool is_eof;	   /* the source has ended */
	bool is_over;	   /* and the sink was told */
	uint64_t total_b;
};

struct brk_relay {
	struct zev_loop *loop;
	int type;
	int fd[2]; /* 0 inside, 1 host; owned */
	struct zev_io *io[2];
	struct pipe_half half[2]; /* half[i] reads fd[i] and writes fd[!i] */
	bool is_ending;
	const struct brk_relay_ops *ops;
	void *arg;
};

static void on_relay_dead(void *arg)
{
	free(arg);
}

void brk_relay_free(struct brk_relay *r)
{
	if (r == NULL)
		return;
	for (int i = 0; i < 2; i++) {
		zev_io_free(r->io[i]);
		zw_close(&r->fd[i]);
		zw_buf_fini(&r->half[i].buf);
	}
	r->is_ending = true;
	zev_defer(r->loop, on_relay_dead, r);
}

void brk_relay_counts(const struct brk_relay *r, uint64_t *ret_up_b, uint64_t *ret_down_b)
{
	*ret_up_b = r->half[0].total_b;
	*ret_down_b = r->half[1].total_b;
}

static void finish(struct brk_relay *r)
{
	if (r->is_ending)
		return;
	uint64_t up_b = r->half[0].total_b, down_b = r->half[1].total_b;
	const struct brk_relay_ops *ops = r->ops;
	void *arg = r->arg;
	brk_relay_free(r);
	ops->on_end(up_b, down_b, arg);
}

static bool has_hung_up(int fd, short what)
{
	struct pollfd p = {.fd = fd, .events = what};

	return poll(&p, 1, 0) > 0 && (p.revents & (what | POLLERR)) != 0;
}

static bool is_full(const struct brk_relay *r, const struct pipe_half *h)
{
	return r->type == SOCK_STREAM ? zw_buf_left(&h->buf) == 0 : h->has_packet;
}

static bool is_empty(const struct brk_relay *r, const struct pipe_half *h)
{
	return r->type == SOCK_STREAM ? h->buf.len == 0 : !h->has_packet;
}

/* Without room for control data the kernel lets passed descriptors fall, and sets MSG_CTRUNC. */
static ssize_t receive(struct brk_relay *r, int i, void *p, size_t room)
{
	struct iovec iov = {p, room};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n = recvmsg(r->fd[i], &m, MSG_DONTWAIT | (r->type == SOCK_STREAM ? 0 : MSG_TRUNC));

	if (n >= 0 && (m.msg_flags & MSG_CTRUNC) && r->ops->on_passed != NULL)
		r->ops->on_passed(i == 0, r->arg);
	return n;
}

/* Returns 1 got something, 0 nothing now, -1 the relay is over. */
static int pull(struct brk_relay *r, int i)
{
	struct pipe_half *h = &r->half[i];
	size_t room = r->type == SOCK_STREAM ? zw_buf_left(&h->buf) : PACKET_MAX_B;
	uint8_t *p = zw_buf_room(&h->buf, room);
	ssize_t n = receive(r, i, p, room);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n > (ssize_t)room)
		return -1; /* a message that cannot be carried whole is not carried in part */
	bool is_end =
		n < 0 ||
		(n == 0 && (r->type == SOCK_STREAM || has_hung_up(r->fd[i], POLLRDHUP | POLLHUP)));
	if (is_end) {
		h->is_eof = true;
		return 1;
	}
	zw_buf_grow(&h->buf, (size_t)n);
	h->has_packet = r->type != SOCK_STREAM;
	h->total_b += (uint64_t)n;
	return 1;
}

/* Returns 1 moved something, 0 nothing now, -1 the sink is gone. */
static int push(struct brk_relay *r, int i)
{
	struct pipe_half *h = &r->half[i];
	static const uint8_t nothing;
	const void *p = h->buf.len > 0 ? (const void *)zw_buf_head(&h->buf) : &nothing;
	ssize_t n = send(r->fd[!i], p, h->buf.len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? 0 : -1;
	zw_buf_consume(&h->buf, (size_t)n);
	h->has_packet = false;
	return 1;
}

/* Moves one direction as far as it goes in one turn. Returns false when the relay is over. */
static bool run_half(struct brk_relay *r, int i)
{
	struct pipe_half *h = &r->half[i];

	for (int turn = 0; turn < 8; turn++) {
		int moved = 0;

		if (!h->is_eof && !is_full(r, h))
			moved = pull(r, i);
		if (moved >= 0 && !is_empty(r, h)) {
			int sent = push(r, i);
			moved = sent < 0 ? sent : moved | sent;
		}
		if (moved < 0)
			return false;
		if (h->is_eof && is_empty(r, h) && !h->is_over) {
			h->is_over = true;
			shutdown(r->fd[!i], SHUT_WR);
		}
		if (moved == 0 || h->is_over)
			break;
	}
	return true;
}

static void watch(struct brk_relay *r)
{
	for (int i = 0; i < 2; i++) {
		const struct pipe_half *in = &r->half[i], *out = &r->half[!i];
		unsigned what = 0;

		if (!in->is_eof && !is_full(r, in))
			what |= ZEV_READ;
		if (!is_empty(r, out))
			what |= ZEV_WRITE;
		zev_io_set(r->io[i], what);
	}
}

/* A side that has closed altogether takes nothing more: what the other one still says is lost, as it
 * would be without a relay between. */
static bool is_gone(const struct brk_relay *r, int i)
{
	return r->half[i].is_over && has_hung_up(r->fd[i], POLLHUP);
}

static void on_relay_ready(int fd, unsigned what, void *arg)
{
	struct brk_relay *r = arg;

	(void)fd;
	(void)what;
	if (r->is_ending)
		return;
	bool is_fine = run_half(r, 0) && run_half(r, 1);
	bool is_over = (r->half[0].is_over && r->half[1].is_over) || is_gone(r, 0) || is_gone(r, 1);
	if (!is_fine || is_over)
		finish(r);
	else
		watch(r);
}

struct brk_relay *brk_relay_new(struct zev_loop *loop, int type, int take_inside_fd,
				int take_host_fd, const struct brk_relay_ops *ops, void *arg)
{
	struct brk_relay *r = zw_xnew(struct brk_relay);

	r->loop = loop;
	r->type = type;
	r->fd[0] = take_inside_fd;
	r->fd[1] = take_host_fd;
	r->ops = ops;
	r->arg = arg;
	for (int i = 0; i < 2; i++) {
		zw_buf_init(&r->half[i].buf, type == SOCK_STREAM ? STREAM_MAX_B : PACKET_MAX_B);
		r->io[i] = zev_io_new(loop, r->fd[i], ZEV_READ, on_relay_ready, r);
	}
	return r;
}
