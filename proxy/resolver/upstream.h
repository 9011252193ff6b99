/* SPDX-License-Identifier: MIT
 * The lines of `network.dns.upstreams`: which name servers are asked, and how each is known to be
 * the right one. Pure. */
#ifndef ZW_PROXY_RESOLVER_UPSTREAM_H
#define ZW_PROXY_RESOLVER_UPSTREAM_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/str.h"

#define RES_UPSTREAMS_MAX 32  /* those of all zones */
#define RES_NAME_MAX	  253 /* bytes of a name without its last dot */

/** An address as the messages carry it: 17 bytes. */
struct res_addr {
	uint8_t family; /* 4 or 6 */
	uint8_t b[16];	/* network order; IPv4 in the first four, the rest zero */
};

enum res_upstream_kind {
	RES_UPSTREAM_DOT,    /* DNS over TLS, authenticated */
	RES_UPSTREAM_DOH,    /* DNS over HTTPS (RFC 8484), authenticated */
	RES_UPSTREAM_SYSTEM, /* "system": stands for the host's own name servers */
	RES_UPSTREAM_PLAIN,  /* one of those: clear text, as the user asked for by name */
};

/** One name server. */
struct res_upstream {
	enum res_upstream_kind kind;
	struct res_addr addr; /* not SYSTEM */
	uint16_t port;
	char auth_name[RES_NAME_MAX + 1]; /* name in its certificate; "" = known by its pin alone */
	uint8_t pin[32];		  /* SHA-256 of its public key */
	int has_pin;
	char ca_file[512];	     /* "" = the system's authorities */
	char path[256];		     /* DOH: "/dns-query" */
	char zone[RES_NAME_MAX + 1]; /* names at and below it are asked here alone; "" = all */
	char text[96];		     /* for messages: "9.9.9.9#dns.quad9.net" */
};

/**
 * Parses one line: tls://ADDR[:PORT]#NAME[;pin-sha256=BASE64][;ca=FILE], IPv6 in brackets;
 * https://HOST[:PORT]/PATH[;addr=ADDR][;pin-sha256=BASE64][;ca=FILE], with addr unless HOST is an
 * address: its name is looked up by nobody; system. A TLS server without a name and without a pin
 * could be anybody, and is an error. Before it may stand "ZONE=".
 *
 * @ret_why  on error: a static sentence. May be NULL
 * Returns   0 or ZW_E_SYNTAX, ZW_E_TOOBIG
 */
int res_upstream_parse(struct zw_span line, struct res_upstream *ret, const char **ret_why);

/**
 * Reads the `nameserver` lines of resolv.conf(5): at most @max of them, others are ignored.
 * Returns how many were written to @ret.
 */
size_t res_resolvconf_parse(struct zw_span text, struct res_upstream *ret, size_t max);

/** Takes the first line off @rest. Returns 0 when there is none. */
int res_line_next(struct zw_span *rest, struct zw_span *ret_line);

#endif
