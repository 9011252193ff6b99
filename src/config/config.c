/* SPDX-License-Identifier: MIT */
#include "src/config/config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/config/agents.h"
#include "src/config/config_int.h"
#include "src/config/import.h"
#include "src/config/json.h"

void cfg_items_add(struct cfg_items *items, const char *text, const char *origin)
{
	items->list = zw_xrealloc(items->list, items->n + 1, sizeof(*items->list));
	items->list[items->n++] = (struct cfg_item){zw_xstrdup(text), zw_xstrdup(origin)};
}

void cfg_items_clear(struct cfg_items *items)
{
	for (size_t i = 0; i < items->n; i++) {
		free(items->list[i].text);
		free(items->list[i].origin);
	}
	free(items->list);
	*items = (struct cfg_items){0};
}

void cfg_ports_add(struct cfg_ports *ports, uint16_t port, const char *origin)
{
	size_t at = 0;

	while (at < ports->n && ports->list[at] < port)
		at++;
	if (at < ports->n && ports->list[at] == port)
		return;
	ports->list = zw_xrealloc(ports->list, ports->n + 1, sizeof(*ports->list));
	memmove(ports->list + at + 1, ports->list + at, (ports->n - at) * sizeof(*ports->list));
	ports->list[at] = port;
	ports->origins = zw_xrealloc(ports->origins, ports->n + 1, sizeof(*ports->origins));
	memmove(ports->origins + at + 1, ports->origins + at,
		(ports->n - at) * sizeof(*ports->origins));
	ports->origins[at] = zw_xstrdup(origin);
	ports->n++;
}

void cfg_socket_add(struct cfg *cfg, const struct cfg_socket *socket)
{
	cfg->sockets = zw_xrealloc(cfg->sockets, cfg->n_sockets + 1, sizeof(*cfg->sockets));
	cfg->sockets[cfg->n_sockets++] = (struct cfg_socket){
		.listed = zw_xstrdup(socket->listed),
		.path = zw_xstrdup(socket->path),
		.origin = zw_xstrdup(socket->origin),
		.layer = socket->layer,
	};
}

static void agent_entry_fini(struct cfg_agent_entry *e)
{
	free(e->name);
	free(e->command);
	free(e->preset);
	free(e->import_settings);
	free(e->origin);
}

void cfg_agent_entry_take(struct cfg *cfg, struct cfg_agent_entry *entry)
{
	for (size_t i = 0; i < cfg->n_agents; i++) {
		if (strcmp(cfg->agents[i].name, entry->name) != 0)
			continue;
		agent_entry_fini(&cfg->agents[i]);
		cfg->agents[i] = *entry;
		return;
	}
	cfg->agents = zw_xrealloc(cfg->agents, cfg->n_agents + 1, sizeof(*cfg->agents));
	cfg->agents[cfg->n_agents++] = *entry;
}

const struct cfg_agent_entry *cfg_agent_entry(const struct cfg *cfg, const char *name)
{
	for (size_t i = 0; i < cfg->n_agents; i++)
		if (strcmp(cfg->agents[i].name, name) == 0)
			return &cfg->agents[i];
	return NULL;
}

struct cfg *cfg_new(const struct cfg_places *places, const char *project_dir)
{
	struct cfg *cfg = zw_xnew(struct cfg);

	cfg->project_dir = zw_xstrdup(project_dir != NULL ? project_dir : places->start_dir);
	cfg->project_file = zw_xstrdup("");
	cfg->user_file = zw_xasprintf("%s/config.json", places->config_dir);
	cfg_read_defaults(cfg, places);
	return cfg;
}

static void ports_fini(struct cfg_ports *ports)
{
	for (size_t i = 0; i < ports->n; i++)
		free(ports->origins[i]);
	free(ports->origins);
	free(ports->list);
}

static char *copy_or_null(const char *s)
{
	return s != NULL ? zw_xstrdup(s) : NULL;
}

static void rule_fini(struct pol_rule *r)
{
	const char *texts[] = {r->pattern, r->program, r->origin, r->reason};

	for (size_t i = 0; i < ZW_N_ELEMENTS(texts); i++) {
		char *text;

		/* struct pol_rule borrows; here the strings are our own copies. */
		memcpy(&text, &texts[i], sizeof(text));
		free(text);
	}
}

void cfg_free(struct cfg *cfg)
{
	if (cfg == NULL)
		return;
	struct cfg_items *items[] = {
		&cfg->dns_upstreams, &cfg->dns_zones,	    &cfg->allow_private, &cfg->allow_write,
		&cfg->deny_read,     &cfg->allow_read,	    &cfg->deny_write,	 &cfg->prefix_keys,
		&cfg->redact_flags,  &cfg->redact_patterns, &cfg->quota_sites,	 &cfg->held_read,
		&cfg->held_write,
	};
	for (size_t i = 0; i < ZW_N_ELEMENTS(items); i++)
		cfg_items_clear(items[i]);
	for (size_t i = 0; i < cfg->n_rules; i++)
		rule_fini(&cfg->rules[i]);
	for (size_t i = 0; i < cfg->n_sockets; i++) {
		free(cfg->sockets[i].listed);
		free(cfg->sockets[i].path);
		free(cfg->sockets[i].origin);
	}
	for (size_t i = 0; i < cfg->n_agents; i++)
		agent_entry_fini(&cfg->agents[i]);
	for (size_t i = 0; i < CFG_KEYS_MAX; i++) {
		free(cfg->origins[i]);
		free(cfg->holds[i].origin);
	}
	ports_fini(&cfg->local_ports);
	ports_fini(&cfg->publish_ports);
	void *others[] = {
		cfg->rules,	     cfg->rule_keys,	     cfg->sockets,
		cfg->agents,	     cfg->upstream_proxy,    cfg->upstream_proxy_credentials,
		cfg->notify_command, cfg->dns_trust_anchors, cfg->project_dir,
		cfg->project_file,   cfg->user_file,	     cfg->project.text,
	};
	for (size_t i = 0; i < ZW_N_ELEMENTS(others); i++)
		free(others[i]);
	free(cfg);
}

int cfg_rule_add(struct cfg *cfg, const struct pol_rule *rule, const char **ret_why)
{
	zw_autofree char *ascii = NULL;
	struct pol_rule r = *rule;

	if (r.kind == POL_KIND_SITE) {
		int code = cfg_site_to_ascii(r.pattern, &ascii, ret_why);

		if (code < 0)
			return code;
		r.pattern = ascii;
	}
	int code = pol_rule_check(&r, ret_why);
	if (code < 0)
		return code;
	r.id = CFG_RULE_FIRST + (uint32_t)cfg->n_rules;
	r.pattern = zw_xstrdup(r.pattern);
	r.program = copy_or_null(r.program);
	r.origin = copy_or_null(r.origin);
	r.reason = copy_or_null(r.reason);
	cfg->rules = zw_xrealloc(cfg->rules, cfg->n_rules + 1, sizeof(*cfg->rules));
	cfg->rule_keys = zw_xrealloc(cfg->rule_keys, cfg->n_rules + 1, sizeof(*cfg->rule_keys));
	cfg->rule_keys[cfg->n_rules] = NULL;
	cfg->rules[cfg->n_rules++] = r;
	return 0;
}

void cfg_agent_sites_add(struct cfg *cfg, const struct cfg_agent *agent)
{
	zw_autofree char *origin = zw_xasprintf("built in, %s", agent->name);

	for (size_t i = 0; i < agent->n_sites; i++) {
		const struct pol_rule rule = {
			.kind = POL_KIND_SITE,
			.action = POL_ACTION_ALLOW,
			.layer = POL_LAYER_SYSTEM,
			.pattern = agent->sites[i].site,
			.origin = origin,
		};
		const char *why;
		int code = cfg_rule_add(cfg, &rule, &why);

		assert(code == 0);
	}
}

bool cfg_socket_open(struct cfg *cfg, const char *path)
{
	bool is_listed = false;

	for (size_t i = 0; i < cfg->n_rules; i++) {
		struct pol_rule *r = &cfg->rules[i];

		if (r->kind != POL_KIND_SOCKET || r->action != POL_ACTION_ALLOW ||
		    strcmp(r->pattern, path) != 0)
			continue;
		r->flags |= POL_RULE_DANGEROUS_OK;
		is_listed = true;
	}
	return is_listed;
}

void cfg_fill(const struct cfg *cfg, struct policy *policy)
{
	pol_set_mode(policy, cfg->mode);
	pol_set_resolvers(policy, cfg->dns_doh == CFG_DOH_BLOCK ? POL_RESOLVERS_BLOCKED
								: POL_RESOLVERS_FILTERED);
	for (size_t i = 0; i < cfg->n_rules; i++) {
		int code = pol_rule_add(policy, &cfg->rules[i]);

		assert(code == 0);
	}
	for (size_t i = 0; i < cfg->allow_private.n; i++) {
		int code = pol_private_add(policy, cfg->allow_private.list[i].text);

		assert(code == 0);
	}
}

/* -- files -------------------------------------------------------------------------------------- */

static bool exists_in(const char *dir, const char *name)
{
	zw_autofree char *path = zw_xasprintf("%s/%s", strcmp(dir, "/") == 0 ? "" : dir, name);
	struct stat st;

	return lstat(path, &st) == 0;
}

/* The folder above, in place; false at the root. */
static bool go_up(char *dir)
{
	char *slash = strrchr(dir, '/');

	if (slash == NULL || strcmp(dir, "/") == 0)
		return false;
	slash[slash == dir] = '\0';
	return true;
}

/* The git work tree around the start folder, or that folder itself. Home, and what lies above it,
 * is never a project by way of a folder below it. */
static char *find_project_dir(const struct cfg_places *p)
{
	char *dir = zw_xstrdup(p->start_dir);

	do {
		if (exists_in(dir, ".git"))
			return dir;
	} while (go_up(dir) && !cfg_path_within(p->home_real, dir) &&
		 !cfg_path_within(p->home, dir));
	free(dir);
	return zw_xstrdup(p->start_dir);
}

/* Claude Code's settings, named by --config. */
static void load_claude(struct cfg *cfg, const struct cfg_places *places, const char *shown,
			const char *text, size_t len, struct cfg_report *report)
{
	struct cfg_import import = {0};

	if (cfg_import_read(text, len, shown, CFG_IMPORT_CLAUDE, false, NULL, places, &import,
			    report) == 0)
		cfg_import_apply(&import, cfg, places, report);
	cfg_import_fini(&import);
}

static void load_file(struct cfg *cfg, const struct cfg_places *places, enum pol_layer layer,
		      const char *path, bool must_exist, const uid_t *admin,
		      struct cfg_report *report, struct cfg_project *keep)
{
	zw_autofree char *shown = cfg_path_show(places, path);
	zw_autofree char *text = NULL;
	const char *why = "";
	size_t len = 0;
	zw_autoclose int fd = cfg_open_plain(AT_FDCWD, path, 0, &why);

	if ((fd == -ENOENT || fd == -ENOTDIR) && !must_exist)
		return;
	if (fd < 0) {
		cfg_report_error(report, shown, 0, "cannot read the settings (%s):", why);
		return;
	}
	if (admin != NULL && !cfg_is_admins(fd, *admin, &why)) {
		cfg_report_error(report, shown, 0, "%s, so nothing is taken from it:", why);
		return;
	}
	int code = zw_read_fd(fd, CFG_JSON_SIZE_MAX, &text, &len);
	if (code < 0) {
		cfg_report_error(report, shown, 0,
				 "cannot read the settings (%s):", zw_strerror(code));
		return;
	}
	if (layer == POL_LAYER_USER && must_exist &&
	    cfg_import_recognise(text, len) == CFG_IMPORT_CLAUDE)
		load_claude(cfg, places, shown, text, len, report);
	else
		cfg_read_text(cfg, places, layer, shown, text, len, report);
	if (keep == NULL)
		return;
	keep->text = zw_steal(&text);
	keep->len = len;
}

/* The project files from the start folder up to the project's, each of which narrows: a new one in a
 * folder below cannot take back what one above refuses. The nearest may have wishes. */
static void load_project(struct cfg *cfg, const struct cfg_places *p, struct cfg_report *report)
{
	zw_autofree char *dir = zw_xstrdup(p->start_dir);

	for (;;) {
		if (exists_in(dir, CFG_PROJECT_FILE)) {
			zw_autofree char *path = zw_xasprintf(
				"%s/%s", strcmp(dir, "/") == 0 ? "" : dir, CFG_PROJECT_FILE);

			bool is_first = *cfg->project_file == '\0';
			load_file(cfg, p, POL_LAYER_PROJECT, path, true, NULL, report,
				  is_first ? &cfg->project : NULL);
			if (is_first) {
				free(cfg->project_file);
				cfg->project_file = zw_steal(&path);
			}
		}
		if (strcmp(dir, cfg->project_dir) == 0 || !go_up(dir))
			return;
	}
}

/* DNSSEC is validated by a library that does not speak HTTPS: such resolvers are left out. */
static void validate_narrows(struct cfg *cfg, struct cfg_report *report)
{
	struct cfg_items *items = &cfg->dns_upstreams;
	zw_autofree char *origin = NULL;
	size_t n = 0;

	for (size_t i = 0; cfg->dns_validate && i < items->n; i++) {
		struct cfg_item *item = &items->list[i];

		if (!zw_starts_with(item->text, "https://")) {
			items->list[n++] = *item;
			continue;
		}
		free(origin);
		origin = zw_steal(&item->origin);
		free(item->text);
	}
	if (!cfg->dns_validate)
		return;
	items->n = n;
	if (n == 0)
		cfg_report_error(report, origin != NULL ? origin : "", 0,
				 "`validate` needs a resolver tls://.. or system in `upstreams`: "
				 "over https:// DNSSEC is not validated.");
}

int cfg_load(const struct cfg_places *places, const struct cfg_source *source, struct cfg **ret,
	     struct cfg_report *report)
{
	zw_autofree char *project_dir = find_project_dir(places);
	struct cfg *cfg = cfg_new(places, project_dir);

	cfg_policy_load(cfg, places, source, report);
	load_file(cfg, places, POL_LAYER_SYSTEM,
		  source->system_file != NULL ? source->system_file : CFG_SYSTEM_FILE,
		  source->system_file != NULL, &source->admin, report, NULL);
	if (source->user_file != NULL) {
		free(cfg->user_file);
		cfg->user_file = zw_xstrdup(source->user_file);
	}
	load_file(cfg, places, POL_LAYER_USER, cfg->user_file, source->user_file != NULL, NULL,
		  report, NULL);
	if (!source->no_project)
		load_project(cfg, places, report);
	validate_narrows(cfg, report);
	*ret = cfg;
	return report->n_errors > 0 ? ZW_E_CONFIG : 0;
}
