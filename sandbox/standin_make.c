/* SPDX-License-Identifier: MIT
 * A part of zwatch-init too, which has no other of this folder's files than it needs. */
#include <string.h>
#include <sys/stat.h>

#include "sandbox/standins.h"

void sb_standin_make(const char *entry)
{
	const char *path = strchr(entry, '/');
	mode_t mode = 0;

	for (const char *p = entry + 1; path && p < path; p++)
		mode = mode * 8 + (mode_t)(*p - '0');
	if (!path)
		return;
	if (entry[0] == 's')
		mknod(path, S_IFSOCK | mode, 0);
	else if (entry[0] == 'd' && mkdir(path, 0700) == 0)
		chmod(path, mode);
}
