/* SPDX-License-Identifier: MIT
 * The settings in force, written out: each value with where it comes from. The reverse of the readers:
 * what is written here reads back as the same. */
#ifndef ZW_CONFIG_SHOW_H
#define ZW_CONFIG_SHOW_H

#include "src/config/config.h"

/** A single value, or one entry of a list. */
struct cfg_shown {
	const char *key; /* row of keys.def; static */
	bool is_member;	 /* an entry of a section: the value is `"name": value` */
	char *value;	 /* JSON; owned */
	char *origin;	 /* "~/.config/zwatch/config.json:9", "--rw", "built in"; owned */
};

struct cfg_shown_list {
	struct cfg_shown *list; /* owned */
	size_t n;
};

/** All values, in the order of keys.def. Ownership: cfg_shown_fini(). */
void cfg_show(const struct cfg *cfg, struct cfg_shown_list *ret);
void cfg_shown_fini(struct cfg_shown_list *l);

/** The settings as a file that has the same effect. Ownership: caller frees. */
char *cfg_show_file(const struct cfg *cfg);

/**
 * Settings with origins and rules of all layers, as JSON: the same settings give the same text.
 *
 * @saved, @n  rules of rules.json that hold in this project
 * Ownership   caller frees
 */
struct pol_saved;
char *cfg_show_policy(const struct cfg *cfg, const struct pol_saved *saved, size_t n);

#endif
