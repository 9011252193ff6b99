/* SPDX-License-Identifier: MIT
 * Landlock of the agent: the kernel's own fence behind the mount namespace. It keeps descriptors
 * that come in from outside from opening anything, keeps sockets out of folders that host programs
 * look into, and keeps signals and ptrace away from zwatch-init.
 *
 * Needs libc only: zwatch-init links it too. */
#ifndef ZW_SANDBOX_LANDLOCK_H
#define ZW_SANDBOX_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From this ABI on (5.19) files may be moved between folders; older ones break too much. */
#define SB_LANDLOCK_ABI_MIN 2

/* From this one on (7.1) the kernel itself can refuse to connect to Unix sockets. */
#define SB_LANDLOCK_ABI_UNIX 9

/** How much holds the agent; each has all that is below it. */
enum sb_level {
	SB_LEVEL_NONE = 1,  /* no namespaces of its own: not started */
	SB_LEVEL_PLAIN = 2, /* namespaces and filter, without Landlock */
	SB_LEVEL_FULL = 3,  /* and Landlock */
	SB_LEVEL_KERNEL = 4 /* and the kernel itself refuses host sockets */
};

/** The level that a sandbox with this Landlock has, 0 = none of use. */
enum sb_level sb_level_of(int landlock_abi);

/** What the level means, as half a sentence. Static. */
const char *sb_level_text(enum sb_level level);

/** ABI version of the running kernel, 0 = no Landlock. */
int sb_landlock_abi(void);

/** All file system rights that @abi knows. */
uint64_t sb_landlock_fs_all(int abi);

/**
 * Fences the calling thread for good. NO_NEW_PRIVS must be set.
 *
 * @abi             as sb_landlock_abi() says, at least SB_LANDLOCK_ABI_MIN
 * @socket_dirs     NUL behind each, @socket_dirs_len bytes: where sockets may be made; one that
 *                  does not exist is left out
 * @has_stdio       descriptors 0 to 2 come from outside; what they are open on may be opened again by
 *                  /dev/stdin and its like
 * Returns          0 or -errno
 */
int sb_landlock_agent(int abi, const char *socket_dirs, size_t socket_dirs_len, bool has_stdio);

/**
 * Fences a helper: all files refused but those beneath @dir (NULL = none), and abstract sockets and
 * signals to outside.
 *
 * Returns  0, -errno, or -ENOSYS without Landlock
 */
int sb_landlock_helper(const char *dir);

#endif
