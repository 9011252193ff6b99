/* SPDX-License-Identifier: MIT
 * What is new in this project: what no session before this one has met there. Until the record has
 * been read, and where there is none, nothing counts as new. */
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/super/super_i.h"

struct known {
	struct zw_map_node node;
	char key[]; /* "net host:port", "unix path" */
};

static char *key_of(const char *kind, struct zw_span target)
{
	return zw_xasprintf("%s %.*s", kind, (int)target.len, target.p);
}

static void on_known(void *to, struct zw_span kind, struct zw_span target)
{
	struct sup *s = to;
	size_t len = kind.len + 1 + target.len;
	struct known *k = zw_xmalloc(sizeof(*k) + len);

	memcpy(k->key, kind.p, kind.len);
	k->key[kind.len] = ' ';
	memcpy(k->key + kind.len + 1, target.p, target.len);
	if (zw_map_find(&s->known, k->key, len) != NULL)
		free(k);
	else
		zw_map_add(&s->known, &k->node, k->key, len);
}

static bool is_new(struct sup *s, const char *kind, struct zw_span target)
{
	if (!s->is_known_read || target.len == 0)
		return false;
	zw_autofree char *key = key_of(kind, target);
	return zw_map_find(&s->known, key, strlen(key)) == NULL;
}

bool sup_is_new_socket(struct sup *s, struct zw_span path)
{
	return is_new(s, "unix", path);
}

/* An address of version 6 stands in brackets in questions, and without them in the record. */
bool sup_is_new_site(struct sup *s, struct zw_span host, unsigned port)
{
	bool has_brackets = host.len > 2 && host.p[0] == '[' && host.p[host.len - 1] == ']';
	zw_autofree char *target = zw_xasprintf("%.*s:%u", (int)(host.len - (has_brackets ? 2 : 0)),
						host.p + (has_brackets ? 1 : 0), port);

	return host.len > 0 && is_new(s, "net", zw_span(target));
}

bool sup_is_new_ask(struct sup *s, const struct sup_ask *q, enum pol_kind kind)
{
	const char *colon = strrchr(q->target, ':');
	uint64_t port = 0;

	if (q->role == ROLE_SUPER) /* a server inside goes nowhere */
		return false;
	if (kind == POL_KIND_SOCKET)
		return sup_is_new_socket(s, zw_span(q->target));
	return colon != NULL && zw_parse_u64(colon + 1, strlen(colon + 1), 65535, &port) == 0 &&
	       sup_is_new_site(s, zw_span_n(q->target, (size_t)(colon - q->target)),
			       (unsigned)port);
}

/* Rows that came before the record was open. */
static void mark_all(struct sup *s)
{
	struct mdl_conn *c;
	struct mdl_sock *k;
	struct mdl_ask *a;

	TAILQ_FOREACH (c, &s->model.conns, link)
		c->is_new = c->via != ZW_VIA_DNS && sup_is_new_site(s, zw_span(c->host), c->port);
	TAILQ_FOREACH (k, &s->model.socks, link)
		k->is_new = k->did != ZW_DID_AUTO && k->did != ZW_DID_FAIL &&
			    sup_is_new_socket(s, zw_span(k->raw_target));
	TAILQ_FOREACH (a, &s->model.asks, link) {
		const struct sup_ask *q = sup_ask_find(s, a->id);

		a->is_new = q != NULL && sup_is_new_ask(s, q, a->kind);
		if (a->state != MDL_ASK_OPEN) /* what is being read stays as it is */
			sup_card_before(s, a);
	}
	sup_changed(s, MDL_CHANGED_CONNS | MDL_CHANGED_SOCKS | MDL_CHANGED_ASKS);
}

void sup_known_read(struct sup *s)
{
	const struct sup_config *c = s->config;

	if (c->known == NULL || s->is_known_read || s->model.number == 0)
		return;
	s->is_known_read = c->known(c->known_arg, s->model.number, on_known, s) == 0;
	if (s->is_known_read)
		mark_all(s);
}

void sup_known_fini(struct sup *s)
{
	for (size_t i = 0; i < s->known.n_buckets; i++) {
		struct zw_map_node *n = s->known.buckets[i], *next;

		for (; n != NULL; n = next) {
			next = n->next;
			free(zw_map_entry(n, struct known, node));
		}
	}
	zw_map_fini(&s->known);
}
