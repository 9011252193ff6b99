/* SPDX-License-Identifier: MIT
 * Starts a sandbox as zwatch does, with a broker that connects IPv4 sockets and refuses all else.
 *
 *   driver [options] -- COMMAND...    exit status of the command, or of the failure
 *   driver [options] --bench N -- COMMAND...
 *   driver --without WHAT... --exec -- COMMAND...   the command itself, on such a machine
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "sandbox/bpf.h"
#include "sandbox/launch.h"
#include "sandbox/machine.h"
#include "sandbox/survey.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"

#define LIST_MAX 32

extern char **environ;

struct options {
	struct sb_plan plan;
	/* writable, read-only, hidden, fresh, shown, guarded */
	const char *lists[6][LIST_MAX + 1];
	size_t n[6];
	struct sb_bar bars[LIST_MAX + 1];
	size_t n_bars;
	int n_bench;
	bool is_deaf;	 /* nobody answers notifications */
	bool is_check;	 /* print the checks of the machine instead */
	bool is_network; /* greets each connection to a listener and each datagram */
	bool is_exec;	 /* no sandbox: become the command */
	bool is_verbose; /* facts about the session on stderr */
};

/* -- sandboxes with one fault, for the self-test to find ---------------------------------------- */

static const char *fault = "";

static bool has_fault(const char *name)
{
	return strcmp(fault, name) == 0;
}

/** What a faulty filter does with a call; the condition of the rule that it replaces stays. */
struct bad_rule {
	const char *fault;
	uint32_t nr, old, new;
};

static const struct bad_rule bad_rules[] = {
	{"vsock", __NR_socket, SB_ERRNO(EAFNOSUPPORT), SECCOMP_RET_ALLOW},
	{"datagram", __NR_socket, SECCOMP_RET_USER_NOTIF, SECCOMP_RET_ALLOW},
	{"connect", __NR_connect, SECCOMP_RET_USER_NOTIF, SECCOMP_RET_ALLOW},
	{"io_uring", __NR_io_uring_setup, SB_ERRNO(ENOSYS), SECCOMP_RET_ALLOW},
	{"unshare", __NR_unshare, SB_ERRNO(EPERM), SECCOMP_RET_ALLOW},
	{"pair", __NR_socketpair, SECCOMP_RET_USER_NOTIF, SECCOMP_RET_ALLOW},
	/* Closed by another fence too, so that only another answer shows that it is tried. */
	{"ptrace", __NR_ptrace, SECCOMP_RET_ALLOW, SB_ERRNO(ENOSYS)},
};

/** Calls that the filter leaves alone, answered as on a machine where that does not hold. */
static const struct {
	const char *fault;
	struct sb_rule rule;
} bad_answers[] = {
	{"no-new-privs", {__NR_prctl, {SB_IS(0, PR_GET_NO_NEW_PRIVS), SB_ANY}, SB_ERRNO(0)}},
	{"unfiltered", {__NR_prctl, {SB_IS(0, PR_GET_SECCOMP), SB_ANY}, SB_ERRNO(0)}},
	{"foreign-tree", {__NR_getppid, {SB_ANY, SB_ANY}, SB_ERRNO(0)}},
	{"rename", {__NR_rename, {SB_ANY, SB_ANY}, SB_ERRNO(0)}},
	{"pid1-open", {__NR_readlink, {SB_ANY, SB_ANY}, SB_ERRNO(0)}},
};

/** Instructions in front of the others: for what no table can say. */
static int with_prefix(struct sock_filter *ret, size_t max, int n)
{
	static const struct sock_filter upper_bits[] = {
		{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, args[0]) + 4},
		{BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0},
		{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
	};
	static const struct sock_filter x32[] = {
		{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr)},
		{BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000},
		{BPF_RET | BPF_K, 0, 0, SB_ERRNO(EPERM)},
	};
	const struct sock_filter *prefix = has_fault("upper-bits") ? upper_bits
					   : has_fault("x32")	   ? x32
								   : NULL;

	if (!prefix || n < 0 || (size_t)n + 3 > max)
		return n;
	memmove(ret + 3, ret, (size_t)n * sizeof(*ret));
	memcpy(ret, prefix, 3 * sizeof(*ret));
	return n + 3;
}

int __real_sb_bpf_compile(const struct sb_rule *, size_t, uint32_t, struct sock_filter *, size_t);
int __wrap_sb_bpf_compile(const struct sb_rule *, size_t, uint32_t, struct sock_filter *, size_t);
int __wrap_sb_bpf_compile(const struct sb_rule *rules, size_t n, uint32_t fallback,
			  struct sock_filter *ret, size_t max)
{
	zw_autofree struct sb_rule *copy = zw_xcalloc(n + 1, sizeof(*copy));

	if (n > 0)
		memcpy(copy, rules, n * sizeof(*copy));
	for (size_t k = 0; k < ZW_N_ELEMENTS(bad_rules); k++) {
		for (size_t i = 0; has_fault(bad_rules[k].fault) && i < n; i++) {
			if (copy[i].nr == bad_rules[k].nr && copy[i].action == bad_rules[k].old)
				copy[i].action = bad_rules[k].new;
		}
	}
	for (size_t k = 0; k < ZW_N_ELEMENTS(bad_answers); k++) {
		if (has_fault(bad_answers[k].fault))
			copy[n++] = bad_answers[k].rule;
	}
	return with_prefix(ret, max, __real_sb_bpf_compile(copy, n, fallback, ret, max));
}

int __real_sb_plan_socket_dirs(const struct sb_plan *, const struct sb_layout *, struct zw_buf *);
int __wrap_sb_plan_socket_dirs(const struct sb_plan *, const struct sb_layout *, struct zw_buf *);
int __wrap_sb_plan_socket_dirs(const struct sb_plan *p, const struct sb_layout *l,
			       struct zw_buf *ret)
{
	int r = __real_sb_plan_socket_dirs(p, l, ret);

	return r == 0 && has_fault("sockets-anywhere") ? zw_buf_add(ret, "/dev", 5) : r;
}

int __real_sb_plan_args(const struct sb_plan *, const struct sb_layout *,
			const struct sb_plan_fds *, struct zw_buf *);
int __wrap_sb_plan_args(const struct sb_plan *, const struct sb_layout *,
			const struct sb_plan_fds *, struct zw_buf *);
int __wrap_sb_plan_args(const struct sb_plan *p, const struct sb_layout *l,
			const struct sb_plan_fds *fds, struct zw_buf *ret)
{
	static const char more[] = "--cap-add\0CAP_NET_BIND_SERVICE";
	int r = __real_sb_plan_args(p, l, fds, ret);

	return r == 0 && has_fault("capabilities") ? zw_buf_add(ret, more, sizeof(more)) : r;
}

/* -- the broker -------------------------------------------------------------------------------- */

/** Connects the caller's own socket where it asked to, TCP and UDP inside only. Racy against a
 * hostile caller, which a test is not. */
static int connect_inet(const struct seccomp_notif *req)
{
	struct sockaddr_storage sa = {0};
	struct iovec here = {&sa, sizeof(struct sockaddr_in)};
	struct iovec there = {(void *)(uintptr_t)req->data.args[1], sizeof(struct sockaddr_in)};
	zw_autoclose int pidfd = (int)syscall(SYS_pidfd_open, req->pid, 0);
	zw_autoclose int fd = (int)syscall(SYS_pidfd_getfd, pidfd, (int)req->data.args[0], 0);

	if (fd < 0 || process_vm_readv((pid_t)req->pid, &here, 1, &there, 1, 0) < 0)
		return -EACCES;
	if (sa.ss_family != AF_INET)
		return -EACCES;
	return connect(fd, (const struct sockaddr *)&sa, sizeof(struct sockaddr_in)) < 0 ? -errno
											 : 0;
}

/** A socket in the caller's own runtime folder, and no other. */
static int connect_own(const struct seccomp_notif *req, const struct sockaddr_un *sa)
{
	struct sockaddr_un there = {.sun_family = AF_UNIX};
	zw_autofree char *path = zw_xasprintf("/proc/%d/root%s", (int)req->pid, sa->sun_path);
	zw_autoclose int pidfd = (int)syscall(SYS_pidfd_open, req->pid, 0);
	zw_autoclose int fd = (int)syscall(SYS_pidfd_getfd, pidfd, (int)req->data.args[0], 0);

	if (has_fault("no-own") || strncmp(sa->sun_path, "/run/user/", 10) != 0)
		return -EACCES;
	zw_strlcpy(there.sun_path, path, sizeof(there.sun_path));
	return connect(fd, (const struct sockaddr *)&there, sizeof(there)) < 0 ? -errno : 0;
}

/** The self-test's socket outside: granted only where that is the fault. */
static int connect_canary(const struct sockaddr_un *sa, socklen_t len)
{
	zw_autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (has_fault("canary-reached"))
		return connect(fd, (const struct sockaddr *)sa, len) < 0 ? -errno : -EACCES;
	return has_fault("canary-granted") ? 0 : -EACCES;
}

static int connect_unix(const struct seccomp_notif *req)
{
	struct sockaddr_un sa = {0};
	socklen_t len = (socklen_t)req->data.args[2];
	struct iovec here = {&sa, len < sizeof(sa) ? len : sizeof(sa)};
	struct iovec there = {(void *)(uintptr_t)req->data.args[1], here.iov_len};

	if (process_vm_readv((pid_t)req->pid, &here, 1, &there, 1, 0) < 0 ||
	    sa.sun_family != AF_UNIX)
		return -EACCES;
	return sa.sun_path[0] == '\0' ? connect_canary(&sa, len) : connect_own(req, &sa);
}

static int answer(const struct seccomp_notif *req)
{
	if (req->data.nr == __NR_socket && (int)(uint32_t)req->data.args[0] != AF_UNIX)
		return -EPERM;
	if (req->data.nr != __NR_connect)
		return -EACCES;
	if ((int)req->data.args[2] <= 2)
		return -EINVAL;
	int r = connect_inet(req);
	return r == -EACCES ? connect_unix(req) : r;
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
		if (req.data.nr == __NR_bind || req.data.nr == __NR_listen)
			resp.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		else
			resp.error = answer(&req);
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

/* -- machines that lack something, by a filter on ourselves that everything started inherits --- */

static void fence_self(const struct sb_rule *rules, size_t n, unsigned long flags)
{
	struct sock_filter filter[SB_BPF_MAX];
	int len = sb_bpf_compile(rules, n, SECCOMP_RET_ALLOW, filter, SB_BPF_MAX);
	struct sock_fprog prog = {(unsigned short)len, filter};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	long fd = len < 0 ? -1 : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
	if (fd < 0) {
		perror("driver: seccomp");
		exit(2);
	}
	/* A listener has to outlive the exec of what is tried. */
	if (fd > 0)
		fcntl((int)fd, F_SETFD, 0);
}

static void without(const char *what)
{
	static const struct sb_rule no_landlock[] = {
		{__NR_landlock_create_ruleset, {SB_ANY, SB_ANY}, SB_ERRNO(ENOSYS)}};
	static const struct sb_rule no_userns[] = {
		{__NR_clone, {SB_HAS_ANY(0, 0x10000000), SB_ANY}, SB_ERRNO(EPERM)},
		{__NR_unshare, {SB_HAS_ANY(0, 0x10000000), SB_ANY}, SB_ERRNO(EPERM)}};
	static const struct sb_rule no_killable[] = {
		{__NR_seccomp, {SB_BITS(1, 1 << 5, 1 << 5), SB_ANY}, SB_ERRNO(EINVAL)}};
	static const struct sb_rule no_notify[] = {
		{__NR_seccomp, {SB_BITS(1, 1 << 3, 1 << 3), SB_ANY}, SB_ERRNO(EINVAL)}};

	static const struct sb_rule no_getfd[] = {
		{__NR_pidfd_getfd, {SB_ANY, SB_ANY}, SB_ERRNO(EPERM)}};

	if (strcmp(what, "getfd") == 0)
		fence_self(no_getfd, 1, 0);
	else if (strcmp(what, "landlock") == 0)
		fence_self(no_landlock, 1, 0);
	else if (strcmp(what, "userns") == 0)
		fence_self(no_userns, 2, 0);
	else if (strcmp(what, "killable") == 0)
		fence_self(no_killable, 1, 0);
	else if (strcmp(what, "notify") == 0)
		fence_self(no_notify, 1, 0);
	else if (strcmp(what, "free-listener") == 0)
		fence_self(no_landlock, 0, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	else
		exit(2);
}

/* -- one session ------------------------------------------------------------------------------- */

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

/** Says on every connection which listener it came in by, and that a datagram came. */
static void greet(const struct sb_session *s)
{
	static const char *const names[] = {"http\n", "socks\n", "transparent\n", "udp\n", "dns\n"};
	struct pollfd fds[SB_NET_DIAG];

	for (int i = 0; i < SB_NET_DIAG; i++)
		fds[i] = (struct pollfd){s->net[i], POLLIN, 0};
	while (poll(fds, SB_NET_DIAG, -1) > 0) {
		for (int i = 0; i < SB_NET_DIAG; i++) {
			struct sockaddr_storage from;
			socklen_t len = sizeof(from);
			char buf[64];

			if (!fds[i].revents)
				continue;
			if (i == SB_NET_DNS_UDP) {
				recvfrom(fds[i].fd, buf, sizeof(buf), 0, (struct sockaddr *)&from,
					 &len);
				zw_write_all(2, "datagram\n", 9);
				sendto(fds[i].fd, names[i], strlen(names[i]), 0,
				       (const struct sockaddr *)&from, len);
				continue;
			}
			int fd = accept4(fds[i].fd, NULL, NULL, SOCK_CLOEXEC);
			zw_write_all(fd, names[i], strlen(names[i]));
			close(fd);
		}
	}
}

static pid_t start_greeter(const struct sb_session *s)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close_range(0, 1, 0);
		greet(s);
		_exit(0);
	}
	return pid;
}

static void stop(pid_t pid)
{
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
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
	pid_t greeter = o->is_network ? start_greeter(&s) : 0;
	pid_t broker = o->is_deaf ? 0 : start_broker(&s);
	if (sb_go(&s, &f) < 0) {
		status = report(&f);
	} else {
		pump(&s);
		sb_session_ended(&s, &status);
	}
	sb_session_fini(&s);
	stop(broker);
	stop(greeter);
	return status;
}

/* -- the same bwrap call alone, and both in turn ----------------------------------------------- */

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
	struct sb_plan_fds fds = {
		.resolv_conf = -1, .nsswitch = -1, .empty = null, .n_empty = sb_layout_n_empty(&l)};
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

/** Times of one way to start, microseconds. */
struct times {
	int64_t *wall, *cpu; /* owned */
};

/* Processor time of this process and all that it waited for: steadier than the clock where others
 * work beside it. */
static int64_t cpu_us(void)
{
	int64_t sum = 0;
	const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};

	for (size_t i = 0; i < 2; i++) {
		struct rusage u;

		getrusage(whose[i], &u);
		sum += (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000LL + u.ru_utime.tv_usec +
		       u.ru_stime.tv_usec;
	}
	return sum;
}

static int measure(const struct options *o, int (*fn)(const struct options *), struct times *t,
		   int i)
{
	int64_t wall = zw_mono_us(), cpu = cpu_us();

	if (fn(o) != 0)
		return -1;
	t->wall[i] = zw_mono_us() - wall;
	t->cpu[i] = cpu_us() - cpu;
	return 0;
}

static void print_times(const char *name, const int64_t *alone, const int64_t *whole, int n)
{
	printf("%-4s  bwrap alone: min %6.2f median %6.2f   zwatch: min %6.2f median %6.2f   more: "
	       "min %6.2f median %6.2f ms\n",
	       name, (double)alone[0] / 1000, (double)alone[n / 2] / 1000, (double)whole[0] / 1000,
	       (double)whole[n / 2] / 1000, (double)(whole[0] - alone[0]) / 1000,
	       (double)(whole[n / 2] - alone[n / 2]) / 1000);
}

static int bench(const struct options *o)
{
	size_t n = (size_t)o->n_bench;
	struct times alone = {zw_xcalloc(n, 8), zw_xcalloc(n, 8)};
	struct times whole = {zw_xcalloc(n, 8), zw_xcalloc(n, 8)};
	int64_t *const lists[] = {alone.wall, alone.cpu, whole.wall, whole.cpu};

	for (int i = 0; i < o->n_bench; i++) {
		if (measure(o, bwrap_alone, &alone, i) < 0 || measure(o, run, &whole, i) < 0)
			return 1;
	}
	for (size_t i = 0; i < ZW_N_ELEMENTS(lists); i++)
		qsort(lists[i], n, 8, by_value);
	print_times("wall", alone.wall, whole.wall, o->n_bench);
	print_times("cpu", alone.cpu, whole.cpu, o->n_bench);
	for (size_t i = 0; i < ZW_N_ELEMENTS(lists); i++)
		free(lists[i]);
	return 0;
}

static int check(const struct options *o)
{
	static const char *const grades[] = {"ok", "warn", "fail"};
	struct sb_check checks[SB_CHECK_MAX];
	size_t n = sb_machine_check(o->plan.bwrap, o->plan.init, checks);
	int status = 0;

	for (size_t i = 0; i < n; i++) {
		printf("%s: %s: %s\n", checks[i].name, grades[checks[i].grade], checks[i].found);
		if (checks[i].fix[0])
			printf("    %s\n", checks[i].fix);
		status |= checks[i].grade == SB_GRADE_FAIL;
	}
	return status;
}

/* -- options ----------------------------------------------------------------------------------- */

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
	case 'o':
	case 'u':
		add(o, (size_t)(strchr("wrhfou", c) - "wrhfou"), optarg);
		return 0;
	case 'a':
	case 'e':
	case 'E':
	case 'P':
		add(o, 5, optarg);
		if (o->n_bars < LIST_MAX)
			o->bars[o->n_bars++] = (struct sb_bar){.path = optarg,
							       .content = c == 'e' ? "" : NULL,
							       .reads_empty = c == 'E',
							       .is_private = c == 'P'};
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
	case 'x':
		without(optarg);
		return 0;
	case 'y':
		o->is_exec = true;
		return 0;
	case 'l':
		fault = optarg;
		return 0;
	case 'm':
		o->is_check = true;
		return 0;
	case 'g':
		o->is_network = true;
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
		{"rw", 1, NULL, 'w'},	    {"ro", 1, NULL, 'r'},
		{"hide", 1, NULL, 'h'},	    {"fresh", 1, NULL, 'f'},
		{"project", 1, NULL, 'p'},  {"cwd", 1, NULL, 'c'},
		{"bwrap", 1, NULL, 'b'},    {"init", 1, NULL, 'i'},
		{"pty", 0, NULL, 't'},	    {"private-sockets", 0, NULL, 's'},
		{"bench", 1, NULL, 'n'},    {"deaf", 0, NULL, 'd'},
		{"without", 1, NULL, 'x'},  {"network", 0, NULL, 'g'},
		{"fault", 1, NULL, 'l'},    {"exec", 0, NULL, 'y'},
		{"show", 1, NULL, 'o'},	    {"guard", 1, NULL, 'u'},
		{"bar", 1, NULL, 'a'},	    {"bar-file", 1, NULL, 'e'},
		{"bar-read", 1, NULL, 'E'}, {"bar-private", 1, NULL, 'P'},
		{"check", 0, NULL, 'm'},    {"verbose", 0, NULL, 'v'},
		{NULL, 0, NULL, 0},
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
	if (o.is_check)
		return check(&o);
	if (o.is_exec && optind < argc) {
		execvp(argv[optind], argv + optind);
		perror("driver");
		return 2;
	}
	if (!o.plan.project || !o.plan.init || optind == argc) {
		fprintf(stderr,
			"usage: driver --project DIR --init FILE [options] -- COMMAND...\n");
		return 2;
	}
	o.plan.argv = argv + optind;
	if (!o.plan.cwd)
		o.plan.cwd = o.plan.project;
	o.plan.writable = o.lists[0];
	o.plan.read_only = o.lists[1];
	o.plan.hidden = o.lists[2];
	o.plan.fresh = o.lists[3];
	o.plan.shown = o.lists[4];
	o.plan.guarded = o.lists[5];
	o.plan.bars = o.bars;
	return o.n_bench > 0 ? bench(&o) : run(&o);
}
