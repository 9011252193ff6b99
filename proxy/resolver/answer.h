/* SPDX-License-Identifier: MIT
 * From records to an answer: follows the chain of CNAMEs from the name that was asked and takes the
 * addresses or records at its end, and no other, whatever else a server has put into its reply. Pure. */
#ifndef ZW_PROXY_RESOLVER_ANSWER_H
#define ZW_PROXY_RESOLVER_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proxy/resolver/upstream.h"

#define RES_RRS_MAX	 100  /* records looked at in one reply */
#define RES_ADDRS_MAX	 64   /* as many as a res_answer carries */
#define RES_CNAMES_MAX	 16   /* hops of a chain */
#define RES_CNAMES_MAX_B 2048 /* bytes of their names */
#define RES_DATA_MAX	 8192 /* bytes of records that are no addresses, in one answer */

enum res_type {
	RES_TYPE_ADDR = 0, /* of a lookup: A and AAAA together */
	RES_TYPE_A = 1,
	RES_TYPE_CNAME = 5,
	RES_TYPE_PTR = 12,
	RES_TYPE_MX = 15,
	RES_TYPE_TXT = 16,
	RES_TYPE_AAAA = 28,
	RES_TYPE_SRV = 33,
	RES_TYPE_CAA = 257,
};

/** Whether a lookup of this type is made at all. */
bool res_type_is_known(unsigned type);

/** One record of an answer section; names canonical, without the last dot. */
struct res_rr {
	uint16_t type; /* enum res_type, others are not kept */
	uint32_t ttl_s;
	char owner[RES_NAME_MAX + 1];
	char target[RES_NAME_MAX + 1]; /* of a CNAME */
	struct res_addr addr;	       /* of A and AAAA */
	size_t data_off, data_len;     /* of others: in the reply's data, names uncompressed */
};

/** What a server said to one question (a name and a type), or that it did not. */
struct res_reply {
	int error;		 /* 0, or ZW_E_TIMEOUT, ZW_E_EOF …: then only @why is set */
	const char *why;	 /* of an error: static text, or NULL */
	unsigned rcode;		 /* of DNS: 0 no error, 3 no such name */
	uint32_t negative_ttl_s; /* by the SOA record (RFC 2308), 0 = none came */
	size_t n_rrs;
	struct res_rr rrs[RES_RRS_MAX];
	size_t data_len;
	uint8_t data[RES_DATA_MAX];
};

/** A result: of one question, or of both types together. */
struct res_result {
	unsigned status; /* ZW_RES_STATUS_* */
	const char *why; /* of a failure: static text, or NULL */
	uint32_t ttl_s;
	size_t n_addrs;
	struct res_addr addrs[RES_ADDRS_MAX];
	size_t cnames_len_b;
	char cnames[RES_CNAMES_MAX_B]; /* the chain's names, NUL between */
	size_t records_len_b;
	uint8_t records[RES_DATA_MAX]; /* of other types: two bytes of length before each */
};

/** Judges one reply to @name and @type. A chain that loops or leads nowhere: FAILED. */
void res_answer_read(const struct res_reply *reply, const char *name, enum res_type type,
		     struct res_result *ret);

/** Puts the results for A and AAAA together: addresses of either win, then "no such name". */
void res_answer_merge(const struct res_result *a, const struct res_result *aaaa,
		      struct res_result *ret);

#endif
