/* SPDX-License-Identifier: MIT
 * The self-test: a sandbox that does not hold is not used. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "sandbox/init/init.h"

#define NAME "zwatch-self-test"

static int try_call(long nr, long a, long b, long c)
{
	return syscall(nr, a, b, c) < 0 ? errno : 0;
}

static int try_link(const char *path)
{
	char target[64];

	return readlink(path, target, sizeof(target)) < 0 ? errno : 0;
}

static int try_mknod(const char *path)
{
	if (mknod(path, S_IFSOCK | 0600, 0) < 0)
		return errno;
	unlink(path);
	return 0;
}

/** No file system needed: an address of two bytes names nothing. */
static int try_connect(void)
{
	const struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return errno;
	int error =
		connect(fd, (const struct sockaddr *)&sa, sizeof(sa.sun_family)) < 0 ? errno : 0;
	close(fd);
	return error;
}

static int try_canary(const char *name)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t len = strnlen(name, sizeof(sa.sun_path) - 1);

	if (fd < 0)
		return errno;
	memcpy(sa.sun_path + 1, name, len);
	len += offsetof(struct sockaddr_un, sun_path) + 1;
	int error = connect(fd, (const struct sockaddr *)&sa, (socklen_t)len) < 0 ? errno : 0;
	close(fd);
	return error;
}

/** Listens at @sa, and connects to itself: for that both ends need not wait for each other. */
static int meet(const struct sockaddr_un *sa)
{
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error = 0;

	if (server < 0 || client < 0 ||
	    bind(server, (const struct sockaddr *)sa, sizeof(*sa)) < 0 || listen(server, 1) < 0 ||
	    connect(client, (const struct sockaddr *)sa, sizeof(*sa)) < 0)
		error = errno;
	int met = error == 0 ? accept(server, NULL, NULL) : -1;
	if (error == 0 && met < 0)
		error = errno;
	close(met);
	close(client);
	close(server);
	return error;
}

static int try_own(const char *folder)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/" NAME, folder);
	int error = meet(&sa);
	unlink(sa.sun_path);
	return error;
}

/** Refused, or a pair of another type in its place, which takes no address. */
static int pair_is_closed(void)
{
	int pair[2], type = SOCK_DGRAM;
	socklen_t len = sizeof(type);

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0)
		return errno == EACCES;
	getsockopt(pair[0], SOL_SOCKET, SO_TYPE, &type, &len);
	close(pair[0]);
	close(pair[1]);
	return type == SOCK_SEQPACKET;
}

static int try_move(const struct init_conf *c)
{
	char from[256];
	int error = 0;

	snprintf(from, sizeof(from), "%s/" NAME, c->runtime_dir);
	if (mknod(from, S_IFSOCK | 0600, 0) < 0)
		return errno;
	if (rename(from, NAME) < 0)
		error = errno;
	else
		unlink(NAME);
	unlink(from);
	return error;
}

static int is_kept_out(int error)
{
	return error == EXDEV || error == EACCES;
}

/* EACCES or EPERM, by which fence comes first. */
static int is_refused(int error)
{
	return error == EACCES || error == EPERM;
}

static int has_capabilities(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
	unsigned all = 0;

	if (syscall(__NR_capget, &head, data) < 0)
		return 1;
	for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		all |= data[i].effective | data[i].permitted | data[i].inheritable;
	return all != 0;
}

const char *init_selftest(const struct init_conf *c, int *ret_error)
{
	int got;

#define SB_TEST(name, expression, wanted) \
	got = (expression);               \
	if (got != (wanted)) {            \
		*ret_error = got;         \
		return name;              \
	}
#include "sandbox/init/selftest.def"
#undef SB_TEST
	return NULL;
}
