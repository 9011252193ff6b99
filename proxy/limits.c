/* SPDX-License-Identifier: MIT */
#include "proxy/limits.h"

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"

static const char over_rate[] =
	"too many new connections in a second (network.limits.newPerSecond)";
static const char over_up[] =
	"the session has sent as much as it may (network.quotas.up); it needs a new one";
static const char over_down[] =
	"the session has got as much as it may (network.quotas.down); it needs a new one";
static const char over_site[] = "the bytes for this site are used up (network.quotas.sites)";

/* Connections of one host, or of one program. */
struct host {
	struct zw_map_node node;
	unsigned n;
	char name[];
};

void px_limits_init(struct px_limits *l, unsigned max_connections, unsigned max_per_host,
		    unsigned max_per_program, unsigned new_per_second)
{
	*l = (struct px_limits){.max_connections = max_connections,
				.max_per_host = max_per_host,
				.max_per_program = max_per_program,
				.new_per_second = new_per_second,
				.tokens_milli = (int64_t)new_per_second * PX_BURST_S * 1000};
	zw_map_init(&l->hosts);
	zw_map_init(&l->programs);
}

static void drop_all(struct zw_map *m)
{
	for (size_t i = 0; i < m->n_buckets; i++)
		while (m->buckets[i] != NULL) {
			struct zw_map_node *n = m->buckets[i];

			zw_map_remove(m, n);
			free(zw_map_entry(n, struct host, node));
		}
	zw_map_fini(m);
}

void px_limits_fini(struct px_limits *l)
{
	drop_all(&l->hosts);
	drop_all(&l->programs);
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
		return over_rate;
	return NULL;
}

void px_limits_close(struct px_limits *l)
{
	l->n_connections--;
}

/* Returns false when there are @max already. */
static bool one_more(struct zw_map *m, const char *name, unsigned max)
{
	size_t len = strlen(name);
	struct zw_map_node *n = zw_map_find(m, name, len);
	struct host *h;

	if (n != NULL) {
		h = zw_map_entry(n, struct host, node);
		if (max != 0 && h->n >= max)
			return false;
	} else {
		h = zw_xcalloc(1, sizeof(*h) + len + 1);
		memcpy(h->name, name, len);
		zw_map_add(m, &h->node, h->name, len);
	}
	h->n++;
	return true;
}

static void one_less(struct zw_map *m, const char *name)
{
	struct zw_map_node *n = zw_map_find(m, name, strlen(name));

	if (n == NULL)
		return;
	struct host *h = zw_map_entry(n, struct host, node);
	if (--h->n == 0) {
		zw_map_remove(m, n);
		free(h);
	}
}

const char *px_limits_host_open(struct px_limits *l, const char *name)
{
	return one_more(&l->hosts, name, l->max_per_host)
		       ? NULL
		       : "too many connections to this host (network.limits.perHost)";
}

void px_limits_host_close(struct px_limits *l, const char *name)
{
	one_less(&l->hosts, name);
}

const char *px_limits_program_open(struct px_limits *l, const char *exe)
{
	return one_more(&l->programs, exe, l->max_per_program)
		       ? NULL
		       : "too many connections of this program (network.limits.perProgram)";
}

void px_limits_program_close(struct px_limits *l, const char *exe)
{
	one_less(&l->programs, exe);
}

/* -- bytes -------------------------------------------------------------------------------------- */

static int quota_add(struct px_limits *l, struct zw_span line)
{
	const char *blank = memrchr(line.p, ' ', line.len);
	struct px_quota *q = &l->quotas[l->n_quotas];

	if (l->n_quotas == PX_QUOTAS_MAX)
		return ZW_E_TOOBIG;
	if (blank == NULL ||
	    pol_site_pattern_parse(line.p, (size_t)(blank - line.p), &q->pattern, NULL) < 0 ||
	    zw_parse_u64(blank + 1, (size_t)(line.p + line.len - blank - 1), INT64_MAX,
			 &q->limit_b) < 0)
		return ZW_E_SYNTAX;
	q->used_b = 0;
	l->n_quotas++;
	return 0;
}

int px_limits_quotas_add(struct px_limits *l, struct zw_span lines)
{
	int r = 0;

	while (r == 0 && lines.len > 0) {
		const char *end = memchr(lines.p, '\n', lines.len);
		size_t len = end != NULL ? (size_t)(end - lines.p) : lines.len;

		if (len > 0)
			r = quota_add(l, zw_span_n(lines.p, len));
		len += end != NULL;
		lines = zw_span_n(lines.p + len, lines.len - len);
	}
	return r;
}

static bool is_of(const struct pol_site_pattern *p, const struct pol_host *host, uint16_t port)
{
	if (p->port != 0 && p->port != port)
		return false;
	switch (p->type) {
	case POL_PATTERN_NAME:
		return strcmp(p->name, host->name) == 0;
	case POL_PATTERN_SUBDOMAINS: {
		size_t n = strlen(host->name), z = strlen(p->name);

		return n > z && host->name[n - z - 1] == '.' &&
		       strcmp(host->name + n - z, p->name) == 0;
	}
	case POL_PATTERN_ANY_HOST:
		return true;
	case POL_PATTERN_NET:
		return host->addr.family == p->net.family &&
		       pol_addr_in(&host->addr, &p->net, p->bits);
	}
	return false;
}

uint64_t px_limits_quotas_of(const struct px_limits *l, const struct pol_host *host, uint16_t port)
{
	uint64_t of = 0;

	for (unsigned i = 0; i < l->n_quotas; i++)
		if (is_of(&l->quotas[i].pattern, host, port))
			of |= UINT64_C(1) << i;
	return of;
}

const char *px_limits_bytes(struct px_limits *l, uint64_t quotas, uint64_t up_b, uint64_t down_b)
{
	const char *over = NULL;

	l->up_b += up_b;
	l->down_b += down_b;
	for (unsigned i = 0; i < l->n_quotas; i++) {
		struct px_quota *q = &l->quotas[i];

		if ((quotas >> i & 1) == 0)
			continue;
		q->used_b += up_b + down_b;
		if (q->used_b >= q->limit_b)
			over = over_site;
	}
	if (l->quota_down_b != 0 && l->down_b >= l->quota_down_b)
		over = over_down;
	if (l->quota_up_b != 0 && l->up_b >= l->quota_up_b)
		over = over_up;
	return over;
}

bool px_limits_is_rate(const char *sentence)
{
	return sentence == over_rate || sentence == over_up || sentence == over_down ||
	       sentence == over_site;
}
