/* SPDX-License-Identifier: MIT */
#include "src/audit/store_i.h"

#include <stdio.h>

#include "src/base/mem.h"
#include "src/base/words.h"

#define SOURCE_SHIFT AUD_SOURCE_SHIFT
#define SEQ_MASK     ((UINT64_C(1) << SOURCE_SHIFT) - 1)

/* -- events ------------------------------------------------------------------------------------ */

/* Number of a program in the store. Returns an SQLite code; *ret is 0 for no name. */
static int program_id(struct aud_store *s, struct zw_span exe, int64_t *ret)
{
	struct program *p = &s->programs[aud_hash_of(exe) % AUD_PROGRAMS_N];

	*ret = 0;
	if (exe.len == 0)
		return SQLITE_DONE;
	if (p->exe != NULL && p->len == exe.len && memcmp(p->exe, exe.p, exe.len) == 0) {
		*ret = p->id;
		return SQLITE_DONE;
	}
	sqlite3_stmt *st = aud_sql_stmt(s, ST_PROGRAM_FIND);
	if (st != NULL)
		aud_bind_span(st, 1, exe);
	int rc = aud_sql_run(s, st);
	if (rc == SQLITE_ROW) {
		*ret = sqlite3_column_int64(st, 0);
		aud_sql_done(st);
	} else if (rc == SQLITE_DONE) {
		st = aud_sql_stmt(s, ST_PROGRAM_NEW);
		if (st != NULL)
			aud_bind_span(st, 1, exe);
		rc = aud_sql_run(s, st);
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
	aud_bind_int(st, i, s->session);
	aud_bind_int(st, i + 1, (int64_t)(seq >> SOURCE_SHIFT));
	aud_bind_int(st, i + 2, (int64_t)(seq & SEQ_MASK));
}

/* Takes the next number for good. */
static void number_taken(struct aud_store *s)
{
	s->last_id++;
	s->n_rows++;
}

/* Runs an insertion that took the next number. */
static int run_new(struct aud_store *s, enum aud_table table, sqlite3_stmt *st)
{
	int rc = aud_sql_run(s, st);

	if (rc == SQLITE_DONE) {
		number_taken(s);
		aud_seal_touch(s->seal, table, s->last_id);
	}
	return rc;
}

/* -- new rows ---------------------------------------------------------------------------------- */

static int64_t bounded(uint64_t n)
{
	return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static void put_int(struct new_row *r, int64_t n)
{
	r->at[r->n++] = (struct aud_value){.type = SQLITE_INTEGER, .n = n};
}

static void put_null(struct new_row *r)
{
	r->at[r->n++] = (struct aud_value){0};
}

static void put_count(struct new_row *r, uint64_t n)
{
	put_int(r, bounded(n));
}

/* 0 means "not known". */
static void put_known(struct new_row *r, uint64_t n)
{
	if (n != 0)
		put_count(r, n);
	else
		put_null(r);
}

static void put_span(struct new_row *r, struct zw_span s)
{
	r->at[r->n++] = (struct aud_value){s.len > 0 ? SQLITE_TEXT : 0, 0, s.p, s.len};
}

static void put_word(struct new_row *r, const char *word)
{
	r->at[r->n++] = (struct aud_value){word != NULL ? SQLITE_TEXT : 0, 0, word,
					   word != NULL ? strlen(word) : 0};
}

static void put_bytes(struct new_row *r, struct zw_span s)
{
	r->at[r->n++] = (struct aud_value){s.len > 0 ? SQLITE_BLOB : 0, 0, s.p, s.len};
}

/* The columns that all tables of events begin with. */
static void put_key(struct new_row *r, const struct aud_store *s, uint64_t seq)
{
	put_int(r, s->last_id + 1);
	put_int(r, s->session);
	put_int(r, (int64_t)(seq >> SOURCE_SHIFT));
	put_int(r, (int64_t)(seq & SEQ_MASK));
}

/* Writes a row and hashes it. */
static int row_new(struct aud_store *s, enum stmt which, enum aud_table table,
		   const struct new_row *r, struct zw_span exe)
{
	sqlite3_stmt *st = aud_sql_stmt(s, which);
	struct aud_value path = {exe.len > 0 ? SQLITE_TEXT : 0, 0, exe.p, exe.len};

	for (size_t i = 0; st != NULL && i < r->n; i++)
		aud_bind_value(st, (int)i + 1, &r->at[i]);
	int rc = aud_sql_run(s, st);
	if (rc != SQLITE_DONE)
		return rc;
	number_taken(s);
	return aud_seal_made(s->seal, table, s->last_id, r->at, r->n, &path);
}

/* What an owner says of the listener counts only where it said anything: of a socket made inside
 * there is nobody to name. */
static bool has_listener_uid(const struct zw_msg_sock_event *m)
{
	return m->listener_uid != UINT32_MAX && (m->did != ZW_DID_AUTO || m->listener_pid != 0);
}

/* Whether it was noted already; remembers it from now on. */
static bool is_seen(struct aud_store *s, const char *kind, const char *target, size_t len)
{
	struct seen_target *t = &s->seen[aud_hash_of(zw_span_n(target, len)) % AUD_SEEN_N];
	size_t kind_len = strlen(kind), n = kind_len + 1 + len;

	if (t->len == n && memcmp(t->key, kind, kind_len) == 0 &&
	    memcmp(t->key + kind_len + 1, target, len) == 0)
		return true;
	free(t->key);
	t->key = zw_xmalloc(n);
	t->len = n;
	memcpy(t->key, kind, kind_len);
	t->key[kind_len] = ' ';
	memcpy(t->key + kind_len + 1, target, len);
	return false;
}

void aud_rows_forget(struct aud_store *s)
{
	for (size_t i = 0; i < AUD_SEEN_N; i++) {
		free(s->seen[i].key);
		s->seen[i] = (struct seen_target){0};
	}
	for (size_t i = 0; i < AUD_PLACES_N; i++) {
		free(s->places[i].value);
		s->places[i] = (struct known_place){0};
	}
	s->sums = (struct sums){0};
}

/* Notes that the newest row has this value, once for its block. */
static int note_place(struct aud_store *s, enum place kind, struct zw_span value)
{
	struct known_place *k = &s->places[(aud_hash_of(value) + kind) % AUD_PLACES_N];
	int64_t block = s->last_id >> AUD_BLOCK_SHIFT;

	if (value.len == 0)
		return SQLITE_DONE;
	bool is_same = k->value != NULL && k->kind == kind && k->len == value.len &&
		       memcmp(k->value, value.p, value.len) == 0;
	if (is_same && k->block == block)
		return SQLITE_DONE;
	if (!is_same) {
		free(k->value);
		k->value = zw_span_dup(value);
	}
	k->len = value.len;
	k->kind = kind;
	k->block = block;
	sqlite3_stmt *st = aud_sql_stmt(s, ST_PLACE);
	if (st != NULL) {
		aud_bind_int(st, 1, kind);
		aud_bind_span(st, 2, value);
		aud_bind_int(st, 3, block);
	}
	return aud_sql_run(s, st);
}

/* Where a row with this value and this program is. */
static int note_places(struct aud_store *s, enum place kind, struct zw_span value, int64_t program)
{
	char number[24];
	int rc = note_place(s, kind, value);

	if (rc != SQLITE_DONE || program == 0)
		return rc;
	int len = snprintf(number, sizeof(number), "%lld", (long long)program);
	return note_place(s, PLACE_PROGRAM, zw_span_n(number, (size_t)len));
}

int aud_rows_sums(struct aud_store *s)
{
	const struct sums *n = &s->sums;
	sqlite3_stmt *st = n->is_due ? aud_sql_stmt(s, ST_SUMS) : NULL;
	static const unsigned dids[] = {ZW_DID_ALLOW, ZW_DID_DENY, ZW_DID_AUTO,
					ZW_DID_MISS,  ZW_DID_GONE, ZW_DID_FAIL};

	if (!n->is_due)
		return SQLITE_DONE;
	if (st != NULL) {
		aud_bind_int(st, 1, s->session);
		aud_bind_int(st, 2, n->n_events);
		for (size_t i = 0; i < ZW_N_ELEMENTS(dids); i++)
			aud_bind_int(st, 3 + (int)i, n->n_did[dids[i]]);
		aud_bind_int(st, 9, n->up_b);
		aud_bind_int(st, 10, n->down_b);
		aud_bind_int(st, 11, n->last_us);
		aud_bind_int(st, 12, n->n_ask);
	}
	s->sums = (struct sums){0};
	return aud_sql_run(s, st);
}

static void add_to(int64_t *sum, int64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = n > 0 ? INT64_MAX : INT64_MIN;
}

static void seen_at(struct sums *n, int64_t t_us)
{
	n->is_due = true;
	n->last_us = t_us > n->last_us ? t_us : n->last_us;
}

static void count_new(struct aud_store *s, unsigned did, uint32_t n_times, uint64_t up_b,
		      uint64_t down_b, int64_t t_us)
{
	struct sums *n = &s->sums;

	n->n_events++;
	if (did <= ZW_DID_FAIL)
		n->n_did[did] += n_times > 0 ? n_times : 1;
	add_to(&n->up_b, bounded(up_b));
	add_to(&n->down_b, bounded(down_b));
	seen_at(n, t_us);
}

/* Whether there can be a row of this number. Numbers of a source only grow; after a resumption
 * nothing is known of them. */
static bool may_be_there(struct aud_store *s, uint64_t seq)
{
	uint64_t *max = &s->max_seq[seq >> SOURCE_SHIFT], n = (seq & SEQ_MASK) + 1;

	if (n <= *max)
		return true;
	*max = n;
	return false;
}

/* Notes a target of the newest row, and counts it where the project had never seen it. */
static int note_seen(struct aud_store *s, const char *kind, const char *target, size_t len)
{
	if (len == 0 || is_seen(s, kind, target, len))
		return SQLITE_DONE;

	sqlite3_stmt *st = aud_sql_stmt(s, ST_SEEN);
	if (st != NULL) {
		aud_bind_int(st, 1, s->session);
		aud_bind_word(st, 2, kind);
		sqlite3_bind_text(st, 3, target, (int)len, SQLITE_STATIC);
		aud_bind_int(st, 4, s->last_id);
	}
	int rc = aud_sql_run(s, st);
	if (rc != SQLITE_DONE || sqlite3_changes(s->db) == 0)
		return rc;
	st = aud_sql_stmt(s, ST_SEEN_SUM);
	if (st != NULL)
		aud_bind_int(st, 1, s->session);
	return aud_sql_run(s, st);
}

/* What a row counts for in the sums. */
struct counted {
	int64_t id, n_times, up_b, down_b;
	unsigned did;
};

static unsigned did_of(const char *word)
{
	unsigned did = 0;

	while (did <= ZW_DID_FAIL && (word == NULL || strcmp(zw_did_word(did), word) != 0))
		did++;
	return did;
}

/* The row of this number as it stands. Returns SQLITE_ROW when there is one, or SQLITE_DONE. */
static int row_find(struct aud_store *s, enum stmt which, uint64_t seq, struct counted *ret)
{
	sqlite3_stmt *st = aud_sql_stmt(s, which);

	if (st != NULL)
		bind_key(st, 1, s, seq);
	int rc = aud_sql_run(s, st);
	if (rc != SQLITE_ROW)
		return rc;
	ret->id = sqlite3_column_int64(st, 0);
	ret->did = did_of((const char *)sqlite3_column_text(st, 1));
	ret->n_times = sqlite3_column_int64(st, 2);
	ret->up_b = sqlite3_column_int64(st, 3);
	ret->down_b = sqlite3_column_int64(st, 4);
	aud_sql_done(st);
	return rc;
}

static void count_did(struct sums *n, unsigned did, int64_t times)
{
	if (did <= ZW_DID_FAIL)
		add_to(&n->n_did[did], times);
}

static int64_t grown(uint64_t now, int64_t before)
{
	return bounded(now) > before ? bounded(now) - before : 0;
}

/* Runs the update of a row that counted as @old. Returns SQLITE_ROW when that went well. */
static int run_more(struct aud_store *s, enum aud_table table, sqlite3_stmt *st,
		    const struct counted *old, unsigned did, uint32_t n_times, uint64_t up_b,
		    uint64_t down_b, int64_t closed_us)
{
	int rc = aud_sql_run(s, st);
	struct sums *n = &s->sums;

	if (rc != SQLITE_DONE)
		return rc;
	count_did(n, old->did, -old->n_times);
	count_did(n, did, n_times > 0 ? n_times : old->n_times);
	add_to(&n->up_b, grown(up_b, old->up_b));
	add_to(&n->down_b, grown(down_b, old->down_b));
	seen_at(n, closed_us);
	aud_seal_touch(s->seal, table, old->id);
	return SQLITE_ROW;
}

static int sock_more(struct aud_store *s, const struct zw_msg_sock_event *m)
{
	struct counted old;
	int rc = row_find(s, ST_SOCK_FIND, m->seq, &old);
	sqlite3_stmt *st = rc == SQLITE_ROW ? aud_sql_stmt(s, ST_SOCK_MORE) : NULL;

	if (rc != SQLITE_ROW)
		return rc;
	if (st != NULL) {
		aud_bind_int(st, 1, old.id);
		aud_bind_word(st, 4, zw_did_word(m->did));
		aud_bind_known(st, 5, m->n_times);
		aud_bind_count(st, 6, m->up_b);
		aud_bind_count(st, 7, m->down_b);
		aud_bind_known(st, 8, m->phase > 0 ? (uint64_t)m->t_us : 0);
		aud_bind_span(st, 9, m->reason);
		aud_bind_span(st, 10, m->note);
		aud_bind_int(st, 11, m->phase);
		aud_bind_word(st, 12, zw_by_word(m->by));
		aud_bind_known(st, 13, m->rule);
		aud_bind_count(st, 14, m->waited_ms);
		if (m->phase == 0 && has_listener_uid(m))
			aud_bind_int(st, 15, m->listener_uid);
		aud_bind_known(st, 16, m->listener_pid);
		aud_bind_span(st, 17, m->listener_exe);
	}
	return run_more(s, AUD_TABLE_SOCKET, st, &old, m->did, m->n_times, m->up_b, m->down_b,
			m->phase > 0 ? m->t_us : 0);
}

static void put_sock(struct aud_store *s, struct new_row *r, const struct zw_msg_sock_event *m,
		     int64_t program)
{
	put_key(r, s, m->seq);
	put_int(r, m->t_us);
	put_known(r, m->phase > 0 ? (uint64_t)m->t_us : 0);
	put_word(r, zw_did_word(m->did));
	put_word(r, zw_op_word(m->op));
	put_span(r, m->target);
	put_span(r, m->asked);
	put_span(r, m->class_name);
	if (m->class_name.len > 0 || m->risk != 0)
		put_word(r, zw_risk_word(m->risk));
	else
		put_null(r);
	if (has_listener_uid(m))
		put_int(r, m->listener_uid);
	else
		put_null(r);
	put_known(r, m->listener_pid);
	put_span(r, m->listener_exe);
	put_word(r, zw_by_word(m->by));
	put_known(r, m->rule);
	put_span(r, m->reason);
	put_span(r, m->note);
	put_count(r, m->waited_ms);
	put_count(r, m->n_times > 0 ? m->n_times : 1);
	put_count(r, m->up_b);
	put_count(r, m->down_b);
	put_known(r, m->pid);
	put_known(r, (uint64_t)program);
	r->at[r->n++] = aud_argv_value(s, m->argv);
	put_span(r, m->cwd);
	put_bytes(r, m->chain);
}

static int sock_write(struct aud_store *s, const struct zw_msg_sock_event *m)
{
	int64_t program = 0;
	int rc = may_be_there(s, m->seq) ? sock_more(s, m) : SQLITE_DONE;

	if (rc != SQLITE_DONE)
		return rc == SQLITE_ROW ? SQLITE_DONE : rc;
	rc = program_id(s, m->exe, &program);
	if (rc != SQLITE_DONE)
		return rc;
	struct new_row row;

	row.n = 0;
	put_sock(s, &row, m, program);
	rc = row_new(s, ST_SOCK_NEW, AUD_TABLE_SOCKET, &row, m->exe);
	if (rc == SQLITE_DONE)
		count_new(s, m->did, m->n_times, m->up_b, m->down_b, m->t_us);
	if (rc == SQLITE_DONE)
		rc = note_places(s, PLACE_PATH, m->target, program);
	if (rc != SQLITE_DONE || m->did == ZW_DID_AUTO)
		return rc;
	return note_seen(s, "unix", m->target.p, m->target.len);
}

static int conn_more(struct aud_store *s, const struct zw_msg_conn_event *m)
{
	struct counted old;
	int rc = row_find(s, ST_CONN_FIND, m->seq, &old);
	sqlite3_stmt *st = rc == SQLITE_ROW ? aud_sql_stmt(s, ST_CONN_MORE) : NULL;

	if (rc != SQLITE_ROW)
		return rc;
	if (st != NULL) {
		aud_bind_int(st, 1, old.id);
		aud_bind_word(st, 4, zw_did_word(m->did));
		aud_bind_known(st, 5, m->n_times);
		aud_bind_count(st, 6, m->up_b);
		aud_bind_count(st, 7, m->down_b);
		aud_bind_known(st, 8, m->phase == 2 ? (uint64_t)m->t_us : 0);
		aud_bind_span(st, 9, m->reason);
		aud_bind_span(st, 10, m->note);
		aud_bind_int(st, 11, m->phase);
		aud_bind_word(st, 12, zw_by_word(m->by));
		aud_bind_known(st, 13, m->rule);
		aud_bind_count(st, 14, m->waited_ms);
		aud_bind_span(st, 15, m->address);
		aud_bind_span(st, 16, m->end);
	}
	return run_more(s, AUD_TABLE_CONN, st, &old, m->did, m->n_times, m->up_b, m->down_b,
			m->phase == 2 ? m->t_us : 0);
}

static void put_conn(struct aud_store *s, struct new_row *r, const struct zw_msg_conn_event *m,
		     int64_t program)
{
	put_key(r, s, m->seq);
	put_int(r, m->t_us);
	put_known(r, m->phase == 2 ? (uint64_t)m->t_us : 0);
	put_word(r, zw_did_word(m->did));
	put_word(r, zw_via_word(m->via));
	put_span(r, m->host);
	put_known(r, m->port);
	put_span(r, m->address);
	put_word(r, zw_by_word(m->by));
	put_known(r, m->rule);
	put_span(r, m->reason);
	put_span(r, m->note);
	put_count(r, m->waited_ms);
	put_count(r, m->n_times > 0 ? m->n_times : 1);
	put_count(r, m->up_b);
	put_count(r, m->down_b);
	put_span(r, m->end);
	put_known(r, m->pid);
	put_known(r, (uint64_t)program);
	r->at[r->n++] = aud_argv_value(s, m->argv);
	put_span(r, m->cwd);
	put_bytes(r, m->chain);
}

static int conn_write(struct aud_store *s, const struct zw_msg_conn_event *m)
{
	int64_t program = 0;
	int rc = may_be_there(s, m->seq) ? conn_more(s, m) : SQLITE_DONE;

	if (rc != SQLITE_DONE)
		return rc == SQLITE_ROW ? SQLITE_DONE : rc;
	rc = program_id(s, m->exe, &program);
	if (rc != SQLITE_DONE)
		return rc;
	struct new_row row;

	row.n = 0;
	put_conn(s, &row, m, program);
	rc = row_new(s, ST_CONN_NEW, AUD_TABLE_CONN, &row, m->exe);
	if (rc == SQLITE_DONE)
		count_new(s, m->did, m->n_times, m->up_b, m->down_b, m->t_us);
	if (rc == SQLITE_DONE)
		rc = note_places(s, PLACE_HOST, m->host, program);
	if (rc != SQLITE_DONE || m->via == ZW_VIA_DNS || m->host.len == 0)
		return rc;
	char target[300];
	int len = snprintf(target, sizeof(target), "%.*s:%u", (int)m->host.len, m->host.p, m->port);
	return note_seen(s, "net", target, (size_t)len);
}

/* Whether the question has a row already: SQLITE_ROW, or SQLITE_DONE. */
static int is_asked(struct aud_store *s, uint64_t question)
{
	sqlite3_stmt *st = aud_sql_stmt(s, ST_QUESTION_IS);

	if (st != NULL) {
		aud_bind_int(st, 1, s->session);
		aud_bind_count(st, 2, question);
	}
	int rc = aud_sql_run(s, st);
	if (rc == SQLITE_ROW)
		aud_sql_done(st);
	return rc;
}

/* A row that is an event and no more. */
static void count_event(struct aud_store *s, int64_t t_us)
{
	s->sums.n_events++;
	seen_at(&s->sums, t_us);
}

static int question_write(struct aud_store *s, const struct zw_msg_question_event *m)
{
	int64_t program = 0;
	int rc = program_id(s, m->exe, &program);

	if (rc != SQLITE_DONE)
		return rc;
	rc = is_asked(s, m->question);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return rc;
	bool is_first = rc == SQLITE_DONE;
	sqlite3_stmt *st = aud_sql_stmt(s, ST_QUESTION_NEW);
	if (st == NULL)
		return aud_sql_run(s, st);
	aud_bind_int(st, 1, s->last_id + 1);
	aud_bind_int(st, 2, s->session);
	aud_bind_count(st, 3, m->question);
	aud_bind_int(st, 4, m->t_us);
	aud_bind_word(st, 5, m->kind == 0 ? "net" : "unix");
	aud_bind_word(st, 6, zw_risk_word(m->risk));
	aud_bind_span(st, 7, m->class_name);
	aud_bind_span(st, 8, m->target);
	aud_bind_word(st, 9, zw_did_word(m->did));
	if (m->did == ZW_DID_ALLOW || m->did == ZW_DID_DENY)
		aud_bind_word(st, 10, zw_scope_word(m->scope));
	aud_bind_word(st, 11, zw_by_word(m->by));
	aud_bind_count(st, 12, m->waited_ms);
	aud_bind_count(st, 13, m->shown_ms);
	aud_bind_span(st, 14, m->key);
	aud_bind_masked_text(st, 15, m->text);
	aud_bind_count(st, 16, m->n_waiting > 0 ? m->n_waiting : 1);
	aud_bind_known(st, 17, m->pid);
	aud_bind_known(st, 18, (uint64_t)program);
	rc = run_new(s, AUD_TABLE_QUESTION, st);
	if (rc == SQLITE_DONE) {
		count_event(s, m->t_us);
		s->sums.n_ask += is_first;
		rc = note_places(s, m->kind == 0 ? PLACE_HOST : PLACE_PATH, m->target, program);
	}
	return rc;
}

static int misc_write(struct aud_store *s, const struct zw_msg_misc_event *m)
{
	sqlite3_stmt *st = aud_sql_stmt(s, ST_MISC_NEW);

	if (st != NULL) {
		aud_bind_int(st, 1, s->last_id + 1);
		aud_bind_int(st, 2, s->session);
		aud_bind_int(st, 3, m->t_us);
		if (m->kind.len > 0)
			aud_bind_span(st, 4, m->kind);
		else
			aud_bind_word(st, 4, "other");
		aud_bind_masked_text(st, 5, m->text);
	}
	int rc = run_new(s, AUD_TABLE_MISC, st);
	if (rc == SQLITE_DONE)
		count_event(s, m->t_us);
	return rc;
}

/* -- private sessions: sums alone -------------------------------------------------------------- */

static int tally(struct aud_store *s, uint64_t seq, unsigned did, uint32_t n_times, uint64_t up_b,
		 uint64_t down_b, bool is_over)
{
	sqlite3_stmt *st = aud_sql_stmt(s, ST_TALLY);

	if (st != NULL) {
		bind_key(st, 1, s, seq);
		aud_bind_word(st, 4, zw_did_word(did));
		aud_bind_known(st, 5, n_times);
		aud_bind_count(st, 6, up_b);
		aud_bind_count(st, 7, down_b);
	}
	int rc = aud_sql_run(s, st);
	if (rc != SQLITE_DONE || !is_over)
		return rc;
	st = aud_sql_stmt(s, ST_TALLY_END);
	if (st != NULL)
		bind_key(st, 1, s, seq);
	return aud_sql_run(s, st);
}

static int tally_question(struct aud_store *s, uint64_t question)
{
	sqlite3_stmt *st = aud_sql_stmt(s, ST_TALLY_ASK);

	if (st != NULL) {
		aud_bind_int(st, 1, s->session);
		aud_bind_count(st, 2, question);
	}
	int rc = aud_sql_run(s, st);
	if (rc != SQLITE_DONE || sqlite3_changes(s->db) == 0)
		return rc;
	st = aud_sql_stmt(s, ST_TALLY_ASK_SUM);
	if (st != NULL)
		aud_bind_int(st, 1, s->session);
	return aud_sql_run(s, st);
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

int aud_row_write(struct aud_store *s, const struct aud_item *item)
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
