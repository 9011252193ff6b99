/* SPDX-License-Identifier: MIT */
#include "src/ipc/msg.h"

#include <endian.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"

static int put_be(struct zw_buf *out, uint64_t value, size_t n)
{
	uint64_t be = htobe64(value << (64 - 8 * n));

	return zw_buf_add(out, &be, n);
}

static int put_span(struct zw_buf *out, struct zw_span s, size_t max)
{
	size_t len = s.len < max ? s.len : max;
	int r = put_be(out, len, 2);

	return r < 0 ? r : zw_buf_add(out, s.p, len);
}

/* A text ends at its first NUL: what the receiver would refuse is not sent. */
static int put_str(struct zw_buf *out, struct zw_span s, size_t max)
{
	if (s.len > 0)
		s.len = strnlen(s.p, s.len);
	return put_span(out, s, max);
}

/* One encoder per row. */
#define U8(n)	     r = r < 0 ? r : put_be(out, m->n, 1);
#define U16(n)	     r = r < 0 ? r : put_be(out, m->n, 2);
#define U32(n)	     r = r < 0 ? r : put_be(out, m->n, 4);
#define U64(n)	     r = r < 0 ? r : put_be(out, m->n, 8);
#define I64(n)	     r = r < 0 ? r : put_be(out, (uint64_t)m->n, 8);
#define STR(n, max)  r = r < 0 ? r : put_str(out, m->n, max);
#define BLOB(n, max) r = r < 0 ? r : put_span(out, m->n, max);
#define ZW_MSG(name, id, from, to, n_fds, fields)                                   \
	static int encode_##name(struct zw_buf *out, const struct zw_msg_##name *m) \
	{                                                                           \
		int r = put_be(out, id, 2);                                         \
		fields return r;                                                    \
	}
#include "src/ipc/msg.def"
#undef ZW_MSG
#undef U8
#undef U16
#undef U32
#undef U64
#undef I64
#undef STR
#undef BLOB

int zw_msg_encode(struct zw_buf *out, enum zw_msg_id id, const void *msg)
{
	switch (id) {
#define ZW_MSG(name, number, from, to, n_fds, fields) \
	case ZW_ID_##name:                            \
		return encode_##name(out, msg);
#include "src/ipc/msg.def"
#undef ZW_MSG
	}
	return ZW_E_UNKNOWN_MSG;
}

struct cursor {
	const uint8_t *p, *end;
};

static int get_be(struct cursor *c, uint64_t *ret, size_t n)
{
	uint64_t be = 0;

	if ((size_t)(c->end - c->p) < n)
		return ZW_E_SHORT;
	memcpy(&be, c->p, n);
	c->p += n;
	*ret = be64toh(be) >> (64 - 8 * n);
	return 0;
}

static int get_span(struct cursor *c, struct zw_span *ret, size_t max, int is_text)
{
	uint64_t len;
	int r = get_be(c, &len, 2);

	if (r < 0)
		return r;
	if (len > max)
		return ZW_E_TOOBIG;
	if ((size_t)(c->end - c->p) < len)
		return ZW_E_SHORT;
	if (is_text && len > 0 && memchr(c->p, 0, len) != NULL)
		return ZW_E_SYNTAX;
	*ret = zw_span_n(c->p, len);
	c->p += len;
	return 0;
}

/* One decoder per row. */
#define NUM(n, size, type)                            \
	if (r >= 0 && (r = get_be(c, &v, size)) >= 0) \
		m->n = (type)v;
#define U8(n)	     NUM(n, 1, uint8_t)
#define U16(n)	     NUM(n, 2, uint16_t)
#define U32(n)	     NUM(n, 4, uint32_t)
#define U64(n)	     NUM(n, 8, uint64_t)
#define I64(n)	     NUM(n, 8, int64_t)
#define STR(n, max)  r = r < 0 ? r : get_span(c, &m->n, max, 1);
#define BLOB(n, max) r = r < 0 ? r : get_span(c, &m->n, max, 0);
#define ZW_MSG(name, id, from, to, n_fds, fields)                           \
	static int decode_##name(struct cursor *c, struct zw_msg_##name *m) \
	{                                                                   \
		uint64_t v = 0;                                             \
		int r = 0;                                                  \
		(void)v;                                                    \
		fields return r;                                            \
	}
#include "src/ipc/msg.def"
#undef ZW_MSG
#undef NUM
#undef U8
#undef U16
#undef U32
#undef U64
#undef I64
#undef STR
#undef BLOB

static int decode_row(struct cursor *c, unsigned id, union zw_msg_any *ret)
{
	switch (id) {
#define ZW_MSG(name, number, from, to, n_fds, fields) \
	case number:                                  \
		return decode_##name(c, &ret->name);
#include "src/ipc/msg.def"
#undef ZW_MSG
	default:
		return ZW_E_UNKNOWN_MSG;
	}
}

struct row {
	unsigned id, from, to;
	size_t n_fds;
	const char *name;
};

static const struct row *row_find(unsigned wanted)
{
	static const struct row rows[] = {
#define ZW_MSG(name, id, from, to, n_fds, fields) {id, from, to, n_fds, #name},
#include "src/ipc/msg.def"
#undef ZW_MSG
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++)
		if (rows[i].id == wanted)
			return &rows[i];
	return NULL;
}

int zw_msg_decode(const uint8_t *frame, size_t len, enum zw_role from, enum zw_role to,
		  size_t n_fds, enum zw_msg_id *ret_id, union zw_msg_any *ret_msg)
{
	struct cursor c = {frame, frame + len};
	uint64_t id;
	int r = get_be(&c, &id, 2);
	const struct row *row = r < 0 ? NULL : row_find((unsigned)id);

	if (r < 0)
		return r;
	if (row == NULL)
		return ZW_E_UNKNOWN_MSG;
	if (!(row->from & from) || !(row->to & to))
		return ZW_E_DIRECTION;
	if (row->n_fds != n_fds)
		return ZW_E_FD_COUNT;
	*ret_msg = (union zw_msg_any){0};
	r = decode_row(&c, (unsigned)id, ret_msg);
	if (r < 0)
		return r;
	if (c.p != c.end)
		return ZW_E_TRAILING;
	*ret_id = (enum zw_msg_id)id;
	return 0;
}

const char *zw_msg_name(unsigned id)
{
	const struct row *row = row_find(id);

	return row != NULL ? row->name : "?";
}

const char *zw_role_name(enum zw_role role)
{
	switch (role) {
	case ROLE_SUPER:
		return "zwatch";
	case ROLE_PANE:
		return "zwatch-pane";
	case ROLE_PROXY:
		return "zwatch-proxy";
	case ROLE_RESOLVER:
		return "zwatch-resolver";
	case ROLE_BROKER:
		return "zwatch-broker";
	case ROLE_AUDIT:
		return "zwatch-audit";
	case ROLE_CLIENT:
		return "zwatch ask";
	case ROLE_HELPERS:
		break;
	}
	return "?";
}
