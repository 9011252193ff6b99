/* SPDX-License-Identifier: MIT */
#include "src/main/wishes.h"

#include <termios.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/vis.h"
#include "src/config/saved_file.h"
#include "src/config/wish.h"
#include "src/main/cmd.h"

#define LINE_MAX_B 256
#define WHY_SHOWN  80
#define TEXT_SHOWN 200

/* -- the page ----------------------------------------------------------------------------------- */

static void say_text(const char *before, const char *text, size_t max, const char *after)
{
	zw_autofree char *shown = zw_vis_dup(text, strlen(text), max);

	dprintf(2, "%s%s%s", before, shown, after);
}

/* Number of a wish that can be granted, as it is typed; 0 = cannot. */
static size_t number_of(const struct cfg_wishes *w, size_t at)
{
	size_t n = 0;

	for (size_t i = 0; i <= at; i++)
		n += w->list[i].can_grant;
	return w->list[at].can_grant ? n : 0;
}

static void say_wishes(const struct cfg_wishes *w)
{
	dprintf(2, "\n      %-44s %-9s %s\n", "ASKS FOR", "RISK", "WHAT IT MEANS");
	for (size_t i = 0; i < w->n; i++) {
		const struct cfg_wish *wish = &w->list[i];
		zw_autofree char *text = zw_vis_dup(wish->text, strlen(wish->text), TEXT_SHOWN);
		size_t number = number_of(w, i);

		if (number > 0)
			dprintf(2, " %3zu", number);
		else
			dprintf(2, "   -");
		dprintf(2, "  %-44s %-9s %s%s\n", text, pol_risk_word(wish->risk), wish->means,
			wish->is_granted ? " (granted)" : "");
	}
}

/* What the project file refuses, which holds without a question. */
static void say_tightens(const struct start *st)
{
	bool is_first = true;

	for (size_t i = 0; i < st->cfg->n_rules; i++) {
		const struct pol_rule *r = &st->cfg->rules[i];

		if (r->layer != POL_LAYER_PROJECT)
			continue;
		if (is_first)
			dprintf(2, "\n      TIGHTENS (always applied)\n");
		is_first = false;
		say_text(r->kind == POL_KIND_SITE ? "      deny net  " : "      deny unix ",
			 r->pattern, TEXT_SHOWN, "\n");
	}
}

static bool was_wished(const struct cfg_trust_entry *e, const char *text)
{
	for (size_t i = 0; i < e->n; i++)
		if (strcmp(e->wishes[i], text) == 0)
			return true;
	return false;
}

/* Against what was granted when the file was another. */
static void say_changes(const struct cfg_wishes *w, const struct cfg_trust_entry *last)
{
	char at[32];

	if (last == NULL || strcmp(last->sha256, w->sha256) == 0)
		return;
	dprintf(2,
		"\n      The file has changed since you last answered (%.10s). New, or not granted "
		"then:\n",
		cfg_time_format(last->at_s, at));
	for (size_t i = 0; i < w->n; i++)
		if (!was_wished(last, w->list[i].text))
			say_text("      + ", w->list[i].text, TEXT_SHOWN, "\n");
}

static void say_page(const struct start *st, const struct cfg_trust_entry *last)
{
	const struct cfg_wishes *w = &st->wishes;
	zw_autofree char *file = cfg_path_show(&st->places, w->file);

	say_text("\nThis project asks for more access: ", file, 1024, "\n");
	dprintf(2, "The file came with the project. The agent has not started. Nothing of this is "
		   "active "
		   "yet.\n");
	if (*w->why != '\0')
		say_text("It says: \"", w->why, WHY_SHOWN, "\"\n");
	say_wishes(w);
	say_tightens(st);
	say_changes(w, last);
}

/* -- the answer --------------------------------------------------------------------------------- */

enum answer { ANSWER_BAD, ANSWER_START, ANSWER_NEVER, ANSWER_QUIT, ANSWER_FILE };

/* "1 3": grants those. Nothing is granted when one of them is none. */
static enum answer take_numbers(struct cfg_wishes *w, const char *line)
{
	bool chosen[CFG_WISHES_MAX] = {false};

	for (const char *p = line; *p != '\0';) {
		size_t len = strcspn(p, " ,");
		uint64_t number = 0;
		bool is_known = false;

		if (len > 0 && zw_parse_u64(p, len, CFG_WISHES_MAX, &number) < 0)
			return ANSWER_BAD;
		for (size_t i = 0; i < w->n && len > 0; i++) {
			if (number == 0 || number_of(w, i) != number)
				continue;
			chosen[i] = is_known = true;
		}
		if (len > 0 && !is_known)
			return ANSWER_BAD;
		p += len + (p[len] != '\0');
	}
	for (size_t i = 0; i < w->n; i++)
		w->list[i].is_granted = chosen[i];
	return ANSWER_START;
}

static enum answer take_line(struct cfg_wishes *w, const char *line)
{
	if (strcmp(line, "q") == 0)
		return ANSWER_QUIT;
	if (strcmp(line, "v") == 0)
		return ANSWER_FILE;
	if (strcmp(line, "N") == 0)
		return ANSWER_NEVER;
	if (strcmp(line, "a") != 0)
		return take_numbers(w, line);
	for (size_t i = 0; i < w->n; i++)
		w->list[i].is_granted = w->list[i].can_grant;
	return ANSWER_START;
}

static enum answer ask(const struct start *st, struct cfg_wishes *w)
{
	char line[LINE_MAX_B];
	enum answer answer;

	/* What was typed before the page is no answer to it. */
	tcflush(STDIN_FILENO, TCIFLUSH);
	do {
		dprintf(2, "\nNumbers to grant (as in: 1 3), a all that have one, Enter none of "
			   "them,\n"
			   "v the file, N never ask for this file, q do not start: ");
		if (!cmd_read_line(line, sizeof(line)))
			return ANSWER_QUIT;
		answer = take_line(w, line);
		if (answer == ANSWER_BAD)
			dprintf(2, "Nothing was granted: that is none of the answers.\n");
		if (answer == ANSWER_FILE)
			say_text("\n", st->cfg->project.text, st->cfg->project.len * 8 + 1, "\n");
	} while (answer == ANSWER_BAD || answer == ANSWER_FILE);
	return answer;
}

static int page(struct start *st)
{
	zw_autofree char *path = start_trust_path(st);
	struct cfg_trust trust;
	size_t n = 0;

	if (cfg_trust_load(path, &trust, &st->report) < 0) {
		start_print_report(st, 2, false);
		return ZW_EXIT_CONFIG;
	}
	say_page(st, cfg_trust_last(&trust, &st->wishes));
	for (size_t i = 0; i < st->wishes.n; i++)
		st->wishes.list[i].is_granted = false;
	enum answer answer = ask(st, &st->wishes);
	if (answer == ANSWER_QUIT) {
		cfg_trust_fini(&trust);
		dprintf(2, "zwatch: nothing was started\n");
		return ZW_EXIT_CONFIG;
	}
	int r = cfg_trust_keep(path, &trust, &st->wishes, answer == ANSWER_NEVER,
			       zw_now_us() / 1000000);
	cfg_trust_fini(&trust);
	if (r < 0)
		dprintf(2, "zwatch: this cannot be kept, and holds for this session alone: %s\n",
			zw_strerror(r));
	for (size_t i = 0; i < st->wishes.n; i++)
		n += st->wishes.list[i].is_granted;
	dprintf(2,
		"zwatch: %zu of %zu wishes granted, for this exact file. A change asks again; "
		"zwatch "
		"trust forget takes it back\n",
		n, st->wishes.n);
	return 0;
}

int wishes_ask(struct start *st, const struct cli *cli)
{
	bool has_terminal =
		isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && !cli_has(cli, CLI_OPT_NO_INPUT);

	if (st->wishes.n == 0 || st->wishes_are_known)
		return 0;
	if (!has_terminal) {
		if (isatty(STDERR_FILENO) || cli_has(cli, CLI_OPT_VERBOSE))
			dprintf(2, "zwatch: the project's wishes are not granted: there is no "
				   "terminal to "
				   "ask on\n");
		return 0;
	}
	int status = page(st);
	if (status != 0)
		return status;
	cfg_wishes_apply(st->cfg, &st->places, &st->wishes, &st->report);
	cfg_hold_paths(st->cfg, &st->places, &st->report);
	return 0;
}

/* -- zwatch trust ------------------------------------------------------------------------------- */

static int trust_show(struct start *st, const struct cfg_trust *t)
{
	zw_autofree char *root = realpath(st->cfg->project_dir, NULL);
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct cfg_trust_entry *e = &t->list[i];
		bool is_now = cfg_trust_find(t, &st->wishes) == e;
		char at[32];

		if (root == NULL || strcmp(e->root, root) != 0)
			continue;
		n++;
		zw_autofree char *file = zw_vis_dup(e->file, strlen(e->file), 1024);
		dprintf(1, "%s  %.12s  %.10s  %s\n", file, e->sha256, cfg_time_format(e->at_s, at),
			is_now ? "in force" : "of another content");
		for (size_t k = 0; k < e->n; k++) {
			zw_autofree char *text =
				zw_vis_dup(e->wishes[k], strlen(e->wishes[k]), TEXT_SHOWN);

			dprintf(1, "  granted  %s\n", text);
		}
		if (e->n == 0)
			dprintf(1, "  nothing granted%s\n", e->is_never ? ", not to be asked" : "");
	}
	if (!st->wishes_are_known)
		for (size_t i = 0; i < st->wishes.n; i++) {
			zw_autofree char *text =
				zw_vis_dup(st->wishes.list[i].text, strlen(st->wishes.list[i].text),
					   TEXT_SHOWN);

			dprintf(1, "wished, not granted  %s\n", text);
		}
	if (n == 0)
		dprintf(1, "nothing was granted to this project\n");
	return ZW_EXIT_OK;
}

static int trust_forget(struct start *st, struct cfg_trust *t)
{
	zw_autofree char *path = start_trust_path(st);
	zw_autofree char *root = realpath(st->cfg->project_dir, NULL);
	int n = root != NULL ? cfg_trust_forget(path, t, root) : 0;

	if (n < 0) {
		dprintf(2, "zwatch: %s cannot be written: %s\n", path, zw_strerror(n));
		return ZW_EXIT_CONFIG;
	}
	dprintf(1, n > 0 ? "forgotten; the project's wishes are asked about again\n"
			 : "nothing was granted to this project\n");
	return n > 0 ? ZW_EXIT_OK : ZW_EXIT_NOTHING;
}

int cmd_trust(struct start *st, const struct cli *cli)
{
	const char *what = cli->n_rest > 0 ? cli->rest[0] : "show";
	zw_autofree char *path = start_trust_path(st);
	struct cfg_trust trust;
	int status = ZW_EXIT_USAGE;

	if (st->report.n_errors > 0 || cfg_trust_load(path, &trust, &st->report) < 0) {
		start_print_report(st, 2, false);
		return ZW_EXIT_CONFIG;
	}
	if (strcmp(what, "show") == 0)
		status = trust_show(st, &trust);
	else if (strcmp(what, "forget") == 0)
		status = trust_forget(st, &trust);
	else if (strcmp(what, "review") == 0 && st->wishes.n == 0)
		status = trust_show(st, &trust);
	else if (strcmp(what, "review") == 0 && isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
		status = page(st);
	else
		dprintf(2, strcmp(what, "review") == 0
				   ? "zwatch: zwatch trust review needs a terminal\n"
				   : "zwatch: zwatch trust what? show, review or forget\n");
	cfg_trust_fini(&trust);
	return status;
}
