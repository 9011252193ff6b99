/* SPDX-License-Identifier: MIT */
#include "proxy/resolver/doh.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy/resolver/wire.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"

#define SYSTEM_CA_FILE	"/etc/ssl/certs/ca-certificates.crt"
#define CONNECT_MS	3000 /* TCP and TLS together */
#define IDLE_MS		30000
#define USER_TIMEOUT_MS 4000  /* sent data that nobody acknowledges */
#define QUESTIONS_MAX	2048  /* open at once, twice the lookups */
#define TRIES_MAX	2     /* a connection that a server has just closed is no failure of it */
#define BODY_MAX	65535 /* a DNS message */
#define FIELDS_MAX	64    /* of one answer's head */
#define FIELDS_MAX_B	16384
#define OUT_MAX_B	262144
#define READ_B		16384
#define UNASKED_MAX_B	262144 /* received without one more answer: the server talks to itself */

struct conn;

enum where { WAITS, ASKED, OVER };

/* One question: waits for a connection, or is a stream of one. */
struct question {
	TAILQ_ENTRY(question) link;
	struct res_doh *doh;
	struct conn *conn; /* while ASKED */
	enum where where;
	int32_t stream;
	unsigned n_tries;
	int64_t until_ms;
	char name[RES_NAME_MAX + 1];
	enum res_type type;
	void (*on_reply)(void *arg, const struct res_reply *reply);
	void *arg;
	uint8_t query[RES_WIRE_QUERY_MAX];
	size_t query_len, query_sent;
	/* Of the answer. */
	unsigned status, n_fields;
	size_t fields_b;
	uint32_t age_s;
	bool is_dns; /* its media type */
	bool is_whole;
	int error;
	const char *why;
	struct zw_buf body;
};

TAILQ_HEAD(questions, question);

enum state { CONNECTING, HANDSHAKE, OPEN, CLOSED };

struct conn {
	struct res_doh *doh;
	LIST_ENTRY(conn) link;
	enum state state;
	int fd; /* owned */
	struct zev_io *io;
	gnutls_session_t tls;
	nghttp2_session *h2;
	struct zev_timer *timer; /* to be open; then to be idle */
	struct zw_buf out;
	struct questions asked, over; /* over: answered in this turn, not yet told */
	size_t unasked_b;
	unsigned n_answers;
	bool is_leaving; /* GOAWAY: no new question */
	const char *why; /* it was closed */
};

struct res_doh {
	struct zev_loop *loop;
	struct res_upstream up;
	unsigned timeout_ms;
	gnutls_certificate_credentials_t creds;
	struct conn *current;	  /* that takes questions, or NULL */
	LIST_HEAD(, conn) conns;  /* the current one, and those that end */
	struct questions waiting; /* for the current one to be open */
	unsigned n_open;
	struct zev_timer *overdue; /* the next question that is late */
	struct zev_timer *kick;	   /* 0 ms: nobody who asks is answered from within */
	char authority[RES_NAME_MAX + 16];
};

static void conn_close(struct conn *c, const char *why);
static void conn_work(struct conn *c);
static void submit_all(struct res_doh *d);

/* -- questions ---------------------------------------------------------------------------------- */

static void question_fail(struct question *q, int error, const char *why)
{
	q->error = error;
	q->why = why;
}

static void question_reply(struct question *q)
{
	zw_autofree struct res_reply *reply = zw_xnew(struct res_reply);

	q->doh->n_open--;
	if (q->error == 0 && q->body.len == 0)
		question_fail(q, ZW_E_SYNTAX, "its answer is empty");
	reply->error = q->error;
	reply->why = q->why;
	if (q->error == 0 && res_wire_reply(zw_buf_head(&q->body), q->body.len, q->name, q->type,
					    q->age_s, reply) < 0) {
		*reply = (struct res_reply){.error = ZW_E_SYNTAX,
					    .why = "its answer is not well-formed"};
	}
	q->on_reply(q->arg, reply);
	zw_buf_fini(&q->body);
	free(q);
}

/* Out of the list it is in, and told. */
static void question_end(struct question *q, int error, const char *why)
{
	TAILQ_REMOVE(q->where == WAITS ? &q->doh->waiting : &q->conn->asked, q, link);
	question_fail(q, error, why);
	question_reply(q);
}

/* Back to those who wait, or failed if it has had its chances. */
static void question_again(struct question *q, const char *why)
{
	struct res_doh *d = q->doh;

	/* A connection that answered something was worth it: each one brings them further. */
	if (q->conn->n_answers > 0 || !TAILQ_EMPTY(&q->conn->over))
		q->n_tries--;
	TAILQ_REMOVE(&q->conn->asked, q, link);
	zw_buf_fini(&q->body);
	zw_buf_init(&q->body, BODY_MAX);
	q->query_sent = q->fields_b = 0;
	q->status = q->n_fields = 0;
	q->is_dns = false;
	q->where = WAITS;
	q->conn = NULL;
	TAILQ_INSERT_TAIL(&d->waiting, q, link);
	if (q->n_tries >= TRIES_MAX)
		question_end(q, ZW_E_EOF, why);
}

static struct question *first_late(struct res_doh *d)
{
	struct question *best = TAILQ_FIRST(&d->waiting);
	struct conn *c;

	/* Each list is in the order of asking, but for the few that are asked again. */
	LIST_FOREACH (c, &d->conns, link) {
		struct question *q = TAILQ_FIRST(&c->asked);

		if (q != NULL && (best == NULL || q->until_ms < best->until_ms))
			best = q;
	}
	return best;
}

static void overdue_set(struct res_doh *d)
{
	struct question *q = first_late(d);

	if (q == NULL) {
		zev_timer_stop(d->overdue);
		return;
	}
	int64_t ms = q->until_ms - zw_mono_ms();
	zev_timer_start(d->overdue, ms > 0 ? ms : 0);
}

/* A server that lets a question lie may have lost the connection: the next ones get another. */
static void on_overdue(void *arg)
{
	struct res_doh *d = arg;
	struct question *q;

	while ((q = first_late(d)) != NULL && q->until_ms <= zw_mono_ms()) {
		struct conn *c = q->conn;

		if (c != NULL) {
			/* The stream lives on until it is closed, the question does not. */
			(void)nghttp2_session_set_stream_user_data(c->h2, q->stream, NULL);
			nghttp2_submit_rst_stream(c->h2, NGHTTP2_FLAG_NONE, q->stream,
						  NGHTTP2_CANCEL);
			c->is_leaving = true;
			if (d->current == c)
				d->current = NULL;
		}
		question_end(q, ZW_E_TIMEOUT, "no answer in time");
		if (c != NULL)
			conn_work(c);
	}
	overdue_set(d);
}

/* -- HTTP/2: what the library calls ------------------------------------------------------------- */

static struct question *question_of(nghttp2_session *h2, int32_t stream)
{
	return nghttp2_session_get_stream_user_data(h2, stream);
}

static ssize_t on_query_read(nghttp2_session *h2, int32_t stream, uint8_t *buf, size_t size,
			     uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct question *q = question_of(h2, stream);

	(void)source;
	(void)arg;
	if (q == NULL)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	size_t n = q->query_len - q->query_sent;
	if (n > size)
		n = size;
	memcpy(buf, q->query + q->query_sent, n);
	q->query_sent += n;
	if (q->query_sent == q->query_len)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)n;
}

/* "application/dns-message", whatever parameters follow. */
static bool is_dns_message(const char *value, size_t len)
{
	static const char type[] = "application/dns-message";
	size_t n = sizeof(type) - 1;

	return len >= n && strncasecmp(value, type, n) == 0 &&
	       (len == n || value[n] == ';' || value[n] == ' ');
}

static bool name_is(const uint8_t *name, size_t len, const char *what)
{
	return len == strlen(what) && memcmp(name, what, len) == 0;
}

static int on_field(nghttp2_session *h2, const nghttp2_frame *frame, const uint8_t *name,
		    size_t name_len, const uint8_t *value, size_t len, uint8_t flags, void *arg)
{
	struct question *q = question_of(h2, frame->hd.stream_id);
	uint64_t number;

	(void)flags;
	(void)arg;
	if (q == NULL)
		return 0;
	q->fields_b += name_len + len;
	if (++q->n_fields > FIELDS_MAX || q->fields_b > FIELDS_MAX_B)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* resets the stream */
	if (name_is(name, name_len, ":status")) {
		q->status = zw_parse_u64((const char *)value, len, 999, &number) == 0
				    ? (unsigned)number
				    : 0;
	} else if (name_is(name, name_len, "content-type")) {
		q->is_dns = is_dns_message((const char *)value, len);
	} else if (name_is(name, name_len, "age")) {
		if (zw_parse_u64((const char *)value, len, UINT32_MAX, &number) == 0)
			q->age_s = (uint32_t)number;
	}
	return 0;
}

static int on_data(nghttp2_session *h2, uint8_t flags, int32_t stream, const uint8_t *data,
		   size_t len, void *arg)
{
	struct question *q = question_of(h2, stream);

	(void)flags;
	(void)arg;
	if (q != NULL && zw_buf_add(&q->body, data, len) < 0) {
		question_fail(q, ZW_E_TOOBIG, "its answer is longer than a DNS message");
		nghttp2_submit_rst_stream(h2, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
	}
	return 0;
}

static int on_frame(nghttp2_session *h2, const nghttp2_frame *frame, void *arg)
{
	struct conn *c = arg;
	struct question *q;

	if (frame->hd.type == NGHTTP2_GOAWAY)
		c->is_leaving = true;
	/* A 1xx head is not the answer yet. */
	if ((frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) &&
	    frame->hd.flags & NGHTTP2_FLAG_END_STREAM &&
	    (q = question_of(h2, frame->hd.stream_id)) != NULL)
		q->is_whole = true;
	return 0;
}

static void answer_judge(struct question *q)
{
	if (q->error != 0)
		return;
	if (!q->is_whole)
		question_fail(q, ZW_E_EOF, "it broke off its answer");
	else if (q->status != 200)
		question_fail(q, ZW_E_EOF, "it answered with an HTTP error");
	else if (!q->is_dns)
		question_fail(q, ZW_E_SYNTAX, "its answer is no DNS message by its media type");
}

/* Told later, when the library is not in the middle of something. */
static int on_stream_end(nghttp2_session *h2, int32_t stream, uint32_t code, void *arg)
{
	struct conn *c = arg;
	struct question *q = question_of(h2, stream);

	if (q == NULL)
		return 0;
	/* Not looked at by the server (RFC 9113 section 8.7): asked again, elsewhere. */
	if (code == NGHTTP2_REFUSED_STREAM && !q->is_whole) {
		c->is_leaving = true;
		question_again(q, "it refused the question");
		return 0;
	}
	answer_judge(q);
	TAILQ_REMOVE(&c->asked, q, link);
	q->where = OVER;
	TAILQ_INSERT_TAIL(&c->over, q, link);
	return 0;
}

static nghttp2_session *h2_new(struct conn *c)
{
	static const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
		{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 0},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, BODY_MAX},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, FIELDS_MAX_B},
	};
	nghttp2_session_callbacks *calls;
	nghttp2_session *h2;

	if (nghttp2_session_callbacks_new(&calls) != 0)
		return NULL;
	nghttp2_session_callbacks_set_on_header_callback(calls, on_field);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(calls, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(calls, on_stream_end);
	int r = nghttp2_session_client_new(&h2, calls, c);
	nghttp2_session_callbacks_del(calls);
	if (r != 0)
		return NULL;
	if (nghttp2_submit_settings(h2, NGHTTP2_FLAG_NONE, settings, ZW_N_ELEMENTS(settings)) !=
	    0) {
		nghttp2_session_del(h2);
		return NULL;
	}
	return h2;
}

#define FIELD(n, v, v_len)                                                                    \
	{                                                                                     \
		(uint8_t *)(uintptr_t)(n), (uint8_t *)(uintptr_t)(v), sizeof(n) - 1, (v_len), \
			NGHTTP2_NV_FLAG_NO_COPY_NAME                                          \
	}

static bool submit(struct conn *c, struct question *q)
{
	static const char type[] = "application/dns-message";
	struct res_doh *d = c->doh;
	char length[8];
	int length_len = snprintf(length, sizeof(length), "%zu", q->query_len);
	const nghttp2_nv fields[] = {
		FIELD(":method", "POST", 4),
		FIELD(":scheme", "https", 5),
		FIELD(":authority", d->authority, strlen(d->authority)),
		FIELD(":path", d->up.path, strlen(d->up.path)),
		FIELD("accept", type, sizeof(type) - 1),
		FIELD("content-type", type, sizeof(type) - 1),
		FIELD("content-length", length, (size_t)length_len),
	};
	nghttp2_data_provider body = {.read_callback = on_query_read};

	q->stream = nghttp2_submit_request(c->h2, NULL, fields, ZW_N_ELEMENTS(fields), &body, q);
	if (q->stream < 0)
		return false;
	q->n_tries++;
	q->conn = c;
	q->where = ASKED;
	TAILQ_REMOVE(&d->waiting, q, link);
	TAILQ_INSERT_TAIL(&c->asked, q, link);
	return true;
}

/* -- the connection ----------------------------------------------------------------------------- */

static void on_conn_dead(void *arg)
{
	struct conn *c = arg;

	zev_timer_free(c->timer);
	if (c->h2 != NULL)
		nghttp2_session_del(c->h2);
	if (c->tls != NULL)
		gnutls_deinit(c->tls);
	zw_close(&c->fd);
	zw_buf_fini(&c->out);
	free(c);
}

static void tell_over(struct conn *c)
{
	struct question *q;

	while ((q = TAILQ_FIRST(&c->over)) != NULL) {
		TAILQ_REMOVE(&c->over, q, link);
		c->n_answers++;
		c->unasked_b = 0;
		question_reply(q);
	}
}

/* What it was asked goes to another connection, if it had proven itself; else it has failed. */
static void conn_close(struct conn *c, const char *why)
{
	struct res_doh *d = c->doh;
	struct question *q;
	bool was_open = c->state == OPEN;

	if (c->state == CLOSED)
		return;
	c->state = CLOSED;
	LIST_REMOVE(c, link);
	zev_io_free(zw_steal(&c->io));
	zev_timer_stop(c->timer);
	zev_defer(d->loop, on_conn_dead, c);
	bool was_current = d->current == c;
	if (was_current)
		d->current = NULL;
	tell_over(c);
	while ((q = TAILQ_FIRST(&c->asked)) != NULL)
		question_again(q, why);
	/* A server that cannot be reached gets no second chance from those who waited for it. */
	while (was_current && !was_open && (q = TAILQ_FIRST(&d->waiting)) != NULL)
		question_end(q, ZW_E_EOF, why);
	submit_all(d);
}

static void on_conn_timer(void *arg)
{
	struct conn *c = arg;

	conn_close(c, c->state == OPEN ? "idle" : "it does not answer");
}

/* Returns 0, or < 0: it is over. */
static int conn_write(struct conn *c)
{
	for (;;) {
		const uint8_t *data;
		ssize_t n = 0;

		while (c->out.len < READ_B && (n = nghttp2_session_mem_send(c->h2, &data)) > 0)
			if (zw_buf_add(&c->out, data, (size_t)n) < 0)
				return ZW_E_TOOBIG;
		if (n < 0)
			return ZW_E_SYNTAX;
		if (c->out.len == 0)
			return 0;
		n = gnutls_record_send(c->tls, zw_buf_head(&c->out), c->out.len);
		if (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED)
			return 0;
		if (n <= 0)
			return ZW_E_EOF;
		zw_buf_consume(&c->out, (size_t)n);
	}
}

static int conn_read(struct conn *c)
{
	uint8_t buf[READ_B];

	/* GnuTLS may hold a record that the descriptor does not tell of: until it has no more. */
	for (;;) {
		ssize_t n = gnutls_record_recv(c->tls, buf, sizeof(buf));

		if (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED)
			return 0;
		if (n <= 0)
			return ZW_E_EOF;
		c->unasked_b += (size_t)n;
		if (c->unasked_b > UNASKED_MAX_B)
			return ZW_E_TOOBIG;
		if (nghttp2_session_mem_recv(c->h2, buf, (size_t)n) != n)
			return ZW_E_SYNTAX;
		if (!TAILQ_EMPTY(&c->over))
			c->unasked_b = 0;
	}
}

/* After anything that happened to an open connection: writes, tells, sees whether it goes on. */
static void conn_work(struct conn *c)
{
	if (c->state != OPEN)
		return;
	int r = conn_write(c);
	if (r < 0) {
		conn_close(c, "its connection broke");
		return;
	}
	if (c->is_leaving && c->doh->current == c)
		c->doh->current = NULL;
	tell_over(c);
	if (c->state != OPEN)
		return;
	bool has_more = nghttp2_session_want_read(c->h2) || nghttp2_session_want_write(c->h2);
	if (!has_more || (TAILQ_EMPTY(&c->asked) && c->is_leaving)) {
		conn_close(c, c->is_leaving ? "it closed the connection"
					    : "it does not keep to HTTP/2");
		return;
	}
	if (TAILQ_EMPTY(&c->asked) && !zev_timer_is_running(c->timer))
		zev_timer_start(c->timer, IDLE_MS);
	else if (!TAILQ_EMPTY(&c->asked))
		zev_timer_stop(c->timer);
	zev_io_set(c->io, ZEV_READ | (c->out.len > 0 ? ZEV_WRITE : 0));
	submit_all(c->doh);
}

static void conn_opened(struct conn *c)
{
	gnutls_datum_t alpn;

	if (gnutls_alpn_get_selected_protocol(c->tls, &alpn) < 0 || alpn.size != 2 ||
	    memcmp(alpn.data, "h2", 2) != 0) {
		conn_close(c, "it does not speak HTTP/2");
		return;
	}
	c->h2 = h2_new(c);
	if (c->h2 == NULL) {
		conn_close(c, "no HTTP/2 for want of memory");
		return;
	}
	c->state = OPEN;
	zev_timer_stop(c->timer);
	submit_all(c->doh);
	conn_work(c);
}

/* Why it is not the server that is meant; the text is for the user. */
static const char *handshake_fault(const struct conn *c, int r)
{
	if (c->why != NULL)
		return c->why;
	if (r == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR || r == GNUTLS_E_CERTIFICATE_ERROR)
		return "its certificate does not prove its name";
	if (r == GNUTLS_E_NO_APPLICATION_PROTOCOL)
		return "it does not speak HTTP/2";
	return "no TLS with it";
}

static void handshake(struct conn *c)
{
	int r = gnutls_handshake(c->tls);

	if (r == GNUTLS_E_SUCCESS) {
		conn_opened(c);
	} else if (r == GNUTLS_E_AGAIN || r == GNUTLS_E_INTERRUPTED) {
		zev_io_set(c->io, gnutls_record_get_direction(c->tls) != 0 ? ZEV_WRITE : ZEV_READ);
	} else if (gnutls_error_is_fatal(r)) {
		conn_close(c, handshake_fault(c, r));
	}
}

static void on_conn_ready(int fd, unsigned what, void *arg)
{
	struct conn *c = arg;
	int error = 0, on = 1;
	socklen_t len = sizeof(error);

	(void)what;
	/* Does not last: the server holds back its answer until what it sent is acknowledged. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
	switch (c->state) {
	case CONNECTING:
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 || error != 0) {
			conn_close(c, "not reached");
			return;
		}
		c->state = HANDSHAKE;
		handshake(c);
		return;
	case HANDSHAKE:
		handshake(c);
		return;
	case OPEN:
		if (conn_read(c) < 0) {
			/* What came before the end counts. */
			conn_close(c, "it closed the connection");
			return;
		}
		conn_work(c);
		return;
	case CLOSED:
		return;
	}
}

static int on_verify(gnutls_session_t tls)
{
	struct conn *c = gnutls_session_get_ptr(tls);
	const struct res_upstream *up = &c->doh->up;
	unsigned status = 0, n = 0;
	uint8_t id[32];
	size_t size = sizeof(id);
	gnutls_x509_crt_t crt;

	if (gnutls_certificate_verify_peers3(tls, up->auth_name, &status) < 0 || status != 0) {
		c->why = status & GNUTLS_CERT_UNEXPECTED_OWNER
				 ? "its certificate is of another name"
				 : "its certificate is not signed by the authorities";
		return GNUTLS_E_CERTIFICATE_ERROR;
	}
	if (!up->has_pin)
		return 0;
	const gnutls_datum_t *list = gnutls_certificate_get_peers(tls, &n);
	if (list == NULL || n == 0 || gnutls_x509_crt_init(&crt) < 0)
		return GNUTLS_E_CERTIFICATE_ERROR;
	bool is_pinned = gnutls_x509_crt_import(crt, &list[0], GNUTLS_X509_FMT_DER) >= 0 &&
			 gnutls_x509_crt_get_key_id(crt, GNUTLS_KEYID_USE_SHA256, id, &size) >= 0 &&
			 size == sizeof(id) && memcmp(id, up->pin, sizeof(id)) == 0;
	gnutls_x509_crt_deinit(crt);
	if (!is_pinned)
		c->why = "its key is not the one that is pinned";
	return is_pinned ? 0 : GNUTLS_E_CERTIFICATE_ERROR;
}

static int tls_start(struct conn *c)
{
	static const gnutls_datum_t h2 = {(unsigned char *)(uintptr_t) "h2", 2};
	const struct res_upstream *up = &c->doh->up;
	struct res_addr literal;

	if (gnutls_init(&c->tls, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) < 0)
		return ZW_E_UNSUPPORTED;
	gnutls_session_set_ptr(c->tls, c);
	if (gnutls_priority_set_direct(c->tls, "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2", NULL) <
		    0 ||
	    gnutls_credentials_set(c->tls, GNUTLS_CRD_CERTIFICATE, c->doh->creds) < 0 ||
	    gnutls_alpn_set_protocols(c->tls, &h2, 1, GNUTLS_ALPN_MANDATORY) < 0)
		return ZW_E_UNSUPPORTED;
	/* An address is no server name (RFC 6066 section 3). */
	if (inet_pton(AF_INET, up->auth_name, literal.b) != 1 &&
	    inet_pton(AF_INET6, up->auth_name, literal.b) != 1 &&
	    gnutls_server_name_set(c->tls, GNUTLS_NAME_DNS, up->auth_name, strlen(up->auth_name)) <
		    0)
		return ZW_E_UNSUPPORTED;
	gnutls_session_set_verify_function(c->tls, on_verify);
	gnutls_handshake_set_timeout(c->tls, GNUTLS_INDEFINITE_TIMEOUT); /* the timer's work */
	gnutls_transport_set_int(c->tls, c->fd);
	return 0;
}

static socklen_t sockaddr_of(const struct res_upstream *up, struct sockaddr_storage *ret)
{
	*ret = (struct sockaddr_storage){0};
	if (up->addr.family == 6) {
		struct sockaddr_in6 *sa = (struct sockaddr_in6 *)ret;

		sa->sin6_family = AF_INET6;
		sa->sin6_port = htons(up->port);
		memcpy(&sa->sin6_addr, up->addr.b, 16);
		return sizeof(*sa);
	}
	struct sockaddr_in *sa = (struct sockaddr_in *)ret;
	sa->sin_family = AF_INET;
	sa->sin_port = htons(up->port);
	memcpy(&sa->sin_addr, up->addr.b, 4);
	return sizeof(*sa);
}

/* Returns 0: it is under way, or -errno. */
static int conn_start(struct res_doh *d)
{
	struct sockaddr_storage sa;
	socklen_t len = sockaddr_of(&d->up, &sa);
	int on = 1, timeout_ms = USER_TIMEOUT_MS;
	struct conn *c = zw_xnew(struct conn);

	c->doh = d;
	TAILQ_INIT(&c->asked);
	TAILQ_INIT(&c->over);
	zw_buf_init(&c->out, OUT_MAX_B);
	c->timer = zev_timer_new(d->loop, on_conn_timer, c);
	c->fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r = c->fd < 0 ? -errno : 0;
	if (r == 0) {
		(void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		(void)setsockopt(c->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms,
				 sizeof(timeout_ms));
		if (connect(c->fd, (struct sockaddr *)&sa, len) < 0 && errno != EINPROGRESS)
			r = -errno;
	}
	if (r == 0)
		r = tls_start(c);
	if (r < 0) {
		on_conn_dead(c);
		return r;
	}
	c->io = zev_io_new(d->loop, c->fd, ZEV_WRITE, on_conn_ready, c);
	zev_timer_start(c->timer, CONNECT_MS);
	LIST_INSERT_HEAD(&d->conns, c, link);
	d->current = c;
	return 0;
}

/* Gives the connection what waits; makes one if there is none. */
static void submit_all(struct res_doh *d)
{
	struct question *q, *next;

	if (TAILQ_EMPTY(&d->waiting))
		return;
	if (d->current == NULL && conn_start(d) < 0) {
		while ((q = TAILQ_FIRST(&d->waiting)) != NULL)
			question_end(q, ZW_E_EOF, "not reached");
		return;
	}
	struct conn *c = d->current;
	if (c->state != OPEN)
		return;
	for (q = TAILQ_FIRST(&d->waiting); q != NULL; q = next) {
		next = TAILQ_NEXT(q, link);
		if (!submit(c, q)) {
			/* No stream numbers left: the next connection has some. */
			c->is_leaving = true;
			break;
		}
	}
	zev_io_set(c->io, ZEV_READ | ZEV_WRITE);
}

/* -- the outside -------------------------------------------------------------------------------- */

int res_doh_ask(void *server, const char *name, enum res_type type,
		void (*on_reply)(void *arg, const struct res_reply *reply), void *arg)
{
	struct res_doh *d = server;

	if (d->n_open >= QUESTIONS_MAX)
		return ZW_E_BUSY;
	struct question *q = zw_xnew(struct question);
	int n = res_wire_query(name, type, q->query);
	if (n < 0) {
		free(q);
		return n;
	}
	q->doh = d;
	q->query_len = (size_t)n;
	q->type = type;
	q->on_reply = on_reply;
	q->arg = arg;
	q->until_ms = zw_mono_ms() + d->timeout_ms;
	zw_strlcpy(q->name, name, sizeof(q->name));
	zw_buf_init(&q->body, BODY_MAX);
	d->n_open++;
	TAILQ_INSERT_TAIL(&d->waiting, q, link);
	if (!zev_timer_is_running(d->overdue))
		overdue_set(d);
	if (!zev_timer_is_running(d->kick))
		zev_timer_start(d->kick, 0);
	return 0;
}

static void on_kick(void *arg)
{
	submit_all(arg);
}

static int creds_set(struct res_doh *d, const char *ca)
{
	if (gnutls_certificate_allocate_credentials(&d->creds) < 0)
		return ZW_E_UNSUPPORTED;
	return gnutls_certificate_set_x509_trust_file(d->creds, ca, GNUTLS_X509_FMT_PEM) > 0
		       ? 0
		       : ZW_E_CONFIG;
}

int res_doh_new(struct zev_loop *loop, const struct res_upstream *up, unsigned timeout_ms,
		struct res_doh **ret, const char **ret_why)
{
	struct res_doh *d = zw_xnew(struct res_doh);

	d->loop = loop;
	d->up = *up;
	d->timeout_ms = timeout_ms;
	TAILQ_INIT(&d->waiting);
	LIST_INIT(&d->conns);
	bool is_v6_text = strchr(up->auth_name, ':') != NULL;
	snprintf(d->authority, sizeof(d->authority), is_v6_text ? "[%s]" : "%s", up->auth_name);
	if (up->port != 443)
		snprintf(d->authority + strlen(d->authority),
			 sizeof(d->authority) - strlen(d->authority), ":%u", up->port);
	d->overdue = zev_timer_new(loop, on_overdue, d);
	d->kick = zev_timer_new(loop, on_kick, d);
	int r = creds_set(d, up->ca_file[0] != '\0' ? up->ca_file : SYSTEM_CA_FILE);
	if (r < 0) {
		if (ret_why != NULL)
			*ret_why = r == ZW_E_CONFIG ? "the file of certificate authorities cannot "
						      "be read"
						    : "GnuTLS makes no credentials";
		res_doh_free(d);
		return r;
	}
	*ret = d;
	return 0;
}

static void questions_drop(struct questions *list)
{
	struct question *q;

	while ((q = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, q, link);
		question_fail(q, ZW_E_EOF, NULL);
		question_reply(q); /* who asked frees what it holds */
	}
}

void res_doh_free(struct res_doh *d)
{
	struct conn *c;

	if (d == NULL)
		return;
	questions_drop(&d->waiting);
	while ((c = LIST_FIRST(&d->conns)) != NULL) {
		LIST_REMOVE(c, link);
		questions_drop(&c->asked);
		questions_drop(&c->over);
		zev_io_free(c->io);
		on_conn_dead(c);
	}
	zev_timer_free(d->overdue);
	zev_timer_free(d->kick);
	if (d->creds != NULL)
		gnutls_certificate_free_credentials(d->creds);
	free(d);
}
