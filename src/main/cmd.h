/* SPDX-License-Identifier: MIT
 * The commands. Each returns the exit status of zwatch. */
#ifndef ZW_MAIN_CMD_H
#define ZW_MAIN_CMD_H

#include "src/main/cli.h"
#include "src/audit/filter.h"
#include "src/config/saved_file.h"
#include "src/main/start.h"

/** `zwatch AGENT`, `zwatch run`. @st has the settings. */
int cmd_session(struct start *st, const struct cli *cli);
/** `zwatch help TOPIC`: the manual, through a pager on a terminal. */
int cmd_help(const struct cli *cli);
/** `zwatch demo`. */
int cmd_demo(const struct cli *cli);

int cmd_rules(struct start *st, const struct cli *cli);
int cmd_explain(struct start *st, const struct cli *cli);
int cmd_ask(struct start *st, const struct cli *cli);
int cmd_ps(struct start *st);
int cmd_mode(struct start *st, const struct cli *cli);
int cmd_stop(struct start *st, const struct cli *cli);
/** `zwatch why`: knows no settings, which are hidden where it runs. */
int cmd_why(const struct cli *cli);

int cmd_history(struct start *st, const struct cli *cli);
int cmd_log(struct start *st, const struct cli *cli);
int cmd_export(struct start *st, const struct cli *cli);
int cmd_uninstall(struct start *st, const struct cli *cli);
int cmd_stats(struct start *st, const struct cli *cli);
/** A filter over the words from @first on; prints what is wrong with it. Returns 0 or an exit status.
 * Ownership: caller, aud_filter_free(). */
int cmd_filter_read(const struct cli *cli, int first, struct aud_filter **ret);
/** `zwatch replay`. */
int cmd_replay(struct start *st, const struct cli *cli);
int cmd_show(struct start *st, const struct cli *cli);
/** `zwatch db`, `zwatch history rm`, `zwatch log rm`: zwatch-audit goes on in our place. */
int cmd_db(struct start *st, const struct cli *cli);
int cmd_history_rm(struct start *st, const struct cli *cli);
int cmd_history_words(struct start *st, const struct cli *cli, bool is_note);
int cmd_history_diff(struct start *st, const struct cli *cli);
int cmd_log_rm(struct start *st, const struct cli *cli);
/** Prunes the store to the settings in a process of its own that nobody waits for. */
void cmd_db_prune_behind(struct start *st);
int cmd_check(struct start *st, const struct cli *cli);
int cmd_config(struct start *st, const struct cli *cli);
int cmd_import(struct start *st, const struct cli *cli);
int cmd_trust(struct start *st, const struct cli *cli);
/** --print-policy: what would be in force in a session, and stop. */
int cmd_policy(struct start *st, const struct cli *cli);
/** Prints the warning block of each dangerous socket that settings list. Returns how many. */
size_t cmd_danger_print(struct start *st);
/** Runs $VISUAL or $EDITOR on a file. Returns 0, -errno, or ZW_E_UNSUPPORTED: it failed. */
int cmd_editor(const char *file);
/** Reads a line of standard input, byte by byte, so that what follows is the agent's. The rest of one
 * that is longer than @size is dropped. Returns false at the end of input. */
bool cmd_read_line(char *line, size_t size);

/** zwatch's own key as the settings have it; @cfg may be NULL. */
void cmd_prefix_set(const struct cfg *cfg);
/** Path of rules.json. Caller frees. */
char *cmd_rules_path(const struct start *st);
/** Reads it and prints what is wrong with it. Returns 0 or ZW_E_CONFIG, with *ret empty. */
int cmd_rules_load(const char *path, struct cfg_saved *ret);
/** Folder of the control socket. Caller frees. */
char *cmd_control_dir(const struct start *st);
/** Real path of a program by path or by its name in PATH; NULL = none. Caller frees. */
char *cmd_program_find(const char *word);
/** Path of the store: $ZWATCH_DB, else history.db in the state folder. Caller frees. */
char *cmd_store_path(const struct start *st);

#endif
