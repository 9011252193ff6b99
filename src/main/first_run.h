/* SPDX-License-Identifier: MIT
 * The page that a newcomer sees: how strict zwatch should be. */
#ifndef ZW_MAIN_FIRST_RUN_H
#define ZW_MAIN_FIRST_RUN_H

#include "src/main/start.h"

/**
 * Asks once, when there are no settings of the user's yet and nothing has said what the mode is, and
 * writes the answer into config.json. Without a terminal the mode is guard, and it is said.
 *
 * Returns  0 = start; else the exit status with which nothing starts
 */
int first_run(struct start *st, const struct cli *cli);

#endif
