/* SPDX-License-Identifier: MIT
 * The small languages inside settings: times, sizes, keys, resolvers, international names. */
#include "src/config/config.h"

#include <idn2.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"

struct unit {
	const char *word;
	uint64_t factor;
};

static const struct unit times[] = {
	{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}, {NULL, 0},
};
static const struct unit sizes[] = {
	{"", 1}, {"K", 1u << 10}, {"M", 1u << 20}, {"G", 1u << 30}, {"T", 1ull << 40}, {NULL, 0},
};

/* A number and one of the units behind it; 0 needs none. */
static int parse_unit(const char *s, const struct unit *units, int64_t *ret)
{
	size_t digits = strspn(s, "0123456789");
	uint64_t value;
	int code = zw_parse_u64(s, digits, INT64_MAX, &value);

	if (code < 0)
		return code;
	if (value == 0 && s[digits] == '\0') {
		*ret = 0;
		return 0;
	}
	for (; units->word != NULL; units++) {
		if (strcmp(s + digits, units->word) != 0)
			continue;
		if (__builtin_mul_overflow(value, units->factor, &value) || value > INT64_MAX)
			return ZW_E_TOOBIG;
		*ret = (int64_t)value;
		return 0;
	}
	return ZW_E_SYNTAX;
}

int cfg_parse_duration(const char *s, int64_t *ret_ms)
{
	return parse_unit(s, times, ret_ms);
}

int cfg_parse_size(const char *s, int64_t *ret_b)
{
	return parse_unit(s, sizes, ret_b);
}

int cfg_parse_flood(const char *s, struct cfg_flood *ret)
{
	size_t digits = strspn(s, "0123456789");
	uint64_t n;
	int64_t ms;

	if (zw_parse_u64(s, digits, 1000, &n) < 0 || !zw_starts_with(s + digits, " in "))
		return ZW_E_SYNTAX;
	int code = cfg_parse_duration(s + digits + 4, &ms);
	if (code < 0)
		return code;
	if (n == 0 || ms == 0 || ms > 3600000)
		return ZW_E_TOOBIG;
	*ret = (struct cfg_flood){(int64_t)n, ms};
	return 0;
}

int cfg_check_key(const char *s)
{
	uint64_t n;

	if (s[0] == 'F')
		return zw_parse_u64(s + 1, strlen(s + 1), 12, &n) == 0 && n > 0 && s[1] != '0'
			       ? 0
			       : ZW_E_SYNTAX;
	if ((s[0] != 'C' && s[0] != 'M') || s[1] != '-' || s[2] == '\0' || s[3] != '\0')
		return ZW_E_SYNTAX;
	if (s[0] == 'M')
		return s[2] > 0x20 && s[2] < 0x7f ? 0 : ZW_E_SYNTAX;
	/* Control with these is a byte of its own; C-m and C-i are Enter and Tab, C-[ is Escape. */
	return (s[2] >= 'a' && s[2] <= 'z' && strchr("mij", s[2]) == NULL) ||
			       strchr("\\]^_@", s[2]) != NULL
		       ? 0
		       : ZW_E_SYNTAX;
}

static bool is_pin(const char *s, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	return len == 44 && strspn(s, digits) == 43 && s[43] == '=';
}

/* ";pin-sha256=..;ca=/FILE", and ";addr=ADDRESS" where @has_addr is given. */
static int check_options(const char *p, bool *has_addr, const char **ret_why)
{
	struct pol_host host;

	for (; *p == ';'; p += strcspn(p, ";")) {
		size_t len = strcspn(++p, ";");

		if (zw_starts_with(p, "pin-sha256=")) {
			*ret_why = "pin-sha256= wants the SHA-256 of its public key in base64";
			if (!is_pin(p + 11, len - 11))
				return ZW_E_SYNTAX;
		} else if (has_addr != NULL && zw_starts_with(p, "addr=")) {
			*ret_why = "addr= wants an address";
			if (pol_host_parse(p + 5, len - 5, &host) < 0 ||
			    host.addr.family == POL_FAMILY_NONE)
				return ZW_E_SYNTAX;
			*has_addr = true;
		} else if (!zw_starts_with(p, "ca=/")) {
			*ret_why = has_addr == NULL
					   ? "behind the name only ;pin-sha256=BASE64 and "
					     ";ca=/FILE are possible"
					   : "behind the path only ;addr=ADDRESS, "
					     ";pin-sha256=BASE64 and ;ca=/FILE are possible";
			return ZW_E_SYNTAX;
		}
	}
	return 0;
}

/* Host of a resolver: an address for tls:// (a name would have to be looked up first). */
static int check_dot(const char *s, const char **ret_why)
{
	struct pol_host host;
	const char *hash = strchr(s, '#');

	*ret_why = "write tls://ADDRESS[:PORT]#NAME, such as tls://9.9.9.9#dns.quad9.net";
	if (hash == NULL)
		return ZW_E_SYNTAX;
	const char *end = s[0] == '[' ? strchr(s, ']') : s + strcspn(s, ":#");
	if (end == NULL || end > hash)
		return ZW_E_SYNTAX;
	end += *end == ']';
	uint64_t port = 853;
	if (*end == ':' &&
	    (zw_parse_u64(end + 1, (size_t)(hash - end - 1), 65535, &port) < 0 || port == 0))
		return ZW_E_SYNTAX;
	if (*end != ':' && end != hash)
		return ZW_E_SYNTAX;
	if (pol_host_parse(s, (size_t)(end - s), &host) < 0 ||
	    host.addr.family == POL_FAMILY_NONE) {
		*ret_why = "the part before # must be an address, so that no name has to be looked "
			   "up first";
		return ZW_E_SYNTAX;
	}
	size_t len = strcspn(hash + 1, ";");
	if (pol_host_parse(hash + 1, len, &host) < 0 || host.addr.family != POL_FAMILY_NONE) {
		*ret_why = "the part behind # must be the name in the resolver's certificate";
		return ZW_E_SYNTAX;
	}
	return check_options(hash + 1 + len, NULL, ret_why);
}

/* The name is never looked up: the address has to be there, in its place or behind it. */
static int check_doh(const char *s, const char **ret_why)
{
	struct pol_host host;
	size_t len = s[0] == '[' ? strcspn(s, "]") + 1 : strcspn(s, ":/;");
	const char *p = s + len;
	uint64_t port = 443;

	*ret_why = "https:// must be followed by a host, such as "
		   "https://dns.quad9.net/dns-query;addr=9.9.9.9";
	if (len > strlen(s) || pol_host_parse(s, len, &host) < 0)
		return ZW_E_SYNTAX;
	if (*p == ':') {
		size_t digits = strcspn(++p, "/;");

		if (zw_parse_u64(p, digits, 65535, &port) < 0 || port == 0)
			return ZW_E_SYNTAX;
		p += digits;
	}
	*ret_why = "behind the host of https:// stands a path, such as /dns-query";
	if (*p != '/')
		return ZW_E_SYNTAX;
	bool has_addr = host.addr.family != POL_FAMILY_NONE;
	int r = check_options(p + strcspn(p, ";"), &has_addr, ret_why);
	if (r == 0 && !has_addr) {
		*ret_why = "give its address as well, so that no name has to be looked up first: "
			   ";addr=9.9.9.9";
		r = ZW_E_SYNTAX;
	}
	return r;
}

int cfg_check_upstream(const char *s, const char **ret_why)
{
	for (const char *c = s; *c != '\0'; c++) {
		if ((unsigned char)*c > 0x20 && *c != 0x7f)
			continue;
		*ret_why = "it holds a blank or a control character";
		return ZW_E_SYNTAX;
	}
	if (strcmp(s, "system") == 0)
		return 0;
	if (zw_starts_with(s, "tls://"))
		return check_dot(s + 6, ret_why);
	if (!zw_starts_with(s, "https://")) {
		*ret_why = "a resolver is tls://ADDRESS#NAME, https://HOST/PATH;addr=ADDRESS or "
			   "system";
		return ZW_E_SYNTAX;
	}
	return check_doh(s + 8, ret_why);
}

static bool is_ascii(const char *s)
{
	for (; *s != '\0'; s++)
		if ((unsigned char)*s >= 0x80)
			return false;
	return true;
}

/* What people write instead of a site, and what to tell them. */
static const char *site_fault(const char *s)
{
	if (s[0] == '\0')
		return "it is empty";
	if (strstr(s, "://") != NULL)
		return "leave out the part up to ://, a site is host or host:port";
	for (; *s != '\0'; s++)
		if ((unsigned char)*s <= 0x20 || *s == 0x7f)
			return "it holds a blank or a control character";
	return NULL;
}

int cfg_site_to_ascii(const char *s, char **ret, const char **ret_why)
{
	const char *fault = site_fault(s);

	if (fault != NULL) {
		*ret_why = fault;
		return ZW_E_SYNTAX;
	}
	if (is_ascii(s)) {
		*ret = zw_xstrdup(s);
		return 0;
	}
	const char *host = zw_starts_with(s, "*.") ? s + 2 : s;
	size_t len = strcspn(host, ":/");
	zw_autofree char *name = zw_xmemdup0(host, len);
	char *ascii = NULL;
	if (idn2_to_ascii_8z(name, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) != IDN2_OK) {
		*ret_why = "not an international domain name";
		return ZW_E_SYNTAX;
	}
	*ret = zw_xasprintf("%s%s%s", host == s ? "" : "*.", ascii, host + len);
	idn2_free(ascii);
	return 0;
}
