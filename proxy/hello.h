/* SPDX-License-Identifier: MIT
 * The first message of a TLS client (RFC 8446 section 4.1.2, RFC 6066, RFC 7301, RFC 9849): which
 * name it asks for and which protocols it offers. Reassembled over records, since a name that is
 * split over two is the oldest way around such a look.
 *
 * Pure, no allocation, any bytes are safe. Nothing is decrypted, nothing answered. */
#ifndef ZW_PROXY_HELLO_H
#define ZW_PROXY_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/policy/host.h"

#define PX_HELLO_MAX	     16384 /* bytes of the message */
#define PX_HELLO_RECORDS_MAX 64
/* No more raw bytes than this are ever needed. */
#define PX_HELLO_RAW_MAX  (PX_HELLO_MAX + PX_HELLO_RECORDS_MAX * 5)
#define PX_HELLO_ALPN_MAX 512

struct px_hello {
	bool has_sni;
	struct pol_host sni; /* may be an address, which no honest client sends */
	bool has_ech;	     /* an encrypted hello (or GREASE, which looks the same) goes with it */
	uint16_t alpn_len_b;
	uint8_t alpn
		[PX_HELLO_ALPN_MAX]; /* the list as on the wire: length, bytes, length, bytes … */
};

/**
 * Parses a ClientHello. A prefix gives 0 or what the whole gives.
 *
 * @buf, @len  received so far, from the first byte of the connection
 * Returns     bytes up to the end of the last record of it (> 0), 0 = incomplete, < 0 = error
 * Errors      ZW_E_UNSUPPORTED: not TLS (the first byte is not 0x16); ZW_E_SYNTAX: begins like TLS,
 *             and is not a hello that every server would read the same way; ZW_E_TOOBIG
 */
int px_hello_parse(const uint8_t *buf, size_t len, struct px_hello *ret);

/**
 * Whether GnuTLS reads the same out of it: name, protocols, encrypted hello. What it does not take,
 * or reads in another way, some server might read in yet another.
 *
 * @buf, @len  what px_hello_parse() has taken: its result is @len
 */
bool px_hello_is_confirmed(const uint8_t *buf, size_t len, const struct px_hello *h);

/** Whether a protocol ("h2", "dot", "doq") is offered. */
bool px_hello_has_alpn(const struct px_hello *h, const char *id);

#endif
