/* SPDX-License-Identifier: MIT
 * SHA-256 (FIPS 180-4), so that no program needs a library for it. */
#ifndef ZW_BASE_SHA256_H
#define ZW_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define ZW_SHA256_HEX 64

struct zw_sha256 {
	uint32_t state[8];
	uint64_t len_b;
	uint8_t block[64];
};

void zw_sha256_init(struct zw_sha256 *s);
void zw_sha256_add(struct zw_sha256 *s, const void *bytes, size_t len);
/** Lower-case hex digits and a NUL; *s is used up. */
void zw_sha256_hex(struct zw_sha256 *s, char out[ZW_SHA256_HEX + 1]);

#endif
