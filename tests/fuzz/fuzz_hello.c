/* SPDX-License-Identifier: MIT
 * ClientHellos. Invariants: a prefix waits or is judged as the whole; the same message in other
 * records says the same. */
#include <assert.h>

#include "proxy/hello.h"
#include "src/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same(const struct px_hello *a, const struct px_hello *b)
{
	return a->has_sni == b->has_sni && a->has_ech == b->has_ech &&
	       (!a->has_sni || pol_host_eq(&a->sni, &b->sni)) && a->alpn_len_b == b->alpn_len_b &&
	       memcmp(a->alpn, b->alpn, a->alpn_len_b) == 0;
}

/* Puts the message of @used bytes of records into records of @piece bytes. */
static void check_refragmented(const uint8_t *data, size_t used, size_t piece,
			       const struct px_hello *expected)
{
	static uint8_t message[PX_HELLO_RAW_MAX], out[PX_HELLO_RAW_MAX];
	size_t n = 0, len = 0;
	struct px_hello h;

	for (size_t off = 0; off < used;) {
		size_t body = (size_t)data[off + 3] << 8 | data[off + 4];

		memcpy(message + n, data + off + 5, body);
		n += body;
		off += 5 + body;
	}
	if (piece * PX_HELLO_RECORDS_MAX < n)
		piece = n / PX_HELLO_RECORDS_MAX + 1;
	for (size_t off = 0; off < n; off += piece) {
		size_t body = n - off < piece ? n - off : piece;
		uint8_t head[5] = {22, 3, 1, (uint8_t)(body >> 8), (uint8_t)body};

		memcpy(out + len, head, sizeof(head));
		memcpy(out + len + sizeof(head), message + off, body);
		len += sizeof(head) + body;
	}
	assert(px_hello_parse(out, len, &h) == (int)len);
	assert(same(&h, expected));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct px_hello whole, part;
	int r = px_hello_parse(data, size, &whole);

	for (size_t len = 0; len < size; len += size / 64 + 1) {
		int p = px_hello_parse(data, len, &part);

		assert(r > 0 && len >= (size_t)r ? p == r : p == 0 || p == r);
	}
	if (r == 0)
		assert(size < PX_HELLO_RAW_MAX);
	if (r <= 0)
		return 0;
	px_hello_has_alpn(&whole, "h2");
	/* GnuTLS may refuse what this one takes. It never reads another name where it takes it: then
	 * the answer must not change with the records. */
	bool is_confirmed = px_hello_is_confirmed(data, (size_t)r, &whole);
	struct px_hello other = whole;
	other.has_sni = !other.has_sni;
	assert(!is_confirmed || !px_hello_is_confirmed(data, (size_t)r, &other));
	for (size_t piece = 1; piece < 600; piece = piece * 3 + 1)
		check_refragmented(data, (size_t)r, piece, &whole);
	return 0;
}
