/* SPDX-License-Identifier: MIT */
#include "src/audit/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "src/audit/mask.h"
#include "src/audit/schema_sql.h"
#include "src/audit/seal.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"

/* "zwh1": what file(1) and we know the file by. */
#define APPLICATION_ID 0x7a776831
/* How long one call waits for another writer. The caller keeps the events and comes again. */
#define BUSY_STEP_MS 200
#define ID_SHIFT     32
#define NO_MASK	     ((INT64_C(1) << ID_SHIFT) - 1)
/* The upper byte of a sequence number tells whose it is. */
#define SOURCE_SHIFT 56
#define SEQ_MASK     ((UINT64_C(1) << SOURCE_SHIFT) - 1)
#define PROGRAMS_N   64
#define LINES_N	     16
/* The log is cut back to this after a checkpoint. */
#define WAL_LIMIT_B (16 << 20)

_Static_assert(ZW_N_ELEMENTS(aud_schema_sql) == AUD_SCHEMA, "one file of data/schema per number");

enum stmt {
	ST_BEGIN,
	ST_COMMIT,
	ST_ROLLBACK,
	ST_SESSION_NEW,
	ST_SESSION_SUMS,
	ST_SESSION_FIRST,
	ST_SESSION_FIND,
	ST_SESSION_RESUME,
	ST_SESSION_END,
	ST_SESSION_LOST,
	ST_LAST_ID,
	ST_RUNNING,
	ST_CRASHED,
	ST_TALLIES_DROP,
	ST_PROGRAM_FIND,
	ST_PROGRAM_NEW,
	ST_SOCK_NEW,
	ST_SOCK_MORE,
	ST_CONN_NEW,
	ST_CONN_MORE,
	ST_QUESTION_NEW,
	ST_MISC_NEW,
	ST_SEEN,
	ST_SEEN_SUM,
	ST_TALLY,
	ST_TALLY_END,
	ST_TALLY_ASK,
	ST_TALLY_ASK_SUM,
	ST_MAX
};

/* A row that is told again: what may change does, what is not told stays as it is. Who decided is
 * told once, with phase 0. */
#define MORE_SET                                                           \
	"did = ?4, n_times = coalesce(?5, n_times), up_b = max(up_b, ?6)," \
	" down_b = max(down_b, ?7), closed_us = coalesce(?8, closed_us),"  \
	" reason = coalesce(?9, reason), note = coalesce(?10, note),"      \
	" by = iif(?11 = 0, ?12, by), rule = iif(?11 = 0, ?13, rule),"     \
	" waited_ms = max(waited_ms, ?14)"
#define MORE_WHERE " WHERE session = ?1 AND source = ?2 AND seq = ?3 RETURNING id"

static const char *const sql[ST_MAX] = {
	[ST_BEGIN] = "BEGIN IMMEDIATE",
	[ST_COMMIT] = "COMMIT",
	[ST_ROLLBACK] = "ROLLBACK",
	[ST_SESSION_NEW] =
		"INSERT INTO sessions (id, started_us, agent, argv, cwd, project, mode, level,"
		" version, uid, is_private, zw_pid, zw_start, zw_pid_ns, zw_boot) VALUES (iif(?1 > "
		"0"
		" AND NOT EXISTS (SELECT 1 FROM sessions WHERE id = ?1), ?1, NULL), ?2, ?3, ?4, "
		"?5, ?6,"
		" ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
	[ST_SESSION_SUMS] = "INSERT INTO sums (session, last_us) VALUES (?1, ?2)",
	[ST_SESSION_FIRST] = "INSERT OR IGNORE INTO meta VALUES ('first_session', ?1)",
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
	[ST_CONN_MORE] = "UPDATE connections SET " MORE_SET
			 ", address = coalesce(?15, address), end = coalesce(?16, end)" MORE_WHERE,
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
	[ST_SEEN_SUM] = "UPDATE sums SET n_new = ifnull(n_new, 0) + 1 WHERE session = ?1",
	[ST_TALLY] = "INSERT INTO tallies (session, source, seq, did, n_times, up_b, down_b)"
		     " VALUES (?1, ?2, ?3, ?4, coalesce(?5, 1), ?6, ?7) ON CONFLICT DO UPDATE SET"
		     " did = ?4, n_times = coalesce(?5, n_times), up_b = max(up_b, ?6),"
		     " down_b = max(down_b, ?7)",
	[ST_TALLY_END] = "DELETE FROM tallies WHERE session = ?1 AND source = ?2 AND seq = ?3",
	[ST_TALLY_ASK] = "INSERT INTO tallies VALUES (?1, -1, ?2, 'question', 0, 0, 0) ON CONFLICT "
			 "DO NOTHING",
	[ST_TALLY_ASK_SUM] = "UPDATE sums SET n_ask = n_ask + 1 WHERE session = ?1",
};

/* An exe and its number in the store, to save a look-up per event. */
struct program {
	char *exe; /* owned */
	size_t len;
	int64_t id;
};

/* A command line and its masked form: a program that connects often is masked once. */
struct line {
	char *in, *out; /* owned */
	size_t in_len, out_len;
};

struct aud_store {
	char *path, *folder; /* owned */
	sqlite3 *db;	     /* NULL = closed */
	sqlite3_stmt *stmts[ST_MAX];
	struct aud_seal *seal; /* NULL = closed */
	dev_t dev;
	ino_t ino;
	int64_t session, last_id;
	bool is_private;
	enum aud_lines lines_kept;
	uint64_t n_rows;
	unsigned wal_pages;
	int step_errno; /* of the last statement that was run */
	struct program programs[PROGRAMS_N];
	struct line lines[LINES_N];
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

static int error_of(struct aud_store *s, int rc)
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

/* An event that no retry will make fit, as opposed to a store that cannot be written now. */
static bool is_refusal(int rc)
{
	int code = rc & 0xff;

	return code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH || code == SQLITE_TOOBIG ||
	       code == SQLITE_RANGE;
}

/* -- statements -------------------------------------------------------------------------------- */

/* Prepared at first use; NULL when that fails, and then run() says why. */
static sqlite3_stmt *stmt(struct aud_store *s, enum stmt which)
{
	if (s->stmts[which] == NULL)
		sqlite3_prepare_v3(s->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT,
				   &s->stmts[which], NULL);
	return s->stmts[which];
}

/* Runs a statement to its end. Returns SQLITE_ROW (first row; the caller resets), SQLITE_DONE, or
 * the failure. */
static int run(struct aud_store *s, sqlite3_stmt *st)
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

static void done(sqlite3_stmt *st)
{
	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
}

static int simple(struct aud_store *s, enum stmt which)
{
	int rc = run(s, stmt(s, which));

	return rc == SQLITE_DONE ? 0 : error_of(s, rc);
}

static int exec(struct aud_store *s, const char *text)
{
	s->step_errno = 0;
	int rc = sqlite3_exec(s->db, text, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : error_of(s, rc);
}

static int query_int(struct aud_store *s, const char *text, int64_t *ret)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(s->db, text, -1, &st, NULL);

	s->step_errno = 0;
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(st, 0);
	int r = rc == SQLITE_ROW ? 0 : error_of(s, rc);
	sqlite3_finalize(st);
	return r;
}

static void bind_int(sqlite3_stmt *st, int i, int64_t value)
{
	sqlite3_bind_int64(st, i, value);
}

/* Byte counts and the like are unsigned in messages and signed in the store. */
static void bind_count(sqlite3_stmt *st, int i, uint64_t value)
{
	sqlite3_bind_int64(st, i, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

/* 0 means "not known": NULL. */
static void bind_known(sqlite3_stmt *st, int i, uint64_t value)
{
	if (value != 0)
		bind_count(st, i, value);
}

static void bind_word(sqlite3_stmt *st, int i, const char *word)
{
	sqlite3_bind_text(st, i, word, -1, SQLITE_STATIC);
}

static void bind_span(sqlite3_stmt *st, int i, struct zw_span s)
{
	if (s.len > 0)
		sqlite3_bind_text(st, i, s.p, (int)s.len, SQLITE_STATIC);
}

static void bind_bytes(sqlite3_stmt *st, int i, struct zw_span s)
{
	if (s.len > 0)
		sqlite3_bind_blob(st, i, s.p, (int)s.len, SQLITE_STATIC);
}

static uint32_t hash_of(struct zw_span s)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < s.len; i++)
		hash = (hash ^ (uint8_t)s.p[i]) * 16777619u;
	return hash;
}

static void bind_argv(struct aud_store *s, sqlite3_stmt *st, int i, struct zw_span argv)
{
	struct line *l = &s->lines[hash_of(argv) % LINES_N];
	char buf[AUD_MASK_MAX + 1];

	if (argv.len == 0 || s->lines_kept == AUD_LINES_NONE)
		return;
	if (s->lines_kept == AUD_LINES_FULL) {
		bind_bytes(st, i, argv);
		return;
	}
	if (l->in == NULL || l->in_len != argv.len || memcmp(l->in, argv.p, argv.len) != 0) {
		free(l->in);
		free(l->out);
		l->in = zw_span_dup(argv);
		l->in_len = argv.len;
		l->out_len = aud_mask(buf, sizeof(buf), argv.p, argv.len);
		l->out = zw_xmemdup0(buf, l->out_len);
	}
	sqlite3_bind_blob(st, i, l->out, (int)l->out_len, SQLITE_STATIC);
}

static void bind_masked_text(sqlite3_stmt *st, int i, struct zw_span s)
{
	char buf[AUD_MASK_MAX + 1];
	size_t len = aud_mask(buf, sizeof(buf), s.p, s.len);

	if (len > 0)
		sqlite3_bind_text(st, i, buf, (int)len, SQLITE_TRANSIENT);
}

/* -- opening ----------------------------------------------------------------------------------- */

struct aud_store *aud_store_new(const char *path)
{
	struct aud_store *s = zw_xnew(struct aud_store);
	const char *slash = strrchr(path, '/');

	s->path = zw_xstrdup(path);
	s->folder = slash == NULL   ? zw_xstrdup(".")
		    : slash == path ? zw_xstrdup("/")
				    : zw_xmemdup0(path, (size_t)(slash - path));
	return s;
}

void aud_store_free(struct aud_store *s)
{
	if (s == NULL)
		return;
	aud_store_close(s);
	for (size_t i = 0; i < LINES_N; i++) {
		free(s->lines[i].in);
		free(s->lines[i].out);
	}
	free(s->path);
	free(s->folder);
	free(s);
}

const char *aud_store_folder(const struct aud_store *s)
{
	return s->folder;
}

sqlite3 *aud_store_db(struct aud_store *s)
{
	return s->db;
}

bool aud_store_is_open(const struct aud_store *s)
{
	return s->db != NULL;
}

static void programs_forget(struct aud_store *s)
{
	for (size_t i = 0; i < PROGRAMS_N; i++) {
		free(s->programs[i].exe);
		s->programs[i] = (struct program){0};
	}
}

void aud_store_close(struct aud_store *s)
{
	programs_forget(s);
	for (size_t i = 0; i < ST_MAX; i++) {
		sqlite3_finalize(s->stmts[i]);
		s->stmts[i] = NULL;
	}
	aud_seal_free(zw_steal(&s->seal));
	sqlite3_close(s->db);
	s->db = NULL;
	s->wal_pages = 0;
}

static int on_wal(void *arg, sqlite3 *db, const char *name, int n_pages)
{
	struct aud_store *s = arg;

	(void)db;
	(void)name;
	s->wal_pages = (unsigned)n_pages;
	return SQLITE_OK;
}

/* Makes the folder, and narrows what an older or foreign hand left open. A folder is narrowed only
 * when it is zwatch's by its name: the store may lie in any folder that the user likes. */
static int folder_prepare(struct aud_store *s)
{
	struct stat st;

	if (stat(s->folder, &st) < 0)
		return zw_mkdirs(s->folder, 0700);
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if ((st.st_mode & 077) != 0 && st.st_uid == geteuid() &&
	    strcmp(zw_basename(s->folder), "zwatch") == 0)
		(void)!chmod(s->folder, 0700);
	return 0;
}

static void narrow_files(const char *path)
{
	static const char *const tails[] = {"", "-wal", "-shm"};

	for (size_t i = 0; i < ZW_N_ELEMENTS(tails); i++) {
		zw_autofree char *name = zw_xasprintf("%s%s", path, tails[i]);
		struct stat st;

		if (stat(name, &st) == 0 && (st.st_mode & 077) != 0)
			(void)!chmod(name, 0600);
	}
}

static int file_open(struct aud_store *s)
{
	struct stat st;
	mode_t mask = umask(077);
	int rc = sqlite3_open_v2(s->path, &s->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
					 SQLITE_OPEN_EXRESCODE,
				 NULL);

	umask(mask);
	if (rc != SQLITE_OK)
		return error_of(s, rc);
	if (stat(s->path, &st) < 0)
		return -errno;
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	if (sqlite3_db_readonly(s->db, "main") == 1)
		return -EROFS;
	narrow_files(s->path);
	sqlite3_busy_timeout(s->db, BUSY_STEP_MS);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	/* Replaces SQLite's own checkpoints, which would run inside a commit that somebody awaits. */
	sqlite3_wal_hook(s->db, on_wal, s);
	return 0;
}

static int migrate(struct aud_store *s, int64_t from)
{
	zw_autofree char *tail = zw_xasprintf(
		"PRAGMA user_version = %d; PRAGMA application_id = %d;"
		"INSERT OR REPLACE INTO meta VALUES ('schema', '%d'), ('writer', '%s')",
		AUD_SCHEMA, APPLICATION_ID, AUD_SCHEMA, ZW_VERSION);
	int64_t now = 0;
	int r = simple(s, ST_BEGIN);

	if (r < 0)
		return r;
	/* Another zwatch may have been quicker. */
	r = query_int(s, "PRAGMA user_version", &now);
	for (int64_t v = from; r == 0 && now == from && v < AUD_SCHEMA; v++)
		r = exec(s, aud_schema_sql[v]);
	if (r == 0 && now == from)
		r = exec(s, tail);
	if (r == 0)
		r = simple(s, ST_COMMIT);
	if (r < 0)
		exec(s, "ROLLBACK");
	return r;
}

/* An older store is copied before it is changed: NAME.schema-1. VACUUM INTO writes a whole, clean
 * copy, and refuses to write over one that is there. */
static int backup_before_migration(struct aud_store *s, int64_t version)
{
	zw_autofree char *to = zw_xasprintf("%s.schema-%lld", s->path, (long long)version);
	sqlite3_stmt *st = NULL;
	mode_t mask = umask(077);
	int rc = access(to, F_OK) == 0 ? SQLITE_DONE /* by one that could not migrate then */
				       : sqlite3_prepare_v2(s->db, "VACUUM INTO ?1", -1, &st, NULL);

	if (rc == SQLITE_OK) {
		bind_word(st, 1, to);
		rc = sqlite3_step(st);
	}
	sqlite3_finalize(st);
	umask(mask);
	return rc == SQLITE_DONE ? 0 : error_of(s, rc);
}

static int schema_prepare(struct aud_store *s)
{
	int64_t version = 0, application = 0, n_tables = 0;
	int r = query_int(s, "PRAGMA user_version", &version);

	if (r == 0)
		r = query_int(s, "PRAGMA application_id", &application);
	if (r == 0 && application != APPLICATION_ID) {
		r = query_int(s, "SELECT count(*) FROM sqlite_schema", &n_tables);
		if (r == 0 && n_tables > 0) /* 0: nobody's yet, or half made by one that died */
			return ZW_E_UNSUPPORTED;
	}
	if (r == 0 && version > AUD_SCHEMA)
		return ZW_E_VERSION;
	if (r == 0 && version == 0) /* only while the file is empty */
		r = exec(s, "PRAGMA auto_vacuum = INCREMENTAL");
	if (r == 0)
		r = exec(s, "PRAGMA journal_mode = WAL");
	if (r == 0 && version > 0 && version < AUD_SCHEMA)
		r = backup_before_migration(s, version);
	if (r == 0 && version < AUD_SCHEMA)
		r = migrate(s, version);
	return r;
}

int aud_store_open(struct aud_store *s)
{
	zw_autofree char *setup =
		zw_xasprintf("PRAGMA secure_delete = ON; PRAGMA synchronous = NORMAL;"
			     "PRAGMA temp_store = MEMORY;"
			     "PRAGMA journal_size_limit = %d",
			     WAL_LIMIT_B);
	int r = folder_prepare(s);

	if (r == 0)
		r = file_open(s);
	if (r == 0)
		r = exec(s, setup);
	if (r == 0)
		r = schema_prepare(s);
	if (r < 0)
		aud_store_close(s);
	else
		s->seal = aud_seal_new(s->db);
	return r;
}

int aud_store_check(struct aud_store *s)
{
	zw_autofree char *wal = zw_xasprintf("%s-wal", s->path);
	struct stat st;

	if (stat(s->path, &st) < 0 || st.st_dev != s->dev || st.st_ino != s->ino)
		return -ESTALE;
	return stat(wal, &st) < 0 ? -ESTALE : 0;
}

/* -- transactions ------------------------------------------------------------------------------ */

/* Ends a transaction that went well so far (@r) with what @seal noted; undoes it otherwise. */
static int finish(struct aud_store *s, struct aud_seal *seal, int r)
{
	if (r == 0) {
		int rc = aud_seal_flush(seal);

		if (rc != SQLITE_DONE)
			r = error_of(s, rc);
	}
	if (r == 0)
		r = simple(s, ST_COMMIT);
	if (r == 0) {
		aud_seal_commit(seal);
		return 0;
	}
	exec(s, "ROLLBACK");
	aud_seal_rollback(seal);
	return r;
}

/* -- sessions ---------------------------------------------------------------------------------- */

static void bind_session(struct aud_store *s, sqlite3_stmt *st, const struct zw_msg_aud_open *m,
			 const struct aud_ident *who, int64_t wanted)
{
	bind_int(st, 1, wanted);
	bind_int(st, 2, m->t_us);
	bind_span(st, 3, m->agent);
	if (!m->is_private) {
		bind_argv(s, st, 4, m->argv);
		bind_span(st, 5, m->cwd);
		bind_span(st, 6, m->project);
	}
	bind_word(st, 7, zw_mode_word(m->mode));
	bind_int(st, 8, m->level);
	bind_span(st, 9, m->version);
	bind_int(st, 10, m->uid);
	bind_int(st, 11, m->is_private != 0);
	bind_int(st, 12, who->pid);
	bind_int(st, 13, who->start);
	bind_int(st, 14, who->pid_ns);
	bind_span(st, 15, zw_span(who->boot));
}

static int session_new(struct aud_store *s, const struct zw_msg_aud_open *m,
		       const struct aud_ident *who, int64_t wanted, int64_t *ret)
{
	sqlite3_stmt *st = stmt(s, ST_SESSION_NEW);

	if (st != NULL)
		bind_session(s, st, m, who, wanted);
	int rc = run(s, st);
	if (rc != SQLITE_DONE)
		return error_of(s, rc);
	*ret = sqlite3_last_insert_rowid(s->db);
	st = stmt(s, ST_SESSION_SUMS);
	if (st != NULL) {
		bind_int(st, 1, *ret);
		bind_int(st, 2, m->t_us);
	}
	rc = run(s, st);
	if (rc != SQLITE_DONE)
		return error_of(s, rc);
	/* A store begun anew under way does not begin at 1: which numbers to miss is written down. */
	st = stmt(s, ST_SESSION_FIRST);
	if (st != NULL) {
		zw_autofree char *first = zw_xasprintf("%lld", (long long)*ret);

		sqlite3_bind_text(st, 1, first, -1, SQLITE_TRANSIENT);
	}
	rc = run(s, st);
	return rc == SQLITE_DONE ? 0 : error_of(s, rc);
}

/* The session of the same process, with its newest event. Returns 1 found, 0 none, < 0 error. */
static int session_resume(struct aud_store *s, const struct aud_ident *who, int64_t *ret,
			  int64_t *ret_last_id)
{
	sqlite3_stmt *st = stmt(s, ST_SESSION_FIND);

	if (st != NULL) {
		bind_int(st, 1, who->pid);
		bind_int(st, 2, who->start);
		bind_int(st, 3, who->pid_ns);
		bind_span(st, 4, zw_span(who->boot));
	}
	int rc = run(s, st);
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? 0 : error_of(s, rc);
	*ret = sqlite3_column_int64(st, 0);
	done(st);
	st = stmt(s, ST_SESSION_RESUME);
	if (st != NULL)
		bind_int(st, 1, *ret);
	rc = run(s, st);
	if (rc != SQLITE_DONE)
		return error_of(s, rc);
	st = stmt(s, ST_LAST_ID);
	if (st != NULL)
		bind_int(st, 1, (*ret + 1) << ID_SHIFT);
	rc = run(s, st);
	if (rc != SQLITE_ROW)
		return error_of(s, rc);
	*ret_last_id = sqlite3_column_int64(st, 0);
	done(st);
	return 1;
}

static bool is_log_empty(const struct aud_store *s)
{
	zw_autofree char *wal = zw_xasprintf("%s-wal", s->path);
	struct stat st;

	return stat(wal, &st) == 0 && st.st_size == 0;
}

/* Begins the first transaction, on an empty log without waiting for the disk: the sync of a log's
 * header is for logs that are used again, where old frames could follow a new header. A new one is
 * synced, with its folder, by the checkpoint that first needs it. Saves two disk waits per start. */
static int begin_first(struct aud_store *s)
{
	int r = exec(s, "PRAGMA synchronous = OFF");

	if (r == 0)
		r = simple(s, ST_BEGIN);
	if (r < 0 || is_log_empty(s)) /* nobody else can write to it now */
		return r;
	exec(s, "ROLLBACK");
	r = exec(s, "PRAGMA synchronous = NORMAL");
	return r == 0 ? simple(s, ST_BEGIN) : r;
}

static int session_begin(struct aud_store *s, const struct zw_msg_aud_open *m,
			 const struct aud_ident *who, int64_t wanted, int64_t *ret_session)
{
	int64_t session = 0, last_id = 0;
	int r = begin_first(s);

	s->lines_kept = m->command_lines < AUD_LINES_MAX ? m->command_lines : AUD_LINES_NONE;

	if (r < 0)
		return r;
	r = who->start != 0 ? session_resume(s, who, &session, &last_id) : 0;
	bool is_new = r == 0;
	if (is_new)
		r = session_new(s, m, who, wanted, &session);
	if (r >= 0) {
		int rc = aud_seal_session(s->seal, session);

		r = rc == SQLITE_DONE ? 0 : error_of(s, rc);
	}
	if (r == 0 && is_new)
		aud_seal_touch(s->seal, AUD_TABLE_BEGUN, session);
	r = finish(s, s->seal, r);
	if (r < 0)
		return r;
	s->session = session;
	s->last_id = last_id > session << ID_SHIFT ? last_id : session << ID_SHIFT;
	s->is_private = m->is_private != 0;
	s->n_rows = (uint64_t)(s->last_id - (session << ID_SHIFT));
	*ret_session = session;
	return 0;
}

int aud_store_session(struct aud_store *s, const struct zw_msg_aud_open *m,
		      const struct aud_ident *who, int64_t wanted, int64_t *ret_session)
{
	int r = session_begin(s, m, who, wanted, ret_session);
	int synced = exec(s, m->is_durable ? "PRAGMA synchronous = FULL"
					   : "PRAGMA synchronous = NORMAL");

	return r < 0 ? r : synced;
}

static int run_for(struct aud_store *s, enum stmt which, int64_t session)
{
	sqlite3_stmt *st = stmt(s, which);

	if (st != NULL)
		bind_int(st, 1, session);
	int rc = run(s, st);
	return rc == SQLITE_DONE ? 0 : error_of(s, rc);
}

/* One session that nobody goes on with. */
static int mark_crashed(struct aud_store *s, struct aud_seal *seal, int64_t session)
{
	int r = simple(s, ST_BEGIN);

	if (r < 0)
		return r;
	r = run_for(s, ST_CRASHED, session);
	if (r == 0)
		r = run_for(s, ST_TALLIES_DROP, session);
	if (r == 0) {
		int rc = aud_seal_session(seal, session);

		r = rc == SQLITE_DONE ? 0 : error_of(s, rc);
		aud_seal_touch(seal, AUD_TABLE_ENDED, session);
	}
	return finish(s, seal, r);
}

int aud_store_mark_crashed(struct aud_store *s)
{
	sqlite3_stmt *st = stmt(s, ST_RUNNING);
	int64_t gone[64];
	size_t n = 0;
	int r = 0, rc;

	if (st != NULL)
		bind_int(st, 1, s->session);
	while ((rc = run(s, st)) == SQLITE_ROW) {
		const char *boot = (const char *)sqlite3_column_text(st, 4);
		struct aud_ident who = {.pid = sqlite3_column_int64(st, 1),
					.start = sqlite3_column_int64(st, 2),
					.pid_ns = sqlite3_column_int64(st, 3)};

		zw_strlcpy(who.boot, boot != NULL ? boot : "", sizeof(who.boot));
		if (n < ZW_N_ELEMENTS(gone) && !aud_ident_may_live(&who))
			gone[n++] = sqlite3_column_int64(st, 0);
	}
	if (rc != SQLITE_DONE)
		r = error_of(s, rc);
	if (r < 0 || n == 0)
		return r;
	struct aud_seal *seal = aud_seal_new(s->db);
	for (size_t i = 0; i < n && r == 0; i++)
		r = mark_crashed(s, seal, gone[i]);
	aud_seal_free(seal);
	return r;
}

int aud_store_end(struct aud_store *s, int64_t t_us, int64_t exit_status, struct zw_span how)
{
	int r = simple(s, ST_BEGIN);
	sqlite3_stmt *st = r == 0 ? stmt(s, ST_SESSION_END) : NULL;

	if (r < 0)
		return r;
	if (st != NULL) {
		bind_int(st, 1, s->session);
		bind_int(st, 2, t_us);
		if (exit_status >= 0)
			bind_int(st, 3, exit_status);
		bind_span(st, 4, how);
	}
	int rc = run(s, st);
	if (rc != SQLITE_DONE)
		r = error_of(s, rc);
	if (r == 0)
		r = run_for(s, ST_TALLIES_DROP, s->session);
	aud_seal_touch(s->seal, AUD_TABLE_ENDED, s->session);
	return finish(s, s->seal, r);
}

/* -- events ------------------------------------------------------------------------------------ */

/* Number of a program in the store. Returns an SQLite code; *ret is 0 for no name. */
static int program_id(struct aud_store *s, struct zw_span exe, int64_t *ret)
{
	struct program *p = &s->programs[hash_of(exe) % PROGRAMS_N];

	*ret = 0;
	if (exe.len == 0)
		return SQLITE_DONE;
	if (p->exe != NULL && p->len == exe.len && memcmp(p->exe, exe.p, exe.len) == 0) {
		*ret = p->id;
		return SQLITE_DONE;
	}
	sqlite3_stmt *st = stmt(s, ST_PROGRAM_FIND);
	if (st != NULL)
		bind_span(st, 1, exe);
	int rc = run(s, st);
	if (rc == SQLITE_ROW) {
		*ret = sqlite3_column_int64(st, 0);
		done(st);
	} else if (rc == SQLITE_DONE) {
		st = stmt(s, ST_PROGRAM_NEW);
		if (st != NULL)
			bind_span(st, 1, exe);
		rc = run(s, st);
		if (rc != SQLITE_DONE)
			return rc;
		*ret = sqlite3_last_insert_rowid(s->db);
	} else {
		return rc;
	}
	free(p->exe);
	*p = (struct program){zw_span_dup(exe), exe.len, *ret};
	return SQLITE_DONE;
}

static void bind_key(sqlite3_stmt *st, int i, const struct aud_store *s, uint64_t seq)
{
	bind_int(st, i, s->session);
	bind_int(st, i + 1, (int64_t)(seq >> SOURCE_SHIFT));
	bind_int(st, i + 2, (int64_t)(seq & SEQ_MASK));
}

/* Runs an insertion that took the next number, and takes it for good. */
static int run_new(struct aud_store *s, enum aud_table table, sqlite3_stmt *st)
{
	int rc = run(s, st);

	if (rc == SQLITE_DONE) {
		s->last_id++;
		s->n_rows++;
		aud_seal_touch(s->seal, table, s->last_id);
	}
	return rc;
}

/* Runs an update that returns the row's number. Returns SQLITE_ROW when there was one. */
static int run_more(struct aud_store *s, enum aud_table table, sqlite3_stmt *st)
{
	int rc = run(s, st);

	if (rc == SQLITE_ROW) {
		aud_seal_touch(s->seal, table, sqlite3_column_int64(st, 0));
		done(st);
	}
	return rc;
}

/* What an owner says of the listener counts only where it said anything: of a socket made inside
 * there is nobody to name. */
static bool has_listener_uid(const struct zw_msg_sock_event *m)
{
	return m->listener_uid != UINT32_MAX && (m->did != ZW_DID_AUTO || m->listener_pid != 0);
}

/* Notes a target of the newest row, and counts it where the project had never seen it. */
static int note_seen(struct aud_store *s, const char *kind, const char *target, size_t len)
{
	sqlite3_stmt *st = stmt(s, ST_SEEN);

	if (len == 0)
		return SQLITE_DONE;
	if (st != NULL) {
		bind_int(st, 1, s->session);
		bind_word(st, 2, kind);
		sqlite3_bind_text(st, 3, target, (int)len, SQLITE_STATIC);
		bind_int(st, 4, s->last_id);
	}
	int rc = run(s, st);
	if (rc != SQLITE_DONE || sqlite3_changes(s->db) == 0)
		return rc;
	st = stmt(s, ST_SEEN_SUM);
	if (st != NULL)
		bind_int(st, 1, s->session);
	return run(s, st);
}

static int sock_more(struct aud_store *s, const struct zw_msg_sock_event *m)
{
	sqlite3_stmt *st = stmt(s, ST_SOCK_MORE);

	if (st != NULL) {
		bind_key(st, 1, s, m->seq);
		bind_word(st, 4, zw_did_word(m->did));
		bind_known(st, 5, m->n_times);
		bind_count(st, 6, m->up_b);
		bind_count(st, 7, m->down_b);
		bind_known(st, 8, m->phase > 0 ? (uint64_t)m->t_us : 0);
		bind_span(st, 9, m->reason);
		bind_span(st, 10, m->note);
		bind_int(st, 11, m->phase);
		bind_word(st, 12, zw_by_word(m->by));
		bind_known(st, 13, m->rule);
		bind_count(st, 14, m->waited_ms);
		if (m->phase == 0 && has_listener_uid(m))
			bind_int(st, 15, m->listener_uid);
		bind_known(st, 16, m->listener_pid);
		bind_span(st, 17, m->listener_exe);
	}
	return run_more(s, AUD_TABLE_SOCKET, st);
}

static void bind_sock(struct aud_store *s, sqlite3_stmt *st, const struct zw_msg_sock_event *m,
		      int64_t program)
{
	bind_int(st, 5, m->t_us);
	bind_known(st, 6, m->phase > 0 ? (uint64_t)m->t_us : 0);
	bind_word(st, 7, zw_did_word(m->did));
	bind_word(st, 8, zw_op_word(m->op));
	bind_span(st, 9, m->target);
	bind_span(st, 10, m->asked);
	bind_span(st, 11, m->class_name);
	if (m->class_name.len > 0 || m->risk != 0)
		bind_word(st, 12, zw_risk_word(m->risk));
	if (has_listener_uid(m))
		bind_int(st, 13, m->listener_uid);
	bind_known(st, 14, m->listener_pid);
	bind_span(st, 15, m->listener_exe);
	bind_word(st, 16, zw_by_word(m->by));
	bind_known(st, 17, m->rule);
	bind_span(st, 18, m->reason);
	bind_span(st, 19, m->note);
	bind_count(st, 20, m->waited_ms);
	bind_count(st, 21, m->n_times > 0 ? m->n_times : 1);
	bind_count(st, 22, m->up_b);
	bind_count(st, 23, m->down_b);
	bind_known(st, 24, m->pid);
	bind_known(st, 25, (uint64_t)program);
	bind_argv(s, st, 26, m->argv);
	bind_span(st, 27, m->cwd);
	bind_bytes(st, 28, m->chain);
}

static int sock_write(struct aud_store *s, const struct zw_msg_sock_event *m)
{
	int64_t program = 0;
	int rc = sock_more(s, m);

	if (rc != SQLITE_DONE)
		return rc == SQLITE_ROW ? SQLITE_DONE : rc;
	rc = program_id(s, m->exe, &program);
	if (rc != SQLITE_DONE)
		return rc;
	sqlite3_stmt *st = stmt(s, ST_SOCK_NEW);
	if (st != NULL) {
		bind_int(st, 1, s->last_id + 1);
		bind_key(st, 2, s, m->seq);
		bind_sock(s, st, m, program);
	}
	rc = run_new(s, AUD_TABLE_SOCKET, st);
	if (rc != SQLITE_DONE || m->did == ZW_DID_AUTO)
		return rc;
	return note_seen(s, "unix", m->target.p, m->target.len);
}

static int conn_more(struct aud_store *s, const struct zw_msg_conn_event *m)
{
	sqlite3_stmt *st = stmt(s, ST_CONN_MORE);

	if (st != NULL) {
		bind_key(st, 1, s, m->seq);
		bind_word(st, 4, zw_did_word(m->did));
		bind_known(st, 5, m->n_times);
		bind_count(st, 6, m->up_b);
		bind_count(st, 7, m->down_b);
		bind_known(st, 8, m->phase == 2 ? (uint64_t)m->t_us : 0);
		bind_span(st, 9, m->reason);
		bind_span(st, 10, m->note);
		bind_int(st, 11, m->phase);
		bind_word(st, 12, zw_by_word(m->by));
		bind_known(st, 13, m->rule);
		bind_count(st, 14, m->waited_ms);
		bind_span(st, 15, m->address);
		bind_span(st, 16, m->end);
	}
	return run_more(s, AUD_TABLE_CONN, st);
}

static void bind_conn(struct aud_store *s, sqlite3_stmt *st, const struct zw_msg_conn_event *m,
		      int64_t program)
{
	bind_int(st, 5, m->t_us);
	bind_known(st, 6, m->phase == 2 ? (uint64_t)m->t_us : 0);
	bind_word(st, 7, zw_did_word(m->did));
	bind_word(st, 8, zw_via_word(m->via));
	bind_span(st, 9, m->host);
	bind_known(st, 10, m->port);
	bind_span(st, 11, m->address);
	bind_word(st, 12, zw_by_word(m->by));
	bind_known(st, 13, m->rule);
	bind_span(st, 14, m->reason);
	bind_span(st, 15, m->note);
	bind_count(st, 16, m->waited_ms);
	bind_count(st, 17, m->n_times > 0 ? m->n_times : 1);
	bind_count(st, 18, m->up_b);
	bind_count(st, 19, m->down_b);
	bind_span(st, 20, m->end);
	bind_known(st, 21, m->pid);
	bind_known(st, 22, (uint64_t)program);
	bind_argv(s, st, 23, m->argv);
	bind_span(st, 24, m->cwd);
	bind_bytes(st, 25, m->chain);
}

static int conn_write(struct aud_store *s, const struct zw_msg_conn_event *m)
{
	int64_t program = 0;
	int rc = conn_more(s, m);

	if (rc != SQLITE_DONE)
		return rc == SQLITE_ROW ? SQLITE_DONE : rc;
	rc = program_id(s, m->exe, &program);
	if (rc != SQLITE_DONE)
		return rc;
	sqlite3_stmt *st = stmt(s, ST_CONN_NEW);
	if (st != NULL) {
		bind_int(st, 1, s->last_id + 1);
		bind_key(st, 2, s, m->seq);
		bind_conn(s, st, m, program);
	}
	rc = run_new(s, AUD_TABLE_CONN, st);
	if (rc != SQLITE_DONE || m->via == ZW_VIA_DNS || m->host.len == 0)
		return rc;
	char target[300];
	int len = snprintf(target, sizeof(target), "%.*s:%u", (int)m->host.len, m->host.p, m->port);
	return note_seen(s, "net", target, (size_t)len);
}

static int question_write(struct aud_store *s, const struct zw_msg_question_event *m)
{
	int64_t program = 0;
	int rc = program_id(s, m->exe, &program);

	if (rc != SQLITE_DONE)
		return rc;
	sqlite3_stmt *st = stmt(s, ST_QUESTION_NEW);
	if (st == NULL)
		return run(s, st);
	bind_int(st, 1, s->last_id + 1);
	bind_int(st, 2, s->session);
	bind_count(st, 3, m->question);
	bind_int(st, 4, m->t_us);
	bind_word(st, 5, m->kind == 0 ? "net" : "unix");
	bind_word(st, 6, zw_risk_word(m->risk));
	bind_span(st, 7, m->class_name);
	bind_span(st, 8, m->target);
	bind_word(st, 9, zw_did_word(m->did));
	if (m->did == ZW_DID_ALLOW || m->did == ZW_DID_DENY)
		bind_word(st, 10, zw_scope_word(m->scope));
	bind_word(st, 11, zw_by_word(m->by));
	bind_count(st, 12, m->waited_ms);
	bind_count(st, 13, m->shown_ms);
	bind_span(st, 14, m->key);
	bind_masked_text(st, 15, m->text);
	bind_count(st, 16, m->n_waiting > 0 ? m->n_waiting : 1);
	bind_known(st, 17, m->pid);
	bind_known(st, 18, (uint64_t)program);
	return run_new(s, AUD_TABLE_QUESTION, st);
}

static int misc_write(struct aud_store *s, const struct zw_msg_misc_event *m)
{
	sqlite3_stmt *st = stmt(s, ST_MISC_NEW);

	if (st != NULL) {
		bind_int(st, 1, s->last_id + 1);
		bind_int(st, 2, s->session);
		bind_int(st, 3, m->t_us);
		if (m->kind.len > 0)
			bind_span(st, 4, m->kind);
		else
			bind_word(st, 4, "other");
		bind_masked_text(st, 5, m->text);
	}
	return run_new(s, AUD_TABLE_MISC, st);
}

/* -- private sessions: sums alone -------------------------------------------------------------- */

static int tally(struct aud_store *s, uint64_t seq, unsigned did, uint32_t n_times, uint64_t up_b,
		 uint64_t down_b, bool is_over)
{
	sqlite3_stmt *st = stmt(s, ST_TALLY);

	if (st != NULL) {
		bind_key(st, 1, s, seq);
		bind_word(st, 4, zw_did_word(did));
		bind_known(st, 5, n_times);
		bind_count(st, 6, up_b);
		bind_count(st, 7, down_b);
	}
	int rc = run(s, st);
	if (rc != SQLITE_DONE || !is_over)
		return rc;
	st = stmt(s, ST_TALLY_END);
	if (st != NULL)
		bind_key(st, 1, s, seq);
	return run(s, st);
}

static int tally_question(struct aud_store *s, uint64_t question)
{
	sqlite3_stmt *st = stmt(s, ST_TALLY_ASK);

	if (st != NULL) {
		bind_int(st, 1, s->session);
		bind_count(st, 2, question);
	}
	int rc = run(s, st);
	if (rc != SQLITE_DONE || sqlite3_changes(s->db) == 0)
		return rc;
	st = stmt(s, ST_TALLY_ASK_SUM);
	if (st != NULL)
		bind_int(st, 1, s->session);
	return run(s, st);
}

static int private_write(struct aud_store *s, enum zw_msg_id id, const union zw_msg_any *m)
{
	if (id == ZW_ID_sock_event)
		return tally(s, m->sock_event.seq, m->sock_event.did, m->sock_event.n_times,
			     m->sock_event.up_b, m->sock_event.down_b, m->sock_event.phase > 0);
	if (id == ZW_ID_conn_event)
		return tally(s, m->conn_event.seq, m->conn_event.did, m->conn_event.n_times,
			     m->conn_event.up_b, m->conn_event.down_b, m->conn_event.phase == 2);
	if (id == ZW_ID_question_event)
		return tally_question(s, m->question_event.question);
	return SQLITE_DONE;
}

/* -- a batch ----------------------------------------------------------------------------------- */

static int item_write(struct aud_store *s, const struct aud_item *item)
{
	union zw_msg_any m;
	enum zw_msg_id id = aud_item_msg(item, &m);

	if (s->is_private)
		return private_write(s, id, &m);
	if (id == ZW_ID_sock_event)
		return sock_write(s, &m.sock_event);
	if (id == ZW_ID_conn_event)
		return conn_write(s, &m.conn_event);
	if (id == ZW_ID_question_event)
		return question_write(s, &m.question_event);
	return misc_write(s, &m.misc_event);
}

static int lost_write(struct aud_store *s, uint64_t n_lost)
{
	sqlite3_stmt *st = stmt(s, ST_SESSION_LOST);

	if (st != NULL) {
		bind_int(st, 1, s->session);
		bind_count(st, 2, n_lost);
	}
	int rc = run(s, st);
	return rc == SQLITE_DONE ? 0 : error_of(s, rc);
}

int aud_store_write(struct aud_store *s, struct aud_items *items, uint64_t n_more_lost,
		    uint64_t *ret_refused)
{
	int64_t last_id = s->last_id;
	uint64_t n_rows = s->n_rows, n_refused = 0;
	struct aud_item *item;
	int r = simple(s, ST_BEGIN);

	if (r < 0)
		return r;
	STAILQ_FOREACH (item, items, link) {
		int64_t before = s->last_id;
		int rc = item_write(s, item);

		item->is_refused = is_refusal(rc);
		item->no = s->last_id > before ? s->last_id & NO_MASK : 0;
		if (item->is_refused)
			n_refused++;
		else if (rc != SQLITE_DONE)
			r = error_of(s, rc);
		if (r < 0)
			break;
	}
	if (r == 0 && n_more_lost + n_refused > 0)
		r = lost_write(s, n_more_lost + n_refused);
	r = finish(s, s->seal, r);
	if (r < 0) {
		programs_forget(s);
		s->last_id = last_id;
		s->n_rows = n_rows;
		return r;
	}
	*ret_refused = n_refused;
	return 0;
}

bool aud_store_head(const struct aud_store *s, uint8_t *ret)
{
	return s->seal != NULL && aud_seal_head(s->seal, ret);
}

uint64_t aud_store_n_rows(const struct aud_store *s)
{
	return s->n_rows;
}

/* -- keeping the files in order ---------------------------------------------------------------- */

unsigned aud_store_wal_pages(const struct aud_store *s)
{
	return s->wal_pages;
}

int aud_store_checkpoint(struct aud_store *s, bool is_last)
{
	int rc = sqlite3_wal_checkpoint_v2(
		s->db, NULL, is_last ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, NULL,
		NULL);

	if (rc == SQLITE_OK)
		s->wal_pages = 0;
	return rc == SQLITE_OK ? 0 : error_of(s, rc);
}

/* Moves one file, if it is the one meant. The look and the move are two steps: what was moved is
 * looked at again, and put back when another zwatch has begun a new store in between. */
static int move_same(const char *from, const char *to, dev_t dev, ino_t ino)
{
	struct stat st;

	if (stat(from, &st) < 0 || st.st_dev != dev || st.st_ino != ino)
		return -ESTALE;
	if (rename(from, to) < 0)
		return -errno;
	if (stat(to, &st) == 0 && (st.st_dev != dev || st.st_ino != ino)) {
		renameat2(AT_FDCWD, to, AT_FDCWD, from, RENAME_NOREPLACE);
		return -ESTALE;
	}
	return 0;
}

int aud_store_set_aside(struct aud_store *s, char *ret_name, size_t size)
{
	zw_autofree char *wal = zw_xasprintf("%s-wal", s->path);
	zw_autofree char *shm = zw_xasprintf("%s-shm", s->path);
	zw_autofree char *to =
		zw_xasprintf("%s.damaged-%lld", s->path, (long long)(zw_now_us() / 1000000));
	zw_autofree char *to_wal = zw_xasprintf("%s-wal", to);

	if (s->db != NULL) /* what the log holds may be the better part: keep it as it is */
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	aud_store_close(s);
	ret_name[0] = '\0';
	int r = move_same(s->path, to, s->dev, s->ino);
	if (r == -ESTALE)
		return 0;
	if (r < 0)
		return r;
	zw_strlcpy(ret_name, zw_basename(to), size);
	if (rename(wal, to_wal) < 0 && errno != ENOENT)
		return -errno;
	if (unlink(shm) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}
