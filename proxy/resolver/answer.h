/* SPDX-License-Identifier: MIT
 * From records to an answer: follows the chain of CNAMEs from the name that was asked and takes the
 * addresses at its end, and no other, whatever else a server has put into its reply. Pure. */
#ifndef ZW_PROXY_RESOLVER_ANSWER_H
#define ZW_PROXY_RESOLVER_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include "proxy/resolver/upstream.h"

#define RES_RRS_MAX	 100  /* records looked at in one reply */
#define RES_ADDRS_MAX	 64   /* as many as a res_answer carries */
#define RES_CNAMES_MAX	 16   /* hops of a chain */
#define RES_CNAMES_MAX_B 2048 /* bytes of their names */

enum res_type { RES_TYPE_A = 1, RES_TYPE_CNAME = 5, RES_TYPE_AAAA = 28 };

/** One record of an answer section; names canonical, without the last dot. */
struct res_rr {
	uint16_t type; /* enum res_type, others are not kept */
	uint32_t ttl_s;
	char owner[RES_NAME_MAX + 1];
	char target[RES_NAME_MAX + 1]; /* of a CNAME */
	struct res_addr addr;	       /* of A and AAAA */
};

/** What a server said to one question (a name and a type), or that it did not. */
struct res_reply {
	int error;		 /* 0, or ZW_E_TIMEOUT, ZW_E_EOF …: then nothing else is set */
	unsigned rcode;		 /* of DNS: 0 no error, 3 no such name */
	uint32_t negative_ttl_s; /* by the SOA record (RFC 2308), 0 = none came */
	size_t n_rrs;
	struct res_rr rrs[RES_RRS_MAX];
};

/** A result: of one question, or of both types together. */
struct res_result {
	unsigned status; /* ZW_RES_STATUS_* */
	uint32_t ttl_s;
	size_t n_addrs;
	struct res_addr addrs[RES_ADDRS_MAX];
	size_t cnames_len_b;
	char cnames[RES_CNAMES_MAX_B]; /* the chain's names, NUL between */
};

/**
 * Reads a name in wire form (RFC 1035 section 3.1, no compression) into lower case text.
 * Returns 0, or ZW_E_SYNTAX for what is no host name or underscore name.
 */
int res_name_from_wire(const uint8_t *p, size_t len, char ret[RES_NAME_MAX + 1]);

/** Judges one reply to @name and @type. A chain that loops or leads nowhere: FAILED. */
void res_answer_read(const struct res_reply *reply, const char *name, enum res_type type,
		     struct res_result *ret);

/** Puts the results for A and AAAA together: addresses of either win, then "no such name". */
void res_answer_merge(const struct res_result *a, const struct res_result *aaaa,
		      struct res_result *ret);

#endif
