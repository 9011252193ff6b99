/* SPDX-License-Identifier: MIT
 * What is recorded: one row a connection, updated by its number. The same refusal over and over
 * is one row with a count. */
#ifndef ZW_PROXY_RECORD_H
#define ZW_PROXY_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "proxy/wheel.h"
#include "proxy/who.h"
#include "src/ipc/chan.h"

/** A row as it stands. Strings are borrowed for the call. */
struct px_row {
	uint64_t seq; /* 0 = not sent yet */
	unsigned did, via, by;
	const char *host; /* "" = not known */
	uint16_t port;
	const char *address; /* that was dialled, or "" */
	uint32_t rule;
	const char *reason, *note, *end;
	uint64_t waited_ms, up_b, down_b;
	const struct px_who *who; /* NULL = not known */
};

struct px_record;

/** @chan  borrowed. Ownership: px_record_free(), NULL is ok: what is folded and not sent yet goes out. */
struct px_record *px_record_new(struct zw_chan *chan, struct px_wheel *wheel);
void px_record_free(struct px_record *r);

/** Phase 0, with a new number, which is returned; `committed` brings it back. */
uint64_t px_record_open(struct px_record *r, const struct px_row *row);
/** Phase 1: counts of a connection that goes on. */
void px_record_count(struct px_record *r, const struct px_row *row);
/** Phase 2: the last word on a row that was opened. */
void px_record_close(struct px_record *r, const struct px_row *row);

/** Where a row stands in the record. */
struct px_number {
	uint32_t session, event; /* 0 = not known */
};

/** A row has its number, or will have none: kept for refusals that are counted on that row. */
void px_record_numbered(struct px_record *r, uint64_t seq, struct px_number number);

/**
 * A refusal, or something that was allowed and is over at once, that was never opened: phase 0. One of the same program, host, port and reason in the
 * last second is counted on that one's row.
 *
 * @ret_number  of a row that has one by now; may be NULL
 * Returns      the sender's number of the row, which px_record_numbered() comes with, once
 */
uint64_t px_record_refusal(struct px_record *r, const struct px_row *row,
			   struct px_number *ret_number);

#endif
