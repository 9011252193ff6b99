/* SPDX-License-Identifier: MIT
 * HTTP/1.x as a forward proxy needs it: the head of a request, its rewritten form, and the framing
 * of its body. Strict (RFC 9112): what two servers might read in two ways is refused.
 *
 * A plain-HTTP request is sent on alone: one request per connection to the origin, with
 * `Connection: close`. The body is framed here, so that no byte behind it reaches the origin, and
 * there is no second request that could be smuggled.
 *
 * Not here: responses (they are relayed as bytes; only the status is looked at), HTTP/2. */
#ifndef ZW_PROXY_HTTP1_H
#define ZW_PROXY_HTTP1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/str.h"
#include "src/policy/host.h"

#define PX_HEAD_MAX	16384  /* bytes of a head, unless the caller says otherwise */
#define PX_HEAD_CEILING 262144 /* and never more than this */
#define PX_FIELDS_MAX	100

/** Form of the request target (RFC 9112, section 3.2). */
enum px_http1_form {
	PX_FORM_CONNECT,  /* host:port, method CONNECT */
	PX_FORM_ABSOLUTE, /* http://host/path: a request to a proxy */
	PX_FORM_ORIGIN,	  /* /path: a request to a server, on a redirected connection */
	PX_FORM_ASTERISK, /* `*`, method OPTIONS */
};

enum px_body_kind { PX_BODY_NONE, PX_BODY_LENGTH, PX_BODY_CHUNKED };

/** One field; the value without blanks around it, possibly empty. */
struct px_field {
	struct zw_span name;
	struct zw_span value;
};

/** A request head. Spans point into the buffer that was parsed. */
struct px_http1_head {
	enum px_http1_form form;
	unsigned minor; /* HTTP/1.minor: 0 or 1 */
	struct zw_span method;
	struct zw_span path; /* with query, as received; "" for CONNECT, or when the URL has none */
	bool has_host;	     /* host and port are set: always, but for HTTP/1.0 in origin form */
	struct pol_host host; /* of the target; in origin form of the Host field */
	uint16_t port;
	enum px_body_kind body;
	uint64_t body_len_b; /* PX_BODY_LENGTH: at least 1 */
	bool wants_upgrade;  /* `Connection: upgrade`, `Upgrade: websocket`, and no body */
	size_t n_fields;
	struct px_field fields[PX_FIELDS_MAX];
};

/**
 * Parses the head of a request. Refuses: line ends other than CRLF, controls, folded lines, blanks
 * before a colon, empty names, more than one Host (or none in HTTP/1.1), a Host that is not the
 * target's authority (of CONNECT the port may be missing there), Content-Length that is repeated or
 * not digits alone, Transfer-Encoding that is not `chunked` or stands beside Content-Length or in
 * HTTP/1.0, user:password@ (never recorded), `#`, port 0, a body with CONNECT.
 *
 * Pure, no allocation, any bytes are safe. Incremental: a prefix gives 0 or what the whole gives.
 *
 * @buf, @len    received so far
 * @max_b        most bytes of a head; 0 = PX_HEAD_MAX; at most PX_HEAD_CEILING counts
 * @io_scanned   caller's, 0 before the first call with this buffer: how far it is known to be
 *               clean, so that a slow sender costs linear time. May be NULL
 * @ret_why      on error: a static sentence, safe to show and record. May be NULL
 * Returns       bytes of the head (> 0), 0 = incomplete, < 0 = error
 * Errors        ZW_E_SYNTAX (answer 400), ZW_E_TOOBIG (431), ZW_E_UNSUPPORTED (501: other scheme or
 *               version)
 */
int px_http1_parse(const uint8_t *buf, size_t len, size_t max_b, size_t *io_scanned,
		   struct px_http1_head *ret, const char **ret_why);

/** First field of this name (any letter case), or NULL. Borrowed from @h. */
const struct px_field *px_http1_field(const struct px_http1_head *h, const char *name);

/**
 * Writes the head for the origin: origin-form target, HTTP/1.1, Host from @h->host and @h->port,
 * `Connection: close`; without Proxy-*, Connection and the fields it names, Keep-Alive, TE and
 * Upgrade; with Content-Length or Transfer-Encoding as it was understood.
 *
 * @keep_upgrade  for a head with wants_upgrade: `Connection: Upgrade` and Upgrade go with it. The
 *                caller sends nothing more of the client before it has seen status 101.
 * Returns        0; ZW_E_TOOBIG when @out is full (it is then as it was); ZW_E_UNSUPPORTED for
 *                CONNECT or a head without a host
 */
int px_http1_write(const struct px_http1_head *h, bool keep_upgrade, struct zw_buf *out);

/**
 * Whether this asks a DNS-over-HTTPS server in clear text: application/dns-message or dns-json,
 * /dns-query, ?dns=, /resolve?name=.
 */
bool px_http1_is_dns_query(const struct px_http1_head *h);

/**
 * host[:port] as in a CONNECT line or a Host field; IPv6 in brackets; no user part.
 *
 * @default_port  when there is none; 0 = a port is required
 * Returns        0 or ZW_E_SYNTAX
 */
int px_authority_parse(struct zw_span s, uint16_t default_port, struct pol_host *ret_host,
		       uint16_t *ret_port);

/** Status in the first line of a response: 100 to 999, 0 = incomplete, or ZW_E_SYNTAX. */
int px_http1_status(const uint8_t *buf, size_t len);

/* -- the body ---------------------------------------------------------------------------------- */

/** Where a request body ends. Caller's memory; fields are private. */
struct px_body {
	enum px_body_kind kind;
	unsigned state;
	uint64_t left_b;  /* of the body or of the present chunk */
	unsigned n_line;  /* bytes of the present line */
	unsigned n_extra; /* bytes of trailers */
};

void px_body_init(struct px_body *b, const struct px_http1_head *h);

/**
 * How many of these bytes belong to the body, framing included; bytes behind the end are not
 * counted. The caller sends exactly these on. Chunks: CRLF only, 1 to 16 hex digits, extensions up
 * to 256 bytes, trailers up to 8 KiB.
 *
 * Returns  bytes (0 to @len), or ZW_E_SYNTAX, ZW_E_TOOBIG; after an error or the end: 0
 */
int64_t px_body_feed(struct px_body *b, const uint8_t *buf, size_t len);
/** The whole body was seen; true at once when there is none. */
bool px_body_is_done(const struct px_body *b);

#endif
