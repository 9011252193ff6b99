/* SPDX-License-Identifier: MIT
 * Takes secrets out of command lines and other texts before they are stored. */
#ifndef ZW_AUDIT_MASK_H
#define ZW_AUDIT_MASK_H

#include <stddef.h>

/** Longest text that is looked at; what is behind it is dropped. */
#define AUD_MASK_MAX 8192

/**
 * Copies @src to @dst with "***" in the place of whatever looks like a secret: credentials and
 * queries of URLs, values of flags and variables whose names say so (--token X, PASSWORD=X,
 * "secret": "X"), headers (Authorization, Cookie ...), request bodies, tokens of known makers, and
 * long random strings. It would rather hide too much. The rules stand in secret.def.
 * Pure: no I/O, no allocation, any bytes are safe.
 *
 * @src     arguments with a NUL between them, or plain text
 * @dst     at least 1 byte; a NUL is written behind the end
 * Returns  bytes written, without that NUL; what does not fit is cut
 */
size_t aud_mask(char *dst, size_t size, const char *src, size_t len);

#endif
