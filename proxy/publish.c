/* SPDX-License-Identifier: MIT */
#include "proxy/publish.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "proxy/relay.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"

#define ACCEPT_PER_TURN 32
#define OPEN_MS		10000 /* until it is on record and connected */

struct port {
	LIST_ENTRY(port) link;
	struct px_publish *all;
	uint16_t port;
	unsigned by;
	uint32_t rule;
	int fd; /* owned */
	struct zev_io *io;
};

enum state { COMMIT, INSIDE, CONNECT, RELAY, GONE };

struct conn {
	TAILQ_ENTRY(conn) link;
	struct px_publish *all;
	enum state state;
	struct px_row row;
	int outer_fd, inner_fd; /* owned until the relay has them */
	bool is_second;		/* tries ::1, after 127.0.0.1 */
	struct zev_io *io;
	struct px_timeout timeout;
	struct px_relay relay;
	bool is_relaying;
};

struct px_publish {
	struct px *px;
	LIST_HEAD(, port) ports;
	TAILQ_HEAD(, conn) conns;
	unsigned n_conns;
};

static void listen_again(struct px_publish *p, unsigned what)
{
	struct port *port;

	LIST_FOREACH (port, &p->ports, link)
		zev_io_set(port->io, what);
}

/* -- one connection ----------------------------------------------------------------------------- */

static void on_dead(void *arg)
{
	free(arg);
}

static void conn_end(struct conn *c, unsigned did, const char *end, bool want_reset)
{
	struct px_publish *p = c->all;

	if (c->state == GONE)
		return;
	c->state = GONE;
	c->row.did = did;
	c->row.end = end;
	c->row.up_b = c->relay.up_b;
	c->row.down_b = c->relay.down_b;
	px_record_close(p->px->record, &c->row);
	px_timeout_clear(p->px->wheel, &c->timeout);
	zev_io_free(zw_steal(&c->io));
	if (want_reset && c->outer_fd >= 0) {
		const struct linger l = {.l_onoff = 1, .l_linger = 0};

		(void)setsockopt(c->outer_fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	}
	if (c->is_relaying)
		px_relay_fini(&c->relay);
	zw_close(&c->outer_fd);
	zw_close(&c->inner_fd);
	TAILQ_REMOVE(&p->conns, c, link);
	if (p->n_conns-- == PX_PUBLISHED_MAX)
		listen_again(p, ZEV_READ);
	zev_defer(p->px->loop, on_dead, c);
}

static void fail(struct conn *c, const char *why)
{
	c->row.reason = why;
	conn_end(c, ZW_DID_FAIL, why, true);
}

static void on_open_timeout(void *arg)
{
	fail(arg, "the server inside did not answer in time");
}

static void on_relay_end(void *arg, enum px_relay_end how)
{
	static const char *const words[] = {
		[PX_END_CLIENT] = "closed by client",
		[PX_END_SERVER] = "closed by server",
		[PX_END_RESET] = "reset",
		[PX_END_FILTER] = "refused",
	};

	conn_end(arg, ZW_DID_ALLOW, words[how], false);
}

static void on_activity(void *arg)
{
	(void)arg; /* an idle connection to a server of one's own may stay */
}

static void relay(struct conn *c)
{
	struct px *px = c->all->px;

	c->state = RELAY;
	px_timeout_clear(px->wheel, &c->timeout);
	zev_io_free(zw_steal(&c->io));
	c->relay.on_activity = on_activity;
	c->relay.on_end = on_relay_end;
	c->relay.arg = c;
	px_relay_start(&c->relay, px->loop, zw_steal_fd(&c->outer_fd), zw_steal_fd(&c->inner_fd),
		       px->buf);
	c->is_relaying = true;
	px_relay_kick(&c->relay, false);
}

static int connect_inside(const struct conn *c)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET,
				 .sin_port = htons(c->row.port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(c->row.port)};
	int domain = AF_INET;
	socklen_t len = sizeof(domain);

	(void)getsockopt(c->inner_fd, SOL_SOCKET, SO_DOMAIN, &domain, &len);
	if (domain == AF_INET)
		return connect(c->inner_fd, (const struct sockaddr *)&v4, sizeof(v4));
	if (c->is_second)
		v6.sin6_addr = in6addr_loopback;
	else
		memcpy(v6.sin6_addr.s6_addr, (const uint8_t[]){[10] = 0xff, 0xff, 127, 0, 0, 1},
		       16);
	return connect(c->inner_fd, (const struct sockaddr *)&v6, sizeof(v6));
}

static void on_connecting(int fd, unsigned what, void *arg);

/* A socket that was refused on one family keeps an address of it: the other gets a new one. */
static void connect_failed(struct conn *c, int error)
{
	if (error != ECONNREFUSED || c->is_second) {
		fail(c, error == ECONNREFUSED ? "nobody listens inside any more"
					      : zw_strerror(-error));
		return;
	}
	c->is_second = true;
	c->state = INSIDE;
	zev_io_free(zw_steal(&c->io));
	zw_close(&c->inner_fd);
	zw_send(c->all->px->chan, px_want_inside, .seq = c->row.seq);
}

static void connect_next(struct conn *c)
{
	if (connect_inside(c) == 0)
		relay(c);
	else if (errno == EINPROGRESS)
		c->io = zev_io_new(c->all->px->loop, c->inner_fd, ZEV_WRITE, on_connecting, c);
	else
		connect_failed(c, errno);
}

static void on_connecting(int fd, unsigned what, void *arg)
{
	struct conn *c = arg;
	int error = 0;
	socklen_t len = sizeof(error);

	(void)what;
	(void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	if (error == 0)
		relay(c);
	else
		connect_failed(c, error);
}

static void conn_new(struct port *port, int take_fd)
{
	struct px_publish *p = port->all;
	struct conn *c = zw_xnew(struct conn);
	const int on = 1;

	(void)setsockopt(take_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	c->all = p;
	c->outer_fd = take_fd;
	c->inner_fd = -1;
	c->row = (struct px_row){.did = ZW_DID_ALLOW,
				 .via = ZW_VIA_PUBLISHED,
				 .by = port->by,
				 .rule = port->rule,
				 .host = "127.0.0.1",
				 .port = port->port,
				 .address = "",
				 .reason = "",
				 .note = "",
				 .end = ""};
	TAILQ_INSERT_TAIL(&p->conns, c, link);
	p->n_conns++;
	px_timeout_set(p->px->wheel, &c->timeout, OPEN_MS, on_open_timeout, c);
	c->row.seq = px_record_open(p->px->record, &c->row);
}

static struct conn *conn_find(struct px_publish *p, uint64_t seq, enum state state)
{
	struct conn *c;

	TAILQ_FOREACH (c, &p->conns, link)
		if (c->row.seq == seq && c->state == state)
			return c;
	return NULL;
}

void px_publish_close(struct px_publish *p, uint64_t seq)
{
	struct conn *c;

	TAILQ_FOREACH (c, &p->conns, link)
		if (c->row.seq == seq && c->state != COMMIT)
			break;
	if (c != NULL)
		conn_end(c, ZW_DID_ALLOW, "closed by the user", true);
}

void px_publish_committed(struct px_publish *p, uint64_t seq, bool is_kept)
{
	struct conn *c = conn_find(p, seq, COMMIT);

	if (c == NULL)
		return;
	if (!is_kept) {
		c->row.by = ZW_BY_FAULT;
		c->row.reason = "it could not be put on record, so it was not carried";
		conn_end(c, ZW_DID_DENY, "refused", true);
		return;
	}
	c->state = INSIDE;
	zw_send(p->px->chan, px_want_inside, .seq = seq);
}

void px_publish_inside(struct px_publish *p, uint64_t seq, int take_fd)
{
	struct conn *c = conn_find(p, seq, INSIDE);
	zw_autoclose int fd = take_fd;
	const int on = 1;

	if (c == NULL)
		return;
	(void)zw_set_nonblock(fd);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	c->inner_fd = zw_steal_fd(&fd);
	c->state = CONNECT;
	connect_next(c);
}

/* -- ports -------------------------------------------------------------------------------------- */

static void on_listener(int fd, unsigned what, void *arg)
{
	struct port *port = arg;

	(void)what;
	for (int i = 0; i < ACCEPT_PER_TURN; i++) {
		if (port->all->n_conns >= PX_PUBLISHED_MAX) {
			listen_again(port->all, 0);
			return;
		}
		int conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (conn < 0)
			return;
		conn_new(port, conn);
	}
}

static void port_free(struct port *port)
{
	LIST_REMOVE(port, link);
	zev_io_free(port->io);
	zw_close(&port->fd);
	free(port);
}

static void conns_cut(struct px_publish *p, uint16_t number)
{
	struct conn *c, *next;

	for (c = TAILQ_FIRST(&p->conns); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->row.port == number)
			conn_end(c, ZW_DID_ALLOW, "taken back", true);
	}
}

void px_publish_remove(struct px_publish *p, uint16_t number, bool is_cut)
{
	struct port *port, *next;

	if (is_cut)
		conns_cut(p, number);

	for (port = LIST_FIRST(&p->ports); port != NULL; port = next) {
		next = LIST_NEXT(port, link);
		if (port->port == number)
			port_free(port);
	}
}

void px_publish_add(struct px_publish *p, const struct zw_msg_px_publish *m, int take_fd)
{
	struct port *port = zw_xnew(struct port);

	px_publish_remove(p, m->port, false);
	port->all = p;
	port->port = m->port;
	port->by = m->by;
	port->rule = m->rule;
	port->fd = take_fd;
	(void)zw_set_nonblock(port->fd);
	port->io = zev_io_new(p->px->loop, port->fd, p->n_conns < PX_PUBLISHED_MAX ? ZEV_READ : 0,
			      on_listener, port);
	LIST_INSERT_HEAD(&p->ports, port, link);
}

struct px_publish *px_publish_new(struct px *px)
{
	struct px_publish *p = zw_xnew(struct px_publish);

	p->px = px;
	LIST_INIT(&p->ports);
	TAILQ_INIT(&p->conns);
	return p;
}

void px_publish_free(struct px_publish *p)
{
	if (p == NULL)
		return;
	while (!LIST_EMPTY(&p->ports))
		port_free(LIST_FIRST(&p->ports));
	while (!TAILQ_EMPTY(&p->conns))
		conn_end(TAILQ_FIRST(&p->conns), ZW_DID_ALLOW, "zwatch ends", true);
	free(p);
}
