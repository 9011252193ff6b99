/* SPDX-License-Identifier: MIT
 * Memory and descriptors that clean themselves up.
 *
 * Out of memory aborts the process. That is sound because no length chosen by a peer ever reaches
 * these functions: such bytes go through a zw_buf, which is born with its maximum. */
#ifndef ZW_BASE_MEM_H
#define ZW_BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/banned.h"

/** As malloc(3), calloc(3), realloc(3), strdup(3); never NULL. Ownership: caller frees. */
void *zw_xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *zw_xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *zw_xrealloc(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
char *zw_xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
/** Copy of @len bytes with a NUL behind them. */
char *zw_xmemdup0(const void *p, size_t len) __attribute__((malloc, returns_nonnull));
char *zw_xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2), returns_nonnull));

/** One zeroed object of type T. */
#define zw_xnew(T) ((T *)zw_xcalloc(1, sizeof(T)))

static inline void zw_freep_(void *pp)
{
	free(*(void **)pp);
}

static inline void zw_closep_(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/** Local that is freed, or closed (-1 = none), when it leaves its scope. */
#define zw_autofree  __attribute__((cleanup(zw_freep_)))
#define zw_autoclose __attribute__((cleanup(zw_closep_)))

/** Hands a pointer on: yields it and leaves NULL behind. */
#define zw_steal(pp)                               \
	__extension__({                            \
		__typeof__(*(pp)) stolen_ = *(pp); \
		*(pp) = NULL;                      \
		stolen_;                           \
	})

/** Hands a descriptor on: yields it and leaves -1 behind. */
static inline int zw_steal_fd(int *fd)
{
	int stolen = *fd;
	*fd = -1;
	return stolen;
}

/** Closes *fd if it is one and leaves -1 behind. Keeps errno. */
void zw_close(int *fd);

#define ZW_N_ELEMENTS(a) (sizeof(a) / sizeof((a)[0]))

/** Ends the process: a state that cannot be (class BUG). One line to the log, then abort(3). */
void zw_fatal(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
