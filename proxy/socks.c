/* SPDX-License-Identifier: MIT */
#include "proxy/socks.h"

#include <errno.h>

#include "src/base/err.h"
#include "src/base/mem.h"

enum { CMD_CONNECT = 1 };
enum { ATYP_V4 = 1, ATYP_NAME = 3, ATYP_V6 = 4 };
enum { METHOD_NONE = 0, METHOD_NO_ACCEPTABLE = 255 };
enum { SOCKS4_GRANTED = 90, SOCKS4_REJECTED = 91 };

#define SOCKS4_TEXT_MAX 255 /* user id, and name: the protocol has no limit */

int px_socks5_hello_parse(const uint8_t *buf, size_t len, bool *ret_has_none)
{
	size_t n_methods;

	if (len >= 1 && buf[0] != 5)
		return ZW_E_SYNTAX;
	if (len < 2)
		return 0;
	n_methods = buf[1];
	if (n_methods == 0)
		return ZW_E_SYNTAX;
	if (len < 2 + n_methods)
		return 0;
	*ret_has_none = memchr(buf + 2, METHOD_NONE, n_methods) != NULL;
	return (int)(2 + n_methods);
}

size_t px_socks5_method_write(bool has_none, uint8_t out[2])
{
	out[0] = 5;
	out[1] = has_none ? METHOD_NONE : METHOD_NO_ACCEPTABLE;
	return 2;
}

static uint16_t port_at(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static int finish(struct px_socks_request *r, struct px_socks_request *ret, size_t used)
{
	if (r->port == 0)
		return ZW_E_SYNTAX;
	*ret = *r;
	return (int)used;
}

/* Address and port of a SOCKS5 request: kind at @buf[3]. */
static int parse_5(const uint8_t *buf, size_t len, struct px_socks_request *ret)
{
	struct px_socks_request r = {.version = 5};
	struct pol_addr addr = {.family = POL_FAMILY_NONE};
	size_t need;

	if (len >= 2 && buf[1] != CMD_CONNECT)
		return ZW_E_UNSUPPORTED;
	if (len >= 3 && buf[2] != 0)
		return ZW_E_SYNTAX;
	if (len >= 4 && buf[3] != ATYP_V4 && buf[3] != ATYP_V6 && buf[3] != ATYP_NAME)
		return -EAFNOSUPPORT;
	if (len < 5)
		return 0;
	need = buf[3] == ATYP_V4 ? 4 + 4 + 2 : buf[3] == ATYP_V6 ? 4 + 16 + 2 : 5 + buf[4] + 2u;
	if (len < need)
		return 0;
	r.port = port_at(buf + need - 2);
	if (buf[3] == ATYP_NAME) {
		if (pol_host_parse((const char *)buf + 5, buf[4], &r.host) < 0)
			return ZW_E_SYNTAX;
		return finish(&r, ret, need);
	}
	addr.family = buf[3] == ATYP_V4 ? POL_FAMILY_V4 : POL_FAMILY_V6;
	memcpy(addr.b, buf + 4, need - 6);
	pol_host_from_addr(&addr, &r.host);
	return finish(&r, ret, need);
}

/* A text that ends in NUL, at @off: its length, -1 = not all of it is there, or an error. */
static int text_at(const uint8_t *buf, size_t len, size_t off)
{
	const uint8_t *end = memchr(buf + off, '\0', len - off);
	size_t have = end != NULL ? (size_t)(end - (buf + off)) : len - off;

	if (have > SOCKS4_TEXT_MAX)
		return ZW_E_TOOBIG;
	return end != NULL ? (int)have : -1;
}

/* SOCKS4 as in NEC's memo, 4a: an address 0.0.0.x says that a name follows the user id. */
static int parse_4(const uint8_t *buf, size_t len, struct px_socks_request *ret)
{
	struct px_socks_request r = {.version = 4};
	struct pol_addr addr = {.family = POL_FAMILY_V4};
	size_t used = 8;
	int text;

	if (len >= 2 && buf[1] != CMD_CONNECT)
		return ZW_E_UNSUPPORTED;
	if (len <= used)
		return 0;
	r.port = port_at(buf + 2);
	memcpy(addr.b, buf + 4, 4);
	text = text_at(buf, len, used);
	if (text < 0)
		return text == -1 ? 0 : text;
	used += (size_t)text + 1;
	if (addr.b[0] != 0 || addr.b[1] != 0 || addr.b[2] != 0 || addr.b[3] == 0) {
		pol_host_from_addr(&addr, &r.host);
		return finish(&r, ret, used);
	}
	text = text_at(buf, len, used);
	if (text < 0)
		return text == -1 ? 0 : text;
	if (pol_host_parse((const char *)buf + used, (size_t)text, &r.host) < 0)
		return ZW_E_SYNTAX;
	return finish(&r, ret, used + (size_t)text + 1);
}

int px_socks_request_parse(const uint8_t *buf, size_t len, struct px_socks_request *ret)
{
	if (len == 0)
		return 0;
	if (buf[0] == 5)
		return parse_5(buf, len, ret);
	return buf[0] == 4 ? parse_4(buf, len, ret) : ZW_E_SYNTAX;
}

enum px_socks_reply px_socks_reply_of(int error)
{
	switch (error) {
	case 0:
		return PX_SOCKS_GRANTED;
	case ZW_E_DENIED:
	case -EACCES:
	case -EPERM:
		return PX_SOCKS_DENIED;
	case ZW_E_UNSUPPORTED:
		return PX_SOCKS_BAD_COMMAND;
	case -EAFNOSUPPORT:
		return PX_SOCKS_BAD_ADDRESS;
	case -ENETUNREACH:
		return PX_SOCKS_NET_UNREACHABLE;
	case ZW_E_NOT_FOUND:
	case -EHOSTUNREACH:
		return PX_SOCKS_HOST_UNREACHABLE;
	case -ECONNREFUSED:
		return PX_SOCKS_REFUSED;
	case ZW_E_TIMEOUT:
	case -ETIMEDOUT:
		return PX_SOCKS_TTL_EXPIRED;
	default:
		return PX_SOCKS_FAILED;
	}
}

size_t px_socks_reply_write(unsigned version, enum px_socks_reply code,
			    uint8_t out[PX_SOCKS_REPLY_MAX])
{
	memset(out, 0, PX_SOCKS_REPLY_MAX);
	if (version == 4) {
		out[1] = code == PX_SOCKS_GRANTED ? SOCKS4_GRANTED : SOCKS4_REJECTED;
		return 8;
	}
	out[0] = 5;
	out[1] = (uint8_t)code;
	out[3] = ATYP_V4;
	return 10;
}
