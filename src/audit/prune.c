/* SPDX-License-Identifier: MIT */
#include "src/audit/prune.h"

#include <errno.h>
#include <string.h>

#include "src/audit/store.h"
#include "src/base/err.h"
#include "src/base/io.h"

#define ID_SHIFT    32
#define BLOCK_SHIFT 14
/* Rows of one transaction: a writer waits for a few milliseconds at most. */
#define STEP_ROWS 2000
/* A store that was too big is made this much smaller than its limit, not to prune at every end. */
#define SPARE_PERCENT 10

/* -- statements -------------------------------------------------------------------------------- */

static int error_of(sqlite3 *db, int rc)
{
	return aud_store_error(db, rc);
}

/* Runs one statement with numbers bound from ?1 on; *ret gets the first column, when there is one.
 * Returns 1 with a row, 0 without, or a negative error. */
static int query(sqlite3 *db, int64_t *ret, const char *sql, const int64_t *args, int n_args)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);

	for (int i = 0; rc == SQLITE_OK && i < n_args; i++)
		rc = sqlite3_bind_int64(st, i + 1, args[i]);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW && ret != NULL)
		*ret = sqlite3_column_int64(st, 0);
	int r = rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : error_of(db, rc);
	sqlite3_finalize(st);
	return r;
}

#define QUERY(db, ret, sql, ...)                            \
	query(db, ret, sql, (const int64_t[]){__VA_ARGS__}, \
	      sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static int exec(sqlite3 *db, const char *sql)
{
	int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : error_of(db, rc);
}

/* Ends a transaction by how it went (@r, >= 0 good). */
static int finish(sqlite3 *db, int r)
{
	if (r >= 0)
		r = exec(db, "COMMIT");
	if (r < 0)
		exec(db, "ROLLBACK");
	return r < 0 ? r : 0;
}

/* -- what is to go ----------------------------------------------------------------------------- */

int aud_prune_used(sqlite3 *db, int64_t *ret_b)
{
	int64_t pages = 0, free_pages = 0, size = 0;
	int r = query(db, &pages, "PRAGMA page_count", NULL, 0);

	if (r >= 0)
		r = query(db, &free_pages, "PRAGMA freelist_count", NULL, 0);
	if (r >= 0)
		r = query(db, &size, "PRAGMA page_size", NULL, 0);
	*ret_b = (pages - free_pages) * size;
	return r < 0 ? r : 0;
}

/* Bytes that one event takes, on the average. */
static int event_size(sqlite3 *db, int64_t *ret_b)
{
	int64_t used = 0, n = 0;
	int r = aud_prune_used(db, &used);

	if (r == 0)
		r = query(db, &n, "SELECT ifnull(sum(n_events), 0) FROM sums", NULL, 0);
	*ret_b = n > 0 ? used / n : 0;
	return r < 0 ? r : 0;
}

static bool add(struct aud_prune *p, int64_t session, int64_t n_events, int64_t each_b)
{
	if (p->n_sessions == AUD_PRUNE_MAX) {
		p->has_more = true;
		return false;
	}
	p->sessions[p->n_sessions++] = session;
	p->n_events += n_events;
	p->size_b += n_events * each_b;
	return true;
}

int aud_prune_find(sqlite3 *db, int64_t before_us, int64_t max_b, struct aud_prune *ret)
{
	int64_t used = 0, each = 0;
	sqlite3_stmt *st = NULL;
	int r = aud_prune_used(db, &used);

	*ret = (struct aud_prune){0};
	if (r == 0)
		r = event_size(db, &each);
	if (r < 0)
		return r;
	int64_t too_much =
		max_b > 0 && used > max_b ? used - max_b + max_b / 100 * SPARE_PERCENT : 0;
	int rc = sqlite3_prepare_v2(db,
				    "SELECT s.id, ifnull(u.n_events, 0), s.ended_us FROM sessions s"
				    " LEFT JOIN sums u ON u.session = s.id"
				    " WHERE s.ended_us IS NOT NULL ORDER BY s.id",
				    -1, &st, NULL);
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(st);
		if (rc != SQLITE_ROW)
			break;
		bool is_old = sqlite3_column_int64(st, 2) < before_us;

		if (!is_old && ret->size_b >= too_much)
			continue;
		if (!add(ret, sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1), each)) {
			rc = SQLITE_DONE;
			break;
		}
	}
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? 0 : error_of(db, rc);
}

int aud_prune_add(sqlite3 *db, int64_t session, struct aud_prune *p)
{
	int64_t each = 0, n = 0, is_over = 0;
	int r = QUERY(db, &is_over, "SELECT ended_us IS NOT NULL FROM sessions WHERE id = ?1",
		      session);

	if (r <= 0)
		return r < 0 ? r : ZW_E_NOT_FOUND;
	if (!is_over)
		return ZW_E_BUSY;
	r = QUERY(db, &n, "SELECT n_events FROM sums WHERE session = ?1", session);
	if (r >= 0)
		r = event_size(db, &each);
	if (r < 0)
		return r;
	add(p, session, n, each);
	return 0;
}

/* -- removing ---------------------------------------------------------------------------------- */

static int tombstone(sqlite3 *db, const char *sql, int64_t session, int64_t event, const char *why)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);

	if (rc == SQLITE_OK) {
		sqlite3_bind_int64(st, 1, zw_now_us());
		sqlite3_bind_int64(st, 2, session);
		sqlite3_bind_int64(st, 3, event);
		sqlite3_bind_text(st, 4, why, -1, SQLITE_STATIC);
		rc = sqlite3_step(st);
	}
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? 0 : error_of(db, rc);
}

/* The session leaves all lists at once; what hangs on it goes in steps. */
static int bury(sqlite3 *db, int64_t session, const char *why)
{
	int r = exec(db, "BEGIN IMMEDIATE");

	if (r < 0)
		return r;
	r = tombstone(
		db,
		"INSERT INTO tombstones (t_us, session, n_events, hash, why) SELECT ?1, ?2,"
		" ifnull((SELECT n_events FROM sums WHERE session = ?2), 0), (SELECT link FROM"
		" links WHERE session = ?2 ORDER BY n DESC LIMIT 1), ?4 WHERE ?3 = 0",
		session, 0, why);
	if (r == 0)
		r = QUERY(db, NULL, "DELETE FROM sessions WHERE id = ?1", session);
	if (r >= 0)
		r = QUERY(db, NULL, "DELETE FROM sums WHERE session = ?1", session);
	if (r >= 0)
		r = QUERY(db, NULL, "DELETE FROM tags WHERE session = ?1", session);
	if (r >= 0)
		r = QUERY(db, NULL, "DELETE FROM notes WHERE session = ?1", session);
	if (r >= 0)
		r = QUERY(db, NULL, "DELETE FROM tallies WHERE session = ?1", session);
	if (r >= 0)
		r = QUERY(db, NULL, "DELETE FROM places WHERE block >= ?1 AND block < ?2",
			  session << (ID_SHIFT - BLOCK_SHIFT),
			  (session + 1) << (ID_SHIFT - BLOCK_SHIFT));
	if (r >= 0) /* the next time they are new again */
		r = QUERY(db, NULL, "DELETE FROM seen WHERE event > ?1 AND event < ?2",
			  session << ID_SHIFT, (session + 1) << ID_SHIFT);
	return finish(db, r);
}

/* Runs a statement that removes at most ?3 rows between ?1 and ?2, until it finds no more. */
static int drain(sqlite3 *db, const char *sql, int64_t low, int64_t high)
{
	int r;

	do {
		r = QUERY(db, NULL, sql, low, high, STEP_ROWS);
	} while (r >= 0 && sqlite3_changes(db) == STEP_ROWS);
	return r < 0 ? r : 0;
}

static const char *const events_of[] = {
	"DELETE FROM socket_events WHERE id IN (SELECT id FROM socket_events WHERE id > ?1"
	" AND id < ?2 LIMIT ?3)",
	"DELETE FROM connections WHERE id IN (SELECT id FROM connections WHERE id > ?1"
	" AND id < ?2 LIMIT ?3)",
	"DELETE FROM questions WHERE id IN (SELECT id FROM questions WHERE id > ?1"
	" AND id < ?2 LIMIT ?3)",
	"DELETE FROM misc WHERE id IN (SELECT id FROM misc WHERE id > ?1 AND id < ?2"
	" LIMIT ?3)",
};
static const char links_of[] = "DELETE FROM links WHERE session = ?1 AND n IN (SELECT n FROM links"
			       " WHERE session = ?1 AND ?2 > 0 ORDER BY n DESC LIMIT ?3)";

static int drain_session(sqlite3 *db, int64_t session)
{
	int64_t low = session << ID_SHIFT, high = (session + 1) << ID_SHIFT;
	int r = 0;

	for (size_t i = 0; i < sizeof(events_of) / sizeof(events_of[0]) && r == 0; i++)
		r = drain(db, events_of[i], low, high);
	return r == 0 ? drain(db, links_of, session, 1) : r;
}

int aud_prune_session(sqlite3 *db, int64_t session, const char *why)
{
	int r = bury(db, session, why);

	return r < 0 ? r : drain_session(db, session);
}

/* Writes anew what a block has, after one of its rows went. */
static int places_again(sqlite3 *db, int64_t block)
{
	int64_t low = (block << BLOCK_SHIFT) - 1, high = (block + 1) << BLOCK_SHIFT;
	int r = QUERY(db, NULL, "DELETE FROM places WHERE block = ?1", block);

	if (r < 0)
		return r;
	return QUERY(
		db, NULL,
		"INSERT OR IGNORE INTO places"
		" SELECT 0, lower(host), ?3 FROM connections WHERE id > ?1 AND id < ?2 AND host"
		" IS NOT NULL UNION SELECT 1, lower(target), ?3 FROM socket_events WHERE id >"
		" ?1 AND id < ?2 AND target IS NOT NULL UNION SELECT about = 'unix',"
		" lower(target), ?3 FROM questions WHERE id > ?1 AND id < ?2 AND target IS NOT"
		" NULL UNION SELECT 2, CAST(program AS TEXT), ?3 FROM (SELECT id, program FROM"
		" connections UNION ALL SELECT id, program FROM socket_events UNION ALL SELECT"
		" id, program FROM questions) WHERE id > ?1 AND id < ?2 AND program IS NOT NULL",
		low, high, block);
}

int aud_prune_event(sqlite3 *db, int64_t session, int64_t no, const char *why)
{
	static const char *const tables[] = {
		"DELETE FROM socket_events WHERE id = ?1", "DELETE FROM connections WHERE id = ?1",
		"DELETE FROM questions WHERE id = ?1", "DELETE FROM misc WHERE id = ?1"};
	int64_t id = (session << ID_SHIFT) + no, is_over = 0, n = 0;
	int r = QUERY(db, &is_over, "SELECT ended_us IS NOT NULL FROM sessions WHERE id = ?1",
		      session);

	if (r <= 0)
		return r < 0 ? r : ZW_E_NOT_FOUND;
	if (!is_over)
		return ZW_E_BUSY;
	r = exec(db, "BEGIN IMMEDIATE");
	if (r < 0)
		return r;
	r = tombstone(db,
		      "INSERT INTO tombstones (t_us, session, event, n_events, hash, why) VALUES"
		      " (?1, ?2, ?3, 1, (SELECT row_hash FROM links WHERE session = ?2"
		      " AND event = ?3 ORDER BY n DESC LIMIT 1), ?4)",
		      session, id, why);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && r >= 0; i++) {
		r = QUERY(db, NULL, tables[i], id);
		n += r >= 0 ? sqlite3_changes(db) : 0;
	}
	if (r >= 0)
		r = QUERY(db, NULL, "DELETE FROM seen WHERE event = ?1", id);
	if (r >= 0 && n == 0)
		r = ZW_E_NOT_FOUND;
	if (r >= 0)
		r = places_again(db, id >> BLOCK_SHIFT);
	if (r >= 0)
		r = QUERY(db, NULL, "UPDATE sums SET n_events = n_events - 1 WHERE session = ?1",
			  session);
	return finish(db, r);
}

/* A writer remembers the numbers of programs: they go only while nobody writes. */
static int drop_programs(sqlite3 *db)
{
	int r = exec(db, "BEGIN IMMEDIATE");

	if (r < 0)
		return r;
	if (query(db, NULL, "SELECT 1 FROM sessions WHERE ended_us IS NULL", NULL, 0) == 0)
		r = exec(db, "DELETE FROM programs WHERE id NOT IN ("
			     "SELECT program FROM socket_events WHERE program IS NOT NULL UNION "
			     "SELECT program FROM connections WHERE program IS NOT NULL UNION "
			     "SELECT program FROM questions WHERE program IS NOT NULL)");
	return finish(db, r);
}

static int shrink(sqlite3 *db)
{
	int64_t n_free = 0, before = -1;
	int r;

	do {
		r = query(db, &n_free, "PRAGMA freelist_count", NULL, 0);
		if (r < 0 || n_free == 0 || n_free == before)
			break;
		before = n_free;
		r = exec(db, "PRAGMA incremental_vacuum(256)");
	} while (r == 0);
	return r < 0 ? r : 0;
}

/* A session that has a tombstone and is not gone yet: by its links, which go last. Returns 1, 0: none. */
static int rest_find(sqlite3 *db, int64_t *ret)
{
	return QUERY(db, ret,
		     "SELECT t.session FROM tombstones t WHERE t.event IS NULL AND EXISTS"
		     " (SELECT 1 FROM links l WHERE l.session = t.session) AND NOT EXISTS"
		     " (SELECT 1 FROM sessions s WHERE s.id = t.session) AND ?1 = 0 LIMIT 1",
		     0);
}

int aud_prune_step(sqlite3 *db)
{
	int64_t session = 0;
	int r = rest_find(db, &session);

	if (r <= 0)
		return r;
	int64_t low = session << ID_SHIFT, high = (session + 1) << ID_SHIFT;
	for (size_t i = 0; i < sizeof(events_of) / sizeof(events_of[0]); i++) {
		r = QUERY(db, NULL, events_of[i], low, high, STEP_ROWS);
		if (r < 0 || sqlite3_changes(db) > 0)
			return r < 0 ? r : 1;
	}
	r = QUERY(db, NULL, links_of, session, 1, STEP_ROWS);
	return r < 0 ? r : 1;
}

int aud_prune_rest(sqlite3 *db)
{
	int64_t session = 0;
	int r;

	while ((r = rest_find(db, &session)) > 0) {
		r = drain_session(db, session);
		if (r < 0)
			return r;
	}
	if (r == 0)
		r = drop_programs(db);
	return r < 0 ? r : shrink(db);
}
