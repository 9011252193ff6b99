/* SPDX-License-Identifier: MIT */
#include "src/policy/host.h"

#include <arpa/inet.h>
#include <assert.h>

#include "src/base/mem.h"

struct net {
	struct pol_addr addr;
	unsigned bits;
	enum pol_addr_kind kind;
};

#define HI(g) (uint8_t)((g) >> 8)
#define LO(g) (uint8_t)((g)&0xff)

static const struct net nets[] = {
#define ZW_NET4(a, b, c, d, bits, kind, source) \
	{{POL_FAMILY_V4, {a, b, c, d}}, bits, POL_ADDR_##kind},
#define ZW_NET6(a, b, c, d, e, f, g, h, bits, kind, source)                                    \
	{{POL_FAMILY_V6,                                                                       \
	  {HI(a), LO(a), HI(b), LO(b), HI(c), LO(c), HI(d), LO(d), HI(e), LO(e), HI(f), LO(f), \
	   HI(g), LO(g), HI(h), LO(h)}},                                                       \
	 bits,                                                                                 \
	 POL_ADDR_##kind},
#include "src/policy/addr.def"
#undef ZW_NET4
#undef ZW_NET6
};

bool pol_addr_in(const struct pol_addr *a, const struct pol_addr *net, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	if (a->family != net->family || a->family == POL_FAMILY_NONE ||
	    bits > (a->family == POL_FAMILY_V4 ? 32u : 128u))
		return false;
	if (memcmp(a->b, net->b, whole) != 0)
		return false;
	return rest == 0 || (a->b[whole] ^ net->b[whole]) >> (8 - rest) == 0;
}

static enum pol_addr_kind by_table(const struct pol_addr *a)
{
	for (size_t i = 0; i < ZW_N_ELEMENTS(nets); i++) {
		if (pol_addr_in(a, &nets[i].addr, nets[i].bits))
			return nets[i].kind;
	}
	if (a->family == POL_FAMILY_V6 && a->b[0] >> 5 != 1)
		return POL_ADDR_SPECIAL; /* outside 2000::/3 */
	return POL_ADDR_PUBLIC;
}

/* The IPv4 address at @b, each byte turned by @mask. */
static struct pol_addr v4_at(const uint8_t *b, uint8_t mask)
{
	struct pol_addr v4 = {.family = POL_FAMILY_V4};

	for (unsigned i = 0; i < 4; i++)
		v4.b[i] = b[i] ^ mask;
	return v4;
}

static enum pol_addr_kind inner(const uint8_t *b, uint8_t mask)
{
	struct pol_addr v4 = v4_at(b, mask);

	return by_table(&v4);
}

bool pol_addr_unwrap(const struct pol_addr *a, struct pol_addr *ret)
{
	static const struct pol_addr mapped = {POL_FAMILY_V6, {[10] = 0xff, [11] = 0xff}};
	static const struct pol_addr nat64 = {POL_FAMILY_V6, {0, 0x64, 0xff, 0x9b}};

	if (!pol_addr_in(a, &mapped, 96) && !pol_addr_in(a, &nat64, 96))
		return false;
	*ret = v4_at(a->b + 12, 0);
	return true;
}

enum pol_addr_kind pol_addr_classify(const struct pol_addr *a)
{
	static const struct pol_addr six_to_four = {POL_FAMILY_V6, {0x20, 0x02}};
	static const struct pol_addr teredo = {POL_FAMILY_V6, {0x20, 0x01}};
	enum pol_addr_kind kind = POL_ADDR_PUBLIC;
	struct pol_addr v4;

	if (a->family == POL_FAMILY_NONE)
		return POL_ADDR_SPECIAL;
	if (pol_addr_unwrap(a, &v4))
		return by_table(&v4);
	if (pol_addr_in(a, &six_to_four, 16)) {
		kind = inner(a->b + 2, 0);
	} else if (pol_addr_in(a, &teredo, 32)) {
		kind = inner(a->b + 12, 0xff); /* the client, RFC 4380 section 4 */
		if (kind == POL_ADDR_PUBLIC)
			kind = inner(a->b + 4, 0); /* its server */
	}
	/* What is public inside a tunnel is no public address for that: the table refuses tunnels. */
	return kind != POL_ADDR_PUBLIC ? kind : by_table(a);
}

const char *pol_addr_kind_word(enum pol_addr_kind kind)
{
	switch (kind) {
	case POL_ADDR_PUBLIC:
		return "public address";
	case POL_ADDR_LOOPBACK:
		return "loopback address";
	case POL_ADDR_PRIVATE:
		return "private address";
	case POL_ADDR_METADATA:
		return "cloud metadata address";
	case POL_ADDR_SPECIAL:
		return "reserved address";
	case POL_ADDR_FAKE:
		return "stand-in address of zwatch";
	}
	return "";
}

void pol_addr_format(const struct pol_addr *a, char *out, size_t size)
{
	assert(size >= INET6_ADDRSTRLEN);
	if (a->family == POL_FAMILY_NONE ||
	    inet_ntop(a->family == POL_FAMILY_V4 ? AF_INET : AF_INET6, a->b, out,
		      (socklen_t)size) == NULL)
		out[0] = '\0';
}
