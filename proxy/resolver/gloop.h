/* SPDX-License-Identifier: MIT
 * Lets getdns run on zwatch's event loop. Own adapter, since the library's libevent extension cannot
 * be linked in 1.6.0 (its shared object exports no symbol), and since the sockets need two options
 * that getdns does not set. */
#ifndef ZW_PROXY_RESOLVER_GLOOP_H
#define ZW_PROXY_RESOLVER_GLOOP_H

#include <getdns/getdns_extra.h>

#include "src/ev/ev.h"

/** One per context; lives as long as the context. */
struct res_gloop {
	getdns_eventloop base; /* first: getdns hands back a pointer to this */
	struct zev_loop *loop; /* borrowed */
};

/** Makes @g ready for getdns_context_set_eventloop(context, &g->base). */
void res_gloop_init(struct res_gloop *g, struct zev_loop *loop);

#endif
