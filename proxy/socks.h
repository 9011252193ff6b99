/* SPDX-License-Identifier: MIT
 * SOCKS5 (RFC 1928) and SOCKS4/4a requests, and the answers to them. CONNECT only, no login.
 * Pure, no allocation, any bytes are safe; a prefix gives 0 or what the whole gives. */
#ifndef ZW_PROXY_SOCKS_H
#define ZW_PROXY_SOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/policy/host.h"

#define PX_SOCKS_HELLO_MAX   257 /* version, count, 255 methods */
#define PX_SOCKS_REQUEST_MAX 600 /* longest SOCKS4a request with room to spare */
#define PX_SOCKS_REPLY_MAX   22

/** Reply codes of RFC 1928, section 6; for SOCKS4 all but GRANTED become 91. */
enum px_socks_reply {
	PX_SOCKS_GRANTED = 0,
	PX_SOCKS_FAILED = 1,
	PX_SOCKS_DENIED = 2,
	PX_SOCKS_NET_UNREACHABLE = 3,
	PX_SOCKS_HOST_UNREACHABLE = 4,
	PX_SOCKS_REFUSED = 5,
	PX_SOCKS_TTL_EXPIRED = 6,
	PX_SOCKS_BAD_COMMAND = 7,
	PX_SOCKS_BAD_ADDRESS = 8,
};

/** What the client wants to be connected to. */
struct px_socks_request {
	unsigned version; /* 4 or 5 */
	struct pol_host host;
	uint16_t port; /* 1 to 65535 */
};

/**
 * The client's list of methods (SOCKS5). To be answered by px_socks5_method_write().
 *
 * @ret_has_none  "no authentication" is among them
 * Returns        bytes used (> 0), 0 = incomplete, ZW_E_SYNTAX (not SOCKS5, no method)
 */
int px_socks5_hello_parse(const uint8_t *buf, size_t len, bool *ret_has_none);
/** The answer: method 0, or 255 = none acceptable (then the connection is closed). Returns 2. */
size_t px_socks5_method_write(bool has_none, uint8_t out[2]);

/**
 * The request behind the methods (SOCKS5), or the first bytes of a SOCKS4 connection. The first
 * byte tells the version. An address or name in any spelling goes through pol_host rules.
 *
 * Returns  bytes used (> 0), 0 = incomplete, < 0 = error; then px_socks_reply_of() of it is sent
 * Errors   ZW_E_SYNTAX, ZW_E_UNSUPPORTED (a command other than CONNECT), -EAFNOSUPPORT (a kind of
 *          address that RFC 1928 does not have)
 */
int px_socks_request_parse(const uint8_t *buf, size_t len, struct px_socks_request *ret);

/** Reply code of 0, an error of the parser, ZW_E_DENIED, ZW_E_TIMEOUT, or an errno of dialling. */
enum px_socks_reply px_socks_reply_of(int error);

/**
 * Writes the reply. The bound address in it is 0.0.0.0:0: nothing about the host is told.
 *
 * @version  4 or 5
 * Returns   bytes written
 */
size_t px_socks_reply_write(unsigned version, enum px_socks_reply code,
			    uint8_t out[PX_SOCKS_REPLY_MAX]);

#endif
