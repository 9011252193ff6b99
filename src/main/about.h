/* SPDX-License-Identifier: MIT
 * What the record is told of a session besides its events: the user's words, and what to mask. */
#ifndef ZW_MAIN_ABOUT_H
#define ZW_MAIN_ABOUT_H

#include "src/base/mask.h"
#include "src/config/config.h"
#include "src/main/cli.h"

#define ABOUT_NAME_MAX 100
#define ABOUT_TAG_MAX  40
#define ABOUT_TAGS_MAX 16
#define ABOUT_NOTE_MAX 500

struct about {
	struct zw_span name, tags, note; /* tags: NUL between */
	struct zw_span redact;		 /* for zw_mask_rules() */
	char tags_text[ABOUT_TAGS_MAX * (ABOUT_TAG_MAX + 1)];
	char redact_text[ZW_MASK_RULES_MAX_B];
};

/**
 * Reads --name, --tag, --note and the settings, and masks by them from now on. Prints what is wrong.
 * Returns 0 or an exit status. Spans point into @ret and the command line.
 */
int about_read(const struct cli *cli, const struct cfg *cfg, struct about *ret);

/** Whether a word can be a tag: printable, no blank, at most ABOUT_TAG_MAX bytes. */
bool about_is_tag(const char *word);

#endif
