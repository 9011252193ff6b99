/* SPDX-License-Identifier: MIT
 * Starts a sandbox as zwatch does, with a broker that refuses all it is asked.
 *
 *   driver [options] -- COMMAND...    exit status of the command, or of the failure
 *   driver [options] --bench N -- COMMAND...
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "sandbox/launch.h"
#include "sandbox/survey.h"
#include "src/base/io.h"
#include "src/base/mem.h"

#define LIST_MAX 32

extern char **environ;

struct options {
	struct sb_plan plan;
	const char *lists[4][LIST_MAX + 1]; /* writable, read-only, hidden, fresh */
	size_t n[4];
	int n_bench;
	bool is_deaf;    /* nobody answers notifications */
	bool is_verbose; /* facts about the session on stderr */
};

/* -- the broker that refuses ------------------------------------------------------------------- */

static int refuse(const struct seccomp_notif *req)
{
	bool is_connect = req->data.nr == __NR_connect;

	return is_connect && (int)req->data.args[2] <= 2 ? -EINVAL : -EACCES;
}

static void serve(int listener)
{
	struct seccomp_notif req;
	struct seccomp_notif_resp resp;
	struct pollfd pfd = {listener, POLLIN, 0};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (poll(&pfd, 1, -1) > 0 && !(pfd.revents & POLLHUP)) {
		memset(&req, 0, sizeof(req));
		memset(&resp, 0, sizeof(resp));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &req) < 0)
			continue;
		resp.id = req.id;
		resp.error = refuse(&req);
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp);
	}
}

static pid_t start_broker(struct sb_session *s)
{
	pid_t pid = fork();

	if (pid == 0) {
		int listener = s->listener;

		/* What it holds besides would keep a terminal or a pipe open. */
		dup2(listener, 3);
		close_range(4, ~0u, 0);
		close_range(0, 2, 0);
		serve(3);
		_exit(0);
	}
	zw_close(&s->listener);
	return pid;
}

/* -- one session -------------------------------------------------------------------------------- */

static int report(const struct sb_failure *f)
{
	char text[1024];

	sb_failure_text(f, text, sizeof(text));
	fprintf(stderr, "driver: %s\ndriver: hint: %s\n", text, sb_failure_hint(f));
	return sb_failure_exit(f);
}

/** The terminal's output to stdout until the sandbox ends. */
static void pump(const struct sb_session *s)
{
	char buf[4096];

	for (;;) {
		struct pollfd fds[] = {{s->pty, POLLIN, 0}, {s->bwrap_pidfd, POLLIN, 0}};

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		if (fds[0].revents) {
			ssize_t n = read(s->pty, buf, sizeof(buf));

			if (n > 0)
				zw_write_all(1, buf, (size_t)n);
			else
				fds[0].revents = 0;
		}
		if (fds[1].revents && !fds[0].revents)
			return;
	}
}

static void print_facts(const struct sb_session *s)
{
	fprintf(stderr, "level=%d landlock=%d killable=%d init=%d agent=%d\n", s->level,
		s->landlock_abi, s->is_wait_killable, (int)s->init_pid, (int)s->agent_pid);
}

static int run(const struct options *o)
{
	struct sb_session s;
	struct sb_failure f = {0};
	int status = 255;

	if (sb_launch(&o->plan, &s, &f) < 0)
		return report(&f);
	if (o->is_verbose)
		print_facts(&s);
	pid_t broker = o->is_deaf ? 0 : start_broker(&s);
	if (sb_go(&s, &f) < 0) {
		status = report(&f);
	} else {
		pump(&s);
		sb_session_ended(&s, &status);
	}
	sb_session_fini(&s);
	if (broker > 0) {
		kill(broker, SIGKILL);
		waitpid(broker, NULL, 0);
	}
	return status;
}

/* -- the same bwrap call alone, and both in turn ------------------------------------------------- */

static int bwrap_alone(const struct options *o)
{
	const struct sb_plan *p = &o->plan;
	char number[16];
	struct sb_layout l;
	struct sb_failure f;
	struct zw_buf b;

	if (sb_survey(p, &l, &f) < 0)
		return report(&f);
	int null[LIST_MAX];
	struct sb_plan_fds fds = {-1, -1, null, sb_layout_n_empty(&l)};
	for (size_t i = 0; i < fds.n_empty && i < LIST_MAX; i++)
		null[i] = open("/dev/null", O_RDONLY);
	zw_buf_init(&b, SB_ARGS_MAX);
	sb_plan_args(p, &l, &fds, &b);
	int fd = memfd_create("args", 0);
	zw_write_all(fd, zw_buf_head(&b), b.len);
	lseek(fd, 0, SEEK_SET);
	snprintf(number, sizeof(number), "%d", fd);
	pid_t pid = fork();
	if (pid == 0) {
		char *argv[64] = {(char[]){"bwrap"}, (char[]){"--args"}, number, (char[]){"--"}};

		for (size_t i = 0; p->argv[i] && i < 58; i++)
			argv[i + 4] = p->argv[i];
		execv(p->bwrap, argv);
		_exit(127);
	}
	int status;
	waitpid(pid, &status, 0);
	close(fd);
	for (size_t i = 0; i < fds.n_empty && i < LIST_MAX; i++)
		close(null[i]);
	zw_buf_fini(&b);
	sb_layout_fini(&l);
	return WEXITSTATUS(status);
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int bench(const struct options *o)
{
	int64_t *alone = zw_xcalloc((size_t)o->n_bench, sizeof(*alone));
	int64_t *whole = zw_xcalloc((size_t)o->n_bench, sizeof(*whole));

	for (int i = 0; i < o->n_bench; i++) {
		int64_t t = zw_mono_us();

		if (bwrap_alone(o) != 0)
			return 1;
		alone[i] = zw_mono_us() - t;
		t = zw_mono_us();
		if (run(o) != 0)
			return 1;
		whole[i] = zw_mono_us() - t;
	}
	qsort(alone, (size_t)o->n_bench, sizeof(*alone), by_value);
	qsort(whole, (size_t)o->n_bench, sizeof(*whole), by_value);
	printf("bwrap alone: min %.2f ms, median %.2f ms\n", (double)alone[0] / 1000,
	       (double)alone[o->n_bench / 2] / 1000);
	printf("zwatch's:    min %.2f ms, median %.2f ms\n", (double)whole[0] / 1000,
	       (double)whole[o->n_bench / 2] / 1000);
	printf("more:        min %.2f ms, median %.2f ms\n", (double)(whole[0] - alone[0]) / 1000,
	       (double)(whole[o->n_bench / 2] - alone[o->n_bench / 2]) / 1000);
	free(alone);
	free(whole);
	return 0;
}

/* -- options ------------------------------------------------------------------------------------- */

static void add(struct options *o, size_t list, const char *path)
{
	if (o->n[list] < LIST_MAX)
		o->lists[list][o->n[list]++] = path;
}

static int set(struct options *o, int c)
{
	struct sb_plan *p = &o->plan;

	switch (c) {
	case 'w':
	case 'r':
	case 'h':
	case 'f':
		add(o, (size_t)(strchr("wrhf", c) - "wrhf"), optarg);
		return 0;
	case 'p':
		p->project = optarg;
		return 0;
	case 'c':
		p->cwd = optarg;
		return 0;
	case 'b':
		p->bwrap = optarg;
		return 0;
	case 'i':
		p->init = optarg;
		return 0;
	case 't':
		p->want_pty = true;
		return 0;
	case 's':
		p->project_holds_sockets = false;
		return 0;
	case 'n':
		o->n_bench = atoi(optarg);
		return 0;
	case 'd':
		o->is_deaf = true;
		return 0;
	case 'v':
		o->is_verbose = true;
		return 0;
	default:
		return -1;
	}
}

int main(int argc, char **argv)
{
	static const struct option names[] = {
		{"rw", 1, NULL, 'w'},      {"ro", 1, NULL, 'r'},      {"hide", 1, NULL, 'h'},
		{"fresh", 1, NULL, 'f'},   {"project", 1, NULL, 'p'}, {"cwd", 1, NULL, 'c'},
		{"bwrap", 1, NULL, 'b'},   {"init", 1, NULL, 'i'},    {"pty", 0, NULL, 't'},
		{"private-sockets", 0, NULL, 's'}, {"bench", 1, NULL, 'n'}, {"deaf", 0, NULL, 'd'},
		{"verbose", 0, NULL, 'v'}, {NULL, 0, NULL, 0},
	};
	struct options o = {.plan = {.env = environ,
				     .home = getenv("HOME"),
				     .uid = getuid(),
				     .gid = getgid(),
				     .project_holds_sockets = true,
				     .rows = 24,
				     .cols = 80,
				     .stdio = {0, 1, 2},
				     .bwrap = "/usr/bin/bwrap"}};
	int c;

	while ((c = getopt_long(argc, argv, "+", names, NULL)) != -1) {
		if (set(&o, c) < 0)
			return 2;
	}
	if (!o.plan.project || !o.plan.init || optind == argc) {
		fprintf(stderr, "usage: driver --project DIR --init FILE [options] -- COMMAND...\n");
		return 2;
	}
	o.plan.argv = argv + optind;
	if (!o.plan.cwd)
		o.plan.cwd = o.plan.project;
	o.plan.writable = o.lists[0];
	o.plan.read_only = o.lists[1];
	o.plan.hidden = o.lists[2];
	o.plan.fresh = o.lists[3];
	return o.n_bench > 0 ? bench(&o) : run(&o);
}
