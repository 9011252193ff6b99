/* SPDX-License-Identifier: MIT
 * What the environment says about the user's terminal before it can be asked. */
#ifndef ZW_UI_OUTER_H
#define ZW_UI_OUTER_H

/**
 * Name (as in TERM_PROGRAM) of the terminal where it is known to speak the kitty keyboard protocol;
 * agents turn that on for names that they know. NULL = another, or one behind tmux or screen, which
 * do not pass such keys on. Static or the environment's.
 */
const char *ui_outer_kitty(void);

#endif
