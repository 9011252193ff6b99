/* SPDX-License-Identifier: MIT */
#include "src/config/import.h"

#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/config/config_int.h"
#include "src/config/edit.h"
#include "src/config/json.h"

#define ROWS_MAX 4096u

struct reading {
	struct cfg_import *to;
	const char *shown;
	bool is_project;
	bool is_claude;
	bool is_port_said;
	const struct cfg_catalogue *catalogue;
	const struct cfg_places *places;
	const char *prefix; /* of keys as shown: "sandbox." or "" */
};

/* A value as JSON, for the table. */
static char *value_of(const struct cfg_json *v)
{
	switch (v->type) {
	case CFG_JSON_STRING:
		return cfg_json_quote(v->str);
	case CFG_JSON_NUMBER:
		return zw_xstrdup(v->str);
	case CFG_JSON_BOOL:
		return zw_xstrdup(v->boolean ? "true" : "false");
	case CFG_JSON_NULL:
		return zw_xstrdup("null");
	case CFG_JSON_ARRAY:
		return zw_xstrdup(v->n > 0 ? "[..]" : "[]");
	case CFG_JSON_OBJECT:
		return zw_xstrdup(v->n > 0 ? "{..}" : "{}");
	}
	return zw_xstrdup("");
}

static struct cfg_import_row *row(struct reading *r, const struct cfg_json *v, const char *from,
				  const char *to, const char *note)
{
	struct cfg_import *i = r->to;

	if (i->n == ROWS_MAX)
		return NULL;
	i->list = zw_xrealloc(i->list, i->n + 1, sizeof(*i->list));
	struct cfg_import_row *row = &i->list[i->n++];
	*row = (struct cfg_import_row){
		.file = zw_xstrdup(r->shown),
		.line = v->line,
		.from = zw_xasprintf("%s%s", r->prefix, from),
		.value = value_of(v),
		.to = to,
		.text = zw_xstrdup(v->str != NULL ? v->str : ""),
		.note = zw_xstrdup(note),
	};
	return row;
}

/* Nothing becomes of it, and the user may have relied on it. */
static void left(struct reading *r, const struct cfg_json *v, const char *from, const char *note)
{
	row(r, v, from, NULL, note);
	r->to->n_left++;
}

static void take(struct reading *r, const struct cfg_json *v, const char *from, const char *to,
		 bool widens, const char *note)
{
	if (r->is_project && widens)
		left(r, v, from,
		     "the project's: a wish, not a grant; put it under `wish` in .zwatch.json");
	else
		row(r, v, from, to, note);
}

/* -- lists -------------------------------------------------------------------------------------- */

static void site(struct reading *r, const struct cfg_json *v, const char *from, bool is_allow)
{
	zw_autofree char *ascii = NULL;
	const char *why = "";
	const struct pol_rule rule = {
		.kind = POL_KIND_SITE,
		.action = is_allow ? POL_ACTION_ALLOW : POL_ACTION_DENY,
		.layer = POL_LAYER_USER,
	};

	if (strcmp(v->str, "*") == 0) {
		left(r, v, from, "every site: mode watch allows and lists them, guard asks");
		return;
	}
	struct pol_rule checked = rule;
	if (cfg_site_to_ascii(v->str, &ascii, &why) < 0) {
		left(r, v, from, why);
		return;
	}
	checked.pattern = ascii;
	if (pol_rule_check(&checked, &why) < 0) {
		left(r, v, from, why);
		return;
	}
	const char *note = "";
	if (is_allow && strrchr(ascii, ':') == NULL && !r->is_port_said) {
		note = "any port there; here 80 and 443, the rest is asked about";
		r->is_port_said = true;
	}
	take(r, v, from, is_allow ? "network.allowedDomains" : "network.deniedDomains", is_allow,
	     note);
}

static void allowed_site(struct reading *r, const struct cfg_json *v, const char *from)
{
	site(r, v, from, true);
}

static void denied_site(struct reading *r, const struct cfg_json *v, const char *from)
{
	site(r, v, from, false);
}

/* Never an allow: nothing has used the list so far. */
static void unix_socket(struct reading *r, const struct cfg_json *v, const char *from)
{
	zw_autofree char *path = NULL;
	const struct cfg_class *c = NULL;

	if (r->catalogue != NULL && cfg_path_expand(r->places, "/", v->str, &path) == 0)
		c = cfg_catalogue_find(r->catalogue, path);
	if (c != NULL && c->c.risk == POL_RISK_CRITICAL) {
		zw_autofree char *note = zw_xasprintf(
			"left out: grants %s. See zwatch explain unix:%s", c->grants, path);

		left(r, v, from, note);
		return;
	}
	row(r, v, from, NULL,
	    r->is_claude
		    ? "stays at ask: on Linux Claude Code ignores this list, so nothing used it"
		    : "stays at ask; zwatch can enforce it");
}

/* "//x" is the other program's way to write an absolute path. */
static void path_entry(struct reading *r, const struct cfg_json *v, const char *from,
		       const char *to, bool widens)
{
	const char *path = zw_starts_with(v->str, "//") ? v->str + 1 : v->str;
	zw_autofree char *whole = NULL, *below = NULL;

	/* In the user's own file of Claude Code they start from its folder. */
	if (r->is_claude && !r->is_project && path[0] != '/' && path[0] != '~') {
		below = zw_xasprintf("~/.claude/%s", zw_starts_with(path, "./") ? path + 2 : path);
		path = below;
	}
	if (strpbrk(path, "*?") != NULL) {
		left(r, v, from, "a pattern; zwatch takes files and folders by their path");
		return;
	}
	if (cfg_path_expand(r->places, "/", path, &whole) < 0) {
		left(r, v, from, "not a path that can be used here");
		return;
	}
	size_t n = r->to->n;
	take(r, v, from, to, widens, "");
	if (r->to->n == n)
		return;
	free(r->to->list[n].text);
	r->to->list[n].text = zw_xstrdup(path);
}

static void allow_write(struct reading *r, const struct cfg_json *v, const char *from)
{
	path_entry(r, v, from, "filesystem.allowWrite", true);
}

static void deny_write(struct reading *r, const struct cfg_json *v, const char *from)
{
	path_entry(r, v, from, "filesystem.denyWrite", false);
}

static void deny_read(struct reading *r, const struct cfg_json *v, const char *from)
{
	path_entry(r, v, from, "filesystem.denyRead", false);
}

static void allow_read(struct reading *r, const struct cfg_json *v, const char *from)
{
	path_entry(r, v, from, "filesystem.allowRead", true);
}

/* -- the tables --------------------------------------------------------------------------------- */

/* Lists of texts, below `sandbox.` in the one file and at the top of the other. */
static const struct {
	const char *path;
	void (*entry)(struct reading *r, const struct cfg_json *v, const char *from);
} lists[] = {
	{"network.allowedDomains", allowed_site},  {"network.deniedDomains", denied_site},
	{"network.allowUnixSockets", unix_socket}, {"filesystem.allowWrite", allow_write},
	{"filesystem.denyWrite", deny_write},	   {"filesystem.denyRead", deny_read},
	{"filesystem.allowRead", allow_read},
};

/* What becomes nothing. is_left: the user may have relied on it. */
static const struct {
	const char *path;
	bool is_left;
	const char *note;
} nothing[] = {
	{"network.allowAllUnixSockets", true,
	 "not imported: sockets between the agent's own programs are open anyway, which is what "
	 "this is "
	 "mostly used for"},
	{"network.allowLocalBinding", false, "programs inside may always listen"},
	{"network.httpProxyPort", false, "zwatch brings its own proxy"},
	{"network.socksProxyPort", false, "zwatch brings its own proxy"},
	{"network.tlsTerminate", true, "zwatch does not open TLS"},
	{"network.mitmProxy", true, "zwatch does not open TLS"},
	{"excludedCommands", true, "would let commands leave the sandbox"},
	{"allowUnsandboxedCommands", true, "would let commands leave the sandbox"},
	{"enableWeakerNestedSandbox", true, "would let commands leave the sandbox"},
	{"ignoreViolations", false, "not needed"},
	{"autoAllowBashIfSandboxed", false, "not needed"},
	{"failIfUnavailable", false, "zwatch never starts an agent without its sandbox"},
	{"allowPty", false, "programs inside always have a terminal"},
	{"ripgrep", false, "not needed"},
	{"network.allowMachLookup", false, "there is nothing of the kind on Linux"},
	{"mandatoryDenySearchDepth", false, "not needed"},
};

/* Where people write keys, and where the schema of Claude Code has them. */
static const struct {
	const char *path, *right;
} misplaced[] = {
	{"sandbox.network.allow", "sandbox.network.allowedDomains"},
	{"sandbox.network.deny", "sandbox.network.deniedDomains"},
	{"sandbox.network.allowedHosts", "sandbox.network.allowedDomains"},
	{"sandbox.additionalAllowedHosts", "sandbox.network.allowedDomains"},
	{"sandbox.allowedDomains", "sandbox.network.allowedDomains"},
	{"sandbox.deniedDomains", "sandbox.network.deniedDomains"},
	{"sandbox.allowUnixSockets", "sandbox.network.allowUnixSockets"},
	{"sandbox.allowAllUnixSockets", "sandbox.network.allowAllUnixSockets"},
	{"sandbox.allowLocalBinding", "sandbox.network.allowLocalBinding"},
	{"sandbox.allowWrite", "sandbox.filesystem.allowWrite"},
	{"sandbox.denyRead", "sandbox.filesystem.denyRead"},
	{"permissions.allowAllUnixSockets", "sandbox.network.allowAllUnixSockets"},
	{"permissions.allowUnixSockets", "sandbox.network.allowUnixSockets"},
	{"network", "sandbox.network"},
	{"filesystem", "sandbox.filesystem"},
	{"allowedDomains", "sandbox.network.allowedDomains"},
};

static bool say_misplaced(struct reading *r, const char *path, const struct cfg_json *v)
{
	for (size_t i = 0; i < ZW_N_ELEMENTS(misplaced); i++) {
		const char *prefix = r->prefix;

		if (strcmp(misplaced[i].path, path) != 0)
			continue;
		zw_autofree char *note = zw_xasprintf(
			"this key has no effect where it stands; the schema has it at %s",
			misplaced[i].right);
		r->prefix = "";
		left(r, v, path, note);
		r->prefix = prefix;
		return true;
	}
	return false;
}

/* -- one key ------------------------------------------------------------------------------------ */

static void list_take(struct reading *r, size_t index, const struct cfg_json *v)
{
	if (v->type != CFG_JSON_ARRAY) {
		left(r, v, lists[index].path, "not a list");
		return;
	}
	for (const struct cfg_json *e = v->child; e != NULL; e = e->next) {
		if (e->type == CFG_JSON_STRING)
			lists[index].entry(r, e, lists[index].path);
		else
			left(r, e, lists[index].path, "not a text");
	}
}

/* Only of sites that were taken: a reason alone refuses nothing. */
static void reasons_take(struct reading *r, const struct cfg_json *v)
{
	for (const struct cfg_json *m = v->child; v->type == CFG_JSON_OBJECT && m != NULL;
	     m = m->next) {
		zw_autofree char *key = cfg_json_quote(m->key);
		bool is_known = false;

		for (size_t i = 0; i < r->to->n; i++) {
			const struct cfg_import_row *row = &r->to->list[i];

			is_known |= row->to != NULL &&
				    strcmp(row->to, "network.deniedDomains") == 0 &&
				    strcmp(row->value, key) == 0;
		}
		if (!is_known || m->type != CFG_JSON_STRING || strlen(m->str) > 500) {
			left(r, m, "network.deniedDomainReasons",
			     is_known ? "not a text of at most 500 bytes"
				      : "of no site in deniedDomains");
			continue;
		}
		struct cfg_import_row *reason =
			row(r, m, "network.deniedDomainReasons", "network.deniedDomainReasons", "");
		if (reason != NULL)
			reason->name = zw_xstrdup(m->key);
	}
}

static void strict_take(struct reading *r, const struct cfg_json *v, const char *path)
{
	if (v->type != CFG_JSON_BOOL || !v->boolean) {
		row(r, v, path, NULL, "");
		return;
	}
	struct cfg_import_row *strict =
		row(r, v, path, "mode", "sockets are refused without a question, too");
	if (strict == NULL)
		return;
	free(strict->text);
	strict->text = zw_xstrdup("strict");
}

static bool is_off(const struct cfg_json *v)
{
	return v->type == CFG_JSON_BOOL && !v->boolean;
}

static void enabled_take(struct reading *r, const struct cfg_json *v)
{
	row(r, v, "enabled", NULL,
	    is_off(v) ? ""
		      : "Claude's own sandbox is on: sites will be asked twice. Turn one of the "
			"two off");
}

static void unknown(struct reading *r, const char *path, const struct cfg_json *v)
{
	const char *names[ZW_N_ELEMENTS(lists) + ZW_N_ELEMENTS(nothing) + 1];
	size_t n = 0;

	for (size_t i = 0; i < ZW_N_ELEMENTS(lists); i++)
		names[n++] = lists[i].path;
	for (size_t i = 0; i < ZW_N_ELEMENTS(nothing); i++)
		names[n++] = nothing[i].path;
	names[n] = NULL;
	const char *near = zw_nearest(path, names);
	zw_autofree char *note =
		near != NULL ? zw_xasprintf("not a key that is known. Did they mean %s%s?",
					    r->prefix, near)
			     : zw_xstrdup("not a key that is known");
	left(r, v, path, note);
}

/* @path without the prefix. */
static void key_take(struct reading *r, const char *path, const struct cfg_json *v)
{
	zw_autofree char *whole = zw_xasprintf("%s%s", r->prefix, path);

	for (size_t i = 0; i < ZW_N_ELEMENTS(lists); i++) {
		if (strcmp(lists[i].path, path) == 0) {
			list_take(r, i, v);
			return;
		}
	}
	for (size_t i = 0; i < ZW_N_ELEMENTS(nothing); i++) {
		if (strcmp(nothing[i].path, path) != 0)
			continue;
		if (nothing[i].is_left && !is_off(v))
			left(r, v, path, nothing[i].note);
		else
			row(r, v, path, NULL, nothing[i].note);
		return;
	}
	if (strcmp(path, "network.deniedDomainReasons") == 0)
		return; /* after all others */
	if (strcmp(path, "network.strictAllowlist") == 0 ||
	    strcmp(path, "network.allowManagedDomainsOnly") == 0)
		strict_take(r, v, path);
	else if (strcmp(path, "enabled") == 0)
		enabled_take(r, v);
	else if (!say_misplaced(r, whole, v))
		unknown(r, path, v);
}

/* `network`, `filesystem`, and what stands beside them. */
static void section_take(struct reading *r, const struct cfg_json *section)
{
	for (const struct cfg_json *v = section->child; v != NULL; v = v->next) {
		bool is_section =
			strcmp(v->key, "network") == 0 || strcmp(v->key, "filesystem") == 0;

		if (!is_section) {
			key_take(r, v->key, v);
			continue;
		}
		if (v->type != CFG_JSON_OBJECT) {
			left(r, v, v->key, "not a section");
			continue;
		}
		for (const struct cfg_json *m = v->child; m != NULL; m = m->next) {
			zw_autofree char *path = zw_xasprintf("%s.%s", v->key, m->key);

			key_take(r, path, m);
		}
	}
	const struct cfg_json *reasons =
		cfg_json_get(cfg_json_get(section, "network"), "deniedDomainReasons");
	if (reasons != NULL)
		reasons_take(r, reasons);
}

/* "WebFetch(domain:x)" in permissions.allow: not taken, but said how. */
static void permissions_take(struct reading *r, const struct cfg_json *permissions)
{
	static const char *const rules[] = {"allow", "ask", "deny"};
	static const char start[] = "WebFetch(domain:";

	r->prefix = "permissions.";
	for (const struct cfg_json *v = permissions->child; v != NULL; v = v->next) {
		zw_autofree char *path = zw_xasprintf("permissions.%s", v->key);

		say_misplaced(r, path, v);
	}
	for (size_t i = 0; i < ZW_N_ELEMENTS(rules); i++) {
		const struct cfg_json *list = cfg_json_get(permissions, rules[i]);

		if (list == NULL || list->type != CFG_JSON_ARRAY)
			continue;
		for (const struct cfg_json *e = list->child; e != NULL; e = e->next) {
			if (e->type != CFG_JSON_STRING || !zw_starts_with(e->str, start))
				continue;
			int len = (int)strcspn(e->str + sizeof(start) - 1, ")");
			zw_autofree char *note = zw_xasprintf(
				"on request alone: zwatch rules add %s %.*s",
				i == 2 ? "deny" : "allow", len, e->str + sizeof(start) - 1);
			row(r, e, rules[i], NULL, note);
		}
	}
}

static void claude_take(struct reading *r, const struct cfg_json *root)
{
	const struct cfg_json *sandbox = cfg_json_get(root, "sandbox");
	const struct cfg_json *permissions = cfg_json_get(root, "permissions");

	r->prefix = "";
	for (const struct cfg_json *v = root->child; v != NULL; v = v->next)
		say_misplaced(r, v->key, v);
	r->prefix = "sandbox.";
	if (sandbox != NULL && sandbox->type == CFG_JSON_OBJECT)
		section_take(r, sandbox);
	if (permissions != NULL && permissions->type == CFG_JSON_OBJECT)
		permissions_take(r, permissions);
}

/* -- the whole ---------------------------------------------------------------------------------- */

static enum cfg_import_format format_of(const struct cfg_json *root)
{
	static const char *const ours[] = {"mode",   "prompt", "history", "agents",   "keys",
					   "notify", "ui",     "redact",  "resources"};
	static const char *const theirs[] = {"sandbox", "permissions"};

	for (size_t i = 0; i < ZW_N_ELEMENTS(ours); i++)
		if (cfg_json_get(root, ours[i]) != NULL)
			return CFG_IMPORT_NONE;
	for (size_t i = 0; i < ZW_N_ELEMENTS(theirs); i++) {
		const struct cfg_json *v = cfg_json_get(root, theirs[i]);

		if (v != NULL && v->type == CFG_JSON_OBJECT)
			return CFG_IMPORT_CLAUDE;
	}
	return cfg_json_get(root, "network") != NULL || cfg_json_get(root, "filesystem") != NULL
		       ? CFG_IMPORT_SRT
		       : CFG_IMPORT_NONE;
}

enum cfg_import_format cfg_import_recognise(const char *text, size_t len)
{
	struct cfg_json_doc *doc = NULL;
	struct cfg_json_error error;

	if (cfg_json_parse(text, len, &doc, &error) < 0)
		return CFG_IMPORT_NONE;
	enum cfg_import_format format = format_of(cfg_json_root(doc));
	cfg_json_free(doc);
	return format;
}

int cfg_import_read(const char *text, size_t len, const char *shown, enum cfg_import_format format,
		    bool is_project, const struct cfg_catalogue *catalogue,
		    const struct cfg_places *places, struct cfg_import *ret,
		    struct cfg_report *report)
{
	struct reading r = {
		.to = ret,
		.shown = shown,
		.is_project = is_project,
		.is_claude = format == CFG_IMPORT_CLAUDE,
		.catalogue = catalogue,
		.places = places,
		.prefix = "",
	};
	struct cfg_json_doc *doc = NULL;
	struct cfg_json_error error;

	if (cfg_json_parse(text, len, &doc, &error) < 0) {
		cfg_report_error(report, shown, error.line, "cannot read the settings: %s.",
				 error.text);
		return ZW_E_CONFIG;
	}
	const struct cfg_json *root = cfg_json_root(doc);
	int status = 0;
	if (root->type != CFG_JSON_OBJECT) {
		cfg_report_error(report, shown, root->line, "settings are a section { }, not %s.",
				 cfg_json_type_word(root->type));
		status = ZW_E_CONFIG;
	} else if (format == CFG_IMPORT_CLAUDE) {
		claude_take(&r, root);
	} else {
		section_take(&r, root);
	}
	cfg_json_free(doc);
	return status;
}

void cfg_import_fini(struct cfg_import *i)
{
	for (size_t k = 0; k < i->n; k++) {
		free(i->list[k].file);
		free(i->list[k].from);
		free(i->list[k].value);
		free(i->list[k].text);
		free(i->list[k].name);
		free(i->list[k].note);
	}
	free(i->list);
	*i = (struct cfg_import){0};
}

char *cfg_import_merge(const struct cfg_import *i, const char *text, size_t len)
{
	char *all = text != NULL ? zw_xmemdup0(text, len) : zw_xstrdup("{\n}\n");

	for (size_t k = 0; k < i->n && all != NULL; k++) {
		const struct cfg_import_row *row = &i->list[k];
		zw_autofree char *quoted = cfg_json_quote(row->text);
		zw_autofree char *name = row->name != NULL ? cfg_json_quote(row->name) : NULL;
		zw_autofree char *member =
			name != NULL ? zw_xasprintf("%s: %s", name, quoted) : NULL;

		if (row->to == NULL)
			continue;
		zw_autofree char *before = all;
		char bracket = strcmp(row->to, "mode") == 0 ? 0 : member != NULL ? '{' : '[';
		all = cfg_edit_add(before, strlen(before), row->to, bracket,
				   member != NULL ? member : quoted);
	}
	return all;
}

/* -- into the settings -------------------------------------------------------------------------- */

static void apply_path(const struct cfg_where *w, const struct cfg_import_row *row)
{
	const struct {
		const char *key;
		struct cfg_items *items;
	} paths[] = {
		{"filesystem.allowWrite", &w->cfg->allow_write},
		{"filesystem.denyWrite", &w->cfg->deny_write},
		{"filesystem.denyRead", &w->cfg->deny_read},
		{"filesystem.allowRead", &w->cfg->allow_read},
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(paths); i++) {
		bool *is_set = &w->cfg->keys_set[cfg_key_index(paths[i].key)];

		if (strcmp(paths[i].key, row->to) != 0)
			continue;
		/* As a list of the settings does: it stands in the place of the default. */
		if (!*is_set)
			cfg_items_clear(paths[i].items);
		*is_set = true;
		cfg_take_path(w, paths[i].items, row->text);
	}
}

static void apply_reason(const struct cfg_where *w, const struct cfg_import_row *row)
{
	zw_autofree char *ascii = NULL;
	const char *why = "";

	if (cfg_site_to_ascii(row->name, &ascii, &why) < 0)
		return;
	for (size_t i = 0; i < w->cfg->n_rules; i++) {
		struct pol_rule *rule = &w->cfg->rules[i];

		if (rule->kind == POL_KIND_SITE && rule->action == POL_ACTION_DENY &&
		    rule->reason == NULL && strcasecmp(rule->pattern, ascii) == 0)
			rule->reason = zw_xstrdup(row->text);
	}
}

void cfg_import_apply(const struct cfg_import *i, struct cfg *cfg, const struct cfg_places *places,
		      struct cfg_report *report)
{
	for (size_t k = 0; k < i->n; k++) {
		const struct cfg_import_row *row = &i->list[k];
		const struct cfg_where w = {cfg,       places,	  report, POL_LAYER_USER,
					    row->file, row->line, row->to};

		if (*row->note != '\0')
			cfg_report_note(report, row->file, row->line, "`%s` %s: %s.", row->from,
					row->value, row->note);
		if (row->to == NULL)
			continue;
		if (strcmp(row->to, "network.allowedDomains") == 0)
			cfg_take_site(&w, POL_ACTION_ALLOW, row->text);
		else if (strcmp(row->to, "network.deniedDomains") == 0)
			cfg_take_site(&w, POL_ACTION_DENY, row->text);
		else if (row->name != NULL)
			apply_reason(&w, row);
		else if (strcmp(row->to, "mode") == 0)
			cfg->mode = (enum pol_mode)cfg_layer_settle(
				&w, cfg_key_index("mode"), "mode", CFG_ORDER_RAISES,
				(int64_t)cfg->mode, POL_MODE_STRICT);
		else
			apply_path(&w, row);
	}
}
