/* SPDX-License-Identifier: MIT */
#include "src/audit/filter_sql.h"

#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/audit/filter_i.h"
#include "src/base/mem.h"
#include "src/base/str.h"

/* The bytes of an argument. False for NULL. */
static bool bytes_of(sqlite3_value *v, const char **ret, size_t *ret_len)
{
	if (sqlite3_value_type(v) == SQLITE_NULL)
		return false;
	*ret = sqlite3_value_blob(v);
	*ret_len = (size_t)sqlite3_value_bytes(v);
	if (*ret == NULL)
		*ret = "";
	return true;
}

static bool pair_of(sqlite3_value **argv, const char *p[2], size_t len[2])
{
	return bytes_of(argv[0], &p[0], &len[0]) && bytes_of(argv[1], &p[1], &len[1]);
}

/* zw_glob(PATTERN, VALUE) */
static void fn_glob(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *p[2];
	size_t len[2];

	(void)argc;
	if (pair_of(argv, p, len))
		sqlite3_result_int(ctx, aud_text_glob(p[0], len[0], p[1], len[1]));
}

/* zw_has(NEEDLE, VALUE) */
static void fn_has(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *p[2];
	size_t len[2];

	(void)argc;
	if (pair_of(argv, p, len))
		sqlite3_result_int(ctx, aud_text_has(p[0], len[0], p[1], len[1]));
}

/* zw_below(PATH, VALUE) */
static void fn_below(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *p[2];
	size_t len[2];

	(void)argc;
	if (pair_of(argv, p, len))
		sqlite3_result_int(ctx, aud_text_below(p[0], len[0], p[1], len[1]));
}

static void regex_free(void *re)
{
	regfree(re);
	free(re);
}

/* zw_regex(EXPRESSION, VALUE): POSIX extended, without case; compiled once a statement. */
static void fn_regex(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *p[2];
	size_t len[2];
	regex_t *re = sqlite3_get_auxdata(ctx, 0);

	(void)argc;
	if (!pair_of(argv, p, len))
		return;
	if (re == NULL) {
		zw_autofree char *expression = zw_xmemdup0(p[0], len[0]);

		re = zw_xnew(regex_t);
		if (regcomp(re, expression, REG_EXTENDED | REG_ICASE | REG_NOSUB) != 0) {
			free(re);
			sqlite3_result_error(ctx, "not a regular expression", -1);
			return;
		}
		sqlite3_set_auxdata(ctx, 0, re, regex_free);
		re = sqlite3_get_auxdata(ctx, 0);
		if (re == NULL) {
			sqlite3_result_error_nomem(ctx);
			return;
		}
	}
	sqlite3_result_int(ctx, aud_text_regex(re, p[1], len[1]));
}

/* zw_text(ARGV): arguments with blanks between. */
static void fn_text(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *p;
	size_t len;

	(void)argc;
	if (!bytes_of(argv[0], &p, &len))
		return;
	char *text = sqlite3_malloc64(len + 1);
	if (text == NULL) {
		sqlite3_result_error_nomem(ctx);
		return;
	}
	for (size_t i = 0; i < len; i++)
		text[i] = p[i] != '\0' ? p[i] : ' ';
	sqlite3_result_text64(ctx, text, len, sqlite3_free, SQLITE_UTF8);
}

static void fn_basename(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *p;
	size_t len, i;

	(void)argc;
	if (!bytes_of(argv[0], &p, &len))
		return;
	for (i = len; i > 0 && p[i - 1] != '/'; i--)
		;
	sqlite3_result_text(ctx, p + i, (int)(len - i), SQLITE_TRANSIENT);
}

int aud_filter_functions(sqlite3 *db)
{
	static const struct {
		const char *name;
		int n_args;
		void (*fn)(sqlite3_context *ctx, int argc, sqlite3_value **argv);
	} list[] = {
		{"zw_glob", 2, fn_glob},   {"zw_has", 2, fn_has},   {"zw_below", 2, fn_below},
		{"zw_regex", 2, fn_regex}, {"zw_text", 1, fn_text}, {"zw_basename", 1, fn_basename},
	};
	int rc = SQLITE_OK;

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]) && rc == SQLITE_OK; i++)
		rc = sqlite3_create_function_v2(db, list[i].name, list[i].n_args,
						SQLITE_UTF8 | SQLITE_DETERMINISTIC |
							SQLITE_DIRECTONLY,
						NULL, list[i].fn, NULL, NULL, NULL);
	return rc;
}
