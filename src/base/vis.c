/* SPDX-License-Identifier: MIT */
#include "src/base/vis.h"

#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/utf8.h"

bool zw_vis_is_safe(uint32_t cp)
{
	static const struct {
		uint32_t first, last;
	} unsafe[] = {
		{0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad}, {0x061c, 0x061c},
		{0x115f, 0x1160}, {0x180b, 0x180f}, {0x200b, 0x200f}, {0x2028, 0x202e},
		{0x2060, 0x206f}, {0x3164, 0x3164}, {0xd800, 0xdfff}, {0xfdd0, 0xfdef},
		{0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0xe0000, 0xe0fff},
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(unsafe) && cp >= unsafe[i].first; i++)
		if (cp <= unsafe[i].last)
			return false;
	return cp <= 0x10ffff && (cp & 0xfffe) != 0xfffe;
}

/* The shown form of what stands at @p (one character of @n bytes, or one bad byte). */
static size_t show(char out[16], const uint8_t *p, int n, uint32_t cp)
{
	if (n < 0)
		return (size_t)snprintf(out, 16, "\\x%02x", *p);
	if (cp == '\\' || cp == '\n' || cp == '\t' || cp == '\r') {
		out[0] = '\\';
		out[1] = cp == '\\' ? '\\' : cp == '\n' ? 'n' : cp == '\t' ? 't' : 'r';
		return 2;
	}
	if (!zw_vis_is_safe(cp))
		return (size_t)snprintf(out, 16, cp < 0x100 ? "\\x%02x" : "\\u{%x}", cp);
	memcpy(out, p, (size_t)n);
	return (size_t)n;
}

size_t zw_vis(char *dst, size_t size, const void *src, size_t len)
{
	const uint8_t *p = src, *end = len > 0 ? p + len : p; /* an empty span may be NULL */
	size_t used = 0;

	if (size == 0)
		return 0;
	while (p < end) {
		uint32_t cp = 0;
		char out[16];
		int n = zw_utf8_decode(p, (size_t)(end - p), &cp);
		size_t out_len = show(out, p, n, cp);

		if (used + out_len >= size)
			break;
		memcpy(dst + used, out, out_len);
		used += out_len;
		p += n > 0 ? n : 1;
	}
	dst[used] = '\0';
	return used;
}

char *zw_vis_dup(const void *src, size_t len, size_t max)
{
	char *dst = zw_xmalloc(max + 1);

	zw_vis(dst, max + 1, src, len);
	return dst;
}
