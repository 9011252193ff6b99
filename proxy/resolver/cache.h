/* SPDX-License-Identifier: MIT
 * What servers have said, until it is too old: bounded, the least recently used goes first. The
 * clock is the caller's. Failures are never kept. */
#ifndef ZW_PROXY_RESOLVER_CACHE_H
#define ZW_PROXY_RESOLVER_CACHE_H

#include "proxy/resolver/answer.h"

struct res_cache;

/** Never NULL. @max_n  names kept. Ownership: res_cache_free(), NULL is ok. */
struct res_cache *res_cache_new(size_t max_n);
void res_cache_free(struct res_cache *c);

/** Keeps a result for its ttl_s from @now_ms on, in the place of an older one. */
void res_cache_put(struct res_cache *c, const char *name, enum res_type type,
		   const struct res_result *r, int64_t now_ms);

/** Returns 1 with what is left of its life in ret->ttl_s, or 0. */
int res_cache_get(struct res_cache *c, const char *name, enum res_type type, int64_t now_ms,
		  struct res_result *ret);

/** Length of a name's key: the type in its first two bytes, then the name. */
size_t res_key_write(const char *name, enum res_type type, char ret[RES_NAME_MAX + 3]);

/** Names held. */
size_t res_cache_n(const struct res_cache *c);

#endif
