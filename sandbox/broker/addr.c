/* SPDX-License-Identifier: MIT */
#include "sandbox/broker/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "src/base/mem.h"
#include "src/base/str.h"

/* unix(7) and unix_validate_addr(): the name needs no NUL, an abstract one may hold some. */
static int parse_unix(sa_family_t family, const uint8_t *raw, size_t len, struct brk_addr *ret)
{
	size_t head = offsetof(struct sockaddr_un, sun_path);

	if (len <= head || len > sizeof(struct sockaddr_un) || family != AF_UNIX)
		return -EINVAL;
	const char *name = (const char *)raw + head;
	size_t name_len = len - head;
	if (name[0] == '\0') {
		ret->kind = BRK_ADDR_ABSTRACT;
		name++;
		name_len--;
	} else {
		ret->kind = BRK_ADDR_PATH;
		name_len = strnlen(name, name_len);
	}
	memcpy(ret->name, name, name_len);
	ret->name[name_len] = '\0';
	ret->name_len = name_len;
	return 0;
}

static int parse_v4(const uint8_t *raw, size_t len, struct brk_addr *ret)
{
	struct sockaddr_in in;

	if (len < sizeof(in))
		return -EINVAL;
	memcpy(&in, raw, sizeof(in));
	ret->kind = BRK_ADDR_IP;
	ret->ip.family = POL_FAMILY_V4;
	memcpy(ret->ip.b, &in.sin_addr, 4);
	ret->port = ntohs(in.sin_port);
	return 0;
}

static int parse_v6(const uint8_t *raw, size_t len, struct brk_addr *ret)
{
	struct sockaddr_in6 in = {0};

	memcpy(&in, raw, len < sizeof(in) ? len : sizeof(in));
	ret->kind = BRK_ADDR_IP;
	ret->port = ntohs(in.sin6_port);
	if (IN6_IS_ADDR_V4MAPPED(&in.sin6_addr)) {
		ret->ip.family = POL_FAMILY_V4;
		memcpy(ret->ip.b, in.sin6_addr.s6_addr + 12, 4);
	} else {
		ret->ip.family = POL_FAMILY_V6;
		memcpy(ret->ip.b, &in.sin6_addr, 16);
	}
	return 0;
}

/* inet_stream_connect(), ip4_datagram_connect(), __ip6_datagram_connect(): AF_UNSPEC first; an
 * IPv4 address on an IPv6 socket is for datagrams only; 24 bytes (RFC 2133) are enough for IPv6. */
static int parse_inet(int domain, int type, sa_family_t family, const uint8_t *raw, size_t len,
		      struct brk_addr *ret)
{
	const size_t v6_min = 24;

	if (family == AF_UNSPEC) {
		ret->kind = BRK_ADDR_UNSPEC;
		return 0;
	}
	if (domain == AF_INET6 && family == AF_INET && type == SOCK_DGRAM)
		return parse_v4(raw, len, ret);
	if (len < (domain == AF_INET ? sizeof(struct sockaddr_in) : v6_min))
		return -EINVAL;
	if (family != domain)
		return -EAFNOSUPPORT;
	return domain == AF_INET ? parse_v4(raw, len, ret) : parse_v6(raw, len, ret);
}

int brk_addr_parse(int domain, int type, const uint8_t *raw, size_t len, struct brk_addr *ret)
{
	struct brk_addr a = {.raw_len = len};
	sa_family_t family;
	int r;

	if (len < sizeof(family) || len > sizeof(a.raw))
		return -EINVAL;
	memcpy(&family, raw, sizeof(family));
	memcpy(a.raw, raw, len);
	if (domain == AF_UNIX) {
		r = parse_unix(family, raw, len, &a);
	} else if (domain == AF_INET || domain == AF_INET6) {
		r = parse_inet(domain, type, family, raw, len, &a);
	} else if (domain == AF_NETLINK) {
		a.kind = family == AF_UNSPEC ? BRK_ADDR_UNSPEC : BRK_ADDR_NETLINK;
		r = 0;
	} else {
		r = -EAFNOSUPPORT;
	}
	if (r == 0)
		*ret = a;
	return r;
}

void brk_abstract_format(const char *name, size_t len, char *out, size_t size)
{
	size_t at = 0;

	if (size == 0)
		return;
	if (size > 1)
		out[at++] = '@';
	for (size_t i = 0; i < len; i++) {
		bool is_plain = name[i] != '\0' && name[i] != '\\';

		if (is_plain && at + 1 < size) {
			out[at++] = name[i];
		} else if (!is_plain && at + 4 < size) {
			memcpy(out + at, name[i] == '\0' ? "\\x00" : "\\x5c", 4);
			at += 4;
		}
	}
	out[at] = '\0';
}

void brk_addr_format(const struct brk_addr *a, char *out, size_t size)
{
	char ip[64];

	if (size == 0)
		return;
	out[0] = '\0';
	if (a->kind == BRK_ADDR_PATH) {
		zw_strlcpy(out, a->name, size);
	} else if (a->kind == BRK_ADDR_ABSTRACT) {
		brk_abstract_format(a->name, a->name_len, out, size);
	} else if (a->kind == BRK_ADDR_IP) {
		pol_addr_format(&a->ip, ip, sizeof(ip));
		snprintf(out, size, a->ip.family == POL_FAMILY_V6 ? "[%s]:%u" : "%s:%u", ip,
			 a->port);
	}
}

uint32_t brk_addr_v4(const struct brk_addr *a)
{
	if (a->kind != BRK_ADDR_IP || a->ip.family != POL_FAMILY_V4)
		return 0;
	return (uint32_t)a->ip.b[0] << 24 | (uint32_t)a->ip.b[1] << 16 | (uint32_t)a->ip.b[2] << 8 |
	       a->ip.b[3];
}

size_t brk_addr_make_v4(int domain, uint32_t ip, uint16_t port, uint8_t *out)
{
	uint32_t net = htonl(ip);

	if (domain == AF_INET) {
		struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};

		in.sin_addr.s_addr = net;
		memcpy(out, &in, sizeof(in));
		return sizeof(in);
	}
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	in6.sin6_addr.s6_addr[10] = in6.sin6_addr.s6_addr[11] = 0xff;
	memcpy(in6.sin6_addr.s6_addr + 12, &net, 4);
	memcpy(out, &in6, sizeof(in6));
	return sizeof(in6);
}
