/* SPDX-License-Identifier: MIT
 * The wishes of a project file: shown once for each content, before the agent starts. */
#ifndef ZW_MAIN_WISHES_H
#define ZW_MAIN_WISHES_H

#include "src/main/start.h"

/**
 * Shows the wishes when they are new, and asks. Without a terminal nothing is granted.
 *
 * Returns  0 = start; else the exit status with which nothing starts
 */
int wishes_ask(struct start *st, const struct cli *cli);

#endif
