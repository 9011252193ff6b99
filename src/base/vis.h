/* SPDX-License-Identifier: MIT
 * Makes foreign text printable. Every byte from inside the sandbox or from the net passes here
 * before a log, a screen, a list or a window title shows it. */
#ifndef ZW_BASE_VIS_H
#define ZW_BASE_VIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Whether a code point may be shown as it is: not C0, C1, a bidirectional or zero-width control,
 * a noncharacter, a surrogate or a tag (the list of Unicode's default-ignorable controls that
 * reorder, hide or forge text).
 */
bool zw_vis_is_safe(uint32_t cp);

/**
 * Writes @src to @dst with every unsafe code point and every byte that is not UTF-8 escaped:
 * \n \t \r \\ as such, other bytes as \xHH, other code points as \u{HEX}.
 * Cut at a whole character when @dst is full; always NUL-terminated when @size > 0.
 *
 * Returns  bytes written, without the NUL
 */
size_t zw_vis(char *dst, size_t size, const void *src, size_t len);

/** As zw_vis into new memory, at most @max bytes of result. Ownership: caller frees. */
char *zw_vis_dup(const void *src, size_t len, size_t max);

#endif
