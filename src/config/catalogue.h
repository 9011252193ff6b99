/* SPDX-License-Identifier: MIT
 * The catalogue of Unix sockets (data/sockets.json, built into the program): classes with the words
 * of their question, and the patterns that lead to them, made concrete for this user and this
 * environment. */
#ifndef ZW_CONFIG_CATALOGUE_H
#define ZW_CONFIG_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>

#include "src/config/json.h"
#include "src/config/places.h"
#include "src/policy/policy.h"

/** Class that answers for every socket outside the catalogue. */
#define CFG_CLASS_UNKNOWN "unknown"

/** A class with its words. All text is plain, one paragraph, owned by the catalogue. */
struct cfg_class {
	struct pol_class c;
	const char *title;   /* noun: "the Docker daemon" */
	const char *wants;   /* after "docker wants to": "talk to the Docker daemon" */
	const char *brief;   /* one short sentence for band and list, with a full stop */
	const char *allow;   /* after "If you allow it: " */
	const char *safer;   /* what to do instead, "" = nothing known */
	const char *word;    /* what to type for HIGH and CRITICAL */
	const char *grants;  /* after "PATH grants ": "root-equivalent access to the host system" */
	const char *through; /* after "Through it the agent can ": for the warning */
	char *wants_made;    /* holds `wants` when it follows from the title; owned */
};

struct cfg_pattern {
	unsigned class_index;
	bool is_abstract;
	char *glob; /* owned */
};

struct cfg_catalogue {
	struct cfg_json_doc *doc; /* holds the texts */
	struct cfg_class *classes;
	size_t n_classes;
	struct cfg_pattern *patterns; /* first match wins */
	size_t n_patterns;
};

/**
 * The built-in catalogue for this user; `$R` and `~` become paths, and what the environment points
 * to (SSH_AUTH_SOCK, DOCKER_HOST=unix://…, DBUS_SESSION_BUS_ADDRESS=unix:path=… or abstract=…,
 * DISPLAY, TMUX …) becomes patterns of its class. A variable never lowers a risk: a place that a
 * pattern already puts into a class of the same or a higher risk stays there.
 *
 * @env       NAME=VALUE strings, NULL at the end; NULL = none
 * Ownership  *ret by cfg_catalogue_free()
 * Returns    0; ZW_E_CONFIG is a fault of the build, found by its test
 */
int cfg_catalogue_load(const struct cfg_places *places, char *const *env,
		       struct cfg_catalogue **ret);

/** As cfg_catalogue_load() from @text. @ret_error says what is wrong with it. */
int cfg_catalogue_parse(const char *text, size_t len, const struct cfg_places *places,
			char *const *env, struct cfg_catalogue **ret,
			struct cfg_json_error *ret_error);
void cfg_catalogue_free(struct cfg_catalogue *cat);

/** Class by its name; that of CFG_CLASS_UNKNOWN for any other name. Never NULL. */
const struct cfg_class *cfg_catalogue_class(const struct cfg_catalogue *cat, const char *name);

/**
 * Class of a socket by its real path (or "@name"), CFG_CLASS_UNKNOWN when no pattern fits. /var/run
 * counts as /run. Never NULL.
 */
const struct cfg_class *cfg_catalogue_find(const struct cfg_catalogue *cat, const char *socket);

/** Puts classes and patterns into an empty policy, with the same indexes. Returns 0 or what
 * pol_class_add() and pol_pattern_add() say. */
int cfg_catalogue_fill(const struct cfg_catalogue *cat, struct policy *policy);

#endif
