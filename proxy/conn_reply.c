/* SPDX-License-Identifier: MIT
 * What a client is told, in the words of its protocol. */
#include "proxy/conn_i.h"
#include "proxy/socks.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/vis.h"
#include "src/base/words.h"

#define BODY_MAX 2048

static void http_response(const struct px_conn *c, const char *status, const char *decision,
			  const char *body, struct zw_buf *out)
{
	zw_buf_addf(
		out,
		"HTTP/1.1 %s\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n"
		"Content-Length: %zu\r\nCache-Control: no-store\r\nX-Zwatch-Decision: %s\r\n",
		status, strlen(body), decision);
	if (c->number.event != 0)
		zw_buf_addf(out, "X-Zwatch-Event: %u.%u\r\n", c->number.session, c->number.event);
	zw_buf_addf(out, "\r\n%s", body);
}

/* One line: what, why, and what the user wrote. Everything foreign is made printable. */
static void sentence(const struct px_conn *c, const char *what, char out[BODY_MAX])
{
	char host[300] = "", reason[700], note[700];

	if (c->host != NULL)
		zw_vis(host, sizeof(host), c->host->name, strlen(c->host->name));
	zw_vis(reason, sizeof(reason), c->reason != NULL ? c->reason : "",
	       c->reason != NULL ? strlen(c->reason) : 0);
	zw_vis(note, sizeof(note), c->note != NULL ? c->note : "",
	       c->note != NULL ? strlen(c->note) : 0);
	snprintf(out, BODY_MAX, "zwatch: %s%s%s:%u%s%s%s%s\n", what, host[0] != '\0' ? " " : "",
		 host, c->port, reason[0] != '\0' ? ": " : "", reason, note[0] != '\0' ? ". " : "",
		 note);
	if (host[0] == '\0')
		snprintf(out, BODY_MAX, "zwatch: %s: %s\n", what, reason);
}

static void http_refusal(const struct px_conn *c, enum px_refusal how, struct zw_buf *out)
{
	static const struct {
		const char *status, *decision, *what;
	} words[] = {
		[PX_REFUSE_DENIED] = {"403 Forbidden", "deny", "denied"},
		[PX_REFUSE_FAILED] = {"502 Bad Gateway", "allow", "not reached:"},
		[PX_REFUSE_TIMEOUT] = {"504 Gateway Timeout", "allow", "not reached:"},
		[PX_REFUSE_LIMIT] = {"503 Service Unavailable", "deny", "denied"},
		[PX_REFUSE_RATE] = {"429 Too Many Requests", "deny", "denied"},
	};
	char body[BODY_MAX];

	sentence(c, words[how].what, body);
	http_response(c, words[how].status, words[how].decision, body, out);
}

static void bad_request(const struct px_conn *c, int error, const char *why, struct zw_buf *out)
{
	const char *status = error == ZW_E_TOOBIG	 ? "431 Request Header Fields Too Large"
			     : error == ZW_E_UNSUPPORTED ? "501 Not Implemented"
			     : error == ZW_E_TIMEOUT	 ? "408 Request Timeout"
							 : "400 Bad Request";
	char body[BODY_MAX];

	snprintf(body, sizeof(body), "zwatch: %s\n", why);
	http_response(c, status, "deny", body, out);
}

void px_conn_http_refusal(const struct px_conn *c, struct zw_buf *out)
{
	http_refusal(c, PX_REFUSE_DENIED, out);
}

static void socks_reply(const struct px_conn *c, enum px_socks_reply code, struct zw_buf *out)
{
	uint8_t bytes[PX_SOCKS_REPLY_MAX];

	zw_buf_add(out, bytes, px_socks_reply_write(c->socks_version, code, bytes));
}

bool px_conn_refusal(const struct px_conn *c, struct zw_buf *out)
{
	bool is_limit = c->refusal == PX_REFUSE_LIMIT || c->refusal == PX_REFUSE_RATE;

	if (c->listener == PX_HTTP && c->refusal == PX_REFUSE_BAD)
		bad_request(c, c->error, c->reason != NULL ? c->reason : "", out);
	else if (c->listener == PX_HTTP)
		http_refusal(c, c->refusal, out);
	else if (c->listener == PX_SOCKS && c->socks_version != 0)
		socks_reply(c, is_limit ? PX_SOCKS_DENIED : px_socks_reply_of(c->error), out);
	else
		return false;
	return true;
}

void px_conn_granted(struct px_conn *c, struct zw_buf *out)
{
	if (c->via == ZW_VIA_CONNECT)
		zw_buf_addf(out, "HTTP/1.1 200 Connection established\r\n\r\n");
	else if (c->via == ZW_VIA_SOCKS5)
		socks_reply(c, PX_SOCKS_GRANTED, out);
}
