/* SPDX-License-Identifier: MIT
 * The chain of a session: every change made behind zwatch's back is found and named, what was
 * removed on purpose is not taken for one, and a forged chain fails against a head kept elsewhere. */
#include "tests/support/test.h"

#include <ctype.h>
#include <sqlite3.h>

#include "src/audit/prune.h"
#include "src/audit/store.h"
#include "src/audit/verify.h"
#include "src/base/err.h"
#include "tests/support/audit.h"

struct found {
	int n;
	int64_t session, event;
	char what[128];
};

static int setup(void **state)
{
	struct place *p = zw_xnew(struct place);

	place_make(p);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	place_drop(*state);
	free(*state);
	return 0;
}

/* A session: a refused socket, a connection that opens and closes in two batches, a question. */
static void make_session(const struct place *p, char head[65])
{
	struct zw_msg_aud_open open = an_opening(p->path);
	struct ear e = {0};
	/* As of a process of its own: else the second session would take up the first. */
	static pid_t pid = 900000000;
	struct aud_writer *w = aud_writer_new(&open, pid++, &ear_ops, &e);
	union zw_msg_any m = a_sock(1, ZW_DID_DENY);
	struct aud_closing c;

	aud_writer_open(w);
	assert_int_equal(e.status, 0);
	m.sock_event.want_commit = true;
	aud_writer_put(w, ZW_ID_sock_event, &m);
	m = a_conn(2, 0, ZW_DID_ALLOW);
	m.conn_event.want_commit = true;
	aud_writer_put(w, ZW_ID_conn_event, &m);
	run_for(w, 5);
	m = a_conn(2, 2, ZW_DID_ALLOW);
	m.conn_event.up_b = 1234;
	aud_writer_put(w, ZW_ID_conn_event, &m);
	m = (union zw_msg_any){.question_event = {.question = 1,
						  .t_us = INT64_C(1796042590118233),
						  .target = zw_span("/run/docker.sock"),
						  .did = ZW_DID_DENY,
						  .text = zw_span("docker wants root")}};
	aud_writer_put(w, ZW_ID_question_event, &m);
	assert_int_equal(aud_writer_end(w, zw_now_us(), 0, zw_span("exited"), 20000, &c), 0);
	assert_int_equal(c.head_len, AUD_HASH_B);
	if (head != NULL)
		aud_hash_text(c.head, head);
	aud_writer_free(w);
}

static sqlite3 *open_db(const struct place *p)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
	return db;
}

static void forge(const struct place *p, const char *sql)
{
	sqlite3 *db = open_db(p);

	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void on_fault(int64_t session, int64_t event, const char *what, void *arg)
{
	struct found *f = arg;

	if (f->n++ > 0)
		return;
	f->session = session;
	f->event = event;
	zw_strlcpy(f->what, what, sizeof(f->what));
}

static struct found verify(const struct place *p, int64_t session, const char *head,
			   struct aud_verify *ret)
{
	struct found f = {0};
	sqlite3 *db = open_db(p);

	assert_int_equal(aud_verify(db, session, head, on_fault, &f, ret), 0);
	assert_int_equal(ret->n_faults, f.n);
	sqlite3_close(db);
	return f;
}

static void test_untouched_record__fits(void **state)
{
	struct aud_verify v;
	char head[65], shout[65];

	make_session(*state, head);
	make_session(*state, NULL);
	assert_int_equal(verify(*state, 0, "", &v).n, 0);
	assert_int_equal(v.n_sessions, 2);
	assert_int_equal(v.n_events, 6);
	assert_int_equal(verify(*state, 1, head, &v).n, 0);
	for (size_t i = 0; i < sizeof(head); i++)
		shout[i] = (char)toupper((unsigned char)head[i]);
	shout[16] = '\0';
	assert_int_equal(verify(*state, 1, shout, &v).n, 0);
}

/* Each is one thing that somebody could do to the file, and where it must be found. */
static void test_every_change__is_found(void **state)
{
	static const struct {
		const char *sql, *what;
		int64_t event;
	} cases[] = {
		{"UPDATE socket_events SET did = 'auto'", "changed", 1},
		{"UPDATE socket_events SET target = '/tmp/x'", "changed", 1},
		{"UPDATE socket_events SET t_us = t_us + 1", "changed", 1},
		{"UPDATE socket_events SET note = ''", "changed", 1},
		{"UPDATE socket_events SET argv = NULL", "changed", 1},
		{"UPDATE connections SET up_b = 1", "changed", 2},
		{"UPDATE connections SET host = 'a.example'", "changed", 2},
		{"UPDATE questions SET shown = 'nothing'", "changed", 3},
		{"UPDATE programs SET exe = '/bin/true' WHERE exe LIKE '%docker'", "changed", 1},
		{"DELETE FROM socket_events", "gone", 1},
		{"DELETE FROM questions", "gone", 3},
		{"INSERT INTO misc VALUES ((1 << 32) + 9, 1, 5, 'mode', 'x')", "added", 9},
		{"DELETE FROM links WHERE event = (1 << 32) + 1", "missing before it", 2},
		{"DELETE FROM links WHERE event = (1 << 32) + 3", "missing before it", INT64_MIN},
		{"UPDATE links SET row_hash = zeroblob(32) WHERE event = (1 << 32) + 2",
		 "does not follow", 2},
		{"UPDATE links SET link = x'00' WHERE n = 1", "missing before it", 1},
		{"UPDATE sessions SET argv = x'6c73'", "how it began", 0},
		{"UPDATE sessions SET mode = 'watch'", "how it began", 0},
		{"UPDATE sessions SET exit_status = 1", "how it ended", 0},
		{"UPDATE sessions SET n_lost = 0, how = 'crashed'", "how it ended", 0},
		{"DELETE FROM sessions WHERE id = 1", "gone, and nothing says", 0},
		{"INSERT INTO tombstones (t_us, session, event, n_events, hash, why) VALUES (1, 1,"
		 " (1 << 32) + 1, 1, zeroblob(32), 'x'); DELETE FROM socket_events",
		 "gone", 1},
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(cases); i++) {
		struct place p;
		struct aud_verify v;

		(void)state;
		place_make(&p);
		make_session(&p, NULL);
		make_session(&p, NULL);
		/* The second session shows that the finding stays with the first. */
		sqlite3 *db = open_db(&p);
		zw_autofree char *sql = zw_xasprintf("BEGIN; %s; COMMIT", cases[i].sql);
		if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
			fail_msg("%s: %s", sql, sqlite3_errmsg(db));
		sqlite3_close(db);
		struct found f = verify(&p, 0, "", &v);
		if (f.n == 0 || strstr(f.what, cases[i].what) == NULL ||
		    (cases[i].event != INT64_MIN && f.event != cases[i].event) || f.session != 1)
			fail_msg("%s: found %d: session %lld event %lld '%s'", cases[i].sql, f.n,
				 (long long)f.session, (long long)f.event, f.what);
		place_drop(&p);
	}
}

/* Whoever rewrites the whole chain can make it fit; the head that was kept outside tells. */
static void test_rewritten_chain__fails_against_the_head(void **state)
{
	struct aud_verify v;
	char head[65];

	make_session(*state, head);
	make_session(*state, NULL);
	/* A chain that fits in itself, but is not the one whose head was kept: of another session. */
	assert_int_equal(verify(*state, 2, head, &v).n, 1);
	struct found f = verify(*state, 2, head, &v);
	assert_non_null(strstr(f.what, "never had the head"));
	assert_int_equal(verify(*state, 1, head, &v).n, 0);
}

/* The formula of data/schema/002.sql, worked out by another program: writer and verifier share the
 * code, and would agree on a wrong one. */
static void test_link__known_answers(void **state)
{
	uint8_t row[AUD_HASH_B], first[AUD_HASH_B], second[AUD_HASH_B];
	char text[2 * AUD_HASH_B + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(row); i++)
		row[i] = (uint8_t)i;
	aud_seal_link(NULL, 7, 0, AUD_SEAL_BEGUN, row, first);
	aud_hash_text(first, text);
	assert_string_equal(text, "dc7be32ea3039a1edd419804953f0d07"
				  "854b13e23c1f40f12ac22c429d7ac4ed");
	aud_seal_link(first, 7, 1, (INT64_C(7) << 32) + 1, row, second);
	aud_hash_text(second, text);
	assert_string_equal(text, "39d2426edf31d403de62429ba29fc04e"
				  "0ba30ed5d9da6a44618dd669c8a639e9");
}

static void test_removed_on_purpose__still_fits(void **state)
{
	struct place *p = *state;
	struct aud_verify v;
	char head[65];

	make_session(p, head);
	make_session(p, NULL);
	sqlite3 *db = open_db(p);
	assert_int_equal(aud_prune_event(db, 2, 2, "test"), 0);
	assert_int_equal(aud_prune_event(db, 2, 2, "test"), ZW_E_NOT_FOUND);
	assert_int_equal(verify(p, 0, "", &v).n, 0);
	assert_int_equal(v.n_events, 5);
	assert_int_equal(aud_prune_session(db, 1, "test"), 0);
	assert_int_equal(aud_prune_rest(db), 0);
	sqlite3_close(db);
	assert_int_equal(verify(p, 0, "", &v).n, 0);
	assert_int_equal(v.n_removed, 1);
	assert_int_equal(verify(p, 1, head, &v).n, 0);
	assert_int_equal(verify(p, 1, "0000000000000000", &v).n, 1);
}

static void test_removed_session__leaves_nothing_in_the_file(void **state)
{
	struct place *p = *state;
	size_t len = 0;
	char *text = NULL;

	make_session(p, NULL);
	struct aud_store *s = aud_store_new(p->path);
	assert_int_equal(aud_store_open(s), 0);
	assert_int_equal(zw_read_file(p->path, 10 << 20, &text, &len), 0);
	assert_non_null(memmem(text, len, "docker.sock", 11));
	free(text);
	assert_int_equal(aud_prune_session(aud_store_db(s), 1, "test"), 0);
	assert_int_equal(aud_prune_rest(aud_store_db(s)), 0);
	assert_int_equal(aud_store_checkpoint(s, true), 0);
	aud_store_free(s);
	assert_int_equal(zw_read_file(p->path, 10 << 20, &text, &len), 0);
	assert_null(memmem(text, len, "docker", 6));
	assert_null(memmem(text, len, "registry.pkgs", 13));
	free(text);
}

static void test_running_session__is_not_removed(void **state)
{
	struct place *p = *state;
	static struct aud_prune plan;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	sqlite3 *db = open_db(p);

	assert_int_equal(aud_prune_add(db, 1, &plan), ZW_E_BUSY);
	assert_int_equal(aud_prune_add(db, 7, &plan), ZW_E_NOT_FOUND);
	assert_int_equal(aud_prune_find(db, INT64_MAX, 1, &plan), 0);
	assert_int_equal(plan.n_sessions, 0);
	assert_int_equal(writer_stop(w), 0);
	assert_int_equal(aud_prune_find(db, INT64_MAX, 0, &plan), 0);
	assert_int_equal(plan.n_sessions, 1);
	sqlite3_close(db);
}

static void test_too_much__goes_oldest_first(void **state)
{
	struct place *p = *state;
	static struct aud_prune plan;
	int64_t used = 0;

	for (int i = 0; i < 20; i++)
		make_session(p, NULL);
	sqlite3 *db = open_db(p);
	assert_int_equal(aud_prune_used(db, &used), 0);
	assert_int_equal(aud_prune_find(db, 0, used, &plan), 0);
	assert_int_equal(plan.n_sessions, 0);
	assert_int_equal(aud_prune_find(db, 0, used / 2, &plan), 0);
	assert_in_range(plan.n_sessions, 8, 14);
	for (size_t i = 0; i < plan.n_sessions; i++)
		assert_int_equal(plan.sessions[i], i + 1);
	assert_int_equal(aud_prune_find(db, 0, 0, &plan), 0);
	assert_int_equal(plan.n_sessions, 0);
	sqlite3_close(db);
}

/* A removal that is cut short: the session is gone from the lists, the rest goes later. */
static void test_cut_short_removal__is_finished_later(void **state)
{
	struct place *p = *state;
	struct aud_verify v;

	make_session(p, NULL);
	make_session(p, NULL);
	forge(p, "INSERT INTO tombstones (t_us, session, n_events, hash, why) SELECT 1, 1, 3, link,"
		 " 'x' FROM links WHERE session = 1 ORDER BY n DESC LIMIT 1;"
		 "DELETE FROM sessions WHERE id = 1; DELETE FROM sums WHERE session = 1");
	assert_int_equal(verify(p, 0, "", &v).n, 0);
	sqlite3 *db = open_db(p);
	assert_int_equal(aud_prune_rest(db), 0);
	sqlite3_stmt *st = NULL;
	sqlite3_prepare_v2(
		db,
		"SELECT (SELECT count(*) FROM links WHERE session = 1) + (SELECT count(*)"
		" FROM socket_events WHERE session = 1)",
		-1, &st, NULL);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	assert_int_equal(sqlite3_column_int(st, 0), 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
}

static void test_bad_head__is_refused(void **state)
{
	struct aud_verify v;
	struct found f = {0};

	make_session(*state, NULL);
	sqlite3 *db = open_db(*state);
	assert_int_equal(aud_verify(db, 1, "abc", on_fault, &f, &v), ZW_E_SYNTAX);
	assert_int_equal(aud_verify(db, 1, "zzzzzzzzzzzzzzzzzzzzzz", on_fault, &f, &v),
			 ZW_E_SYNTAX);
	assert_int_equal(aud_verify(db, 9, "", on_fault, &f, &v), ZW_E_NOT_FOUND);
	sqlite3_close(db);
}

/* A store of schema 1 is copied, then gets what is new; its sessions have no chain and say so. */
static void test_older_store__is_migrated_after_a_copy(void **state)
{
	struct place *p = *state;
	struct aud_verify v;

	make_session(p, NULL);
	forge(p, "DROP TABLE links; DROP TABLE tombstones; DROP TABLE tags; DROP TABLE notes; DROP "
		 "TABLE seen; DROP "
		 "INDEX socket_events_notable; DROP INDEX connections_notable; PRAGMA user_version "
		 "= 1;"
		 "UPDATE meta SET value = '1' WHERE name = 'schema'");
	make_session(p, NULL);
	zw_autofree char *copy = zw_xasprintf("%s.schema-1", p->path);
	assert_int_equal(access(copy, R_OK), 0);
	assert_int_equal(verify(p, 0, "", &v).n, 0);
	assert_int_equal(v.n_unsealed, 1);
	assert_int_equal(v.n_sessions, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_untouched_record__fits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_every_change__is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rewritten_chain__fails_against_the_head, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_link__known_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_removed_on_purpose__still_fits, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_removed_session__leaves_nothing_in_the_file,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_running_session__is_not_removed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_too_much__goes_oldest_first, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut_short_removal__is_finished_later, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_bad_head__is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_older_store__is_migrated_after_a_copy, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
