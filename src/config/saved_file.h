/* SPDX-License-Identifier: MIT
 * rules.json: the rules that answers and `zwatch rules` have saved.
 *
 * A file that is there and not right, or that others could write, is an error with its line, and
 * nobody takes rules from it. Changes are made to what the file holds now (another zwatch may have
 * written), under a lock, into a new file that takes the old one's place at once; the old one stays
 * as rules.json.bak. */
#ifndef ZW_CONFIG_SAVED_FILE_H
#define ZW_CONFIG_SAVED_FILE_H

#include "src/config/report.h"
#include "src/policy/saved.h"

#define CFG_SAVED_FILE "rules.json"
#define CFG_SAVED_MAX  4000 /* rules */

struct cfg_saved {
	struct pol_saved *list; /* owned, in order of numbers */
	size_t n;
	uint32_t next_id;
	int64_t seen_s; /* wall clock of the newest writer, the latest that was ever seen */
};

void cfg_saved_init(struct cfg_saved *s);
void cfg_saved_fini(struct cfg_saved *s);
/** NULL = none with this number. Borrowed. */
struct pol_saved *cfg_saved_find(const struct cfg_saved *s, uint32_t id);
/** Adds *take (its strings go over), with the next number, or its own if it has one. */
struct pol_saved *cfg_saved_add(struct cfg_saved *s, struct pol_saved *take);
/** Whether there was one. */
bool cfg_saved_remove(struct cfg_saved *s, uint32_t id);

/**
 * Reads @path; a missing file is an empty one.
 *
 * Returns  0; ZW_E_CONFIG with findings in @report, and *ret is empty
 */
int cfg_saved_load(const char *path, struct cfg_saved *ret, struct cfg_report *report);
/** The same from a text. @shown: name of the file in messages. */
int cfg_saved_parse(const char *text, size_t len, const char *shown, struct cfg_saved *ret,
		    struct cfg_report *report);
/** As text; ownership: caller frees. */
char *cfg_saved_format(const struct cfg_saved *s);

/**
 * Reads, lets @change work on it, writes. Nothing is written when it returns < 0.
 *
 * @now_s   wall clock
 * @ret     what is in force now; may be NULL
 * Returns  0; ZW_E_CONFIG (findings in @report); -errno; what @change returned
 */
int cfg_saved_change(const char *path, int64_t now_s, int (*change)(struct cfg_saved *s, void *arg),
		     void *arg, struct cfg_saved *ret, struct cfg_report *report);

/** Puts a text in the place of a file of the user's, 0600, whole or not at all; what was there stays as
 * FILE.bak. Returns 0 or -errno. */
int cfg_file_replace(const char *path, const char *text, size_t len);

/** "2026-12-01T02:40:00Z"; returns @out. */
const char *cfg_time_format(int64_t t_s, char out[32]);
int cfg_time_parse(const char *s, int64_t *ret_s);

#endif
