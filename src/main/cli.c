/* SPDX-License-Identifier: MIT */
#include "src/main/cli.h"

#include <getopt.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"

/* getopt_long returns this plus the row's number, clear of every letter. */
#define OPTION_BASE 1000

static const struct {
	const char *word;
	char letter;
	const char *argument, *help;
} options[] = {
#define ZW_OPT(name, word, letter, argument, help) {word, letter, argument, help},
#include "src/main/opt.def"
#undef ZW_OPT
};

static const struct {
	const char *word, *arguments, *help;
} commands[] = {
#define ZW_CMD(name, word, arguments, help) {word, arguments, help},
#include "src/main/cmd.def"
#undef ZW_CMD
};

const char *const *cli_command_words(void)
{
	static const char *const words[] = {
#define ZW_CMD(name, word, arguments, help) word,
#include "src/main/cmd.def"
#undef ZW_CMD
		NULL};

	return words;
}

const char *cli_option_word(enum cli_option option)
{
	return options[option].word;
}

static void getopt_tables(struct option longs[CLI_OPT_MAX + 1], char shorts[2 * CLI_OPT_MAX + 3])
{
	size_t n = 0;

	/* + stops at the first word, : tells a missing argument from an unknown option. */
	shorts[n++] = '+';
	shorts[n++] = ':';
	for (int i = 0; i < CLI_OPT_MAX; i++) {
		bool has_argument = options[i].argument != NULL;
		int kind = !has_argument		   ? no_argument
			   : options[i].argument[0] == '[' ? optional_argument
							   : required_argument;

		longs[i] = (struct option){options[i].word, kind, NULL, OPTION_BASE + i};
		if (options[i].letter != 0) {
			shorts[n++] = options[i].letter;
			if (has_argument)
				shorts[n++] = ':';
		}
	}
	longs[CLI_OPT_MAX] = (struct option){NULL, 0, NULL, 0};
	shorts[n] = '\0';
}

static int option_of(int code)
{
	if (code >= OPTION_BASE)
		return code - OPTION_BASE;
	for (int i = 0; i < CLI_OPT_MAX; i++)
		if (options[i].letter != 0 && options[i].letter == code)
			return i;
	return -1;
}

static char *unknown_option(const char *given)
{
	const char *words[CLI_OPT_MAX + 1] = {NULL};
	const char *near;

	for (int i = 0; i < CLI_OPT_MAX; i++)
		words[i] = options[i].word;
	near = zw_starts_with(given, "--") ? zw_nearest(given + 2, words) : NULL;
	if (near != NULL)
		return zw_xasprintf("'%s' is no option of zwatch. Did you mean '--%s'?", given,
				    near);
	return zw_xasprintf("'%s' is no option of zwatch, or its argument is wrong", given);
}

/* Whether a list of words stands in the place of the argument: "a|b|c", and not "FILE|fd:N". */
static bool has_words(const char *argument)
{
	return strchr(argument, '|') != NULL &&
	       strspn(argument, "abcdefghijklmnopqrstuvwxyz0123456789-|") == strlen(argument);
}

bool cli_is_word(enum cli_option option, const char *value)
{
	size_t len = strlen(value);

	for (const char *w = options[option].argument; w != NULL; w = strchr(w, '|')) {
		w += *w == '|';
		if (strcspn(w, "|") == len && strncmp(w, value, len) == 0)
			return true;
	}
	return false;
}

/* Those that say the opposite of each other. */
static const struct {
	enum cli_option one, other;
	const char *value; /* of the one; NULL = any */
} opposites[] = {
	{CLI_OPT_ON_ASK, CLI_OPT_NO_INPUT, "wait"}, {CLI_OPT_ON_ASK, CLI_OPT_NO_INPUT, "prompt"},
	{CLI_OPT_QUIET, CLI_OPT_VERBOSE, NULL},	    {CLI_OPT_RECORD, CLI_OPT_PRIVATE, NULL},
	{CLI_OPT_DRY_RUN, CLI_OPT_YES, NULL},
};

static int check_opposites(const struct cli *cli, char **ret_why)
{
	for (size_t i = 0; i < ZW_N_ELEMENTS(opposites); i++) {
		const char *value = cli_get(cli, opposites[i].one);

		if (value == NULL || !cli_has(cli, opposites[i].other) ||
		    (opposites[i].value != NULL && strcmp(opposites[i].value, value) != 0))
			continue;
		*ret_why =
			zw_xasprintf("--%s%s%s and --%s say the opposite of each other: choose one",
				     options[opposites[i].one].word, *value != '\0' ? " " : "",
				     value, options[opposites[i].other].word);
		return ZW_E_SYNTAX;
	}
	return 0;
}

/* Reads options from argv[first] on. Returns the index of the first word, or an error. */
static int options_read(int argc, char **argv, int first, struct cli *ret, char **ret_why)
{
	struct option longs[CLI_OPT_MAX + 1];
	char shorts[2 * CLI_OPT_MAX + 3];
	int code;

	getopt_tables(longs, shorts);
	opterr = 0;
	/* getopt counts from argv[1]: the word before the options stands in for the program. */
	optind = 0;
	char **from = argv + first - 1;
	int n = argc - first + 1;
	while ((code = getopt_long(n, from, shorts, longs, NULL)) != -1) {
		int option = option_of(code);
		const char *given = from[optind - 1];

		if (code == ':') {
			*ret_why = zw_xasprintf("'%s' needs an argument", given);
			return ZW_E_SYNTAX;
		}
		if (option < 0) {
			*ret_why = unknown_option(given);
			return ZW_E_SYNTAX;
		}
		if (optarg != NULL && options[option].argument != NULL &&
		    has_words(options[option].argument) &&
		    !cli_is_word((enum cli_option)option, optarg)) {
			*ret_why = zw_xasprintf("'%s' is no --%s: it is %s", optarg,
						options[option].word, options[option].argument);
			return ZW_E_SYNTAX;
		}
		if (ret->n_values == CLI_VALUES_MAX) {
			*ret_why = zw_xstrdup("too many options");
			return ZW_E_SYNTAX;
		}
		ret->values[ret->n_values++] = (struct cli_value){
			(enum cli_option)option, options[option].argument != NULL ? optarg : NULL};
	}
	return first - 1 + optind;
}

static enum cli_command command_of(const char *word)
{
	for (size_t i = 0; i < ZW_N_ELEMENTS(commands); i++)
		if (strcmp(commands[i].word, word) == 0)
			return (enum cli_command)(CLI_CMD_AGENT + 1 + i);
	return CLI_CMD_UNKNOWN;
}

/* Commands that show something take options and words in any order. */
static int words_and_options(int argc, char **argv, int at, struct cli *ret, char **ret_why)
{
	while (at < argc) {
		if (argv[at][0] != '-' || argv[at][1] == '\0') {
			ret->rest[ret->n_rest++] = argv[at++];
			continue;
		}
		at = options_read(argc, argv, at, ret, ret_why);
		if (at < 0)
			return at;
	}
	ret->rest[ret->n_rest] = NULL;
	return 0;
}

static int parse(int argc, char **argv, bool (*is_agent)(const char *word, void *arg), void *arg,
		 struct cli *ret, char **ret_why)
{
	*ret = (struct cli){.command = CLI_CMD_NONE, .word = ""};
	int at = options_read(argc, argv, 1, ret, ret_why);

	if (at < 0)
		return at;
	if (at >= argc) {
		ret->rest = argv + argc;
		return 0;
	}
	ret->word = argv[at++];
	ret->command = command_of(ret->word);
	if (ret->command == CLI_CMD_UNKNOWN && is_agent(ret->word, arg))
		ret->command = CLI_CMD_AGENT;
	if (ret->command == CLI_CMD_run) {
		at = options_read(argc, argv, at, ret, ret_why);
		if (at < 0)
			return at;
	}
	ret->rest = argv + at;
	ret->n_rest = argc - at;
	if (ret->command == CLI_CMD_run || ret->command == CLI_CMD_AGENT ||
	    ret->command == CLI_CMD_UNKNOWN)
		return 0;
	ret->n_rest = 0;
	return words_and_options(argc, argv, at, ret, ret_why);
}

int cli_parse(int argc, char **argv, bool (*is_agent)(const char *word, void *arg), void *arg,
	      struct cli *ret, char **ret_why)
{
	int r = parse(argc, argv, is_agent, arg, ret, ret_why);

	return r < 0 ? r : check_opposites(ret, ret_why);
}

const char *cli_get(const struct cli *cli, enum cli_option option)
{
	for (size_t i = cli->n_values; i-- > 0;)
		if (cli->values[i].option == option)
			return cli->values[i].value != NULL ? cli->values[i].value : "";
	return NULL;
}

bool cli_has(const struct cli *cli, enum cli_option option)
{
	return cli_get(cli, option) != NULL;
}

void cli_print_help(int fd)
{
	dprintf(fd,
		"zwatch - watch an AI agent: sandboxed, asked about, recorded\n\n"
		"  zwatch claude                      the agent in a sandbox, with a dashboard\n"
		"  zwatch run -- npm test             any program\n"
		"  zwatch history                     what happened in past sessions\n\n"
		"usage: zwatch [OPTION...] AGENT [AGENT-ARGUMENT...]\n"
		"       zwatch [OPTION...] COMMAND [...]\n\nCommands\n");
	for (size_t i = 0; i < ZW_N_ELEMENTS(commands); i++) {
		/* Arguments that are longer than their column have a line of their own. */
		bool is_long = strlen(commands[i].arguments) > 24;

		dprintf(fd, "  %-9s %-24s%s%*s %s\n", commands[i].word, commands[i].arguments,
			is_long ? "\n" : "", is_long ? 36 : 0, "", commands[i].help);
	}
	dprintf(fd, "\nOptions\n");
	for (int i = 0; i < CLI_OPT_MAX; i++) {
		zw_autofree char *word = zw_xasprintf(
			"--%s%s%s", options[i].word,
			options[i].argument && options[i].argument[0] != '[' ? " " : "",
			options[i].argument ? options[i].argument : "");
		char letter[5] = "    ";

		if (options[i].letter != 0)
			snprintf(letter, sizeof(letter), "-%c, ", options[i].letter);
		dprintf(fd, "  %s%-32s %s\n", letter, word, options[i].help);
	}
	dprintf(fd, "\nIn the dashboard everything you type goes to the agent, except after Ctrl-] "
		    "(or F12, or `keys.prefix`): Ctrl-] ? is help.\n");
}
