/* SPDX-License-Identifier: MIT
 * Notices by programs of the user's desktop, started outside the sandbox. */
#ifndef ZW_UI_DESKTOP_H
#define ZW_UI_DESKTOP_H

/** What may be started; strings borrowed, "" = nothing. */
struct ui_desktop {
	const char *notify_send; /* absolute path */
	const char *command;	 /* of the user's settings: for sh, with the text as $1 */
	const char *path;	 /* PATH for the command: folders that the agent cannot write */
};

/** Shows @text; nobody waits for it. Nothing of it comes from inside the sandbox. */
void ui_desktop_show(const struct ui_desktop *d, const char *text);
/** Runs the user's command. */
void ui_desktop_command(const struct ui_desktop *d, const char *text);

#endif
