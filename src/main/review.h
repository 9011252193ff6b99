/* SPDX-License-Identifier: MIT
 * The end of a session: what it leaves to decide, shown to the user, and kept as rules. */
#ifndef ZW_MAIN_REVIEW_H
#define ZW_MAIN_REVIEW_H

#include "src/super/super.h"

struct review_config {
	const char *store, *rules; /* paths; borrowed */
	bool is_plain, is_ascii, has_colour;
	int theme;
};

/**
 * Shows the page, unless there is nothing on it to decide, and keeps what was chosen.
 *
 * @result  of the session; n_kept grows by what is kept
 */
void review_run(const struct review_config *config, struct sup_result *result);

#endif
