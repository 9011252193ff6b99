/* SPDX-License-Identifier: MIT
 * The look at the real file system that sb_plan_args() needs: which paths exist, what they are,
 * where symlinks lead. Reads only. */
#ifndef ZW_SANDBOX_SURVEY_H
#define ZW_SANDBOX_SURVEY_H

#include "sandbox/plan.h"

/**
 * Makes the ordered layout of @p.
 *
 * Returns    0; < 0 with *ret_failure filled: cwd or project missing, or a place that cannot be
 *            given (/, /proc, /dev, /sys or below)
 * Ownership  caller ends *ret with sb_layout_fini()
 */
int sb_survey(const struct sb_plan *p, struct sb_layout *ret, struct sb_failure *ret_failure);

#endif
