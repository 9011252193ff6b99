/* SPDX-License-Identifier: MIT */
#include "ui/pane/vt_int.h"

#include <string.h>

#include "src/base/mem.h"

/* DEC Special Graphics, 0x60 to 0x7e. */
static const uint16_t graphic[] = {
	0x25c6, 0x2592, 0x2409, 0x240c, 0x240d, 0x240a, 0x00b0, 0x00b1, 0x2424, 0x240b, 0x2518,
	0x2510, 0x250c, 0x2514, 0x253c, 0x23ba, 0x23bb, 0x2500, 0x23bc, 0x23bd, 0x251c, 0x2524,
	0x2534, 0x252c, 0x2502, 0x2264, 0x2265, 0x03c0, 0x2260, 0x00a3, 0x00b7,
};

static uint32_t translate(struct pane_vt *vt, uint32_t cp)
{
	uint8_t g = vt->single_shift != 0 ? vt->single_shift : vt->gl;

	vt->single_shift = 0;
	switch ((enum pane_vt_charset)vt->charset[g]) {
	case PANE_VT_GRAPHIC:
		return cp >= 0x60 && cp <= 0x7e ? graphic[cp - 0x60] : cp;
	case PANE_VT_UK:
		return cp == '#' ? 0xa3 : cp;
	case PANE_VT_ASCII:
		break;
	}
	return cp;
}

/* The row that the cursor is in, with @n columns free from the cursor on; NULL = the character is
 * not shown (two columns, and wrapping is off). */
static struct pane_vt_row *make_room(struct pane_vt *vt, unsigned n)
{
	if (vt->x + n > vt->cols) {
		if (pane_vt_has(vt, PANE_VT_BIT(AUTOWRAP))) {
			pane_vt_erase(vt, vt->y, vt->x, vt->cols);
			vt->x = 0;
			pane_vt_line_down(vt);
			pane_vt_row(vt, vt->y)->is_wrapped = true;
		} else {
			vt->x = vt->cols - 1;
			if (n == 2)
				return NULL;
		}
	}
	return pane_vt_row(vt, vt->y);
}

static void put(struct pane_vt *vt, struct pane_vt_row *row, uint32_t cp, unsigned width)
{
	struct pane_vt_cell *c = row->cell + vt->x;

	if (pane_vt_has(vt, PANE_VT_BIT(INSERT)))
		pane_vt_insert_cells(vt, width);
	pane_vt_cut(vt, vt->y, vt->x, vt->x + width);
	if (vt->x < row->plain)
		row->plain = vt->x;
	*c = vt->pen;
	c->cp = cp;
	if (width == 2) {
		c->half = PANE_VT_WIDE;
		c[1] = vt->pen;
		c[1].half = PANE_VT_TAIL;
	}
	vt->x += width;
	if (vt->x > row->used)
		row->used = vt->x;
	vt->dirty[vt->y] = 1;
}

static void begin_cluster(struct pane_vt *vt, uint32_t cp)
{
	struct pane_vt_row *row = make_room(vt, vt->cluster.width);

	vt->is_cluster_hidden = row == NULL;
	if (row == NULL)
		return;
	vt->cluster_x = vt->x;
	put(vt, row, cp, vt->cluster.width);
}

static void append(struct pane_vt *vt, struct pane_vt_row *row, unsigned x, uint32_t cp)
{
	struct pane_vt_cell *c = row->cell + x;
	uint32_t *more;
	size_t i = 0;

	if (x < row->plain)
		row->plain = x;
	if (row->more == NULL)
		row->more = zw_xcalloc(vt->cols, sizeof(*row->more));
	more = row->more[x].cp;
	if ((c->attrs & PANE_VT_ATTR_MORE) == 0) {
		memset(more, 0, sizeof(*row->more));
		c->attrs |= PANE_VT_ATTR_MORE;
	}
	while (i < PANE_VT_CLUSTER_MAX - 1 && more[i] != 0)
		i++;
	if (i < PANE_VT_CLUSTER_MAX - 1)
		more[i] = cp;
	vt->dirty[vt->y] = 1;
}

/* The cluster at the cursor turned out to be two columns wide, not one. */
static void widen(struct pane_vt *vt)
{
	struct pane_vt_row *row = pane_vt_row(vt, vt->y);
	struct pane_vt_cell base = row->cell[vt->cluster_x];
	struct pane_vt_more more = {{0}};

	if ((base.attrs & PANE_VT_ATTR_MORE) != 0)
		more = row->more[vt->cluster_x];
	if (vt->cluster_x + 2 > vt->cols) {
		if (!pane_vt_has(vt, PANE_VT_BIT(AUTOWRAP))) {
			vt->cluster.width = 1; /* no room: it stays narrow */
			return;
		}
		vt->x = vt->cluster_x; /* make_room() blanks the narrow form and wraps */
		row = make_room(vt, 2);
		vt->cluster_x = 0;
	} else {
		vt->x = vt->cluster_x;
	}
	base.half = PANE_VT_WIDE;
	row->plain = 0;
	if (pane_vt_has(vt, PANE_VT_BIT(INSERT)))
		pane_vt_insert_cells(vt, vt->x == 0 ? 2 : 1);
	pane_vt_cut(vt, vt->y, vt->x, vt->x + 2);
	row->cell[vt->x] = base;
	row->cell[vt->x + 1] = base;
	row->cell[vt->x + 1].cp = 0;
	row->cell[vt->x + 1].half = PANE_VT_TAIL;
	row->cell[vt->x + 1].attrs &= (uint16_t)~PANE_VT_ATTR_MORE;
	row->cell[vt->x].attrs &= (uint16_t)~PANE_VT_ATTR_MORE;
	vt->x += 2;
	if (vt->x > row->used)
		row->used = vt->x;
	for (size_t i = 0; i < PANE_VT_CLUSTER_MAX - 1 && more.cp[i] != 0; i++)
		append(vt, row, vt->cluster_x, more.cp[i]);
	vt->dirty[vt->y] = 1;
}

/* A mark without a cluster to join (the cursor moved since): it goes to the cell on the left. */
static void join_left(struct pane_vt *vt, uint32_t cp)
{
	struct pane_vt_row *row = pane_vt_row(vt, vt->y);
	unsigned x = vt->x;

	if (x > 0 && row->cell[x - 1].half == PANE_VT_TAIL)
		x--;
	if (x > 0 && row->cell[x - 1].cp != 0)
		append(vt, row, x - 1, cp);
}

void pane_vt_print_char(struct pane_vt *vt, uint32_t cp)
{
	struct pane_width w = pane_width(cp);
	struct pane_cluster before = vt->cluster;

	if (w.width == 0 && w.gc == PANE_GC_CONTROL)
		return; /* invisible format controls never reach a cell, nor do they end a cluster */
	if (!pane_cluster_join(&vt->cluster, cp, w)) {
		if (w.width > 0) {
			begin_cluster(vt, cp);
		} else {
			join_left(vt, cp);
			vt->cluster = before;
		}
		return;
	}
	if (vt->is_cluster_hidden)
		return;
	if (vt->cluster.width > before.width)
		widen(vt);
	append(vt, pane_vt_row(vt, vt->y), vt->cluster_x, cp);
}

/* Keeps row->plain, after @n characters in the pen's look came to the cursor's place. */
static void plain_note(const struct pane_vt *vt, struct pane_vt_row *row, unsigned n)
{
	if (vt->x == 0)
		row->plain = n;
	else if (vt->x > row->plain)
		return;
	else if (!pane_vt_same_look(&row->cell[0], &vt->pen))
		row->plain = vt->x;
	else if (vt->x + n > row->plain)
		row->plain = vt->x + n;
}

/* Text that needs neither translation nor care for clusters. */
static void print_run(struct pane_vt *vt, const uint8_t *text, size_t len)
{
	while (len > 0) {
		struct pane_vt_row *row = make_room(vt, 1);
		struct pane_vt_cell *c = row->cell + vt->x;
		struct pane_vt_cell pen = vt->pen;
		size_t n = vt->cols - vt->x;

		if (n > len)
			n = len;
		pane_vt_cut(vt, vt->y, vt->x, vt->x + (unsigned)n);
		/* Field by field: a copy of `pen` with a changed first word would wait for its own
		 * store each time. */
		for (size_t i = 0; i < n; i++)
			c[i] = (struct pane_vt_cell){.cp = text[i],
						     .underline = pen.underline,
						     .fg = pen.fg,
						     .bg = pen.bg,
						     .ul_colour = pen.ul_colour,
						     .attrs = pen.attrs,
						     .link = pen.link};
		plain_note(vt, row, (unsigned)n);
		vt->x += (unsigned)n;
		if (vt->x > row->used)
			row->used = vt->x;
		vt->dirty[vt->y] = 1;
		text += n;
		len -= n;
	}
}

void pane_vt_print_ascii(struct pane_vt *vt, const uint8_t *text, size_t len)
{
	if (vt->cluster.width != 0 && vt->cluster.last == PANE_GC_PREPEND) {
		pane_vt_print_char(vt, *text++);
		len--;
	}
	if (vt->single_shift != 0 && len > 0) {
		pane_vt_print_char(vt, translate(vt, *text++));
		len--;
	}
	if (len == 0)
		return;
	if (vt->charset[vt->gl] == PANE_VT_ASCII && !pane_vt_has(vt, PANE_VT_BIT(INSERT))) {
		print_run(vt, text, len);
		vt->cluster_x = vt->x - 1;
		vt->is_cluster_hidden = false;
		vt->cluster = (struct pane_cluster){.width = 1};
		vt->cluster.is_emoji = pane_width(text[len - 1]).is_emoji;
		return;
	}
	for (size_t i = 0; i < len; i++)
		pane_vt_print_char(vt, translate(vt, text[i]));
}

void pane_vt_repeat(struct pane_vt *vt, unsigned n)
{
	const struct pane_vt_row *row = pane_vt_row(vt, vt->y);
	uint32_t text[PANE_VT_CLUSTER_MAX] = {0};

	if (vt->cluster.width == 0 || vt->is_cluster_hidden)
		return;
	text[0] = row->cell[vt->cluster_x].cp;
	if ((row->cell[vt->cluster_x].attrs & PANE_VT_ATTR_MORE) != 0)
		memcpy(text + 1, row->more[vt->cluster_x].cp, sizeof(struct pane_vt_more));
	if (n > vt->rows * vt->cols)
		n = vt->rows * vt->cols;
	while (n-- > 0) {
		pane_vt_end_cluster(vt);
		for (size_t i = 0; i < PANE_VT_CLUSTER_MAX && text[i] != 0; i++)
			pane_vt_print_char(vt, text[i]);
	}
}
