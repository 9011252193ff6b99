/* SPDX-License-Identifier: MIT
 * Public name servers that are reached over HTTPS or TLS, by data/doh-resolvers.json: who looks
 * names up there goes around the policy. The table is a second line; the first is that nothing is
 * reached which no rule names. */
#ifndef ZW_POLICY_RESOLVERS_H
#define ZW_POLICY_RESOLVERS_H

#include <stddef.h>

#include "src/policy/host.h"

/** A row of the table. Static storage. */
struct pol_resolver {
	const char *provider; /* "Quad9" */
	const char *reason;   /* a sentence that names it, for a record and for the agent */
};

/** The resolver that has this canonical name, or under whose domain it lies; or NULL. */
const struct pol_resolver *pol_resolver_by_name(const char *name);
/** The resolver at an address, also one that wraps an IPv4 address; or NULL. */
const struct pol_resolver *pol_resolver_by_addr(const struct pol_addr *addr);
/** By whichever of the two a host is. */
const struct pol_resolver *pol_resolver_of(const struct pol_host *host);

/** How many names (of both kinds) and networks the table has. */
void pol_resolver_count(size_t *ret_names, size_t *ret_nets);

#endif
