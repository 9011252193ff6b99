/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"
#include "ui/pane/history.h"
#include "ui/pane/links.h"

static bool is_alt(const struct pane_vt *vt)
{
	return vt->scr != &vt->screen[0];
}

/* The alternate screen has no past. */
static uint64_t first_line(const struct pane_vt *vt)
{
	return is_alt(vt) ? pane_vt_screen_top(vt) : vt->history.base;
}

uint64_t pane_vt_view_top(const struct pane_vt *vt)
{
	uint64_t screen = pane_vt_screen_top(vt), first = first_line(vt);

	if (vt->view_top >= screen)
		return screen;
	return vt->view_top < first ? first : vt->view_top;
}

void pane_vt_view(const struct pane_vt *vt, struct pane_vt_view *ret)
{
	*ret = (struct pane_vt_view){
		.first = first_line(vt),
		.top = pane_vt_view_top(vt),
		.screen_top = pane_vt_screen_top(vt),
	};
}

void pane_vt_look_at(struct pane_vt *vt, uint64_t line)
{
	uint64_t was = pane_vt_view_top(vt);

	vt->view_top = line;
	if (line != PANE_VT_LIVE)
		vt->view_top = pane_vt_view_top(vt);
	if (pane_vt_view_top(vt) != was)
		vt->all_dirty = true;
}

const struct pane_vt_row *pane_vt_line(const struct pane_vt *vt, uint64_t line,
				       struct pane_vt_row *spare)
{
	uint64_t screen = pane_vt_screen_top(vt);

	if (line < first_line(vt) || line >= screen + vt->rows)
		return NULL;
	if (line >= screen)
		return vt->scr->row[line - screen];
	pane_unpack(pane_history_at(&vt->history, (size_t)(line - vt->history.base)), spare,
		    vt->cols);
	return spare;
}

static uint64_t end_line(const struct pane_vt *vt)
{
	return pane_vt_screen_top(vt) + vt->rows;
}

/* Whether the line @line + 1 goes on with this one. */
static bool goes_on(const struct pane_vt *vt, uint64_t line)
{
	uint64_t screen = pane_vt_screen_top(vt), next = line + 1;

	if (next < first_line(vt) || next >= end_line(vt))
		return false;
	if (next >= screen)
		return vt->scr->row[next - screen]->is_wrapped;
	return pane_history_at(&vt->history, (size_t)(next - vt->history.base))->is_wrapped;
}

/* Columns up to the last character. */
static unsigned text_cols(const struct pane_vt_row *row, unsigned cols)
{
	while (cols > 0 && row->cell[cols - 1].cp <= ' ' &&
	       row->cell[cols - 1].half != PANE_VT_TAIL)
		cols--;
	return cols;
}

/* The characters of a cell; a blank is a space, the right half of a wide character nothing. */
static unsigned cell_text(const struct pane_vt_row *row, unsigned x, uint32_t out[])
{
	const struct pane_vt_cell *c = &row->cell[x];
	unsigned n = 1;

	if (c->half == PANE_VT_TAIL)
		return 0;
	out[0] = c->cp != 0 ? c->cp : ' ';
	if ((c->attrs & PANE_VT_ATTR_MORE) != 0)
		for (; n < PANE_VT_CLUSTER_MAX && row->more[x].cp[n - 1] != 0; n++)
			out[n] = row->more[x].cp[n - 1];
	return n;
}

/* -- search --------------------------------------------------------------------------------------- */

struct needle {
	uint32_t cp[PANE_VT_NEEDLE_MAX];
	unsigned n;
	bool is_folded; /* small letters find capital ones */
};

/* A row as characters, and behind it as much of what it goes on with as a needle may reach. */
struct flat {
	uint32_t cp[PANE_COLS_MAX * PANE_VT_CLUSTER_MAX + PANE_VT_NEEDLE_MAX * 2];
	struct pane_vt_place at[PANE_COLS_MAX * PANE_VT_CLUSTER_MAX + PANE_VT_NEEDLE_MAX * 2];
	unsigned n, n_first; /* characters in all, and of the row itself */
};

static void needle_make(struct needle *out, struct zw_span s)
{
	*out = (struct needle){.is_folded = true};
	for (size_t i = 0; i < s.len && out->n < PANE_VT_NEEDLE_MAX;) {
		uint32_t cp;
		int n = zw_utf8_decode((const uint8_t *)s.p + i, s.len - i, &cp);

		if (n > 0)
			out->cp[out->n++] = cp;
		if (n > 0 && pane_fold(cp) != cp)
			out->is_folded = false;
		i += n > 0 ? (size_t)n : 1;
	}
}

static bool same_char(const struct needle *n, uint32_t want, uint32_t have)
{
	return want == have || (n->is_folded && want == pane_fold(have));
}

static void flat_add(struct flat *f, const struct pane_vt_row *row, uint64_t line, unsigned cols,
		     unsigned max)
{
	uint32_t cp[PANE_VT_CLUSTER_MAX];

	for (unsigned x = 0; x < cols && f->n < max; x++) {
		unsigned n = cell_text(row, x, cp);

		for (unsigned i = 0; i < n; i++) {
			f->cp[f->n] = cp[i];
			f->at[f->n++] = (struct pane_vt_place){line, x};
		}
	}
}

static void flat_make(struct flat *f, const struct pane_vt *vt, uint64_t line, unsigned needle_n,
		      struct pane_vt_row *spare)
{
	unsigned max = PANE_COLS_MAX * PANE_VT_CLUSTER_MAX;

	f->n = 0;
	for (bool more = true; more && f->n < max; line++) {
		const struct pane_vt_row *row = pane_vt_line(vt, line, spare);

		more = goes_on(vt, line);
		flat_add(f, row, line, more ? vt->cols : text_cols(row, vt->cols), max);
		if (max == PANE_COLS_MAX * PANE_VT_CLUSTER_MAX) {
			f->n_first = f->n;
			max = f->n + needle_n;
		}
	}
}

static bool matches(const struct flat *f, unsigned i, const struct needle *n)
{
	if (i + n->n > f->n)
		return false;
	for (unsigned k = 0; k < n->n; k++)
		if (!same_char(n, n->cp[k], f->cp[i + k]))
			return false;
	return true;
}

/* A match that begins in this row, on the right side of @from. Returns its index, -1 = none. */
static int find_in(const struct flat *f, const struct needle *n, bool is_up,
		   struct pane_vt_place from)
{
	int best = -1;

	for (unsigned i = 0; i < f->n_first; i++) {
		struct pane_vt_place at = f->at[i];
		bool is_before = at.line < from.line || (at.line == from.line && at.col < from.col);
		bool is_behind = from.line == PANE_VT_LIVE || at.line > from.line ||
				 (at.line == from.line && at.col > from.col);

		if (!(is_up ? is_before : is_behind) || !matches(f, i, n))
			continue;
		best = (int)i;
		if (!is_up)
			break;
	}
	return best;
}

bool pane_vt_find(const struct pane_vt *vt, struct zw_span text, bool is_up,
		  struct pane_vt_place from, struct pane_vt_place *ret_from,
		  struct pane_vt_place *ret_to)
{
	zw_autofree struct flat *f = zw_xnew(struct flat);
	struct pane_vt_row *spare = pane_vt_row_new(vt->cols);
	uint64_t first = first_line(vt), end = end_line(vt), line = from.line;
	struct needle n;
	int at = -1;

	needle_make(&n, text);
	if (!is_up && line == PANE_VT_LIVE)
		line = first;
	line = line < first ? first : line >= end ? end - 1 : line;
	while (n.n > 0 && at < 0 && line >= first && line < end) {
		flat_make(f, vt, line, n.n, spare);
		at = find_in(f, &n, is_up, from);
		if (is_up && line == 0)
			break;
		line += is_up ? UINT64_MAX : 1;
	}
	if (at >= 0) {
		*ret_from = f->at[at];
		*ret_to = f->at[(unsigned)at + n.n - 1];
		ret_to->col += pane_vt_line(vt, ret_to->line, spare)->cell[ret_to->col].half ==
			       PANE_VT_WIDE;
	}
	pane_vt_row_free(spare);
	return at >= 0;
}

/* -- text and links ------------------------------------------------------------------------------- */

/* Unseen, but within a character (a family, an Indic conjunct) it makes it what it is. */
static bool is_joiner(uint32_t cp)
{
	return cp == 0x200c || cp == 0x200d;
}

static bool row_text(const struct pane_vt_row *row, unsigned from, unsigned to, struct zw_buf *out)
{
	uint32_t cp[PANE_VT_CLUSTER_MAX];
	char bytes[4 * PANE_VT_CLUSTER_MAX];

	for (unsigned x = from; x < to; x++) {
		unsigned n = cell_text(row, x, cp);
		size_t len = 0;

		for (unsigned i = 0; i < n; i++)
			if (zw_vis_is_safe(cp[i]) || (i > 0 && is_joiner(cp[i])))
				len += (size_t)zw_utf8_encode(bytes + len, cp[i]);
		if (zw_buf_add(out, bytes, len) < 0)
			return false;
	}
	return true;
}

bool pane_vt_text(const struct pane_vt *vt, struct pane_vt_place from, struct pane_vt_place to,
		  bool is_lines, struct zw_buf *out)
{
	struct pane_vt_row *spare = pane_vt_row_new(vt->cols);
	uint64_t line = from.line < first_line(vt) ? first_line(vt) : from.line;
	bool is_whole = true;

	for (; is_whole && line <= to.line && line < end_line(vt); line++) {
		const struct pane_vt_row *row = pane_vt_line(vt, line, spare);
		bool more = goes_on(vt, line);
		unsigned end = more ? vt->cols : text_cols(row, vt->cols);
		unsigned begin = line == from.line && !is_lines ? from.col : 0;

		if (line == to.line && !is_lines && to.col + 1 < end)
			end = to.col + 1;
		if (begin < vt->cols && row->cell[begin].half == PANE_VT_TAIL && begin > 0)
			begin--;
		is_whole = row_text(row, begin, end, out);
		if (is_whole && !more && (is_lines || line < to.line))
			is_whole = zw_buf_add(out, "\n", 1) == 0;
	}
	pane_vt_row_free(spare);
	return is_whole;
}

const char *pane_vt_link_at(const struct pane_vt *vt, struct pane_vt_place at)
{
	struct pane_vt_row *spare = pane_vt_row_new(vt->cols);
	const struct pane_vt_row *row = pane_vt_line(vt, at.line, spare);
	uint16_t link = row != NULL && at.col < vt->cols ? row->cell[at.col].link : 0;

	pane_vt_row_free(spare);
	return pane_link_uri(vt, link);
}
