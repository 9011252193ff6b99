/* SPDX-License-Identifier: MIT
 * Whether the record is still what was written: the chain of every session against its rows. Reads
 * only, and takes any bytes for a store: a damaged or forged one is an answer, not a crash. */
#ifndef ZW_AUDIT_VERIFY_H
#define ZW_AUDIT_VERIFY_H

#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "src/audit/seal.h"

/** Digits of a head that must be given at least: 64 bits. */
#define AUD_HEAD_DIGITS_MIN 16

struct aud_verify {
	int64_t n_sessions, n_events; /* that fit */
	int64_t n_removed;	      /* sessions removed on purpose */
	int64_t n_unsealed;	      /* sessions from before there were chains */
	int64_t n_faults;
	uint8_t head[AUD_HASH_B]; /* of the session, when one was asked for */
	int has_head;
};

/** Told of the first thing that does not fit, per session. @event: number in the session, 0 = the
 * session itself. */
typedef void aud_verify_fault(int64_t session, int64_t event, const char *what, void *arg);

/**
 * Verifies one session, or all with @session 0; then also that none is missing.
 *
 * @head  hex digits of the head that the chain must have or have had, "" = not given; only with a
 *        session
 * Returns 0 when it could be read through (see n_faults), ZW_E_NOT_FOUND (no such session),
 *         ZW_E_SYNTAX (head), or an error of src/audit/store.h
 */
int aud_verify(sqlite3 *db, int64_t session, const char *head, aud_verify_fault *fault, void *arg,
	       struct aud_verify *ret);

/** A hash as 64 hex digits. */
void aud_hash_text(const uint8_t hash[AUD_HASH_B], char ret[2 * AUD_HASH_B + 1]);

#endif
