/* SPDX-License-Identifier: MIT */
#include "src/audit/verify.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "src/audit/query_i.h"
#include "src/audit/store.h"
#include "src/base/err.h"

#define ID_SHIFT  32
#define NO_OF(id) ((id) & ((INT64_C(1) << ID_SHIFT) - 1))

struct verify {
	sqlite3 *db;
	struct aud_verify *sum;
	aud_verify_fault *fault;
	void *arg;
	const char *head; /* wanted, lower case; "" = any */
	bool has_seen_head;
	int64_t session;
	bool is_faulty; /* this session */
};

void aud_hash_text(const uint8_t hash[AUD_HASH_B], char ret[2 * AUD_HASH_B + 1])
{
	for (size_t i = 0; i < AUD_HASH_B; i++)
		snprintf(ret + 2 * i, 3, "%02x", hash[i]);
}

static void fault(struct verify *v, int64_t event, const char *what)
{
	if (!v->is_faulty)
		v->fault(v->session, event, what, v->arg);
	v->is_faulty = true;
}

static int error_of(struct verify *v, int rc)
{
	return aud_store_error(v->db, rc);
}

static int exec(struct verify *v, const char *sql)
{
	int rc = sqlite3_exec(v->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : error_of(v, rc);
}

/* One number. Returns 1 found, 0 none, or an error. */
static int number(struct verify *v, const char *sql, int64_t arg, int64_t *ret)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(v->db, sql, -1, &st, NULL);

	if (rc == SQLITE_OK) {
		sqlite3_bind_int64(st, 1, arg);
		rc = sqlite3_step(st);
	}
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(st, 0);
	int r = rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : error_of(v, rc);
	sqlite3_finalize(st);
	return r;
}

static const uint8_t *hash_at(sqlite3_stmt *st, int i)
{
	return sqlite3_column_bytes(st, i) == AUD_HASH_B ? sqlite3_column_blob(st, i) : NULL;
}

static void see_head(struct verify *v, const uint8_t *link)
{
	char text[2 * AUD_HASH_B + 1];

	if (*v->head == '\0' || v->has_seen_head)
		return;
	aud_hash_text(link, text);
	v->has_seen_head = strncmp(text, v->head, strlen(v->head)) == 0;
}

/* -- the chain by itself ----------------------------------------------------------------------- */

/* Each link over the one before it. Fills the table `newest` with the last hash of every row. */
static int walk_links(struct verify *v, sqlite3_stmt *st, sqlite3_stmt *put)
{
	uint8_t prev[AUD_HASH_B], want[AUD_HASH_B];
	int64_t n = 0;
	int rc;

	while ((rc = sqlite3_step(st)) == SQLITE_ROW && !v->is_faulty) {
		int64_t event = sqlite3_column_int64(st, 1);
		const uint8_t *row_hash = hash_at(st, 2), *link = hash_at(st, 3);

		if (sqlite3_column_int64(st, 0) != n || row_hash == NULL || link == NULL) {
			fault(v, NO_OF(event), "a link of the chain is missing before it");
			break;
		}
		aud_seal_link(n > 0 ? prev : NULL, v->session, n, event, row_hash, want);
		if (memcmp(want, link, AUD_HASH_B) != 0) {
			fault(v, event > 0 ? NO_OF(event) : 0,
			      "its link does not follow from the one before it");
			break;
		}
		memcpy(prev, link, AUD_HASH_B);
		see_head(v, link);
		sqlite3_bind_int64(put, 1, event);
		sqlite3_bind_blob(put, 2, row_hash, AUD_HASH_B, SQLITE_STATIC);
		if (sqlite3_step(put) != SQLITE_DONE)
			return error_of(v, sqlite3_extended_errcode(v->db));
		sqlite3_reset(put);
		n++;
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return error_of(v, rc);
	if (n > 0) {
		memcpy(v->sum->head, prev, AUD_HASH_B);
		v->sum->has_head = 1;
	}
	return n > 0 ? 1 : 0;
}

static int check_links(struct verify *v)
{
	sqlite3_stmt *st = NULL, *put = NULL;
	int rc = sqlite3_prepare_v2(v->db,
				    "SELECT n, event, row_hash, link FROM links WHERE session = ?1"
				    " ORDER BY n",
				    -1, &st, NULL);
	int r;

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(v->db, "INSERT OR REPLACE INTO temp.newest VALUES (?1, ?2)",
					-1, &put, NULL);
	if (rc == SQLITE_OK) {
		sqlite3_bind_int64(st, 1, v->session);
		r = walk_links(v, st, put);
	} else {
		r = error_of(v, rc);
	}
	sqlite3_finalize(st);
	sqlite3_finalize(put);
	return r;
}

/* -- rows against the chain -------------------------------------------------------------------- */

static const struct {
	enum aud_table table;
	const char *ids; /* rows of a session, with the newest hash of each */
} rows[] = {
#define IDS(name)                                                                       \
	"SELECT t.id, n.hash FROM " name " t LEFT JOIN temp.newest n ON n.event = t.id" \
	" WHERE t.id > ?1 AND t.id < ?2 ORDER BY t.id"
	{AUD_TABLE_SOCKET, IDS("socket_events")},
	{AUD_TABLE_CONN, IDS("connections")},
	{AUD_TABLE_QUESTION, IDS("questions")},
	{AUD_TABLE_MISC, IDS("misc")},
};

/* Whether the row with this id has this hash. Returns 1, 0 or an error. */
static int has_hash(struct verify *v, enum aud_table table, sqlite3_stmt *row, int64_t id,
		    const uint8_t *hash)
{
	uint8_t got[AUD_HASH_B];

	sqlite3_bind_int64(row, 1, id);
	int rc = sqlite3_step(row);
	if (rc == SQLITE_ROW)
		aud_seal_row(table, row, got);
	sqlite3_reset(row);
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? 0 : error_of(v, rc);
	return memcmp(got, hash, AUD_HASH_B) == 0;
}

static int walk_rows(struct verify *v, enum aud_table table, sqlite3_stmt *st, sqlite3_stmt *row,
		     int64_t *n_rows)
{
	int rc;

	while ((rc = sqlite3_step(st)) == SQLITE_ROW && !v->is_faulty) {
		int64_t id = sqlite3_column_int64(st, 0);
		const uint8_t *hash = hash_at(st, 1);
		int r = hash != NULL ? has_hash(v, table, row, id, hash) : 0;

		if (r < 0)
			return r;
		if (r == 0)
			fault(v, NO_OF(id),
			      hash != NULL ? "it was changed after it was recorded"
					   : "it was added afterwards");
		(*n_rows)++;
	}
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : error_of(v, rc);
}

static int check_table(struct verify *v, size_t which, int64_t *n_rows)
{
	sqlite3_stmt *st = NULL, *row = NULL;
	int rc = sqlite3_prepare_v2(v->db, rows[which].ids, -1, &st, NULL);
	int r;

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(v->db, aud_seal_select(rows[which].table), -1, &row, NULL);
	if (rc == SQLITE_OK) {
		sqlite3_bind_int64(st, 1, v->session << ID_SHIFT);
		sqlite3_bind_int64(st, 2, (v->session + 1) << ID_SHIFT);
		r = walk_rows(v, rows[which].table, st, row, n_rows);
	} else {
		r = error_of(v, rc);
	}
	sqlite3_finalize(st);
	sqlite3_finalize(row);
	return r;
}

/* A link whose row is gone, and no tombstone with its hash says why. */
static int check_missing(struct verify *v)
{
	int64_t event = 0;
	int r = number(v,
		       "SELECT n.event FROM temp.newest n WHERE n.event > 0 AND ?1 > 0"
		       " AND NOT EXISTS (SELECT 1 FROM socket_events t WHERE t.id = n.event)"
		       " AND NOT EXISTS (SELECT 1 FROM connections t WHERE t.id = n.event)"
		       " AND NOT EXISTS (SELECT 1 FROM questions t WHERE t.id = n.event)"
		       " AND NOT EXISTS (SELECT 1 FROM misc t WHERE t.id = n.event)"
		       " AND NOT EXISTS (SELECT 1 FROM tombstones d WHERE d.session = ?1"
		       " AND d.event = n.event AND d.hash = n.hash) ORDER BY n.event LIMIT 1",
		       v->session, &event);

	if (r > 0)
		fault(v, NO_OF(event), "it is gone, and nothing says that it was removed");
	return r < 0 ? r : 0;
}

/* The session's own columns, as they were at the beginning and at the end. */
static int check_own(struct verify *v, enum aud_table table, int64_t event, const char *what)
{
	sqlite3_stmt *st = NULL, *row = NULL;
	int rc = sqlite3_prepare_v2(v->db, "SELECT hash FROM temp.newest WHERE event = ?1", -1, &st,
				    NULL);
	int r = 1;

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(v->db, aud_seal_select(table), -1, &row, NULL);
	if (rc == SQLITE_OK) {
		sqlite3_bind_int64(st, 1, event);
		rc = sqlite3_step(st);
		if (rc == SQLITE_ROW && hash_at(st, 0) != NULL)
			r = has_hash(v, table, row, v->session, hash_at(st, 0));
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		r = error_of(v, rc);
	sqlite3_finalize(st);
	sqlite3_finalize(row);
	if (r == 0)
		fault(v, 0, what);
	return r < 0 ? r : 0;
}

static int check_rows(struct verify *v)
{
	int64_t n_rows = 0;
	int r = check_own(v, AUD_TABLE_BEGUN, AUD_SEAL_BEGUN, "how it began was changed");

	for (size_t i = 0; r == 0 && i < sizeof(rows) / sizeof(rows[0]); i++)
		r = check_table(v, i, &n_rows);
	if (r == 0)
		r = check_missing(v);
	if (r == 0)
		r = check_own(v, AUD_TABLE_ENDED, AUD_SEAL_ENDED, "how it ended was changed");
	if (r == 0 && !v->is_faulty)
		v->sum->n_events += n_rows;
	return r;
}

/* -- sessions ---------------------------------------------------------------------------------- */

static int check_session(struct verify *v, int64_t session)
{
	v->session = session;
	v->is_faulty = false;
	int r = exec(v, "DELETE FROM temp.newest");
	if (r == 0)
		r = check_links(v);
	if (r == 0) {
		v->sum->n_unsealed++;
		return 0;
	}
	if (r > 0)
		r = v->is_faulty ? 0 : check_rows(v);
	if (r == 0 && *v->head != '\0' && !v->has_seen_head && !v->is_faulty)
		fault(v, 0, "its chain never had the head that was given");
	if (r == 0 && v->is_faulty)
		v->sum->n_faults++;
	else if (r == 0)
		v->sum->n_sessions++;
	return r;
}

/* A session that was removed on purpose keeps its head in the tombstone. */
static int check_removed(struct verify *v, int64_t session)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(
		v->db, "SELECT hash FROM tombstones WHERE session = ?1 AND event IS NULL", -1, &st,
		NULL);
	int r = ZW_E_NOT_FOUND;

	if (rc == SQLITE_OK) {
		sqlite3_bind_int64(st, 1, session);
		rc = sqlite3_step(st);
	}
	if (rc == SQLITE_ROW) {
		r = 0;
		v->session = session;
		v->sum->n_removed++;
		if (hash_at(st, 0) != NULL)
			see_head(v, hash_at(st, 0));
		if (*v->head != '\0' && !v->has_seen_head) {
			fault(v, 0, "it was removed, with another head than the one given");
			v->sum->n_faults++;
		}
	} else if (rc != SQLITE_DONE) {
		r = error_of(v, rc);
	}
	sqlite3_finalize(st);
	return r;
}

/* Numbers are given once and in order: a gap that no tombstone fills is a session taken away. */
static int check_gaps(struct verify *v)
{
	int64_t gone = 0;
	int r = number(v,
		       "WITH known(id) AS (SELECT id FROM sessions UNION SELECT session FROM"
		       " tombstones WHERE event IS NULL UNION SELECT CAST(value AS INTEGER) - 1"
		       " FROM meta WHERE name = 'first_session'), last(n) AS (SELECT "
		       "max(ifnull((SELECT seq"
		       " FROM sqlite_sequence WHERE name = 'sessions'), 0), ?1))"
		       " SELECT id + 1 FROM known WHERE id + 1 NOT IN (SELECT id FROM known)"
		       " AND id + 1 <= (SELECT n FROM last) ORDER BY id LIMIT 1",
		       0, &gone);

	if (r > 0) {
		v->session = gone;
		v->is_faulty = false;
		fault(v, 0, "it is gone, and nothing says that it was removed");
		v->sum->n_faults++;
	}
	return r < 0 ? r : 0;
}

static int check_all(struct verify *v)
{
	int64_t session = 0, at = 0, n = 0;
	int r = 0;

	while (r == 0) {
		r = number(v, "SELECT id FROM sessions WHERE id > ?1 ORDER BY id LIMIT 1", at,
			   &session);
		if (r <= 0)
			break;
		r = aud_query_goes_on(AUD_FORWARD, &at, session) ? check_session(v, session)
								 : -EUCLEAN;
	}
	if (r == 0)
		r = number(v, "SELECT count(*) FROM tombstones WHERE event IS NULL AND ?1 = 0", 0,
			   &n);
	v->sum->n_removed = n;
	return r < 0 ? r : check_gaps(v);
}

static int head_read(const char *text, char ret[2 * AUD_HASH_B + 1])
{
	size_t n = strlen(text);

	if (n != 0 && (n < AUD_HEAD_DIGITS_MIN || n > 2 * AUD_HASH_B))
		return ZW_E_SYNTAX;
	for (size_t i = 0; i <= n; i++) {
		if (i < n && !isxdigit((unsigned char)text[i]))
			return ZW_E_SYNTAX;
		ret[i] = (char)tolower((unsigned char)text[i]);
	}
	return 0;
}

int aud_verify(sqlite3 *db, int64_t session, const char *head, aud_verify_fault *on_fault,
	       void *arg, struct aud_verify *ret)
{
	char wanted[2 * AUD_HASH_B + 1];
	struct verify v = {.db = db, .sum = ret, .fault = on_fault, .arg = arg, .head = wanted};
	int64_t there = 0;

	*ret = (struct aud_verify){0};
	if (head_read(head, wanted) < 0)
		return ZW_E_SYNTAX;
	/* One view of the store from here to the end, whatever is written meanwhile. */
	int r = exec(&v, "BEGIN; CREATE TEMP TABLE IF NOT EXISTS newest (event INTEGER PRIMARY KEY,"
			 " hash BLOB NOT NULL)");
	if (r == 0 && session == 0) {
		r = check_all(&v);
	} else if (r == 0) {
		r = number(&v, "SELECT 1 FROM sessions WHERE id = ?1", session, &there);
		if (r >= 0)
			r = r > 0 ? check_session(&v, session) : check_removed(&v, session);
	}
	exec(&v, "COMMIT");
	return r;
}
