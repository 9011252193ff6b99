/* SPDX-License-Identifier: MIT
 * What known agents need (data/agents), and what is hidden from all of them (data/credentials.json).
 * Both are built into the program. */
#ifndef ZW_CONFIG_AGENTS_H
#define ZW_CONFIG_AGENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "src/config/places.h"

/** A path for the sandbox; absolute, owned. */
struct cfg_path {
	char *path;
	bool is_file; /* a single file, else a folder */
	bool bar;     /* guarded: when it is missing, it may not be made */
	bool is_made; /* private: when it is missing, it is made, so that there is something to mount on */
	bool is_read; /* bar: the agent reads it, and would stumble over a folder there */
	char *initial; /* content to make it with when it is missing; NULL = make it empty, and as what
	                  bars the way: a folder */
	char *why;     /* hidden: the reason, for the user; else "" */
};

struct cfg_paths {
	struct cfg_path *list;
	size_t n;
};

/** A site that the agent needs for its own work. */
struct cfg_site {
	char *site;   /* rule pattern, "api.anthropic.com:443" */
	char *source; /* where its maker says so */
};

/** A preset; all owned. */
struct cfg_agent {
	char *name;		   /* "claude" */
	char *title;		   /* "Claude Code" */
	char *command;		   /* what to look for in PATH */
	struct cfg_paths writable; /* its own folders and files, writable, kept */
	struct cfg_paths guarded;  /* read-only in them; protect.h has all of those */
	struct cfg_paths private_; /* empty and writable inside, gone afterwards (tmpfs) */
	struct cfg_site *sites;
	size_t n_sites;
	char **arguments; /* before those of the user, NULL at the end: its own sandbox, which cannot
			     work inside, is switched off */
	char **reads; /* names in the project that it reads by itself, NULL at the end; where they are
			 missing and may not be made, they are as if empty */
	char **env;   /* NAME=VALUE to set, NULL at the end */
	char **pass; /* names of variables to pass on, NULL at the end; a trailing * is a prefix */
};

/**
 * Preset by name with `~` expanded, everything of data/agents/base.json included.
 *
 * Returns    0 or ZW_E_NOT_FOUND
 * Ownership  *ret by cfg_agent_free()
 */
int cfg_agent_find(const char *name, const struct cfg_places *places, struct cfg_agent **ret);
/** What every program gets: the preset for `zwatch run`. Never fails. */
struct cfg_agent *cfg_agent_base(const struct cfg_places *places);
void cfg_agent_free(struct cfg_agent *a);

/** Whether there is such a preset. */
bool cfg_agent_is_known(const char *name);
/** Names of the presets, NULL at the end; static storage. For "did you mean" and completion. */
const char *const *cfg_agent_names(void);

/**
 * What is hidden from @agent (NULL = from all): zwatch's own folders, then the credentials. An entry
 * at or below one of the agent's own writable paths is left out. Paths that do not exist are listed
 * too.
 *
 * Ownership  *ret by cfg_paths_fini()
 */
void cfg_hidden_paths(const struct cfg_places *places, const struct cfg_agent *agent,
		      struct cfg_paths *ret);
/** Files below hidden folders that may be read all the same (~/.ssh/known_hosts). As above. */
void cfg_shown_paths(const struct cfg_places *places, struct cfg_paths *ret);
void cfg_paths_fini(struct cfg_paths *p);
void cfg_path_fini(struct cfg_path *p);

#endif
