/* SPDX-License-Identifier: MIT
 * The system's table of TCP sockets: any bytes, and what comes out does not change with what follows. */
#include <assert.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/tcp_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool on_each(const struct zw_tcp_listener *l, void *arg)
{
	uint64_t *sum = arg;

	*sum = *sum * 31 + l->port + l->uid + l->ino + l->is_on_loopback;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	zw_autofree char *text = zw_xmalloc(size + 16);
	uint64_t alone = 0, with_more = 0;

	memcpy(text, data, size);
	text[size] = '\0';
	zw_tcp_table(text, on_each, &alone);
	/* Behind it the beginning of another line: it has no end, so it is none. */
	if (strlen(text) == size && size > 0 && text[size - 1] == '\n') {
		memcpy(text + size, "   1: 0100007F:", 16);
		zw_tcp_table(text, on_each, &with_more);
		assert(alone == with_more);
	}
	return 0;
}
