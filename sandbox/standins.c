/* SPDX-License-Identifier: MIT */
#include "sandbox/standins.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/mntns.h"
#include "src/base/mem.h"
#include "src/base/str.h"

static bool add(struct zw_buf *ret, char kind, mode_t mode, const char *path)
{
	return zw_buf_addf(ret, "%c%04o%s%c", kind, (unsigned)mode & 07777u, path, 0) == 0;
}

/* The folders of @path, which lies below the folder of @root_len bytes. */
static bool add_folders(struct zw_buf *ret, char *path, size_t root_len)
{
	struct stat st;
	bool is_good = true;

	for (char *p = strchr(path + root_len + 1, '/'); is_good && p; p = strchr(p + 1, '/')) {
		*p = '\0';
		is_good = stat(path, &st) == 0 && add(ret, 'd', st.st_mode, path);
		*p = '/';
	}
	return is_good;
}

static void add_entries(struct zw_buf *ret, char *path, size_t root_len)
{
	/* Who may not use the real one is not told otherwise. */
	if (add_folders(ret, path, root_len))
		(void)add(ret, 's', access(path, W_OK) == 0 ? 0600 : 0, path);
}

static void add_hidden(struct sb_standins *ret, const struct sb_place *root, char *path)
{
	size_t room = ret->hidden.len + strlen(root->path) * 2 + strlen(path) + 64;

	/* Never opened without being closed again. */
	if (!root->is_dir || room > SB_STANDINS_MAX / 2 || !add(&ret->hidden, 'w', 0, root->path))
		return;
	add_entries(&ret->hidden, path, strlen(root->path));
	(void)add(&ret->hidden, 'r', 0, root->path);
}

/* What its folder leads to is looked at, and what the last part does is not: programs name that one. */
static void add_socket(const struct sb_layout *l, const char *path, struct sb_standins *ret)
{
	char folder[PATH_MAX], real[PATH_MAX];
	const char *name = strrchr(path, '/');
	struct stat st;

	if (!name || name == path || name - path >= PATH_MAX)
		return;
	memcpy(folder, path, (size_t)(name - path));
	folder[name - path] = '\0';
	zw_autofree char *real_folder = realpath(folder, NULL);
	if (!real_folder || snprintf(real, sizeof(real), "%s%s", real_folder, name) >= PATH_MAX ||
	    stat(real, &st) < 0 || !S_ISSOCK(st.st_mode))
		return;
	const struct sb_place *around = sb_layout_around(l, real);
	if (strcmp(real_folder, "/dev") == 0)
		add_entries(&ret->fresh, real, strlen("/dev"));
	else if (around && around->kind == SB_PLACE_FRESH)
		add_entries(&ret->fresh, real, strlen(around->path));
	else if (around && around->kind == SB_PLACE_HIDDEN)
		add_hidden(ret, around, real);
}

void sb_standins_write(const struct sb_layout *l, const char *paths, size_t len,
		       struct sb_standins *ret)
{
	for (size_t i = 0; i < len; i += strnlen(paths + i, len - i) + 1)
		add_socket(l, paths + i, ret);
}

/* -- inside ------------------------------------------------------------------------------------ */

static int hide_all(void *arg)
{
	const struct sb_standins *s = arg;
	const char *text = (const char *)zw_buf_head(&s->hidden);
	mode_t mask = umask(0);

	for (size_t i = 0; i < s->hidden.len; i += strlen(text + i) + 1) {
		unsigned long flags = MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV;

		if (text[i] == 'r')
			flags |= MS_RDONLY;
		if (text[i] != 'r' && text[i] != 'w')
			sb_standin_make(text + i);
		else if (mount(NULL, strchr(text + i, '/'), NULL, flags, NULL) < 0)
			return -errno;
	}
	umask(mask);
	return 0;
}

int sb_standins_hide(pid_t pid, const struct sb_standins *s)
{
	return s->hidden.len > 0 ? sb_mntns_run(pid, hide_all, (void *)(uintptr_t)s) : 0;
}
