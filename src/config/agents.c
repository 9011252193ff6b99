/* SPDX-License-Identifier: MIT */
#include "src/config/agents.h"

#include <assert.h>
#include <string.h>

#include "data_agents.h"
#include "data_credentials.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/config/json.h"

#define N_AGENTS ZW_N_ELEMENTS(zw_data_agents)
#define BASE	 "base" /* first in the table, and not a name that can be asked for */

const char *const *cfg_agent_names(void)
{
	static const char *names[N_AGENTS];

	for (size_t i = 1; i < N_AGENTS; i++)
		names[i - 1] = zw_data_agents[i].name;
	return names;
}

bool cfg_agent_is_known(const char *name)
{
	for (const char *const *n = cfg_agent_names(); *n != NULL; n++)
		if (strcmp(*n, name) == 0)
			return true;
	return false;
}

/* The data is part of the program: a fault in it is a fault of the build, which a test finds. */
static struct cfg_json_doc *parse(const unsigned char *bytes, size_t len)
{
	struct cfg_json_doc *doc = NULL;
	struct cfg_json_error error;
	int code = cfg_json_parse((const char *)bytes, len, &doc, &error);

	assert(code == 0);
	return doc;
}

static void paths_add(struct cfg_paths *paths, const struct cfg_places *places,
		      const struct cfg_json *v)
{
	const char *text = v->type == CFG_JSON_STRING ? v->str : cfg_json_text(v, "path", "");
	const struct cfg_json *file = cfg_json_get(v, "file");
	const struct cfg_json *bar = cfg_json_get(v, "bar");
	const struct cfg_json *made = cfg_json_get(v, "make");
	const char *initial = cfg_json_text(v, "initial", NULL);
	char *path = NULL;
	int code = cfg_path_expand(places, "/", text, &path);

	assert(code == 0);
	paths->list = zw_xrealloc(paths->list, paths->n + 1, sizeof(*paths->list));
	paths->list[paths->n++] = (struct cfg_path){
		.path = path,
		.is_file = file != NULL && file->boolean,
		.is_made = made != NULL && made->boolean,
		.bar = bar != NULL && bar->boolean,
		.initial = initial != NULL ? zw_xstrdup(initial) : NULL,
		.why = zw_xstrdup(cfg_json_text(v, "why", "")),
	};
}

static void paths_read(struct cfg_paths *paths, const struct cfg_places *places,
		       const struct cfg_json *object, const char *key)
{
	const struct cfg_json *list = cfg_json_get(object, key);

	for (const struct cfg_json *v = list != NULL ? list->child : NULL; v != NULL; v = v->next)
		paths_add(paths, places, v);
}

void cfg_paths_fini(struct cfg_paths *p)
{
	for (size_t i = 0; i < p->n; i++)
		cfg_path_fini(&p->list[i]);
	free(p->list);
	*p = (struct cfg_paths){0};
}

void cfg_path_fini(struct cfg_path *p)
{
	free(p->path);
	free(p->initial);
	free(p->why);
}

/* Appends to a list of texts with NULL at its end; takes the text over. */
static void texts_take(char ***texts, char *text)
{
	size_t n = 0;

	while (*texts != NULL && (*texts)[n] != NULL)
		n++;
	*texts = zw_xrealloc(*texts, n + 2, sizeof(**texts));
	(*texts)[n] = text;
	(*texts)[n + 1] = NULL;
}

static void sites_read(struct cfg_agent *a, const struct cfg_json *object)
{
	const struct cfg_json *list = cfg_json_get(object, "sites");

	for (const struct cfg_json *v = list != NULL ? list->child : NULL; v != NULL; v = v->next) {
		a->sites = zw_xrealloc(a->sites, a->n_sites + 1, sizeof(*a->sites));
		a->sites[a->n_sites++] = (struct cfg_site){
			.site = zw_xstrdup(cfg_json_text(v, "site", "")),
			.source = zw_xstrdup(cfg_json_text(v, "source", "")),
		};
	}
}

static void list_read(char ***texts, const struct cfg_json *object, const char *key)
{
	const struct cfg_json *list = cfg_json_get(object, key);

	for (const struct cfg_json *v = list != NULL ? list->child : NULL; v != NULL; v = v->next)
		texts_take(texts, zw_xstrdup(v->str != NULL ? v->str : ""));
}

/* Adds what one file says to a preset. */
static void agent_read(struct cfg_agent *a, const struct cfg_places *places,
		       const struct cfg_json *object)
{
	const struct cfg_json *env = cfg_json_get(object, "environment");

	paths_read(&a->writable, places, object, "writable");
	paths_read(&a->guarded, places, object, "guarded");
	paths_read(&a->private_, places, object, "private");
	sites_read(a, object);
	for (const struct cfg_json *v = env != NULL ? env->child : NULL; v != NULL; v = v->next)
		texts_take(&a->env, zw_xasprintf("%s=%s", v->key, v->str != NULL ? v->str : ""));
	list_read(&a->arguments, object, "arguments");
	list_read(&a->reads, object, "reads");
	list_read(&a->pass, object, "pass");
}

static void agent_read_row(struct cfg_agent *a, const struct cfg_places *places, size_t row)
{
	struct cfg_json_doc *doc = parse(zw_data_agents[row].bytes, zw_data_agents[row].len);
	const struct cfg_json *root = cfg_json_root(doc);

	agent_read(a, places, root);
	free(a->name);
	free(a->title);
	free(a->command);
	a->name = zw_xstrdup(zw_data_agents[row].name);
	a->title = zw_xstrdup(cfg_json_text(root, "title", ""));
	a->command = zw_xstrdup(cfg_json_text(root, "command", ""));
	cfg_json_free(doc);
}

struct cfg_agent *cfg_agent_base(const struct cfg_places *places)
{
	struct cfg_agent *a = zw_xnew(struct cfg_agent);

	assert(strcmp(zw_data_agents[0].name, BASE) == 0);
	a->arguments = zw_xcalloc(1, sizeof(*a->arguments));
	a->reads = zw_xcalloc(1, sizeof(*a->reads));
	a->env = zw_xcalloc(1, sizeof(*a->env));
	a->pass = zw_xcalloc(1, sizeof(*a->pass));
	agent_read_row(a, places, 0);
	return a;
}

int cfg_agent_find(const char *name, const struct cfg_places *places, struct cfg_agent **ret)
{
	for (size_t i = 1; i < N_AGENTS; i++) {
		if (strcmp(zw_data_agents[i].name, name) != 0)
			continue;
		struct cfg_agent *a = cfg_agent_base(places);
		agent_read_row(a, places, i);
		*ret = a;
		return 0;
	}
	return ZW_E_NOT_FOUND;
}

static void texts_free(char **texts)
{
	for (size_t i = 0; texts != NULL && texts[i] != NULL; i++)
		free(texts[i]);
	free(texts);
}

void cfg_agent_free(struct cfg_agent *a)
{
	if (a == NULL)
		return;
	for (size_t i = 0; i < a->n_sites; i++) {
		free(a->sites[i].site);
		free(a->sites[i].source);
	}
	free(a->sites);
	cfg_paths_fini(&a->writable);
	cfg_paths_fini(&a->guarded);
	cfg_paths_fini(&a->private_);
	texts_free(a->arguments);
	texts_free(a->reads);
	texts_free(a->env);
	texts_free(a->pass);
	free(a->name);
	free(a->title);
	free(a->command);
	free(a);
}

/* -- what is hidden ----------------------------------------------------------------------------- */

static bool is_own(const struct cfg_agent *agent, const char *path)
{
	for (size_t i = 0; agent != NULL && i < agent->writable.n; i++)
		if (cfg_path_within(path, agent->writable.list[i].path))
			return true;
	return false;
}

static void paths_drop_own(struct cfg_paths *paths, const struct cfg_agent *agent)
{
	size_t kept = 0;

	for (size_t i = 0; i < paths->n; i++) {
		struct cfg_path *p = &paths->list[i];

		if (!is_own(agent, p->path)) {
			paths->list[kept++] = *p;
			continue;
		}
		free(p->path);
		free(p->initial);
		free(p->why);
	}
	paths->n = kept;
}

void cfg_hidden_paths(const struct cfg_places *places, const struct cfg_agent *agent,
		      struct cfg_paths *ret)
{
	const char *own[] = {places->config_dir, places->state_dir};
	struct cfg_json_doc *doc = parse(zw_data_credentials, zw_data_credentials_len);
	struct cfg_paths paths = {0};

	for (size_t i = 0; i < ZW_N_ELEMENTS(own); i++) {
		const struct cfg_json v = {.type = CFG_JSON_STRING, .str = own[i]};

		paths_add(&paths, places, &v);
		free(paths.list[i].why);
		paths.list[i].why = zw_xstrdup("zwatch's own files");
	}
	paths_read(&paths, places, cfg_json_root(doc), "hidden");
	paths_drop_own(&paths, agent);
	cfg_json_free(doc);
	*ret = paths;
}

void cfg_shown_paths(const struct cfg_places *places, struct cfg_paths *ret)
{
	struct cfg_json_doc *doc = parse(zw_data_credentials, zw_data_credentials_len);
	struct cfg_paths paths = {0};

	paths_read(&paths, places, cfg_json_root(doc), "shown");
	for (size_t i = 0; i < paths.n; i++)
		paths.list[i].is_file = true;
	cfg_json_free(doc);
	*ret = paths;
}
