/* SPDX-License-Identifier: MIT
 * Going out through another proxy (`network.upstreamProxy`): what is said to it on a connection that
 * has been made, by CONNECT of HTTP or by SOCKS5 (RFC 1928, RFC 1929). The name goes to it as it was
 * judged: it is looked up there, so no address of it is seen here. Pure; any bytes are safe. */
#ifndef ZW_PROXY_VIA_H
#define ZW_PROXY_VIA_H

#include "src/base/buf.h"
#include "src/base/str.h"
#include "src/policy/host.h"

enum px_via_kind { PX_VIA_NONE, PX_VIA_HTTP, PX_VIA_SOCKS5 };

/** The proxy; zero it first. */
struct px_via {
	enum px_via_kind kind;
	struct pol_host host;
	uint16_t port;
	char login[1025]; /* user:password, "" = none */
};

/** Reads http://HOST:PORT or socks5://HOST:PORT; "" = none. Returns 0 or ZW_E_SYNTAX. */
int px_via_set(struct px_via *v, struct zw_span url, struct zw_span login);

/** One conversation; zero it first. */
struct px_via_talk {
	unsigned step;
	char why[160]; /* of an error */
};

#define PX_VIA_OUT_MAX 4096
#define PX_VIA_IN_MAX  16384 /* of one answer */

/**
 * The next step: with @len 0 the first words, then for every answer as far as it has come.
 *
 * @out     appended to: to be sent
 * @ret_n   bytes of @in that are used; the rest belongs to what is behind the proxy
 * Returns  1 the way is open; 0 go on; -ECONNREFUSED (refused there), ZW_E_SYNTAX, ZW_E_TOOBIG, with
 *          t->why
 */
int px_via_step(const struct px_via *v, struct px_via_talk *t, const struct pol_host *host,
		uint16_t port, const uint8_t *in, size_t len, struct zw_buf *out, size_t *ret_n);

#endif
