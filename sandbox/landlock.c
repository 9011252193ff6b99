/* SPDX-License-Identifier: MIT
 * Landlock, with constants of our own: the headers of Debian 12 know ABI 2 of what may be 7. */
#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CREATE_RULESET_VERSION (1u << 0)
#define RULE_PATH_BENEATH      1

#define FS_EXECUTE	(1ull << 0)
#define FS_WRITE_FILE	(1ull << 1)
#define FS_READ_FILE	(1ull << 2)
#define FS_MAKE_SOCK	(1ull << 9)
#define FS_TRUNCATE	(1ull << 14)
#define FS_IOCTL_DEV	(1ull << 15)
#define FS_RESOLVE_UNIX (1ull << 16)

#define SCOPE_ABSTRACT_UNIX_SOCKET (1ull << 0)
#define SCOPE_SIGNAL		   (1ull << 1)
#define SCOPE_ABI		   6

struct ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net; /* since ABI 4 */
	uint64_t scoped;	     /* since ABI 6 */
};

struct path_beneath_attr {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

int sb_landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

enum sb_level sb_level_of(int landlock_abi)
{
	if (landlock_abi >= SB_LANDLOCK_ABI_UNIX)
		return SB_LEVEL_KERNEL;
	return landlock_abi >= SB_LANDLOCK_ABI_MIN ? SB_LEVEL_FULL : SB_LEVEL_PLAIN;
}

const char *sb_level_text(enum sb_level level)
{
	static const char *const texts[] = {
		[SB_LEVEL_NONE] = "no sandbox can be made; nothing is started",
		[SB_LEVEL_PLAIN] =
			"namespaces and filter, but no Landlock: no second fence behind them, no "
			"debuggers inside, and the kernel does not decide where sockets may be "
			"made",
		[SB_LEVEL_FULL] = "namespaces, filter and Landlock",
		[SB_LEVEL_KERNEL] = "namespaces, filter, Landlock, and the kernel itself refuses "
				    "the host's sockets",
	};

	return texts[level];
}

uint64_t sb_landlock_fs_all(int abi)
{
	/* Number of rights by ABI: 1 knows 13, 2 adds REFER, 3 TRUNCATE, 5 IOCTL_DEV, 9 RESOLVE_UNIX. */
	static const unsigned n_rights[] = {0, 13, 14, 15, 15, 16, 16, 16, 16, 17};

	if (abi <= 0)
		return 0;
	if (abi > SB_LANDLOCK_ABI_UNIX)
		abi = SB_LANDLOCK_ABI_UNIX;
	return (1ull << n_rights[abi]) - 1;
}

static int ruleset_new(int abi)
{
	struct ruleset_attr attr = {.handled_access_fs = sb_landlock_fs_all(abi)};
	size_t size = sizeof(attr.handled_access_fs);

	if (abi >= SCOPE_ABI) {
		attr.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
		size = sizeof(attr);
	}
	long fd = syscall(SYS_landlock_create_ruleset, &attr, size, 0);
	return fd < 0 ? -errno : (int)fd;
}

static int rule_add(int ruleset, const char *path, uint64_t rights)
{
	struct path_beneath_attr attr = {.allowed_access = rights};
	int ret = 0;

	attr.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (attr.parent_fd < 0)
		return -errno;
	if (syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &attr, 0) < 0)
		ret = -errno;
	close(attr.parent_fd);
	return ret;
}

/* As far as the descriptor itself goes. */
static uint64_t rights_of(int fd)
{
	int mode = fcntl(fd, F_GETFL) & O_ACCMODE;
	uint64_t rights = FS_IOCTL_DEV;

	if (mode != O_WRONLY)
		rights |= FS_READ_FILE;
	if (mode != O_RDONLY)
		rights |= FS_WRITE_FILE | FS_TRUNCATE;
	return rights;
}

/* A file of the host lies outside the sandbox's tree. Pipes and sockets are no matter of Landlock's,
 * and a folder is not given. */
static void stdio_add(int ruleset, int abi)
{
	struct stat st;

	for (int fd = 0; fd < 3; fd++) {
		struct path_beneath_attr attr = {
			.allowed_access = rights_of(fd) & sb_landlock_fs_all(abi), .parent_fd = fd};

		if (fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode)))
			(void)syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &attr, 0);
	}
}

static int restrict_self(int ruleset)
{
	int ret = syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? -errno : 0;

	close(ruleset);
	return ret;
}

int sb_landlock_agent(int abi, const char *socket_dirs, size_t socket_dirs_len, bool has_stdio)
{
	int ruleset = ruleset_new(abi);
	int ret;

	if (ruleset < 0)
		return ruleset;
	/* No socket is connected to by the agent itself, the broker does it: so where the kernel can
	 * forbid it, it is forbidden everywhere. */
	ret = rule_add(ruleset, "/", sb_landlock_fs_all(abi) & ~(FS_MAKE_SOCK | FS_RESOLVE_UNIX));
	if (has_stdio)
		stdio_add(ruleset, abi);
	for (size_t i = 0; ret == 0 && i < socket_dirs_len;) {
		const char *dir = socket_dirs + i;

		ret = rule_add(ruleset, dir, FS_MAKE_SOCK);
		/* Less is allowed then, never more. */
		if (ret == -ENOENT || ret == -EACCES || ret == -ENOTDIR)
			ret = 0;
		i += strnlen(dir, socket_dirs_len - i) + 1;
	}
	if (ret < 0) {
		close(ruleset);
		return ret;
	}
	return restrict_self(ruleset);
}

int sb_landlock_helper(const char *dir)
{
	int abi = sb_landlock_abi();
	uint64_t rights = sb_landlock_fs_all(abi) & ~(FS_EXECUTE | FS_MAKE_SOCK | FS_RESOLVE_UNIX);
	int ruleset, ret;

	if (abi == 0)
		return -ENOSYS;
	ruleset = ruleset_new(abi);
	if (ruleset < 0)
		return ruleset;
	ret = dir ? rule_add(ruleset, dir, rights) : 0;
	if (ret < 0) {
		close(ruleset);
		return ret;
	}
	return restrict_self(ruleset);
}
