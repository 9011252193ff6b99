/* SPDX-License-Identifier: MIT */
#include "proxy/dnsmsg.h"

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"

enum {
	HEAD_LEN = 12,
	RECORD_HEAD_LEN = 12,
	OPT_LEN = 11,
	TYPE_OPT = 41,
	CLASS_IN = 1,
	LABEL_MAX = 63
};
enum { FLAG_QR = 0x8000, FLAG_TC = 0x0200, FLAG_RD = 0x0100, FLAG_RA = 0x0080, FLAG_CD = 0x0010 };
enum { EDNS_DO = 0x8000, UDP_MIN = 512 };

static unsigned u16_at(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static uint8_t *put_u16(uint8_t *p, unsigned value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
	return p + 2;
}

/* Bytes of a name that a pol_host has, lower-cased; 0 = another byte. */
static char plain_byte(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_')
		return (char)c;
	return '\0';
}

/* A name while it is read. */
struct name {
	char text[PX_DNS_NAME_WIRE_MAX]; /* with a dot behind each label */
	size_t len;
	bool is_odd;
};

static int add_label(struct name *n, const uint8_t *label, size_t len)
{
	/* On the wire: these labels, their lengths, and the root. */
	if (n->len + len + 1 + 1 > PX_DNS_NAME_WIRE_MAX)
		return ZW_E_SYNTAX;
	for (size_t i = 0; i < len; i++) {
		char c = plain_byte(label[i]);

		n->is_odd = n->is_odd || c == '\0';
		n->text[n->len++] = c;
	}
	n->text[n->len++] = '.';
	return 0;
}

/* Reads labels up to the root. Every pointer must lead before the name that has it, so that the
 * walk ends (RFC 1035, section 4.1.4). */
static int read_labels(const uint8_t *msg, size_t len, size_t off, struct name *n, size_t *ret_end)
{
	size_t start = off, end = 0;

	for (;;) {
		size_t label;

		if (off >= len)
			return ZW_E_SYNTAX;
		label = msg[off];
		if (label >= 0xc0) {
			if (off + 2 > len)
				return ZW_E_SYNTAX;
			if (end == 0)
				end = off + 2;
			off = u16_at(msg + off) & 0x3fff;
			if (off >= start || off < HEAD_LEN)
				return ZW_E_SYNTAX;
			start = off;
			continue;
		}
		if (label > LABEL_MAX || off + 1 + label > len)
			return ZW_E_SYNTAX;
		if (label == 0) {
			*ret_end = end != 0 ? end : off + 1;
			return 0;
		}
		if (add_label(n, msg + off + 1, label) < 0)
			return ZW_E_SYNTAX;
		off += 1 + label;
	}
}

int px_dns_name_read(const uint8_t *msg, size_t len, size_t off, char ret_name[POL_HOST_MAX + 1],
		     size_t *ret_end)
{
	struct name n = {.len = 0, .is_odd = false};
	int r = read_labels(msg, len, off, &n, ret_end);

	if (r < 0)
		return r;
	if (n.len > 0)
		n.len--;
	zw_span_cpy(ret_name, POL_HOST_MAX + 1, zw_span_n(n.text, n.is_odd ? 0 : n.len));
	return n.is_odd ? ZW_E_UNSUPPORTED : 0;
}

int px_dns_name_write(const char *name, uint8_t out[PX_DNS_NAME_WIRE_MAX])
{
	size_t off = 0, len = strlen(name);

	if (len > POL_HOST_MAX)
		return ZW_E_TOOBIG;
	while (*name != '\0') {
		size_t label = strcspn(name, ".");

		if (label == 0 || label > LABEL_MAX)
			return ZW_E_SYNTAX;
		out[off++] = (uint8_t)label;
		memcpy(out + off, name, label);
		off += label;
		name += label;
		if (*name == '.' && *++name == '\0')
			return ZW_E_SYNTAX;
	}
	out[off++] = 0;
	return (int)off;
}

/* The record behind the question, which can only be an OPT (RFC 6891, section 6.1.2). Returns its
 * end, or 0 when it is something else. */
static size_t parse_opt(const uint8_t *msg, size_t len, size_t off, struct px_dns_query *q)
{
	const uint8_t *p = msg + off;
	size_t data;

	if (len - off < OPT_LEN || p[0] != 0 || u16_at(p + 1) != TYPE_OPT)
		return 0;
	data = u16_at(p + 9);
	if (len - off - OPT_LEN < data)
		return 0;
	q->has_edns = true;
	q->udp_max = (uint16_t)u16_at(p + 3);
	if (q->udp_max < UDP_MIN)
		q->udp_max = UDP_MIN;
	if (q->udp_max > PX_DNS_UDP_MAX)
		q->udp_max = PX_DNS_UDP_MAX;
	q->dnssec_ok = (u16_at(p + 7) & EDNS_DO) != 0;
	if (p[6] != 0)
		q->rcode = PX_DNS_BADVERS;
	return off + OPT_LEN + data;
}

/* The name of the question as a host. */
static enum px_dns_rcode read_host(const char *name, struct pol_host *ret)
{
	*ret = (struct pol_host){.addr.family = POL_FAMILY_NONE};
	if (name[0] == '\0')
		return PX_DNS_NOERROR;
	return pol_host_parse(name, strlen(name), ret) < 0 ? PX_DNS_REFUSED : PX_DNS_NOERROR;
}

static enum px_dns_rcode parse_question(const uint8_t *msg, size_t len, struct px_dns_query *q)
{
	char name[POL_HOST_MAX + 1];
	size_t end = 0;
	int r = px_dns_name_read(msg, len, HEAD_LEN, name, &end);

	if (r == ZW_E_SYNTAX || len - end < 4)
		return PX_DNS_FORMERR;
	q->type = (uint16_t)u16_at(msg + end);
	q->qclass = (uint16_t)u16_at(msg + end + 2);
	q->question_len_b = end + 4 - HEAD_LEN;
	memcpy(q->question, msg + HEAD_LEN, q->question_len_b);
	end += 4;
	if (u16_at(msg + 10) == 1)
		end = parse_opt(msg, len, end, q);
	if (end != len)
		return PX_DNS_FORMERR;
	if (q->rcode != PX_DNS_NOERROR)
		return q->rcode;
	if (r < 0 || q->qclass != CLASS_IN)
		return PX_DNS_REFUSED;
	return read_host(name, &q->host);
}

int px_dns_query_parse(const uint8_t *msg, size_t len, struct px_dns_query *ret)
{
	struct px_dns_query q = {.rcode = PX_DNS_NOERROR, .udp_max = UDP_MIN};
	unsigned flags;

	if (len < HEAD_LEN)
		return ZW_E_SYNTAX;
	flags = u16_at(msg + 2);
	if (flags & FLAG_QR)
		return ZW_E_SYNTAX;
	q.id = (uint16_t)u16_at(msg);
	q.want_recursion = (flags & FLAG_RD) != 0;
	q.no_checking = (flags & FLAG_CD) != 0;
	if ((flags >> 11 & 15) != 0)
		q.rcode = PX_DNS_NOTIMP;
	else if (u16_at(msg + 4) != 1 || u16_at(msg + 6) != 0 || u16_at(msg + 8) != 0 ||
		 u16_at(msg + 10) > 1 || len > PX_DNS_QUERY_MAX)
		q.rcode = PX_DNS_FORMERR;
	else
		q.rcode = parse_question(msg, len, &q);
	*ret = q;
	return 0;
}

static uint8_t *put_record(uint8_t *p, unsigned type, uint32_t ttl_s, const uint8_t *data,
			   size_t len)
{
	p = put_u16(p, 0xc000 | HEAD_LEN); /* the name of the question */
	p = put_u16(p, type);
	p = put_u16(p, CLASS_IN);
	p = put_u16(p, ttl_s >> 16);
	p = put_u16(p, ttl_s & 0xffff);
	p = put_u16(p, (unsigned)len);
	memcpy(p, data, len);
	return p + len;
}

static uint8_t *put_answer(uint8_t *p, const struct pol_addr *addr, uint32_t ttl_s)
{
	bool is_v4 = addr->family == POL_FAMILY_V4;

	return put_record(p, is_v4 ? PX_DNS_A : PX_DNS_AAAA, ttl_s, addr->b, is_v4 ? 4 : 16);
}

/* Head and question. */
static uint8_t *put_head(const struct px_dns_query *q, unsigned flags, unsigned n_answers,
			 uint8_t *out)
{
	uint8_t *p = put_u16(out, q->id);

	p = put_u16(p, FLAG_QR | FLAG_RA | (q->want_recursion ? FLAG_RD : 0) |
			       (q->no_checking ? FLAG_CD : 0) | flags);
	p = put_u16(p, q->question_len_b > 0);
	p = put_u16(p, n_answers);
	p = put_u16(p, 0);
	p = put_u16(p, q->has_edns);
	memcpy(p, q->question, q->question_len_b);
	return p + q->question_len_b;
}

static uint8_t *put_opt(uint8_t *p, const struct px_dns_query *q, enum px_dns_rcode rcode)
{
	*p++ = 0;
	p = put_u16(p, TYPE_OPT);
	p = put_u16(p, PX_DNS_UDP_MAX);
	p = put_u16(p, (unsigned)(rcode >> 4 & 0xff) << 8);
	p = put_u16(p, q->dnssec_ok ? EDNS_DO : 0);
	return put_u16(p, 0);
}

size_t px_dns_reply_write(const struct px_dns_query *q, enum px_dns_rcode rcode,
			  const struct pol_addr *addr, uint32_t ttl_s,
			  uint8_t out[PX_DNS_REPLY_MAX])
{
	bool has_answer = rcode == PX_DNS_NOERROR && addr != NULL &&
			  addr->family != POL_FAMILY_NONE && q->question_len_b > 0;
	uint8_t *p = put_head(q, (unsigned)rcode & 15, has_answer, out);

	if (has_answer)
		p = put_answer(p, addr, ttl_s);
	if (q->has_edns)
		p = put_opt(p, q, rcode);
	return (size_t)(p - out);
}

/* Records and their bytes on the wire; false: what came is no list of them. */
static bool records_measure(const uint8_t *records, size_t len, unsigned *ret_n, size_t *ret_bytes)
{
	*ret_n = 0;
	*ret_bytes = 0;
	for (size_t at = 0; at < len;) {
		if (len - at < 2 || len - at - 2 < u16_at(records + at))
			return false;
		*ret_bytes += RECORD_HEAD_LEN + u16_at(records + at);
		at += 2 + u16_at(records + at);
		++*ret_n;
	}
	return true;
}

size_t px_dns_records_write(const struct px_dns_query *q, const uint8_t *records, size_t len,
			    uint32_t ttl_s, uint8_t *out, size_t size)
{
	unsigned n;
	size_t bytes;

	if (!records_measure(records, len, &n, &bytes))
		return px_dns_reply_write(q, PX_DNS_SERVFAIL, NULL, 0, out);
	bool fits = HEAD_LEN + q->question_len_b + bytes + OPT_LEN <= size;
	uint8_t *p = put_head(q, fits ? 0 : FLAG_TC, fits ? n : 0, out);
	for (size_t at = 0; fits && at < len; at += 2 + u16_at(records + at))
		p = put_record(p, q->type, ttl_s, records + at + 2, u16_at(records + at));
	if (q->has_edns)
		p = put_opt(p, q, PX_DNS_NOERROR);
	return (size_t)(p - out);
}

/* A number of up to three digits, or one hex digit, before a dot. Returns its value or -1. */
static int reverse_part(const char **s, bool is_hex)
{
	char *end;
	size_t n = strcspn(*s, ".");

	if (n == 0 || n > (is_hex ? 1 : 3) ||
	    strspn(*s, is_hex ? "0123456789abcdef" : "0123456789") < n || (*s)[n] != '.')
		return -1;
	long value = strtol(*s, &end, is_hex ? 16 : 10);
	*s += n + 1;
	return value <= 255 ? (int)value : -1;
}

bool px_dns_reverse_addr(const char *name, struct pol_addr *ret)
{
	bool is_v6 = zw_ends_with(name, ".ip6.arpa");
	struct pol_addr a = {.family = is_v6 ? POL_FAMILY_V6 : POL_FAMILY_V4};

	for (size_t i = is_v6 ? 16 : 4; i-- > 0;) {
		int low = reverse_part(&name, is_v6), high = is_v6 ? reverse_part(&name, true) : 0;

		if (low < 0 || high < 0)
			return false;
		a.b[i] = (uint8_t)(high << 4 | low);
	}
	if (strcmp(name, is_v6 ? "ip6.arpa" : "in-addr.arpa") != 0)
		return false;
	*ret = a;
	return true;
}

int px_dns_frame(const uint8_t *buf, size_t len, struct zw_span *ret_msg)
{
	size_t n;

	if (len < 2)
		return 0;
	n = u16_at(buf);
	if (n == 0)
		return ZW_E_SYNTAX;
	if (n > PX_DNS_QUERY_MAX)
		return ZW_E_TOOBIG;
	if (len < 2 + n)
		return 0;
	*ret_msg = zw_span_n(buf + 2, n);
	return (int)(2 + n);
}
