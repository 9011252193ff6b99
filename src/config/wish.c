/* SPDX-License-Identifier: MIT
 * Reading wishes and judging them. */
#include "src/config/wish.h"

#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/config/agents.h"
#include "src/config/config_int.h"
#include "src/config/json.h"
#include "src/config/protect.h"
#include "src/policy/pattern.h"

#define WHY_MAX 4096u

/* What is read, and what it is judged by. */
struct reading {
	const struct cfg *cfg;
	const struct cfg_places *places;
	const struct cfg_catalogue *(*catalogue)(void *arg);
	void *arg;
	struct cfg_wishes *to;
	struct cfg_report *report;
	const char *shown;
	unsigned line;
	/* What is guarded and hidden, made when a folder is wished for. */
	bool has_lists;
	struct cfg_protected protected_;
	struct cfg_paths hidden;
};

#define FAIL(r, ...) cfg_report_error((r)->report, (r)->shown, (r)->line, __VA_ARGS__)

static struct cfg_wish *add(struct reading *r, enum cfg_wish_kind kind, char *take_text,
			    char *take_target)
{
	struct cfg_wishes *w = r->to;

	w->list = zw_xrealloc(w->list, w->n + 1, sizeof(*w->list));
	w->list[w->n] = (struct cfg_wish){
		.text = take_text, .target = take_target, .kind = kind, .line = r->line};
	return &w->list[w->n++];
}

static void judge(struct cfg_wish *w, enum pol_risk risk, const char *means)
{
	w->risk = risk;
	w->can_grant = risk == POL_RISK_LOW;
	w->means = means;
}

static void take_net(struct reading *r, const char *s)
{
	zw_autofree char *ascii = NULL;
	struct pol_site_pattern p;
	const char *why = "";

	if (cfg_site_to_ascii(s, &ascii, &why) < 0 ||
	    pol_site_pattern_parse(ascii, strlen(ascii), &p, &why) < 0) {
		FAIL(r, "`%s` is not a site: %s.", s, why);
		return;
	}
	struct cfg_wish *w = add(r, CFG_WISH_NET, zw_xasprintf("net %s", ascii), zw_xstrdup(ascii));
	bool is_below = zw_starts_with(ascii, "*.");
	const char *name = ascii + (is_below ? 2 : 0);
	size_t len = strcspn(name, ":");
	bool is_local = (len == 9 && strncmp(name, "localhost", 9) == 0) ||
			(len > 10 && strncmp(name + len - 10, ".localhost", 10) == 0);

	if (p.type == POL_PATTERN_NET)
		judge(w, POL_RISK_HIGH, "an address; zwatch asks when it is used");
	else if (is_local)
		judge(w, POL_RISK_HIGH, "a service of this machine; zwatch asks when it is used");
	else if (memchr(name, '.', len) == NULL)
		judge(w, POL_RISK_HIGH, "too wide for a project file: it has to name its hosts");
	else
		judge(w, POL_RISK_LOW, is_below ? "any host under that name" : "this host");
}

static void take_unix(struct reading *r, const char *s)
{
	zw_autofree char *path = NULL;

	if (s[0] == '@' || strpbrk(s, "*?[{") != NULL ||
	    cfg_path_expand(r->places, r->cfg->project_dir, s, &path) < 0) {
		FAIL(r, "`%s` is no path of a socket; list each by its own path.", s);
		return;
	}
	zw_autofree char *real = realpath(path, NULL);
	const char *target = real != NULL ? real : path;
	const struct cfg_class *c = cfg_catalogue_find(r->catalogue(r->arg), target);
	struct cfg_wish *w =
		add(r, CFG_WISH_UNIX, zw_xasprintf("unix %s", target), zw_xstrdup(target));

	if (c->c.treat != POL_TREAT_BY_RISK)
		judge(w, POL_RISK_CRITICAL, "never opened");
	else if (c->c.risk == POL_RISK_CRITICAL)
		judge(w, POL_RISK_CRITICAL, "not possible from a project file");
	else if (c->c.risk == POL_RISK_HIGH)
		judge(w, POL_RISK_HIGH, "zwatch will ask you when it is used");
	else
		judge(w, POL_RISK_LOW, "this socket");
}

static void lists_make(struct reading *r)
{
	struct cfg *wide = cfg_new(r->places, r->cfg->project_dir);

	cfg_items_add(&wide->allow_write, r->places->home, "");
	cfg_protected_paths(r->places, wide, NULL, &r->protected_);
	cfg_hidden_paths(r->places, NULL, &r->hidden);
	cfg_free(wide);
	r->has_lists = true;
}

static void lists_free(struct reading *r)
{
	if (!r->has_lists)
		return;
	cfg_protected_fini(&r->protected_);
	cfg_paths_fini(&r->hidden);
}

/* Whether what the agent writes there would be run, or read, outside. */
static bool is_guarded(struct reading *r, const char *path)
{
	if (!r->has_lists)
		lists_make(r);
	for (size_t i = 0; i < r->protected_.guarded.n; i++)
		if (cfg_path_within(path, r->protected_.guarded.list[i].path))
			return true;
	for (size_t i = 0; i < r->hidden.n; i++)
		if (cfg_path_within(path, r->hidden.list[i].path))
			return true;
	/* Of any repository, also one that is not there yet. */
	return strstr(path, "/.git/") != NULL || zw_ends_with(path, "/.git");
}

static void take_write(struct reading *r, const char *s)
{
	const struct cfg_places *p = r->places;
	zw_autofree char *path = NULL;

	if (strpbrk(s, "*?") != NULL || cfg_path_expand(p, r->cfg->project_dir, s, &path) < 0) {
		FAIL(r, "`%s` is not a path that can be used here.", s);
		return;
	}
	zw_autofree char *real = realpath(path, NULL);
	zw_autofree char *shown = cfg_path_show(p, path);
	const char *target = real != NULL ? real : path;
	struct cfg_wish *w =
		add(r, CFG_WISH_WRITE, zw_xasprintf("write %s", shown), zw_xstrdup(target));
	bool is_home = cfg_path_within(target, p->home) || cfg_path_within(target, p->home_real);

	if (cfg_own_path(r->cfg, p, target) != NULL)
		judge(w, POL_RISK_CRITICAL, "zwatch's own files: never");
	else if (is_guarded(r, target) || is_guarded(r, path))
		judge(w, POL_RISK_HIGH, "would be run, or trusted, outside the sandbox");
	else if (cfg_path_within(p->home_real, target) || cfg_path_within(p->home, target))
		judge(w, POL_RISK_HIGH, "all of your home folder");
	else if (!is_home && !cfg_path_within(target, r->cfg->project_dir))
		judge(w, POL_RISK_HIGH, "outside of your home folder");
	else
		judge(w, POL_RISK_LOW, "files there can be changed");
}

static void take_list(struct reading *r, const struct cfg_json *v,
		      void (*take)(struct reading *r, const char *s))
{
	if (v->type != CFG_JSON_ARRAY) {
		FAIL(r, "`%s` must be a list [ ], not %s.", v->key, cfg_json_type_word(v->type));
		return;
	}
	for (const struct cfg_json *e = v->child; e != NULL; e = e->next) {
		r->line = e->line;
		if (r->to->n == CFG_WISHES_MAX) {
			FAIL(r, "a project may have %d wishes, not more.", CFG_WISHES_MAX);
			return;
		}
		if (e->type == CFG_JSON_STRING)
			take(r, e->str);
		else
			FAIL(r, "an entry of `%s` must be text in quotes, not %s.", v->key,
			     cfg_json_type_word(e->type));
	}
}

static void take_why(struct reading *r, const struct cfg_json *v)
{
	if (v->type != CFG_JSON_STRING || strlen(v->str) > WHY_MAX) {
		FAIL(r, "`why` must be text in quotes.");
		return;
	}
	free(r->to->why);
	r->to->why = zw_xstrdup(v->str);
}

static void take_wish(struct reading *r, const struct cfg_json *wish)
{
	static const char *const names[] = {"allowedDomains", "allowUnixSockets", "allowWrite",
					    "why", NULL};
	static void (*const takes[])(struct reading *, const char *) = {take_net, take_unix,
									take_write};

	r->line = wish->line;
	if (wish->type != CFG_JSON_OBJECT) {
		FAIL(r, "`wish` must be a section { }, not %s.", cfg_json_type_word(wish->type));
		return;
	}
	for (const struct cfg_json *v = wish->child; v != NULL; v = v->next) {
		size_t i = 0;

		r->line = v->line;
		while (names[i] != NULL && strcmp(names[i], v->key) != 0)
			i++;
		if (i < ZW_N_ELEMENTS(takes))
			take_list(r, v, takes[i]);
		else if (names[i] != NULL)
			take_why(r, v);
		else {
			const char *near = zw_nearest(v->key, names);

			FAIL(r, "`%s` is no wish.%s%s%s", v->key,
			     near != NULL ? " Did you mean `" : "", near != NULL ? near : "",
			     near != NULL ? "`?" : "");
		}
	}
}

static char *real_of(const char *path)
{
	char *real = realpath(path, NULL);

	return real != NULL ? real : zw_xstrdup(path);
}

void cfg_wishes_read(const struct cfg *cfg, const struct cfg_places *places,
		     const struct cfg_catalogue *(*catalogue)(void *arg), void *arg,
		     struct cfg_wishes *ret, struct cfg_report *report)
{
	zw_autofree char *shown = cfg_path_show(places, cfg->project_file);
	struct reading r = {.cfg = cfg,
			    .places = places,
			    .catalogue = catalogue,
			    .arg = arg,
			    .to = ret,
			    .report = report,
			    .shown = shown};
	struct cfg_json_doc *doc = NULL;
	struct cfg_json_error error;
	struct zw_sha256 sum;

	*ret = (struct cfg_wishes){.why = zw_xstrdup("")};
	if (cfg->project.text == NULL)
		return;
	ret->root = real_of(cfg->project_dir);
	ret->file = real_of(cfg->project_file);
	zw_sha256_init(&sum);
	zw_sha256_add(&sum, cfg->project.text, cfg->project.len);
	zw_sha256_hex(&sum, ret->sha256);
	/* What is wrong with the file was said when it was read. */
	if (cfg_json_parse(cfg->project.text, cfg->project.len, &doc, &error) < 0)
		return;
	const struct cfg_json *wish = cfg_json_get(cfg_json_root(doc), "wish");
	if (wish != NULL)
		take_wish(&r, wish);
	lists_free(&r);
	cfg_json_free(doc);
}

void cfg_wishes_fini(struct cfg_wishes *w)
{
	for (size_t i = 0; i < w->n; i++) {
		free(w->list[i].text);
		free(w->list[i].target);
	}
	free(w->list);
	free(w->why);
	free(w->root);
	free(w->file);
	*w = (struct cfg_wishes){0};
}

void cfg_wishes_apply(struct cfg *cfg, const struct cfg_places *places, const struct cfg_wishes *w,
		      struct cfg_report *report)
{
	zw_autofree char *shown = cfg_path_show(places, cfg->project_file);

	for (size_t i = 0; i < w->n; i++) {
		const struct cfg_wish *wish = &w->list[i];
		struct cfg_where at = {cfg,   places,	  report, POL_LAYER_WISH,
				       shown, wish->line, NULL};

		if (!wish->is_granted || !wish->can_grant)
			continue;
		switch (wish->kind) {
		case CFG_WISH_NET:
			at.key = "network.allowedDomains";
			cfg_take_site(&at, POL_ACTION_ALLOW, wish->target);
			break;
		case CFG_WISH_UNIX:
			at.key = "network.allowUnixSockets";
			cfg_take_socket(&at, POL_ACTION_ALLOW, wish->target, false);
			break;
		case CFG_WISH_WRITE:
			at.key = "filesystem.allowWrite";
			cfg_take_path(&at, &cfg->allow_write, wish->target);
			break;
		}
	}
}
