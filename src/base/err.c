/* SPDX-License-Identifier: MIT */
#include "src/base/err.h"

#include <string.h>

const char *zw_strerror(int code)
{
	switch (code) {
#define ZW_ERR(name, number, class, text) \
	case number:                      \
		return text;
#include "src/base/err.def"
#undef ZW_ERR
	default:
		break;
	}
	const char *text = code < 0 ? strerrordesc_np(-code) : NULL;
	return text != NULL ? text : "unknown error";
}

enum zw_err_class zw_err_class(int code)
{
	switch (code) {
#define ZW_ERR(name, number, class, text) \
	case number:                      \
		return ZW_CLASS_##class;
#include "src/base/err.def"
#undef ZW_ERR
	default:
		return ZW_CLASS_PEER;
	}
}
