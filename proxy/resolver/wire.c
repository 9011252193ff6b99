/* SPDX-License-Identifier: MIT */
#include "proxy/resolver/wire.h"

#include <stdbool.h>

#include "proxy/dnsmsg.h"
#include "src/base/err.h"
#include "src/base/mem.h"

enum { HEAD_LEN = 12, RR_HEAD_LEN = 10, TYPE_SOA = 6, TYPE_OPT = 41, CLASS_IN = 1 };
enum { OPT_PADDING = 12, PAD_TO = 128, EDNS_SIZE = 1232 };
enum { FLAG_QR = 0x8000, OPCODE = 0x7800, FLAG_TC = 0x0200, FLAG_RD = 0x0100, RCODE = 0xf };
enum { CAA_TAG_MAX = 15, RECORDS_MAX = 1000 /* of all sections */ };

static unsigned u16_at(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static uint32_t u32_at(const uint8_t *p)
{
	return (uint32_t)u16_at(p) << 16 | u16_at(p + 2);
}

static uint8_t *put_u16(uint8_t *p, unsigned value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
	return p + 2;
}

int res_wire_query(const char *name, enum res_type type, uint8_t out[RES_WIRE_QUERY_MAX])
{
	uint8_t *p = out + HEAD_LEN;
	int n = px_dns_name_write(name, p);

	if (n < 0)
		return n;
	memset(out, 0, HEAD_LEN);
	put_u16(out + 2, FLAG_RD);
	out[5] = 1;  /* questions */
	out[11] = 1; /* additional records */
	p = put_u16(p + n, (unsigned)type);
	p = put_u16(p, CLASS_IN);
	*p++ = 0; /* the root: the OPT record belongs to no name */
	p = put_u16(p, TYPE_OPT);
	p = put_u16(p, EDNS_SIZE);
	p = put_u16(p, 0);
	p = put_u16(p, 0);
	size_t used = (size_t)(p - out) + 2 + 4;
	size_t padding = (PAD_TO - used % PAD_TO) % PAD_TO;

	p = put_u16(p, (unsigned)(4 + padding));
	p = put_u16(p, OPT_PADDING);
	p = put_u16(p, (unsigned)padding);
	memset(p, 0, padding);
	return (int)(used + padding);
}

/* -- the data of records ------------------------------------------------------------------------ */

/* Copies @head bytes and the name behind them, which must end the data. */
static int data_with_name(const uint8_t *msg, size_t len, size_t off, size_t data_len, size_t head,
			  uint8_t *out, size_t size)
{
	char name[POL_HOST_MAX + 1];
	size_t end;

	if (data_len <= head)
		return ZW_E_SYNTAX;
	if (size < head + PX_DNS_NAME_WIRE_MAX)
		return ZW_E_TOOBIG;
	int r = px_dns_name_read(msg, len, off + head, name, &end);
	if (r == 0 && end != off + data_len)
		r = ZW_E_SYNTAX;
	if (r < 0)
		return r;
	memcpy(out, msg + off, head);
	r = px_dns_name_write(name, out + head);
	return r < 0 ? r : r + (int)head;
}

/* One string or more, that fill the data. */
static int data_strings(const uint8_t *p, size_t len, uint8_t *out, size_t size)
{
	if (len == 0)
		return ZW_E_SYNTAX;
	for (size_t at = 0; at < len;) {
		at += 1 + (size_t)p[at];
		if (at > len)
			return ZW_E_SYNTAX;
	}
	if (len > size)
		return ZW_E_TOOBIG;
	memcpy(out, p, len);
	return (int)len;
}

/* RFC 8659 section 4.1. */
static int data_caa(const uint8_t *p, size_t len, uint8_t *out, size_t size)
{
	if (len < 2 || p[1] == 0 || p[1] > CAA_TAG_MAX || 2 + (size_t)p[1] > len)
		return ZW_E_SYNTAX;
	for (size_t i = 0; i < p[1]; i++) {
		uint8_t c = p[2 + i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')))
			return ZW_E_SYNTAX;
	}
	if (len > size)
		return ZW_E_TOOBIG;
	memcpy(out, p, len);
	return (int)len;
}

int res_wire_data(const uint8_t *msg, size_t len, size_t off, size_t data_len, uint16_t type,
		  uint8_t *out, size_t size)
{
	if (off > len || data_len > len - off)
		return ZW_E_SYNTAX;
	switch (type) {
	case RES_TYPE_PTR:
		return data_with_name(msg, len, off, data_len, 0, out, size);
	case RES_TYPE_MX:
		return data_with_name(msg, len, off, data_len, 2, out, size);
	case RES_TYPE_SRV:
		return data_with_name(msg, len, off, data_len, 6, out, size);
	case RES_TYPE_TXT:
		return data_strings(msg + off, data_len, out, size);
	case RES_TYPE_CAA:
		return data_caa(msg + off, data_len, out, size);
	default:
		return ZW_E_UNSUPPORTED;
	}
}

/* -- replies ------------------------------------------------------------------------------------ */

/* A record, its data not looked at yet. */
struct record {
	char owner[POL_HOST_MAX + 1];
	bool is_odd; /* its owner is no name that zwatch takes */
	uint16_t type, class;
	uint32_t ttl_s;
	size_t data_off, data_len;
};

static int record_read(const uint8_t *msg, size_t len, size_t *off, struct record *ret)
{
	size_t at;
	int r = px_dns_name_read(msg, len, *off, ret->owner, &at);

	ret->is_odd = r == ZW_E_UNSUPPORTED;
	if (r < 0 && !ret->is_odd)
		return r;
	if (len - at < RR_HEAD_LEN)
		return ZW_E_SYNTAX;
	ret->type = (uint16_t)u16_at(msg + at);
	ret->class = (uint16_t)u16_at(msg + at + 2);
	ret->ttl_s = u32_at(msg + at + 4);
	/* RFC 2181 section 8: the highest bit set means 0. */
	if (ret->ttl_s > INT32_MAX)
		ret->ttl_s = 0;
	ret->data_len = u16_at(msg + at + 8);
	ret->data_off = at + RR_HEAD_LEN;
	if (ret->data_len > len - ret->data_off)
		return ZW_E_SYNTAX;
	*off = ret->data_off + ret->data_len;
	return 0;
}

static int addr_read(const uint8_t *data, const struct record *r, struct res_rr *rr)
{
	size_t size = r->type == RES_TYPE_A ? 4 : 16;

	if (r->data_len != size)
		return ZW_E_SYNTAX;
	rr->addr = (struct res_addr){.family = size == 4 ? 4 : 6};
	memcpy(rr->addr.b, data, size);
	return 1;
}

static int cname_read(const uint8_t *msg, size_t len, const struct record *r, struct res_rr *rr)
{
	size_t end;
	int e = px_dns_name_read(msg, len, r->data_off, rr->target, &end);

	/* An alias of a name that zwatch does not take leads nowhere. */
	if (e == ZW_E_UNSUPPORTED)
		return 0;
	return e < 0 ? e : end == r->data_off + r->data_len ? 1 : ZW_E_SYNTAX;
}

/* Returns 1 = it is kept in @rr, 0 = left out, or ZW_E_SYNTAX. */
static int rr_read(const uint8_t *msg, size_t len, const struct record *r, struct res_reply *reply,
		   struct res_rr *rr)
{
	*rr = (struct res_rr){.type = r->type, .ttl_s = r->ttl_s};
	zw_strlcpy(rr->owner, r->owner, sizeof(rr->owner));
	switch (r->type) {
	case RES_TYPE_A:
	case RES_TYPE_AAAA:
		return addr_read(msg + r->data_off, r, rr);
	case RES_TYPE_CNAME:
		return cname_read(msg, len, r, rr);
	default:
		break;
	}
	int n = res_wire_data(msg, len, r->data_off, r->data_len, r->type,
			      reply->data + reply->data_len, sizeof(reply->data) - reply->data_len);
	if (n < 0)
		return n == ZW_E_SYNTAX ? n : 0;
	rr->data_off = reply->data_len;
	rr->data_len = (size_t)n;
	reply->data_len += (size_t)n;
	return 1;
}

static int answers_read(const uint8_t *msg, size_t len, size_t *off, unsigned n, uint32_t age_s,
			struct res_reply *ret)
{
	for (unsigned i = 0; i < n; i++) {
		struct record r;
		int e = record_read(msg, len, off, &r);

		if (e < 0)
			return e;
		if (r.is_odd || r.class != CLASS_IN || ret->n_rrs >= RES_RRS_MAX)
			continue;
		r.ttl_s = r.ttl_s > age_s ? r.ttl_s - age_s : 0;
		e = rr_read(msg, len, &r, ret, &ret->rrs[ret->n_rrs]);
		if (e < 0)
			return e;
		ret->n_rrs += (size_t)e;
	}
	return 0;
}

/* RFC 2308 section 5: the SOA's own time, or its last field if that is less. */
static void soa_read(const uint8_t *msg, const struct record *r, struct res_reply *ret)
{
	if (r->data_len < 20 + 2)
		return;
	uint32_t minimum_s = u32_at(msg + r->data_off + r->data_len - 4);

	ret->negative_ttl_s = r->ttl_s < minimum_s ? r->ttl_s : minimum_s;
}

/* Authority and additional records: how long "no" is good for, and the rest of the rcode. */
static int others_read(const uint8_t *msg, size_t len, size_t *off, unsigned n_authority,
		       unsigned n_additional, struct res_reply *ret)
{
	bool has_opt = false;

	for (unsigned i = 0; i < n_authority + n_additional; i++) {
		struct record r;
		int e = record_read(msg, len, off, &r);

		if (e < 0)
			return e;
		if (i < n_authority && r.type == TYPE_SOA && r.class == CLASS_IN)
			soa_read(msg, &r, ret);
		if (i < n_authority || r.type != TYPE_OPT)
			continue;
		if (has_opt || r.is_odd || r.owner[0] != '\0')
			return ZW_E_SYNTAX;
		has_opt = true;
		ret->rcode |= u32_at(msg + r.data_off - 6) >> 24 << 4;
	}
	return 0;
}

static int question_check(const uint8_t *msg, size_t len, size_t *off, const char *name,
			  enum res_type type)
{
	char asked[POL_HOST_MAX + 1];
	int r = px_dns_name_read(msg, len, *off, asked, off);

	if (r < 0 || len - *off < 4 || strcmp(asked, name) != 0 ||
	    u16_at(msg + *off) != (unsigned)type || u16_at(msg + *off + 2) != CLASS_IN)
		return ZW_E_SYNTAX;
	*off += 4;
	return 0;
}

int res_wire_reply(const uint8_t *msg, size_t len, const char *name, enum res_type type,
		   uint32_t age_s, struct res_reply *ret)
{
	size_t off = HEAD_LEN;

	if (len < HEAD_LEN)
		return ZW_E_SYNTAX;
	unsigned flags = u16_at(msg + 2), n_answers = u16_at(msg + 6),
		 n_authority = u16_at(msg + 8), n_additional = u16_at(msg + 10);
	if (!(flags & FLAG_QR) || flags & (OPCODE | FLAG_TC) || u16_at(msg + 4) != 1 ||
	    n_answers + n_authority + n_additional > RECORDS_MAX)
		return ZW_E_SYNTAX;
	ret->error = 0;
	ret->rcode = flags & RCODE;
	ret->negative_ttl_s = 0;
	ret->n_rrs = ret->data_len = 0;
	int r = question_check(msg, len, &off, name, type);
	if (r == 0)
		r = answers_read(msg, len, &off, n_answers, age_s, ret);
	if (r == 0)
		r = others_read(msg, len, &off, n_authority, n_additional, ret);
	return r == 0 && off != len ? ZW_E_SYNTAX : r;
}
