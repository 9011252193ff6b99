/* SPDX-License-Identifier: MIT */
#include "src/base/str.h"

#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"

struct zw_span zw_span(const char *s)
{
	return (struct zw_span){s, s != NULL ? strlen(s) : 0};
}

struct zw_span zw_span_n(const void *p, size_t len)
{
	return (struct zw_span){p, len};
}

bool zw_span_eq(struct zw_span s, const char *c)
{
	return s.len == strlen(c) && (s.len == 0 || memcmp(s.p, c, s.len) == 0);
}

char *zw_span_dup(struct zw_span s)
{
	return zw_xmemdup0(s.p, s.len);
}

size_t zw_strlcpy(char *dst, const char *src, size_t size)
{
	size_t len = strlen(src);

	zw_span_cpy(dst, size, zw_span_n(src, len));
	return len;
}

void zw_span_cpy(char *dst, size_t size, struct zw_span src)
{
	if (size == 0)
		return;
	size_t n = src.len < size ? src.len : size - 1;
	if (n > 0)
		memcpy(dst, src.p, n);
	dst[n] = '\0';
}

bool zw_starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool zw_ends_with(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && strcmp(s + n - m, suffix) == 0;
}

int zw_parse_u64(const char *s, size_t len, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;

	if (len == 0)
		return ZW_E_SYNTAX;
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return ZW_E_SYNTAX;
		if (__builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (unsigned)(s[i] - '0'), &value) || value > max)
			return ZW_E_TOOBIG;
	}
	*ret = value;
	return 0;
}

#define NEAREST_MAX 64

/* Levenshtein distance, one row at a time. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[NEAREST_MAX + 1];
	size_t la = strnlen(a, NEAREST_MAX), lb = strnlen(b, NEAREST_MAX);

	for (size_t j = 0; j <= lb; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned change = diagonal + (a[i - 1] != b[j - 1]);
			unsigned shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

			diagonal = row[j];
			row[j] = change < shift ? change : shift;
		}
	}
	return row[lb];
}

const char *zw_nearest(const char *word, const char *const *candidates)
{
	size_t len = strlen(word);
	unsigned best = (unsigned)(len / 3 > 2 ? len / 3 : 2) + 1;
	const char *found = NULL;

	for (; *candidates != NULL; candidates++) {
		unsigned d = distance(word, *candidates);

		if (d < best && d < len) {
			best = d;
			found = *candidates;
		}
	}
	return found;
}

/* Where a star begins that may still take more: behind it, and from which byte on. */
struct star {
	const char *p, *s;
};

/* Only the last star of a kind is ever lengthened: what an earlier one took was the least that fits,
 * so more of it leaves less to the later ones. That makes it polynomial, with nothing to give up. */
bool zw_glob(const char *pattern, const char *s, size_t len)
{
	const char *p = pattern, *end = s + len;
	struct star one = {NULL, NULL}, across = {NULL, NULL};

	for (;;) {
		if (p[0] == '*' && p[1] == '*') {
			p += 2;
			across = (struct star){p, s};
			one.p = NULL;
		} else if (p[0] == '*') {
			p++;
			one = (struct star){p, s};
		} else if (s == end && *p == '\0') {
			return true;
		} else if (s < end && *p != '\0' && (*p == *s || (*p == '?' && *s != '/'))) {
			p++;
			s++;
		} else if (one.p != NULL && one.s < end && *one.s != '/') {
			s = ++one.s;
			p = one.p;
		} else if (across.p != NULL && across.s < end) {
			s = ++across.s;
			p = across.p;
			one.p = NULL;
		} else {
			return false;
		}
	}
}

const char *zw_basename(const char *path)
{
	if (path == NULL)
		return "";
	const char *slash = strrchr(path, '/');
	return slash != NULL ? slash + 1 : path;
}
