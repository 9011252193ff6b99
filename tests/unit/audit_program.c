/* SPDX-License-Identifier: MIT
 * Runs the real zwatch-audit, locked down, and plays zwatch's part over its channel. */
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "src/ipc/chan.h"
#include "tests/support/audit.h"

#define WAIT_MS 30000

/* One run of the program. The last message of each kind is kept. */
struct bed {
	struct place place;
	pid_t pid;
	struct zev_loop *loop;
	struct zev_timer *timer;
	struct zw_chan *chan; /* NULL = closed */
	bool is_heard, is_ended;
	uint64_t session, n_rows, n_lost, n_kept, n_refused, last_seq;
	int64_t status;
	char problem[512];
	unsigned n_problems, locked_how;
	bool is_hello, is_opened, is_locked, is_closed;
};

static void on_timeout(void *arg)
{
	struct bed *b = arg;

	zev_stop(b->loop);
}

static int setup(void **state)
{
	struct bed *b = zw_xnew(struct bed);

	place_make(&b->place);
	b->loop = zev_loop_new();
	b->timer = zev_timer_new(b->loop, on_timeout, b);
	*state = b;
	return 0;
}

static void hang_up(struct bed *b)
{
	zw_chan_free(b->chan);
	b->chan = NULL;
}

static int teardown(void **state)
{
	struct bed *b = *state;

	if (b->pid > 0) {
		kill(b->pid, SIGKILL);
		waitpid(b->pid, NULL, 0);
	}
	hang_up(b);
	zev_timer_free(b->timer);
	zev_loop_free(b->loop);
	place_drop(&b->place);
	free(b);
	return 0;
}

static void note(struct bed *b, enum zw_msg_id id, const union zw_msg_any *m)
{
	b->is_hello |= id == ZW_ID_hello;
	if (id == ZW_ID_locked) {
		b->is_locked = true;
		b->locked_how = m->locked.how;
	} else if (id == ZW_ID_aud_opened) {
		b->is_opened = true;
		b->status = m->aud_opened.status;
		b->session = m->aud_opened.session;
	} else if (id == ZW_ID_committed) {
		b->n_kept += m->committed.is_kept;
		b->n_refused += !m->committed.is_kept;
		b->last_seq = m->committed.seq;
	} else if (id == ZW_ID_aud_closed) {
		b->is_closed = true;
		b->n_rows = m->aud_closed.n_rows;
	} else if (id == ZW_ID_aud_problem) {
		b->n_problems++;
		b->n_lost = m->aud_problem.n_lost;
		zw_span_cpy(b->problem, sizeof(b->problem), m->aud_problem.text);
	}
}

static void on_chan_msg(struct zw_chan *chan, enum zw_msg_id id, const union zw_msg_any *msg,
			int *fds, void *arg)
{
	struct bed *b = arg;

	(void)chan;
	(void)fds;
	note(b, id, msg);
	b->is_heard = true;
	zev_stop(b->loop);
}

static void on_chan_end(struct zw_chan *chan, int error, void *arg)
{
	struct bed *b = arg;

	(void)chan;
	(void)error;
	b->is_ended = true;
	zev_stop(b->loop);
}

static const struct zw_chan_ops chan_ops = {.on_msg = on_chan_msg, .on_end = on_chan_end};

static void start(struct bed *b)
{
	int fds[2];

	assert_int_equal(zw_chan_pair(fds), 0);
	b->pid = fork();
	if (b->pid == 0) {
		dup2(fcntl(fds[1], F_DUPFD, 10), ZW_FD_CONTROL);
		dup2(open("/dev/null", O_WRONLY), ZW_FD_LOG);
		close_range(5, ~0u, 0);
		execl(ZW_AUDIT_PATH, "zwatch-audit", (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	b->chan = zw_chan_new(b->loop, fds[0], ROLE_SUPER, ROLE_AUDIT, &chan_ops, b);
	b->is_ended = false;
	b->is_hello = b->is_opened = b->is_locked = b->is_closed = false;
}

static void say(struct bed *b, enum zw_msg_id id, const void *msg)
{
	zw_chan_send_fds(b->chan, id, msg, NULL, 0);
}

/* Takes what comes within @ms. Returns whether anything came. */
static bool hear(struct bed *b, int ms)
{
	if (b->is_ended)
		return false;
	b->is_heard = false;
	zev_timer_start(b->timer, ms);
	zev_run(b->loop);
	zev_timer_stop(b->timer);
	return b->is_heard;
}

#define hear_until(b, condition)                                                    \
	do {                                                                        \
		int64_t end_ms = zw_mono_ms() + WAIT_MS;                            \
		while (!(condition) && zw_mono_ms() < end_ms && hear((b), WAIT_MS)) \
			;                                                           \
		assert_true(condition);                                             \
	} while (0)

static void open_session(struct bed *b)
{
	struct zw_msg_aud_open m = an_opening(b->place.path);

	start(b);
	say(b, ZW_ID_aud_open, &m);
	hear_until(b, b->is_opened && b->is_locked);
	assert_true(b->is_hello);
	assert_int_equal(b->status, 0);
}

static void ask_commit(struct bed *b, uint64_t seq)
{
	union zw_msg_any m = a_sock(seq, ZW_DID_ALLOW);

	m.sock_event.want_commit = 1;
	say(b, ZW_ID_sock_event, &m);
	hear_until(b, b->last_seq == seq);
}

static void close_session(struct bed *b)
{
	struct zw_msg_aud_close m = {
		.t_us = zw_now_us(), .exit_status = 7, .how = zw_span("exited")};

	say(b, ZW_ID_aud_close, &m);
	hear_until(b, b->is_closed);
}

static int wait_end(struct bed *b)
{
	int status = -1;

	assert_int_equal(waitpid(b->pid, &status, 0), b->pid);
	b->pid = 0;
	hang_up(b);
	return status;
}

static void assert_store(const struct bed *b, const char *sql, const char *want)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;

	assert_int_equal(sqlite3_open_v2(b->place.path, &db, SQLITE_OPEN_READWRITE, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(st, 0), want);
	sqlite3_finalize(st);
	sqlite3_close(db);
}

static bool has_log(const struct bed *b)
{
	zw_autofree char *wal = zw_xasprintf("%s-wal", b->place.path);

	return access(wal, F_OK) == 0;
}

static void test_session__from_opening_to_end(void **state)
{
	struct bed *b = *state;
	union zw_msg_any m = a_conn(9, 0, ZW_DID_ALLOW);

	open_session(b);
	assert_int_equal(b->session, 1);
	say(b, ZW_ID_conn_event, &m);
	ask_commit(b, (UINT64_C(16) << 56) | 5);
	assert_int_equal(b->n_kept, 1);
	close_session(b);
	assert_int_equal(b->n_rows, 2);
	assert_int_equal(wait_end(b), 0);
	assert_false(has_log(b));
	assert_store(b, "SELECT how || exit_status FROM sessions", "exited7");
	assert_store(b, "SELECT group_concat(kind || no) FROM (SELECT * FROM events ORDER BY id)",
		     "net1,unix2");
	assert_int_equal(b->n_problems, 0);
}

static void test_zwatch_gone__session_crashed_store_in_order(void **state)
{
	struct bed *b = *state;
	union zw_msg_any m = a_conn(9, 0, ZW_DID_ALLOW);

	open_session(b);
	say(b, ZW_ID_conn_event, &m); /* nobody waited for it: kept all the same */
	assert_int_equal(zw_chan_flush(b->chan, WAIT_MS), 0);
	hang_up(b);
	assert_int_equal(wait_end(b), 0);
	assert_false(has_log(b));
	assert_store(b, "SELECT how || (SELECT count(*) FROM connections) FROM sessions",
		     "crashed1");
}

static void test_sigterm_and_a_successor__one_session(void **state)
{
	struct bed *b = *state;

	open_session(b);
	ask_commit(b, 1);
	kill(b->pid, SIGTERM);
	hear_until(b, b->is_closed);
	assert_int_equal(wait_end(b), 0);
	assert_store(b, "SELECT how FROM sessions", "stopped");
	open_session(b); /* of the same process: the test */
	assert_int_equal(b->session, 1);
	ask_commit(b, 2);
	close_session(b);
	assert_int_equal(wait_end(b), 0);
	assert_store(b, "SELECT how || (SELECT group_concat(no) FROM events) FROM sessions",
		     "exited1,2");
}

static void test_kill_9_in_a_flood__what_was_told_is_there(void **state)
{
	struct bed *b = *state;

	for (int round = 0; round < 5; round++) {
		b->n_kept = 0;
		open_session(b);
		for (uint64_t i = 1; i <= 300; i++) {
			union zw_msg_any m = a_sock((uint64_t)round << 20 | i, ZW_DID_ALLOW);

			m.sock_event.want_commit = i % 3 == 0;
			say(b, ZW_ID_sock_event, &m);
		}
		while (b->n_kept < 10U * (unsigned)round + 1 && hear(b, WAIT_MS))
			;
		kill(b->pid, SIGKILL);
		while (hear(b, 100))
			;
		zw_autofree char *sql = zw_xasprintf("SELECT count(*) >= %u FROM socket_events "
						     "WHERE seq >> 20 = %d AND seq %% 1048576"
						     " %% 3 = 0",
						     (unsigned)b->n_kept, round);
		wait_end(b);
		assert_store(b, sql, "1");
		assert_store(b, "PRAGMA integrity_check", "ok");
	}
}

static void test_locked__no_file_but_its_own(void **state)
{
	struct bed *b = *state;
	char line[256];
	bool is_filtered = false;

	open_session(b);
	if (b->locked_how == 1)
		skip(); /* a sanitized build is not filtered */
	zw_autofree char *path = zw_xasprintf("/proc/%d/status", (int)b->pid);
	FILE *f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL)
		is_filtered |= strcmp(line, "Seccomp:\t2\n") == 0;
	fclose(f);
	assert_true(is_filtered);
	close_session(b);
	assert_int_equal(wait_end(b), 0);
}

/* Everything that the writer does to files also works behind the lock. */
static void test_deleted_and_damaged_while_locked__begun_anew(void **state)
{
	static char junk[16 * 4096];
	struct bed *b = *state;
	zw_autofree char *wal = zw_xasprintf("%s-wal", b->place.path);
	zw_autofree char *shm = zw_xasprintf("%s-shm", b->place.path);

	open_session(b);
	ask_commit(b, 1);
	assert_int_equal(unlink(b->place.path) | unlink(wal) | unlink(shm), 0);
	ask_commit(b, 2);
	assert_int_equal(b->n_kept, 2);
	close_session(b);
	wait_end(b);
	assert_store(b, "SELECT group_concat(seq) FROM socket_events", "2");

	open_session(b);
	int fd = open(b->place.path, O_WRONLY | O_CLOEXEC);
	memset(junk, 0xa5, sizeof(junk));
	assert_int_equal(pwrite(fd, junk, sizeof(junk), 4096), sizeof(junk));
	close(fd);
	ask_commit(b, 3);
	assert_int_equal(b->n_kept, 3);
	assert_non_null(strstr(b->problem, "was damaged"));
	close_session(b);
	assert_int_equal(wait_end(b), 0);
	assert_store(b, "SELECT group_concat(seq) FROM socket_events", "3");
	assert_store(b, "PRAGMA integrity_check", "ok");
}

static void test_store_that_cannot_be__told_and_over_when_it_can(void **state)
{
	struct bed *b = *state;
	struct zw_msg_aud_open m = an_opening(b->place.path);

	/* A file where the folder should be. */
	zw_autofree char *parent = zw_xasprintf("%s/state", b->place.root);
	assert_int_equal(mkdir(parent, 0700), 0);
	int fd = open(b->place.folder, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	start(b);
	say(b, ZW_ID_aud_open, &m);
	hear_until(b, b->is_opened);
	assert_true(b->status < 0);
	ask_commit(b, 1);
	assert_int_equal(b->n_refused, 1);
	close_session(b);
	assert_int_equal(WEXITSTATUS(wait_end(b)), 0);
}

static void test_flood__every_row_is_kept(void **state)
{
	struct bed *b = *state;

	open_session(b);
	for (uint64_t i = 1; i <= 10000; i++) {
		union zw_msg_any m = a_conn(i, 0, ZW_DID_ALLOW);

		say(b, ZW_ID_conn_event, &m);
	}
	ask_commit(b, 10001);
	close_session(b);
	assert_int_equal(b->n_rows, 10001);
	assert_int_equal(wait_end(b), 0);
	assert_store(b, "SELECT count(*) FROM connections", "10000");
}

static void test_no_zwatch__ends_at_once(void **state)
{
	struct bed *b = *state;

	start(b);
	hang_up(b);
	assert_int_equal(wait_end(b), 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_session__from_opening_to_end),
		T(test_zwatch_gone__session_crashed_store_in_order),
		T(test_sigterm_and_a_successor__one_session),
		T(test_kill_9_in_a_flood__what_was_told_is_there),
		T(test_locked__no_file_but_its_own),
		T(test_deleted_and_damaged_while_locked__begun_anew),
		T(test_store_that_cannot_be__told_and_over_when_it_can),
		T(test_flood__every_row_is_kept),
		T(test_no_zwatch__ends_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
