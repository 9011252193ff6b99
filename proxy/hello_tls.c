/* SPDX-License-Identifier: MIT
 * The second opinion on a ClientHello: GnuTLS's own parser over the same message. */
#include <gnutls/gnutls.h>

#include "proxy/hello.h"
#include "src/base/mem.h"

#define RECORD_HEAD  5
#define MESSAGE_HEAD 4

enum { EXT_SNI = 0, EXT_ALPN = 16, EXT_ECH = 0xfe0d };

/* What GnuTLS handed out. */
struct seen {
	const struct px_hello *h;
	bool has_sni, has_ech, is_other;
	uint16_t alpn_len_b;
};

static unsigned u16(const unsigned char *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* One name of type host (RFC 6066, section 3); its two lengths must lead to the end. */
static bool is_same_name(const struct seen *s, const unsigned char *p, unsigned len)
{
	struct pol_host host;

	return s->h->has_sni && len > 5 && u16(p) == len - 2 && p[2] == 0 &&
	       u16(p + 3) == len - 5 && pol_host_parse((const char *)p + 5, len - 5, &host) == 0 &&
	       pol_host_eq(&host, &s->h->sni);
}

static int on_extension(void *ctx, unsigned type, const unsigned char *p, unsigned len)
{
	struct seen *s = ctx;

	if (type == EXT_SNI) {
		s->is_other = s->is_other || s->has_sni || !is_same_name(s, p, len);
		s->has_sni = true;
	} else if (type == EXT_ALPN) {
		s->is_other = s->is_other || s->alpn_len_b != 0 || len < 3 ||
			      len - 2 != s->h->alpn_len_b || u16(p) != len - 2 ||
			      memcmp(p + 2, s->h->alpn, len - 2) != 0;
		s->alpn_len_b = (uint16_t)(len - 2);
	} else if (type == EXT_ECH) {
		s->has_ech = true;
	}
	return 0;
}

bool px_hello_is_confirmed(const uint8_t *buf, size_t len, const struct px_hello *h)
{
	uint8_t message[PX_HELLO_MAX];
	struct seen s = {.h = h};
	size_t n = 0;

	for (size_t off = 0; off + RECORD_HEAD <= len;) {
		size_t body = (size_t)buf[off + 3] << 8 | buf[off + 4];

		off += RECORD_HEAD;
		if (body > len - off || body > sizeof(message) - n)
			return false;
		memcpy(message + n, buf + off, body);
		n += body;
		off += body;
	}
	if (n <= MESSAGE_HEAD)
		return false;
	gnutls_datum_t d = {message + MESSAGE_HEAD, (unsigned)(n - MESSAGE_HEAD)};
	int r = gnutls_ext_raw_parse(&s, on_extension, &d, GNUTLS_EXT_RAW_FLAG_TLS_CLIENT_HELLO);
	/* Up to TLS 1.2 a hello may have no extensions at all; GnuTLS calls that too short. */
	bool has_extensions = s.has_sni || s.alpn_len_b != 0 || s.has_ech;
	if (r < 0 && !(r == GNUTLS_E_UNEXPECTED_PACKET_LENGTH && !has_extensions && !h->has_sni &&
		       !h->has_ech && h->alpn_len_b == 0))
		return false;
	return !s.is_other && s.has_sni == h->has_sni && s.alpn_len_b == h->alpn_len_b &&
	       (!s.has_ech || h->has_ech);
}
