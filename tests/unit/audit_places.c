/* SPDX-License-Identifier: MIT
 * Rare values over many rows: found where they are, and looked for nowhere else. */
#include "tests/support/test.h"

#include "src/audit/filter.h"
#include "src/audit/places.h"
#include "src/audit/prune.h"
#include "src/audit/scan.h"
#include "src/audit/store.h"
#include "src/base/err.h"
#include "tests/support/audit.h"

#define N	20000 /* rows of a session: two blocks */
#define N_RARE	100   /* the row that differs, in the first block */
#define BLOCK_N 16384

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

/* Equal rows, but for three: a host, a path and a program that nothing else has. */
static void make_session(const struct place *p, bool has_rare)
{
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);

	for (uint64_t n = 1; n <= N; n++) {
		union zw_msg_any m = a_sock(n, ZW_DID_AUTO);
		enum zw_msg_id id = ZW_ID_sock_event;

		if (has_rare && n == N_RARE) {
			m = a_conn(n, 2, ZW_DID_DENY);
			m.conn_event.host = zw_span("Rare.Example.org");
			id = ZW_ID_conn_event;
		} else if (has_rare && n == N_RARE + 1) {
			m.sock_event.target = zw_span("/run/rare/one.sock");
		} else if (has_rare && n == N_RARE + 2) {
			m.sock_event.exe = zw_span("/opt/bin/rareprog");
		}
		aud_writer_put(w, id, &m);
		while (aud_writer_due_ms(w) == 0)
			aud_writer_run(w);
	}
	assert_int_equal(writer_stop(w), 0);
	assert_int_equal(e.n_lost, 0);
}

static struct aud_query *query(const struct place *p)
{
	struct aud_query *q = NULL;

	assert_int_equal(aud_query_open(p->path, &q), 0);
	return q;
}

static struct aud_filter *filter(const char *text)
{
	struct aud_filter_error error;
	struct aud_filter *f = NULL;

	assert_int_equal(aud_filter_parse(text, 0, &f, &error), 0);
	return f;
}

static size_t n_found(const struct place *p, const char *text, enum aud_order order)
{
	struct aud_query *q = query(p);
	struct aud_filter *f = filter(text);
	struct aud_event_page page = {0};

	assert_int_equal(aud_find(q, f, 0, order, 0, 100, &page), 0);
	size_t n = page.n_rows;
	aud_event_page_clear(&page);
	aud_filter_free(f);
	aud_query_free(q);
	return n;
}

/* Rows that a scan looks at for all that fits, and how many do. */
static int64_t n_looked(const struct place *p, const char *text, int64_t *ret_found)
{
	struct aud_query *q = query(p);
	struct aud_filter *f = filter(text);
	struct aud_scan *s = aud_scan_new(q, f, 0, 0);

	*ret_found = 0;
	while (aud_scan_count(s, 1000, ret_found) > 0)
		;
	int64_t n = aud_scan_n_looked(s);
	aud_scan_free(s);
	aud_filter_free(f);
	aud_query_free(q);
	return n;
}

static void test_rare__found_without_reading_all(void **state)
{
	static const struct {
		const char *filter;
		int64_t n;
	} cases[] = {
		{"host:rare.example.org", 1},
		{"host=Rare.Example.org", 1},
		{"host:none.example.org", 0},
		{"path:/run/rare", 1},
		{"path:/run/rare/", 1},
		{"path:/run/rare/one.sock", 1},
		{"path:/run/rar", 0},
		{"proc:rareprog", 1},
		{"proc:/opt/bin/rareprog", 1},
		{"proc:rare*", 1},
		{"proc~^/opt/", 1},
		{"host:rare.example.org or proc:rareprog", 2},
		{"did:auto proc:rareprog", 1},
		{"proc:rareprog -did:auto", 0},
	};
	struct place *p = *state;
	int64_t n = 0;

	make_session(p, true);
	make_session(p, false);
	for (size_t i = 0; i < ZW_N_ELEMENTS(cases); i++) {
		const char *text = cases[i].filter;

		assert_in_range(n_looked(p, text, &n), 1, 2 * BLOCK_N);
		assert_int_equal(n, cases[i].n);
		assert_int_equal(n_found(p, text, AUD_FORWARD), cases[i].n);
		assert_int_equal(n_found(p, text, AUD_BACKWARD), cases[i].n);
	}
}

static void test_frequent__all_of_them(void **state)
{
	static const char *const filters[] = {"path:/run/docker.sock",	      "proc:docker",
					      "not host:rare.example.org",    "path:docker",
					      "proc:docker or path:/nowhere", "docker"};
	static const int64_t n_all[] = {N - 2, N - 2, N - 1, N - 2, N - 2, N - 1};
	struct place *p = *state;
	int64_t n = 0;

	make_session(p, true);
	for (size_t i = 0; i < ZW_N_ELEMENTS(filters); i++) {
		n_looked(p, filters[i], &n);
		assert_int_equal(n, n_all[i]);
	}
}

/* A session of before: nothing is known of it, and all of it is read. */
static void test_older_session__read_as_a_whole(void **state)
{
	struct place *p = *state;
	int64_t n = 0;

	make_session(p, true);
	make_session(p, false);
	sqlite3 *db = NULL;
	assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
	sqlite3_exec(db,
		     "DELETE FROM places WHERE block < 2 << 18;"
		     "UPDATE meta SET value = 2 WHERE name = 'places_from'",
		     NULL, NULL, NULL);
	sqlite3_close(db);
	assert_in_range(n_looked(p, "host:rare.example.org", &n), N, N + BLOCK_N);
	assert_int_equal(n, 1);
}

static int64_t number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *st = NULL;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	int64_t n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return n;
}

/* What is removed is not named there any more; what stays is. */
static void test_removed__not_named(void **state)
{
	static const char rare[] = "SELECT count(*) FROM places WHERE value = 'rare.example.org'";
	static const char docker[] = "SELECT count(*) FROM places WHERE value = '/run/docker.sock'";
	struct place *p = *state;

	make_session(p, true);
	make_session(p, false);
	struct aud_store *s = aud_store_new(p->path);
	assert_int_equal(aud_store_open(s), 0);
	sqlite3 *db = aud_store_db(s);
	assert_int_equal(number(db, rare), 1);
	assert_int_equal(number(db, docker), 4);
	int64_t n_all = number(db, "SELECT count(*) FROM places");
	assert_int_equal(aud_prune_event(db, 1, N_RARE, "test"), 0);
	assert_int_equal(number(db, rare), 0);
	assert_int_equal(number(db, docker), 4);
	/* The host, and its program, which nobody else in the block is. */
	assert_int_equal(number(db, "SELECT count(*) FROM places"), n_all - 2);
	assert_int_equal(aud_prune_session(db, 1, "test"), 0);
	assert_int_equal(number(db, docker), 2);
	assert_int_equal(number(db, "SELECT count(*) FROM places WHERE block < 2 << 18"), 0);
	aud_store_free(s);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_rare__found_without_reading_all),
		T(test_frequent__all_of_them),
		T(test_older_session__read_as_a_whole),
		T(test_removed__not_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
