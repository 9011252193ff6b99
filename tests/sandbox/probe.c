/* SPDX-License-Identifier: MIT
 * Tries one thing from inside a sandbox and says what came of it: "ok", or the name of the errno.
 * Static and unsanitised, so that nothing but the verb itself is tried.
 *
 *   probe VERB [ARG...]; several: probe VERB ARG... , VERB ARG... */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int said(const char *verb, long r)
{
	if (r >= 0)
		printf("%s ok\n", verb);
	else
		printf("%s %s\n", verb, strerrorname_np(errno));
	fflush(stdout);
	return 0;
}

static long number(const char *s)
{
	return (long)strtoull(s, NULL, 0);
}

/** syscall NR [ARGS...] */
static long do_syscall(int argc, char **argv)
{
	long a[7] = {0};

	for (int i = 0; i < argc && i < 7; i++)
		a[i] = number(argv[i]);
	return syscall(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
}

static long do_socket(int argc, char **argv)
{
	return syscall(SYS_socket, number(argv[0]), argc > 1 ? number(argv[1]) : SOCK_STREAM,
		       argc > 2 ? number(argv[2]) : 0);
}

static long do_socketpair(int argc, char **argv)
{
	int fds[2];

	return syscall(SYS_socketpair, number(argv[0]), argc > 1 ? number(argv[1]) : SOCK_STREAM, 0,
		       fds);
}

static long unix_do(const char *path, bool is_bind)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	if (is_bind)
		return bind(fd, (const struct sockaddr *)&sa, sizeof(sa));
	return connect(fd, (const struct sockaddr *)&sa, sizeof(sa));
}

static long do_connect(int argc, char **argv)
{
	(void)argc;
	return unix_do(argv[0], false);
}

static long do_bind(int argc, char **argv)
{
	(void)argc;
	return unix_do(argv[0], true);
}

/** udp ADDRESS PORT: one unconnected datagram. */
static long do_udp(int argc, char **argv)
{
	struct sockaddr_in6 sa6 = {.sin6_family = AF_INET6};
	struct sockaddr_in sa = {.sin_family = AF_INET};

	(void)argc;
	sa.sin_port = sa6.sin6_port = htons((uint16_t)number(argv[1]));
	if (inet_pton(AF_INET, argv[0], &sa.sin_addr) == 1)
		return sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0,
			      (const struct sockaddr *)&sa, sizeof(sa));
	inet_pton(AF_INET6, argv[0], &sa6.sin6_addr);
	return sendto(socket(AF_INET6, SOCK_DGRAM, 0), "x", 1, 0, (const struct sockaddr *)&sa6,
		      sizeof(sa6));
}

/** tcp ADDRESS PORT: connects and prints the first line that comes. */
static long do_tcp(int argc, char **argv)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)number(argv[1]))};
	int type = argc > 2 ? SOCK_DGRAM : SOCK_STREAM;
	int fd = socket(AF_INET, type, 0);
	char buf[64];

	inet_pton(AF_INET, argv[0], &sa.sin_addr);
	if (connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0)
		return -1;
	if (type == SOCK_DGRAM && send(fd, "x", 1, 0) < 0)
		return -1;
	ssize_t n = read(fd, buf, sizeof(buf));
	if (n > 0)
		fwrite(buf, 1, (size_t)n, stdout);
	return n;
}

/** fastopen: TCP data without connect(). */
static long do_fastopen(int argc, char **argv)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons(3128)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)argc;
	(void)argv;
	inet_pton(AF_INET, "198.19.255.254", &sa.sin_addr);
	return sendto(fd, "x", 1, MSG_FASTOPEN, (const struct sockaddr *)&sa, sizeof(sa));
}

/** fastopen-connect: the socket option to the same end. */
static long do_fastopen_connect(int argc, char **argv)
{
	const int on = 1;

	(void)argc;
	(void)argv;
	return setsockopt(socket(AF_INET, SOCK_STREAM, 0), IPPROTO_TCP, 30, &on, sizeof(on));
}

static long do_open(int argc, char **argv)
{
	(void)argc;
	return open(argv[0], O_RDONLY);
}

static long do_write(int argc, char **argv)
{
	(void)argc;
	return open(argv[0], O_RDWR | O_CREAT, 0600);
}

static long do_rename(int argc, char **argv)
{
	(void)argc;
	return rename(argv[0], argv[1]);
}

static long do_mknod(int argc, char **argv)
{
	mode_t type = argc > 1 && argv[1][0] == 's' ? S_IFSOCK : S_IFCHR;

	return mknod(argv[0], type | 0600, makedev(1, 3));
}

static long do_mem1(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return open("/proc/1/mem", O_RDONLY);
}

static long do_ptrace(int argc, char **argv)
{
	(void)argc;
	return ptrace(PTRACE_ATTACH, (pid_t)number(argv[0]), NULL, NULL);
}

static long do_vmwrite(int argc, char **argv)
{
	char byte = 0;
	struct iovec local = {&byte, 1}, remote = {(void *)0x400000, 1};

	(void)argc;
	return process_vm_writev((pid_t)number(argv[0]), &local, 1, &remote, 1, 0);
}

/** Own children can be traced: debuggers work. */
static long do_ptrace_child(int argc, char **argv)
{
	pid_t pid = fork();

	(void)argc;
	(void)argv;
	if (pid == 0) {
		pause();
		_exit(0);
	}
	long r = ptrace(PTRACE_SEIZE, pid, NULL, NULL);
	int error = errno;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	errno = error;
	return r;
}

static long do_kill(int argc, char **argv)
{
	(void)argc;
	return kill((pid_t)number(argv[0]), SIGTERM);
}

static long do_umount(int argc, char **argv)
{
	(void)argc;
	return umount2(argv[0], MNT_DETACH);
}

static long do_remount(int argc, char **argv)
{
	(void)argc;
	return mount(NULL, argv[0], NULL, MS_REMOUNT | MS_BIND, NULL);
}

static long do_unshare(int argc, char **argv)
{
	(void)argc;
	return unshare((int)number(argv[0]));
}

static long do_chown(int argc, char **argv)
{
	return chown(argv[0], argc > 1 ? (uid_t)number(argv[1]) : 1, (gid_t)-1);
}

/** clone FLAGS: by the raw call. */
static long do_clone(int argc, char **argv)
{
	(void)argc;
	long r = syscall(SYS_clone, number(argv[0]) | SIGCHLD, 0, 0, 0, 0);
	if (r == 0)
		_exit(0);
	return r;
}

static long do_tiocsti(int argc, char **argv)
{
	char c = 'x';

	(void)argc;
	(void)argv;
	return syscall(SYS_ioctl, 0, 0x100000000 | TIOCSTI, &c);
}

/** i386: a call by the other architecture's gate; ends by SIGSYS. */
static long do_i386(int argc, char **argv)
{
	long r = -1;

	(void)argc;
	(void)argv;
#if defined(__x86_64__)
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
#endif
	return r;
}

static const struct {
	const char *name;
	int n_args; /* at least */
	long (*run)(int argc, char **argv);
} verbs[] = {
	{"syscall", 1, do_syscall},
	{"socket", 1, do_socket},
	{"socketpair", 1, do_socketpair},
	{"connect", 1, do_connect},
	{"bind", 1, do_bind},
	{"udp", 2, do_udp},
	{"fastopen", 0, do_fastopen},
	{"fastopen-connect", 0, do_fastopen_connect},
	{"tcp", 2, do_tcp},
	{"open", 1, do_open},
	{"write", 1, do_write},
	{"rename", 2, do_rename},
	{"mknod", 1, do_mknod},
	{"mem1", 0, do_mem1},
	{"ptrace", 1, do_ptrace},
	{"vmwrite", 1, do_vmwrite},
	{"ptrace-child", 0, do_ptrace_child},
	{"kill", 1, do_kill},
	{"umount", 1, do_umount},
	{"remount", 1, do_remount},
	{"unshare", 1, do_unshare},
	{"chown", 1, do_chown},
	{"clone", 1, do_clone},
	{"tiocsti", 0, do_tiocsti},
	{"i386", 0, do_i386},
};

/* -- verbs with an answer of their own --------------------------------------------------------- */

static int print_argv(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		fputs(argv[i], stdout);
		putchar('\0');
	}
	return 0;
}

static int print_status(void)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "Cap", 3) == 0 || strncmp(line, "NoNewPrivs", 10) == 0 ||
		    strncmp(line, "Seccomp:", 8) == 0)
			fputs(line, stdout);
	}
	if (f)
		fclose(f);
	return 0;
}

static int print_fds(void)
{
	for (int fd = 0; fd < 1024; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			printf("%d ", fd);
	}
	putchar('\n');
	return 0;
}

static int print_tty(void)
{
	for (int fd = 0; fd < 3; fd++)
		printf("%d %s\n", fd, isatty(fd) ? ttyname(fd) : "not a terminal");
	struct winsize w = {0};
	if (ioctl(0, TIOCGWINSZ, &w) == 0)
		printf("%d x %d\n", w.ws_row, w.ws_col);
	printf("controlling %s\n", open("/dev/tty", O_RDWR) >= 0 ? "yes" : "no");
	return 0;
}

static int print_own(const char *verb, int argc, char **argv)
{
	if (strcmp(verb, "argv") == 0)
		return print_argv(argc, argv);
	if (strcmp(verb, "status") == 0)
		return print_status();
	if (strcmp(verb, "fds") == 0)
		return print_fds();
	if (strcmp(verb, "tty") == 0)
		return print_tty();
	if (strcmp(verb, "exit") == 0 && argc == 1)
		exit((int)number(argv[0]));
	if (strcmp(verb, "die") == 0 && argc == 1)
		return raise((int)number(argv[0]));
	return -1;
}

static int run(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(argv[0], verbs[i].name) == 0 && argc > verbs[i].n_args)
			return said(argv[0], verbs[i].run(argc - 1, argv + 1));
	}
	if (print_own(argv[0], argc - 1, argv + 1) == 0)
		return 0;
	fprintf(stderr, "probe: what is %s?\n", argv[0]);
	return 2;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "argv") == 0)
		return run(argc - 1, argv + 1);
	for (int i = 1, n; i < argc; i += n + 1) {
		for (n = 0; i + n < argc && strcmp(argv[i + n], ",") != 0; n++)
			;
		if (n > 0 && run(n, argv + i) != 0)
			return 2;
	}
	return 0;
}
