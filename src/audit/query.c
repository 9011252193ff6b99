/* SPDX-License-Identifier: MIT */
#include "src/audit/ident.h"
#include "src/audit/query.h"

#include <errno.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "src/audit/filter_sql.h"
#include "src/audit/places.h"
#include "src/audit/query_i.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/mem.h"

/* A reader in WAL mode waits for nobody but a recovery or the last checkpoint of a writer. */
#define BUSY_MS	 2000
#define ID_SHIFT 32
#define CHUNK_B	 65536
/* Steps of SQLite between two questions whether to go on: a few milliseconds. */
#define PROGRESS_STEPS 20000

struct aud_query {
	char *path;  /* owned */
	sqlite3 *db; /* NULL = there is no store (yet) */
	int schema;
	bool (*on_progress)(void *arg); /* NULL = runs to the end */
	void *progress_arg;
};

/* -- pages: rows, and the bytes that they point to ----------------------------------------------- */

struct chunk {
	struct chunk *next;
	size_t used, size;
	char data[];
};

struct aud_arena {
	struct chunk *first;
};

static void arena_free(struct aud_arena *a)
{
	while (a != NULL && a->first != NULL) {
		struct chunk *c = a->first;

		a->first = c->next;
		free(c);
	}
	free(a);
}

static struct zw_span arena_put(struct aud_arena *a, const void *p, size_t len)
{
	struct chunk *c = a->first;

	if (c == NULL || c->size - c->used < len + 1) {
		size_t size = len + 1 > CHUNK_B ? len + 1 : CHUNK_B;

		c = zw_xmalloc(sizeof(*c) + size);
		*c = (struct chunk){.next = a->first, .size = size};
		a->first = c;
	}
	char *at = c->data + c->used;
	memcpy(at, p, len);
	at[len] = '\0';
	c->used += len + 1;
	return zw_span_n(at, len);
}

void aud_session_page_clear(struct aud_session_page *page)
{
	free(page->rows);
	arena_free(page->arena);
	*page = (struct aud_session_page){0};
}

void aud_event_page_clear(struct aud_event_page *page)
{
	free(page->rows);
	arena_free(page->arena);
	*page = (struct aud_event_page){0};
}

/* -- opening ------------------------------------------------------------------------------------- */

static int error_of(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
		return ZW_E_BUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_ERROR: /* no such table: a store, but not of zwatch */
		return -EUCLEAN;
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
	case SQLITE_READONLY:
		return -EACCES;
	case SQLITE_IOERR:
		return -EIO;
	case SQLITE_INTERRUPT:
		return -ECANCELED;
	default:
		return ZW_E_STORE;
	}
}

/* "file:" URI of a path, every byte but the harmless ones as %XX. */
static char *uri_of(const char *path, const char *options)
{
	static const char hex[] = "0123456789abcdef";
	size_t n = strlen(path), at = 0;
	zw_autofree char *coded = zw_xmalloc(3 * n + 1);

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)path[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    (c != '\0' && strchr("/._-", c) != NULL)) {
			coded[at++] = (char)c;
			continue;
		}
		coded[at++] = '%';
		coded[at++] = hex[c >> 4];
		coded[at++] = hex[c & 15];
	}
	coded[at] = '\0';
	return zw_xasprintf("file:%s?%s", coded, options);
}

static int query_number(sqlite3 *db, const char *sql, int64_t *ret)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

static int progress(void *arg)
{
	struct aud_query *q = arg;

	return q->on_progress != NULL && q->on_progress(q->progress_arg);
}

void aud_query_on_progress(struct aud_query *q, bool (*fn)(void *arg), void *arg)
{
	q->on_progress = fn;
	q->progress_arg = arg;
	if (q->db != NULL)
		sqlite3_progress_handler(q->db, fn != NULL ? PROGRESS_STEPS : 0, progress, q);
}

static int try_open(struct aud_query *q, const char *options)
{
	zw_autofree char *uri = uri_of(q->path, options);
	int64_t version = 0;
	int rc = sqlite3_open_v2(
		uri, &q->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);

	if (rc == SQLITE_OK) {
		sqlite3_busy_timeout(q->db, BUSY_MS);
		sqlite3_db_config(q->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		aud_filter_functions(q->db);
		sqlite3_progress_handler(q->db, q->on_progress != NULL ? PROGRESS_STEPS : 0,
					 progress, q);
		rc = query_number(q->db, "PRAGMA user_version", &version);
		/* What older schemas did not have reads as empty. */
		if (rc == SQLITE_OK && version > 0 && version < 3)
			rc = sqlite3_exec(
				q->db,
				"CREATE TEMP TABLE notes (session INTEGER PRIMARY KEY, note)", NULL,
				NULL, NULL);
		if (rc == SQLITE_OK && version == 1)
			rc = sqlite3_exec(q->db,
					  "CREATE TEMP TABLE seen (event INTEGER PRIMARY KEY);"
					  "CREATE TEMP TABLE tags (session INTEGER, tag TEXT)",
					  NULL, NULL, NULL);
	}
	if (rc != SQLITE_OK) {
		sqlite3_close(q->db);
		q->db = NULL;
	}
	q->schema = (int)version;
	return rc;
}

/* Opens the file if there is one by now. Returns 0, also without one. */
static int ready(struct aud_query *q)
{
	struct stat st;

	if (q->db != NULL)
		return 0;
	if (stat(q->path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	if (st.st_size == 0)
		return 0;
	int rc = try_open(q, "mode=ro");
	if ((rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY)
		rc = try_open(q, "mode=ro&immutable=1");
	if (rc == SQLITE_OK && q->schema == 0) { /* being made just now */
		sqlite3_close(q->db);
		q->db = NULL;
	}
	return rc == SQLITE_OK ? 0 : error_of(rc);
}

int aud_query_open(const char *path, struct aud_query **ret)
{
	struct aud_query *q = zw_xnew(struct aud_query);

	q->path = zw_xstrdup(path);
	int r = ready(q);
	if (r < 0) {
		aud_query_free(q);
		return r;
	}
	*ret = q;
	return 0;
}

void aud_query_free(struct aud_query *q)
{
	if (q == NULL)
		return;
	sqlite3_close(q->db);
	free(q->path);
	free(q);
}

int aud_query_schema(const struct aud_query *q)
{
	return q->db != NULL ? q->schema : 0;
}

int64_t aud_query_version(struct aud_query *q)
{
	int64_t version = 0;

	if (ready(q) == 0 && q->db != NULL)
		query_number(q->db, "PRAGMA data_version", &version);
	return version;
}

int aud_totals(struct aud_query *q, struct aud_totals *ret)
{
	struct aud_totals t = {.oldest_us = AUD_UNKNOWN};
	int r = ready(q);

	if (r == 0 && q->db != NULL) {
		int rc = query_number(q->db, "SELECT count(*) FROM sessions", &t.n_sessions);

		if (rc == SQLITE_OK)
			rc = query_number(q->db, "SELECT ifnull(sum(n_events), 0) FROM sums",
					  &t.n_events);
		if (rc == SQLITE_OK)
			rc = query_number(q->db, "SELECT ifnull(min(started_us), -1) FROM sessions",
					  &t.oldest_us);
		r = rc == SQLITE_OK ? 0 : error_of(rc);
	}
	if (r == 0)
		*ret = t;
	return r;
}

/* -- rows ------------------------------------------------------------------------------------------ */

static struct zw_span col_span(struct aud_arena *a, sqlite3_stmt *st, int i)
{
	if (sqlite3_column_type(st, i) == SQLITE_NULL)
		return zw_span_n(NULL, 0);
	const void *p = sqlite3_column_blob(st, i);
	return arena_put(a, p != NULL ? p : "", (size_t)sqlite3_column_bytes(st, i));
}

static int64_t col_int(sqlite3_stmt *st, int i)
{
	return sqlite3_column_type(st, i) == SQLITE_NULL ? AUD_UNKNOWN
							 : sqlite3_column_int64(st, i);
}

#define SESSION_COLUMNS                                                                       \
	"id, started_us, ended_us, agent, name, argv, cwd, project, mode, version, how,"      \
	" exit_status, level, is_private, n_events, n_allow, n_deny, n_auto, n_miss, n_gone," \
	" n_fail, n_ask, n_new, up_b, down_b, last_us,"                                       \
	" (SELECT group_concat(tag, ' ') FROM tags WHERE tags.session = sessions.id),"        \
	" (SELECT note FROM notes WHERE notes.session = sessions.id)"

static void session_fill(struct aud_session *s, struct aud_arena *a, sqlite3_stmt *st)
{
	*s = (struct aud_session){
		.id = col_int(st, 0),
		.started_us = col_int(st, 1),
		.ended_us = col_int(st, 2),
		.agent = col_span(a, st, 3),
		.name = col_span(a, st, 4),
		.argv = col_span(a, st, 5),
		.cwd = col_span(a, st, 6),
		.project = col_span(a, st, 7),
		.mode = col_span(a, st, 8),
		.version = col_span(a, st, 9),
		.how = col_span(a, st, 10),
		.exit_status = col_int(st, 11),
		.level = col_int(st, 12),
		.is_private = col_int(st, 13) == 1,
		.n_events = sqlite3_column_int64(st, 14),
		.n_allow = sqlite3_column_int64(st, 15),
		.n_deny = sqlite3_column_int64(st, 16),
		.n_auto = sqlite3_column_int64(st, 17),
		.n_miss = sqlite3_column_int64(st, 18),
		.n_gone = sqlite3_column_int64(st, 19),
		.n_fail = sqlite3_column_int64(st, 20),
		.n_ask = sqlite3_column_int64(st, 21),
		.n_new = col_int(st, 22),
		.up_b = sqlite3_column_int64(st, 23),
		.down_b = sqlite3_column_int64(st, 24),
		.last_us = col_int(st, 25),
		.tags = col_span(a, st, 26),
		.note = col_span(a, st, 27),
	};
}

static size_t page_limit(size_t limit)
{
	return limit == 0 || limit > AUD_PAGE_MAX ? AUD_PAGE_MAX : limit;
}

/* Fills a page from a bound statement; one row more than @limit tells that there are more. */
static int sessions_take(sqlite3_stmt *st, int64_t before, size_t limit,
			 struct aud_session_page *page)
{
	int64_t at = before > 0 ? before : INT64_MAX;
	int rc;

	page->arena = zw_xnew(struct aud_arena);
	page->rows = zw_xcalloc(limit, sizeof(*page->rows));
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		if (page->n_rows == limit) {
			page->has_more = true;
			rc = SQLITE_DONE;
			break;
		}
		session_fill(&page->rows[page->n_rows], page->arena, st);
		if (!aud_query_goes_on(AUD_BACKWARD, &at, page->rows[page->n_rows++].id))
			return -EUCLEAN;
	}
	return rc == SQLITE_DONE ? 0 : error_of(rc);
}

/* Prepares @sql and binds up to three numbers. */
static int prepare(struct aud_query *q, const char *sql, sqlite3_stmt **ret, int64_t a, int64_t b,
		   int64_t c)
{
	int rc = sqlite3_prepare_v2(q->db, sql, -1, ret, NULL);

	if (rc != SQLITE_OK)
		return error_of(rc);
	const int64_t values[] = {a, b, c};
	for (int i = 0; i < sqlite3_bind_parameter_count(*ret); i++)
		sqlite3_bind_int64(*ret, i + 1, values[i]);
	return 0;
}

int aud_sessions(struct aud_query *q, int64_t before, size_t limit, struct aud_session_page *ret)
{
	sqlite3_stmt *st = NULL;

	aud_session_page_clear(ret);
	int r = ready(q);
	if (r < 0 || q->db == NULL)
		return r;
	limit = page_limit(limit);
	r = prepare(q,
		    "SELECT " SESSION_COLUMNS " FROM sessions LEFT JOIN sums ON session = id"
		    " WHERE id < ?1 ORDER BY id DESC LIMIT ?2",
		    &st, before > 0 ? before : INT64_MAX, (int64_t)limit + 1, 0);
	if (r == 0)
		r = sessions_take(st, before, limit, ret);
	sqlite3_finalize(st);
	return r;
}

int aud_session_lives(struct aud_query *q)
{
	sqlite3_stmt *st = NULL;
	int r = ready(q), rc = SQLITE_DONE;
	bool lives = false;

	if (r < 0 || q->db == NULL)
		return r;
	r = prepare(q,
		    "SELECT zw_pid, zw_start, zw_pid_ns, zw_boot FROM sessions"
		    " WHERE ended_us IS NULL",
		    &st, 0, 0, 0);
	while (r == 0 && !lives && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		const char *boot = (const char *)sqlite3_column_text(st, 3);
		struct aud_ident who = {.pid = sqlite3_column_int64(st, 0),
					.start = sqlite3_column_int64(st, 1),
					.pid_ns = sqlite3_column_int64(st, 2)};

		zw_strlcpy(who.boot, boot != NULL ? boot : "", sizeof(who.boot));
		lives = aud_ident_may_live(&who);
	}
	sqlite3_finalize(st);
	if (r < 0 || lives)
		return r < 0 ? r : 1;
	return rc == SQLITE_DONE ? 0 : error_of(rc);
}

int aud_session_get(struct aud_query *q, int64_t id, struct aud_session_page *ret)
{
	sqlite3_stmt *st = NULL;

	aud_session_page_clear(ret);
	int r = ready(q);
	if (r < 0 || q->db == NULL)
		return r < 0 ? r : ZW_E_NOT_FOUND;
	r = prepare(q,
		    "SELECT " SESSION_COLUMNS " FROM sessions LEFT JOIN sums ON session = id"
		    " WHERE id = ?1",
		    &st, id, 0, 0);
	if (r == 0)
		r = sessions_take(st, 0, 1, ret);
	sqlite3_finalize(st);
	return r == 0 && ret->n_rows == 0 ? ZW_E_NOT_FOUND : r;
}

int aud_session_find(struct aud_query *q, const char *word, int64_t *ret_id)
{
	uint64_t number = 0;
	int64_t id = 0;
	int r = ready(q);
	bool is_last = word == NULL || *word == '\0' || strcmp(word, "last") == 0;

	if (r < 0)
		return r;
	if (!is_last && zw_parse_u64(word, strlen(word), INT64_MAX >> ID_SHIFT, &number) < 0)
		return ZW_E_SYNTAX;
	if (q->db == NULL)
		return ZW_E_NOT_FOUND;
	zw_autofree char *sql =
		is_last ? zw_xstrdup("SELECT ifnull(max(id), 0) FROM sessions")
			: zw_xasprintf("SELECT count(*) FROM sessions WHERE id = %llu",
				       (unsigned long long)number);
	int rc = query_number(q->db, sql, &id);
	if (rc != SQLITE_OK)
		return error_of(rc);
	if (id == 0)
		return ZW_E_NOT_FOUND;
	*ret_id = is_last ? id : (int64_t)number;
	return 0;
}

int aud_session_of(struct aud_query *q, int64_t zwatch_pid, int64_t since_us, int64_t *ret_id)
{
	sqlite3_stmt *st = NULL;
	int r = ready(q);

	if (r < 0 || q->db == NULL)
		return r < 0 ? r : ZW_E_NOT_FOUND;
	r = prepare(q,
		    "SELECT id FROM sessions WHERE zw_pid = ?1 AND started_us >= ?2 ORDER BY id"
		    " DESC LIMIT 1",
		    &st, zwatch_pid, since_us, 0);
	if (r == 0 && sqlite3_step(st) == SQLITE_ROW)
		*ret_id = sqlite3_column_int64(st, 0);
	else if (r == 0)
		r = ZW_E_NOT_FOUND;
	sqlite3_finalize(st);
	return r;
}

#define EVENT_COLUMNS                                                                              \
	"tbl, session, no, t_us, closed_us, kind, did, by, op, target, asked, port, address,"      \
	" class, risk, listener_uid, listener_pid, listener_exe, rule, reason, note, waited_ms,"   \
	" n_times, up_b, down_b, end, pid, exe, argv, cwd, chain, scope, key, shown_ms, question," \
	" text, EXISTS (SELECT 1 FROM seen WHERE event = id)"

static void event_fill(struct aud_event *e, struct aud_arena *a, sqlite3_stmt *st)
{
	int64_t tbl = sqlite3_column_int64(st, 0);

	*e = (struct aud_event){
		.row = tbl >= 0 && tbl < AUD_ROW_MAX ? (enum aud_row)tbl : AUD_ROW_MISC,
		.session = col_int(st, 1),
		.no = col_int(st, 2),
		.t_us = col_int(st, 3),
		.closed_us = col_int(st, 4),
		.kind = col_span(a, st, 5),
		.did = col_span(a, st, 6),
		.by = col_span(a, st, 7),
		.op = col_span(a, st, 8),
		.target = col_span(a, st, 9),
		.asked = col_span(a, st, 10),
		.port = col_int(st, 11),
		.address = col_span(a, st, 12),
		.class_name = col_span(a, st, 13),
		.risk = col_span(a, st, 14),
		.listener_uid = col_int(st, 15),
		.listener_pid = col_int(st, 16),
		.listener_exe = col_span(a, st, 17),
		.rule = col_int(st, 18),
		.reason = col_span(a, st, 19),
		.note = col_span(a, st, 20),
		.waited_ms = sqlite3_column_int64(st, 21),
		.count = sqlite3_column_int64(st, 22),
		.up_b = sqlite3_column_int64(st, 23),
		.down_b = sqlite3_column_int64(st, 24),
		.end = col_span(a, st, 25),
		.pid = col_int(st, 26),
		.exe = col_span(a, st, 27),
		.argv = col_span(a, st, 28),
		.cwd = col_span(a, st, 29),
		.chain = col_span(a, st, 30),
		.scope = col_span(a, st, 31),
		.key = col_span(a, st, 32),
		.shown_ms = sqlite3_column_int64(st, 33),
		.question = col_int(st, 34),
		.text = col_span(a, st, 35),
		.is_new = sqlite3_column_int(st, 36) == 1,
	};
}

#define IDS                                                                                 \
	"SELECT id FROM (SELECT id FROM socket_events UNION ALL SELECT id FROM connections" \
	" UNION ALL SELECT id FROM questions UNION ALL SELECT id FROM misc)"                \
	" WHERE id > ?1 AND id < ?2 ORDER BY id"

/* First the page's ids, merged out of four indexes and stopped at the limit; then what lies between
 * the first and the last of them. One statement for both would read and sort the whole session. */
static int page_bounds(struct aud_query *q, enum aud_order order, int64_t low, int64_t high,
		       size_t limit, int64_t ret_ids[2], bool *ret_has_more)
{
	int64_t at = order == AUD_FORWARD ? low : high;
	sqlite3_stmt *st = NULL;
	size_t n = 0;
	int rc, r = prepare(q, order == AUD_FORWARD ? IDS " LIMIT ?3" : IDS " DESC LIMIT ?3", &st,
			    low, high, (int64_t)limit + 1);

	if (r < 0)
		return r;
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		if (n == limit)
			break;
		ret_ids[1] = sqlite3_column_int64(st, 0);
		if (!aud_query_goes_on(order, &at, ret_ids[1])) {
			rc = SQLITE_CORRUPT;
			break;
		}
		if (n++ == 0)
			ret_ids[0] = ret_ids[1];
	}
	*ret_has_more = rc == SQLITE_ROW;
	r = rc == SQLITE_ROW || rc == SQLITE_DONE ? (n > 0 ? 1 : 0) : error_of(rc);
	sqlite3_finalize(st);
	return r;
}

static int events_take(struct aud_query *q, enum aud_order order, const int64_t ids[2],
		       size_t limit, struct aud_event_page *page)
{
	static const char *const sql[] = {
		[AUD_FORWARD] = "SELECT " EVENT_COLUMNS " FROM events WHERE id BETWEEN ?1 AND ?2"
				" ORDER BY id",
		[AUD_BACKWARD] = "SELECT " EVENT_COLUMNS " FROM events WHERE id BETWEEN ?2 AND ?1"
				 " ORDER BY id DESC",
	};
	sqlite3_stmt *st = NULL;
	int rc, r = prepare(q, sql[order], &st, ids[0], ids[1], 0);

	if (r < 0)
		return r;
	page->arena = zw_xnew(struct aud_arena);
	page->rows = zw_xcalloc(limit, sizeof(*page->rows));
	while ((rc = sqlite3_step(st)) == SQLITE_ROW && page->n_rows < limit)
		event_fill(&page->rows[page->n_rows++], page->arena, st);
	sqlite3_finalize(st);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : error_of(rc);
}

static int events_between(struct aud_query *q, enum aud_order order, int64_t low, int64_t high,
			  size_t limit, struct aud_event_page *ret)
{
	int64_t ids[2] = {0, 0};

	/* One view of the store for both statements. */
	sqlite3_exec(q->db, "BEGIN", NULL, NULL, NULL);
	int r = page_bounds(q, order, low, high, limit, ids, &ret->has_more);
	if (r > 0)
		r = events_take(q, order, ids, limit, ret);
	sqlite3_exec(q->db, "COMMIT", NULL, NULL, NULL);
	return r;
}

int aud_events(struct aud_query *q, int64_t session, enum aud_order order, int64_t from,
	       size_t limit, struct aud_event_page *ret)
{
	aud_event_page_clear(ret);
	int r = ready(q);

	if (r < 0 || q->db == NULL)
		return r;
	if (session <= 0 || session >= INT64_MAX >> ID_SHIFT)
		return 0;
	int64_t low = session << ID_SHIFT, high = (session + 1) << ID_SHIFT;

	if (from > 0 && from < INT64_C(1) << ID_SHIFT)
		*(order == AUD_FORWARD ? &low : &high) = (session << ID_SHIFT) + from;
	return events_between(q, order, low, high, page_limit(limit), ret);
}

int aud_event_get(struct aud_query *q, int64_t session, int64_t no, struct aud_event_page *ret)
{
	int r = no > 0 ? aud_events(q, session, AUD_FORWARD, no - 1, 1, ret) : ZW_E_NOT_FOUND;

	if (r == 0 && (ret->n_rows == 0 || ret->rows[0].no != no)) {
		aud_event_page_clear(ret);
		r = ZW_E_NOT_FOUND;
	}
	return r;
}

/* -- filters ------------------------------------------------------------------------------------- */

#define SQL_MAX_B 32768

int aud_query_statement(struct aud_query *q, const char *text, sqlite3_stmt **ret)
{
	int r = ready(q);

	if (r < 0 || q->db == NULL)
		return r;
	r = prepare(q, text, ret, 0, 0, 0);
	return r < 0 ? r : 1;
}

int aud_query_error(int rc)
{
	return error_of(rc);
}

/* A statement of three parts, the middle one with @n values from AUD_FILTER_FIRST on, or an error. */
static int prepare_parts(struct aud_query *q, const char *head, const struct zw_buf *middle,
			 const char *tail, const struct aud_filter_arg *args, int n,
			 sqlite3_stmt **ret)
{
	static const int first = AUD_FILTER_FIRST;
	struct zw_buf sql;

	if (n < 0)
		return n;
	zw_buf_init(&sql, SQL_MAX_B);
	zw_buf_add(&sql, head, strlen(head));
	zw_buf_add(&sql, zw_buf_head(middle), middle->len);
	int r = zw_buf_add(&sql, tail, strlen(tail));
	int rc = r == 0 ? sqlite3_prepare_v2(q->db, (char *)zw_buf_head(&sql), (int)sql.len, ret,
					     NULL)
			: SQLITE_OK;
	zw_buf_fini(&sql);
	if (r < 0 || rc != SQLITE_OK)
		return r < 0 ? r : error_of(rc);
	for (int i = 0; i < n; i++) {
		if (args[i].is_text)
			sqlite3_bind_text(*ret, first + i, args[i].text, -1, SQLITE_STATIC);
		else
			sqlite3_bind_int64(*ret, first + i, args[i].number);
	}
	return 1;
}

int aud_query_prepare(struct aud_query *q, const struct aud_filter *f, bool of_sessions,
		      const char *head, const char *tail, const int64_t numbers[4],
		      sqlite3_stmt **ret)
{
	int r = ready(q);

	if (r < 0 || q->db == NULL)
		return r;
	struct aud_filter_arg args[AUD_FILTER_ARGS_MAX];
	struct zw_buf middle;

	zw_buf_init(&middle, SQL_MAX_B);
	int n = aud_filter_sql(f, of_sessions, AUD_FILTER_FIRST, &middle, args);
	r = prepare_parts(q, head, &middle, tail, args, n, ret);
	zw_buf_fini(&middle);
	for (int i = 0; r > 0 && i < 4; i++)
		sqlite3_bind_int64(*ret, i + 1, numbers[i]); /* one that is not there: no harm */
	return r;
}

int aud_query_places(struct aud_query *q, const struct aud_filter *f, sqlite3_stmt **ret)
{
	int r = ready(q);

	if (r < 0 || q->db == NULL)
		return r;
	struct aud_filter_arg args[AUD_FILTER_ARGS_MAX];
	struct zw_buf middle;

	zw_buf_init(&middle, SQL_MAX_B);
	int n = aud_filter_places(f, AUD_FILTER_FIRST, &middle, args);
	r = prepare_parts(q, "SELECT DISTINCT block FROM (", &middle, ") ORDER BY block", args, n,
			  ret);
	zw_buf_fini(&middle);
	return r;
}

/* Numbers between which a session's events lie; of all sessions with 0. */
static void range_of(int64_t session, int64_t ret[2])
{
	ret[0] = session > 0 ? session << ID_SHIFT : 0;
	ret[1] = session > 0 ? (session + 1) << ID_SHIFT : INT64_MAX;
}

static int found_ids(struct aud_query *q, const struct aud_filter *f, enum aud_order order,
		     const int64_t range[2], size_t limit, int64_t *ids, size_t *ret_n)
{
	int64_t at = range[order == AUD_FORWARD ? 0 : 1];
	sqlite3_stmt *st = NULL;
	struct aud_ranges parts = {0};
	int rc = SQLITE_DONE, r = aud_ranges_find(q, f, range[0], range[1], &parts);

	*ret_n = 0;
	if (r > 0)
		r = aud_query_prepare(q, f, false,
				      "SELECT id FROM events WHERE id > ?1 AND id < ?2 AND ",
				      order == AUD_FORWARD ? " ORDER BY id LIMIT ?3"
							   : " ORDER BY id DESC LIMIT ?3",
				      (int64_t[]){0, 0, 0, 0}, &st);
	for (size_t i = 0; r > 0 && i < parts.n && *ret_n < limit && rc == SQLITE_DONE; i++) {
		const struct aud_range *part =
			&parts.at[order == AUD_FORWARD ? i : parts.n - 1 - i];

		sqlite3_bind_int64(st, 1, part->low);
		sqlite3_bind_int64(st, 2, part->high);
		sqlite3_bind_int64(st, 3, (int64_t)(limit - *ret_n));
		while (*ret_n < limit && (rc = sqlite3_step(st)) == SQLITE_ROW) {
			ids[*ret_n] = sqlite3_column_int64(st, 0);
			if (!aud_query_goes_on(order, &at, ids[(*ret_n)++])) {
				rc = SQLITE_CORRUPT;
				break;
			}
		}
		sqlite3_reset(st);
	}
	aud_ranges_clear(&parts);
	sqlite3_finalize(st);
	return r <= 0 ? r : rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : error_of(rc);
}

static int events_by_id(struct aud_query *q, const int64_t *ids, size_t n,
			struct aud_event_page *page)
{
	sqlite3_stmt *st = NULL;
	int rc = SQLITE_ROW,
	    r = prepare(q, "SELECT " EVENT_COLUMNS " FROM events WHERE id = ?1", &st, 0, 0, 0);

	page->arena = zw_xnew(struct aud_arena);
	page->rows = zw_xcalloc(n + 1, sizeof(*page->rows));
	for (size_t i = 0; r == 0 && i < n; i++) {
		sqlite3_bind_int64(st, 1, ids[i]);
		rc = sqlite3_step(st);
		if (rc == SQLITE_ROW)
			event_fill(&page->rows[page->n_rows++], page->arena, st);
		else if (rc != SQLITE_DONE)
			r = error_of(rc);
		sqlite3_reset(st);
	}
	sqlite3_finalize(st);
	return r;
}

int aud_query_events(struct aud_query *q, const int64_t *ids, size_t n, struct aud_event_page *ret)
{
	return events_by_id(q, ids, n, ret);
}

int aud_find(struct aud_query *q, const struct aud_filter *f, int64_t session, enum aud_order order,
	     int64_t from, size_t limit, struct aud_event_page *ret)
{
	int64_t range[2], ids[AUD_PAGE_MAX + 1];
	size_t n = 0;
	int r = ready(q);

	aud_event_page_clear(ret);
	if (r < 0 || q->db == NULL)
		return r;
	range_of(session, range);
	if (from > 0)
		range[order == AUD_FORWARD ? 0 : 1] = from;
	limit = page_limit(limit);
	sqlite3_exec(q->db, "BEGIN", NULL, NULL, NULL); /* one view for both statements */
	r = found_ids(q, f, order, range, limit + 1, ids, &n);
	if (r == 0) {
		ret->has_more = n > limit;
		r = events_by_id(q, ids, n < limit ? n : limit, ret);
	}
	sqlite3_exec(q->db, "COMMIT", NULL, NULL, NULL);
	return r;
}

int aud_count(struct aud_query *q, const struct aud_filter *f, int64_t session, int64_t max,
	      int64_t *ret)
{
	int64_t range[2];
	sqlite3_stmt *st = NULL;
	int r = ready(q);

	*ret = 0;
	if (r < 0 || q->db == NULL)
		return r;
	range_of(session, range);
	r = aud_query_prepare(
		q, f, false,
		"SELECT count(*) FROM (SELECT 1 FROM events WHERE id > ?1 AND id < ?2 AND ",
		" LIMIT ?3)", (int64_t[]){range[0], range[1], max > 0 ? max : -1, 0}, &st);
	if (r <= 0)
		return r;
	int rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return rc == SQLITE_ROW ? 0 : error_of(rc);
}

int aud_sessions_find(struct aud_query *q, const struct aud_filter *f, int64_t before, size_t limit,
		      struct aud_session_page *ret)
{
	static const char by_itself[] = "SELECT " SESSION_COLUMNS " FROM sessions LEFT JOIN sums ON"
					" session = id WHERE id < ?1 AND ";
	static const char by_events[] =
		"SELECT " SESSION_COLUMNS " FROM sessions LEFT JOIN sums ON session = id WHERE id <"
		" ?1 AND EXISTS (SELECT 1 FROM events WHERE events.id > sessions.id << 32 AND"
		" events.id < (sessions.id + 1) << 32 AND ";
	bool is_own = aud_filter_is_of_sessions(f);
	sqlite3_stmt *st = NULL;
	int r = ready(q);

	aud_session_page_clear(ret);
	if (r < 0 || q->db == NULL)
		return r;
	limit = page_limit(limit);
	r = aud_query_prepare(
		q, f, is_own, is_own ? by_itself : by_events,
		is_own ? " ORDER BY id DESC LIMIT ?2" : ") ORDER BY id DESC LIMIT ?2",
		(int64_t[]){before > 0 ? before : INT64_MAX, (int64_t)limit + 1, 0, 0}, &st);
	if (r > 0)
		r = sessions_take(st, before, limit, ret);
	sqlite3_finalize(st);
	return r;
}
