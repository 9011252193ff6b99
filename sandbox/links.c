/* SPDX-License-Identifier: MIT */
#include "sandbox/links.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/mntns.h"
#include "src/base/mem.h"
#include "src/base/str.h"

/* -- following --------------------------------------------------------------------------------- */

/** A way that is being followed. */
struct way {
	char done[PATH_MAX]; /* canonical; "" = the root */
	size_t len;
	char *todo; /* owned; what is left */
	size_t at;  /* SIZE_MAX = nothing was missing */
	unsigned n_links;
	bool is_dir;
};

static int push(struct way *w, const char *name, size_t len)
{
	if (w->len + 1 + len >= sizeof(w->done))
		return -ENAMETOOLONG;
	w->done[w->len] = '/';
	memcpy(w->done + w->len + 1, name, len);
	w->len += 1 + len;
	w->done[w->len] = '\0';
	return 0;
}

static void pop(struct way *w)
{
	while (w->len > 0 && w->done[--w->len] != '/')
		;
	w->done[w->len] = '\0';
}

/* w->done is a link: what is left begins with its target. */
static int turn(struct way *w, const char *rest)
{
	char target[PATH_MAX];
	ssize_t n = readlink(w->done, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	if (++w->n_links > SB_LINKS_MAX)
		return -ELOOP;
	target[n] = '\0';
	char *todo = zw_xasprintf("%s/%s", target, rest);
	free(w->todo);
	w->todo = todo;
	pop(w);
	if (target[0] == '/')
		w->done[w->len = 0] = '\0';
	return 0;
}

/** One part. Returns 1 when it was a link, 0, or -errno. */
static int step(struct way *w, const char *name, size_t len)
{
	struct stat st;

	if (len == 1 && name[0] == '.')
		return 0;
	if (len == 2 && memcmp(name, "..", 2) == 0) {
		if (w->at != SIZE_MAX)
			return -ENOENT;
		pop(w);
		return 0;
	}
	size_t before = w->len;
	int r = push(w, name, len);
	if (r < 0 || w->at != SIZE_MAX)
		return r;
	if (lstat(w->done, &st) < 0) {
		if (errno != ENOENT)
			return -errno;
		w->at = before;
		return 0;
	}
	w->is_dir = S_ISDIR(st.st_mode);
	return S_ISLNK(st.st_mode);
}

static int follow(struct way *w, void (*on_link)(const char *link, void *arg), void *arg)
{
	for (size_t i = 0; w->todo[i] != '\0';) {
		size_t len = strcspn(w->todo + i, "/");
		int r = len > 0 ? step(w, w->todo + i, len) : 0;

		if (r < 0)
			return r;
		i += len + (w->todo[i + len] == '/');
		if (r == 0)
			continue;
		if (on_link != NULL)
			on_link(w->done, arg);
		r = turn(w, w->todo + i);
		if (r < 0)
			return r;
		i = 0;
	}
	return 0;
}

char *sb_links_follow(const char *path, void (*on_link)(const char *link, void *arg), void *arg,
		      size_t *ret_at, bool *ret_is_dir)
{
	struct way w = {.todo = zw_xstrdup(path), .at = SIZE_MAX, .is_dir = true};
	int r = follow(&w, on_link, arg);

	free(w.todo);
	if (r < 0) {
		errno = -r;
		return NULL;
	}
	*ret_at = w.at;
	*ret_is_dir = w.is_dir;
	return zw_xstrdup(w.len > 0 ? w.done : "/");
}

/* -- holding ----------------------------------------------------------------------------------- */

struct work {
	const struct sb_layout *layout; /* borrowed */
	const char *path;		/* the last one; NULL = before the first */
};

static int hold(const char *path)
{
	zw_autoclose int fd =
		(int)syscall(SYS_open_tree, AT_FDCWD, path,
			     OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	/* Changed since it was looked at. */
	if (!S_ISLNK(st.st_mode))
		return -ESTALE;
	return syscall(SYS_move_mount, fd, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0 ? -errno
											    : 0;
}

static int hold_all(void *arg)
{
	struct work *w = arg;

	for (size_t i = 0; i < w->layout->n_places; i++) {
		const struct sb_place *p = &w->layout->places[i];
		int r = 0;

		if (p->kind == SB_PLACE_LINK)
			r = hold(w->path = p->path);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool has_links(const struct sb_layout *l)
{
	for (size_t i = 0; i < l->n_places; i++)
		if (l->places[i].kind == SB_PLACE_LINK)
			return true;
	return false;
}

int sb_links_hold(pid_t pid, const struct sb_layout *l, struct sb_failure *ret_failure)
{
	struct work w = {.layout = l};
	int r = has_links(l) ? sb_mntns_run(pid, hold_all, &w) : 0;

	return r == 0 ? 0
		      : sb_fail(ret_failure, SB_STAGE_LINK, -r, "%s", w.path != NULL ? w.path : "");
}
