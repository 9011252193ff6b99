/* SPDX-License-Identifier: MIT
 * Request heads and bodies. Invariants: every split is judged as the whole; what is sent on is read
 * back as the same request; a body ends at the same byte however it is cut. */
#include <assert.h>

#include "proxy/http1.h"
#include "src/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_prefixes(const uint8_t *data, size_t size, int whole)
{
	size_t scanned = 0, step = size / 64 + 1;
	struct px_http1_head h;

	for (size_t len = 0; len < size; len += step) {
		int r = px_http1_parse(data, len, 0, &scanned, &h, NULL);

		if (whole > 0 && len >= (size_t)whole)
			assert(r == whole);
		else
			assert(r == 0 || r == whole);
		assert(r == px_http1_parse(data, len, 0, NULL, &h, NULL));
	}
	assert(px_http1_parse(data, size, 0, &scanned, &h, NULL) == whole);
}

static void check_written(const struct px_http1_head *h, bool keep_upgrade)
{
	struct px_http1_head again;
	struct zw_buf out;

	zw_buf_init(&out, 2 * PX_HEAD_MAX);
	if (px_http1_write(h, keep_upgrade, &out) == 0) {
		int r = px_http1_parse(zw_buf_head(&out), out.len, 2 * PX_HEAD_MAX, NULL, &again,
				       NULL);

		/* Three fields of our own may be too many; the origin takes more. */
		assert((r > 0 && (size_t)r == out.len) || h->n_fields > PX_FIELDS_MAX - 3);
		if (r > 0) {
			assert(pol_host_eq(&h->host, &again.host) && h->port == again.port);
			assert(h->body == again.body && h->body_len_b == again.body_len_b);
			assert(h->method.len == again.method.len);
			assert(again.form == PX_FORM_ORIGIN || again.form == PX_FORM_ASTERISK);
			assert(px_http1_field(&again, "Proxy-Authorization") == NULL);
			assert(again.wants_upgrade == (keep_upgrade && h->wants_upgrade));
		}
	}
	zw_buf_fini(&out);
}

static void check_body(const uint8_t *data, size_t size, enum px_body_kind kind, uint64_t len_b)
{
	struct px_http1_head h = {.body = kind, .body_len_b = len_b};
	struct px_body whole, pieces;
	int64_t n, total = 0, r = 0;

	px_body_init(&whole, &h);
	px_body_init(&pieces, &h);
	n = px_body_feed(&whole, data, size);
	assert(n <= (int64_t)size);
	for (size_t off = 0, piece = 1; off < size && r >= 0; off += piece, piece = piece % 7 + 1) {
		r = px_body_feed(&pieces, data + off, size - off < piece ? size - off : piece);
		total += r > 0 ? r : 0;
	}
	assert(px_body_is_done(&whole) == px_body_is_done(&pieces));
	assert(n < 0 ? n == r : n == total);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct px_http1_head h;
	const char *why = NULL;
	int r = px_http1_parse(data, size, 0, NULL, &h, &why);

	assert(r <= (int)PX_HEAD_MAX && (r < 0) == (why != NULL));
	check_prefixes(data, size, r);
	check_body(data, size, PX_BODY_CHUNKED, 0);
	px_http1_status(data, size);
	if (r <= 0)
		return 0;
	assert(h.n_fields <= PX_FIELDS_MAX);
	assert(!h.has_host || h.host.name[0] != '\0');
	check_written(&h, false);
	check_written(&h, true);
	px_http1_is_dns_query(&h);
	check_body(data + r, size - (size_t)r, h.body, h.body_len_b);
	return 0;
}
