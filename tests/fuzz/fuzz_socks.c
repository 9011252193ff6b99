/* SPDX-License-Identifier: MIT
 * SOCKS. Invariant: a prefix waits or is judged as the whole. */
#include <assert.h>

#include "proxy/socks.h"
#include "src/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct px_socks_request whole, part;
	bool none;
	int hello = px_socks5_hello_parse(data, size, &none);
	int r = px_socks_request_parse(data, size, &whole);
	uint8_t out[PX_SOCKS_REPLY_MAX];

	for (size_t len = 0; len < size && len < PX_SOCKS_REQUEST_MAX; len++) {
		int p = px_socks_request_parse(data, len, &part);
		int q = px_socks5_hello_parse(data, len, &none);

		assert(r > 0 && len >= (size_t)r ? p == r : p == 0 || p == r);
		assert(hello > 0 && len >= (size_t)hello ? q == hello : q == 0 || q == hello);
	}
	if (r == 0)
		assert(size < PX_SOCKS_REQUEST_MAX);
	if (r > 0)
		assert(whole.port != 0 && whole.host.name[0] != '\0');
	assert(px_socks_reply_write(5, px_socks_reply_of(r < 0 ? r : 0), out) <= sizeof(out));
	return 0;
}
