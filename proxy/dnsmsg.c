/* SPDX-License-Identifier: MIT */
#include "proxy/dnsmsg.h"

#include "src/base/err.h"
#include "src/base/mem.h"

enum { HEAD_LEN = 12, OPT_LEN = 11, TYPE_OPT = 41, CLASS_IN = 1, LABEL_MAX = 63 };
enum { FLAG_QR = 0x8000, FLAG_RD = 0x0100, FLAG_RA = 0x0080, FLAG_CD = 0x0010 };
enum { EDNS_DO = 0x8000, EDNS_SIZE = 1232 /* no fragments, DNS flag day 2020 */ };

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
	struct px_dns_query q = {.rcode = PX_DNS_NOERROR};
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

static uint8_t *put_answer(uint8_t *p, const struct pol_addr *addr, uint32_t ttl_s)
{
	unsigned len = addr->family == POL_FAMILY_V4 ? 4 : 16;

	p = put_u16(p, 0xc000 | HEAD_LEN); /* the name of the question */
	p = put_u16(p, addr->family == POL_FAMILY_V4 ? PX_DNS_A : PX_DNS_AAAA);
	p = put_u16(p, CLASS_IN);
	p = put_u16(p, ttl_s >> 16);
	p = put_u16(p, ttl_s & 0xffff);
	p = put_u16(p, len);
	memcpy(p, addr->b, len);
	return p + len;
}

static uint8_t *put_opt(uint8_t *p, const struct px_dns_query *q, enum px_dns_rcode rcode)
{
	*p++ = 0;
	p = put_u16(p, TYPE_OPT);
	p = put_u16(p, EDNS_SIZE);
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
	uint8_t *p = put_u16(out, q->id);

	p = put_u16(p, FLAG_QR | FLAG_RA | (q->want_recursion ? FLAG_RD : 0) |
			       (q->no_checking ? FLAG_CD : 0) | ((unsigned)rcode & 15));
	p = put_u16(p, q->question_len_b > 0);
	p = put_u16(p, has_answer);
	p = put_u16(p, 0);
	p = put_u16(p, q->has_edns);
	memcpy(p, q->question, q->question_len_b);
	p += q->question_len_b;
	if (has_answer)
		p = put_answer(p, addr, ttl_s);
	if (q->has_edns)
		p = put_opt(p, q, rcode);
	return (size_t)(p - out);
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
