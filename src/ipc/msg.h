/* SPDX-License-Identifier: MIT
 * The messages between zwatch's processes, made from msg.def: ids, structs, encoder, decoder.
 *
 * A frame is a u16 id, then the fields. Decoding is pure and any
 * bytes are safe: it checks the row, then each field's maximum, then the exact end. */
#ifndef ZW_IPC_MSG_H
#define ZW_IPC_MSG_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/str.h"

#define ZW_MSG_VERSION	1
#define ZW_MSG_SIZE_MAX 65536
#define ZW_MSG_FDS_MAX	8

enum zw_role {
	ROLE_SUPER = 1 << 0,
	ROLE_PANE = 1 << 1,
	ROLE_PROXY = 1 << 2,
	ROLE_RESOLVER = 1 << 3,
	ROLE_BROKER = 1 << 4,
	ROLE_AUDIT = 1 << 5,
	ROLE_CLIENT = 1 << 6, /* zwatch ask, in another terminal of the same user */
	ROLE_HELPERS = ROLE_PANE | ROLE_PROXY | ROLE_RESOLVER | ROLE_BROKER | ROLE_AUDIT,
};

#define ZW_MSG(name, id, from, to, n_fds, fields) ZW_ID_##name = (id),
enum zw_msg_id {
#include "src/ipc/msg.def"
};
#undef ZW_MSG

/* One struct per row. Spans point into the frame and live until the next receive. */
#define U8(n)	     uint8_t n;
#define U16(n)	     uint16_t n;
#define U32(n)	     uint32_t n;
#define U64(n)	     uint64_t n;
#define I64(n)	     int64_t n;
#define STR(n, max)  struct zw_span n;
#define BLOB(n, max) struct zw_span n;
#define ZW_MSG(name, id, from, to, n_fds, fields) \
	struct zw_msg_##name {                    \
		fields                            \
	};
#include "src/ipc/msg.def"
#undef ZW_MSG
#undef U8
#undef U16
#undef U32
#undef U64
#undef I64
#undef STR
#undef BLOB

/** The largest struct, to decode into. */
union zw_msg_any {
#define ZW_MSG(name, id, from, to, n_fds, fields) struct zw_msg_##name name;
#include "src/ipc/msg.def"
#undef ZW_MSG
};

/**
 * Encodes one message behind what @out holds (id and fields).
 * A string longer than its row's maximum is cut there: the sender's edge has bounded it before, and
 * a record that is cut beats one that is lost.
 *
 * @msg     struct zw_msg_<name> of @id
 * Returns  0 or ZW_E_TOOBIG (frame over ZW_MSG_SIZE_MAX), ZW_E_UNKNOWN_MSG
 */
int zw_msg_encode(struct zw_buf *out, enum zw_msg_id id, const void *msg);

/**
 * Checks and decodes one frame that came from @from to @to with @n_fds descriptors.
 *
 * Returns  0; ret_id and ret_msg are filled
 * Errors   ZW_E_SHORT, ZW_E_UNKNOWN_MSG, ZW_E_DIRECTION, ZW_E_FD_COUNT, ZW_E_TOOBIG, ZW_E_SYNTAX
 *          (NUL in a STR), ZW_E_TRAILING: all class CHILD in effect, the sender is a process of ours
 */
int zw_msg_decode(const uint8_t *frame, size_t len, enum zw_role from, enum zw_role to,
		  size_t n_fds, enum zw_msg_id *ret_id, union zw_msg_any *ret_msg);

/** Name of a row for logs, "?" when unknown. */
const char *zw_msg_name(unsigned id);
/** Name of a role: "zwatch-proxy". */
const char *zw_role_name(enum zw_role role);

#endif
