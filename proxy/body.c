/* SPDX-License-Identifier: MIT */
#include "proxy/http1.h"

#include "src/base/err.h"

#define EXTENSION_MAX 256
#define TRAILERS_MAX  8192
#define SIZE_DIGITS   16

/* Places in a chunked body (RFC 9112, section 7.1). */
enum state {
	ST_SIZE_FIRST, /* a digit must come */
	ST_SIZE,
	ST_EXTENSION,
	ST_SIZE_LF,
	ST_DATA,
	ST_DATA_CR,
	ST_DATA_LF,
	ST_TRAILER_FIRST, /* first byte of a line; CR ends the body */
	ST_TRAILER,
	ST_TRAILER_LF,
	ST_END_LF,
	ST_DONE,
	ST_BAD,
};

void px_body_init(struct px_body *b, const struct px_http1_head *h)
{
	*b = (struct px_body){.kind = h->body, .state = ST_DONE};
	if (h->body == PX_BODY_LENGTH) {
		b->state = ST_DATA;
		b->left_b = h->body_len_b;
	} else if (h->body == PX_BODY_CHUNKED) {
		b->state = ST_SIZE_FIRST;
	}
}

bool px_body_is_done(const struct px_body *b)
{
	return b->state == ST_DONE;
}

static int hex_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Text of an extension or trailer; line ends are not among it. */
static bool is_text(uint8_t c)
{
	return (c >= ' ' && c != 0x7f) || c == '\t';
}

static int on_size(struct px_body *b, uint8_t c)
{
	int digit = hex_value(c);

	if (digit >= 0) {
		if (++b->n_line > SIZE_DIGITS)
			return ZW_E_TOOBIG;
		b->left_b = b->left_b << 4 | (unsigned)digit;
		b->state = ST_SIZE;
		return b->left_b > INT64_MAX ? ZW_E_TOOBIG : 0;
	}
	if (b->state == ST_SIZE_FIRST || (c != ';' && c != '\r'))
		return ZW_E_SYNTAX;
	b->state = c == ';' ? ST_EXTENSION : ST_SIZE_LF;
	b->n_line = 0;
	return 0;
}

static int on_extension(struct px_body *b, uint8_t c)
{
	if (c == '\r') {
		b->state = ST_SIZE_LF;
		return 0;
	}
	if (++b->n_line > EXTENSION_MAX)
		return ZW_E_TOOBIG;
	return is_text(c) ? 0 : ZW_E_SYNTAX;
}

static int on_trailer(struct px_body *b, uint8_t c)
{
	if (++b->n_extra > TRAILERS_MAX)
		return ZW_E_TOOBIG;
	if (c == '\r') {
		b->state = b->state == ST_TRAILER_FIRST ? ST_END_LF : ST_TRAILER_LF;
		return 0;
	}
	/* A line that begins with a blank would be folded onto the one before. */
	if (b->state == ST_TRAILER_FIRST && (c == ' ' || c == '\t'))
		return ZW_E_SYNTAX;
	b->state = ST_TRAILER;
	return is_text(c) ? 0 : ZW_E_SYNTAX;
}

static int expect(struct px_body *b, uint8_t c, uint8_t want, enum state next)
{
	b->state = next;
	b->n_line = 0;
	return c == want ? 0 : ZW_E_SYNTAX;
}

static int on_framing(struct px_body *b, uint8_t c)
{
	switch ((enum state)b->state) {
	case ST_SIZE_FIRST:
	case ST_SIZE:
		return on_size(b, c);
	case ST_EXTENSION:
		return on_extension(b, c);
	case ST_SIZE_LF:
		return expect(b, c, '\n', b->left_b > 0 ? ST_DATA : ST_TRAILER_FIRST);
	case ST_DATA_CR:
		return expect(b, c, '\r', ST_DATA_LF);
	case ST_DATA_LF:
		return expect(b, c, '\n', ST_SIZE_FIRST);
	case ST_TRAILER_FIRST:
	case ST_TRAILER:
		return on_trailer(b, c);
	case ST_TRAILER_LF:
		return expect(b, c, '\n', ST_TRAILER_FIRST);
	case ST_END_LF:
		return expect(b, c, '\n', ST_DONE);
	case ST_DATA:
	case ST_DONE:
	case ST_BAD:
		break;
	}
	return ZW_E_SYNTAX;
}

/* As many bytes as the present piece still has. */
static size_t on_data(struct px_body *b, size_t len)
{
	size_t n = len < b->left_b ? len : (size_t)b->left_b;

	b->left_b -= n;
	if (b->left_b == 0)
		b->state = b->kind == PX_BODY_CHUNKED ? ST_DATA_CR : ST_DONE;
	return n;
}

int64_t px_body_feed(struct px_body *b, const uint8_t *buf, size_t len)
{
	size_t i = 0;

	while (i < len && b->state != ST_DONE && b->state != ST_BAD) {
		int r = 0;

		if (b->state == ST_DATA)
			i += on_data(b, len - i);
		else
			r = on_framing(b, buf[i++]);
		if (r < 0) {
			b->state = ST_BAD;
			return r;
		}
	}
	return (int64_t)i;
}
