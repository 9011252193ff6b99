/* SPDX-License-Identifier: MIT
 * A filter held against a row in memory. What it says has to be what the SQL of filter.c says of the
 * same row in the store: a test compares the two. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "src/audit/filter_i.h"
#include "src/audit/query.h"
#include "src/base/mem.h"
#include "src/base/str.h"

/* -- texts --------------------------------------------------------------------------------------- */

static void lower(const char *from, size_t len, char *to)
{
	for (size_t i = 0; i < len; i++)
		to[i] = (char)tolower((unsigned char)from[i]);
	to[len] = '\0';
}

bool aud_text_glob(const char *pattern, size_t pattern_len, const char *text, size_t len)
{
	zw_autofree char *glob = zw_xmalloc(2 * pattern_len + 1);
	zw_autofree char *value = zw_xmalloc(len + 1);
	size_t n = 0;

	/* A slash is a byte like others here: ** is what zw_glob() calls that. */
	for (size_t i = 0; i < pattern_len; i++) {
		glob[n++] = (char)tolower((unsigned char)pattern[i]);
		if (pattern[i] == '*' && (i == 0 || pattern[i - 1] != '*'))
			glob[n++] = '*';
	}
	glob[n] = '\0';
	lower(text, len, value);
	return zw_glob(glob, value, len);
}

bool aud_text_has(const char *needle, size_t n, const char *hay, size_t len)
{
	for (size_t i = 0; i + n <= len; i++)
		if (strncasecmp(hay + i, needle, n) == 0)
			return true;
	return false;
}

bool aud_text_below(const char *path, size_t path_len, const char *text, size_t len)
{
	if (path_len == 0 || path[0] != '/')
		return aud_text_has(path, path_len, text, len);
	while (path_len > 1 && path[path_len - 1] == '/')
		path_len--;
	return len >= path_len && memcmp(path, text, path_len) == 0 &&
	       (len == path_len || text[path_len] == '/' || path_len == 1);
}

bool aud_text_regex(const regex_t *re, const char *text, size_t len)
{
	char copy[AUD_REGEX_TEXT_MAX + 1];
	size_t n = len < AUD_REGEX_TEXT_MAX ? len : AUD_REGEX_TEXT_MAX;

	memcpy(copy, text, n);
	copy[n] = '\0';
	return regexec(re, copy, 0, NULL, 0) == 0;
}

/* -- a row --------------------------------------------------------------------------------------- */

struct row {
	const struct aud_event *e;
	const struct aud_session *s;
	struct zw_span argv; /* blanks between arguments */
};

static const struct zw_span none = {NULL, 0};

static bool is_net(const struct aud_event *e)
{
	return e->row == AUD_ROW_CONN || (e->row == AUD_ROW_QUESTION && zw_span_eq(e->op, "net"));
}

static bool is_unix(const struct aud_event *e)
{
	return e->row == AUD_ROW_SOCKET ||
	       (e->row == AUD_ROW_QUESTION && zw_span_eq(e->op, "unix"));
}

static struct zw_span first_of(struct zw_span a, struct zw_span b)
{
	return a.p != NULL ? a : b;
}

/* The value of a field that holds text; p NULL = it has none. */
static struct zw_span text_of(const struct row *r, const char *field)
{
	const struct aud_event *e = r->e;
	const struct {
		const char *name;
		struct zw_span value;
	} list[] = {
		{"did", e->did},
		{"kind", e->kind},
		{"host", is_net(e) ? e->target : none},
		{"path", is_unix(e) ? e->target : none},
		{"peer", first_of(e->listener_exe, e->address)},
		{"proc", e->exe},
		{"cmd", r->argv},
		{"folder", e->cwd},
		{"risk", e->risk},
		{"class", e->class_name},
		{"op", e->op},
		{"by", e->by},
		{"note", first_of(e->note, e->reason)},
		{"mode", r->s->mode},
		{"agent", r->s->agent},
		{"project", r->s->project},
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(list); i++)
		if (strcmp(list[i].name, field) == 0)
			return list[i].value;
	return none;
}

static int64_t took_ms(const struct aud_event *e)
{
	if (e->row == AUD_ROW_QUESTION)
		return e->waited_ms;
	return e->closed_us != AUD_UNKNOWN ? (e->closed_us - e->t_us) / 1000 : AUD_UNKNOWN;
}

static int64_t number_of(const struct row *r, const char *field)
{
	const struct aud_event *e = r->e;
	const struct {
		const char *name;
		int64_t value;
	} list[] = {
		{"port", e->port},    {"pid", e->pid},	      {"rule", e->rule},
		{"took", took_ms(e)}, {"held", e->waited_ms}, {"up", e->up_b},
		{"down", e->down_b},  {"count", e->count},    {"new", e->is_new},
		{"since", e->t_us},   {"until", e->t_us},     {"session", r->s->id},
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(list); i++)
		if (strcmp(list[i].name, field) == 0)
			return list[i].value;
	return AUD_UNKNOWN;
}

/* -- terms --------------------------------------------------------------------------------------- */

static bool fits_text(const struct aud_node *n, struct zw_span value)
{
	size_t len = strlen(n->text);

	if (value.p == NULL)
		return false;
	if (n->op == '~')
		return aud_text_regex(n->regex, value.p, value.len);
	if (n->op == '=')
		return zw_span_eq(value, n->text);
	if (strpbrk(n->text, "*?") != NULL)
		return aud_text_glob(n->text, len, value.p, value.len);
	if (n->field->type == TYPE_TEXT)
		return aud_text_has(n->text, len, value.p, value.len);
	if (n->field->type == TYPE_PATH)
		return aud_text_below(n->text, len, value.p, value.len);
	return value.len == len && strncasecmp(value.p, n->text, len) == 0;
}

/* A program is named by its path, or by the last part of it. */
static bool fits_proc(const struct aud_node *n, struct zw_span exe)
{
	if (exe.p != NULL && strchr(n->text, '/') == NULL && n->op != '~') {
		size_t at = exe.len;

		while (at > 0 && exe.p[at - 1] != '/')
			at--;
		exe = zw_span_n(exe.p + at, exe.len - at);
	}
	return fits_text(n, exe);
}

static bool fits_number(const struct aud_node *n, int64_t value)
{
	if (value == AUD_UNKNOWN)
		return false;
	if (n->field->type == TYPE_SINCE)
		return value >= n->number;
	if (n->field->type == TYPE_UNTIL)
		return value < n->number;
	return n->op == '<'   ? value < n->number
	       : n->op == '>' ? value > n->number
			      : value == n->number;
}

/* A word by itself: wherever a person would look for it. */
static bool fits_anywhere(const struct row *r, const char *word)
{
	const struct aud_event *e = r->e;
	const struct zw_span places[] = {e->target, e->asked, e->exe,  r->argv,
					 e->reason, e->note,  e->text, e->address};

	for (size_t i = 0; i < ZW_N_ELEMENTS(places); i++)
		if (places[i].p != NULL &&
		    aud_text_has(word, strlen(word), places[i].p, places[i].len))
			return true;
	return false;
}

static bool fits_term(const struct aud_node *n, const struct row *r)
{
	if (n->field == NULL)
		return fits_anywhere(r, n->text);
	if (n->field->event == NULL) /* tag */
		return false;
	/* What was asked is a question, however it ended. */
	if (strcmp(n->field->name, "did") == 0 && strcasecmp(n->text, "ask") == 0)
		return r->e->row == AUD_ROW_QUESTION;
	if (strcmp(n->field->name, "proc") == 0)
		return fits_proc(n, r->e->exe);
	if (n->field->type == TYPE_WORD || n->field->type == TYPE_PATH ||
	    n->field->type == TYPE_TEXT)
		return fits_text(n, text_of(r, n->field->name));
	return fits_number(n, number_of(r, n->field->name));
}

/* Depth is bounded by the parser. */
static bool fits(const struct aud_node *n, const struct row *r)
{
	switch (n->kind) {
	case NODE_NOT:
		return !fits(n->a, r);
	case NODE_AND:
		return fits(n->a, r) && fits(n->b, r);
	case NODE_OR:
		return fits(n->a, r) || fits(n->b, r);
	case NODE_TERM:
		return fits_term(n, r);
	case NODE_ALL:
	default:
		return true;
	}
}

bool aud_filter_matches(const struct aud_filter *f, const struct aud_event *e,
			const struct aud_session *session)
{
	struct row r = {.e = e, .s = session};
	zw_autofree char *argv = NULL;

	if (f->root == NULL)
		return true;
	if (e->argv.p != NULL) {
		argv = zw_xmemdup0(e->argv.p, e->argv.len);
		for (size_t i = 0; i < e->argv.len; i++)
			argv[i] = argv[i] != '\0' ? argv[i] : ' ';
		r.argv = zw_span_n(argv, e->argv.len);
	}
	return fits(f->root, &r);
}
