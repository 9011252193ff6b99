/* SPDX-License-Identifier: MIT */
#include "src/config/places.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"

/* Lexically clean: one slash between components, no `.`, `..` taken back, none at the end. */
static char *clean(const char *path)
{
	char *out = zw_xmalloc(strlen(path) + 2);
	size_t n = 0;

	for (const char *p = path; *p != '\0';) {
		size_t len = strcspn(p, "/");

		if (len == 2 && p[0] == '.' && p[1] == '.') {
			while (n > 0 && out[--n] != '/')
				;
		} else if (len > 0 && !(len == 1 && p[0] == '.')) {
			out[n++] = '/';
			memcpy(out + n, p, len);
			n += len;
		}
		p += len;
		p += *p == '/';
	}
	if (n == 0)
		out[n++] = '/';
	out[n] = '\0';
	return out;
}

/* The variable's value, made clean, if it is an absolute path; else NULL. */
static char *env_path(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] == '/' ? clean(value) : NULL;
}

static char *find_home(uid_t uid)
{
	char *home = env_path("HOME");

	if (home != NULL)
		return home;
	struct passwd pw, *found = NULL;
	char buf[4096];
	if (getpwuid_r(uid, &pw, buf, sizeof(buf), &found) == 0 && found != NULL &&
	    found->pw_dir != NULL && found->pw_dir[0] == '/')
		return clean(found->pw_dir);
	return zw_xstrdup("/");
}

static char *below(const char *variable, const char *home, const char *usual)
{
	zw_autofree char *base = env_path(variable);

	return base != NULL
		       ? zw_xasprintf("%s/zwatch", base)
		       : zw_xasprintf("%s/%s/zwatch", strcmp(home, "/") == 0 ? "" : home, usual);
}

static bool has_control(const char *path)
{
	for (; *path != '\0'; path++)
		if ((unsigned char)*path < 0x20 || *path == 0x7f)
			return true;
	return false;
}

int cfg_places_init(struct cfg_places *p)
{
	*p = (struct cfg_places){.uid = getuid()};
	p->start_dir = realpath(".", NULL);
	if (p->start_dir == NULL)
		return -errno;
	p->home = find_home(p->uid);
	p->home_real = realpath(p->home, NULL);
	if (p->home_real == NULL)
		p->home_real = zw_xstrdup(p->home);
	p->runtime_dir = env_path("XDG_RUNTIME_DIR");
	if (p->runtime_dir == NULL)
		p->runtime_dir = zw_xasprintf("/run/user/%u", (unsigned)p->uid);
	p->config_dir = below("XDG_CONFIG_HOME", p->home, ".config");
	p->state_dir = below("XDG_STATE_HOME", p->home, ".local/state");
	const char *const all[] = {p->home, p->runtime_dir, p->config_dir, p->state_dir};
	for (size_t i = 0; i < ZW_N_ELEMENTS(all); i++)
		if (has_control(all[i]))
			return ZW_E_SYNTAX;
	return 0;
}

void cfg_places_fini(struct cfg_places *p)
{
	free(p->home);
	free(p->home_real);
	free(p->runtime_dir);
	free(p->config_dir);
	free(p->state_dir);
	free(p->start_dir);
	*p = (struct cfg_places){0};
}

/* What stands for a folder at the front of @path, and how long it is; NULL = nothing. */
static const char *front(const struct cfg_places *p, const char *path, size_t *ret_len)
{
	const struct {
		const char *name;
		const char *value;
	} fronts[] = {
		{"~", p->home},
		{"$HOME", p->home},
		{"$XDG_RUNTIME_DIR", p->runtime_dir},
		{"$R", p->runtime_dir},
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(fronts); i++) {
		size_t len = strlen(fronts[i].name);

		if (strncmp(path, fronts[i].name, len) == 0 &&
		    (path[len] == '/' || path[len] == '\0')) {
			*ret_len = len;
			return fronts[i].value;
		}
	}
	return NULL;
}

int cfg_path_expand(const struct cfg_places *p, const char *base, const char *path, char **ret)
{
	size_t len = 0;

	if (path[0] == '\0')
		return ZW_E_SYNTAX;
	if (has_control(path))
		return ZW_E_SYNTAX;
	const char *dir = front(p, path, &len);
	if (dir == NULL && (path[0] == '~' || path[0] == '$'))
		return ZW_E_SYNTAX;
	if (dir == NULL && path[0] != '/')
		dir = base;
	zw_autofree char *whole = zw_xasprintf("%s/%s", dir != NULL ? dir : "", path + len);
	zw_autofree char *cleaned = clean(whole);
	bool is_var_run = cfg_path_within(cleaned, "/var/run");
	*ret = zw_xstrdup(is_var_run ? cleaned + strlen("/var") : cleaned);
	return 0;
}

char *cfg_path_show(const struct cfg_places *p, const char *path)
{
	if (strcmp(p->home, "/") != 0 && cfg_path_within(path, p->home))
		return zw_xasprintf("~%s", path + strlen(p->home));
	return zw_xstrdup(path);
}

bool cfg_path_within(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	if (strcmp(dir, "/") == 0)
		return path[0] == '/';
	return strncmp(path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0');
}
