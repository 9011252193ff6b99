/* SPDX-License-Identifier: MIT */
#include "src/audit/store_i.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "src/audit/schema_sql.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mask.h"
#include "src/base/mem.h"
#include "src/base/words.h"

/* "zwh1": what file(1) and we know the file by. */
#define APPLICATION_ID 0x7a776831
/* How long one call waits for another writer. The caller keeps the events and comes again. */
#define BUSY_STEP_MS 200
#define NO_MASK	     ((INT64_C(1) << AUD_ID_SHIFT) - 1)
/* The clock is looked at once for so many rows. */
#define CLOCK_EVERY 8
/* The log is cut back to this after a checkpoint, which takes its time: more than it has as a rule. */
#define WAL_LIMIT_B (64 << 20)

_Static_assert(ZW_N_ELEMENTS(aud_schema_sql) == AUD_SCHEMA, "one file of data/schema per number");

/* -- opening ----------------------------------------------------------------------------------- */

/* SQLite counts its memory under a lock of the whole process, for statistics that nobody reads. Once
 * per process, before its first use; later it is refused, which does no harm. */
static void sqlite_prepare(void)
{
	static bool is_done;

	if (!is_done)
		sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	is_done = true;
}

struct aud_store *aud_store_new(const char *path)
{
	struct aud_store *s = zw_xnew(struct aud_store);
	const char *slash = strrchr(path, '/');

	sqlite_prepare();
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
	for (size_t i = 0; i < AUD_LINES_N; i++) {
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
	for (size_t i = 0; i < AUD_PROGRAMS_N; i++) {
		free(s->programs[i].exe);
		s->programs[i] = (struct program){0};
	}
}

void aud_store_close(struct aud_store *s)
{
	aud_tidy_free(zw_steal(&s->tidy));
	programs_forget(s);
	aud_rows_forget(s);
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
		return aud_sql_error(s, rc);
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
	int r = aud_sql_simple(s, ST_BEGIN);

	if (r < 0)
		return r;
	/* Another zwatch may have been quicker. */
	r = aud_sql_int(s, "PRAGMA user_version", &now);
	for (int64_t v = from; r == 0 && now == from && v < AUD_SCHEMA; v++)
		r = aud_sql_exec(s, aud_schema_sql[v]);
	if (r == 0 && now == from)
		r = aud_sql_exec(s, tail);
	if (r == 0)
		r = aud_sql_simple(s, ST_COMMIT);
	if (r < 0)
		aud_sql_exec(s, "ROLLBACK");
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
		aud_bind_word(st, 1, to);
		rc = sqlite3_step(st);
	}
	sqlite3_finalize(st);
	umask(mask);
	return rc == SQLITE_DONE ? 0 : aud_sql_error(s, rc);
}

static int schema_prepare(struct aud_store *s)
{
	int64_t version = 0, application = 0, n_tables = 0;
	int r = aud_sql_int(s, "PRAGMA user_version", &version);

	if (r == 0)
		r = aud_sql_int(s, "PRAGMA application_id", &application);
	if (r == 0 && application != APPLICATION_ID) {
		r = aud_sql_int(s, "SELECT count(*) FROM sqlite_schema", &n_tables);
		if (r == 0 && n_tables > 0) /* 0: nobody's yet, or half made by one that died */
			return ZW_E_UNSUPPORTED;
	}
	if (r == 0 && version > AUD_SCHEMA)
		return ZW_E_VERSION;
	if (r == 0 && version == 0) /* only while the file is empty */
		r = aud_sql_exec(s, "PRAGMA auto_vacuum = INCREMENTAL");
	if (r == 0)
		r = aud_sql_exec(s, "PRAGMA journal_mode = WAL");
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
		r = aud_sql_exec(s, setup);
	if (r == 0)
		r = schema_prepare(s);
	if (r < 0) {
		aud_store_close(s);
		return r;
	}
	s->seal = aud_seal_new(s->db);
	s->tidy = aud_tidy_new(s->path);
	return 0;
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
			r = aud_sql_error(s, rc);
	}
	if (r == 0)
		r = aud_sql_simple(s, ST_COMMIT);
	if (r == 0) {
		aud_seal_commit(seal);
		return 0;
	}
	aud_sql_exec(s, "ROLLBACK");
	aud_seal_rollback(seal);
	return r;
}

/* -- sessions ---------------------------------------------------------------------------------- */

static void bind_session(struct aud_store *s, sqlite3_stmt *st, const struct zw_msg_aud_open *m,
			 const struct aud_ident *who, int64_t wanted)
{
	aud_bind_int(st, 1, wanted);
	aud_bind_int(st, 2, m->t_us);
	aud_bind_span(st, 3, m->agent);
	if (!m->is_private) {
		struct aud_value argv = aud_argv_value(s, m->argv);

		aud_bind_value(st, 4, &argv);
		aud_bind_span(st, 5, m->cwd);
		aud_bind_span(st, 6, m->project);
	}
	aud_bind_word(st, 7, zw_mode_word(m->mode));
	aud_bind_int(st, 8, m->level);
	aud_bind_span(st, 9, m->version);
	aud_bind_int(st, 10, m->uid);
	aud_bind_int(st, 11, m->is_private != 0);
	aud_bind_int(st, 12, who->pid);
	aud_bind_int(st, 13, who->start);
	aud_bind_int(st, 14, who->pid_ns);
	aud_bind_span(st, 15, zw_span(who->boot));
	aud_bind_masked_text(st, 16, m->name);
}

static int note_write(struct aud_store *s, int64_t session, struct zw_span note)
{
	sqlite3_stmt *st = note.len > 0 ? aud_sql_stmt(s, ST_NOTE) : NULL;

	if (note.len == 0)
		return 0;
	if (st != NULL) {
		aud_bind_int(st, 1, session);
		aud_bind_masked_text(st, 2, note);
	}
	int rc = aud_sql_run(s, st);
	return rc == SQLITE_DONE ? 0 : aud_sql_error(s, rc);
}

static int tags_write(struct aud_store *s, int64_t session, struct zw_span tags)
{
	int rc = SQLITE_DONE;

	for (size_t at = 0; at < tags.len && rc == SQLITE_DONE;) {
		struct zw_span one = zw_span_n(tags.p + at, strnlen(tags.p + at, tags.len - at));
		sqlite3_stmt *st = aud_sql_stmt(s, ST_TAG);

		if (st != NULL) {
			aud_bind_int(st, 1, session);
			aud_bind_span(st, 2, one);
		}
		if (one.len > 0)
			rc = aud_sql_run(s, st);
		at += one.len + 1;
	}
	return rc == SQLITE_DONE ? 0 : aud_sql_error(s, rc);
}

static int session_new(struct aud_store *s, const struct zw_msg_aud_open *m,
		       const struct aud_ident *who, int64_t wanted, int64_t *ret)
{
	sqlite3_stmt *st = aud_sql_stmt(s, ST_SESSION_NEW);

	if (st != NULL)
		bind_session(s, st, m, who, wanted);
	int rc = aud_sql_run(s, st);
	if (rc != SQLITE_DONE)
		return aud_sql_error(s, rc);
	*ret = sqlite3_last_insert_rowid(s->db);
	st = aud_sql_stmt(s, ST_SESSION_SUMS);
	if (st != NULL) {
		aud_bind_int(st, 1, *ret);
		aud_bind_int(st, 2, m->t_us);
	}
	rc = aud_sql_run(s, st);
	if (rc != SQLITE_DONE)
		return aud_sql_error(s, rc);
	/* A store begun anew under way does not begin at 1: which numbers to miss is written down. */
	st = aud_sql_stmt(s, ST_SESSION_FIRST);
	if (st != NULL) {
		zw_autofree char *first = zw_xasprintf("%lld", (long long)*ret);

		sqlite3_bind_text(st, 1, first, -1, SQLITE_TRANSIENT);
	}
	rc = aud_sql_run(s, st);
	if (rc != SQLITE_DONE)
		return aud_sql_error(s, rc);
	int r = tags_write(s, *ret, m->tags);
	return r == 0 ? note_write(s, *ret, m->note) : r;
}

/* The session of the same process, with its newest event. Returns 1 found, 0 none, < 0 error. */
static int session_resume(struct aud_store *s, const struct aud_ident *who, int64_t *ret,
			  int64_t *ret_last_id)
{
	sqlite3_stmt *st = aud_sql_stmt(s, ST_SESSION_FIND);

	if (st != NULL) {
		aud_bind_int(st, 1, who->pid);
		aud_bind_int(st, 2, who->start);
		aud_bind_int(st, 3, who->pid_ns);
		aud_bind_span(st, 4, zw_span(who->boot));
	}
	int rc = aud_sql_run(s, st);
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? 0 : aud_sql_error(s, rc);
	*ret = sqlite3_column_int64(st, 0);
	aud_sql_done(st);
	st = aud_sql_stmt(s, ST_SESSION_RESUME);
	if (st != NULL)
		aud_bind_int(st, 1, *ret);
	rc = aud_sql_run(s, st);
	if (rc != SQLITE_DONE)
		return aud_sql_error(s, rc);
	st = aud_sql_stmt(s, ST_LAST_ID);
	if (st != NULL)
		aud_bind_int(st, 1, (*ret + 1) << AUD_ID_SHIFT);
	rc = aud_sql_run(s, st);
	if (rc != SQLITE_ROW)
		return aud_sql_error(s, rc);
	*ret_last_id = sqlite3_column_int64(st, 0);
	aud_sql_done(st);
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
	int r = aud_sql_exec(s, "PRAGMA synchronous = OFF");

	if (r == 0)
		r = aud_sql_simple(s, ST_BEGIN);
	if (r < 0 || is_log_empty(s)) /* nobody else can write to it now */
		return r;
	aud_sql_exec(s, "ROLLBACK");
	r = aud_sql_exec(s, "PRAGMA synchronous = NORMAL");
	return r == 0 ? aud_sql_simple(s, ST_BEGIN) : r;
}

static int session_begin(struct aud_store *s, const struct zw_msg_aud_open *m,
			 const struct aud_ident *who, int64_t wanted, int64_t *ret_session)
{
	int64_t session = 0, last_id = 0;
	int r = begin_first(s);

	zw_mask_rules(m->redact.p, m->redact.len);
	s->lines_kept = m->command_lines < AUD_LINES_MAX ? m->command_lines : AUD_LINES_NONE;

	if (r < 0)
		return r;
	r = who->start != 0 ? session_resume(s, who, &session, &last_id) : 0;
	bool is_new = r == 0;
	if (is_new)
		r = session_new(s, m, who, wanted, &session);
	if (r >= 0) {
		int rc = aud_seal_session(s->seal, session);

		r = rc == SQLITE_DONE ? 0 : aud_sql_error(s, rc);
	}
	if (r == 0 && is_new)
		aud_seal_touch(s->seal, AUD_TABLE_BEGUN, session);
	r = finish(s, s->seal, r);
	if (r < 0)
		return r;
	/* All numbers may be there when a session is taken up again; of a new one none is. */
	memset(s->max_seq, is_new ? 0 : 0xff, sizeof(s->max_seq));
	aud_rows_forget(s);
	s->session = session;
	s->last_id = last_id > session << AUD_ID_SHIFT ? last_id : session << AUD_ID_SHIFT;
	s->is_private = m->is_private != 0;
	/* Of a session with events this process keeps the sums itself, once a transaction: triggers
	 * for each row took a fifth of the time. They are there for private ones. */
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, (int)s->is_private, NULL);
	s->n_rows = (uint64_t)(s->last_id - (session << AUD_ID_SHIFT));
	*ret_session = session;
	return 0;
}

int aud_store_session(struct aud_store *s, const struct zw_msg_aud_open *m,
		      const struct aud_ident *who, int64_t wanted, int64_t *ret_session)
{
	int r = session_begin(s, m, who, wanted, ret_session);
	int synced = aud_sql_exec(s, m->is_durable ? "PRAGMA synchronous = FULL"
						   : "PRAGMA synchronous = NORMAL");

	return r < 0 ? r : synced;
}

static int run_for(struct aud_store *s, enum stmt which, int64_t session)
{
	sqlite3_stmt *st = aud_sql_stmt(s, which);

	if (st != NULL)
		aud_bind_int(st, 1, session);
	int rc = aud_sql_run(s, st);
	return rc == SQLITE_DONE ? 0 : aud_sql_error(s, rc);
}

/* One session that nobody goes on with. */
static int mark_crashed(struct aud_store *s, struct aud_seal *seal, int64_t session)
{
	int r = aud_sql_simple(s, ST_BEGIN);

	if (r < 0)
		return r;
	r = run_for(s, ST_CRASHED, session);
	if (r == 0)
		r = run_for(s, ST_TALLIES_DROP, session);
	if (r == 0) {
		int rc = aud_seal_session(seal, session);

		r = rc == SQLITE_DONE ? 0 : aud_sql_error(s, rc);
		aud_seal_touch(seal, AUD_TABLE_ENDED, session);
	}
	return finish(s, seal, r);
}

int aud_store_mark_crashed(struct aud_store *s)
{
	sqlite3_stmt *st = aud_sql_stmt(s, ST_RUNNING);
	int64_t gone[64];
	size_t n = 0;
	int r = 0, rc;

	if (st != NULL)
		aud_bind_int(st, 1, s->session);
	while ((rc = aud_sql_run(s, st)) == SQLITE_ROW) {
		const char *boot = (const char *)sqlite3_column_text(st, 4);
		struct aud_ident who = {.pid = sqlite3_column_int64(st, 1),
					.start = sqlite3_column_int64(st, 2),
					.pid_ns = sqlite3_column_int64(st, 3)};

		zw_strlcpy(who.boot, boot != NULL ? boot : "", sizeof(who.boot));
		if (n < ZW_N_ELEMENTS(gone) && !aud_ident_may_live(&who))
			gone[n++] = sqlite3_column_int64(st, 0);
	}
	if (rc != SQLITE_DONE)
		r = aud_sql_error(s, rc);
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
	int r = aud_sql_simple(s, ST_BEGIN);
	sqlite3_stmt *st = r == 0 ? aud_sql_stmt(s, ST_SESSION_END) : NULL;

	if (r < 0)
		return r;
	if (st != NULL) {
		aud_bind_int(st, 1, s->session);
		aud_bind_int(st, 2, t_us);
		if (exit_status >= 0)
			aud_bind_int(st, 3, exit_status);
		aud_bind_span(st, 4, how);
	}
	int rc = aud_sql_run(s, st);
	if (rc != SQLITE_DONE)
		r = aud_sql_error(s, rc);
	if (r == 0)
		r = run_for(s, ST_TALLIES_DROP, s->session);
	aud_seal_touch(s->seal, AUD_TABLE_ENDED, s->session);
	return finish(s, s->seal, r);
}

/* -- a batch ----------------------------------------------------------------------------------- */

/* An event that no retry will make fit, as opposed to a store that cannot be written now. */
static bool is_refusal(int rc)
{
	int code = rc & 0xff;

	return code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH || code == SQLITE_TOOBIG ||
	       code == SQLITE_RANGE;
}

static int lost_write(struct aud_store *s, uint64_t n_lost)
{
	sqlite3_stmt *st = aud_sql_stmt(s, ST_SESSION_LOST);

	if (st != NULL) {
		aud_bind_int(st, 1, s->session);
		aud_bind_count(st, 2, n_lost);
	}
	int rc = aud_sql_run(s, st);
	return rc == SQLITE_DONE ? 0 : aud_sql_error(s, rc);
}

/* Writes items until @end_us. Returns 0 or our error. */
static int rows_write(struct aud_store *s, struct aud_items *items, int64_t end_us,
		      struct aud_written *ret)
{
	struct aud_item *item;

	STAILQ_FOREACH (item, items, link) {
		int64_t before = s->last_id;

		if (ret->n_items % CLOCK_EVERY == CLOCK_EVERY - 1 && zw_mono_us() >= end_us)
			break;
		int rc = aud_row_write(s, item);
		item->is_refused = is_refusal(rc);
		item->no = s->last_id > before ? s->last_id & NO_MASK : 0;
		if (item->is_refused)
			ret->n_refused++;
		else if (rc != SQLITE_DONE)
			return aud_sql_error(s, rc);
		ret->n_items++;
	}
	return 0;
}

int aud_store_write(struct aud_store *s, struct aud_items *items, uint64_t n_more_lost,
		    int64_t for_us, struct aud_written *ret)
{
	int64_t last_id = s->last_id, end_us = zw_mono_us() + for_us;
	uint64_t n_rows = s->n_rows;
	struct aud_written done = {.n_items = 0};
	int r = aud_sql_simple(s, ST_BEGIN);

	if (r < 0)
		return r;
	r = rows_write(s, items, end_us, &done);
	if (r == 0 && n_more_lost + done.n_refused > 0)
		r = lost_write(s, n_more_lost + done.n_refused);
	if (r == 0) {
		int rc = aud_rows_sums(s);

		r = rc == SQLITE_DONE ? 0 : aud_sql_error(s, rc);
	}
	r = finish(s, s->seal, r);
	if (r < 0) {
		programs_forget(s);
		aud_rows_forget(s);
		s->last_id = last_id;
		s->n_rows = n_rows;
		return r;
	}
	*ret = done;
	return 0;
}

static int words_set(struct aud_store *s, int64_t session, enum stmt drop, struct zw_span text,
		     int (*write)(struct aud_store *s, int64_t session, struct zw_span text))
{
	sqlite3_stmt *st;
	int r = aud_sql_simple(s, ST_BEGIN);

	if (r < 0)
		return r;
	st = aud_sql_stmt(s, ST_SESSION_IS);
	if (st != NULL)
		aud_bind_int(st, 1, session);
	int rc = aud_sql_run(s, st);
	if (rc == SQLITE_ROW)
		aud_sql_done(st);
	r = rc == SQLITE_ROW ? 0 : rc == SQLITE_DONE ? ZW_E_NOT_FOUND : aud_sql_error(s, rc);
	if (r == 0)
		r = run_for(s, drop, session);
	if (r == 0)
		r = write(s, session, text);
	if (r == 0)
		r = aud_sql_simple(s, ST_COMMIT);
	if (r < 0)
		aud_sql_exec(s, "ROLLBACK");
	return r;
}

int aud_store_set_note(struct aud_store *s, int64_t session, struct zw_span note)
{
	return words_set(s, session, ST_NOTE_DROP, note, note_write);
}

int aud_store_set_tags(struct aud_store *s, int64_t session, struct zw_span tags)
{
	return words_set(s, session, ST_TAGS_DROP, tags, tags_write);
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

bool aud_store_tidy(struct aud_store *s)
{
	return aud_tidy_start(s->tidy);
}

bool aud_store_is_tidying(const struct aud_store *s)
{
	return s->tidy != NULL && aud_tidy_is_busy(s->tidy);
}

int aud_store_n_tidied(const struct aud_store *s)
{
	return aud_tidy_n_done(s->tidy);
}

void aud_store_tidied(struct aud_store *s)
{
	s->wal_pages = 0;
}

int aud_store_checkpoint(struct aud_store *s, bool is_last)
{
	if (s->tidy != NULL)
		aud_tidy_wait(s->tidy);
	int rc = sqlite3_wal_checkpoint_v2(
		s->db, NULL, is_last ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, NULL,
		NULL);

	if (rc == SQLITE_OK)
		s->wal_pages = 0;
	return rc == SQLITE_OK ? 0 : aud_sql_error(s, rc);
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
