/* SPDX-License-Identifier: MIT
 * The JSON writer: whatever bytes stand in an event, the text is well-formed (by a reader of its
 * own below), holds no control character, and a buffer that is too small is an error. */
#include <assert.h>
#include <stdint.h>

#include "src/audit/print.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *value(const uint8_t *p, const uint8_t *end);

static const uint8_t *string(const uint8_t *p, const uint8_t *end)
{
	assert(p < end && *p == '"');
	for (p++; p < end && *p != '"';) {
		uint32_t cp = 0;

		if (*p == '\\') {
			assert(end - p > 1 && strchr("\"\\ntu", p[1]) != NULL);
			if (p[1] == 'u') {
				assert(end - p > 5);
				for (int i = 2; i < 6; i++)
					assert(strchr("0123456789abcdef", p[i]) != NULL);
			}
			p += p[1] == 'u' ? 6 : 2;
			continue;
		}
		int n = zw_utf8_decode(p, (size_t)(end - p), &cp);
		assert(n > 0 && (zw_vis_is_safe(cp) || cp == 0xfffd));
		p += n;
	}
	assert(p < end);
	return p + 1;
}

static const uint8_t *list(const uint8_t *p, const uint8_t *end, char close)
{
	bool is_object = close == '}';

	if (p < end && *p == close)
		return p + 1;
	for (;;) {
		if (is_object) {
			p = string(p, end);
			assert(p < end && *p++ == ':');
		}
		p = value(p, end);
		assert(p < end && (*p == ',' || *p == close));
		if (*p++ == close)
			return p;
	}
}

static const uint8_t *value(const uint8_t *p, const uint8_t *end)
{
	assert(p < end);
	if (*p == '{')
		return list(p + 1, end, '}');
	if (*p == '[')
		return list(p + 1, end, ']');
	if (*p == '"')
		return string(p, end);
	if (*p == 'n') {
		assert(end - p >= 4 && memcmp(p, "null", 4) == 0);
		return p + 4;
	}
	const uint8_t *from = p;
	for (p += *p == '-'; p < end && *p >= '0' && *p <= '9';)
		p++;
	assert(p > from);
	return p;
}

static struct zw_span cut(const uint8_t **data, size_t *size)
{
	size_t n = *size > 0 ? **data % 64 : 0;

	if (*size > 0) {
		(*data)++;
		(*size)--;
	}
	n = n < *size ? n : *size;
	struct zw_span s = zw_span_n(n > 0 ? (const char *)*data : NULL, n);
	*data += n;
	*size -= n;
	return s;
}

static int64_t number(const uint8_t **data, size_t *size)
{
	struct zw_span s = cut(data, size);
	int64_t n = AUD_UNKNOWN;

	if (s.len > 0)
		memcpy(&n, s.p, s.len < sizeof(n) ? s.len : sizeof(n));
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct aud_print p = {.fd = -1, .home = "/home/u"};
	struct zw_buf out;

	for (int row = 0; row < AUD_ROW_MAX; row++) {
		const uint8_t *d = data;
		size_t left = size;
		struct aud_event e = {
			.row = (enum aud_row)row,
			.no = number(&d, &left),
			.t_us = number(&d, &left),
			.closed_us = number(&d, &left),
			.kind = cut(&d, &left),
			.did = cut(&d, &left),
			.by = cut(&d, &left),
			.target = cut(&d, &left),
			.port = number(&d, &left),
			.rule = number(&d, &left),
			.pid = number(&d, &left),
			.exe = cut(&d, &left),
			.argv = cut(&d, &left),
			.chain = cut(&d, &left),
			.note = cut(&d, &left),
			.count = number(&d, &left),
			.waited_ms = number(&d, &left),
			.text = zw_span_n((const char *)d, left),
		};

		zw_buf_init(&out, 1u << 20);
		assert(aud_json_event(&out, &e) == 0);
		assert(value(zw_buf_head(&out), zw_buf_head(&out) + out.len) ==
		       zw_buf_head(&out) + out.len);
		size_t len = out.len;
		zw_buf_consume(&out, len);
		assert(aud_line_event(&out, &e, &p) == 0);
		for (size_t i = 0; i < out.len; i++)
			assert(zw_buf_head(&out)[i] >= 0x20 && zw_buf_head(&out)[i] != 0x7f);
		zw_buf_fini(&out);
		zw_buf_init(&out, len - 1);
		assert(aud_json_event(&out, &e) == ZW_E_TOOBIG);
		zw_buf_fini(&out);
	}
	return 0;
}
