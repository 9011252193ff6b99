/* SPDX-License-Identifier: MIT
 * Takes secrets out of command lines and other texts before they are stored or shown. */
#ifndef ZW_BASE_MASK_H
#define ZW_BASE_MASK_H

#include <stddef.h>

/** Longest text that is looked at; what is behind it is dropped. */
#define ZW_MASK_MAX 8192

/**
 * Copies @src to @dst with "***" in the place of whatever looks like a secret: credentials and
 * queries of URLs, values of flags and variables whose names say so (--token X, PASSWORD=X,
 * "secret": "X"), headers (Authorization, Cookie ...), request bodies, tokens of known makers, and
 * long random strings. It would rather hide too much. The rules stand in secret.def.
 * No I/O; any bytes are safe. Rules of zw_mask_rules() count as well.
 *
 * @src     arguments with a NUL between them, or plain text
 * @dst     at least 1 byte; a NUL is written behind the end
 * Returns  bytes written, without that NUL; what does not fit is cut
 */
size_t zw_mask(char *dst, size_t size, const char *src, size_t len);

/** Rules of the settings: at most so many, of so many bytes each. */
#define ZW_MASK_RULES_MAX   32
#define ZW_MASK_RULE_MAX_B  256
#define ZW_MASK_RULES_MAX_B 8256

/** Whether @rule can be one: 0, or ZW_E_SYNTAX with the reason in *ret_why (static). */
int zw_mask_check_flag(const char *rule, const char **ret_why);
int zw_mask_check_pattern(const char *rule, const char **ret_why);

/**
 * The rules of this process from now on, in the place of those before: for each a letter, its text, a
 * NUL. `f`: a flag, whose value is hidden ("--license"); `p`: a POSIX extended regular expression, all
 * of whose matches are. What zw_mask_check_*() would refuse is left out.
 */
void zw_mask_rules(const char *rules, size_t len);

#endif
