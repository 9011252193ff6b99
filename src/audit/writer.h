/* SPDX-License-Identifier: MIT
 * The keeper of one session's record: gathers events into transactions, tells when what is kept,
 * and goes on through everything that can happen to a file.
 *
 * Events are gathered for at most 50 ms; one that somebody waits for is committed at once. A
 * transaction takes about a millisecond; where more is there, those that somebody waits for are in
 * the first one, whatever came before them. While the store cannot be written, events wait in memory (bounded), and
 * whoever waits for one is told that it is not kept, so that nothing new is granted. The store is
 * tried again each second. A damaged file is set aside and a new one begun; a removed one is begun
 * anew.
 *
 * No loop of its own: the caller asks aud_writer_due_ms() when to call aud_writer_run(). */
#ifndef ZW_AUDIT_WRITER_H
#define ZW_AUDIT_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/audit/seal.h"
#include "src/ipc/msg.h"

/** Events are gathered this long, when nobody waits. */
#define AUD_GATHER_MS 50
/** A store that another program holds is waited for this long. */
#define AUD_BUSY_MS 5000
/** A store that cannot be written is tried again after this. */
#define AUD_RETRY_MS 1000

struct aud_writer;

/** What the keeper has to tell; called from inside its functions. */
struct aud_writer_ops {
	/** The session has a number (status 0), or why the store cannot be opened ("read-only"); then
	 * it may come again, with 0. */
	void (*on_opened)(int status, uint64_t session, const char *text, void *arg);
	/** An event that somebody waits for is in the store, or will not be. @no: its number in the
	 * session, 0 = none. */
	void (*on_committed)(uint64_t seq, bool is_kept, int64_t no, void *arg);
	/** Something for the user to know: the store cannot be written, it can again, it was begun
	 * anew. @text: a sentence; @n_lost: events not kept so far. */
	void (*on_problem)(const char *text, uint64_t n_lost, bool is_over, void *arg);
};

/**
 * A keeper for the session that @open describes, not open yet.
 *
 * @zwatch_pid  the process whose session it is
 * Ownership    caller, aud_writer_free(); @ops borrowed
 */
struct aud_writer *aud_writer_new(const struct zw_msg_aud_open *open, pid_t zwatch_pid,
				  const struct aud_writer_ops *ops, void *arg);
void aud_writer_free(struct aud_writer *w);

/** Folder of the store; borrowed. */
const char *aud_writer_folder(const struct aud_writer *w);

/** Opens the store and begins the session; on_opened is called in any case. */
void aud_writer_open(struct aud_writer *w);

/** Marks sessions that were cut off. After aud_writer_open(), while /proc can still be read. */
void aud_writer_sweep(struct aud_writer *w);

/** Takes an event: sock_event, conn_event, question_event or misc_event; others are ignored. */
void aud_writer_put(struct aud_writer *w, enum zw_msg_id id, const union zw_msg_any *msg);

/** Milliseconds until aud_writer_run() has something to do; 0 = now, -1 = nothing. */
int64_t aud_writer_due_ms(const struct aud_writer *w);
/** Does what is due, one transaction of it: between two of them the caller takes what came in. */
void aud_writer_run(struct aud_writer *w);

/** What is left to say when a session is closed. */
struct aud_closing {
	uint64_t n_rows;
	uint8_t head[AUD_HASH_B]; /* of its chain */
	size_t head_len;	  /* 0 = none */
	bool is_prune_due;	  /* sessions are too old, or the store too large */
};

/**
 * Writes what is there, ends the session, empties the log and closes the store.
 *
 * @exit_status -1 = none known
 * @wait_ms     how long to wait for another program that holds the store
 * Returns      0 or the error for which something could not be kept
 */
int aud_writer_end(struct aud_writer *w, int64_t t_us, int64_t exit_status, struct zw_span how,
		   int64_t wait_ms, struct aud_closing *ret);

#endif
