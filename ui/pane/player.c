/* SPDX-License-Identifier: MIT */
#include "ui/pane/player.h"

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"

#define PIECE_B	      (1u << 20) /* of the file in one call */
#define FIRST_PART_US 100000

/* What a program does besides printing is not done again: no bell, no notice, no clipboard. */
static void on_title(void *arg, const char *title)
{
	(void)arg;
	(void)title;
}

static void on_bell(void *arg)
{
	(void)arg;
}

static void on_note(void *arg, const char *title, const char *text)
{
	(void)arg;
	(void)title;
	(void)text;
}

static void on_progress(void *arg, unsigned state, unsigned percent)
{
	(void)arg;
	(void)state;
	(void)percent;
}

static void on_clipboard(void *arg, bool is_read, size_t len_b, struct zw_span text)
{
	(void)arg;
	(void)is_read;
	(void)len_b;
	(void)text;
}

static const struct pane_vt_events nothing = {.on_title = on_title,
					      .on_bell = on_bell,
					      .on_note = on_note,
					      .on_progress = on_progress,
					      .on_clipboard = on_clipboard};

/* Before the first line: an empty screen of the size that the head tells. */
static void begin(struct pane_player *p)
{
	struct zw_span line;

	pane_cast_rewind(&p->reader, p->fd);
	(void)pane_cast_next(&p->reader, &line); /* the head, which is known */
	pane_vt_free(p->vt);
	p->vt = pane_vt_new(&(struct pane_vt_config){.rows = p->head.rows, .cols = p->head.cols},
			    &nothing, NULL);
	p->at_us = 0;
	p->has_next = p->is_over = false;
}

int pane_player_init(struct pane_player *p, int take_fd)
{
	struct zw_span line;

	p->fd = take_fd;
	p->vt = NULL;
	p->error = 0;
	p->is_known = false;
	p->end_us = p->want_us = 0;
	p->n_marks = p->n_bad = 0;
	p->part_us = FIRST_PART_US;
	memset(p->part, 0, sizeof(p->part));
	pane_cast_rewind(&p->reader, p->fd);
	int r = pane_cast_next(&p->reader, &line);
	if (r > 0)
		r = pane_cast_head_parse(line, &p->head);
	else if (r == 0)
		r = ZW_E_SYNTAX;
	p->error = r;
	if (r < 0)
		return r;
	p->at_us = 0;
	p->has_next = p->is_over = false;
	return 0;
}

void pane_player_fini(struct pane_player *p)
{
	pane_vt_free(p->vt);
	p->vt = NULL;
	zw_close(&p->fd);
}

/* The next line that is one. Returns 1, 0 at the end or -errno; adds what was read to @used. */
static int line_next(struct pane_player *p, struct pane_cast_line *ret, size_t *used)
{
	struct zw_span line;
	int r;

	while ((r = pane_cast_next(&p->reader, &line)) > 0) {
		*used += line.len + 1;
		if (pane_cast_line_parse(line, p->text, ret) == 0)
			return 1;
		p->reader.n_bad++;
		if (*used >= PIECE_B) { /* none is found in all of this: the caller goes on later */
			*ret = (struct pane_cast_line){.kind = PANE_CAST_OTHER};
			return 1;
		}
	}
	return r;
}

/* -- looking through ---------------------------------------------------------------------------- */

static void busy_add(struct pane_player *p, int64_t at_us, size_t n)
{
	while (at_us / p->part_us >= PANE_PLAYER_PARTS) {
		for (size_t i = 0; i < PANE_PLAYER_PARTS; i++)
			p->part[i] =
				i < PANE_PLAYER_PARTS / 2 ? p->part[2 * i] + p->part[2 * i + 1] : 0;
		p->part_us *= 2;
	}
	p->part[at_us / p->part_us] += n;
}

static void mark_text(struct zw_span from, char *out)
{
	size_t used = 0;
	unsigned n = 0;

	for (size_t i = 0; i < from.len && n < PANE_PLAYER_MARK_MAX;) {
		uint32_t cp;
		int len = zw_utf8_decode((const uint8_t *)from.p + i, from.len - i, &cp);

		if (len > 0 && zw_vis_is_safe(cp)) {
			memcpy(out + used, from.p + i, (size_t)len);
			used += (size_t)len;
			n++;
		}
		i += len > 0 ? (size_t)len : 1;
	}
	out[used] = '\0';
}

bool pane_player_look(struct pane_player *p,
		      void (*on_mark)(void *arg, int64_t at_us, const char *text), void *arg)
{
	char mark[PANE_PLAYER_MARK_MAX * 4 + 1];
	struct pane_cast_line l;
	size_t used = 0;
	int r = 1;

	if (p->is_known || p->error < 0)
		return false;
	while (used < PIECE_B && (r = line_next(p, &l, &used)) > 0) {
		/* Time does not go back. */
		p->end_us = l.at_us > p->end_us ? l.at_us : p->end_us;
		if (l.kind == PANE_CAST_OUTPUT)
			busy_add(p, p->end_us, l.text.len);
		if (l.kind != PANE_CAST_MARK || p->n_marks++ >= PANE_PLAYER_MARKS_MAX)
			continue;
		mark_text(l.text, mark);
		on_mark(arg, p->end_us, mark);
	}
	if (r > 0)
		return true;
	p->error = r;
	p->n_bad = p->reader.n_bad;
	p->is_known = true;
	begin(p);
	return false;
}

size_t pane_player_busy(const struct pane_player *p, uint8_t ret[PANE_PLAYER_PARTS])
{
	size_t n = (size_t)(p->end_us / p->part_us) + 1;
	uint64_t max = 1;

	n = n < PANE_PLAYER_PARTS ? n : PANE_PLAYER_PARTS;
	for (size_t i = 0; i < n; i++)
		max = p->part[i] > max ? p->part[i] : max;
	for (size_t i = 0; i < n; i++)
		ret[i] = (uint8_t)(p->part[i] * 255 / max);
	return n;
}

/* -- playing ------------------------------------------------------------------------------------- */

void pane_player_go(struct pane_player *p, int64_t at_us)
{
	if (!p->is_known)
		return;
	p->want_us = at_us < 0 ? 0 : at_us < p->end_us ? at_us : p->end_us;
	if (p->want_us < p->at_us)
		begin(p);
}

static void play(struct pane_player *p, const struct pane_cast_line *l)
{
	const char *text = l->text.p;
	size_t len = l->kind == PANE_CAST_OUTPUT ? l->text.len : 0;

	while (len > 0) {
		size_t n = pane_vt_feed(p->vt, text, len, p->at_us / 1000);

		text += n;
		len -= n;
	}
	if (l->kind == PANE_CAST_SIZE)
		pane_vt_resize(p->vt, l->rows, l->cols);
	/* Its questions to the terminal are answered by nobody now. */
	struct zw_buf *replies = pane_vt_replies(p->vt);
	zw_buf_consume(replies, replies->len);
}

bool pane_player_step(struct pane_player *p)
{
	size_t used = 0;

	if (!p->is_known)
		return false;
	while (used < PIECE_B) {
		if (!p->has_next && !p->is_over) {
			int r = line_next(p, &p->next, &used);

			p->is_over = r <= 0;
			p->has_next = r > 0;
			p->error = r < 0 ? r : p->error;
		}
		if (p->is_over || p->next.at_us > p->want_us)
			break;
		p->at_us = p->next.at_us > p->at_us ? p->next.at_us : p->at_us;
		p->has_next = false;
		play(p, &p->next);
		used += p->next.text.len;
	}
	if (!p->is_over && !(p->has_next && p->next.at_us > p->want_us))
		return true;
	p->at_us = p->want_us;
	if (pane_vt_sync_since(p->vt) >=
	    0) /* a picture that is half drawn was shown at some time, too */
		pane_vt_sync_end(p->vt);
	return false;
}

int64_t pane_player_next_us(const struct pane_player *p)
{
	return p->has_next ? p->next.at_us : -1;
}
