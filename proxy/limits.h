/* SPDX-License-Identifier: MIT
 * How many connections at once, to one host, and in a second. Pure: the clock is the caller's. */
#ifndef ZW_PROXY_LIMITS_H
#define ZW_PROXY_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/map.h"

/* A burst may take what four seconds allow. */
#define PX_BURST_S 4

struct px_limits {
	unsigned max_connections, max_per_host, new_per_second; /* 0 = no limit */
	unsigned n_connections;
	int64_t tokens_milli; /* thousandths of a connection */
	int64_t at_ms;	      /* when they were counted */
	struct zw_map hosts;
};

void px_limits_init(struct px_limits *l, unsigned max_connections, unsigned max_per_host,
		    unsigned new_per_second);
void px_limits_fini(struct px_limits *l);

/**
 * Counts a connection that was accepted; px_limits_close() takes it off again, whatever is
 * returned here.
 *
 * Returns  NULL, or a static sentence: which limit it is over
 */
const char *px_limits_open(struct px_limits *l, int64_t now_ms);
void px_limits_close(struct px_limits *l);

/** Counts one to this host; returns NULL, or the sentence, and then it is not counted. */
const char *px_limits_host_open(struct px_limits *l, const char *host);
void px_limits_host_close(struct px_limits *l, const char *host);

#endif
