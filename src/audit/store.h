/* SPDX-License-Identifier: MIT
 * The store of sessions and events: an SQLite file in WAL mode with the schema of data/schema. This
 * is the writing side, used by zwatch-audit alone; several of them may write one store.
 *
 * Every batch of events is one transaction, all of it or nothing. A commit is durable against any
 * crash of zwatch (synchronous NORMAL); a checkpoint makes it durable against loss of power. The
 * write lock is held only inside a batch.
 *
 * Errors of all functions: ZW_E_BUSY (locked by another for now), -ENOSPC (disk full, or a limit of
 * file sizes), -EROFS, -EACCES, -EIO, -EUCLEAN (damaged), -ESTALE (removed or replaced while it was
 * open), ZW_E_VERSION (written by a newer zwatch), ZW_E_UNSUPPORTED (not a store of zwatch),
 * ZW_E_STORE (anything else). aud_store_why() has the words. */
#ifndef ZW_AUDIT_STORE_H
#define ZW_AUDIT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "src/audit/ident.h"
#include "src/audit/queue.h"
#include "src/ipc/msg.h"

/** Number of the schema that this zwatch writes. */
#define AUD_SCHEMA 4

struct aud_store;

/** How command lines are kept; aud_open says it, in the order of the setting's words. */
enum aud_lines { AUD_LINES_MASKED, AUD_LINES_FULL, AUD_LINES_NONE, AUD_LINES_MAX };

/** A store that is not open yet. Never NULL. Ownership: aud_store_free(), which closes it. */
struct aud_store *aud_store_new(const char *path);
void aud_store_free(struct aud_store *s);

/** Folder of the store; borrowed. */
const char *aud_store_folder(const struct aud_store *s);

/**
 * Opens the store, and makes folder (0700), file (0600) and schema where there are none. Closes
 * again what it opened when it fails.
 */
int aud_store_open(struct aud_store *s);
bool aud_store_is_open(const struct aud_store *s);

/** Whether the files are still the ones that were opened: 0 or -ESTALE. */
int aud_store_check(struct aud_store *s);

/**
 * Begins a session, or goes on with the one that the same zwatch process has begun: then
 * zwatch-audit was started anew.
 *
 * @who    the process of zwatch
 * @wanted number to give it when it is free, 0 = the next one: for a store that was begun anew
 */
int aud_store_session(struct aud_store *s, const struct zw_msg_aud_open *m,
		      const struct aud_ident *who, int64_t wanted, int64_t *ret_session);

/** Marks the unfinished sessions of processes that are no more as crashed. */
int aud_store_mark_crashed(struct aud_store *s);

/** What aud_store_write() did. */
struct aud_written {
	size_t n_items;	    /* from the first on */
	uint64_t n_refused; /* of them were left out */
};

/**
 * Writes events of the session in one transaction: from the first on, until there are no more or
 * @for_us are over; at least one. All of these or none. Command lines and texts are masked; a private
 * session adds to its sums only. An event that the schema cannot take is left out, marked and
 * counted.
 *
 * @n_more_lost   events lost before these; added to the session's row
 */
int aud_store_write(struct aud_store *s, struct aud_items *items, uint64_t n_more_lost,
		    int64_t for_us, struct aud_written *ret);

/** Ends the session. @how: "exited", "crashed", ...; @exit_status -1 = none. */
int aud_store_end(struct aud_store *s, int64_t t_us, int64_t exit_status, struct zw_span how);

/**
 * The user's own words on a session, in the place of those before; empty = none. Tags: NUL between.
 * Returns 0 or as above, ZW_E_NOT_FOUND.
 */
int aud_store_set_note(struct aud_store *s, int64_t session, struct zw_span note);
int aud_store_set_tags(struct aud_store *s, int64_t session, struct zw_span tags);

/** Head of this session's chain, AUD_HASH_B bytes; false while there is none. */
bool aud_store_head(const struct aud_store *s, uint8_t *ret);

/** Rows of events that this session has. */
uint64_t aud_store_n_rows(const struct aud_store *s);

/** Pages in the write-ahead log after the last commit. */
unsigned aud_store_wal_pages(const struct aud_store *s);

/**
 * The same in the background (src/audit/tidy.h). aud_store_tidy() begins a pass, false: it cannot be;
 * aud_store_n_tidied() says how much of the log is in the file after one, -1: it failed, and
 * aud_store_tidied() that enough is: the pages count from the next commit on.
 */
bool aud_store_tidy(struct aud_store *s);
bool aud_store_is_tidying(const struct aud_store *s);
int aud_store_n_tidied(const struct aud_store *s);
void aud_store_tidied(struct aud_store *s);

/** Moves the write-ahead log into the file as far as readers let it; @is_last also empties it. */
int aud_store_checkpoint(struct aud_store *s, bool is_last);

/** Closes the file. A last connection empties and removes the side files. */
void aud_store_close(struct aud_store *s);

/**
 * Closes a damaged store and gives it another name in the same folder, log included, so that a new
 * one can be begun. A file that meanwhile took its place is left alone.
 *
 * @ret_name  name of it, in @size bytes; "" = there was nothing to move
 */
int aud_store_set_aside(struct aud_store *s, char *ret_name, size_t size);

/** The open file, for maintenance beside the functions above; NULL while closed. Borrowed. */
sqlite3 *aud_store_db(struct aud_store *s);

/** The error of these functions for an SQLite code. */
int aud_store_error(sqlite3 *db, int rc);

/** What went wrong, for the user: "disk full", "made by a newer zwatch". Static storage. */
const char *aud_store_why(int error);

#endif
