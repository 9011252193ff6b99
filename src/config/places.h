/* SPDX-License-Identifier: MIT
 * Where this user's things are, asked once, and the spellings `~`, `$R` and relative paths that
 * settings and data files use for them. */
#ifndef ZW_CONFIG_PLACES_H
#define ZW_CONFIG_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** Absolute paths without a trailing slash; owned. */
struct cfg_places {
	char *home;	   /* $HOME if absolute, else of the password database */
	char *home_real;   /* realpath(3) of it; the same text when there is no link */
	char *runtime_dir; /* $XDG_RUNTIME_DIR if absolute, else /run/user/UID */
	char *config_dir;  /* $XDG_CONFIG_HOME/zwatch */
	char *state_dir;   /* $XDG_STATE_HOME/zwatch */
	char *start_dir;   /* real path of the working directory */
	uid_t uid;
};

/** Asks environment, password database and file system. Returns 0, -errno (no working
 * directory), or ZW_E_SYNTAX: a control character in the name of one of them. */
int cfg_places_init(struct cfg_places *p);
void cfg_places_fini(struct cfg_places *p);

/**
 * Absolute, lexically clean form of a path in a settings file: `~` and `~/x` below home, `$HOME`
 * and `$XDG_RUNTIME_DIR` in front, others below @base. `.` and double slashes go; `..` takes the
 * component before it. /var/run becomes /run. Links are not followed.
 *
 * Returns  0 or ZW_E_SYNTAX: empty, a control character, `~user`, an unknown $variable
 * Ownership: caller frees *ret
 */
int cfg_path_expand(const struct cfg_places *p, const char *base, const char *path, char **ret);

/** The path with home written as `~`, for the screen. Ownership: caller frees. */
char *cfg_path_show(const struct cfg_places *p, const char *path);

/** Whether @path is @dir or lies below it, by text. */
bool cfg_path_within(const char *path, const char *dir);

#endif
