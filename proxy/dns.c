/* SPDX-License-Identifier: MIT */
#include "proxy/dns.h"

#include <errno.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/words.h"

#define UDP_PER_TURN  64
#define TCP_MAX	      32
#define TCP_IDLE_MS   10000
#define TCP_OUT_MAX_B 65536
#define FAKE_TTL_S    1
#define LOCAL_TTL_S   3600
#define OPEN_MAX      256  /* questions that wait for the resolver */
#define OPEN_MS	      8000 /* it always answers; this is for the day it does not */
/* Numbers of questions: the upper half is this server's, the lower the dialler's. */
#define QUERY_FIRST (UINT64_C(1) << 63)

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

/* A service name belongs to the host behind its labels (RFC 8552): _sip._tcp.host, _dmarc.host. */
static const char *host_of(const char *name)
{
	while (name[0] == '_' && strchr(name, '.') != NULL)
		name = strchr(name, '.') + 1;
	return name;
}

static bool is_allowed(const struct policy *policy, const struct pol_host *host)
{
	struct pol_decision d;

	pol_decide_site(policy, host, 0, "", &d);
	return d.verdict == POL_ALLOW;
}

static bool name_is_allowed(const struct policy *policy, const char *name)
{
	struct pol_host host;
	const char *of = host_of(name);

	return pol_host_parse(of, strlen(of), &host) == 0 && host.addr.family == POL_FAMILY_NONE &&
	       is_allowed(policy, &host);
}

static void decide_reverse(struct px_fake *fake, const struct policy *policy, const char *name,
			   struct px_dns_answer *ret)
{
	struct pol_addr addr;
	struct pol_host host;

	if (!px_dns_reverse_addr(name, &addr)) {
		ret->rcode = PX_DNS_NXDOMAIN;
		return;
	}
	enum pol_addr_kind kind = pol_addr_classify(&addr);
	pol_host_from_addr(&addr, &host);
	if (kind == POL_ADDR_FAKE)
		ret->name = px_fake_name(fake, &addr);
	else if (kind == POL_ADDR_LOOPBACK)
		ret->name = "localhost";
	if (ret->name != NULL)
		ret->ttl_s = FAKE_TTL_S;
	else if (kind == POL_ADDR_FAKE || kind == POL_ADDR_LOOPBACK || kind == POL_ADDR_SPECIAL)
		ret->rcode = PX_DNS_NXDOMAIN;
	else if (is_allowed(policy, &host))
		ret->must_ask = true;
	else
		ret->rcode = kind == POL_ADDR_PUBLIC ? PX_DNS_REFUSED : PX_DNS_NXDOMAIN;
}

static void decide_other(const struct policy *policy, const struct px_dns_query *q,
			 struct px_dns_answer *ret)
{
	switch (q->type) {
	case PX_DNS_AAAA:
	case PX_DNS_SVCB:
	case PX_DNS_HTTPS:
		return; /* no such data */
	case PX_DNS_MX:
	case PX_DNS_SRV:
	case PX_DNS_TXT:
	case PX_DNS_CAA:
		ret->must_ask = name_is_allowed(policy, q->host.name);
		break;
	default:
		break;
	}
	if (!ret->must_ask)
		ret->rcode = PX_DNS_REFUSED;
}

void px_dns_decide(struct px_fake *fake, const struct policy *policy, const struct px_dns_query *q,
		   struct px_dns_answer *ret)
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
	} else if (q->type == PX_DNS_PTR) {
		decide_reverse(fake, policy, name, ret);
	} else if (q->type != PX_DNS_A) {
		decide_other(policy, q, ret);
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
	unsigned n_open;
};

/* A question that the resolver has; by UDP, or of a connection. */
struct open {
	struct zw_map_node node;
	struct px_dns *dns;
	struct tcp *tcp; /* NULL = by UDP */
	struct sockaddr_storage from;
	socklen_t from_len;
	uint64_t number;
	struct px_dns_query q;
	struct px_timeout late;
};

struct px_dns {
	struct zev_loop *loop;
	struct px_wheel *wheel;
	struct zw_chan *chan;
	struct feed *feed;
	struct zw_map open;
	uint64_t last_number;
	struct px_fake *fake;
	int udp_fd, tcp_fd; /* borrowed */
	struct zev_io *udp_io, *tcp_io;
	unsigned n_tcp;
	LIST_HEAD(, tcp) tcps;
};

/* Where a question came from. */
struct asker {
	struct tcp *tcp; /* or by UDP: */
	const struct sockaddr_storage *from;
	socklen_t from_len;
};

static int tcp_add(struct tcp *t, const uint8_t *reply, size_t len);
static void tcp_close(struct tcp *t);
static int tcp_write(struct tcp *t);

static void reply_send(struct open *o, const uint8_t *reply, size_t len)
{
	if (o->tcp == NULL)
		(void)sendto(o->dns->udp_fd, reply, len, MSG_DONTWAIT | MSG_NOSIGNAL,
			     (struct sockaddr *)&o->from, o->from_len);
	else if (tcp_add(o->tcp, reply, len) < 0 || tcp_write(o->tcp) < 0)
		tcp_close(o->tcp);
}

static void open_drop(struct open *o)
{
	if (o->tcp != NULL)
		o->tcp->n_open--;
	px_timeout_clear(o->dns->wheel, &o->late);
	zw_map_remove(&o->dns->open, &o->node);
	free(o);
}

static void open_answer(struct open *o, enum px_dns_rcode rcode, const uint8_t *records, size_t len,
			uint32_t ttl_s)
{
	static uint8_t out[PX_DNS_RECORDS_MAX];
	size_t max = o->tcp != NULL ? sizeof(out) : o->q.udp_max;
	size_t n = rcode == PX_DNS_NOERROR && len > 0
			   ? px_dns_records_write(&o->q, records, len, ttl_s, out, max)
			   : px_dns_reply_write(&o->q, rcode, NULL, 0, out);
	struct open copy = *o;

	/* Its connection may be gone behind the reply, and this with it. */
	open_drop(o);
	reply_send(&copy, out, n);
}

static void on_open_late(void *arg)
{
	open_answer(arg, PX_DNS_SERVFAIL, NULL, 0, 0);
}

/* Returns whether the resolver was asked. */
static bool open_new(struct px_dns *d, const struct px_dns_query *q, const struct asker *from)
{
	if (d->open.n >= OPEN_MAX)
		return false;
	struct open *o = zw_xnew(struct open);

	o->dns = d;
	o->tcp = from->tcp;
	o->q = *q;
	if (from->tcp != NULL) {
		from->tcp->n_open++;
	} else {
		o->from = *from->from;
		o->from_len = from->from_len;
	}
	o->number = QUERY_FIRST | ++d->last_number;
	zw_map_add(&d->open, &o->node, &o->number, sizeof(o->number));
	px_timeout_set(d->wheel, &o->late, OPEN_MS, on_open_late, o);
	zw_send(d->chan, res_query, .query = o->number, .name = zw_span(q->host.name),
		.type = q->type);
	return true;
}

bool px_dns_answered(struct px_dns *d, const struct zw_msg_res_answer *m)
{
	struct zw_map_node *n;

	if (m->query < QUERY_FIRST)
		return false;
	if (d == NULL || (n = zw_map_find(&d->open, &m->query, sizeof(m->query))) == NULL)
		return true;
	enum px_dns_rcode rcode =
		m->status == ZW_RES_STATUS_OK || m->status == ZW_RES_STATUS_NO_DATA ? PX_DNS_NOERROR
		: m->status == ZW_RES_STATUS_NO_NAME ? PX_DNS_NXDOMAIN
						     : PX_DNS_SERVFAIL;
	open_answer(zw_map_entry(n, struct open, node), rcode, (const uint8_t *)m->records.p,
		    m->records.len, m->ttl_s);
	return true;
}

/* A name as the one record of a reply. */
static size_t name_write(const struct px_dns_query *q, const struct px_dns_answer *a,
			 uint8_t out[PX_DNS_REPLY_MAX])
{
	uint8_t record[2 + PX_DNS_NAME_WIRE_MAX];
	int n = px_dns_name_write(a->name, record + 2);

	if (n < 0)
		return px_dns_reply_write(q, PX_DNS_SERVFAIL, NULL, 0, out);
	record[0] = 0;
	record[1] = (uint8_t)n;
	return px_dns_records_write(q, record, 2 + (size_t)n, a->ttl_s, out, PX_DNS_REPLY_MAX);
}

/* Returns bytes of the reply; 0 = none is due now; ZW_E_SYNTAX = nor will be. */
static ssize_t answer(struct px_dns *d, const uint8_t *msg, size_t len, const struct asker *from,
		      uint8_t out[PX_DNS_REPLY_MAX])
{
	struct px_dns_query q;
	struct px_dns_answer a;

	if (px_dns_query_parse(msg, len, &q) < 0)
		return ZW_E_SYNTAX;
	px_dns_decide(d->fake, feed_policy(d->feed), &q, &a);
	if (a.must_ask && open_new(d, &q, from))
		return 0;
	if (a.must_ask)
		a.rcode = PX_DNS_SERVFAIL;
	if (a.name != NULL)
		return (ssize_t)name_write(&q, &a, out);
	return (ssize_t)px_dns_reply_write(&q, a.rcode, a.has_addr ? &a.addr : NULL, a.ttl_s, out);
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
		const struct asker asker = {.from = &from, .from_len = from_len};
		ssize_t len = answer(d, in, (size_t)n, &asker, out);
		/* A full socket buffer loses a reply, as DNS expects. */
		if (len > 0)
			(void)sendto(fd, out, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL,
				     (struct sockaddr *)&from, from_len);
	}
}

static void on_tcp_dead(void *arg)
{
	struct tcp *t = arg;

	zev_timer_free(t->idle);
	free(t);
}

/* Nobody waits any more for what this connection asked; all of them for a NULL. */
static void opens_drop_of(struct px_dns *d, const struct tcp *t)
{
	for (size_t i = 0; i < d->open.n_buckets; i++) {
		struct zw_map_node *n = d->open.buckets[i], *next;

		for (; n != NULL; n = next) {
			struct open *o = zw_map_entry(n, struct open, node);

			next = n->next;
			if (t == NULL || o->tcp == t)
				open_drop(o);
		}
	}
}

static void opens_drop(struct tcp *t)
{
	if (t->n_open > 0)
		opens_drop_of(t->dns, t);
}

static void tcp_close(struct tcp *t)
{
	if (t->is_gone)
		return;
	t->is_gone = true;
	opens_drop(t);
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

static int tcp_add(struct tcp *t, const uint8_t *reply, size_t len)
{
	uint8_t head[2] = {(uint8_t)(len >> 8), (uint8_t)len};

	if (t->is_gone || zw_buf_left(&t->out) < len + 2)
		return ZW_E_TOOBIG;
	(void)zw_buf_add(&t->out, head, sizeof(head));
	return zw_buf_add(&t->out, reply, len);
}

/* Answers all whole questions. Returns < 0 when the connection is not worth going on with. */
static int tcp_answer(struct tcp *t)
{
	const struct asker asker = {.tcp = t};
	struct zw_span msg;
	uint8_t out[PX_DNS_REPLY_MAX];
	int r = 0;

	while (t->in.len > 0 && (r = px_dns_frame(zw_buf_head(&t->in), t->in.len, &msg)) > 0) {
		ssize_t len = answer(t->dns, (const uint8_t *)msg.p, msg.len, &asker, out);

		zw_buf_consume(&t->in, (size_t)r);
		if (len < 0)
			return (int)len;
		if (len > 0 && tcp_add(t, out, (size_t)len) < 0)
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
	zev_io_set(t->io, t->out.len > 0 ? ZEV_WRITE : t->has_ended ? 0 : ZEV_READ);
	return t->has_ended && t->out.len == 0 && t->n_open == 0 ? ZW_E_EOF : 0;
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

struct px_dns *px_dns_new(struct zev_loop *loop, struct px_wheel *wheel, struct zw_chan *chan,
			  struct feed *feed, int udp_fd, int tcp_fd, struct px_fake *fake)
{
	struct px_dns *d = zw_xnew(struct px_dns);

	*d = (struct px_dns){.loop = loop,
			     .wheel = wheel,
			     .chan = chan,
			     .feed = feed,
			     .fake = fake,
			     .udp_fd = udp_fd,
			     .tcp_fd = tcp_fd};
	LIST_INIT(&d->tcps);
	zw_map_init(&d->open);
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
	opens_drop_of(d, NULL);
	while ((t = LIST_FIRST(&d->tcps)) != NULL)
		tcp_close(t);
	zw_map_fini(&d->open);
	zev_io_free(d->udp_io);
	zev_io_free(d->tcp_io);
	free(d);
}
