/* SPDX-License-Identifier: MIT
 * DNS messages (RFC 1035, RFC 6891) to and from servers outside: one question out, one reply in.
 * Pure, no allocation, any bytes are safe. What is kept of a reply is taken apart and put together
 * anew: no byte of it goes on as it came, but the strings of TXT and CAA. */
#ifndef ZW_PROXY_RESOLVER_WIRE_H
#define ZW_PROXY_RESOLVER_WIRE_H

#include "proxy/resolver/answer.h"

#define RES_WIRE_QUERY_MAX 512

/**
 * Builds a question: id 0 (RFC 8484 section 4.1), recursion wanted, EDNS, padded to a multiple of
 * 128 bytes (RFC 8467).
 *
 * @name    canonical
 * Returns  bytes written, or ZW_E_SYNTAX, ZW_E_TOOBIG
 */
int res_wire_query(const char *name, enum res_type type, uint8_t out[RES_WIRE_QUERY_MAX]);

/**
 * Reads a reply to that question. All of the message has to be well-formed, and the question has to
 * be the one that was asked.
 *
 * @age_s   how long it has lain in a cache on the way (RFC 8484 section 5.1)
 * @ret     filled on success; its error is 0
 * Returns  0, or ZW_E_SYNTAX: not a reply, another question, truncated, malformed
 */
int res_wire_reply(const uint8_t *msg, size_t len, const char *name, enum res_type type,
		   uint32_t age_s, struct res_reply *ret);

/**
 * Reads the data of one record and writes it without compression, names in lower case.
 *
 * @msg, @len   the message; the data lies at @off, @data_len bytes of it
 * Returns      bytes written (>= 0), or ZW_E_SYNTAX, ZW_E_UNSUPPORTED (a type or a name that is not
 *              passed on), ZW_E_TOOBIG
 */
int res_wire_data(const uint8_t *msg, size_t len, size_t off, size_t data_len, uint16_t type,
		  uint8_t *out, size_t size);

#endif
