/* SPDX-License-Identifier: MIT
 * The record as text: tables for people and for pipes, JSON for programs.
 *
 * Tables: one record a line, columns in fixed order, two blanks at least between them; foreign text
 * is escaped (zw_vis) and never cut. JSON: members as documented for `zwatch log --json`; absent =
 * not known; bytes that are not UTF-8 become U+FFFD, and code points that could act on a terminal
 * stand as \u escapes. Nothing is written but to the descriptor given. */
#ifndef ZW_AUDIT_PRINT_H
#define ZW_AUDIT_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/audit/query.h"
#include "src/base/buf.h"

enum aud_format {
	AUD_FORMAT_TABLE,
	AUD_FORMAT_JSON,   /* one array */
	AUD_FORMAT_NDJSON, /* one object a line */
	AUD_FORMAT_CSV,
	AUD_FORMAT_RFC5424,
	AUD_FORMAT_OTLP,
};

struct aud_print {
	int fd; /* borrowed */
	enum aud_format format;
	int width;	  /* stats: columns that do not fit are left out; 0 = all are there */
	bool is_utc;	  /* else the local zone */
	bool has_session; /* the table names the session of each event */
	const char *home; /* shown as ~; borrowed, NULL = none */
};

/** Word of a format: "json", "csv" ... Returns 0 or ZW_E_NOT_FOUND. */
int aud_format_of(const char *word, enum aud_format *ret);
/** All words, for messages: "table, json, ..."; static. */
const char *aud_format_words(void);

/** Records on their way to a descriptor. Ownership: the caller's until aud_sink_close(). */
struct aud_sink;
int aud_sink_new(const struct aud_print *p, struct aud_sink **ret);
int aud_sink_event(struct aud_sink *s, const struct aud_event *e);
int aud_sink_flush(struct aud_sink *s);
/** Writes what is left and frees. Returns how many records there were, or @error, or another. */
int64_t aud_sink_close(struct aud_sink *s, int error);

/** Events of all sessions (0) or one that match. Returns how many, or a negative error. */
int64_t aud_print_found(struct aud_query *q, const struct aud_filter *f, int64_t session,
			const struct aud_print *p);

/** All events of @session. Returns how many were written, or a negative error (-EPIPE ...). */
int64_t aud_print_log(struct aud_query *q, int64_t session, const struct aud_print *p);

/** Sessions that match @f, newest first, at most @limit (0 = all). Returns how many, or a negative error. */
int64_t aud_print_history(struct aud_query *q, const struct aud_filter *f, size_t limit,
			  const struct aud_print *p);

/**
 * One session: its head, its sums, and what was asked, refused or unusual in it.
 * Returns 0, ZW_E_NOT_FOUND or another negative error.
 */
int aud_print_show(struct aud_query *q, int64_t session, const struct aud_print *p);

/** One event with all that is known of it: JSON, or the same as lines "name value". As above. */
int aud_print_event(struct aud_query *q, int64_t session, int64_t no, const struct aud_print *p);

/** One event or session as a JSON object without line end. Returns 0 or ZW_E_TOOBIG. */
int aud_json_event(struct zw_buf *out, const struct aud_event *e);
int aud_json_session(struct zw_buf *out, const struct aud_session *s);

/** One event as a line of the table, no line end. Returns 0 or ZW_E_TOOBIG. */
int aud_line_event(struct zw_buf *out, const struct aud_event *e, const struct aud_print *p);

/** What an event is about, escaped: "registry.pkgs.test:443", "/run/docker.sock", a text. */
void aud_event_what(const struct aud_event *e, char *dst, size_t size);
/** Who did it, escaped: "docker(4711)", or "-". */
void aud_event_who(const struct aud_event *e, char *dst, size_t size);
/** Who decided: "you, once", "rule 7", "mode", or "-". */
void aud_event_by(const struct aud_event *e, char *dst, size_t size);
/** How a session ended: "running", "ok", "exit 1", "stopped", "crashed". */
void aud_session_end(const struct aud_session *s, char *dst, size_t size);
/** 1.2K, 4.1M; "-" for 0 and for AUD_UNKNOWN. Always fits 16 bytes. */
void aud_number(int64_t n, char *dst, size_t size);
/** "0:48" (h:mm), with "+" while it runs. */
void aud_length(const struct aud_session *s, int64_t now_us, char *dst, size_t size);

#endif
