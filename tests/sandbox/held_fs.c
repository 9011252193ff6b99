/* SPDX-License-Identifier: MIT */
#include "tests/sandbox/held_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NODE_ROOT = FUSE_ROOT_ID, NODE_PAGE, NODE_HUNG };

#define VALID_S 1000

static void answer(struct held_fs *fs, uint64_t unique, int error, const void *p, size_t len)
{
	struct fuse_out_header h = {
		.len = (uint32_t)(sizeof(h) + len), .error = error, .unique = unique};
	struct iovec iov[] = {{&h, sizeof(h)}, {(void *)(uintptr_t)p, len}};

	(void)!writev(fs->fd, iov, len > 0 ? 2 : 1);
}

static struct fuse_attr attr_of(uint64_t node)
{
	return (struct fuse_attr){.ino = node,
				  .size = node == NODE_PAGE ? HELD_PAGE_B : 0,
				  .mode = node == NODE_PAGE ? S_IFREG | 0644 : S_IFDIR | 0755,
				  .nlink = 1,
				  .uid = getuid(),
				  .gid = getgid(),
				  .blksize = HELD_PAGE_B};
}

static void on_init(struct held_fs *fs, const struct fuse_in_header *in)
{
	const struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
					  .minor = FUSE_KERNEL_MINOR_VERSION,
					  .max_write = HELD_PAGE_B};

	answer(fs, in->unique, 0, &out, sizeof(out));
}

static void on_getattr(struct held_fs *fs, const struct fuse_in_header *in)
{
	const struct fuse_attr_out out = {.attr_valid = VALID_S, .attr = attr_of(in->nodeid)};

	answer(fs, in->unique, 0, &out, sizeof(out));
}

static void on_open(struct held_fs *fs, const struct fuse_in_header *in)
{
	const struct fuse_open_out out = {0};

	answer(fs, in->unique, 0, &out, sizeof(out));
}

static void give(struct held_fs *fs, const struct held_request *r)
{
	if (r->opcode == FUSE_READ)
		answer(fs, r->unique, 0, fs->page, sizeof(fs->page));
	else
		answer(fs, r->unique, -ENOENT, NULL, 0);
}

static void hold(struct held_fs *fs, const struct fuse_in_header *in)
{
	const struct held_request r = {in->unique, in->opcode};

	pthread_mutex_lock(&fs->lock);
	if (!fs->is_released && fs->n_held < HELD_MAX)
		fs->held[fs->n_held++] = r;
	else
		give(fs, &r);
	pthread_mutex_unlock(&fs->lock);
}

static void on_lookup(struct held_fs *fs, const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out out = {.entry_valid = VALID_S, .attr_valid = VALID_S};

	if (in->nodeid == NODE_HUNG) {
		hold(fs, in);
		return;
	}
	out.nodeid = strcmp(name, "page") == 0	 ? NODE_PAGE
		     : strcmp(name, "hung") == 0 ? NODE_HUNG
						 : 0;
	out.attr = attr_of(out.nodeid);
	answer(fs, in->unique, out.nodeid != 0 ? 0 : -ENOENT, &out,
	       out.nodeid != 0 ? sizeof(out) : 0);
}

static void serve_one(struct held_fs *fs, const struct fuse_in_header *in)
{
	switch (in->opcode) {
	case FUSE_INIT:
		on_init(fs, in);
		break;
	case FUSE_LOOKUP:
		on_lookup(fs, in, (const char *)(in + 1));
		break;
	case FUSE_GETATTR:
		on_getattr(fs, in);
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		on_open(fs, in);
		break;
	case FUSE_READ:
		hold(fs, in);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT: /* neither is answered */
		break;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		answer(fs, in->unique, 0, NULL, 0);
		break;
	default:
		answer(fs, in->unique, -ENOSYS, NULL, 0);
	}
}

static void *serve(void *arg)
{
	static union {
		struct fuse_in_header in;
		uint8_t space[FUSE_MIN_READ_BUFFER + HELD_PAGE_B];
	} request;
	struct held_fs *fs = arg;

	for (;;) {
		ssize_t n = read(fs->fd, &request, sizeof(request) - 1);

		if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT))
			continue;
		if (n < (ssize_t)sizeof(request.in))
			return NULL; /* unmounted */
		request.space[n] = '\0';
		serve_one(fs, &request.in);
	}
}

int held_fs_mount(struct held_fs *fs, const char *dir)
{
	char options[128];

	memset(fs, 0, sizeof(*fs));
	pthread_mutex_init(&fs->lock, NULL);
	fs->fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fs->fd < 0)
		return -errno;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u", fs->fd,
		 getuid(), getgid());
	if (mount("held", dir, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		return -errno;
	return -pthread_create(&fs->thread, NULL, serve, fs);
}

size_t held_fs_waiting(struct held_fs *fs)
{
	pthread_mutex_lock(&fs->lock);
	size_t n = fs->n_held;
	pthread_mutex_unlock(&fs->lock);
	return n;
}

void held_fs_release(struct held_fs *fs, const void *p, size_t len)
{
	pthread_mutex_lock(&fs->lock);
	memcpy(fs->page, p, len < sizeof(fs->page) ? len : sizeof(fs->page));
	fs->is_released = true;
	for (size_t i = 0; i < fs->n_held; i++)
		give(fs, &fs->held[i]);
	fs->n_held = 0;
	pthread_mutex_unlock(&fs->lock);
}
