/* SPDX-License-Identifier: MIT */
#include "proxy/resolver/upstream.h"

#include <arpa/inet.h>
#include <stdbool.h>

#include "src/base/err.h"
#include "src/base/mem.h"

#define DOT_PORT 853
#define DNS_PORT 53
#define DOH_PORT 443

static bool span_take_prefix(struct zw_span *s, const char *prefix)
{
	size_t len = strlen(prefix);

	if (s->len < len || memcmp(s->p, prefix, len) != 0)
		return false;
	*s = zw_span_n(s->p + len, s->len - len);
	return true;
}

/* Cuts @s at the first @c: what stands before is returned, @s keeps what stands behind. */
static struct zw_span span_until(struct zw_span *s, char c)
{
	const char *at = s->len > 0 ? memchr(s->p, c, s->len) : NULL;
	size_t n = at != NULL ? (size_t)(at - s->p) : s->len;
	struct zw_span head = zw_span_n(s->p, n);

	*s = at != NULL ? zw_span_n(at + 1, s->len - n - 1) : zw_span_n(s->p + n, 0);
	return head;
}

static int addr_parse(struct zw_span s, struct res_addr *ret)
{
	char text[INET6_ADDRSTRLEN];
	struct res_addr a = {0};

	if (s.len == 0 || s.len >= sizeof(text))
		return ZW_E_SYNTAX;
	zw_span_cpy(text, sizeof(text), s);
	if (inet_pton(AF_INET, text, a.b) == 1)
		a.family = 4;
	else if (inet_pton(AF_INET6, text, a.b) == 1)
		a.family = 6;
	else
		return ZW_E_SYNTAX;
	*ret = a;
	return 0;
}

/* HOST[:PORT] or [HOST][:PORT], into its two parts. */
static int endpoint_split(struct zw_span s, unsigned port_default, struct zw_span *ret_host,
			  uint16_t *ret_port)
{
	struct zw_span host, port = {0};
	uint64_t number = port_default;

	if (span_take_prefix(&s, "[")) {
		if (s.len == 0 || memchr(s.p, ']', s.len) == NULL)
			return ZW_E_SYNTAX;
		host = span_until(&s, ']');
		if (s.len > 0 && !span_take_prefix(&s, ":"))
			return ZW_E_SYNTAX;
		port = s;
	} else {
		host = span_until(&s, ':');
		port = s;
	}
	if (port.len > 0 && (zw_parse_u64(port.p, port.len, 65535, &number) < 0 || number == 0))
		return ZW_E_SYNTAX;
	*ret_host = host;
	*ret_port = (uint16_t)number;
	return 0;
}

static int base64_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* 32 bytes are 43 digits and one `=`; the last digit's two spare bits are zero. */
static int pin_parse(struct zw_span s, uint8_t ret[32])
{
	uint32_t bits = 0;
	unsigned n_bits = 0;
	size_t n = 0;

	if (s.len != 44 || s.p[43] != '=')
		return ZW_E_SYNTAX;
	for (size_t i = 0; i < 43; i++) {
		int v = base64_value(s.p[i]);

		if (v < 0)
			return ZW_E_SYNTAX;
		bits = bits << 6 | (uint32_t)v;
		n_bits += 6;
		if (n_bits >= 8) {
			n_bits -= 8;
			ret[n++] = (uint8_t)(bits >> n_bits);
		}
	}
	return (bits & 3) == 0 ? 0 : ZW_E_SYNTAX;
}

static bool auth_name_is_good(struct zw_span s)
{
	if (s.len == 0 || s.len > RES_NAME_MAX)
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
		      (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '-' || s.p[i] == '.'))
			return false;
	return true;
}

/* What both kinds take behind the server. */
static const char *options_parse(struct zw_span options, struct res_upstream *up)
{
	while (options.len > 0) {
		struct zw_span option = span_until(&options, ';');

		if (span_take_prefix(&option, "pin-sha256=")) {
			if (pin_parse(option, up->pin) < 0)
				return "pin-sha256= wants 32 bytes in base64";
			up->has_pin = 1;
		} else if (span_take_prefix(&option, "ca=")) {
			if (option.len == 0 || option.len >= sizeof(up->ca_file))
				return "ca= wants a file name";
			zw_span_cpy(up->ca_file, sizeof(up->ca_file), option);
		} else if (up->kind == RES_UPSTREAM_DOH && span_take_prefix(&option, "addr=")) {
			if (addr_parse(option, &up->addr) < 0)
				return "addr= wants an address";
		} else {
			return "only pin-sha256= and ca= may follow, and addr= behind https://";
		}
	}
	return NULL;
}

static const char *dot_parse(struct zw_span s, struct res_upstream *up)
{
	struct zw_span options = s, where = span_until(&options, ';');
	struct zw_span name = where, endpoint = span_until(&name, '#'), host;
	const char *why;

	up->kind = RES_UPSTREAM_DOT;
	if (endpoint_split(endpoint, DOT_PORT, &host, &up->port) < 0 ||
	    addr_parse(host, &up->addr) < 0)
		return "tls:// wants an address, not a name: tls://9.9.9.9#dns.quad9.net";
	if (name.len > 0 && !auth_name_is_good(name))
		return "the name behind # is not a host name";
	zw_span_cpy(up->auth_name, sizeof(up->auth_name), name);
	if ((why = options_parse(options, up)) != NULL)
		return why;
	if (up->auth_name[0] == '\0' && !up->has_pin)
		return "without #NAME or pin-sha256= anybody could answer";
	return NULL;
}

/* A path of visible bytes; the variable of a URI template (RFC 8484 section 4.1.1) is for GET. */
static bool path_parse(struct zw_span s, struct res_upstream *up)
{
	static const char template[] = "{?dns}";
	size_t n = sizeof(template) - 1;

	if (s.len >= n && memcmp(s.p + s.len - n, template, n) == 0)
		s.len -= n;
	if (s.len == 0 || s.len >= sizeof(up->path))
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] <= 0x20 || s.p[i] >= 0x7f || s.p[i] == '#' || s.p[i] == '{')
			return false;
	zw_span_cpy(up->path, sizeof(up->path), s);
	return true;
}

static const char *doh_parse(struct zw_span s, struct res_upstream *up)
{
	struct zw_span options = s, url = span_until(&options, ';');
	struct zw_span path = url, authority = span_until(&path, '/'), host;
	const char *why;

	up->kind = RES_UPSTREAM_DOH;
	if (path.p == NULL || authority.len == url.len)
		return "https:// wants a path: https://dns.quad9.net/dns-query;addr=9.9.9.9";
	/* The slash belongs to it. */
	path = zw_span_n(path.p - 1, path.len + 1);
	if (endpoint_split(authority, DOH_PORT, &host, &up->port) < 0 || host.len == 0)
		return "https:// wants a host: https://dns.quad9.net/dns-query;addr=9.9.9.9";
	if (!path_parse(path, up))
		return "the path behind the host cannot be asked for";
	(void)addr_parse(host, &up->addr);
	if (up->addr.family == 0 && !auth_name_is_good(host))
		return "the host of https:// is not a host name";
	zw_span_cpy(up->auth_name, sizeof(up->auth_name), host);
	if ((why = options_parse(options, up)) != NULL)
		return why;
	if (up->addr.family == 0)
		return "give its address as well, so that no name has to be looked up first: "
		       ";addr=9.9.9.9";
	return NULL;
}

static void text_set(struct res_upstream *up, struct zw_span line)
{
	char addr[INET6_ADDRSTRLEN] = "?";

	if (up->kind != RES_UPSTREAM_SYSTEM) {
		inet_ntop(up->addr.family == 6 ? AF_INET6 : AF_INET, up->addr.b, addr,
			  sizeof(addr));
		snprintf(up->text, sizeof(up->text), "%s%s%s%.40s",
			 up->kind == RES_UPSTREAM_DOH ? "https://" : "", addr,
			 up->auth_name[0] ? "#" : "", up->auth_name);
	} else {
		zw_span_cpy(up->text, sizeof(up->text), line);
	}
}

/* "corp.example=" before the server; its own options have an = too, but behind a colon. */
static void zone_take(struct zw_span *s, struct res_upstream *up)
{
	struct zw_span rest = *s, zone = span_until(&rest, '=');

	if (zone.len == s->len || !auth_name_is_good(zone))
		return;
	zw_span_cpy(up->zone, sizeof(up->zone), zone);
	*s = rest;
}

int res_upstream_parse(struct zw_span line, struct res_upstream *ret, const char **ret_why)
{
	struct res_upstream up = {0};
	struct zw_span rest = line;
	const char *why = NULL;

	zone_take(&rest, &up);
	line = rest;
	if (zw_span_eq(line, "system"))
		up.kind = RES_UPSTREAM_SYSTEM;
	else if (span_take_prefix(&rest, "https://"))
		why = doh_parse(rest, &up);
	else if (span_take_prefix(&rest, "tls://"))
		why = dot_parse(rest, &up);
	else
		why = "an upstream is tls://…, https://… or system";
	if (why != NULL) {
		if (ret_why != NULL)
			*ret_why = why;
		return ZW_E_SYNTAX;
	}
	text_set(&up, line);
	*ret = up;
	return 0;
}

int res_line_next(struct zw_span *rest, struct zw_span *ret_line)
{
	while (rest->len > 0) {
		struct zw_span line = span_until(rest, '\n');

		while (line.len > 0 && (line.p[0] == ' ' || line.p[0] == '\t'))
			line = zw_span_n(line.p + 1, line.len - 1);
		while (line.len > 0 &&
		       (line.p[line.len - 1] == ' ' || line.p[line.len - 1] == '\t' ||
			line.p[line.len - 1] == '\r' || line.p[line.len - 1] == '\0'))
			line.len--;
		if (line.len > 0) {
			*ret_line = line;
			return 1;
		}
	}
	return 0;
}

size_t res_resolvconf_parse(struct zw_span text, struct res_upstream *ret, size_t max)
{
	struct zw_span line;
	size_t n = 0;

	while (n < max && res_line_next(&text, &line)) {
		struct res_upstream up = {.kind = RES_UPSTREAM_PLAIN, .port = DNS_PORT};
		struct zw_span word;

		if (!span_take_prefix(&line, "nameserver"))
			continue;
		while (line.len > 0 && (line.p[0] == ' ' || line.p[0] == '\t'))
			line = zw_span_n(line.p + 1, line.len - 1);
		word = span_until(&line, ' ');
		word = span_until(&word, '\t');
		if (addr_parse(word, &up.addr) < 0)
			continue;
		text_set(&up, word);
		ret[n++] = up;
	}
	return n;
}
