/* SPDX-License-Identifier: MIT
 * UTF-8 by RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef ZW_BASE_UTF8_H
#define ZW_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/**
 * Decodes the character at @p.
 *
 * Returns  its length in bytes (1 to 4), or -1: not UTF-8, or cut off at @len
 */
int zw_utf8_decode(const uint8_t *p, size_t len, uint32_t *ret_cp);

/** Encodes @cp (a scalar value) into @out. Returns the number of bytes, 1 to 4. */
int zw_utf8_encode(char out[4], uint32_t cp);

#endif
