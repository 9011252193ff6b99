/* SPDX-License-Identifier: MIT */
#include "proxy/doh.h"

#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "proxy/dohreq.h"
#include "proxy/http1.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/policy/resolvers.h"

#define IN_MAX	    65536 /* of early bytes and of HTTP/1.1 */
#define OUT_MAX	    (256u * 1024)
#define STREAMS_MAX 100
#define FIELD_MAX   8192
#define ANSWER_MAX  1024
#define READ_B	    16384
#define READS_MAX   16 /* in one turn */

enum { OPTION_EDE = 15, EDE_FILTERED = 17 };

/* One request of HTTP/2. */
struct stream {
	LIST_ENTRY(stream) link;
	int32_t id;
	struct zw_buf method, target, content_type, accept, body;
	bool is_too_big;
	size_t sent;
	struct zw_buf answer;
};

struct px_doh {
	struct zev_loop *loop;
	struct px_ca *ca; /* borrowed */
	int fd;
	struct zev_io *io;
	gnutls_certificate_credentials_t cred;
	gnutls_session_t tls;
	nghttp2_session *h2;
	LIST_HEAD(, stream) streams;
	const struct px_doh_ops *ops;
	void *arg;
	struct pol_host host;
	struct zw_buf early; /* received before */
	struct zw_buf in;    /* HTTP/1.1 */
	struct zw_buf out;   /* clear text for the client */
	size_t scanned;
	bool is_ready; /* the handshake is done */
	bool is_http2, is_ending, is_over;
};

static void over(struct px_doh *d, const char *how)
{
	if (d->is_over)
		return;
	d->is_over = true;
	zev_io_set(d->io, 0);
	d->ops->on_end(d->arg, how);
}

/* -- bytes of TLS ------------------------------------------------------------------------------- */

static ssize_t pull(gnutls_transport_ptr_t ptr, void *out, size_t len)
{
	struct px_doh *d = ptr;
	ssize_t n;

	if (d->early.len > 0) {
		n = (ssize_t)(len < d->early.len ? len : d->early.len);
		memcpy(out, zw_buf_head(&d->early), (size_t)n);
		zw_buf_consume(&d->early, (size_t)n);
	} else {
		n = recv(d->fd, out, len, MSG_DONTWAIT);
	}
	if (n < 0)
		gnutls_transport_set_errno(d->tls, errno);
	else
		d->ops->on_bytes(d->arg, (size_t)n, 0);
	return n;
}

static ssize_t push(gnutls_transport_ptr_t ptr, const void *p, size_t len)
{
	struct px_doh *d = ptr;
	ssize_t n = send(d->fd, p, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0)
		gnutls_transport_set_errno(d->tls, errno);
	else
		d->ops->on_bytes(d->arg, 0, (size_t)n);
	return n;
}

static bool is_later(ssize_t r)
{
	return r == GNUTLS_E_AGAIN || r == GNUTLS_E_INTERRUPTED;
}

/* Sends what is there. Returns 0, or < 0: the client is gone. */
static int out_flush(struct px_doh *d)
{
	while (d->out.len > 0) {
		ssize_t n = gnutls_record_send(d->tls, zw_buf_head(&d->out),
					       d->out.len < READ_B ? d->out.len : READ_B);

		if (is_later(n))
			return 0;
		if (n < 0)
			return ZW_E_EOF;
		zw_buf_consume(&d->out, (size_t)n);
	}
	return 0;
}

/* -- one question ------------------------------------------------------------------------------- */

/* RFC 8914: into the OPT record, which is the last one and empty. Returns the new length. */
static size_t ede_add(uint8_t *out, size_t len, const char *why)
{
	size_t text = strlen(why) < 200 ? strlen(why) : 200;
	uint8_t option[] = {0, OPTION_EDE,  (uint8_t)((text + 2) >> 8), (uint8_t)(text + 2),
			    0, EDE_FILTERED};

	out[len - 2] = (uint8_t)((text + 6) >> 8);
	out[len - 1] = (uint8_t)(text + 6);
	memcpy(out + len, option, sizeof(option));
	memcpy(out + len + sizeof(option), why, text);
	return len + sizeof(option) + text;
}

/* Answers a request. Returns the status; @ret has the body. */
static int answer(struct px_doh *d, const struct px_dohreq *r, struct zw_buf *ret, bool *ret_json,
		  uint32_t *ret_ttl_s)
{
	struct px_dohreq_question question;
	struct px_dns_query q;
	struct px_doh_answer a = {.why = ""};
	uint8_t out[PX_DNS_REPLY_MAX + 256];
	int status = px_dohreq_parse(r, &question);

	*ret_json = question.is_json;
	*ret_ttl_s = 0;
	if (status != 200)
		return status;
	if (px_dns_query_parse(question.wire, question.len, &q) < 0)
		return 400;
	a.rcode = q.rcode;
	if (q.rcode == PX_DNS_NOERROR)
		d->ops->on_question(d->arg, &q, &a);
	*ret_ttl_s = a.has_addr ? a.ttl_s : 0;
	const struct pol_addr *addr = a.has_addr ? &a.addr : NULL;
	if (question.is_json)
		return px_doh_json_write(&q, a.rcode, addr, a.ttl_s, a.is_filtered ? a.why : "",
					 ret) < 0
			       ? 500
			       : 200;
	size_t len = px_dns_reply_write(&q, a.rcode, addr, a.ttl_s, out);
	if (a.is_filtered && q.has_edns)
		len = ede_add(out, len, a.why);
	return zw_buf_add(ret, out, len) < 0 ? 500 : 200;
}

static const char *media_type(int status, bool is_json)
{
	return status != 200 ? "text/plain"
	       : is_json     ? "application/dns-json"
			     : "application/dns-message";
}

/* What is no question: there is nothing else here. */
static void no_answer(struct zw_buf *body, int status)
{
	if (status != 200)
		(void)zw_buf_addf(body, "zwatch answers DNS over HTTPS here, and nothing else\n");
}

/* -- HTTP/1.1 ----------------------------------------------------------------------------------- */

static int http1_reply(struct px_doh *d, const struct px_dohreq *r, int status, bool want_close)
{
	struct zw_buf body;
	bool is_json = false;
	uint32_t ttl_s = 0;

	zw_buf_init(&body, ANSWER_MAX);
	if (status == 200)
		status = answer(d, r, &body, &is_json, &ttl_s);
	no_answer(&body, status);
	bool is_head = r->method.len == 4 && memcmp(r->method.p, "HEAD", 4) == 0;
	int e = zw_buf_addf(&d->out,
			    "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
			    "Cache-Control: max-age=%u\r\nConnection: %s\r\n\r\n",
			    status, status == 200 ? "OK" : "No", media_type(status, is_json),
			    body.len, (unsigned)ttl_s, want_close ? "close" : "keep-alive");
	if (e == 0 && !is_head)
		e = zw_buf_add(&d->out, zw_buf_head(&body), body.len);
	zw_buf_fini(&body);
	d->is_ending = d->is_ending || want_close;
	return e;
}

static struct zw_span field_of(const struct px_http1_head *h, const char *name)
{
	const struct px_field *f = px_http1_field(h, name);

	return f != NULL ? f->value : zw_span("");
}

static bool wants_close(const struct px_http1_head *h)
{
	struct zw_span value = field_of(h, "connection");

	return h->minor == 0 || (value.len == 5 && strncasecmp(value.p, "close", 5) == 0);
}

/* Every whole request that is there. Returns < 0 to end. */
static int http1_read(struct px_doh *d)
{
	while (d->in.len > 0 && !d->is_ending) {
		struct px_http1_head h;
		const char *why = "";
		int n = px_http1_parse(zw_buf_head(&d->in), d->in.len, PX_HEAD_MAX, &d->scanned, &h,
				       &why);

		if (n == 0)
			return 0;
		if (n < 0 || h.form != PX_FORM_ORIGIN || h.body == PX_BODY_CHUNKED)
			return http1_reply(d, &(struct px_dohreq){.method = zw_span("GET")},
					   n > 0 && h.body == PX_BODY_CHUNKED ? 411 : 400, true);
		size_t body = h.body == PX_BODY_LENGTH ? (size_t)h.body_len_b : 0;
		if (body > PX_DNS_QUERY_MAX)
			return http1_reply(d, &(struct px_dohreq){.method = h.method}, 413, true);
		if (d->in.len < (size_t)n + body)
			return 0;
		struct px_dohreq r = {.method = h.method,
				      .target = h.path,
				      .content_type = field_of(&h, "content-type"),
				      .accept = field_of(&h, "accept"),
				      .body = zw_span_n(zw_buf_head(&d->in) + n, body)};
		int e = http1_reply(d, &r, pol_resolver_of(&h.host) != NULL ? 200 : 421,
				    wants_close(&h));
		zw_buf_consume(&d->in, (size_t)n + body);
		d->scanned = 0;
		if (e < 0)
			return e;
	}
	return 0;
}

/* -- HTTP/2 ------------------------------------------------------------------------------------- */

static struct stream *stream_of(struct px_doh *d, int32_t id)
{
	return nghttp2_session_get_stream_user_data(d->h2, id);
}

static void stream_free(struct stream *s)
{
	LIST_REMOVE(s, link);
	zw_buf_fini(&s->method);
	zw_buf_fini(&s->target);
	zw_buf_fini(&s->content_type);
	zw_buf_fini(&s->accept);
	zw_buf_fini(&s->body);
	zw_buf_fini(&s->answer);
	free(s);
}

static int on_begin_headers(nghttp2_session *h2, const nghttp2_frame *frame, void *arg)
{
	struct px_doh *d = arg;

	if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	struct stream *s = zw_xnew(struct stream);
	s->id = frame->hd.stream_id;
	zw_buf_init(&s->method, 16);
	zw_buf_init(&s->target, FIELD_MAX);
	zw_buf_init(&s->content_type, 256);
	zw_buf_init(&s->accept, 1024);
	zw_buf_init(&s->body, PX_DNS_QUERY_MAX);
	zw_buf_init(&s->answer, ANSWER_MAX);
	LIST_INSERT_HEAD(&d->streams, s, link);
	nghttp2_session_set_stream_user_data(h2, s->id, s);
	return 0;
}

static int on_header(nghttp2_session *h2, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_len, const uint8_t *value, size_t len, uint8_t flags, void *arg)
{
	struct px_doh *d = arg;
	struct stream *s = stream_of(d, frame->hd.stream_id);
	static const char *const names[] = {":method", ":path", "content-type", "accept"};

	(void)h2;
	(void)flags;
	if (s == NULL)
		return 0;
	struct zw_buf *to[] = {&s->method, &s->target, &s->content_type, &s->accept};
	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++)
		if (name_len == strlen(names[i]) && memcmp(name, names[i], name_len) == 0 &&
		    to[i]->len == 0 && zw_buf_add(to[i], value, len) < 0)
			s->is_too_big = s->is_too_big || i < 2;
	return 0;
}

static int on_data(nghttp2_session *h2, uint8_t flags, int32_t id, const uint8_t *p, size_t len,
		   void *arg)
{
	struct stream *s = stream_of(arg, id);

	(void)h2;
	(void)flags;
	if (s != NULL && zw_buf_add(&s->body, p, len) < 0)
		s->is_too_big = true;
	return 0;
}

static ssize_t on_read_answer(nghttp2_session *h2, int32_t id, uint8_t *out, size_t len,
			      uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct stream *s = source->ptr;
	size_t n = len < s->answer.len ? len : s->answer.len;

	(void)h2;
	(void)id;
	(void)arg;
	memcpy(out, zw_buf_head(&s->answer), n);
	zw_buf_consume(&s->answer, n);
	if (s->answer.len == 0)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)n;
}

static struct zw_span span_of(const struct zw_buf *b)
{
	return b->len > 0 ? zw_span_n(zw_buf_head(b), b->len) : zw_span("");
}

static nghttp2_nv field(const char *name, const char *value)
{
	return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
			    .value = (uint8_t *)(uintptr_t)value,
			    .namelen = strlen(name),
			    .valuelen = strlen(value)};
}

static int http2_reply(struct px_doh *d, struct stream *s)
{
	struct px_dohreq r = {.method = span_of(&s->method),
			      .target = span_of(&s->target),
			      .content_type = span_of(&s->content_type),
			      .accept = span_of(&s->accept),
			      .body = span_of(&s->body)};
	bool is_json = false;
	uint32_t ttl_s = 0;
	char code[8], age[32], length[16];
	int status = s->is_too_big ? 413 : answer(d, &r, &s->answer, &is_json, &ttl_s);

	no_answer(&s->answer, status);
	snprintf(code, sizeof(code), "%d", status);
	snprintf(age, sizeof(age), "max-age=%u", (unsigned)ttl_s);
	snprintf(length, sizeof(length), "%zu", s->answer.len);
	nghttp2_nv fields[] = {
		field(":status", code),
		field("content-type", media_type(status, is_json)),
		field("content-length", length),
		field("cache-control", age),
	};
	bool is_head = r.method.len == 4 && memcmp(r.method.p, "HEAD", 4) == 0;
	nghttp2_data_provider body = {.source.ptr = s, .read_callback = on_read_answer};
	return nghttp2_submit_response(d->h2, s->id, fields, ZW_N_ELEMENTS(fields),
				       is_head ? NULL : &body);
}

static int on_frame(nghttp2_session *h2, const nghttp2_frame *frame, void *arg)
{
	struct px_doh *d = arg;
	struct stream *s;

	(void)h2;
	if ((frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) ||
	    (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0)
		return 0;
	s = stream_of(d, frame->hd.stream_id);
	return s == NULL || http2_reply(d, s) == 0 ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int on_stream_close(nghttp2_session *h2, int32_t id, uint32_t error, void *arg)
{
	struct stream *s = stream_of(arg, id);

	(void)h2;
	(void)error;
	if (s != NULL)
		stream_free(s);
	return 0;
}

static int http2_start(struct px_doh *d)
{
	nghttp2_session_callbacks *calls;
	nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS_MAX},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, 2 * FIELD_MAX},
	};

	if (nghttp2_session_callbacks_new(&calls) != 0)
		return ZW_E_UNSUPPORTED;
	nghttp2_session_callbacks_set_on_begin_headers_callback(calls, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(calls, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(calls, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(calls, on_stream_close);
	int r = nghttp2_session_server_new(&d->h2, calls, d);
	nghttp2_session_callbacks_del(calls);
	if (r != 0)
		return ZW_E_UNSUPPORTED;
	r = nghttp2_submit_settings(d->h2, NGHTTP2_FLAG_NONE, settings, ZW_N_ELEMENTS(settings));
	return r != 0 ? ZW_E_UNSUPPORTED : 0;
}

/* What nghttp2 has to say, as far as there is room; the rest when the client has taken some. */
static int http2_write(struct px_doh *d)
{
	while (d->out.len < OUT_MAX / 2) {
		const uint8_t *p;
		ssize_t n = nghttp2_session_mem_send(d->h2, &p);

		if (n == 0)
			break;
		if (n < 0 || zw_buf_add(&d->out, p, (size_t)n) < 0)
			return ZW_E_TOOBIG;
	}
	if (!nghttp2_session_want_read(d->h2) && !nghttp2_session_want_write(d->h2))
		d->is_ending = true;
	return 0;
}

/* -- the connection ----------------------------------------------------------------------------- */

static int handshake(struct px_doh *d)
{
	gnutls_datum_t alpn = {0};
	int r = gnutls_handshake(d->tls);

	if (r < 0)
		return is_later(r) || !gnutls_error_is_fatal(r) ? 0 : r;
	d->is_ready = true;
	if (gnutls_alpn_get_selected_protocol(d->tls, &alpn) == 0)
		d->is_http2 = alpn.size == 2 && memcmp(alpn.data, "h2", 2) == 0;
	return d->is_http2 ? http2_start(d) : 0;
}

static int take(struct px_doh *d, const uint8_t *p, size_t len)
{
	if (d->is_http2)
		return nghttp2_session_mem_recv(d->h2, p, len) < 0 ? ZW_E_SYNTAX : 0;
	if (zw_buf_add(&d->in, p, len) < 0)
		return ZW_E_TOOBIG;
	return http1_read(d);
}

/* Reads while the client takes its answers. Returns 0, 1 = it has ended, < 0 = broken. */
static int in_read(struct px_doh *d)
{
	uint8_t buf[READ_B];

	for (int i = 0; i < READS_MAX && d->out.len < OUT_MAX / 2; i++) {
		ssize_t n = gnutls_record_recv(d->tls, buf, sizeof(buf));

		if (is_later(n))
			return 0;
		if (n == 0 || n == GNUTLS_E_PREMATURE_TERMINATION)
			return 1;
		if (n < 0 && !gnutls_error_is_fatal((int)n))
			continue;
		if (n < 0 || take(d, buf, (size_t)n) < 0)
			return ZW_E_SYNTAX;
	}
	return 0;
}

static void step(struct px_doh *d)
{
	int r = 0, ended = 0;

	if (!d->is_ready && (r = handshake(d)) < 0) {
		over(d, "the client did not agree to the TLS of zwatch (does it know the session's "
			"certificate?)");
		return;
	}
	if (d->is_ready && !d->is_ending)
		ended = in_read(d);
	if (d->is_http2 && ended >= 0)
		r = http2_write(d);
	if (d->is_ready && r == 0)
		r = out_flush(d);
	if (ended != 0 || r < 0 || (d->is_ending && d->out.len == 0)) {
		if (d->is_ready && d->out.len == 0)
			(void)gnutls_bye(d->tls, GNUTLS_SHUT_WR);
		over(d, ended > 0 || r < 0 ? "closed by client"
			: ended < 0	   ? "refused"
					   : "answered");
		return;
	}
	bool want_read = d->out.len < OUT_MAX / 2 && !d->is_ending;
	/* What is here already makes no descriptor readable. */
	bool is_more = want_read && (d->early.len > 0 || gnutls_record_check_pending(d->tls) > 0);
	bool want_write = d->out.len > 0 || is_more ||
			  (!d->is_ready && gnutls_record_get_direction(d->tls) == 1);
	zev_io_set(d->io, (want_write ? ZEV_WRITE : 0u) | (want_read ? ZEV_READ : 0u));
}

static void on_ready(int fd, unsigned what, void *arg)
{
	struct px_doh *d = arg;

	(void)fd;
	(void)what;
	if (!d->is_over)
		step(d);
}

/* Some connect to an address and ask for a name of that resolver. */
static int on_hello(gnutls_session_t tls)
{
	struct px_doh *d = gnutls_session_get_ptr(tls);
	char name[POL_HOST_MAX + 2];
	size_t len = sizeof(name);
	unsigned type;
	struct pol_host sni;
	bool has_other = gnutls_server_name_get(tls, name, &len, &type, 0) == 0 &&
			 type == GNUTLS_NAME_DNS &&
			 pol_host_parse(name, strnlen(name, len), &sni) == 0 &&
			 !pol_host_eq(&sni, &d->host) && pol_resolver_of(&sni) != NULL;

	d->cred = px_ca_credentials(d->ca, &d->host, has_other ? &sni : NULL);
	if (d->cred == NULL)
		return GNUTLS_E_INTERNAL_ERROR;
	return gnutls_credentials_set(tls, GNUTLS_CRD_CERTIFICATE, d->cred);
}

static int tls_start(struct px_doh *d)
{
	static const gnutls_datum_t protocols[] = {
		{(unsigned char *)(uintptr_t) "h2", 2},
		{(unsigned char *)(uintptr_t) "http/1.1", 8},
	};
	int r = gnutls_init(&d->tls,
			    GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS);

	r = r < 0 ? r : gnutls_set_default_priority(d->tls);
	r = r < 0 ? r
		  : gnutls_alpn_set_protocols(d->tls, protocols, ZW_N_ELEMENTS(protocols),
					      GNUTLS_ALPN_SERVER_PRECEDENCE);
	if (r < 0)
		return r;
	gnutls_session_set_ptr(d->tls, d);
	gnutls_handshake_set_post_client_hello_function(d->tls, on_hello);
	gnutls_transport_set_ptr(d->tls, d);
	gnutls_transport_set_pull_function(d->tls, pull);
	gnutls_transport_set_push_function(d->tls, push);
	/* The caller has limits of its own. */
	gnutls_handshake_set_timeout(d->tls, GNUTLS_INDEFINITE_TIMEOUT);
	return 0;
}

struct px_doh *px_doh_new(struct zev_loop *loop, struct px_ca *ca, int fd,
			  const struct pol_host *host, struct zw_span early,
			  const struct px_doh_ops *ops, void *arg)
{
	struct px_doh *d = zw_xnew(struct px_doh);

	*d = (struct px_doh){
		.loop = loop, .ca = ca, .fd = fd, .ops = ops, .arg = arg, .host = *host};
	zw_buf_init(&d->early, early.len + 1);
	zw_buf_init(&d->in, IN_MAX);
	zw_buf_init(&d->out, OUT_MAX);
	LIST_INIT(&d->streams);
	(void)zw_buf_add(&d->early, early.p, early.len);
	if (tls_start(d) < 0) {
		px_doh_free(d);
		return NULL;
	}
	d->io = zev_io_new(loop, fd, ZEV_READ, on_ready, d);
	/* What came early makes no descriptor readable. */
	if (early.len > 0)
		zev_io_set(d->io, ZEV_READ | ZEV_WRITE);
	return d;
}

static void on_dead(void *arg)
{
	struct px_doh *d = arg;
	struct stream *s;

	while ((s = LIST_FIRST(&d->streams)) != NULL)
		stream_free(s);
	if (d->h2 != NULL)
		nghttp2_session_del(d->h2);
	if (d->tls != NULL)
		gnutls_deinit(d->tls);
	if (d->cred != NULL)
		gnutls_certificate_free_credentials(d->cred);
	zw_buf_fini(&d->early);
	zw_buf_fini(&d->in);
	zw_buf_fini(&d->out);
	free(d);
}

void px_doh_free(struct px_doh *d)
{
	if (d == NULL)
		return;
	d->is_over = true;
	zev_io_free(zw_steal(&d->io));
	/* It may be one of its own callbacks that asks for this. */
	zev_defer(d->loop, on_dead, d);
}
