/* SPDX-License-Identifier: MIT
 * What a client sends to the server it was allowed to reach: that TLS and plain HTTP inside ask for
 * the host that was judged. Nothing is held back but what is being looked at, and a server that
 * speaks first is never kept waiting. */
#include "proxy/conn_i.h"
#include "proxy/hello.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/words.h"

#define PORT_HTTP     80
#define PORT_TLS      443
#define TLS_HANDSHAKE 0x16 /* first byte of a TLS connection */

/* What a client of SSH begins with (RFC 4253, 4.2). It names no host that could be another one. */
static const char ssh_greeting[] = "SSH-2.0-";

static int deny(struct px_conn *c, unsigned by, const char *why)
{
	c->did = ZW_DID_DENY;
	c->by = by;
	c->rule = 0;
	px_conn_set(&c->reason, why);
	c->reply_seq = c->seq;
	return ZW_E_DENIED;
}

/* -- TLS ---------------------------------------------------------------------------------------- */

/* A TLS client is told in its own words, alert access_denied, if the server was silent. */
static int hello_deny(struct px_conn *c, const char *why)
{
	static const uint8_t alert[] = {0x15, 3, 1, 0, 2, 2, 49};

	if (c->relay.down_b == 0)
		(void)px_relay_send_down(&c->relay, alert, sizeof(alert));
	return deny(c, ZW_BY_NAME, why);
}

/* Nobody looks any more. */
static void raw(struct px_conn *c)
{
	c->up = PX_UP_RAW;
	c->relay.on_up = NULL;
}

/* What was collected goes on, and all that follows. */
static int let_go(struct px_conn *c)
{
	raw(c);
	px_conn_idle_start(c);
	int r = px_relay_send_up(&c->relay, zw_buf_head(&c->in), c->in.len);
	zw_buf_fini(&c->in);
	return r;
}

static void on_hello_timeout(void *arg)
{
	struct px_conn *c = arg;

	if (c->in.len == 0 && c->relay.down_b > 0) {
		(void)let_go(c);
		return;
	}
	(void)hello_deny(c, "no TLS hello came in time");
	px_conn_refused(c);
}

static void hello_wait(struct px_conn *c)
{
	c->up = PX_UP_HELLO;
	if (c->px->times.tls_hello_ms > 0)
		px_timeout_set(c->px->wheel, &c->timeout, c->px->times.tls_hello_ms,
			       on_hello_timeout, c);
}

/* 1 = SSH, 0 = too little to know, -1 = not. */
static int is_ssh(const struct zw_buf *in)
{
	size_t n = sizeof(ssh_greeting) - 1;

	if (memcmp(zw_buf_head(in), ssh_greeting, in->len < n ? in->len : n) != 0)
		return -1;
	return in->len >= n ? 1 : 0;
}

static int up_hello(struct px_conn *c, const uint8_t *p, size_t len)
{
	struct px_hello hello;
	const char *why;
	bool is_first = c->in.len == 0;

	if (zw_buf_add(&c->in, p, len) < 0)
		return hello_deny(c, "the TLS hello does not end");
	/* A server that spoke before its client speaks no TLS. */
	int ssh = is_first && c->relay.down_b > 0 ? 1 : is_ssh(&c->in);
	if (ssh >= 0)
		return ssh > 0 ? let_go(c) : 0;
	int r = px_hello_parse(zw_buf_head(&c->in), c->in.len, &hello);
	if (r == 0)
		return 0;
	if (r == ZW_E_UNSUPPORTED)
		return hello_deny(c, "this port is for TLS, and this is something else");
	if (r < 0)
		return hello_deny(c, "the TLS hello is not well-formed");
	if (!px_hello_is_confirmed(zw_buf_head(&c->in), (size_t)r, &hello))
		return hello_deny(c, "two parsers read the TLS hello in two ways");
	why = px_check_hello(feed_policy(c->px->feed), &c->px->tls, &hello, c->host, c->port,
			     c->who->exe);
	return why != NULL ? hello_deny(c, why) : let_go(c);
}

/* -- plain HTTP --------------------------------------------------------------------------------- */

static int http_deny(struct px_conn *c, unsigned by, const char *why)
{
	struct zw_buf out;
	int r = deny(c, by, why);

	zw_buf_init(&out, 16384);
	px_conn_http_refusal(c, &out);
	if (c->relay.down_b == 0)
		(void)px_relay_send_down(&c->relay, zw_buf_head(&out), out.len);
	zw_buf_fini(&out);
	return r;
}

static void on_head_timeout(void *arg)
{
	struct px_conn *c = arg;

	(void)http_deny(c, ZW_BY_TIMEOUT, "no complete request came in time");
	px_conn_refused(c);
}

static void head_wait(struct px_conn *c)
{
	c->up = PX_UP_HEAD;
	c->scanned = 0;
	if (c->px->times.header_ms > 0)
		px_timeout_set(c->px->wheel, &c->timeout, c->px->times.header_ms, on_head_timeout,
			       c);
}

/* One request to the judged host, as on the HTTP listener: a second one, which might name another
 * host, does not get through on this connection. */
static int up_head(struct px_conn *c, const uint8_t *p, size_t len)
{
	struct px_http1_head h;
	const char *why = "";

	if (zw_buf_add(&c->in, p, len) < 0)
		return http_deny(c, ZW_BY_FAULT, "the head of the request does not end");
	int head_len = px_http1_parse(zw_buf_head(&c->in), c->in.len, c->px->header_b, &c->scanned,
				      &h, &why);
	if (head_len == 0)
		return 0;
	if (head_len < 0)
		return http_deny(c, ZW_BY_FAULT, why);
	if (h.n_fields > c->px->header_fields)
		return http_deny(c, ZW_BY_FAULT, "too many header fields");
	if (h.form == PX_FORM_CONNECT)
		return http_deny(c, ZW_BY_FAULT, "CONNECT inside a connection is not passed on");
	if (px_http1_is_dns_query(&h))
		return http_deny(c, ZW_BY_CATALOGUE,
				 "DNS over HTTP: names are looked up by zwatch alone");
	why = h.has_host ? px_check_http_host(feed_policy(c->px->feed), &h.host, c->host, c->port,
					      c->who->exe)
			 : NULL;
	if (why != NULL)
		return http_deny(c, ZW_BY_NAME, why);
	if (!h.has_host) {
		h.host.addr = c->host->addr;
		zw_strlcpy(h.host.name, c->host->name, sizeof(h.host.name));
	}
	h.has_host = true;
	h.port = c->port;
	px_body_init(&c->body, &h);
	c->is_upgrade = h.wants_upgrade;
	if (px_http1_write(&h, h.wants_upgrade, &c->out) < 0)
		return http_deny(c, ZW_BY_FAULT, "the request cannot be passed on");
	zw_buf_consume(&c->in, (size_t)head_len);
	c->up = PX_UP_BODY;
	px_conn_idle_start(c);
	return px_conn_up_start(c);
}

/* One request, and not a byte behind it. */
static int up_body(struct px_conn *c, const uint8_t *p, size_t len)
{
	int64_t n = px_body_feed(&c->body, p, len);

	if (n < 0)
		return deny(c, ZW_BY_FAULT, "the body of the request is not well-formed");
	if (px_body_is_done(&c->body))
		px_relay_complete(&c->relay, (size_t)n < len);
	return n > 0 ? px_relay_send_up(&c->relay, p, (size_t)n) : 0;
}

/* -- another protocol on the same connection ---------------------------------------------------- */

/* The server's answer: with 101 the two of them speak something else from here on, and there is no
 * second request. With any other status the request was one like all. */
static void on_upgrade_answer(void *arg, const uint8_t *p, size_t len)
{
	struct px_conn *c = arg;
	size_t room = sizeof(c->status) - c->n_status;
	size_t n = len < room ? len : room;

	memcpy(c->status + c->n_status, p, n);
	c->n_status = (uint8_t)(c->n_status + n);
	int status = px_http1_status(c->status, c->n_status);
	if (status == 0 && c->n_status < sizeof(c->status))
		return;
	c->relay.on_down = NULL;
	if (status != 101) {
		c->up = PX_UP_BODY;
		px_relay_complete(&c->relay, c->in.len > 0);
		zw_buf_fini(&c->in);
		return;
	}
	if (let_go(c) < 0)
		px_relay_end(&c->relay, PX_END_RESET);
}

static int up_upgrade(struct px_conn *c, const uint8_t *p, size_t len)
{
	if (zw_buf_add(&c->in, p, len) < 0)
		return deny(c, ZW_BY_FAULT, "more was sent than waits for the server to agree");
	return 0;
}

/* -- */

/* What some server takes for the beginning of a request: methods in lower case too, and line ends
 * before it (RFC 9112, 2.2). The parser then says no to those, so that none names a host unseen. */
static bool may_be_http(uint8_t first)
{
	uint8_t lower = first | 0x20;

	return (lower >= 'a' && lower <= 'z') || first == '\r' || first == '\n';
}

static void first_byte(struct px_conn *c, uint8_t first)
{
	if (first == TLS_HANDSHAKE)
		hello_wait(c);
	else if (c->port == PORT_HTTP && may_be_http(first))
		head_wait(c);
	else
		raw(c);
}

int px_conn_up(void *arg, const uint8_t *p, size_t len)
{
	struct px_conn *c = arg;

	if (c->up == PX_UP_FIRST)
		first_byte(c, p[0]);
	switch (c->up) {
	case PX_UP_HELLO:
		return up_hello(c, p, len);
	case PX_UP_HEAD:
		return up_head(c, p, len);
	case PX_UP_BODY:
		return up_body(c, p, len);
	case PX_UP_UPGRADE:
		return up_upgrade(c, p, len);
	case PX_UP_FIRST:
	case PX_UP_RAW:
		break;
	}
	return px_relay_send_up(&c->relay, p, len);
}

int px_conn_up_start(struct px_conn *c)
{
	size_t len = c->in.len;
	zw_autofree uint8_t *early = NULL;

	if (c->up == PX_UP_FIRST && c->port == PORT_TLS)
		hello_wait(c);
	if (c->up == PX_UP_BODY) {
		int r = px_relay_send_up(&c->relay, zw_buf_head(&c->out), c->out.len);

		zw_buf_fini(&c->out);
		if (r < 0)
			return r;
		if (c->is_upgrade) {
			c->up = PX_UP_UPGRADE;
			c->relay.on_down = on_upgrade_answer;
		} else if (px_body_is_done(&c->body)) {
			px_relay_complete(&c->relay, len > 0);
		}
	}
	if (len == 0 || c->relay.is_deaf) {
		zw_buf_fini(&c->in);
		return 0;
	}
	early = zw_xmalloc(len);
	memcpy(early, zw_buf_head(&c->in), len);
	zw_buf_fini(&c->in);
	return px_conn_up(c, early, len);
}
