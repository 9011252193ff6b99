/* SPDX-License-Identifier: MIT
 * What is wrong with the settings, and where: gathered by the readers, shown by the edge. */
#ifndef ZW_CONFIG_REPORT_H
#define ZW_CONFIG_REPORT_H

#include <stddef.h>

#define CFG_REPORT_MAX 32 /* findings kept; a file with more is broken enough */

/** One finding. file and text are owned by the report. */
struct cfg_error {
	int is_error;  /* 0: a note; the session may start */
	char *file;    /* as the user would write it; "" = not in a file */
	unsigned line; /* from 1; 0 = the file as a whole */
	char *text;    /* one sentence, printable, no line number in it */
};

struct cfg_report {
	struct cfg_error list[CFG_REPORT_MAX];
	size_t n;
	size_t n_errors; /* findings that stop a session, also those not kept */
};

/** Empties; a zeroed struct is an empty report. */
void cfg_report_clear(struct cfg_report *r);

/** Adds an error, or a note. The text is made printable. @file NULL = "". */
void cfg_report_error(struct cfg_report *r, const char *file, unsigned line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void cfg_report_note(struct cfg_report *r, const char *file, unsigned line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * The finding as one line: "`holdSites` is not a setting. Did you mean `holdSite`? config.json:7".
 * Ownership: caller frees.
 */
char *cfg_error_format(const struct cfg_error *e);

#endif
