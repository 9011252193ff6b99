/* SPDX-License-Identifier: MIT
 * Functions that do not compile in zwatch: each has a bounded twin in base. Included by base/mem.h. */
#ifndef ZW_BASE_BANNED_H
#define ZW_BASE_BANNED_H

#include <stdio.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf gets strtok gmtime localtime \
	mktemp tmpnam asctime ctime

#endif
