/* SPDX-License-Identifier: MIT
 * Removing sessions and events from the store, for good and in steps that block no writer for long.
 * What was removed leaves a tombstone with its hash, so that the chain still tells the truth. The
 * file is secure_delete: freed pages are overwritten.
 *
 * Functions return 0 or a negative error of src/audit/store.h. */
#ifndef ZW_AUDIT_PRUNE_H
#define ZW_AUDIT_PRUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#define AUD_PRUNE_MAX 1000

/** Sessions that are to go, oldest first, with what they hold. */
struct aud_prune {
	int64_t sessions[AUD_PRUNE_MAX];
	size_t n_sessions;
	int64_t n_events;
	int64_t size_b; /* estimate: their share of the store */
	bool has_more;	/* than AUD_PRUNE_MAX */
};

/** Bytes in use: pages less those that are free. */
int aud_prune_used(sqlite3 *db, int64_t *ret_b);

/**
 * Finds what has ended before @before_us (0 = nothing by age) and, oldest first, what is too much
 * for @max_b bytes (0 = no limit). Running sessions never count.
 */
int aud_prune_find(sqlite3 *db, int64_t before_us, int64_t max_b, struct aud_prune *ret);

/** Adds one session. Returns ZW_E_NOT_FOUND, or ZW_E_BUSY when it is running. */
int aud_prune_add(sqlite3 *db, int64_t session, struct aud_prune *p);

/**
 * Removes one session: its tombstone first, in one transaction with the session's own row, then its
 * rows by the thousand. One that was cut short is finished by the next session, by aud_prune_step(), or
 * by the next aud_prune_rest().
 */
int aud_prune_session(sqlite3 *db, int64_t session, const char *why);

/** Removes one event of a session that has ended. Returns ZW_E_NOT_FOUND or ZW_E_BUSY too. */
int aud_prune_event(sqlite3 *db, int64_t session, int64_t no, const char *why);

/** A small step of that, for a writer that has nothing else to do. Returns 1: there may be more, 0: all is
 * gone, or an error. */
int aud_prune_step(sqlite3 *db);

/** Rows of sessions that have a tombstone and are not gone yet; programs that no row names; free
 * pages back to the file system. */
int aud_prune_rest(sqlite3 *db);

#endif
