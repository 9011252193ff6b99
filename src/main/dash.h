/* SPDX-License-Identifier: MIT
 * The seam between session and dashboard: src/super and ui do not know each other; here the wishes
 * of the one become calls of the other. */
#ifndef ZW_MAIN_DASH_H
#define ZW_MAIN_DASH_H

#include "src/main/player.h"
#include "src/super/super.h"
#include "ui/ui.h"

struct dash {
	struct ui_config config; /* set by the caller before dash_face() */
	struct ui *ui;		 /* owned while open */
	const char *plain_why;	 /* plain mode, and where it was asked for; NULL = the dashboard */
	struct plain_tty *plain; /* owned while open */
	struct sup *sup;
	struct player player;
	struct pane_grid *grid; /* owned mapping */
	int grid_fd, tty_fd;	/* owned */
	struct sup_face face;
	char *path, *notify_send; /* owned; for notices */
	char *tried;		  /* owned; what past sessions said of a rule */
};

/** Nothing is open. */
#define DASH_NONE                                        \
	{                                                \
		.grid_fd = -1, .tty_fd = -1, .player = { \
			.grid_fd = -1,                   \
			.pane = {.program_fd = -1}       \
		}                                        \
	}

/**
 * Opens the terminal anew and makes the shared grid.
 * Returns    0 or -errno
 * Ownership  dash_fini()
 */
int dash_init(struct dash *d);
void dash_fini(struct dash *d);
/** What a face may ask of the session. */
void dash_host(struct dash *d, struct ui_host *ret);
/** plain_face.c: the face of plain mode. */
void dash_plain_face(struct dash *d, struct sup_face *ret);
/** The face for sup_run(); borrowed from @d. */
const struct sup_face *dash_face(struct dash *d);

#endif
