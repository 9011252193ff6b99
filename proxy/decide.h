/* SPDX-License-Identifier: MIT
 * What becomes of a destination, and of the addresses that its name turned out to have. Pure. */
#ifndef ZW_PROXY_DECIDE_H
#define ZW_PROXY_DECIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proxy/hello.h"
#include "src/policy/policy.h"

#define PX_DIAL_ADDRS_MAX 16

/** Services of the host's loopback that the sandbox may reach: one bit a port. */
struct px_ports {
	uint8_t bits[65536 / 8];
};

/** Fills the set from the message's form: U16 big-endian each. */
void px_ports_set(struct px_ports *p, const uint8_t *be, size_t len);
bool px_ports_has(const struct px_ports *p, uint16_t port);

/** How an allowed destination is reached. */
enum px_way {
	PX_WAY_NAME,	/* look the name up */
	PX_WAY_ADDRESS, /* the address as it was judged */
	PX_WAY_HOST,	/* the host's 127.0.0.1 */
	PX_WAY_DOH,	/* not at all: zwatch answers in its place */
};

struct px_decision {
	struct pol_decision d; /* reason is static or borrowed from the policy */
	enum px_way way;
};

/**
 * Decides on a destination: policy, and what zwatch never lets through by a name rule: ports of
 * DNS (names are looked up by zwatch alone), loopback that no rule names, addresses that
 * zwatch itself gave out.
 *
 * @host_local  a connect() to the sandbox's own loopback, sent here by the broker: 1 by a rule, 2 since
 *              the user just said so, 3 by a saved rule (its number is not known here); 0 = another
 */
void px_decide(const struct policy *p, const struct px_ports *local_ports,
	       const struct pol_host *host, uint16_t port, unsigned host_local, const char *program,
	       struct px_decision *ret);

/** What is left of a name's addresses. */
struct px_checked {
	size_t n;				  /* addresses that may be dialled */
	struct pol_addr addrs[PX_DIAL_ADDRS_MAX]; /* families take turns, IPv6 first (RFC 8305) */
	size_t n_refused;
	struct pol_addr refused; /* the first of them */
	enum pol_addr_kind kind; /* its kind */
	struct pol_decision why; /* its verdict */
};

/**
 * Sorts out the addresses of @host by pol_decide_resolved(): those that a rule denies, and private,
 * loopback, metadata and special ones that no rule names for this port and program. Fake ones never
 * pass.
 */
void px_check_addrs(const struct policy *p, const struct pol_host *host, uint16_t port,
		    const char *program, const struct pol_addr *addrs, size_t n,
		    struct px_checked *ret);

/**
 * Whether a name in the CNAME chain is denied by a rule (the mode does not count: the name that was
 * asked for was judged).
 *
 * @cnames   names with NUL between
 * Returns   true, with the rule in @ret and the name in @ret_name
 */
bool px_check_cnames(const struct policy *p, const char *cnames, size_t len, uint16_t port,
		     const char *program, struct pol_decision *ret,
		     char ret_name[POL_HOST_MAX + 1]);

/** `network.tls`. */
struct px_tls_rules {
	bool is_sni_optional; /* a hello may name no host; one that names another is refused all the same */
	bool is_ech_denied; /* no encrypted hello, nor what looks like one */
};

/**
 * Whether a TLS hello fits the destination that was judged: the same name; no encrypted DNS in it.
 * Of a destination judged by address the name is free, unless a rule denies it.
 *
 * Returns  NULL = fits, else a static sentence
 */
const char *px_check_hello(const struct policy *p, const struct px_tls_rules *rules,
			   const struct px_hello *h, const struct pol_host *host, uint16_t port,
			   const char *program);

/** The same for the Host field of a plain HTTP request inside a connection. */
const char *px_check_http_host(const struct policy *p, const struct pol_host *named,
			       const struct pol_host *host, uint16_t port, const char *program);

#endif
