/* SPDX-License-Identifier: MIT
 * A file system that takes its time (fuse(4)), served by a thread of the caller: the bytes of its file
 * "page", and whatever is looked up in its folder "hung", come when they are let come. */
#ifndef ZW_TESTS_SANDBOX_HELD_FS_H
#define ZW_TESTS_SANDBOX_HELD_FS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HELD_PAGE_B 4096
#define HELD_MAX    64

struct held_fs {
	int fd;
	pthread_t thread;
	pthread_mutex_t lock;
	uint8_t page[HELD_PAGE_B];
	bool is_released; /* under the lock, as what follows */
	struct held_request {
		uint64_t unique;
		uint32_t opcode;
	} held[HELD_MAX];
	size_t n_held;
};

/**
 * Mounts it at folder @dir, in the caller's mount namespace, which has to belong to its user namespace.
 *
 * Returns  0; -ENOENT, -EACCES, -ENODEV: no /dev/fuse for this user; other -errno
 */
int held_fs_mount(struct held_fs *fs, const char *dir);
/** How many requests wait now. */
size_t held_fs_waiting(struct held_fs *fs);
/** Lets everything come: @p, @len begin the page; the folder is empty. */
void held_fs_release(struct held_fs *fs, const void *p, size_t len);

#endif
