/* SPDX-License-Identifier: MIT
 * Settings of similar programs: Claude Code's settings.json, and the file of sandbox-runtime.
 *
 * Each value becomes a row that says what zwatch makes of it, or why nothing. What would let commands
 * leave the sandbox is never taken; what a project's file allows is not, either. Pure but for the
 * catalogue. */
#ifndef ZW_CONFIG_IMPORT_H
#define ZW_CONFIG_IMPORT_H

#include "src/config/catalogue.h"
#include "src/config/config.h"

enum cfg_import_format {
	CFG_IMPORT_NONE,   /* settings of zwatch, or nothing known */
	CFG_IMPORT_CLAUDE, /* has `sandbox` or `permissions` */
	CFG_IMPORT_SRT,	   /* `network` and `filesystem` at the top */
};

struct cfg_import_row {
	char *file; /* as shown; owned */
	unsigned line;
	char *from;	/* "sandbox.network.allowedDomains"; owned */
	char *value;	/* JSON; owned */
	const char *to; /* setting of zwatch, static; NULL = it becomes nothing */
	char *text;	/* the value for that setting, as a text; of a reason the reason; owned */
	char *name;	/* of a reason: its site; else NULL; owned */
	char *note;	/* one sentence, or ""; owned */
};

struct cfg_import {
	struct cfg_import_row *list; /* owned */
	size_t n;
	size_t n_left; /* rows that become nothing though the user may have meant something by them */
};

/** What kind of file this is, by its shape. */
enum cfg_import_format cfg_import_recognise(const char *text, size_t len);

/**
 * Reads a file, and adds its rows.
 *
 * @is_project  it came with the project: only what it refuses is taken
 * @catalogue   NULL: nothing is said of what a socket is
 * Returns      0, or ZW_E_CONFIG with an error in @report
 */
int cfg_import_read(const char *text, size_t len, const char *shown, enum cfg_import_format format,
		    bool is_project, const struct cfg_catalogue *catalogue,
		    const struct cfg_places *places, struct cfg_import *ret,
		    struct cfg_report *report);
void cfg_import_fini(struct cfg_import *i);

/** Puts what the rows make into the settings, as the user's; what becomes nothing is noted. */
void cfg_import_apply(const struct cfg_import *i, struct cfg *cfg, const struct cfg_places *places,
		      struct cfg_report *report);

/** A settings text with what the rows make, added to @text (NULL = a new one). NULL when @text has
 * something else in a place that is needed. Ownership: caller frees. */
char *cfg_import_merge(const struct cfg_import *i, const char *text, size_t len);

#endif
