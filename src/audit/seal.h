/* SPDX-License-Identifier: MIT
 * The chain of a session: a SHA-256 over every row, each link over the link before it. Whoever knows
 * the head of a session can tell later whether one of its rows was changed, added or removed.
 *
 * What it proves, and what not: a change by somebody who does not also rewrite the rest of the chain
 * shows at once; one who rewrites all of it shows against a head that was kept elsewhere (the last
 * line of a session, the system's journal, an export). data/schema/002.sql has the formulas.
 *
 * All functions that return int give an SQLite code: SQLITE_DONE, or the failure. */
#ifndef ZW_AUDIT_SEAL_H
#define ZW_AUDIT_SEAL_H

#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#define AUD_HASH_B 32
/** Numbers that stand in the place of an event's id. */
#define AUD_SEAL_BEGUN 0
#define AUD_SEAL_ENDED (-1)

/** Tables whose rows are sealed. */
enum aud_table {
	AUD_TABLE_SOCKET,
	AUD_TABLE_CONN,
	AUD_TABLE_QUESTION,
	AUD_TABLE_MISC,
	AUD_TABLE_BEGUN, /* a session as it began */
	AUD_TABLE_ENDED, /* and as it ended */
	AUD_TABLE_MAX
};

/** The statement that reads the row of @table with id ?1 (of a session: its number). */
const char *aud_seal_select(enum aud_table table);

/** Hash of the row on which @st stands; @st was made from aud_seal_select(table). */
void aud_seal_row(enum aud_table table, sqlite3_stmt *st, uint8_t ret[AUD_HASH_B]);

/** A value of a row that is being made. Text and bytes are borrowed. */
struct aud_value {
	int type; /* SQLITE_INTEGER, SQLITE_TEXT, SQLITE_BLOB; 0 = NULL */
	int64_t n;
	const void *p;
	size_t len;
};

/** The link after @prev (NULL = there is none before it). */
void aud_seal_link(const uint8_t *prev, int64_t session, int64_t n, int64_t event,
		   const uint8_t row_hash[AUD_HASH_B], uint8_t ret[AUD_HASH_B]);

struct aud_seal;

/** @db is borrowed and outlives the result. Ownership: aud_seal_free(); NULL is ok there. */
struct aud_seal *aud_seal_new(sqlite3 *db);
void aud_seal_free(struct aud_seal *s);

/** Takes up the chain of @session where it ends, or begins it. */
int aud_seal_session(struct aud_seal *s, int64_t session);

/** A row was made or changed in this transaction. */
void aud_seal_touch(struct aud_seal *s, enum aud_table table, int64_t id);

/**
 * The same for a row that was just made of @values, its columns in the order of the table: hashed
 * here, so that it need not be read again. A touch of the same row after it has it read.
 *
 * @exe  path of its program, empty = none
 */
int aud_seal_made(struct aud_seal *s, enum aud_table table, int64_t id,
		  const struct aud_value *values, size_t n, const struct aud_value *exe);

/** Writes a link for each row touched, once: just before COMMIT. */
int aud_seal_flush(struct aud_seal *s);

/** The transaction was committed, or is undone: so is the chain. */
void aud_seal_commit(struct aud_seal *s);
void aud_seal_rollback(struct aud_seal *s);

/** Head as committed; false while the chain has no link. */
int aud_seal_head(const struct aud_seal *s, uint8_t ret[AUD_HASH_B]);

#endif
