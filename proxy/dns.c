/* SPDX-License-Identifier: MIT */
#include "proxy/dns.h"

#include <errno.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"

#define UDP_PER_TURN  64
#define TCP_MAX	      32
#define TCP_IDLE_MS   10000
#define TCP_OUT_MAX_B 65536
#define FAKE_TTL_S    1
#define LOCAL_TTL_S   3600

enum { TYPE_PTR = 12 };

/* -- deciding ----------------------------------------------------------------------------------- */

static bool is_or_below(const char *name, const char *zone)
{
	size_t n = strlen(name), z = strlen(zone);

	return n >= z && strcmp(name + n - z, zone) == 0 && (n == z || name[n - z - 1] == '.');
}

/* Canary names: "does not exist" tells the program to leave name lookups to the system. */
static bool is_canary(const char *name)
{
	static const char *const zones[] = {
		"use-application-dns.net", "mask.icloud.com",	  "mask-h2.icloud.com",
		"mask-canary.icloud.com",  "mask-api.icloud.com", "doh.dns.apple.com",
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(zones); i++)
		if (is_or_below(name, zones[i]))
			return true;
	return false;
}

static void localhost_addr(uint16_t type, struct px_dns_answer *ret)
{
	ret->has_addr = type == PX_DNS_A || type == PX_DNS_AAAA;
	ret->ttl_s = LOCAL_TTL_S;
	if (type == PX_DNS_A)
		ret->addr = (struct pol_addr){.family = POL_FAMILY_V4, .b = {127, 0, 0, 1}};
	else if (type == PX_DNS_AAAA)
		ret->addr = (struct pol_addr){.family = POL_FAMILY_V6, .b = {[15] = 1}};
}

void px_dns_decide(struct px_fake *fake, const struct px_dns_query *q, struct px_dns_answer *ret)
{
	const char *name = q->host.name;

	*ret = (struct px_dns_answer){.rcode = q->rcode};
	if (q->rcode != PX_DNS_NOERROR)
		return;
	if (q->host.addr.family != POL_FAMILY_NONE || is_canary(name)) {
		ret->rcode = PX_DNS_NXDOMAIN;
	} else if (is_or_below(name, "localhost")) {
		localhost_addr(q->type, ret);
	} else if (is_or_below(name, "resolver.arpa")) {
		/* RFC 9462: no other resolver is offered. */
	} else if (q->type == PX_DNS_A && name[0] != '\0') {
		px_fake_addr(fake, name, &ret->addr);
		ret->has_addr = true;
		ret->ttl_s = FAKE_TTL_S;
	} else if (q->type == TYPE_PTR) {
		ret->rcode = PX_DNS_NXDOMAIN;
	} else if (q->type != PX_DNS_A && q->type != PX_DNS_AAAA && q->type != PX_DNS_SVCB &&
		   q->type != PX_DNS_HTTPS) {
		ret->rcode = PX_DNS_REFUSED;
	}
}

/* -- sockets ------------------------------------------------------------------------------------ */

struct tcp {
	LIST_ENTRY(tcp) link;
	struct px_dns *dns;
	int fd; /* owned */
	struct zev_io *io;
	struct zev_timer *idle;
	struct zw_buf in, out;
	bool is_gone, has_ended;
};

struct px_dns {
	struct zev_loop *loop;
	struct px_fake *fake;
	int udp_fd, tcp_fd; /* borrowed */
	struct zev_io *udp_io, *tcp_io;
	unsigned n_tcp;
	LIST_HEAD(, tcp) tcps;
};

/* Returns bytes of the reply, 0 = none is due. */
static size_t answer(struct px_dns *d, const uint8_t *msg, size_t len,
		     uint8_t out[PX_DNS_REPLY_MAX])
{
	struct px_dns_query q;
	struct px_dns_answer a;

	if (px_dns_query_parse(msg, len, &q) < 0)
		return 0;
	px_dns_decide(d->fake, &q, &a);
	return px_dns_reply_write(&q, a.rcode, a.has_addr ? &a.addr : NULL, a.ttl_s, out);
}

static void on_udp(int fd, unsigned what, void *arg)
{
	struct px_dns *d = arg;
	uint8_t in[PX_DNS_QUERY_MAX], out[PX_DNS_REPLY_MAX];

	(void)what;
	for (int i = 0; i < UDP_PER_TURN; i++) {
		struct sockaddr_storage from;
		socklen_t from_len = sizeof(from);
		ssize_t n = recvfrom(fd, in, sizeof(in), MSG_DONTWAIT | MSG_TRUNC,
				     (struct sockaddr *)&from, &from_len);

		if (n < 0 && errno != EINTR && errno != ECONNREFUSED)
			return;
		if (n < 0 || (size_t)n > sizeof(in))
			continue;
		size_t len = answer(d, in, (size_t)n, out);
		/* A full socket buffer loses a reply, as DNS expects. */
		if (len > 0)
			(void)sendto(fd, out, len, MSG_DONTWAIT | MSG_NOSIGNAL,
				     (struct sockaddr *)&from, from_len);
	}
}

static void on_tcp_dead(void *arg)
{
	struct tcp *t = arg;

	zev_timer_free(t->idle);
	free(t);
}

static void tcp_close(struct tcp *t)
{
	if (t->is_gone)
		return;
	t->is_gone = true;
	LIST_REMOVE(t, link);
	t->dns->n_tcp--;
	zev_io_set(t->dns->tcp_io, ZEV_READ);
	zev_io_free(t->io);
	zev_timer_stop(t->idle);
	zw_close(&t->fd);
	zw_buf_fini(&t->in);
	zw_buf_fini(&t->out);
	zev_defer(t->dns->loop, on_tcp_dead, t);
}

static void on_tcp_idle(void *arg)
{
	tcp_close(arg);
}

/* Answers all whole questions. Returns < 0 when the connection is not worth going on with. */
static int tcp_answer(struct tcp *t)
{
	struct zw_span msg;
	uint8_t out[2 + PX_DNS_REPLY_MAX];
	int r = 0;

	while (t->in.len > 0 && (r = px_dns_frame(zw_buf_head(&t->in), t->in.len, &msg)) > 0) {
		size_t len = answer(t->dns, (const uint8_t *)msg.p, msg.len, out + 2);

		zw_buf_consume(&t->in, (size_t)r);
		if (len == 0)
			return ZW_E_SYNTAX;
		out[0] = (uint8_t)(len >> 8);
		out[1] = (uint8_t)len;
		if (zw_buf_add(&t->out, out, len + 2) < 0)
			return ZW_E_TOOBIG;
	}
	return r < 0 ? r : 0;
}

static int tcp_write(struct tcp *t)
{
	while (t->out.len > 0) {
		ssize_t n =
			send(t->fd, zw_buf_head(&t->out), t->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return -errno;
		zw_buf_consume(&t->out, (size_t)n);
	}
	/* One that does not read its answers is not read either. */
	zev_io_set(t->io, t->out.len > 0 ? ZEV_WRITE : ZEV_READ);
	return t->has_ended && t->out.len == 0 ? ZW_E_EOF : 0;
}

static void on_tcp(int fd, unsigned what, void *arg)
{
	struct tcp *t = arg;
	int r = 0;

	if (what & ZEV_READ) {
		uint8_t *room = zw_buf_room(&t->in, zw_buf_left(&t->in));
		ssize_t n = room != NULL ? recv(fd, room, zw_buf_left(&t->in), MSG_DONTWAIT) : 0;

		if (n < 0 && errno != EAGAIN)
			r = -errno;
		t->has_ended = n == 0;
		if (n > 0) {
			zw_buf_grow(&t->in, (size_t)n);
			zev_timer_start(t->idle, TCP_IDLE_MS);
			r = tcp_answer(t);
		}
	}
	if (r == 0)
		r = tcp_write(t);
	if (r < 0)
		tcp_close(t);
}

static void on_tcp_accept(int fd, unsigned what, void *arg)
{
	struct px_dns *d = arg;
	int conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)what;
	if (conn < 0)
		return;
	struct tcp *t = zw_xnew(struct tcp);
	t->dns = d;
	t->fd = conn;
	zw_buf_init(&t->in, PX_DNS_QUERY_MAX + 2);
	zw_buf_init(&t->out, TCP_OUT_MAX_B);
	t->io = zev_io_new(d->loop, conn, ZEV_READ, on_tcp, t);
	t->idle = zev_timer_new(d->loop, on_tcp_idle, t);
	zev_timer_start(t->idle, TCP_IDLE_MS);
	LIST_INSERT_HEAD(&d->tcps, t, link);
	/* Enough: the next one waits in the backlog. */
	if (++d->n_tcp >= TCP_MAX)
		zev_io_set(d->tcp_io, 0);
}

struct px_dns *px_dns_new(struct zev_loop *loop, int udp_fd, int tcp_fd, struct px_fake *fake)
{
	struct px_dns *d = zw_xnew(struct px_dns);

	*d = (struct px_dns){.loop = loop, .fake = fake, .udp_fd = udp_fd, .tcp_fd = tcp_fd};
	LIST_INIT(&d->tcps);
	(void)zw_set_nonblock(udp_fd);
	(void)zw_set_nonblock(tcp_fd);
	d->udp_io = zev_io_new(loop, udp_fd, ZEV_READ, on_udp, d);
	d->tcp_io = zev_io_new(loop, tcp_fd, ZEV_READ, on_tcp_accept, d);
	return d;
}

void px_dns_free(struct px_dns *d)
{
	struct tcp *t;

	if (d == NULL)
		return;
	while ((t = LIST_FIRST(&d->tcps)) != NULL)
		tcp_close(t);
	zev_io_free(d->udp_io);
	zev_io_free(d->tcp_io);
	free(d);
}
