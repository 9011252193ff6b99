/* SPDX-License-Identifier: MIT
 * Small pieces around descriptors and clocks. */
#ifndef ZW_BASE_IO_H
#define ZW_BASE_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** Writes all of it to a blocking descriptor, over EINTR and short writes. 0 or -errno. */
int zw_write_all(int fd, const void *p, size_t len);

/**
 * Reads a whole file of at most @max bytes from @fd or @path.
 * Returns 0, -errno or ZW_E_TOOBIG. Ownership: caller frees *ret, which has a NUL behind its end.
 */
int zw_read_fd(int fd, size_t max, char **ret, size_t *ret_len);
int zw_read_file(const char *path, size_t max, char **ret, size_t *ret_len);
/** As zw_read_file() for a path that somebody else may have made: -EINVAL when it is no regular file;
 * never waits for a writer. */
int zw_read_regular(const char *path, size_t max, char **ret, size_t *ret_len);

/** mkdir -p with @mode for each folder made. 0 or -errno. */
int zw_mkdirs(const char *path, mode_t mode);

/** Switches O_NONBLOCK on, 0 or -errno. */
int zw_set_nonblock(int fd);

/**
 * One number for a file as it is: device, inode, size and the time of its last change, which nobody
 * can set. Never 0.
 */
struct stat;
uint64_t zw_file_id(const struct stat *st);

/** Wall clock, microseconds since 1970 UTC. */
int64_t zw_now_us(void);
/** Monotonic clock, microseconds. */
int64_t zw_mono_us(void);
static inline int64_t zw_mono_ms(void)
{
	return zw_mono_us() / 1000;
}

#endif
