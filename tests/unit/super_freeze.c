/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
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

static void test_freeze__every_process_whoever_made_it(void **state)
{
	struct sup s = {0};
	pid_t pids[DEPTH];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	s.sandbox.init_pid = fork();
	if (s.sandbox.init_pid == 0) {
		report_fd = ends[1];
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		chain((void *)(size_t)DEPTH);
	}
	for (size_t i = 0; i < DEPTH; i++)
		assert_int_equal(read(ends[0], &pids[i], sizeof(pids[i])), sizeof(pids[i]));
	sup_freeze(&s, true);
	usleep(50000);
	for (size_t i = 0; i < DEPTH; i++)
		assert_int_equal(state_of(pids[i]), 'T');
	sup_freeze(&s, false);
	usleep(50000);
	for (size_t i = 0; i < DEPTH; i++)
		assert_int_equal(state_of(pids[i]), 'S');
	kill(s.sandbox.init_pid, SIGKILL);
	waitpid(s.sandbox.init_pid, NULL, 0);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_freeze__every_process_whoever_made_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
