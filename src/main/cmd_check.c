/* SPDX-License-Identifier: MIT
 * `zwatch check`: what is wrong here, and what to do about it. */
#include <limits.h>
#include <locale.h>
#include <langinfo.h>
#include <sys/stat.h>

#include "sandbox/limits.h"
#include "sandbox/machine.h"
#include "src/audit/query.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/vis.h"
#include "src/config/danger.h"
#include "src/main/cmd.h"
#include "src/super/helper.h"

/* Findings as lines, or as JSON; counts what they were. */
struct checklist {
	bool is_json;
	size_t n[SB_GRADE_FAIL + 1];
};

static void json_text(const char *s)
{
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			dprintf(1, "\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			dprintf(1, "\\u%04x", (unsigned)*s);
		else
			dprintf(1, "%c", *s);
	}
}

static void item(struct checklist *c, enum sb_grade grade, const char *name, const char *found,
		 const char *fix)
{
	static const char *const words[] = {"ok", "warn", "fail"};
	zw_autofree char *shown = zw_vis_dup(found, strlen(found), 512);
	size_t n_before = c->n[0] + c->n[1] + c->n[2];

	c->n[grade]++;
	if (!c->is_json) {
		dprintf(1, "%-5s %-24s %s\n", words[grade], name, shown);
		if (grade != SB_GRADE_OK && *fix != '\0')
			dprintf(1, "      fix   %s\n", fix);
		return;
	}
	dprintf(1, "%s\n  {\"check\": \"%s\", \"grade\": \"%s\", \"found\": \"",
		n_before > 0 ? "," : "", name, words[grade]);
	json_text(shown);
	dprintf(1, "\", \"fix\": \"");
	json_text(grade != SB_GRADE_OK ? fix : "");
	dprintf(1, "\"}");
}

static void check_machine(struct checklist *c)
{
	zw_autofree char *init = sup_program_path("zwatch-init");
	struct sb_check list[SB_CHECK_MAX];
	size_t n = sb_machine_check(access("/usr/bin/bwrap", X_OK) == 0 ? "/usr/bin/bwrap" : NULL,
				    init, list);

	for (size_t i = 0; i < n; i++)
		item(c, list[i].grade, list[i].name, list[i].found, list[i].fix);
}

/* What of `resources` can be held here. A warning only where it is asked for. */
static void check_limits(struct checklist *c, const struct start *st)
{
	const struct sb_limits l = {(uint64_t)st->cfg->limit_memory_b,
				    (uint32_t)st->cfg->limit_processes,
				    (uint32_t)st->cfg->limit_cpu};
	zw_autofree char *why = NULL;
	unsigned possible = sb_limits_possible(&why), missing = sb_limits_wanted(&l) & ~possible;
	const bool is_root = getuid() == 0;
	zw_autofree char *text =
		possible == (SB_LIMIT_MEMORY | SB_LIMIT_PROCESSES | SB_LIMIT_CPU)
			? zw_xstrdup("memory, processes and CPU of a session, by control group")
			: zw_xasprintf("%s: memory %s, processes %s, CPU %s",
				       why != NULL ? why : "no control group",
				       possible & SB_LIMIT_MEMORY ? "by control group"
								  : "for each process by itself",
				       possible & SB_LIMIT_PROCESSES ? "by control group"
				       : is_root		     ? "not (you are root)"
								     : "by rlimit",
				       possible & SB_LIMIT_CPU ? "by control group" : "not");

	item(c, missing != 0 ? SB_GRADE_WARN : SB_GRADE_OK, "limits", text,
	     "start zwatch in a control group of your own: systemd-run --user --scope "
	     "-p Delegate=yes zwatch ...");
}

static void check_helpers(struct checklist *c)
{
	static const enum zw_role roles[] = {ROLE_PANE, ROLE_PROXY, ROLE_RESOLVER, ROLE_BROKER,
					     ROLE_AUDIT};

	for (size_t i = 0; i < ZW_N_ELEMENTS(roles); i++) {
		zw_autofree char *path = sup_program_path(zw_role_name(roles[i]));

		if (access(path, X_OK) < 0)
			item(c, SB_GRADE_FAIL, zw_role_name(roles[i]), path,
			     "install zwatch again, or build it anew");
	}
}

static void check_store(struct checklist *c, const struct start *st)
{
	zw_autofree char *path = cmd_store_path(st);
	struct aud_query *q = NULL;
	struct aud_totals t;
	struct stat sb;
	int r = aud_query_open(path, &q);

	if (r == 0)
		r = aud_totals(q, &t);
	if (r < 0) {
		item(c, SB_GRADE_FAIL, "history", zw_strerror(r), "move history.db away");
	} else {
		zw_autofree char *text =
			stat(path, &sb) == 0
				? zw_xasprintf("%lld sessions, %lld events, %.1f MB",
					       (long long)t.n_sessions, (long long)t.n_events,
					       (double)sb.st_size / 1e6)
				: zw_xstrdup("empty, made with the first session");
		item(c, SB_GRADE_OK, "history", text, "");
	}
	aud_query_free(q);
}

static void check_terminal(struct checklist *c)
{
	const char *term = getenv("TERM"), *colour = getenv("COLORTERM");

	setlocale(LC_CTYPE, "");
	bool is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (!isatty(STDOUT_FILENO)) {
		item(c, SB_GRADE_OK, "terminal", "none here: sessions run with --ui none", "");
		return;
	}
	zw_autofree char *text =
		zw_xasprintf("%s, %s, %s", term != NULL ? term : "TERM is not set",
			     colour != NULL && *colour != '\0' ? colour : "colours by terminfo",
			     is_utf8 ? "UTF-8" : "no UTF-8: drawn with ASCII");
	bool is_dumb = term == NULL || *term == '\0' || strcmp(term, "dumb") == 0;
	item(c, is_dumb || !is_utf8 ? SB_GRADE_WARN : SB_GRADE_OK, "terminal", text,
	     is_dumb ? "set TERM to what the terminal is" : "set LANG to a UTF-8 locale, C.UTF-8");
}

static void check_settings(struct checklist *c, const struct start *st)
{
	for (size_t i = 0; i < st->report.n; i++) {
		zw_autofree char *line = cfg_error_format(&st->report.list[i]);

		item(c, st->report.list[i].is_error ? SB_GRADE_FAIL : SB_GRADE_WARN, "settings",
		     line, "zwatch config path says which files are read");
	}
	if (st->report.n == 0)
		item(c, SB_GRADE_OK, "settings", "valid", "");
}

size_t cmd_danger_print(struct start *st)
{
	size_t n = 0;

	for (size_t i = 0; i < st->cfg->n_sockets; i++) {
		const struct cfg_socket *k = &st->cfg->sockets[i];
		const struct cfg_class *class = cfg_catalogue_find(start_catalogue(st), k->path);
		char real[PATH_MAX] = "";

		if (!cfg_danger_class(class))
			continue;
		if (k->path[0] == '/' && realpath(k->path, real) == NULL)
			real[0] = '\0';
		zw_autofree char *block = cfg_danger_warning(class, k->listed, real, k->origin);
		dprintf(2, "%s", block);
		n++;
	}
	return n;
}

int cmd_check(struct start *st, const struct cli *cli)
{
	struct checklist c = {.is_json = cli_has(cli, CLI_OPT_JSON)};

	if (c.is_json)
		dprintf(1, "[");
	check_machine(&c);
	check_helpers(&c);
	check_limits(&c, st);
	check_settings(&c, st);
	check_store(&c, st);
	check_terminal(&c);
	if (c.is_json)
		dprintf(1, "\n]\n");
	else
		dprintf(1, "%zu ok, %zu warnings, %zu failed.\n", c.n[0], c.n[1], c.n[2]);
	c.n[SB_GRADE_WARN] += cmd_danger_print(st);
	if (c.n[SB_GRADE_FAIL] > 0)
		return ZW_EXIT_NO_SANDBOX;
	return c.n[SB_GRADE_WARN] > 0 && cli_has(cli, CLI_OPT_STRICT) ? ZW_EXIT_NOTHING
								      : ZW_EXIT_OK;
}
