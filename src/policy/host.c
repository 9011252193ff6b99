/* SPDX-License-Identifier: MIT */
#include "src/policy/host.h"

#include <arpa/inet.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"

#define LABEL_MAX 63

/* Locale-free, and defined for every byte. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* A number as inet_aton(3) and URL parsers read it: 0x is hexadecimal, 0 is octal. "0x" is zero, as
 * in a URL. */
static int number_parse(const char *s, size_t len, uint64_t *ret)
{
	unsigned base = 10;
	uint64_t value = 0;

	if (len == 0)
		return ZW_E_SYNTAX;
	if (len >= 2 && s[0] == '0' && s[1] == 'x') {
		base = 16;
		s += 2;
		len -= 2;
	} else if (len >= 2 && s[0] == '0') {
		base = 8;
	}
	for (size_t i = 0; i < len; i++) {
		int digit = hex_value(s[i]);

		if (digit < 0 || (unsigned)digit >= base)
			return ZW_E_SYNTAX;
		value = value * base + (unsigned)digit;
		if (value > UINT32_MAX)
			return ZW_E_SYNTAX;
	}
	*ret = value;
	return 0;
}

/* One to four numbers; the last one fills all bytes that are left. */
static int v4_parse(const char *s, size_t len, struct pol_addr *ret)
{
	uint64_t part[4] = {0}, address = 0;
	unsigned n = 0;

	for (size_t start = 0, i = 0; i <= len; i++) {
		if (i < len && s[i] != '.')
			continue;
		if (n == 4 || number_parse(s + start, i - start, &part[n]) < 0)
			return ZW_E_SYNTAX;
		n++;
		start = i + 1;
	}
	for (unsigned i = 0; i + 1 < n; i++) {
		if (part[i] > 255)
			return ZW_E_SYNTAX;
		address |= part[i] << (24 - 8 * i);
	}
	if (part[n - 1] >> (8 * (5 - n)) != 0)
		return ZW_E_SYNTAX;
	address |= part[n - 1];
	*ret = (struct pol_addr){.family = POL_FAMILY_V4};
	for (unsigned i = 0; i < 4; i++)
		ret->b[i] = (uint8_t)(address >> (24 - 8 * i));
	return 0;
}

/* IPv4-mapped IPv6 is IPv4: the kernel dials it as such. */
static void unmap(struct pol_addr *a)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	if (a->family != POL_FAMILY_V6 || memcmp(a->b, prefix, sizeof(prefix)) != 0)
		return;
	memmove(a->b, a->b + 12, 4);
	memset(a->b + 4, 0, 12);
	a->family = POL_FAMILY_V4;
}

static int v6_parse(const char *s, size_t len, struct pol_addr *ret)
{
	char text[INET6_ADDRSTRLEN];
	struct pol_addr addr = {.family = POL_FAMILY_V6};

	if (len == 0 || len >= sizeof(text) || memchr(s, '\0', len) != NULL)
		return ZW_E_SYNTAX;
	zw_span_cpy(text, sizeof(text), zw_span_n(s, len));
	if (inet_pton(AF_INET6, text, addr.b) != 1)
		return ZW_E_SYNTAX;
	unmap(&addr);
	*ret = addr;
	return 0;
}

/* All digits, or begins like a hexadecimal number: no top-level domain does (RFC 3696). */
static bool looks_numeric(const char *label, size_t len)
{
	if (len >= 2 && label[0] == '0' && label[1] == 'x')
		return true;
	for (size_t i = 0; i < len; i++) {
		if (!is_digit(label[i]))
			return false;
	}
	return len > 0;
}

/* A leading hyphen is refused: such a name would be an option to many a program. A trailing one
 * exists in the wild and harms nobody. */
static bool name_is_good(const char *s, size_t len)
{
	size_t label_len = 0;

	for (size_t i = 0; i < len; i++) {
		char c = s[i];

		if (c == '.') {
			if (label_len == 0)
				return false;
			label_len = 0;
			continue;
		}
		if (!is_digit(c) && !(c >= 'a' && c <= 'z') && c != '-' && c != '_')
			return false;
		if ((c == '-' && label_len == 0) || ++label_len > LABEL_MAX)
			return false;
	}
	return label_len > 0;
}

static int name_parse(const char *s, size_t len, struct pol_host *ret)
{
	char name[POL_HOST_MAX + 1];
	size_t last;

	if (len > 0 && s[len - 1] == '.')
		len--;
	if (len == 0)
		return ZW_E_SYNTAX;
	if (len > POL_HOST_MAX)
		return ZW_E_TOOBIG;
	for (size_t i = 0; i < len; i++)
		name[i] = to_lower(s[i]);
	name[len] = '\0';
	for (last = len; last > 0 && name[last - 1] != '.';)
		last--;
	if (looks_numeric(name + last, len - last)) {
		struct pol_addr addr;

		if (v4_parse(name, len, &addr) < 0)
			return ZW_E_SYNTAX;
		pol_host_from_addr(&addr, ret);
		return 0;
	}
	if (!name_is_good(name, len))
		return ZW_E_SYNTAX;
	*ret = (struct pol_host){.addr.family = POL_FAMILY_NONE};
	memcpy(ret->name, name, len + 1);
	return 0;
}

int pol_host_parse(const char *s, size_t len, struct pol_host *ret)
{
	struct pol_addr addr;

	if (len == 0)
		return ZW_E_SYNTAX;
	if (s[0] != '[' && memchr(s, ':', len) == NULL)
		return name_parse(s, len, ret);
	if (s[0] == '[') {
		if (len < 2 || s[len - 1] != ']')
			return ZW_E_SYNTAX;
		s++;
		len -= 2;
	}
	if (v6_parse(s, len, &addr) < 0)
		return ZW_E_SYNTAX;
	pol_host_from_addr(&addr, ret);
	return 0;
}

void pol_host_from_addr(const struct pol_addr *a, struct pol_host *ret)
{
	struct pol_host host = {.addr = *a};

	unmap(&host.addr);
	pol_addr_format(&host.addr, host.name, sizeof(host.name));
	*ret = host;
}

bool pol_host_eq(const struct pol_host *a, const struct pol_host *b)
{
	if (a->addr.family != b->addr.family)
		return false;
	if (a->addr.family != POL_FAMILY_NONE)
		return memcmp(a->addr.b, b->addr.b, sizeof(a->addr.b)) == 0;
	return strcmp(a->name, b->name) == 0;
}

bool pol_host_is_localhost(const struct pol_host *h)
{
	return h->addr.family == POL_FAMILY_NONE &&
	       (strcmp(h->name, "localhost") == 0 || zw_ends_with(h->name, ".localhost"));
}
