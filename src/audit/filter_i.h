/* SPDX-License-Identifier: MIT
 * A filter as it was read; shared by what makes SQL of it and what compares it in memory. */
#ifndef ZW_AUDIT_FILTER_I_H
#define ZW_AUDIT_FILTER_I_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

/* How the values of a field are compared. */
enum aud_field_type {
	TYPE_WORD,   /* whole, without case: did, kind, host */
	TYPE_PATH,   /* whole, or below it: path, folder */
	TYPE_TEXT,   /* somewhere in it: cmd, note */
	TYPE_NUMBER, /* port, pid, rule */
	TYPE_BYTES,  /* 10k, 5m */
	TYPE_LENGTH, /* 2s, 5m, 3h: of time, in ms */
	TYPE_SINCE,  /* 2h, 2026-11-02: a moment */
	TYPE_UNTIL,
	TYPE_YES, /* new */
};

/* Columns of the view `events`, and of `sessions` where it has them (NULL = only of events). */
struct aud_field {
	const char *name;
	enum aud_field_type type;
	const char *event, *session;
};

enum aud_node_kind { NODE_ALL, NODE_AND, NODE_OR, NODE_NOT, NODE_TERM };

struct aud_node {
	enum aud_node_kind kind;
	struct aud_node *a, *b;	       /* owned */
	const struct aud_field *field; /* NULL = a bare word: anywhere */
	char op;		       /* : = ~ < > */
	char *text;		       /* owned */
	int64_t number;
	regex_t *regex; /* owned; of op ~ */
};

struct aud_filter {
	struct aud_node *root; /* NULL = everything */
};

/* Of a value, what a regular expression gets to see: more says nothing and costs time. */
#define AUD_REGEX_TEXT_MAX 4096

/* Comparisons that the functions of the store use, too (filter_match.c). Bytes with a length. */

/** * and ?, across everything, without case. */
bool aud_text_glob(const char *pattern, size_t pattern_len, const char *text, size_t len);
/** Somewhere in it, without case. */
bool aud_text_has(const char *needle, size_t n, const char *hay, size_t len);
/** The path itself or below it; without a leading / any part of it. */
bool aud_text_below(const char *path, size_t path_len, const char *text, size_t len);
/** Of the first AUD_REGEX_TEXT_MAX bytes. */
bool aud_text_regex(const regex_t *re, const char *text, size_t len);

#endif
