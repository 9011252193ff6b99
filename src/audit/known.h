/* SPDX-License-Identifier: MIT
 * What earlier sessions of a project have met: for the marks of what is new. */
#ifndef ZW_AUDIT_KNOWN_H
#define ZW_AUDIT_KNOWN_H

#include "src/audit/query.h"

/** Targets that are told at most. */
#define AUD_KNOWN_MAX 200000

/**
 * Tells each target that a session with a number below @before met in @project: kind "unix" and a path,
 * or "net" and host:port, as the record has them. Spans live for the call.
 *
 * Returns 0 or a negative error; some may have been told by then
 */
int aud_known(struct aud_query *q, const char *project, int64_t before,
	      void (*fn)(void *arg, struct zw_span kind, struct zw_span target), void *arg);

#endif
