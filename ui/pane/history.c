/* SPDX-License-Identifier: MIT */
#include "ui/pane/history.h"

#include <assert.h>
#include <string.h>

#include "src/base/mem.h"

/* A run: flags, the fields they name, the number of cells, then the cells. */
enum {
	RUN_FG = 1,
	RUN_BG = 2,
	RUN_UL_COLOUR = 4,
	RUN_ATTRS = 8,
	RUN_UNDERLINE = 16,
	RUN_LINK = 32,
};

/* A cell: an ASCII character, BLANK, TAIL, or CLUSTER with its flags and code points of 3 bytes. */
enum { BLANK = 0, TAIL = 1, CLUSTER = 0x80, CLUSTER_WIDE = 0x40, CLUSTER_N = 0x0f };

#define RUN_HEAD_MAX_B (1 + 4 * 3 + 2 + 1 + 2 + 2)
#define CELL_MAX_B     (1 + 3 * PANE_VT_CLUSTER_MAX)
#define ROW_MAX_B      (PANE_COLS_MAX * (RUN_HEAD_MAX_B + CELL_MAX_B))
#define LOOK_ATTRS     ((uint16_t)~PANE_VT_ATTR_MORE)

/* -- packing -------------------------------------------------------------------------------------- */

static uint8_t *put_n(uint8_t *p, uint32_t v, unsigned n_bytes)
{
	for (; n_bytes > 0; n_bytes--, v >>= 8)
		*p++ = (uint8_t)v;
	return p;
}

static const uint8_t *get_n(const uint8_t *p, uint32_t *ret, unsigned n_bytes)
{
	*ret = 0;
	for (unsigned i = 0; i < n_bytes; i++)
		*ret |= (uint32_t)p[i] << (8 * i);
	return p + n_bytes;
}

static uint8_t *put_look(uint8_t *p, const struct pane_vt_cell *c)
{
	uint8_t *flags = p++;

	*flags = 0;
	if (c->fg != 0) {
		*flags |= RUN_FG;
		p = put_n(p, c->fg, 4);
	}
	if (c->bg != 0) {
		*flags |= RUN_BG;
		p = put_n(p, c->bg, 4);
	}
	if (c->ul_colour != 0) {
		*flags |= RUN_UL_COLOUR;
		p = put_n(p, c->ul_colour, 4);
	}
	if ((c->attrs & LOOK_ATTRS) != 0) {
		*flags |= RUN_ATTRS;
		p = put_n(p, c->attrs & LOOK_ATTRS, 2);
	}
	if (c->underline != 0) {
		*flags |= RUN_UNDERLINE;
		p = put_n(p, c->underline, 1);
	}
	if (c->link != 0) {
		*flags |= RUN_LINK;
		p = put_n(p, c->link, 2);
	}
	return p;
}

static bool is_ascii(const struct pane_vt_cell *c)
{
	return c->cp >= ' ' && c->cp < 0x7f && c->half == PANE_VT_SINGLE &&
	       (c->attrs & PANE_VT_ATTR_MORE) == 0;
}

static uint8_t *put_cell(uint8_t *p, const struct pane_vt_row *row, unsigned x)
{
	const struct pane_vt_cell *c = &row->cell[x];
	uint8_t *head = p;
	unsigned n = 0;

	if (is_ascii(c)) {
		*p = (uint8_t)c->cp;
		return p + 1;
	}
	if (c->half == PANE_VT_TAIL || c->cp == 0) {
		*p = c->half == PANE_VT_TAIL ? TAIL : BLANK;
		return p + 1;
	}
	p = put_n(p + 1, c->cp, 3);
	if ((c->attrs & PANE_VT_ATTR_MORE) != 0)
		for (; n < PANE_VT_CLUSTER_MAX - 1 && row->more[x].cp[n] != 0; n++)
			p = put_n(p, row->more[x].cp[n], 3);
	*head = (uint8_t)(CLUSTER | n | (c->half == PANE_VT_WIDE ? CLUSTER_WIDE : 0));
	return p;
}

/* A cell as three numbers, to compare it without a branch: the first holds the character, its half and
 * the underline, from the lowest bit up. */
struct words {
	uint32_t head;
	uint64_t a, b;
};
_Static_assert(sizeof(struct pane_vt_cell) == 4 + 8 + 8, "a cell is these three");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a character is in the lowest bits");

#define BLOCK 8 /* cells that are looked at together */

static inline struct words words_of(const struct pane_vt_cell *cell)
{
	struct words w;

	memcpy(&w.head, cell, 4);
	memcpy(&w.a, (const uint8_t *)cell + 4, 8);
	memcpy(&w.b, (const uint8_t *)cell + 12, 8);
	return w;
}

/* Most of what there is: ASCII of one look. Packs a block if all of it is of that kind. */
static inline bool put_block(uint8_t *p, const struct pane_vt_cell *cell, const struct words *look)
{
	uint64_t differs = 0;
	uint32_t range = 0;

#pragma GCC unroll 8
	for (unsigned i = 0; i < BLOCK; i++) {
		struct words w = words_of(&cell[i]);
		uint32_t cp = w.head ^ look->head;

		differs |= (w.a ^ look->a) | (w.b ^ look->b);
		range |= (cp - ' ') | ('~' - cp); /* above 0x7f when it is outside */
		p[i] = (uint8_t)cp;
	}
	return differs == 0 && range < 0x80;
}

/* The cells from @x on that look alike, before @n. Returns how many. */
static unsigned put_run(uint8_t **p, const struct pane_vt_row *row, unsigned x, unsigned n)
{
	const struct pane_vt_cell *first = &row->cell[x];
	struct pane_vt_cell plain = *first;
	uint8_t *out = put_look(*p, first), *count = out;
	unsigned from = x, slow_until = x;

	plain.cp = plain.half = 0;
	const struct words look = words_of(&plain);
	out += 2;
	for (; x < n && pane_vt_same_look(first, &row->cell[x]); x++) {
		/* After one that is not ASCII the next are not tried together. */
		while (x >= slow_until && x + BLOCK <= n &&
		       (first->attrs & PANE_VT_ATTR_MORE) == 0) {
			if (!put_block(out, &row->cell[x], &look)) {
				slow_until = x + BLOCK;
				break;
			}
			out += BLOCK;
			x += BLOCK;
		}
		if (x == n || !pane_vt_same_look(first, &row->cell[x]))
			break;
		out = put_cell(out, row, x);
	}
	put_n(count, x - from, 2);
	*p = out;
	return x - from;
}

static bool is_zero(const struct pane_vt_cell *c)
{
	static const struct pane_vt_cell zero;

	return memcmp(c, &zero, sizeof(zero)) == 0;
}

static unsigned content(const struct pane_vt_row *row, unsigned n)
{
	while (n > 0 && row->cell[n - 1].cp == 0 && row->cell[n - 1].half != PANE_VT_TAIL)
		n--;
	return n;
}

/* One run, known to be ASCII: what a flood of text is made of. */
static size_t put_plain(uint8_t *bytes, const struct pane_vt_row *row, unsigned n)
{
	uint8_t *p = put_n(put_look(bytes, &row->cell[0]), n, 2);

	for (unsigned x = 0; x < n; x++) {
#ifdef PANE_CHECK_ON
		assert(is_ascii(&row->cell[x]) && pane_vt_same_look(&row->cell[0], &row->cell[x]));
#endif
		p[x] = (uint8_t)row->cell[x].cp;
	}
	return (size_t)(p - bytes) + n;
}

struct pane_packed *pane_pack(const struct pane_vt_row *row, unsigned cols)
{
	static uint8_t bytes[ROW_MAX_B];
	unsigned n = row->used < cols ? row->used : cols, x = 0;
	bool has_links = false;
	uint8_t *p = bytes;

	while (n > 0 && is_zero(&row->cell[n - 1]))
		n--;
	if (n > 0 && row->plain >= n) {
		has_links = row->cell[0].link != 0;
		p += put_plain(bytes, row, n);
		x = n;
	}
	while (x < n) {
		has_links |= row->cell[x].link != 0;
		x += put_run(&p, row, x, n);
	}
	size_t size = (size_t)(p - bytes);
	struct pane_packed *out = zw_xmalloc(sizeof(*out) + size);
	*out = (struct pane_packed){.size_b = (uint32_t)size,
				    .n_cells = (uint16_t)n,
				    .n_content = (uint16_t)content(row, n),
				    .is_wrapped = row->is_wrapped,
				    .has_links = has_links};
	memcpy(out->data, bytes, size);
	return out;
}

/* -- unpacking ------------------------------------------------------------------------------------ */

static const uint8_t *get_look(const uint8_t *p, struct pane_vt_cell *c)
{
	uint8_t flags = *p++;
	uint32_t v;

	*c = (struct pane_vt_cell){0};
	if ((flags & RUN_FG) != 0)
		p = get_n(p, &c->fg, 4);
	if ((flags & RUN_BG) != 0)
		p = get_n(p, &c->bg, 4);
	if ((flags & RUN_UL_COLOUR) != 0)
		p = get_n(p, &c->ul_colour, 4);
	if ((flags & RUN_ATTRS) != 0) {
		p = get_n(p, &v, 2);
		c->attrs = (uint16_t)v;
	}
	if ((flags & RUN_UNDERLINE) != 0) {
		p = get_n(p, &v, 1);
		c->underline = v;
	}
	if ((flags & RUN_LINK) != 0) {
		p = get_n(p, &v, 2);
		c->link = (uint16_t)v;
	}
	return p;
}

static const uint8_t *get_cluster(const uint8_t *p, struct pane_vt_row *out, unsigned x,
				  unsigned cols)
{
	unsigned n = *p & CLUSTER_N;
	bool is_wide = (*p & CLUSTER_WIDE) != 0;
	struct pane_vt_cell *c = &out->cell[x];
	uint32_t v;

	p = get_n(p + 1, &v, 3);
	c->cp = v;
	c->half = is_wide ? PANE_VT_WIDE : PANE_VT_SINGLE;
	if (n > 0 && out->more == NULL)
		out->more = zw_xcalloc(cols, sizeof(*out->more));
	if (n > 0) {
		c->attrs |= PANE_VT_ATTR_MORE;
		out->more[x] = (struct pane_vt_more){{0}};
	}
	for (unsigned i = 0; i < n; i++)
		p = get_n(p, &out->more[x].cp[i], 3);
	return p;
}

static const uint8_t *skip_cell(const uint8_t *p)
{
	return p + ((*p & CLUSTER) != 0 ? 1 + 3 * (1 + (*p & CLUSTER_N)) : 1);
}

/* One cell with the look @pen; behind the edge it is only skipped. */
static const uint8_t *get_cell(const uint8_t *p, const struct pane_vt_cell *pen,
			       struct pane_vt_row *out, unsigned x, unsigned cols)
{
	if (x >= cols)
		return skip_cell(p);
	out->cell[x] = *pen;
	if ((*p & CLUSTER) != 0)
		return get_cluster(p, out, x, cols);
	if (*p == TAIL)
		out->cell[x].half = PANE_VT_TAIL;
	else
		out->cell[x].cp = *p;
	return p + 1;
}

void pane_unpack(const struct pane_packed *packed, struct pane_vt_row *out, unsigned cols)
{
	const uint8_t *p = packed->data, *end = p + packed->size_b;
	struct pane_vt_cell pen;
	unsigned x = 0;
	uint32_t n;

	while (p < end) {
		p = get_look(p, &pen);
		p = get_n(p, &n, 2);
		for (; n > 0; n--)
			p = get_cell(p, &pen, out, x++, cols);
	}
	if (x > cols)
		x = cols;
	out->plain = 0;
	memset(out->cell + x, 0, (cols - x) * sizeof(*out->cell));
	if (out->cell[cols - 1].half == PANE_VT_WIDE)
		out->cell[cols - 1] = (struct pane_vt_cell){.bg = out->cell[cols - 1].bg};
	out->used = x;
	out->is_wrapped = packed->is_wrapped;
}

void pane_packed_links(const struct pane_packed *packed, void (*fn)(uint16_t link, void *arg),
		       void *arg)
{
	const uint8_t *p = packed->data, *end = p + packed->size_b;
	struct pane_vt_cell pen;
	uint32_t n;

	while (packed->has_links && p < end) {
		p = get_look(p, &pen);
		if (pen.link != 0)
			fn(pen.link, arg);
		p = get_n(p, &n, 2);
		for (; n > 0; n--)
			p = skip_cell(p);
	}
}

/* -- the ring ------------------------------------------------------------------------------------- */

#define FIRST_CAP 256

void pane_history_init(struct pane_history *h, size_t max_n)
{
	*h = (struct pane_history){.max_n = max_n};
}

static size_t cost(const struct pane_packed *p)
{
	return sizeof(*p) + p->size_b + sizeof(void *);
}

static void drop_oldest(struct pane_history *h)
{
	struct pane_packed *p = h->row[h->first];

	h->size_b -= cost(p);
	h->first = (h->first + 1) % h->cap;
	h->n--;
	h->base++;
	free(p);
}

void pane_history_clear(struct pane_history *h)
{
	while (h->n > 0)
		drop_oldest(h);
	free(zw_steal(&h->row));
	h->cap = h->first = 0;
}

void pane_history_fini(struct pane_history *h)
{
	pane_history_clear(h);
}

static void grow(struct pane_history *h)
{
	size_t cap = h->cap == 0 ? FIRST_CAP : h->cap * 2;
	struct pane_packed **row;

	if (cap > h->max_n)
		cap = h->max_n;
	row = zw_xcalloc(cap, sizeof(struct pane_packed *));
	for (size_t i = 0; i < h->n; i++)
		row[i] = h->row[(h->first + i) % h->cap];
	free(h->row);
	h->row = row;
	h->cap = cap;
	h->first = 0;
}

size_t pane_history_push(struct pane_history *h, struct pane_packed *take_row)
{
	uint64_t base = h->base;

	if (h->max_n == 0) {
		free(take_row);
		return 0;
	}
	while (h->n > 0 && (h->n == h->max_n || h->size_b + cost(take_row) > PANE_HISTORY_MAX_B))
		drop_oldest(h);
	if (h->n == h->cap)
		grow(h);
	h->row[(h->first + h->n++) % h->cap] = take_row;
	h->size_b += cost(take_row);
	return (size_t)(h->base - base);
}

struct pane_packed *pane_history_pop(struct pane_history *h)
{
	struct pane_packed *p;

	if (h->n == 0)
		return NULL;
	p = h->row[(h->first + --h->n) % h->cap];
	h->size_b -= cost(p);
	return p;
}
