/* SPDX-License-Identifier: MIT
 * The self-test: a sandbox that does not hold is not used. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "sandbox/init/init.h"

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
