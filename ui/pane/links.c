/* SPDX-License-Identifier: MIT */
#include "ui/pane/links.h"

#include <string.h>

#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"
#include "ui/pane/history.h"

/* Lines that must be printed after a search for free numbers that found few, before the next. */
#define SWEEP_PAUSE_N 1000

struct pane_link {
	struct zw_map_node node;
	uint16_t number;
	bool is_used; /* during a sweep */
	char uri[];
};

void pane_links_init(struct pane_links *l)
{
	*l = (struct pane_links){0};
	zw_map_init(&l->by_uri);
}

void pane_links_fini(struct pane_links *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->link[i]);
	zw_map_fini(&l->by_uri);
	free(l->link);
}

static struct pane_link *link_of(const struct pane_vt *vt, uint16_t number)
{
	return number > 0 && number <= vt->links.n ? vt->links.link[number - 1] : NULL;
}

const char *pane_link_uri(const struct pane_vt *vt, uint16_t number)
{
	const struct pane_link *l = link_of(vt, number);

	return l != NULL ? l->uri : NULL;
}

static void mark(uint16_t number, void *arg)
{
	struct pane_link *l = link_of(arg, number);

	if (l != NULL)
		l->is_used = true;
}

static void mark_all(struct pane_vt *vt)
{
	mark(vt->pen.link, vt);
	for (int i = 0; i < 2; i++) {
		mark(vt->screen[i].saved.pen.link, vt);
		for (unsigned y = 0; y < vt->rows; y++)
			for (unsigned x = 0; x < vt->screen[i].row[y]->used; x++)
				mark(vt->screen[i].row[y]->cell[x].link, vt);
	}
	for (size_t i = 0; i < vt->history.n; i++)
		pane_packed_links(pane_history_at(&vt->history, i), mark, vt);
}

/* Frees what no cell uses. A program that prints links only to make this run is held off. */
static void sweep(struct pane_vt *vt)
{
	struct pane_links *l = &vt->links;
	size_t n_freed = 0;

	if (pane_vt_screen_top(vt) < l->next_sweep)
		return;
	for (size_t i = 0; i < l->n; i++)
		if (l->link[i] != NULL)
			l->link[i]->is_used = false;
	mark_all(vt);
	for (size_t i = 0; i < l->n; i++) {
		struct pane_link *k = l->link[i];

		if (k == NULL || k->is_used)
			continue;
		zw_map_remove(&l->by_uri, &k->node);
		free(k);
		l->link[i] = NULL;
		n_freed++;
	}
	l->n_free = n_freed;
	l->search = 0;
	if (n_freed < PANE_LINKS_MAX / 8)
		l->next_sweep = pane_vt_screen_top(vt) + SWEEP_PAUSE_N;
}

/* A free slot, or l->n when there is none. */
static size_t slot_find(struct pane_vt *vt)
{
	struct pane_links *l = &vt->links;

	if (l->n < PANE_LINKS_MAX) {
		if (l->n % 64 == 0)
			l->link = zw_xrealloc(l->link, l->n + 64, sizeof(struct pane_link *));
		l->link[l->n] = NULL;
		return l->n++;
	}
	if (l->n_free == 0)
		sweep(vt);
	if (l->n_free == 0)
		return l->n;
	while (l->link[l->search] != NULL)
		l->search++;
	l->n_free--;
	return l->search;
}

static bool may_show(struct zw_span s)
{
	for (size_t i = 0; i < s.len;) {
		uint32_t cp;
		int n = zw_utf8_decode((const uint8_t *)s.p + i, s.len - i, &cp);

		if (n < 0 || !zw_vis_is_safe(cp))
			return false;
		i += (size_t)n;
	}
	return true;
}

uint16_t pane_link_open(struct pane_vt *vt, struct zw_span uri)
{
	struct pane_links *l = &vt->links;

	if (uri.len == 0 || uri.len > PANE_LINK_MAX_B || !may_show(uri))
		return 0;
	struct zw_map_node *node = zw_map_find(&l->by_uri, uri.p, uri.len);
	if (node != NULL)
		return ((struct pane_link *)node)->number;
	size_t slot = slot_find(vt);
	if (slot == l->n)
		return 0;
	struct pane_link *k = zw_xcalloc(1, sizeof(*k) + uri.len + 1);
	memcpy(k->uri, uri.p, uri.len);
	k->number = (uint16_t)(slot + 1);
	l->link[slot] = k;
	zw_map_add(&l->by_uri, &k->node, k->uri, uri.len);
	return k->number;
}
