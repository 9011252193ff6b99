/* SPDX-License-Identifier: MIT
 * What is held and what it holds up: signals while a question is open, memory and storage that do not
 * answer, listeners that change meanwhile, connections that the user ends. */
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "tests/sandbox/broker_rig.h"
#include "tests/sandbox/held_fs.h"

static char host_path[200], own_path[200];

static struct rig *make_rig(void)
{
	struct rig *r = rig_new();

	snprintf(host_path, sizeof(host_path), "%s/host.sock", r->dir);
	snprintf(own_path, sizeof(own_path), "%s/own.sock", r->dir);
	return r;
}

static void end_server(pid_t server)
{
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
}

/* -- signals ---------------------------------------------------------------------------------------- */

static atomic_int n_ticks;

static void on_tick(int signo)
{
	(void)signo;
	n_ticks++;
}

/* A hundred signals a second, as a runtime that preempts its threads sends them. */
static int connect_under_fire(int flags)
{
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = flags};
	struct itimerval timer = {{0, 10000}, {0, 10000}}, off = {{0, 0}, {0, 0}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	int fd = rig_connect(host_path, SOCK_STREAM);
	setitimer(ITIMER_REAL, &off, NULL);
	return fd;
}

static int agent_restarts(struct rig *r)
{
	(void)r;
	int fd = connect_under_fire(SA_RESTART);
	return fd < 0 ? fd : 0;
}

static void test_z128_signals_while_a_question_is_open__one_question_right_result(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(host_path, SOCK_STREAM, 4);

	(void)state;
	rig_start(r, agent_restarts);
	assert_true(rig_run(r, rig_has_ask, 20000));
	(void)rig_run(r, rig_never, 700);
	assert_int_equal(r->n_asks, 1);
	assert_false(r->asks[0].is_gone);
	assert_false(r->has_result);
	rig_answer(r, 0, POL_ALLOW, ZW_SCOPE_ONCE);
	assert_int_equal(rig_result(r), 0);
	assert_false(rig_untouched(fd));
	rig_free(r);
}

static int agent_handles(struct rig *r)
{
	(void)r;
	int fd = connect_under_fire(0);
	/* The kernel holds signals until the answer; an older one ends the call. */
	return fd >= 0 || fd == -EINTR ? 0 : fd;
}

static void test_z128_handled_signals__verdict_or_eintr_and_no_connection_by_itself(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(host_path, SOCK_STREAM, 4);

	(void)state;
	rig_start(r, agent_handles);
	assert_true(rig_run(r, rig_has_ask, 20000));
	(void)rig_run(r, rig_never, 300);
	assert_true(rig_untouched(fd));
	rig_answer(r, 0, POL_ALLOW, ZW_SCOPE_ONCE);
	assert_int_equal(rig_result(r), 0);
	rig_free(r);
}

/* -- what does not answer ---------------------------------------------------------------------------- */

#define HUNG_N 12

/* The page of an address that is yet to come: the first byte of its path says so. */
static int hang_is_there(pid_t tid, uint64_t from, size_t len)
{
	int r = brk_sys_real.vm_is_there(tid, from, len);
	char mark = 0;

	if (r == 1 && len > 2 && brk_sys_real.vm_read(tid, from + 2, &mark, 1) == 1 && mark == '!')
		return 0;
	return r;
}

static ssize_t hang_vm_read(pid_t tid, uint64_t from, void *ret, size_t len)
{
	ssize_t n = brk_sys_real.vm_read(tid, from, ret, len);

	while (n > 2 && ((char *)ret)[2] == '!')
		sleep(1000);
	return n;
}

static int hang_open_at(int dir, const char *path, int flags, uint64_t resolve)
{
	while (strcmp(path, "hung") == 0)
		sleep(1000);
	return brk_sys_real.open_at(dir, path, flags, resolve);
}

/* Children whose call hangs, then others that must not. Killed at the end. */
static int others_go_on(struct rig *r, const char *hung)
{
	pid_t pids[HUNG_N];
	int result = 0;

	(void)rig_listen(own_path, SOCK_STREAM, 64);
	for (int i = 0; i < HUNG_N; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(rig_connect(hung, SOCK_STREAM) < 0 ? 0 : 1);
	}
	usleep(200 * 1000);
	for (int i = 0; i < 50 && result == 0; i++) {
		int fd = rig_connect(own_path, SOCK_STREAM);
		result = fd < 0 ? fd : 0;
		close(fd);
		/* One that has to be looked up each time. */
		if (result == 0 && rig_connect("@zwbrk-nobody-there", SOCK_STREAM) != -ECONNREFUSED)
			result = 1;
	}
	for (int i = 0; i < HUNG_N; i++)
		if (result == 0 && waitpid(pids[i], NULL, WNOHANG) != 0)
			result = 2; /* it did not hang, so nothing was shown */
	for (int i = 0; i < HUNG_N; i++)
		kill(pids[i], SIGKILL);
	for (int i = 0; i < HUNG_N; i++)
		waitpid(pids[i], NULL, 0);
	(void)r;
	return result;
}

static int agent_hung_pages(struct rig *r)
{
	return others_go_on(r, "!page");
}

static void test_page_that_does_not_come__holds_up_nobody_else(void **state)
{
	struct rig *r = make_rig();
	struct brk_sys sys = brk_sys_real;

	(void)state;
	sys.vm_is_there = hang_is_there;
	sys.vm_read = hang_vm_read;
	r->sys = &sys;
	rig_start(r, agent_hung_pages);
	assert_int_equal(rig_result(r), 0);
	rig_free(r);
}

/* A real one: its owner decides when it comes. Inside, userfaultfd() is refused; the device, which is
 * root's alone, is opened before. */
#define FAULT_DEVICE "/dev/userfaultfd"

static void open_fault_fd(struct rig *r)
{
	r->fault_fd = open(FAULT_DEVICE, O_RDWR | O_CLOEXEC);
}

static void *held_page; /* where the address will be */
static int fault_fd;
static atomic_int n_back;

static void *connect_by_page(void *arg)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int r = connect(fd, held_page, sizeof(struct sockaddr_un)) < 0 ? errno : 0;

	(void)arg;
	n_back++;
	return (void *)(intptr_t)r;
}

/* Threads whose address does not come, then calls that must not wait for that; then it comes. */
static int others_than_page_go_on(int (*let_come)(const struct sockaddr_un *un))
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	pthread_t threads[HUNG_N];
	int result = 0;

	(void)rig_listen(own_path, SOCK_STREAM, 256);
	for (int i = 0; i < HUNG_N; i++)
		pthread_create(&threads[i], NULL, connect_by_page, NULL);
	usleep(200 * 1000);
	for (int i = 0; i < 50 && result == 0; i++) {
		int fd = rig_connect(own_path, SOCK_STREAM);

		result = fd < 0 ? fd : 0;
		close(fd);
		if (result == 0 && rig_connect("@zwbrk-nobody-there", SOCK_STREAM) != -ECONNREFUSED)
			result = 1;
	}
	if (result == 0 && n_back != 0)
		result = 2;
	zw_strlcpy(un.sun_path, own_path, sizeof(un.sun_path));
	int error = let_come(&un);
	if (error != 0)
		return error;
	for (int i = 0; i < HUNG_N; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		result = result == 0 ? (int)(intptr_t)failed : result;
	}
	return result;
}

static int fill_page(const struct sockaddr_un *un)
{
	static _Alignas(4096) char filled[4096];
	struct uffdio_copy copy = {
		.dst = (uintptr_t)held_page, .src = (uintptr_t)filled, .len = sizeof(filled)};

	memcpy(filled, un, sizeof(*un));
	return ioctl(fault_fd, UFFDIO_COPY, &copy) < 0 ? -errno : 0;
}

static int agent_real_page(struct rig *r)
{
	held_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.range = {(uintptr_t)held_page, 4096},
				      .mode = UFFDIO_REGISTER_MODE_MISSING};

	fault_fd = ioctl(r->fault_fd, USERFAULTFD_IOC_NEW, O_CLOEXEC);
	if (fault_fd < 0 || ioctl(fault_fd, UFFDIO_API, &api) < 0 ||
	    ioctl(fault_fd, UFFDIO_REGISTER, &reg) < 0)
		return -errno;
	return others_than_page_go_on(fill_page);
}

static void test_real_page_that_is_held_back__holds_up_nobody_else(void **state)
{
	struct rig *r;

	(void)state;
	if (access(FAULT_DEVICE, R_OK | W_OK) < 0) {
		print_message("note: " FAULT_DEVICE " is not ours to use\n");
		return;
	}
	r = make_rig();
	r->before = open_fault_fd;
	rig_start(r, agent_real_page);
	assert_int_equal(rig_result(r), 0);
	rig_free(r);
}

/* The same by a file server, as sshfs is one, which anybody may have mounted in the project. */
#define FS_DEVICE "/dev/fuse"

static struct held_fs held_fs;

static int release_fs(const struct sockaddr_un *un)
{
	bool was_asked = held_fs_waiting(&held_fs) > 0;

	held_fs_release(&held_fs, un, sizeof(*un));
	return was_asked ? 0 : 4;
}

/* In the namespaces of the agent; gone with them. */
static int mount_held(const struct rig *r, char *out, size_t size)
{
	snprintf(out, size, "%s/slow", r->dir);
	return mkdir(out, 0700) < 0 ? -errno : held_fs_mount(&held_fs, out);
}

static int agent_served_page(struct rig *r)
{
	char dir[100], path[120];
	int error = mount_held(r, dir, sizeof(dir));

	if (error < 0)
		return error;
	snprintf(path, sizeof(path), "%s/page", dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	held_page = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	/* Not left to the end of the process: the server ends with it, and could not answer. */
	close(fd);
	return held_page == MAP_FAILED ? -errno : others_than_page_go_on(release_fs);
}

static int agent_served_folder(struct rig *r)
{
	char dir[100], path[120];
	int error = mount_held(r, dir, sizeof(dir));

	if (error < 0)
		return error;
	snprintf(path, sizeof(path), "%s/hung/x.sock", dir);
	int result = others_go_on(r, path);
	bool was_asked = held_fs_waiting(&held_fs) > 0;
	held_fs_release(&held_fs, "", 1);
	if (result == 0 && rig_connect(path, SOCK_STREAM) != -ENOENT)
		result = 3;
	return result == 0 && !was_asked ? 4 : result;
}

static void run_served(int (*agent)(struct rig *r))
{
	if (access(FS_DEVICE, R_OK | W_OK) < 0) {
		print_message("note: " FS_DEVICE " is not ours to use\n");
		return;
	}
	struct rig *r = make_rig();
	rig_start(r, agent);
	int result = rig_result(r);
	rig_free(r);
	if (result == -ENODEV || result == -EPERM || result == -EINVAL)
		print_message("note: no file server may be mounted here: %d\n", result);
	else
		assert_int_equal(result, 0);
}

static void test_page_of_a_file_server_that_does_not_answer__holds_up_nobody_else(void **state)
{
	(void)state;
	run_served(agent_served_page);
}

static void test_folder_of_a_file_server_that_does_not_answer__holds_up_nobody_else(void **state)
{
	(void)state;
	run_served(agent_served_folder);
}

static int agent_hung_folder(struct rig *r)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/hung/x.sock", r->dir);
	return others_go_on(r, path);
}

static void test_folder_that_does_not_answer__holds_up_nobody_else(void **state)
{
	struct rig *r = make_rig();
	struct brk_sys sys = brk_sys_real;

	(void)state;
	sys.open_at = hang_open_at;
	r->sys = &sys;
	rig_start(r, agent_hung_folder);
	assert_int_equal(rig_result(r), 0);
	rig_free(r);
}

/* A page that was never touched, of a file: not there, and read all the same. */
static int agent_fresh_page(struct rig *r)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	char path[200];

	(void)rig_listen(own_path, SOCK_STREAM, 64);
	zw_strlcpy(un.sun_path, own_path, sizeof(un.sun_path));
	snprintf(path, sizeof(path), "%s/address", r->dir);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (write(fd, &un, sizeof(un)) != sizeof(un))
		return 1;
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	return connect(s, p, sizeof(un)) < 0 ? errno : 0;
}

static void test_page_not_yet_read_in__is_waited_for(void **state)
{
	struct rig *r = make_rig();

	(void)state;
	rig_start(r, agent_fresh_page);
	assert_int_equal(rig_result(r), 0);
	rig_free(r);
}

/* -- who answers ------------------------------------------------------------------------------------- */

static char abstract_name[64];

static int agent_abstract(struct rig *r)
{
	(void)r;
	int fd = rig_connect(abstract_name, SOCK_STREAM);
	return fd < 0 ? fd : 0;
}

static bool has_grant(struct rig *r)
{
	return r->n_rows > 0 && r->rows[0].want_commit != 0;
}

static void test_abstract_name_taken_by_another_meanwhile__not_opened(void **state)
{
	struct rig *r = make_rig();

	(void)state;
	snprintf(abstract_name, sizeof(abstract_name), "@/tmp/.zwbrk-X%d-h", (int)getpid());
	pid_t server = rig_echo(abstract_name, SOCK_STREAM, "ok:");
	zw_strlcpy(r->allow, abstract_name, sizeof(r->allow));
	r->commit = RIG_SILENT;
	rig_start(r, agent_abstract);
	assert_true(rig_run(r, has_grant, 20000));
	end_server(server);
	int fd = rig_listen(abstract_name, SOCK_STREAM, 4);
	rig_commit(r, r->rows[0].seq);
	assert_int_equal(rig_result(r), -EACCES);
	assert_true(rig_untouched(fd));
	assert_non_null(strstr(rig_row(r, ZW_DID_DENY, abstract_name)->reason, "changed"));
	close(fd);
	rig_free(r);
}

static int agent_once(struct rig *r)
{
	(void)r;
	int fd = rig_connect(host_path, SOCK_STREAM);
	return fd < 0 ? fd : 0;
}

static void test_listener_gone_meanwhile__not_opened_and_told(void **state)
{
	struct rig *r = make_rig();
	pid_t server = rig_echo(host_path, SOCK_STREAM, "ok:"); /* the one that is shown */

	(void)state;
	rig_start(r, agent_once);
	assert_true(rig_run(r, rig_has_ask, 20000));
	assert_int_equal(r->asks[0].listener_pid, server);
	end_server(server);
	rig_answer(r, 0, POL_ALLOW, ZW_SCOPE_ONCE);
	/* Nobody listens any more. */
	assert_int_equal(rig_result(r), -EACCES);
	assert_non_null(rig_row(r, ZW_DID_DENY, "/host.sock"));
	rig_free(r);
}

static void test_file_made_over_to_another_user_or_mode_meanwhile__not_opened(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(host_path, SOCK_STREAM, 4);

	(void)state;
	rig_start(r, agent_once);
	assert_true(rig_run(r, rig_has_ask, 20000));
	assert_int_equal(chmod(host_path, 0777 & ~0010), 0);
	rig_answer(r, 0, POL_ALLOW, ZW_SCOPE_ONCE);
	assert_int_equal(rig_result(r), -EACCES);
	assert_true(rig_untouched(fd));
	assert_non_null(strstr(rig_row(r, ZW_DID_DENY, "/host.sock")->reason, "changed"));
	rig_free(r);
}

/* Z016: what was allowed for the session was that socket. */
static int agent_again(struct rig *r)
{
	int fd = rig_connect(host_path, SOCK_STREAM);

	if (fd < 0)
		return fd;
	close(fd);
	rig_wait_step(r->ctl); /* replaced by a symlink to one that is denied */
	if (rig_connect(host_path, SOCK_STREAM) != -EACCES)
		return 1;
	rig_wait_step(r->ctl); /* by a plain file */
	if (rig_connect(host_path, SOCK_STREAM) != -ECONNREFUSED)
		return 2;
	rig_wait_step(r->ctl); /* by a new listener of another program */
	return rig_connect(host_path, SOCK_STREAM) == -EACCES ? 0 : 3;
}

static bool has_two_asks(struct rig *r)
{
	return r->n_asks == 2;
}

static bool has_three_asks(struct rig *r)
{
	return r->n_asks == 3;
}

static bool has_failed_row(struct rig *r)
{
	return rig_row(r, ZW_DID_FAIL, "/host.sock") != NULL;
}

static void test_z016_allowed_socket_replaced__asked_again(void **state)
{
	struct rig *r = make_rig();
	char other[200];

	(void)state;
	snprintf(other, sizeof(other), "%s/other.sock", r->dir);
	zw_autoclose int other_fd = rig_listen(other, SOCK_STREAM, 4);
	int fd = rig_listen(host_path, SOCK_STREAM, 4);
	rig_start(r, agent_again);
	assert_true(rig_run(r, rig_has_ask, 20000));
	rig_answer(r, 0, POL_ALLOW, ZW_SCOPE_SESSION);
	(void)rig_run(r, rig_never, 200);
	close(fd);
	unlink(host_path);
	assert_int_equal(symlink(other, host_path), 0);
	rig_step(r->ctl);
	assert_true(rig_run(r, has_two_asks, 20000));
	assert_string_equal(r->asks[1].target, other);
	rig_answer(r, 1, POL_DENY, ZW_SCOPE_ONCE);
	unlink(host_path);
	close(open(host_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
	rig_step(r->ctl);
	assert_true(rig_run(r, has_failed_row, 20000));
	unlink(host_path);
	fd = rig_listen(host_path, SOCK_STREAM, 4);
	rig_step(r->ctl);
	assert_true(rig_run(r, has_three_asks, 20000));
	rig_answer(r, 2, POL_DENY, ZW_SCOPE_ONCE);
	assert_int_equal(rig_result(r), 0);
	assert_true(rig_untouched(fd) && rig_untouched(other_fd));
	close(fd);
	rig_free(r);
}

/* -- ended by the user ------------------------------------------------------------------------------- */

static int agent_talks_on(struct rig *r)
{
	char text[8];
	int fd = rig_connect(host_path, SOCK_STREAM);
	int second = rig_connect(host_path, SOCK_STREAM);

	(void)r;
	if (fd < 0 || second < 0)
		return fd;
	if (send(fd, "x", 1, 0) != 1 || recv(fd, text, 4, MSG_WAITALL) != 4)
		return 1;
	return recv(fd, text, 1, 0) == 0 && recv(second, text, 1, 0) == 0 ? 0 : 2;
}

static bool has_answered(struct rig *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_rows; i++)
		n += r->rows[i].did == ZW_DID_ALLOW;
	return n == 2;
}

static bool are_closed(struct rig *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_rows; i++)
		n += r->rows[i].phase == 2 && strstr(r->rows[i].reason, "by the user") != NULL;
	return n == 2;
}

static void test_relay__ended_by_the_user(void **state)
{
	struct rig *r = make_rig();
	pid_t server = rig_echo(host_path, SOCK_STREAM, "ok:");

	(void)state;
	r->answer = RIG_ALLOW;
	r->scope = ZW_SCOPE_SESSION;
	rig_start(r, agent_talks_on);
	assert_true(rig_run(r, has_answered, 20000));
	(void)rig_run(r, rig_never, 300);
	assert_false(r->has_result);
	rig_close(r, host_path, r->rows[0].pid + 1); /* somebody else's */
	(void)rig_run(r, rig_never, 50);
	assert_false(r->has_result);
	rig_close(r, host_path, r->rows[0].pid);
	assert_int_equal(rig_result(r), 0);
	assert_true(rig_run(r, are_closed, 20000));
	end_server(server);
	rig_free(r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_z128_signals_while_a_question_is_open__one_question_right_result),
		cmocka_unit_test(
			test_z128_handled_signals__verdict_or_eintr_and_no_connection_by_itself),
		cmocka_unit_test(test_page_that_does_not_come__holds_up_nobody_else),
		cmocka_unit_test(test_real_page_that_is_held_back__holds_up_nobody_else),
		cmocka_unit_test(
			test_page_of_a_file_server_that_does_not_answer__holds_up_nobody_else),
		cmocka_unit_test(
			test_folder_of_a_file_server_that_does_not_answer__holds_up_nobody_else),
		cmocka_unit_test(test_folder_that_does_not_answer__holds_up_nobody_else),
		cmocka_unit_test(test_page_not_yet_read_in__is_waited_for),
		cmocka_unit_test(test_abstract_name_taken_by_another_meanwhile__not_opened),
		cmocka_unit_test(test_listener_gone_meanwhile__not_opened_and_told),
		cmocka_unit_test(test_file_made_over_to_another_user_or_mode_meanwhile__not_opened),
		cmocka_unit_test(test_z016_allowed_socket_replaced__asked_again),
		cmocka_unit_test(test_relay__ended_by_the_user),
	};

	if (getenv("ZW_BROKER") == NULL)
		return 77;
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
