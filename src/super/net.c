/* SPDX-License-Identifier: MIT
 * The way out: starts proxy and resolver when the first connection arrives, and carries names and
 * answers between them. The listeners stay open here, so that a proxy that died can be followed by
 * another; until then connections wait in their backlog and go nowhere. */
#include <arpa/inet.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/super/super_i.h"

/* Starts of one helper in a session before zwatch gives up on it. */
#define STARTS_MAX 20

static void watch_listeners(struct sup *s, bool want)
{
	for (int i = 0; i < SUP_N_LISTENERS; i++)
		if (s->listen_io[i] != NULL)
			zev_io_set(s->listen_io[i], want ? ZEV_READ : 0);
}

static void resolver_start(struct sup *s)
{
	if (s->resolver.chan != NULL || s->resolver.n_starts >= STARTS_MAX)
		return;
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

static void proxy_start(struct sup *s)
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
		.resolve_ms = net->resolve_ms,
		.connect_ms = net->connect_ms,
		.header_ms = net->header_ms,
		.tls_hello_ms = net->tls_hello_ms,
		.idle_ms = net->idle_ms,
		.local_ports = zw_span_n(ports, ports_be(net, ports)),
		.private_allow = zw_span(net->allow_private),
	};
	zw_chan_send_fds(s->proxy.chan, ZW_ID_px_setup, &m, s->sandbox.net, SUP_N_LISTENERS);
	resolver_start(s);
}

static void on_listener_ready(int fd, unsigned what, void *arg)
{
	(void)fd;
	(void)what;
	proxy_start(arg);
}

void sup_net_start(struct sup *s)
{
	for (int i = 0; i < SUP_N_LISTENERS; i++)
		s->listen_io[i] =
			zev_io_new(s->loop, s->sandbox.net[i], ZEV_READ, on_listener_ready, s);
}

void sup_net_fini(struct sup *s)
{
	for (int i = 0; i < SUP_N_LISTENERS; i++)
		zev_io_free(zw_steal(&s->listen_io[i]));
}

void sup_proxy_dead(struct sup *s)
{
	if (!s->is_closing && s->proxy.n_starts < STARTS_MAX)
		watch_listeners(s, true);
}

void sup_on_tcp_who(struct sup *s, const struct zw_msg_tcp_who *m)
{
	proxy_start(s);
	if (s->proxy.chan != NULL)
		zw_chan_send_fds(s->proxy.chan, ZW_ID_tcp_who, m, NULL, 0);
}

void sup_on_res_query(struct sup *s, const struct zw_msg_res_query *m)
{
	resolver_start(s);
	if (s->resolver.chan != NULL)
		zw_chan_send_fds(s->resolver.chan, ZW_ID_res_query, m, NULL, 0);
	else if (s->proxy.chan != NULL)
		zw_send(s->proxy.chan, res_answer, .query = m->query,
			.status = ZW_RES_STATUS_FAILED,
			.detail = zw_span("zwatch-resolver does not run"));
}

void sup_on_res_answer(struct sup *s, const struct zw_msg_res_answer *m)
{
	if (s->proxy.chan != NULL)
		zw_chan_send_fds(s->proxy.chan, ZW_ID_res_answer, m, NULL, 0);
}
