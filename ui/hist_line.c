/* SPDX-License-Identifier: MIT
 * The time line of a session: how busy each part of it was, and where something was refused, missed
 * or changed. It is filled in pieces, so that a long session is no slower to open. */
#include <stdlib.h>
#include <string.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "ui/fmt.h"
#include "ui/hist.h"

#define PIECE_MS  12
#define ROWS_MAX  200000 /* of the newest; a line that is older stays empty */
#define MARK_MISS 1
#define MARK_MODE 2
#define MARK_DENY 4

void hist_line_stop(struct view_history *v)
{
	aud_scan_free(zw_steal(&v->line_of.scan));
	aud_filter_free(zw_steal(&v->line_of.all));
}

void hist_line_start(struct view_history *v)
{
	struct hist_line *l = &v->line_of;
	struct aud_filter_error error;

	hist_line_stop(v);
	*l = (struct hist_line){.from_us = 0};
	if (v->now.n_rows == 0 || v->now.rows[0].n_events == 0)
		return;
	const struct aud_session *s = &v->now.rows[0];
	l->from_us = s->started_us;
	l->to_us =
		s->ended_us != AUD_UNKNOWN && s->ended_us > s->last_us ? s->ended_us : s->last_us;
	l->to_us = l->to_us > l->from_us ? l->to_us : l->from_us + 1;
	if (aud_filter_parse("", zw_now_us(), &l->all, &error) < 0)
		return;
	l->scan = aud_scan_new(v->query, l->all, s->id, 0);
}

static void take(struct hist_line *l, const struct aud_event *e)
{
	int64_t at = e->t_us < l->from_us ? 0 : e->t_us - l->from_us, all = l->to_us - l->from_us;
	size_t part = at < all ? (size_t)((double)at / (double)all * HIST_LINE_PARTS)
			       : HIST_LINE_PARTS - 1;

	part = part < HIST_LINE_PARTS ? part : HIST_LINE_PARTS - 1;
	l->n[part]++;
	l->mark[part] |= zw_span_eq(e->did, "deny")    ? MARK_DENY
			 : zw_span_eq(e->did, "miss")  ? MARK_MISS
			 : zw_span_eq(e->kind, "mode") ? MARK_MODE
						       : 0;
}

bool hist_line_is_filling(const struct view_history *v)
{
	return v->line_of.scan != NULL && v->level == HIST_EVENTS;
}

void hist_line_piece(struct view_history *v)
{
	struct hist_line *l = &v->line_of;
	struct aud_event_page page = {0};
	int r = aud_scan_next(l->scan, PIECE_MS, AUD_PAGE_MAX, &page);

	for (size_t i = 0; i < page.n_rows; i++)
		take(l, &page.rows[i]);
	l->n_rows += page.n_rows;
	aud_event_page_clear(&page);
	if (r <= 0 || l->n_rows >= ROWS_MAX)
		hist_line_stop(v);
}

int hist_line_rows(const struct view_history *v, int rows)
{
	return v->line_of.to_us > 0 && rows >= 16 ? 3 : 0;
}

void hist_line_draw(struct view_history *v, const struct draw_ctx *c)
{
	const struct hist_line *l = &v->line_of;
	const struct aud_event *e = hist_event(v);
	int from = c->cols >= 60 ? 11 : 1, n = c->cols - 2 * from;
	uint32_t max = 1;
	char clock[UI_FMT_MAX], one[2] = "";

	draw_hline(c, 0, 0, c->cols, DRAW_THIN, UI_STYLE_LINE);
	if (n < 4)
		return;
	if (from > 1) {
		draw_right(c, 1, 1, 8, UI_STYLE_QUIET, ui_fmt_clock(clock, l->from_us));
		draw_fit(c, 1, c->cols - 9, 8, UI_STYLE_QUIET, ui_fmt_clock(clock, l->to_us));
	}
	for (size_t i = 0; i < HIST_LINE_PARTS; i++)
		max = l->n[i] > max ? l->n[i] : max;
	for (int col = 0; col < n; col++) {
		size_t a = (size_t)col * HIST_LINE_PARTS / (size_t)n,
		       b = ((size_t)col + 1) * HIST_LINE_PARTS / (size_t)n;
		uint32_t most = 0;
		unsigned mark = 0;

		for (size_t i = a; i < HIST_LINE_PARTS && (i < b || i == a); i++) {
			most = l->n[i] > most ? l->n[i] : most;
			mark |= l->mark[i];
		}
		one[0] = (mark & MARK_DENY) != 0   ? '!'
			 : (mark & MARK_MISS) != 0 ? '?'
			 : (mark & MARK_MODE) != 0 ? '='
			 : most * 3 > max	   ? ':'
			 : most > 0		   ? '.'
						   : ' ';
		draw_text(c, 1, from + col, (mark & MARK_DENY) != 0 ? UI_STYLE_DENY : UI_STYLE_TEXT,
			  one);
	}
	draw_fit(c, 2, 1, c->cols - 2, UI_STYLE_QUIET,
		 c->cols >= 60 ? "          deny !   missed ?   mode change =   busy :"
			       : "deny !  missed ?  mode =  busy :");
	if (e == NULL || e->t_us < l->from_us)
		return;
	int64_t at = e->t_us < l->to_us ? e->t_us - l->from_us : l->to_us - l->from_us;
	draw_restyle(c, 1, from + (int)((double)at / (double)(l->to_us - l->from_us) * (n - 1)), 1,
		     UI_STYLE_SELECT);
}
