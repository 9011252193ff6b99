/* SPDX-License-Identifier: MIT */
#include "sandbox/broker/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "src/base/mem.h"

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif
#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

static int result(long r)
{
	return r < 0 ? -errno : (int)r;
}

static int notif_recv(int fd, union brk_notif *ret)
{
	memset(ret, 0, sizeof(*ret));
	return result(ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, ret));
}

static int notif_valid(int fd, uint64_t id)
{
	return result(ioctl(fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id));
}

/* flags stays 0: only notif_continue() lets the kernel read the arguments again. */
static int notif_send(int fd, uint64_t id, int error, int64_t value)
{
	struct seccomp_notif_resp resp = {.id = id, .error = -error, .val = value};

	return result(ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &resp));
}

static int notif_continue(int fd, uint64_t id)
{
	struct seccomp_notif_resp resp = {.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

	return result(ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &resp));
}

static int notif_addfd(int fd, uint64_t id, int src_fd, int new_fd, unsigned fd_flags)
{
	struct seccomp_notif_addfd add = {.id = id,
					  .flags = new_fd >= 0 ? SECCOMP_ADDFD_FLAG_SETFD : 0,
					  .srcfd = (uint32_t)src_fd,
					  .newfd = new_fd >= 0 ? (uint32_t)new_fd : 0,
					  .newfd_flags = fd_flags};

	return result(ioctl(fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add));
}

/* proc(5), pagemap: bit 63 of a page's 64. One that is swapped out or not yet read in is not there. */
static int vm_is_there(pid_t tid, uint64_t from, size_t len)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)tid);
	zw_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (uint64_t i = from / page; len > 0 && i <= (from + len - 1) / page; i++) {
		uint64_t entry;
		ssize_t n = pread(fd, &entry, sizeof(entry), (off_t)(i * sizeof(entry)));

		if (n != (ssize_t)sizeof(entry))
			return n < 0 ? -errno : 0;
		if (!(entry >> 63))
			return 0;
	}
	return 1;
}

static ssize_t vm_read(pid_t tid, uint64_t from, void *ret, size_t len)
{
	struct iovec here = {ret, len}, there = {(void *)(uintptr_t)from, len};
	ssize_t n = process_vm_readv(tid, &here, 1, &there, 1, 0);

	return n < 0 ? -errno : n;
}

static ssize_t vm_write(pid_t tid, uint64_t to, const void *p, size_t len)
{
	struct iovec here = {(void *)(uintptr_t)p, len}, there = {(void *)(uintptr_t)to, len};
	ssize_t n = process_vm_writev(tid, &here, 1, &there, 1, 0);

	return n < 0 ? -errno : n;
}

static ssize_t proc_read(pid_t tid, const char *what, char *ret, size_t size)
{
	char path[64];
	size_t len = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, what);
	zw_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (len + 1 < size && (n = read(fd, ret + len, size - 1 - len)) != 0) {
		if (n < 0)
			return -errno;
		len += (size_t)n;
	}
	ret[len] = '\0';
	return (ssize_t)len;
}

/* Before Linux 6.9 a pidfd names a process only: of a thread that is not the leader, take its
 * leader (and lose threads that have unshared their descriptors, which then look wrong: EBADF). */
static int pidfd_open_leader(pid_t tid)
{
	char text[4096];
	ssize_t n = proc_read(tid, "status", text, sizeof(text));
	const char *p = n < 0 ? NULL : strstr(text, "\nTgid:");

	if (n < 0)
		return (int)n;
	if (p == NULL)
		return -ESRCH;
	return result(syscall(SYS_pidfd_open, (pid_t)strtol(p + 6, NULL, 10), 0));
}

static int sys_pidfd_open(pid_t tid)
{
	static _Atomic bool has_no_threads; /* Linux before 6.9 */
	int fd = has_no_threads ? -EINVAL : result(syscall(SYS_pidfd_open, tid, PIDFD_THREAD));

	if (fd != -EINVAL)
		return fd;
	has_no_threads = true;
	/* Most callers are leaders themselves: that costs nothing to find out. */
	fd = result(syscall(SYS_pidfd_open, tid, 0));
	return fd == -EINVAL || fd == -ENOENT ? pidfd_open_leader(tid) : fd;
}

static int sys_pidfd_getfd(int pidfd, int fd)
{
	return result(syscall(SYS_pidfd_getfd, pidfd, fd, 0));
}

static int proc_open(pid_t tid, const char *what)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, what);
	return result(open(path, O_PATH | O_CLOEXEC));
}

static ssize_t proc_link(pid_t tid, const char *what, char *ret, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, what);
	ssize_t n = readlink(path, ret, size - 1);
	if (n < 0)
		return -errno;
	ret[n] = '\0';
	return n;
}

/* EAGAIN stands for a rename that ran at the same time, unless RESOLVE_CACHED was asked for. */
static int open_at(int dir, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC), .resolve = resolve};
	int r = -EAGAIN;

	for (int i = 0; i < 32 && r == -EAGAIN; i++) {
		r = result(syscall(SYS_openat2, dir, path, &how, sizeof(how)));
		if (resolve & RESOLVE_CACHED)
			break;
	}
	return r;
}

static int sock_int(int fd, int option, int *ret)
{
	int value;
	socklen_t len = sizeof(value);

	if (getsockopt(fd, SOL_SOCKET, option, &value, &len) < 0)
		return -errno;
	*ret = value;
	return 0;
}

static int sock_netns(int fd, uint64_t *ret)
{
	uint64_t value;
	socklen_t len = sizeof(value);

	if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &value, &len) < 0)
		return -errno;
	*ret = value;
	return 0;
}

static int diag_send(int fd, const void *p, size_t len)
{
	return send(fd, p, len, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static ssize_t diag_recv(int fd, void *p, size_t len)
{
	ssize_t n = recv(fd, p, len, 0);

	return n < 0 ? -errno : n;
}

const struct brk_sys brk_sys_real = {
	.notif_recv = notif_recv,
	.notif_valid = notif_valid,
	.notif_send = notif_send,
	.notif_continue = notif_continue,
	.notif_addfd = notif_addfd,
	.vm_is_there = vm_is_there,
	.vm_read = vm_read,
	.vm_write = vm_write,
	.pidfd_open = sys_pidfd_open,
	.pidfd_getfd = sys_pidfd_getfd,
	.proc_open = proc_open,
	.proc_link = proc_link,
	.proc_read = proc_read,
	.open_at = open_at,
	.sock_int = sock_int,
	.sock_netns = sock_netns,
	.diag_send = diag_send,
	.diag_recv = diag_recv,
};

void brk_fd_path(int fd, char *out, size_t size)
{
	snprintf(out, size, "/proc/self/fd/%d", fd);
}

int brk_fd_where(int fd, char *out, size_t size)
{
	char path[32];

	brk_fd_path(fd, path, sizeof(path));
	ssize_t n = readlink(path, out, size);
	if (n < 0)
		return -errno;
	if ((size_t)n >= size)
		return -ENAMETOOLONG;
	out[n] = '\0';
	return (int)n;
}
