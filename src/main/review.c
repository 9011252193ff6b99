/* SPDX-License-Identifier: MIT */
#include "src/main/review.h"

#include <fcntl.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/vis.h"
#include "src/config/saved_file.h"
#include "src/main/tryout.h"
#include "ui/review.h"

/** One showing of the page. */
struct run {
	const struct review_config *config;
	struct sup_result *result;
	struct ui_review page;
	char *said; /* owned */
};

static void set(char **field, const char *text)
{
	free(*field);
	*field = zw_xstrdup(text);
}

/* The row's rule as its choice makes it. Ownership: pol_saved_fini(). */
static void rule_of(const struct run *run, size_t i, struct pol_saved *ret)
{
	pol_saved_copy(ret, &run->result->review.list[i].rule);
	ret->id = 0;
	ret->session = (int64_t)run->result->session;
	ret->made_s = zw_now_us() / 1000000;
	if (run->page.rows[i].next != UI_NEXT_NEVER)
		return;
	/* Another version of the program, or another script, is refused as well. */
	ret->action = POL_ACTION_DENY;
	ret->has_listener = false;
	char **const narrow[] = {&ret->program_hash, &ret->script, &ret->script_hash,
				 &ret->listener_exe};
	for (size_t k = 0; k < ZW_N_ELEMENTS(narrow); k++)
		set(narrow[k], "");
}

static const char *try_row(void *arg, size_t i)
{
	struct run *run = arg;
	struct pol_saved rule;
	struct tryout t;

	rule_of(run, i, &rule);
	int r = tryout_run(run->config->store, &rule, NULL, &t);
	pol_saved_fini(&rule);
	if (r < 0)
		return NULL;
	free(run->said);
	run->said = tryout_text(&t);
	return run->said;
}

static int add_all(struct cfg_saved *s, void *arg)
{
	const struct run *run = arg;

	for (size_t i = 0; i < run->page.n; i++) {
		struct pol_saved rule;

		if (run->page.rows[i].next == UI_NEXT_AS_IS)
			continue;
		rule_of(run, i, &rule);
		cfg_saved_add(s, &rule); /* takes its strings */
	}
	return 0;
}

static const char *save(void *arg)
{
	struct run *run = arg;
	struct cfg_report report = {.n = 0};
	int r = cfg_saved_change(run->config->rules, zw_now_us() / 1000000, add_all, run, NULL,
				 &report);

	if (r < 0) {
		zw_autofree char *why = report.n > 0 ? cfg_error_format(&report.list[0])
						     : zw_xstrdup(zw_strerror(r));
		free(run->said);
		run->said = zw_xasprintf("Nothing was saved: %s", why);
	} else {
		run->result->n_kept += (unsigned)ui_review_count(&run->page);
	}
	cfg_report_clear(&report);
	return r < 0 ? run->said : NULL;
}

/* What is kept, in one sentence: who, what, where, until. */
static void sentences(const struct sup_review_row *from, struct ui_review_row *to)
{
	const struct pol_saved *r = &from->rule;
	zw_autofree char *program = zw_vis_dup(r->program, strlen(r->program), 1024);
	zw_autofree char *script = zw_vis_dup(r->script, strlen(r->script), 1024);
	zw_autofree char *where = zw_vis_dup(r->project, strlen(r->project), 1024);
	const char *who = *program != '\0' ? program : "anything that the agent runs";

	to->always =
		zw_xasprintf("From now on zwatch does not ask when %s%s%s, as the file is now,"
			     " connects to %s, in %s, with no end.",
			     who, *script != '\0' ? " running " : "", script, from->title, where);
	to->never = zw_xasprintf("From now on %s is refused for %s, in %s, with no end.",
				 from->title, who, where);
}

static void page_fill(struct run *run)
{
	const struct sup_review *from = &run->result->review;

	run->page.rows = zw_xcalloc(from->n + 1, sizeof(*run->page.rows));
	run->page.n = from->n;
	for (size_t i = 0; i < from->n; i++) {
		const struct sup_review_row *row = &from->list[i];
		struct ui_review_row *to = &run->page.rows[i];

		*to = (struct ui_review_row){
			.kind = row->rule.kind == POL_KIND_SITE ? "net" : "unix",
			.what = row->title,
			.program = row->program,
			.identity = row->rule.program,
			.said = row->said,
			.n_times = row->n_times,
			.is_new = row->is_new,
			.is_asked = row->is_asked,
			.can_always = row->can_always,
			.can_never = row->can_never,
		};
		sentences(row, to);
	}
}

static void page_fini(struct run *run)
{
	for (size_t i = 0; i < run->page.n; i++) {
		free((char *)(uintptr_t)run->page.rows[i].always);
		free((char *)(uintptr_t)run->page.rows[i].never);
	}
	free(run->page.rows);
	free(run->said);
}

static bool has_choice(const struct sup_review *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->list[i].can_always || r->list[i].can_never)
			return true;
	return false;
}

static char *title_of(const struct sup_result *r)
{
	size_t n_new = 0;

	for (size_t i = 0; i < r->review.n; i++)
		n_new += r->review.list[i].is_new;
	zw_autofree char *number =
		r->session != 0 ? zw_xasprintf("Session %llu", (unsigned long long)r->session)
				: zw_xstrdup("The session");
	return zw_xasprintf("%s is over  %lld:%02lld, exit %d  review: %zu new", number,
			    (long long)(r->length_ms / 3600000),
			    (long long)(r->length_ms / 60000 % 60), r->exit_status, n_new);
}

void review_run(const struct review_config *config, struct sup_result *result)
{
	struct run run = {.config = config, .result = result};
	char name[64];

	if (!has_choice(&result->review) || ttyname_r(STDIN_FILENO, name, sizeof(name)) != 0)
		return;
	zw_autoclose int fd =
		open(name, O_RDWR | O_NOCTTY | O_CLOEXEC | (config->is_plain ? 0 : O_NONBLOCK));
	if (fd < 0)
		return;
	zw_autofree char *title = title_of(result);
	page_fill(&run);
	run.page.title = title;
	run.page.try_row = try_row;
	run.page.save = save;
	run.page.arg = &run;
	if (config->is_plain) {
		ui_review_plain(fd, &run.page);
	} else {
		struct zev_loop *loop = zev_loop_new();

		ui_review_run(loop, fd, &run.page, config->is_ascii, config->has_colour,
			      config->theme);
		zev_loop_free(loop);
	}
	page_fini(&run);
}
