/* SPDX-License-Identifier: MIT
 * trust.json: which wishes were granted to which content of which project file. */
#include "src/config/wish.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/config/json.h"
#include "src/config/saved_file.h"

#define ENTRIES_MAX 1000 /* the oldest go */

static void entry_fini(struct cfg_trust_entry *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->wishes[i]);
	free(e->wishes);
	free(e->root);
	free(e->file);
	free(e->sha256);
}

void cfg_trust_fini(struct cfg_trust *t)
{
	for (size_t i = 0; i < t->n; i++)
		entry_fini(&t->list[i]);
	free(t->list);
	*t = (struct cfg_trust){0};
}

static void entry_drop(struct cfg_trust *t, size_t at)
{
	entry_fini(&t->list[at]);
	memmove(t->list + at, t->list + at + 1, (t->n - at - 1) * sizeof(*t->list));
	t->n--;
}

static struct cfg_trust_entry *entry_add(struct cfg_trust *t)
{
	if (t->n == ENTRIES_MAX)
		entry_drop(t, 0);
	t->list = zw_xrealloc(t->list, t->n + 1, sizeof(*t->list));
	t->list[t->n] = (struct cfg_trust_entry){0};
	return &t->list[t->n++];
}

static void text_add(struct cfg_trust_entry *e, const char *text)
{
	e->wishes = zw_xrealloc(e->wishes, e->n + 1, sizeof(*e->wishes));
	e->wishes[e->n++] = zw_xstrdup(text);
}

/* -- reading ------------------------------------------------------------------------------------ */

/* Whether @v is an entry as it is written here; anything else is a file that somebody else made. */
static bool entry_read(const struct cfg_json *v, struct cfg_trust *t)
{
	const struct cfg_json *wishes = cfg_json_get(v, "wishes"),
			      *never = cfg_json_get(v, "never");
	const char *root = cfg_json_text(v, "root", ""), *file = cfg_json_text(v, "file", "");
	const char *sha256 = cfg_json_text(v, "sha256", "");
	int64_t at_s = 0;

	if (root[0] != '/' || file[0] != '/' || strlen(sha256) != ZW_SHA256_HEX ||
	    cfg_time_parse(cfg_json_text(v, "at", ""), &at_s) < 0 || wishes == NULL ||
	    wishes->type != CFG_JSON_ARRAY || (never != NULL && never->type != CFG_JSON_BOOL))
		return false;
	struct cfg_trust_entry *e = entry_add(t);
	*e = (struct cfg_trust_entry){
		.root = zw_xstrdup(root),
		.file = zw_xstrdup(file),
		.sha256 = zw_xstrdup(sha256),
		.at_s = at_s,
		.is_never = never != NULL && never->boolean,
	};
	for (const struct cfg_json *w = wishes->child; w != NULL; w = w->next) {
		if (w->type != CFG_JSON_STRING)
			return false;
		text_add(e, w->str);
	}
	return true;
}

int cfg_trust_parse(const char *text, size_t len, const char *shown, struct cfg_trust *ret,
		    struct cfg_report *report)
{
	struct cfg_json_doc *doc = NULL;
	struct cfg_json_error error;
	unsigned line = 0;

	*ret = (struct cfg_trust){0};
	if (cfg_json_parse(text, len, &doc, &error) < 0) {
		cfg_report_error(report, shown, error.line,
				 "what was granted cannot be read: %s:", error.text);
		return ZW_E_CONFIG;
	}
	const struct cfg_json *root = cfg_json_root(doc), *version = cfg_json_get(root, "version");
	const struct cfg_json *granted = cfg_json_get(root, "granted");
	if (version == NULL || version->number != 1 || granted == NULL ||
	    granted->type != CFG_JSON_ARRAY)
		line = root->line;
	for (const struct cfg_json *v = line == 0 ? granted->child : NULL; v != NULL; v = v->next)
		if (line == 0 && !entry_read(v, ret))
			line = v->line;
	cfg_json_free(doc);
	if (line == 0)
		return 0;
	cfg_trust_fini(ret);
	cfg_report_error(report, shown, line, "this is not what zwatch writes; remove the file:");
	return ZW_E_CONFIG;
}

int cfg_trust_load(const char *path, struct cfg_trust *ret, struct cfg_report *report)
{
	zw_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	zw_autofree char *text = NULL;
	struct stat st;
	size_t len = 0;

	*ret = (struct cfg_trust){0};
	if (fd < 0 && errno == ENOENT)
		return 0;
	const char *why = fd < 0				       ? zw_strerror(-errno)
			  : fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ? "no plain file"
			  : st.st_uid != geteuid()		    ? "it belongs to another user"
			  : (st.st_mode & (S_IWGRP | S_IWOTH)) != 0 ? "other users can write it"
			  : zw_read_fd(fd, CFG_JSON_SIZE_MAX, &text, &len) < 0 ? "it is too large"
									       : NULL;
	if (why == NULL)
		return cfg_trust_parse(text, len, path, ret, report);
	cfg_report_error(report, path, 0, "what was granted cannot be read (%s):", why);
	return ZW_E_CONFIG;
}

/* -- asking ------------------------------------------------------------------------------------- */

static bool is_place(const struct cfg_trust_entry *e, const struct cfg_wishes *w)
{
	return w->root != NULL && strcmp(e->root, w->root) == 0 && strcmp(e->file, w->file) == 0;
}

const struct cfg_trust_entry *cfg_trust_find(const struct cfg_trust *t, const struct cfg_wishes *w)
{
	for (size_t i = t->n; i-- > 0;)
		if (is_place(&t->list[i], w) && strcmp(t->list[i].sha256, w->sha256) == 0)
			return &t->list[i];
	return NULL;
}

const struct cfg_trust_entry *cfg_trust_last(const struct cfg_trust *t, const struct cfg_wishes *w)
{
	for (size_t i = t->n; i-- > 0;)
		if (is_place(&t->list[i], w))
			return &t->list[i];
	return NULL;
}

void cfg_trust_mark(const struct cfg_trust_entry *e, struct cfg_wishes *w)
{
	for (size_t i = 0; i < w->n; i++)
		for (size_t k = 0; k < e->n && !e->is_never; k++)
			if (w->list[i].can_grant && strcmp(w->list[i].text, e->wishes[k]) == 0)
				w->list[i].is_granted = true;
}

/* -- writing ------------------------------------------------------------------------------------ */

static void entry_put(struct zw_buf *b, const struct cfg_trust_entry *e)
{
	zw_autofree char *root = cfg_json_quote(e->root), *file = cfg_json_quote(e->file);
	char at[32];

	zw_buf_addf(
		b,
		"\t\t{ \"root\": %s, \"file\": %s,\n\t\t  \"sha256\": \"%s\", \"at\": \"%s\",%s "
		"\"wishes\": [",
		root, file, e->sha256, cfg_time_format(e->at_s, at),
		e->is_never ? " \"never\": true," : "");
	for (size_t i = 0; i < e->n; i++) {
		zw_autofree char *text = cfg_json_quote(e->wishes[i]);

		zw_buf_addf(b, "%s%s", i > 0 ? ", " : "", text);
	}
	zw_buf_addf(b, "] }");
}

static int write_all(const char *path, const struct cfg_trust *t)
{
	struct zw_buf b;

	zw_buf_init(&b, 1u << 30);
	zw_buf_addf(&b, "{\n\t\"version\": 1,\n\t\"granted\": [\n");
	for (size_t i = 0; i < t->n; i++) {
		entry_put(&b, &t->list[i]);
		zw_buf_addf(&b, i + 1 < t->n ? ",\n" : "\n");
	}
	zw_buf_addf(&b, "\t]\n}\n");
	int r = cfg_file_replace(path, (const char *)zw_buf_head(&b), b.len);
	zw_buf_fini(&b);
	return r;
}

int cfg_trust_keep(const char *path, struct cfg_trust *t, const struct cfg_wishes *w, bool is_never,
		   int64_t now_s)
{
	const struct cfg_trust_entry *old = cfg_trust_find(t, w);

	if (old != NULL)
		entry_drop(t, (size_t)(old - t->list));
	struct cfg_trust_entry *e = entry_add(t);
	*e = (struct cfg_trust_entry){
		.root = zw_xstrdup(w->root),
		.file = zw_xstrdup(w->file),
		.sha256 = zw_xstrdup(w->sha256),
		.at_s = now_s,
		.is_never = is_never,
	};
	for (size_t i = 0; i < w->n && !is_never; i++)
		if (w->list[i].is_granted)
			text_add(e, w->list[i].text);
	return write_all(path, t);
}

int cfg_trust_forget(const char *path, struct cfg_trust *t, const char *root)
{
	int n = 0;

	for (size_t i = t->n; i-- > 0;) {
		if (strcmp(t->list[i].root, root) != 0)
			continue;
		entry_drop(t, i);
		n++;
	}
	int r = n > 0 ? write_all(path, t) : 0;
	return r < 0 ? r : n;
}
