/* SPDX-License-Identifier: MIT */
#include "ui/pane/width.h"

#include <stddef.h>

struct fold {
	uint32_t first, last;
	uint8_t step;
	int32_t delta;
};

#include "ui/pane/fold.inc"
#include "ui/pane/width.inc"

#define VS16 0xfe0fu

struct pane_width pane_width(uint32_t cp)
{
	uint8_t bits = PANE_GC_CONTROL;

	if (cp <= 0x10ffff)
		bits = width_block[width_index[cp >> 8]][cp & 0xff];
	return (struct pane_width){(enum pane_gc)(bits & 0x0f), bits >> 4 & 3, (bits & 0x40) != 0};
}

uint32_t pane_fold(uint32_t cp)
{
	size_t low = 0, high = sizeof(fold_run) / sizeof(fold_run[0]);

	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct fold *f = &fold_run[mid];

		if (cp > f->last)
			low = mid + 1;
		else if (cp < f->first)
			high = mid;
		else
			return (cp - f->first) % f->step == 0 ? (uint32_t)((int32_t)cp + f->delta)
							      : cp;
	}
	return cp;
}

static bool hangul_joins(enum pane_gc a, enum pane_gc b)
{
	if (a == PANE_GC_L)
		return b == PANE_GC_L || b == PANE_GC_V || b == PANE_GC_LV || b == PANE_GC_LVT;
	if (a == PANE_GC_LV || a == PANE_GC_V)
		return b == PANE_GC_V || b == PANE_GC_T;
	return (a == PANE_GC_LVT || a == PANE_GC_T) && b == PANE_GC_T;
}

static bool joins(const struct pane_cluster *c, enum pane_gc gc)
{
	if (c->width == 0 || gc == PANE_GC_CONTROL)
		return false;
	if (gc == PANE_GC_EXTEND || gc == PANE_GC_ZWJ || gc == PANE_GC_SPACING)
		return true;
	if (c->last == PANE_GC_PREPEND)
		return true;
	if (gc == PANE_GC_PICT)
		return c->last == PANE_GC_ZWJ && c->has_pict;
	if (gc == PANE_GC_FLAG)
		return c->last == PANE_GC_FLAG && !c->has_pair;
	return hangul_joins(c->last, gc);
}

bool pane_cluster_join(struct pane_cluster *c, uint32_t cp, struct pane_width w)
{
	if (!joins(c, w.gc)) {
		*c = (struct pane_cluster){w.gc, w.width, w.gc == PANE_GC_PICT, false, w.is_emoji};
		return false;
	}
	if (w.gc == PANE_GC_FLAG && c->last == PANE_GC_FLAG) {
		c->has_pair = true;
		c->width = 2;
	}
	if (cp == VS16 && c->is_emoji)
		c->width = 2;
	if (w.width > c->width)
		c->width = w.width;
	if (w.gc == PANE_GC_PICT)
		c->has_pict = true;
	else if (w.gc != PANE_GC_EXTEND && w.gc != PANE_GC_ZWJ)
		c->has_pict = false;
	if (c->last == PANE_GC_PREPEND)
		c->is_emoji = w.is_emoji;
	c->last = w.gc;
	return true;
}
