/* SPDX-License-Identifier: MIT
 * Sites, sockets, paths and ports, from a file or from an option. */
#include "src/config/config.h"

#include <string.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/config/config_int.h"

#define FAIL(w, ...) cfg_report_error((w)->report, (w)->file, (w)->line, __VA_ARGS__)

static int take_rule(const struct cfg_where *w, const struct pol_rule *rule, const char **ret_why)
{
	int code = cfg_rule_add(w->cfg, rule, ret_why);

	if (code == 0)
		w->cfg->rule_keys[w->cfg->n_rules - 1] = w->key;
	return code;
}

char *cfg_where_origin(const struct cfg_where *w)
{
	return w->line > 0 && w->layer != POL_LAYER_BUILTIN
		       ? zw_xasprintf("%s:%u", w->file, w->line)
		       : zw_xstrdup(w->file);
}

void cfg_take_site(const struct cfg_where *w, enum pol_action action, const char *text)
{
	zw_autofree char *origin = cfg_where_origin(w);
	const char *why = "";
	struct pol_rule rule = {
		.kind = POL_KIND_SITE,
		.action = action,
		.layer = w->layer,
		.pattern = text,
		.origin = origin,
	};

	if (take_rule(w, &rule, &why) < 0)
		FAIL(w, "`%s` is not a site: %s.", text, why);
}

/* What people write in the place of a path, and what to tell them. */
static const char *socket_fault(const char *text)
{
	if (text[0] == '\0')
		return "it is empty";
	if (strpbrk(text, "*?[{") != NULL)
		return "it is a pattern; list each socket by its own path";
	if (text[0] != '@' && text[strlen(text) - 1] == '/')
		return "it is a folder; list each socket by its own path";
	if (strchr("/~$@.", text[0]) == NULL)
		return "write its path, such as /run/x.sock, ~/x.sock, or @name for an abstract "
		       "one";
	return NULL;
}

void cfg_take_socket(const struct cfg_where *w, enum pol_action action, const char *text,
		     bool is_direct)
{
	zw_autofree char *origin = cfg_where_origin(w), *path = NULL, *real = NULL;
	const char *why = socket_fault(text);
	struct stat st;

	if (why == NULL && text[0] == '@')
		path = zw_xstrdup(text);
	else if (why == NULL && cfg_path_expand(w->places, w->cfg->project_dir, text, &path) < 0)
		why = "not a path that can be used here";
	else if (why == NULL && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		why = "it is a folder; list each socket by its own path";
	if (why == NULL && text[0] != '@' && (real = realpath(path, NULL)) != NULL) {
		free(path);
		path = zw_steal(&real);
	}
	struct pol_rule rule = {
		.kind = POL_KIND_SOCKET,
		.action = action,
		.layer = w->layer,
		.flags = is_direct ? POL_RULE_DIRECT : 0,
		.pattern = path,
		.origin = origin,
	};
	if (why != NULL || take_rule(w, &rule, &why) < 0) {
		FAIL(w, "`%s` cannot be %s as a socket: %s.", text,
		     action == POL_ACTION_ALLOW ? "allowed" : "denied", why);
		return;
	}
	if (action == POL_ACTION_DENY)
		return;
	char listed[4096];
	zw_strlcpy(listed, text, sizeof(listed));
	cfg_socket_add(w->cfg, &(struct cfg_socket){listed, path, origin, w->layer});
}

void cfg_take_path(const struct cfg_where *w, struct cfg_items *items, const char *text)
{
	zw_autofree char *origin = cfg_where_origin(w), *path = NULL;

	if (strpbrk(text, "*?") != NULL)
		FAIL(w, "`%s` is a pattern; files and folders are listed by their path.", text);
	else if (cfg_path_expand(w->places, w->cfg->project_dir, text, &path) < 0)
		FAIL(w, "`%s` is not a path that can be used here.", text);
	else
		cfg_items_add(items, path, origin);
	if (path == NULL || w->layer != POL_LAYER_MANAGED)
		return;
	if (items == &w->cfg->deny_read)
		cfg_items_add(&w->cfg->held_read, path, origin);
	else if (items == &w->cfg->deny_write)
		cfg_items_add(&w->cfg->held_write, path, origin);
}

void cfg_take_port(const struct cfg_where *w, struct cfg_ports *ports, int64_t port)
{
	static const char *const hosts[] = {"localhost", "127.0.0.1", "[::1]"};
	zw_autofree char *origin = cfg_where_origin(w);

	cfg_ports_add(ports, (uint16_t)port, origin);
	for (size_t i = 0; ports == &w->cfg->local_ports && i < ZW_N_ELEMENTS(hosts); i++) {
		zw_autofree char *pattern = zw_xasprintf("%s:%u", hosts[i], (unsigned)port);
		const char *why = "";
		struct pol_rule rule = {
			.kind = POL_KIND_SITE,
			.action = POL_ACTION_ALLOW,
			.layer = w->layer,
			.pattern = pattern,
			.origin = origin,
		};

		if (take_rule(w, &rule, &why) < 0)
			FAIL(w, "`%s` is not a site: %s.", pattern, why);
	}
}

/* A value of a row without an order, from an option. */
static void set_unordered(const struct cfg_where *w, const char *key, int64_t *value,
			  int64_t wanted)
{
	size_t index = cfg_key_index(key);
	const char *held = w->cfg->holds[index].origin;

	if (held != NULL && *value != wanted) {
		cfg_report_note(w->report, w->file, w->line,
				"`%s` stays as %s holds it, in spite of:", key, held);
		return;
	}
	*value = wanted;
	cfg_origin_set(w, index);
}

static void take_hold(const struct cfg_where *w, const char *value)
{
	uint64_t seconds;
	int64_t ms = 0;

	if (zw_parse_u64(value, strlen(value), 86400, &seconds) == 0)
		ms = (int64_t)seconds * 1000;
	else if (cfg_parse_duration(value, &ms) < 0 || ms > 86400000) {
		FAIL(w, "`%s` is no time to wait: seconds, or such as 2m; 0 = until answered.",
		     value);
		return;
	}
	set_unordered(w, "prompt.holdSite", &w->cfg->hold_site_ms, ms);
	set_unordered(w, "prompt.holdSocket", &w->cfg->hold_socket_ms, ms);
}

static void take_mode(const struct cfg_where *w, const char *value)
{
	static const char *const modes[] = {"watch", "guard", "strict", NULL};

	enum pol_mode mode;

	if (pol_mode_parse(value, &mode) == 0) {
		w->cfg->mode = (enum pol_mode)cfg_layer_settle(
			w, cfg_key_index("mode"), "mode", CFG_ORDER_RAISES, (int64_t)w->cfg->mode,
			(int64_t)mode);
		return;
	}
	const char *near = zw_nearest(value, modes);
	FAIL(w, "there is no mode `%s`, only watch, guard or strict.%s%s%s", value,
	     near != NULL ? " Did you mean `" : "", near != NULL ? near : "",
	     near != NULL ? "`?" : "");
}

/* The option, and the setting that it adds to. */
static const struct {
	const char *word, *key;
} option_words[] = {
	[CFG_OPT_MODE] = {"--mode", "mode"},
	[CFG_OPT_ALLOW] = {"--allow", "network.allowedDomains"},
	[CFG_OPT_DENY] = {"--deny", "network.deniedDomains"},
	[CFG_OPT_ALLOW_UNIX] = {"--allow-unix", "network.allowUnixSockets"},
	[CFG_OPT_RO] = {"--ro", "filesystem.denyWrite"},
	[CFG_OPT_RW] = {"--rw", "filesystem.allowWrite"},
	[CFG_OPT_HIDE] = {"--hide", "filesystem.denyRead"},
	[CFG_OPT_HOLD] = {"--hold", "prompt.holdSite"},
};

/* Paths of options start from where the user stands, not from the project's folder. */
static void take_option_path(const struct cfg_where *w, struct cfg_items *items, const char *value)
{
	zw_autofree char *path = NULL;

	if (cfg_path_expand(w->places, w->places->start_dir, value, &path) < 0)
		FAIL(w, "`%s` is not a path that can be used here.", value);
	else
		cfg_items_add(items, path, w->file);
}

void cfg_option(struct cfg *cfg, const struct cfg_places *places, enum cfg_option option,
		const char *value, struct cfg_report *report)
{
	cfg_variable(cfg, places, option, option_words[option].word, value, report);
}

void cfg_variable(struct cfg *cfg, const struct cfg_places *places, enum cfg_option option,
		  const char *name, const char *value, struct cfg_report *report)
{
	const struct cfg_where w = {
		cfg, places, report, POL_LAYER_OPTION, name, 0, option_words[option].key};

	switch (option) {
	case CFG_OPT_MODE:
		take_mode(&w, value);
		return;
	case CFG_OPT_ALLOW:
		cfg_take_site(&w, POL_ACTION_ALLOW, value);
		return;
	case CFG_OPT_DENY:
		cfg_take_site(&w, POL_ACTION_DENY, value);
		return;
	case CFG_OPT_ALLOW_UNIX:
		cfg_take_socket(&w, POL_ACTION_ALLOW, value, false);
		return;
	case CFG_OPT_RO:
		take_option_path(&w, &cfg->deny_write, value);
		return;
	case CFG_OPT_RW:
		take_option_path(&w, &cfg->allow_write, value);
		return;
	case CFG_OPT_HIDE:
		take_option_path(&w, &cfg->deny_read, value);
		return;
	case CFG_OPT_HOLD:
		take_hold(&w, value);
		return;
	}
}
