/* SPDX-License-Identifier: MIT
 * `zwatch config` and --print-policy: which settings are in force, where they come from, and whether
 * they are right. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/vis.h"
#include "src/config/saved_file.h"
#include "src/config/show.h"
#include "src/main/cmd.h"

#define SHOWN_MAX 16384

static int config_path(struct start *st, const struct cli *cli)
{
	(void)cli;
	dprintf(1, "%s\n%s\n%s\n", CFG_POLICY_DIR, CFG_SYSTEM_FILE, st->cfg->user_file);
	if (*st->cfg->project_file != '\0')
		dprintf(1, "%s\n", st->cfg->project_file);
	return ZW_EXIT_OK;
}

static int config_keys(struct start *st, const struct cli *cli)
{
	size_t n;
	const struct cfg_key *keys = cfg_keys(&n);

	(void)st;
	(void)cli;
	for (size_t i = 0; i < n; i++)
		dprintf(1, "%-32s %-28s %s%s\n", keys[i].path, keys[i].fallback, keys[i].help,
			keys[i].is_now ? "" : " (checked; in force in a later release)");
	return ZW_EXIT_OK;
}

static int config_validate(struct start *st, const struct cli *cli)
{
	start_print_report(st, 2, true);
	size_t n = cmd_danger_print(st);

	if (st->report.n_errors > 0)
		return ZW_EXIT_CONFIG;
	dprintf(1, "valid\n");
	n += st->report.n;
	return n > 0 && cli_has(cli, CLI_OPT_STRICT) ? ZW_EXIT_NOTHING : ZW_EXIT_OK;
}

/* Whether @key is @wanted, or stands in the section of that name. */
static bool is_wanted(const char *key, const char *wanted)
{
	size_t len = strlen(wanted);

	return strncmp(key, wanted, len) == 0 && (key[len] == '\0' || key[len] == '.');
}

static bool is_known(const char *wanted)
{
	size_t n;
	const struct cfg_key *keys = cfg_keys(&n);

	for (size_t i = 0; i < n; i++)
		if (is_wanted(keys[i].path, wanted))
			return true;
	return false;
}

static int say_no_key(const char *wanted)
{
	size_t n;
	const struct cfg_key *keys = cfg_keys(&n);
	zw_autofree const char **words = zw_xcalloc(n + 1, sizeof(*words));
	zw_autofree char *shown = zw_vis_dup(wanted, strlen(wanted), 200);

	for (size_t i = 0; i < n; i++)
		words[i] = keys[i].path;
	const char *near = zw_nearest(wanted, words);
	dprintf(2, "zwatch: `%s` is not a setting.%s%s%s\n", shown,
		near != NULL ? " Did you mean `" : "", near != NULL ? near : "",
		near != NULL ? "`?" : "");
	return ZW_EXIT_USAGE;
}

static void show_one(const struct cfg_shown *v, bool with_origin)
{
	zw_autofree char *value = zw_vis_dup(v->value, strlen(v->value), SHOWN_MAX);
	zw_autofree char *origin = zw_vis_dup(v->origin, strlen(v->origin), SHOWN_MAX);

	if (with_origin)
		dprintf(1, "%-32s %-28s %s\n", v->key, value, origin);
	else
		dprintf(1, "%-32s %s\n", v->key, value);
}

/* Wrong settings have no values that hold: what is shown would be no truth. */
static bool is_right(const struct start *st)
{
	if (st->report.n_errors > 0)
		start_print_report(st, 2, true);
	return st->report.n_errors == 0;
}

static int config_show(struct start *st, const struct cli *cli)
{
	struct cfg_shown_list l;

	for (int i = 1; i < cli->n_rest; i++)
		if (!is_known(cli->rest[i]))
			return say_no_key(cli->rest[i]);
	if (!is_right(st))
		return ZW_EXIT_CONFIG;
	if (cli_has(cli, CLI_OPT_JSON)) {
		zw_autofree char *text = cfg_show_file(st->cfg);

		zw_write_all(1, text, strlen(text));
		return ZW_EXIT_OK;
	}
	cfg_show(st->cfg, &l);
	for (size_t i = 0; i < l.n; i++) {
		bool is_shown = cli->n_rest < 2;

		for (int k = 1; k < cli->n_rest; k++)
			is_shown |= is_wanted(l.list[i].key, cli->rest[k]);
		if (is_shown)
			show_one(&l.list[i], cli_has(cli, CLI_OPT_ORIGIN));
	}
	cfg_shown_fini(&l);
	return ZW_EXIT_OK;
}

/* A value as a script wants it: texts without their quotes, an entry a line. */
static int config_get(struct start *st, const struct cli *cli)
{
	struct cfg_shown_list l;
	size_t n = 0;

	if (cli->n_rest != 2) {
		dprintf(2, "zwatch: zwatch config get KEY; zwatch config keys lists them\n");
		return ZW_EXIT_USAGE;
	}
	if (!is_known(cli->rest[1]))
		return say_no_key(cli->rest[1]);
	if (!is_right(st))
		return ZW_EXIT_CONFIG;
	cfg_show(st->cfg, &l);
	for (size_t i = 0; i < l.n; i++) {
		const struct cfg_shown *v = &l.list[i];
		bool is_text =
			v->value[0] == '"' && !v->is_member && strchr(v->value, '\\') == NULL;
		zw_autofree char *value = zw_vis_dup(v->value, strlen(v->value), SHOWN_MAX);

		if (strcmp(v->key, cli->rest[1]) != 0)
			continue;
		n++;
		if (is_text)
			dprintf(1, "%.*s\n", (int)strlen(value) - 2, value + 1);
		else
			dprintf(1, "%s\n", value);
	}
	cfg_shown_fini(&l);
	return n > 0 ? ZW_EXIT_OK : ZW_EXIT_NOTHING;
}

/* -- editing ------------------------------------------------------------------------------------ */

static const char fresh_text[] = "// Settings of zwatch. zwatch help config says what can stand "
				 "here; zwatch config keys lists it.\n"
				 "{\n"
				 "\t\"mode\": \"guard\"\n"
				 "}\n";

/* Whether the text is right as the user's file; says what is not. */
static bool text_is_right(const struct start *st, const char *text, size_t len)
{
	struct start other = {0};
	struct cfg *cfg = cfg_new(&st->places, st->cfg->project_dir);

	cfg_read_text(cfg, &st->places, POL_LAYER_USER, "config.json", text, len, &other.report);
	start_print_report(&other, 2, true);
	bool is_right = other.report.n_errors == 0;
	cfg_report_clear(&other.report);
	cfg_free(cfg);
	return is_right;
}

bool cmd_read_line(char *line, size_t size)
{
	size_t n = 0;
	ssize_t got;
	char c;

	while ((got = read(STDIN_FILENO, &c, 1)) == 1 && c != '\n')
		if (n + 1 < size)
			line[n++] = c;
	line[n] = '\0';
	return got == 1 || n > 0;
}

static int edit_turns(const struct start *st, const char *copy)
{
	char line[64];

	for (;;) {
		zw_autofree char *text = NULL;
		size_t len = 0;
		int r = cmd_editor(copy);

		if (r == 0)
			r = zw_read_file(copy, 1u << 20, &text, &len);
		if (r < 0) {
			dprintf(2, "zwatch: nothing was changed: %s\n",
				r == ZW_E_UNSUPPORTED ? "the editor failed" : zw_strerror(r));
			return ZW_EXIT_CONFIG;
		}
		if (text_is_right(st, text, len)) {
			r = cfg_file_replace(st->cfg->user_file, text, len);
			if (r == 0)
				dprintf(1, "saved; what was before is in %s.bak\n",
					st->cfg->user_file);
			else
				dprintf(2, "zwatch: nothing was changed: %s\n", zw_strerror(r));
			return r == 0 ? ZW_EXIT_OK : ZW_EXIT_CONFIG;
		}
		if (!isatty(STDIN_FILENO))
			return ZW_EXIT_CONFIG;
		dprintf(2, "The settings are as they were. e edits on, Enter gives up: ");
		if (!cmd_read_line(line, sizeof(line)) || line[0] != 'e')
			return ZW_EXIT_CONFIG;
	}
}

static int config_edit(struct start *st, const struct cli *cli)
{
	zw_autofree char *copy = zw_xasprintf("%s.edit", st->cfg->user_file);
	zw_autofree char *text = NULL;
	size_t len = 0;

	(void)cli;
	zw_mkdirs(st->places.config_dir, 0700);
	int r = zw_read_file(st->cfg->user_file, 1u << 20, &text, &len);
	if (r == -ENOENT) {
		text = zw_xstrdup(fresh_text);
		len = strlen(text);
		r = 0;
	}
	zw_autoclose int fd =
		open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (r == 0)
		r = fd < 0 ? -errno : zw_write_all(fd, text, len);
	if (r < 0) {
		dprintf(2, "zwatch: %s cannot be edited: %s\n", st->cfg->user_file, zw_strerror(r));
		return ZW_EXIT_CONFIG;
	}
	int status = edit_turns(st, copy);
	unlink(copy);
	return status;
}

int cmd_config(struct start *st, const struct cli *cli)
{
	static const struct {
		const char *word;
		int (*fn)(struct start *st, const struct cli *cli);
	} verbs[] = {{"path", config_path}, {"show", config_show},	   {"get", config_get},
		     {"edit", config_edit}, {"validate", config_validate}, {"keys", config_keys}};
	const char *what = cli->n_rest > 0 ? cli->rest[0] : "";

	for (size_t i = 0; i < ZW_N_ELEMENTS(verbs); i++)
		if (strcmp(verbs[i].word, what) == 0)
			return verbs[i].fn(st, cli);
	dprintf(2, "zwatch: zwatch config what? path, show, get, edit, validate or keys\n");
	return ZW_EXIT_USAGE;
}

/* -- the policy of a session -------------------------------------------------------------------- */

/* The sites of the preset, as a session has them. Returns 0 or the exit status. */
static int preset_add(struct start *st, const struct cli *cli)
{
	const struct cfg_agent_entry *entry = cfg_agent_entry(st->cfg, cli->word);
	const char *name = entry != NULL ? entry->preset : cli->word;
	struct cfg_agent *agent = NULL;

	if (cli->command != CLI_CMD_AGENT || *name == '\0')
		return 0;
	if (cfg_agent_find(name, &st->places, &agent) < 0)
		return ZW_EXIT_CONFIG;
	cfg_agent_sites_add(st->cfg, agent);
	cfg_agent_free(agent);
	return 0;
}

int cmd_policy(struct start *st, const struct cli *cli)
{
	zw_autofree char *path = cmd_rules_path(st);
	struct cfg_saved saved;
	size_t n = 0;

	if (preset_add(st, cli) != 0 || cmd_rules_load(path, &saved) < 0)
		return ZW_EXIT_CONFIG;
	/* Those of other projects have no part in it. */
	zw_autofree struct pol_saved *here = zw_xcalloc(saved.n + 1, sizeof(*here));
	for (size_t i = 0; i < saved.n; i++)
		if (*saved.list[i].project == '\0' ||
		    strcmp(saved.list[i].project, st->cfg->project_dir) == 0)
			here[n++] = saved.list[i];
	zw_autofree char *text = cfg_show_policy(st->cfg, here, n);
	zw_write_all(1, text, strlen(text));
	cfg_saved_fini(&saved);
	return ZW_EXIT_OK;
}
