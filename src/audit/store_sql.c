/* SPDX-License-Identifier: MIT */
#include "src/audit/store_i.h"

#include <errno.h>

#include "src/base/mask.h"
#include "src/base/err.h"
#include "src/base/mem.h"

/* A row that is told again: what may change does, what is not told stays as it is. Who decided is
 * told once, with phase 0. */
#define MORE_SET                                                           \
	"did = ?4, n_times = coalesce(?5, n_times), up_b = max(up_b, ?6)," \
	" down_b = max(down_b, ?7), closed_us = coalesce(?8, closed_us),"  \
	" reason = coalesce(?9, reason), note = coalesce(?10, note),"      \
	" by = iif(?11 = 0, ?12, by), rule = iif(?11 = 0, ?13, rule),"     \
	" waited_ms = max(waited_ms, ?14)"
#define MORE_WHERE " WHERE id = ?1"
#define FIND(table)                                                               \
	"SELECT id, did, n_times, up_b, down_b FROM " table " WHERE session = ?1" \
	" AND source = ?2 AND seq = ?3"

static const char *const sql[ST_MAX] = {
	[ST_BEGIN] = "BEGIN IMMEDIATE",
	[ST_COMMIT] = "COMMIT",
	[ST_ROLLBACK] = "ROLLBACK",
	[ST_SESSION_NEW] =
		"INSERT INTO sessions (id, started_us, agent, argv, cwd, project, mode, level,"
		" version, uid, is_private, zw_pid, zw_start, zw_pid_ns, zw_boot, name) VALUES "
		"(iif(?1 > "
		"0"
		" AND NOT EXISTS (SELECT 1 FROM sessions WHERE id = ?1), ?1, NULL), ?2, ?3, ?4, "
		"?5, ?6,"
		" ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
	[ST_SESSION_SUMS] = "INSERT INTO sums (session, last_us) VALUES (?1, ?2)",
	[ST_SESSION_FIRST] = "INSERT OR IGNORE INTO meta VALUES ('first_session', ?1)",
	[ST_NOTE] = "INSERT OR REPLACE INTO notes VALUES (?1, ?2)",
	[ST_NOTE_DROP] = "DELETE FROM notes WHERE session = ?1",
	[ST_TAGS_DROP] = "DELETE FROM tags WHERE session = ?1",
	[ST_SESSION_IS] = "SELECT 1 FROM sessions WHERE id = ?1",
	[ST_TAG] = "INSERT OR IGNORE INTO tags VALUES (?1, ?2)",
	[ST_SESSION_FIND] =
		"SELECT id FROM sessions WHERE zw_pid = ?1 AND zw_start = ?2 AND zw_pid_ns = ?3"
		" AND zw_boot = ?4 AND exit_status IS NULL ORDER BY id DESC LIMIT 1",
	[ST_SESSION_RESUME] = "UPDATE sessions SET ended_us = NULL, how = NULL WHERE id = ?1",
	[ST_SESSION_END] =
		"UPDATE sessions SET ended_us = ?2, exit_status = ?3, how = ?4 WHERE id = ?1",
	[ST_SESSION_LOST] = "UPDATE sessions SET n_lost = n_lost + ?2 WHERE id = ?1",
	[ST_LAST_ID] = "SELECT max((SELECT ifnull(max(id), 0) FROM socket_events WHERE id < ?1),"
		       " (SELECT ifnull(max(id), 0) FROM connections WHERE id < ?1),"
		       " (SELECT ifnull(max(id), 0) FROM questions WHERE id < ?1),"
		       " (SELECT ifnull(max(id), 0) FROM misc WHERE id < ?1))",
	[ST_RUNNING] = "SELECT id, zw_pid, zw_start, zw_pid_ns, zw_boot FROM sessions"
		       " WHERE ended_us IS NULL AND id <> ?1",
	[ST_CRASHED] =
		"UPDATE sessions SET how = 'crashed',"
		" ended_us = ifnull((SELECT last_us FROM sums WHERE session = ?1), started_us)"
		" WHERE id = ?1 AND ended_us IS NULL",
	[ST_TALLIES_DROP] = "DELETE FROM tallies WHERE session = ?1",
	[ST_PROGRAM_FIND] = "SELECT id FROM programs WHERE exe = ?1",
	[ST_PROGRAM_NEW] = "INSERT INTO programs (exe) VALUES (?1)",
	[ST_SOCK_NEW] = "INSERT INTO socket_events (id, session, source, seq, t_us, closed_us, "
			"did, op, target,"
			" asked, class, risk, listener_uid, listener_pid, listener_exe, by, rule, "
			"reason, note,"
			" waited_ms, n_times, up_b, down_b, pid, program, argv, cwd, chain) VALUES "
			"(?1, ?2, ?3,"
			" ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, "
			"?19, ?20, ?21,"
			" ?22, ?23, ?24, ?25, ?26, ?27, ?28)",
	[ST_SOCK_FIND] = FIND("socket_events"),
	[ST_SOCK_MORE] =
		"UPDATE socket_events SET " MORE_SET ", listener_uid = coalesce(?15, listener_uid),"
		" listener_pid = coalesce(?16, listener_pid),"
		" listener_exe = coalesce(?17, listener_exe)" MORE_WHERE,
	[ST_CONN_NEW] = "INSERT INTO connections (id, session, source, seq, t_us, closed_us, did, "
			"via, host,"
			" port, address, by, rule, reason, note, waited_ms, n_times, up_b, down_b, "
			"end, pid,"
			" program, argv, cwd, chain) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, "
			"?10, ?11, ?12,"
			" ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25)",
	[ST_CONN_FIND] = FIND("connections"),
	[ST_CONN_MORE] = "UPDATE connections SET " MORE_SET
			 ", address = coalesce(?15, address), end = coalesce(?16, end)" MORE_WHERE,
	[ST_QUESTION_IS] = "SELECT 1 FROM questions WHERE session = ?1 AND question = ?2",
	[ST_QUESTION_NEW] =
		"INSERT INTO questions (id, session, question, t_us, about, risk, class, target, "
		"did,"
		" scope, by, waited_ms, shown_ms, key, shown, n_waiting, pid, program) VALUES (?1, "
		"?2,"
		" ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
	[ST_MISC_NEW] =
		"INSERT INTO misc (id, session, t_us, kind, text) VALUES (?1, ?2, ?3, ?4, ?5)",
	[ST_SEEN] = "INSERT OR IGNORE INTO seen SELECT ifnull(project, ''), ?2, ?3, ?4"
		    " FROM sessions WHERE id = ?1",
	[ST_PLACE] = "INSERT OR IGNORE INTO places VALUES (?1, lower(?2), ?3)",
	[ST_SEEN_SUM] = "UPDATE sums SET n_new = ifnull(n_new, 0) + 1 WHERE session = ?1",
	[ST_SUMS] =
		"UPDATE sums SET n_events = n_events + ?2, n_allow = n_allow + ?3, n_deny ="
		" n_deny + ?4, n_auto = n_auto + ?5, n_miss = n_miss + ?6, n_gone = n_gone + ?7,"
		" n_fail = n_fail + ?8, up_b = min(up_b, 9223372036854775807 - max(?9, 0)) + ?9,"
		" down_b = min(down_b, 9223372036854775807 - max(?10, 0)) + ?10, last_us ="
		" max(last_us, ?11), n_ask = n_ask + ?12 WHERE session = ?1",
	[ST_TALLY] = "INSERT INTO tallies (session, source, seq, did, n_times, up_b, down_b)"
		     " VALUES (?1, ?2, ?3, ?4, coalesce(?5, 1), ?6, ?7) ON CONFLICT DO UPDATE SET"
		     " did = ?4, n_times = coalesce(?5, n_times), up_b = max(up_b, ?6),"
		     " down_b = max(down_b, ?7)",
	[ST_TALLY_END] = "DELETE FROM tallies WHERE session = ?1 AND source = ?2 AND seq = ?3",
	[ST_TALLY_ASK] = "INSERT INTO tallies VALUES (?1, -1, ?2, 'question', 0, 0, 0) ON CONFLICT "
			 "DO NOTHING",
	[ST_TALLY_ASK_SUM] = "UPDATE sums SET n_ask = n_ask + 1 WHERE session = ?1",
};
/* -- errors ------------------------------------------------------------------------------------ */

/* Our code for a failure. @sys: errno of the last step, for where SQLite keeps none. */
static int error_of_call(sqlite3 *db, int rc, int step_errno)
{
	int sys = db != NULL ? sqlite3_system_errno(db) : 0;

	if (sys == 0) /* it keeps none for a failed COMMIT */
		sys = step_errno;
	bool is_full = sys == ENOSPC || sys == EDQUOT || sys == EFBIG;

	if (rc == SQLITE_READONLY_DBMOVED)
		return -ESTALE;
	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
		return ZW_E_BUSY;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EUCLEAN;
	case SQLITE_IOERR:
		return is_full ? -ENOSPC : -EIO;
	case SQLITE_CANTOPEN:
		return is_full ? -ENOSPC : sys == EROFS ? -EROFS : -EACCES;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	default:
		return ZW_E_STORE;
	}
}

int aud_sql_error(struct aud_store *s, int rc)
{
	return error_of_call(s->db, rc, s->step_errno);
}

int aud_store_error(sqlite3 *db, int rc)
{
	return error_of_call(db, rc, 0);
}

const char *aud_store_why(int error)
{
	switch (error) {
	case ZW_E_BUSY:
		return "busy, another program holds it";
	case -ENOSPC:
		return "disk full";
	case -EROFS:
		return "read-only";
	case -EACCES:
		return "no permission";
	case -EIO:
		return "input/output error";
	case -EUCLEAN:
		return "damaged";
	case -ESTALE:
		return "removed or replaced while in use";
	case ZW_E_VERSION:
		return "made by a newer zwatch";
	case ZW_E_UNSUPPORTED:
		return "not a history of zwatch";
	default:
		return zw_strerror(error);
	}
}

/* -- statements -------------------------------------------------------------------------------- */

/* Prepared at first use; NULL when that fails, and then aud_sql_run() says why. */
sqlite3_stmt *aud_sql_stmt(struct aud_store *s, enum stmt which)
{
	if (s->stmts[which] == NULL)
		sqlite3_prepare_v3(s->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT,
				   &s->stmts[which], NULL);
	return s->stmts[which];
}

/* Runs a statement to its end. Returns SQLITE_ROW (first row; the caller resets), SQLITE_DONE, or
 * the failure. */
int aud_sql_run(struct aud_store *s, sqlite3_stmt *st)
{
	if (st == NULL)
		return sqlite3_extended_errcode(s->db);
	errno = 0;
	int rc = sqlite3_step(st);

	s->step_errno = errno;
	if (rc != SQLITE_ROW) {
		sqlite3_reset(st);
		sqlite3_clear_bindings(st);
	}
	return rc;
}

void aud_sql_done(sqlite3_stmt *st)
{
	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
}

int aud_sql_simple(struct aud_store *s, enum stmt which)
{
	int rc = aud_sql_run(s, aud_sql_stmt(s, which));

	return rc == SQLITE_DONE ? 0 : aud_sql_error(s, rc);
}

int aud_sql_exec(struct aud_store *s, const char *text)
{
	s->step_errno = 0;
	int rc = sqlite3_exec(s->db, text, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : aud_sql_error(s, rc);
}

int aud_sql_int(struct aud_store *s, const char *text, int64_t *ret)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(s->db, text, -1, &st, NULL);

	s->step_errno = 0;
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(st, 0);
	int r = rc == SQLITE_ROW ? 0 : aud_sql_error(s, rc);
	sqlite3_finalize(st);
	return r;
}

void aud_bind_int(sqlite3_stmt *st, int i, int64_t value)
{
	sqlite3_bind_int64(st, i, value);
}

/* Byte counts and the like are unsigned in messages and signed in the store. */
void aud_bind_count(sqlite3_stmt *st, int i, uint64_t value)
{
	sqlite3_bind_int64(st, i, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

/* 0 means "not known": NULL. */
void aud_bind_known(sqlite3_stmt *st, int i, uint64_t value)
{
	if (value != 0)
		aud_bind_count(st, i, value);
}

void aud_bind_word(sqlite3_stmt *st, int i, const char *word)
{
	sqlite3_bind_text(st, i, word, -1, SQLITE_STATIC);
}

void aud_bind_span(sqlite3_stmt *st, int i, struct zw_span s)
{
	if (s.len > 0)
		sqlite3_bind_text(st, i, s.p, (int)s.len, SQLITE_STATIC);
}

void aud_bind_bytes(sqlite3_stmt *st, int i, struct zw_span s)
{
	if (s.len > 0)
		sqlite3_bind_blob(st, i, s.p, (int)s.len, SQLITE_STATIC);
}

uint32_t aud_hash_of(struct zw_span s)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < s.len; i++)
		hash = (hash ^ (uint8_t)s.p[i]) * 16777619u;
	return hash;
}

struct aud_value aud_argv_value(struct aud_store *s, struct zw_span argv)
{
	struct line *l = &s->lines[aud_hash_of(argv) % AUD_LINES_N];
	char buf[ZW_MASK_MAX + 1];

	if (argv.len == 0 || s->lines_kept == AUD_LINES_NONE)
		return (struct aud_value){0};
	if (s->lines_kept == AUD_LINES_FULL)
		return (struct aud_value){SQLITE_BLOB, 0, argv.p, argv.len};
	if (l->in == NULL || l->in_len != argv.len || memcmp(l->in, argv.p, argv.len) != 0) {
		free(l->in);
		free(l->out);
		l->in = zw_span_dup(argv);
		l->in_len = argv.len;
		l->out_len = zw_mask(buf, sizeof(buf), argv.p, argv.len);
		l->out = zw_xmemdup0(buf, l->out_len);
	}
	return (struct aud_value){SQLITE_BLOB, 0, l->out, l->out_len};
}

void aud_bind_value(sqlite3_stmt *st, int i, const struct aud_value *v)
{
	if (v->type == SQLITE_INTEGER)
		sqlite3_bind_int64(st, i, v->n);
	else if (v->type == SQLITE_TEXT)
		sqlite3_bind_text(st, i, v->p, (int)v->len, SQLITE_STATIC);
	else if (v->type == SQLITE_BLOB)
		sqlite3_bind_blob(st, i, v->p, (int)v->len, SQLITE_STATIC);
	else
		sqlite3_bind_null(st, i);
}

void aud_bind_masked_text(sqlite3_stmt *st, int i, struct zw_span text)
{
	char buf[ZW_MASK_MAX + 1];
	size_t len = zw_mask(buf, sizeof(buf), text.p, text.len);

	if (len > 0)
		sqlite3_bind_text(st, i, buf, (int)len, SQLITE_TRANSIENT);
}
