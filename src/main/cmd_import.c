/* SPDX-License-Identifier: MIT
 * `zwatch import`: a table of what other settings become here; --write adds it to the user's. */
#include <errno.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/vis.h"
#include "src/config/import.h"
#include "src/config/json.h"
#include "src/config/saved_file.h"
#include "src/main/cmd.h"

#define SHOWN_MAX 512

/* Where Claude Code keeps them; those of the project only narrow. */
static const struct {
	const char *path;
	bool is_project;
} claude_files[] = {
	{"/etc/claude-code/managed-settings.json", false},
	{"~/.claude/settings.json", false},
	{".claude/settings.json", true},
	{".claude/settings.local.json", true},
};

/* Reads one file. @must_exist: the user named it. Returns 0, 1 = not there, or the exit status. */
static int read_one(struct start *st, const char *path, enum cfg_import_format format,
		    bool is_project, bool must_exist, struct cfg_import *ret)
{
	zw_autofree char *whole = NULL, *text = NULL;
	size_t len = 0;

	if (cfg_path_expand(&st->places, is_project ? st->cfg->project_dir : st->places.start_dir,
			    path, &whole) < 0)
		whole = zw_xstrdup(path);
	zw_autofree char *shown = cfg_path_show(&st->places, whole);
	int r = zw_read_file(whole, CFG_JSON_SIZE_MAX, &text, &len);
	if (r == -ENOENT && !must_exist)
		return 1;
	if (r < 0) {
		cfg_report_error(&st->report, shown, 0,
				 "cannot read the settings (%s):", zw_strerror(r));
		return ZW_EXIT_CONFIG;
	}
	r = cfg_import_read(text, len, shown, format, is_project, start_catalogue(st), &st->places,
			    ret, &st->report);
	return r < 0 ? ZW_EXIT_CONFIG : 0;
}

static void say_row(const struct cfg_import_row *row)
{
	zw_autofree char *from = zw_vis_dup(row->from, strlen(row->from), SHOWN_MAX);
	zw_autofree char *value = zw_vis_dup(row->value, strlen(row->value), SHOWN_MAX);
	zw_autofree char *note = zw_vis_dup(row->note, strlen(row->note), SHOWN_MAX);

	dprintf(1, "%4u  %-36s %-28s %s\n", row->line, from, value,
		row->to != NULL ? row->to : "nothing");
	if (*note != '\0')
		dprintf(1, "      %s\n", note);
}

static void say_table(const struct cfg_import *i)
{
	const char *file = "";

	for (size_t k = 0; k < i->n; k++) {
		if (strcmp(i->list[k].file, file) != 0) {
			file = i->list[k].file;
			dprintf(1, "%s\nLINE  %-36s %-28s BECOMES\n", file, "KEY", "VALUE");
		}
		say_row(&i->list[k]);
	}
}

/* Whether the text is right as the user's settings; says what is not. */
static bool is_right(const struct start *st, const char *text)
{
	struct start other = {0};
	struct cfg *cfg = cfg_new(&st->places, st->cfg->project_dir);

	cfg_read_text(cfg, &st->places, POL_LAYER_USER, st->cfg->user_file, text, strlen(text),
		      &other.report);
	start_print_report(&other, 2, false);
	bool is_right = other.report.n_errors == 0;
	cfg_report_clear(&other.report);
	cfg_free(cfg);
	return is_right;
}

/* What the settings would be; added to what the user wrote. Returns the exit status. */
static int put(const struct start *st, const struct cfg_import *i, bool is_write)
{
	const char *file = st->cfg->user_file;
	zw_autofree char *text = NULL;
	size_t len = 0;
	int r = zw_read_file(file, CFG_JSON_SIZE_MAX, &text, &len);

	if (r < 0 && r != -ENOENT) {
		dprintf(2, "zwatch: %s cannot be read: %s\n", file, zw_strerror(r));
		return ZW_EXIT_CONFIG;
	}
	zw_autofree char *fresh = cfg_import_merge(i, text, len);
	if (fresh == NULL || !is_right(st, fresh)) {
		dprintf(2,
			"zwatch: %s cannot be added to: zwatch config validate says what is "
			"wrong\n",
			file);
		return ZW_EXIT_CONFIG;
	}
	if (!is_write) {
		dprintf(1, "\nNothing was written. With --write %s becomes\n\n%s", file, fresh);
		return ZW_EXIT_OK;
	}
	r = cfg_file_replace(file, fresh, strlen(fresh));
	if (r < 0) {
		dprintf(2, "zwatch: %s cannot be written: %s\n", file, zw_strerror(r));
		return ZW_EXIT_CONFIG;
	}
	dprintf(1, "\nwritten to %s; what was before is in %s.bak\n", file, file);
	return ZW_EXIT_OK;
}

static int import_files(struct start *st, const char *kind, const char *file,
			struct cfg_import *ret)
{
	bool is_claude = strcmp(kind, "claude") == 0;
	enum cfg_import_format format = is_claude ? CFG_IMPORT_CLAUDE : CFG_IMPORT_SRT;
	size_t n_read = 0;

	if (file != NULL || !is_claude)
		return read_one(st, file != NULL ? file : "~/.srt-settings.json", format, false,
				true, ret);
	for (size_t i = 0; i < ZW_N_ELEMENTS(claude_files); i++) {
		int status = read_one(st, claude_files[i].path, format, claude_files[i].is_project,
				      false, ret);

		if (status > 1)
			return status;
		n_read += status == 0;
	}
	if (n_read == 0)
		dprintf(2, "zwatch: Claude Code has no settings here\n");
	return n_read > 0 ? 0 : ZW_EXIT_NOTHING;
}

int cmd_import(struct start *st, const struct cli *cli)
{
	const char *kind = cli->n_rest > 0 ? cli->rest[0] : "";
	struct cfg_import import = {0};

	if ((strcmp(kind, "claude") != 0 && strcmp(kind, "srt") != 0) || cli->n_rest > 2) {
		dprintf(2, "zwatch: zwatch import claude|srt [FILE] [--write]\n");
		return ZW_EXIT_USAGE;
	}
	cfg_report_clear(&st->report);
	int status = import_files(st, kind, cli->n_rest > 1 ? cli->rest[1] : NULL, &import);
	start_print_report(st, 2, true);
	if (status == 0) {
		say_table(&import);
		status = put(st, &import, cli_has(cli, CLI_OPT_WRITE));
	}
	if (status == ZW_EXIT_OK && import.n_left > 0)
		status = ZW_EXIT_NOTHING;
	cfg_import_fini(&import);
	return status;
}
