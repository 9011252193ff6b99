/* SPDX-License-Identifier: MIT
 * The stage that becomes the agent, in the order that leaves no gap: what needs freedom first, then
 * Landlock, then the filter, and from there only calls that the filter lets through. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "sandbox/init/init.h"
#include "sandbox/landlock.h"
#include "sandbox/standins.h"
#include "sandbox/syscalls.h"

static int dup_stdio(int in, int out, int err)
{
	return dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 ? -errno : 0;
}

/** A terminal in the sandbox's own devpts, so that its name inside is right. */
static int terminal_open(const struct sb_conf *h, int *ret_master)
{
	struct winsize size = {.ws_row = h->rows, .ws_col = h->cols};
	struct termios t;
	char path[32];
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	int number, slave, unlock = 0;

	if (master < 0)
		return -errno;
	if (ioctl(master, TIOCSPTLCK, &unlock) < 0 || ioctl(master, TIOCGPTN, &number) < 0 ||
	    ioctl(master, TIOCSWINSZ, &size) < 0)
		return -errno;
	snprintf(path, sizeof(path), "/dev/pts/%d", number);
	slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return -errno;
	if (tcgetattr(slave, &t) == 0) {
		t.c_iflag |= IUTF8; /* so that erasing takes whole characters */
		tcsetattr(slave, TCSANOW, &t);
	}
	if (ioctl(slave, TIOCSCTTY, 0) < 0)
		return -errno;
	*ret_master = master;
	return dup_stdio(slave, slave, slave);
}

static int filter_load(const struct init_conf *c, bool *ret_is_wait_killable)
{
	struct sock_fprog prog = {(unsigned short)c->n_filter, c->filter};
	unsigned long flags =
		SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);

	*ret_is_wait_killable = fd >= 0;
	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			     &prog);
	return fd < 0 ? -errno : (int)fd;
}

static int hand_over(int ctl, uint32_t flags, const int *fds, size_t n_fds)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	struct sb_note note = {.kind = SB_NOTE_READY, .flags = flags};
	struct iovec iov = {&note, sizeof(note)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.buf,
			     .msg_controllen = CMSG_SPACE(n_fds * sizeof(int))};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
	return sendmsg(ctl, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* They come when zwatch has read its catalogue, which it does while bwrap works. */
static void standins_make(int ctl)
{
	static char text[SB_STANDINS_MAX + 1];
	ssize_t len = recv(ctl, text, sizeof(text) - 1, 0);

	if (len <= 0)
		_exit(125);
	mode_t mask = umask(0);
	for (ssize_t i = 0; i < len; i += (ssize_t)strlen(text + i) + 1)
		sb_standin_make(text + i);
	umask(mask);
}

static void setup(const struct init_conf *c, int *ret_master)
{
	const struct sb_conf *h = &c->head;
	int r;

	standins_make(h->ctl);
	if (chdir(c->cwd) < 0)
		init_fail(h->ctl, SB_STAGE_CHDIR, errno, c->cwd);
	setsid();
	r = h->want_pty ? terminal_open(h, ret_master)
			: dup_stdio(h->stdio[0], h->stdio[1], h->stdio[2]);
	if (r < 0)
		init_fail(h->ctl, h->want_pty ? SB_STAGE_INIT_PTY : SB_STAGE_INIT_STDIO, -r, "");
	if (sb_limits_rlimit(&h->limits, h->rlimits) != (h->rlimits & ~SB_LIMIT_CPU))
		init_fail(h->ctl, SB_STAGE_RESOURCES, errno, "setrlimit");
	if (h->landlock_abi == 0)
		return;
	r = sb_landlock_agent((int)h->landlock_abi, c->socket_dirs, c->socket_dirs_len,
			      !h->want_pty);
	if (r < 0)
		init_fail(h->ctl, SB_STAGE_INIT_LANDLOCK, -r, "");
}

/** Filter on, its listener and the terminal to zwatch. Neither stays here: a listener in the
 * agent's hands could answer its own questions. */
static void fence(const struct init_conf *c, int master)
{
	bool is_wait_killable;
	int listener = filter_load(c, &is_wait_killable);
	int fds[] = {listener, master};
	int r;

	if (listener < 0)
		init_fail(c->head.ctl, SB_STAGE_INIT_FILTER, -listener, "");
	r = hand_over(c->head.ctl, is_wait_killable ? SB_NOTE_WAIT_KILLABLE : 0, fds,
		      master >= 0 ? 2 : 1);
	if (r < 0)
		init_fail(c->head.ctl, SB_STAGE_INIT_HANDOVER, -r, "");
	close(listener);
	if (master >= 0)
		close(master);
}

static void wait_for_go(int ctl)
{
	struct sb_note note;

	/* No limit of its own: when zwatch goes, so does everything here. */
	if (recv(ctl, &note, sizeof(note), 0) != sizeof(note) || note.kind != SB_NOTE_GO)
		_exit(125);
}

/* execvp() says EACCES when a folder of PATH is closed to us; that tells nothing of the program. */
static int exec_error(const char *name)
{
	int error = errno;
	char path[4096];
	struct stat st;

	if (error != EACCES || strchr(name, '/'))
		return error;
	for (const char *p = getenv("PATH"); p; p = strchr(p, ':')) {
		p += *p == ':';
		int len = (int)strcspn(p, ":");

		if (snprintf(path, sizeof(path), "%.*s/%s", len, p, name) < (int)sizeof(path) &&
		    stat(path, &st) == 0)
			return error;
	}
	return ENOENT;
}

void init_stage(const struct init_conf *c, char **argv)
{
	const struct sb_note passed = {.kind = SB_NOTE_PASSED};
	int master = -1, error;

	setup(c, &master);
	fence(c, master);
	wait_for_go(c->head.ctl);
	const char *failed = init_selftest(c, &error);
	if (failed)
		init_fail(c->head.ctl, SB_STAGE_SELFTEST, error, failed);
	if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		init_fail(c->head.ctl, SB_STAGE_INIT_STDIO, errno, "close_range");
	if (send(c->head.ctl, &passed, sizeof(passed), MSG_NOSIGNAL) < 0)
		_exit(125);
	/* What cannot be seen from here, zwatch looks at meanwhile. */
	wait_for_go(c->head.ctl);
	environ = c->env; /* execvp() looks for PATH here */
	execvp(argv[0], argv);
	init_fail(c->head.ctl, SB_STAGE_EXEC, exec_error(argv[0]), argv[0]);
}
