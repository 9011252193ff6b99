/* SPDX-License-Identifier: MIT
 * Where in the record a filter can find anything: the parts that hold a rare value are looked up
 * (table `places`), all others are passed over. */
#ifndef ZW_AUDIT_PLACES_H
#define ZW_AUDIT_PLACES_H

#include "src/audit/query.h"

/** Ids between two others, both excluded. */
struct aud_range {
	int64_t low, high;
};

struct aud_ranges {
	struct aud_range *at; /* owned; from the oldest to the newest, apart from each other */
	size_t n;
};

/**
 * The parts between @low and @high (excluded) outside of which nothing fits the filter: all of it
 * where that is not known. Returns 1, 0: there is no store yet, or an error.
 */
int aud_ranges_find(struct aud_query *q, const struct aud_filter *f, int64_t low, int64_t high,
		    struct aud_ranges *ret);
void aud_ranges_clear(struct aud_ranges *r);

#endif
