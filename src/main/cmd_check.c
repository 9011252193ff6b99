/* SPDX-License-Identifier: MIT
 * `zwatch check`: what is wrong here, and what to do about it. */
#include <limits.h>
#include <locale.h>
#include <langinfo.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "sandbox/limits.h"
#include "sandbox/machine.h"
#include "src/audit/query.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/vis.h"
#include "src/config/agents.h"
#include "src/config/danger.h"
#include "src/config/saved_file.h"
#include "src/main/cmd.h"
#include "src/super/helper.h"

#define HIDES_MAX 4

/* Findings as lines, or as JSON; counts what they were. */
struct checklist {
	bool is_json, is_redacted;
	struct {
		char text[256];
		const char *shown;
	} hide[HIDES_MAX]; /* with --redact: longest first where one holds another */
	size_t n_hides;
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

static void hide(struct checklist *c, const char *text, const char *shown)
{
	/* Of one or two letters hardly a word would be left whole. */
	if (text == NULL || strlen(text) < 3 || c->n_hides == HIDES_MAX)
		return;
	zw_strlcpy(c->hide[c->n_hides].text, text, sizeof(c->hide[0].text));
	c->hide[c->n_hides++].shown = shown;
}

/* What names the user or the machine, and is not needed to find a fault. */
static void redact_init(struct checklist *c, const struct start *st)
{
	const struct passwd *user = getpwuid(getuid());
	struct utsname u;

	c->is_redacted = true;
	hide(c, getcwd((char[PATH_MAX]){0}, PATH_MAX), "PROJECT");
	hide(c, st->places.home, "~");
	if (uname(&u) == 0)
		hide(c, u.nodename, "HOST");
	/* Root is called that everywhere, and is a word. */
	if (user != NULL && getuid() != 0)
		hide(c, user->pw_name, "USER");
}

/* Ownership: caller frees. */
static char *redacted(const struct checklist *c, const char *text)
{
	char *out = zw_xstrdup(text);

	for (size_t i = 0; i < c->n_hides; i++) {
		size_t len = strlen(c->hide[i].text);

		for (char *at = out; (at = strstr(at, c->hide[i].text)) != NULL;) {
			size_t skip = (size_t)(at - out);
			char *next = zw_xasprintf("%.*s%s%s", (int)skip, out, c->hide[i].shown,
						  at + len);

			free(out);
			out = next;
			at = out + skip + strlen(c->hide[i].shown);
		}
	}
	return out;
}

static void item(struct checklist *c, enum sb_grade grade, const char *name, const char *raw_found,
		 const char *raw_fix)
{
	static const char *const words[] = {"ok", "warn", "fail"};
	zw_autofree char *found = redacted(c, raw_found), *fix = redacted(c, raw_fix);
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

/* The first line of a file that begins with @key, without it and quotes; "" = none. */
static void line_of(const char *path, const char *key, char *out, size_t size)
{
	zw_autofree char *text = NULL;
	size_t len;

	*out = '\0';
	if (zw_read_file(path, 1u << 20, &text, &len) < 0)
		return;
	for (char *p = text; p != NULL; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (!zw_starts_with(p, key))
			continue;
		p += strlen(key);
		p += *p == '"';
		zw_span_cpy(out, size, zw_span_n(p, strcspn(p, "\"\n")));
		return;
	}
}

static void check_system(struct checklist *c)
{
	char name[128], memory[64];
	struct utsname u;

	line_of("/etc/os-release", "PRETTY_NAME=", name, sizeof(name));
	line_of("/proc/meminfo", "MemTotal:", memory, sizeof(memory));
	if (uname(&u) < 0)
		return;
	zw_autofree char *text =
		zw_xasprintf("%s, Linux %s %s, %ld processors, %s of memory, %s",
			     *name != '\0' ? name : "unknown", u.release, u.machine,
			     sysconf(_SC_NPROCESSORS_ONLN), memory + strspn(memory, " "),
			     getuid() == 0 ? "as root" : "not as root");
	item(c, SB_GRADE_OK, "zwatch", ZW_VERSION, "");
	item(c, SB_GRADE_OK, "system", text, "");
}

/* Whether a program stands on the PATH. */
static bool on_path(const char *program)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	while (path != NULL && *path != '\0') {
		size_t n = strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/%s", (int)n, path, program);
		if (n > 0 && access(file, X_OK) == 0)
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

static void check_agents(struct checklist *c)
{
	char text[400] = "";
	size_t used = 0;

	for (const char *const *name = cfg_agent_names(); *name != NULL; name++)
		if (on_path(*name) && used + strlen(*name) + 3 < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used > 0 ? ", " : "", *name);
	item(c, SB_GRADE_OK, "agents",
	     used > 0 ? text : "none of the known ones is on the PATH; zwatch run -- PROGRAM", "");
}

static void check_saved(struct checklist *c, const struct start *st)
{
	zw_autofree char *path = zw_xasprintf("%s/" CFG_SAVED_FILE, st->places.config_dir);
	struct cfg_report report = {.n = 0};
	struct cfg_saved saved;

	if (cfg_saved_load(path, &saved, &report) < 0) {
		zw_autofree char *line = report.n > 0 ? cfg_error_format(&report.list[0])
						      : zw_xstrdup("cannot be read");

		item(c, SB_GRADE_FAIL, "saved rules", c->is_redacted ? "not valid" : line,
		     "zwatch rules edit, or move rules.json away");
	} else {
		zw_autofree char *text = zw_xasprintf("%zu", saved.n);

		item(c, SB_GRADE_OK, "saved rules", text, "");
		cfg_saved_fini(&saved);
	}
	cfg_report_clear(&report);
}

/* Whether a notice gets to a user who is not looking. */
static void check_notices(struct checklist *c)
{
	const char *in_tmux = getenv("TMUX");
	bool has_desktop = on_path("notify-send") &&
			   (getenv("DISPLAY") != NULL || getenv("WAYLAND_DISPLAY") != NULL);
	char said[64] = "";
	FILE *f = in_tmux != NULL && *in_tmux != '\0'
			  ? popen("tmux show-options -gqv allow-passthrough 2>/dev/null", "re")
			  : NULL;

	if (f != NULL) {
		if (fgets(said, sizeof(said), f) == NULL)
			said[0] = '\0';
		pclose(f);
		said[strcspn(said, "\n")] = '\0';
	}
	bool is_lost = f != NULL && (*said == '\0' || strcmp(said, "off") == 0);
	zw_autofree char *text = zw_xasprintf("bell%s%s",
					      is_lost	  ? "; tmux drops the terminal's own"
					      : f != NULL ? ", the terminal's own through tmux"
							  : ", the terminal's own if it has any",
					      has_desktop ? ", notify-send" : "");
	item(c, is_lost && !has_desktop ? SB_GRADE_WARN : SB_GRADE_OK, "notices", text,
	     "tmux set -g allow-passthrough on");
}

/* What a report should not be taken to say. */
static void check_untested(struct checklist *c, const struct start *st)
{
	zw_autofree char *text = zw_xasprintf(
		"the network: %zu resolvers are configured%s, none was asked",
		st->cfg->dns_upstreams.n,
		*st->cfg->upstream_proxy != '\0' ? ", and a proxy to go out through" : "");

	item(c, SB_GRADE_OK, "not tested", text, "");
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
		const struct cfg_error *e = &st->report.list[i];
		/* The sentence may name sites and paths of the user. */
		zw_autofree char *line =
			c->is_redacted ? zw_xasprintf("%s:%u: a finding (its text is left out)",
						      e->file, e->line)
				       : cfg_error_format(e);

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

	if (cli_has(cli, CLI_OPT_REDACT))
		redact_init(&c, st);
	if (c.is_json)
		dprintf(1, "[");
	check_system(&c);
	check_machine(&c);
	check_helpers(&c);
	check_limits(&c, st);
	check_settings(&c, st);
	check_saved(&c, st);
	check_store(&c, st);
	check_terminal(&c);
	check_notices(&c);
	check_agents(&c);
	check_untested(&c, st);
	if (c.is_json)
		dprintf(1, "\n]\n");
	else
		dprintf(1, "%zu ok, %zu warnings, %zu failed.\n", c.n[0], c.n[1], c.n[2]);
	/* Its block names paths. */
	if (!c.is_redacted)
		c.n[SB_GRADE_WARN] += cmd_danger_print(st);
	if (c.n[SB_GRADE_FAIL] > 0)
		return ZW_EXIT_NO_SANDBOX;
	return c.n[SB_GRADE_WARN] > 0 && cli_has(cli, CLI_OPT_STRICT) ? ZW_EXIT_NOTHING
								      : ZW_EXIT_OK;
}
