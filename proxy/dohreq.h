/* SPDX-License-Identifier: MIT
 * Requests of DNS over HTTPS (RFC 8484), and of the JSON form that Google and Cloudflare have: out
 * of an HTTP request the question as a DNS message. Pure, no allocation, any bytes are safe. */
#ifndef ZW_PROXY_DOHREQ_H
#define ZW_PROXY_DOHREQ_H

#include "proxy/dnsmsg.h"
#include "src/base/buf.h"

/** What an HTTP request says. Spans are the caller's. */
struct px_dohreq {
	struct zw_span method;	     /* GET, POST, HEAD */
	struct zw_span target;	     /* path with query */
	struct zw_span content_type; /* of the body, "" = none */
	struct zw_span accept;	     /* "" = none */
	struct zw_span body;
};

/** The question in it. */
struct px_dohreq_question {
	bool is_json; /* answered in JSON */
	size_t len;
	uint8_t wire[PX_DNS_QUERY_MAX]; /* a DNS message, not looked at yet */
};

/**
 * Finds the question: `?dns=` in base64url, the body of a POST, or `?name=…&type=…`.
 *
 * Returns  200, or the status to answer with: 400 (no question that can be read), 404 (another
 *          path), 405, 413, 415
 */
int px_dohreq_parse(const struct px_dohreq *r, struct px_dohreq_question *ret);

/**
 * An answer in JSON.
 *
 * @addr     NULL = none
 * @comment  "" = none; why a name was refused
 * Returns   0 or ZW_E_TOOBIG
 */
int px_doh_json_write(const struct px_dns_query *q, enum px_dns_rcode rcode,
		      const struct pol_addr *addr, uint32_t ttl_s, const char *comment,
		      struct zw_buf *out);

#endif
