/* SPDX-License-Identifier: MIT
 * `zwatch rules`: what answers have saved, seen and changed from outside a session. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/sha256.h"
#include "src/base/vis.h"
#include "src/config/danger.h"
#include "src/main/cmd.h"
#include "src/main/tryout.h"
#include "src/policy/pattern.h"

#define RETIRE_S    (90ll * 24 * 3600)
#define PROGRAM_MAX (512u << 20)
#define LINE_MAX_B  1024

/** One run of the command. */
struct run {
	struct start *st;
	const struct cli *cli;
	char *path;
	int64_t now_s;
	struct cfg_saved saved; /* as the file was at the start */
	struct cfg_report report;
};

static int usage(const char *text)
{
	dprintf(2, "zwatch: %s\n", text);
	return ZW_EXIT_USAGE;
}

static void say_report(const struct run *run)
{
	for (size_t i = 0; i < run->report.n; i++) {
		zw_autofree char *line = cfg_error_format(&run->report.list[i]);

		dprintf(2, "zwatch: %s\n", line);
	}
}

static int change(struct run *run, int (*fn)(struct cfg_saved *s, void *arg), void *arg)
{
	int r = cfg_saved_change(run->path, run->now_s, fn, arg, NULL, &run->report);

	if (r < 0 && run->report.n == 0)
		dprintf(2, "zwatch: rules.json was not changed: %s\n", zw_strerror(r));
	say_report(run);
	return r;
}

/* -- showing ------------------------------------------------------------------------------------ */

static const char *day(int64_t t_s, const char *otherwise, char out[32])
{
	time_t t = (time_t)t_s;
	struct tm tm;

	if (t_s == 0 || localtime_r(&t, &tm) == NULL ||
	    strftime(out, 32, "%Y-%m-%d %H:%M", &tm) == 0)
		zw_strlcpy(out, otherwise, 32);
	return out;
}

static char *shown(const struct run *run, const char *path, const char *otherwise)
{
	zw_autofree char *home =
		*path == '/' ? cfg_path_show(&run->st->places, path) : zw_xstrdup(path);

	return *path == '\0' ? zw_xstrdup(otherwise) : zw_vis_dup(home, strlen(home), 4096);
}

static const char *state_word(const struct run *run, const struct pol_saved *r)
{
	enum pol_fit fit = pol_saved_time(r, run->now_s, run->saved.seen_s);

	return fit == POL_FIT_OVER ? "over" : fit == POL_FIT_CLOCK ? "clock" : "";
}

static char *target_of(const struct run *run, const struct pol_saved *r)
{
	zw_autofree char *t = shown(run, r->target, "");

	return zw_xasprintf("%s%s", r->kind == POL_KIND_SOCKET ? "unix:" : "", t);
}

static void print_row(const struct run *run, const struct pol_saved *r)
{
	zw_autofree char *target = target_of(run, r);
	zw_autofree char *by =
		zw_vis_dup(zw_basename(r->program), strlen(zw_basename(r->program)), 64);
	zw_autofree char *script =
		zw_vis_dup(zw_basename(r->script), strlen(zw_basename(r->script)), 64);
	zw_autofree char *where = shown(run, r->project, "every project");
	zw_autofree char *who = zw_xasprintf("%s%s%s", *by != '\0' ? by : "any program",
					     *script != '\0' ? " " : "", script);
	char until[32], last[32];

	dprintf(1, "%-4u %-6s %-36s  %-16s  %-20s  %-17s  %4llux  %s%s%s\n", r->id,
		r->action == POL_ACTION_ALLOW ? "allow" : "deny", target, who, where,
		day(r->until_s, "no end", until), (unsigned long long)r->n_used,
		day(r->used_s, "never", last), *state_word(run, r) != '\0' ? "  " : "",
		state_word(run, r));
}

/* --session: what an answer of that session kept. */
static bool is_listed(const struct run *run, const struct pol_saved *r)
{
	const char *word = cli_get(run->cli, CLI_OPT_SESSION);
	uint64_t session = 0;

	return word == NULL || (zw_parse_u64(word, strlen(word), INT64_MAX, &session) == 0 &&
				r->session == (int64_t)session && session != 0);
}

static int list(struct run *run)
{
	if (cli_has(run->cli, CLI_OPT_JSON)) {
		zw_autofree char *text = cfg_saved_format(&run->saved);

		zw_write_all(1, text, strlen(text));
		return ZW_EXIT_OK;
	}
	size_t n = 0;
	for (size_t i = 0; i < run->saved.n; i++)
		n += is_listed(run, &run->saved.list[i]);
	if (n == 0)
		return ZW_EXIT_NOTHING;
	dprintf(1, "%-4s %-6s %-36s  %-16s  %-20s  %-17s  %5s  %s\n", "N", "DO", "TARGET", "BY",
		"WHERE", "UNTIL", "USED", "LAST");
	for (size_t i = 0; i < run->saved.n; i++)
		if (is_listed(run, &run->saved.list[i]))
			print_row(run, &run->saved.list[i]);
	return ZW_EXIT_OK;
}

static const struct pol_saved *rule_named(struct run *run, const char *word)
{
	uint64_t id = 0;
	const struct pol_saved *r = NULL;

	if (word != NULL && zw_parse_u64(word, strlen(word), UINT32_MAX, &id) == 0)
		r = cfg_saved_find(&run->saved, (uint32_t)id);
	if (r == NULL) {
		zw_autofree char *text =
			zw_vis_dup(word != NULL ? word : "", word != NULL ? strlen(word) : 0, 64);
		dprintf(2, "zwatch: there is no rule '%s'. zwatch rules lists them\n", text);
	}
	return r;
}

/* @f: NULL = all that is recorded. */
static void print_tryout(const struct run *run, const struct pol_saved *r,
			 const struct aud_filter *f)
{
	zw_autofree char *store = cmd_store_path(run->st);
	struct tryout t;

	if (tryout_run(store, r, f, &t) < 0) {
		dprintf(1, "tried     %s\n",
			f != NULL ? "nothing is recorded that the filter takes"
				  : "no session is kept to try it on");
		return;
	}
	zw_autofree char *text = tryout_text(&t);
	dprintf(1, "tried     %s\n", text);
}

static void print_fact(const char *label, const char *text)
{
	if (*text != '\0')
		dprintf(1, "%-9s %s\n", label, text);
}

static int show(struct run *run)
{
	const struct pol_saved *r =
		rule_named(run, run->cli->n_rest > 1 ? run->cli->rest[1] : NULL);
	char text[32];

	if (r == NULL)
		return ZW_EXIT_NOTHING;
	zw_autofree char *target = target_of(run, r);
	zw_autofree char *program = shown(run, r->program, "any that the agent runs");
	zw_autofree char *script = shown(run, r->script, "");
	zw_autofree char *where = shown(run, r->project, "every project");
	zw_autofree char *exe = shown(run, r->listener_exe, "");
	zw_autofree char *answers = r->has_listener ? zw_xasprintf("user %u%s%s", r->listener_uid,
								   *exe != '\0' ? ", " : "", exe)
						    : zw_xstrdup("");
	zw_autofree char *note = zw_vis_dup(r->note, strlen(r->note), 512);
	dprintf(1, "%s  %s  (%s)\n", r->action == POL_ACTION_ALLOW ? "allow" : "deny", target,
		pol_risk_word(r->risk));
	print_fact("program", program);
	print_fact("sha256", r->program_hash);
	print_fact("script", script);
	print_fact("sha256", r->script_hash);
	print_fact("where", where);
	print_fact("answers", answers);
	print_fact("note", note);
	print_fact("made", day(r->made_s, "?", text));
	print_fact("until", day(r->until_s, "no end", text));
	dprintf(1, "used      %llu times, last %s\n", (unsigned long long)r->n_used,
		day(r->used_s, "never", text));
	if (pol_saved_time(r, run->now_s, run->saved.seen_s) == POL_FIT_CLOCK)
		dprintf(1, "state     not in force: the clock has been turned back\n");
	else
		print_fact("state", state_word(run, r));
	print_tryout(run, r, NULL);
	return ZW_EXIT_OK;
}

/* -- adding ------------------------------------------------------------------------------------- */

static void set(char **field, const char *text)
{
	free(*field);
	*field = zw_xstrdup(text);
}

static int hash_file(const char *path, char out[ZW_SHA256_HEX + 1])
{
	zw_autofree char *bytes = NULL;
	struct zw_sha256 sum;
	size_t len;
	int r = zw_read_file(path, PROGRAM_MAX, &bytes, &len);

	if (r < 0)
		return r;
	zw_sha256_init(&sum);
	zw_sha256_add(&sum, bytes, len);
	zw_sha256_hex(&sum, out);
	return 0;
}

/* A path, or a name that the shell would find. */
char *cmd_program_find(const char *word)
{
	const char *path = getenv("PATH");
	zw_autofree char *dirs = zw_xstrdup(path != NULL ? path : "/usr/bin:/bin");
	char *save = NULL;

	if (strchr(word, '/') != NULL)
		return realpath(word, NULL);
	for (char *dir = strtok_r(dirs, ":", &save); dir != NULL;
	     dir = strtok_r(NULL, ":", &save)) {
		zw_autofree char *file = zw_xasprintf("%s/%s", dir, word);

		if (*dir == '/' && access(file, X_OK) == 0)
			return realpath(file, NULL);
	}
	return NULL;
}

static int take_program(struct pol_saved *r, const char *word)
{
	zw_autofree char *path = cmd_program_find(word);
	char hash[ZW_SHA256_HEX + 1] = "";

	if (path == NULL) {
		dprintf(2, "zwatch: there is no program '%s'\n", word);
		return ZW_E_NOT_FOUND;
	}
	set(&r->program, path);
	if (r->action == POL_ACTION_DENY)
		return 0;
	int e = hash_file(path, hash);
	if (e < 0)
		dprintf(2, "zwatch: '%s' cannot be read: %s\n", path, zw_strerror(e));
	set(&r->program_hash, hash);
	return e;
}

static int take_until(struct run *run, struct pol_saved *r)
{
	const char *word = cli_get(run->cli, CLI_OPT_UNTIL);
	int64_t ms;

	if (word == NULL)
		r->until_s = r->risk >= POL_RISK_HIGH && r->action == POL_ACTION_ALLOW
				     ? pol_until_end(POL_UNTIL_WEEK, run->now_s)
				     : 0;
	else if (strcmp(word, "never") == 0)
		r->until_s = 0;
	else if (strcmp(word, "today") == 0)
		r->until_s = pol_until_end(POL_UNTIL_TODAY, run->now_s);
	else if (cfg_parse_duration(word, &ms) == 0 && ms >= 1000)
		r->until_s = run->now_s + ms / 1000;
	else
		return usage("--until is today, never, or a time like 1h or 7d");
	return 0;
}

static int take_socket(struct run *run, struct pol_saved *r, const char *path)
{
	const char *why = "";
	zw_autofree char *real = *path == '/' ? realpath(path, NULL) : NULL;
	const char *name = real != NULL ? real : path;
	struct stat st;

	/* A path that is there may have any letter in it; of others a pattern is meant. */
	if (pol_socket_pattern_check(name, strlen(name), real != NULL, &why) < 0) {
		dprintf(2, "zwatch: '%s' is no socket: %s\n", path, why);
		return ZW_E_SYNTAX;
	}
	r->kind = POL_KIND_SOCKET;
	set(&r->target, name);
	r->risk = cfg_catalogue_find(start_catalogue(run->st), name)->c.risk;
	/* Whoever listens there now is meant, not whoever comes next. */
	if (r->action == POL_ACTION_ALLOW && *name == '/' && stat(name, &st) == 0) {
		r->has_listener = true;
		r->listener_uid = st.st_uid;
	}
	return 0;
}

static int take_site(struct pol_saved *r, const char *site)
{
	zw_autofree char *ascii = NULL;
	const char *why = "";

	if (zw_starts_with(site, POL_PUBLISH)) {
		pol_saved_set_site(r, site);
		return 0;
	}
	r->kind = POL_KIND_SITE;
	if (cfg_site_to_ascii(site, &ascii, &why) < 0) {
		dprintf(2, "zwatch: '%s' is no site: %s\n", site, why);
		return ZW_E_SYNTAX;
	}
	set(&r->target, ascii);
	return 0;
}

/* `add allow|deny TARGET`, and `test` of one that is not saved. Returns 0 or an exit status. */
static int rule_from_words(struct run *run, struct pol_saved *r)
{
	const struct cli *cli = run->cli;
	const char *word = cli->n_rest > 1 ? cli->rest[1] : "", *by = cli_get(cli, CLI_OPT_BY);
	const char *target = cli->n_rest > 2 ? cli->rest[2] : "", *why = "";

	pol_saved_init(r);
	if ((strcmp(word, "allow") != 0 && strcmp(word, "deny") != 0) || *target == '\0')
		return usage(
			"what rule? allow or deny, then HOST[:PORT], unix:PATH or publish:PORT");
	r->action = *word == 'a' ? POL_ACTION_ALLOW : POL_ACTION_DENY;
	r->made_s = run->now_s;
	r->id = run->saved.next_id;
	bool is_socket = zw_starts_with(target, "unix:");
	if ((is_socket ? take_socket(run, r, target + 5) : take_site(r, target)) < 0)
		return ZW_EXIT_USAGE;
	if (by != NULL && take_program(r, by) < 0)
		return ZW_EXIT_USAGE;
	if (cli_has(cli, CLI_OPT_HERE))
		set(&r->project, run->st->cfg->project_dir);
	if (cli_get(cli, CLI_OPT_NOTE) != NULL)
		set(&r->note, cli_get(cli, CLI_OPT_NOTE));
	if (take_until(run, r) != 0)
		return ZW_EXIT_USAGE;
	if (pol_saved_check(r, &why) < 0) {
		dprintf(2, "zwatch: this is no rule: %s\n", why);
		return ZW_EXIT_USAGE;
	}
	return 0;
}

static bool read_line(char line[LINE_MAX_B])
{
	size_t n = 0;
	char c;

	while (n + 1 < LINE_MAX_B && read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		line[n++] = c;
	line[n] = '\0';
	return n > 0;
}

/* As the question itself would: the word, or the path. */
static int agree(struct run *run, const struct pol_saved *r)
{
	const struct cfg_class *c = cfg_catalogue_find(start_catalogue(run->st), r->target);
	zw_autofree char *want =
		r->risk == POL_RISK_CRITICAL
			? zw_xasprintf("%s%s", r->target, r->until_s == 0 ? " no end" : "")
			: zw_xstrdup(*c->word != '\0' ? c->word : "allow");
	char line[LINE_MAX_B];

	if (r->kind != POL_KIND_SOCKET || r->action != POL_ACTION_ALLOW || r->risk < POL_RISK_HIGH)
		return 0;
	if (!isatty(STDIN_FILENO) || cli_has(run->cli, CLI_OPT_NO_INPUT)) {
		dprintf(2,
			"zwatch: %s is %s: such a rule is made on a terminal, by typing what it is "
			"about\n",
			r->target, pol_risk_word(r->risk));
		return ZW_EXIT_CONFIG;
	}
	dprintf(2, "%s  %s\nIf you allow it: %s\nType  %s  and Enter. Empty: nothing is saved.\n> ",
		pol_risk_word(r->risk), r->target, c->allow, want);
	if (read_line(line) && strcmp(line, want) == 0)
		return 0;
	dprintf(2, "Not the same. Nothing was saved.\n");
	return ZW_EXIT_NOTHING;
}

static int do_add(struct cfg_saved *s, void *arg)
{
	struct pol_saved *r = arg, copy;

	pol_saved_copy(&copy, r);
	copy.id = 0;
	r->id = cfg_saved_add(s, &copy)->id;
	return 0;
}

static int add(struct run *run)
{
	struct pol_saved r;
	int status = rule_from_words(run, &r);

	if (status == 0)
		status = agree(run, &r);
	if (status == 0 && change(run, do_add, &r) < 0)
		status = ZW_EXIT_CONFIG;
	if (status == 0)
		dprintf(1, "rule %u saved. zwatch rules rm %u takes it back\n", r.id, r.id);
	pol_saved_fini(&r);
	return status;
}

static int test(struct run *run)
{
	const struct pol_saved *saved;
	struct pol_saved r;

	if (run->cli->n_rest == 2) {
		saved = rule_named(run, run->cli->rest[1]);
		if (saved == NULL)
			return ZW_EXIT_NOTHING;
		print_tryout(run, saved, NULL);
		return ZW_EXIT_OK;
	}
	struct aud_filter *f = NULL;
	int status = rule_from_words(run, &r);
	if (status == 0 && run->cli->n_rest > 3)
		status = cmd_filter_read(run->cli, 3, &f);
	if (status == 0)
		print_tryout(run, &r, f);
	aud_filter_free(f);
	pol_saved_fini(&r);
	return status;
}

/* -- removing ----------------------------------------------------------------------------------- */

struct ids {
	const uint32_t *list;
	size_t n;
	int64_t clock_s; /* > 0: what was seen of the clock is set to this */
};

static int do_remove(struct cfg_saved *s, void *arg)
{
	const struct ids *ids = arg;

	for (size_t i = 0; i < ids->n; i++)
		cfg_saved_remove(s, ids->list[i]);
	if (ids->clock_s > 0)
		s->seen_s = ids->clock_s;
	return 0;
}

static int rm(struct run *run)
{
	uint32_t list_[CFG_SAVED_MAX];
	struct ids ids = {list_, 0, 0};

	if (run->cli->n_rest < 2)
		return usage("which rule? zwatch rules lists their numbers");
	for (int i = 1; i < run->cli->n_rest && ids.n < CFG_SAVED_MAX; i++) {
		const struct pol_saved *r = rule_named(run, run->cli->rest[i]);

		if (r == NULL)
			return ZW_EXIT_NOTHING;
		list_[ids.n++] = r->id;
	}
	if (change(run, do_remove, &ids) < 0)
		return ZW_EXIT_CONFIG;
	dprintf(1, "%zu removed\n", ids.n);
	return ZW_EXIT_OK;
}

static bool is_stale(const struct run *run, const struct pol_saved *r)
{
	int64_t last_s = r->used_s > r->made_s ? r->used_s : r->made_s;
	enum pol_fit fit = pol_saved_time(r, run->now_s, 0);

	return fit == POL_FIT_OVER || fit == POL_FIT_CLOCK ||
	       (r->action == POL_ACTION_ALLOW && run->now_s - last_s > RETIRE_S);
}

static bool confirmed(const struct run *run, size_t n)
{
	char line[LINE_MAX_B] = "";

	if (cli_has(run->cli, CLI_OPT_YES))
		return true;
	if (!isatty(STDIN_FILENO)) {
		dprintf(2, "zwatch: nothing was removed; --yes removes without a question\n");
		return false;
	}
	dprintf(2, "Remove %zu? y/N ", n);
	return read_line(line) && (strcmp(line, "y") == 0 || strcmp(line, "yes") == 0);
}

/* Rules that are over, and allows that nothing has used for 90 days. */
static int retire(struct run *run)
{
	uint32_t list_[CFG_SAVED_MAX];
	struct ids ids = {list_, 0, run->now_s};

	for (size_t i = 0; i < run->saved.n; i++) {
		if (!is_stale(run, &run->saved.list[i]))
			continue;
		print_row(run, &run->saved.list[i]);
		list_[ids.n++] = run->saved.list[i].id;
	}
	if (ids.n == 0 && run->saved.seen_s <= run->now_s) {
		dprintf(1, "every rule is in use\n");
		return ZW_EXIT_OK;
	}
	if (ids.n > 0 && !confirmed(run, ids.n))
		return ZW_EXIT_NOTHING;
	if (change(run, do_remove, &ids) < 0)
		return ZW_EXIT_CONFIG;
	dprintf(1, "%zu removed\n", ids.n);
	return ZW_EXIT_OK;
}

/* -- editing ------------------------------------------------------------------------------------ */

int cmd_editor(const char *file)
{
	const char *editor = getenv("VISUAL");
	int status;

	if (editor == NULL || *editor == '\0')
		editor = getenv("EDITOR");
	if (editor == NULL || *editor == '\0')
		editor = "vi";
	pid_t pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		zw_autofree char *line = zw_xasprintf("exec %s \"$1\"", editor);

		execl("/bin/sh", "sh", "-c", line, "sh", file, (char *)NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : ZW_E_UNSUPPORTED;
}

struct edited {
	const char *before; /* what was given to the editor */
	struct cfg_saved fresh;
};

static int do_replace(struct cfg_saved *s, void *arg)
{
	struct edited *e = arg;
	zw_autofree char *now = cfg_saved_format(s);

	if (strcmp(now, e->before) != 0)
		return ZW_E_BUSY;
	int64_t seen_s = s->seen_s;
	cfg_saved_fini(s);
	*s = e->fresh;
	cfg_saved_init(&e->fresh);
	if (s->seen_s < seen_s)
		s->seen_s = seen_s;
	return 0;
}

/* One turn of the editor. Returns 0 when the text is right, 1 when it is not, or an error. */
static int edit_once(struct run *run, const char *file, struct cfg_saved *ret)
{
	struct cfg_report report = {.n = 0};
	zw_autofree char *text = NULL;
	size_t len;
	int r = cmd_editor(file);

	if (r == 0)
		r = zw_read_file(file, 1u << 20, &text, &len);
	if (r < 0) {
		dprintf(2, "zwatch: nothing was changed: %s\n",
			r == ZW_E_UNSUPPORTED ? "the editor failed" : zw_strerror(r));
		return r;
	}
	r = cfg_saved_parse(text, len, CFG_SAVED_FILE, ret, &report);
	run->report = report;
	say_report(run);
	cfg_report_clear(&run->report);
	return r < 0 ? 1 : 0;
}

static int edit_loop(struct run *run, const char *file, struct edited *e)
{
	char line[LINE_MAX_B];
	int r;

	while ((r = edit_once(run, file, &e->fresh)) == 1) {
		if (!isatty(STDIN_FILENO))
			return ZW_EXIT_CONFIG;
		dprintf(2, "The rules are as they were. e edits on, Enter gives up: ");
		if (!read_line(line) || line[0] != 'e')
			return ZW_EXIT_CONFIG;
	}
	if (r < 0)
		return ZW_EXIT_CONFIG;
	r = change(run, do_replace, e);
	cfg_saved_fini(&e->fresh);
	if (r == ZW_E_BUSY)
		dprintf(2, "        somebody else changed the rules meanwhile; edit again\n");
	if (r == 0)
		dprintf(1, "saved; what was before is in %s.bak\n", run->path);
	return r < 0 ? ZW_EXIT_CONFIG : ZW_EXIT_OK;
}

static int edit(struct run *run)
{
	zw_autofree char *file = zw_xasprintf("%s.edit", run->path);
	zw_autofree char *text = cfg_saved_format(&run->saved);
	struct edited e = {.before = text};

	zw_mkdirs(run->st->places.config_dir, 0700);
	zw_autoclose int fd =
		open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || zw_write_all(fd, text, strlen(text)) < 0) {
		dprintf(2, "zwatch: %s cannot be written: %s\n", file, zw_strerror(-errno));
		return ZW_EXIT_CONFIG;
	}
	cfg_saved_init(&e.fresh);
	int status = edit_loop(run, file, &e);
	unlink(file);
	return status;
}

int cmd_rules(struct start *st, const struct cli *cli)
{
	static const struct {
		const char *word;
		int (*fn)(struct run *run);
	} verbs[] = {{"list", list}, {"show", show}, {"add", add},	{"edit", edit},
		     {"rm", rm},     {"test", test}, {"retire", retire}};
	const char *word = cli->n_rest > 0 ? cli->rest[0] : "list";
	struct run run = {.st = st, .cli = cli, .now_s = zw_now_us() / 1000000};
	int status = ZW_EXIT_USAGE;
	size_t i = 0;

	run.path = cmd_rules_path(st);
	while (i < ZW_N_ELEMENTS(verbs) && strcmp(verbs[i].word, word) != 0)
		i++;
	if (i == ZW_N_ELEMENTS(verbs))
		usage("zwatch rules what? list, show N, add, edit, rm N, test or retire");
	else if (cmd_rules_load(run.path, &run.saved) < 0)
		status = ZW_EXIT_CONFIG;
	else
		status = verbs[i].fn(&run);
	cfg_saved_fini(&run.saved);
	cfg_report_clear(&run.report);
	free(run.path);
	return status;
}
