/* SPDX-License-Identifier: MIT
 * Limits of the session's control group: what of them is in force, and when they were met. */
#include "src/base/mem.h"
#include "src/super/super_i.h"

#define LOOK_MS 1000

static void look(struct sup *s)
{
	struct sb_group_events now;
	struct sb_group_events *met = &s->limits_met;
	const struct sb_limits *l = &s->config->plan->limits;

	sb_group_events(&s->sandbox.group, &now);
	if (now.n_forks_refused > met->n_forks_refused)
		sup_warn(s,
			 "the agent has as many processes as it may (%u): %llu more could not be "
			 "started so far",
			 l->processes, (unsigned long long)now.n_forks_refused);
	if (now.n_killed > met->n_killed)
		sup_warn(s,
			 "the agent used all the memory it may (%llu MB): %llu of its processes "
			 "killed so far",
			 (unsigned long long)(l->memory_b >> 20), (unsigned long long)now.n_killed);
	*met = now;
}

static void on_timer(void *arg)
{
	struct sup *s = arg;

	look(s);
	zev_timer_start(s->limits_timer, LOOK_MS);
}

void sup_limits_start(struct sup *s)
{
	const struct sb_group *g = &s->sandbox.group;
	unsigned missing = s->sandbox.limits_wanted & ~g->has;

	if (s->sandbox.limits_wanted == 0)
		return;
	if (missing & (SB_LIMIT_MEMORY | SB_LIMIT_PROCESSES))
		sup_warn(
			s,
			"limits without a control group (%s): %s%s%s. zwatch check says what to do",
			g->why != NULL ? g->why : "?",
			missing & SB_LIMIT_MEMORY ? "memory holds for each process by itself" : "",
			(missing & SB_LIMIT_MEMORY) && (missing & SB_LIMIT_PROCESSES) ? ", " : "",
			!(missing & SB_LIMIT_PROCESSES) ? ""
			: getuid() == 0
				? "the number of processes is not bounded, since you are root"
				: "the number of processes holds");
	if (missing & SB_LIMIT_CPU)
		sup_warn(s, "CPU is not limited: that needs a control group (%s)",
			 g->why != NULL ? g->why : "?");
	if (g->path == NULL)
		return;
	s->limits_timer = zev_timer_new(s->loop, on_timer, s);
	zev_timer_start(s->limits_timer, LOOK_MS);
}

void sup_limits_fini(struct sup *s)
{
	if (s->limits_timer != NULL)
		look(s);
	zev_timer_free(s->limits_timer);
	s->limits_timer = NULL;
}
