/* SPDX-License-Identifier: MIT */
#include "src/policy/rules.h"

#include "src/base/err.h"
#include "src/base/mem.h"

#define BUCKETS_MIN 64
#define ENTRIES_MAX (1u << 21)
/* The widest private networks are 10.0.0.0/8 and fc00::/7; a wider allow is no rule but a mode. */
#define NET_BITS_MIN_V4 8
#define NET_BITS_MIN_V6 7

/* FNV-1a. The keys are the user's own rules; nobody gains by making them collide. */
static uint32_t hash_key(enum pol_key_type type, const void *key, size_t len)
{
	const uint8_t *p = key;
	uint32_t h = (2166136261u ^ (uint32_t)type) * 16777619u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 16777619u;
	return h;
}

static bool entry_is(const struct pol_entry *e, uint32_t hash, enum pol_key_type type,
		     const void *key, size_t len)
{
	return e->hash == hash && e->type == type && e->key_len == len &&
	       (len == 0 || memcmp(e->key, key, len) == 0);
}

const struct pol_entry *pol_entry_find(const struct policy *p, enum pol_key_type type,
				       const void *key, size_t len)
{
	uint32_t hash = hash_key(type, key, len);

	if (p->n_buckets == 0)
		return NULL;
	for (struct pol_entry *e = p->buckets[hash & (p->n_buckets - 1)]; e != NULL; e = e->next) {
		if (entry_is(e, hash, type, key, len))
			return e;
	}
	return NULL;
}

const struct pol_entry *pol_entry_next(const struct pol_entry *e)
{
	for (const struct pol_entry *n = e->next; n != NULL; n = n->next) {
		if (entry_is(n, e->hash, e->type, e->key, e->key_len))
			return n;
	}
	return NULL;
}

void pol_net_key(const struct pol_addr *a, unsigned bits, uint8_t out[POL_KEY_NET_LEN])
{
	out[0] = (uint8_t)a->family;
	out[1] = (uint8_t)bits;
	for (unsigned i = 0; i < 16; i++) {
		unsigned left = bits > i * 8 ? bits - i * 8 : 0;

		out[2 + i] = left >= 8 ? a->b[i] : (uint8_t)(a->b[i] & ~(0xffu >> left));
	}
}

static void table_grow(struct policy *p)
{
	size_t n = p->n_buckets > 0 ? p->n_buckets * 2 : BUCKETS_MIN;
	struct pol_entry **buckets = zw_xcalloc(n, sizeof(struct pol_entry *));

	for (size_t i = 0; i < p->n_buckets; i++) {
		for (struct pol_entry *e = p->buckets[i], *next; e != NULL; e = next) {
			next = e->next;
			e->next = buckets[e->hash & (n - 1)];
			buckets[e->hash & (n - 1)] = e;
		}
	}
	free(p->buckets);
	p->buckets = buckets;
	p->n_buckets = n;
}

/* Counter of the entry's prefix length, or NULL when it is no network. */
static uint32_t *net_counter(struct policy *p, const struct pol_entry *e)
{
	unsigned bits;

	if (e->type != POL_KEY_NET && e->type != POL_KEY_PRIVATE_NET)
		return NULL;
	bits = (uint8_t)e->key[1];
	return e->key[0] == POL_FAMILY_V4 ? &p->n_v4[bits] : &p->n_v6[bits];
}

static struct pol_entry *entry_add(struct policy *p, enum pol_key_type type, const void *key,
				   size_t len)
{
	struct pol_entry *e = zw_xcalloc(1, sizeof(*e) + len);
	struct pol_entry **bucket;
	uint32_t *counter;

	e->type = type;
	e->key_len = len;
	if (len > 0)
		memcpy(e->key, key, len);
	e->hash = hash_key(type, key, len);
	if (p->n_entries >= p->n_buckets)
		table_grow(p);
	bucket = &p->buckets[e->hash & (p->n_buckets - 1)];
	e->next = *bucket;
	*bucket = e;
	p->n_entries++;
	counter = net_counter(p, e);
	if (counter != NULL)
		(*counter)++;
	return e;
}

static void entry_free(struct pol_entry *e)
{
	free((char *)(uintptr_t)e->rule.pattern);
	free((char *)(uintptr_t)e->rule.program);
	free((char *)(uintptr_t)e->rule.origin);
	free((char *)(uintptr_t)e->rule.reason);
	free(e);
}

struct policy *pol_new(void)
{
	struct policy *p = zw_xnew(struct policy);

	p->mode = POL_MODE_GUARD;
	return p;
}

void pol_free(struct policy *p)
{
	if (p == NULL)
		return;
	for (size_t i = 0; i < p->n_buckets; i++) {
		for (struct pol_entry *e = p->buckets[i], *next; e != NULL; e = next) {
			next = e->next;
			entry_free(e);
		}
	}
	for (size_t i = 0; i < p->n_classes; i++)
		free(p->classes[i]);
	for (size_t i = 0; i < p->n_globs; i++)
		free(p->globs[i].text);
	free(p->classes);
	free(p->globs);
	free(p->buckets);
	free(p);
}

void pol_set_mode(struct policy *p, enum pol_mode mode)
{
	p->mode = mode;
}

void pol_set_resolvers(struct policy *p, enum pol_resolvers mode)
{
	p->resolvers = mode;
}

enum pol_mode pol_mode(const struct policy *p)
{
	return p->mode;
}

static int refuse(const char **ret_why, int code, const char *why)
{
	if (ret_why != NULL)
		*ret_why = why;
	return code;
}

static int check_fields(const struct pol_rule *r, const char **ret_why)
{
	size_t len = r->pattern != NULL ? strlen(r->pattern) : 0;

	if (r->kind >= POL_KIND_MAX || r->action >= POL_ACTION_MAX || r->layer >= POL_LAYER_MAX)
		return refuse(ret_why, ZW_E_SYNTAX, "not a rule");
	if (len > POL_PATTERN_MAX)
		return refuse(ret_why, ZW_E_TOOBIG, "the pattern is longer than 4096 bytes");
	if (r->action == POL_ACTION_ALLOW && r->layer == POL_LAYER_MANAGED)
		return refuse(ret_why, ZW_E_SYNTAX, "a managed policy can only deny");
	if (r->action == POL_ACTION_ALLOW && r->layer == POL_LAYER_PROJECT)
		return refuse(ret_why, ZW_E_SYNTAX,
			      "a project file can only deny: put what it "
			      "needs under \"wish\"");
	return 0;
}

/* Pattern of a site rule, and what its action makes of it. */
static int check_site(const struct pol_rule *r, struct pol_site_pattern *ret, const char **ret_why)
{
	const char *text = r->pattern != NULL ? r->pattern : "";
	int e = pol_site_pattern_parse(text, strlen(text), ret, ret_why);

	if (e < 0 || ret->type != POL_PATTERN_NET || r->action == POL_ACTION_DENY)
		return e;
	if (ret->bits < (ret->net.family == POL_FAMILY_V4 ? NET_BITS_MIN_V4 : NET_BITS_MIN_V6))
		return refuse(ret_why, ZW_E_SYNTAX,
			      "too wide to be allowed: name smaller networks "
			      "(/8 or more, IPv6 /7 or more)");
	return 0;
}

static int check_socket(const struct pol_rule *r, const char **ret_why)
{
	const char *text = r->pattern != NULL ? r->pattern : "";

	return pol_socket_pattern_check(text, strlen(text), r->layer == POL_LAYER_ANSWER, ret_why);
}

int pol_rule_check(const struct pol_rule *rule, const char **ret_why)
{
	struct pol_site_pattern pattern;
	int r = check_fields(rule, ret_why);

	if (r < 0)
		return r;
	return rule->kind == POL_KIND_SITE ? check_site(rule, &pattern, ret_why)
					   : check_socket(rule, ret_why);
}

static char *dup_or_empty(const char *s)
{
	return zw_xstrdup(s != NULL ? s : "");
}

static void entry_fill(struct pol_entry *e, const struct pol_rule *rule)
{
	e->rule = *rule;
	e->rule.pattern = dup_or_empty(rule->pattern);
	e->rule.program = dup_or_empty(rule->program);
	e->rule.origin = dup_or_empty(rule->origin);
	e->rule.reason = dup_or_empty(rule->reason);
}

static struct pol_entry *site_entry_add(struct policy *p, const struct pol_site_pattern *pattern,
					bool is_private)
{
	uint8_t key[POL_KEY_NET_LEN];

	switch (pattern->type) {
	case POL_PATTERN_NAME:
		return entry_add(p, is_private ? POL_KEY_PRIVATE_NAME : POL_KEY_NAME, pattern->name,
				 strlen(pattern->name));
	case POL_PATTERN_SUBDOMAINS:
		return entry_add(p, is_private ? POL_KEY_PRIVATE_SUBDOMAINS : POL_KEY_SUBDOMAINS,
				 pattern->name, strlen(pattern->name));
	case POL_PATTERN_ANY_HOST:
		return entry_add(p, POL_KEY_ANY_HOST, NULL, 0);
	case POL_PATTERN_NET:
		break;
	}
	pol_net_key(&pattern->net, pattern->bits, key);
	return entry_add(p, is_private ? POL_KEY_PRIVATE_NET : POL_KEY_NET, key, sizeof(key));
}

/* The two bytes of an abstract name that its text has no sign for. Returns the length in @out. */
static size_t abstract_bytes(const char *text, size_t len, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		bool is_nul = len - i >= 4 && memcmp(text + i, "\\x00", 4) == 0;
		bool is_backslash = len - i >= 4 && memcmp(text + i, "\\x5c", 4) == 0;

		out[n++] = (char)(is_nul ? '\0' : text[i]);
		if (is_nul || is_backslash)
			i += 3;
	}
	return n;
}

static void socket_entry_add(struct policy *p, const struct pol_rule *rule)
{
	size_t len = strlen(rule->pattern);
	const char *path = pol_path_canonical(rule->pattern, &len);
	char name[POL_PATTERN_MAX];

	if (path[0] == '@')
		entry_fill(entry_add(p, POL_KEY_ABSTRACT, name,
				     abstract_bytes(path + 1, len - 1, name)),
			   rule);
	else
		entry_fill(entry_add(p, POL_KEY_PATH, path, len), rule);
}

int pol_rule_add(struct policy *p, const struct pol_rule *rule)
{
	struct pol_site_pattern pattern;
	struct pol_entry *e;
	int r = check_fields(rule, NULL);

	if (r == 0)
		r = rule->kind == POL_KIND_SITE ? check_site(rule, &pattern, NULL)
						: check_socket(rule, NULL);
	if (r < 0)
		return r;
	if (p->n_entries >= ENTRIES_MAX)
		return ZW_E_TOOBIG;
	if (rule->kind == POL_KIND_SOCKET) {
		socket_entry_add(p, rule);
		return 0;
	}
	e = site_entry_add(p, &pattern, false);
	entry_fill(e, rule);
	e->port = pattern.port;
	if (pattern.port != 0)
		e->ports = POL_PORTS_ONE;
	else
		e->ports = rule->action == POL_ACTION_ALLOW ? POL_PORTS_WEB : POL_PORTS_ALL;
	return 0;
}

unsigned pol_rule_remove(struct policy *p, uint32_t id)
{
	unsigned n = 0;

	for (size_t i = 0; i < p->n_buckets; i++) {
		for (struct pol_entry **at = &p->buckets[i], *e; (e = *at) != NULL;) {
			/* network.allowPrivate is no rule and has no number. */
			if (e->rule.pattern == NULL || e->rule.id != id) {
				at = &e->next;
				continue;
			}
			uint32_t *counter = net_counter(p, e);

			if (counter != NULL)
				(*counter)--;
			*at = e->next;
			entry_free(e);
			p->n_entries--;
			n++;
		}
	}
	return n;
}

int pol_private_add(struct policy *p, const char *pattern)
{
	struct pol_site_pattern site;
	int r;

	if (strlen(pattern) > POL_PATTERN_MAX || p->n_entries >= ENTRIES_MAX)
		return ZW_E_TOOBIG;
	r = pol_site_pattern_parse(pattern, strlen(pattern), &site, NULL);
	if (r < 0)
		return r;
	if (site.port != 0 || site.type == POL_PATTERN_ANY_HOST)
		return ZW_E_SYNTAX;
	site_entry_add(p, &site, true);
	return 0;
}
