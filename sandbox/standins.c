/* SPDX-License-Identifier: MIT */
#include "sandbox/standins.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/mem.h"

static bool add(struct zw_buf *ret, char kind, mode_t mode, const char *path)
{
	return zw_buf_addf(ret, "%c%04o%s%c", kind, (unsigned)mode & 07777u, path, 0) == 0;
}

/* The folders of @path, which lies below the private folder of @root_len bytes. */
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

static void add_socket(const struct sb_layout *l, const char *path, struct zw_buf *ret)
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
	    lstat(real, &st) < 0 || !S_ISSOCK(st.st_mode))
		return;
	size_t root_len = sb_layout_fresh_around(l, real);
	/* Who may not use the real one is not told otherwise. */
	if (root_len > 0 && add_folders(ret, real, root_len))
		(void)add(ret, 's', access(real, W_OK) == 0 ? 0600 : 0, real);
}

void sb_standins_write(const struct sb_layout *l, const char *paths, size_t len, struct zw_buf *ret)
{
	for (size_t i = 0; i < len; i += strnlen(paths + i, len - i) + 1)
		add_socket(l, paths + i, ret);
}
