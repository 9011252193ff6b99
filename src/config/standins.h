/* SPDX-License-Identifier: MIT
 * Which sockets of the catalogue exist on this machine now: at their paths something has to stand
 * inside too, because many programs look before they connect (sandbox/standins.h). */
#ifndef ZW_CONFIG_STANDINS_H
#define ZW_CONFIG_STANDINS_H

#include "src/base/buf.h"
#include "src/config/catalogue.h"

/**
 * Appends the paths, NUL behind each, without order, some perhaps twice: what listens in this network
 * namespace, and what the patterns without wildcards name. Left out: classes that are "not there"
 * inside, and zwatch's own. What no longer fits into @ret is left out as well.
 */
void cfg_standins_find(const struct cfg_catalogue *cat, struct zw_buf *ret);

/**
 * The path in one line of /proc/net/unix, if a socket listens there.
 * Pure. Returns  pointer into @line, or NULL
 */
const char *cfg_unix_line(const char *line);

#endif
