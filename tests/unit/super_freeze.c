/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/super/super_i.h"

#define DEPTH 80

static int report_fd;

static void report(void)
{
	pid_t pid = getpid();

	if (write(report_fd, &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
}

/* A chain of processes, each the child of a thread that is not the first. */
static void *chain(void *arg)
{
	size_t left = (size_t)arg;
	pid_t pid = left > 0 ? fork() : 1;

	if (pid == 0) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		report();
		if (pthread_create(&thread, NULL, chain, (void *)(left - 1)) == 0)
			pthread_join(thread, NULL);
		_exit(0);
	}
	for (;;)
		pause();
}

static char state_of(pid_t pid)
{
	zw_autofree char *path = zw_xasprintf("/proc/%d/stat", pid);
	zw_autofree char *text = NULL;
	size_t len;

	if (zw_read_file(path, 4096, &text, &len) < 0)
		return '?';
	return strrchr(text, ')')[2];
}

/* How it is held now: by the group that the session has, or by SIGSTOP. */
static bool is_held(const struct sup *s, pid_t pid)
{
	zw_autofree char *path = zw_xasprintf("%s/cgroup.procs", s->sandbox.group.path);
	zw_autofree char *text = NULL;
	char line[16];
	size_t len;

	if (s->is_signalled)
		return state_of(pid) == 'T';
	snprintf(line, sizeof(line), "%d\n", (int)pid);
	return zw_read_file(path, 1 << 20, &text, &len) == 0 && strstr(text, line) != NULL;
}

static void wait_held(const struct sup *s, pid_t pid)
{
	for (int i = 0; i < 6000 && !is_held(s, pid); i++)
		usleep(10000);
	assert_true(is_held(s, pid));
}

static void wait_state(pid_t pid, char state)
{
	for (int i = 0; i < 6000 && state_of(pid) != state; i++)
		usleep(10000);
	assert_int_equal(state_of(pid), state);
}

/* A group that cannot be made here: what is left is SIGSTOP. */
static void without_group(struct sup *s)
{
	s->sandbox.group = (struct sb_group){.path = zw_xstrdup("/proc/none"), .procs_fd = -1};
}

/* As zwatch-init does. */
static void on_stop_all(int sig)
{
	(void)sig;
	if (getpid() == 1)
		kill(-1, SIGSTOP);
}

/* A pid 1 of its own. */
static pid_t start(void (*run)(void), int ends[2])
{
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
	if (pid < 0)
		skip(); /* no namespaces here */
	if (pid == 0) {
		report_fd = ends[1];
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGCHLD, SIG_IGN);
		signal(SIGUSR1, on_stop_all);
		run();
	}
	close(ends[1]);
	return pid;
}

static void finish(struct sup *s, int ends[2])
{
	kill(s->sandbox.init_pid, SIGKILL);
	waitpid(s->sandbox.init_pid, NULL, 0);
	sb_group_fini(&s->sandbox.group);
	close(ends[0]);
}

static void run_chain(void)
{
	chain((void *)(size_t)DEPTH);
}

static void every_process(struct sup *s)
{
	pid_t pid, *pids;
	int ends[2];

	s->sandbox.init_pid = start(run_chain, ends);
	for (size_t i = 0; i < DEPTH; i++)
		assert_int_equal(read(ends[0], &pid, sizeof(pid)), sizeof(pid));
	assert_int_equal(sup_tree(s->sandbox.init_pid, DEPTH + 2, &pids), DEPTH + 1);
	/* One that was stopped before. */
	kill(pids[DEPTH], SIGSTOP);
	wait_state(pids[DEPTH], 'T');
	const char *text = sup_freeze(s, true);
	print_message("%s\n", text);
	assert_non_null(strstr(text, s->is_signalled ? "SIGSTOP" : "control group"));
	assert_true(s->model.is_frozen);
	for (size_t i = 1; i <= DEPTH; i++)
		wait_held(s, pids[i]);
	assert_string_equal(sup_freeze(s, false), "The agent goes on.");
	assert_false(s->model.is_frozen);
	for (size_t i = 1; i < DEPTH; i++)
		wait_state(pids[i], 'S');
	assert_int_equal(state_of(pids[DEPTH]), 'T');
	free(pids);
	finish(s, ends);
}

static void test_freeze__every_process_whoever_made_it(void **state)
{
	struct sup s = {.sandbox.group.procs_fd = -1};

	(void)state;
	every_process(&s);
}

static void test_freeze__every_process_without_a_group(void **state)
{
	struct sup s = {0};

	(void)state;
	without_group(&s);
	every_process(&s);
	assert_true(s.is_signalled);
}

/* Some lines of processes, each of which forks the next one and ends. */
static void run_storm(void)
{
	for (int i = 0; i < 6; i++) {
		if (fork() != 0)
			continue;
		for (;;) {
			report();
			if (fork() != 0)
				_exit(0);
		}
	}
	for (;;)
		pause();
}

static size_t drain(int fd)
{
	pid_t pids[1024];
	size_t n = 0;

	for (struct pollfd p = {fd, POLLIN, 0}; poll(&p, 1, 300) > 0 && n < 100000;)
		n += (size_t)read(fd, pids, sizeof(pids)) / sizeof(pids[0]);
	return n;
}

static void storm(struct sup *s)
{
	int ends[2];
	pid_t pid;

	s->sandbox.init_pid = start(run_storm, ends);
	for (int i = 0; i < 200; i++)
		assert_int_equal(read(ends[0], &pid, sizeof(pid)), sizeof(pid));
	print_message("%s\n", sup_freeze(s, true));
	drain(ends[0]); /* until nothing has come for 300 ms */
	usleep(200000);
	assert_int_equal(drain(ends[0]), 0);
	sup_freeze(s, false);
	for (int i = 0; i < 200; i++)
		assert_int_equal(read(ends[0], &pid, sizeof(pid)), sizeof(pid));
	sup_freeze(s, true);
	drain(ends[0]);
	finish(s, ends);
}

static void test_freeze__what_forks_meanwhile(void **state)
{
	struct sup s = {.sandbox.group.procs_fd = -1};

	(void)state;
	storm(&s);
}

static void test_freeze__what_forks_meanwhile_without_a_group(void **state)
{
	struct sup s = {0};

	(void)state;
	without_group(&s);
	storm(&s);
}

/* Two may want it: it goes on when neither does. */
static void test_freeze__history_and_user(void **state)
{
	struct sup s = {.sandbox.group.procs_fd = -1};
	int ends[2];
	pid_t pid;

	(void)state;
	s.sandbox.init_pid = start(run_chain, ends);
	assert_int_equal(read(ends[0], &pid, sizeof(pid)), sizeof(pid));
	sup_freeze_for_history(&s, true);
	assert_true(s.model.is_frozen);
	assert_non_null(strstr(sup_freeze(&s, false), "stays frozen until the history"));
	assert_true(s.model.is_frozen);
	sup_freeze(&s, true);
	sup_freeze_for_history(&s, false);
	assert_true(s.model.is_frozen);
	sup_thaw_all(&s);
	assert_false(s.model.is_frozen);
	finish(&s, ends);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_freeze__every_process_whoever_made_it),
		cmocka_unit_test(test_freeze__every_process_without_a_group),
		cmocka_unit_test(test_freeze__what_forks_meanwhile),
		cmocka_unit_test(test_freeze__what_forks_meanwhile_without_a_group),
		cmocka_unit_test(test_freeze__history_and_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
