/* SPDX-License-Identifier: MIT
 * Writes JSON (RFC 8259) into a bounded buffer. The text is always valid: bytes that are not UTF-8
 * become U+FFFD, and every code point that could act on a terminal (zw_vis_is_safe) is written as a
 * \u escape, so that the output may be shown as well as parsed. */
#ifndef ZW_AUDIT_JSON_H
#define ZW_AUDIT_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/str.h"

#define ZW_JSON_DEPTH_MAX 16

/** State of one document. The first failure sticks; look at `error` once, at the end. */
struct aud_json {
	struct zw_buf *out; /* borrowed */
	int error;	    /* 0 or ZW_E_TOOBIG */
	unsigned depth;
	bool has_item[ZW_JSON_DEPTH_MAX]; /* a comma comes before the next */
};

void aud_json_init(struct aud_json *j, struct zw_buf *out);

/** Open and close an object or array. @name: member's name, NULL inside an array or on top. */
void aud_json_begin(struct aud_json *j, const char *name, char bracket);
void aud_json_end(struct aud_json *j, char bracket);

void aud_json_int(struct aud_json *j, const char *name, int64_t value);
void aud_json_null(struct aud_json *j, const char *name);
void aud_json_bool(struct aud_json *j, const char *name, bool value);
void aud_json_str(struct aud_json *j, const char *name, struct zw_span value);
/** As "2026-11-30T12:43:10.118233Z"; @t_us: microseconds since 1970 UTC. */
void aud_json_time(struct aud_json *j, const char *name, int64_t t_us);

#endif
