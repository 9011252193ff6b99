/* SPDX-License-Identifier: MIT
 * Copies text to where the user can paste it from. */
#ifndef ZW_UI_CLIP_H
#define ZW_UI_CLIP_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/term.h"

/**
 * By OSC 52, which also works over ssh, and beside it by what the desktop offers: tmux's buffer,
 * wl-copy, xclip. Where neither is known to work the text goes to a new file of mode 0600, too.
 *
 * @is_cut     the text is only the beginning of what was chosen
 * @ret_said   what was done, as a sentence, with the path of the file
 */
void clip_copy(struct ui_term *t, const char *text, size_t len, bool is_cut, char *ret_said,
	       size_t size);

/** The same for what the agent set: never to a file, and only characters that may be shown, tabs and
 * ends of lines, so that no paste of it types a control into another program. */
void clip_agent(struct ui_term *t, const void *text, size_t len, char *ret_said, size_t size);

#endif
