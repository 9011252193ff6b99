/* SPDX-License-Identifier: MIT */
#include "proxy/hello.h"

#include "src/base/err.h"
#include "src/base/mem.h"

enum { CONTENT_HANDSHAKE = 22, MESSAGE_CLIENT_HELLO = 1, NAME_HOST = 0, ECH_OUTER = 0 };
enum { RECORD_HEAD = 5, MESSAGE_HEAD = 4, RANDOM_LEN = 32, SESSION_ID_MAX = 32 };
enum { EXT_SNI = 0, EXT_ALPN = 16, EXT_ECH = 0xfe0d };

#define RECORD_MAX 16384

/* Bytes left to read. Reading past the end leaves is_bad set and yields zeros. */
struct reader {
	const uint8_t *p;
	size_t len;
	bool is_bad;
};

static const uint8_t *take(struct reader *r, size_t n)
{
	const uint8_t *p = r->p;

	if (r->is_bad || n > r->len) {
		r->is_bad = true;
		return NULL;
	}
	r->p += n;
	r->len -= n;
	return p;
}

/* A big-endian number of @n bytes. */
static unsigned take_uint(struct reader *r, size_t n)
{
	const uint8_t *p = take(r, n);
	unsigned value = 0;

	for (size_t i = 0; p != NULL && i < n; i++)
		value = value << 8 | p[i];
	return value;
}

/* A vector: @n bytes of length, then as many bytes. */
static struct reader take_vector(struct reader *r, size_t n)
{
	size_t len = take_uint(r, n);
	const uint8_t *p = take(r, len);

	return (struct reader){p, p != NULL ? len : 0, p == NULL};
}

/* RFC 6066, section 3: one name of type host_name. A list of more is read differently by different
 * servers. */
static int on_sni(struct reader body, struct px_hello *h)
{
	struct reader list = take_vector(&body, 2);
	unsigned type = take_uint(&list, 1);
	struct reader name = take_vector(&list, 2);

	if (body.is_bad || body.len > 0 || list.is_bad || list.len > 0 || name.is_bad ||
	    type != NAME_HOST)
		return ZW_E_SYNTAX;
	if (pol_host_parse((const char *)name.p, name.len, &h->sni) < 0)
		return ZW_E_SYNTAX;
	h->has_sni = true;
	return 0;
}

/* RFC 7301, section 3.1. */
static int on_alpn(struct reader body, struct px_hello *h)
{
	struct reader list = take_vector(&body, 2), rest = list;

	if (body.is_bad || body.len > 0 || list.is_bad || list.len == 0)
		return ZW_E_SYNTAX;
	if (list.len > sizeof(h->alpn))
		return ZW_E_TOOBIG;
	while (rest.len > 0) {
		struct reader id = take_vector(&rest, 1);

		if (id.is_bad || id.len == 0)
			return ZW_E_SYNTAX;
	}
	memcpy(h->alpn, list.p, list.len);
	h->alpn_len_b = (uint16_t)list.len;
	return 0;
}

/* Encrypted hello: the standard's outer form, and its drafts' numbers, which a server that still
 * reads them would follow. An inner form in the open is nobody's hello. */
static int on_ech(unsigned type, struct reader body, struct px_hello *h)
{
	bool is_draft = type == 0xffce || (type >= 0xfe08 && type <= 0xfe0c);

	if (type != EXT_ECH && !is_draft)
		return 0;
	if (type == EXT_ECH && (body.len == 0 || body.p[0] != ECH_OUTER))
		return ZW_E_SYNTAX;
	h->has_ech = true;
	return 0;
}

static int on_extension(unsigned type, struct reader body, struct px_hello *h)
{
	if (type == EXT_SNI)
		return on_sni(body, h);
	if (type == EXT_ALPN)
		return on_alpn(body, h);
	return on_ech(type, body, h);
}

static int parse_extensions(struct reader exts, struct px_hello *h)
{
	uint8_t seen[65536 / 8] = {0};

	while (exts.len > 0) {
		unsigned type = take_uint(&exts, 2);
		struct reader body = take_vector(&exts, 2);
		int r;

		if (exts.is_bad || body.is_bad || seen[type / 8] & 1u << type % 8)
			return ZW_E_SYNTAX;
		seen[type / 8] |= (uint8_t)(1u << type % 8);
		r = on_extension(type, body, h);
		if (r < 0)
			return r;
	}
	return 0;
}

static int parse_message(const uint8_t *p, size_t len, struct px_hello *ret)
{
	struct reader m = {p, len, false}, session, ciphers, compressions, exts;
	struct px_hello h = {.has_sni = false};
	int r;

	if (take_uint(&m, 2) >> 8 != 3)
		return ZW_E_SYNTAX;
	take(&m, RANDOM_LEN);
	session = take_vector(&m, 1);
	ciphers = take_vector(&m, 2);
	compressions = take_vector(&m, 1);
	if (m.is_bad || session.len > SESSION_ID_MAX || ciphers.len < 2 || ciphers.len % 2 != 0 ||
	    compressions.len == 0)
		return ZW_E_SYNTAX;
	if (m.len > 0) { /* none at all: allowed up to TLS 1.2 */
		exts = take_vector(&m, 2);
		if (m.is_bad || m.len > 0)
			return ZW_E_SYNTAX;
		r = parse_extensions(exts, &h);
		if (r < 0)
			return r;
	}
	*ret = h;
	return 0;
}

/* The message as it is put together from records. */
struct assembly {
	size_t have;
	size_t want; /* MESSAGE_HEAD until the length is known, then the whole */
	uint8_t bytes[PX_HELLO_MAX];
};

/* Takes in bytes of a record. Returns 1 when the message is complete with exactly these. */
static int assemble(struct assembly *a, const uint8_t *p, size_t len)
{
	while (len > 0) {
		size_t n = a->want - a->have < len ? a->want - a->have : len;

		if (n == 0)
			return ZW_E_SYNTAX; /* something follows in the same record */
		memcpy(a->bytes + a->have, p, n);
		a->have += n;
		p += n;
		len -= n;
		if (a->bytes[0] != MESSAGE_CLIENT_HELLO)
			return ZW_E_SYNTAX;
		if (a->have == MESSAGE_HEAD) {
			a->want = MESSAGE_HEAD + ((size_t)a->bytes[1] << 16 |
						  (size_t)a->bytes[2] << 8 | a->bytes[3]);
			if (a->want > sizeof(a->bytes))
				return ZW_E_TOOBIG;
		}
	}
	return a->have >= MESSAGE_HEAD && a->have == a->want;
}

/* A record's head, as far as it is there: 0, or an error of the first byte that is wrong. */
static int check_record_head(const uint8_t *p, size_t len, bool is_first)
{
	if (len >= 1 && p[0] != CONTENT_HANDSHAKE)
		return is_first ? ZW_E_UNSUPPORTED : ZW_E_SYNTAX;
	if (len >= 2 && p[1] != 3)
		return ZW_E_SYNTAX;
	if (len < RECORD_HEAD)
		return 0;
	size_t body = (size_t)p[3] << 8 | p[4];

	return body == 0 || body > RECORD_MAX ? ZW_E_SYNTAX : 0;
}

int px_hello_parse(const uint8_t *buf, size_t len, struct px_hello *ret)
{
	struct assembly a; /* not cleared: a slow sender would pay for 16 KiB with each byte */
	size_t off = 0;

	a.have = 0;
	a.want = MESSAGE_HEAD;
	for (unsigned n = 0; n < PX_HELLO_RECORDS_MAX; n++) {
		size_t left = len - off, body, have;
		int r = check_record_head(buf + off, left, n == 0);

		if (r < 0 || left < RECORD_HEAD)
			return r;
		body = (size_t)buf[off + 3] << 8 | buf[off + 4];
		off += RECORD_HEAD;
		have = body < len - off ? body : len - off;
		r = assemble(&a, buf + off, have);
		if (r < 0 || have < body)
			return r < 0 ? r : 0;
		off += body;
		if (r == 1) {
			r = parse_message(a.bytes + MESSAGE_HEAD, a.have - MESSAGE_HEAD, ret);
			return r < 0 ? r : (int)off;
		}
	}
	return ZW_E_TOOBIG;
}

bool px_hello_has_alpn(const struct px_hello *h, const char *id)
{
	size_t len = strlen(id);

	for (size_t i = 0; i < h->alpn_len_b; i += 1u + h->alpn[i]) {
		if (h->alpn[i] == len && memcmp(h->alpn + i + 1, id, len) == 0)
			return true;
	}
	return false;
}
