/* SPDX-License-Identifier: MIT */
#include "src/audit/seal.h"

#include <endian.h>
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"

/* Where two formulas differ they differ in these: a row is never taken for a link. */
#define ROW_DOMAIN  "zwatch row 1"
#define LINK_DOMAIN "zwatch link 1"

static const struct {
	const char *name, *select;
} tables[AUD_TABLE_MAX] = {
	[AUD_TABLE_SOCKET] = {"socket_events",
			      "SELECT t.*, p.exe AS exe FROM socket_events t LEFT JOIN programs p"
			      " ON p.id = t.program WHERE t.id = ?1"},
	[AUD_TABLE_CONN] = {"connections", "SELECT t.*, p.exe AS exe FROM connections t LEFT JOIN"
					   " programs p ON p.id = t.program WHERE t.id = ?1"},
	[AUD_TABLE_QUESTION] = {"questions", "SELECT t.*, p.exe AS exe FROM questions t LEFT JOIN"
					     " programs p ON p.id = t.program WHERE t.id = ?1"},
	[AUD_TABLE_MISC] = {"misc", "SELECT * FROM misc WHERE id = ?1"},
	[AUD_TABLE_BEGUN] = {"session begun",
			     "SELECT id, started_us, agent, argv, cwd, project, mode, level,"
			     " version, uid, is_private FROM sessions WHERE id = ?1"},
	[AUD_TABLE_ENDED] = {"session ended",
			     "SELECT id, ended_us, exit_status, how, n_lost FROM sessions"
			     " WHERE id = ?1"},
};

const char *aud_seal_select(enum aud_table table)
{
	return tables[table].select;
}

/* -- formulas ---------------------------------------------------------------------------------- */

/* What is hashed is gathered first: many small pieces would each cost a call. */
struct digest {
	struct sha256_ctx h;
	uint8_t buf[1024];
	size_t n;
};

static void digest_init(struct digest *d)
{
	sha256_init(&d->h);
	d->n = 0;
}

static void add_raw(struct digest *d, const void *p, size_t len)
{
	if (len > sizeof(d->buf) - d->n) {
		sha256_update(&d->h, d->n, d->buf);
		d->n = 0;
	}
	if (len > sizeof(d->buf)) {
		sha256_update(&d->h, len, p);
		return;
	}
	memcpy(d->buf + d->n, p, len);
	d->n += len;
}

static void digest_end(struct digest *d, uint8_t ret[AUD_HASH_B])
{
	sha256_update(&d->h, d->n, d->buf);
	sha256_digest(&d->h, AUD_HASH_B, ret);
}

static void add_u64(struct digest *d, uint64_t n)
{
	uint64_t be = htobe64(n);

	add_raw(d, &be, sizeof(be));
}

/* Length first: where one value ends and the next begins is part of what is hashed. */
static void add_bytes(struct digest *d, const void *p, size_t len)
{
	add_u64(d, len);
	if (len > 0)
		add_raw(d, p, len);
}

/* A program's number means nothing outside this file; its path, which is joined, does. */
static bool is_hashed(const char *name)
{
	return strcmp(name, "program") != 0;
}

static void add_value(struct digest *d, sqlite3_stmt *st, int i)
{
	int type = sqlite3_column_type(st, i);

	if (type == SQLITE_NULL)
		return;
	const char *name = sqlite3_column_name(st, i);
	if (!is_hashed(name))
		return;
	add_bytes(d, name, strlen(name));
	add_u64(d, (uint64_t)type);
	if (type == SQLITE_INTEGER) {
		add_u64(d, (uint64_t)sqlite3_column_int64(st, i));
		return;
	}
	const void *p = sqlite3_column_blob(st, i); /* before its length: it may convert */
	add_bytes(d, p, (size_t)sqlite3_column_bytes(st, i));
}

static void begin_row(struct digest *d, enum aud_table table)
{
	digest_init(d);
	add_bytes(d, ROW_DOMAIN, sizeof(ROW_DOMAIN) - 1);
	add_bytes(d, tables[table].name, strlen(tables[table].name));
}

void aud_seal_row(enum aud_table table, sqlite3_stmt *st, uint8_t ret[AUD_HASH_B])
{
	struct digest d;

	begin_row(&d, table);
	for (int i = 0; i < sqlite3_column_count(st); i++)
		add_value(&d, st, i);
	digest_end(&d, ret);
}

void aud_seal_link(const uint8_t *prev, int64_t session, int64_t n, int64_t event,
		   const uint8_t row_hash[AUD_HASH_B], uint8_t ret[AUD_HASH_B])
{
	struct digest h;

	digest_init(&h);
	add_bytes(&h, LINK_DOMAIN, sizeof(LINK_DOMAIN) - 1);
	add_bytes(&h, prev, prev != NULL ? AUD_HASH_B : 0);
	add_u64(&h, (uint64_t)session);
	add_u64(&h, (uint64_t)n);
	add_u64(&h, (uint64_t)event);
	add_bytes(&h, row_hash, AUD_HASH_B);
	digest_end(&h, ret);
}

/* -- a chain under way ------------------------------------------------------------------------- */

struct touched {
	int64_t id;
	enum aud_table table;
	bool is_hashed; /* the row is what this is the hash of, unless it was touched again */
	uint8_t hash[AUD_HASH_B];
};

/* What goes into the hash before the value of a column: its name behind its length. */
struct column {
	uint8_t head[8 + 24];
	size_t len; /* 0 = not hashed */
};

#define COLUMNS_MAX 40

/* How far a chain goes. */
struct end {
	int64_t n; /* links; 0 = none */
	uint8_t head[AUD_HASH_B];
};

struct aud_seal {
	sqlite3 *db; /* borrowed */
	sqlite3_stmt *row[AUD_TABLE_MAX], *insert, *last;
	int64_t session;
	struct end now, kept;	 /* kept: as of the last COMMIT */
	struct touched *touched; /* owned */
	size_t n_touched, n_room;
	struct column columns[AUD_TABLE_MAX][COLUMNS_MAX];
	size_t n_columns
		[AUD_TABLE_MAX]; /* 0 = not looked at yet; the last one is the program's path */
};

struct aud_seal *aud_seal_new(sqlite3 *db)
{
	struct aud_seal *s = zw_xnew(struct aud_seal);

	s->db = db;
	return s;
}

void aud_seal_free(struct aud_seal *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < AUD_TABLE_MAX; i++)
		sqlite3_finalize(s->row[i]);
	sqlite3_finalize(s->insert);
	sqlite3_finalize(s->last);
	free(s->touched);
	free(s);
}

/* Prepared at first use. Returns SQLITE_OK or why not. */
static int prepare(struct aud_seal *s, sqlite3_stmt **st, const char *text)
{
	if (*st != NULL)
		return SQLITE_OK;
	return sqlite3_prepare_v3(s->db, text, -1, SQLITE_PREPARE_PERSISTENT, st, NULL);
}

static int step_once(sqlite3_stmt *st)
{
	int rc = sqlite3_step(st);

	sqlite3_reset(st);
	return rc;
}

int aud_seal_session(struct aud_seal *s, int64_t session)
{
	int rc = prepare(s, &s->last,
			 "SELECT n, link FROM links WHERE session = ?1 ORDER BY n DESC LIMIT 1");

	if (rc != SQLITE_OK)
		return rc;
	s->session = session;
	s->n_touched = 0;
	s->now = (struct end){0};
	sqlite3_bind_int64(s->last, 1, session);
	rc = sqlite3_step(s->last);
	if (rc == SQLITE_ROW && sqlite3_column_bytes(s->last, 1) == AUD_HASH_B) {
		s->now.n = sqlite3_column_int64(s->last, 0) + 1;
		memcpy(s->now.head, sqlite3_column_blob(s->last, 1), AUD_HASH_B);
	}
	sqlite3_reset(s->last);
	s->kept = s->now;
	return rc == SQLITE_ROW ? SQLITE_DONE : rc;
}

static struct touched *touch(struct aud_seal *s, enum aud_table table, int64_t id)
{
	struct touched *t;

	if (s->n_touched == s->n_room) {
		s->n_room = s->n_room > 0 ? 2 * s->n_room : 64;
		s->touched = zw_xrealloc(s->touched, s->n_room, sizeof(*s->touched));
	}
	t = &s->touched[s->n_touched++];
	t->id = id;
	t->table = table;
	t->is_hashed = false;
	return t;
}

void aud_seal_touch(struct aud_seal *s, enum aud_table table, int64_t id)
{
	touch(s, table, id);
}

/* Learns the names of a table's columns. Returns SQLITE_OK or why not. */
static int columns_find(struct aud_seal *s, enum aud_table table)
{
	int rc = prepare(s, &s->row[table], tables[table].select);

	if (rc != SQLITE_OK)
		return rc;
	int n = sqlite3_column_count(s->row[table]);
	for (int i = 0; i < n && i < COLUMNS_MAX; i++) {
		struct column *c = &s->columns[table][i];
		const char *name = sqlite3_column_name(s->row[table], i);
		size_t len = strlen(name);
		uint64_t be = htobe64(len);

		if (len > sizeof(c->head) - sizeof(be))
			return SQLITE_MISUSE;
		memcpy(c->head, &be, sizeof(be));
		memcpy(c->head + sizeof(be), name, len);
		c->len = is_hashed(name) ? sizeof(be) + len : 0;
	}
	s->n_columns[table] = (size_t)n;
	return n <= COLUMNS_MAX ? SQLITE_OK : SQLITE_MISUSE;
}

/* The same bytes as add_value() gives of the row once it stands there. */
static void add_made(struct digest *d, const struct column *c, const struct aud_value *v)
{
	if (v->type == 0 || c->len == 0)
		return;
	add_raw(d, c->head, c->len);
	add_u64(d, (uint64_t)v->type);
	if (v->type == SQLITE_INTEGER)
		add_u64(d, (uint64_t)v->n);
	else
		add_bytes(d, v->p, v->len);
}

int aud_seal_made(struct aud_seal *s, enum aud_table table, int64_t id,
		  const struct aud_value *values, size_t n, const struct aud_value *exe)
{
	int rc = s->n_columns[table] > 0 ? SQLITE_OK : columns_find(s, table);
	struct digest d;

	if (rc == SQLITE_OK && s->n_columns[table] != n + 1)
		rc = SQLITE_MISUSE;
	if (rc != SQLITE_OK)
		return rc;
	begin_row(&d, table);
	for (size_t i = 0; i < n; i++)
		add_made(&d, &s->columns[table][i], &values[i]);
	add_made(&d, &s->columns[table][n], exe);
	struct touched *t = touch(s, table, id);
	digest_end(&d, t->hash);
	t->is_hashed = true;
	return SQLITE_DONE;
}

static int by_table_and_id(const void *a, const void *b)
{
	const struct touched *x = a, *y = b;

	if (x->table != y->table) /* a session's own links come last, its end after its rows */
		return x->table < y->table ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Of the touches of one row that which has no hash comes first: it must be read. */
static int in_order(const void *a, const void *b)
{
	const struct touched *x = a, *y = b;
	int order = by_table_and_id(a, b);

	return order != 0 ? order : (int)x->is_hashed - (int)y->is_hashed;
}

static int64_t event_of(const struct touched *t)
{
	return t->table == AUD_TABLE_BEGUN   ? AUD_SEAL_BEGUN
	       : t->table == AUD_TABLE_ENDED ? AUD_SEAL_ENDED
					     : t->id;
}

static int row_hash(struct aud_seal *s, const struct touched *t, uint8_t ret[AUD_HASH_B])
{
	if (t->is_hashed) {
		memcpy(ret, t->hash, AUD_HASH_B);
		return SQLITE_ROW;
	}
	int rc = prepare(s, &s->row[t->table], tables[t->table].select);
	sqlite3_stmt *st = s->row[t->table];

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_int64(st, 1, t->id);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		aud_seal_row(t->table, st, ret);
	sqlite3_reset(st);
	return rc;
}

static int add_link(struct aud_seal *s, const struct touched *t)
{
	uint8_t hash[AUD_HASH_B], link[AUD_HASH_B];
	int rc = row_hash(s, t, hash);

	if (rc != SQLITE_ROW) /* SQLITE_DONE: the row was not made after all */
		return rc;
	rc = prepare(s, &s->insert, "INSERT INTO links VALUES (?1, ?2, ?3, ?4, ?5)");
	if (rc != SQLITE_OK)
		return rc;
	aud_seal_link(s->now.n > 0 ? s->now.head : NULL, s->session, s->now.n, event_of(t), hash,
		      link);
	sqlite3_bind_int64(s->insert, 1, s->session);
	sqlite3_bind_int64(s->insert, 2, s->now.n);
	sqlite3_bind_int64(s->insert, 3, event_of(t));
	sqlite3_bind_blob(s->insert, 4, hash, AUD_HASH_B, SQLITE_STATIC);
	sqlite3_bind_blob(s->insert, 5, link, AUD_HASH_B, SQLITE_STATIC);
	rc = step_once(s->insert); /* all five are bound anew each time */
	if (rc == SQLITE_DONE) {
		s->now.n++;
		memcpy(s->now.head, link, AUD_HASH_B);
	}
	return rc;
}

int aud_seal_flush(struct aud_seal *s)
{
	int rc = SQLITE_DONE;

	if (s->n_touched > 1)
		qsort(s->touched, s->n_touched, sizeof(*s->touched), in_order);
	for (size_t i = 0; i < s->n_touched && rc == SQLITE_DONE; i++)
		if (i == 0 || by_table_and_id(&s->touched[i - 1], &s->touched[i]) != 0)
			rc = add_link(s, &s->touched[i]);
	s->n_touched = 0;
	return rc;
}

void aud_seal_commit(struct aud_seal *s)
{
	s->kept = s->now;
	s->n_touched = 0;
}

void aud_seal_rollback(struct aud_seal *s)
{
	s->now = s->kept;
	s->n_touched = 0;
}

int aud_seal_head(const struct aud_seal *s, uint8_t ret[AUD_HASH_B])
{
	if (s->kept.n == 0)
		return 0;
	memcpy(ret, s->kept.head, AUD_HASH_B);
	return 1;
}
