/* SPDX-License-Identifier: MIT
 * What starting a session costs over the same bwrap call alone: time from fork to the first
 * instruction of the program inside. The three ways take turns, so that a busy machine hurts all.
 *
 *   bench_start ROUNDS     run in an empty folder; prints milliseconds, median and quartiles */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pty.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "sandbox/bars.h"
#include "sandbox/plan.h"
#include "sandbox/survey.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/main/start.h"

#define ROUNDS_MAX 1000

enum way { WAY_BWRAP, WAY_NONE, WAY_DASHBOARD, WAY_MAX };

static char bin[PATH_MAX], stamp[PATH_MAX + 16], zwatch[PATH_MAX + 16];

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* Says that all is prepared, and waits for the start. */
static void wait_at_gate(const int ready[2], const int go[2])
{
	char c = 'r';

	if (write(ready[1], &c, 1) != 1 || read(go[0], &c, 1) != 1)
		_exit(1);
	close(ready[0]);
	close(ready[1]);
	close(go[0]);
	close(go[1]);
}

/* bwrap with the arguments of zwatch's own plan, and the stamp in the place of zwatch-init. */
static void exec_bwrap(const int ready[2], const int go[2])
{
	char *command[] = {stamp, (char *)(uintptr_t) "stamp.txt", NULL};
	struct cli cli = {.command = CLI_CMD_run};
	struct sb_failure failure;
	struct sb_layout layout;
	struct start st;
	struct zw_buf args;
	int empty[64];

	start_init(&st);
	if (start_config(&st, &cli) < 0 || start_agent(&st, &cli, "", command, false) < 0 ||
	    sb_survey(&st.plan, &layout, &failure) < 0)
		_exit(1);
	size_t n_empty = sb_layout_n_empty(&layout);
	for (size_t i = 0; i < n_empty && i < 64; i++)
		empty[i] = open("/dev/null", O_RDONLY);
	struct sb_plan_fds fds = {.resolv_conf = open("/dev/null", O_RDONLY),
				  .nsswitch = open("/dev/null", O_RDONLY),
				  .empty = empty,
				  .n_empty = n_empty};
	/* What stands in the place of missing files has to be there; the sessions take it over, and away. */
	struct sb_bars bars;
	if (sb_bars_make(&layout, &bars) < 0)
		_exit(1);
	zw_buf_init(&args, 1 << 20);
	sb_plan_args(&st.plan, &layout, &fds, &args);
	int memfd = memfd_create("args", 0);
	zw_write_all(memfd, zw_buf_head(&args), args.len);
	lseek(memfd, 0, SEEK_SET);
	zw_autofree char *number = zw_xasprintf("%d", memfd);
	wait_at_gate(ready, go);
	execl("/usr/bin/bwrap", "bwrap", "--args", number, "--", stamp, "stamp.txt", (char *)NULL);
	_exit(1);
}

static void child(enum way way, const int ready[2], const int go[2])
{
	if (way == WAY_BWRAP) {
		exec_bwrap(ready, go);
	} else {
		setenv("TERM", "xterm-256color", 1);
		if (way == WAY_NONE) {
			int null = open("/dev/null", O_RDWR);

			dup2(null, 0);
			dup2(null, 1);
			dup2(null, 2);
		}
		wait_at_gate(ready, go);
		execl(zwatch, "zwatch", "run", "--", stamp, "stamp.txt", (char *)NULL);
	}
	_exit(1);
}

/* Starts a child that stands just before its exec, then lets it go. */
static pid_t start_way(enum way way, int *ret_master, double *ret_t0)
{
	struct winsize size = {.ws_row = 30, .ws_col = 100};
	int ready[2], go[2];
	char c;

	*ret_master = -1;
	if (pipe(ready) < 0 || pipe(go) < 0)
		return -1;
	pid_t pid = way == WAY_DASHBOARD ? forkpty(ret_master, NULL, NULL, &size) : fork();
	if (pid == 0)
		child(way, ready, go);
	if (pid < 0 || read(ready[0], &c, 1) != 1)
		return -1;
	*ret_t0 = now_ms();
	if (write(go[1], "g", 1) != 1)
		return -1;
	close(ready[0]);
	close(ready[1]);
	close(go[0]);
	close(go[1]);
	return pid;
}

/* One start; milliseconds, or a negative number when it failed. */
static double once(enum way way)
{
	zw_autofree char *text = NULL;
	size_t len;
	int master, status;
	double t0;

	unlink("stamp.txt");
	pid_t pid = start_way(way, &master, &t0);
	if (pid < 0)
		return -1;
	while (master >= 0) {
		static const char question[] = "\033[c", answer[] = "\033[?62c";
		char drain[65536];
		ssize_t n = read(master, drain, sizeof(drain));

		if (n <= 0)
			break;
		/* A terminal that does not answer is waited for at the end. */
		if (memmem(drain, (size_t)n, question, strlen(question)) != NULL &&
		    write(master, answer, strlen(answer)) < 0)
			break;
	}
	waitpid(pid, &status, 0);
	if (master >= 0)
		close(master);
	if (zw_read_file("stamp.txt", 64, &text, &len) < 0)
		return -1;
	return strtod(text, NULL) / 1e6 - t0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static char home[] = "/tmp/zwbench.XXXXXX";

/* A home with settings: the first session of all asks how strict it is to be. */
static bool make_home(void)
{
	static const char settings[] = "{\"ui\": {\"review\": false}}";
	zw_autofree char *dir = NULL, *file = NULL;

	if (mkdtemp(home) == NULL)
		return false;
	dir = zw_xasprintf("%s/.config/zwatch", home);
	file = zw_xasprintf("%s/config.json", dir);
	if (zw_mkdirs(dir, 0700) < 0)
		return false;
	zw_autoclose int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_STATE_HOME");
	return fd >= 0 && zw_write_all(fd, settings, strlen(settings)) == 0 &&
	       setenv("HOME", home, 1) == 0;
}

int main(int argc, char **argv)
{
	static double t[WAY_MAX][ROUNDS_MAX];
	static const char *const names[] = {"bwrap alone", "zwatch --ui none", "zwatch dashboard"};
	int rounds = argc > 1 ? atoi(argv[1]) : 40;

	ssize_t n = readlink("/proc/self/exe", bin, sizeof(bin) - 1);
	if (n <= 0 || rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	bin[n] = '\0';
	if (!make_home())
		return 1;
	*strrchr(bin, '/') = '\0';
	snprintf(stamp, sizeof(stamp), "%s/stamp", bin);
	snprintf(zwatch, sizeof(zwatch), "%s/zwatch", bin);
	for (int i = -2; i < rounds; i++) {
		for (int way = 0; way < WAY_MAX; way++) {
			double ms = once((enum way)way);

			if (ms < 0) {
				fprintf(stderr, "%s did not start\n", names[way]);
				return 1;
			}
			if (i >= 0)
				t[way][i] = ms;
		}
	}
	for (int way = 0; way < WAY_MAX; way++)
		qsort(t[way], (size_t)rounds, sizeof(double), by_value);
	for (int way = 0; way < WAY_MAX; way++)
		printf("%-18s median %6.1f ms  quartiles %6.1f %6.1f  over bwrap %+6.1f ms\n",
		       names[way], t[way][rounds / 2], t[way][rounds / 4], t[way][rounds * 3 / 4],
		       t[way][rounds / 2] - t[WAY_BWRAP][rounds / 2]);
	if (fork() == 0)
		execlp("rm", "rm", "-rf", home, (char *)NULL);
	wait(NULL);
	return 0;
}
