/* SPDX-License-Identifier: MIT */
#include "src/audit/known.h"

#include "src/audit/query_i.h"

static struct zw_span column(sqlite3_stmt *st, int i)
{
	const char *text = (const char *)sqlite3_column_text(st, i);

	return zw_span_n(text != NULL ? text : "", (size_t)sqlite3_column_bytes(st, i));
}

int aud_known(struct aud_query *q, const char *project, int64_t before,
	      void (*fn)(void *arg, struct zw_span kind, struct zw_span target), void *arg)
{
	sqlite3_stmt *st = NULL;
	int rc, r = aud_query_statement(q,
					"SELECT kind, target FROM seen WHERE project = ?1 AND"
					" event < ?2 LIMIT ?3",
					&st);

	if (r <= 0)
		return r;
	sqlite3_bind_text(st, 1, project, -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 2, AUD_EVENT_ID(before, 0));
	sqlite3_bind_int64(st, 3, AUD_KNOWN_MAX);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		fn(arg, column(st, 0), column(st, 1));
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? 0 : aud_query_error(rc);
}
