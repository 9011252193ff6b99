/* SPDX-License-Identifier: MIT */
#include "src/policy/resolvers.h"

#include <assert.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/policy/pattern.h"

static const struct pol_resolver resolvers[] = {
#define ZW_RESOLVER(provider)                                                                 \
	{provider, provider " is a public DNS resolver: names are looked up by zwatch alone " \
			    "(network.dns.doh)"},
#include "data_resolvers.inc"
#undef ZW_RESOLVER
};

struct named {
	const char *name;
	unsigned resolver;
};

/* Both ascending, as the script that makes them sorts. */
static const struct named names[] = {
#define ZW_RESOLVER_NAMES(name, resolver) {name, resolver},
#include "data_resolvers.inc"
#undef ZW_RESOLVER_NAMES
};
static const struct named below[] = {
#define ZW_RESOLVER_BELOW(name, resolver) {name, resolver},
#include "data_resolvers.inc"
#undef ZW_RESOLVER_BELOW
};

static const struct named net_texts[] = {
#define ZW_RESOLVER_NET(net, resolver) {net, resolver},
#include "data_resolvers.inc"
#undef ZW_RESOLVER_NET
};

static int compare(const void *name, const void *row)
{
	return strcmp(name, ((const struct named *)row)->name);
}

static const struct pol_resolver *find(const struct named *rows, size_t n, const char *name)
{
	const struct named *row = bsearch(name, rows, n, sizeof(*rows), compare);

	return row != NULL ? &resolvers[row->resolver] : NULL;
}

const struct pol_resolver *pol_resolver_by_name(const char *name)
{
	const struct pol_resolver *r = find(names, ZW_N_ELEMENTS(names), name);

	for (const char *dot = strchr(name, '.'); r == NULL && dot != NULL;
	     dot = strchr(dot + 1, '.'))
		r = find(below, ZW_N_ELEMENTS(below), dot + 1);
	return r;
}

/* Text in the table, since that is what its script can write; read once. */
static const struct pol_site_pattern *nets_read(void)
{
	static struct pol_site_pattern nets[ZW_N_ELEMENTS(net_texts)];
	static bool is_read;

	for (size_t i = 0; !is_read && i < ZW_N_ELEMENTS(nets); i++) {
		const char *text = net_texts[i].name;
		int r = pol_site_pattern_parse(text, strlen(text), &nets[i], NULL);

		assert(r == 0 && nets[i].type == POL_PATTERN_NET);
	}
	is_read = true;
	return nets;
}

const struct pol_resolver *pol_resolver_by_addr(const struct pol_addr *addr)
{
	const struct pol_site_pattern *nets = nets_read();
	struct pol_addr v4 = *addr;

	(void)pol_addr_unwrap(addr, &v4);
	for (size_t i = 0; i < ZW_N_ELEMENTS(net_texts); i++)
		if (pol_addr_in(&v4, &nets[i].net, nets[i].bits))
			return &resolvers[net_texts[i].resolver];
	return NULL;
}

const struct pol_resolver *pol_resolver_of(const struct pol_host *host)
{
	return host->addr.family != POL_FAMILY_NONE ? pol_resolver_by_addr(&host->addr)
						    : pol_resolver_by_name(host->name);
}

void pol_resolver_count(size_t *ret_names, size_t *ret_nets)
{
	*ret_names = ZW_N_ELEMENTS(names) + ZW_N_ELEMENTS(below);
	*ret_nets = ZW_N_ELEMENTS(net_texts);
}
