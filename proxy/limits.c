/* SPDX-License-Identifier: MIT */
#include "proxy/limits.h"

#include "src/base/mem.h"

struct host {
	struct zw_map_node node;
	unsigned n;
	char name[];
};

void px_limits_init(struct px_limits *l, unsigned max_connections, unsigned max_per_host,
		    unsigned new_per_second)
{
	*l = (struct px_limits){.max_connections = max_connections,
				.max_per_host = max_per_host,
				.new_per_second = new_per_second,
				.tokens_milli = (int64_t)new_per_second * PX_BURST_S * 1000};
	zw_map_init(&l->hosts);
}

void px_limits_fini(struct px_limits *l)
{
	for (size_t i = 0; i < l->hosts.n_buckets; i++)
		while (l->hosts.buckets[i] != NULL) {
			struct zw_map_node *n = l->hosts.buckets[i];

			zw_map_remove(&l->hosts, n);
			free(zw_map_entry(n, struct host, node));
		}
	zw_map_fini(&l->hosts);
}

static bool token_take(struct px_limits *l, int64_t now_ms)
{
	int64_t full = (int64_t)l->new_per_second * PX_BURST_S * 1000;

	if (l->new_per_second == 0)
		return true;
	/* At n a second a token grows by n thousandths in a millisecond. */
	if (l->at_ms != 0)
		l->tokens_milli += (now_ms - l->at_ms) * l->new_per_second;
	if (l->tokens_milli > full)
		l->tokens_milli = full;
	l->at_ms = now_ms;
	if (l->tokens_milli < 1000)
		return false;
	l->tokens_milli -= 1000;
	return true;
}

const char *px_limits_open(struct px_limits *l, int64_t now_ms)
{
	l->n_connections++;
	if (l->max_connections != 0 && l->n_connections > l->max_connections)
		return "too many connections at once (network.limits.connections)";
	if (!token_take(l, now_ms))
		return "too many new connections in a second (network.limits.newPerSecond)";
	return NULL;
}

void px_limits_close(struct px_limits *l)
{
	l->n_connections--;
}

const char *px_limits_host_open(struct px_limits *l, const char *name)
{
	size_t len = strlen(name);
	struct zw_map_node *n = zw_map_find(&l->hosts, name, len);
	struct host *h;

	if (n != NULL) {
		h = zw_map_entry(n, struct host, node);
		if (l->max_per_host != 0 && h->n >= l->max_per_host)
			return "too many connections to this host (network.limits.perHost)";
	} else {
		h = zw_xcalloc(1, sizeof(*h) + len + 1);
		memcpy(h->name, name, len);
		zw_map_add(&l->hosts, &h->node, h->name, len);
	}
	h->n++;
	return NULL;
}

void px_limits_host_close(struct px_limits *l, const char *name)
{
	struct zw_map_node *n = zw_map_find(&l->hosts, name, strlen(name));

	if (n == NULL)
		return;
	struct host *h = zw_map_entry(n, struct host, node);
	if (--h->n == 0) {
		zw_map_remove(&l->hosts, n);
		free(h);
	}
}
