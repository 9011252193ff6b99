/* SPDX-License-Identifier: MIT */
#include "proxy/http1.h"

#include <strings.h>

#include "src/base/err.h"
#include "src/base/mem.h"

#define PORT_HTTP 80

/* A position in the head while it is taken apart; the end is known to be CRLF CRLF. */
struct cursor {
	const char *at;
	const char *end;
};

static int refuse(const char **ret_why, int code, const char *why)
{
	if (ret_why != NULL)
		*ret_why = why;
	return code;
}

/* RFC 9110, section 5.6.2. */
static bool is_token_byte(unsigned char c)
{
	if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
		return true;
	return c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL;
}

static bool is_token(struct zw_span s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (!is_token_byte((unsigned char)s.p[i]))
			return false;
	}
	return s.len > 0;
}

static bool span_is(struct zw_span s, const char *word)
{
	return s.len == strlen(word) && strncasecmp(s.p, word, s.len) == 0;
}

static struct zw_span trim(struct zw_span s)
{
	while (s.len > 0 && (s.p[0] == ' ' || s.p[0] == '\t')) {
		s.p++;
		s.len--;
	}
	while (s.len > 0 && (s.p[s.len - 1] == ' ' || s.p[s.len - 1] == '\t'))
		s.len--;
	return s;
}

/* One byte at @i: good, or the reason why not. Only what stands before it matters, so a prefix is
 * judged as the whole is. */
static const char *check_byte(const uint8_t *buf, size_t i)
{
	bool after_cr = i > 0 && buf[i - 1] == '\r';

	if (i == 0 && !is_token_byte(buf[0]))
		return "this is not HTTP";
	if (after_cr != (buf[i] == '\n'))
		return "a line must end in CR LF, and these stand nowhere else";
	if ((buf[i] < ' ' && buf[i] != '\t' && buf[i] != '\r' && buf[i] != '\n') || buf[i] == 0x7f)
		return "a control character in the head";
	return NULL;
}

/* Length of the head up to and with CRLF CRLF; 0 = not there yet. */
static int find_end(const uint8_t *buf, size_t len, size_t max_b, size_t *io_scanned,
		    const char **ret_why)
{
	size_t i = io_scanned != NULL ? *io_scanned : 0;

	for (; i < len && i < max_b; i++) {
		const char *why = check_byte(buf, i);

		if (why != NULL)
			return refuse(ret_why, ZW_E_SYNTAX, why);
		if (i >= 3 && buf[i] == '\n' && buf[i - 2] == '\n')
			return (int)i + 1;
	}
	if (io_scanned != NULL)
		*io_scanned = i;
	return i >= max_b ? refuse(ret_why, ZW_E_TOOBIG, "the head is too long") : 0;
}

/* The next line without its CRLF. */
static struct zw_span next_line(struct cursor *c)
{
	const char *cr = memchr(c->at, '\r', (size_t)(c->end - c->at));
	struct zw_span line = zw_span_n(c->at, (size_t)(cr - c->at));

	c->at = cr + 2;
	return line;
}

int px_authority_parse(struct zw_span s, uint16_t default_port, struct pol_host *ret_host,
		       uint16_t *ret_port)
{
	const char *end = s.p + s.len, *host_end;
	uint64_t port = default_port;
	struct pol_host host;

	if (s.len == 0)
		return ZW_E_SYNTAX;
	if (s.p[0] == '[') {
		host_end = memchr(s.p, ']', s.len);
		host_end = host_end != NULL ? host_end + 1 : end;
	} else {
		host_end = memchr(s.p, ':', s.len);
		host_end = host_end != NULL ? host_end : end;
	}
	if (host_end < end &&
	    (host_end[0] != ':' ||
	     zw_parse_u64(host_end + 1, (size_t)(end - host_end) - 1, UINT16_MAX, &port) < 0))
		return ZW_E_SYNTAX;
	if (port == 0 || pol_host_parse(s.p, (size_t)(host_end - s.p), &host) < 0)
		return ZW_E_SYNTAX;
	*ret_host = host;
	*ret_port = (uint16_t)port;
	return 0;
}

/* Path and query of an http URL, or of a redirected request. Raw bytes above 0x7f are wrong there,
 * and so common that every server takes them. */
static bool path_is_good(struct zw_span s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] == ' ' || s.p[i] == '\t' || s.p[i] == '#')
			return false;
	}
	return true;
}

static int parse_absolute(struct zw_span target, struct px_http1_head *h, const char **ret_why)
{
	static const char scheme[] = "http://";
	struct zw_span rest;
	size_t n = 0;

	if (target.len < sizeof(scheme) - 1 ||
	    strncasecmp(target.p, scheme, sizeof(scheme) - 1) != 0)
		return refuse(ret_why, ZW_E_UNSUPPORTED,
			      "only http:// is taken in a request line; use CONNECT for the rest");
	rest = zw_span_n(target.p + sizeof(scheme) - 1, target.len - sizeof(scheme) + 1);
	while (n < rest.len && rest.p[n] != '/' && rest.p[n] != '?')
		n++;
	if (memchr(rest.p, '@', n) != NULL)
		return refuse(ret_why, ZW_E_SYNTAX, "a user name in the URL is not taken");
	if (px_authority_parse(zw_span_n(rest.p, n), PORT_HTTP, &h->host, &h->port) < 0)
		return refuse(ret_why, ZW_E_SYNTAX,
			      "the URL has no host and port that could be "
			      "judged");
	h->path = zw_span_n(rest.p + n, rest.len - n);
	h->form = PX_FORM_ABSOLUTE;
	h->has_host = true;
	return 0;
}

static int parse_target(struct zw_span target, struct px_http1_head *h, const char **ret_why)
{
	if (zw_span_eq(h->method, "CONNECT")) {
		h->form = PX_FORM_CONNECT;
		h->has_host = true;
		if (px_authority_parse(target, 0, &h->host, &h->port) == 0)
			return 0;
		return refuse(ret_why, ZW_E_SYNTAX, "CONNECT wants host:port");
	}
	if (!path_is_good(target) || target.len == 0)
		return refuse(ret_why, ZW_E_SYNTAX, "the request target is not well-formed");
	if (target.p[0] == '/') {
		h->form = PX_FORM_ORIGIN;
		h->path = target;
		return 0;
	}
	if (zw_span_eq(target, "*") && zw_span_eq(h->method, "OPTIONS")) {
		h->form = PX_FORM_ASTERISK;
		h->path = target;
		return 0;
	}
	return parse_absolute(target, h, ret_why);
}

static int parse_request_line(struct zw_span line, struct px_http1_head *h, const char **ret_why)
{
	static const char http[] = "HTTP/";
	const char *first = memchr(line.p, ' ', line.len);
	const char *last = memrchr(line.p, ' ', line.len);
	struct zw_span version;

	if (first == NULL || first == last)
		return refuse(ret_why, ZW_E_SYNTAX, "the request line is not well-formed");
	h->method = zw_span_n(line.p, (size_t)(first - line.p));
	version = zw_span_n(last + 1, (size_t)(line.p + line.len - last) - 1);
	if (!is_token(h->method))
		return refuse(ret_why, ZW_E_SYNTAX, "the method is not well-formed");
	if (version.len != 8 || memcmp(version.p, http, sizeof(http) - 1) != 0 ||
	    version.p[6] != '.' || version.p[5] < '0' || version.p[5] > '9' || version.p[7] < '0' ||
	    version.p[7] > '9')
		return refuse(ret_why, ZW_E_SYNTAX, "the HTTP version is not well-formed");
	if (version.p[5] != '1' || version.p[7] > '1')
		return refuse(ret_why, ZW_E_UNSUPPORTED,
			      "only HTTP/1.0 and HTTP/1.1 are spoken "
			      "here");
	h->minor = version.p[7] == '1';
	return parse_target(zw_span_n(first + 1, (size_t)(last - first) - 1), h, ret_why);
}

static int parse_field(struct zw_span line, struct px_http1_head *h, const char **ret_why)
{
	const char *colon = memchr(line.p, ':', line.len);
	struct px_field *f;

	if (h->n_fields == PX_FIELDS_MAX)
		return refuse(ret_why, ZW_E_TOOBIG, "too many header fields");
	if (line.p[0] == ' ' || line.p[0] == '\t')
		return refuse(ret_why, ZW_E_SYNTAX, "a header field is folded over two lines");
	if (colon == NULL)
		return refuse(ret_why, ZW_E_SYNTAX, "a header field has no colon");
	f = &h->fields[h->n_fields];
	f->name = zw_span_n(line.p, (size_t)(colon - line.p));
	f->value = trim(zw_span_n(colon + 1, (size_t)(line.p + line.len - colon) - 1));
	if (!is_token(f->name))
		return refuse(ret_why, ZW_E_SYNTAX,
			      "the name of a header field is not "
			      "well-formed");
	h->n_fields++;
	return 0;
}

const struct px_field *px_http1_field(const struct px_http1_head *h, const char *name)
{
	for (size_t i = 0; i < h->n_fields; i++) {
		if (span_is(h->fields[i].name, name))
			return &h->fields[i];
	}
	return NULL;
}

/* The only field of this name; NULL with *ret_n = how many there are when that is not one. */
static const struct px_field *only_field(const struct px_http1_head *h, const char *name,
					 unsigned *ret_n)
{
	const struct px_field *found = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < h->n_fields; i++) {
		if (!span_is(h->fields[i].name, name))
			continue;
		found = &h->fields[i];
		(*ret_n)++;
	}
	return *ret_n == 1 ? found : NULL;
}

static int check_host(struct px_http1_head *h, const char **ret_why)
{
	unsigned n;
	const struct px_field *f = only_field(h, "Host", &n);
	struct pol_host host;
	uint16_t port, expected = h->form == PX_FORM_CONNECT ? h->port : PORT_HTTP;

	if (n > 1)
		return refuse(ret_why, ZW_E_SYNTAX, "more than one Host field");
	if (f == NULL && h->minor == 1)
		return refuse(ret_why, ZW_E_SYNTAX, "no Host field");
	if (f == NULL)
		return 0;
	if (px_authority_parse(f->value, expected, &host, &port) < 0)
		return refuse(ret_why, ZW_E_SYNTAX,
			      "the Host field has no host and port that "
			      "could be judged");
	if (h->has_host && (!pol_host_eq(&host, &h->host) || port != h->port))
		return refuse(ret_why, ZW_E_SYNTAX,
			      "the Host field names another host than the "
			      "request line");
	h->host = host;
	h->port = port;
	h->has_host = true;
	return 0;
}

static int check_body(struct px_http1_head *h, const char **ret_why)
{
	unsigned n_length, n_coding;
	const struct px_field *length = only_field(h, "Content-Length", &n_length);
	const struct px_field *coding = only_field(h, "Transfer-Encoding", &n_coding);

	if (n_length > 1 || n_coding > 1)
		return refuse(ret_why, ZW_E_SYNTAX, "the length of the body is told twice");
	if (length != NULL && coding != NULL)
		return refuse(ret_why, ZW_E_SYNTAX,
			      "Content-Length and Transfer-Encoding at "
			      "once");
	if (length != NULL &&
	    zw_parse_u64(length->value.p, length->value.len, INT64_MAX, &h->body_len_b) < 0)
		return refuse(ret_why, ZW_E_SYNTAX, "Content-Length is not a number");
	if (coding != NULL && (h->minor == 0 || !span_is(coding->value, "chunked")))
		return refuse(ret_why, ZW_E_SYNTAX,
			      "Transfer-Encoding other than chunked, or in "
			      "HTTP/1.0");
	if (coding != NULL)
		h->body = PX_BODY_CHUNKED;
	else if (h->body_len_b > 0)
		h->body = PX_BODY_LENGTH;
	if (h->form == PX_FORM_CONNECT && h->body != PX_BODY_NONE)
		return refuse(ret_why, ZW_E_SYNTAX, "CONNECT with a body");
	return 0;
}

/* Takes the next item off a comma-separated list; false at its end. Items may be empty. */
static bool next_item(struct zw_span *list, struct zw_span *ret)
{
	const char *comma;

	if (list->p == NULL)
		return false;
	comma = memchr(list->p, ',', list->len);
	if (comma == NULL) {
		*ret = trim(*list);
		*list = zw_span_n(NULL, 0);
		return true;
	}
	*ret = trim(zw_span_n(list->p, (size_t)(comma - list->p)));
	list->len -= (size_t)(comma - list->p) + 1;
	list->p = comma + 1;
	return true;
}

/* Whether a Connection field lists @name. */
static bool connection_names(const struct px_http1_head *h, struct zw_span name)
{
	for (size_t i = 0; i < h->n_fields; i++) {
		struct zw_span list = h->fields[i].value, item;

		if (!span_is(h->fields[i].name, "Connection"))
			continue;
		while (next_item(&list, &item)) {
			if (item.len == name.len && strncasecmp(item.p, name.p, name.len) == 0)
				return true;
		}
	}
	return false;
}

/* WebSocket alone: behind an upgrade to h2c came requests that nobody sees. */
static bool wants_websocket(const struct px_http1_head *h)
{
	unsigned n;
	const struct px_field *f = only_field(h, "Upgrade", &n);

	return f != NULL && h->minor == 1 && h->body == PX_BODY_NONE &&
	       span_is(f->value, "websocket") && connection_names(h, zw_span("upgrade"));
}

int px_http1_parse(const uint8_t *buf, size_t len, size_t max_b, size_t *io_scanned,
		   struct px_http1_head *ret, const char **ret_why)
{
	size_t max = max_b == 0 ? PX_HEAD_MAX : max_b < PX_HEAD_CEILING ? max_b : PX_HEAD_CEILING;
	int r, end = find_end(buf, len, max, io_scanned, ret_why);
	struct cursor c = {(const char *)buf, (const char *)buf + (end > 0 ? end - 2 : 0)};
	struct px_http1_head h;

	if (end <= 0)
		return end;
	/* The table of fields is filled as far as it counts; clearing it all would cost more than
	 * the rest. */
	memset(&h, 0, offsetof(struct px_http1_head, fields));
	r = parse_request_line(next_line(&c), &h, ret_why);
	while (r == 0 && c.at < c.end)
		r = parse_field(next_line(&c), &h, ret_why);
	if (r == 0)
		r = check_host(&h, ret_why);
	if (r == 0)
		r = check_body(&h, ret_why);
	if (r < 0)
		return r;
	h.wants_upgrade = wants_websocket(&h);
	memcpy(ret, &h, offsetof(struct px_http1_head, fields) + h.n_fields * sizeof(h.fields[0]));
	return end;
}

/* Fields that end here, or that are written anew (RFC 9110, section 7.6.1). */
static bool ends_here(const struct px_http1_head *h, struct zw_span name, bool keep_upgrade)
{
	static const char *const always[] = {
		"Host",		  "Connection",	   "Keep-Alive", "TE", "Transfer-Encoding",
		"Content-Length", "HTTP2-Settings"};

	if (span_is(name, "Upgrade"))
		return !keep_upgrade;
	if (name.len >= 6 && strncasecmp(name.p, "Proxy-", 6) == 0)
		return true;
	for (size_t i = 0; i < ZW_N_ELEMENTS(always); i++) {
		if (span_is(name, always[i]))
			return true;
	}
	return connection_names(h, name);
}

static int write_request_line(const struct px_http1_head *h, struct zw_buf *out)
{
	const char *lead = "", *open = "", *close = "";

	if (h->path.len == 0 && zw_span_eq(h->method, "OPTIONS"))
		lead = "*"; /* RFC 9112, section 3.2.4 */
	else if (h->form == PX_FORM_ABSOLUTE && (h->path.len == 0 || h->path.p[0] != '/'))
		lead = "/";
	if (h->host.addr.family == POL_FAMILY_V6) {
		open = "[";
		close = "]";
	}
	int r = zw_buf_addf(out, "%.*s %s%.*s HTTP/1.1\r\nHost: %s%s%s", (int)h->method.len,
			    h->method.p, lead, (int)h->path.len, h->path.len > 0 ? h->path.p : "",
			    open, h->host.name, close);

	if (r == 0 && h->port != PORT_HTTP)
		r = zw_buf_addf(out, ":%u", h->port);
	return r == 0 ? zw_buf_addf(out, "\r\n") : r;
}

static int write_framing(const struct px_http1_head *h, struct zw_buf *out)
{
	switch (h->body) {
	case PX_BODY_CHUNKED:
		return zw_buf_addf(out, "Transfer-Encoding: chunked\r\n");
	case PX_BODY_LENGTH:
		return zw_buf_addf(out, "Content-Length: %llu\r\n",
				   (unsigned long long)h->body_len_b);
	case PX_BODY_NONE:
		break;
	}
	/* An empty body was promised: some servers insist on the promise. */
	if (px_http1_field(h, "Content-Length") != NULL)
		return zw_buf_addf(out, "Content-Length: 0\r\n");
	return 0;
}

int px_http1_write(const struct px_http1_head *h, bool keep_upgrade, struct zw_buf *out)
{
	size_t before = out->len;
	int r;

	if (h->form == PX_FORM_CONNECT || !h->has_host)
		return ZW_E_UNSUPPORTED;
	keep_upgrade = keep_upgrade && h->wants_upgrade;
	r = write_request_line(h, out);
	for (size_t i = 0; r == 0 && i < h->n_fields; i++) {
		const struct px_field *f = &h->fields[i];

		if (!ends_here(h, f->name, keep_upgrade))
			r = zw_buf_addf(out, "%.*s: %.*s\r\n", (int)f->name.len, f->name.p,
					(int)f->value.len, f->value.p);
	}
	if (r == 0)
		r = write_framing(h, out);
	if (r == 0)
		r = zw_buf_addf(out, "Connection: %s\r\n\r\n", keep_upgrade ? "Upgrade" : "close");
	if (r < 0)
		out->len = before;
	return r;
}

static bool path_begins(struct zw_span path, const char *with)
{
	size_t n = strlen(with);

	return path.len >= n && strncasecmp(path.p, with, n) == 0;
}

/* Whether a query has a parameter, as "dns=". */
static bool query_has(struct zw_span query, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i + n <= query.len; i++) {
		if ((i == 0 || query.p[i - 1] == '&') && memcmp(query.p + i, name, n) == 0)
			return true;
	}
	return false;
}

bool px_http1_is_dns_query(const struct px_http1_head *h)
{
	static const char *const media[] = {"application/dns-message", "application/dns-json"};
	const char *mark = h->path.len > 0 ? memchr(h->path.p, '?', h->path.len) : NULL;
	struct zw_span query = zw_span_n(NULL, 0);

	for (size_t i = 0; i < h->n_fields; i++) {
		const struct px_field *f = &h->fields[i];

		if (!span_is(f->name, "Accept") && !span_is(f->name, "Content-Type"))
			continue;
		for (size_t k = 0; k < ZW_N_ELEMENTS(media); k++)
			if (memmem(f->value.p, f->value.len, media[k], strlen(media[k])) != NULL)
				return true;
	}
	if (mark != NULL)
		query = zw_span_n(mark + 1, (size_t)(h->path.p + h->path.len - mark) - 1);
	return path_begins(h->path, "/dns-query") || query_has(query, "dns=") ||
	       (path_begins(h->path, "/resolve?") && query_has(query, "name="));
}

int px_http1_status(const uint8_t *buf, size_t len)
{
	static const char head[] = "HTTP/1.";
	int status = 0;

	for (size_t i = 0; i < len && i < 13; i++) {
		bool is_digit = buf[i] >= '0' && buf[i] <= '9';

		if (i < 7 ? buf[i] != head[i] : i == 8 ? buf[i] != ' ' : i < 12 && !is_digit)
			return ZW_E_SYNTAX;
		if (i == 12 && buf[i] != ' ' && buf[i] != '\r' && buf[i] != '\n')
			return ZW_E_SYNTAX;
		if (i >= 9 && i < 12)
			status = status * 10 + (buf[i] - '0');
	}
	if (len < 13)
		return 0;
	return status >= 100 ? status : ZW_E_SYNTAX;
}
