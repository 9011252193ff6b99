/* SPDX-License-Identifier: MIT
 * From a JSON tree to struct cfg, led by keys.def. */
#include "src/config/config.h"

#include <assert.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/mask.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/config/agents.h"
#include "src/config/config_int.h"
#include "src/config/json.h"
#include "src/policy/pattern.h"

#define LIST_MAX 4096u /* entries of one list */

enum key_type {
	TYPE_MODE,
	TYPE_CHOICE,
	TYPE_BOOL,
	TYPE_INT,
	TYPE_DURATION,
	TYPE_SIZE,
	TYPE_ARM,
	TYPE_FLOOD,
	TYPE_TEXT,
	TYPE_PATH,
	TYPE_PROXY,
	TYPE_SITES_ALLOW,
	TYPE_SITES_DENY,
	TYPE_REASONS,
	TYPE_SOCKETS,
	TYPE_SOCKETS_DENY,
	TYPE_PORTS,
	TYPE_PRIVATE,
	TYPE_UPSTREAMS,
	TYPE_ZONES,
	TYPE_QUOTAS,
	TYPE_PATHS,
	TYPE_KEYS,
	TYPE_FLAGS,
	TYPE_PATTERNS,
	TYPE_AGENTS,
};

/* What a project file and a managed policy may do with a row: the column `project`. */
enum layer_rule { LAYER_WIDENS, LAYER_NARROWS, LAYER_RAISES, LAYER_LOWERS, LAYER_LIMITS };

struct row {
	struct cfg_key key; /* first, so that cfg_keys() could hand the rows out one by one */
	enum key_type type;
	size_t offset;
	int64_t low, high;
	enum layer_rule rule;
};

enum other_kind { OTHER_NOTE, OTHER_REFUSED };
enum { USE_NOW, USE_LATER };

#define CFG_OTHER(path, kind, text)
#define CFG_MOVED(path, right)
#define CFG_KEY(path, type, member, fallback, low, high, choices, use, project, help) \
	{{path, fallback, #type, choices, help, USE_##use == USE_NOW,                 \
	  LAYER_##project != LAYER_WIDENS, LAYER_##project > LAYER_NARROWS},          \
	 TYPE_##type,                                                                 \
	 offsetof(struct cfg, member),                                                \
	 low,                                                                         \
	 high,                                                                        \
	 LAYER_##project},
static const struct row rows[] = {
#include "src/config/keys.def"
};
#undef CFG_KEY
#undef CFG_OTHER
#undef CFG_MOVED

#define CFG_KEY(path, type, member, fallback, low, high, choices, use, project, help)
#define CFG_OTHER(path, kind, text) {path, OTHER_##kind, text},
#define CFG_MOVED(path, right)
static const struct {
	const char *path;
	enum other_kind kind;
	const char *text;
} others[] = {
#include "src/config/keys.def"
};
#undef CFG_OTHER
#undef CFG_MOVED

#define CFG_OTHER(path, kind, text)
#define CFG_MOVED(path, right) {path, right},
static const struct {
	const char *path;
	const char *right;
} moved[] = {
#include "src/config/keys.def"
};
#undef CFG_KEY
#undef CFG_OTHER
#undef CFG_MOVED

static_assert(ZW_N_ELEMENTS(rows) <= CFG_KEYS_MAX, "keys_set has a place per row");

/* One file being read. */
struct rd {
	struct cfg_where w; /* line: of the value at hand */
	const struct row *row;
	bool is_default; /* reading the table's own column */
	const struct cfg_json *reasons;
};

const struct cfg_key *cfg_keys(size_t *ret_n)
{
	static struct cfg_key keys[ZW_N_ELEMENTS(rows)];

	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++)
		keys[i] = rows[i].key;
	*ret_n = ZW_N_ELEMENTS(rows);
	return keys;
}

const void *cfg_key_member(const struct cfg *cfg, size_t index)
{
	return (const char *)cfg + rows[index].offset;
}

static const char *leaf(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot != NULL ? dot + 1 : path;
}

static void *member(struct rd *r)
{
	return (char *)r->w.cfg + r->row->offset;
}

#define FAIL(r, ...) cfg_report_error((r)->w.report, (r)->w.file, (r)->w.line, __VA_ARGS__)
#define NOTE(r, ...) cfg_report_note((r)->w.report, (r)->w.file, (r)->w.line, __VA_ARGS__)

static void wrong_type(struct rd *r, const struct cfg_json *v, const char *expected)
{
	FAIL(r, "`%s` must be %s, not %s.", leaf(r->row->key.path), expected,
	     cfg_json_type_word(v->type));
}

static bool want(struct rd *r, const struct cfg_json *v, enum cfg_json_type type,
		 const char *expected)
{
	if (v->type == type)
		return true;
	wrong_type(r, v, expected);
	return false;
}

/* -- single values ------------------------------------------------------------------------------ */

/* Index of @word in "a|b|c", or -1. @ret_words: the same with NULs, and the words. */
#define CHOICES_MAX 8
static int choice_index(const char *choices, const char *word, char *buf, size_t size,
			const char *words[CHOICES_MAX + 1])
{
	int n = 0, found = -1;

	zw_strlcpy(buf, choices, size);
	for (char *p = buf; p != NULL && n < CHOICES_MAX; n++) {
		words[n] = p;
		p = strchr(p, '|');
		if (p != NULL)
			*p++ = '\0';
		if (strcmp(words[n], word) == 0)
			found = n;
	}
	words[n] = NULL;
	return found;
}

static int read_choice_word(struct rd *r, const struct cfg_json *v)
{
	char buf[128], list[160] = "";
	const char *words[CHOICES_MAX + 1];

	if (!want(r, v, CFG_JSON_STRING, "a word in quotes"))
		return -1;
	int i = choice_index(r->row->key.choices, v->str, buf, sizeof(buf), words);
	if (i >= 0)
		return i;
	for (int k = 0; words[k] != NULL; k++) {
		size_t n = strlen(list);

		snprintf(list + n, sizeof(list) - n, "%s%s",
			 k == 0			? ""
			 : words[k + 1] == NULL ? " or "
						: ", ",
			 words[k]);
	}
	const char *near = zw_nearest(v->str, words);
	if (near != NULL)
		FAIL(r, "`%s` cannot be `%s`, only %s. Did you mean `%s`?", leaf(r->row->key.path),
		     v->str, list, near);
	else
		FAIL(r, "`%s` cannot be `%s`, only %s.", leaf(r->row->key.path), v->str, list);
	return -1;
}

static void read_mode(struct rd *r, const struct cfg_json *v)
{
	int i = read_choice_word(r, v);

	if (i >= 0)
		*(enum pol_mode *)member(r) = (enum pol_mode)i;
}

static void read_choice(struct rd *r, const struct cfg_json *v)
{
	int i = read_choice_word(r, v);

	if (i >= 0)
		*(int *)member(r) = i;
}

static void read_bool(struct rd *r, const struct cfg_json *v)
{
	if (want(r, v, CFG_JSON_BOOL, "true or false, without quotes"))
		*(bool *)member(r) = v->boolean;
}

static void read_int(struct rd *r, const struct cfg_json *v)
{
	if (!want(r, v, CFG_JSON_NUMBER, "a number without quotes"))
		return;
	if (!v->is_integer || v->number < r->row->low || v->number > r->row->high)
		FAIL(r, "`%s` must be a whole number from %lld to %lld, not %s.",
		     leaf(r->row->key.path), (long long)r->row->low, (long long)r->row->high,
		     v->str);
	else
		*(int64_t *)member(r) = v->number;
}

/* A number without quotes means nothing without a unit, except 0. */
static const char *quantity_text(struct rd *r, const struct cfg_json *v, const char *expected)
{
	if (v->type == CFG_JSON_NUMBER && v->is_integer && v->number == 0)
		return "0";
	return want(r, v, CFG_JSON_STRING, expected) ? v->str : NULL;
}

static void read_quantity(struct rd *r, const struct cfg_json *v, const char *expected,
			  int (*parse)(const char *, int64_t *))
{
	const char *s = quantity_text(r, v, expected);
	int64_t value = 0;

	if (s == NULL)
		return;
	int code = parse(s, &value);
	if (code == ZW_E_SYNTAX)
		FAIL(r, "`%s` must be %s, not `%s`.", leaf(r->row->key.path), expected, s);
	else if (code < 0 || value > r->row->high)
		FAIL(r, "`%s` is too large: `%s`.", leaf(r->row->key.path), s);
	else if (value < r->row->low)
		FAIL(r, "`%s` is too small: `%s`.", leaf(r->row->key.path), s);
	else
		*(int64_t *)member(r) = value;
}

static void read_duration(struct rd *r, const struct cfg_json *v)
{
	read_quantity(r, v, "a time such as \"500ms\", \"5s\", \"2m\", \"1h\" or \"0\"",
		      cfg_parse_duration);
}

static void read_size(struct rd *r, const struct cfg_json *v)
{
	read_quantity(r, v, "a size such as \"500M\", \"2G\" or \"0\"", cfg_parse_size);
}

static void read_arm(struct rd *r, const struct cfg_json *v)
{
	if (v->type == CFG_JSON_STRING && strcmp(v->str, "second-key") == 0)
		*(int64_t *)member(r) = CFG_ARM_SECOND_KEY;
	else
		read_quantity(r, v, "a time such as \"500ms\", or \"second-key\"",
			      cfg_parse_duration);
}

static void read_flood(struct rd *r, const struct cfg_json *v)
{
	static const char expected[] = "a number in a time, such as \"8 in 10s\"";

	if (want(r, v, CFG_JSON_STRING, expected) && cfg_parse_flood(v->str, member(r)) < 0)
		FAIL(r, "`%s` must be %s, not `%s`.", leaf(r->row->key.path), expected, v->str);
}

static void set_text(struct rd *r, const char *text)
{
	char **to = member(r);

	free(*to);
	*to = zw_xstrdup(text);
}

static void read_text(struct rd *r, const struct cfg_json *v)
{
	if (!want(r, v, CFG_JSON_STRING, "text in quotes"))
		return;
	if (strlen(v->str) > (size_t)r->row->high)
		FAIL(r, "`%s` is longer than %lld bytes.", leaf(r->row->key.path),
		     (long long)r->row->high);
	else
		set_text(r, v->str);
}

/* One path, or nothing. */
static void read_path(struct rd *r, const struct cfg_json *v)
{
	zw_autofree char *path = NULL;

	if (!want(r, v, CFG_JSON_STRING, "a path in quotes"))
		return;
	if (v->str[0] == '\0')
		set_text(r, "");
	else if (cfg_path_expand(r->w.places, r->w.cfg->project_dir, v->str, &path) < 0)
		FAIL(r, "`%s` is not a path that can be used here.", v->str);
	else
		set_text(r, path);
}

static void read_proxy(struct rd *r, const struct cfg_json *v)
{
	static const char expected[] =
		"\"http://host:port\", \"socks5://host:port\", \"env\" or \"\"";
	struct pol_host host;
	uint64_t port;

	if (!want(r, v, CFG_JSON_STRING, expected))
		return;
	const char *s = v->str, *at = NULL;
	if (zw_starts_with(s, "http://"))
		at = s + strlen("http://");
	else if (zw_starts_with(s, "socks5://"))
		at = s + strlen("socks5://");
	const char *colon = at != NULL ? strrchr(at, ':') : NULL;
	if (at != NULL && strchr(at, '@') != NULL)
		FAIL(r, "`upstreamProxy` must not hold a password: this file is shown and copied.");
	else if (s[0] == '\0' || strcmp(s, "env") == 0 ||
		 (colon != NULL && pol_host_parse(at, (size_t)(colon - at), &host) == 0 &&
		  zw_parse_u64(colon + 1, strlen(colon + 1), 65535, &port) == 0 && port > 0))
		set_text(r, s);
	else
		FAIL(r, "`upstreamProxy` must be %s, not `%s`.", expected, s);
}

/* -- lists -------------------------------------------------------------------------------------- */

/* Calls @take for every text of a list; a single text is taken for a list of one. */
static void each_text(struct rd *r, const struct cfg_json *v, const char *expected,
		      void (*take)(struct rd *, const char *))
{
	if (!want(r, v, CFG_JSON_ARRAY, expected))
		return;
	if (v->n > LIST_MAX) {
		FAIL(r, "`%s` has more than %u entries.", leaf(r->row->key.path), LIST_MAX);
		return;
	}
	for (const struct cfg_json *e = v->child; e != NULL; e = e->next) {
		r->w.line = e->line;
		if (e->type == CFG_JSON_STRING)
			take(r, e->str);
		else
			FAIL(r, "an entry of `%s` must be text in quotes, not %s.",
			     leaf(r->row->key.path), cfg_json_type_word(e->type));
	}
}

static void take_allowed_site(struct rd *r, const char *s)
{
	cfg_take_site(&r->w, POL_ACTION_ALLOW, s);
}

static void take_denied_site(struct rd *r, const char *s)
{
	cfg_take_site(&r->w, POL_ACTION_DENY, s);
}

static void read_sites_allow(struct rd *r, const struct cfg_json *v)
{
	each_text(r, v, "a list of sites [\"host\", \"*.host\", \"host:port\"]", take_allowed_site);
}

static void read_sites_deny(struct rd *r, const struct cfg_json *v)
{
	each_text(r, v, "a list of sites [\"host\", \"*.host\", \"host:port\"]", take_denied_site);
}

/* {"path": "/run/x.sock", "direct": true} */
static void take_socket(struct rd *r, const struct cfg_json *e)
{
	const struct cfg_json *path = cfg_json_get(e, "path"), *direct = cfg_json_get(e, "direct");

	if (path == NULL || path->type != CFG_JSON_STRING || e->n != 1u + (direct != NULL) ||
	    (direct != NULL && direct->type != CFG_JSON_BOOL))
		FAIL(r,
		     "an entry of `%s` is a path in quotes, or {\"path\": \"/run/x.sock\", "
		     "\"direct\": true}.",
		     leaf(r->row->key.path));
	else
		cfg_take_socket(&r->w, POL_ACTION_ALLOW, path->str,
				direct != NULL && direct->boolean);
}

static void read_sockets(struct rd *r, const struct cfg_json *v)
{
	if (!want(r, v, CFG_JSON_ARRAY,
		  "a list of the sockets you need, each by its path [\"/run/x.sock\"]"))
		return;
	if (v->n > LIST_MAX) {
		FAIL(r, "`%s` has more than %u entries.", leaf(r->row->key.path), LIST_MAX);
		return;
	}
	for (const struct cfg_json *e = v->child; e != NULL; e = e->next) {
		r->w.line = e->line;
		if (e->type == CFG_JSON_STRING)
			cfg_take_socket(&r->w, POL_ACTION_ALLOW, e->str, false);
		else if (e->type == CFG_JSON_OBJECT)
			take_socket(r, e);
		else
			FAIL(r, "an entry of `%s` must be text in quotes, not %s.",
			     leaf(r->row->key.path), cfg_json_type_word(e->type));
	}
}

static void take_denied_socket(struct rd *r, const char *s)
{
	cfg_take_socket(&r->w, POL_ACTION_DENY, s, false);
}

static void read_sockets_deny(struct rd *r, const struct cfg_json *v)
{
	each_text(r, v, "a list of sockets, each by its path [\"/run/x.sock\"]",
		  take_denied_socket);
}

static void read_ports(struct rd *r, const struct cfg_json *v)
{
	if (!want(r, v, CFG_JSON_ARRAY, "a list of port numbers [5432]"))
		return;
	for (const struct cfg_json *e = v->child; e != NULL; e = e->next) {
		r->w.line = e->line;
		if (e->type == CFG_JSON_NUMBER && e->is_integer && e->number >= r->row->low &&
		    e->number <= r->row->high)
			cfg_take_port(&r->w, member(r), e->number);
		else
			FAIL(r, "an entry of `%s` must be a port number from 1 to 65535, not %s.",
			     leaf(r->row->key.path),
			     e->str != NULL ? e->str : cfg_json_type_word(e->type));
	}
}

static void take_private(struct rd *r, const char *s)
{
	zw_autofree char *ascii = NULL, *origin = cfg_where_origin(&r->w);
	const char *why = "write *.corp.example, a name, or an address range such as 10.1.0.0/16";
	struct policy *scratch = pol_new();

	if (cfg_site_to_ascii(s, &ascii, &why) < 0 || pol_private_add(scratch, ascii) < 0)
		FAIL(r, "`%s` in `allowPrivate` is no name or address range: %s.", s, why);
	else
		cfg_items_add(member(r), ascii, origin);
	pol_free(scratch);
}

static void read_private(struct rd *r, const struct cfg_json *v)
{
	each_text(r, v, "a list [\"*.corp.example\", \"10.1.0.0/16\"]", take_private);
}

static void take_upstream(struct rd *r, const char *s)
{
	zw_autofree char *origin = cfg_where_origin(&r->w);
	const char *why = "";

	if (cfg_check_upstream(s, &why) < 0)
		FAIL(r, "`%s` is no resolver: %s.", s, why);
	else
		cfg_items_add(member(r), s, origin);
}

static void read_upstreams(struct rd *r, const struct cfg_json *v)
{
	/* Their order matters, so a layer's list replaces the one below. */
	cfg_items_clear(member(r));
	if (v->type == CFG_JSON_ARRAY && v->n == 0)
		FAIL(r, "`upstreams` is empty: no name could be looked up. \"system\" takes the "
			"machine's own.");
	else
		each_text(r, v, "a list of resolvers, such as [\"tls://9.9.9.9#dns.quad9.net\"]",
			  take_upstream);
}

static void take_path(struct rd *r, const char *s)
{
	cfg_take_path(&r->w, member(r), s);
}

static void read_paths(struct rd *r, const struct cfg_json *v)
{
	each_text(r, v, "a list of paths [\"./secrets\", \"~/notes\"]", take_path);
}

static void take_key(struct rd *r, const char *s)
{
	zw_autofree char *origin = cfg_where_origin(&r->w);

	if (cfg_check_key(s) < 0)
		FAIL(r, "`%s` is no key for `prefix`: C-a to C-z, C-], C-\\, M-x or F1 to F12.", s);
	else
		cfg_items_add(member(r), s, origin);
}

static void read_keys(struct rd *r, const struct cfg_json *v)
{
	cfg_items_clear(member(r));
	if (v->type == CFG_JSON_ARRAY && v->n == 0)
		FAIL(r, "`prefix` is empty: no question could be answered.");
	else
		each_text(r, v, "a list of keys [\"C-]\", \"F12\"]", take_key);
}

static void take_text(struct rd *r, const char *s)
{
	zw_autofree char *origin = cfg_where_origin(&r->w);

	cfg_items_add(member(r), s, origin);
}

/* A rule of the mask, which has room for so many of both kinds together. */
static void take_rule(struct rd *r, const char *s, int checked, const char *why)
{
	zw_autofree char *origin = cfg_where_origin(&r->w);

	if (checked < 0)
		FAIL(r, "`%s` cannot be masked by: %s.", s, why);
	else if (((struct cfg_items *)member(r))->n >= ZW_MASK_RULES_MAX / 2)
		FAIL(r, "`%s` is one too many: at most %d.", s, ZW_MASK_RULES_MAX / 2);
	else
		cfg_items_add(member(r), s, origin);
}

static void take_flag(struct rd *r, const char *s)
{
	const char *why = "";
	int checked = zw_mask_check_flag(s, &why);

	take_rule(r, s, checked, why);
}

static void read_flags(struct rd *r, const struct cfg_json *v)
{
	each_text(r, v, "a list of flags [\"--license\"]", take_flag);
}

static void take_pattern(struct rd *r, const char *s)
{
	const char *why = "";
	int checked = zw_mask_check_pattern(s, &why);

	take_rule(r, s, checked, why);
}

static void read_patterns(struct rd *r, const struct cfg_json *v)
{
	each_text(r, v, "a list of regular expressions in quotes", take_pattern);
}

/* -- sections with free names ------------------------------------------------------------------- */

static void read_reasons(struct rd *r, const struct cfg_json *v)
{
	if (want(r, v, CFG_JSON_OBJECT, "a section {\"site\": \"text\"}"))
		r->reasons = v; /* applied when all deny rules of the file are known */
}

static void apply_reason(struct rd *r, const struct cfg_json *v)
{
	zw_autofree char *ascii = NULL;
	const char *why = "";
	bool is_used = false;

	r->w.line = v->line;
	if (v->type != CFG_JSON_STRING || strlen(v->str) > 500) {
		FAIL(r, "the reason of `%s` must be text in quotes of at most 500 bytes.", v->key);
		return;
	}
	if (cfg_site_to_ascii(v->key, &ascii, &why) == 0) {
		for (size_t i = 0; i < r->w.cfg->n_rules; i++) {
			struct pol_rule *rule = &r->w.cfg->rules[i];

			if (rule->kind != POL_KIND_SITE || rule->action != POL_ACTION_DENY ||
			    rule->layer != r->w.layer || rule->reason != NULL ||
			    strcasecmp(rule->pattern, ascii) != 0)
				continue;
			rule->reason = zw_xstrdup(v->str);
			is_used = true;
		}
	}
	if (!is_used)
		FAIL(r, "`%s` in `deniedDomainReasons` is not an entry of `deniedDomains`.",
		     v->key);
}

static void read_zones(struct rd *r, const struct cfg_json *v)
{
	struct pol_host host;

	if (!want(r, v, CFG_JSON_OBJECT, "a section {\"corp.example\": [\"system\"]}"))
		return;
	for (const struct cfg_json *m = v->child; m != NULL; m = m->next) {
		zw_autofree char *ascii = NULL;
		const char *why = "";

		r->w.line = m->line;
		if (cfg_site_to_ascii(m->key, &ascii, &why) < 0 ||
		    pol_host_parse(ascii, strlen(ascii), &host) < 0 ||
		    host.addr.family != POL_FAMILY_NONE) {
			FAIL(r, "`%s` in `zones` is no domain name.", m->key);
			continue;
		}
		if (m->type != CFG_JSON_ARRAY || m->n == 0) {
			FAIL(r, "zone `%s` must be a list of resolvers.", m->key);
			continue;
		}
		for (const struct cfg_json *e = m->child; e != NULL; e = e->next) {
			r->w.line = e->line;
			if (e->type != CFG_JSON_STRING || cfg_check_upstream(e->str, &why) < 0) {
				FAIL(r, "a resolver of zone `%s` is none: %s.", m->key,
				     e->type == CFG_JSON_STRING ? why
								: "it must be text in quotes");
				continue;
			}
			zw_autofree char *item = zw_xasprintf("%s=%s", host.name, e->str);
			take_text(r, item);
		}
	}
}

static void read_quotas(struct rd *r, const struct cfg_json *v)
{
	if (!want(r, v, CFG_JSON_OBJECT, "a section {\"*.example.com\": \"100M\"}"))
		return;
	for (const struct cfg_json *m = v->child; m != NULL; m = m->next) {
		zw_autofree char *ascii = NULL;
		struct pol_site_pattern pattern;
		const char *why = "";
		int64_t limit_b;

		r->w.line = m->line;
		if (cfg_site_to_ascii(m->key, &ascii, &why) < 0 ||
		    pol_site_pattern_parse(ascii, strlen(ascii), &pattern, &why) < 0) {
			FAIL(r, "`%s` in `quotas` is not a site: %s.", m->key, why);
			continue;
		}
		if (m->type != CFG_JSON_STRING || cfg_parse_size(m->str, &limit_b) < 0 ||
		    limit_b == 0 || limit_b > r->row->high) {
			FAIL(r, "the quota of `%s` must be a size such as \"100M\".", m->key);
			continue;
		}
		zw_autofree char *item = zw_xasprintf("%s %lld", ascii, (long long)limit_b);
		take_text(r, item);
	}
}

static void unknown_key(struct rd *r, const char *key, const char *const *candidates)
{
	const char *near = zw_nearest(key, candidates);

	if (near != NULL)
		FAIL(r, "`%s` is not a setting. Did you mean `%s`?", key, near);
	else
		FAIL(r, "`%s` is not a setting.", key);
}

static void read_agent(struct rd *r, const struct cfg_json *v)
{
	static const char *const names[] = {"command", "preset", "importSettings", NULL};
	const char *import_settings = cfg_json_text(v, "importSettings", "ask");
	const char *preset = cfg_json_text(v, "preset", "");
	size_t before = r->w.report->n_errors;

	for (const struct cfg_json *m = v->child; m != NULL; m = m->next) {
		r->w.line = m->line;
		if (strcmp(m->key, names[0]) != 0 && strcmp(m->key, names[1]) != 0 &&
		    strcmp(m->key, names[2]) != 0)
			unknown_key(r, m->key, names);
		else if (m->type != CFG_JSON_STRING)
			FAIL(r, "`%s` must be text in quotes, not %s.", m->key,
			     cfg_json_type_word(m->type));
		else if (m->key[0] == 'i' && strcmp(import_settings, "on") == 0)
			/* The agent can write its own settings: they would open what it likes. */
			FAIL(r,
			     "`importSettings` cannot be `on`: the agent could write what is then "
			     "in force. Take it over once, after a look: zwatch import claude "
			     "--write");
		else if (m->key[0] == 'i' && strcmp(import_settings, "ask") != 0 &&
			 strcmp(import_settings, "off") != 0)
			FAIL(r, "`importSettings` cannot be `%s`, only ask or off.",
			     import_settings);
		else if (m->key[0] == 'p' && preset[0] != '\0' && !cfg_agent_is_known(preset)) {
			const char *near = zw_nearest(preset, cfg_agent_names());

			FAIL(r, "there is no preset `%s`.%s%s%s", preset,
			     near != NULL ? " Did you mean `" : "", near != NULL ? near : "",
			     near != NULL ? "`?" : "");
		}
	}
	if (r->w.report->n_errors > before)
		return;
	r->w.line = v->line;
	char *origin = cfg_where_origin(&r->w);
	struct cfg_agent_entry entry = {
		.name = zw_xstrdup(v->key),
		.command = zw_xstrdup(cfg_json_text(v, "command", v->key)),
		.preset = zw_xstrdup(preset),
		.import_settings = zw_xstrdup(import_settings),
		.origin = origin,
	};
	cfg_agent_entry_take(r->w.cfg, &entry);
}

static void read_agents(struct rd *r, const struct cfg_json *v)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

	if (!want(r, v, CFG_JSON_OBJECT, "a section {\"name\": {\"command\": \"..\"}}"))
		return;
	for (const struct cfg_json *m = v->child; m != NULL; m = m->next) {
		r->w.line = m->line;
		if (m->key[0] == '\0' || m->key[0] == '-' ||
		    strspn(m->key, letters) != strlen(m->key) || strlen(m->key) > 32)
			FAIL(r, "`%s` cannot be the name of an agent: letters, digits, - _ . only.",
			     m->key);
		else if (m->type != CFG_JSON_OBJECT)
			FAIL(r, "agent `%s` must be a section { }, not %s.", m->key,
			     cfg_json_type_word(m->type));
		else
			read_agent(r, m);
	}
}

/* In the order of enum key_type. is_text: the default column lacks its quotes. */
static const struct {
	void (*read)(struct rd *, const struct cfg_json *);
	bool is_text;
	bool is_added; /* layers add up; the first one drops the default */
} types[] = {
	[TYPE_MODE] = {read_mode, true, false},
	[TYPE_CHOICE] = {read_choice, true, false},
	[TYPE_BOOL] = {read_bool, false, false},
	[TYPE_INT] = {read_int, false, false},
	[TYPE_DURATION] = {read_duration, true, false},
	[TYPE_SIZE] = {read_size, true, false},
	[TYPE_ARM] = {read_arm, true, false},
	[TYPE_FLOOD] = {read_flood, true, false},
	[TYPE_TEXT] = {read_text, true, false},
	[TYPE_PATH] = {read_path, true, false},
	[TYPE_PROXY] = {read_proxy, true, false},
	[TYPE_SITES_ALLOW] = {read_sites_allow, false, false},
	[TYPE_SITES_DENY] = {read_sites_deny, false, false},
	[TYPE_REASONS] = {read_reasons, false, false},
	[TYPE_SOCKETS] = {read_sockets, false, false},
	[TYPE_SOCKETS_DENY] = {read_sockets_deny, false, false},
	[TYPE_PORTS] = {read_ports, false, false},
	[TYPE_PRIVATE] = {read_private, false, false},
	[TYPE_UPSTREAMS] = {read_upstreams, false, false},
	[TYPE_ZONES] = {read_zones, false, false},
	[TYPE_QUOTAS] = {read_quotas, false, false},
	[TYPE_PATHS] = {read_paths, false, true},
	[TYPE_KEYS] = {read_keys, false, false},
	[TYPE_FLAGS] = {read_flags, false, true},
	[TYPE_PATTERNS] = {read_patterns, false, true},
	[TYPE_AGENTS] = {read_agents, false, false},
};

/* -- the walk ----------------------------------------------------------------------------------- */

size_t cfg_key_index(const char *path)
{
	size_t i = 0;

	while (strcmp(rows[i].key.path, path) != 0)
		i++;
	return i;
}

/* Lists that every layer adds to; of all others the last layer's value is the value. */
static bool adds_up(enum key_type type)
{
	static const enum key_type sums[] = {
		TYPE_SITES_ALLOW, TYPE_SITES_DENY, TYPE_REASONS, TYPE_SOCKETS, TYPE_SOCKETS_DENY,
		TYPE_PORTS,	  TYPE_PRIVATE,	   TYPE_ZONES,	 TYPE_QUOTAS,  TYPE_AGENTS,
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(sums); i++)
		if (sums[i] == type)
			return true;
	return types[type].is_added;
}

static enum cfg_order order_of(const struct row *row)
{
	return row->rule == LAYER_RAISES   ? CFG_ORDER_RAISES
	       : row->rule == LAYER_LOWERS ? CFG_ORDER_LOWERS
	       : row->rule == LAYER_LIMITS ? CFG_ORDER_LIMITS
					   : CFG_ORDER_NONE;
}

/* The number behind a row with an order. */
static int64_t ordered_get(struct rd *r)
{
	const enum key_type type = r->row->type;
	const void *p = member(r);

	if (type == TYPE_MODE)
		return (int64_t) * (const enum pol_mode *)p;
	if (type == TYPE_CHOICE)
		return *(const int *)p;
	if (type == TYPE_BOOL)
		return *(const bool *)p;
	return *(const int64_t *)p;
}

static void ordered_set(struct rd *r, int64_t value)
{
	const enum key_type type = r->row->type;
	void *p = member(r);

	if (type == TYPE_MODE)
		*(enum pol_mode *)p = (enum pol_mode)value;
	else if (type == TYPE_CHOICE)
		*(int *)p = (int)value;
	else if (type == TYPE_BOOL)
		*(bool *)p = value != 0;
	else
		*(int64_t *)p = value;
}

static void read_ordered(struct rd *r, size_t index, const struct cfg_json *v)
{
	size_t n_errors = r->w.report->n_errors;
	int64_t before = ordered_get(r);

	types[r->row->type].read(r, v);
	if (r->w.report->n_errors > n_errors)
		return;
	ordered_set(r, cfg_layer_settle(&r->w, index, r->row->key.path, order_of(r->row), before,
					ordered_get(r)));
}

/* A value that the managed policy holds: what this file says of it is checked all the same. */
static void read_held(struct rd *r, size_t index, const struct cfg_json *v)
{
	struct cfg *scratch = cfg_new(r->w.places, r->w.cfg->project_dir);
	struct rd copy = *r;

	copy.w.cfg = scratch;
	types[r->row->type].read(&copy, v);
	cfg_free(scratch);
	r->w.line = v->line;
	NOTE(r, "`%s` stays as %s holds it, in spite of:", r->row->key.path,
	     r->w.cfg->holds[index].origin);
}

/* Whether the layer may say anything here; else it is said why not. */
static bool may_set(struct rd *r)
{
	if (r->row->rule != LAYER_WIDENS)
		return true;
	if (r->w.layer == POL_LAYER_PROJECT)
		NOTE(r, "`%s` has no effect in a project file: a project can only narrow.",
		     r->row->key.path);
	else if (r->w.layer == POL_LAYER_MANAGED && adds_up(r->row->type))
		FAIL(r, "`%s` has no effect in a managed policy: it can only refuse and limit.",
		     r->row->key.path);
	else
		return true;
	return false;
}

static void read_row(struct rd *r, size_t index, const struct cfg_json *v)
{
	struct cfg *cfg = r->w.cfg;

	r->row = &rows[index];
	r->w.key = r->row->key.path;
	if (r->is_default) {
		types[r->row->type].read(r, v);
		return;
	}
	if (!may_set(r))
		return;
	if (types[r->row->type].is_added && !cfg->keys_set[index])
		cfg_items_clear(member(r));
	cfg->keys_set[index] = true;
	if (r->row->key.is_ordered) {
		read_ordered(r, index, v);
	} else if (cfg->holds[index].origin != NULL) {
		read_held(r, index, v);
	} else {
		unsigned line = v->line;

		types[r->row->type].read(r, v);
		r->w.line = line;
		if (!adds_up(r->row->type))
			cfg_origin_set(&r->w, index);
		if (r->w.layer == POL_LAYER_MANAGED && !adds_up(r->row->type))
			cfg->holds[index].origin = cfg_where_origin(&r->w);
	}
}

void cfg_read_defaults(struct cfg *cfg, const struct cfg_places *places)
{
	struct cfg_report report = {0};
	struct rd r = {
		.w = {cfg, places, &report, POL_LAYER_BUILTIN, "built in", 0, NULL},
		.is_default = true,
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		struct cfg_json_doc *doc = NULL;
		struct cfg_json_error error;
		const char *fallback = rows[i].key.fallback;
		struct cfg_json text = {.type = CFG_JSON_STRING, .str = fallback};

		if (types[rows[i].type].is_text) {
			read_row(&r, i, &text);
			continue;
		}
		if (strcmp(fallback, "[]") == 0 || strcmp(fallback, "{}") == 0)
			continue;
		int code = cfg_json_parse(fallback, strlen(fallback), &doc, &error);
		assert(code == 0);
		read_row(&r, i, cfg_json_root(doc));
		cfg_json_free(doc);
	}
	assert(report.n == 0);
}

#define PATH_MAX_KEYS 256

static bool is_section(const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++)
		if (strncmp(rows[i].key.path, path, len) == 0 && rows[i].key.path[len] == '.')
			return true;
	return false;
}

/* Names that may stand in the section @prefix ("" or "network."), cut at the next dot. */
static size_t section_names(const char *prefix, char names[][64], const char **list)
{
	size_t n = 0, len = strlen(prefix);

	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		const char *rest = rows[i].key.path + len;

		if (strncmp(rows[i].key.path, prefix, len) != 0)
			continue;
		zw_span_cpy(names[n], 64, zw_span_n(rest, strcspn(rest, ".")));
		if (n == 0 || strcmp(names[n], names[n - 1]) != 0) {
			list[n] = names[n];
			n++;
		}
	}
	list[n] = NULL;
	return n;
}

/* A key that no row has: one of another program, one at the wrong place, or a slip of the pen. */
static void read_stranger(struct rd *r, const char *prefix, const char *path,
			  const struct cfg_json *v)
{
	char names[ZW_N_ELEMENTS(rows)][64];
	const char *list[ZW_N_ELEMENTS(rows) + 1];

	for (size_t i = 0; i < ZW_N_ELEMENTS(others); i++) {
		if (strcmp(others[i].path, path) != 0)
			continue;
		bool is_off = v->type == CFG_JSON_BOOL && !v->boolean;
		if (others[i].kind == OTHER_REFUSED && !is_off)
			FAIL(r, "`%s` is not possible: %s.", v->key, others[i].text);
		else if (others[i].kind == OTHER_NOTE)
			NOTE(r, "`%s` has no effect here: %s.", v->key, others[i].text);
		return;
	}
	for (size_t i = 0; i < ZW_N_ELEMENTS(moved); i++) {
		if (strcmp(moved[i].path, path) == 0) {
			FAIL(r, "`%s` has no effect where it stands; it is written `%s`.", v->key,
			     moved[i].right);
			return;
		}
	}
	section_names(prefix, names, list);
	if (zw_nearest(v->key, list) != NULL) {
		unknown_key(r, v->key, list);
		return;
	}
	/* Perhaps right, but in the wrong section. */
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++)
		list[i] = leaf(rows[i].key.path);
	list[ZW_N_ELEMENTS(rows)] = NULL;
	const char *near = zw_nearest(v->key, list);
	for (size_t i = 0; near != NULL && i < ZW_N_ELEMENTS(rows); i++) {
		if (list[i] != near)
			continue;
		FAIL(r, "`%s` is not a setting. Did you mean `%s`?", v->key, rows[i].key.path);
		return;
	}
	unknown_key(r, v->key, (const char *const[]){NULL});
}

static void read_section(struct rd *r, const char *prefix, const struct cfg_json *section)
{
	for (const struct cfg_json *v = section->child; v != NULL; v = v->next) {
		char path[PATH_MAX_KEYS];
		size_t i = 0;

		r->w.line = v->line;
		snprintf(path, sizeof(path), "%s%s", prefix, v->key);
		while (i < ZW_N_ELEMENTS(rows) && strcmp(rows[i].key.path, path) != 0)
			i++;
		if (strlen(prefix) + strlen(v->key) >= sizeof(path))
			FAIL(r, "a name of %zu bytes is not a setting.", strlen(v->key));
		else if (i < ZW_N_ELEMENTS(rows))
			read_row(r, i, v);
		else if (strcmp(path, "$schema") == 0 && v->type == CFG_JSON_STRING)
			continue;
		else if (strcmp(path, "wish") == 0 && r->w.layer == POL_LAYER_PROJECT)
			continue; /* wish.h */
		else if (!is_section(path))
			read_stranger(r, prefix, path, v);
		else if (v->type != CFG_JSON_OBJECT)
			FAIL(r, "`%s` must be a section { }, not %s.", v->key,
			     cfg_json_type_word(v->type));
		else {
			zw_strlcpy(path + strlen(path), ".", sizeof(path) - strlen(path));
			read_section(r, path, v);
		}
	}
}

void cfg_read_text(struct cfg *cfg, const struct cfg_places *places, enum pol_layer layer,
		   const char *shown, const char *text, size_t len, struct cfg_report *report)
{
	struct rd r = {.w = {cfg, places, report, layer, shown, 0, NULL}};
	struct cfg_json_doc *doc = NULL;
	struct cfg_json_error error;

	if (cfg_json_parse(text, len, &doc, &error) < 0) {
		cfg_report_error(report, shown, error.line, "cannot read the settings: %s.",
				 error.text);
		return;
	}
	const struct cfg_json *root = cfg_json_root(doc);
	r.w.line = root->line;
	if (root->type != CFG_JSON_OBJECT)
		FAIL(&r, "settings are a section { }, not %s.", cfg_json_type_word(root->type));
	else
		read_section(&r, "", root);
	if (r.reasons != NULL)
		for (const struct cfg_json *v = r.reasons->child; v != NULL; v = v->next)
			apply_reason(&r, v);
	cfg_json_free(doc);
}
