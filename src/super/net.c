/* SPDX-License-Identifier: MIT
 * The way out: starts proxy and resolver when the first connection arrives, and carries names and
 * answers between them. The listeners stay open here, so that a proxy that died can be followed by
 * another; until then connections wait in their backlog and go nowhere. */
#include <arpa/inet.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/super/super_i.h"

/* Starts of one helper in a session before zwatch gives up on it. */
#define STARTS_MAX 20
/* The resolver reads what strangers send, in libraries that have faults: it may die often, and is
 * there again, but does not spin. */
#define RESOLVER_STARTS_MAX 20
#define RESOLVER_SPAN_MS    60000
/* A question that a resolver died over is asked once more: it may be the one that kills it. */
#define QUERY_TRIES_MAX 2
#define QUERIES_MAX	4096

/* A question in the resolver's hands. */
struct query {
	struct zw_map_node node;
	uint64_t number;
	uint16_t type;
	unsigned n_tries;
	char name[256];
};

static void watch_listeners(struct sup *s, bool want)
{
	for (int i = 0; i < SUP_N_LISTENERS; i++)
		if (s->listen_io[i] != NULL)
			zev_io_set(s->listen_io[i], want ? ZEV_READ : 0);
}

static void resolver_start(struct sup *s)
{
	int64_t now_ms = zw_mono_ms();

	if (s->resolver.chan != NULL)
		return;
	if (s->n_resolver_starts == 0 || now_ms - s->resolver_since_ms >= RESOLVER_SPAN_MS) {
		s->resolver_since_ms = now_ms;
		s->n_resolver_starts = 0;
	}
	if (s->n_resolver_starts >= RESOLVER_STARTS_MAX)
		return;
	s->n_resolver_starts++;
	int r = sup_helper_start(&s->resolver, s->config->log_fd);
	if (r < 0) {
		sup_warn(s, "zwatch-resolver cannot be started: %s", zw_strerror(r));
		return;
	}
	zw_send(s->resolver.chan, res_setup, .timeout_ms = s->config->net.resolve_ms,
		.anchors = zw_span(s->config->net.anchors),
		.upstreams = zw_span(s->config->net.upstreams));
}

/* Ports as the message carries them. */
static size_t ports_be(const struct sup_net *net, uint8_t out[2048])
{
	size_t n = net->n_local_ports < 1024 ? net->n_local_ports : 1024;

	for (size_t i = 0; i < n; i++) {
		uint16_t be = htons(net->local_ports[i]);

		memcpy(out + 2 * i, &be, 2);
	}
	return 2 * n;
}

void sup_proxy_start(struct sup *s)
{
	const struct sup_net *net = &s->config->net;
	uint8_t ports[2048];

	if (s->proxy.chan != NULL || s->proxy.n_starts >= STARTS_MAX)
		return;
	watch_listeners(s, false);
	int r = sup_helper_start(&s->proxy, s->config->log_fd);
	if (r < 0) {
		sup_warn(s, "zwatch-proxy cannot be started: %s. No site can be reached",
			 zw_strerror(r));
		return;
	}
	sup_policy_send(s, &s->proxy);
	struct zw_msg_px_setup m = {
		.can_ask = s->config->can_ask,
		.max_connections = net->max_connections,
		.max_per_host = net->max_per_host,
		.new_per_second = net->new_per_second,
		.header_b = net->header_b,
		.max_per_program = net->max_per_program,
		.header_fields = net->header_fields,
		.quota_up_b = net->quota_up_b,
		.quota_down_b = net->quota_down_b,
		.quotas = zw_span(net->quotas),
		.half_close_ms = net->half_close_ms,
		.sni = net->sni,
		.ech = net->ech,
		.doh = net->doh,
		.upstream = zw_span(net->upstream),
		.upstream_login = zw_span(net->upstream_login),
		.ca_cert = zw_span_n(zw_buf_head(&s->ca_cert), s->ca_cert.len),
		.ca_key = zw_span_n(zw_buf_head(&s->ca_key), s->ca_key.len),
		.resolve_ms = net->resolve_ms,
		.connect_ms = net->connect_ms,
		.header_ms = net->header_ms,
		.tls_hello_ms = net->tls_hello_ms,
		.idle_ms = net->idle_ms,
		.local_ports = zw_span_n(ports, ports_be(net, ports)),
		.private_allow = zw_span(net->allow_private),
	};
	zw_chan_send_fds(s->proxy.chan, ZW_ID_px_setup, &m, s->sandbox.net, SUP_N_LISTENERS);
	sup_ports_handed(s);
	resolver_start(s);
}

static void on_listener_ready(int fd, unsigned what, void *arg)
{
	(void)fd;
	(void)what;
	sup_proxy_start(arg);
}

/* -- the user's network ------------------------------------------------------------------------- */

static void inside_add(struct policy *p, const char *before, struct zw_span name)
{
	zw_autofree char *pattern = zw_xasprintf("%s%.*s", before, (int)name.len, name.p);

	/* Both settings were checked when they were read. */
	(void)pol_private_add(p, pattern);
}

/* @on_line: takes one line of a setting. */
static void lines_each(const char *lines, struct policy *p,
		       void (*on_line)(struct policy *p, struct zw_span line))
{
	while (lines != NULL && *lines != '\0') {
		size_t len = strcspn(lines, "\n");

		if (len > 0)
			on_line(p, zw_span_n(lines, len));
		lines += len + (lines[len] == '\n');
	}
}

static void on_private(struct policy *p, struct zw_span line)
{
	inside_add(p, "", line);
}

/* "ZONE=RESOLVER"; a resolver for all names has a colon before any =, or none. */
static void on_upstream(struct policy *p, struct zw_span line)
{
	const char *end = memchr(line.p, '=', line.len), *colon = memchr(line.p, ':', line.len);

	if (end == NULL || (colon != NULL && colon < end))
		return;
	struct zw_span zone = zw_span_n(line.p, (size_t)(end - line.p));
	inside_add(p, "", zone);
	inside_add(p, "*.", zone);
}

bool sup_is_inside(struct sup *s, const struct pol_host *host)
{
	if (s->inside == NULL) {
		s->inside = pol_new();
		lines_each(s->config->net.allow_private, s->inside, on_private);
		lines_each(s->config->net.upstreams, s->inside, on_upstream);
	}
	return pol_private_has(s->inside, host);
}

/* -- questions for names ------------------------------------------------------------------------ */

static void query_drop(struct sup *s, struct query *q)
{
	zw_map_remove(&s->queries, &q->node);
	free(q);
}

static void query_fail(struct sup *s, uint64_t number, const char *why)
{
	if (s->proxy.chan != NULL)
		zw_send(s->proxy.chan, res_answer, .query = number, .status = ZW_RES_STATUS_FAILED,
			.detail = zw_span(why));
}

/* All that are open, with what @fn leaves of them. */
static void queries_each(struct sup *s, void (*fn)(struct sup *s, struct query *q))
{
	for (size_t i = 0; i < s->queries.n_buckets; i++) {
		struct zw_map_node *n = s->queries.buckets[i], *next;

		for (; n != NULL; n = next) {
			next = n->next;
			fn(s, zw_map_entry(n, struct query, node));
		}
	}
}

static void query_send(struct sup *s, struct query *q)
{
	if (s->resolver.chan == NULL || q->n_tries >= QUERY_TRIES_MAX) {
		query_fail(s, q->number,
			   s->resolver.chan == NULL ? "zwatch-resolver does not run"
						    : "zwatch-resolver died over it");
		query_drop(s, q);
		return;
	}
	q->n_tries++;
	zw_send(s->resolver.chan, res_query, .query = q->number, .name = zw_span(q->name),
		.type = q->type);
}

void sup_resolver_dead(struct sup *s)
{
	if (s->is_closing)
		return;
	if (s->queries.n > 0)
		resolver_start(s);
	queries_each(s, query_send);
}

void sup_proxy_dead(struct sup *s)
{
	/* The next one counts from the beginning; nobody waits for these. */
	queries_each(s, query_drop);
	if (!s->is_closing && s->proxy.n_starts < STARTS_MAX)
		watch_listeners(s, true);
}

void sup_net_start(struct sup *s)
{
	zw_map_init(&s->queries);
	for (int i = 0; i < SUP_N_LISTENERS; i++)
		s->listen_io[i] =
			zev_io_new(s->loop, s->sandbox.net[i], ZEV_READ, on_listener_ready, s);
}

void sup_net_fini(struct sup *s)
{
	for (int i = 0; i < SUP_N_LISTENERS; i++)
		zev_io_free(zw_steal(&s->listen_io[i]));
	queries_each(s, query_drop);
	zw_map_fini(&s->queries);
	pol_free(s->inside);
	s->inside = NULL;
}

void sup_on_tcp_who(struct sup *s, const struct zw_msg_tcp_who *m)
{
	sup_proxy_start(s);
	if (s->proxy.chan != NULL)
		zw_chan_send_fds(s->proxy.chan, ZW_ID_tcp_who, m, NULL, 0);
}

void sup_on_res_query(struct sup *s, const struct zw_msg_res_query *m)
{
	resolver_start(s);
	if (s->queries.n >= QUERIES_MAX ||
	    zw_map_find(&s->queries, &m->query, sizeof(m->query)) != NULL) {
		query_fail(s, m->query, "too many lookups at once");
		return;
	}
	struct query *q = zw_xnew(struct query);

	q->number = m->query;
	q->type = m->type;
	zw_span_cpy(q->name, sizeof(q->name), m->name);
	zw_map_add(&s->queries, &q->node, &q->number, sizeof(q->number));
	query_send(s, q);
}

/* An answer of a resolver that has died meanwhile, or to nothing that was asked, goes nowhere. */
void sup_on_res_answer(struct sup *s, const struct zw_msg_res_answer *m)
{
	struct zw_map_node *n = zw_map_find(&s->queries, &m->query, sizeof(m->query));

	if (n == NULL)
		return;
	query_drop(s, zw_map_entry(n, struct query, node));
	if (s->proxy.chan != NULL)
		zw_chan_send_fds(s->proxy.chan, ZW_ID_res_answer, m, NULL, 0);
}
