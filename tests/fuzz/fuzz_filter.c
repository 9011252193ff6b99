/* SPDX-License-Identifier: MIT
 * The filter language: any text is a filter or an error with its place; what is a filter is SQL that
 * SQLite prepares and runs over the schema, with no value of the user's in its text. */
#include <assert.h>
#include <sqlite3.h>
#include <stdint.h>
#include <string.h>

#include "src/audit/filter.h"
#include "src/audit/filter_sql.h"
#include "src/audit/schema_sql.h"
#include "src/base/mem.h"

static sqlite3 *db;

static void run(const struct aud_filter *f, bool of_sessions)
{
	static struct aud_filter_arg args[AUD_FILTER_ARGS_MAX];
	const char *head =
		of_sessions ? "SELECT id FROM sessions WHERE " : "SELECT id FROM events WHERE ";
	sqlite3_stmt *st = NULL;
	struct zw_buf sql;

	zw_buf_init(&sql, 1 << 20);
	zw_buf_add(&sql, head, strlen(head));
	int n = aud_filter_sql(f, of_sessions, 5, &sql, args);
	if (n >= 0) {
		assert(sqlite3_prepare_v2(db, (char *)zw_buf_head(&sql), (int)sql.len, &st, NULL) ==
		       SQLITE_OK);
		for (int i = 0; i < n; i++) {
			if (args[i].is_text)
				sqlite3_bind_text(st, 5 + i, args[i].text, -1, SQLITE_STATIC);
			else
				sqlite3_bind_int64(st, 5 + i, args[i].number);
		}
		while (sqlite3_step(st) == SQLITE_ROW)
			;
		sqlite3_finalize(st);
	}
	zw_buf_fini(&sql);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct aud_filter_error error;
	struct aud_filter *f = NULL;

	if (db == NULL) {
		assert(sqlite3_open(":memory:", &db) == SQLITE_OK);
		for (size_t i = 0; i < sizeof(aud_schema_sql) / sizeof(aud_schema_sql[0]); i++)
			assert(sqlite3_exec(db, aud_schema_sql[i], NULL, NULL, NULL) == SQLITE_OK);
		aud_filter_functions(db);
		assert(sqlite3_exec(
			       db,
			       "INSERT INTO sessions (id, started_us, agent) VALUES (1, 5, 'a');"
			       "INSERT INTO sums (session, last_us) VALUES (1, 5);"
			       "INSERT INTO misc VALUES ((1 << 32) + 1, 1, 5, 'mode', 'x');"
			       "INSERT INTO socket_events (id, session, source, seq, t_us, did, op,"
			       " target, argv) VALUES ((1 << 32) + 2, 1, 1, 1, 5, 'deny', "
			       "'connect',"
			       " '/run/docker.sock', x'6100')",
			       NULL, NULL, NULL) == SQLITE_OK);
	}
	char *text = zw_xmemdup0(data, size);
	if (aud_filter_parse(text, 1000000, &f, &error) == 0) {
		run(f, false);
		if (aud_filter_is_of_sessions(f))
			run(f, true);
		aud_filter_free(f);
	} else {
		assert(error.at <= strlen(text) && error.text[0] != '\0');
	}
	free(text);
	return 0;
}
