/* SPDX-License-Identifier: MIT */
#include "proxy/wheel.h"

#include "src/base/io.h"
#include "src/base/mem.h"

#define SLOTS 512 /* a power of two; a limit beyond one turn waits for its turn */

struct px_wheel {
	struct zev_timer *timer;
	struct px_timeouts slots[SLOTS];
	struct px_timeouts firing;
	int64_t tick; /* the last one that was handled */
	size_t n;
};

static int64_t tick_of(int64_t ms)
{
	return ms / PX_TICK_MS;
}

static void fire(struct px_wheel *w)
{
	struct px_timeout *t;

	/* A callback may set and clear any limit, these included. */
	while ((t = TAILQ_FIRST(&w->firing)) != NULL) {
		px_timeout_clear(w, t);
		t->on_timeout(t->arg);
	}
}

static void on_tick(void *arg)
{
	struct px_wheel *w = arg;
	int64_t now_ms = zw_mono_ms(), now = tick_of(now_ms);

	/* After a long sleep one full turn sees every slot. */
	if (now - w->tick > SLOTS)
		w->tick = now - SLOTS;
	while (w->tick < now) {
		struct px_timeouts *slot = &w->slots[++w->tick & (SLOTS - 1)];
		struct px_timeout *t, *next;

		for (t = TAILQ_FIRST(slot); t != NULL; t = next) {
			next = TAILQ_NEXT(t, link);
			if (t->due_ms > now_ms)
				continue;
			TAILQ_REMOVE(slot, t, link);
			TAILQ_INSERT_TAIL(&w->firing, t, link);
			t->list = &w->firing;
		}
	}
	fire(w);
	if (w->n > 0)
		zev_timer_start(w->timer, PX_TICK_MS);
}

struct px_wheel *px_wheel_new(struct zev_loop *loop)
{
	struct px_wheel *w = zw_xnew(struct px_wheel);

	for (size_t i = 0; i < SLOTS; i++)
		TAILQ_INIT(&w->slots[i]);
	TAILQ_INIT(&w->firing);
	w->timer = zev_timer_new(loop, on_tick, w);
	return w;
}

void px_wheel_free(struct px_wheel *w)
{
	if (w == NULL)
		return;
	zev_timer_free(w->timer);
	free(w);
}

void px_timeout_clear(struct px_wheel *w, struct px_timeout *t)
{
	if (t->list == NULL)
		return;
	TAILQ_REMOVE(t->list, t, link);
	t->list = NULL;
	w->n--;
}

void px_timeout_set(struct px_wheel *w, struct px_timeout *t, int64_t delay_ms,
		    void (*on_timeout)(void *arg), void *arg)
{
	int64_t now_ms = zw_mono_ms();

	px_timeout_clear(w, t);
	t->due_ms = now_ms + (delay_ms > 0 ? delay_ms : 0);
	t->on_timeout = on_timeout;
	t->arg = arg;
	if (!zev_timer_is_running(w->timer)) {
		w->tick = tick_of(now_ms);
		zev_timer_start(w->timer, PX_TICK_MS);
	}
	/* The slot after the one in which it is due: then its time has come for certain. */
	int64_t tick = tick_of(t->due_ms) + 1;
	t->list = &w->slots[(tick > w->tick ? tick : w->tick + 1) & (SLOTS - 1)];
	TAILQ_INSERT_TAIL(t->list, t, link);
	w->n++;
}

size_t px_wheel_n(const struct px_wheel *w)
{
	return w->n;
}
