/* SPDX-License-Identifier: MIT */
#include "ui/outer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/str.h"

static const struct {
	const char *term, *program; /* TERM begins with; TERM_PROGRAM */
} kitty[] = {
	{"xterm-kitty", "kitty"}, {"xterm-ghostty", "ghostty"}, {"wezterm", "WezTerm"},
	{"foot", "foot"},	  {"alacritty", "alacritty"},	{"rio", "rio"},
	{"iterm", "iTerm.app"},
};

static const char *get(const char *name)
{
	const char *v = getenv(name);

	return v != NULL ? v : "";
}

static bool is_behind_another(const char *term)
{
	return *get("TMUX") != '\0' || *get("STY") != '\0' || zw_starts_with(term, "tmux") ||
	       zw_starts_with(term, "screen");
}

const char *ui_outer_kitty(void)
{
	const char *term = get("TERM"), *program = get("TERM_PROGRAM");

	if (is_behind_another(term))
		return NULL;
	for (size_t i = 0; i < ZW_N_ELEMENTS(kitty); i++)
		if (strcmp(program, kitty[i].program) == 0)
			return program;
	/* One that TERM_PROGRAM names is that one, also where another's TERM was set. */
	for (size_t i = 0; *program == '\0' && i < ZW_N_ELEMENTS(kitty); i++)
		if (zw_starts_with(term, kitty[i].term))
			return kitty[i].program;
	return *program == '\0' && *get("KITTY_WINDOW_ID") != '\0' ? "kitty" : NULL;
}
