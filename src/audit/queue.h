/* SPDX-License-Identifier: MIT
 * Events that wait to be written: a bounded queue of encoded messages. It holds what comes in
 * between two commits, and what comes in while the store cannot be written. */
#ifndef ZW_AUDIT_QUEUE_H
#define ZW_AUDIT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "src/ipc/msg.h"

/* The upper byte of a sequence number tells whose it is; the numbers of one source only grow. */
#define AUD_SOURCE_SHIFT 56
#define AUD_SOURCES_N	 256

/* Of so many events that wait those go first that somebody waits for. */
#define AUD_QUEUE_MANY 64

struct aud_item {
	STAILQ_ENTRY(aud_item) link;
	uint64_t seq;
	int64_t since_ms; /* when it came, zw_mono_ms() */
	bool want_commit; /* somebody waits for it */
	bool want_number; /* its number is to be told, as soon as it has one */
	int64_t no;	  /* that number; set by aud_store_write(), 0 = none */
	bool is_refused;  /* the schema cannot take it; set by aud_store_write() */
	size_t len;
	uint8_t frame[];
};

STAILQ_HEAD(aud_items, aud_item);

struct aud_queue {
	struct aud_items items;	      /* oldest first */
	struct aud_item *last_wanted; /* of those that went before the rest; NULL = none */
	size_t n_items, n_wanted;     /* all; those that want a commit */
	size_t len_b, max_b;
	uint64_t max_seq[AUD_SOURCES_N]; /* highest number of each source that was ever put in */
};

/** An empty queue of at most @max_b bytes of frames. */
void aud_queue_init(struct aud_queue *q, size_t max_b);
void aud_queue_fini(struct aud_queue *q);

/**
 * Copies one message to the end; one that somebody waits for to before the others, when these are
 * AUD_QUEUE_MANY and none of them is of the same thing: what is told of one thing keeps its order.
 *
 * @want    want_commit of the message, 0 for one without
 * Returns  0 or ZW_E_TOOBIG: full, nothing was added
 */
int aud_queue_add(struct aud_queue *q, enum zw_msg_id id, const void *msg, uint64_t seq,
		  unsigned want, int64_t now_ms);
#define AUD_WANT_NUMBER 2

/** Takes out the first item; NULL when empty. Ownership: caller, free(3). */
struct aud_item *aud_queue_take(struct aud_queue *q);

/**
 * Takes out those that want a commit and came at or before @until_ms, in order.
 * Ownership: caller frees the items of @ret.
 */
void aud_queue_take_wanted(struct aud_queue *q, int64_t until_ms, struct aud_items *ret);

/** Since when the oldest item waits, the oldest that wants a commit; INT64_MAX = there is none. */
int64_t aud_queue_since_ms(const struct aud_queue *q);
int64_t aud_queue_wanted_since_ms(const struct aud_queue *q);

/** Decodes an item; spans point into it. Cannot fail: the queue has encoded it. */
enum zw_msg_id aud_item_msg(const struct aud_item *item, union zw_msg_any *ret);

#endif
