/* SPDX-License-Identifier: MIT
 * The start of a sandbox, seen from zwatch. */
#include "sandbox/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "sandbox/bars.h"
#include "sandbox/conf.h"
#include "sandbox/init/proto.h"
#include "sandbox/links.h"
#include "sandbox/standins.h"
#include "sandbox/survey.h"
#include "sandbox/syscalls.h"
#include "sandbox/vmchild.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"

#define KILL_TIMEOUT_MS 2000
#define READY_FDS	2 /* listener, and the terminal's master */

/** What one start holds until it is done. */
struct start {
	const struct sb_plan *plan; /* borrowed */
	struct sb_layout layout;
	struct sb_standins standins;
	struct sb_bars bars;	    /* ours until they are left to their process */
	struct sb_session *session; /* borrowed */
	int child_ctl, init, args, conf, resolv_conf, nsswitch; /* for bwrap; -1 = none */
	int stdio[3]; /* copies for the agent; -1 = none */
	int *empty;   /* owned */
	size_t n_empty;
	int *texts; /* owned */
	size_t n_texts;
	int64_t deadline_ms;
	char canary[48]; /* its name */
	bool is_ready;
};

/* -- descriptors for bwrap --------------------------------------------------------------------- */

static int open_empty(struct start *s)
{
	size_t n = sb_layout_n_empty(&s->layout);

	s->empty = zw_xcalloc(n + 1, sizeof(*s->empty));
	for (; s->n_empty < n; s->n_empty++) {
		int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			return -errno;
		s->empty[s->n_empty] = fd;
	}
	return 0;
}

static int open_texts(struct start *s)
{
	const struct sb_text *t = s->plan->texts;
	size_t n = 0;

	while (t != NULL && t[n].path != NULL)
		n++;
	s->texts = zw_xcalloc(n + 1, sizeof(*s->texts));
	for (; s->n_texts < n; s->n_texts++) {
		int fd = sb_conf_memfd("text", t[s->n_texts].content, t[s->n_texts].len);

		if (fd < 0)
			return fd;
		s->texts[s->n_texts] = fd;
	}
	return 0;
}

static int open_args(struct start *s)
{
	const struct sb_plan_fds fds = {.resolv_conf = s->resolv_conf,
					.nsswitch = s->nsswitch,
					.texts = s->texts,
					.empty = s->empty,
					.n_empty = s->n_empty};
	struct zw_buf b;
	int r;

	zw_buf_init(&b, SB_ARGS_MAX);
	r = sb_plan_args(s->plan, &s->layout, &fds, &b);
	if (r == 0)
		r = sb_conf_memfd("bwrap", zw_buf_head(&b), b.len);
	zw_buf_fini(&b);
	return r;
}

static int open_control(struct start *s)
{
	const int on = 1;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	s->session->ctl = pair[0];
	s->child_ctl = pair[1];
	return setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0 ? -errno : 0;
}

/* The one kind of descriptor that reaches any socket without being asked about: sendto() on it. */
static bool is_unix_datagram(int fd)
{
	int domain = 0, type = 0;
	socklen_t len = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_DGRAM;
}

/** Copies above 0 to 2, which bwrap gets for itself. A closed one becomes /dev/null. */
static int open_stdio(struct start *s)
{
	for (int i = 0; i < 3 && !s->plan->want_pty; i++) {
		if (is_unix_datagram(s->plan->stdio[i]))
			return -EPROTOTYPE;
		s->stdio[i] = fcntl(s->plan->stdio[i], F_DUPFD_CLOEXEC, 3);
		if (s->stdio[i] < 0 && errno == EBADF)
			s->stdio[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (s->stdio[i] < 0)
			return -errno;
	}
	return 0;
}

static int note_socket_dirs(struct start *s)
{
	struct zw_buf b;

	zw_buf_init(&b, SB_ARGS_MAX);
	int r = sb_plan_socket_dirs(s->plan, &s->layout, &b);
	if (r == 0 && b.len > 0) {
		s->session->socket_dirs_len = b.len;
		s->session->socket_dirs = zw_xmemdup0(zw_buf_head(&b), b.len);
	}
	zw_buf_fini(&b);
	return r;
}

/** A socket of the host's that no rule knows, for the self-test to be refused. Abstract: it leaves
 * nothing behind. */
static int open_canary(struct start *s)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -errno;
	snprintf(s->canary, sizeof(s->canary), "zwatch-self-test-%016" PRIx64, number);
	zw_strlcpy(un.sun_path + 1, s->canary, sizeof(un.sun_path) - 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	s->session->canary = fd;
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(s->canary));
	return bind(fd, (const struct sockaddr *)&un, len) < 0 || listen(fd, 1) < 0 ? -errno : 0;
}

static int open_all(struct start *s)
{
	int r = open_control(s);

	if (r == 0)
		r = open_canary(s);
	if (r == 0)
		r = open_empty(s);
	if (r == 0)
		r = open_texts(s);
	if (r == 0)
		r = open_stdio(s);
	if (r < 0)
		return r;
	s->session->messages = memfd_create("messages", MFD_CLOEXEC);
	if (s->session->messages < 0)
		return -errno;
	if (s->layout.resolv_conf)
		s->resolv_conf =
			sb_conf_memfd("resolv.conf", SB_RESOLV_CONF, strlen(SB_RESOLV_CONF));
	s->nsswitch = sb_conf_nsswitch(&s->layout);
	s->args = open_args(s);
	if (s->args < 0)
		return s->args;
	r = note_socket_dirs(s);
	if (r < 0)
		return r;
	s->conf =
		sb_conf_init(s->plan, &s->layout, s->child_ctl, s->stdio, s->session->landlock_abi,
			     s->session->limits_wanted & ~s->session->group.has, s->canary);
	return s->conf < 0 ? s->conf : 0;
}

/* -- the child that becomes bwrap: only system calls ------------------------------------------- */

static void keep_open(int fd)
{
	if (fd >= 0)
		fcntl(fd, F_SETFD, 0);
}

static void child_signals(void)
{
	sigset_t none;

	/* What zwatch ignores or handles is its own business, SIGPIPE above all. */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void child_descriptors(const struct start *s)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
	keep_open(s->child_ctl);
	keep_open(s->init);
	keep_open(s->args);
	keep_open(s->conf);
	keep_open(s->resolv_conf);
	keep_open(s->nsswitch);
	for (size_t i = 0; i < s->n_empty; i++)
		keep_open(s->empty[i]);
	for (size_t i = 0; i < s->n_texts; i++)
		keep_open(s->texts[i]);
	for (int i = 0; i < 3; i++)
		keep_open(s->stdio[i]);
	/* Not the user's terminal: bwrap would mount it inside as /dev/console. */
	dup2(null, 0);
	dup2(null, 1);
	dup2(s->session->messages, 2);
}

struct child {
	const struct start *s; /* borrowed */
	char *const *argv;
	pid_t parent;
};

/** Shares zwatch's memory until the exec. */
static int child_main(void *arg)
{
	const struct child *c = arg;
	const struct start *s = c->s;
	char *const no_env[] = {NULL};
	struct sb_note note = {.kind = SB_NOTE_FAILED, .stage = SB_STAGE_NO_BWRAP};

	/* First of all, so that whatever it starts is in there. */
	if (s->session->group.procs_fd >= 0 && write(s->session->group.procs_fd, "0", 1) < 0) {
		note.stage = SB_STAGE_RESOURCES;
		note.error = errno;
		zw_strlcpy(note.detail, "control group", sizeof(note.detail));
		send(s->child_ctl, &note, sizeof(note), MSG_NOSIGNAL);
		return 125;
	}
	child_signals();
	child_descriptors(s);
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == c->parent)
		execve(s->plan->bwrap, c->argv, no_env);
	note.error = errno;
	zw_strlcpy(note.detail, s->plan->bwrap, sizeof(note.detail));
	send(s->child_ctl, &note, sizeof(note), MSG_NOSIGNAL);
	return 125;
}

static int start_bwrap(struct start *s)
{
	char args[16], init[32], conf[16];
	size_t n = 0, n_agent = 0;

	while (s->plan->argv[n_agent])
		n_agent++;
	zw_autofree char **argv = zw_xcalloc(n_agent + 8, sizeof(*argv));
	snprintf(args, sizeof(args), "%d", s->args);
	/* By descriptor, so that it is found wherever it lies, even in a folder that is hidden. */
	snprintf(init, sizeof(init), "/proc/self/fd/%d", s->init);
	snprintf(conf, sizeof(conf), "%d", s->conf);
	char *const head[] = {
		(char[]){"bwrap"}, (char[]){"--args"}, args, (char[]){"--"}, init, conf};
	for (; n < ZW_N_ELEMENTS(head); n++)
		argv[n] = head[n];
	memcpy(argv + n, s->plan->argv, n_agent * sizeof(*argv));

	struct child child = {s, argv, getpid()};
	pid_t pid = sb_vmchild(child_main, &child, SIGCHLD);
	if (pid < 0)
		return pid;
	s->session->bwrap_pid = pid;
	s->session->bwrap_pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return s->session->bwrap_pidfd < 0 ? -errno : 0;
}

/* -- what comes back --------------------------------------------------------------------------- */

/** One message of zwatch-init with all that came along. */
struct received {
	struct sb_note note;
	pid_t pid; /* who sent it, as seen here; 0 = unknown */
	int fds[READY_FDS];
	size_t n_fds;
};

static void take_control(struct msghdr *msg, struct received *ret)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_CREDENTIALS) {
			struct ucred cred;

			memcpy(&cred, CMSG_DATA(c), sizeof(cred));
			ret->pid = cred.pid;
		} else if (c->cmsg_type == SCM_RIGHTS) {
			ret->n_fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
			if (ret->n_fds > READY_FDS)
				ret->n_fds = READY_FDS;
			memcpy(ret->fds, CMSG_DATA(c), ret->n_fds * sizeof(int));
		}
	}
}

/** Returns 1, 0 at end of file, -errno, or -EPROTO for another size. */
static int receive(int ctl, struct received *ret)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * READY_FDS) + CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec iov = {&ret->note, sizeof(ret->note)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.buf,
			     .msg_controllen = sizeof(control.buf)};

	memset(ret, 0, sizeof(*ret));
	ssize_t n = recvmsg(ctl, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	/* Reset: it ended before it had read what we said. That is an end like another. */
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	take_control(&msg, ret);
	ret->note.detail[SB_DETAIL_MAX - 1] = '\0';
	if (n == 0 || (size_t)n == sizeof(ret->note))
		return n > 0;
	for (size_t i = 0; i < ret->n_fds; i++)
		close(ret->fds[i]);
	return -EPROTO;
}

/** Tells zwatch-init which stand-ins to make; it waits for that. When it is gone already, the reason
 * comes from elsewhere. */
static void send_standins(struct start *s)
{
	struct zw_buf paths, *b = &s->standins.fresh;

	zw_buf_init(&paths, 4 * SB_STANDINS_MAX);
	if (s->plan->standins)
		s->plan->standins(s->plan->meanwhile_arg, &paths);
	if (paths.len > 0)
		sb_standins_write(&s->layout, (const char *)zw_buf_head(&paths), paths.len,
				  &s->standins);
	/* A message of no bytes would look like the end. */
	if (b->len == 0)
		(void)zw_buf_add(b, "", 1);
	(void)send(s->session->ctl, zw_buf_head(b), b->len, MSG_NOSIGNAL);
	zw_buf_fini(&paths);
}

/** Why bwrap ended: its own words, sorted into the causes that have a remedy. */
static int fail_by_messages(const struct sb_session *s, struct sb_failure *f)
{
	static const struct {
		const char *says;
		enum sb_stage stage;
	} causes[] = {
		{"zwatch-init:", SB_STAGE_INIT_CONFIG},
		{"namespace", SB_STAGE_USERNS},
		{"uid map", SB_STAGE_USERNS},
		{"gid map", SB_STAGE_USERNS},
		{"setgroups", SB_STAGE_USERNS},
		{"RTM_NEWADDR", SB_STAGE_USERNS},
		{"mount", SB_STAGE_MOUNT},
		{"mkdir", SB_STAGE_MOUNT},
		{"bind", SB_STAGE_MOUNT},
		{"Can't create", SB_STAGE_MOUNT},
		{"Can't find source", SB_STAGE_MOUNT},
		{"/proc/self/fd", SB_STAGE_NO_INIT},
	};
	char text[SB_DETAIL_MAX];
	ssize_t n = pread(s->messages, text, sizeof(text) - 1, 0);
	enum sb_stage stage = SB_STAGE_BWRAP;

	text[n > 0 ? n : 0] = '\0';
	if (n <= 0)
		return sb_fail(f, SB_STAGE_KILLED, 0, "%s", "");
	for (size_t i = 0; i < ZW_N_ELEMENTS(causes) && stage == SB_STAGE_BWRAP; i++) {
		if (strstr(text, causes[i].says))
			stage = causes[i].stage;
	}
	return sb_fail(f, stage, 0, "%s", text);
}

static int fail_by_note(const struct sb_note *note, struct sb_failure *f)
{
	if (note->kind == SB_NOTE_FAILED && note->stage < SB_STAGE_MAX)
		return sb_fail(f, (enum sb_stage)note->stage, note->error, "%s", note->detail);
	return sb_fail(f, SB_STAGE_PROTOCOL, 0, "message %u", note->kind);
}

static int on_control(struct start *s, struct sb_failure *f);

static int net_open(struct start *s, pid_t pid, struct sb_failure *f)
{
	struct sb_failure net = {0};
	int r = sb_netns_open(pid, s->session->net, &net);

	/* It cannot join what has ended; then zwatch-init's own last words say more. */
	for (int i = 0; r < 0 && i < 2; i++) {
		int said = on_control(s, f);

		if (said < 0)
			return said;
	}
	if (r < 0)
		*f = net;
	return r;
}

static int on_hello(struct start *s, const struct received *r, struct sb_failure *f)
{
	if (r->pid <= 0 || s->session->init_pid != 0 || r->n_fds != 0)
		return sb_fail(f, SB_STAGE_PROTOCOL, 0, "hello");
	s->session->init_pid = r->pid;
	s->session->init_pidfd = (int)syscall(SYS_pidfd_open, r->pid, 0);
	/* Gone already: why stands in its next message. */
	if (s->session->init_pidfd < 0)
		return errno == ESRCH ? 0 : sb_fail(f, SB_STAGE_RESOURCES, errno, "pidfd_open");
	int error = sb_bars_leave(&s->bars, s->session->init_pidfd, &s->session->bars_pid,
				  &s->session->bars_fd);
	if (error < 0)
		return sb_fail(f, SB_STAGE_RESOURCES, -error, "fork");
	error = net_open(s, r->pid, f);
	if (error == 0)
		error = sb_links_hold(r->pid, &s->layout, f);
	if (error < 0)
		return error;
	error = sb_standins_hide(r->pid, &s->standins);
	return error < 0 ? sb_fail(f, SB_STAGE_MOUNT, -error, "stand-ins in hidden folders") : 0;
}

static int on_ready(struct start *s, const struct received *r, struct sb_failure *f)
{
	size_t n_wanted = s->plan->want_pty ? 2 : 1;

	if (r->n_fds > 0)
		s->session->listener = r->fds[0];
	if (r->n_fds > 1)
		s->session->pty = r->fds[1];
	if (r->pid <= 0 || s->session->init_pidfd < 0 || s->is_ready || r->n_fds != n_wanted)
		return sb_fail(f, SB_STAGE_PROTOCOL, 0, "ready");
	s->session->agent_pid = r->pid;
	s->session->is_wait_killable = r->note.flags & SB_NOTE_WAIT_KILLABLE;
	s->is_ready = true;
	return 0;
}

static int on_control(struct start *s, struct sb_failure *f)
{
	struct received r;
	int n = receive(s->session->ctl, &r);

	if (n == -EAGAIN || n == -EINTR)
		return 0;
	if (n < 0)
		return sb_fail(f, SB_STAGE_PROTOCOL, -n, "%s", "");
	if (n == 0)
		return fail_by_messages(s->session, f);
	if (r.note.kind == SB_NOTE_HELLO)
		return on_hello(s, &r, f);
	if (r.note.kind == SB_NOTE_READY)
		return on_ready(s, &r, f);
	for (size_t i = 0; i < r.n_fds; i++)
		close(r.fds[i]);
	return fail_by_note(&r.note, f);
}

/** Waits for one of the sources. Returns 0, or < 0 when the time is over. */
static int wait_any(struct pollfd *fds, nfds_t n, int64_t deadline_ms, struct sb_failure *f)
{
	int64_t left = deadline_ms - zw_mono_ms();
	int r = left > 0 ? poll(fds, n, (int)left) : 0;

	if (r == 0)
		return sb_fail(f, SB_STAGE_TIMEOUT, ETIMEDOUT, "%s", "");
	if (r < 0 && errno != EINTR)
		return sb_fail(f, SB_STAGE_RESOURCES, errno, "poll");
	if (r < 0)
		for (nfds_t i = 0; i < n; i++)
			fds[i].revents = 0;
	return 0;
}

static int wait_ready(struct start *s, struct sb_failure *f)
{
	int r = 0;

	while (r == 0 && !s->is_ready) {
		struct pollfd fds[] = {{s->session->ctl, POLLIN, 0},
				       {s->session->bwrap_pidfd, POLLIN, 0}};

		r = wait_any(fds, ZW_N_ELEMENTS(fds), s->deadline_ms, f);
		/* What was said comes before the fact that the speaker is gone. */
		if (r == 0 && fds[0].revents)
			r = on_control(s, f);
		else if (r == 0 && fds[1].revents)
			r = fail_by_messages(s->session, f);
	}
	return r;
}

/* -- both steps -------------------------------------------------------------------------------- */

static void start_fini(struct start *s)
{
	int *const fds[] = {&s->child_ctl, &s->init,	    &s->args,
			    &s->conf,	   &s->resolv_conf, &s->nsswitch};

	for (size_t i = 0; i < ZW_N_ELEMENTS(fds); i++)
		zw_close(fds[i]);
	for (size_t i = 0; i < ZW_N_ELEMENTS(s->stdio); i++)
		zw_close(&s->stdio[i]);
	for (size_t i = 0; i < s->n_empty; i++)
		close(s->empty[i]);
	free(s->empty);
	for (size_t i = 0; i < s->n_texts; i++)
		close(s->texts[i]);
	free(s->texts);
	/* Nothing is left here once they are left to their process. */
	sb_bars_remove(&s->bars);
	sb_bars_fini(&s->bars);
	zw_buf_fini(&s->standins.fresh);
	zw_buf_fini(&s->standins.hidden);
	sb_layout_fini(&s->layout);
}

static int start_run(struct start *s, struct sb_failure *f)
{
	int r;

	s->init = open(s->plan->init, O_RDONLY | O_CLOEXEC);
	if (s->init < 0)
		return sb_fail(f, SB_STAGE_NO_INIT, errno, "%s", s->plan->init);
	r = sb_bars_make(&s->layout, &s->bars);
	if (r < 0)
		return sb_fail(f, SB_STAGE_PROTECT, -r, "%s", "");
	r = open_all(s);
	if (r < 0)
		return sb_fail(f, SB_STAGE_RESOURCES, r > -1000 ? -r : E2BIG, "instructions");
	r = start_bwrap(s);
	if (r < 0)
		return sb_fail(f, SB_STAGE_RESOURCES, -r, "fork");
	/* The end of file that tells of an exec must not wait for our own copy. */
	zw_close(&s->child_ctl);
	zw_close(&s->session->group.procs_fd);
	if (s->plan->meanwhile)
		s->plan->meanwhile(s->plan->meanwhile_arg);
	send_standins(s);
	return wait_ready(s, f);
}

int sb_launch(const struct sb_plan *p, struct sb_session *ret, struct sb_failure *ret_failure)
{
	struct sb_session session;
	struct start s = {.plan = p,
			  .session = &session,
			  .child_ctl = -1,
			  .init = -1,
			  .args = -1,
			  .conf = -1,
			  .resolv_conf = -1,
			  .nsswitch = -1,
			  .stdio = {-1, -1, -1},
			  .deadline_ms = zw_mono_ms() + SB_LAUNCH_TIMEOUT_MS};
	int r = sb_survey(p, &s.layout, ret_failure);

	if (r < 0)
		return r;
	zw_buf_init(&s.standins.fresh, SB_STANDINS_MAX);
	zw_buf_init(&s.standins.hidden, SB_STANDINS_MAX);
	sb_session_init(&session);
	session.landlock_abi = sb_landlock_abi();
	if (session.landlock_abi < SB_LANDLOCK_ABI_MIN)
		session.landlock_abi = 0;
	session.level = sb_level_of(session.landlock_abi);
	session.limits_wanted = sb_limits_wanted(&p->limits);
	sb_group_make(&p->limits, &session.group);
	r = start_run(&s, ret_failure);
	if (r < 0)
		sb_session_fini(&session);
	else
		*ret = session;
	start_fini(&s);
	return r;
}

static int say_go(const struct sb_session *s, struct sb_failure *f)
{
	const struct sb_note go = {.kind = SB_NOTE_GO};

	return send(s->ctl, &go, sizeof(go), MSG_NOSIGNAL) < 0 ? fail_by_messages(s, f) : 0;
}

/** The stage's last words. Returns 1 at the exec, 0 to wait on, < 0 with *f filled. */
static int on_verdict(struct sb_session *s, bool *has_passed, struct sb_failure *f)
{
	struct received r;
	int n = receive(s->ctl, &r);

	if (n == -EAGAIN || n == -EINTR)
		return 0;
	if (n < 0)
		return sb_fail(f, SB_STAGE_PROTOCOL, -n, "%s", "");
	if (n == 0)
		return *has_passed ? 1 : fail_by_messages(s, f);
	for (size_t i = 0; i < r.n_fds; i++)
		close(r.fds[i]);
	if (r.note.kind != SB_NOTE_PASSED || *has_passed)
		return fail_by_note(&r.note, f);
	/* Refused there, but did it get here all the same? */
	zw_autoclose int reached = accept4(s->canary, NULL, NULL, SOCK_CLOEXEC);
	if (reached >= 0)
		return sb_fail(f, SB_STAGE_SELFTEST, 0, "no socket of the host is reached");
	*has_passed = true;
	return say_go(s, f);
}

static int go_run(struct sb_session *s, struct sb_failure *f)
{
	int64_t deadline_ms = zw_mono_ms() + SB_GO_TIMEOUT_MS;
	bool has_passed = false;
	int r = say_go(s, f);

	while (r == 0) {
		struct pollfd fds[] = {{s->ctl, POLLIN, 0}, {s->bwrap_pidfd, POLLIN, 0}};

		r = wait_any(fds, ZW_N_ELEMENTS(fds), deadline_ms, f);
		if (r == 0 && fds[0].revents)
			r = on_verdict(s, &has_passed, f);
		else if (r == 0 && fds[1].revents)
			r = fail_by_messages(s, f);
	}
	return r;
}

int sb_go(struct sb_session *s, struct sb_failure *ret_failure)
{
	int r = go_run(s, ret_failure);

	zw_close(&s->ctl);
	zw_close(&s->canary);
	if (r < 0)
		sb_session_kill(s);
	return r < 0 ? r : 0;
}

/* -- a running session ------------------------------------------------------------------------- */

void sb_session_init(struct sb_session *s)
{
	*s = (struct sb_session){.bwrap_pidfd = -1,
				 .init_pidfd = -1,
				 .ctl = -1,
				 .messages = -1,
				 .listener = -1,
				 .canary = -1,
				 .pty = -1,
				 .bars_fd = -1,
				 .group.procs_fd = -1};
	for (size_t i = 0; i < SB_NET_MAX; i++)
		s->net[i] = -1;
}

int sb_session_ended(struct sb_session *s, int *ret_status)
{
	siginfo_t info = {0};

	if (s->bwrap_pid != 0) {
		if (waitid(P_PID, (id_t)s->bwrap_pid, &info, WEXITED | WNOHANG) < 0)
			return -errno;
		if (info.si_pid == 0)
			return 0;
		s->bwrap_pid = 0;
		s->status = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
	}
	*ret_status = s->status;
	return 1;
}

int sb_session_signal(const struct sb_session *s, int sig)
{
	struct pollfd pfd = {s->init_pidfd, POLLIN, 0};

	/* With pid 1 all of them are gone, and their numbers may be somebody else's. */
	if (s->bwrap_pid == 0 || s->agent_pid <= 1 || poll(&pfd, 1, 0) != 0)
		return -ESRCH;
	return kill(-s->agent_pid, sig) < 0 ? -errno : 0;
}

int sb_session_stop_all(const struct sb_session *s)
{
	return kill(s->init_pid, SB_SIGNAL_STOP_ALL) < 0 ? -errno : 0;
}

void sb_session_kill(struct sb_session *s)
{
	int status;

	if (s->bwrap_pid == 0)
		return;
	/* Pid 1 takes everything inside with it; bwrap alone would too, by PDEATHSIG. */
	if (s->init_pidfd >= 0)
		syscall(SYS_pidfd_send_signal, s->init_pidfd, SIGKILL, NULL, 0);
	kill(s->bwrap_pid, SIGKILL);
	const int ends[] = {s->init_pidfd, s->bwrap_pidfd};
	for (size_t i = 0; i < ZW_N_ELEMENTS(ends); i++) {
		struct pollfd pfd = {ends[i], POLLIN, 0};

		if (ends[i] >= 0)
			poll(&pfd, 1, KILL_TIMEOUT_MS);
	}
	sb_session_ended(s, &status);
}

void sb_session_fini(struct sb_session *s)
{
	int *const fds[] = {&s->bwrap_pidfd, &s->init_pidfd, &s->ctl, &s->messages,
			    &s->listener,    &s->canary,     &s->pty};

	sb_session_kill(s);
	sb_group_fini(&s->group);
	free(s->socket_dirs);
	s->socket_dirs = NULL;
	/* So that they are gone when we say that the session is over. */
	zw_close(&s->bars_fd);
	while (s->bars_pid > 0 && waitpid(s->bars_pid, NULL, 0) < 0 && errno == EINTR)
		;
	s->bars_pid = 0;
	for (size_t i = 0; i < ZW_N_ELEMENTS(fds); i++)
		zw_close(fds[i]);
	for (size_t i = 0; i < SB_NET_MAX; i++)
		zw_close(&s->net[i]);
}
