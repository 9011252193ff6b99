/* SPDX-License-Identifier: MIT
 * The checks of this machine. */
#include "sandbox/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "sandbox/bpf.h"
#include "sandbox/failure.h"
#include "sandbox/landlock.h"
#include "sandbox/syscalls.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"

#define OUTPUT_MAX 4096

static struct sb_check result(const char *name)
{
	return (struct sb_check){.name = name, .grade = SB_GRADE_OK};
}

static void fix(struct sb_check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void fix(struct sb_check *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->fix, sizeof(c->fix), fmt, ap);
	va_end(ap);
}

static void found(struct sb_check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void found(struct sb_check *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->found, sizeof(c->found), fmt, ap);
	va_end(ap);
}

/** Runs @fn in a child. Returns its errno, 0 = it worked. */
static int in_child(int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(fn());
	if (pid < 0)
		return errno;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return errno;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

/** Number in a file of /proc/sys; -1 = there is none. */
static long sysctl_number(const char *path)
{
	zw_autofree char *text = NULL;
	size_t len;

	return zw_read_file(path, 64, &text, &len) < 0 ? -1 : strtol(text, NULL, 10);
}

/* -- kernel ------------------------------------------------------------------------------------ */

static struct sb_check check_kernel(void)
{
	struct sb_check c = result("kernel");
	struct utsname u;
	unsigned major = 0, minor = 0;

	uname(&u);
	sscanf(u.release, "%u.%u", &major, &minor);
	found(&c, "Linux %s", u.release);
	if (major < 5 || (major == 5 && minor < 11)) {
		c.grade = SB_GRADE_FAIL;
		fix(&c, "zwatch needs Linux 5.11 (close_range, seccomp notifications); 6.1 and "
			"later "
			"have all of it.");
	}
	return c;
}

/* -- user namespaces --------------------------------------------------------------------------- */

/* AppArmor's restriction lets unshare() pass and takes the rights away: so something that needs
 * them is tried. */
static int try_userns(void)
{
	char map[64];
	uid_t uid = getuid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) < 0)
		return errno;
	int fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
	int len = snprintf(map, sizeof(map), "0 %u 1", (unsigned)uid);
	if (fd < 0 || write(fd, map, (size_t)len) != len)
		return errno;
	return sethostname("zwatch", 6) < 0 ? errno : 0;
}

#define APPARMOR_FIX                                                                        \
	"Give zwatch a profile that may make them, once:  zwatch help apparmor | sudo tee " \
	"/etc/apparmor.d/zwatch >/dev/null && sudo apparmor_parser -r /etc/apparmor.d/zwatch"

/** A container engine that we run under, or "". */
static const char *container(void)
{
	const char *word = getenv("container");

	if (is_there("/.dockerenv"))
		return "Docker";
	if (is_there("/run/.containerenv"))
		return "Podman";
	return word != NULL ? word : "";
}

static bool is_wsl(void)
{
	zw_autofree char *text = NULL;
	size_t len;

	return zw_read_file("/proc/sys/kernel/osrelease", 256, &text, &len) == 0 &&
	       strcasestr(text, "microsoft") != NULL;
}

static bool apparmor_restricts(void)
{
	return sysctl_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1;
}

static const char *userns_fix(void)
{
	if (apparmor_restricts())
		return "AppArmor restricts user namespaces. " APPARMOR_FIX;
	if (sysctl_number("/proc/sys/kernel/unprivileged_userns_clone") == 0)
		return "sudo sysctl kernel.unprivileged_userns_clone=1";
	if (sysctl_number("/proc/sys/user/max_user_namespaces") == 0)
		return "sudo sysctl user.max_user_namespaces=10000";
	return "In a container they have to be allowed from outside. Docker: docker run "
	       "--security-opt seccomp=unconfined --security-opt apparmor=unconfined "
	       "--security-opt systempaths=unconfined; Podman: podman run --security-opt "
	       "seccomp=unconfined --security-opt unmask=ALL. Or run zwatch on the host.";
}

static struct sb_check check_userns(void)
{
	struct sb_check c = result("user namespaces");
	int error = in_child(try_userns);

	if (error == 0) {
		found(&c, "can be made");
		return c;
	}
	c.grade = SB_GRADE_FAIL;
	fix(&c, "%s", userns_fix());
	found(&c, "refused: %s", strerror(error));
	return c;
}

/* -- bwrap ------------------------------------------------------------------------------------- */

/** What the program prints, both streams; its exit status in *ret_status. */
static void run_program(char *const *argv, char *ret, size_t size, int *ret_status)
{
	int pipe_fds[2], status = -1;
	size_t n = 0;

	ret[0] = '\0';
	*ret_status = -1;
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return;
	pid_t pid = fork();
	if (pid == 0) {
		dup2(pipe_fds[1], 1);
		dup2(pipe_fds[1], 2);
		execv(argv[0], argv);
		_exit(127);
	}
	close(pipe_fds[1]);
	for (ssize_t r; n + 1 < size && (r = read(pipe_fds[0], ret + n, size - 1 - n)) > 0;)
		n += (size_t)r;
	ret[n] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	close(pipe_fds[0]);
	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		*ret_status = WEXITSTATUS(status);
}

static void check_bwrap_works(struct sb_check *c, char *bwrap)
{
	char out[OUTPUT_MAX];
	int status;
	char *const argv[] = {bwrap,
			      (char[]){"--unshare-all"},
			      (char[]){"--unshare-user"},
			      (char[]){"--disable-userns"},
			      (char[]){"--ro-bind"},
			      (char[]){"/"},
			      (char[]){"/"},
			      (char[]){"--dev"},
			      (char[]){"/dev"},
			      (char[]){"--proc"},
			      (char[]){"/proc"},
			      (char[]){"--"},
			      (char[]){"/bin/true"},
			      NULL};

	run_program(argv, out, sizeof(out), &status);
	if (status == 0)
		return;
	c->grade = SB_GRADE_FAIL;
	fix(c, "%s",
	    in_child(try_userns) != 0
		    ? userns_fix()
		    : "bwrap's own words say why; in a container, "
		      "/proc has to be unmasked (Docker: --security-opt systempaths=unconfined).");
	found(c, "%.140s", out[0] ? out : "fails without a word");
}

static struct sb_check check_bwrap(const char *path)
{
	struct sb_check c = result("bwrap");
	unsigned major = 0, minor = 0;
	char out[OUTPUT_MAX];
	int status;

	if (!path || access(path, X_OK) < 0) {
		c.grade = SB_GRADE_FAIL;
		fix(&c, "Install bubblewrap: apt install bubblewrap, dnf install bubblewrap, "
			"pacman -S "
			"bubblewrap.");
		found(&c, "not found");
		return c;
	}
	zw_autofree char *copy = zw_xstrdup(path);
	char *const argv[] = {copy, (char[]){"--version"}, NULL};
	run_program(argv, out, sizeof(out), &status);
	found(&c, "%.60s, %.80s", out, path);
	if (sscanf(out, "bubblewrap %u.%u", &major, &minor) != 2 || (major == 0 && minor < 8)) {
		c.grade = SB_GRADE_FAIL;
		fix(&c, "bubblewrap 0.8.0 or later is needed (--disable-userns).");
		return c;
	}
	check_bwrap_works(&c, copy);
	return c;
}

/* -- seccomp ----------------------------------------------------------------------------------- */

static int try_listener_with(unsigned long flags)
{
	struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
	struct sock_fprog prog = {1, &allow};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return errno;
	flags |= SECCOMP_FILTER_FLAG_NEW_LISTENER;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog) < 0 ? errno : 0;
}

static int try_listener(void)
{
	return try_listener_with(0);
}

static int try_listener_killable(void)
{
	return try_listener_with(SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
}

static struct sb_check check_seccomp(void)
{
	struct sb_check c = result("seccomp notifications");
	int error = in_child(try_listener);

	if (error == EBUSY) {
		c.grade = SB_GRADE_FAIL;
		fix(&c, "%s",
		    is_wsl() ? "WSL2's own init listens, and the kernel allows one listener. "
			       "Update WSL (wsl --update); if that does not help, run zwatch "
			       "in a virtual machine."
			     : "Another supervisor listens already (a container manager, "
			       "another zwatch), and the kernel allows one. Start zwatch "
			       "outside of it.");
		found(&c, "taken");
	} else if (error != 0) {
		c.grade = SB_GRADE_FAIL;
		fix(&c, "The kernel needs CONFIG_SECCOMP_FILTER; a container's profile may forbid "
			"seccomp().");
		found(&c, "refused: %s", strerror(error));
	} else if (in_child(try_listener_killable) != 0) {
		c.grade = SB_GRADE_WARN;
		fix(&c, "Linux 5.19 and later let a question wait through signals.");
		found(&c, "there; a signal interrupts a waiting call");
	} else {
		found(&c, "there, waiting calls outlast signals");
	}
	return c;
}

/* -- Landlock ---------------------------------------------------------------------------------- */

static struct sb_check check_landlock(void)
{
	struct sb_check c = result("Landlock");
	int abi = sb_landlock_abi();

	found(&c, "ABI %d%s", abi, abi >= 6 ? "" : ", the namespaces cover what it lacks");
	if (abi >= SB_LANDLOCK_ABI_MIN)
		return c;
	c.grade = SB_GRADE_WARN;
	fix(&c, "Sessions are weaker without it (level 2). It needs Linux 5.19 or later, built "
		"with it, and landlock among the lsm= of the kernel's command line (cat "
		"/sys/kernel/security/lsm lists them).");
	found(&c, abi ? "ABI %d, too old" : "none", abi);
	return c;
}

/* -- reading other processes ------------------------------------------------------------------- */

static int read_child(pid_t pid)
{
	int value = 0;
	struct iovec local = {&value, sizeof(value)}, remote = {&value, sizeof(value)};

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) < 0)
		return errno;
	zw_autoclose int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return errno;
	zw_autoclose int fd = (int)syscall(SYS_pidfd_getfd, pidfd, 0, 0);
	/* EBADF: the call works, the child has just no such descriptor. */
	return fd < 0 && errno != EBADF ? errno : 0;
}

static int try_process(void)
{
	int error = 0;
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}
	if (pid < 0)
		return errno;
	error = read_child(pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return error;
}

static struct sb_check check_process(void)
{
	struct sb_check c = result("process access");
	int error = in_child(try_process);
	int thread = (int)syscall(SYS_pidfd_open, gettid(), PIDFD_THREAD);

	if (error != 0) {
		c.grade = SB_GRADE_FAIL;
		fix(&c, "zwatch reads the addresses that its agent connects to. Yama: sudo sysctl "
			"kernel.yama.ptrace_scope=1. In a container: allow process_vm_readv and "
			"pidfd_getfd.");
		found(&c, "refused: %s", strerror(error));
	} else if (thread < 0) {
		found(&c, "there; single threads need Linux 6.9");
	} else {
		found(&c, "memory, descriptors, threads");
	}
	zw_close(&thread);
	return c;
}

static struct sb_check check_init(const char *path)
{
	struct sb_check c = result("zwatch-init");

	found(&c, "%.150s", path ? path : "not found");
	if (path && access(path, X_OK) == 0)
		return c;
	c.grade = SB_GRADE_FAIL;
	fix(&c, "Install zwatch as a whole: zwatch-init lies beside the binary or in "
		"libexec/zwatch.");
	return c;
}

/* -- what surrounds us ------------------------------------------------------------------------- */

static struct sb_check check_apparmor(void)
{
	struct sb_check c = result("AppArmor");

	if (sysctl_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") < 0)
		found(&c, "does not restrict user namespaces here");
	else if (!apparmor_restricts())
		found(&c, "could restrict user namespaces; is switched off");
	else if (in_child(try_userns) == 0)
		found(&c, "restricts user namespaces; zwatch is let through");
	else {
		c.grade = SB_GRADE_FAIL;
		found(&c, "restricts user namespaces "
			  "(kernel.apparmor_restrict_unprivileged_userns = 1)");
		fix(&c, "%s", APPARMOR_FIX);
	}
	return c;
}

static struct sb_check check_yama(void)
{
	static const char *const means[] = {
		"0: not restricted",
		"1: a process may look into its children; enough, zwatch is above the agent",
		"2: by administrators only; enough for zwatch, debuggers inside do not work",
		"3: nobody may look into another process",
	};
	struct sb_check c = result("Yama");
	long scope = sysctl_number("/proc/sys/kernel/yama/ptrace_scope");

	if (scope < 0 || scope > 3) {
		found(&c, "not there");
		return c;
	}
	found(&c, "%s", means[scope]);
	if (scope == 2)
		c.grade = SB_GRADE_WARN;
	else if (scope == 3)
		c.grade = SB_GRADE_FAIL;
	if (scope >= 2)
		fix(&c, "kernel.yama.ptrace_scope=1 in /etc/sysctl.d%s",
		    scope == 3 ? ", and a reboot: 3 cannot be taken back"
			       : "; sudo sysctl "
				 "--system");
	return c;
}

/** Where we are, and whether that may be a reason for what failed. */
static struct sb_check check_place(bool has_failed)
{
	struct sb_check c = result("surroundings");
	const char *in = container();
	bool is_nested = getenv("ZWATCH") != NULL;

	if (is_nested)
		found(&c, "inside a session of zwatch");
	else if (*in != '\0')
		found(&c, "%sa container (%.60s)", is_wsl() ? "WSL2, " : "", in);
	else if (is_wsl())
		found(&c, "WSL2");
	else
		found(&c, "no container, no other zwatch");
	if (is_nested) {
		c.grade = SB_GRADE_FAIL;
		fix(&c,
		    "A second layer would hide questions from you: start zwatch outside of this "
		    "session.");
	} else if (has_failed && *in != '\0') {
		c.grade = SB_GRADE_WARN;
		fix(&c, "What failed above is forbidden by the container: see there for what to "
			"allow, or run zwatch on the host.");
	}
	return c;
}

/** The rung of the ladder that all of it comes to. */
static struct sb_check check_level(bool has_failed)
{
	struct sb_check c = result("level");
	int abi = sb_landlock_abi();
	enum sb_level level = has_failed ? SB_LEVEL_NONE : sb_level_of(abi);

	found(&c, "%d: %s", level, sb_level_text(level));
	if (level == SB_LEVEL_NONE) {
		c.grade = SB_GRADE_FAIL;
		fix(&c, "See what failed above.");
	} else if (level == SB_LEVEL_PLAIN) {
		c.grade = SB_GRADE_WARN;
		fix(&c, "See Landlock above.");
	}
	return c;
}

size_t sb_machine_check(const char *bwrap, const char *init, struct sb_check ret[SB_CHECK_MAX])
{
	bool has_failed = false;
	size_t n = 0;

	ret[n++] = check_kernel();
	ret[n++] = check_userns();
	ret[n++] = check_apparmor();
	ret[n++] = check_bwrap(bwrap);
	ret[n++] = check_seccomp();
	ret[n++] = check_landlock();
	ret[n++] = check_yama();
	ret[n++] = check_process();
	ret[n++] = check_init(init);
	for (size_t i = 0; i < n; i++)
		has_failed |= ret[i].grade == SB_GRADE_FAIL;
	ret[n++] = check_place(has_failed);
	ret[n++] = check_level(has_failed);
	return n;
}
