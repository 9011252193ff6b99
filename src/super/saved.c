/* SPDX-License-Identifier: MIT
 * rules.json in a running session: loaded before it starts, read anew when the file changes, written
 * when an answer is to last. A file that has gone wrong meanwhile changes nothing. */
#include <errno.h>
#include <sys/inotify.h>
#include <time.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/feed/feed.h"
#include "src/super/super_i.h"

#define TICK_MS	 15000
#define WRITE_MS 300000 /* counts are written at most this often, and at the end */

int64_t sup_clock_now(struct sup_clock *c, int64_t wall_s, int64_t boot_s)
{
	int64_t steady = c->wall_s + (boot_s - c->boot_s);

	if (c->wall_s == 0 || wall_s > steady) {
		*c = (struct sup_clock){wall_s, boot_s};
		return wall_s;
	}
	return steady;
}

int64_t sup_now_s(struct sup *s)
{
	struct timespec boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	return sup_clock_now(&s->clock, zw_now_us() / 1000000, boot.tv_sec);
}

/* -- in the policy ------------------------------------------------------------------------------ */

bool sup_saved_is_in_force(struct sup *s, const struct pol_saved *r)
{
	return (*r->project == '\0' || strcmp(r->project, s->config->project) == 0) &&
	       pol_saved_time(r, sup_now_s(s), s->saved.seen_s) == POL_FIT_YES;
}

/* Which rules hold, as a number: it changes when one of them ends. */
static uint64_t in_force_sum(struct sup *s)
{
	uint64_t sum = s->saved.n;

	for (size_t i = 0; i < s->saved.n; i++)
		if (sup_saved_is_in_force(s, &s->saved.list[i]))
			sum = sum * 1099511628211u + s->saved.list[i].id;
	return sum;
}

static void rule_send(struct sup_helper *h, const struct pol_saved *r)
{
	zw_autofree char *origin = zw_xasprintf("your rule %u in rules.json", r->id);
	struct pol_rule rule;

	pol_saved_rule(r, origin, &rule);
	feed_send_rule(h->chan, &rule);
}

void sup_saved_send(struct sup *s, struct sup_helper *h)
{
	for (size_t i = 0; i < s->saved.n; i++)
		if (sup_saved_is_in_force(s, &s->saved.list[i]) && !s->saved.list[i].is_publish)
			rule_send(h, &s->saved.list[i]);
	for (size_t i = 0; i < s->kept.n; i++)
		rule_send(h, &s->kept.list[i]);
	s->in_force = in_force_sum(s);
}

static void policies_send(struct sup *s)
{
	sup_policy_send(s, &s->broker);
	sup_policy_send(s, &s->proxy);
}

void sup_saved_changed(struct sup *s)
{
	policies_send(s);
	sup_ports_recheck(s);
	sup_asks_settle(s);
}

static void on_tick(void *arg)
{
	struct sup *s = arg;

	if (in_force_sum(s) != s->in_force)
		sup_saved_changed(s);
	if (s->n_uses > 0 && zw_mono_ms() - s->uses_ms > WRITE_MS)
		sup_uses_write(s);
	zev_timer_start(s->saved_timer, TICK_MS);
}

/* -- the file ----------------------------------------------------------------------------------- */

static void report_say(struct sup *s, const struct cfg_report *report, const char *then)
{
	zw_autofree char *line =
		report->n > 0 ? cfg_error_format(&report->list[0]) : zw_xstrdup("unknown");

	sup_warn(s, "%s. %s", line, then);
}

static void reload(struct sup *s)
{
	struct cfg_report report = {.n = 0};
	struct cfg_saved fresh;

	if (cfg_saved_load(s->config->rules_path, &fresh, &report) < 0) {
		report_say(s, &report, "The rules that were in force stay");
	} else {
		cfg_saved_fini(&s->saved);
		s->saved = fresh;
		sup_saved_changed(s);
	}
	cfg_report_clear(&report);
}

/* Only a file that was put in place counts: rules.json is never written to where it lies. */
static void on_folder(int fd, unsigned what, void *arg)
{
	_Alignas(struct inotify_event) char buf[4096];
	struct sup *s = arg;
	bool is_ours = false;
	ssize_t n;

	(void)what;
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		for (char *p = buf; p < buf + n;) {
			const struct inotify_event *e = (const void *)p;

			is_ours = is_ours || (e->len > 0 && strcmp(e->name, CFG_SAVED_FILE) == 0);
			p += sizeof(*e) + e->len;
		}
	}
	if (is_ours)
		reload(s);
}

void sup_saved_start(struct sup *s)
{
	const char *path = s->config->rules_path;

	if (path == NULL)
		return;
	s->saved_timer = zev_timer_new(s->loop, on_tick, s);
	zev_timer_start(s->saved_timer, TICK_MS);
	zw_autofree char *dir = zw_xmemdup0(path, (size_t)(zw_basename(path) - path));
	s->saved_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (s->saved_fd < 0 ||
	    inotify_add_watch(s->saved_fd, dir, IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE) < 0) {
		zw_close(&s->saved_fd);
		return;
	}
	s->saved_io = zev_io_new(s->loop, s->saved_fd, ZEV_READ, on_folder, s);
}

void sup_saved_fini(struct sup *s)
{
	zev_timer_free(zw_steal(&s->saved_timer));
	zev_io_free(zw_steal(&s->saved_io));
	zw_close(&s->saved_fd);
	cfg_saved_fini(&s->saved);
	cfg_saved_fini(&s->kept);
	free(zw_steal(&s->uses));
}

static int change(struct sup *s, int (*fn)(struct cfg_saved *c, void *arg), void *arg,
		  char **ret_why)
{
	struct cfg_report report = {.n = 0};
	int r = s->config->rules_path == NULL
			? ZW_E_UNSUPPORTED
			: cfg_saved_change(s->config->rules_path, sup_now_s(s), fn, arg, &s->saved,
					   &report);

	if (r < 0)
		*ret_why = report.n > 0 ? cfg_error_format(&report.list[0])
					: zw_xstrdup(zw_strerror(r));
	cfg_report_clear(&report);
	return r;
}

static int add(struct cfg_saved *c, void *arg)
{
	struct pol_saved *r = arg, copy;
	const char *why;

	pol_saved_copy(&copy, r);
	r->id = cfg_saved_add(c, &copy)->id;
	return pol_saved_check(cfg_saved_find(c, r->id), &why);
}

int sup_saved_add(struct sup *s, struct pol_saved *rule, char **ret_why)
{
	int r = change(s, add, rule, ret_why);

	if (r == 0)
		sup_saved_changed(s);
	return r;
}

static int take_out(struct cfg_saved *c, void *arg)
{
	return cfg_saved_remove(c, *(uint32_t *)arg) ? 0 : ZW_E_NOT_FOUND;
}

int sup_saved_remove(struct sup *s, uint32_t id, char **ret_why)
{
	int r = change(s, take_out, &id, ret_why);

	if (r == 0)
		sup_saved_changed(s);
	return r;
}

/* -- use ---------------------------------------------------------------------------------------- */

void sup_saved_used(struct sup *s, uint32_t id, uint32_t n)
{
	struct pol_saved *r = cfg_saved_find(&s->saved, id);

	if (n == 0 || r == NULL)
		return;
	for (size_t i = 0; i < s->n_uses; i++) {
		if (s->uses[i].id == id) {
			s->uses[i].n += n;
			s->uses[i].last_s = sup_now_s(s);
			return;
		}
	}
	if (s->n_uses == 0)
		s->uses_ms = zw_mono_ms();
	s->uses = zw_xrealloc(s->uses, s->n_uses + 1, sizeof(*s->uses));
	s->uses[s->n_uses++] = (struct sup_use){id, n, sup_now_s(s)};
}

static int uses_add(struct cfg_saved *c, void *arg)
{
	const struct sup *s = arg;

	for (size_t i = 0; i < s->n_uses; i++) {
		struct pol_saved *r = cfg_saved_find(c, s->uses[i].id);

		if (r == NULL)
			continue;
		r->n_used += s->uses[i].n;
		r->used_s = s->uses[i].last_s;
	}
	return 0;
}

void sup_uses_write(struct sup *s)
{
	zw_autofree char *why = NULL;

	if (s->n_uses > 0 && change(s, uses_add, s, &why) < 0)
		zw_warn("the use of rules could not be written down: %s", why);
	s->n_uses = 0;
}

/* -- the look at a question --------------------------------------------------------------------- */

static enum pol_fit best_of(const struct cfg_saved *list, const struct pol_try *t,
			    const struct pol_saved **ret)
{
	enum pol_fit best = POL_FIT_OTHER;

	for (size_t i = 0; i < list->n; i++) {
		const struct pol_saved *r = &list->list[i];
		enum pol_fit fit =
			r->action == POL_ACTION_ALLOW ? pol_saved_fit(r, t) : POL_FIT_OTHER;

		if (fit > best) {
			best = fit;
			*ret = r;
		}
	}
	return best;
}

enum pol_fit sup_saved_look(struct sup *s, const struct pol_try *t, const struct pol_saved **ret)
{
	const struct pol_saved *kept = NULL, *saved = NULL;
	enum pol_fit a = best_of(&s->kept, t, &kept), b = best_of(&s->saved, t, &saved);

	*ret = a > b ? kept : saved;
	return a > b ? a : b;
}
