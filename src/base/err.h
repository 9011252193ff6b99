/* SPDX-License-Identifier: MIT
 * Error codes. A function that can fail returns an int: >= 0 good, -errno for the system,
 * ZW_E_* (<= -1000) for zwatch's own. The rows stand in err.def. */
#ifndef ZW_BASE_ERR_H
#define ZW_BASE_ERR_H

enum zw_err {
#define ZW_ERR(name, number, class, text) ZW_E_##name = (number),
#include "src/base/err.def"
#undef ZW_ERR
};

/** What the edge of a loop does about an error. */
enum zw_err_class { ZW_CLASS_PEER, ZW_CLASS_CHILD, ZW_CLASS_USER, ZW_CLASS_BUG };

/** Text of a negative return value, ours or the system's. Never NULL, static storage. */
const char *zw_strerror(int code);

/** Class of one of our codes; a system error counts as PEER. */
enum zw_err_class zw_err_class(int code);

#endif
