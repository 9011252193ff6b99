/* SPDX-License-Identifier: MIT
 * How fast zwatch-audit's writing side is, and how soon a waited-for event is kept.
 *   bench_store [SECONDS [EVENTS_PER_SECOND]]      0 events/s: as fast as it goes
 *   bench_store --make STORE EVENTS SESSIONS       a store for bench_history.py
 *   bench_store --into STORE SECONDS EVENTS/S      one more session in it, at that rate
 * Prints one line per measure. With a rate it exits with 1 when one event is lost or late. */
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

static int bench_rate(const struct place *p, double seconds, double rate)
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
		if (aud_writer_due_ms(w) == 0)
			aud_writer_run(w);
		else if (rate > 0)
			poll(NULL, 0, 1);
	}
	int r = aud_writer_end(w, zw_now_us(), 0, zw_span("exited"), 1000, &c);
	double took_s = (double)(zw_mono_us() - from_us) / 1e6;
	aud_writer_free(w);
	printf("events %llu in %.2f s: %.0f/s, %.1f us of CPU each, rows %llu, lost %llu, status "
	       "%d\n",
	       (unsigned long long)n, took_s, (double)n / took_s,
	       (cpu_us() - from_cpu_us) / (double)(n > 0 ? n : 1), (unsigned long long)c.n_rows,
	       (unsigned long long)e.n_lost, r);
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
			if (n % 500 == 0)
				aud_writer_run(w);
		}
		if (writer_stop(w) < 0 || e.n_lost > 0)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "--make") == 0)
		return make(argv[2], strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
	if (argc == 5 && strcmp(argv[1], "--into") == 0) {
		struct place into;

		snprintf(into.path, sizeof(into.path), "%s", argv[2]);
		return bench_rate(&into, strtod(argv[3], NULL), strtod(argv[4], NULL));
	}
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 2,
	       rate = argc > 2 ? strtod(argv[2], NULL) : 0;
	struct place p;

	place_make(&p);
	int r = bench_rate(&p, seconds, rate);
	bench_read(&p);
	bench_commit(&p);
	bench_open(&p);
	place_drop(&p);
	return r;
}
