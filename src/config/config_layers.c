/* SPDX-License-Identifier: MIT
 * Who may set what: the managed policy that nobody below can loosen, and the project file that only
 * narrows. */
#include "src/config/config.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/config/config_int.h"
#include "src/config/json.h"

/* -- single values ------------------------------------------------------------------------------ */

bool cfg_order_is_stricter(enum cfg_order order, int64_t a, int64_t b)
{
	switch (order) {
	case CFG_ORDER_RAISES:
		return a > b;
	case CFG_ORDER_LOWERS:
		return a < b;
	case CFG_ORDER_LIMITS:
		return a != 0 && (b == 0 || a < b);
	case CFG_ORDER_NONE:
		break;
	}
	return false;
}

static void origin_is(struct cfg *cfg, size_t index, const char *origin)
{
	char *copy = zw_xstrdup(origin);

	free(cfg->origins[index]);
	cfg->origins[index] = copy;
}

void cfg_origin_set(const struct cfg_where *w, size_t index)
{
	zw_autofree char *origin = cfg_where_origin(w);

	origin_is(w->cfg, index, origin);
}

/* A managed policy holds the strictest of what its files say. It never loosens what is built in. */
static int64_t settle_managed(const struct cfg_where *w, size_t index, enum cfg_order order,
			      int64_t before, int64_t now)
{
	struct cfg_hold *hold = &w->cfg->holds[index];

	if (hold->origin == NULL || cfg_order_is_stricter(order, now, hold->value)) {
		free(hold->origin);
		*hold = (struct cfg_hold){now, cfg_where_origin(w)};
	}
	if (!cfg_order_is_stricter(order, now, before))
		return before;
	cfg_origin_set(w, index);
	return now;
}

int64_t cfg_layer_settle(const struct cfg_where *w, size_t index, const char *name,
			 enum cfg_order order, int64_t before, int64_t now)
{
	const struct cfg_hold *hold = &w->cfg->holds[index];

	assert(order != CFG_ORDER_NONE);
	if (w->layer == POL_LAYER_MANAGED)
		return settle_managed(w, index, order, before, now);
	if (w->layer == POL_LAYER_PROJECT && cfg_order_is_stricter(order, before, now)) {
		cfg_report_note(w->report, w->file, w->line,
				"`%s` has no effect in a project file: a project can only narrow.",
				name);
		return before;
	}
	if (hold->origin == NULL || !cfg_order_is_stricter(order, hold->value, now)) {
		cfg_origin_set(w, index);
		return now;
	}
	cfg_report_note(w->report, w->file, w->line,
			"`%s` stays as %s holds it, in spite of:", name, hold->origin);
	origin_is(w->cfg, index, hold->origin);
	return hold->value;
}

enum pol_mode cfg_mode_floor(const struct cfg *cfg, const char **ret_origin)
{
	const struct cfg_hold *hold = &cfg->holds[cfg_key_index("mode")];

	*ret_origin = hold->origin;
	return hold->origin != NULL ? (enum pol_mode)hold->value : POL_MODE_WATCH;
}

/* -- the files of the administrator ------------------------------------------------------------- */

int cfg_open_plain(int dir_fd, const char *path, int flags, const char **ret_why)
{
	struct stat st;
	zw_autoclose int fd =
		openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);

	if (fd < 0) {
		int code = -errno;
		/* A link that leads nowhere is there, and is not what the user meant. */
		if (code == -ENOENT && fstatat(dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
			code = -ELOOP;
		*ret_why = code == -ENOENT || code == -ENOTDIR ? "there is no such file"
			   : code == -ELOOP && (flags & O_NOFOLLOW) != 0
				   ? "a link, not the file itself"
			   : code == -ELOOP ? "a link that leads nowhere"
					    : zw_strerror(code);
		return code;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		*ret_why = S_ISDIR(st.st_mode) ? "a folder, not a settings file"
					       : "not a regular file";
		return -EINVAL;
	}
	return zw_steal_fd(&fd);
}

bool cfg_is_admins(int fd, uid_t admin, const char **ret_why)
{
	struct stat st;

	*ret_why = "its owner cannot be told";
	if (fstat(fd, &st) < 0)
		return false;
	*ret_why = "this belongs to another user than root";
	if (st.st_uid != admin)
		return false;
	*ret_why = "others than root can write this";
	return (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static void policy_file(struct cfg *cfg, const struct cfg_places *places, int dir_fd,
			const char *dir, const char *name, uid_t admin, struct cfg_report *report)
{
	zw_autofree char *shown = zw_xasprintf("%s/%s", dir, name), *text = NULL;
	const char *why = "";
	size_t len = 0;
	zw_autoclose int fd = cfg_open_plain(dir_fd, name, O_NOFOLLOW, &why);

	if (fd < 0 || !cfg_is_admins(fd, admin, &why)) {
		cfg_report_error(report, shown, 0, "%s, so nothing is taken from it:", why);
		return;
	}
	int code = zw_read_fd(fd, CFG_JSON_SIZE_MAX, &text, &len);
	if (code < 0)
		cfg_report_error(report, shown, 0,
				 "cannot read the settings (%s):", zw_strerror(code));
	else
		cfg_read_text(cfg, places, POL_LAYER_MANAGED, shown, text, len, report);
}

static int is_policy(const struct dirent *e)
{
	return e->d_name[0] != '.' && zw_ends_with(e->d_name, ".json");
}

/* In the C locale's order, whoever starts zwatch. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Also the folder around it: who can rename a folder can put another one in its place. */
static bool folders_are_admins(int dir_fd, uid_t admin, const char **ret_why)
{
	zw_autoclose int above = openat(dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (!cfg_is_admins(dir_fd, admin, ret_why))
		return false;
	if (above >= 0)
		return cfg_is_admins(above, admin, ret_why);
	*ret_why = "the folder around it cannot be opened";
	return false;
}

void cfg_policy_load(struct cfg *cfg, const struct cfg_places *places,
		     const struct cfg_source *source, struct cfg_report *report)
{
	const char *dir = source->policy_dir != NULL ? source->policy_dir : CFG_POLICY_DIR;
	zw_autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent **list = NULL;
	const char *why = "";

	if (fd < 0 && errno == ENOENT)
		return;
	if (fd < 0 || !folders_are_admins(fd, source->admin, &why)) {
		if (fd < 0)
			why = zw_strerror(-errno);
		cfg_report_error(report, dir, 0, "the managed policy cannot be used (%s):", why);
		return;
	}
	int n = scandirat(fd, ".", &list, is_policy, by_name);
	if (n < 0 || n > CFG_POLICY_MAX)
		cfg_report_error(report, dir, 0, "the managed policy cannot be used (%s):",
				 n < 0 ? zw_strerror(-errno) : "more than 64 files");
	for (int i = 0; i < n; i++) {
		if (n <= CFG_POLICY_MAX)
			policy_file(cfg, places, fd, dir, list[i]->d_name, source->admin, report);
		free(list[i]);
	}
	free(list);
}

/* -- paths -------------------------------------------------------------------------------------- */

/* Without links as far as the path exists. */
static char *real_or_same(const char *path)
{
	char *real = realpath(path, NULL);

	return real != NULL ? real : zw_xstrdup(path);
}

static const char *find_within(const struct cfg_items *held, const char *path)
{
	zw_autofree char *real = real_or_same(path);

	for (size_t i = 0; i < held->n; i++) {
		zw_autofree char *dir = real_or_same(held->list[i].text);

		if (cfg_path_within(real, dir) || cfg_path_within(path, held->list[i].text))
			return held->list[i].origin;
	}
	return NULL;
}

const char *cfg_held_path(const struct cfg *cfg, const char *path, bool is_write)
{
	const char *origin = find_within(&cfg->held_read, path);

	return origin == NULL && is_write ? find_within(&cfg->held_write, path) : origin;
}

/* What decides about the agent is never the agent's. */
const char *cfg_own_path(const struct cfg *cfg, const struct cfg_places *places, const char *path)
{
	const char *const own[] = {places->config_dir, places->state_dir, "/etc/zwatch",
				   cfg->user_file, cfg->project_file};
	zw_autofree char *real = real_or_same(path);

	for (size_t i = 0; i < ZW_N_ELEMENTS(own); i++) {
		zw_autofree char *dir = real_or_same(own[i]);

		if (*own[i] != '\0' &&
		    (cfg_path_within(path, own[i]) || cfg_path_within(real, dir)))
			return "zwatch itself";
	}
	return NULL;
}

/* Takes out of a list of what is opened all that is held shut. */
static void drop_held(struct cfg *cfg, const struct cfg_places *places, struct cfg_items *items,
		      bool is_write, struct cfg_report *report)
{
	size_t n = 0;

	for (size_t i = 0; i < items->n; i++) {
		struct cfg_item *item = &items->list[i];
		const char *held = cfg_held_path(cfg, item->text, is_write);

		if (held == NULL && is_write)
			held = cfg_own_path(cfg, places, item->text);
		if (held == NULL) {
			items->list[n++] = *item;
			continue;
		}
		cfg_report_note(report, item->origin, 0,
				"`%s` is not opened, since %s refuses it, in spite of:", item->text,
				held);
		free(item->text);
		free(item->origin);
	}
	items->n = n;
}

void cfg_hold_paths(struct cfg *cfg, const struct cfg_places *places, struct cfg_report *report)
{
	const char *held = cfg_held_path(cfg, cfg->project_dir, true);
	zw_autofree char *shown = cfg_path_show(places, cfg->project_dir);

	if (held != NULL) {
		cfg_report_error(report, held, 0,
				 "no session can start in %s: the managed policy keeps it from "
				 "agents.",
				 shown);
		return;
	}
	drop_held(cfg, places, &cfg->allow_read, false, report);
	drop_held(cfg, places, &cfg->allow_write, true, report);
}
