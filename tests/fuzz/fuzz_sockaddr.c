/* SPDX-License-Identifier: MIT
 * Addresses of connect(), for every kind of socket: the first byte picks it, the rest is the address. */
#include <assert.h>
#include <sys/socket.h>

#include "sandbox/broker/addr.h"
#include "src/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int domains[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_VSOCK};
	struct brk_addr a;
	char text[4096], small[7];

	if (size == 0)
		return 0;
	int domain = domains[data[0] % ZW_N_ELEMENTS(domains)];
	int type = data[0] & 0x80 ? SOCK_DGRAM : SOCK_STREAM;
	if (brk_addr_parse(domain, type, data + 1, size - 1, &a) != 0)
		return 0;
	assert(a.name_len <= BRK_SUN_MAX && a.raw_len <= BRK_ADDR_MAX);
	assert(a.kind != BRK_ADDR_PATH || (strlen(a.name) == a.name_len && a.name_len > 0));
	assert(domain == AF_UNIX || (a.kind != BRK_ADDR_PATH && a.kind != BRK_ADDR_ABSTRACT));
	brk_addr_format(&a, text, sizeof(text));
	brk_addr_format(&a, small, sizeof(small));
	assert(strlen(small) < sizeof(small));
	return 0;
}
