/* SPDX-License-Identifier: MIT */
#include "src/audit/store_i.h"

#include <stdio.h>

#include "src/base/mem.h"
#include "src/base/words.h"

/* The upper byte of a sequence number tells whose it is. */
#define SOURCE_SHIFT 56
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

/* Runs an insertion that took the next number, and takes it for good. */
static int run_new(struct aud_store *s, enum aud_table table, sqlite3_stmt *st)
{
	int rc = aud_sql_run(s, st);

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
	int rc = aud_sql_run(s, st);

	if (rc == SQLITE_ROW) {
		aud_seal_touch(s->seal, table, sqlite3_column_int64(st, 0));
		aud_sql_done(st);
	}
	return rc;
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
	s->sums = (struct sums){0};
}

int aud_rows_sums(struct aud_store *s)
{
	const struct sums *n = &s->sums;
	sqlite3_stmt *st = n->n_events > 0 ? aud_sql_stmt(s, ST_SUMS) : NULL;
	static const unsigned dids[] = {ZW_DID_ALLOW, ZW_DID_DENY, ZW_DID_AUTO,
					ZW_DID_MISS,  ZW_DID_GONE, ZW_DID_FAIL};

	if (n->n_events == 0)
		return SQLITE_DONE;
	if (st != NULL) {
		aud_bind_int(st, 1, s->session);
		aud_bind_int(st, 2, n->n_events);
		for (size_t i = 0; i < ZW_N_ELEMENTS(dids); i++)
			aud_bind_int(st, 3 + (int)i, n->n_did[dids[i]]);
		aud_bind_int(st, 9, n->up_b);
		aud_bind_int(st, 10, n->down_b);
		aud_bind_int(st, 11, n->last_us);
	}
	s->sums = (struct sums){0};
	return aud_sql_run(s, st);
}

static int64_t bounded(uint64_t n)
{
	return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static void count_new(struct aud_store *s, unsigned did, uint32_t n_times, uint64_t up_b,
		      uint64_t down_b, int64_t t_us)
{
	struct sums *n = &s->sums;

	n->n_events++;
	if (did <= ZW_DID_FAIL)
		n->n_did[did] += n_times > 0 ? n_times : 1;
	if (__builtin_add_overflow(n->up_b, bounded(up_b), &n->up_b))
		n->up_b = INT64_MAX;
	if (__builtin_add_overflow(n->down_b, bounded(down_b), &n->down_b))
		n->down_b = INT64_MAX;
	n->last_us = t_us > n->last_us ? t_us : n->last_us;
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

static int sock_more(struct aud_store *s, const struct zw_msg_sock_event *m)
{
	sqlite3_stmt *st = aud_sql_stmt(s, ST_SOCK_MORE);

	if (st != NULL) {
		bind_key(st, 1, s, m->seq);
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
	return run_more(s, AUD_TABLE_SOCKET, st);
}

static void bind_sock(struct aud_store *s, sqlite3_stmt *st, const struct zw_msg_sock_event *m,
		      int64_t program)
{
	aud_bind_int(st, 5, m->t_us);
	aud_bind_known(st, 6, m->phase > 0 ? (uint64_t)m->t_us : 0);
	aud_bind_word(st, 7, zw_did_word(m->did));
	aud_bind_word(st, 8, zw_op_word(m->op));
	aud_bind_span(st, 9, m->target);
	aud_bind_span(st, 10, m->asked);
	aud_bind_span(st, 11, m->class_name);
	if (m->class_name.len > 0 || m->risk != 0)
		aud_bind_word(st, 12, zw_risk_word(m->risk));
	if (has_listener_uid(m))
		aud_bind_int(st, 13, m->listener_uid);
	aud_bind_known(st, 14, m->listener_pid);
	aud_bind_span(st, 15, m->listener_exe);
	aud_bind_word(st, 16, zw_by_word(m->by));
	aud_bind_known(st, 17, m->rule);
	aud_bind_span(st, 18, m->reason);
	aud_bind_span(st, 19, m->note);
	aud_bind_count(st, 20, m->waited_ms);
	aud_bind_count(st, 21, m->n_times > 0 ? m->n_times : 1);
	aud_bind_count(st, 22, m->up_b);
	aud_bind_count(st, 23, m->down_b);
	aud_bind_known(st, 24, m->pid);
	aud_bind_known(st, 25, (uint64_t)program);
	aud_bind_argv(s, st, 26, m->argv);
	aud_bind_span(st, 27, m->cwd);
	aud_bind_bytes(st, 28, m->chain);
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
	sqlite3_stmt *st = aud_sql_stmt(s, ST_SOCK_NEW);
	if (st != NULL) {
		aud_bind_int(st, 1, s->last_id + 1);
		bind_key(st, 2, s, m->seq);
		bind_sock(s, st, m, program);
	}
	rc = run_new(s, AUD_TABLE_SOCKET, st);
	if (rc == SQLITE_DONE)
		count_new(s, m->did, m->n_times, m->up_b, m->down_b, m->t_us);
	if (rc != SQLITE_DONE || m->did == ZW_DID_AUTO)
		return rc;
	return note_seen(s, "unix", m->target.p, m->target.len);
}

static int conn_more(struct aud_store *s, const struct zw_msg_conn_event *m)
{
	sqlite3_stmt *st = aud_sql_stmt(s, ST_CONN_MORE);

	if (st != NULL) {
		bind_key(st, 1, s, m->seq);
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
	return run_more(s, AUD_TABLE_CONN, st);
}

static void bind_conn(struct aud_store *s, sqlite3_stmt *st, const struct zw_msg_conn_event *m,
		      int64_t program)
{
	aud_bind_int(st, 5, m->t_us);
	aud_bind_known(st, 6, m->phase == 2 ? (uint64_t)m->t_us : 0);
	aud_bind_word(st, 7, zw_did_word(m->did));
	aud_bind_word(st, 8, zw_via_word(m->via));
	aud_bind_span(st, 9, m->host);
	aud_bind_known(st, 10, m->port);
	aud_bind_span(st, 11, m->address);
	aud_bind_word(st, 12, zw_by_word(m->by));
	aud_bind_known(st, 13, m->rule);
	aud_bind_span(st, 14, m->reason);
	aud_bind_span(st, 15, m->note);
	aud_bind_count(st, 16, m->waited_ms);
	aud_bind_count(st, 17, m->n_times > 0 ? m->n_times : 1);
	aud_bind_count(st, 18, m->up_b);
	aud_bind_count(st, 19, m->down_b);
	aud_bind_span(st, 20, m->end);
	aud_bind_known(st, 21, m->pid);
	aud_bind_known(st, 22, (uint64_t)program);
	aud_bind_argv(s, st, 23, m->argv);
	aud_bind_span(st, 24, m->cwd);
	aud_bind_bytes(st, 25, m->chain);
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
	sqlite3_stmt *st = aud_sql_stmt(s, ST_CONN_NEW);
	if (st != NULL) {
		aud_bind_int(st, 1, s->last_id + 1);
		bind_key(st, 2, s, m->seq);
		bind_conn(s, st, m, program);
	}
	rc = run_new(s, AUD_TABLE_CONN, st);
	if (rc == SQLITE_DONE)
		count_new(s, m->did, m->n_times, m->up_b, m->down_b, m->t_us);
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
	return run_new(s, AUD_TABLE_QUESTION, st);
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
	return run_new(s, AUD_TABLE_MISC, st);
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
