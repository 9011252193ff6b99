/* SPDX-License-Identifier: MIT */
#include "src/config/protect.h"

#include <assert.h>
#include <dirent.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data_protected.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/config/json.h"

#define GIT_FILE_MAX   4096 /* bytes of .git, commondir, gitdir */
#define GIT_CONFIG_MAX (256 * 1024)
#define MODULES_MAX    256
#define MODULES_DEPTH  8 /* a submodule's name may have slashes, and it may have submodules itself */
#define INCLUDES_MAX   32

/** What one call works with. */
struct search {
	const struct cfg_places *places;
	const struct cfg *cfg;
	const struct cfg_agent *agent; /* NULL = none that is known */
	const struct cfg_json *root;
	struct cfg_protected *out;
};

void cfg_protected_fini(struct cfg_protected *p)
{
	cfg_paths_fini(&p->guarded);
	cfg_paths_fini(&p->writable);
}

static void add(struct cfg_paths *paths, const struct cfg_path *take)
{
	paths->list = zw_xrealloc(paths->list, paths->n + 1, sizeof(*paths->list));
	paths->list[paths->n++] = *take;
}

/* Named by the user: that very path may be written. */
static bool is_lifted(const struct search *s, const char *path)
{
	for (size_t i = 0; i < s->cfg->allow_write.n; i++) {
		const char *allowed = s->cfg->allow_write.list[i].text;

		if (strcmp(allowed, path) == 0)
			return true;
		zw_autofree char *real = realpath(allowed, NULL);
		if (real != NULL && strcmp(real, path) == 0)
			return true;
	}
	return false;
}

static void guard(struct search *s, char *take_path, bool is_file, const char *initial, bool bar,
		  const char *why)
{
	if (is_lifted(s, take_path)) {
		free(take_path);
		return;
	}
	add(&s->out->guarded, &(struct cfg_path){
				      .path = take_path,
				      .is_file = is_file,
				      .bar = bar,
				      .initial = initial != NULL ? zw_xstrdup(initial) : NULL,
				      .why = zw_xstrdup(why),
			      });
}

static bool json_true(const struct cfg_json *object, const char *key)
{
	const struct cfg_json *v = cfg_json_get(object, key);

	return v != NULL && v->boolean;
}

/* Whether the agent reads this file or folder of the project by itself. */
static bool is_read(const struct search *s, const char *name)
{
	for (char *const *n = s->agent != NULL ? s->agent->reads : NULL; n != NULL && *n != NULL;
	     n++)
		if (strcmp(*n, name) == 0)
			return true;
	return false;
}

/* The entries of one list, below @folder. @only_in: NULL, or paths outside it are passed over */
static void guard_list(struct search *s, const char *list, const char *folder, const char *only_in)
{
	const struct cfg_json *entries = cfg_json_get(s->root, list);

	for (const struct cfg_json *v = entries != NULL ? entries->child : NULL; v != NULL;
	     v = v->next) {
		const char *name = cfg_json_text(v, "path", "");
		const char *initial = cfg_json_text(v, "initial", NULL);
		bool read = strcmp(list, "project") == 0 && is_read(s, name);
		zw_autofree char *path = zw_xasprintf("%s/%s", folder, name);
		size_t n = s->out->guarded.n;

		if (only_in != NULL && !cfg_path_within(path, only_in))
			continue;
		if (read)
			initial = cfg_json_text(v, "read", initial);
		guard(s, zw_steal(&path), json_true(v, "file"), initial, json_true(v, "bar"),
		      cfg_json_text(v, "why", ""));
		if (s->out->guarded.n > n)
			s->out->guarded.list[n].is_read = read && initial == NULL;
	}
}

/* -- git ---------------------------------------------------------------------------------------- */

static bool is_folder(const char *folder, const char *name)
{
	zw_autofree char *path = zw_xasprintf("%s/%s", folder, name);
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* First line of a small file, without @start in front; NULL when it is not like that. */
static char *line_of(const char *folder, const char *name, const char *start)
{
	zw_autofree char *path = zw_xasprintf("%s/%s", folder, name);
	zw_autofree char *text = NULL;
	size_t len;

	if (zw_read_regular(path, GIT_FILE_MAX, &text, &len) < 0 || strlen(text) != len ||
	    !zw_starts_with(text, start))
		return NULL;
	return zw_xasprintf("%.*s", (int)strcspn(text + strlen(start), "\r\n"),
			    text + strlen(start));
}

/* Real path of @path, which starts from @base when it is relative. */
static char *resolve(const char *base, const char *path)
{
	zw_autofree char *whole =
		path[0] == '/' ? zw_xstrdup(path) : zw_xasprintf("%s/%s", base, path);

	return realpath(whole, NULL);
}

static char *trim(const char *from, const char *end)
{
	while (from < end && (*from == ' ' || *from == '\t'))
		from++;
	while (from < end && strchr(" \t\r\n", end[-1]) != NULL)
		end--;
	if (end - from >= 2 && *from == '"' && end[-1] == '"') {
		from++;
		end--;
	}
	for (const char *p = from; p < end; p++)
		if (*p == '\0' || *p == '"' || *p == '\\')
			return NULL;
	return end > from ? zw_xasprintf("%.*s", (int)(end - from), from) : NULL;
}

/* Whether a line is the head of @section; [section "name"] counts too when @with_names. */
static bool is_head(const char *p, size_t n, const char *section, bool with_names)
{
	size_t len = strlen(section);

	return n >= len + 2 && strncasecmp(p + 1, section, len) == 0 &&
	       (p[len + 1] == ']' || (with_names && strchr(" \t\"", p[len + 1]) != NULL));
}

/* Calls @on_value for each value of @key in section @section of a git config file. */
static void git_values(const char *text, size_t len, const char *section, bool with_names,
		       const char *key, void (*on_value)(void *arg, char *take), void *arg)
{
	size_t key_len = strlen(key);
	bool is_in = false;

	for (const char *p = text, *end = text + len; p < end;) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		const char *line_end = stop != NULL ? stop : end;

		while (p < line_end && (*p == ' ' || *p == '\t'))
			p++;
		size_t n = (size_t)(line_end - p);
		if (n > 0 && *p == '[') {
			is_in = is_head(p, n, section, with_names);
		} else if (is_in && n > key_len && strncasecmp(p, key, key_len) == 0 &&
			   strchr(" \t=", p[key_len]) != NULL) {
			const char *equals = memchr(p, '=', n);

			on_value(arg, equals != NULL ? trim(equals + 1, line_end) : NULL);
		}
		p = line_end + 1;
	}
}

static void keep_last(void *arg, char *take)
{
	char **value = arg;

	free(*value);
	*value = take;
}

/* Value of @key in section @section, the last one as git does. */
static char *git_value(const char *text, size_t len, const char *section, const char *key)
{
	char *value = NULL;

	git_values(text, len, section, false, key, keep_last, &value);
	return value;
}

char *cfg_git_hooks_path(const char *text, size_t len)
{
	return git_value(text, len, "core", "hooksPath");
}

static char *git_config(const char *git_dir, size_t *ret_len)
{
	zw_autofree char *path = zw_xasprintf("%s/config", git_dir);
	char *text = NULL;

	return zw_read_regular(path, GIT_CONFIG_MAX, &text, ret_len) < 0 ? NULL : text;
}

/* Hooks that are kept elsewhere, as with husky. Relative ones start from the work tree. */
static void guard_hooks_path(struct search *s, const char *git_dir, const char *work_tree)
{
	size_t len;
	zw_autofree char *text = git_config(git_dir, &len);
	zw_autofree char *hooks = text != NULL ? cfg_git_hooks_path(text, len) : NULL;
	char *path = NULL;

	if (hooks != NULL && cfg_path_expand(s->places, work_tree, hooks, &path) == 0)
		guard(s, path, false, NULL, true, "programs that git runs (core.hooksPath)");
}

struct includes {
	struct search *s;
	const char *git_dir;
	size_t n;
};

static void on_include(void *arg, char *take)
{
	struct includes *i = arg;
	zw_autofree char *told = take;
	char *path = NULL;

	if (told != NULL && i->n++ < INCLUDES_MAX &&
	    cfg_path_expand(i->s->places, i->git_dir, told, &path) == 0)
		guard(i->s, path, true, "", true, "read by git as its config (include.path)");
}

/* Config that lies elsewhere, perhaps in the work tree. Relative paths start from the config's. */
static void guard_includes(struct search *s, const char *git_dir)
{
	struct includes i = {s, git_dir, 0};
	size_t len;
	zw_autofree char *text = git_config(git_dir, &len);

	if (text == NULL)
		return;
	git_values(text, len, "include", false, "path", on_include, &i);
	git_values(text, len, "includeIf", true, "path", on_include, &i);
}

static void guard_git(struct search *s, const char *git_dir, const char *work_tree)
{
	guard_list(s, "git", git_dir, NULL);
	guard_hooks_path(s, git_dir, work_tree);
	guard_includes(s, git_dir);
}

/* Calls @on_folder for the folders in @folder until *n is MODULES_MAX. */
static void each_folder(struct search *s, const char *folder, size_t *n, int depth,
			void (*on_folder)(struct search *s, const char *path, size_t *n, int depth))
{
	DIR *dir = opendir(folder);

	if (dir == NULL)
		return;
	for (struct dirent *e; *n < MODULES_MAX && (e = readdir(dir)) != NULL;) {
		zw_autofree char *path = zw_xasprintf("%s/%s", folder, e->d_name);

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN))
			continue;
		++*n;
		on_folder(s, path, n, depth);
	}
	closedir(dir);
}

/* A repository of a submodule, or a part of a name with slashes. */
static void on_module(struct search *s, const char *path, size_t *n, int depth)
{
	zw_autofree char *inner = zw_xasprintf("%s/modules", path);
	size_t len;

	if (depth == MODULES_DEPTH)
		return;
	if (!is_folder(path, "objects")) {
		each_folder(s, path, n, depth + 1, on_module);
		return;
	}
	zw_autofree char *text = git_config(path, &len);
	zw_autofree char *told = text != NULL ? git_value(text, len, "core", "worktree") : NULL;
	zw_autofree char *tree = told != NULL ? resolve(path, told) : NULL;
	guard_git(s, path, tree != NULL ? tree : path);
	each_folder(s, inner, n, depth + 1, on_module);
}

/* What ties a work tree to its repository. */
static void guard_links(struct search *s, const char *git_dir)
{
	static const char why[] = "which repository this is";

	guard(s, zw_xasprintf("%s/commondir", git_dir), true, NULL, false, why);
	guard(s, zw_xasprintf("%s/gitdir", git_dir), true, NULL, false, why);
	guard(s, zw_xasprintf("%s/config.worktree", git_dir), true, "", true, why);
}

static void on_work_tree(struct search *s, const char *path, size_t *n, int depth)
{
	(void)n;
	(void)depth;
	guard_links(s, path);
}

/* Repositories of submodules, and what belongs to other work trees: both lie in that of the
 * project, and git is run there too. */
static void guard_modules(struct search *s, const char *git_dir)
{
	zw_autofree char *modules = zw_xasprintf("%s/modules", git_dir);
	zw_autofree char *work_trees = zw_xasprintf("%s/worktrees", git_dir);
	size_t n = 0;

	each_folder(s, modules, &n, 0, on_module);
	n = 0;
	each_folder(s, work_trees, &n, 0, on_work_tree);
}

static void add_writable(struct search *s, const char *path)
{
	add(&s->out->writable, &(struct cfg_path){.path = zw_xstrdup(path), .why = zw_xstrdup("")});
}

/* REPOSITORY/worktrees/NAME with a file that names our .git. */
static bool is_work_tree_of(const char *git_dir, const char *common, const char *dot_git)
{
	zw_autofree char *parent = zw_xasprintf("%s/worktrees", common);
	zw_autofree char *back = line_of(git_dir, "gitdir", "");
	zw_autofree char *back_real = back != NULL ? realpath(back, NULL) : NULL;
	const char *slash = strrchr(git_dir, '/');

	return slash != NULL && strlen(parent) == (size_t)(slash - git_dir) &&
	       strncmp(parent, git_dir, strlen(parent)) == 0 && back_real != NULL &&
	       strcmp(back_real, dot_git) == 0 && is_folder(common, "objects") &&
	       is_folder(common, "refs");
}

/* A repository whose config says that its work tree is here. */
static bool is_module_of(const char *git_dir, const char *work_tree)
{
	size_t len;
	zw_autofree char *text = git_config(git_dir, &len);
	zw_autofree char *told = text != NULL ? git_value(text, len, "core", "worktree") : NULL;
	zw_autofree char *real = told != NULL ? resolve(git_dir, told) : NULL;

	return real != NULL && strcmp(real, work_tree) == 0 && is_folder(git_dir, "objects") &&
	       is_folder(git_dir, "refs");
}

/* `.git` is a file: the project is a work tree or a submodule. */
static void guard_linked(struct search *s, const char *work_tree, const char *dot_git)
{
	zw_autofree char *told = line_of(work_tree, ".git", "gitdir: ");
	zw_autofree char *git_dir = told != NULL ? resolve(work_tree, told) : NULL;

	guard(s, zw_xstrdup(dot_git), true, NULL, false, "which repository this is");
	if (git_dir == NULL)
		return;
	zw_autofree char *common_told = line_of(git_dir, "commondir", "");
	zw_autofree char *common = common_told != NULL ? resolve(git_dir, common_told) : NULL;
	if (common != NULL && is_work_tree_of(git_dir, common, dot_git)) {
		add_writable(s, common);
		guard_links(s, git_dir);
		guard_git(s, common, work_tree);
		guard_modules(s, common);
	} else if (common == NULL && is_module_of(git_dir, work_tree)) {
		add_writable(s, git_dir);
		guard_git(s, git_dir, work_tree);
		guard_modules(s, git_dir);
	}
}

static void guard_repository(struct search *s, const char *work_tree)
{
	zw_autofree char *path = zw_xasprintf("%s/.git", work_tree);
	zw_autofree char *dot_git = realpath(path, NULL);
	struct stat st;

	if (dot_git == NULL || stat(dot_git, &st) < 0)
		return;
	/* By way of the link, so that it is held too: another one would be another repository. */
	if (strcmp(path, dot_git) != 0)
		guard(s, zw_xasprintf("%s%s", path, S_ISDIR(st.st_mode) ? "/config" : ""), true,
		      NULL, false, "which repository this is");
	if (!S_ISDIR(st.st_mode)) {
		guard_linked(s, work_tree, dot_git);
		return;
	}
	guard_git(s, dot_git, work_tree);
	guard_modules(s, dot_git);
}

/* -- all together ------------------------------------------------------------------------------- */

static void guard_folder(struct search *s, const char *folder)
{
	zw_autofree char *real = realpath(folder, NULL);
	struct stat st;

	if (real == NULL || stat(real, &st) < 0 || !S_ISDIR(st.st_mode))
		return;
	guard_list(s, "project", real, NULL);
	guard_repository(s, real);
	/* Below it or around it: what is at home is told apart by its own path. */
	guard_list(s, "home", s->places->home_real, real);
}

/* What the agent's own folders hold that runs code outside. */
static void guard_agent(struct search *s, const struct cfg_agent *agent)
{
	for (size_t i = 0; agent != NULL && i < agent->guarded.n; i++) {
		const struct cfg_path *p = &agent->guarded.list[i];

		guard(s, zw_xstrdup(p->path), p->is_file, p->initial, p->bar, p->why);
	}
}

void cfg_protected_paths(const struct cfg_places *places, const struct cfg *cfg,
			 const struct cfg_agent *agent, struct cfg_protected *ret)
{
	struct cfg_json_doc *doc = NULL;
	struct cfg_json_error error;
	int code = cfg_json_parse((const char *)zw_data_protected, zw_data_protected_len, &doc,
				  &error);
	struct search s = {places, cfg, agent, NULL, ret};

	assert(code == 0);
	*ret = (struct cfg_protected){0};
	s.root = cfg_json_root(doc);
	guard_folder(&s, cfg->project_dir);
	guard_agent(&s, agent);
	for (size_t i = 0; i < cfg->allow_write.n; i++) {
		const char *path = cfg->allow_write.list[i].text;

		/* "." is among the defaults. */
		if (strcmp(path, cfg->project_dir) != 0)
			guard_folder(&s, path);
	}
	cfg_json_free(doc);
}
