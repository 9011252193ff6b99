/* SPDX-License-Identifier: MIT
 * Events as they come, for `log -f` and for what carries them on: rsyslog, a collector, a file. Reads
 * the store like any other reader, so that a slow or stopped taker slows nobody else.
 *
 * A connection is told twice: when it opens, and with its bytes when it has closed. A refusal that is
 * tried again and again is told again, with its count, at most every 5 s and when the session ends; the
 * newest line of an id is the one that holds. A place where one stopped can be kept under a name; then each event comes at least once, over restarts too. */
#ifndef ZW_AUDIT_FOLLOW_H
#define ZW_AUDIT_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "src/audit/print.h"

/** Rows that are remembered as such that may change: open connections, and the newest refusals. Others
 * are told once only. */
#define AUD_FOLLOW_OPEN_MAX 1024

struct aud_follow {
	const struct aud_filter *filter; /* borrowed */
	int64_t session;		 /* 0 = all */
	const char *cursor;		 /* file that keeps the place; NULL = none */
	bool from_now; /* nothing that is there already; not with a cursor that is */
	bool is_once;  /* stop where the record ends now */
};

/**
 * Writes until the session is over, the taker is gone, or for ever.
 * Returns how many records were written, or a negative error (-EPIPE: the taker is gone; ZW_E_SYNTAX:
 * the cursor's file is not one).
 */
int64_t aud_follow(struct aud_query *q, const struct aud_follow *what, const struct aud_print *p);

#endif
