/* SPDX-License-Identifier: MIT
 * Hosts. Invariants: the canonical form is canonical; what inet_aton(3) and inet_pton(3) take as an
 * address is never a name. */
#include <arpa/inet.h>
#include <assert.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/policy/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_canonical(const struct pol_host *h)
{
	struct pol_host again;
	size_t len = strlen(h->name);

	assert(len > 0 && len <= POL_HOST_MAX);
	for (size_t i = 0; i < len; i++)
		assert(h->name[i] > ' ' && h->name[i] < 0x7f &&
		       strchr("/@%*?#[]\\", h->name[i]) == NULL);
	assert(pol_host_parse(h->name, len, &again) == 0);
	assert(pol_host_eq(h, &again) && strcmp(h->name, again.name) == 0);
}

/* The C library as a second opinion. */
static void check_libc(const char *text, size_t len, int r, const struct pol_host *h)
{
	struct in6_addr six;
	struct in_addr four;

	if (strlen(text) != len || r == ZW_E_TOOBIG)
		return;
	if (inet_pton(AF_INET6, text, &six) == 1)
		assert(r == 0 && h->addr.family != POL_FAMILY_NONE);
	/* inet_aton(3) also takes blanks and whatever follows them */
	if (strpbrk(text, " \t\n\v\f\r") == NULL && inet_aton(text, &four) == 1) {
		assert(r == 0 && h->addr.family == POL_FAMILY_V4);
		assert(memcmp(&four, h->addr.b, 4) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pol_host h;
	zw_autofree char *text = zw_xmemdup0(data, size);
	int r = pol_host_parse(text, size, &h);
	struct pol_addr any = {POL_FAMILY_V6, {0}}, v4;

	check_libc(text, size, r, &h);
	if (r == 0)
		check_canonical(&h);
	if (r == 0 && h.addr.family != POL_FAMILY_NONE)
		pol_addr_classify(&h.addr);
	memcpy(any.b, data, size < 16 ? size : 16);
	if (pol_addr_unwrap(&any, &v4) && pol_addr_classify(&v4) != POL_ADDR_PUBLIC)
		assert(pol_addr_classify(&any) != POL_ADDR_PUBLIC);
	return 0;
}
