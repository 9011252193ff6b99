/* SPDX-License-Identifier: MIT
 * The name server inside the sandbox. It asks nobody: a question for an address is answered with a
 * fake one, whatever the policy says about the name, so that a denial never looks like a fault of
 * DNS and no question can carry anything outside. */
#ifndef ZW_PROXY_DNS_H
#define ZW_PROXY_DNS_H

#include "proxy/dnsmsg.h"
#include "proxy/fake.h"
#include "src/ev/ev.h"

/** What a question gets. */
struct px_dns_answer {
	enum px_dns_rcode rcode;
	bool has_addr;
	struct pol_addr addr;
	uint32_t ttl_s;
};

/**
 * Decides on one question; only A questions enter @fake. localhost is itself. Names by which a
 * browser is told to use another name server do not exist (use-application-dns.net, Apple's private
 * relay); every type but addresses is empty or refused, TXT above all, which carries tunnels.
 */
void px_dns_decide(struct px_fake *fake, const struct px_dns_query *q, struct px_dns_answer *ret);

struct px_dns;

/** Serves two sockets (borrowed, made non-blocking). Ownership: px_dns_free(), NULL is ok. */
struct px_dns *px_dns_new(struct zev_loop *loop, int udp_fd, int tcp_fd, struct px_fake *fake);
void px_dns_free(struct px_dns *d);

#endif
