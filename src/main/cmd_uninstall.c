/* SPDX-License-Identifier: MIT
 * `zwatch uninstall`: what zwatch has put into the user's folders, listed with sizes; removed with
 * --yes. The history stays unless --purge is said. The program itself belongs to whoever installed it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "src/audit/query.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/main/cmd.h"

struct sums {
	int64_t size_b;
	int n_files, n_failed;
	bool is_removing;
};

/* nftw(3) passes no argument. */
static struct sums *walk;

static int on_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type == FTW_F || type == FTW_SL) {
		walk->n_files++;
		walk->size_b += st->st_size;
	}
	if (walk->is_removing && remove(path) < 0) {
		dprintf(2, "zwatch: %s cannot be removed: %s\n", path, zw_strerror(-errno));
		walk->n_failed++;
	}
	return 0;
}

/* Links are neither followed nor counted as what they lead to. */
static struct sums each(const char *path, bool is_removing)
{
	struct sums s = {.is_removing = is_removing};

	walk = &s;
	nftw(path, on_entry, 16, FTW_DEPTH | FTW_PHYS);
	walk = NULL;
	return s;
}

/* Of the history: the file and its side files, copies from migrations, what was set aside. */
static bool is_history(const char *name)
{
	return zw_starts_with(name, "history.db");
}

static void list_one(const char *path, const char *what, bool is_kept)
{
	struct sums s = each(path, false);
	char size[32];

	if (s.n_files == 0)
		return;
	snprintf(size, sizeof(size), s.size_b < 10240 ? "%lld B" : "%lld KB",
		 (long long)(s.size_b < 10240 ? s.size_b : s.size_b / 1024));
	printf("  %-9s %-44s %10s%s\n", what, path, size,
	       is_kept ? "  stays; --purge removes it" : "");
}

/* Names in the state folder. Calls @fn with each path; the folder itself is the caller's. */
static void each_state(const struct start *st, bool with_history, bool is_removing,
		       struct sums *total)
{
	DIR *dir = opendir(st->places.state_dir);
	struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		zw_autofree char *path = zw_xasprintf("%s/%s", st->places.state_dir, e->d_name);

		if (!is_removing) {
			list_one(path, is_history(e->d_name) ? "history" : "state",
				 is_history(e->d_name) && !with_history);
		} else if (with_history || !is_history(e->d_name)) {
			struct sums s = each(path, true);

			total->n_files += s.n_files;
			total->n_failed += s.n_failed;
		}
	}
	if (dir != NULL)
		closedir(dir);
}

/* Whether a session runs, by the record. */
static bool is_running(const struct start *st)
{
	zw_autofree char *path = cmd_store_path(st);
	struct aud_query *q = NULL;
	bool runs = aud_query_open(path, &q) == 0 && aud_session_lives(q) == 1;

	aud_query_free(q);
	return runs;
}

static void say_program(void)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	if (zw_starts_with(self, "/usr/bin/"))
		printf("The program itself: apt remove zwatch\n");
	else
		printf("The program itself is %s, with its helpers and its manual beside it; what\n"
		       "`cmake --install` wrote is listed in the build folder's "
		       "install_manifest.txt.\n",
		       self);
	if (access("/etc/apparmor.d/zwatch", F_OK) == 0)
		printf("The AppArmor profile /etc/apparmor.d/zwatch, as root: apparmor_parser -R "
		       "/etc/apparmor.d/zwatch, then remove the file\n");
}

int cmd_uninstall(struct start *st, const struct cli *cli)
{
	bool with_history = cli_has(cli, CLI_OPT_PURGE);
	struct sums total = {0};

	printf("What zwatch has in your folders:\n");
	list_one(st->places.config_dir, "settings", false);
	each_state(st, with_history, false, NULL);
	if (!cli_has(cli, CLI_OPT_YES)) {
		printf("Nothing was removed. To remove it: zwatch uninstall --yes%s\n",
		       with_history ? " --purge" : "");
		say_program();
		return ZW_EXIT_OK;
	}
	if (is_running(st)) {
		dprintf(2, "zwatch: a session is running; nothing was removed\n"
			   "        fix: end it first\n");
		return ZW_EXIT_NOTHING;
	}
	total = each(st->places.config_dir, true);
	each_state(st, with_history, true, &total);
	rmdir(st->places.state_dir); /* stays where the history does */
	printf("%d files removed.\n", total.n_files);
	say_program();
	return total.n_failed > 0 ? ZW_EXIT_STORE : ZW_EXIT_OK;
}
