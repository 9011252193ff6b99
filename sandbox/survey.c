/* SPDX-License-Identifier: MIT
 * The layout of a plan on this machine. */
#include "sandbox/survey.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sandbox/bars.h"
#include "sandbox/links.h"
#include "src/base/mem.h"
#include "src/base/str.h"

/** Folders that the sandbox has its own of, and the root: no place may be there. */
static bool is_reserved(const char *path)
{
	static const char *const reserved[] = {"/proc", "/dev", "/sys"};

	if (strcmp(path, "/") == 0)
		return true;
	for (size_t i = 0; i < ZW_N_ELEMENTS(reserved); i++) {
		size_t len = strlen(reserved[i]);

		if (strncmp(path, reserved[i], len) == 0 && (path[len] == '/' || path[len] == 0))
			return true;
	}
	return false;
}

static void on_link(const char *link, void *arg)
{
	sb_layout_add(arg, link, SB_PLACE_LINK, false);
}

/* Symlinks are followed here, once: bwrap must not meet one in a mount point, since an absolute one
 * would lead it out of the tree that it is building. Those that lead to what must not change must
 * not change either. */
static int add_real(struct sb_layout *l, const char *path, enum sb_place_kind kind,
		    struct sb_failure *f)
{
	bool is_kept =
		kind == SB_PLACE_HIDDEN || kind == SB_PLACE_READ_ONLY || kind == SB_PLACE_GUARDED;
	/* Most of the paths that could be hidden do not exist; this asks once, not per component. */
	bool is_there = access(path, F_OK) == 0;
	size_t at = SIZE_MAX;
	bool is_dir = false;

	/* Links that go round may lead somewhere a moment later, and the rule would be lost. */
	if (!is_there && errno == ELOOP && is_kept && kind != SB_PLACE_GUARDED)
		return sb_fail(f, SB_STAGE_PLAN, ELOOP, "%s", path);
	if (!is_there && errno != ELOOP)
		return 0;
	zw_autofree char *real = sb_links_follow(path, is_kept ? on_link : NULL, l, &at, &is_dir);
	if (!real || at != SIZE_MAX)
		return 0;
	if (is_reserved(real))
		return sb_fail(f, SB_STAGE_PLAN, EINVAL, "%s", path);
	if (kind == SB_PLACE_FRESH && !is_dir)
		return sb_fail(f, SB_STAGE_PLAN, ENOTDIR, "%s", path);
	sb_layout_add(l, real, kind, is_dir);
	return 0;
}

static int add_list(struct sb_layout *l, const char *const *paths, enum sb_place_kind kind,
		    struct sb_failure *f)
{
	for (; paths && *paths; paths++) {
		int r = add_real(l, *paths, kind, f);

		if (r < 0)
			return r;
	}
	return 0;
}

/** Where a dangling /etc/resolv.conf points to, when that is in /run, which is ours inside.
 * systemd-resolved and NetworkManager keep the file there and make it when they start. */
static char *resolv_in_run(void)
{
	static const char *const starts[] = {"/run/", "/var/run/", "../run/", "../var/run/"};
	char target[PATH_MAX];
	ssize_t len = readlink("/etc/resolv.conf", target, sizeof(target) - 1);

	if (len <= 0)
		return NULL;
	target[len] = '\0';
	for (size_t i = 0; i < ZW_N_ELEMENTS(starts); i++) {
		const char *rest = target + strlen(starts[i]);

		if (zw_starts_with(target, starts[i]) && !strstr(rest, ".."))
			return zw_xasprintf("/run/%s", rest);
	}
	return NULL;
}

static void survey_files(const struct sb_plan *p, struct sb_layout *l)
{
	l->runtime_dir = zw_xasprintf("/run/user/%u", (unsigned)p->uid);
	/* Without the file libc asks 127.0.0.1, which is what it would say. */
	l->resolv_conf = realpath("/etc/resolv.conf", NULL);
	if (!l->resolv_conf)
		l->resolv_conf = resolv_in_run();
	l->nsswitch = realpath("/etc/nsswitch.conf", NULL);
}

static int survey_places(const struct sb_plan *p, struct sb_layout *l, struct sb_failure *f)
{
	static const char *const own[] = {"/tmp", "/var/tmp", "/run", "/var/run", NULL};
	int r = add_list(l, own, SB_PLACE_FRESH, f);

	if (r == 0)
		r = add_list(l, p->writable, SB_PLACE_WRITABLE, f);
	if (r == 0)
		r = add_list(l, p->read_only, SB_PLACE_READ_ONLY, f);
	if (r == 0)
		r = add_list(l, p->shown, SB_PLACE_SHOWN, f);
	if (r == 0)
		r = add_list(l, p->guarded, SB_PLACE_GUARDED, f);
	if (r == 0)
		r = add_list(l, p->fresh, SB_PLACE_FRESH, f);
	if (r == 0)
		r = add_list(l, p->hidden, SB_PLACE_HIDDEN, f);
	if (r < 0)
		return r;
	sb_layout_add(l, l->runtime_dir, SB_PLACE_FRESH, true);
	sb_layout_add(l, l->project, SB_PLACE_WRITABLE, true);
	return 0;
}

/* -- what is not there, and must not come ------------------------------------------------------- */

static bool is_left(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && sb_bar_is_left(&st);
}

static char *parent_of(const char *path)
{
	return zw_xasprintf("%.*s", (int)(strrchr(path, '/') - path), path);
}

/** The folders before @path that were made for it, now (from @at on) or by a session before. */
static void survey_ways(struct sb_layout *l, const char *path, size_t at)
{
	zw_autofree char *parent = parent_of(path);

	if (strlen(parent) <= 1 || (strlen(parent) <= at && !is_left(parent)))
		return;
	survey_ways(l, parent, at);
	sb_layout_way(l, parent);
}

/** Folders on the way to it are made as well, so that others may be made beside it. A link that leads
 * to nothing is held, and what it leads to is barred. */
static void survey_bar(struct sb_layout *l, const struct sb_bar *b)
{
	size_t at = 0;
	bool is_dir;
	zw_autofree char *path = sb_links_follow(b->path, on_link, l, &at, &is_dir);

	if (!path || (at == SIZE_MAX && !is_left(path)))
		return;
	zw_autofree char *folder =
		at == SIZE_MAX ? parent_of(path) : zw_xasprintf("%.*s", (int)at, path);
	if (!sb_layout_is_writable(l, folder) || access(folder, W_OK | X_OK) < 0)
		return;
	survey_ways(l, path, at == SIZE_MAX ? strlen(folder) : at);
	/* Another session's is shared as it is. */
	struct sb_bar like = *b;
	struct stat st;
	if (!like.content && lstat(path, &st) == 0)
		like.reads_empty = S_ISFIFO(st.st_mode);
	like.is_private &= !like.reads_empty;
	sb_layout_bar(l, path, &like);
}

static void survey_bars(const struct sb_plan *p, struct sb_layout *l)
{
	size_t n = l->n_places;

	for (const struct sb_bar *b = p->bars; b && b->path; b++)
		survey_bar(l, b);
	if (l->n_places > n)
		sb_layout_order(l);
}

/** Not so where the project is /tmp itself, or hidden by a setting. */
static bool project_is_writable(const struct sb_layout *l)
{
	for (size_t i = 0; i < l->n_places; i++) {
		if (strcmp(l->places[i].path, l->project) == 0)
			return l->places[i].kind == SB_PLACE_WRITABLE;
	}
	return false;
}

/* What is in the root folder. Devices and sockets there are nobody's. */
static int survey_tops(struct sb_layout *l)
{
	struct dirent **list;
	int n = scandir("/", &list, NULL, alphasort);
	struct stat st;

	if (n < 0)
		return -errno;
	l->tops = zw_xcalloc((size_t)n + 1, sizeof(*l->tops));
	for (int i = 0; i < n; i++) {
		char path[NAME_MAX + 2], target[PATH_MAX];

		snprintf(path, sizeof(path), "/%s", list[i]->d_name);
		free(list[i]);
		if (path[1] == '.' && (path[2] == '\0' || (path[2] == '.' && path[3] == '\0')))
			continue;
		if (strcmp(path, "/proc") == 0 || strcmp(path, "/dev") == 0 || lstat(path, &st) < 0)
			continue;
		ssize_t len = S_ISLNK(st.st_mode) ? readlink(path, target, sizeof(target) - 1) : 0;
		if (len < 0 || !(S_ISLNK(st.st_mode) || S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)))
			continue;
		target[len] = '\0';
		l->tops[l->n_tops++] =
			(struct sb_top){.name = zw_xstrdup(path + 1),
					.target = len > 0 ? zw_xstrdup(target) : NULL};
	}
	free(list);
	return 0;
}

int sb_survey(const struct sb_plan *p, struct sb_layout *ret, struct sb_failure *ret_failure)
{
	struct sb_layout l = {0};
	int r;

	l.cwd = realpath(p->cwd, NULL);
	if (!l.cwd) {
		r = sb_fail(ret_failure, SB_STAGE_PLAN, errno, "%s", p->cwd);
		goto fail;
	}
	l.project = realpath(p->project, NULL);
	if (!l.project) {
		r = sb_fail(ret_failure, SB_STAGE_PLAN, errno, "%s", p->project);
		goto fail;
	}
	if (is_reserved(l.project)) {
		r = sb_fail(ret_failure, SB_STAGE_PLAN, EINVAL, "%s", p->project);
		goto fail;
	}
	survey_files(p, &l);
	r = survey_tops(&l);
	if (r < 0) {
		r = sb_fail(ret_failure, SB_STAGE_PLAN, -r, "%s", "/");
		goto fail;
	}
	r = survey_places(p, &l, ret_failure);
	if (r < 0)
		goto fail;
	sb_layout_order(&l);
	survey_bars(p, &l);
	if (!project_is_writable(&l)) {
		r = sb_fail(ret_failure, SB_STAGE_PLAN, EINVAL, "%s", p->project);
		goto fail;
	}
	*ret = l;
	return 0;
fail:
	sb_layout_fini(&l);
	return r;
}
