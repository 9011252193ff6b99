/* SPDX-License-Identifier: MIT */
#include "src/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/mem.h"

int zw_write_all(int fd, const void *p, size_t len)
{
	const char *at = p;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int zw_read_fd(int fd, size_t max, char **ret, size_t *ret_len)
{
	struct zw_buf b;
	int r = 0;

	zw_buf_init(&b, max + 1);
	for (;;) {
		size_t want = zw_buf_left(&b) < 65536 ? zw_buf_left(&b) : 65536;
		uint8_t *room = want > 0 ? zw_buf_room(&b, want) : NULL;

		if (room == NULL) {
			r = ZW_E_TOOBIG;
			break;
		}
		ssize_t n = read(fd, room, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			r = -errno;
		if (n <= 0)
			break;
		zw_buf_grow(&b, (size_t)n);
	}
	if (r == 0) {
		*ret = zw_xmemdup0(b.len > 0 ? zw_buf_head(&b) : NULL, b.len);
		*ret_len = b.len;
	}
	zw_buf_fini(&b);
	return r;
}

int zw_read_file(const char *path, size_t max, char **ret, size_t *ret_len)
{
	zw_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	return zw_read_fd(fd, max, ret, ret_len);
}

int zw_read_regular(const char *path, size_t max, char **ret, size_t *ret_len)
{
	zw_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? zw_read_fd(fd, max, ret, ret_len) : -EINVAL;
}

int zw_mkdirs(const char *path, mode_t mode)
{
	zw_autofree char *copy = zw_xstrdup(path);

	for (char *p = copy + 1; *p != '\0'; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, mode) < 0 && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	if (mkdir(copy, mode) < 0 && errno != EEXIST)
		return -errno;
	return 0;
}

int zw_set_nonblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

static int64_t clock_us(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t zw_now_us(void)
{
	return clock_us(CLOCK_REALTIME);
}

int64_t zw_mono_us(void)
{
	return clock_us(CLOCK_MONOTONIC);
}

/* FNV-1a, 64 bits. */
uint64_t zw_file_id(const struct stat *st)
{
	const uint64_t parts[] = {st->st_dev, st->st_ino, (uint64_t)st->st_size,
				  (uint64_t)st->st_ctim.tv_sec, (uint64_t)st->st_ctim.tv_nsec};
	const uint8_t *p = (const uint8_t *)parts;
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < sizeof(parts); i++)
		h = (h ^ p[i]) * 1099511628211u;
	return h != 0 ? h : 1;
}
