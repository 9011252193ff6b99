/* SPDX-License-Identifier: MIT
 * What stays read-only although the folder around it is writable (data/protected.json): files that
 * make programs outside the sandbox run something. */
#ifndef ZW_CONFIG_PROTECT_H
#define ZW_CONFIG_PROTECT_H

#include "src/config/agents.h"
#include "src/config/config.h"

struct cfg_protected {
	struct cfg_paths guarded;
	/* Folders of a repository that lies elsewhere: the project is a work tree or a submodule of it,
	 * and git cannot commit without writing there. */
	struct cfg_paths writable;
};

/**
 * Looks at the project and at every folder of filesystem.allowWrite. What allowWrite names itself is
 * left out. Its cost depends on the number of those folders, of submodules and work trees (bounded),
 * not on what is in them. @agent (may be NULL) adds what its own folders hold.
 *
 * Where `.git` is a file, it is believed only if the repository that it names points back here: the
 * file is the agent's to write, in an earlier session.
 *
 * Ownership  *ret by cfg_protected_fini()
 */
void cfg_protected_paths(const struct cfg_places *places, const struct cfg *cfg,
			 const struct cfg_agent *agent, struct cfg_protected *ret);
void cfg_protected_fini(struct cfg_protected *p);

/**
 * Value of core.hooksPath in the text of a git config file. Pure; any bytes are safe. Continued
 * lines and quotes inside the value are not understood: such a value is "none".
 *
 * Ownership  caller frees; NULL = none
 */
char *cfg_git_hooks_path(const char *text, size_t len);

#endif
