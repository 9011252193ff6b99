/* SPDX-License-Identifier: MIT
 * A search in pieces: each call looks through a part of the record, newest first, and comes back in
 * time, so that a screen stays quick over millions of rows and can say how far it is. */
#ifndef ZW_AUDIT_SCAN_H
#define ZW_AUDIT_SCAN_H

#include "src/audit/query.h"

struct aud_scan;

/**
 * @f        borrowed until aud_scan_free()
 * @session  0 = all
 * @from     AUD_EVENT_ID() of the last row seen; 0 = from the newest
 * Ownership caller, aud_scan_free(); NULL is ok there
 */
struct aud_scan *aud_scan_new(struct aud_query *q, const struct aud_filter *f, int64_t session,
			      int64_t from);
void aud_scan_free(struct aud_scan *s);

/**
 * Looks on for about @ms, or until @limit rows match (at most AUD_PAGE_MAX).
 * Returns 1: there may be more; 0: all was looked at; or a negative error. ret is cleared first.
 */
int aud_scan_next(struct aud_scan *s, int64_t ms, size_t limit, struct aud_event_page *ret);

/** The same, and only counts: adds to *ret_n. */
int aud_scan_count(struct aud_scan *s, int64_t ms, int64_t *ret_n);

/** Leaves out what is left of the session of @event: it is known to have a match. */
void aud_scan_skip_session(struct aud_scan *s, int64_t session);

/** Rows looked at so far. */
int64_t aud_scan_n_looked(const struct aud_scan *s);

#endif
