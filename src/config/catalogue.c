/* SPDX-License-Identifier: MIT */
#include "src/config/catalogue.h"

#include <string.h>

#include "data_sockets.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"

#define CLASSES_MAX  1024u
#define PATTERNS_MAX 16384u
#define GLOB_MAX     1024u

struct maker {
	struct cfg_catalogue *cat;
	const struct cfg_places *places;
	struct cfg_json_error *error;
	size_t patterns_room;
	/* Patterns from the environment; they go in front of all others. */
	struct cfg_pattern *front;
	size_t n_front;
};

static int fail(struct maker *m, const struct cfg_json *v, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct maker *m, const struct cfg_json *v, const char *fmt, ...)
{
	va_list ap;

	m->error->line = v->line;
	va_start(ap, fmt);
	vsnprintf(m->error->text, sizeof(m->error->text), fmt, ap);
	va_end(ap);
	return ZW_E_CONFIG;
}

/* -- patterns ----------------------------------------------------------------------------------- */

static void pattern_take(struct maker *m, unsigned index, bool is_abstract, char *glob)
{
	struct cfg_catalogue *cat = m->cat;

	if (cat->n_patterns == m->patterns_room) {
		m->patterns_room = m->patterns_room == 0 ? 1024 : m->patterns_room * 2;
		cat->patterns =
			zw_xrealloc(cat->patterns, m->patterns_room, sizeof(*cat->patterns));
	}
	cat->patterns[cat->n_patterns++] = (struct cfg_pattern){index, is_abstract, glob};
}

/* A path as a pattern that means just itself: zw_glob has no quoting, but ? means one byte. */
static char *quote(const char *path)
{
	char *out = zw_xstrdup(path);

	for (char *p = out; *p != '\0'; p++)
		if (*p == '*')
			*p = '?';
	return out;
}

/* $R is the runtime folder of any user, so that another user's is known for what it is; also this
 * user's own, when it lies elsewhere. */
static void pattern_runtime(struct maker *m, unsigned index, bool is_abstract, const char *rest)
{
	const char *own = m->places->runtime_dir;

	pattern_take(m, index, is_abstract, zw_xasprintf("/run/user/*%s", rest));
	if (zw_starts_with(own, "/run/user/") && strchr(own + strlen("/run/user/"), '/') == NULL)
		return;
	zw_autofree char *dir = quote(own);
	pattern_take(m, index, is_abstract, zw_xasprintf("%s%s", dir, rest));
}

static void pattern_home(struct maker *m, unsigned index, bool is_abstract, const char *rest)
{
	const char *homes[] = {m->places->home, m->places->home_real};

	for (size_t i = 0; i < ZW_N_ELEMENTS(homes); i++) {
		if (i > 0 && strcmp(homes[i], homes[0]) == 0)
			return;
		zw_autofree char *dir = quote(strcmp(homes[i], "/") == 0 ? "" : homes[i]);
		pattern_take(m, index, is_abstract, zw_xasprintf("%s%s", dir, rest));
	}
}

static int add_pattern(struct maker *m, unsigned index, bool is_abstract, const struct cfg_json *v)
{
	if (v->type != CFG_JSON_STRING || v->str[0] == '\0' || strlen(v->str) > GLOB_MAX)
		return fail(m, v, "a pattern must be text in quotes");
	if (m->cat->n_patterns > PATTERNS_MAX)
		return fail(m, v, "more patterns than there is room for");
	if (zw_starts_with(v->str, "$R/"))
		pattern_runtime(m, index, is_abstract, v->str + 2);
	else if (zw_starts_with(v->str, "~/"))
		pattern_home(m, index, is_abstract, v->str + 1);
	else if (is_abstract || v->str[0] == '/' || zw_starts_with(v->str, "**"))
		pattern_take(m, index, is_abstract, zw_xstrdup(v->str));
	else
		return fail(m, v, "a path begins with /, ~/, $R/ or **: %.100s", v->str);
	return 0;
}

static int add_patterns(struct maker *m, unsigned index, const struct cfg_json *class_v,
			const char *key)
{
	const struct cfg_json *list = cfg_json_get(class_v, key);
	bool is_abstract = strcmp(key, "abstract") == 0;

	if (list == NULL)
		return 0;
	if (list->type != CFG_JSON_ARRAY)
		return fail(m, list, "`%s` must be a list", key);
	for (const struct cfg_json *v = list->child; v != NULL; v = v->next) {
		int code = add_pattern(m, index, is_abstract, v);

		if (code < 0)
			return code;
	}
	return 0;
}

static const struct cfg_pattern *match(const struct cfg_catalogue *cat, bool is_abstract,
				       const char *name, size_t len)
{
	for (size_t i = 0; i < cat->n_patterns; i++) {
		const struct cfg_pattern *p = &cat->patterns[i];

		if (p->is_abstract == is_abstract && zw_glob(p->glob, name, len))
			return p;
	}
	return NULL;
}

/* -- what the environment points to ------------------------------------------------------------- */

/* A socket that a variable names, with a pattern behind it ("" for most). A place that the patterns
 * know to be as risky or worse keeps its class: nobody lowers a risk by setting a variable. */
static void env_add(struct maker *m, unsigned index, const char *name, const char *suffix)
{
	const struct cfg_class *classes = m->cat->classes;
	bool is_abstract = name[0] == '@';
	char *path = NULL;

	if (name[0] == '\0' || strlen(name) > GLOB_MAX)
		return;
	/* As a pattern it would mean other sockets too, and could take them out of their class. */
	if (strpbrk(name, "*?") != NULL)
		return;
	if (!is_abstract && (name[0] != '/' || cfg_path_expand(m->places, "/", name, &path) < 0))
		return;
	zw_autofree char *owned = path, *glob = quote(is_abstract ? name + 1 : path);
	zw_autofree char *whole = zw_xasprintf("%s%s", glob, suffix);
	const struct cfg_pattern *known = match(m->cat, is_abstract, whole, strlen(whole));
	(void)owned;
	if (known != NULL && classes[known->class_index].c.risk >= classes[index].c.risk)
		return;
	if (known != NULL && classes[known->class_index].c.treat != POL_TREAT_BY_RISK)
		return;
	m->front = zw_xrealloc(m->front, m->n_front + 1, sizeof(*m->front));
	m->front[m->n_front++] = (struct cfg_pattern){index, is_abstract, zw_steal(&whole)};
}

static void env_span(struct maker *m, unsigned index, struct zw_span name)
{
	zw_autofree char *s = zw_span_dup(name);

	env_add(m, index, s, "");
}

/* unix:///run/x.sock, unix:/run/x.sock, unix:@name, /run/x.sock, {server}unix:/x; others: none. */
static void env_url(struct maker *m, unsigned index, const char *value)
{
	const char *end_of_server = value[0] == '{' ? strchr(value, '}') : NULL;

	if (end_of_server != NULL)
		value = end_of_server + 1;
	if (zw_starts_with(value, "unix://"))
		value += strlen("unix://");
	else if (zw_starts_with(value, "unix:"))
		value += strlen("unix:");
	env_add(m, index, value, "");
}

static int hex_value(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c != '\0' ? strchr(digits, c | 0x20) : NULL;

	return at != NULL ? (int)(at - digits) : -1;
}

/* D-Bus addresses write bytes as %XX (D-Bus specification, "Server Addresses"). */
static char *dbus_unescape(struct zw_span s)
{
	char *out = zw_xmalloc(s.len + 1);
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++) {
		int high = s.p[i] == '%' && i + 2 < s.len + 0 ? hex_value(s.p[i + 1]) : -1;
		int low = high >= 0 ? hex_value(s.p[i + 2]) : -1;

		if (low > 0 || (low == 0 && high > 0)) {
			out[n++] = (char)(high << 4 | low);
			i += 2;
		} else {
			out[n++] = s.p[i];
		}
	}
	out[n] = '\0';
	return out;
}

/* unix:path=/run/user/1000/bus,guid=…;unix:abstract=/tmp/dbus-x */
static void env_dbus(struct maker *m, unsigned index, const char *value)
{
	for (const char *p = value; *p != '\0';) {
		size_t len = strcspn(p, ";,");
		const char *pair = zw_starts_with(p, "unix:") ? p + strlen("unix:") : p;
		const char *equals = memchr(pair, '=', (size_t)(p + len - pair));

		if (equals != NULL) {
			struct zw_span key = zw_span_n(pair, (size_t)(equals - pair));
			zw_autofree char *text = dbus_unescape(
				zw_span_n(equals + 1, (size_t)(p + len - equals - 1)));
			zw_autofree char *abstract = zw_xasprintf("@%s", text);

			if (zw_span_eq(key, "path"))
				env_add(m, index, text, "");
			else if (zw_span_eq(key, "abstract"))
				env_add(m, index, abstract, "");
			else if (zw_span_eq(key, "dir") || zw_span_eq(key, "tmpdir"))
				env_add(m, index, text, "/*");
		}
		p += len;
		p += *p != '\0';
	}
}

/* :0, unix:0, :0.1, or the path of a socket; a host in front means TCP. */
static void env_display(struct maker *m, unsigned index, const char *value)
{
	const char *colon = strrchr(value, ':');

	if (value[0] == '/') {
		env_add(m, index, value, "");
		return;
	}
	if (colon == NULL || (colon != value && !zw_starts_with(value, "unix:")))
		return;
	int digits = (int)strspn(colon + 1, "0123456789");
	if (digits == 0 || digits > 5)
		return;
	zw_autofree char *name = zw_xasprintf("@/tmp/.X11-unix/X%.*s", digits, colon + 1);
	env_add(m, index, name, "");
	env_add(m, index, name + 1, "");
}

/* local/host:@/tmp/.ICE-unix/1,unix/host:/tmp/.ICE-unix/1 */
static void env_session(struct maker *m, unsigned index, const char *value)
{
	for (const char *p = value; *p != '\0';) {
		size_t len = strcspn(p, ",");
		const char *colon = memchr(p, ':', len);

		if (colon != NULL)
			env_span(m, index, zw_span_n(colon + 1, (size_t)(p + len - colon - 1)));
		p += len;
		p += *p != '\0';
	}
}

static void env_wayland(struct maker *m, unsigned index, const char *value)
{
	zw_autofree char *path = zw_xasprintf("%s/%s", m->places->runtime_dir, value);

	if (value[0] != '\0')
		env_add(m, index, value[0] == '/' ? value : path, "");
}

/* @how says how to read the value; the words are those of data/sockets.json. */
static int env_read(struct maker *m, unsigned index, const char *how, const char *value)
{
	if (strcmp(how, "path") == 0)
		env_add(m, index, value, "");
	else if (strcmp(how, "comma") == 0)
		env_span(m, index, zw_span_n(value, strcspn(value, ",")));
	else if (strcmp(how, "colon") == 0)
		env_span(m, index, zw_span_n(value, strcspn(value, ":")));
	else if (strcmp(how, "url") == 0)
		env_url(m, index, value);
	else if (strcmp(how, "dbus") == 0)
		env_dbus(m, index, value);
	else if (strcmp(how, "display") == 0)
		env_display(m, index, value);
	else if (strcmp(how, "session") == 0)
		env_session(m, index, value);
	else if (strcmp(how, "wayland") == 0)
		env_wayland(m, index, value);
	else if (zw_starts_with(how, "under:/"))
		env_add(m, index, value, how + strlen("under:"));
	else
		return ZW_E_CONFIG;
	return 0;
}

static const char *env_get(char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (; env != NULL && *env != NULL; env++)
		if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
			return *env + len + 1;
	return NULL;
}

static int add_environment(struct maker *m, unsigned index, const struct cfg_json *class_v,
			   char *const *env)
{
	const struct cfg_json *map = cfg_json_get(class_v, "environment");

	if (map == NULL)
		return 0;
	if (map->type != CFG_JSON_OBJECT)
		return fail(m, map, "`environment` must be a section");
	for (const struct cfg_json *v = map->child; v != NULL; v = v->next) {
		const char *value = env_get(env, v->key);

		if (v->type != CFG_JSON_STRING ||
		    env_read(m, index, v->str, value != NULL ? value : "") < 0)
			return fail(m, v, "nobody knows how to read %.64s", v->key);
	}
	return 0;
}

/* Puts what the environment named before all other patterns, behind those of zwatch itself. */
static void join_front(struct maker *m)
{
	struct cfg_catalogue *cat = m->cat;

	if (m->n_front == 0)
		return;
	cat->patterns =
		zw_xrealloc(cat->patterns, cat->n_patterns + m->n_front, sizeof(*cat->patterns));
	memmove(cat->patterns + m->n_front, cat->patterns,
		cat->n_patterns * sizeof(*cat->patterns));
	memcpy(cat->patterns, m->front, m->n_front * sizeof(*m->front));
	cat->n_patterns += m->n_front;
}

/* -- classes ------------------------------------------------------------------------------------ */

static int parse_word(const char *word, const char *const *words)
{
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(word, words[i]) == 0)
			return i;
	return -1;
}

static int read_class(struct maker *m, const struct cfg_json *v, struct cfg_class *c)
{
	static const char *const treats[] = {"by-risk", "not-there", "refuse", NULL};
	static const char *const ways[] = {"relay", "direct", NULL};
	static const char *const texts[] = {"name", "title", "brief", "allow", "word"};
	const char *risk = cfg_json_text(v, "risk", "");
	int treat = parse_word(cfg_json_text(v, "treat", "by-risk"), treats);
	int way = parse_word(cfg_json_text(v, "way", "relay"), ways);

	for (size_t i = 0; i < ZW_N_ELEMENTS(texts); i++)
		if (cfg_json_text(v, texts[i], "")[0] == '\0')
			return fail(m, v, "a class needs `%s`", texts[i]);
	const char *name = cfg_json_text(v, "name", "");
	if (strlen(name) >= sizeof(c->c.name))
		return fail(m, v, "the name of a class is too long");
	if (pol_risk_parse(risk, &c->c.risk) < 0 || treat < 0 || way < 0)
		return fail(m, v, "class %s: risk, treat or way is none", name);
	zw_strlcpy(c->c.name, name, sizeof(c->c.name));
	c->c.treat = (enum pol_treat)treat;
	c->c.way = (enum pol_way)way;
	c->title = cfg_json_text(v, "title", "");
	c->brief = cfg_json_text(v, "brief", "");
	c->allow = cfg_json_text(v, "allow", "");
	c->word = cfg_json_text(v, "word", "");
	c->safer = cfg_json_text(v, "safer", "");
	c->grants = cfg_json_text(v, "grants", "");
	c->through = cfg_json_text(v, "through", "");
	c->wants = cfg_json_text(v, "wants", "");
	if (cfg_json_get(v, "wants") == NULL) {
		c->wants_made = zw_xasprintf("talk to %s", c->title);
		c->wants = c->wants_made;
	}
	return 0;
}

static int read_classes(struct maker *m, char *const *env)
{
	struct cfg_catalogue *cat = m->cat;
	const struct cfg_json *root = cfg_json_root(cat->doc),
			      *list = cfg_json_get(root, "classes");
	unsigned index = 0;
	int code = 0;

	if (list == NULL || list->type != CFG_JSON_ARRAY || list->n == 0 || list->n > CLASSES_MAX)
		return fail(m, root, "`classes` must be a list");
	cat->classes = zw_xcalloc(list->n, sizeof(*cat->classes));
	for (const struct cfg_json *v = list->child; v != NULL && code == 0; v = v->next, index++) {
		cat->n_classes = index + 1;
		code = read_class(m, v, &cat->classes[index]);
		if (code == 0)
			code = add_patterns(m, index, v, "paths");
		if (code == 0)
			code = add_patterns(m, index, v, "abstract");
	}
	index = 0;
	for (const struct cfg_json *v = list->child; v != NULL && code == 0; v = v->next, index++)
		code = add_environment(m, index, v, env);
	if (code == 0 && strcmp(cat->classes[cat->n_classes - 1].c.name, CFG_CLASS_UNKNOWN) != 0)
		code = fail(m, root, "the last class must be " CFG_CLASS_UNKNOWN);
	return code;
}

int cfg_catalogue_parse(const char *text, size_t len, const struct cfg_places *places,
			char *const *env, struct cfg_catalogue **ret,
			struct cfg_json_error *ret_error)
{
	struct cfg_json_doc *doc = NULL;
	int code = cfg_json_parse(text, len, &doc, ret_error);

	if (code < 0)
		return code;
	struct cfg_catalogue *cat = zw_xnew(struct cfg_catalogue);
	cat->doc = doc;
	struct maker m = {.cat = cat, .places = places, .error = ret_error};
	code = read_classes(&m, env);
	join_front(&m);
	free(m.front);
	if (code < 0) {
		cfg_catalogue_free(cat);
		return code;
	}
	*ret = cat;
	return 0;
}

int cfg_catalogue_load(const struct cfg_places *places, char *const *env,
		       struct cfg_catalogue **ret)
{
	struct cfg_json_error error;

	return cfg_catalogue_parse((const char *)zw_data_sockets, zw_data_sockets_len, places, env,
				   ret, &error);
}

void cfg_catalogue_free(struct cfg_catalogue *cat)
{
	if (cat == NULL)
		return;
	for (size_t i = 0; i < cat->n_patterns; i++)
		free(cat->patterns[i].glob);
	for (size_t i = 0; i < cat->n_classes; i++)
		free(cat->classes[i].wants_made);
	free(cat->patterns);
	free(cat->classes);
	cfg_json_free(cat->doc);
	free(cat);
}

const struct cfg_class *cfg_catalogue_class(const struct cfg_catalogue *cat, const char *name)
{
	for (size_t i = 0; i < cat->n_classes; i++)
		if (strcmp(cat->classes[i].c.name, name) == 0)
			return &cat->classes[i];
	return &cat->classes[cat->n_classes - 1];
}

const struct cfg_class *cfg_catalogue_find(const struct cfg_catalogue *cat, const char *socket)
{
	bool is_abstract = socket[0] == '@';

	if (is_abstract)
		socket++;
	else if (zw_starts_with(socket, "/var/run/"))
		socket += strlen("/var");
	const struct cfg_pattern *p = match(cat, is_abstract, socket, strlen(socket));
	return &cat->classes[p != NULL ? p->class_index : cat->n_classes - 1];
}

int cfg_catalogue_fill(const struct cfg_catalogue *cat, struct policy *policy)
{
	for (size_t i = 0; i < cat->n_classes; i++) {
		int code = pol_class_add(policy, &cat->classes[i].c);

		if (code < 0)
			return code;
	}
	for (size_t i = 0; i < cat->n_patterns; i++) {
		const struct cfg_pattern *p = &cat->patterns[i];
		int code = pol_pattern_add(policy, p->class_index, p->is_abstract, p->glob);

		if (code < 0)
			return code;
	}
	return 0;
}
