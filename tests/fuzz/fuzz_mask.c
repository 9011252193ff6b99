/* SPDX-License-Identifier: MIT
 * zw_mask(): bounded and terminated for any bytes; and a secret behind a flag of its own is never
 * in the result, whatever stands around it. */
#include <assert.h>
#include <stdint.h>

#include "src/base/mask.h"
#include "src/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char secret[] = "\0--password\0Qz7SECRETz7Q";
	static char in[ZW_MASK_MAX], out[ZW_MASK_MAX + 1];
	size_t len = size < sizeof(in) ? size : sizeof(in);

	if (len > 0)
		memcpy(in, data, len);
	for (size_t room = 1; room <= sizeof(out); room = room * 64 + 1) {
		memset(out, 0x7f, sizeof(out));
		size_t n = zw_mask(out, room, in, len);
		assert(n < room && out[n] == '\0');
	}
	if (memmem(in, len, "SECRET", 6) != NULL)
		return 0;
	if (len + sizeof(secret) > sizeof(in))
		len = sizeof(in) - sizeof(secret);
	memcpy(in + len, secret, sizeof(secret));
	size_t n = zw_mask(out, sizeof(out), in, len + sizeof(secret));
	assert(memmem(out, n, "SECRET", 6) == NULL);
	return 0;
}
