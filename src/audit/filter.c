/* SPDX-License-Identifier: MIT */
#include "src/audit/filter.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/audit/filter_i.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"

static const struct aud_field fields[] = {
	{"did", TYPE_WORD, "did", NULL},
	{"kind", TYPE_WORD, "kind", NULL},
	{"host", TYPE_WORD, "iif(tbl = 1 OR op = 'net', target, NULL)", NULL},
	{"port", TYPE_NUMBER, "port", NULL},
	{"path", TYPE_PATH, "iif(tbl = 0 OR op = 'unix', target, NULL)", NULL},
	{"peer", TYPE_WORD, "coalesce(listener_exe, address)", NULL},
	{"proc", TYPE_WORD, "exe", NULL},
	{"cmd", TYPE_TEXT, "zw_text(argv)", NULL},
	{"pid", TYPE_NUMBER, "pid", NULL},
	{"folder", TYPE_PATH, "cwd", NULL},
	{"rule", TYPE_NUMBER, "rule", NULL},
	{"risk", TYPE_WORD, "risk", NULL},
	{"class", TYPE_WORD, "class", NULL},
	{"op", TYPE_WORD, "op", NULL},
	{"by", TYPE_WORD, "by", NULL},
	{"note", TYPE_TEXT, "ifnull(note, reason)", NULL},
	{"took", TYPE_LENGTH, "iif(tbl = 2, waited_ms, (closed_us - t_us) / 1000)", NULL},
	{"held", TYPE_LENGTH, "waited_ms", NULL},
	{"up", TYPE_BYTES, "up_b", NULL},
	{"down", TYPE_BYTES, "down_b", NULL},
	{"count", TYPE_NUMBER, "n_times", NULL},
	{"new", TYPE_YES, "id", NULL},
	{"since", TYPE_SINCE, "t_us", "started_us"},
	{"until", TYPE_UNTIL, "t_us", "started_us"},
	{"session", TYPE_NUMBER, "session", "id"},
	{"mode", TYPE_WORD, "(SELECT mode FROM sessions WHERE id = session)", "mode"},
	{"agent", TYPE_WORD, "(SELECT agent FROM sessions WHERE id = session)", "agent"},
	{"project", TYPE_PATH, "(SELECT project FROM sessions WHERE id = session)", "project"},
	{"tag", TYPE_WORD, NULL, NULL}, /* several of a session: see sql_tag() */
};

struct parser {
	const char *text;
	size_t at;
	int depth;
	int64_t now_us;
	struct aud_filter_error *error;
	bool has_failed;
};

const char *const *aud_filter_fields(void)
{
	static const char *names[ZW_N_ELEMENTS(fields) + 1];

	for (size_t i = 0; i < ZW_N_ELEMENTS(fields); i++)
		names[i] = fields[i].name;
	return names;
}

static void node_free(struct aud_node *n)
{
	if (n == NULL)
		return;
	node_free(n->a);
	node_free(n->b);
	free(n->text);
	if (n->regex != NULL)
		regfree(n->regex);
	free(n->regex);
	free(n);
}

void aud_filter_free(struct aud_filter *f)
{
	if (f == NULL)
		return;
	node_free(f->root);
	free(f);
}

static struct aud_node *node_new(enum aud_node_kind kind, struct aud_node *a, struct aud_node *b)
{
	struct aud_node *n = zw_xnew(struct aud_node);

	*n = (struct aud_node){.kind = kind, .a = a, .b = b};
	return n;
}

/* Keeps the first thing that was wrong. */
__attribute__((format(printf, 3, 4))) static struct aud_node *wrong(struct parser *p, size_t at,
								    const char *format, ...)
{
	va_list args;

	if (p->has_failed)
		return NULL;
	p->has_failed = true;
	p->error->at = at;
	va_start(args, format);
	vsnprintf(p->error->text, sizeof(p->error->text), format, args);
	va_end(args);
	return NULL;
}

/* -- values ------------------------------------------------------------------------------------ */

/* A number and what stands behind it. Returns the rest, or NULL when there is no number. */
static const char *number_read(const char *text, double *ret)
{
	char *end = NULL;

	if (!isdigit((unsigned char)*text))
		return NULL;
	*ret = strtod(text, &end);
	return *ret < 1e15 ? end : NULL;
}

struct unit {
	const char *word;
	double factor;
};

static bool scaled(const char *text, const struct unit *units, int64_t *ret)
{
	double n = 0;
	const char *rest = number_read(text, &n);

	if (rest == NULL)
		return false;
	for (size_t i = 0; units[i].word != NULL; i++) {
		if (strcasecmp(rest, units[i].word) != 0)
			continue;
		*ret = (int64_t)(n * units[i].factor);
		return true;
	}
	return false;
}

static const struct unit byte_units[] = {
	{"", 1}, {"k", 1024}, {"m", 1048576}, {"g", 1073741824}, {NULL, 0}};
static const struct unit time_units[] = {{"ms", 1},	   {"s", 1000},	   {"", 1000},
					 {"m", 60000},	   {"h", 3600000}, {"d", 86400000},
					 {"w", 604800000}, {NULL, 0}};

/* "2026-11-02", "2026-11-02T12:43", in the local zone; or "3d" ago. */
static bool moment(const char *text, int64_t now_us, int64_t *ret_us)
{
	int64_t ago_ms = 0;
	struct tm tm = {.tm_isdst = -1};
	const char *end = strptime(text, "%Y-%m-%d", &tm);

	if (end == NULL) {
		if (!scaled(text, time_units, &ago_ms))
			return false;
		*ret_us = now_us - ago_ms * 1000;
		return true;
	}
	if (*end == 'T' || *end == ' ') {
		const char *with_seconds = strptime(end + 1, "%H:%M:%S", &tm);

		end = with_seconds != NULL ? with_seconds : strptime(end + 1, "%H:%M", &tm);
	}
	if (end == NULL || *end != '\0')
		return false;
	*ret_us = (int64_t)mktime(&tm) * 1000000;
	return true;
}

static bool value_read(struct parser *p, struct aud_node *n, size_t at)
{
	bool is_good = true;
	const char *wanted = "a number";

	switch (n->field->type) {
	case TYPE_NUMBER:
		is_good = scaled(n->text, (struct unit[]){{"", 1}, {NULL, 0}}, &n->number);
		break;
	case TYPE_BYTES:
		is_good = scaled(n->text, byte_units, &n->number);
		wanted = "a size: 10k, 5m";
		break;
	case TYPE_LENGTH:
		is_good = scaled(n->text, time_units, &n->number);
		wanted = "a length of time: 2s, 5m";
		break;
	case TYPE_SINCE:
	case TYPE_UNTIL:
		is_good = moment(n->text, p->now_us, &n->number);
		wanted = "2h, 3d or 2026-11-02";
		break;
	case TYPE_YES:
		is_good = strcasecmp(n->text, "yes") == 0 || strcasecmp(n->text, "no") == 0;
		n->number = strcasecmp(n->text, "yes") == 0;
		wanted = "yes or no";
		break;
	case TYPE_WORD:
	case TYPE_PATH:
	case TYPE_TEXT:
		break;
	}
	if (!is_good)
		wrong(p, at, "'%.40s' is not %s", n->text, wanted);
	return is_good;
}

static bool is_number(enum aud_field_type type)
{
	return type != TYPE_WORD && type != TYPE_PATH && type != TYPE_TEXT;
}

/* Whether the operator goes with the field, and the value with both. */
static bool term_check(struct parser *p, struct aud_node *n, size_t at)
{
	if (n->field == NULL)
		return true;
	enum aud_field_type type = n->field->type;
	bool is_order = n->op == '<' || n->op == '>';
	if (is_order &&
	    (!is_number(type) || type == TYPE_SINCE || type == TYPE_UNTIL || type == TYPE_YES)) {
		wrong(p, at, "%s has no order: use %s:", n->field->name, n->field->name);
		return false;
	}
	if (n->op == '~' && (is_number(type) || n->field->event == NULL)) {
		wrong(p, at, "%s takes no regular expression", n->field->name);
		return false;
	}
	if (n->op == '~') {
		n->regex = zw_xnew(regex_t);
		if (regcomp(n->regex, n->text, REG_EXTENDED | REG_ICASE | REG_NOSUB) == 0)
			return true;
		free(zw_steal(&n->regex));
		wrong(p, at, "'%.40s' is no regular expression", n->text);
		return false;
	}
	return value_read(p, n, at);
}

/* -- grammar ----------------------------------------------------------------------------------- */

static void skip_blanks(struct parser *p)
{
	while (isspace((unsigned char)p->text[p->at]))
		p->at++;
}

/* Whether the word stands here, whole. */
static bool is_word(const struct parser *p, const char *word)
{
	size_t n = strlen(word);
	const char *t = p->text + p->at;

	return strncasecmp(t, word, n) == 0 &&
	       (t[n] == '\0' || isspace((unsigned char)t[n]) || t[n] == '(' || t[n] == ')');
}

/* A value: in quotes ("" inside \" and \\), or up to a blank or a bracket. Owned by the caller. */
static char *value_take(struct parser *p)
{
	const char *t = p->text;
	size_t from = p->at, n = 0;
	char *out = zw_xmalloc(strlen(t + from) + 1);

	if (t[p->at] != '"') {
		while (t[p->at] != '\0' && !isspace((unsigned char)t[p->at]) && t[p->at] != ')' &&
		       t[p->at] != '(')
			out[n++] = t[p->at++];
		out[n] = '\0';
		return out;
	}
	p->at++;
	while (t[p->at] != '\0' && t[p->at] != '"') {
		if (t[p->at] == '\\' && (t[p->at + 1] == '"' || t[p->at + 1] == '\\'))
			p->at++;
		out[n++] = t[p->at++];
	}
	out[n] = '\0';
	if (t[p->at] != '"')
		wrong(p, from, "the quotation mark is not closed");
	else if (t[++p->at] != '\0' && strchr(" \t\n()", t[p->at]) == NULL)
		wrong(p, p->at, "a blank is missing behind the quotation mark");
	return out;
}

static const struct aud_field *field_find(const char *name, size_t len)
{
	for (size_t i = 0; i < ZW_N_ELEMENTS(fields); i++)
		if (strlen(fields[i].name) == len && strncasecmp(fields[i].name, name, len) == 0)
			return &fields[i];
	return NULL;
}

static struct aud_node *no_field(struct parser *p, size_t at, size_t len)
{
	zw_autofree char *word = zw_xmemdup0(p->text + at, len);
	const char *near = zw_nearest(word, aud_filter_fields());

	return wrong(p, at, "no field '%.40s'%s%s", word, near != NULL ? " - did you mean " : "",
		     near != NULL ? near : "");
}

static struct aud_node *term(struct parser *p)
{
	size_t from = p->at, len = 0;
	const char *t = p->text + from;
	const struct aud_field *field = NULL;
	char op = ':';

	while (isalpha((unsigned char)t[len]))
		len++;
	if (len > 0 && t[len] != '\0' && strchr(":=~<>", t[len]) != NULL) {
		field = field_find(t, len);
		if (field == NULL)
			return no_field(p, from, len);
		op = t[len];
		p->at += len + 1;
	}
	size_t value_at = p->at;
	struct aud_node *n = node_new(NODE_TERM, NULL, NULL);
	n->field = field;
	n->op = op;
	n->text = value_take(p);
	if (*n->text == '\0' && !p->has_failed)
		wrong(p, value_at, field != NULL ? "a value is missing" : "nothing stands here");
	if (p->has_failed || !term_check(p, n, value_at)) {
		node_free(n);
		return NULL;
	}
	return n;
}

static struct aud_node *either(struct parser *p);

static struct aud_node *factor(struct parser *p)
{
	struct aud_node *n;

	skip_blanks(p);
	if (p->text[p->at] == '-' || is_word(p, "not")) {
		p->at += p->text[p->at] == '-' ? 1 : 3;
		if (++p->depth > AUD_FILTER_DEPTH_MAX)
			return wrong(p, p->at, "too deep");
		n = factor(p);
		p->depth--;
		return n != NULL ? node_new(NODE_NOT, n, NULL) : NULL;
	}
	if (p->text[p->at] != '(')
		return term(p);
	size_t from = p->at++;
	if (++p->depth > AUD_FILTER_DEPTH_MAX)
		return wrong(p, from, "too deep");
	n = either(p);
	p->depth--;
	skip_blanks(p);
	if (n != NULL && p->text[p->at] != ')') {
		node_free(n);
		return wrong(p, from, "the bracket is not closed");
	}
	p->at += n != NULL;
	return n;
}

static bool is_end(const struct parser *p)
{
	return p->text[p->at] == '\0' || p->text[p->at] == ')';
}

static struct aud_node *all(struct parser *p)
{
	struct aud_node *n = factor(p);

	for (;;) {
		skip_blanks(p);
		if (n == NULL || is_end(p) || is_word(p, "or"))
			return n;
		if (is_word(p, "and"))
			p->at += 3;
		struct aud_node *b = factor(p);
		if (b == NULL) {
			node_free(n);
			return NULL;
		}
		n = node_new(NODE_AND, n, b);
	}
}

static struct aud_node *either(struct parser *p)
{
	struct aud_node *n = all(p);

	for (;;) {
		skip_blanks(p);
		if (n == NULL || !is_word(p, "or"))
			return n;
		p->at += 2;
		struct aud_node *b = all(p);
		if (b == NULL) {
			node_free(n);
			return NULL;
		}
		n = node_new(NODE_OR, n, b);
	}
}

int aud_filter_parse(const char *text, int64_t now_us, struct aud_filter **ret,
		     struct aud_filter_error *ret_error)
{
	struct parser p = {.text = text, .now_us = now_us, .error = ret_error};
	struct aud_node *root = NULL;

	*ret_error = (struct aud_filter_error){0};
	if (strlen(text) > AUD_FILTER_LEN_MAX) {
		wrong(&p, AUD_FILTER_LEN_MAX, "longer than %d bytes", AUD_FILTER_LEN_MAX);
		return ZW_E_SYNTAX;
	}
	skip_blanks(&p);
	if (text[p.at] != '\0') {
		root = either(&p);
		if (root != NULL && text[p.at] != '\0') {
			wrong(&p, p.at, "a bracket was not opened");
			node_free(root);
			root = NULL;
		}
		if (root == NULL)
			return ZW_E_SYNTAX;
	}
	*ret = zw_xnew(struct aud_filter);
	(*ret)->root = root;
	return 0;
}

bool aud_filter_is_empty(const struct aud_filter *f)
{
	return f->root == NULL;
}

static bool is_of_sessions(const struct aud_node *n)
{
	if (n->kind == NODE_TERM)
		return n->field != NULL && (n->field->session != NULL || n->field->event == NULL);
	return is_of_sessions(n->a) && (n->b == NULL || is_of_sessions(n->b));
}

bool aud_filter_is_of_sessions(const struct aud_filter *f)
{
	return f->root == NULL || is_of_sessions(f->root);
}

/* -- SQL --------------------------------------------------------------------------------------- */

struct writer {
	struct zw_buf *sql;
	struct aud_filter_arg *args;
	int n_args, first;
	bool of_sessions;
	int error;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *w, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	int n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(text) || zw_buf_add(w->sql, text, (size_t)n) < 0)
		w->error = ZW_E_TOOBIG;
}

/* Number of the parameter that a value gets. */
static int bind(struct writer *w, const char *text, int64_t number)
{
	if (w->n_args == AUD_FILTER_ARGS_MAX) {
		w->error = ZW_E_TOOBIG;
		return w->first;
	}
	w->args[w->n_args] = (struct aud_filter_arg){text != NULL, text, number};
	return w->first + w->n_args++;
}

static bool is_glob(const char *text)
{
	return strpbrk(text, "*?") != NULL;
}

/* zw_glob(), zw_has(), zw_regex() and zw_text() are functions of ours, see query.c. A NULL matches
 * nothing, also when negated twice: hence ifnull. */
static void sql_text(struct writer *w, const struct aud_node *n, const char *column)
{
	int at = bind(w, n->text, 0);

	if (n->op == '~')
		put(w, "ifnull(zw_regex(?%d, %s), 0)", at, column);
	else if (n->op == '=')
		put(w, "ifnull(%s = ?%d, 0)", column, at);
	else if (is_glob(n->text))
		put(w, "ifnull(zw_glob(?%d, %s), 0)", at, column);
	else if (n->field->type == TYPE_TEXT)
		put(w, "ifnull(zw_has(?%d, %s), 0)", at, column);
	else if (n->field->type == TYPE_PATH)
		put(w, "ifnull(zw_below(?%d, %s), 0)", at, column);
	else
		put(w, "ifnull(%s = ?%d COLLATE NOCASE, 0)", column, at);
}

/* A program is named by its path, or by the last part of it. */
static void sql_proc(struct writer *w, const struct aud_node *n)
{
	bool is_path = strchr(n->text, '/') != NULL;

	sql_text(w, n, is_path || n->op == '~' ? "exe" : "zw_basename(exe)");
}

static void sql_number(struct writer *w, const struct aud_node *n, const char *column)
{
	int at = bind(w, NULL, n->number);

	switch (n->field->type) {
	case TYPE_SINCE:
		put(w, "%s >= ?%d", column, at);
		break;
	case TYPE_UNTIL:
		put(w, "%s < ?%d", column, at);
		break;
	case TYPE_YES:
		put(w, "(id IN (SELECT event FROM seen)) = ?%d", at);
		break;
	case TYPE_NUMBER:
	case TYPE_BYTES:
	case TYPE_LENGTH:
	case TYPE_WORD:
	case TYPE_PATH:
	case TYPE_TEXT:
		put(w, "ifnull(%s %s ?%d, 0)", column,
		    n->op == '<'   ? "<"
		    : n->op == '>' ? ">"
				   : "=",
		    at);
		break;
	}
}

static void sql_tag(struct writer *w, const struct aud_node *n)
{
	put(w, "%s IN (SELECT session FROM tags WHERE zw_glob(?%d, tag))",
	    w->of_sessions ? "sessions.id" : "session", bind(w, n->text, 0));
}

/* A word by itself: wherever a person would look for it. */
static void sql_anywhere(struct writer *w, const struct aud_node *n)
{
	int at = bind(w, n->text, 0);

	put(w,
	    "(ifnull(zw_has(?%d, target), 0) OR ifnull(zw_has(?%d, asked), 0) OR ifnull(zw_has(?%d,"
	    " exe), 0) OR ifnull(zw_has(?%d, zw_text(argv)), 0) OR ifnull(zw_has(?%d, reason), 0) "
	    "OR"
	    " ifnull(zw_has(?%d, note), 0) OR ifnull(zw_has(?%d, text), 0) OR ifnull(zw_has(?%d,"
	    " address), 0))",
	    at, at, at, at, at, at, at, at);
}

/* Rows that the partial indexes of the schema leave out are not what is asked for: said so that
 * SQLite may use them. */
static void sql_did(struct writer *w, const struct aud_node *n)
{
	static const char *const rare[] = {"deny", "ask", "miss", "gone", "fail"};
	bool is_rare = false;

	for (size_t i = 0; i < ZW_N_ELEMENTS(rare); i++)
		is_rare |= strcasecmp(n->text, rare[i]) == 0;
	if (strcasecmp(n->text, "ask") == 0) { /* what was asked is a question, however it ended */
		put(w, "tbl = 2");
		return;
	}
	put(w, "(");
	sql_text(w, n, "did");
	put(w,
	    is_rare && n->op == ':' ? " AND did <> 'auto' AND did NOT IN ('allow', 'auto'))" : ")");
}

static void sql_term(struct writer *w, const struct aud_node *n)
{
	if (n->field == NULL) {
		sql_anywhere(w, n);
		return;
	}
	const char *column = w->of_sessions ? n->field->session : n->field->event;
	if (n->field->event == NULL)
		sql_tag(w, n);
	else if (strcmp(n->field->name, "proc") == 0)
		sql_proc(w, n);
	else if (strcmp(n->field->name, "did") == 0)
		sql_did(w, n);
	else if (is_number(n->field->type))
		sql_number(w, n, column);
	else
		sql_text(w, n, column);
}

static void sql_node(struct writer *w, const struct aud_node *n)
{
	switch (n->kind) {
	case NODE_ALL:
		put(w, "1");
		break;
	case NODE_NOT:
		put(w, "NOT (");
		sql_node(w, n->a);
		put(w, ")");
		break;
	case NODE_AND:
	case NODE_OR:
		put(w, "(");
		sql_node(w, n->a);
		put(w, n->kind == NODE_AND ? " AND " : " OR ");
		sql_node(w, n->b);
		put(w, ")");
		break;
	case NODE_TERM:
		sql_term(w, n);
		break;
	}
}

int aud_filter_sql(const struct aud_filter *f, bool of_sessions, int first, struct zw_buf *sql,
		   struct aud_filter_arg *args)
{
	static const struct aud_node everything = {.kind = NODE_ALL};
	struct writer w = {.sql = sql, .args = args, .first = first, .of_sessions = of_sessions};

	sql_node(&w, f->root != NULL ? f->root : &everything);
	return w.error < 0 ? w.error : w.n_args;
}

/* -- places ------------------------------------------------------------------------------------ */

static bool is_field(const struct aud_node *n, const char *name)
{
	return n->field != NULL && strcmp(n->field->name, name) == 0;
}

/* A value that stands there whole, or of a path its beginning. Programs are few: any pattern will do. */
static bool is_placed(const struct aud_node *n)
{
	bool is_plain = n->op == '=' || (n->op == ':' && !is_glob(n->text));

	if (is_field(n, "proc"))
		return true;
	if (is_field(n, "path"))
		return is_plain && (n->op == '=' || n->text[0] == '/');
	return is_field(n, "host") && is_plain;
}

static bool has_places(const struct aud_node *n)
{
	switch (n->kind) {
	case NODE_TERM:
		return is_placed(n);
	case NODE_AND:
		return has_places(n->a) || has_places(n->b);
	case NODE_OR:
		return has_places(n->a) && has_places(n->b);
	case NODE_ALL:
	case NODE_NOT:
		break;
	}
	return false;
}

bool aud_filter_has_places(const struct aud_filter *f)
{
	return f->root != NULL && has_places(f->root);
}

static void places_term(struct writer *w, const struct aud_node *n)
{
	if (is_field(n, "proc")) {
		put(w,
		    "SELECT block FROM places WHERE kind = 2 AND value IN (SELECT CAST(id AS TEXT)"
		    " FROM programs WHERE ");
		sql_proc(w, n);
		put(w, ")");
		return;
	}
	int at = bind(w, n->text, 0);
	if (is_field(n, "host") || n->op == '=') {
		put(w, "SELECT block FROM places WHERE kind = %d AND value = lower(?%d)",
		    is_field(n, "path"), at);
		return;
	}
	/* The path itself, and what is below it: '0' comes behind '/'. */
	put(w,
	    "SELECT block FROM places WHERE kind = 1 AND value = rtrim(lower(?%d), '/') UNION ALL"
	    " SELECT block FROM places WHERE kind = 1 AND value >= rtrim(lower(?%d), '/') || '/'"
	    " AND value < rtrim(lower(?%d), '/') || '0'",
	    at, at, at);
}

/* Of two that must both fit one is enough to look at. */
static void places_node(struct writer *w, const struct aud_node *n)
{
	if (n->kind == NODE_TERM) {
		places_term(w, n);
	} else if (n->kind == NODE_AND) {
		places_node(w, has_places(n->a) ? n->a : n->b);
	} else {
		places_node(w, n->a);
		put(w, " UNION ALL ");
		places_node(w, n->b);
	}
}

int aud_filter_places(const struct aud_filter *f, int first, struct zw_buf *sql,
		      struct aud_filter_arg *args)
{
	struct writer w = {.sql = sql, .args = args, .first = first};

	places_node(&w, f->root);
	return w.error < 0 ? w.error : w.n_args;
}
