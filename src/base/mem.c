/* SPDX-License-Identifier: MIT */
#include "src/base/mem.h"

#include <errno.h>

#include "src/base/log.h"

static void *checked(void *p)
{
	if (p == NULL)
		zw_fatal("out of memory");
	return p;
}

void *zw_xmalloc(size_t size)
{
	return checked(malloc(size > 0 ? size : 1));
}

void *zw_xcalloc(size_t n, size_t size)
{
	return checked(calloc(n > 0 ? n : 1, size > 0 ? size : 1));
}

void *zw_xrealloc(void *p, size_t n, size_t size)
{
	return checked(reallocarray(p, n > 0 ? n : 1, size > 0 ? size : 1));
}

char *zw_xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *zw_xmemdup0(const void *p, size_t len)
{
	char *copy = zw_xmalloc(len + 1);

	if (len > 0)
		memcpy(copy, p, len);
	copy[len] = '\0';
	return copy;
}

char *zw_xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s = NULL;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	va_end(ap);
	return checked(s);
}

void zw_close(int *fd)
{
	int keep = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = keep;
}

void zw_fatal(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	zw_vlog(ZW_LOG_ERROR, fmt, ap);
	va_end(ap);
	abort();
}
