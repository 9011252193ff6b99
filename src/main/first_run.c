/* SPDX-License-Identifier: MIT */
#include "src/main/first_run.h"

#include <errno.h>
#include <sys/stat.h>
#include <termios.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/vis.h"
#include "src/config/import.h"
#include "src/config/saved_file.h"
#include "src/main/cmd.h"

static const char page_modes[] =
	("\nHow strict should zwatch be?  You can change it at any time with Ctrl-] m .\n"
	 "\n"
	 "  1  Watch   Sites: allowed and listed.        Sockets: asks for the risky ones.\n"
	 "             Good for the first days. Nothing breaks; you see everything.\n"
	 "\n"
	 "  2  Guard   Sites: asks once for each new one.  Sockets: asks for what is not "
	 "harmless.\n"
	 "             Some questions when a project is new to zwatch, few after that.   "
	 "(default)\n"
	 "\n"
	 "  3  Strict  Sites: only the ones you listed.  Sockets: refused without asking.\n"
	 "             For work you leave alone.\n"
	 "\n"
	 "In every mode: sockets between the agent's own programs are allowed without asking, and\n"
	 "docker.sock, ssh-agent, D-Bus, X11 and the like are never allowed without you.\n");

static const char page_history[] = ("\nHistory is kept on this machine only: 90 days or 500 MB. No "
				    "command output, no web addresses\n"
				    "beyond the host name, secrets in command lines are masked.  "
				    "Change: zwatch config edit\n");

/* Nobody has said yet what the mode is. */
static bool is_first(const struct start *st, const struct cli *cli)
{
	struct stat sb;
	const char *variable = getenv("ZWATCH_MODE"), *file = getenv("ZWATCH_CONFIG");

	if (cli_has(cli, CLI_OPT_MODE) || (variable != NULL && *variable != '\0') ||
	    cli_has(cli, CLI_OPT_CONFIG) || (file != NULL && *file != '\0'))
		return false;
	/* By the system's settings, or a managed policy. */
	if (st->cfg->mode != POL_MODE_GUARD)
		return false;
	return lstat(st->cfg->user_file, &sb) < 0 && errno == ENOENT;
}

/* What the preset brings, and what there is to be taken over. */
static void say_found(const struct start *st, const struct cli *cli)
{
	struct cfg_agent *agent = NULL;
	struct cfg_import import = {0};
	struct cfg_report report = {0};
	zw_autofree char *claude = zw_xasprintf("%s/.claude/settings.json", st->places.home);
	zw_autofree char *text = NULL;
	size_t len = 0, n_taken = 0;

	dprintf(2, "\nFound on this machine\n");
	if (cli->command == CLI_CMD_AGENT && cfg_agent_find(cli->word, &st->places, &agent) == 0) {
		dprintf(2, "  %-24s preset with %zu sites          zwatch explain preset %s\n",
			cli->word, agent->n_sites, cli->word);
		cfg_agent_free(agent);
	}
	if (zw_read_regular(claude, 1u << 20, &text, &len) == 0 &&
	    cfg_import_read(text, len, "", CFG_IMPORT_CLAUDE, false, NULL, &st->places, &import,
			    &report) == 0) {
		for (size_t i = 0; i < import.n; i++)
			n_taken += import.list[i].to != NULL;
		if (import.n > 0)
			dprintf(2, "  %-24s %zu usable, %zu need a look     zwatch import claude\n",
				"~/.claude/settings.json", n_taken, import.n_left);
	}
	cfg_import_fini(&import);
	cfg_report_clear(&report);
	dprintf(2, "  %-24s tests of the sandbox          zwatch check\n", "this machine");
}

/* Returns whether the mode was chosen; false = q, or the end of input. */
static bool ask(enum pol_mode *ret)
{
	char line[64];

	tcflush(STDIN_FILENO, TCIFLUSH);
	for (;;) {
		dprintf(2, "\n1 2 3 choose, Enter guard, q quit without saving: ");
		if (!cmd_read_line(line, sizeof(line)) || strcmp(line, "q") == 0)
			return false;
		*ret = POL_MODE_GUARD;
		if (line[0] == '\0')
			return true;
		if (line[0] >= '1' && line[0] <= '3' && line[1] == '\0') {
			*ret = (enum pol_mode)(line[0] - '1');
			return true;
		}
		if (pol_mode_parse(line, ret) == 0)
			return true;
	}
}

static void keep(const struct start *st, enum pol_mode mode)
{
	zw_autofree char *shown = cfg_path_show(&st->places, st->cfg->user_file);
	zw_autofree char *text = zw_xasprintf("// Settings of zwatch: zwatch help config says what "
					      "can stand here.\n{\n\t\"mode\": \"%s\"\n}\n",
					      pol_mode_word(mode));
	int r = cfg_file_replace(st->cfg->user_file, text, strlen(text));

	if (r < 0)
		dprintf(2, "zwatch: %s cannot be written, so this is asked again: %s\n", shown,
			zw_strerror(r));
	else
		dprintf(2, "Saved in %s.  Remove everything again with: zwatch uninstall\n", shown);
}

int first_run(struct start *st, const struct cli *cli)
{
	bool has_terminal =
		isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && !cli_has(cli, CLI_OPT_NO_INPUT);
	enum pol_mode mode;

	if (!is_first(st, cli))
		return 0;
	if (!has_terminal) {
		if (isatty(STDERR_FILENO) || cli_has(cli, CLI_OPT_VERBOSE))
			dprintf(2, "zwatch: no settings yet: mode guard. What is not known is "
				   "asked about, or "
				   "refused where nobody can be asked\n");
		return 0;
	}
	dprintf(2, "\nzwatch %s, first run\n%s", ZW_VERSION, page_modes);
	say_found(st, cli);
	dprintf(2, "%s", page_history);
	if (!ask(&mode)) {
		dprintf(2, "zwatch: nothing was saved, nothing was started\n");
		return ZW_EXIT_CONFIG;
	}
	keep(st, mode);
	/* As the file will be read from now on. */
	cfg_variable(st->cfg, &st->places, CFG_OPT_MODE, st->cfg->user_file, pol_mode_word(mode),
		     &st->report);
	return 0;
}
