/* SPDX-License-Identifier: MIT
 * The writing side, on real files: what is kept, when that is told, and what happens when a file
 * does not behave. Reading back is done by SQLite itself. */
#include "tests/support/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "src/audit/ident.h"
#include "src/audit/store.h"
#include "src/base/err.h"
#include "tests/support/audit.h"

static void limit_files(rlim_t size)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = size;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int setup(void **state)
{
	struct place *p = zw_xnew(struct place);

	place_make(p);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	limit_files(RLIM_INFINITY);
	place_drop(*state);
	free(*state);
	return 0;
}

/* One value out of the store, as text. */
static const char *ask(const struct place *p, const char *sql)
{
	static char answer[4096];
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;

	zw_strlcpy(answer, "(nothing)", sizeof(answer));
	assert_int_equal(sqlite3_open_v2(p->path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	sqlite3_busy_timeout(db, 2000);
	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
		zw_strlcpy(answer, sqlite3_errmsg(db), sizeof(answer));
	else if (sqlite3_step(st) == SQLITE_ROW && sqlite3_column_text(st, 0) != NULL)
		zw_strlcpy(answer, (const char *)sqlite3_column_text(st, 0), sizeof(answer));
	sqlite3_finalize(st);
	sqlite3_close(db);
	return answer;
}

#define assert_store(p, sql, want) assert_string_equal(ask(p, sql), want)

static void put_wanted(struct aud_writer *w, uint64_t seq)
{
	union zw_msg_any m = a_sock(seq, ZW_DID_ALLOW);

	m.sock_event.want_commit = 1;
	aud_writer_put(w, ZW_ID_sock_event, &m);
}

/* -- what is kept -------------------------------------------------------------------------------- */

static void test_new_store__has_the_settings(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);

	assert_int_equal(e.status, 0);
	assert_int_equal(e.session, 1);
	assert_int_equal(writer_stop(w), 0);
	assert_store(p, "PRAGMA user_version", "4");
	assert_store(p, "PRAGMA auto_vacuum", "2");
	assert_store(p, "PRAGMA journal_mode", "wal");
	assert_store(p, "PRAGMA integrity_check", "ok");
	assert_store(p, "SELECT value FROM meta WHERE name = 'schema'", "4");
	assert_store(
		p, "SELECT agent || ' ' || mode || ' ' || how || ' ' || exit_status FROM sessions",
		"claude guard exited 0");
}

static void test_modes__folder_0700_files_0600(void **state)
{
	static const char *const tails[] = {"", "-wal", "-shm"};
	struct place *p = *state;
	struct stat st;
	struct ear e;
	mode_t mask = umask(022);
	struct aud_writer *w = writer_start(p, &e);

	assert_int_equal(stat(p->folder, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	for (size_t i = 0; i < ZW_N_ELEMENTS(tails); i++) {
		zw_autofree char *name = zw_xasprintf("%s%s", p->path, tails[i]);

		assert_int_equal(stat(name, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
	}
	writer_stop(w);
	/* What somebody opened wide is narrowed again. */
	chmod(p->folder, 0755);
	chmod(p->path, 0644);
	w = writer_start(p, &e);
	assert_int_equal(stat(p->folder, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(p->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	writer_stop(w);
	umask(mask);
}

static void test_socket__one_row_with_everything(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	union zw_msg_any m = a_sock((UINT64_C(16) << 56) | 5, ZW_DID_DENY);

	aud_writer_put(w, ZW_ID_sock_event, &m);
	run_for(w, 80);
	writer_stop(w);
	assert_store(p, "SELECT count(*) FROM socket_events", "1");
	assert_store(
		p,
		"SELECT no || '|' || kind || '|' || did || '|' || op || '|' || target || '|' || "
		"asked"
		" || '|' || class || '|' || risk || '|' || listener_uid || '|' || listener_exe ||"
		" '|' || by || '|' || ifnull(rule, 'none') || '|' || reason || '|' || pid || '|' ||"
		" exe || '|' || hex(argv) || '|' || hex(chain) FROM events",
		"1|unix|deny|connect|/run/docker.sock|/var/run/docker.sock|docker|CRITICAL|0|"
		"/usr/bin/dockerd|user|none|refused by the user|4711|/usr/bin/docker|"
		"646F636B657200636F6D706F7365007570|3435303220636C617564650034363838"
		"2062617368");
	assert_store(p, "SELECT source || ' ' || seq FROM socket_events", "16 5");
}

static void test_connection__phases_are_one_row(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	union zw_msg_any m = a_conn(9, 0, ZW_DID_ALLOW);

	aud_writer_put(w, ZW_ID_conn_event, &m);
	run_for(w, 80);
	m = a_conn(9, 1, ZW_DID_ALLOW);
	m.conn_event.up_b = 100;
	m.conn_event.down_b = 2000;
	m.conn_event.address = zw_span("104.16.3.35");
	aud_writer_put(w, ZW_ID_conn_event, &m);
	run_for(w, 80);
	assert_store(p, "SELECT n_allow || ' ' || up_b || ' ' || down_b FROM sums", "1 100 2000");
	m = (union zw_msg_any){.conn_event = {.seq = 9,
					      .phase = 2,
					      .t_us = INT64_C(1796042600000000),
					      .did = ZW_DID_ALLOW,
					      .up_b = 1234,
					      .down_b = 860160,
					      .end = zw_span("closed by client")}};
	aud_writer_put(w, ZW_ID_conn_event, &m);
	m = a_conn(10, 0, ZW_DID_DENY);
	m.conn_event.n_times = 3;
	aud_writer_put(w, ZW_ID_conn_event, &m);
	writer_stop(w);
	assert_store(p, "SELECT count(*) FROM connections", "2");
	assert_store(p,
		     "SELECT did || '|' || host || '|' || port || '|' || address || '|' || by || "
		     "'|' || rule"
		     " || '|' || up_b || '|' || down_b || '|' || end || '|' || closed_us || '|' || "
		     "n_times"
		     " FROM connections WHERE seq = 9",
		     "allow|registry.pkgs.test|443|104.16.3.35|rule|7|1234|860160|closed by client|"
		     "1796042600000000|1");
	assert_store(
		p,
		"SELECT n_events || ' ' || n_allow || ' ' || n_deny || ' ' || up_b || ' ' || down_b"
		" FROM sums",
		"2 1 3 1234 860160");
	/* Numbers have no gaps, and both tables share one count. */
	assert_store(p, "SELECT group_concat(no) FROM (SELECT no FROM events ORDER BY id)", "1,2");
}

static void test_same_number_of_another_source__another_row(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	union zw_msg_any m = a_conn((UINT64_C(4) << 56) | 1, 0, ZW_DID_ALLOW);

	aud_writer_put(w, ZW_ID_conn_event, &m);
	m = a_conn((UINT64_C(16) << 56) | 1, 0, ZW_DID_DENY);
	aud_writer_put(w, ZW_ID_conn_event, &m);
	writer_stop(w);
	assert_store(p, "SELECT group_concat(source) FROM connections", "4,16");
}

static void test_asked_then_answered__decision_replaces_the_wait(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	union zw_msg_any m = a_sock(1, ZW_DID_ASK);

	m.sock_event.by = ZW_BY_MODE;
	m.sock_event.reason = zw_span("");
	aud_writer_put(w, ZW_ID_sock_event, &m);
	run_for(w, 80);
	assert_store(p, "SELECT did || n_deny || n_allow FROM socket_events, sums", "ask00");
	m = a_sock(1, ZW_DID_DENY);
	m.sock_event.note = zw_span("use localhost");
	m.sock_event.waited_ms = 41000;
	aud_writer_put(w, ZW_ID_sock_event, &m);
	writer_stop(w);
	assert_store(p,
		     "SELECT did || '|' || by || '|' || reason || '|' || note || '|' || waited_ms "
		     "|| '|' ||"
		     " n_deny FROM socket_events, sums",
		     "deny|user|refused by the user|use localhost|41000|1");
}

static void test_questions_and_misc__share_the_count(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	union zw_msg_any q = {
		.question_event = {.question = 118,
				   .t_us = 1796042590118233,
				   .kind = 1,
				   .risk = ZW_RISK_CRITICAL,
				   .class_name = zw_span("docker"),
				   .target = zw_span("/run/docker.sock"),
				   .did = ZW_DID_MISS,
				   .by = ZW_BY_TIMEOUT,
				   .text = zw_span("Command: docker login --password x1"),
				   .n_waiting = 2}};
	union zw_msg_any m = {.misc_event = {.t_us = 1796042590118234,
					     .kind = zw_span("mode"),
					     .text = zw_span("guard -> strict")}};

	aud_writer_put(w, ZW_ID_question_event, &q);
	aud_writer_put(w, ZW_ID_misc_event, &m);
	q.question_event.did = ZW_DID_ALLOW;
	q.question_event.by = ZW_BY_USER;
	q.question_event.scope = ZW_SCOPE_SESSION;
	aud_writer_put(w, ZW_ID_question_event, &q);
	writer_stop(w);
	assert_store(
		p, "SELECT group_concat(no || kind) FROM (SELECT no, kind FROM events ORDER BY id)",
		"1question,2mode,3question");
	assert_store(p, "SELECT shown || '|' || about || '|' || ifnull(scope, '-') FROM questions",
		     "Command: docker login --password ***|unix|-");
	/* Missed and answered later: two rows, one question. */
	assert_store(p, "SELECT n_ask || ' ' || n_events FROM sums", "1 3");
	assert_store(p, "SELECT scope FROM questions WHERE did = 'allow'", "session");
}

static void test_hostile_bytes__are_kept_as_they_are(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	union zw_msg_any m = a_sock(1, ZW_DID_DENY);

	m.sock_event.target = zw_span("/tmp/\xff\x1b[2J'); DROP TABLE sessions; --%s%n");
	aud_writer_put(w, ZW_ID_sock_event, &m);
	writer_stop(w);
	assert_store(p, "SELECT substr(hex(target), 1, 20) FROM socket_events",
		     "2F746D702FFF1B5B324A");
	assert_store(p, "SELECT count(*) FROM sessions", "1");
}

/* -- secrets and private sessions ------------------------------------------------------------------ */

/* Whether any file below the folder holds @needle. */
static bool is_in_files(const struct place *p, const char *needle)
{
	DIR *dir = opendir(p->folder);
	bool is_found = false;

	assert_non_null(dir);
	for (struct dirent *d; (d = readdir(dir)) != NULL;) {
		zw_autofree char *path = zw_xasprintf("%s/%s", p->folder, d->d_name);
		zw_autofree char *data = NULL;
		size_t len = 0;

		if (d->d_name[0] != '.' && zw_read_file(path, 16u << 20, &data, &len) == 0)
			is_found |= memmem(data, len, needle, strlen(needle)) != NULL;
	}
	closedir(dir);
	return is_found;
}

static void test_z109_secrets__nowhere_in_the_files(void **state)
{
	static const char argv[] =
		"curl\0-H\0Authorization: Bearer S3CRET-A\0https://u:S3CRET-B@h/?k=S3CRET-C";
	struct place *p = *state;
	struct ear e = {0};
	struct zw_msg_aud_open open = an_opening(p->path);

	open.argv = zw_span_n(argv, sizeof(argv) - 1);
	struct aud_writer *w = aud_writer_new(&open, getpid(), &ear_ops, &e);
	aud_writer_open(w);
	union zw_msg_any m = a_sock(1, ZW_DID_DENY), c = a_conn(2, 0, ZW_DID_ALLOW);
	m.sock_event.argv = c.conn_event.argv = open.argv;
	aud_writer_put(w, ZW_ID_sock_event, &m);
	aud_writer_put(w, ZW_ID_conn_event, &c);
	m = (union zw_msg_any){
		.misc_event = {.kind = zw_span("term"), .text = zw_span("--token S3CRET-D")}};
	aud_writer_put(w, ZW_ID_misc_event, &m);
	run_for(w, 80);
	assert_true(is_in_files(p, "Authorization: ***"));
	assert_false(is_in_files(p, "S3CRET"));
	writer_stop(w);
	assert_true(is_in_files(p, "Authorization: ***"));
	assert_false(is_in_files(p, "S3CRET"));
}

static void test_private__sums_and_nothing_else(void **state)
{
	struct place *p = *state;
	struct ear e = {0};
	struct zw_msg_aud_open open = an_opening(p->path);
	union zw_msg_any m;

	open.is_private = 1;
	struct aud_writer *w = aud_writer_new(&open, getpid(), &ear_ops, &e);
	aud_writer_open(w);
	m = a_sock(1, ZW_DID_DENY);
	m.sock_event.want_commit = 1;
	aud_writer_put(w, ZW_ID_sock_event, &m);
	m = a_conn(2, 0, ZW_DID_ALLOW);
	aud_writer_put(w, ZW_ID_conn_event, &m);
	run_for(w, 80);
	m = a_conn(2, 1, ZW_DID_ALLOW);
	m.conn_event.up_b = 50;
	aud_writer_put(w, ZW_ID_conn_event, &m);
	m = a_conn(2, 2, ZW_DID_ALLOW);
	m.conn_event.up_b = 70;
	m.conn_event.down_b = 900;
	aud_writer_put(w, ZW_ID_conn_event, &m);
	m = (union zw_msg_any){
		.question_event = {.question = 1, .did = ZW_DID_DENY, .text = zw_span("docker")}};
	aud_writer_put(w, ZW_ID_question_event, &m);
	aud_writer_put(w, ZW_ID_question_event, &m);
	run_for(w, 80);
	assert_int_equal(e.n_kept, 1);
	writer_stop(w);
	assert_store(p,
		     "SELECT n_events || ' ' || n_allow || ' ' || n_deny || ' ' || n_ask || ' ' || "
		     "up_b ||"
		     " ' ' || down_b FROM sums",
		     "0 1 1 1 70 900");
	assert_store(p, "SELECT count(*) FROM events", "0");
	assert_store(p, "SELECT count(*) FROM tallies", "0");
	assert_store(p, "SELECT ifnull(argv, 'none') || ifnull(cwd, 'none') FROM sessions",
		     "nonenone");
	assert_false(is_in_files(p, "pkgs.test"));
	assert_false(is_in_files(p, "docker"));
	assert_false(is_in_files(p, "src/shop"));
}

/* -- when it is told ------------------------------------------------------------------------------- */

static void test_wanted__told_only_after_the_commit(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);

	put_wanted(w, 1);
	assert_int_equal(e.n_kept, 0);
	assert_store(p, "SELECT count(*) FROM socket_events", "0");
	assert_int_equal(aud_writer_due_ms(w), 0);
	aud_writer_run(w);
	assert_int_equal(e.n_kept, 1);
	assert_store(p, "SELECT count(*) FROM socket_events", "1");
	writer_stop(w);
}

static void test_unwanted__gathered_for_50_ms(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	union zw_msg_any m = a_sock(1, ZW_DID_AUTO);
	int64_t from_ms = zw_mono_ms();

	aud_writer_put(w, ZW_ID_sock_event, &m);
	assert_in_range(aud_writer_due_ms(w), 0, AUD_GATHER_MS);
	aud_writer_run(w);
	bool is_early =
		zw_mono_ms() - from_ms < AUD_GATHER_MS; /* or this process was not let run */
	if (is_early)
		assert_store(p, "SELECT count(*) FROM socket_events", "0");
	run_for(w, 70);
	assert_store(p, "SELECT count(*) FROM socket_events", "1");
	assert_int_equal(aud_writer_due_ms(w), -1);
	/* One that is waited for takes along what came before it. */
	m = a_sock(2, ZW_DID_AUTO);
	aud_writer_put(w, ZW_ID_sock_event, &m);
	put_wanted(w, 3);
	aud_writer_run(w);
	assert_store(p, "SELECT count(*) FROM socket_events", "3");
	writer_stop(w);
}

/* Who waits does not wait for what came before, whatever that is; what is told of one thing keeps its
 * order all the same. */
static void test_wanted_in_a_flood__goes_first(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	union zw_msg_any m;

	for (uint64_t n = 1; n <= 5000; n++) {
		m = a_sock(n, ZW_DID_AUTO);
		aud_writer_put(w, ZW_ID_sock_event, &m);
	}
	m = a_sock(9000, ZW_DID_ASK);
	aud_writer_put(w, ZW_ID_sock_event, &m);
	put_wanted(w, 9001);
	put_wanted(w, 9002);
	put_wanted(w, 9000);
	aud_writer_run(w);
	assert_int_equal(e.n_kept, 2);
	assert_int_equal(e.last_kept, 9002);
	assert_store(p,
		     "SELECT group_concat(seq) FROM (SELECT seq FROM socket_events ORDER BY id"
		     " LIMIT 3)",
		     "9001,9002,1");
	while (e.n_kept < 3)
		aud_writer_run(w);
	assert_int_equal(writer_stop(w), 0);
	assert_store(p, "SELECT count(*) || did FROM socket_events WHERE seq = 9000", "1allow");
	assert_store(p, "SELECT count(*) FROM socket_events", "5003");
}

/* A refusal whose number is wanted makes the first transaction short, and not all that come after it. */
static void test_refusal_in_a_flood__does_not_slow_the_rest(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	union zw_msg_any m;
	int n_runs = 0;

	for (uint64_t n = 1; n <= 50000; n++) {
		m = a_sock(n, ZW_DID_AUTO);
		if (n == 15000)
			m.sock_event.want_commit = 2;
		aud_writer_put(w, ZW_ID_sock_event, &m);
	}
	for (; aud_writer_due_ms(w) == 0 && n_runs < 10000; n_runs++)
		aud_writer_run(w);
	assert_int_equal(e.n_kept, 1);
	assert_true(n_runs < 1500); /* with 200 us each it takes twice as many and more */
	assert_int_equal(writer_stop(w), 0);
	assert_store(p, "SELECT count(*) FROM socket_events", "50000");
}

/* Only a helper that was taken over counts so: it spoils its sum, not the record. */
static void test_sum_of_bytes__stays_at_its_end(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);

	for (uint64_t n = 1; n <= 3; n++) {
		union zw_msg_any m = a_conn(n, 2, ZW_DID_ALLOW);

		m.conn_event.up_b = m.conn_event.down_b = UINT64_MAX;
		aud_writer_put(w, ZW_ID_conn_event, &m);
		run_for(w, 70);
	}
	put_wanted(w, 4);
	aud_writer_run(w);
	assert_int_equal(e.n_kept, 1);
	assert_int_equal(e.n_problems, 0);
	assert_int_equal(writer_stop(w), 0);
	assert_store(p, "SELECT count(*) FROM connections", "3");
	assert_store(p, "SELECT up_b = 9223372036854775807 FROM sums", "1");
}

static void test_kill_9_after_the_word__row_is_there(void **state)
{
	struct place *p = *state;
	int fds[2];
	char word;

	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct ear e;
		struct aud_writer *w = writer_start(p, &e);

		for (uint64_t seq = 1;; seq++) {
			put_wanted(w, seq);
			aud_writer_run(w);
			if (e.last_kept != seq || write(fds[1], "k", 1) != 1)
				_exit(1);
		}
	}
	close(fds[1]);
	for (int i = 0; i < 200; i++)
		assert_int_equal(read(fds[0], &word, 1), 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	int n_told = 200;
	while (read(fds[0], &word, 1) == 1)
		n_told++;
	close(fds[0]);
	zw_autofree char *sql = zw_xasprintf("SELECT count(*) BETWEEN %d AND %d FROM socket_events",
					     n_told, n_told + 1);
	assert_store(p, sql, "1");
	assert_store(p, "PRAGMA integrity_check", "ok");
	/* The next start says how that session ended. */
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	assert_int_equal(e.session, 2);
	aud_writer_sweep(w);
	assert_store(p, "SELECT how || (ended_us >= started_us) FROM sessions WHERE id = 1",
		     "crashed1");
	assert_store(p, "SELECT count(*) FROM sessions WHERE id = 2 AND ended_us IS NULL", "1");
	writer_stop(w);
}

static void test_new_writer_of_the_same_zwatch__goes_on(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);

	put_wanted(w, 1);
	aud_writer_run(w);
	aud_writer_free(w); /* as if it had died */
	w = writer_start(p, &e);
	assert_int_equal(e.session, 1);
	put_wanted(w, 2);
	put_wanted(w, 1);
	writer_stop(w);
	assert_store(p, "SELECT group_concat(no) FROM events", "1,2");
	assert_store(p, "SELECT n_allow FROM sums", "2");
}

static void test_running_session_of_a_live_process__stays(void **state)
{
	struct place *p = *state;
	struct ear e, other;
	struct aud_writer *w = writer_start(p, &e);
	pid_t pid = fork();

	if (pid == 0) {
		struct zw_msg_aud_open m = an_opening(p->path);
		struct aud_writer *v = aud_writer_new(&m, getpid(), &ear_ops, &other);

		aud_writer_open(v);
		aud_writer_sweep(v);
		_exit(writer_stop(v) == 0 && other.session == 2 ? 0 : 1);
	}
	int status = 0;
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_store(p, "SELECT count(*) FROM sessions WHERE id = 1 AND ended_us IS NULL", "1");
	writer_stop(w);
}

/* -- files that do not behave ---------------------------------------------------------------------- */

static void test_locked_2_s__kept_without_a_problem(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	int fds[2];
	char word;

	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		sqlite3 *db = NULL;

		sqlite3_open(p->path, &db);
		if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK ||
		    write(fds[1], "l", 1) != 1)
			_exit(1);
		poll(NULL, 0, 2000);
		_exit(0);
	}
	assert_int_equal(read(fds[0], &word, 1), 1);
	put_wanted(w, 1);
	int64_t from_ms = zw_mono_ms();
	while (e.n_kept + e.n_refused == 0 && zw_mono_ms() - from_ms < 60000)
		run_for(w, 20);
	waitpid(pid, NULL, 0);
	assert_int_equal(e.n_kept, 1);
	assert_true(zw_mono_ms() - from_ms >= 1500);
	assert_int_equal(e.n_problems, 0);
	assert_int_equal(writer_stop(w), 0);
	close(fds[0]);
	close(fds[1]);
}

/* Longer than is waited for: said, refused, nothing else lost, over by itself. */
static void test_locked_for_long__told_refused_recovered(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	union zw_msg_any m = a_sock(1, ZW_DID_AUTO);
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	aud_writer_put(w, ZW_ID_sock_event, &m);
	put_wanted(w, 2);
	int64_t end_ms = zw_mono_ms() + 60000;
	while ((e.n_refused == 0 || e.n_problems == 0) && zw_mono_ms() < end_ms)
		run_for(w, 20);
	assert_int_equal(e.last_refused, 2);
	assert_non_null(strstr(e.text, "cannot write history"));
	assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	while (strcmp(e.text, "history is written again") != 0 && zw_mono_ms() < end_ms)
		run_for(w, 20);
	assert_int_equal(e.n_lost, 1);
	assert_int_equal(writer_stop(w), 0);
	assert_store(p, "SELECT group_concat(seq) FROM socket_events", "1");
	assert_store(p, "SELECT n_lost FROM sessions", "1");
}

/* The checks of one kind of trouble: said once, refused at once, over when it is over. */
static void check_trouble(struct aud_writer *w, struct ear *e, const char *text)
{
	unsigned n_kept = e->n_kept;
	union zw_msg_any m = a_sock(1000, ZW_DID_AUTO);

	aud_writer_put(w, ZW_ID_sock_event, &m); /* nobody waits: kept in memory */
	put_wanted(w, 1001);
	run_for(w, 100);
	assert_int_equal(e->n_kept, n_kept);
	assert_int_equal(e->last_refused, 1001);
	assert_string_equal(e->text, text);
	int64_t best_ms = INT64_MAX;
	for (uint64_t seq = 1002; seq < 1007 && best_ms >= 1500; seq++) {
		int64_t from_ms = zw_mono_ms();

		put_wanted(w, seq);
		run_for(w, 5);
		assert_int_equal(e->last_refused, seq);
		if (zw_mono_ms() - from_ms < best_ms)
			best_ms = zw_mono_ms() - from_ms;
	}
	assert_true(best_ms < 1500);
}

static void check_recovery(const struct place *p, struct aud_writer *w, struct ear *e)
{
	run_for(w, 1500);
	assert_string_equal(e->text, "history is written again");
	assert_int_equal(e->n_lost, 2);
	put_wanted(w, 1003);
	run_for(w, 100);
	assert_int_equal(e->last_kept, 1003);
	assert_int_equal(writer_stop(w), 0);
	assert_store(p, "SELECT group_concat(seq) FROM socket_events WHERE seq >= 1000",
		     "1000,1003");
	assert_store(
		p, "SELECT count(*) FROM misc WHERE kind = 'store' AND text LIKE '%were not kept%'",
		"1");
	assert_store(p, "SELECT n_lost FROM sessions", "2");
	assert_store(p, "PRAGMA integrity_check", "ok");
}

static void test_file_limit__told_refused_recovered(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);

	put_wanted(w, 1);
	aud_writer_run(w);
	assert_int_equal(e.n_kept, 1);
	limit_files(4096);
	check_trouble(w, &e, "cannot write history (disk full)");
	limit_files(RLIM_INFINITY);
	check_recovery(p, w, &e);
}

/* A mount namespace of our own, for file systems that fill up or turn read-only. */
static bool own_mounts(const struct place *p, const char *options)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return false;
	return mount("tmpfs", p->root, "tmpfs", 0, options) == 0;
}

static void test_disk_full__told_refused_recovered(void **state)
{
	struct place *p = *state;
	struct ear e;

	if (!own_mounts(p, "size=1m"))
		skip();
	struct aud_writer *w = writer_start(p, &e);
	zw_autofree char *filler = zw_xasprintf("%s/filler", p->root);
	int fd = open(filler, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	static const char zeros[4096];

	put_wanted(w, 1);
	aud_writer_run(w);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	close(fd);
	check_trouble(w, &e, "cannot write history (disk full)");
	unlink(filler);
	check_recovery(p, w, &e);
	umount2(p->root, MNT_DETACH);
}

static void test_read_only__told_refused_recovered(void **state)
{
	struct place *p = *state;
	struct ear e;

	if (!own_mounts(p, "size=4m"))
		skip();
	struct aud_writer *w = writer_start(p, &e);
	writer_stop(w);
	assert_int_equal(mount(NULL, p->root, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	w = writer_start(p, &e);
	assert_int_equal(e.status, -EROFS);
	assert_int_equal(e.session, 0);
	assert_int_equal(e.n_problems, 0); /* told by on_opened */
	check_trouble(w, &e, "");
	assert_int_equal(mount(NULL, p->root, NULL, MS_REMOUNT, "size=4m"), 0);
	run_for(w, 1500);
	assert_int_equal(e.status, 0);
	assert_int_equal(e.session, 2);
	assert_string_equal(e.text, "history is written again");
	writer_stop(w);
	assert_store(p, "SELECT group_concat(seq) FROM socket_events", "1000");
	umount2(p->root, MNT_DETACH);
}

static void overwrite(const char *path, off_t at)
{
	static char junk[4096];
	zw_autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);

	memset(junk, 0xa5, sizeof(junk));
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, junk, sizeof(junk), at), sizeof(junk));
}

static size_t n_damaged(const struct place *p)
{
	DIR *dir = opendir(p->folder);
	size_t n = 0;

	assert_non_null(dir);
	for (struct dirent *d; (d = readdir(dir)) != NULL;)
		n += strstr(d->d_name, ".damaged-") != NULL && strstr(d->d_name, "-wal") == NULL;
	closedir(dir);
	return n;
}

static void test_z113_damaged_at_start__set_aside_and_begun_anew(void **state)
{
	struct place *p = *state;
	struct ear e;

	assert_int_equal(writer_stop(writer_start(p, &e)), 0);
	overwrite(p->path, 0);
	struct aud_writer *w = writer_start(p, &e);
	assert_int_equal(e.status, 0);
	assert_int_equal(e.session, 1);
	assert_int_equal(e.n_problems, 1);
	assert_non_null(
		strstr(e.text, "history.db was damaged; it is kept as history.db.damaged-"));
	put_wanted(w, 1);
	run_for(w, 20);
	assert_int_equal(e.n_kept, 1);
	writer_stop(w);
	assert_int_equal(n_damaged(p), 1);
	assert_store(
		p,
		"SELECT count(*) FROM misc WHERE text LIKE 'history.db was damaged; it is kept%'",
		"1");
	assert_store(p, "PRAGMA integrity_check", "ok");
}

static void test_damaged_under_way__set_aside_and_begun_anew(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);

	/* Two sessions' worth, all in the file: then every page of it is lost. */
	put_wanted(w, 1);
	aud_writer_run(w);
	writer_stop(w);
	w = writer_start(p, &e);
	for (off_t at = 4096; at < 16 * 4096; at += 4096)
		overwrite(p->path, at);
	put_wanted(w, 2);
	run_for(w, 20);
	assert_int_equal(e.n_kept, 1);
	assert_int_equal(e.session, 2); /* keeps its number */
	writer_stop(w);
	assert_int_equal(n_damaged(p), 1);
	assert_store(p, "SELECT group_concat(seq) FROM socket_events", "2");
	assert_store(p, "PRAGMA integrity_check", "ok");
}

static void check_replaced(const struct place *p, struct aud_writer *w, struct ear *e)
{
	put_wanted(w, 2);
	run_for(w, 20);
	assert_int_equal(e->n_kept, 2);
	assert_int_equal(e->n_problems, 1);
	assert_non_null(strstr(e->text, "removed or replaced"));
	assert_int_equal(e->n_lost, 1); /* the row that went with the file */
	assert_int_equal(writer_stop(w), 0);
	assert_store(p, "SELECT group_concat(seq) FROM socket_events", "2");
	assert_store(p, "SELECT count(*) FROM misc WHERE text LIKE '%removed or replaced%'", "1");
	assert_store(p, "PRAGMA integrity_check", "ok");
}

static void test_deleted_under_way__begun_anew(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	static const char *const tails[] = {"", "-wal", "-shm"};

	put_wanted(w, 1);
	run_for(w, 20);
	for (size_t i = 0; i < ZW_N_ELEMENTS(tails); i++) {
		zw_autofree char *name = zw_xasprintf("%s%s", p->path, tails[i]);
		assert_int_equal(unlink(name), 0);
	}
	check_replaced(p, w, &e);
}

static void test_folder_moved_under_way__begun_anew(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	zw_autofree char *away = zw_xasprintf("%s-away", p->folder);

	put_wanted(w, 1);
	run_for(w, 20);
	assert_int_equal(rename(p->folder, away), 0);
	check_replaced(p, w, &e);
}

static void make_db(const struct place *p, const char *sql)
{
	sqlite3 *db = NULL;

	assert_int_equal(zw_mkdirs(p->folder, 0700), 0);
	assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void test_newer_schema__refused_and_untouched(void **state)
{
	struct place *p = *state;
	struct ear e;

	assert_int_equal(writer_stop(writer_start(p, &e)), 0);
	make_db(p, "PRAGMA user_version = 99");
	struct aud_writer *w = writer_start(p, &e);
	assert_int_equal(e.status, ZW_E_VERSION);
	put_wanted(w, 1);
	run_for(w, 20);
	assert_int_equal(e.n_refused, 1);
	aud_writer_free(w);
	assert_store(p, "PRAGMA user_version", "99");
	assert_int_equal(n_damaged(p), 0);
}

static void test_foreign_database__refused_and_untouched(void **state)
{
	struct place *p = *state;
	struct ear e;

	make_db(p, "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (7)");
	struct aud_writer *w = writer_start(p, &e);
	assert_int_equal(e.status, ZW_E_UNSUPPORTED);
	aud_writer_free(w);
	assert_store(p, "SELECT x FROM theirs", "7");
	assert_int_equal(n_damaged(p), 0);
}

static void test_ten_writers__all_kept(void **state)
{
	struct place *p = *state;
	pid_t pids[10];

	for (int i = 0; i < 10; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			struct ear e;
			struct aud_writer *w = writer_start(p, &e);

			for (int n = 0; n < 50; n++) {
				put_wanted(w, (uint64_t)n + 1);
				run_for(w, 2);
			}
			for (int n = 0; n < 1200 && e.n_kept + e.n_refused < 50; n++)
				run_for(w, 50);
			bool is_good = e.n_kept == 50 && e.n_refused == 0 && e.n_problems == 0;
			_exit(writer_stop(w) == 0 && is_good ? 0 : 1);
		}
	}
	for (int i = 0; i < 10; i++) {
		int status = 0;

		waitpid(pids[i], &status, 0);
		assert_int_equal(status, 0);
	}
	assert_store(p, "SELECT count(*) FROM socket_events", "500");
	assert_store(p, "SELECT group_concat(DISTINCT n_events) FROM sums", "50");
	assert_store(p, "PRAGMA integrity_check", "ok");
}

static void test_log__is_moved_into_the_file_at_the_end(void **state)
{
	struct place *p = *state;
	zw_autofree char *wal = zw_xasprintf("%s-wal", p->path);
	struct stat st;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);

	put_wanted(w, 1);
	run_for(w, 20);
	assert_int_equal(stat(wal, &st), 0);
	assert_true(st.st_size > 0);
	writer_stop(w);
	assert_int_equal(stat(wal, &st), -1);
}

/* While the session runs, and not in the way of what is written: the file grows. */
static void test_log__is_moved_into_the_file_under_way(void **state)
{
	struct place *p = *state;
	struct stat st = {0};
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	int64_t end_ms = zw_mono_ms() + 60000;

	for (uint64_t n = 1; n <= 15000; n++) {
		union zw_msg_any m = a_sock(n, ZW_DID_AUTO);

		aud_writer_put(w, ZW_ID_sock_event, &m);
		if (n % 100 == 0)
			aud_writer_run(w);
	}
	while (st.st_size < 2 << 20 && zw_mono_ms() < end_ms) {
		run_for(w, 20);
		assert_int_equal(stat(p->path, &st), 0);
	}
	assert_true(st.st_size >= 2 << 20);
	put_wanted(w, 20000);
	aud_writer_run(w);
	assert_int_equal(e.n_kept, 1);
	assert_int_equal(writer_stop(w), 0);
	assert_store(p, "SELECT count(*) FROM socket_events", "15001");
	assert_store(p, "PRAGMA integrity_check", "ok");
}

/* -- processes --------------------------------------------------------------------------------------- */

static void test_stat_start__odd_names(void **state)
{
	int64_t start = 0;

	(void)state;
	assert_int_equal(
		aud_stat_start("7 (a) b) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 9 9",
			       &start),
		0);
	assert_int_equal(start, 12345);
	assert_int_equal(aud_stat_start("7 (a) S 1 7", &start), ZW_E_SYNTAX);
	assert_int_equal(aud_stat_start("", &start), ZW_E_SYNTAX);
	assert_int_equal(aud_stat_start("7 (a", &start), ZW_E_SYNTAX);
}

static void test_ident__live_gone_and_other_boot(void **state)
{
	struct aud_ident id;

	(void)state;
	assert_int_equal(aud_ident_get(getpid(), &id), 0);
	assert_true(aud_ident_may_live(&id));
	id.start--; /* the pid was given again */
	assert_false(aud_ident_may_live(&id));
	id.start++;
	id.pid_ns++;
	id.pid = 0x7ffffff0; /* of another container: not for us to say */
	assert_true(aud_ident_may_live(&id));
	id.boot[0] = id.boot[0] == 'x' ? 'y' : 'x';
	assert_false(aud_ident_may_live(&id));
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* More than there is room for, while the store can be written: it is said how many, and written down. */
static void test_overrun__is_told(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	uint64_t n = 0;

	for (; n < 100000; n++) {
		union zw_msg_any m = a_sock(n + 1, ZW_DID_DENY);

		aud_writer_put(w, ZW_ID_sock_event, &m);
	}
	assert_int_equal(e.n_problems, 0);
	assert_int_equal(writer_stop(w), 0);
	assert_true(e.n_problems >= 1);
	assert_true(e.n_lost > 0);
	assert_non_null(strstr(e.text, "faster than they could be kept"));
	assert_store(p, "SELECT count(*) FROM misc WHERE text LIKE '%faster than%'", "1");
	zw_autofree char *all = zw_xasprintf("%llu", (unsigned long long)n);
	assert_store(p, "SELECT n_lost + (SELECT count(*) FROM socket_events) FROM sessions", all);
}

/* Killed between a session's own row and its events: the next session does the rest by itself. */
static void test_removal_cut_short__next_session_finishes(void **state)
{
	struct place *p = *state;
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);

	for (uint64_t i = 1; i <= 2500; i++) {
		union zw_msg_any m = a_sock(i, ZW_DID_DENY);

		aud_writer_put(w, ZW_ID_sock_event, &m);
	}
	assert_int_equal(writer_stop(w), 0);
	make_db(p, "INSERT INTO tombstones (t_us, session, n_events, why) VALUES (1, 1, 2500, 'x');"
		   "DELETE FROM sums; DELETE FROM sessions");
	w = writer_start(p, &e);
	aud_writer_sweep(w);
	for (int i = 0; i < 600 && aud_writer_due_ms(w) >= 0; i++)
		run_for(w, 100);
	assert_int_equal(aud_writer_due_ms(w), -1); /* it stops looking */
	assert_int_equal(writer_stop(w), 0);
	assert_store(p, "SELECT count(*) FROM socket_events", "0");
	assert_store(p, "SELECT count(*) FROM links WHERE session = 1", "0");
	assert_store(p, "SELECT count(*) FROM sessions", "1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_new_store__has_the_settings),
		T(test_removal_cut_short__next_session_finishes),
		T(test_overrun__is_told),
		T(test_modes__folder_0700_files_0600),
		T(test_socket__one_row_with_everything),
		T(test_connection__phases_are_one_row),
		T(test_same_number_of_another_source__another_row),
		T(test_asked_then_answered__decision_replaces_the_wait),
		T(test_questions_and_misc__share_the_count),
		T(test_hostile_bytes__are_kept_as_they_are),
		T(test_z109_secrets__nowhere_in_the_files),
		T(test_private__sums_and_nothing_else),
		T(test_wanted__told_only_after_the_commit),
		T(test_unwanted__gathered_for_50_ms),
		T(test_wanted_in_a_flood__goes_first),
		T(test_refusal_in_a_flood__does_not_slow_the_rest),
		T(test_sum_of_bytes__stays_at_its_end),
		T(test_kill_9_after_the_word__row_is_there),
		T(test_new_writer_of_the_same_zwatch__goes_on),
		T(test_running_session_of_a_live_process__stays),
		T(test_locked_2_s__kept_without_a_problem),
		T(test_locked_for_long__told_refused_recovered),
		T(test_file_limit__told_refused_recovered),
		T(test_disk_full__told_refused_recovered),
		T(test_read_only__told_refused_recovered),
		T(test_z113_damaged_at_start__set_aside_and_begun_anew),
		T(test_damaged_under_way__set_aside_and_begun_anew),
		T(test_deleted_under_way__begun_anew),
		T(test_folder_moved_under_way__begun_anew),
		T(test_newer_schema__refused_and_untouched),
		T(test_foreign_database__refused_and_untouched),
		T(test_ten_writers__all_kept),
		T(test_log__is_moved_into_the_file_at_the_end),
		T(test_log__is_moved_into_the_file_under_way),
		T(test_stat_start__odd_names),
		T(test_ident__live_gone_and_other_boot),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
