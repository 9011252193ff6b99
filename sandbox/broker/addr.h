/* SPDX-License-Identifier: MIT
 * The address of a connect(), as the agent gave it: hostile bytes, made sense of once, here.
 * Pure. What the kernel would refuse is refused with the kernel's own errno. */
#ifndef ZW_SANDBOX_BROKER_ADDR_H
#define ZW_SANDBOX_BROKER_ADDR_H

#include <stddef.h>
#include <stdint.h>

#include "src/policy/host.h"

/** The longest address the kernel takes (sizeof(struct sockaddr_storage)). */
#define BRK_ADDR_MAX 128
#define BRK_SUN_MAX  108

enum brk_addr_kind {
	BRK_ADDR_PATH,	   /* Unix, in the file system */
	BRK_ADDR_ABSTRACT, /* Unix, a name of the network namespace */
	BRK_ADDR_IP,
	BRK_ADDR_UNSPEC, /* dissolves an association */
	BRK_ADDR_NETLINK,
};

struct brk_addr {
	enum brk_addr_kind kind;
	char name[BRK_SUN_MAX + 1]; /* PATH: NUL-terminated; ABSTRACT: without the leading NUL */
	size_t name_len;
	struct pol_addr ip; /* IP: an IPv4-mapped address counts as IPv4 */
	uint16_t port;	    /* IP: host order */
	uint8_t raw[BRK_ADDR_MAX];
	size_t raw_len;
};

/**
 * Parses the address of a connect().
 *
 * @domain, @type  of the socket itself (SO_DOMAIN, SO_TYPE), never taken from the address
 * @raw, @len      bytes copied from the caller, at most BRK_ADDR_MAX
 * Returns         0, or the kernel's -EINVAL, -EAFNOSUPPORT
 */
int brk_addr_parse(int domain, int type, const uint8_t *raw, size_t len, struct brk_addr *ret);

/**
 * Text of an address for records: a path as it is, "@name" with NUL bytes written as \x00 and the
 * backslash as \x5c, so that no two names have one text,
 * "1.2.3.4:80", "[::1]:80", "" for the rest. Always terminated.
 */
void brk_addr_format(const struct brk_addr *a, char *out, size_t size);
/** The same for an abstract name alone. */
void brk_abstract_format(const char *name, size_t len, char *out, size_t size);

/** IPv4 address in host order; 0 for IPv6. */
uint32_t brk_addr_v4(const struct brk_addr *a);

/**
 * Writes a socket address for IPv4 @ip (host order) that a socket of @domain takes: plain, or
 * IPv4-mapped for AF_INET6. @out has room for BRK_ADDR_MAX bytes. Returns its length.
 */
size_t brk_addr_make_v4(int domain, uint32_t ip, uint16_t port, uint8_t *out);

#endif
