/* SPDX-License-Identifier: MIT */
#include "sandbox/broker/lookup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "sandbox/broker/diag.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"

#define MOUNTS_MAX_B (1u << 20)
#define UNSEEN_MS    1000

void brk_found_init(struct brk_found *f)
{
	memset(f, 0, sizeof(*f));
	f->pin_fd = -1;
	f->listener.uid = BRK_UID_UNKNOWN;
}

void brk_found_fini(struct brk_found *f)
{
	zw_close(&f->pin_fd);
}

static int nowhere(struct brk_found *f, int error)
{
	f->where = BRK_NOWHERE;
	f->error = error;
	return 0;
}

static int find(struct brk_lookout *l, int fd, const struct brk_diag_want *want,
		struct brk_diag_sock *ret)
{
	pthread_mutex_lock(&l->lock);
	int r = brk_diag_find(l->sys, fd, want, ret);
	pthread_mutex_unlock(&l->lock);
	return r;
}

/*
 * The device number that unix_diag tells is the superblock's. btrfs and overlayfs show stat(2)
 * another one; mountinfo has the true one. Returns 0 when it is not to be had.
 */
static uint64_t superblock_dev(const struct brk_sys *sys, pid_t tid, int fd)
{
	zw_autofree char *text = zw_xmalloc(MOUNTS_MAX_B);
	struct statx stx;
	char key[32];
	unsigned maj, min;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) < 0 ||
	    !(stx.stx_mask & STATX_MNT_ID) ||
	    sys->proc_read(tid, "mountinfo", text, MOUNTS_MAX_B) < 0)
		return 0;
	int len = snprintf(key, sizeof(key), "%llu ", (unsigned long long)stx.stx_mnt_id);
	for (const char *p = text; p != NULL && *p != '\0'; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (strncmp(p, key, (size_t)len) == 0 &&
		    sscanf(p, "%*s %*s %u:%u", &maj, &min) == 2)
			return makedev(maj, min);
	}
	return 0;
}

/* Nobody can have it both ways: inode numbers are told in 32 bits only, so what both sides list is
 * taken for the host's. Returns 1 inside, 2 host, 0 neither. */
static int side_of(struct brk_lookout *l, struct brk_diag_want *want,
		   struct brk_diag_sock *ret_host)
{
	struct brk_diag_sock inside;
	int in = find(l, l->inside_fd, want, &inside);
	int host = in < 0 ? in : find(l, l->host_fd, want, ret_host);

	return host < 0 ? host : host == 1 ? 2 : in;
}

/* Whether anything is bound to the file, without a trace at the other side: a datagram socket may
 * not be connected to a stream one, and the kernel says so only when there is one. */
static int is_bound(int pin_fd)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	zw_autoclose int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	brk_fd_path(pin_fd, un.sun_path, sizeof(un.sun_path));
	if (connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0 || errno == EPROTOTYPE)
		return 1;
	return errno == ECONNREFUSED ? 0 : -errno;
}

/* Returns 1 when @pid has the socket open. */
static int has_socket(pid_t pid, uint32_t sk_ino)
{
	char path[64], want[32], link[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	snprintf(want, sizeof(want), "socket:[%u]", sk_ino);
	DIR *dir = opendir(path);
	if (dir == NULL)
		return 0;
	int is_there = 0;
	for (struct dirent *e; !is_there && (e = readdir(dir)) != NULL;) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, link, sizeof(link) - 1);
		if (n > 0) {
			link[n] = '\0';
			is_there = strcmp(link, want) == 0;
		}
	}
	closedir(dir);
	return is_there;
}

bool brk_listener_holds(const struct brk_sys *sys, const struct brk_listener *l)
{
	char exe[BRK_PATH_MAX];

	if (!has_socket((pid_t)l->pid, l->sk_ino))
		return false;
	return l->exe[0] == '\0' || (sys->proc_link((pid_t)l->pid, "exe", exe, sizeof(exe)) >= 0 &&
				     strcmp(exe, l->exe) == 0);
}

/* Only processes of the same user can be looked into. Of several that hold it (a service manager and
 * the service) one that is not pid 1 is taken. */
static uint32_t search_proc(uint32_t sk_ino)
{
	uint64_t pid, found = 0;

	/* zwatch's own, which the test at the start tries to reach: not worth a walk over all. */
	if (has_socket(getppid(), sk_ino))
		return (uint32_t)getppid();
	DIR *dir = opendir("/proc");
	if (dir == NULL)
		return 0;
	for (struct dirent *e; found <= 1 && (e = readdir(dir)) != NULL;) {
		if (zw_parse_u64(e->d_name, strlen(e->d_name), INT32_MAX, &pid) == 0 &&
		    has_socket((pid_t)pid, sk_ino))
			found = pid;
	}
	closedir(dir);
	return (uint32_t)found;
}

/* What was found before, if it still holds. */
static bool recall_holder(struct brk_lookout *l, uint32_t sk_ino, uint32_t *ret_pid)
{
	struct brk_holder h = {0};

	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < ZW_N_ELEMENTS(l->holders); i++)
		if (l->holders[i].sk_ino == sk_ino)
			h = l->holders[i];
	pthread_mutex_unlock(&l->lock);
	if (h.sk_ino == 0)
		return false;
	if (h.pid == 0 ? zw_mono_ms() - h.seen_ms > UNSEEN_MS : !has_socket((pid_t)h.pid, sk_ino))
		return false;
	*ret_pid = h.pid;
	return true;
}

static void note_holder(struct brk_lookout *l, uint32_t sk_ino, uint32_t pid)
{
	size_t at = ZW_N_ELEMENTS(l->holders);

	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < ZW_N_ELEMENTS(l->holders); i++)
		if (l->holders[i].sk_ino == sk_ino)
			at = i;
	if (at == ZW_N_ELEMENTS(l->holders))
		at = l->next_holder++ % ZW_N_ELEMENTS(l->holders);
	l->holders[at] = (struct brk_holder){.sk_ino = sk_ino, .pid = pid, .seen_ms = zw_mono_ms()};
	pthread_mutex_unlock(&l->lock);
}

void brk_listener_find(struct brk_lookout *l, struct brk_listener *ret)
{
	if (!recall_holder(l, ret->sk_ino, &ret->pid)) {
		ret->pid = search_proc(ret->sk_ino);
		note_holder(l, ret->sk_ino, ret->pid);
	}
	if (ret->pid == 0 ||
	    l->sys->proc_link((pid_t)ret->pid, "exe", ret->exe, sizeof(ret->exe)) < 0)
		ret->exe[0] = '\0';
}

static void take_listener(struct brk_lookout *l, const struct brk_diag_sock *s, struct brk_found *f)
{
	f->listener.sk_ino = s->sk_ino;
	f->listener.uid = s->has_uid ? s->uid : BRK_UID_UNKNOWN;
	brk_listener_find(l, &f->listener);
}

static int pin_stat(struct brk_found *f)
{
	struct stat st;

	if (fstat(f->pin_fd, &st) < 0)
		return -errno;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->owner_uid = st.st_uid;
	f->owner_gid = st.st_gid;
	f->mode = st.st_mode;
	return 0;
}

/* As unix_find_bsd(): write permission first, then whether it is a socket at all. */
static int kernel_would_refuse(const struct brk_found *f)
{
	if (faccessat(f->pin_fd, "", W_OK, AT_EACCESS | AT_EMPTY_PATH) < 0)
		return errno;
	return S_ISSOCK(f->mode) ? 0 : ECONNREFUSED;
}

/* As the user would, outside. The walk keeps automounters asleep; with no task of its own it follows
 * no link of /proc. */
static int host_open(struct brk_lookout *l, const char *path)
{
	const struct brk_place at = {.tid = 0, .pidfd = -1, .root_fd = l->root_fd, .cwd_fd = -1};
	char missing[BRK_PATH_MAX];

	return brk_walk(l->sys, &at, path, missing);
}

static bool is_same_file(int fd, const struct brk_found *f)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_dev == f->dev && st.st_ino == f->ino;
}

/* Name of a host socket that is seen inside: the one that its program bound it to, which renaming
 * does not change. Where that is not where it lies now, it counts as moved. */
static void name_visible(const struct brk_diag_sock *s, struct brk_lookout *l, struct brk_found *f)
{
	char bound[sizeof(s->name) + 1], real[BRK_PATH_MAX];

	memcpy(bound, s->name, s->name_len);
	bound[s->name_len] = '\0';
	f->is_moved = true;
	if (bound[0] != '/')
		return;
	zw_autoclose int fd = host_open(l, bound);
	if (fd >= 0 && is_same_file(fd, f) && brk_fd_where(fd, real, sizeof(real)) > 0)
		f->is_moved = strcmp(real, bound) != 0;
	/* Where it lies counts too: for how dangerous it is, and for what is denied. */
	zw_strlcpy(f->alias, f->path, sizeof(f->alias));
	zw_strlcpy(f->path, bound, sizeof(f->path));
}

/* Says who is behind f->pin_fd. @tid: a task of the mount namespace that it was opened in. */
static int judge_pin(struct brk_lookout *l, pid_t tid, bool is_visible, struct brk_found *f)
{
	struct brk_diag_sock s = {0};
	struct brk_diag_want want = {.ino = f->ino, .dev = f->dev};
	int side = side_of(l, &want, &s);

	if (side == 0) {
		want.dev = superblock_dev(l->sys, tid, f->pin_fd);
		if (want.dev != 0 && want.dev != f->dev)
			side = side_of(l, &want, &s);
	}
	if (side < 0)
		return side;
	f->is_visible = is_visible;
	if (side == 1 && is_visible) {
		f->where = BRK_INSIDE;
		return 0;
	}
	if (side != 2) {
		int r = is_bound(f->pin_fd);
		if (r <= 0)
			return r < 0 ? r : nowhere(f, ECONNREFUSED);
	} else if (!s.is_listening) {
		return nowhere(f, ECONNREFUSED);
	}
	f->where = BRK_HOST;
	if (side == 2)
		take_listener(l, &s, f);
	if (is_visible)
		name_visible(&s, l, f);
	return 0;
}

static int look_on_host(struct brk_lookout *l, const char *path, struct brk_found *f)
{
	f->pin_fd = host_open(l, path);
	if (f->pin_fd < 0)
		return nowhere(f, f->pin_fd == -EACCES ? EACCES : ENOENT);
	int r = pin_stat(f);
	if (r < 0)
		return r;
	/* A file that is not a socket: inside it is not there. */
	if (!S_ISSOCK(f->mode))
		return nowhere(f, ENOENT);
	zw_strlcpy(f->alias, path, sizeof(f->alias));
	if (brk_fd_where(f->pin_fd, f->path, sizeof(f->path)) < 0)
		zw_strlcpy(f->path, path, sizeof(f->path));
	r = kernel_would_refuse(f);
	return r != 0 ? nowhere(f, r) : judge_pin(l, getpid(), false, f);
}

/*
 * A socket file inside that nobody listens on stands for the host's at the same path, if there is
 * one: zwatch-init makes such stand-ins, and it makes no difference to nothing at all being there.
 */
static int look_behind(struct brk_lookout *l, const struct brk_place *at, struct brk_found *f)
{
	zw_autofree struct brk_found *host = zw_xmalloc(sizeof(*host));
	char name[BRK_PATH_MAX];

	if (brk_walk_name(at, f->pin_fd, name) < 0)
		return 0;
	brk_found_init(host);
	int r = look_on_host(l, name, host);
	if (r < 0 || (host->where == BRK_NOWHERE && host->error == ENOENT)) {
		brk_found_fini(host);
		return r;
	}
	brk_found_fini(f);
	*f = *host;
	return 0;
}

static int look_up_path(struct brk_lookout *l, const struct brk_place *at, const char *path,
			struct brk_found *f)
{
	char missing[BRK_PATH_MAX];
	int fd = brk_walk(l->sys, at, path, missing);

	zw_strlcpy(f->path, path, sizeof(f->path));
	if (fd == -ENOENT && missing[0] != '\0') {
		zw_strlcpy(f->path, missing, sizeof(f->path));
		return look_on_host(l, missing, f);
	}
	if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP || fd == -ENAMETOOLONG || fd == -EACCES)
		return nowhere(f, -fd);
	if (fd < 0)
		return fd;
	f->pin_fd = fd;
	int r = pin_stat(f);
	if (r < 0)
		return r;
	if (brk_fd_where(fd, f->path, sizeof(f->path)) < 0)
		zw_strlcpy(f->path, path, sizeof(f->path));
	r = kernel_would_refuse(f);
	if (r != 0 && !S_ISSOCK(f->mode))
		return nowhere(f, r);
	r = r != 0 ? nowhere(f, r) : judge_pin(l, at->tid, true, f);
	return r == 0 && f->where == BRK_NOWHERE ? look_behind(l, at, f) : r;
}

static int look_up_abstract(struct brk_lookout *l, const struct brk_addr *a, struct brk_found *f)
{
	struct brk_diag_want want = {.is_abstract = true, .name = a->name, .name_len = a->name_len};
	struct brk_diag_sock s;

	brk_addr_format(a, f->path, sizeof(f->path));
	int r = find(l, l->inside_fd, &want, &s);
	if (r < 0)
		return r;
	if (r == 1) {
		f->where = BRK_INSIDE;
		return 0;
	}
	r = find(l, l->host_fd, &want, &s);
	if (r < 0)
		return r;
	if (r == 0 || !s.is_listening)
		return nowhere(f, ECONNREFUSED);
	f->where = BRK_HOST;
	take_listener(l, &s, f);
	return 0;
}

int brk_look_up(struct brk_lookout *l, const struct brk_place *at, const struct brk_addr *addr,
		struct brk_found *ret)
{
	if (addr->kind == BRK_ADDR_ABSTRACT)
		return look_up_abstract(l, addr, ret);
	return look_up_path(l, at, addr->name, ret);
}

static int file_is_as_before(struct brk_lookout *l, const struct brk_found *f)
{
	struct stat st;

	if (fstat(f->pin_fd, &st) < 0)
		return -errno;
	if (st.st_uid != f->owner_uid || st.st_gid != f->owner_gid || st.st_mode != f->mode ||
	    st.st_nlink == 0)
		return ZW_E_DENIED;
	if (f->is_visible)
		return 0;
	zw_autoclose int fd = host_open(l, f->path);
	return fd >= 0 && is_same_file(fd, f) ? 0 : ZW_E_DENIED;
}

int brk_look_again(struct brk_lookout *l, const struct brk_addr *addr, const struct brk_found *f)
{
	struct brk_diag_want want = {.ino = f->ino, .dev = f->dev};
	struct brk_diag_sock s;

	if (f->pin_fd < 0) {
		want = (struct brk_diag_want){
			.is_abstract = true, .name = addr->name, .name_len = addr->name_len};
	} else {
		int r = file_is_as_before(l, f);
		if (r != 0)
			return r;
	}
	if (f->listener.sk_ino == 0) {
		int r = is_bound(f->pin_fd);
		return r == 1 ? 0 : r < 0 ? r : ZW_E_DENIED;
	}
	int r = find(l, l->host_fd, &want, &s);
	if (r == 0 && f->pin_fd >= 0) {
		want.dev = superblock_dev(l->sys, getpid(), f->pin_fd);
		r = want.dev != 0 ? find(l, l->host_fd, &want, &s) : 0;
	}
	if (r < 0)
		return r;
	bool is_same = r == 1 && s.is_listening && s.sk_ino == f->listener.sk_ino &&
		       (s.has_uid ? s.uid : BRK_UID_UNKNOWN) == f->listener.uid;
	return is_same ? 0 : ZW_E_DENIED;
}
