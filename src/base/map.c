/* SPDX-License-Identifier: MIT */
#include "src/base/map.h"

#include <assert.h>
#include <sys/random.h>

#include "src/base/mem.h"

#define FIRST_BUCKETS 16

static inline uint64_t rotl(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static void sip_rounds(uint64_t v[4], unsigned n)
{
	while (n-- > 0) {
		v[0] += v[1];
		v[1] = rotl(v[1], 13) ^ v[0];
		v[0] = rotl(v[0], 32);
		v[2] += v[3];
		v[3] = rotl(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotl(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotl(v[1], 17) ^ v[2];
		v[2] = rotl(v[2], 32);
	}
}

static uint64_t read_le(const uint8_t *p, size_t n)
{
	uint64_t x = 0;

	for (size_t i = 0; i < n; i++)
		x |= (uint64_t)p[i] << (8 * i);
	return x;
}

uint64_t zw_siphash(const uint64_t seed[2], const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t v[4] = {seed[0] ^ 0x736f6d6570736575, seed[1] ^ 0x646f72616e646f6d,
			 seed[0] ^ 0x6c7967656e657261, seed[1] ^ 0x7465646279746573};
	size_t left = len;

	for (; left >= 8; left -= 8, p += 8) {
		uint64_t m = read_le(p, 8);

		v[3] ^= m;
		sip_rounds(v, 2);
		v[0] ^= m;
	}
	uint64_t last = (uint64_t)len << 56 | read_le(p, left);
	v[3] ^= last;
	sip_rounds(v, 2);
	v[0] ^= last;
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void zw_map_init(struct zw_map *m)
{
	*m = (struct zw_map){0};
	if (getrandom(m->seed, sizeof(m->seed), 0) != sizeof(m->seed))
		zw_fatal("getrandom failed");
}

void zw_map_fini(struct zw_map *m)
{
	free(m->buckets);
	m->buckets = NULL;
	m->n_buckets = m->n = 0;
}

struct zw_map_node *zw_map_find(const struct zw_map *m, const void *key, size_t len)
{
	if (m->n == 0)
		return NULL;
	uint64_t hash = zw_siphash(m->seed, key, len);

	for (struct zw_map_node *n = m->buckets[hash & (m->n_buckets - 1)]; n != NULL; n = n->next)
		if (n->hash == hash && n->key_len == len && memcmp(n->key, key, len) == 0)
			return n;
	return NULL;
}

static void grow(struct zw_map *m)
{
	size_t n_new = m->n_buckets > 0 ? m->n_buckets * 2 : FIRST_BUCKETS;
	struct zw_map_node **buckets = zw_xcalloc(n_new, sizeof(struct zw_map_node *));

	for (size_t i = 0; i < m->n_buckets; i++) {
		struct zw_map_node *next;

		for (struct zw_map_node *n = m->buckets[i]; n != NULL; n = next) {
			next = n->next;
			n->next = buckets[n->hash & (n_new - 1)];
			buckets[n->hash & (n_new - 1)] = n;
		}
	}
	free(m->buckets);
	m->buckets = buckets;
	m->n_buckets = n_new;
}

void zw_map_add(struct zw_map *m, struct zw_map_node *node, const void *key, size_t len)
{
	if (m->n >= m->n_buckets)
		grow(m);
	node->hash = zw_siphash(m->seed, key, len);
	node->key = key;
	node->key_len = len;
	struct zw_map_node **bucket = &m->buckets[node->hash & (m->n_buckets - 1)];
	node->next = *bucket;
	*bucket = node;
	m->n++;
}

void zw_map_remove(struct zw_map *m, struct zw_map_node *node)
{
	struct zw_map_node **at = &m->buckets[node->hash & (m->n_buckets - 1)];

	while (*at != node) {
		assert(*at != NULL);
		at = &(*at)->next;
	}
	*at = node->next;
	node->next = NULL;
	m->n--;
}
