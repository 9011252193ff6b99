/* SPDX-License-Identifier: MIT
 * The system calls by which the broker looks into another process, as a table: a test makes each of
 * them fail in turn, and every failure has to end in a denial.
 *
 * All return >= 0 or -errno. */
#ifndef ZW_SANDBOX_BROKER_SYS_H
#define ZW_SANDBOX_BROKER_SYS_H

#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** A notification; the kernel may write more than the struct that we know. */
union brk_notif {
	struct seccomp_notif n;
	uint8_t space[256];
};

/* All calls by which a decision is reached; what acts on one's own sockets stays outside. */
#define BRK_SYS_CALLS(X)                                                                      \
	X(int, notif_recv, (int fd, union brk_notif *ret), (fd, ret))                         \
	X(int, notif_valid, (int fd, uint64_t id), (fd, id))                                  \
	X(int, notif_send, (int fd, uint64_t id, int error, int64_t value),                   \
	  (fd, id, error, value))                                                             \
	X(int, notif_continue, (int fd, uint64_t id), (fd, id))                               \
	X(int, notif_addfd, (int fd, uint64_t id, int src_fd, int new_fd, unsigned fd_flags), \
	  (fd, id, src_fd, new_fd, fd_flags))                                                 \
	X(int, vm_is_there, (pid_t tid, uint64_t from, size_t len), (tid, from, len))         \
	X(ssize_t, vm_read, (pid_t tid, uint64_t from, void *ret, size_t len),                \
	  (tid, from, ret, len))                                                              \
	X(ssize_t, vm_write, (pid_t tid, uint64_t to, const void *p, size_t len),             \
	  (tid, to, p, len))                                                                  \
	X(int, pidfd_open, (pid_t tid), (tid))                                                \
	X(int, pidfd_getfd, (int pidfd, int fd), (pidfd, fd))                                 \
	X(int, proc_open, (pid_t tid, const char *what), (tid, what))                         \
	X(ssize_t, proc_link, (pid_t tid, const char *what, char *ret, size_t size),          \
	  (tid, what, ret, size))                                                             \
	X(ssize_t, proc_read, (pid_t tid, const char *what, char *ret, size_t size),          \
	  (tid, what, ret, size))                                                             \
	X(int, open_at, (int dir, const char *path, int flags, uint64_t resolve),             \
	  (dir, path, flags, resolve))                                                        \
	X(int, sock_int, (int fd, int option, int *ret), (fd, option, ret))                   \
	X(int, sock_netns, (int fd, uint64_t *ret), (fd, ret))                                \
	X(int, diag_send, (int fd, const void *p, size_t len), (fd, p, len))                  \
	X(ssize_t, diag_recv, (int fd, void *p, size_t len), (fd, p, len))

struct brk_sys {
#define X(type, name, params, args) type(*name) params;
	BRK_SYS_CALLS(X)
#undef X
};

/** The kernel's own. notif_continue: the kernel carries the call out itself, with the arguments that it
 * finds then: for calls that are only looked at. vm_is_there: 1 = the bytes are in memory, so that
 * reading and writing them waits for nothing. proc_*: /proc/TID/WHAT; proc_open with O_PATH; proc_link and proc_read
 * NUL-terminate and cut. notif_addfd: new_fd >= 0 takes that number's place, -1 = lowest free. */
extern const struct brk_sys brk_sys_real;

/** Path of one of the broker's own descriptors; @out of at least 32 bytes. */
void brk_fd_path(int fd, char *out, size_t size);

/** Where a descriptor points to: readlink of its entry in /proc/self/fd. Returns length or -errno;
 * terminated, never longer than @size - 1 (then -ENAMETOOLONG). */
int brk_fd_where(int fd, char *out, size_t size);

#endif
