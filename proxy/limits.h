/* SPDX-License-Identifier: MIT
 * How many connections at once, to one host, of one program, and in a second; and how many bytes in
 * all. Pure: the clock is the caller's. */
#ifndef ZW_PROXY_LIMITS_H
#define ZW_PROXY_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/map.h"
#include "src/base/str.h"
#include "src/policy/pattern.h"

/* A burst may take what four seconds allow. */
#define PX_BURST_S 4

/** A quota of bytes, both ways, for the sites of one pattern. */
struct px_quota {
	struct pol_site_pattern pattern;
	uint64_t limit_b, used_b;
};

#define PX_QUOTAS_MAX 64

struct px_limits {
	unsigned max_connections, max_per_host, max_per_program, new_per_second; /* 0 = no limit */
	unsigned n_connections;
	int64_t tokens_milli; /* thousandths of a connection */
	int64_t at_ms;	      /* when they were counted */
	struct zw_map hosts, programs;
	uint64_t quota_up_b, quota_down_b; /* 0 = no limit */
	uint64_t up_b, down_b;		   /* used of them */
	unsigned n_quotas;
	struct px_quota quotas[PX_QUOTAS_MAX];
};

void px_limits_init(struct px_limits *l, unsigned max_connections, unsigned max_per_host,
		    unsigned max_per_program, unsigned new_per_second);
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

/** The same for the program that connects, by its path. */
const char *px_limits_program_open(struct px_limits *l, const char *exe);
void px_limits_program_close(struct px_limits *l, const char *exe);

/** Adds lines "PATTERN BYTES". Returns 0, ZW_E_SYNTAX, or ZW_E_TOOBIG (more than PX_QUOTAS_MAX). */
int px_limits_quotas_add(struct px_limits *l, struct zw_span lines);
/** Which quotas a destination counts on, a bit each. */
uint64_t px_limits_quotas_of(const struct px_limits *l, const struct pol_host *host, uint16_t port);
/**
 * Counts bytes, in addition to what was counted before.
 *
 * @quotas  px_limits_quotas_of() of their connection
 * Returns  NULL, or the sentence: which quota is used up. Asked with 0 bytes, whether one is already
 */
const char *px_limits_bytes(struct px_limits *l, uint64_t quotas, uint64_t up_b, uint64_t down_b);

/** Whether a sentence is about how fast or how much, and not about how many at once. */
bool px_limits_is_rate(const char *sentence);

#endif
