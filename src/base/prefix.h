/* SPDX-License-Identifier: MIT
 * zwatch's own key, as the settings have it: which keys it is, and what every text calls it. One for the
 * process, set before anything is drawn. F12 is always one of them. */
#ifndef ZW_BASE_PREFIX_H
#define ZW_BASE_PREFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Takes names as the settings have them: C-], C-a, M-x, F1 to F12. None: it stays C-] and F12. */
void zw_prefix_set(char *const *names, size_t n);

/** Whether Ctrl, or Alt, and this character is the key; a letter in small. */
bool zw_prefix_is_ctrl(uint32_t c);
bool zw_prefix_is_alt(uint32_t c);
/** Whether F1 to F12 is. */
bool zw_prefix_is_function(int n);

/** "Ctrl-]", for hints. Static. */
const char *zw_prefix_name(void);
/** "Control right bracket", to be read aloud. Static. */
const char *zw_prefix_spoken(void);

#endif
