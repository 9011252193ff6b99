/* SPDX-License-Identifier: MIT */
#include "proxy/fake.h"

#include <sys/queue.h>

#include "src/base/map.h"
#include "src/base/mem.h"

#define N_ADDRS	  131072u
#define NET_FIRST 0xc6120000u /* 198.18.0.0 */
/* 198.19.255.254 is the loopback interface's own; first and last of the net look odd to programs. */
#define OFFSET_FIRST 1u
#define OFFSET_LAST  (N_ADDRS - 3)

struct entry {
	struct zw_map_node node;
	TAILQ_ENTRY(entry) by_use;
	uint32_t offset;
	char name[];
};

struct px_fake {
	struct zw_map map;
	TAILQ_HEAD(, entry) by_use; /* oldest use first */
	size_t max;
	uint32_t next; /* where the search for a free offset goes on */
	struct entry *by_offset[N_ADDRS];
};

struct px_fake *px_fake_new(size_t max)
{
	struct px_fake *f = zw_xnew(struct px_fake);

	zw_map_init(&f->map);
	TAILQ_INIT(&f->by_use);
	f->max = max < PX_FAKE_MAX ? max : PX_FAKE_MAX;
	f->next = OFFSET_FIRST;
	return f;
}

static void drop(struct px_fake *f, struct entry *e)
{
	zw_map_remove(&f->map, &e->node);
	TAILQ_REMOVE(&f->by_use, e, by_use);
	f->by_offset[e->offset] = NULL;
	free(e);
}

void px_fake_free(struct px_fake *f)
{
	struct entry *e;

	if (f == NULL)
		return;
	while ((e = TAILQ_FIRST(&f->by_use)) != NULL)
		drop(f, e);
	zw_map_fini(&f->map);
	free(f);
}

/* There is always one: fewer names than addresses are kept. The last octets 0 and 255 are left out,
 * since some programs take them for a net. */
static uint32_t offset_free(struct px_fake *f)
{
	for (;;) {
		uint32_t offset = f->next;

		f->next = offset >= OFFSET_LAST ? OFFSET_FIRST : offset + 1;
		if (f->by_offset[offset] == NULL && (offset & 255) != 0 && (offset & 255) != 255)
			return offset;
	}
}

static void touch(struct px_fake *f, struct entry *e)
{
	TAILQ_REMOVE(&f->by_use, e, by_use);
	TAILQ_INSERT_TAIL(&f->by_use, e, by_use);
}

static struct entry *entry_new(struct px_fake *f, const char *name, size_t len)
{
	if (f->map.n >= f->max)
		drop(f, TAILQ_FIRST(&f->by_use));
	struct entry *e = zw_xcalloc(1, sizeof(*e) + len + 1);
	memcpy(e->name, name, len);
	e->offset = offset_free(f);
	f->by_offset[e->offset] = e;
	zw_map_add(&f->map, &e->node, e->name, len);
	TAILQ_INSERT_TAIL(&f->by_use, e, by_use);
	return e;
}

void px_fake_addr(struct px_fake *f, const char *name, struct pol_addr *ret)
{
	size_t len = strnlen(name, POL_HOST_MAX);
	struct zw_map_node *n = zw_map_find(&f->map, name, len);
	struct entry *e;

	if (n != NULL) {
		e = zw_map_entry(n, struct entry, node);
		touch(f, e);
	} else {
		e = entry_new(f, name, len);
	}
	uint32_t v4 = NET_FIRST + e->offset;
	*ret = (struct pol_addr){
		.family = POL_FAMILY_V4,
		.b = {(uint8_t)(v4 >> 24), (uint8_t)(v4 >> 16), (uint8_t)(v4 >> 8), (uint8_t)v4}};
}

const char *px_fake_name(struct px_fake *f, const struct pol_addr *addr)
{
	const uint8_t *b = addr->b;
	uint32_t v4 = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];

	if (addr->family != POL_FAMILY_V4 || v4 - NET_FIRST >= N_ADDRS)
		return NULL;
	struct entry *e = f->by_offset[v4 - NET_FIRST];
	if (e == NULL)
		return NULL;
	touch(f, e);
	return e->name;
}

size_t px_fake_n(const struct px_fake *f)
{
	return f->map.n;
}
