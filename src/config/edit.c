/* SPDX-License-Identifier: MIT */
#include "src/config/edit.h"

#include <string.h>

#include "src/base/mem.h"
#include "src/config/json.h"

static char *insert(const char *text, size_t len, size_t at, const char *what)
{
	return zw_xasprintf("%.*s%s%.*s", (int)at, text, what, (int)(len - at), text + at);
}

/* Behind the last entry, before the white space in front of the bracket; behind that where the last line
 * may be a comment. */
static size_t place_for(const char *text, size_t end)
{
	size_t at = end;

	while (at > 0 && strchr(" \t\r\n", text[at - 1]) != NULL)
		at--;
	for (size_t i = at; i > 1 && text[i - 1] != '\n'; i--)
		if (text[i - 1] == '/' && text[i - 2] == '/')
			return end;
	return at;
}

static const char *indent(size_t depth)
{
	static const char tabs[] = "\t\t\t\t\t\t\t\t";

	return tabs + sizeof(tabs) - 1 - (depth < 8 ? depth : 8);
}

/* As text of the settings it would be the same. */
static bool has_value(const struct cfg_json *v, const char *value)
{
	for (const struct cfg_json *e = v->child; e != NULL; e = e->next) {
		if (e->str == NULL && e->key == NULL)
			continue;
		zw_autofree char *quoted = cfg_json_quote(e->key != NULL ? e->key : e->str);
		size_t n = strlen(quoted);

		if (e->type == CFG_JSON_NUMBER && strcmp(e->str, value) == 0)
			return true;
		if (strncmp(quoted, value, n) == 0 && value[n] == (e->key != NULL ? ':' : '\0'))
			return true;
	}
	return false;
}

/* The rest of a path that is not there, down to the value: `"tls": { "sni": "optional" }`. */
static char *chain(const char *path, char bracket, const char *value, size_t depth)
{
	size_t len = strcspn(path, ".");

	if (path[len] == '.') {
		zw_autofree char *inner = chain(path + len + 1, bracket, value, depth + 1);

		return zw_xasprintf("\"%.*s\": {\n%s%s\n%s}", (int)len, path, indent(depth + 1),
				    inner, indent(depth));
	}
	if (bracket == 0)
		return zw_xasprintf("\"%s\": %s", path, value);
	return zw_xasprintf("\"%s\": %c%s%c", path, bracket, value, bracket == '[' ? ']' : '}');
}

static char *add_to(const struct cfg_json *root, const char *text, size_t len, const char *path,
		    char bracket, const char *value)
{
	const struct cfg_json *at = root;
	size_t depth = 1;

	while (at->type == CFG_JSON_OBJECT) {
		size_t n = strcspn(path, ".");
		zw_autofree char *name = zw_xmemdup0(path, n);
		const struct cfg_json *next = cfg_json_get(at, name);

		if (next == NULL) {
			size_t place = place_for(text, at->end);
			zw_autofree char *what = chain(path, bracket, value, depth);
			bool has_break = memchr(text + place, '\n', at->end - place) != NULL;
			zw_autofree char *line = zw_xasprintf(
				"%s\n%s%s%s%s", at->n > 0 ? "," : "", indent(depth), what,
				has_break ? "" : "\n", has_break ? "" : indent(depth - 1));

			return insert(text, len, place, line);
		}
		at = next;
		if (path[n] == '\0')
			break;
		path += n + 1;
		depth++;
	}
	if (bracket == 0)
		return zw_xmemdup0(text, len);
	if (at->type != (bracket == '[' ? CFG_JSON_ARRAY : CFG_JSON_OBJECT))
		return NULL;
	if (has_value(at, value))
		return zw_xmemdup0(text, len);
	zw_autofree char *what = zw_xasprintf("%s%s", at->n > 0 ? ", " : "", value);
	return insert(text, len, place_for(text, at->end), what);
}

char *cfg_edit_add(const char *text, size_t len, const char *path, char bracket, const char *value)
{
	struct cfg_json_doc *doc = NULL;
	struct cfg_json_error error;
	char *fresh = NULL;

	if (cfg_json_parse(text, len, &doc, &error) < 0)
		return NULL;
	if (cfg_json_root(doc)->type == CFG_JSON_OBJECT)
		fresh = add_to(cfg_json_root(doc), text, len, path, bracket, value);
	cfg_json_free(doc);
	return fresh;
}
