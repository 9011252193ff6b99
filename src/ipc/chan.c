/* SPDX-License-Identifier: MIT */
#include "src/ipc/chan.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"

/* Bytes waiting for a helper that does not read: beyond this it counts as hung. */
#define QUEUE_MAX_B (16u << 20)
/* Packets taken in one turn, so that one busy helper does not starve the others. */
#define PACKETS_PER_TURN 64

/* One packet of the socket: frames, each behind its length (u32, big-endian). Descriptors travel
 * with a packet of one frame. */
#define LENGTH_B 4

struct packet {
	TAILQ_ENTRY(packet) link;
	size_t len, cap, n_fds;
	int fds[ZW_MSG_FDS_MAX]; /* owned */
	uint8_t *data;		 /* owned */
};

struct zw_chan {
	struct zev_loop *loop;
	struct zev_io *io;
	int fd; /* owned */
	enum zw_role self, peer;
	const struct zw_chan_ops *ops;
	void *arg;
	TAILQ_HEAD(packet_queue, packet) queue;
	size_t queue_b, n_queued;
	int error; /* first failure, reported once */
	bool is_ended, is_freed, is_corked;
	bool is_gathering; /* what one turn sends goes out together, at its end */
	bool is_due;	   /* and something does */
	uint8_t packet[ZW_MSG_SIZE_MAX + LENGTH_B];
};

int zw_chan_pair(int ret_fds[2])
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_fds) < 0)
		return -errno;
	return 0;
}

static void packet_free(struct packet *p)
{
	for (size_t i = 0; i < p->n_fds; i++)
		zw_close(&p->fds[i]);
	free(p->data);
	free(p);
}

static void on_chan_end(void *arg)
{
	struct zw_chan *c = arg;

	if (!c->is_freed && !c->is_ended) {
		c->is_ended = true;
		c->ops->on_end(c, c->error, c->arg);
	}
}

/* The end is told from the loop, never from inside a send: callers keep a simple control flow. */
static void fail(struct zw_chan *c, int error)
{
	if (c->error != 0)
		return;
	c->error = error;
	zev_io_set(c->io, 0);
	zev_defer(c->loop, on_chan_end, c);
}

/* Returns 1 sent, 0 try later, < 0 error. */
static int packet_send(int fd, const struct packet *p)
{
	union {
		char space[CMSG_SPACE(sizeof(int) * ZW_MSG_FDS_MAX)];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec iov = {p->data, p->len};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

	if (p->n_fds > 0) {
		m.msg_control = control.space;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * p->n_fds);
		struct cmsghdr *h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(sizeof(int) * p->n_fds);
		memcpy(CMSG_DATA(h), p->fds, sizeof(int) * p->n_fds);
	}
	for (;;) {
		if (sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			return 1;
		if (errno == EINTR)
			continue;
		if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM)
			return 0;
		return errno == EPIPE || errno == ECONNRESET ? ZW_E_EOF : -errno;
	}
}

static void queue_run(struct zw_chan *c)
{
	struct packet *p;

	while (c->error == 0 && (p = TAILQ_FIRST(&c->queue)) != NULL) {
		int r = packet_send(c->fd, p);

		if (r == 0)
			break;
		if (r < 0) {
			fail(c, r);
			return;
		}
		TAILQ_REMOVE(&c->queue, p, link);
		c->queue_b -= p->len;
		c->n_queued--;
		packet_free(p);
	}
	if (c->error == 0)
		zev_io_set(c->io, ZEV_READ | (TAILQ_EMPTY(&c->queue) ? 0u : ZEV_WRITE));
}

/* A packet at the end of the queue with room for @len more bytes: the last one where messages gather. */
static struct packet *packet_for(struct zw_chan *c, size_t len, size_t n_fds)
{
	struct packet *p = TAILQ_LAST(&c->queue, packet_queue);

	bool can_join = (c->is_corked || c->is_gathering) && n_fds == 0;

	if (can_join && p != NULL && p->n_fds == 0 && p->len + len <= p->cap)
		return p;
	p = zw_xnew(struct packet);
	p->cap = can_join ? sizeof(c->packet) : len;
	p->data = zw_xmalloc(p->cap);
	TAILQ_INSERT_TAIL(&c->queue, p, link);
	c->n_queued++;
	return p;
}

static int packet_add(struct zw_chan *c, const struct zw_buf *frame, const int *fds, size_t n_fds)
{
	struct packet *p = packet_for(c, frame->len + LENGTH_B, n_fds);
	uint32_t be = htobe32((uint32_t)frame->len);

	memcpy(p->data + p->len, &be, LENGTH_B);
	memcpy(p->data + p->len + LENGTH_B, zw_buf_head(frame), frame->len);
	p->len += frame->len + LENGTH_B;
	c->queue_b += frame->len + LENGTH_B;
	for (size_t i = 0; i < n_fds; i++) {
		p->fds[p->n_fds] = fcntl(fds[i], F_DUPFD_CLOEXEC, 5);
		if (p->fds[p->n_fds] < 0)
			return -errno;
		p->n_fds++;
	}
	return 0;
}

static void on_gathered(void *arg)
{
	struct zw_chan *c = arg;

	c->is_due = false;
	if (!c->is_freed && !c->is_corked && c->error == 0)
		queue_run(c);
}

static void go_out(struct zw_chan *c)
{
	if (c->is_corked || c->is_due)
		return;
	if (!c->is_gathering) {
		queue_run(c);
		return;
	}
	c->is_due = true;
	zev_defer(c->loop, on_gathered, c);
}

void zw_chan_gather(struct zw_chan *c)
{
	c->is_gathering = true;
}

void zw_chan_send_fds(struct zw_chan *c, enum zw_msg_id id, const void *msg, const int *fds,
		      size_t n_fds)
{
	struct zw_buf frame;

	assert(n_fds <= ZW_MSG_FDS_MAX);
	if (c->error != 0)
		return;
	zw_buf_init(&frame, ZW_MSG_SIZE_MAX);
	int r = zw_msg_encode(&frame, id, msg);
	if (r == 0 && c->queue_b + frame.len > QUEUE_MAX_B)
		r = ZW_E_BUSY;
	if (r == 0)
		r = packet_add(c, &frame, fds, n_fds);
	zw_buf_fini(&frame);
	if (r < 0)
		fail(c, r);
	else
		go_out(c);
}

void zw_chan_cork(struct zw_chan *c, bool is_corked)
{
	c->is_corked = is_corked;
	if (!is_corked && c->error == 0)
		queue_run(c);
}

static size_t take_fds(struct msghdr *m, int fds[ZW_MSG_FDS_MAX])
{
	size_t n = 0;

	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h != NULL; h = CMSG_NXTHDR(m, h)) {
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		size_t here = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < here; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(h) + i * sizeof(int), sizeof(int));
			if (n < ZW_MSG_FDS_MAX)
				fds[n++] = fd;
			else
				close(fd);
		}
	}
	return n;
}

static int frame_handle(struct zw_chan *c, const uint8_t *frame, size_t len, int *fds, size_t n_fds)
{
	union zw_msg_any msg;
	enum zw_msg_id id;
	int r = zw_msg_decode(frame, len, c->peer, c->self, n_fds, &id, &msg);

	if (r == 0)
		c->ops->on_msg(c, id, &msg, fds, c->arg);
	return r;
}

/* All frames of a packet; the lengths must add up to its end. */
static int packet_handle(struct zw_chan *c, size_t len, int *fds, size_t n_fds)
{
	const uint8_t *p = c->packet, *end = p + len;
	int r = 0;

	while (r == 0 && p < end && c->error == 0) {
		uint32_t be;

		if ((size_t)(end - p) < LENGTH_B)
			return ZW_E_SHORT;
		memcpy(&be, p, LENGTH_B);
		size_t frame_len = be32toh(be);
		if (frame_len > (size_t)(end - p) - LENGTH_B)
			return ZW_E_SHORT;
		r = frame_handle(c, p + LENGTH_B, frame_len, fds, n_fds);
		p += LENGTH_B + frame_len;
	}
	return r;
}

/* Receives and handles one packet. Returns 1 handled, 0 none there, < 0 error. */
static int packet_take(struct zw_chan *c)
{
	union {
		char space[CMSG_SPACE(sizeof(int) * ZW_MSG_FDS_MAX)];
		struct cmsghdr align;
	} control;
	struct iovec iov = {c->packet, sizeof(c->packet)};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.space,
			   .msg_controllen = sizeof(control.space)};
	int fds[ZW_MSG_FDS_MAX];

	ssize_t n = recvmsg(c->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	/* Said once when the other side went with something unread; what it sent comes behind. */
	if (n < 0 && errno == ECONNRESET)
		n = recvmsg(c->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	size_t n_fds = take_fds(&m, fds);
	int r = n == 0 ? ZW_E_EOF : m.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ? ZW_E_TOOBIG : 0;
	if (r == 0)
		r = packet_handle(c, (size_t)n, fds, n_fds);
	for (size_t i = 0; i < n_fds; i++)
		zw_close(&fds[i]);
	return r < 0 ? r : 1;
}

static void on_chan_ready(int fd, unsigned what, void *arg)
{
	struct zw_chan *c = arg;
	int r = 1;

	(void)fd;
	if (what & ZEV_READ)
		for (int i = 0; i < PACKETS_PER_TURN && r == 1 && c->error == 0 && !c->is_freed;
		     i++)
			r = packet_take(c);
	if (c->is_freed)
		return;
	if (r < 0)
		fail(c, r);
	else if (what & ZEV_WRITE)
		queue_run(c);
}

struct zw_chan *zw_chan_new(struct zev_loop *loop, int take_fd, enum zw_role self,
			    enum zw_role peer, const struct zw_chan_ops *ops, void *arg)
{
	struct zw_chan *c = zw_xnew(struct zw_chan);

	c->loop = loop;
	c->fd = take_fd;
	c->self = self;
	c->peer = peer;
	c->ops = ops;
	c->arg = arg;
	TAILQ_INIT(&c->queue);
	c->io = zev_io_new(loop, take_fd, ZEV_READ, on_chan_ready, c);
	return c;
}

static void on_chan_dead(void *arg)
{
	free(arg);
}

void zw_chan_free(struct zw_chan *c)
{
	struct packet *p;

	if (c == NULL || c->is_freed)
		return;
	c->is_freed = true;
	c->error = ZW_E_EOF;
	zev_io_free(c->io);
	zw_close(&c->fd);
	while ((p = TAILQ_FIRST(&c->queue)) != NULL) {
		TAILQ_REMOVE(&c->queue, p, link);
		packet_free(p);
	}
	zev_defer(c->loop, on_chan_dead, c);
}

size_t zw_chan_n_queued(const struct zw_chan *c)
{
	return c->n_queued;
}

bool zw_chan_is_over(const struct zw_chan *c)
{
	return c->error != 0;
}

int zw_chan_flush(struct zw_chan *c, int timeout_ms)
{
	int64_t end_ms = zw_mono_ms() + timeout_ms;

	while (c->error == 0 && c->n_queued > 0) {
		struct pollfd pfd = {.fd = c->fd, .events = POLLOUT};
		int64_t left_ms = end_ms - zw_mono_ms();

		if (left_ms <= 0)
			return ZW_E_TIMEOUT;
		if (poll(&pfd, 1, (int)left_ms) > 0)
			queue_run(c);
	}
	return c->error != 0 ? c->error : 0;
}
