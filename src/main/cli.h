/* SPDX-License-Identifier: MIT
 * The command line, read without effects: what was asked, or what is wrong with it. */
#ifndef ZW_MAIN_CLI_H
#define ZW_MAIN_CLI_H

#include <stdbool.h>
#include <stddef.h>

/** Exit statuses besides the program's own; zwatch(1). */
enum zw_exit {
	ZW_EXIT_OK = 0,
	ZW_EXIT_NOTHING = 1, /* nothing matched; a warning with --strict */
	ZW_EXIT_USAGE = 2,
	ZW_EXIT_NO_SANDBOX = 3,
	ZW_EXIT_CONFIG = 4,
	ZW_EXIT_STORE = 6,
	ZW_EXIT_INTERNAL = 125,
};

enum cli_option {
#define ZW_OPT(name, word, letter, argument, help) CLI_OPT_##name,
#include "src/main/opt.def"
#undef ZW_OPT
	CLI_OPT_MAX
};

enum cli_command {
	CLI_CMD_AGENT, /* the word is an agent's name */
#define ZW_CMD(name, word, arguments, help) CLI_CMD_##name,
#include "src/main/cmd.def"
#undef ZW_CMD
	CLI_CMD_NONE, /* no word at all */
	CLI_CMD_UNKNOWN,
};

#define CLI_VALUES_MAX 256

/** One option as given; value NULL where it takes none. Borrowed from argv. */
struct cli_value {
	enum cli_option option;
	const char *value;
};

struct cli {
	enum cli_command command;
	const char *word; /* the command or agent as typed */
	char **rest;	  /* what stands behind it; NULL-terminated, borrowed */
	int n_rest;
	struct cli_value values[CLI_VALUES_MAX]; /* in order */
	size_t n_values;
};

/**
 * Reads argv. Options stand before the command or agent; commands but `run` and agents take them
 * behind it too. `run` takes options up to `--` or the program's name.
 *
 * @is_agent  whether a word names an agent
 * Returns    0, or ZW_E_SYNTAX with *ret_why (caller frees)
 */
int cli_parse(int argc, char **argv, bool (*is_agent)(const char *word, void *arg), void *arg,
	      struct cli *ret, char **ret_why);

/** Last value of an option; "" for one without argument; NULL = not given. */
const char *cli_get(const struct cli *cli, enum cli_option option);
bool cli_has(const struct cli *cli, enum cli_option option);
/** Whether @value is one of the words that the option takes ("a|b|c" in opt.def). */
bool cli_is_word(enum cli_option option, const char *value);
const char *cli_option_word(enum cli_option option);

/** Words of all commands, NULL at the end; static storage. */
const char *const *cli_command_words(void);
/** Prints the help text. */
void cli_print_help(int fd);

#endif
