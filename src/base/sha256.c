/* SPDX-License-Identifier: MIT */
#include "src/base/sha256.h"

#include <string.h>

static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void block_add(uint32_t state[8], const uint8_t *p)
{
	uint32_t w[64], v[8];

	for (int i = 0; i < 16; i++)
		w[i] = be32(p + 4 * i);
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
	memcpy(v, state, sizeof(v));
	for (int i = 0; i < 64; i++) {
		uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
		uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
		uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
		uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		state[i] += v[i];
}

void zw_sha256_init(struct zw_sha256 *s)
{
	*s = (struct zw_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void zw_sha256_add(struct zw_sha256 *s, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	size_t used = s->len_b % 64;

	s->len_b += len;
	if (used > 0) {
		size_t n = len < 64 - used ? len : 64 - used;

		memcpy(s->block + used, p, n);
		p += n;
		len -= n;
		if (used + n < 64)
			return;
		block_add(s->state, s->block);
	}
	for (; len >= 64; p += 64, len -= 64)
		block_add(s->state, p);
	if (len > 0)
		memcpy(s->block, p, len);
}

void zw_sha256_hex(struct zw_sha256 *s, char out[ZW_SHA256_HEX + 1])
{
	static const uint8_t pad[64] = {0x80};
	static const char digits[] = "0123456789abcdef";
	uint64_t bits = s->len_b * 8;
	uint8_t end[8];

	for (int i = 0; i < 8; i++)
		end[i] = (uint8_t)(bits >> (56 - 8 * i));
	zw_sha256_add(s, pad, 1 + (119 - s->len_b % 64) % 64);
	zw_sha256_add(s, end, sizeof(end));
	for (int i = 0; i < 64; i++)
		out[i] = digits[s->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
	out[64] = '\0';
}
