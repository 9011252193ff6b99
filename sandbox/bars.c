/* SPDX-License-Identifier: MIT */
#include "sandbox/bars.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"

#define MARK_S	    86400 /* time of last change: nothing honest is that old, in 1970 */
#define TRIES	    3
#define RETRY_US    10000
#define OWN_FDS_MAX 1024
#define SANDBOX_MS  10000 /* for the end of a sandbox whose zwatch is gone */

struct sb_bar_held {
	int folder_fd; /* in which it stands; O_PATH */
	int fd;	       /* itself, with a shared lock that says it is in use */
	char *name;
	bool is_dir, is_way, is_fifo;
	off_t size;
};

bool sb_bar_is_left(const struct stat *st)
{
	return (S_ISDIR(st->st_mode) || S_ISREG(st->st_mode) || S_ISFIFO(st->st_mode)) &&
	       st->st_mtim.tv_sec == MARK_S && st->st_uid == geteuid();
}

static void held_fini(struct sb_bar_held *h)
{
	zw_close(&h->folder_fd);
	zw_close(&h->fd);
	free(h->name);
}

/** Still the one that we hold, under its name. */
static bool is_in_place(const struct sb_bar_held *h)
{
	struct stat mine, there;

	return fstat(h->fd, &mine) == 0 &&
	       fstatat(h->folder_fd, h->name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

static int create(const struct sb_bar_held *h, const char *content)
{
	if (h->is_dir)
		return mkdirat(h->folder_fd, h->name, 0755) < 0 ? -errno : 0;
	if (h->is_fifo)
		return mkfifoat(h->folder_fd, h->name, 0) < 0 ? -errno : 0;
	zw_autoclose int fd =
		openat(h->folder_fd, h->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	return fd < 0 ? -errno : zw_write_all(fd, content, strlen(content));
}

/* Nobody else may: a reader would wait for ever. Two who do this at once try again. */
static int open_fifo(struct sb_bar_held *h)
{
	zw_autoclose int there = openat(h->folder_fd, h->name, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	char path[40];
	struct stat st;

	if (there < 0 || fstat(there, &st) < 0)
		return -errno;
	if (!S_ISFIFO(st.st_mode))
		return -EEXIST;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", there);
	if (chmod(path, 0400) < 0)
		return -errno;
	h->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int error = errno;
	chmod(path, 0);
	return h->fd < 0 ? -error : 0;
}

static int open_held(struct sb_bar_held *h)
{
	if (h->is_fifo)
		return open_fifo(h);
	h->fd = openat(h->folder_fd, h->name,
		       O_RDONLY | O_CLOEXEC | O_NOFOLLOW | (h->is_dir ? O_DIRECTORY : 0));
	return h->fd < 0 ? -errno : 0;
}

static void mark(const struct sb_bar_held *h)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = MARK_S}};

	futimens(h->fd, times);
}

/** Made by us or found; in both cases locked against removal by another session. */
static int hold(struct sb_bar_held *h, const char *content)
{
	for (int i = 0; i < TRIES; i++) {
		int made = create(h, content);
		struct stat st;

		if (made < 0 && made != -EEXIST)
			return made;
		if (open_held(h) < 0)
			continue;
		if (made == 0)
			mark(h);
		/* The other one may be about to remove it. */
		if (flock(h->fd, LOCK_SH | LOCK_NB) == 0 && is_in_place(h) &&
		    fstat(h->fd, &st) == 0) {
			h->size = st.st_size;
			return 0;
		}
		zw_close(&h->fd);
		usleep(RETRY_US);
	}
	return -EEXIST;
}

static int hold_path(const struct sb_bar *bar, struct sb_bar_held *ret)
{
	const char *slash = strrchr(bar->path, '/');
	zw_autofree char *folder = zw_xasprintf("%.*s", (int)(slash - bar->path), bar->path);

	*ret = (struct sb_bar_held){.fd = -1,
				    .is_dir = bar->content == NULL && !bar->reads_empty,
				    .is_way = bar->is_way,
				    .is_fifo = bar->reads_empty};
	ret->folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ret->name = zw_xstrdup(slash + 1);
	int r = ret->folder_fd < 0 ? -errno : hold(ret, bar->content);
	if (r < 0)
		held_fini(ret);
	return r;
}

int sb_bars_make(const struct sb_layout *l, struct sb_bars *ret)
{
	*ret = (struct sb_bars){.held = zw_xcalloc(l->n_bars + 1, sizeof(*ret->held))};
	for (; ret->n < l->n_bars; ret->n++) {
		int r = hold_path(&l->bars[ret->n], &ret->held[ret->n]);

		if (r < 0) {
			sb_bars_remove(ret);
			sb_bars_fini(ret);
			return r;
		}
	}
	/* What was made in them has changed their time. */
	for (size_t i = 0; i < ret->n; i++) {
		if (ret->held[i].is_way)
			mark(&ret->held[i]);
	}
	return 0;
}

/* Nothing that somebody has put there meanwhile may be lost: rmdir() takes empty folders only, and a
 * file of another size or time is no longer ours. */
static void remove_held(const struct sb_bar_held *h)
{
	struct stat st;

	for (int i = 0; flock(h->fd, LOCK_EX | LOCK_NB) < 0; i++) {
		if (i == TRIES)
			return;
		usleep(RETRY_US);
	}
	if (!is_in_place(h) || fstat(h->fd, &st) < 0)
		return;
	if (h->is_dir)
		unlinkat(h->folder_fd, h->name, AT_REMOVEDIR);
	else if (st.st_size == h->size && sb_bar_is_left(&st))
		unlinkat(h->folder_fd, h->name, 0);
}

void sb_bars_remove(struct sb_bars *b)
{
	for (size_t i = b->n; i-- > 0;) {
		remove_held(&b->held[i]);
		held_fini(&b->held[i]);
	}
	b->n = 0;
}

void sb_bars_fini(struct sb_bars *b)
{
	for (size_t i = 0; i < b->n; i++)
		held_fini(&b->held[i]);
	free(b->held);
	*b = (struct sb_bars){0};
}

/* -- the process that stays -------------------------------------------------------------------- */

/** All but its own: others would keep a terminal or a pipe open. */
static void close_others(const struct sb_bars *b, int end_fd, int init_pidfd)
{
	for (int fd = 0; fd < OWN_FDS_MAX; fd++) {
		bool is_ours = fd == end_fd || fd == init_pidfd;

		for (size_t i = 0; i < b->n && !is_ours; i++)
			is_ours = fd == b->held[i].fd || fd == b->held[i].folder_fd;
		if (!is_ours)
			close(fd);
	}
	close_range(OWN_FDS_MAX, ~0u, 0);
}

static void stay(struct sb_bars *b, int end_fd, int init_pidfd)
{
	struct pollfd end = {end_fd, POLLIN, 0}, sandbox = {init_pidfd, POLLIN, 0};
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "zwatch-bars");
	close_others(b, end_fd, init_pidfd);
	while (poll(&end, 1, -1) < 0 && errno == EINTR)
		;
	poll(&sandbox, 1, SANDBOX_MS);
	sb_bars_remove(b);
	_exit(0);
}

int sb_bars_leave(struct sb_bars *b, int init_pidfd, pid_t *ret_pid, int *ret_fd)
{
	int ends[2];

	*ret_pid = 0;
	*ret_fd = -1;
	if (b->n == 0)
		return 0;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid_t pid = fork();
	int error = errno;
	if (pid == 0) {
		close(ends[1]);
		stay(b, ends[0], init_pidfd);
	}
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return -error;
	}
	*ret_pid = pid;
	*ret_fd = ends[1];
	sb_bars_fini(b);
	return 0;
}
