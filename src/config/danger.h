/* SPDX-License-Identifier: MIT
 * HIGH and CRITICAL sockets that settings list by path: what is said before the agent starts, and
 * what follows from it. Pure. */
#ifndef ZW_CONFIG_DANGER_H
#define ZW_CONFIG_DANGER_H

#include <stdbool.h>

#include "src/config/catalogue.h"
#include "src/policy/policy.h"

enum cfg_danger_step {
	CFG_DANGER_RULES,     /* not listed: the rules decide as ever */
	CFG_DANGER_REFUSE,    /* a deny of some layer stands */
	CFG_DANGER_ASK,	      /* print the warning, then [y/N] */
	CFG_DANGER_WARN_OPEN, /* print the warning, open it for this session, red status line */
	CFG_DANGER_STOP,      /* do not start the session: exit 4 */
	CFG_DANGER_OPEN,      /* open it for this session */
};

/** What is known when a session starts; one row of the table in `zwatch help warnings`. */
struct cfg_danger_case {
	bool is_listed; /* by explicit path, in settings or by --allow-unix */
	bool is_denied; /* by any layer */
	bool has_terminal;
	bool has_flag; /* --allow-dangerous-sockets */
};

enum cfg_danger_step cfg_danger_decide(const struct cfg_danger_case *c);

/** What a socket not opened at start gets when it is used: asked, or refused. */
enum pol_verdict cfg_danger_fallback(enum pol_mode mode, bool has_terminal);

/** Whether this class needs the warning: HIGH or CRITICAL, and not refused or answered with ENOENT. */
bool cfg_danger_class(const struct cfg_class *c);

/**
 * The block, without the question. Every foreign byte is made printable.
 *
 *   Security Warning: /var/run/docker.sock (real path /run/docker.sock) grants root-equivalent …
 *
 * @listed     path as the user wrote it
 * @real_path  "" = not there, or the same as listed
 * @origin     "~/.config/zwatch/config.json:9"
 * Ownership   caller frees; lines end with \n
 */
char *cfg_danger_warning(const struct cfg_class *c, const char *listed, const char *real_path,
			 const char *origin);
/** "  Are you sure? [y/N] " */
const char *cfg_danger_question(void);
/** Whether a typed line is a yes: y or yes in any case, blanks around it. Enter alone is none. */
bool cfg_danger_is_yes(const char *line);

#endif
