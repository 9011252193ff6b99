/* SPDX-License-Identifier: MIT */
#include "src/audit/seal.h"

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
	uint8_t b[8];

	for (int i = 7; i >= 0; i--, n >>= 8)
		b[i] = (uint8_t)n;
	add_raw(d, b, sizeof(b));
}

/* Length first: where one value ends and the next begins is part of what is hashed. */
static void add_bytes(struct digest *d, const void *p, size_t len)
{
	add_u64(d, len);
	if (len > 0)
		add_raw(d, p, len);
}

static void add_value(struct digest *d, sqlite3_stmt *st, int i)
{
	int type = sqlite3_column_type(st, i);

	if (type == SQLITE_NULL)
		return;
	const char *name = sqlite3_column_name(st, i);
	/* A program's number means nothing outside this file; its path, which is joined, does. */
	if (strcmp(name, "program") == 0)
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

void aud_seal_row(enum aud_table table, sqlite3_stmt *st, uint8_t ret[AUD_HASH_B])
{
	struct digest d;

	digest_init(&d);
	add_bytes(&d, ROW_DOMAIN, sizeof(ROW_DOMAIN) - 1);
	add_bytes(&d, tables[table].name, strlen(tables[table].name));
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
};

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

void aud_seal_touch(struct aud_seal *s, enum aud_table table, int64_t id)
{
	if (s->n_touched == s->n_room) {
		s->n_room = s->n_room > 0 ? 2 * s->n_room : 64;
		s->touched = zw_xrealloc(s->touched, s->n_room, sizeof(*s->touched));
	}
	s->touched[s->n_touched++] = (struct touched){id, table};
}

static int by_table_and_id(const void *a, const void *b)
{
	const struct touched *x = a, *y = b;

	if (x->table != y->table) /* a session's own links come last, its end after its rows */
		return x->table < y->table ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int64_t event_of(const struct touched *t)
{
	return t->table == AUD_TABLE_BEGUN   ? AUD_SEAL_BEGUN
	       : t->table == AUD_TABLE_ENDED ? AUD_SEAL_ENDED
					     : t->id;
}

static int row_hash(struct aud_seal *s, const struct touched *t, uint8_t ret[AUD_HASH_B])
{
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
	rc = step_once(s->insert);
	sqlite3_clear_bindings(s->insert);
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
		qsort(s->touched, s->n_touched, sizeof(*s->touched), by_table_and_id);
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
