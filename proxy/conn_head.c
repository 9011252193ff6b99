/* SPDX-License-Identifier: MIT
 * What a client says before it is judged: the head of a request, the handshake of SOCKS. */
#include "proxy/conn_i.h"
#include "proxy/socks.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"

#include <sys/socket.h>

/* -- HTTP --------------------------------------------------------------------------------------- */

static void bad_request(struct px_conn *c, int error, const char *why)
{
	px_conn_bad(c, ZW_BY_FAULT, error, why);
}

/* The target as the client spelt it: what stands in the request line between the blanks. */
static struct zw_span spelt_target(const struct zw_buf *in, const struct px_http1_head *h)
{
	const char *line = (const char *)zw_buf_head(in);
	const char *at = line + h->method.len + 1;
	const char *end = memchr(at, ' ', in->len - h->method.len - 1);

	if (zw_starts_with(at, "http://"))
		at += strlen("http://");
	if (end == NULL || end < at)
		return zw_span("");
	/* Host and port alone: a path may hold what nobody should read in a list. */
	const char *slash = memchr(at, '/', (size_t)(end - at));
	const char *query = memchr(at, '?', (size_t)(end - at));
	if (slash != NULL)
		end = slash;
	if (query != NULL && query < end)
		end = query;
	return zw_span_n(at, (size_t)(end - at));
}

static void http_connect(struct px_conn *c, const struct px_http1_head *h, size_t head_len)
{
	char asked[300];

	c->via = ZW_VIA_CONNECT;
	c->up = PX_UP_FIRST;
	zw_span_cpy(asked, sizeof(asked), spelt_target(&c->in, h));
	struct pol_host host = h->host;
	uint16_t port = h->port;
	zw_buf_consume(&c->in, head_len);
	px_conn_target(c, &host, port, zw_span(asked));
}

/* One request, rewritten for the origin; it goes out when there is a connection. */
static void http_forward(struct px_conn *c, const struct px_http1_head *h, size_t head_len)
{
	char asked[300];

	c->via = ZW_VIA_HTTP;
	c->up = PX_UP_BODY;
	zw_span_cpy(asked, sizeof(asked), spelt_target(&c->in, h));
	struct pol_host host = h->host;
	uint16_t port = h->port;
	bool is_dns = px_http1_is_dns_query(h);
	px_body_init(&c->body, h);
	c->is_upgrade = h->wants_upgrade;
	int r = px_http1_write(h, h->wants_upgrade, &c->out);
	if (r < 0) {
		bad_request(c, r, "the request cannot be passed on");
		return;
	}
	zw_buf_consume(&c->in, head_len);
	if (is_dns) {
		c->host = zw_xmalloc(sizeof(host));
		*c->host = host;
		c->port = port;
		px_conn_deny(c, ZW_DID_DENY, ZW_BY_CATALOGUE, 0,
			     "DNS over HTTP: names are looked up by zwatch alone", "");
		return;
	}
	px_conn_target(c, &host, port, zw_span(asked));
}

static void head_http(struct px_conn *c)
{
	struct px_http1_head h;
	const char *why = "";
	int r = px_http1_parse(zw_buf_head(&c->in), c->in.len, c->px->header_b, &c->scanned, &h,
			       &why);

	if (r == 0)
		return;
	if (r < 0) {
		bad_request(c, r, why);
		return;
	}
	if (h.n_fields > c->px->header_fields)
		bad_request(c, ZW_E_TOOBIG, "too many header fields");
	else if (h.form == PX_FORM_CONNECT) {
		http_connect(c, &h, (size_t)r);
	} else if (h.form == PX_FORM_ABSOLUTE) {
		http_forward(c, &h, (size_t)r);
	} else {
		bad_request(c, ZW_E_SYNTAX,
			    "this is zwatch's proxy: it takes CONNECT and whole URLs, and has no "
			    "pages");
	}
}

/* -- SOCKS -------------------------------------------------------------------------------------- */

static void socks_fail(struct px_conn *c, int error, const char *why)
{
	uint8_t answer[PX_SOCKS_REPLY_MAX];
	size_t n = px_socks_reply_write(c->socks_version != 0 ? c->socks_version : 5,
					px_socks_reply_of(error), answer);

	c->did = ZW_DID_DENY;
	c->by = ZW_BY_FAULT;
	c->reason = zw_xstrdup(why);
	struct px_row row = px_conn_row(c);
	(void)px_record_refusal(c->px->record, &row, NULL);
	zw_buf_add(&c->out, answer, n);
	px_conn_reply(c);
}

/* The methods of SOCKS5. Returns 1 to go on, 0 to wait or when it is over. */
static int socks5_methods(struct px_conn *c)
{
	uint8_t answer[2];
	bool has_none;
	int r = px_socks5_hello_parse(zw_buf_head(&c->in), c->in.len, &has_none);

	if (r == 0)
		return 0;
	if (r < 0) {
		socks_fail(c, r, "this is no SOCKS handshake");
		return 0;
	}
	zw_buf_consume(&c->in, (size_t)r);
	size_t n = px_socks5_method_write(has_none, answer);
	if (!has_none) {
		zw_buf_add(&c->out, answer, n);
		px_conn_reply(c);
		return 0;
	}
	/* Two bytes into an empty socket buffer; when not even they fit, nobody reads there. */
	if (send(c->fd, answer, n, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)n) {
		px_conn_close(c);
		return 0;
	}
	c->has_method = true;
	return 1;
}

static void head_socks(struct px_conn *c)
{
	struct px_socks_request q;

	if (c->in.len > 0 && c->socks_version == 0)
		c->socks_version = zw_buf_head(&c->in)[0] == 4 ? 4 : 5;
	if (c->socks_version == 5 && !c->has_method && socks5_methods(c) == 0)
		return;
	if (c->in.len == 0)
		return;
	int r = px_socks_request_parse(zw_buf_head(&c->in), c->in.len, &q);
	if (r == 0)
		return;
	if (r < 0) {
		socks_fail(c, r,
			   r == ZW_E_UNSUPPORTED ? "SOCKS: only CONNECT is offered"
						 : "the SOCKS request is not well-formed");
		return;
	}
	zw_buf_consume(&c->in, (size_t)r);
	c->up = PX_UP_FIRST;
	px_conn_target(c, &q.host, q.port, zw_span(""));
}

void px_conn_head(struct px_conn *c)
{
	if (c->listener == PX_HTTP)
		head_http(c);
	else
		head_socks(c);
}
