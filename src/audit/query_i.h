/* SPDX-License-Identifier: MIT
 * For the parts of the reading side: statements with a filter in them. */
#ifndef ZW_AUDIT_QUERY_I_H
#define ZW_AUDIT_QUERY_I_H

#include <sqlite3.h>

#include "src/audit/query.h"

/** First number of a filter's parameters; ?1 to ?4 are the caller's. */
#define AUD_FILTER_FIRST 5

/**
 * Prepares @head, the filter's condition, @tail, and binds all.
 *
 * @numbers  for ?1 to ?4, where they occur
 * Returns   1 with a statement (the caller finalizes), 0: there is no store yet, or an error
 */
int aud_query_prepare(struct aud_query *q, const struct aud_filter *f, bool of_sessions,
		      const char *head, const char *tail, const int64_t numbers[4],
		      sqlite3_stmt **ret);

/** The numbers of the blocks in which the filter can find anything, in order; aud_filter_places(). */
int aud_query_places(struct aud_query *q, const struct aud_filter *f, sqlite3_stmt **ret);

/** Prepares @sql as it stands. Returns 1 with a statement, 0: there is no store yet, or an error. */
int aud_query_statement(struct aud_query *q, const char *sql, sqlite3_stmt **ret);

/** The events with these ids, in this order; those that are gone meanwhile are left out. */
int aud_query_events(struct aud_query *q, const int64_t *ids, size_t n, struct aud_event_page *ret);

/**
 * Whether @id lies behind *@at in @order; it is then *@at. In a damaged store what SQLite finds need not
 * be what was asked for, and a list that begins again where it was would never end.
 */
static inline bool aud_query_goes_on(enum aud_order order, int64_t *at, int64_t id)
{
	bool goes_on = order == AUD_FORWARD ? id > *at : id < *at;

	*at = id;
	return goes_on;
}

/** Our error for a code that a step of such a statement gave. */
int aud_query_error(int rc);

#endif
