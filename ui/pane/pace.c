/* SPDX-License-Identifier: MIT */
#include "ui/pane/pace.h"

void pane_pace_init(struct pane_pace *p)
{
	*p = (struct pane_pace){.frame_ms = INT64_MIN / 2, .change_ms = -1};
}

void pane_pace_read(struct pane_pace *p, size_t len, int64_t now_ms)
{
	p->is_burst = len >= PANE_PACE_BURST_B;
	p->read_ms = now_ms;
}

void pane_pace_change(struct pane_pace *p, int64_t now_ms)
{
	if (p->change_ms < 0)
		p->change_ms = now_ms;
}

void pane_pace_sent(struct pane_pace *p, int64_t now_ms)
{
	p->frame_ms = now_ms;
	p->change_ms = -1;
	p->has_credit = false;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

int64_t pane_pace_wait(const struct pane_pace *p, int64_t sync_since_ms, int64_t now_ms)
{
	int64_t due, more;

	if (p->change_ms < 0 || !p->has_credit)
		return -1;
	due = p->frame_ms + PANE_PACE_FRAME_MS;
	more = p->read_ms + PANE_PACE_MORE_MS;
	if (p->is_burst && more < p->change_ms + PANE_PACE_FRAME_MS)
		due = later(due, more);
	if (sync_since_ms >= 0)
		due = later(due, sync_since_ms + PANE_PACE_SYNC_MS);
	return due > now_ms ? due - now_ms : 0;
}
