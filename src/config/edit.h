/* SPDX-License-Identifier: MIT
 * Changes to a settings file that the user wrote: what is not changed stays as it is, comments and all. */
#ifndef ZW_CONFIG_EDIT_H
#define ZW_CONFIG_EDIT_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Adds a value to a setting: to the end of its list or section when @bracket is '[' or '{', and when it
 * does not stand there yet; a single value (@bracket 0) only when the setting is not there at all.
 *
 * @path     "network.allowedDomains"
 * @value    JSON; in a section `"name": value`
 * Returns   the new text, NUL-terminated, or NULL: @text cannot be read, or has something else there
 * Ownership caller frees
 */
char *cfg_edit_add(const char *text, size_t len, const char *path, char bracket, const char *value);

#endif
