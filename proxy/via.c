/* SPDX-License-Identifier: MIT */
#include "proxy/via.h"

#include <errno.h>

#include "proxy/http1.h"
#include "src/base/err.h"
#include "src/base/mem.h"

enum { SOCKS_NONE = 0, SOCKS_LOGIN = 2, SOCKS_NO_METHOD = 255 };
/* Steps of SOCKS5; HTTP has one. */
enum { STEP_BEGIN, STEP_METHOD, STEP_LOGIN, STEP_REPLY };

int px_via_set(struct px_via *v, struct zw_span url, struct zw_span login)
{
	static const struct {
		const char *scheme;
		enum px_via_kind kind;
	} kinds[] = {{"http://", PX_VIA_HTTP}, {"socks5://", PX_VIA_SOCKS5}};

	*v = (struct px_via){.kind = PX_VIA_NONE};
	if (url.len == 0)
		return 0;
	zw_span_cpy(v->login, sizeof(v->login), login);
	for (size_t i = 0; i < ZW_N_ELEMENTS(kinds); i++) {
		size_t n = strlen(kinds[i].scheme);

		if (url.len <= n || memcmp(url.p, kinds[i].scheme, n) != 0)
			continue;
		v->kind = kinds[i].kind;
		return px_authority_parse(zw_span_n(url.p + n, url.len - n), 0, &v->host, &v->port);
	}
	return ZW_E_SYNTAX;
}

static int fail(struct px_via_talk *t, int error, const char *why)
{
	zw_strlcpy(t->why, why, sizeof(t->why));
	return error;
}

static int refused(struct px_via_talk *t, const char *what, int number)
{
	snprintf(t->why, sizeof(t->why), "the proxy answers %s%d", what, number);
	return -ECONNREFUSED;
}

/* -- HTTP --------------------------------------------------------------------------------------- */

static int base64_add(struct zw_buf *out, const char *s)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t len = strlen(s);
	int r = 0;

	for (size_t i = 0; i < len && r == 0; i += 3) {
		uint32_t v = (uint32_t)(uint8_t)s[i] << 16;
		size_t n = len - i < 3 ? len - i : 3;

		v |= n > 1 ? (uint32_t)(uint8_t)s[i + 1] << 8 : 0;
		v |= n > 2 ? (uint8_t)s[i + 2] : 0;
		char four[4] = {digits[v >> 18], digits[v >> 12 & 63],
				n > 1 ? digits[v >> 6 & 63] : '=', n > 2 ? digits[v & 63] : '='};
		r = zw_buf_add(out, four, sizeof(four));
	}
	return r;
}

static int http_ask(const struct px_via *v, const struct pol_host *host, uint16_t port,
		    struct zw_buf *out)
{
	bool is_v6 = host->addr.family == POL_FAMILY_V6;
	zw_autofree char *at = zw_xasprintf(is_v6 ? "[%s]:%u" : "%s:%u", host->name, port);
	int r = zw_buf_addf(out, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", at, at);

	if (r == 0 && v->login[0] != '\0') {
		r = zw_buf_addf(out, "Proxy-Authorization: Basic ");
		r = r < 0 ? r : base64_add(out, v->login);
		r = r < 0 ? r : zw_buf_addf(out, "\r\n");
	}
	return r < 0 ? r : zw_buf_addf(out, "\r\n");
}

static int http_answer(struct px_via_talk *t, const uint8_t *in, size_t len, size_t *ret_n)
{
	const uint8_t *end = memmem(in, len, "\r\n\r\n", 4);

	if (end == NULL)
		return len >= PX_VIA_IN_MAX
			       ? fail(t, ZW_E_TOOBIG, "the proxy's answer does not end")
			       : 0;
	int status = px_http1_status(in, len);
	*ret_n = (size_t)(end - in) + 4;
	if (status >= 200 && status < 300)
		return 1;
	if (status == 407)
		return fail(t, -ECONNREFUSED,
			    "the proxy wants a login (network.upstreamProxyCredentials)");
	if (status < 200)
		return fail(t, ZW_E_SYNTAX, "what the proxy answers is not HTTP");
	return refused(t, "", status);
}

/* -- SOCKS5 ------------------------------------------------------------------------------------- */

static int socks_ask(const struct pol_host *host, uint16_t port, struct zw_buf *out)
{
	uint8_t q[4 + 1 + 255 + 2] = {5, 1, 0};
	size_t n = 4, len = strlen(host->name);

	if (host->addr.family == POL_FAMILY_NONE) {
		q[3] = 3;
		q[n++] = (uint8_t)len;
		memcpy(q + n, host->name, len);
		n += len;
	} else {
		len = host->addr.family == POL_FAMILY_V4 ? 4 : 16;
		q[3] = len == 4 ? 1 : 4;
		memcpy(q + n, host->addr.b, len);
		n += len;
	}
	q[n++] = (uint8_t)(port >> 8);
	q[n++] = (uint8_t)port;
	return zw_buf_add(out, q, n);
}

static int socks_login(const struct px_via *v, struct zw_buf *out)
{
	const char *colon = strchr(v->login, ':');
	size_t user = colon != NULL ? (size_t)(colon - v->login) : strlen(v->login);
	size_t password = colon != NULL ? strlen(colon + 1) : 0;
	uint8_t head[] = {1, (uint8_t)user}, second = (uint8_t)password;

	if (user > 255 || password > 255)
		return ZW_E_TOOBIG;
	int r = zw_buf_add(out, head, sizeof(head));
	r = r < 0 ? r : zw_buf_add(out, v->login, user);
	r = r < 0 ? r : zw_buf_add(out, &second, 1);
	return r < 0 || password == 0 ? r : zw_buf_add(out, colon + 1, password);
}

static int socks_method(const struct px_via *v, struct px_via_talk *t, uint8_t method,
			const struct pol_host *host, uint16_t port, struct zw_buf *out)
{
	if (method == SOCKS_LOGIN && v->login[0] != '\0') {
		t->step = STEP_LOGIN;
		return socks_login(v, out);
	}
	if (method != SOCKS_NONE)
		return fail(t, -ECONNREFUSED,
			    "the proxy wants a login (network.upstreamProxyCredentials)");
	t->step = STEP_REPLY;
	return socks_ask(host, port, out);
}

/* The reply: as long as the address in it. */
static int socks_reply(struct px_via_talk *t, const uint8_t *in, size_t len, size_t *ret_n)
{
	if (len < 5)
		return 0;
	size_t n = in[3] == 1 ? 10 : in[3] == 4 ? 22 : in[3] == 3 ? 7u + in[4] : 0;
	if (in[0] != 5 || n == 0)
		return fail(t, ZW_E_SYNTAX, "what the proxy answers is not SOCKS5");
	if (len < n)
		return 0;
	*ret_n = n;
	return in[1] == 0 ? 1 : refused(t, "SOCKS error ", in[1]);
}

static int socks_step(const struct px_via *v, struct px_via_talk *t, const struct pol_host *host,
		      uint16_t port, const uint8_t *in, size_t len, struct zw_buf *out,
		      size_t *ret_n)
{
	if (t->step == STEP_REPLY)
		return socks_reply(t, in, len, ret_n);
	if (len < 2)
		return 0;
	*ret_n = 2;
	if (in[0] != (t->step == STEP_METHOD ? 5 : 1))
		return fail(t, ZW_E_SYNTAX, "what the proxy answers is not SOCKS5");
	if (t->step == STEP_METHOD)
		return socks_method(v, t, in[1], host, port, out);
	if (in[1] != 0)
		return fail(t, -ECONNREFUSED, "the proxy refuses the login");
	t->step = STEP_REPLY;
	return socks_ask(host, port, out);
}

int px_via_step(const struct px_via *v, struct px_via_talk *t, const struct pol_host *host,
		uint16_t port, const uint8_t *in, size_t len, struct zw_buf *out, size_t *ret_n)
{
	static const uint8_t without[] = {5, 1, SOCKS_NONE},
			     with[] = {5, 2, SOCKS_NONE, SOCKS_LOGIN};
	bool has_login = v->login[0] != '\0';

	*ret_n = 0;
	if (t->step == STEP_BEGIN) {
		t->step = STEP_METHOD;
		return v->kind == PX_VIA_HTTP ? http_ask(v, host, port, out)
		       : has_login	      ? zw_buf_add(out, with, sizeof(with))
					      : zw_buf_add(out, without, sizeof(without));
	}
	return v->kind == PX_VIA_HTTP ? http_answer(t, in, len, ret_n)
				      : socks_step(v, t, host, port, in, len, out, ret_n);
}
