/* SPDX-License-Identifier: MIT
 * Request heads, read by http_parser as well (the parser that node had for ten years). What zwatch
 * takes, the other must take too, and see the same fields and the same body: otherwise there are
 * two ways to read it. */
#include <assert.h>
#include <http_parser.h>
#include <strings.h>

#include "proxy/http1.h"
#include "src/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	unsigned n_fields;
	bool is_value;
	bool is_complete;
	bool chunked;
	uint64_t length_b;
	bool has_length;
};

static int on_field(http_parser *p, const char *at, size_t len)
{
	struct seen *s = p->data;

	(void)at;
	(void)len;
	if (s->n_fields == 0 || s->is_value)
		s->n_fields++;
	s->is_value = false;
	return 0;
}

static int on_value(http_parser *p, const char *at, size_t len)
{
	struct seen *s = p->data;

	(void)at;
	(void)len;
	s->is_value = true;
	return 0;
}

static int on_head(http_parser *p)
{
	struct seen *s = p->data;

	s->is_complete = true;
	s->chunked = (p->flags & F_CHUNKED) != 0;
	s->has_length = (p->flags & F_CONTENTLENGTH) != 0;
	s->length_b = p->content_length;
	return 0;
}

/* http_parser takes a name for Transfer-Encoding or Content-Length that only begins like it
 * (`Transfer-Encoding*`); so may servers built on it. Nothing comes of it here: the framing is
 * written anew, and no second request follows. */
static bool has_look_alike(const struct px_http1_head *h)
{
	static const char *const names[] = {"transfer-encoding", "content-length", "connection",
					    "upgrade", "proxy-connection"};

	for (size_t i = 0; i < h->n_fields; i++) {
		const struct zw_span *f = &h->fields[i].name;

		for (size_t k = 0; k < ZW_N_ELEMENTS(names); k++) {
			size_t n = strlen(names[k]);

			if (f->len > n && strncasecmp(f->p, names[k], n) == 0)
				return true;
		}
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	http_parser_settings settings;
	struct px_http1_head h;
	struct seen s = {0};
	http_parser p;
	int r = px_http1_parse(data, size, 0, NULL, &h, NULL);

	if (r <= 0 || has_look_alike(&h))
		return 0;
	http_parser_settings_init(&settings);
	settings.on_header_field = on_field;
	settings.on_header_value = on_value;
	settings.on_headers_complete = on_head;
	http_parser_init(&p, HTTP_REQUEST);
	p.data = &s;
	http_parser_execute(&p, &settings, (const char *)data, (size_t)r);
	/* Methods are a closed list there; a target is looked at more closely in places. */
	if (HTTP_PARSER_ERRNO(&p) == HPE_INVALID_METHOD || HTTP_PARSER_ERRNO(&p) == HPE_INVALID_URL)
		return 0;
	assert(HTTP_PARSER_ERRNO(&p) == HPE_OK || HTTP_PARSER_ERRNO(&p) == HPE_PAUSED);
	assert(s.is_complete);
	assert(s.n_fields == h.n_fields);
	assert(p.http_minor == h.minor);
	assert(s.chunked == (h.body == PX_BODY_CHUNKED));
	if (h.body == PX_BODY_LENGTH)
		assert(s.has_length && s.length_b == h.body_len_b);
	else
		assert(!s.has_length || s.length_b == 0);
	return 0;
}
