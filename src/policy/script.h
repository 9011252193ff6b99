/* SPDX-License-Identifier: MIT
 * Interpreters: a rule for "python3" alone would be one for every script that anybody writes. The
 * script is read from the arguments, which a program can forge: it keeps honest programs apart.
 * Against hostile ones the interpreter counts, and what a question says of it. */
#ifndef ZW_POLICY_SCRIPT_H
#define ZW_POLICY_SCRIPT_H

#include <stddef.h>

#include "src/base/str.h"

enum pol_script {
	POL_SCRIPT_NONE,   /* no interpreter */
	POL_SCRIPT_FILE,   /* runs this file */
	POL_SCRIPT_INLINE, /* runs code of the command line, of its input, or a module */
};

/**
 * What an interpreter runs.
 *
 * @argv  NUL between arguments
 * @out   absolute path for FILE, else ""
 */
enum pol_script pol_script_of(const char *exe, struct zw_span argv, const char *cwd, char *out,
			      size_t size);

#endif
