/* SPDX-License-Identifier: MIT
 * Strings and spans: bytes with a length, borrowed from somebody else's memory. */
#ifndef ZW_BASE_STR_H
#define ZW_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Borrowed bytes; p may be NULL when len is 0. Not NUL-terminated. */
struct zw_span {
	const char *p;
	size_t len;
};

/** Span over a C string; NULL counts as empty. */
struct zw_span zw_span(const char *s);
struct zw_span zw_span_n(const void *p, size_t len);
bool zw_span_eq(struct zw_span s, const char *c);
/** C string copy; ownership: caller frees. */
char *zw_span_dup(struct zw_span s);

/** As strlcpy(3) of BSD: copies what fits, always terminates, returns strlen(src). */
size_t zw_strlcpy(char *dst, const char *src, size_t size);
/** Copies a span into @dst, cut to fit, always terminated. */
void zw_span_cpy(char *dst, size_t size, struct zw_span src);

bool zw_starts_with(const char *s, const char *prefix);
bool zw_ends_with(const char *s, const char *suffix);

/**
 * Whole string as a decimal number, digits only, no sign or blank.
 * Returns 0, ZW_E_SYNTAX, or ZW_E_TOOBIG above @max.
 */
int zw_parse_u64(const char *s, size_t len, uint64_t max, uint64_t *ret);

/**
 * The candidate closest to @word by edit distance, for "did you mean"; NULL when none is near
 * (more than a third of the word would have to change, at least 2).
 *
 * @candidates  NULL-terminated; borrowed, the result is one of them
 */
const char *zw_nearest(const char *word, const char *const *candidates);

/**
 * Path pattern match: `*` within one component, `**` across components, `?` one byte. Bytes are
 * compared as they are. @pattern is trusted, @s any bytes; linear in practice, never exponential.
 */
bool zw_glob(const char *pattern, const char *s, size_t len);

/** Last component of a path, "" for NULL. Borrowed from @path. */
const char *zw_basename(const char *path);

#endif
