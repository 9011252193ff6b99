/* SPDX-License-Identifier: MIT
 * For the three parts of the store: store.c (the file, sessions, batches), store_rows.c (an event
 * becomes a row) and store_sql.c (statements, what is bound to them, what their failures mean). */
#ifndef ZW_AUDIT_STORE_I_H
#define ZW_AUDIT_STORE_I_H

#include <sqlite3.h>
#include <sys/types.h>

#include "src/audit/seal.h"
#include "src/audit/store.h"
#include "src/audit/tidy.h"
#include "src/base/words.h"

/* An event's id: the session's number in the upper bits, its own in the lower ones. */
#define AUD_ID_SHIFT   32
#define AUD_PROGRAMS_N 64
#define AUD_SEEN_N     256
#define AUD_LINES_N    16

enum stmt {
	ST_BEGIN,
	ST_COMMIT,
	ST_ROLLBACK,
	ST_SESSION_NEW,
	ST_SESSION_SUMS,
	ST_SESSION_FIRST,
	ST_NOTE,
	ST_NOTE_DROP,
	ST_TAGS_DROP,
	ST_SESSION_IS,
	ST_TAG,
	ST_SESSION_FIND,
	ST_SESSION_RESUME,
	ST_SESSION_END,
	ST_SESSION_LOST,
	ST_LAST_ID,
	ST_RUNNING,
	ST_CRASHED,
	ST_TALLIES_DROP,
	ST_PROGRAM_FIND,
	ST_PROGRAM_NEW,
	ST_SOCK_NEW,
	ST_SOCK_FIND,
	ST_SOCK_MORE,
	ST_CONN_NEW,
	ST_CONN_FIND,
	ST_CONN_MORE,
	ST_QUESTION_IS,
	ST_QUESTION_NEW,
	ST_MISC_NEW,
	ST_SEEN,
	ST_PLACE,
	ST_SEEN_SUM,
	ST_SUMS,
	ST_TALLY,
	ST_TALLY_END,
	ST_TALLY_ASK,
	ST_TALLY_ASK_SUM,
	ST_MAX
};
/* An exe and its number in the store, to save a look-up per event. */
struct program {
	char *exe; /* owned */
	size_t len;
	int64_t id;
};

/* A command line and its masked form: a program that connects often is masked once. */
struct line {
	char *in, *out; /* owned */
	size_t in_len, out_len;
};

/* Targets that are known to stand in `seen` already. */
struct seen_target {
	char *key; /* owned; kind, a blank, target */
	size_t len;
};

/* What is known to stand in `places` for the block that is being filled. */
#define AUD_PLACES_N	512
#define AUD_BLOCK_SHIFT 14
enum place { PLACE_HOST, PLACE_PATH, PLACE_PROGRAM };
struct known_place {
	char *value; /* owned */
	size_t len;
	int64_t block;
	enum place kind;
};

/* What the rows of the open transaction add to the session's sums. */
struct sums {
	int64_t n_events, n_did[ZW_DID_FAIL + 1], n_ask, up_b, down_b, last_us;
	bool is_due; /* something is added */
};

/* A new row, its columns in the order of the table: what is bound, and what is hashed. */
#define AUD_ROW_MAX 32
struct new_row {
	struct aud_value at[AUD_ROW_MAX];
	size_t n; /* columns of the table */
};

struct aud_store {
	char *path, *folder; /* owned */
	sqlite3 *db;	     /* NULL = closed */
	sqlite3_stmt *stmts[ST_MAX];
	struct aud_seal *seal; /* NULL = closed */
	dev_t dev;
	ino_t ino;
	int64_t session, last_id;
	bool is_private;
	enum aud_lines lines_kept;
	uint64_t n_rows;
	unsigned wal_pages;
	struct aud_tidy *tidy; /* owned; NULL = closed */
	int step_errno;	       /* of the last statement that was run */
	struct program programs[AUD_PROGRAMS_N];
	struct line lines[AUD_LINES_N];
	struct seen_target seen[AUD_SEEN_N];
	struct sums sums;
	struct known_place places[AUD_PLACES_N];
	/* Highest number told by each source: a higher one is no row yet. */
	uint64_t max_seq[AUD_SOURCES_N];
};

/** Our error for an SQLite code that one of these functions gave. */
int aud_sql_error(struct aud_store *s, int rc);

/** The statement, prepared at first use; NULL when that fails, and then aud_sql_run() says why. */
sqlite3_stmt *aud_sql_stmt(struct aud_store *s, enum stmt which);
/**
 * Runs a statement to its end. Returns SQLITE_ROW (first row; the caller calls aud_sql_done()),
 * SQLITE_DONE, or the failure.
 */
int aud_sql_run(struct aud_store *s, sqlite3_stmt *st);
void aud_sql_done(sqlite3_stmt *st);
/** A statement without parameters, a text of statements, one number: 0 or our error. */
int aud_sql_simple(struct aud_store *s, enum stmt which);
int aud_sql_exec(struct aud_store *s, const char *text);
int aud_sql_int(struct aud_store *s, const char *text, int64_t *ret);

void aud_bind_int(sqlite3_stmt *st, int i, int64_t value);
/** Counts are unsigned in messages and signed in the store; known: 0 means NULL. */
void aud_bind_count(sqlite3_stmt *st, int i, uint64_t value);
void aud_bind_known(sqlite3_stmt *st, int i, uint64_t value);
/** Borrowed until the statement has run; empty = NULL. */
void aud_bind_word(sqlite3_stmt *st, int i, const char *word);
void aud_bind_span(sqlite3_stmt *st, int i, struct zw_span s);
void aud_bind_bytes(sqlite3_stmt *st, int i, struct zw_span s);
/** As history.commandLines says: masked, full or not at all. Valid until the next call. */
struct aud_value aud_argv_value(struct aud_store *s, struct zw_span argv);
void aud_bind_value(sqlite3_stmt *st, int i, const struct aud_value *v);
void aud_bind_masked_text(sqlite3_stmt *st, int i, struct zw_span text);

uint32_t aud_hash_of(struct zw_span s);

/** Forgets what was noted of a transaction that came to nothing. */
void aud_rows_forget(struct aud_store *s);
/** Writes what the new rows add to the session's sums. Returns SQLITE_DONE or the failure. */
int aud_rows_sums(struct aud_store *s);

/** Writes one event in the open transaction. Returns SQLITE_DONE or the failure. */
int aud_row_write(struct aud_store *s, const struct aud_item *item);

#endif
