/* SPDX-License-Identifier: MIT
 * Host names and addresses in one canonical form: the form that is judged, shown, recorded,
 * resolved and dialled. Pure; any bytes are safe. */
#ifndef ZW_POLICY_HOST_H
#define ZW_POLICY_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POL_HOST_MAX 253

enum pol_family { POL_FAMILY_NONE = 0, POL_FAMILY_V4 = 4, POL_FAMILY_V6 = 6 };

/** An address; IPv4 in the first 4 bytes, network order, the rest zero. */
struct pol_addr {
	enum pol_family family;
	uint8_t b[16];
};

/** A host as a client may name it. */
struct pol_host {
	struct pol_addr addr; /* family NONE for a name */
	char name[POL_HOST_MAX +
		  1]; /* lower case, no trailing dot; of an address: its usual text */
};

/**
 * Canonicalises a host as found in a URL, a CONNECT line, SOCKS5, a DNS question or a rule.
 * An IP literal in every spelling that inet_aton(3) or a URL parser takes (1.2.3.4, 127.1,
 * 0x7f.1, 017700000001, 2130706433, [::1], ::ffff:1.2.3.4 …) becomes an address; IPv4-mapped IPv6
 * becomes IPv4. A last label that is all digits or 0x… and no valid address is an error, never a
 * name. Names: letters, digits, `-`, `_`, dots (RFC 1123 and the underscore of service names);
 * labels 1 to 63 bytes, 253 in all. NUL, controls, blanks, non-ASCII: error (IDNA is done by the
 * settings, before).
 *
 * Returns  0, ZW_E_SYNTAX or ZW_E_TOOBIG
 */
int pol_host_parse(const char *s, size_t len, struct pol_host *ret);

/** Same host: same address, or same name. */
bool pol_host_eq(const struct pol_host *a, const struct pol_host *b);
/** Whether this is `localhost` or below it (RFC 6761): a loopback address without a lookup. */
bool pol_host_is_localhost(const struct pol_host *h);
/** An address as a host, its usual text as the name; IPv4-mapped IPv6 becomes IPv4. */
void pol_host_from_addr(const struct pol_addr *a, struct pol_host *ret);

/** What kind of place an address is; the first four words are refused unless a rule names it. */
enum pol_addr_kind {
	POL_ADDR_PUBLIC,
	POL_ADDR_LOOPBACK,
	POL_ADDR_PRIVATE,  /* RFC 1918, RFC 6598, ULA, link-local, and what wraps one of these */
	POL_ADDR_METADATA, /* 169.254.169.254 and its like */
	POL_ADDR_SPECIAL,  /* multicast, documentation, reserved, this network */
	POL_ADDR_FAKE,	   /* 198.18.0.0/15: zwatch's own answers inside */
};

/**
 * Classifies an address by the IANA special-purpose registries (RFC 6890 and successors). IPv6:
 * only 2000::/3 is public; IPv4-mapped, NAT64 (64:ff9b::/96), 6to4 and Teredo are unwrapped and
 * judged by what is inside.
 */
enum pol_addr_kind pol_addr_classify(const struct pol_addr *a);
/**
 * The IPv4 address that is really meant by an IPv4-mapped or NAT64 (64:ff9b::/96) address.
 *
 * Returns  whether @a is one; @ret is written only then
 */
bool pol_addr_unwrap(const struct pol_addr *a, struct pol_addr *ret);
/** Word for a record or a reason: "private address". Static storage. */
const char *pol_addr_kind_word(enum pol_addr_kind kind);

/** Usual text of an address (inet_ntop(3)) into @out of at least 46 bytes. */
void pol_addr_format(const struct pol_addr *a, char *out, size_t size);
/** Whether @a lies in @net/@bits; families must be the same. */
bool pol_addr_in(const struct pol_addr *a, const struct pol_addr *net, unsigned bits);

#endif
