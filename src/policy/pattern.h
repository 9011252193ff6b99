/* SPDX-License-Identifier: MIT
 * Patterns of rules, taken apart. A pattern that could not match what its writer means is refused
 * with a sentence that says what to write instead. Pure; any bytes are safe. */
#ifndef ZW_POLICY_PATTERN_H
#define ZW_POLICY_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/policy/host.h"

#define POL_PATTERN_MAX 4096

enum pol_pattern_type {
	POL_PATTERN_NAME,	/* host */
	POL_PATTERN_SUBDOMAINS, /* *.host: whatever is below it, not the host itself */
	POL_PATTERN_ANY_HOST,	/* *:port */
	POL_PATTERN_NET,	/* an address (all bits) or a network */
};

struct pol_site_pattern {
	enum pol_pattern_type type;
	char name[POL_HOST_MAX + 1]; /* NAME, SUBDOMAINS: canonical, without the `*.` */
	struct pol_addr net;	     /* NET */
	unsigned bits;
	uint16_t port; /* 0 = none was written */
};

/**
 * host, *.host, host:port, *:port, address, address/bits; IPv6 with a port in brackets:
 * [::1]:443, [fd00::]/8:443, [fd00::/8]:443.
 *
 * @ret_why  on error: static text; may be NULL
 * Returns   0 or ZW_E_SYNTAX
 */
int pol_site_pattern_parse(const char *s, size_t len, struct pol_site_pattern *ret,
			   const char **ret_why);

/**
 * Checks the pattern of a socket rule: a whole path, or @ and an abstract name.
 *
 * @is_literal  the path was seen by zwatch, not written by hand: `*` and `?` are bytes of it
 * Returns      0 or ZW_E_SYNTAX
 */
int pol_socket_pattern_check(const char *s, size_t len, bool is_literal, const char **ret_why);

/**
 * One spelling for the folder that has two: /var/run is a link to /run. The result points into
 * @s, or is @s.
 *
 * @io_len  length of @s, then of the result
 */
const char *pol_path_canonical(const char *s, size_t *io_len);

#endif
