/* SPDX-License-Identifier: MIT
 * The filter language: one for screens, history, log, stats, export and rules test; zwatch-filter(7).
 *
 *   filter = term { ["and"] term } | filter "or" filter | ("not" | "-") filter | "(" filter ")"
 *   term   = field ":" pattern | field "=" text | field "~" regex | field (">" | "<") number | word
 *
 * Parsing has no effects; what comes out is an expression over the view `events` of the store, with
 * every value bound and none in the text. */
#ifndef ZW_AUDIT_FILTER_H
#define ZW_AUDIT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"

#define AUD_FILTER_LEN_MAX   1024
#define AUD_FILTER_DEPTH_MAX 32
#define AUD_FILTER_ARGS_MAX  200

struct aud_filter;
struct aud_event;
struct aud_session;

/** Where and why a filter is none. */
struct aud_filter_error {
	size_t at; /* byte in the text */
	char text[160];
};

/** A value to bind, in order from ?N on. */
struct aud_filter_arg {
	bool is_text;
	const char *text; /* borrowed from the filter */
	int64_t number;
};

/**
 * Reads a filter. An empty one matches everything.
 *
 * @now_us   for since: and until: with a length of time; UTC
 * Returns   0, or ZW_E_SYNTAX with *ret_error
 * Ownership *ret is the caller's, aud_filter_free()
 */
int aud_filter_parse(const char *text, int64_t now_us, struct aud_filter **ret,
		     struct aud_filter_error *ret_error);
void aud_filter_free(struct aud_filter *f);

bool aud_filter_is_empty(const struct aud_filter *f);
/** Whether it asks of sessions only: agent, project, session, tag, mode, since, until. */
bool aud_filter_is_of_sessions(const struct aud_filter *f);

/**
 * Appends the filter as an SQL condition: on a row of `events`, or with @of_sessions on one of
 * `sessions`. Parameters are numbered from @first.
 *
 * @args     AUD_FILTER_ARGS_MAX of them
 * Returns   how many args it has, or ZW_E_TOOBIG
 */
int aud_filter_sql(const struct aud_filter *f, bool of_sessions, int first, struct zw_buf *sql,
		   struct aud_filter_arg *args);

/** Whether what the filter wants is named in the table `places`: a host, a path, a program. */
bool aud_filter_has_places(const struct aud_filter *f);
/**
 * Appends a statement that gives every `block` of `places` in which the filter can find anything, and
 * perhaps more of them. Like aud_filter_sql(). Only where aud_filter_has_places().
 */
int aud_filter_places(const struct aud_filter *f, int first, struct zw_buf *sql,
		      struct aud_filter_arg *args);

/**
 * Whether the filter fits a row that is in no store: what the SQL of it would say of the same row.
 * Pure.
 *
 * @session  whose row it is: agent, project, mode, number. A tag fits none
 */
bool aud_filter_matches(const struct aud_filter *f, const struct aud_event *e,
			const struct aud_session *session);

/** Words that the language knows, for completion; NULL at the end; static. */
const char *const *aud_filter_fields(void);

#endif
