/* SPDX-License-Identifier: MIT */
#include "src/audit/compare.h"

#include <stdio.h>

#include "src/audit/json.h"
#include "src/audit/query_i.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/vis.h"

#define OUT_MAX_B  (1u << 20)
#define NAME_MAX_B 320
/* Rows of one part; more are counted. */
#define ROWS_MAX 500

/* What a session has: kind, name, how it was decided, how often. Sockets made inside and names that
 * were only looked up do not count. */
#define THINGS(session)                                                                            \
	"SELECT 'net' AS kind, host || ':' || port AS name, did, sum(n_times) AS n FROM"           \
	" connections WHERE id > " session " << 32 AND id < (" session " + 1) << 32 AND"           \
	" via <> 'dns' GROUP BY 2, 3"                                                              \
	" UNION ALL SELECT 'unix', target, did, sum(n_times) FROM socket_events WHERE"             \
	" id > " session " << 32 AND id < (" session " + 1) << 32 AND did <> 'auto' GROUP BY 2, 3" \
	" UNION ALL SELECT 'exec', exe, '-', count(*) FROM (SELECT program FROM connections WHERE" \
	" id > " session " << 32 AND id < (" session " + 1) << 32 UNION ALL SELECT program FROM"   \
	" socket_events WHERE id > " session " << 32 AND id < (" session " + 1) << 32)"            \
	" JOIN programs ON programs.id = program GROUP BY 2"

static const char only_in[] = "SELECT kind, name, did, n FROM (" THINGS(
	"?1") ") AS a WHERE name IS NOT NULL"
	      " AND NOT EXISTS (SELECT 1 FROM b WHERE b.kind = a.kind AND b.name = a.name AND "
	      "b.did ="
	      " a.did) ORDER BY kind DESC, n DESC, name";

/* The other session's things once, in a table of this connection's own: it is looked into per row. */
static int other_side(struct aud_query *q, int64_t session)
{
	static const char *const steps[] = {
		"DROP TABLE IF EXISTS temp.b",
		"CREATE TEMP TABLE b (kind, name, did, n, PRIMARY KEY (kind, name, did))",
		"INSERT OR IGNORE INTO b SELECT kind, name, did, n FROM (" THINGS(
			"?1") ") WHERE name"
			      " IS NOT NULL"};
	int r = 1;

	for (size_t i = 0; i < ZW_N_ELEMENTS(steps) && r > 0; i++) {
		sqlite3_stmt *st = NULL;

		r = aud_query_statement(q, steps[i], &st);
		if (r <= 0)
			break;
		if (sqlite3_bind_parameter_count(st) > 0)
			sqlite3_bind_int64(st, 1, session);
		int rc = sqlite3_step(st);
		r = rc == SQLITE_DONE ? 1 : aud_query_error(rc);
		sqlite3_finalize(st);
	}
	return r;
}

static struct zw_span column(sqlite3_stmt *st, int i)
{
	const char *p = (const char *)sqlite3_column_text(st, i);

	return zw_span_n(p != NULL ? p : "", (size_t)sqlite3_column_bytes(st, i));
}

static int row_print(struct zw_buf *out, struct aud_json *j, sqlite3_stmt *st)
{
	char name[NAME_MAX_B], kind[16], did[16];
	struct zw_span s = column(st, 1);

	if (j != NULL) {
		aud_json_begin(j, NULL, '{');
		aud_json_str(j, "kind", column(st, 0));
		aud_json_str(j, "target", s);
		if (!zw_span_eq(column(st, 2), "-"))
			aud_json_str(j, "did", column(st, 2));
		aud_json_int(j, "count", sqlite3_column_int64(st, 3));
		aud_json_end(j, '}');
		return j->error;
	}
	zw_vis(name, sizeof(name), s.p, s.len);
	zw_span_cpy(kind, sizeof(kind), column(st, 0));
	zw_span_cpy(did, sizeof(did), column(st, 2));
	return zw_buf_addf(out, "  %-5s %-6s %6lld  %s\n", kind, did,
			   (long long)sqlite3_column_int64(st, 3), name);
}

/* What @has has and @not has not. Returns how many, or an error. */
static int64_t side_print(struct aud_query *q, int64_t has, int64_t not, struct zw_buf *out,
			  struct aud_json *j)
{
	sqlite3_stmt *st = NULL;
	int64_t n = 0;
	int rc = SQLITE_DONE, r = other_side(q, not );

	if (r > 0)
		r = aud_query_statement(q, only_in, &st);
	if (r <= 0)
		return r;
	sqlite3_bind_int64(st, 1, has);
	while (r >= 0 && (rc = sqlite3_step(st)) == SQLITE_ROW)
		if (n++ < ROWS_MAX)
			r = row_print(out, j, st);
	sqlite3_finalize(st);
	if (r >= 0 && j == NULL && n > ROWS_MAX)
		r = zw_buf_addf(out, "  and %lld more\n", (long long)(n - ROWS_MAX));
	return r < 0 ? r : rc == SQLITE_DONE ? n : aud_query_error(rc);
}

int64_t aud_compare_print(struct aud_query *q, int64_t from, int64_t to, const struct aud_print *p)
{
	bool is_json = p->format != AUD_FORMAT_TABLE;
	const int64_t sides[2][2] = {{to, from}, {from, to}};
	struct aud_json j;
	struct zw_buf out;
	int64_t n = 0, all = 0;
	int r = 0;

	zw_buf_init(&out, OUT_MAX_B);
	aud_json_init(&j, &out);
	if (is_json)
		aud_json_begin(&j, NULL, '{');
	for (int i = 0; i < 2 && n >= 0 && r == 0; i++) {
		if (is_json)
			aud_json_begin(&j, i == 0 ? "new" : "gone", '[');
		else
			r = zw_buf_addf(&out,
					i == 0 ? "Only in session %lld\n"
					       : "\nOnly in session %lld\n",
					(long long)sides[i][0]);
		n = side_print(q, sides[i][0], sides[i][1], &out, is_json ? &j : NULL);
		all += n > 0 ? n : 0;
		if (is_json)
			aud_json_end(&j, ']');
		else if (n == 0)
			r = zw_buf_addf(&out, "  nothing\n");
	}
	if (is_json) {
		aud_json_end(&j, '}');
		r = r == 0 && j.error == 0 ? zw_buf_add(&out, "\n", 1) : j.error;
	}
	if (n >= 0 && r == 0)
		r = zw_write_all(p->fd, zw_buf_head(&out), out.len);
	zw_buf_fini(&out);
	return n < 0 ? n : r < 0 ? r : all;
}
