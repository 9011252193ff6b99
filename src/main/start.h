/* SPDX-License-Identifier: MIT
 * From settings, preset and options to the plan of a sandbox. */
#ifndef ZW_MAIN_START_H
#define ZW_MAIN_START_H

#include "sandbox/plan.h"
#include "src/config/agents.h"
#include "src/config/catalogue.h"
#include "src/config/config.h"
#include "src/config/protect.h"
#include "src/config/wish.h"
#include "src/main/cli.h"

enum start_pty {
	START_NO_PTY,	      /* what zwatch has */
	START_PTY,	      /* zwatch's own terminal */
	START_PTY_AS_OUTSIDE, /* one that passes on what TERM outside understands */
};

/** All that a session is made from; owned, start_fini(). */
struct start {
	struct cfg_places places;
	struct cfg *cfg;
	struct cfg_report report;
	struct cfg_wishes wishes;	 /* of the project file */
	bool wishes_are_known;		 /* the user has answered to this very file */
	struct cfg_catalogue *catalogue; /* NULL until start_catalogue() */
	struct cfg_agent *agent;	 /* NULL until start_agent() */
	char **env;			 /* of the agent, NULL at the end */
	size_t n_env;
	char **argv; /* borrowed strings in an owned list */
	char *bwrap, *init;
	char *trust_files; /* lines: files of certificates that variables of the user name */
	/* Owned lists, borrowed strings. */
	const char **writable, **read_only, **hidden, **fresh, **shown, **guarded;
	struct sb_bar *bars;
	struct cfg_paths hidden_paths, shown_paths, program_paths;
	struct cfg_protected protected_;
	struct sb_plan plan;
};

void start_init(struct start *st);
void start_fini(struct start *st);

/**
 * Reads the settings and applies the options. Findings stand in st->report.
 * Returns 0 or ZW_E_CONFIG (an error is among them), -errno
 */
int start_config(struct start *st, const struct cli *cli);

/** Path of trust.json. Caller frees. */
char *start_trust_path(const struct start *st);

/** The catalogue for this user, read at the first call; borrowed. */
const struct cfg_catalogue *start_catalogue(struct start *st);

/** Prints the report's findings to @fd, errors always, notes when @with_notes. */
void start_print_report(const struct start *st, int fd, bool with_notes);

/**
 * Finds the agent's preset and makes its folders; the plan is complete afterwards.
 *
 * @name      preset or configured agent; "" = none (`zwatch run`)
 * @command   NULL-terminated; for an agent its arguments only
 * @pty       what the agent gets for a terminal
 * Returns    0, ZW_E_NOT_FOUND
 */
int start_agent(struct start *st, const struct cli *cli, const char *name, char **command,
		enum start_pty pty);

/** Whether the agent may write to @path (absolute, without symlinks), after start_agent(). */
bool start_is_writable(const struct start *st, const char *path);

/** Whether a word names an agent: a preset, or one of the settings. @arg is struct start. */
bool start_is_agent(const char *word, void *arg);

#endif
