/* SPDX-License-Identifier: MIT
 * Sums over what a filter takes: sites, sockets, and how the user answers. */
#ifndef ZW_AUDIT_STATS_H
#define ZW_AUDIT_STATS_H

#include "src/audit/print.h"

/** Sites and sockets of one list. */
#define AUD_STATS_ROWS 20

struct aud_stat {
	char name[320]; /* printable: "pypi.org:443", "/run/docker.sock" */
	char risk[16];	/* of sockets */
	int64_t n_sessions, n_tries, up_b, down_b, n_allow, n_deny;
	int64_t first_us, last_us;
};

/** Answers to questions, and how long they took on the screen. */
struct aud_habit {
	int64_t n_asks, n_answered, n_missed, n_allowed, n_denied;
	int64_t median_ms;		  /* AUD_UNKNOWN: none was answered */
	int64_t n_quick, n_quick_allowed; /* under 2 s */
	double per_hour;		  /* of sessions that match */
};

struct aud_stats {
	int64_t n_sessions, length_ms, n_events;
	struct aud_stat sites[AUD_STATS_ROWS], sockets[AUD_STATS_ROWS];
	size_t n_sites, n_sockets;
	struct aud_habit habit;
};

/** Returns 0 or a negative error, -ECANCELED too. */
int aud_stats_read(struct aud_query *q, const struct aud_filter *f, struct aud_stats *ret);

/** As a table, or one JSON object. Returns 0 or a negative error. */
int aud_stats_print(const struct aud_stats *s, const struct aud_print *p);

#endif
