/* SPDX-License-Identifier: MIT */
#include "proxy/dohreq.h"

#include "src/base/err.h"
#include "src/base/mem.h"

#define HEAD_LEN 12
#define EDE_TEXT "Filtered"

static bool is_word(struct zw_span s, const char *word)
{
	return s.len == strlen(word) && memcmp(s.p, word, s.len) == 0;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Whether a field names this media type, parameters and letter case aside. */
static bool has_type(struct zw_span field, const char *type)
{
	size_t len = strlen(type);

	for (size_t i = 0; i + len <= field.len; i++) {
		size_t k = 0;

		while (k < len && lower(field.p[i + k]) == type[k])
			k++;
		bool is_end = i + len == field.len || strchr(" ;,", field.p[i + len]) != NULL;
		bool is_begin = i == 0 || strchr(" ,", field.p[i - 1]) != NULL;
		if (k == len && is_begin && is_end)
			return true;
	}
	return false;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The value of a parameter in a query, with %XX and + undone. Returns its length, -1 = it is not
 * there, -2 = not well-formed or too long. */
static int query_get(struct zw_span query, const char *name, char *out, size_t size)
{
	size_t name_len = strlen(name), at = 0;

	while (at < query.len) {
		const char *p = query.p + at, *end = memchr(p, '&', query.len - at);
		size_t len = end != NULL ? (size_t)(end - p) : query.len - at, n = 0;

		at += len + 1;
		if (len <= name_len || p[name_len] != '=' || memcmp(p, name, name_len) != 0)
			continue;
		for (size_t i = name_len + 1; i < len; i++) {
			int c = (unsigned char)p[i];

			if (c == '%') {
				if (i + 2 >= len || hex(p[i + 1]) < 0 || hex(p[i + 2]) < 0)
					return -2;
				c = hex(p[i + 1]) << 4 | hex(p[i + 2]);
				i += 2;
			}
			if (n == size)
				return -2;
			out[n++] = (char)c;
		}
		return (int)n;
	}
	return -1;
}

static int base64url(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '-' ? 62 : c == '_' ? 63 : -1;
}

/* RFC 4648, section 5, without padding; some clients pad all the same. Returns bytes or -1. */
static int base64url_decode(const char *s, size_t len, uint8_t *out, size_t size)
{
	uint32_t bits = 0;
	size_t n = 0;
	unsigned n_bits = 0;

	while (len > 0 && s[len - 1] == '=')
		len--;
	if (len % 4 == 1)
		return -1;
	for (size_t i = 0; i < len; i++) {
		int v = base64url(s[i]);

		if (v < 0)
			return -1;
		bits = bits << 6 | (uint32_t)v;
		n_bits += 6;
		if (n_bits < 8)
			continue;
		n_bits -= 8;
		if (n == size)
			return -1;
		out[n++] = (uint8_t)(bits >> n_bits);
	}
	return (int)n;
}

/* -- JSON --------------------------------------------------------------------------------------- */

static const struct {
	const char *word;
	uint16_t type;
} types[] = {
	{"a", 1},     {"ns", 2},     {"cname", 5}, {"soa", 6},	{"ptr", 12},
	{"mx", 15},   {"txt", 16},   {"aaaa", 28}, {"srv", 33}, {"svcb", 64},
	{"any", 255}, {"https", 65}, {"caa", 257},
};

static int type_parse(const char *s, size_t len)
{
	int n = 0;

	for (size_t i = 0; i < ZW_N_ELEMENTS(types); i++) {
		size_t k = 0;

		while (k < len && types[i].word[k] != '\0' && lower(s[k]) == types[i].word[k])
			k++;
		if (k == len && types[i].word[k] == '\0')
			return types[i].type;
	}
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9' || n > 6553)
			return -1;
		n = n * 10 + (s[i] - '0');
	}
	return len > 0 && n <= 65535 ? n : -1;
}

/* A name and a type become a question. */
static int question_write(const char *name, size_t len, int type, struct px_dohreq_question *ret)
{
	static const uint8_t head[HEAD_LEN] = {0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
	char text[POL_HOST_MAX + 2];

	if (len == 0 || len > POL_HOST_MAX || memchr(name, '\0', len) != NULL)
		return 400;
	for (size_t i = 0; i < len; i++)
		text[i] = lower(name[i]);
	text[len - (name[len - 1] == '.')] = '\0';
	text[len] = '\0';
	memcpy(ret->wire, head, sizeof(head));
	int n = px_dns_name_write(text, ret->wire + HEAD_LEN);
	if (n < 0)
		return 400;
	uint8_t *p = ret->wire + HEAD_LEN + n;
	*p++ = (uint8_t)(type >> 8);
	*p++ = (uint8_t)type;
	*p++ = 0;
	*p++ = 1;
	ret->len = (size_t)(p - ret->wire);
	return 200;
}

static int json_question(struct zw_span query, struct px_dohreq_question *ret)
{
	char name[POL_HOST_MAX + 2], type[16];
	int name_len = query_get(query, "name", name, sizeof(name));
	int type_len = query_get(query, "type", type, sizeof(type));

	ret->is_json = true;
	if (name_len <= 0 || type_len < -1)
		return 400;
	int t = type_len < 0 ? PX_DNS_A : type_parse(type, (size_t)type_len);
	return t < 0 ? 400 : question_write(name, (size_t)name_len, t, ret);
}

/* -- */

static int get_question(struct zw_span query, struct px_dohreq_question *ret)
{
	char text[4 * PX_DNS_QUERY_MAX / 3 + 8];
	int len = query_get(query, "dns", text, sizeof(text));

	if (len < 0)
		return len == -1 ? json_question(query, ret) : 400;
	int n = base64url_decode(text, (size_t)len, ret->wire, sizeof(ret->wire));
	if (n < HEAD_LEN)
		return 400;
	ret->len = (size_t)n;
	return 200;
}

static int post_question(const struct px_dohreq *r, struct px_dohreq_question *ret)
{
	if (!has_type(r->content_type, "application/dns-message"))
		return 415;
	if (r->body.len > sizeof(ret->wire))
		return 413;
	if (r->body.len < HEAD_LEN)
		return 400;
	memcpy(ret->wire, r->body.p, r->body.len);
	ret->len = r->body.len;
	return 200;
}

int px_dohreq_parse(const struct px_dohreq *r, struct px_dohreq_question *ret)
{
	const char *mark = r->target.len > 0 ? memchr(r->target.p, '?', r->target.len) : NULL;
	size_t path_len = mark != NULL ? (size_t)(mark - r->target.p) : r->target.len;
	struct zw_span query = zw_span_n(mark != NULL ? mark + 1 : "",
					 mark != NULL ? r->target.len - path_len - 1 : 0);
	bool is_get = is_word(r->method, "GET") || is_word(r->method, "HEAD");

	ret->is_json = false;
	ret->len = 0;
	if (path_len == 0 || r->target.p[0] != '/')
		return 400;
	if (is_word(r->method, "POST"))
		return post_question(r, ret);
	if (!is_get)
		return 405;
	char any[8];
	bool has_dns = query_get(query, "dns", any, 0) != -1;
	bool has_name = query_get(query, "name", any, 0) != -1;
	return has_dns || has_name ? get_question(query, ret) : 404;
}

int px_doh_json_write(const struct px_dns_query *q, enum px_dns_rcode rcode,
		      const struct pol_addr *addr, uint32_t ttl_s, const char *comment,
		      struct zw_buf *out)
{
	char text[64];
	int r = zw_buf_addf(out,
			    "{\"Status\":%d,\"TC\":false,\"RD\":true,\"RA\":true,\"AD\":false,"
			    "\"CD\":%s,\"Question\":[{\"name\":\"%s.\",\"type\":%u}]",
			    (int)rcode, q->no_checking ? "true" : "false", q->host.name, q->type);

	if (r == 0 && addr != NULL) {
		pol_addr_format(addr, text, sizeof(text));
		r = zw_buf_addf(out,
				",\"Answer\":[{\"name\":\"%s.\",\"type\":%u,\"TTL\":%u,"
				"\"data\":\"%s\"}]",
				q->host.name, q->type, (unsigned)ttl_s, text);
	}
	/* Of a rule's text only what needs no escape: it is a remark. */
	if (r == 0 && comment[0] != '\0') {
		r = zw_buf_addf(out, ",\"Comment\":\"");
		for (const char *c = comment; r == 0 && *c != '\0'; c++)
			r = zw_buf_add(
				out, *c == '"' || *c == '\\' || (unsigned char)*c < 0x20 ? " " : c,
				1);
		if (r == 0)
			r = zw_buf_addf(out, "\",\"extended_dns_errors\":[{\"info_code\":17,"
					     "\"extra_text\":\"" EDE_TEXT "\"}]");
	}
	return r == 0 ? zw_buf_addf(out, "}\n") : r;
}
