/* SPDX-License-Identifier: MIT */
#include "src/main/events_out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/audit/follow.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/main/cmd.h"

/* How long the end of a session waits for the last lines. */
#define END_MS 1000
/* How often the store is looked at for the session to begin. */
#define BEGIN_MS 50

/* The descriptor that `fd:N` names, or -1 and it is said. */
static int given_fd(const char *word)
{
	uint64_t n = 0;

	if (zw_parse_u64(word, strlen(word), INT32_MAX, &n) == 0 && n > 2 &&
	    fcntl((int)n, F_SETFD, FD_CLOEXEC) == 0)
		return (int)n;
	if (n == 1 || n == 2) {
		dprintf(2, "zwatch: --events fd:%s: standard output is the agent's\n", word);
		return -1;
	}
	dprintf(2, "zwatch: --events fd:%s: there is no such descriptor open\n", word);
	return -1;
}

/* Returns the descriptor; -1: it is said; -2: a FIFO, whose opening may wait. */
static int target_open(const char *where)
{
	struct stat st;

	if (zw_starts_with(where, "fd:"))
		return given_fd(where + 3);
	if (stat(where, &st) == 0 && S_ISFIFO(st.st_mode))
		return -2;
	int fd = open(where, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd < 0)
		dprintf(2, "zwatch: --events: %s cannot be written: %s\n", where,
			zw_strerror(-errno));
	return fd;
}

/* The session of zwatch's process, once it has begun. 0: zwatch is gone before. */
static int64_t session_await(const char *store_path, pid_t zwatch, int64_t since_us,
			     struct aud_query **ret)
{
	int64_t id = 0;

	for (;;) {
		bool is_gone = kill(zwatch, 0) < 0; /* asked first */

		if (*ret == NULL && aud_query_open(store_path, ret) < 0)
			*ret = NULL;
		if (*ret != NULL && aud_session_of(*ret, zwatch, since_us, &id) == 0)
			return id;
		if (is_gone)
			return 0;
		poll(NULL, 0, BEGIN_MS);
	}
}

/* Waits for a reader of the FIFO, no longer than there is a session to tell of. */
static int fifo_open(const char *where, pid_t zwatch)
{
	for (;;) {
		bool is_gone = kill(zwatch, 0) < 0; /* asked first */
		int fd = open(where, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

		if (fd >= 0)
			return fcntl(fd, F_SETFL, 0) < 0 ? -1 : fd;
		if (errno != ENXIO || is_gone)
			return -1;
		poll(NULL, 0, BEGIN_MS);
	}
}

/* The process that writes. Nothing of zwatch's is open in it but the target and the pipe. */
static _Noreturn void writer(const char *store_path, const char *where, int fd, int done_fd,
			     pid_t zwatch, int64_t since_us)
{
	struct aud_query *q = NULL;
	struct aud_filter *all = NULL;
	struct aud_filter_error error;

	signal(SIGPIPE, SIG_IGN);
	if (fd == -2)
		fd = fifo_open(where, zwatch);
	if (fd < 0 || aud_filter_parse("", 0, &all, &error) < 0)
		_exit(1);
	int64_t session = session_await(store_path, zwatch, since_us, &q);
	struct aud_follow what = {.filter = all, .session = session};
	struct aud_print p = {.fd = fd, .format = AUD_FORMAT_NDJSON, .is_utc = true};
	if (session > 0)
		aud_follow(q, &what, &p);
	close(done_fd);
	_exit(0);
}

static void keep_only(int fd, int done_fd)
{
	for (int i = 0; i < 3; i++) {
		zw_autoclose int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (null_fd >= 0 && null_fd != i)
			dup2(null_fd, i);
	}
	for (int i = 3; i < 1024; i++)
		if (i != fd && i != done_fd)
			close(i);
}

int events_out_start(const struct cli *cli, const char *store_path, struct events_out *ret)
{
	const char *where = cli_get(cli, CLI_OPT_EVENTS);
	int done[2], fd;

	ret->done_fd = -1;
	if (where == NULL)
		return 0;
	fd = target_open(where);
	if (fd == -1)
		return ZW_EXIT_USAGE;
	if (pipe2(done, O_CLOEXEC) < 0)
		return ZW_EXIT_INTERNAL;
	pid_t zwatch = getpid();
	int64_t since_us = zw_now_us();
	pid_t pid = fork();
	if (pid == 0) {
		if (setsid() < 0 ||
		    fork() != 0) /* twice: nobody's child, and no keys of this terminal */
			_exit(0);
		keep_only(fd, done[1]);
		writer(store_path, where, fd, done[1], zwatch, since_us);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	close(done[1]);
	if (fd >= 0)
		close(fd);
	ret->done_fd = done[0];
	return pid > 0 ? 0 : ZW_EXIT_INTERNAL;
}

void events_out_end(struct events_out *e)
{
	struct pollfd p = {.fd = e->done_fd, .events = POLLIN};

	if (e->done_fd < 0)
		return;
	(void)poll(&p, 1, END_MS);
	close(e->done_fd);
	e->done_fd = -1;
}
