/* SPDX-License-Identifier: MIT
 * A hash map whose nodes live inside the caller's objects. Keys are bytes that a peer may have
 * chosen, so the hash is keyed (SipHash) with a random key: nobody can aim for one bucket. */
#ifndef ZW_BASE_MAP_H
#define ZW_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Part of an object that is in a map. */
struct zw_map_node {
	struct zw_map_node *next; /* in its bucket */
	uint64_t hash;
	const void *key; /* borrowed from the object, unchanged while it is in the map */
	size_t key_len;
};

struct zw_map {
	struct zw_map_node **buckets; /* owned; NULL while empty */
	size_t n_buckets, n;
	uint64_t seed[2];
};

/** An empty map with a random seed. zw_map_fini() frees the table, never the objects. */
void zw_map_init(struct zw_map *m);
void zw_map_fini(struct zw_map *m);

/** The node with this key, or NULL. */
struct zw_map_node *zw_map_find(const struct zw_map *m, const void *key, size_t len);

/** Adds @node under @key (borrowed). The key must not be in the map yet. */
void zw_map_add(struct zw_map *m, struct zw_map_node *node, const void *key, size_t len);

/** Takes @node out; it must be in. */
void zw_map_remove(struct zw_map *m, struct zw_map_node *node);

/** SipHash-2-4 (Aumasson and Bernstein, 2012) of @len bytes. Pure. */
uint64_t zw_siphash(const uint64_t seed[2], const void *p, size_t len);

/** The object around a node. */
#define zw_map_entry(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

#endif
