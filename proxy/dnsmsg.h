/* SPDX-License-Identifier: MIT
 * DNS messages (RFC 1035, RFC 6891) for the server inside the sandbox: one question in, one short
 * answer out. Pure, no allocation, any bytes are safe.
 *
 * Names are held as pol_host knows them: lower case, no trailing dot, no escapes. Other names exist
 * in DNS and are refused. */
#ifndef ZW_PROXY_DNSMSG_H
#define ZW_PROXY_DNSMSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/str.h"
#include "src/policy/host.h"

#define PX_DNS_NAME_WIRE_MAX 255
#define PX_DNS_QUERY_MAX     4096  /* more in one question is not answered */
#define PX_DNS_REPLY_MAX     512   /* every reply with an address or none fits */
#define PX_DNS_RECORDS_MAX   16384 /* one with records, over TCP */
#define PX_DNS_UDP_MAX	     1232  /* no fragments, DNS flag day 2020 */

enum px_dns_rcode {
	PX_DNS_NOERROR = 0,
	PX_DNS_FORMERR = 1,
	PX_DNS_SERVFAIL = 2,
	PX_DNS_NXDOMAIN = 3,
	PX_DNS_NOTIMP = 4,
	PX_DNS_REFUSED = 5,
	PX_DNS_BADVERS = 16,
};

enum px_dns_type {
	PX_DNS_A = 1,
	PX_DNS_PTR = 12,
	PX_DNS_MX = 15,
	PX_DNS_TXT = 16,
	PX_DNS_AAAA = 28,
	PX_DNS_SRV = 33,
	PX_DNS_SVCB = 64,
	PX_DNS_HTTPS = 65,
	PX_DNS_CAA = 257,
};

/** A question. */
struct px_dns_query {
	uint16_t id;
	bool want_recursion;	 /* RD, copied into the reply */
	bool no_checking;	 /* CD, likewise */
	bool has_edns;		 /* an OPT record came, one goes back */
	bool dnssec_ok;		 /* DO, copied */
	uint16_t udp_max;	 /* bytes that the asker takes by UDP: 512 to PX_DNS_UDP_MAX */
	uint16_t type;		 /* any number; enum px_dns_type names some */
	uint16_t qclass;	 /* 1 = IN */
	enum px_dns_rcode rcode; /* not NOERROR: the question deserves this answer and no other */
	struct pol_host
		host; /* name "" for the root; may be an address ("1.2.3.4."): no such name */
	size_t question_len_b; /* the question as it came, letter case included, goes back */
	uint8_t question[PX_DNS_NAME_WIRE_MAX + 4];
};

/**
 * Parses a query: QR 0, opcode 0, one question, no answers, at most an OPT, nothing behind it.
 *
 * Returns  0: a reply is due (see ret->rcode: FORMERR, NOTIMP for another opcode, REFUSED for
 *          another class or a name pol_host does not take, BADVERS); ZW_E_SYNTAX: not a query at
 *          all, to be dropped in silence
 */
int px_dns_query_parse(const uint8_t *msg, size_t len, struct px_dns_query *ret);

/**
 * Builds the reply.
 *
 * @rcode  NOERROR with @addr: one record A or AAAA, whichever @addr is; without: NODATA
 * @addr   may be NULL; ignored unless rcode is NOERROR
 * @ttl_s  of the record
 * Returns bytes written, at most PX_DNS_REPLY_MAX
 */
size_t px_dns_reply_write(const struct px_dns_query *q, enum px_dns_rcode rcode,
			  const struct pol_addr *addr, uint32_t ttl_s,
			  uint8_t out[PX_DNS_REPLY_MAX]);

/**
 * Builds a reply with records of the question's type.
 *
 * @records  two bytes of length before the data of each; from another process, and checked here
 * @size     of @out; what does not fit there is left out altogether and the reply says "truncated"
 *           (TC), so that the asker comes back by TCP. At least PX_DNS_REPLY_MAX
 * Returns   bytes written
 */
size_t px_dns_records_write(const struct px_dns_query *q, const uint8_t *records, size_t len,
			    uint32_t ttl_s, uint8_t *out, size_t size);

/** The address that a name of a reverse question (in-addr.arpa, ip6.arpa) stands for, or false. */
bool px_dns_reverse_addr(const char *name, struct pol_addr *ret);

/**
 * Reads a name at @off, following compression pointers, which must lead backwards.
 *
 * @ret_name  text in lower case, no trailing dot; "" for the root
 * @ret_end   offset behind the name at @off
 * Returns    0, ZW_E_SYNTAX, or ZW_E_UNSUPPORTED: well-formed, with bytes that pol_host does not
 *            take (@ret_end is set, @ret_name is "")
 */
int px_dns_name_read(const uint8_t *msg, size_t len, size_t off, char ret_name[POL_HOST_MAX + 1],
		     size_t *ret_end);
/** Writes a canonical name, uncompressed. Returns bytes, or ZW_E_SYNTAX, ZW_E_TOOBIG. */
int px_dns_name_write(const char *name, uint8_t out[PX_DNS_NAME_WIRE_MAX]);

/**
 * The next message of a TCP connection (two bytes of length before it, RFC 7766).
 *
 * Returns  bytes used (> 0) and @ret_msg inside @buf; 0 = incomplete; ZW_E_TOOBIG above
 *          PX_DNS_QUERY_MAX; ZW_E_SYNTAX for length 0
 */
int px_dns_frame(const uint8_t *buf, size_t len, struct zw_span *ret_msg);

#endif
