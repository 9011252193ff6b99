/* SPDX-License-Identifier: MIT */
#include "src/config/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"

#define BLOCK_SIZE 16384u

/* Memory of a document: taken in blocks, given back as a whole. */
struct block {
	struct block *next;
	size_t used, size;
	char bytes[];
};

struct cfg_json_doc {
	struct block *blocks;
	struct cfg_json *root;
	unsigned n_nodes;
};

/* An array or object that is still open. */
struct frame {
	struct cfg_json *value;
	struct cfg_json *last;
};

struct reader {
	struct cfg_json_doc *doc;
	struct cfg_json_error *error;
	yajl_handle yajl;
	const char *text;
	size_t skipped; /* bytes of the file before it: a byte order mark */
	size_t counted; /* bytes of text that line has seen */
	unsigned line;
	const char *key; /* of the member whose value comes next */
	unsigned key_line;
	struct frame stack[CFG_JSON_DEPTH_MAX];
	unsigned depth;
	int code;
};

static void *doc_alloc(struct cfg_json_doc *doc, size_t size)
{
	size = (size + 15) & ~(size_t)15;
	if (doc->blocks == NULL || doc->blocks->size - doc->blocks->used < size) {
		size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
		struct block *b = zw_xcalloc(1, sizeof(*b) + room);

		b->size = room;
		b->next = doc->blocks;
		doc->blocks = b;
	}
	void *p = doc->blocks->bytes + doc->blocks->used;
	doc->blocks->used += size;
	return p;
}

static char *doc_text(struct cfg_json_doc *doc, const void *p, size_t len)
{
	char *s = doc_alloc(doc, len + 1);

	if (len > 0)
		memcpy(s, p, len);
	s[len] = '\0';
	return s;
}

/* Line of the token that yajl has just read: strings hold no line break, so its end is its line. */
static unsigned line_now(struct reader *r)
{
	size_t at = yajl_get_bytes_consumed(r->yajl);

	for (; r->counted < at; r->counted++)
		r->line += r->text[r->counted] == '\n';
	return r->line;
}

static int fail_at(struct reader *r, int code, unsigned line, const char *text)
{
	r->code = code;
	r->error->line = line;
	zw_strlcpy(r->error->text, text, sizeof(r->error->text));
	return 0;
}

/* Makes a value and hangs it where it belongs; NULL after an error. */
static struct cfg_json *value_new(struct reader *r, enum cfg_json_type type)
{
	unsigned line = line_now(r);

	if (r->doc->n_nodes++ >= CFG_JSON_NODES_MAX) {
		fail_at(r, ZW_E_TOOBIG, line, "more values than a settings file may hold");
		return NULL;
	}
	struct cfg_json *v = doc_alloc(r->doc, sizeof(*v));
	v->type = type;
	v->line = line;
	if (r->depth == 0) {
		r->doc->root = v;
		return v;
	}
	struct frame *top = &r->stack[r->depth - 1];
	if (top->last != NULL)
		top->last->next = v;
	else
		top->value->child = v;
	top->last = v;
	top->value->n++;
	if (top->value->type == CFG_JSON_OBJECT) {
		v->key = r->key;
		v->line = r->key_line;
	}
	return v;
}

static int on_null(void *arg)
{
	return value_new(arg, CFG_JSON_NULL) != NULL;
}

static int on_boolean(void *arg, int boolean)
{
	struct cfg_json *v = value_new(arg, CFG_JSON_BOOL);

	if (v != NULL)
		v->boolean = boolean != 0;
	return v != NULL;
}

static int on_number(void *arg, const char *p, size_t len)
{
	struct reader *r = arg;
	struct cfg_json *v = value_new(r, CFG_JSON_NUMBER);
	uint64_t u;
	bool is_negative = len > 0 && p[0] == '-';

	if (v == NULL)
		return 0;
	v->str = doc_text(r->doc, p, len);
	if (zw_parse_u64(p + is_negative, len - is_negative, INT64_MAX, &u) == 0) {
		v->is_integer = true;
		v->number = is_negative ? -(int64_t)u : (int64_t)u;
	}
	return 1;
}

/* yajl has checked the file's own bytes; escapes can still spell a NUL or half a pair. */
static const char *text_fault(const unsigned char *p, size_t len)
{
	for (size_t i = 0; i < len;) {
		uint32_t cp;
		int n = zw_utf8_decode(p + i, len - i, &cp);

		if (n < 0)
			return "an escape in this text is half a character";
		if (cp == 0)
			return "a zero character (\\u0000) in a text";
		i += (size_t)n;
	}
	return NULL;
}

static int on_string(void *arg, const unsigned char *p, size_t len)
{
	struct reader *r = arg;
	const char *fault = text_fault(p, len);

	if (fault != NULL)
		return fail_at(r, ZW_E_SYNTAX, line_now(r), fault);
	struct cfg_json *v = value_new(r, CFG_JSON_STRING);
	if (v != NULL)
		v->str = doc_text(r->doc, p, len);
	return v != NULL;
}

static int on_key(void *arg, const unsigned char *p, size_t len)
{
	struct reader *r = arg;
	const char *fault = text_fault(p, len);

	if (fault != NULL)
		return fail_at(r, ZW_E_SYNTAX, line_now(r), fault);
	r->key = doc_text(r->doc, p, len);
	r->key_line = line_now(r);
	return 1;
}

static int on_open(struct reader *r, enum cfg_json_type type)
{
	if (r->depth >= CFG_JSON_DEPTH_MAX)
		return fail_at(r, ZW_E_TOOBIG, line_now(r), "brackets nested too deep");
	struct cfg_json *v = value_new(r, type);
	if (v == NULL)
		return 0;
	r->stack[r->depth++] = (struct frame){v, NULL};
	return 1;
}

static int on_start_map(void *arg)
{
	return on_open(arg, CFG_JSON_OBJECT);
}

static int on_start_array(void *arg)
{
	return on_open(arg, CFG_JSON_ARRAY);
}

/* The bracket is the token that yajl has just read. */
static void end_note(const struct reader *r, struct cfg_json *v)
{
	v->end = (unsigned)(yajl_get_bytes_consumed(r->yajl) - 1 + r->skipped);
}

static int on_end_array(void *arg)
{
	struct reader *r = arg;

	end_note(r, r->stack[--r->depth].value);
	return 1;
}

static int by_key(const void *a, const void *b)
{
	const struct cfg_json *x = *(struct cfg_json *const *)a, *y = *(struct cfg_json *const *)b;
	int order = strcmp(x->key, y->key);

	/* Equal keys in the order of the text: a node made later lies on a later line, or on the same. */
	return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

static int on_end_map(void *arg)
{
	struct reader *r = arg;
	struct cfg_json *map = r->stack[--r->depth].value;
	char text[256], name[128];

	end_note(r, map);
	if (map->n < 2)
		return 1;
	zw_autofree struct cfg_json **members = zw_xcalloc(map->n, sizeof(*members));
	size_t n = 0;
	for (struct cfg_json *v = map->child; v != NULL; v = v->next)
		members[n++] = v;
	qsort(members, n, sizeof(*members), by_key);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(members[i]->key, members[i - 1]->key) != 0)
			continue;
		zw_vis(name, sizeof(name), members[i]->key, strlen(members[i]->key));
		snprintf(text, sizeof(text), "`%s` stands here twice (before in line %u)", name,
			 members[i - 1]->line);
		return fail_at(r, ZW_E_SYNTAX, members[i]->line, text);
	}
	return 1;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_start_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end_map,
	.yajl_start_array = on_start_array,
	.yajl_end_array = on_end_array,
};

/* yajl's words, and what a person is told. */
static const struct {
	const char *yajl;
	const char *text;
} phrases[] = {
	{"trailing garbage", "something stands behind the end of the settings"},
	{"unallowed token", "not expected here: a comma too many, or one missing?"},
	{"object key and value must be separated", "a colon is missing between name and value"},
	{"after key and value", "a comma or } is missing"},
	{"after array element", "a comma or ] is missing"},
	{"invalid object key", "a name in quotes is expected here"},
	{"invalid bytes in UTF8", "not UTF-8"},
	{"character which it may not", "\\ stands before a character that it cannot escape"},
	{"invalid character inside string", "a text is not closed on its line"},
	{"invalid (non-hex)", "\\u needs four hexadecimal digits"},
	{"invalid string in json", "these words need quotes, or are not true, false or null"},
	{"invalid char in json", "a character that has no meaning here"},
	{"malformed number", "not a number"},
	{"probable comment", "a comment begins with // or /*"},
};

static const char *phrase(const char *yajl_text)
{
	for (size_t i = 0; i < ZW_N_ELEMENTS(phrases); i++)
		if (strstr(yajl_text, phrases[i].yajl) != NULL)
			return phrases[i].text;
	return "not JSON";
}

/* What yajl would not say well, or not at all: bytes that are no text, an endless comment. */
static int check_bytes(const char *p, size_t len, struct cfg_json_error *error)
{
	enum { PLAIN, STRING, LINE, BLOCK } state = PLAIN;
	unsigned line = 1, opened = 0;
	uint32_t cp;
	int n;

	for (size_t i = 0; i < len; i += (size_t)n) {
		n = zw_utf8_decode((const uint8_t *)p + i, len - i, &cp);
		if (n < 0 || cp == 0) {
			error->line = line;
			zw_strlcpy(error->text,
				   n < 0 ? "not UTF-8" : "not a text file (a zero byte)",
				   sizeof(error->text));
			return ZW_E_SYNTAX;
		}
		char next = i + 1 < len ? p[i + 1] : '\0';
		if (cp == '\n')
			line++;
		if (state == PLAIN && cp == '"')
			state = STRING;
		else if (state == PLAIN && cp == '/' && next == '/')
			state = LINE;
		else if (state == PLAIN && cp == '/' && next == '*')
			state = BLOCK, opened = line, n = 2;
		else if (state == STRING && cp == '\\' && next != '\0' && (next & 0x80) == 0)
			line += next == '\n', n = 2;
		else if ((state == STRING && (cp == '"' || cp == '\n')) ||
			 (state == LINE && cp == '\n'))
			state = PLAIN;
		else if (state == BLOCK && cp == '*' && next == '/')
			state = PLAIN, n = 2;
	}
	if (state != BLOCK)
		return 0;
	error->line = opened;
	zw_strlcpy(error->text, "this comment has no end", sizeof(error->text));
	return ZW_E_SYNTAX;
}

/* The text ended and a value had not. */
static int fail_short(struct reader *r, size_t len)
{
	char text[128];
	unsigned last = 1;

	/* Not counting the break that was added, nor the file's own last one. */
	for (size_t i = 0; i + 2 < len; i++)
		last += r->text[i] == '\n';
	if (r->doc->root == NULL)
		zw_strlcpy(text, "the file is empty", sizeof(text));
	else if (r->depth == 0)
		zw_strlcpy(text, "the file ends too early", sizeof(text));
	else
		snprintf(text, sizeof(text),
			 "the file ends too early: the bracket of line %u is not closed",
			 r->stack[r->depth - 1].value->line);
	fail_at(r, ZW_E_SYNTAX, last, text);
	return r->code;
}

static int read_all(struct reader *r, size_t len)
{
	const unsigned char *text = (const unsigned char *)r->text;
	yajl_status status = yajl_parse(r->yajl, text, len);

	if (status == yajl_status_client_canceled)
		return r->code;
	if (status != yajl_status_ok) {
		unsigned char *why = yajl_get_error(r->yajl, 0, text, len);

		fail_at(r, ZW_E_SYNTAX, line_now(r), phrase((const char *)why));
		yajl_free_error(r->yajl, why);
		return r->code;
	}
	return r->doc->root == NULL || r->depth > 0 ? fail_short(r, len) : 0;
}

int cfg_json_parse(const char *text, size_t len, struct cfg_json_doc **ret,
		   struct cfg_json_error *ret_error)
{
	*ret_error = (struct cfg_json_error){1, ""};
	if (len > CFG_JSON_SIZE_MAX) {
		zw_strlcpy(ret_error->text, "larger than a settings file may be (1 MB)",
			   sizeof(ret_error->text));
		return ZW_E_TOOBIG;
	}
	size_t skipped = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	text += skipped;
	len -= skipped;
	int code = check_bytes(text, len, ret_error);
	if (code < 0)
		return code;

	/* A line break behind the end finishes a last comment or number, so that yajl needs no second
	 * call, after which it would no longer know where it is. */
	zw_autofree char *copy = zw_xmalloc(len + 2);
	if (len > 0)
		memcpy(copy, text, len);
	copy[len] = '\n';
	copy[len + 1] = '\0';
	struct reader r = {.doc = zw_xnew(struct cfg_json_doc),
			   .error = ret_error,
			   .text = copy,
			   .skipped = skipped,
			   .line = 1};
	r.yajl = yajl_alloc(&callbacks, NULL, &r);
	if (r.yajl == NULL)
		zw_fatal("out of memory");
	yajl_config(r.yajl, yajl_allow_comments, 1);
	code = read_all(&r, len + 1);
	yajl_free(r.yajl);
	if (code < 0) {
		cfg_json_free(r.doc);
		return code;
	}
	*ret = r.doc;
	return 0;
}

void cfg_json_free(struct cfg_json_doc *doc)
{
	if (doc == NULL)
		return;
	for (struct block *b = doc->blocks, *next; b != NULL; b = next) {
		next = b->next;
		free(b);
	}
	free(doc);
}

const struct cfg_json *cfg_json_root(const struct cfg_json_doc *doc)
{
	return doc->root;
}

const struct cfg_json *cfg_json_get(const struct cfg_json *v, const char *key)
{
	if (v == NULL || v->type != CFG_JSON_OBJECT)
		return NULL;
	for (const struct cfg_json *m = v->child; m != NULL; m = m->next)
		if (strcmp(m->key, key) == 0)
			return m;
	return NULL;
}

const char *cfg_json_text(const struct cfg_json *v, const char *key, const char *otherwise)
{
	const struct cfg_json *m = cfg_json_get(v, key);

	return m != NULL && m->type == CFG_JSON_STRING ? m->str : otherwise;
}

char *cfg_json_quote(const char *s)
{
	size_t len = strlen(s), n = 0;
	char *out = zw_xmalloc(6 * len + 3);
	uint32_t cp;

	out[n++] = '"';
	for (size_t i = 0; i < len;) {
		int step = zw_utf8_decode((const uint8_t *)s + i, len - i, &cp);

		if (step < 0 || cp < 0x20 || cp == 0x7f) {
			n += (size_t)snprintf(out + n, 7, "\\u%04x", step < 0 ? 0xfffdu : cp);
			step = step < 0 ? 1 : step;
		} else {
			if (cp == '"' || cp == '\\')
				out[n++] = '\\';
			memcpy(out + n, s + i, (size_t)step);
			n += (size_t)step;
		}
		i += (size_t)step;
	}
	out[n++] = '"';
	out[n] = '\0';
	return out;
}

const char *cfg_json_type_word(enum cfg_json_type type)
{
	switch (type) {
	case CFG_JSON_NULL:
		return "null";
	case CFG_JSON_BOOL:
		return "true or false";
	case CFG_JSON_NUMBER:
		return "a number";
	case CFG_JSON_STRING:
		return "text in quotes";
	case CFG_JSON_ARRAY:
		return "a list [ ]";
	case CFG_JSON_OBJECT:
		return "a section { }";
	}
	return "?";
}
