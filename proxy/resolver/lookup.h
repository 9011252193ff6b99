/* SPDX-License-Identifier: MIT
 * Lookups: cache, one question for all who want the same name, and the order in which servers are
 * asked. A name that lies in a zone with servers of its own is asked of those alone. A and AAAA go out together. A server that fails or is slow gets company by the next one in
 * the list; the first usable answer wins. "No such name" is an answer. */
#ifndef ZW_PROXY_RESOLVER_LOOKUP_H
#define ZW_PROXY_RESOLVER_LOOKUP_H

#include "proxy/resolver/answer.h"
#include "src/ev/ev.h"

/** A server as a lookup sees it. */
struct res_source {
	const char *text; /* for messages; borrowed */
	const char *zone; /* names at and below it are asked here and nowhere else; "" = others */
	void *server;
	/* As res_server_ask(); NULL = a server that cannot be asked, which fails. */
	int (*ask)(void *server, const char *name, enum res_type type,
		   void (*on_reply)(void *arg, const struct res_reply *reply), void *arg);
};

struct res_lookups;

/**
 * @sources     copied; at most RES_UPSTREAMS_MAX, asked in this order
 * @timeout_ms  of a lookup as a whole
 * @on_answer   called once for each res_lookup_start(), perhaps from within it. @detail: why it
 *              failed, or ""
 * Ownership    caller, res_lookups_free(): open ones are dropped without an answer
 */
struct res_lookups *res_lookups_new(struct zev_loop *loop, const struct res_source *sources,
				    size_t n_sources, unsigned timeout_ms,
				    void (*on_answer)(void *arg, uint64_t query,
						      const struct res_result *result,
						      const char *detail),
				    void *arg);
void res_lookups_free(struct res_lookups *l);

/**
 * @name  lower case, no last dot
 * @type  one that res_type_is_known(). Too many at once, or no host name: answered with FAILED
 */
void res_lookup_start(struct res_lookups *l, uint64_t query, const char *name, enum res_type type);

/** Lookups that wait for servers now. */
size_t res_lookups_n_open(const struct res_lookups *l);

#endif
