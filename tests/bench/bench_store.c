/* SPDX-License-Identifier: MIT
 * How fast zwatch-audit's writing side is, and how soon a waited-for event is kept.
 *   bench_store [SECONDS [EVENTS_PER_SECOND]]      0 events/s: as fast as it goes
 *   bench_store --make STORE EVENTS SESSIONS       a store for bench_history.py
 *   bench_store --into STORE SECONDS EVENTS/S      one more session in it, at that rate
 * Prints one line per measure, among them how long SQLite alone takes for the same rows: no chain, no
 * masking, no sums, one transaction for a thousand. With a rate it exits with 1 when one event is lost or late. */
#include <stdio.h>
#include <sys/resource.h>

#include "src/audit/query.h"
#include "tests/support/audit.h"

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Half of them sockets inside, a third connections that open, the rest those that close. */
static void put_one(struct aud_writer *w, uint64_t n)
{
	char host[64];
	union zw_msg_any m;

	snprintf(host, sizeof(host), "host%llu.example.org", (unsigned long long)(n % 97));
	if (n % 2 == 0) {
		m = a_sock(n + 1, ZW_DID_AUTO);
		aud_writer_put(w, ZW_ID_sock_event, &m);
		return;
	}
	m = n % 6 == 5 ? a_conn(n - 3, 2, ZW_DID_ALLOW) : a_conn(n + 1, 0, ZW_DID_ALLOW);
	m.conn_event.host = zw_span(host);
	m.conn_event.up_b = n % 6 == 5 ? 1234 : 0;
	aud_writer_put(w, ZW_ID_conn_event, &m);
}

/* Of this process: what an event costs does not depend on who else uses the machine. */
static double cpu_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static int bench_rate(const struct place *p, double seconds, double rate, double *ret_row_us)
{
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	int64_t from_us = zw_mono_us(), end_us = from_us + (int64_t)(seconds * 1e6);
	uint64_t n = 0;
	struct aud_closing c;
	double from_cpu_us = cpu_us();

	for (int64_t now_us; (now_us = zw_mono_us()) < end_us;) {
		uint64_t want =
			rate > 0 ? (uint64_t)((double)(now_us - from_us) * rate / 1e6) : n + 500;

		/* No more at once than a channel hands over: what waits for this process waits there. */
		for (int k = 0; n < want && k < 2000; k++)
			put_one(w, n++);
		int64_t due_ms = aud_writer_due_ms(w);
		if (due_ms > 0 && rate > 0)
			poll(NULL, 0, 1);
		do
			aud_writer_run(w);
		while (rate <= 0 && aud_writer_due_ms(w) == 0);
	}
	int r = aud_writer_end(w, zw_now_us(), 0, zw_span("exited"), 1000, &c);
	double took_s = (double)(zw_mono_us() - from_us) / 1e6;
	aud_writer_free(w);
	printf("events %llu in %.2f s: %.0f/s, %.1f us of CPU each, rows %llu, lost %llu, status "
	       "%d\n",
	       (unsigned long long)n, took_s, (double)n / took_s,
	       (cpu_us() - from_cpu_us) / (double)(n > 0 ? n : 1), (unsigned long long)c.n_rows,
	       (unsigned long long)e.n_lost, r);
	*ret_row_us = (cpu_us() - from_cpu_us) / (double)(c.n_rows > 0 ? c.n_rows : 1);
	return r < 0 || e.n_lost > 0 || (rate > 0 && took_s > seconds + 1) ? 1 : 0;
}

static void bench_commit(const struct place *p)
{
	enum { N = 2000 };
	static int64_t us[N];
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);

	for (int i = 0; i < N; i++) {
		union zw_msg_any m = a_sock((uint64_t)i + 1, ZW_DID_ALLOW);

		m.sock_event.want_commit = 1;
		us[i] = zw_mono_us();
		aud_writer_put(w, ZW_ID_sock_event, &m);
		aud_writer_run(w);
		us[i] = zw_mono_us() - us[i];
	}
	writer_stop(w);
	qsort(us, N, sizeof(us[0]), by_value);
	printf("commit of one event: p50 %lld us, p99 %lld us, worst %lld us\n",
	       (long long)us[N / 2], (long long)us[N * 99 / 100], (long long)us[N - 1]);
}

/* Copies a table row by row. Returns how many; *us grows by what the insertions took. */
static int64_t raw_table(sqlite3 *db, const char *table, int64_t *us)
{
	zw_autofree char *read = zw_xasprintf("SELECT * FROM w.%s LIMIT 200000", table);
	sqlite3_stmt *from = NULL, *to = NULL;
	int64_t n = 0;

	sqlite3_prepare_v2(db, read, -1, &from, NULL);
	int n_columns = sqlite3_column_count(from);
	struct zw_buf sql;
	zw_buf_init(&sql, 1000);
	zw_buf_addf(&sql, "INSERT INTO main.%s VALUES (?", table);
	for (int i = 1; i < n_columns; i++)
		zw_buf_addf(&sql, ",?");
	zw_buf_addf(&sql, ")");
	sqlite3_prepare_v3(db, (char *)zw_buf_head(&sql), (int)sql.len, SQLITE_PREPARE_PERSISTENT,
			   &to, NULL);
	zw_buf_fini(&sql);
	while (sqlite3_step(from) == SQLITE_ROW) {
		int64_t from_us = zw_mono_us();

		if (n % 1000 == 0)
			sqlite3_exec(db, n > 0 ? "COMMIT; BEGIN" : "BEGIN", NULL, NULL, NULL);
		for (int i = 0; i < n_columns; i++)
			sqlite3_bind_value(to, i + 1, sqlite3_column_value(from, i));
		if (sqlite3_step(to) == SQLITE_DONE)
			n++;
		sqlite3_reset(to);
		*us += zw_mono_us() - from_us;
	}
	sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	sqlite3_finalize(from);
	sqlite3_finalize(to);
	return n;
}

/* What SQLite alone takes: the schema, and the rows that the writer has just written, copied into it
 * by one prepared statement a table. */
static void bench_raw(const struct place *p, double writer_us)
{
	static const char *const tables[] = {"socket_events", "connections"};
	struct place to;
	struct ear e;
	sqlite3 *db = NULL;
	int64_t n = 0, us = 0;

	place_make(&to);
	writer_stop(writer_start(&to, &e)); /* the schema */
	if (sqlite3_open(to.path, &db) != SQLITE_OK)
		return;
	zw_autofree char *attach = zw_xasprintf(
		"PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON; ATTACH '%s' AS w",
		p->path);
	sqlite3_exec(db, attach, NULL, NULL, NULL);
	for (size_t i = 0; i < ZW_N_ELEMENTS(tables); i++)
		n += raw_table(db, tables[i], &us);
	sqlite3_close(db);
	place_drop(&to);
	printf("SQLite alone: %lld of these rows, %.1f us each; the writer: %.1f us a row, %.1f "
	       "times "
	       "that\n",
	       (long long)n, (double)us / (double)(n > 0 ? n : 1), writer_us,
	       n > 0 && us > 0 ? writer_us * (double)n / (double)us : 0);
}

static int64_t answered_us;

static void on_answered(uint64_t seq, bool is_kept, int64_t no, void *arg)
{
	(void)seq;
	(void)no;
	(void)arg;
	answered_us = is_kept ? zw_mono_us() : 0;
}

/* Grants in a flood: how long one takes from the moment at which it is asked for, whatever is being
 * written then. Under a flood of @rate events a second, one each 5 ms. */
static int bench_grant(const struct place *p, double rate)
{
	enum { N = 400, EACH_US = 5000 };
	static int64_t us[N];
	struct ear e;
	struct aud_writer_ops ops = ear_ops;
	struct zw_msg_aud_open open = an_opening(p->path);
	uint64_t n = 0, want;

	e = (struct ear){0};
	ops.on_committed = on_answered;
	struct aud_writer *w = aud_writer_new(&open, getpid(), &ops, &e);
	aud_writer_open(w);
	int64_t from_us = zw_mono_us();
	for (int i = 0; i < N;) {
		int64_t now_us = zw_mono_us(), at_us = from_us + (i + 1) * EACH_US;

		want = (uint64_t)((double)(now_us - from_us) * rate / 1e6);
		for (int k = 0; n < want && k < 500; k++)
			put_one(w, n++);
		if (now_us >= at_us) {
			union zw_msg_any m =
				a_sock(((uint64_t)1 << 56) + (uint64_t)i, ZW_DID_ALLOW);

			m.sock_event.want_commit = 1;
			answered_us = 0;
			aud_writer_put(w, ZW_ID_sock_event, &m);
			while (answered_us == 0 && e.n_lost == 0)
				aud_writer_run(w);
			us[i++] = answered_us - at_us;
		} else if (aud_writer_due_ms(w) == 0) {
			aud_writer_run(w);
		} else {
			usleep(200);
			aud_writer_run(w);
		}
	}
	writer_stop(w);
	qsort(us, N, sizeof(us[0]), by_value);
	printf("grant while %.0f events/s come: p50 %lld us, p99 %lld us, worst %lld us\n", rate,
	       (long long)us[N / 2], (long long)us[N * 99 / 100], (long long)us[N - 1]);
	return e.n_lost > 0;
}

static void bench_open(const struct place *p)
{
	int64_t us[20];
	struct ear e;

	for (size_t i = 0; i < ZW_N_ELEMENTS(us); i++) {
		us[i] = zw_mono_us();
		struct aud_writer *w = writer_start(p, &e);
		us[i] = zw_mono_us() - us[i];
		writer_stop(w);
	}
	qsort(us, ZW_N_ELEMENTS(us), sizeof(us[0]), by_value);
	printf("open of an existing store, session begun: p50 %lld us, worst %lld us\n",
	       (long long)us[10], (long long)us[19]);
}

static void bench_read(const struct place *p)
{
	struct aud_query *q = NULL;
	struct aud_event_page page = {0};
	struct aud_session_page sessions = {0};
	int64_t from_us = zw_mono_us();

	if (aud_query_open(p->path, &q) < 0 || aud_sessions(q, 0, 100, &sessions) < 0)
		return;
	int64_t list_us = zw_mono_us() - from_us;
	from_us = zw_mono_us();
	aud_events(q, 1, AUD_BACKWARD, 0, 200, &page);
	int64_t page_us = zw_mono_us() - from_us;
	printf("history opened: %lld us; newest 200 events of session 1: %lld us (%zu rows)\n",
	       (long long)list_us, (long long)page_us, page.n_rows);
	aud_event_page_clear(&page);
	aud_session_page_clear(&sessions);
	aud_query_free(q);
}

/* A store of its own at @path, which is there afterwards. */
static int make(const char *path, uint64_t n_events, uint64_t n_sessions)
{
	struct place p;
	struct ear e;

	snprintf(p.path, sizeof(p.path), "%s", path);
	for (uint64_t s = 0; s < n_sessions; s++) {
		struct aud_writer *w = writer_start(&p, &e);

		/* Of a connection that closes there is no new row: a sixth of what is put. */
		for (uint64_t n = 0; n < n_events / n_sessions * 6 / 5; n++) {
			put_one(w, n);
			while (n % 500 == 0 && aud_writer_due_ms(w) == 0)
				aud_writer_run(w);
		}
		if (writer_stop(w) < 0 || e.n_lost > 0)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	double row_us = 0;

	if (argc == 5 && strcmp(argv[1], "--make") == 0)
		return make(argv[2], strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
	if (argc == 5 && strcmp(argv[1], "--into") == 0) {
		struct place into;

		snprintf(into.path, sizeof(into.path), "%s", argv[2]);
		return bench_rate(&into, strtod(argv[3], NULL), strtod(argv[4], NULL), &row_us);
	}
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 2,
	       rate = argc > 2 ? strtod(argv[2], NULL) : 0;
	struct place p;

	place_make(&p);
	int r = bench_rate(&p, seconds, rate, &row_us);
	bench_raw(&p, row_us);
	bench_read(&p);
	bench_commit(&p);
	bench_grant(&p, rate > 0 ? rate : 50000);
	bench_open(&p);
	place_drop(&p);
	return r;
}
