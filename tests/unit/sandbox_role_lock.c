/* SPDX-License-Identifier: MIT
 * What each helper can and cannot do once it is locked: tried in a child of each role. */
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "sandbox/role_lock.h"
#include "sandbox/syscalls.h"
#include "src/base/mem.h"

#define KILLED 1000 /* beside errnos */

static char folder[64];

/* -- things to try; 0 or an errno -------------------------------------------------------------- */

static int result(long r)
{
	return r < 0 ? errno : 0;
}

static int try_open(void)
{
	return result(open("/etc/passwd", O_RDONLY));
}

static int try_open_write(void)
{
	return result(open("/dev/null", O_WRONLY));
}

static int try_open_folder(void)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/file", folder);
	return result(open(path, O_RDWR | O_CREAT, 0600));
}

static int try_exec(void)
{
	char *const argv[] = {(char[]){"true"}, NULL};

	execv("/bin/true", argv);
	return errno;
}

static int try_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return result(pid);
}

static void *thread_main(void *arg)
{
	return arg;
}

static int try_thread(void)
{
	pthread_t t;
	int error = pthread_create(&t, NULL, thread_main, NULL);

	return error ? error : pthread_join(t, NULL);
}

static int try_unix(void)
{
	return result(socket(AF_UNIX, SOCK_STREAM, 0));
}

static int try_tcp(void)
{
	return result(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

static int try_udp(void)
{
	return result(socket(AF_INET, SOCK_DGRAM, 0));
}

static int try_connect(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET};

	return result(connect(0, (const struct sockaddr *)&sa, sizeof(sa)));
}

static int try_ptrace(void)
{
	return result(syscall(SYS_ptrace, 16, getppid(), 0, 0));
}

static int try_vm_write(void)
{
	char c = 0;
	struct iovec iov = {&c, 1};

	return result(process_vm_writev(getpid(), &iov, 1, &iov, 1, 0));
}

static int try_vm_read(void)
{
	char c = 0;
	struct iovec iov = {&c, 1};

	return result(process_vm_readv(getpid(), &iov, 1, &iov, 1, 0));
}

static int try_mount(void)
{
	return result(syscall(SYS_mount, "none", "/", "tmpfs", 0, NULL));
}

static int try_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? errno : 0;
}

static int try_memory(void)
{
	char *p = malloc(8 << 20);

	if (!p)
		return ENOMEM;
	memset(p, 1, 8 << 20);
	int sum = p[4096];
	free(p);
	return sum == 1 ? 0 : EIO;
}

static int try_kill(void)
{
	return result(kill(getppid(), 0));
}

static int try_dumpable(void)
{
	return result(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}

static int try_no_ring(void)
{
	return result(syscall(SYS_io_uring_setup, 1, NULL));
}

static int try_splice(void)
{
	return result(splice(-1, NULL, -1, NULL, 1, 0));
}

/* -- the table: what each role gets ------------------------------------------------------------ */

#define OK 0

static const struct {
	const char *name;
	int (*fn)(void);
	int want[SB_ROLE_MAX]; /* pane, proxy, resolver, broker, audit */
} tries[] = {
	{"memory", try_memory, {OK, OK, OK, OK, OK}},
	{"code", try_code, {EPERM, EPERM, EPERM, EPERM, EPERM}},
	{"open a file", try_open, {EPERM, EPERM, EPERM, OK, EACCES}},
	{"open to write", try_open_write, {EPERM, EPERM, EPERM, EPERM, EACCES}},
	{"open in the folder", try_open_folder, {EPERM, EPERM, EPERM, EPERM, OK}},
	{"exec", try_exec, {KILLED, KILLED, KILLED, KILLED, KILLED}},
	{"fork", try_fork, {EPERM, EPERM, EPERM, EPERM, EPERM}},
	{"thread", try_thread, {EPERM, EPERM, EPERM, OK, OK}},
	{"unix socket", try_unix, {EPERM, EPERM, EPERM, OK, EPERM}},
	{"tcp socket", try_tcp, {EPERM, OK, OK, EPERM, EPERM}},
	{"udp socket", try_udp, {EPERM, EPERM, EPERM, EPERM, EPERM}},
	{"connect", try_connect, {EPERM, ENOTSOCK, ENOTSOCK, ENOTSOCK, EPERM}},
	{"splice", try_splice, {EPERM, EBADF, EPERM, EBADF, EPERM}},
	{"ptrace", try_ptrace, {KILLED, KILLED, KILLED, KILLED, KILLED}},
	{"write memory", try_vm_write, {KILLED, KILLED, KILLED, OK, KILLED}},
	{"read memory", try_vm_read, {EPERM, EPERM, EPERM, OK, EPERM}},
	{"mount", try_mount, {KILLED, KILLED, KILLED, KILLED, KILLED}},
	{"kill", try_kill, {EPERM, EPERM, EPERM, EPERM, EPERM}},
	{"become dumpable", try_dumpable, {EPERM, EPERM, EPERM, EPERM, EPERM}},
	{"io_uring", try_no_ring, {KILLED, KILLED, KILLED, KILLED, KILLED}},
};

static int in_role(enum sb_role role, int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		/* A core dump of a killed child would take its time. */
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		if (sb_role_lock(role, role == SB_ROLE_AUDIT ? folder : NULL) != 0)
			_exit(255);
		_exit(fn());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS ? KILLED : KILLED + WTERMSIG(status);
	return WEXITSTATUS(status);
}

static int setup(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/zw-role.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	char path[96];

	(void)state;
	snprintf(path, sizeof(path), "%s/file", folder);
	unlink(path);
	return rmdir(folder);
}

static void test_roles__can_do_no_more(void **state)
{
	(void)state;
#ifdef ZW_SANITIZED
	skip();
#endif
	for (size_t i = 0; i < ZW_N_ELEMENTS(tries); i++) {
		for (unsigned role = 0; role < SB_ROLE_MAX; role++) {
			int got = in_role(role, tries[i].fn);

			if (got != tries[i].want[role])
				fail_msg("%s: %s gives %d, wanted %d", sb_role_name(role),
					 tries[i].name, got, tries[i].want[role]);
		}
	}
}

static void test_sanitized__says_that_it_is_not_locked(void **state)
{
	(void)state;
#ifdef ZW_SANITIZED
	assert_int_equal(sb_role_lock(SB_ROLE_PANE, NULL), 1);
#else
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roles__can_do_no_more),
		cmocka_unit_test(test_sanitized__says_that_it_is_not_locked),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
