/* SPDX-License-Identifier: MIT */
#include "src/config/show.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/config/config_int.h"
#include "src/config/json.h"
#include "src/config/saved_file.h"

/* What is being written: one key of the settings. */
struct shower {
	const struct cfg *cfg;
	struct cfg_shown_list *to;
	const struct cfg_key *key;
	size_t index;
	const void *member;
};

static void put(struct shower *s, bool is_member, char *take_value, const char *origin)
{
	struct cfg_shown_list *l = s->to;

	l->list = zw_xrealloc(l->list, l->n + 1, sizeof(*l->list));
	l->list[l->n++] = (struct cfg_shown){
		.key = s->key->path,
		.is_member = is_member,
		.value = take_value,
		.origin = zw_xstrdup(origin != NULL ? origin : "built in"),
	};
}

static void put_single(struct shower *s, char *take_value)
{
	put(s, false, take_value, s->cfg->origins[s->index]);
}

/* `"name": value` */
static void put_member(struct shower *s, const char *name, const char *value, const char *origin)
{
	zw_autofree char *quoted = cfg_json_quote(name);

	put(s, true, zw_xasprintf("%s: %s", quoted, value), origin);
}

/* -- single values ------------------------------------------------------------------------------ */

/* A number with the largest unit that divides it. */
static char *quantity(int64_t value, const char *const *units, const int64_t *factors, size_t n)
{
	for (size_t i = 0; value != 0 && i < n; i++)
		if (value % factors[i] == 0)
			return zw_xasprintf("\"%lld%s\"", (long long)(value / factors[i]),
					    units[i]);
	return zw_xasprintf("\"%lld\"", (long long)value);
}

static char *duration(int64_t ms)
{
	static const char *const units[] = {"d", "h", "m", "s", "ms"};
	static const int64_t factors[] = {86400000, 3600000, 60000, 1000, 1};

	return quantity(ms, units, factors, ZW_N_ELEMENTS(units));
}

static char *size(int64_t b)
{
	static const char *const units[] = {"T", "G", "M", "K"};
	static const int64_t factors[] = {1ll << 40, 1 << 30, 1 << 20, 1 << 10};

	return quantity(b, units, factors, ZW_N_ELEMENTS(units));
}

static char *choice(const char *choices, int index)
{
	for (; index > 0; index--)
		choices = strchr(choices, '|') + 1;
	return zw_xasprintf("\"%.*s\"", (int)strcspn(choices, "|"), choices);
}

static void show_mode(struct shower *s)
{
	put_single(s, choice(s->key->choices, (int)*(const enum pol_mode *)s->member));
}

static void show_choice(struct shower *s)
{
	put_single(s, choice(s->key->choices, *(const int *)s->member));
}

static void show_bool(struct shower *s)
{
	put_single(s, zw_xstrdup(*(const bool *)s->member ? "true" : "false"));
}

static void show_int(struct shower *s)
{
	put_single(s, zw_xasprintf("%lld", (long long)*(const int64_t *)s->member));
}

static void show_duration(struct shower *s)
{
	put_single(s, duration(*(const int64_t *)s->member));
}

static void show_size(struct shower *s)
{
	put_single(s, size(*(const int64_t *)s->member));
}

static void show_arm(struct shower *s)
{
	int64_t ms = *(const int64_t *)s->member;

	put_single(s, ms == CFG_ARM_SECOND_KEY ? zw_xstrdup("\"second-key\"") : duration(ms));
}

static void show_flood(struct shower *s)
{
	const struct cfg_flood *f = s->member;
	zw_autofree char *in = duration(f->in_ms);

	put_single(s, zw_xasprintf("\"%lld in %s", (long long)f->n, in + 1));
}

static void show_text(struct shower *s)
{
	put_single(s, cfg_json_quote(*(char *const *)s->member));
}

/* -- lists -------------------------------------------------------------------------------------- */

static void show_items(struct shower *s)
{
	const struct cfg_items *items = s->member;

	for (size_t i = 0; i < items->n; i++)
		put(s, false, cfg_json_quote(items->list[i].text), items->list[i].origin);
}

static void show_ports(struct shower *s)
{
	const struct cfg_ports *ports = s->member;

	for (size_t i = 0; i < ports->n; i++)
		put(s, false, zw_xasprintf("%u", (unsigned)ports->list[i]), ports->origins[i]);
}

/* Rules that this setting has made. */
static void show_rules(struct shower *s)
{
	for (size_t i = 0; i < s->cfg->n_rules; i++) {
		const struct pol_rule *r = &s->cfg->rules[i];

		if (s->cfg->rule_keys[i] == NULL || strcmp(s->cfg->rule_keys[i], s->key->path) != 0)
			continue;
		char *value = cfg_json_quote(r->pattern);
		if ((r->flags & POL_RULE_DIRECT) != 0) {
			zw_autofree char *path = value;

			value = zw_xasprintf("{\"path\": %s, \"direct\": true}", path);
		}
		put(s, false, value, r->origin);
	}
}

static void show_reasons(struct shower *s)
{
	for (size_t i = 0; i < s->cfg->n_rules; i++) {
		const struct pol_rule *r = &s->cfg->rules[i];
		zw_autofree char *reason = cfg_json_quote(r->reason != NULL ? r->reason : "");

		if (s->cfg->rule_keys[i] != NULL && r->kind == POL_KIND_SITE && r->reason != NULL)
			put_member(s, r->pattern, reason, r->origin);
	}
}

/* Items "ZONE=RESOLVER"; all of a zone become one entry, at its first. */
static void show_zones(struct shower *s)
{
	const struct cfg_items *items = s->member;

	for (size_t i = 0; i < items->n; i++) {
		const char *text = items->list[i].text;
		size_t len = strcspn(text, "=") + 1, k = 0;

		while (k < i && strncmp(items->list[k].text, text, len) != 0)
			k++;
		if (k < i)
			continue;
		zw_autofree char *zone = zw_xmemdup0(text, len - 1);
		zw_autofree char *list = zw_xstrdup("");
		for (; k < items->n; k++) {
			if (strncmp(items->list[k].text, text, len) != 0)
				continue;
			zw_autofree char *before = list;
			zw_autofree char *quoted = cfg_json_quote(items->list[k].text + len);

			list = zw_xasprintf("%s%s%s", before, *before != '\0' ? ", " : "", quoted);
		}
		zw_autofree char *value = zw_xasprintf("[%s]", list);
		put_member(s, zone, value, items->list[i].origin);
	}
}

/* Items "PATTERN BYTES". */
static void show_quotas(struct shower *s)
{
	const struct cfg_items *items = s->member;

	for (size_t i = 0; i < items->n; i++) {
		const char *blank = strrchr(items->list[i].text, ' ');
		zw_autofree char *site =
			zw_xmemdup0(items->list[i].text, (size_t)(blank - items->list[i].text));
		int64_t b = 0;

		cfg_parse_size(blank + 1, &b);
		zw_autofree char *value = size(b);
		put_member(s, site, value, items->list[i].origin);
	}
}

static void show_agents(struct shower *s)
{
	for (size_t i = 0; i < s->cfg->n_agents; i++) {
		const struct cfg_agent_entry *e = &s->cfg->agents[i];
		zw_autofree char *command = cfg_json_quote(e->command);
		zw_autofree char *preset = cfg_json_quote(e->preset);
		zw_autofree char *value = zw_xasprintf(
			"{\"command\": %s, \"preset\": %s, \"importSettings\": \"%s\"}", command,
			preset, e->import_settings);

		put_member(s, e->name, value, e->origin);
	}
}

/* By the word in keys.def. */
static const struct {
	const char *type;
	void (*show)(struct shower *s);
	char bracket; /* of what its entries stand in; 0 = a single value */
} types[] = {
	{"MODE", show_mode, 0},
	{"CHOICE", show_choice, 0},
	{"BOOL", show_bool, 0},
	{"INT", show_int, 0},
	{"DURATION", show_duration, 0},
	{"SIZE", show_size, 0},
	{"ARM", show_arm, 0},
	{"FLOOD", show_flood, 0},
	{"TEXT", show_text, 0},
	{"PATH", show_text, 0},
	{"PROXY", show_text, 0},
	{"SITES_ALLOW", show_rules, '['},
	{"SITES_DENY", show_rules, '['},
	{"REASONS", show_reasons, '{'},
	{"SOCKETS", show_rules, '['},
	{"SOCKETS_DENY", show_rules, '['},
	{"PORTS", show_ports, '['},
	{"PRIVATE", show_items, '['},
	{"UPSTREAMS", show_items, '['},
	{"ZONES", show_zones, '{'},
	{"QUOTAS", show_quotas, '{'},
	{"PATHS", show_items, '['},
	{"KEYS", show_items, '['},
	{"FLAGS", show_items, '['},
	{"PATTERNS", show_items, '['},
	{"AGENTS", show_agents, '{'},
};

static size_t type_of(const struct cfg_key *key)
{
	size_t i = 0;

	while (i < ZW_N_ELEMENTS(types) && strcmp(types[i].type, key->type) != 0)
		i++;
	assert(i < ZW_N_ELEMENTS(types)); /* a new type of setting has to be shown */
	return i;
}

void cfg_show(const struct cfg *cfg, struct cfg_shown_list *ret)
{
	size_t n;
	const struct cfg_key *keys = cfg_keys(&n);

	*ret = (struct cfg_shown_list){0};
	for (size_t i = 0; i < n; i++) {
		struct shower s = {cfg, ret, &keys[i], i, cfg_key_member(cfg, i)};

		types[type_of(&keys[i])].show(&s);
	}
}

void cfg_shown_fini(struct cfg_shown_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->list[i].value);
		free(l->list[i].origin);
	}
	free(l->list);
	*l = (struct cfg_shown_list){0};
}

/* -- as a file ---------------------------------------------------------------------------------- */

static void indent(struct zw_buf *b, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		zw_buf_addf(b, "\t");
}

static size_t depth_of(const char *path)
{
	size_t n = 0;

	for (; *path != '\0'; path++)
		n += *path == '.';
	return n;
}

/* Sections that @path and @other have in common; none where the table ends. */
static size_t common_depth(const char *path, const char *other)
{
	size_t n = 0;

	for (size_t i = 0; path[i] != '\0' && path[i] == other[i]; i++)
		n += path[i] == '.';
	return n;
}

/* Opens the sections of @path that the one before was not in. */
static void sections_open(struct zw_buf *b, const char *path, size_t common)
{
	size_t depth = 0;

	for (const char *dot; (dot = strchr(path, '.')) != NULL; path = dot + 1, depth++) {
		if (depth < common)
			continue;
		indent(b, depth + 1);
		zw_buf_addf(b, "\"%.*s\": {\n", (int)(dot - path), path);
	}
	indent(b, depth + 1);
	zw_buf_addf(b, "\"%s\": ", path);
}

static void entries_add(struct zw_buf *b, const struct cfg_shown_list *l, size_t *at, char bracket,
			const char *key)
{
	bool is_first = true;

	if (bracket == 0) {
		zw_buf_addf(b, "%s", l->list[(*at)++].value);
		return;
	}
	zw_buf_addf(b, "%c", bracket);
	for (; *at < l->n && l->list[*at].key == key; (*at)++, is_first = false)
		zw_buf_addf(b, "%s%s", is_first ? "" : ", ", l->list[*at].value);
	zw_buf_addf(b, "%c", bracket == '[' ? ']' : '}');
}

char *cfg_show_file(const struct cfg *cfg)
{
	struct cfg_shown_list l;
	struct zw_buf b;
	size_t n, at = 0;
	const struct cfg_key *keys = cfg_keys(&n);

	zw_buf_init(&b, 1u << 30);
	cfg_show(cfg, &l);
	zw_buf_addf(&b, "{\n");
	for (size_t i = 0; i < n; i++) {
		const char *before = i > 0 ? keys[i - 1].path : "";
		const char *after = i + 1 < n ? keys[i + 1].path : "";
		size_t depth = depth_of(keys[i].path), stay = common_depth(keys[i].path, after);

		sections_open(&b, keys[i].path, common_depth(keys[i].path, before));
		entries_add(&b, &l, &at, types[type_of(&keys[i])].bracket, keys[i].path);
		for (; depth > stay; depth--) {
			zw_buf_addf(&b, "\n");
			indent(&b, depth);
			zw_buf_addf(&b, "}");
		}
		zw_buf_addf(&b, i + 1 < n ? ",\n" : "\n");
	}
	zw_buf_addf(&b, "}\n");
	cfg_shown_fini(&l);
	char *text = zw_xmemdup0(zw_buf_head(&b), b.len);
	zw_buf_fini(&b);
	return text;
}

/* -- the whole policy --------------------------------------------------------------------------- */

static int by_rule(const void *a, const void *b)
{
	const struct pol_rule *x = *(const struct pol_rule *const *)a;
	const struct pol_rule *y = *(const struct pol_rule *const *)b;
	int order = (int)x->kind - (int)y->kind;

	if (order == 0)
		order = strcmp(x->pattern, y->pattern);
	if (order == 0)
		order = (int)x->action - (int)y->action;
	if (order == 0)
		order = (int)x->layer - (int)y->layer;
	return order != 0 ? order
			  : strcmp(x->origin != NULL ? x->origin : "",
				   y->origin != NULL ? y->origin : "");
}

static void member_add(struct zw_buf *b, const char *name, const char *text)
{
	zw_autofree char *quoted = cfg_json_quote(text != NULL ? text : "");

	if (text != NULL && *text != '\0')
		zw_buf_addf(b, ", \"%s\": %s", name, quoted);
}

static void rule_add(struct zw_buf *b, const struct pol_rule *r)
{
	zw_buf_addf(b, "{\"do\": \"%s\", \"kind\": \"%s\"",
		    r->action == POL_ACTION_ALLOW ? "allow" : "deny",
		    r->kind == POL_KIND_SITE ? "site" : "socket");
	member_add(b, "target", r->pattern);
	member_add(b, "program", r->program);
	member_add(b, "layer", pol_layer_word(r->layer));
	member_add(b, "origin", r->origin);
	member_add(b, "reason", r->reason);
	zw_buf_addf(b, "}");
}

static void saved_add(struct zw_buf *b, const struct pol_saved *r)
{
	char until[32] = "";

	zw_buf_addf(b, "{\"id\": %u, \"do\": \"%s\", \"kind\": \"%s\"", r->id,
		    r->action == POL_ACTION_ALLOW ? "allow" : "deny",
		    r->kind == POL_KIND_SITE ? "site" : "socket");
	if (r->until_s != 0)
		cfg_time_format(r->until_s, until);
	member_add(b, "target", r->target);
	member_add(b, "program", r->program);
	member_add(b, "project", r->project);
	member_add(b, "until", until);
	zw_buf_addf(b, "}");
}

static void rules_add(struct zw_buf *b, const struct cfg *cfg)
{
	zw_autofree const struct pol_rule **sorted = zw_xcalloc(cfg->n_rules + 1, sizeof(*sorted));

	for (size_t i = 0; i < cfg->n_rules; i++)
		sorted[i] = &cfg->rules[i];
	qsort(sorted, cfg->n_rules, sizeof(*sorted), by_rule);
	zw_buf_addf(b, "\t\"rules\": [");
	for (size_t i = 0; i < cfg->n_rules; i++) {
		zw_buf_addf(b, i > 0 ? ",\n\t\t" : "\n\t\t");
		rule_add(b, sorted[i]);
	}
	zw_buf_addf(b, "\n\t],\n");
}

char *cfg_show_policy(const struct cfg *cfg, const struct pol_saved *saved, size_t n)
{
	struct cfg_shown_list l;
	struct zw_buf b;
	zw_autofree char *project = cfg_json_quote(cfg->project_dir);

	zw_buf_init(&b, 1u << 30);
	cfg_show(cfg, &l);
	zw_buf_addf(&b, "{\n\t\"schema\": 1,\n\t\"project\": %s,\n\t\"settings\": [", project);
	for (size_t i = 0; i < l.n; i++) {
		const struct cfg_shown *v = &l.list[i];

		zw_buf_addf(&b, "%s\n\t\t{\"key\": \"%s\", \"value\": %s%s%s", i > 0 ? "," : "",
			    v->key, v->is_member ? "{" : "", v->value, v->is_member ? "}" : "");
		member_add(&b, "origin", l.list[i].origin);
		zw_buf_addf(&b, "}");
	}
	zw_buf_addf(&b, "\n\t],\n");
	rules_add(&b, cfg);
	zw_buf_addf(&b, "\t\"saved\": [");
	for (size_t i = 0; i < n; i++) {
		zw_buf_addf(&b, i > 0 ? ",\n\t\t" : "\n\t\t");
		saved_add(&b, &saved[i]);
	}
	zw_buf_addf(&b, "%s]\n}\n", n > 0 ? "\n\t" : "");
	cfg_shown_fini(&l);
	char *text = zw_xmemdup0(zw_buf_head(&b), b.len);
	zw_buf_fini(&b);
	return text;
}
