/* SPDX-License-Identifier: MIT */
#include "proxy/resolver/cache.h"

#include <sys/queue.h>

#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/words.h"

/* Addresses, the chain's names and other records lie behind the struct: most answers are far below the maximum. */
struct entry {
	struct zw_map_node node;
	TAILQ_ENTRY(entry) by_use;
	int64_t until_ms;
	unsigned status;
	size_t n_addrs, cnames_len_b, records_len_b;
	char key[RES_NAME_MAX + 3];
	uint8_t data[];
};

struct res_cache {
	struct zw_map map;
	TAILQ_HEAD(uses, entry) by_use; /* oldest use first */
	size_t max_n;
};

struct res_cache *res_cache_new(size_t max_n)
{
	struct res_cache *c = zw_xnew(struct res_cache);

	zw_map_init(&c->map);
	TAILQ_INIT(&c->by_use);
	c->max_n = max_n;
	return c;
}

static void drop(struct res_cache *c, struct entry *e)
{
	zw_map_remove(&c->map, &e->node);
	TAILQ_REMOVE(&c->by_use, e, by_use);
	free(e);
}

void res_cache_free(struct res_cache *c)
{
	struct entry *e;

	if (c == NULL)
		return;
	while ((e = TAILQ_FIRST(&c->by_use)) != NULL)
		drop(c, e);
	zw_map_fini(&c->map);
	free(c);
}

size_t res_key_write(const char *name, enum res_type type, char ret[RES_NAME_MAX + 3])
{
	ret[0] = (char)((unsigned)type >> 8);
	ret[1] = (char)((unsigned)type & 0xff);
	zw_strlcpy(ret + 2, name, RES_NAME_MAX + 1);
	return 2 + strlen(ret + 2);
}

static struct entry *find(struct res_cache *c, const char *name, enum res_type type)
{
	char key[RES_NAME_MAX + 3];
	size_t len = res_key_write(name, type, key);
	struct zw_map_node *n = zw_map_find(&c->map, key, len);

	return n != NULL ? zw_map_entry(n, struct entry, node) : NULL;
}

void res_cache_put(struct res_cache *c, const char *name, enum res_type type,
		   const struct res_result *r, int64_t now_ms)
{
	struct entry *old = find(c, name, type);
	size_t addrs_b = r->n_addrs * sizeof(r->addrs[0]);

	if (old != NULL)
		drop(c, old);
	if (r->status == ZW_RES_STATUS_FAILED || r->status == ZW_RES_STATUS_TIMEOUT ||
	    r->ttl_s == 0)
		return;
	if (c->map.n >= c->max_n)
		drop(c, TAILQ_FIRST(&c->by_use));
	struct entry *e = zw_xcalloc(1, sizeof(*e) + addrs_b + r->cnames_len_b + r->records_len_b);
	e->until_ms = now_ms + (int64_t)r->ttl_s * 1000;
	e->status = r->status;
	e->n_addrs = r->n_addrs;
	e->cnames_len_b = r->cnames_len_b;
	e->records_len_b = r->records_len_b;
	memcpy(e->data, r->addrs, addrs_b);
	memcpy(e->data + addrs_b, r->cnames, r->cnames_len_b);
	memcpy(e->data + addrs_b + r->cnames_len_b, r->records, r->records_len_b);
	size_t key_len = res_key_write(name, type, e->key);
	zw_map_add(&c->map, &e->node, e->key, key_len);
	TAILQ_INSERT_TAIL(&c->by_use, e, by_use);
}

int res_cache_get(struct res_cache *c, const char *name, enum res_type type, int64_t now_ms,
		  struct res_result *ret)
{
	struct entry *e = find(c, name, type);

	if (e == NULL)
		return 0;
	if (e->until_ms <= now_ms) {
		drop(c, e);
		return 0;
	}
	TAILQ_REMOVE(&c->by_use, e, by_use);
	TAILQ_INSERT_TAIL(&c->by_use, e, by_use);
	ret->status = e->status;
	ret->ttl_s = (uint32_t)((e->until_ms - now_ms + 999) / 1000);
	ret->n_addrs = e->n_addrs;
	ret->cnames_len_b = e->cnames_len_b;
	ret->records_len_b = e->records_len_b;
	size_t addrs_b = e->n_addrs * sizeof(ret->addrs[0]);
	memcpy(ret->addrs, e->data, addrs_b);
	memcpy(ret->cnames, e->data + addrs_b, e->cnames_len_b);
	memcpy(ret->records, e->data + addrs_b + e->cnames_len_b, e->records_len_b);
	return 1;
}

size_t res_cache_n(const struct res_cache *c)
{
	return c->map.n;
}
