/* SPDX-License-Identifier: MIT */
#include "src/policy/pattern.h"

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"

static int refuse(const char **ret_why, const char *why)
{
	if (ret_why != NULL)
		*ret_why = why;
	return ZW_E_SYNTAX;
}

static bool contains(const char *s, size_t len, const char *what)
{
	return memmem(s, len, what, strlen(what)) != NULL;
}

static int check_bytes(const char *s, size_t len, const char **ret_why)
{
	if (len == 0)
		return refuse(ret_why, "the pattern is empty");
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= 0x80)
			return refuse(ret_why, "only ASCII here: write an international name in "
					       "its xn-- form");
		if (c <= ' ' || c == 0x7f)
			return refuse(ret_why, "blanks and control characters are no part of a "
					       "site: write one site per entry");
	}
	if (contains(s, len, "://"))
		return refuse(ret_why, "write the host alone, without http:// or https://");
	if (memchr(s, '@', len) != NULL)
		return refuse(ret_why, "write the host alone, without a user name");
	return 0;
}

static int port_parse(const char *s, size_t len, uint16_t *ret, const char **ret_why)
{
	uint64_t port;

	if (memchr(s, '-', len) != NULL || memchr(s, ',', len) != NULL)
		return refuse(ret_why, "a range or list of ports is not possible: write one entry "
				       "per port");
	if (memchr(s, '/', len) != NULL)
		return refuse(ret_why, "a path cannot be matched: write the host and port alone");
	if (zw_parse_u64(s, len, UINT16_MAX, &port) < 0 || port == 0)
		return refuse(ret_why, "behind the colon stands a port from 1 to 65535");
	*ret = (uint16_t)port;
	return 0;
}

static bool has_host_bits(const struct pol_addr *a, unsigned bits)
{
	unsigned max = a->family == POL_FAMILY_V4 ? 32 : 128;

	for (unsigned i = bits; i < max; i++) {
		if (a->b[i / 8] >> (7 - i % 8) & 1)
			return true;
	}
	return false;
}

/* address or address/bits. */
static int net_parse(const char *s, size_t len, struct pol_site_pattern *ret, const char **ret_why)
{
	const char *slash = memchr(s, '/', len);
	size_t host_len = slash != NULL ? (size_t)(slash - s) : len;
	struct pol_host host;
	uint64_t bits;

	if (pol_host_parse(s, host_len, &host) < 0 || host.addr.family == POL_FAMILY_NONE)
		return refuse(ret_why, slash != NULL ? "a path cannot be matched: write the host "
						       "alone (address/bits is for networks)"
						     : "not an address");
	unsigned max = host.addr.family == POL_FAMILY_V4 ? 32 : 128;
	if (slash == NULL)
		bits = max;
	else if (zw_parse_u64(slash + 1, len - host_len - 1, max, &bits) < 0)
		return refuse(ret_why, "behind the slash stands the length of the network's "
				       "prefix, up to 32 or, for IPv6, 128");
	if (has_host_bits(&host.addr, (unsigned)bits))
		return refuse(ret_why, "this address lies inside the network: write the network's "
				       "first address, or leave the /bits away");
	ret->type = POL_PATTERN_NET;
	ret->net = host.addr;
	ret->bits = (unsigned)bits;
	return 0;
}

static int name_parse(const char *s, size_t len, struct pol_site_pattern *ret, const char **ret_why)
{
	bool is_below = len > 2 && s[0] == '*' && s[1] == '.';
	struct pol_host host;

	if (is_below) {
		s += 2;
		len -= 2;
	}
	if (s[0] == '.')
		return refuse(ret_why, "write *.example.com for what is below example.com");
	if (memchr(s, '*', len) != NULL)
		return refuse(ret_why, "`*` stands only at the beginning, as *.example.com");
	if (memchr(s, '?', len) != NULL)
		return refuse(ret_why, "`?` matches nothing here: write the name in full");
	if (pol_host_parse(s, len, &host) < 0)
		return refuse(ret_why, "not a host name and not an address");
	if (host.addr.family != POL_FAMILY_NONE && is_below)
		return refuse(ret_why, "an address has nothing below it: write address/bits");
	if (host.addr.family != POL_FAMILY_NONE)
		return net_parse(s, len, ret, ret_why);
	ret->type = is_below ? POL_PATTERN_SUBDOMAINS : POL_PATTERN_NAME;
	zw_strlcpy(ret->name, host.name, sizeof(ret->name));
	return 0;
}

/* [address], [address]/bits, [address/bits], each with :port or without. */
static int bracket_parse(const char *s, size_t len, struct pol_site_pattern *ret,
			 const char **ret_why)
{
	char text[64];
	const char *close = memchr(s, ']', len), *colon;
	size_t inner, rest;

	if (close == NULL)
		return refuse(ret_why, "the bracket is not closed");
	inner = (size_t)(close - s) - 1;
	rest = len - inner - 2;
	colon = memchr(close + 1, ':', rest);
	if (colon != NULL) {
		int r = port_parse(colon + 1, (size_t)(s + len - colon) - 1, &ret->port, ret_why);

		if (r < 0)
			return r;
		rest = (size_t)(colon - close) - 1;
	}
	if (memchr(s + 1, ':', inner) == NULL || (rest > 0 && close[1] != '/') ||
	    inner + rest >= sizeof(text))
		return refuse(ret_why, "brackets are for IPv6 addresses: [2001:db8::1]:443");
	memcpy(text, s + 1, inner);
	memcpy(text + inner, close + 1, rest);
	return net_parse(text, inner + rest, ret, ret_why);
}

int pol_site_pattern_parse(const char *s, size_t len, struct pol_site_pattern *ret,
			   const char **ret_why)
{
	struct pol_site_pattern p = {.type = POL_PATTERN_NAME};
	const char *colon;
	size_t host_len = len;
	int r = check_bytes(s, len, ret_why);

	if (r < 0)
		return r;
	colon = memchr(s, ':', len);
	if (s[0] == '[') {
		r = bracket_parse(s, len, &p, ret_why);
	} else if (colon != NULL && memchr(colon + 1, ':', len - (size_t)(colon - s) - 1) != NULL) {
		r = net_parse(s, len, &p, ret_why);
	} else {
		if (colon != NULL) {
			host_len = (size_t)(colon - s);
			r = port_parse(colon + 1, len - host_len - 1, &p.port, ret_why);
		}
		if (r < 0)
			return r;
		if (host_len == 1 && s[0] == '*' && colon != NULL)
			p.type = POL_PATTERN_ANY_HOST;
		else if (host_len == 1 && s[0] == '*')
			return refuse(ret_why, "`*` alone is every site there is: choose a mode "
					       "instead, or write *:port");
		else if (host_len == 0)
			return refuse(ret_why, "there is no host: write *:port for every site");
		else if (memchr(s, '/', host_len) != NULL)
			r = net_parse(s, host_len, &p, ret_why);
		else
			r = name_parse(s, host_len, &p, ret_why);
	}
	if (r == 0)
		*ret = p;
	return r;
}

static bool has_component(const char *s, size_t len, const char *what)
{
	size_t what_len = strlen(what);

	for (size_t start = 1, i = 1; i <= len; i++) {
		if (i < len && s[i] != '/')
			continue;
		if (i - start == what_len && memcmp(s + start, what, what_len) == 0)
			return true;
		start = i + 1;
	}
	return false;
}

int pol_socket_pattern_check(const char *s, size_t len, bool is_literal, const char **ret_why)
{
	struct zw_span span = zw_span_n(s, len);

	if (len == 0)
		return refuse(ret_why, "the path is empty");
	if (zw_span_eq(span, "true") || zw_span_eq(span, "*"))
		return refuse(ret_why, "all sockets at once is not possible: list the sockets you "
				       "need");
	if (memchr(s, '\0', len) != NULL)
		return refuse(ret_why, "a path has no NUL");
	if (!is_literal && (memchr(s, '*', len) != NULL || memchr(s, '?', len) != NULL))
		return refuse(ret_why, "a pattern is not possible for sockets: write each path in "
				       "full");
	if (s[0] == '@')
		return len > 1 ? 0 : refuse(ret_why, "behind the @ stands the abstract name");
	if (s[0] != '/')
		return refuse(ret_why, "write the whole path, beginning with /, or @name for an "
				       "abstract socket");
	if (s[len - 1] == '/')
		return refuse(ret_why, "this is a folder: write the path of the socket in it");
	if (has_component(s, len, "") || has_component(s, len, ".") || has_component(s, len, ".."))
		return refuse(ret_why, "write the path without //, /./ and /../");
	return 0;
}

const char *pol_path_canonical(const char *s, size_t *io_len)
{
	static const char old[] = "/var/run/";

	if (*io_len < sizeof(old) - 1 || memcmp(s, old, sizeof(old) - 1) != 0)
		return s;
	*io_len -= 4;
	return s + 4;
}
