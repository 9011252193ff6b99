/* SPDX-License-Identifier: MIT
 * JSON with comments, read into a tree that knows its lines.
 *
 * Stricter than most: one value, nothing behind it, no duplicate key, valid UTF-8 throughout, no NUL
 * in a string, bounded size, depth and number of values. A byte order mark at the start and CRLF
 * line ends are taken. Pure; any bytes are safe. */
#ifndef ZW_CONFIG_JSON_H
#define ZW_CONFIG_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CFG_JSON_SIZE_MAX  (1u << 20) /* bytes of text */
#define CFG_JSON_DEPTH_MAX 16u
#define CFG_JSON_NODES_MAX 65536u

enum cfg_json_type {
	CFG_JSON_NULL,
	CFG_JSON_BOOL,
	CFG_JSON_NUMBER,
	CFG_JSON_STRING,
	CFG_JSON_ARRAY,
	CFG_JSON_OBJECT,
};

/** A value. Everything it points to lives as long as its document. */
struct cfg_json {
	enum cfg_json_type type;
	unsigned line;	 /* where it begins; of a member: where its key stands */
	unsigned n;	 /* values in an array or object */
	unsigned end;	 /* of an array or object: where its closing bracket stands, in bytes */
	const char *key; /* of a member of an object, else NULL */
	const char *str; /* STRING: UTF-8, no NUL inside; NUMBER: as written; else NULL */
	int64_t number;	 /* NUMBER with is_integer */
	bool is_integer; /* NUMBER: whole and within int64_t */
	bool boolean;	 /* BOOL */
	struct cfg_json *child; /* first value of an array or object, in order of the text */
	struct cfg_json *next;	/* value after this in the same array or object */
};

struct cfg_json_error {
	unsigned line;	/* from 1 */
	char text[256]; /* printable; "" after success */
};

struct cfg_json_doc;

/**
 * Parses @text.
 *
 * @ret_error  filled on failure
 * Returns     0, ZW_E_SYNTAX or ZW_E_TOOBIG
 * Ownership   *ret by cfg_json_free()
 */
int cfg_json_parse(const char *text, size_t len, struct cfg_json_doc **ret,
		   struct cfg_json_error *ret_error);
void cfg_json_free(struct cfg_json_doc *doc);
const struct cfg_json *cfg_json_root(const struct cfg_json_doc *doc);

/** Member of an object by name; NULL when there is none or @v is NULL or no object. */
const struct cfg_json *cfg_json_get(const struct cfg_json *v, const char *key);
/** Text of a string member, else @otherwise. */
const char *cfg_json_text(const struct cfg_json *v, const char *key, const char *otherwise);
/** A text as JSON, quotes included; what is no UTF-8 becomes U+FFFD. Ownership: caller frees. */
char *cfg_json_quote(const char *s);
/** "text", "a list" … for a message about a wrong type. Static storage. */
const char *cfg_json_type_word(enum cfg_json_type type);

#endif
