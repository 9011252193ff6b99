/* SPDX-License-Identifier: MIT
 * zwatch: reads the command line and hands over to the command. */
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <sys/stat.h>

#include "data_apparmor.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/vis.h"
#include "src/main/cmd.h"
#include "src/main/first_run.h"
#include "src/main/wishes.h"

/* Descriptors 0 to 2 exist from the start, so that no other file ever lands there. */
static void stdio_ensure(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= 2 && fcntl(fd, F_SETFD, 0) == 0);
	if (fd > 2)
		close(fd);
}

static int say_unknown(const struct cli *cli)
{
	const char *const *agents = cfg_agent_names();
	const char *const *commands = cli_command_words();
	const char *near = zw_nearest(cli->word, commands);
	zw_autofree char *word = zw_vis_dup(cli->word, strlen(cli->word), 200);

	if (near == NULL)
		near = zw_nearest(cli->word, agents);
	dprintf(2, "zwatch: '%s' is neither a zwatch command nor a known agent.", word);
	if (near != NULL)
		dprintf(2, " Did you mean '%s'?", near);
	dprintf(2, "\n        To run any program in the sandbox:  zwatch run -- %s\n", word);
	return ZW_EXIT_USAGE;
}

static int run_command(struct start *st, const struct cli *cli, int config_error)
{
	switch (cli->command) {
	case CLI_CMD_AGENT:
	case CLI_CMD_run:
		break;
	case CLI_CMD_db:
		return cmd_db(st, cli);
	case CLI_CMD_history:
		if (cli->n_rest > 0 && strcmp(cli->rest[0], "rm") == 0)
			return cmd_history_rm(st, cli);
		if (cli->n_rest > 0 && strcmp(cli->rest[0], "diff") == 0)
			return cmd_history_diff(st, cli);
		if (cli->n_rest > 0 &&
		    (strcmp(cli->rest[0], "note") == 0 || strcmp(cli->rest[0], "tag") == 0))
			return cmd_history_words(st, cli, *cli->rest[0] == 'n');
		return cmd_history(st, cli);
	case CLI_CMD_uninstall:
		return cmd_uninstall(st, cli);
	case CLI_CMD_export:
		return cmd_export(st, cli);
	case CLI_CMD_replay:
		return cmd_replay(st, cli);
	case CLI_CMD_stats:
		return cmd_stats(st, cli);
	case CLI_CMD_show:
		return cmd_show(st, cli);
	case CLI_CMD_log:
		if (cli->n_rest > 0 && strcmp(cli->rest[0], "rm") == 0)
			return cmd_log_rm(st, cli);
		return cmd_log(st, cli);
	case CLI_CMD_rules:
		return cmd_rules(st, cli);
	case CLI_CMD_explain:
		return cmd_explain(st, cli);
	case CLI_CMD_ask:
		return cmd_ask(st, cli);
	case CLI_CMD_ps:
		return cmd_ps(st);
	case CLI_CMD_mode:
		return cmd_mode(st, cli);
	case CLI_CMD_stop:
		return cmd_stop(st, cli);
	case CLI_CMD_check:
	case CLI_CMD_doctor:
		return cmd_check(st, cli);
	case CLI_CMD_config:
		return cmd_config(st, cli);
	case CLI_CMD_import:
		return cmd_import(st, cli);
	case CLI_CMD_trust:
		return cmd_trust(st, cli);
	case CLI_CMD_why:
	case CLI_CMD_demo:
	case CLI_CMD_help:
	case CLI_CMD_version:
	case CLI_CMD_NONE:
	case CLI_CMD_UNKNOWN:
		return say_unknown(cli);
	}
	if (cli_has(cli, CLI_OPT_PRINT_POLICY) && config_error == 0)
		return cmd_policy(st, cli);
	start_print_report(st, 2, cli_has(cli, CLI_OPT_VERBOSE) || isatty(STDERR_FILENO));
	if (config_error < 0) {
		dprintf(2, "zwatch: nothing was started. zwatch config validate checks the "
			   "settings\n");
		return ZW_EXIT_CONFIG;
	}
	/* What is asked before the agent starts; not where it will not start anyway. */
	bool can_start =
		(cli->command == CLI_CMD_AGENT || cli->n_rest > 0) && getenv("ZWATCH") == NULL;
	int status = can_start ? first_run(st, cli) : 0;
	if (status == 0 && can_start)
		status = wishes_ask(st, cli);
	return status == 0 ? cmd_session(st, cli) : status;
}

static int with_settings(struct cli *cli)
{
	struct start st;
	const char *dir = cli_get(cli, CLI_OPT_DIR);

	if (cli->command == CLI_CMD_trust && cli->n_rest > 1)
		dir = cli->rest[1];

	if (dir != NULL && chdir(dir) < 0) {
		dprintf(2, "zwatch: cannot start in '%s': %s\n", dir, zw_strerror(-errno));
		return ZW_EXIT_USAGE;
	}
	start_init(&st);
	int r = start_config(&st, cli);
	if (r < 0 && r != ZW_E_CONFIG) {
		dprintf(2, "zwatch: the settings cannot be read: %s\n",
			r == ZW_E_SYNTAX
				? "HOME or an XDG_ folder has a control character in its name"
				: zw_strerror(r));
		start_fini(&st);
		return ZW_EXIT_CONFIG;
	}
	/* The settings may name agents that the presets do not. */
	if (cli->command == CLI_CMD_UNKNOWN && start_is_agent(cli->word, &st))
		cli->command = CLI_CMD_AGENT;
	int status = run_command(&st, cli, r);
	start_fini(&st);
	return status;
}

static int version_print(void)
{
	printf("zwatch %s\nlibc %s\n", ZW_VERSION, gnu_get_libc_version());
	return ZW_EXIT_OK;
}

/* The profile of data/apparmor, for the zwatch that is asked. */
static int apparmor_print(void)
{
	static const char usual[] = "/usr/{,local/}bin/zwatch";
	const char *text = (const char *)zw_data_zwatch, *at = strstr(text, usual);
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n < 0)
		n = 0;
	exe[n] = '\0';
	if (strcmp(exe, "/usr/bin/zwatch") == 0 || strcmp(exe, "/usr/local/bin/zwatch") == 0)
		n = 0;
	/* What AppArmor would read as a pattern, or as the end of the name. */
	if (n > 0 && strpbrk(exe, "\"*?[]{}^@\\\n") != NULL) {
		dprintf(2, "zwatch: no profile can be written for a path like this one: install "
			   "zwatch in /usr/bin or /usr/local/bin\n");
		return ZW_EXIT_NO_SANDBOX;
	}
	if (n == 0)
		dprintf(1, "%s", text);
	else
		dprintf(1, "%.*s\"%s\"%s", (int)(at - text), text, exe, at + strlen(usual));
	return ZW_EXIT_OK;
}

int main(int argc, char **argv)
{
	struct start none = {0};
	struct cli cli;
	zw_autofree char *why = NULL;

	stdio_ensure();
	umask(umask(077) | 022);
	if (cli_parse(argc, argv, start_is_agent, &none, &cli, &why) < 0) {
		dprintf(2, "zwatch: %s\n        zwatch help lists the options\n", why);
		return ZW_EXIT_USAGE;
	}
	if (cli_has(&cli, CLI_OPT_VERSION)) {
		printf("zwatch %s\n", ZW_VERSION);
		return ZW_EXIT_OK;
	}
	if (cli.command == CLI_CMD_help && cli.n_rest > 0 && strcmp(cli.rest[0], "apparmor") == 0)
		return apparmor_print();
	if (cli.command == CLI_CMD_help && cli.n_rest > 0)
		return cmd_help(&cli);
	if (cli_has(&cli, CLI_OPT_HELP) || cli.command == CLI_CMD_help ||
	    cli.command == CLI_CMD_NONE) {
		cli_print_help(cli.command == CLI_CMD_NONE && !cli_has(&cli, CLI_OPT_HELP) ? 2 : 1);
		return cli.command == CLI_CMD_NONE && !cli_has(&cli, CLI_OPT_HELP) ? ZW_EXIT_USAGE
										   : ZW_EXIT_OK;
	}
	if (cli.command == CLI_CMD_version)
		return version_print();
	if (cli.command == CLI_CMD_why)
		return cmd_why(&cli);
	if (cli.command == CLI_CMD_demo)
		return cmd_demo(&cli);
	return with_settings(&cli);
}
