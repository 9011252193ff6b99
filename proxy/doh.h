/* SPDX-License-Identifier: MIT
 * One connection to a public name server that zwatch answers in its place (`network.dns.doh`:
 * filter): TLS is ended here with a certificate of the session's authority, HTTP/2 and HTTP/1.1 are
 * spoken, and every question is judged and answered like one to the name server inside. Nothing of it
 * leaves. */
#ifndef ZW_PROXY_DOH_H
#define ZW_PROXY_DOH_H

#include "proxy/ca.h"
#include "proxy/dnsmsg.h"
#include "src/ev/ev.h"

/** What one question gets. */
struct px_doh_answer {
	enum px_dns_rcode rcode;
	bool has_addr, is_filtered; /* filtered: refused by the policy */
	struct pol_addr addr;
	uint32_t ttl_s;
	const char *why; /* of a refusal; borrowed for the call */
};

struct px_doh_ops {
	/** Judges and answers one question, and records it. */
	void (*on_question)(void *arg, const struct px_dns_query *q, struct px_doh_answer *ret);
	/** Bytes have moved. */
	void (*on_bytes)(void *arg, size_t up_b, size_t down_b);
	/** It is over; px_doh_free() may be called from within. @how: one phrase, static. */
	void (*on_end)(void *arg, const char *how);
};

struct px_doh;

/**
 * Starts to serve.
 *
 * @fd      of the client, borrowed, non-blocking
 * @early   what it has sent already; copied
 * @host    whose certificate it gets; copied
 * Returns  NULL when no certificate can be made. Ownership: px_doh_free(), NULL is ok
 */
struct px_doh *px_doh_new(struct zev_loop *loop, struct px_ca *ca, int fd,
			  const struct pol_host *host, struct zw_span early,
			  const struct px_doh_ops *ops, void *arg);
void px_doh_free(struct px_doh *d);

#endif
