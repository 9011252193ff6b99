/* SPDX-License-Identifier: MIT */
#include "sandbox/broker/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "src/base/io.h"

static int64_t timeval_ms(const struct timeval *tv)
{
	return (int64_t)tv->tv_sec * 1000 + tv->tv_usec / 1000;
}

static int start(struct brk_guard *g, int fd)
{
	struct timeval tv;
	socklen_t len = sizeof(tv);
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	g->is_started = true;
	g->is_blocking = (flags & O_NONBLOCK) == 0;
	if (!g->is_blocking)
		return 0;
	g->start_ms = zw_mono_ms();
	if (getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, &len) < 0)
		return -errno;
	g->limit_ms = timeval_ms(&tv);
	return 0;
}

static int set_timeout(int fd, int64_t ms)
{
	struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};

	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) < 0 ? -errno : 0;
}

static int try_connect(int fd, const void *addr, size_t len)
{
	return connect(fd, addr, (socklen_t)len) < 0 ? -errno : 0;
}

int brk_guard_connect(struct brk_guard *g, int fd, const void *addr, size_t len, int slice_ms)
{
	int r = g->is_started ? 0 : start(g, fd);

	if (r < 0)
		return r;
	if (!g->is_blocking)
		return try_connect(fd, addr, len);
	r = set_timeout(fd, slice_ms);
	if (r < 0)
		return r;
	r = try_connect(fd, addr, len);
	set_timeout(fd, g->limit_ms);
	/* A later try of an internet connect is told EALREADY until it is through. */
	if (r != -EAGAIN && r != -EINPROGRESS && r != -EALREADY && r != -EINTR)
		return r;
	if (g->limit_ms > 0 && zw_mono_ms() - g->start_ms >= g->limit_ms)
		return r == -EALREADY ? -EINPROGRESS : r;
	return BRK_GUARD_AGAIN;
}
