/* SPDX-License-Identifier: MIT
 * A byte buffer that is born with its maximum. Appending beyond it fails and changes nothing, so
 * no peer decides how much memory zwatch takes. */
#ifndef ZW_BASE_BUF_H
#define ZW_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct zw_buf {
	uint8_t *data; /* owned; NULL while empty */
	size_t len;    /* bytes behind off */
	uint32_t off;  /* first byte not yet consumed */
	uint32_t cap;
	uint32_t max; /* never more than this many unconsumed bytes */
};

/** @max  below 2 GiB */
void zw_buf_init(struct zw_buf *b, size_t max);
void zw_buf_fini(struct zw_buf *b);

/** Appends. Returns 0, or ZW_E_TOOBIG and the buffer is as it was. */
int zw_buf_add(struct zw_buf *b, const void *p, size_t len);
int zw_buf_addf(struct zw_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Room for @len more bytes behind the end, or NULL when over the maximum; then zw_buf_grow(). */
uint8_t *zw_buf_room(struct zw_buf *b, size_t len);
/** Counts @len bytes that were written into zw_buf_room(). */
void zw_buf_grow(struct zw_buf *b, size_t len);

/** First unconsumed byte; valid until the next call that changes the buffer. */
static inline uint8_t *zw_buf_head(const struct zw_buf *b)
{
	return b->data + b->off;
}

/** Drops @len bytes from the front. @len must not exceed b->len. */
void zw_buf_consume(struct zw_buf *b, size_t len);

/** Bytes that may still be added. */
static inline size_t zw_buf_left(const struct zw_buf *b)
{
	return b->max - b->len;
}

#endif
