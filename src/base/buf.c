/* SPDX-License-Identifier: MIT */
#include "src/base/buf.h"

#include <assert.h>
#include <stdarg.h>

#include "src/base/err.h"
#include "src/base/mem.h"

#define FIRST_CAP_B 256

void zw_buf_init(struct zw_buf *b, size_t max)
{
	assert(max < 1u << 31);
	*b = (struct zw_buf){.max = (uint32_t)max};
}

void zw_buf_fini(struct zw_buf *b)
{
	free(b->data);
	*b = (struct zw_buf){.max = b->max};
}

uint8_t *zw_buf_room(struct zw_buf *b, size_t len)
{
	if (len > zw_buf_left(b))
		return NULL;
	if (b->off + b->len + len > b->cap && b->off > 0) {
		memmove(b->data, b->data + b->off, b->len);
		b->off = 0;
	}
	if (b->len + len > b->cap) {
		size_t cap = b->cap > 0 ? b->cap : FIRST_CAP_B;

		while (cap < b->len + len)
			cap *= 2;
		b->data = zw_xrealloc(b->data, cap, 1);
		b->cap = (uint32_t)cap;
	}
	return b->data + b->off + b->len;
}

void zw_buf_grow(struct zw_buf *b, size_t len)
{
	assert(b->off + b->len + len <= b->cap);
	b->len += len;
}

int zw_buf_add(struct zw_buf *b, const void *p, size_t len)
{
	uint8_t *room = len > 0 ? zw_buf_room(b, len) : NULL;

	if (len == 0)
		return 0;
	if (room == NULL)
		return ZW_E_TOOBIG;
	memcpy(room, p, len);
	b->len += len;
	return 0;
}

int zw_buf_addf(struct zw_buf *b, const char *fmt, ...)
{
	zw_autofree char *s = NULL;
	va_list ap;

	va_start(ap, fmt);
	int n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0) {
		s = NULL;
		zw_fatal("out of memory");
	}
	return zw_buf_add(b, s, (size_t)n);
}

void zw_buf_consume(struct zw_buf *b, size_t len)
{
	assert(len <= b->len);
	b->len -= len;
	b->off = b->len > 0 ? b->off + (uint32_t)len : 0;
}
