/* SPDX-License-Identifier: MIT */
#include "src/config/saved_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/config/json.h"

#define FILE_MAX_B  CFG_JSON_SIZE_MAX
#define ID_MAX	    99999 /* below CFG_RULE_FIRST */
#define LOCK_TRIES  500	  /* of 10 ms */
#define LOCK_NAP_US 10000

/* -- times -------------------------------------------------------------------------------------- */

const char *cfg_time_format(int64_t t_s, char out[32])
{
	time_t t = (time_t)t_s;
	struct tm tm;

	if (gmtime_r(&t, &tm) == NULL || strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		zw_strlcpy(out, "", 32);
	return out;
}

int cfg_time_parse(const char *s, int64_t *ret_s)
{
	struct tm tm = {0};
	const char *end = strptime(s, "%Y-%m-%dT%H:%M:%SZ", &tm);

	if (end == NULL || *end != '\0')
		return ZW_E_SYNTAX;
	time_t t = timegm(&tm);
	if (t <= 0)
		return ZW_E_SYNTAX;
	*ret_s = t;
	return 0;
}

/* -- in memory ---------------------------------------------------------------------------------- */

void cfg_saved_init(struct cfg_saved *s)
{
	*s = (struct cfg_saved){.next_id = 1};
}

void cfg_saved_fini(struct cfg_saved *s)
{
	for (size_t i = 0; i < s->n; i++)
		pol_saved_fini(&s->list[i]);
	free(s->list);
	cfg_saved_init(s);
}

struct pol_saved *cfg_saved_find(const struct cfg_saved *s, uint32_t id)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].id == id)
			return &s->list[i];
	return NULL;
}

struct pol_saved *cfg_saved_add(struct cfg_saved *s, struct pol_saved *take)
{
	s->list = zw_xrealloc(s->list, s->n + 1, sizeof(*s->list));
	struct pol_saved *r = &s->list[s->n++];

	*r = *take;
	*take = (struct pol_saved){0};
	if (r->id == 0)
		r->id = s->next_id;
	if (r->id >= s->next_id)
		s->next_id = r->id + 1;
	return r;
}

bool cfg_saved_remove(struct cfg_saved *s, uint32_t id)
{
	struct pol_saved *r = cfg_saved_find(s, id);

	if (r == NULL)
		return false;
	size_t at = (size_t)(r - s->list);
	pol_saved_fini(r);
	memmove(r, r + 1, (s->n - at - 1) * sizeof(*r));
	s->n--;
	return true;
}

/* -- reading ------------------------------------------------------------------------------------ */

struct reader {
	const char *shown;
	struct cfg_report *report;
};

static int fail(const struct reader *r, unsigned line, const char *text)
{
	cfg_report_error(r->report, r->shown, line, "%s", text);
	return ZW_E_CONFIG;
}

static int unknown(const struct reader *r, const struct cfg_json *v, const char *const *names)
{
	const char *near = zw_nearest(v->key, names);

	if (near != NULL)
		cfg_report_error(r->report, r->shown, v->line,
				 "`%s` is not a field of a rule. Did you mean `%s`?", v->key, near);
	else
		cfg_report_error(r->report, r->shown, v->line, "`%s` is not a field of a rule",
				 v->key);
	return ZW_E_CONFIG;
}

static int take_string(const struct reader *r, const struct cfg_json *v, char **field)
{
	if (v->type != CFG_JSON_STRING)
		return fail(r, v->line, "this is a text, in quotes");
	free(*field);
	*field = zw_xstrdup(v->str);
	return 0;
}

static int take_time(const struct reader *r, const struct cfg_json *v, int64_t *field)
{
	if (v->type != CFG_JSON_STRING || cfg_time_parse(v->str, field) < 0)
		return fail(r, v->line, "a time is written like \"2026-12-01T02:40:00Z\"");
	return 0;
}

static int take_number(const struct reader *r, const struct cfg_json *v, int64_t max,
		       int64_t *field)
{
	if (v->type != CFG_JSON_NUMBER || !v->is_integer || v->number < 0 || v->number > max)
		return fail(r, v->line, "this is a whole number, not below 0");
	*field = v->number;
	return 0;
}

static int take_do(const struct reader *r, const struct cfg_json *v, struct pol_saved *rule)
{
	const char *s = v->type == CFG_JSON_STRING ? v->str : "";

	if (strcmp(s, "allow") != 0 && strcmp(s, "deny") != 0)
		return fail(r, v->line, "\"do\" is \"allow\" or \"deny\"");
	rule->action = *s == 'a' ? POL_ACTION_ALLOW : POL_ACTION_DENY;
	return 0;
}

static int take_risk(const struct reader *r, const struct cfg_json *v, struct pol_saved *rule)
{
	if (v->type != CFG_JSON_STRING || pol_risk_parse(v->str, &rule->risk) < 0)
		return fail(r, v->line, "\"risk\" is harmless, low, HIGH or CRITICAL");
	return 0;
}

/* "unix:/run/docker.sock", "unix:@name", "host:port", "publish:8080" */
static int take_target(const struct reader *r, const struct cfg_json *v, struct pol_saved *rule)
{
	if (v->type != CFG_JSON_STRING)
		return fail(r, v->line, "\"target\" is a site, unix:PATH or publish:PORT");
	bool is_socket = zw_starts_with(v->str, "unix:");
	pol_saved_set_site(rule, is_socket ? v->str + 5 : v->str);
	if (is_socket) {
		rule->kind = POL_KIND_SOCKET;
		rule->is_publish = false;
	}
	return 0;
}

static int take_listener(const struct reader *r, const struct cfg_json *v, struct pol_saved *rule)
{
	static const char *const names[] = {"uid", "exe", NULL};
	int64_t uid = -1;
	int e = 0;

	if (v->type != CFG_JSON_OBJECT)
		return fail(r, v->line, "\"listener\" is { \"uid\": NUMBER, \"exe\": \"PATH\" }");
	for (const struct cfg_json *c = v->child; e == 0 && c != NULL; c = c->next) {
		if (strcmp(c->key, "uid") == 0)
			e = take_number(r, c, UINT32_MAX, &uid);
		else if (strcmp(c->key, "exe") == 0)
			e = take_string(r, c, &rule->listener_exe);
		else
			e = unknown(r, c, names);
	}
	if (e == 0 && uid < 0)
		return fail(r, v->line, "\"listener\" names a \"uid\"");
	rule->has_listener = true;
	rule->listener_uid = (uint32_t)uid;
	return e;
}

static int take_field(const struct reader *r, const struct cfg_json *v, struct pol_saved *rule)
{
	static const char *const names[] = {"id",      "do",	 "target", "risk",
					    "program", "sha256", "script", "script-sha256",
					    "project", "made",	 "until",  "session",
					    "used",    "last",	 "note",   "listener",
					    NULL};
	const char *k = v->key;
	int64_t number = 0;
	int e;
	struct {
		const char *name;
		char **field;
	} texts[] = {{"program", &rule->program}, {"sha256", &rule->program_hash},
		     {"script", &rule->script},	  {"script-sha256", &rule->script_hash},
		     {"project", &rule->project}, {"note", &rule->note}};

	for (size_t i = 0; i < ZW_N_ELEMENTS(texts); i++)
		if (strcmp(k, texts[i].name) == 0)
			return take_string(r, v, texts[i].field);
	if (strcmp(k, "do") == 0)
		return take_do(r, v, rule);
	if (strcmp(k, "target") == 0)
		return take_target(r, v, rule);
	if (strcmp(k, "risk") == 0)
		return take_risk(r, v, rule);
	if (strcmp(k, "listener") == 0)
		return take_listener(r, v, rule);
	if (strcmp(k, "made") == 0)
		return take_time(r, v, &rule->made_s);
	if (strcmp(k, "until") == 0)
		return take_time(r, v, &rule->until_s);
	if (strcmp(k, "last") == 0)
		return take_time(r, v, &rule->used_s);
	if (strcmp(k, "session") == 0)
		return take_number(r, v, INT64_MAX, &rule->session);
	if (strcmp(k, "used") == 0) {
		e = take_number(r, v, INT64_MAX, &number);
		rule->n_used = (uint64_t)number;
		return e;
	}
	if (strcmp(k, "id") == 0) {
		e = take_number(r, v, ID_MAX, &number);
		rule->id = (uint32_t)number;
		return e;
	}
	return unknown(r, v, names);
}

static int take_rule(const struct reader *r, const struct cfg_json *v, struct cfg_saved *s)
{
	struct pol_saved rule;
	const char *why = "";
	int e = 0;

	if (v->type != CFG_JSON_OBJECT)
		return fail(r, v->line, "a rule is written { \"id\": 1, \"do\": \"allow\", ... }");
	if (s->n >= CFG_SAVED_MAX)
		return fail(r, v->line, "more rules than 4000");
	pol_saved_init(&rule);
	bool has_do = cfg_json_get(v, "do") != NULL;
	for (const struct cfg_json *c = v->child; e == 0 && c != NULL; c = c->next)
		e = take_field(r, c, &rule);
	if (e == 0 && !has_do)
		e = fail(r, v->line, "the rule says neither allow nor deny: \"do\"");
	if (e == 0 && pol_saved_check(&rule, &why) < 0) {
		cfg_report_error(r->report, r->shown, v->line, "rule %u: %s", rule.id, why);
		e = ZW_E_CONFIG;
	}
	if (e == 0 && cfg_saved_find(s, rule.id) != NULL)
		e = fail(r, v->line, "two rules have the same number");
	if (e == 0)
		cfg_saved_add(s, &rule);
	else
		pol_saved_fini(&rule);
	return e;
}

static int take_member(const struct reader *r, const struct cfg_json *v, struct cfg_saved *s)
{
	static const char *const names[] = {"version", "clock", "next", "rules", NULL};
	int64_t number = 0;
	int e = 0;

	if (strcmp(v->key, "clock") == 0)
		return take_time(r, v, &s->seen_s);
	if (strcmp(v->key, "version") == 0) {
		e = take_number(r, v, INT64_MAX, &number);
		return e == 0 && number != 1 ? fail(r, v->line, "a newer zwatch wrote this file")
					     : e;
	}
	if (strcmp(v->key, "next") == 0) {
		e = take_number(r, v, ID_MAX, &number);
		if (e == 0 && number > s->next_id)
			s->next_id = (uint32_t)number;
		return e;
	}
	if (strcmp(v->key, "rules") != 0)
		return unknown(r, v, names);
	if (v->type != CFG_JSON_ARRAY)
		return fail(r, v->line, "\"rules\" is a list");
	for (const struct cfg_json *c = v->child; e == 0 && c != NULL; c = c->next)
		e = take_rule(r, c, s);
	return e;
}

int cfg_saved_parse(const char *text, size_t len, const char *shown, struct cfg_saved *ret,
		    struct cfg_report *report)
{
	const struct reader r = {shown, report};
	struct cfg_json_doc *doc = NULL;
	struct cfg_json_error error;
	int e;

	cfg_saved_init(ret);
	if (cfg_json_parse(text, len, &doc, &error) < 0)
		return fail(&r, error.line, error.text);
	const struct cfg_json *root = cfg_json_root(doc);
	e = root->type == CFG_JSON_OBJECT ? 0 : fail(&r, root->line, "not the rules of zwatch");
	if (e == 0 && cfg_json_get(root, "rules") == NULL)
		e = fail(&r, root->line, "there is no list of \"rules\"");
	for (const struct cfg_json *c = root->child; e == 0 && c != NULL; c = c->next)
		e = take_member(&r, c, ret);
	cfg_json_free(doc);
	if (e < 0)
		cfg_saved_fini(ret);
	return e;
}

/* Whoever can write it decides what is allowed. */
static int check_owner(const struct reader *r, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return fail(r, 0, "this is no plain file");
	if (st.st_uid != geteuid())
		return fail(r, 0, "this file belongs to another user");
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return fail(r, 0, "other users can write this file: chmod 600 it");
	return 0;
}

int cfg_saved_load(const char *path, struct cfg_saved *ret, struct cfg_report *report)
{
	const struct reader r = {path, report};
	zw_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	zw_autofree char *text = NULL;
	size_t len;

	cfg_saved_init(ret);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return fail(&r, 0, errno == ELOOP ? "this is a link" : zw_strerror(-errno));
	int e = check_owner(&r, fd);
	if (e == 0) {
		e = zw_read_fd(fd, FILE_MAX_B, &text, &len);
		if (e < 0)
			e = fail(&r, 0, zw_strerror(e));
	}
	return e == 0 ? cfg_saved_parse(text, len, path, ret, report) : ZW_E_CONFIG;
}

/* -- writing ------------------------------------------------------------------------------------ */

static void put_string(struct zw_buf *b, const char *key, const char *s)
{
	if (*s == '\0')
		return;
	zw_buf_addf(b, ", \"%s\": \"", key);
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			zw_buf_addf(b, "\\%c", *s);
		else if ((unsigned char)*s < 0x20 || *s == 0x7f)
			zw_buf_addf(b, "\\u%04x", (unsigned char)*s);
		else
			zw_buf_add(b, s, 1);
	}
	zw_buf_add(b, "\"", 1);
}

static void put_time(struct zw_buf *b, const char *key, int64_t t_s)
{
	char text[32];

	if (t_s != 0)
		put_string(b, key, cfg_time_format(t_s, text));
}

static void put_rule(struct zw_buf *b, const struct pol_saved *r)
{
	zw_autofree char *target =
		zw_xasprintf("%s%s", r->kind == POL_KIND_SOCKET ? "unix:" : "", r->target);

	zw_buf_addf(b, "\t\t{ \"id\": %u", r->id);
	put_string(b, "do", r->action == POL_ACTION_ALLOW ? "allow" : "deny");
	put_string(b, "target", target);
	put_string(b, "risk", pol_risk_word(r->risk));
	put_string(b, "program", r->program);
	put_string(b, "sha256", r->program_hash);
	put_string(b, "script", r->script);
	put_string(b, "script-sha256", r->script_hash);
	put_string(b, "project", r->project);
	if (r->has_listener) {
		zw_buf_addf(b, ", \"listener\": { \"uid\": %u", r->listener_uid);
		put_string(b, "exe", r->listener_exe);
		zw_buf_addf(b, " }");
	}
	put_string(b, "note", r->note);
	put_time(b, "made", r->made_s);
	put_time(b, "until", r->until_s);
	if (r->session != 0)
		zw_buf_addf(b, ", \"session\": %lld", (long long)r->session);
	if (r->n_used != 0)
		zw_buf_addf(b, ", \"used\": %llu", (unsigned long long)r->n_used);
	put_time(b, "last", r->used_s);
	zw_buf_addf(b, " }");
}

char *cfg_saved_format(const struct cfg_saved *s)
{
	struct zw_buf b;
	char text[32];

	zw_buf_init(&b, 1u << 30);
	zw_buf_addf(&b, "{\n\t\"version\": 1");
	if (s->seen_s != 0)
		zw_buf_addf(&b, ",\n\t\"clock\": \"%s\"", cfg_time_format(s->seen_s, text));
	zw_buf_addf(&b, ",\n\t\"next\": %u,\n\t\"rules\": [\n", s->next_id);
	for (size_t i = 0; i < s->n; i++) {
		put_rule(&b, &s->list[i]);
		zw_buf_addf(&b, i + 1 < s->n ? ",\n" : "\n");
	}
	zw_buf_addf(&b, "\t]\n}\n");
	char *all = zw_xmemdup0(zw_buf_head(&b), b.len);
	zw_buf_fini(&b);
	return all;
}

/* Waits for another zwatch that writes, not for ever. */
static int lock(int fd)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		usleep(LOCK_NAP_US);
	}
	return ZW_E_BUSY;
}

static int write_new(int dir_fd, const char *name, const char *text, size_t len)
{
	zw_autoclose int fd =
		openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	int r;

	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0600) < 0)
		return -errno;
	r = zw_write_all(fd, text, len);
	return r < 0 ? r : fsync(fd) < 0 ? -errno : 0;
}

static int put_in_place(int dir_fd, const char *name, const char *text, size_t len)
{
	zw_autofree char *fresh = zw_xasprintf("%s.new", name);
	zw_autofree char *backup = zw_xasprintf("%s.bak", name);
	int r = write_new(dir_fd, fresh, text, len);

	if (r == 0) {
		unlinkat(dir_fd, backup, 0);
		if (linkat(dir_fd, name, dir_fd, backup, 0) < 0 && errno != ENOENT)
			r = -errno;
	}
	if (r == 0 && renameat(dir_fd, fresh, dir_fd, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dir_fd, fresh, 0);
	else
		fsync(dir_fd);
	return r;
}

int cfg_file_replace(const char *path, const char *text, size_t len)
{
	/* Behind a link, the file that it leads to. */
	zw_autofree char *real = realpath(path, NULL);
	const char *whole = real != NULL ? real : path, *name = zw_basename(whole);
	zw_autofree char *folder =
		name > whole ? zw_xmemdup0(whole, (size_t)(name - whole)) : zw_xstrdup(".");
	int r = zw_mkdirs(folder, 0700);
	zw_autoclose int dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir_fd < 0)
		return r < 0 ? r : -errno;
	r = lock(dir_fd);
	return r < 0 ? r : put_in_place(dir_fd, name, text, len);
}

/* A name that is no UTF-8, for instance, would make a file that nobody can read any more. */
static bool can_be_read(const char *text)
{
	struct cfg_report report = {.n = 0};
	struct cfg_saved s;
	int r = cfg_saved_parse(text, strlen(text), CFG_SAVED_FILE, &s, &report);

	cfg_saved_fini(&s);
	cfg_report_clear(&report);
	return r == 0;
}

int cfg_saved_change(const char *path, int64_t now_s, int (*change)(struct cfg_saved *s, void *arg),
		     void *arg, struct cfg_saved *ret, struct cfg_report *report)
{
	const char *name = zw_basename(path);
	zw_autofree char *dir = zw_xmemdup0(path, (size_t)(name - path));
	struct cfg_saved s;
	int r = zw_mkdirs(dir, 0700);
	zw_autoclose int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir_fd < 0)
		return r < 0 ? r : -errno;
	r = lock(dir_fd);
	if (r == 0)
		r = cfg_saved_load(path, &s, report);
	if (r < 0)
		return r;
	r = change(&s, arg);
	if (r >= 0 && s.n > CFG_SAVED_MAX)
		r = ZW_E_TOOBIG;
	if (r >= 0) {
		if (now_s > s.seen_s)
			s.seen_s = now_s;
		zw_autofree char *text = cfg_saved_format(&s);
		r = can_be_read(text) ? put_in_place(dir_fd, name, text, strlen(text))
				      : ZW_E_SYNTAX;
	}
	if (r >= 0 && ret != NULL) {
		cfg_saved_fini(ret);
		*ret = s;
	} else {
		cfg_saved_fini(&s);
	}
	return r < 0 ? r : 0;
}
