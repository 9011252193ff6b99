/* SPDX-License-Identifier: MIT */
#include "ui/nudge.h"

#include <stdio.h>
#include <string.h>

#include "src/base/utf8.h"

#define GAP_MS	   20000
#define DESKTOP_MS 10000
#define NAME_CHARS 40

const char *ui_nudge_name(char out[UI_NUDGE_NAME_MAX], const char *text)
{
	size_t n = 0, left = strlen(text);
	uint32_t cp;

	for (int i = 0; i < NAME_CHARS && n < left; i++) {
		int len = zw_utf8_decode((const uint8_t *)text + n, left - n, &cp);

		n += len > 0 ? (size_t)len : 1;
	}
	memcpy(out, text, n);
	out[n] = '\0';
	return out;
}

static const struct mdl_ask *held(const struct mdl_session *model, uint64_t id)
{
	const struct mdl_ask *a;

	TAILQ_FOREACH (a, &model->asks, link)
		if (a->id == id)
			return a->state == MDL_ASK_HELD ? a : NULL;
	return NULL;
}

static void forget_over(struct ui_nudge *n, const struct mdl_session *model)
{
	for (size_t i = 0; i < n->n;)
		if (held(model, n->ask[i].id) == NULL)
			n->ask[i] = n->ask[--n->n];
		else
			i++;
}

static void learn_new(struct ui_nudge *n, const struct mdl_session *model)
{
	const struct mdl_ask *a;

	TAILQ_FOREACH (a, &model->asks, link) {
		if (a->state != MDL_ASK_HELD || a->id <= n->newest)
			continue;
		n->newest = a->id;
		if (n->n < UI_NUDGE_ASKS_MAX) {
			n->ask[n->n].id = a->id;
			n->ask[n->n].is_new = true;
			n->ask[n->n].was_desktop = n->ask[n->n].was_half = false;
			n->n++;
		}
	}
}

static bool is_half_over(const struct mdl_ask *a, int64_t now_ms)
{
	int64_t left = mdl_ask_left_ms(a, now_ms);

	return left != INT64_MAX && left <= now_ms - a->since_ms;
}

/* What is due by itself; @ret_ask: for whom. */
static unsigned due(const struct ui_nudge *n, const struct mdl_session *model, int64_t now_ms,
		    const struct mdl_ask **ret_ask)
{
	unsigned ways = 0;

	for (size_t i = 0; i < n->n; i++) {
		const struct mdl_ask *a = held(model, n->ask[i].id);
		bool is_high = a->risk >= POL_RISK_HIGH;
		bool is_half = !n->ask[i].was_half && is_half_over(a, now_ms);
		unsigned mine = 0;

		if (n->ask[i].is_new || is_half)
			mine |= UI_NUDGE_TERMINAL;
		if (is_high &&
		    (is_half || (!n->ask[i].was_desktop && now_ms - a->since_ms >= DESKTOP_MS)))
			mine |= UI_NUDGE_DESKTOP;
		if (mine != 0)
			*ret_ask = a;
		ways |= mine;
	}
	return ways;
}

static void mark(struct ui_nudge *n, const struct mdl_session *model, unsigned ways, int64_t now_ms)
{
	for (size_t i = 0; i < n->n; i++) {
		const struct mdl_ask *a = held(model, n->ask[i].id);

		n->ask[i].is_new = false;
		if (is_half_over(a, now_ms))
			n->ask[i].was_half = true;
		if ((ways & UI_NUDGE_DESKTOP) != 0 && now_ms - a->since_ms >= DESKTOP_MS)
			n->ask[i].was_desktop = true;
	}
	if ((ways & UI_NUDGE_TERMINAL) != 0)
		n->told_ms = now_ms;
	if ((ways & UI_NUDGE_DESKTOP) != 0)
		n->desktop_ms = now_ms;
}

unsigned ui_nudge_step(struct ui_nudge *n, const struct mdl_session *model, const char *agent,
		       bool is_looking, int64_t now_ms, char *text)
{
	const struct mdl_ask *a = NULL;
	char name[UI_NUDGE_NAME_MAX], what[UI_NUDGE_NAME_MAX], where[UI_NUDGE_NAME_MAX];

	forget_over(n, model);
	learn_new(n, model);
	if (n->is_up && n->n == 0) {
		n->is_up = false;
		return UI_NUDGE_WITHDRAW;
	}
	unsigned ways = due(n, model, now_ms, &a);
	/* One who sees it come needs no notice of it, but perhaps one later. */
	if (is_looking) {
		for (size_t i = 0; i < n->n; i++)
			n->ask[i].is_new = false;
		return 0;
	}
	if (n->told_ms != 0 && now_ms - n->told_ms < GAP_MS)
		ways &= ~(unsigned)UI_NUDGE_TERMINAL;
	if (n->desktop_ms != 0 && now_ms - n->desktop_ms < GAP_MS)
		ways &= ~(unsigned)UI_NUDGE_DESKTOP;
	if (ways == 0)
		return 0;
	mark(n, model, ways, now_ms);
	size_t waiting = mdl_asks_waiting(model);
	if (waiting > 1)
		snprintf(text, UI_NUDGE_TEXT_MAX, "zwatch: %s waits for you (%zu waiting)",
			 ui_nudge_name(name, agent), waiting);
	else
		snprintf(text, UI_NUDGE_TEXT_MAX, "zwatch: %s waits for you (%s, %s)",
			 ui_nudge_name(name, agent),
			 a->kind == POL_KIND_SITE ? "a new site" : ui_nudge_name(what, a->title),
			 ui_nudge_name(where, model->project));
	n->is_up = true;
	return ways;
}
