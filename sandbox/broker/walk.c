/* SPDX-License-Identifier: MIT */
#include "sandbox/broker/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "sandbox/broker/who.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"

#define LINKS_MAX     40
#define PROC_ROOT_INO 1

/* Where in a /proc the walk stands, as far as it came there by names that only the kernel makes. */
enum proc_level { NOT_PROC, PROC_ROOT, PROC_OWN, PROC_OWN_TASK, PROC_OWN_FD, PROC_OTHER };

struct walk {
	const struct brk_sys *sys;
	const struct brk_place *at;
	int dir; /* owned */
	enum proc_level level;
	bool has_status;
	struct brk_status status;
	int n_links;
	char rest[2 * BRK_PATH_MAX]; /* still to go */
};

int brk_walk_quick(const struct brk_sys *sys, const struct brk_place *at, const char *path)
{
	if (path[0] == '/')
		return sys->open_at(at->root_fd, path, O_PATH,
				    RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_CACHED);
	/* IN_ROOT would hold `..` at the working folder. */
	return sys->open_at(at->cwd_fd, path, O_PATH, RESOLVE_NO_SYMLINKS | RESOLVE_CACHED);
}

static int dup_fd(int fd)
{
	int r = fcntl(fd, F_DUPFD_CLOEXEC, 5);

	return r < 0 ? -errno : r;
}

static int need_status(struct walk *w)
{
	if (w->has_status)
		return 0;
	int r = brk_status_read(w->sys, w->at->tid, &w->status);
	w->has_status = r == 0;
	return r == ZW_E_SYNTAX ? -EACCES : r;
}

/* Puts @text in front of what is still to go. */
static int rest_prepend(struct walk *w, const char *text)
{
	size_t len = strlen(text), rest_len = strlen(w->rest);

	if (len + 1 + rest_len >= sizeof(w->rest))
		return -ENAMETOOLONG;
	memmove(w->rest + len + 1, w->rest, rest_len + 1);
	memcpy(w->rest, text, len);
	w->rest[len] = '/';
	if (rest_len == 0)
		w->rest[len] = '\0';
	return 0;
}

static void enter(struct walk *w, int take_dir, enum proc_level level)
{
	zw_close(&w->dir);
	w->dir = take_dir;
	w->level = level;
}

/* The level of @name, a folder in one of level @from; @st and @type are its own. */
static enum proc_level level_below(struct walk *w, enum proc_level from, const char *name,
				   const struct stat *st, bool is_proc)
{
	uint64_t pid;

	if (!is_proc)
		return NOT_PROC;
	if (st->st_ino == PROC_ROOT_INO)
		return PROC_ROOT;
	if (need_status(w) < 0)
		return PROC_OTHER;
	bool is_number = zw_parse_u64(name, strlen(name), UINT32_MAX, &pid) == 0;
	if (from == PROC_ROOT)
		return is_number && (pid == w->status.ns_tgid || pid == w->status.ns_pid)
			       ? PROC_OWN
			       : PROC_OTHER;
	if (from == PROC_OWN && strcmp(name, "task") == 0)
		return PROC_OWN_TASK;
	if (from == PROC_OWN_TASK && is_number && pid == w->status.ns_pid)
		return PROC_OWN;
	if (from == PROC_OWN && strcmp(name, "fd") == 0)
		return PROC_OWN_FD;
	return PROC_OTHER;
}

static bool is_fs(int fd, long magic)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == magic;
}

static bool is_proc_fd(int fd)
{
	return is_fs(fd, PROC_SUPER_MAGIC);
}

/* The caller's own descriptor. Returns it, or -errno. */
static int own_fd(struct walk *w, const char *name)
{
	uint64_t n;

	if (zw_parse_u64(name, strlen(name), INT_MAX, &n) < 0)
		return -ENOENT;
	int fd = w->sys->pidfd_getfd(w->at->pidfd, (int)n);
	return fd == -EBADF ? -ENOENT : fd;
}

/*
 * Follows a link of /proc. Text links continue as text; links that jump are known by place and name.
 * Returns 0 to go on, 1 with *ret_fd = what the link stands for, or -errno.
 */
static int proc_link_follow(struct walk *w, int link_fd, const char *name, int *ret_fd)
{
	char text[BRK_PATH_MAX];
	int r = 0;

	if (w->level == PROC_ROOT) {
		r = need_status(w);
		if (r < 0)
			return r;
		if (strcmp(name, "self") == 0) {
			snprintf(text, sizeof(text), "%u", w->status.ns_tgid);
			return rest_prepend(w, text);
		}
		if (strcmp(name, "thread-self") == 0) {
			snprintf(text, sizeof(text), "%u/task/%u", w->status.ns_tgid,
				 w->status.ns_pid);
			return rest_prepend(w, text);
		}
		ssize_t n = readlinkat(link_fd, "", text, sizeof(text) - 1);
		if (n < 0)
			return -errno;
		text[n] = '\0';
		return rest_prepend(w, text);
	}
	if (w->level == PROC_OWN && strcmp(name, "root") == 0)
		r = dup_fd(w->at->root_fd);
	else if (w->level == PROC_OWN && strcmp(name, "cwd") == 0)
		r = w->at->cwd_fd >= 0 ? dup_fd(w->at->cwd_fd)
				       : w->sys->proc_open(w->at->tid, "cwd");
	else if (w->level == PROC_OWN_FD)
		r = own_fd(w, name);
	else
		r = -EACCES;
	if (r < 0)
		return r;
	*ret_fd = r;
	return 1;
}

static int link_follow(struct walk *w, int link_fd, const char *name, int *ret_fd)
{
	char text[BRK_PATH_MAX];

	if (++w->n_links > LINKS_MAX)
		return -ELOOP;
	if (is_proc_fd(link_fd))
		return proc_link_follow(w, link_fd, name, ret_fd);
	ssize_t n = readlinkat(link_fd, "", text, sizeof(text));
	if (n < 0)
		return -errno;
	if (n == 0 || (size_t)n >= sizeof(text))
		return n == 0 ? -ENOENT : -ENAMETOOLONG;
	text[n] = '\0';
	if (text[0] == '/') {
		int fd = dup_fd(w->at->root_fd);
		if (fd < 0)
			return fd;
		enter(w, fd, NOT_PROC);
	}
	return rest_prepend(w, text);
}

static int step_up(struct walk *w)
{
	struct stat here, root;

	if (fstat(w->dir, &here) < 0 || fstat(w->at->root_fd, &root) < 0)
		return -errno;
	if (here.st_dev == root.st_dev && here.st_ino == root.st_ino)
		return 0;
	int fd = w->sys->open_at(w->dir, "..", O_PATH | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	struct stat st;
	bool is_proc = is_proc_fd(fd) && fstat(fd, &st) == 0;
	enter(w, fd, is_proc ? (st.st_ino == PROC_ROOT_INO ? PROC_ROOT : PROC_OTHER) : NOT_PROC);
	return 0;
}

/* Takes the next name off the rest. Returns its length, 0 at the end. */
static int next_name(struct walk *w, char *name, bool *ret_is_last)
{
	char *p = w->rest + strspn(w->rest, "/");
	size_t len = strcspn(p, "/");

	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, p, len);
	name[len] = '\0';
	p += len;
	*ret_is_last = *p == '\0';
	memmove(w->rest, p, strlen(p) + 1);
	return (int)len;
}

int brk_walk_name(const struct brk_place *at, int fd, char *out)
{
	char path[BRK_PATH_MAX], root[BRK_PATH_MAX];

	if (brk_fd_where(fd, path, sizeof(path)) < 0 || path[0] != '/' ||
	    zw_ends_with(path, " (deleted)") || brk_fd_where(at->root_fd, root, sizeof(root)) < 0)
		return ZW_E_NOT_FOUND;
	size_t root_len = strcmp(root, "/") == 0 ? 0 : strlen(root);
	if (strncmp(path, root, root_len) != 0 || (path[root_len] != '/' && path[root_len] != '\0'))
		return ZW_E_NOT_FOUND;
	zw_strlcpy(out, path[root_len] == '\0' ? "/" : path + root_len, BRK_PATH_MAX);
	return 0;
}

/* Literal path of what is missing below w->dir. */
static void missing_path(const struct walk *w, const char *name, char *out)
{
	char dir[BRK_PATH_MAX];
	size_t at;

	out[0] = '\0';
	if (brk_walk_name(w->at, w->dir, dir) < 0)
		return;
	const char *below = strcmp(dir, "/") == 0 ? "" : dir;
	at = (size_t)snprintf(out, BRK_PATH_MAX, "%s/%s", below, name);
	for (const char *p = w->rest; at < BRK_PATH_MAX && *p != '\0';) {
		p += strspn(p, "/");
		size_t len = strcspn(p, "/");
		if (len == 2 && p[0] == '.' && p[1] == '.')
			at = BRK_PATH_MAX; /* below something that is not there */
		else if (len > 0 && !(len == 1 && p[0] == '.'))
			at += (size_t)snprintf(out + at, BRK_PATH_MAX - at, "/%.*s", (int)len, p);
		p += len;
	}
	if (at >= BRK_PATH_MAX)
		out[0] = '\0';
}

/*
 * A name below a folder, nothing followed. In an automounter's folder only what is mounted already is
 * there: to look for a name would make the host mount it, and wait.
 */
static int open_below(struct walk *w, const char *name)
{
	if (!is_fs(w->dir, AUTOFS_SUPER_MAGIC))
		return w->sys->open_at(w->dir, name, O_PATH | O_NOFOLLOW, 0);
	int fd = w->sys->open_at(w->dir, name, O_PATH | O_NOFOLLOW, RESOLVE_CACHED);
	return fd == -EAGAIN ? -ENOENT : fd;
}

/* One component. Returns 0 to go on, 1 with *ret_fd = the end of the path, or -errno. */
static int step_down(struct walk *w, const char *name, bool is_last, char *ret_missing, int *ret_fd)
{
	struct stat st;
	zw_autoclose int fd = open_below(w, name);

	if (fd == -ENOENT)
		missing_path(w, name, ret_missing);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode)) {
		int to = -1;
		int r = link_follow(w, fd, name, &to);
		if (r <= 0)
			return r;
		close(fd);
		fd = to;
		if (fstat(fd, &st) < 0)
			return -errno;
		if (S_ISDIR(st.st_mode)) {
			enter(w, zw_steal_fd(&fd), NOT_PROC);
			return 0;
		}
	}
	if (S_ISDIR(st.st_mode)) {
		bool is_proc = is_proc_fd(fd);
		enter(w, zw_steal_fd(&fd), level_below(w, w->level, name, &st, is_proc));
		return 0;
	}
	if (!is_last)
		return -ENOTDIR;
	*ret_fd = zw_steal_fd(&fd);
	return 1;
}

static int walk_run(struct walk *w, char *ret_missing)
{
	char name[NAME_MAX + 1];
	bool is_last;
	int found = -1;

	for (;;) {
		int len = next_name(w, name, &is_last);
		int r = 0;

		if (len < 0)
			return len;
		if (len == 0)
			return zw_steal_fd(&w->dir); /* a folder */
		if (strcmp(name, "..") == 0)
			r = step_up(w);
		else if (strcmp(name, ".") != 0)
			r = step_down(w, name, is_last, ret_missing, &found);
		if (r != 0)
			return r < 0 ? r : found;
	}
}

int brk_walk(const struct brk_sys *sys, const struct brk_place *at, const char *path,
	     char *ret_missing)
{
	zw_autofree struct walk *w = zw_xnew(struct walk);
	struct stat st;

	ret_missing[0] = '\0';
	w->sys = sys;
	w->at = at;
	w->dir = dup_fd(path[0] == '/' ? at->root_fd : at->cwd_fd);
	if (w->dir < 0)
		return w->dir;
	if (fstat(w->dir, &st) == 0 && is_proc_fd(w->dir))
		w->level = st.st_ino == PROC_ROOT_INO ? PROC_ROOT : PROC_OTHER;
	int r = zw_strlcpy(w->rest, path, sizeof(w->rest)) >= sizeof(w->rest) ? -ENAMETOOLONG : 0;
	if (r == 0)
		r = walk_run(w, ret_missing);
	zw_close(&w->dir);
	return r;
}
