/* SPDX-License-Identifier: MIT */
#include "src/main/start.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <sys/stat.h>

#include "sandbox/netns.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/vis.h"
#include "src/super/helper.h"
#include "src/super/super.h"
#include "ui/outer.h"

#define ENV_MAX 4096

void start_init(struct start *st)
{
	*st = (struct start){0};
}

void start_fini(struct start *st)
{
	for (size_t i = 0; i < st->n_env; i++)
		free(st->env[i]);
	free(st->env);
	free(st->argv);
	free(st->trust_files);
	free(st->bwrap);
	free(st->init);
	free(st->writable);
	free(st->read_only);
	free(st->hidden);
	free(st->fresh);
	free(st->shown);
	free(st->guarded);
	free(st->bars);
	cfg_protected_fini(&st->protected_);
	cfg_paths_fini(&st->program_paths);
	cfg_paths_fini(&st->hidden_paths);
	cfg_paths_fini(&st->shown_paths);
	cfg_agent_free(st->agent);
	cfg_catalogue_free(st->catalogue);
	cfg_free(st->cfg);
	cfg_report_clear(&st->report);
	cfg_wishes_fini(&st->wishes);
	cfg_places_fini(&st->places);
}

static void apply_options(struct start *st, const struct cli *cli)
{
	static const struct {
		enum cli_option cli;
		enum cfg_option cfg;
	} same[] = {
		{CLI_OPT_MODE, CFG_OPT_MODE}, {CLI_OPT_ALLOW, CFG_OPT_ALLOW},
		{CLI_OPT_DENY, CFG_OPT_DENY}, {CLI_OPT_ALLOW_UNIX, CFG_OPT_ALLOW_UNIX},
		{CLI_OPT_RO, CFG_OPT_RO},     {CLI_OPT_RW, CFG_OPT_RW},
		{CLI_OPT_HIDE, CFG_OPT_HIDE}, {CLI_OPT_HOLD, CFG_OPT_HOLD},
	};

	static const struct {
		const char *name;
		enum cfg_option cfg;
	} variables[] = {{"ZWATCH_MODE", CFG_OPT_MODE}, {"ZWATCH_HOLD", CFG_OPT_HOLD}};

	/* Options come last, so they win over the environment. */
	for (size_t i = 0; i < ZW_N_ELEMENTS(variables); i++) {
		const char *value = getenv(variables[i].name);

		if (value != NULL && *value != '\0')
			cfg_variable(st->cfg, &st->places, variables[i].cfg, variables[i].name,
				     value, &st->report);
	}
	for (size_t i = 0; i < cli->n_values; i++)
		for (size_t k = 0; k < ZW_N_ELEMENTS(same); k++)
			if (cli->values[i].option == same[k].cli)
				cfg_option(st->cfg, &st->places, same[k].cfg, cli->values[i].value,
					   &st->report);
}

char *start_trust_path(const struct start *st)
{
	return zw_xasprintf("%s/" CFG_TRUST_FILE, st->places.state_dir);
}

static const struct cfg_catalogue *catalogue_get(void *arg)
{
	return start_catalogue(arg);
}

/* The wishes of the project file; what was granted to this very file goes into the settings. */
static void wishes_load(struct start *st)
{
	zw_autofree char *path = start_trust_path(st);
	struct cfg_trust trust;

	cfg_wishes_read(st->cfg, &st->places, catalogue_get, st, &st->wishes, &st->report);
	/* A store that is not right grants nothing, and says so. */
	if (st->wishes.n == 0 || cfg_trust_load(path, &trust, &st->report) < 0)
		return;
	const struct cfg_trust_entry *e = cfg_trust_find(&trust, &st->wishes);
	if (e != NULL)
		cfg_trust_mark(e, &st->wishes);
	st->wishes_are_known = e != NULL;
	cfg_wishes_apply(st->cfg, &st->places, &st->wishes, &st->report);
	cfg_trust_fini(&trust);
}

int start_config(struct start *st, const struct cli *cli)
{
	const char *file = cli_get(cli, CLI_OPT_CONFIG);
	int r = cfg_places_init(&st->places);

	if (r < 0)
		return r;
	if (file == NULL)
		file = getenv("ZWATCH_CONFIG");
	struct cfg_source source = {.user_file = file,
				    .no_project = cli_has(cli, CLI_OPT_NO_PROJECT)};
	r = cfg_load(&st->places, &source, &st->cfg, &st->report);
	wishes_load(st);
	apply_options(st, cli);
	cfg_hold_paths(st->cfg, &st->places, &st->report);
	return r < 0 || st->report.n_errors > 0 ? ZW_E_CONFIG : 0;
}

void start_print_report(const struct start *st, int fd, bool with_notes)
{
	for (size_t i = 0; i < st->report.n; i++) {
		const struct cfg_error *e = &st->report.list[i];
		zw_autofree char *line = cfg_error_format(e);

		if (e->is_error || with_notes)
			dprintf(fd, "zwatch: %s%s\n", e->is_error ? "" : "note: ", line);
	}
	if (st->report.n_errors > st->report.n)
		dprintf(fd, "zwatch: and %zu more\n", st->report.n_errors - st->report.n);
}

bool start_is_agent(const char *word, void *arg)
{
	const struct start *st = arg;
	const char *const *names = cfg_agent_names();

	if (st->cfg != NULL && cfg_agent_entry(st->cfg, word) != NULL)
		return true;
	for (; *names != NULL; names++)
		if (strcmp(*names, word) == 0)
			return true;
	return false;
}

const struct cfg_catalogue *start_catalogue(struct start *st)
{
	/* Built in and tested: one that does not parse is a fault of the build. */
	if (st->catalogue == NULL && cfg_catalogue_load(&st->places, environ, &st->catalogue) < 0)
		zw_fatal("the built-in catalogue of sockets is broken");
	return st->catalogue;
}

/* -- environment -------------------------------------------------------------------------------- */

static void env_add(struct start *st, char *take_pair)
{
	size_t name_len = (size_t)(strchrnul(take_pair, '=') - take_pair) + 1;

	for (size_t i = 0; i < st->n_env; i++) {
		if (strncmp(st->env[i], take_pair, name_len) == 0) {
			free(st->env[i]);
			st->env[i] = take_pair;
			return;
		}
	}
	if (st->n_env == ENV_MAX) {
		free(take_pair);
		return;
	}
	st->env = zw_xrealloc(st->env, st->n_env + 2, sizeof(*st->env));
	st->env[st->n_env++] = take_pair;
	st->env[st->n_env] = NULL;
}

static void env_set(struct start *st, const char *name, const char *value)
{
	env_add(st, zw_xasprintf("%s=%s", name, value));
}

/* Borrowed; NULL = not set. */
static const char *env_get(const struct start *st, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < st->n_env; i++)
		if (strncmp(st->env[i], name, len) == 0 && st->env[i][len] == '=')
			return st->env[i] + len + 1;
	return NULL;
}

static bool env_is_passed(const struct cfg_agent *agent, const char *pair)
{
	size_t len = (size_t)(strchrnul(pair, '=') - pair);

	for (char **p = agent->pass; *p != NULL; p++) {
		size_t n = strlen(*p);

		if (n > 0 && (*p)[n - 1] == '*' ? len >= n - 1 && strncmp(pair, *p, n - 1) == 0
						: len == n && strncmp(pair, *p, n) == 0)
			return true;
	}
	return false;
}

static void env_proxy(struct start *st)
{
	static const char *const http[] = {"http_proxy", "https_proxy", "HTTP_PROXY",
					   "HTTPS_PROXY"};
	static const char *const none[] = {"no_proxy", "NO_PROXY"};
	zw_autofree char *url =
		zw_xasprintf("http://%u.%u.%u.%u:%u", SB_NET_ADDR >> 24, SB_NET_ADDR >> 16 & 255,
			     SB_NET_ADDR >> 8 & 255, SB_NET_ADDR & 255, SB_NET_HTTP_PORT);

	if (!st->cfg->proxy_env)
		return;
	for (size_t i = 0; i < ZW_N_ELEMENTS(http); i++)
		env_set(st, http[i], url);
	/* Not by SOCKS: programs without it stop at the sight of it, and what wants no HTTP proxy is
	 * carried without one. */
	env_set(st, "all_proxy", url);
	env_set(st, "ALL_PROXY", url);
	for (size_t i = 0; i < ZW_N_ELEMENTS(none); i++)
		env_set(st, none[i], "localhost,127.0.0.1,::1");
}

static void env_drop(struct start *st, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < st->n_env; i++) {
		if (strncmp(st->env[i], name, len) != 0 || st->env[i][len] != '=')
			continue;
		free(st->env[i]);
		st->env[i] = st->env[--st->n_env];
		st->env[st->n_env] = NULL;
		return;
	}
}

/* Programs that read these trust what they name, and not the system's file: the session's own
 * authority is in both of zwatch's. What the user's variables name goes into them too. */
static void env_trust(struct start *st)
{
	static const struct {
		const char *name, *file;
	} rows[] = {
		{"SSL_CERT_FILE", SUP_TRUST_BUNDLE},
		{"CURL_CA_BUNDLE", SUP_TRUST_BUNDLE},
		{"REQUESTS_CA_BUNDLE", SUP_TRUST_BUNDLE},
		{"PIP_CERT", SUP_TRUST_BUNDLE},
		{"GIT_SSL_CAINFO", SUP_TRUST_BUNDLE},
		{"AWS_CA_BUNDLE", SUP_TRUST_BUNDLE},
		{"CARGO_HTTP_CAINFO", SUP_TRUST_BUNDLE},
		{"NIX_SSL_CERT_FILE", SUP_TRUST_BUNDLE},
		{"NODE_EXTRA_CA_CERTS", SUP_TRUST_CA},
		{"DENO_CERT", SUP_TRUST_CA},
		{"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", SUP_TRUST_BUNDLE},
	};
	char *files = zw_xstrdup("");

	for (size_t i = 0; i < ZW_N_ELEMENTS(rows) && st->cfg->dns_doh == CFG_DOH_FILTER; i++) {
		const char *own = env_get(st, rows[i].name);

		if (own != NULL && own[0] == '/' && strchr(own, '\n') == NULL) {
			zw_autofree char *before = files;

			files = zw_xasprintf("%s%s\n", before, own);
		}
		env_set(st, rows[i].name, rows[i].file);
	}
	st->trust_files = files;
}

/* What --env says: NAME=VALUE sets, NAME passes on. */
static void env_options(struct start *st, const struct cli *cli)
{
	for (size_t i = 0; i < cli->n_values; i++) {
		const char *value = cli->values[i].value;

		if (cli->values[i].option != CLI_OPT_ENV)
			continue;
		if (strchr(value, '=') != NULL)
			env_add(st, zw_xstrdup(value));
		else if (getenv(value) != NULL)
			env_set(st, value, getenv(value));
	}
}

/* Programs in a terminal expect UTF-8; a user without any locale gets the C one that speaks it. */
static void env_locale(struct start *st)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++) {
		const char *value = getenv(names[i]);

		if (value != NULL && *value != '\0' && strcmp(value, "C") != 0 &&
		    strcmp(value, "POSIX") != 0)
			return;
	}
	env_set(st, "LC_CTYPE", "C.UTF-8");
}

static void env_terminal(struct start *st)
{
	env_set(st, "TERM", "xterm-256color");
	env_set(st, "COLORTERM", "truecolor");
	/* Agents use the keys of kitty's protocol in terminals that they know by name. */
	const char *program = ui_outer_kitty(), *version = getenv("TERM_PROGRAM_VERSION");
	env_set(st, "TERM_PROGRAM", program != NULL ? program : "zwatch");
	if (program == NULL)
		env_set(st, "TERM_PROGRAM_VERSION", ZW_VERSION);
	else if (version != NULL)
		env_set(st, "TERM_PROGRAM_VERSION", version);
	/* These are about the terminal outside. */
	env_drop(st, "TERMINFO");
	env_drop(st, "TERMINFO_DIRS");
	env_locale(st);
}

/* Plain mode: what is printed reaches the user's own terminal. */
static void env_terminal_as_outside(struct start *st)
{
	const char *term = getenv("TERM");

	env_set(st, "TERM", term != NULL && *term != '\0' ? term : "dumb");
	env_locale(st);
}

/* A private folder needs a place at home to be mounted on. Where there is none, and none is made
 * outside, programs are told of another one. */
static void env_caches(struct start *st)
{
	static const struct {
		const char *name, *variable;
	} caches[] = {
		{".cache", "XDG_CACHE_HOME"},	    {".npm", "npm_config_cache"},
		{".local/share/pnpm", "PNPM_HOME"}, {"go/pkg/mod", "GOMODCACHE"},
		{".cargo", "CARGO_HOME"},	    {".gradle", "GRADLE_USER_HOME"},
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(caches); i++) {
		zw_autofree char *at_home = zw_xasprintf("%s/%s", st->places.home, caches[i].name);
		const char *name = strrchr(caches[i].name, '/');
		zw_autofree char *instead =
			zw_xasprintf("/tmp/%s", name != NULL ? name + 1 : caches[i].name);

		if (access(at_home, F_OK) < 0 && getenv(caches[i].variable) == NULL)
			env_set(st, caches[i].variable, instead);
	}
}

static void env_make(struct start *st, const struct cli *cli, enum start_pty pty)
{
	zw_autofree char *runtime = zw_xasprintf("/run/user/%u", (unsigned)st->places.uid);

	st->env = zw_xcalloc(1, sizeof(*st->env));
	if (!cli_has(cli, CLI_OPT_CLEAR_ENV))
		for (char **e = environ; *e != NULL; e++)
			if (env_is_passed(st->agent, *e))
				env_add(st, zw_xstrdup(*e));
	env_set(st, "HOME", st->places.home);
	env_set(st, "XDG_RUNTIME_DIR", runtime);
	if (getenv("PATH") == NULL || cli_has(cli, CLI_OPT_CLEAR_ENV))
		env_set(st, "PATH", "/usr/local/bin:/usr/bin:/bin");
	for (char **e = st->agent->env; *e != NULL; e++)
		env_add(st, zw_xstrdup(*e));
	if (pty == START_PTY)
		env_terminal(st);
	else if (pty == START_PTY_AS_OUTSIDE)
		env_terminal_as_outside(st);
	env_caches(st);
	env_proxy(st);
	env_set(st, "ZWATCH", "1");
	env_options(st, cli);
	env_trust(st);
}

/* -- files -------------------------------------------------------------------------------------- */

/* Makes what the agent keeps, so that there is something to mount: folders 0700, files 0600. */
static void paths_make(const struct cfg_paths *paths)
{
	for (size_t i = 0; i < paths->n; i++) {
		const struct cfg_path *p = &paths->list[i];

		if (!p->is_file) {
			zw_mkdirs(p->path, 0700);
			continue;
		}
		zw_autoclose int fd =
			open(p->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd >= 0 && p->initial != NULL)
			zw_write_all(fd, p->initial, strlen(p->initial));
	}
}

/* Where it does not say otherwise, programs do without a private folder that has no place at home. */
static void privates_make(const struct cfg_paths *paths)
{
	for (size_t i = 0; i < paths->n; i++)
		if (paths->list[i].is_made)
			zw_mkdirs(paths->list[i].path, 0700);
}

/* A list of borrowed paths out of up to three sources, NULL at the end. */
static const char **path_list(const struct cfg_paths *a, const struct cfg_paths *b,
			      const struct cfg_items *c)
{
	const struct cfg_paths *const both[] = {a, b};
	size_t n = (a != NULL ? a->n : 0) + (b != NULL ? b->n : 0) + (c != NULL ? c->n : 0), k = 0;
	const char **list = zw_xcalloc(n + 1, sizeof(*list));

	for (size_t l = 0; l < ZW_N_ELEMENTS(both); l++)
		for (size_t i = 0; both[l] != NULL && i < both[l]->n; i++)
			list[k++] = both[l]->list[i].path;
	for (size_t i = 0; c != NULL && i < c->n; i++)
		list[k++] = c->list[i].text;
	return list;
}

static void path_add(struct cfg_paths *paths, const char *path)
{
	paths->list = zw_xrealloc(paths->list, paths->n + 1, sizeof(*paths->list));
	paths->list[paths->n++] =
		(struct cfg_path){.path = zw_xstrdup(path), .why = zw_xstrdup("")};
}

/* A home below a folder that is private inside would not be there at all. */
static void home_show(struct start *st)
{
	static const char *const private_folders[] = {"/tmp", "/var/tmp", "/run"};

	for (size_t i = 0; i < ZW_N_ELEMENTS(private_folders); i++)
		if (cfg_path_within(st->places.home_real, private_folders[i]))
			path_add(&st->shown_paths, st->places.home_real);
}

bool start_is_writable(const struct start *st, const char *path)
{
	for (size_t i = 0; st->writable[i] != NULL; i++)
		if (cfg_path_within(path, st->writable[i]))
			return true;
	return cfg_path_within(path, st->cfg->project_dir);
}

/* zwatch's programs, where they lie in what the agent may write, as in the folder of a build. They
 * are started outside the sandbox, some of them late. */
static void programs_guard(struct start *st)
{
	static const char *const names[] = {"zwatch",	      "zwatch-init", "zwatch-audit",
					    "zwatch-broker",  "zwatch-pane", "zwatch-proxy",
					    "zwatch-resolver"};

	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++) {
		zw_autofree char *path = sup_program_path(names[i]);

		if (start_is_writable(st, path) && access(path, F_OK) == 0)
			path_add(&st->program_paths, path);
	}
}

/* What may not come to be; all of it is guarded too, in case it is there. */
static struct sb_bar *bar_list(const struct cfg_paths *paths, const struct cfg *cfg)
{
	const struct cfg_items *const denied[] = {&cfg->deny_read, &cfg->deny_write};
	struct sb_bar *bars =
		zw_xcalloc(paths->n + cfg->deny_read.n + cfg->deny_write.n + 1, sizeof(*bars));
	size_t n = 0;

	/* A rule about what is not there yet is one about what will be. */
	for (size_t k = 0; k < ZW_N_ELEMENTS(denied); k++)
		for (size_t i = 0; i < denied[k]->n; i++)
			bars[n++] = (struct sb_bar){.path = denied[k]->list[i].text};

	for (size_t i = 0; i < paths->n; i++) {
		const struct cfg_path *p = &paths->list[i];

		if (p->bar)
			bars[n++] = (struct sb_bar){.path = p->path,
						    .content = p->initial,
						    .reads_empty = p->is_read && p->is_file,
						    .is_private = p->is_read && !p->is_file};
	}
	return bars;
}

static void start_note(const struct cfg_item *item, const char *text)
{
	zw_autofree char *path = zw_vis_dup(item->text, strlen(item->text), 1024);

	dprintf(2, "zwatch: note: filesystem.allowWrite: %s %s. %s\n", path, text, item->origin);
}

/* Whether the agent can have made the last part of this path, a link perhaps: whether it lies in a
 * folder that is writable anyway, and if so, in which. */
static const char *writable_around(const struct start *st, const char *path)
{
	const struct cfg_items *allowed = &st->cfg->allow_write;

	if (cfg_path_within(path, st->cfg->project_dir))
		return st->cfg->project_dir;
	for (size_t i = 0; i < allowed->n; i++)
		if (strcmp(allowed->list[i].text, path) != 0 &&
		    cfg_path_within(path, allowed->list[i].text))
			return allowed->list[i].text;
	for (size_t i = 0; i < st->agent->writable.n; i++)
		if (cfg_path_within(path, st->agent->writable.list[i].path))
			return st->agent->writable.list[i].path;
	return NULL;
}

/* A link in a writable folder may be the agent's, of a session before: what it leads to is not opened
 * by a rule that names the link. */
static bool leads_out(const struct start *st, const char *path, const char *real)
{
	const char *around = writable_around(st, path);
	zw_autofree char *around_real = around != NULL ? realpath(around, NULL) : NULL;

	return around_real != NULL && !cfg_path_within(real, around_real);
}

/* Takes out of filesystem.allowWrite what cannot be opened, and says so. */
static void allow_write_check(struct start *st)
{
	struct cfg_items *items = &st->cfg->allow_write;
	size_t n = 0;

	for (size_t i = 0; i < items->n; i++) {
		struct cfg_item *item = &items->list[i];
		zw_autofree char *real = realpath(item->text, NULL);
		bool is_out = real != NULL && leads_out(st, item->text, real);

		if (is_out || (real == NULL && writable_around(st, item->text) == NULL))
			start_note(item, is_out ? "is a link in a folder that the agent may write, "
						  "and leads out of it: it is not followed"
						: "is not there: nothing is opened by it");
		if (!is_out) {
			items->list[n++] = *item;
			continue;
		}
		free(item->text);
		free(item->origin);
	}
	items->n = n;
}

/* Settings that are not where settings usually are: what the agent writes there would be read by the next
 * session. */
static void settings_guard(struct start *st)
{
	const char *const files[] = {st->cfg->user_file, st->cfg->project_file};

	for (size_t i = 0; i < ZW_N_ELEMENTS(files); i++) {
		zw_autofree char *real = *files[i] != '\0' ? realpath(files[i], NULL) : NULL;

		if (real != NULL && start_is_writable(st, real))
			path_add(&st->program_paths, real);
	}
}

/* An agent's own folders are no reason to open what the managed policy keeps shut. */
static void agent_hold(struct start *st)
{
	struct cfg_paths *paths = &st->agent->writable;

	for (size_t i = 0; i < paths->n; i++) {
		const char *held = cfg_held_path(st->cfg, paths->list[i].path, true);

		if (held == NULL)
			continue;
		zw_autofree char *shown = cfg_path_show(&st->places, paths->list[i].path);
		dprintf(2, "zwatch: note: %s stays shut for %s: %s\n", shown, st->agent->name,
			held);
		cfg_path_fini(&paths->list[i]);
		memmove(paths->list + i, paths->list + i + 1,
			(paths->n - i - 1) * sizeof(*paths->list));
		paths->n--;
		i--;
	}
}

/* A cache of its own is what an agent gets unless the settings hand it the real one. */
static const char **fresh_list(const struct start *st)
{
	const char **list = path_list(&st->agent->private_, NULL, NULL);
	const struct cfg_items *allowed = &st->cfg->allow_write;
	size_t n = 0;

	for (size_t i = 0; list[i] != NULL; i++) {
		bool is_allowed = false;

		for (size_t k = 0; k < allowed->n && !is_allowed; k++)
			is_allowed = strcmp(allowed->list[k].text, list[i]) == 0;
		if (!is_allowed)
			list[n++] = list[i];
	}
	list[n] = NULL;
	return list;
}

static void lists_make(struct start *st)
{
	const struct cfg *cfg = st->cfg;

	st->writable = path_list(&st->agent->writable, &st->protected_.writable, &cfg->allow_write);
	home_show(st);
	programs_guard(st);
	settings_guard(st);
	st->read_only = path_list(NULL, NULL, &cfg->deny_write);
	st->shown = path_list(&st->shown_paths, NULL, &cfg->allow_read);
	st->guarded = path_list(&st->protected_.guarded, &st->program_paths, NULL);
	st->bars = bar_list(&st->protected_.guarded, cfg);
	st->fresh = fresh_list(st);
	st->hidden = path_list(&st->hidden_paths, NULL, &cfg->deny_read);
}

static char *find_in_path(const char *name)
{
	zw_autofree char *path = zw_xstrdup("/usr/bin:/bin:/usr/local/bin:/usr/sbin:/sbin");
	char *save = NULL;

	for (char *dir = strtok_r(path, ":", &save); dir != NULL;
	     dir = strtok_r(NULL, ":", &save)) {
		zw_autofree char *file = zw_xasprintf("%s/%s", dir, name);

		if (access(file, X_OK) == 0)
			return zw_steal(&file);
	}
	return zw_xstrdup("/usr/bin/bwrap");
}

static void argv_make(struct start *st, const char *command, char **rest)
{
	char *const *own = st->agent->arguments;
	size_t n = 0, n_own = 0, k = 0;

	while (rest[n] != NULL)
		n++;
	while (own[n_own] != NULL)
		n_own++;
	st->argv = zw_xcalloc(n + n_own + 2, sizeof(*st->argv));
	if (command != NULL)
		st->argv[k++] = (char *)(uintptr_t)command;
	for (size_t i = 0; i < n_own; i++)
		st->argv[k++] = own[i];
	for (size_t i = 0; i < n; i++)
		st->argv[k++] = rest[i];
}

int start_agent(struct start *st, const struct cli *cli, const char *name, char **command,
		enum start_pty pty)
{
	const struct cfg_agent_entry *entry = *name != '\0' ? cfg_agent_entry(st->cfg, name) : NULL;
	const char *preset = entry != NULL ? entry->preset : name;

	if (*preset == '\0')
		st->agent = cfg_agent_base(&st->places);
	else if (cfg_agent_find(preset, &st->places, &st->agent) < 0)
		return ZW_E_NOT_FOUND;
	const char *program = entry != NULL ? entry->command : st->agent->command;
	argv_make(st, *name != '\0' ? program : NULL, command);
	agent_hold(st);
	paths_make(&st->agent->writable);
	privates_make(&st->agent->private_);
	/* Made before anything is hidden: what is not there could be made inside by the agent. */
	zw_mkdirs(st->places.config_dir, 0700);
	zw_mkdirs(st->places.state_dir, 0700);
	allow_write_check(st);
	cfg_hidden_paths(&st->places, st->agent, &st->hidden_paths);
	cfg_shown_paths(&st->places, &st->shown_paths);
	cfg_protected_paths(&st->places, st->cfg, st->agent, &st->protected_);
	lists_make(st);
	env_make(st, cli, pty);
	st->bwrap = find_in_path("bwrap");
	st->init = sup_program_path("zwatch-init");
	st->plan = (struct sb_plan){
		.argv = st->argv,
		.env = st->env,
		.cwd = st->places.start_dir,
		.project = st->cfg->project_dir,
		.home = st->places.home_real,
		.uid = getuid(),
		.gid = getgid(),
		.writable = st->writable,
		.read_only = st->read_only,
		.shown = st->shown,
		.guarded = st->guarded,
		.bars = st->bars,
		.hidden = st->hidden,
		.fresh = st->fresh,
		.project_holds_sockets = st->cfg->allow_sockets == CFG_SOCKETS_PROJECT &&
					 st->cfg->mode != POL_MODE_STRICT,
		.limits = {.memory_b = (uint64_t)st->cfg->limit_memory_b,
			   .processes = (uint32_t)st->cfg->limit_processes,
			   .cpu_percent = (uint32_t)st->cfg->limit_cpu},
		.want_pty = pty != START_NO_PTY,
		.stdio = {0, 1, 2},
		.bwrap = st->bwrap,
		.init = st->init,
	};
	return 0;
}
