/* SPDX-License-Identifier: MIT
 * The broker between an agent and host sockets: what is decided, that it holds against every trick
 * that is known, and that nothing else waits meanwhile. */
#include "tests/support/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "tests/sandbox/broker_rig.h"

static char host_path[200], host_path_2[200];

static struct rig *make_rig(void)
{
	struct rig *r = rig_new();

	snprintf(host_path, sizeof(host_path), "%s/host.sock", r->dir);
	snprintf(host_path_2, sizeof(host_path_2), "%s/hidden/docker.sock", r->dir);
	return r;
}

/* -- own sockets ------------------------------------------------------------------------------- */

static int agent_own(struct rig *r)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/own.sock", r->dir);
	(void)rig_listen(path, SOCK_STREAM, 64);
	(void)rig_listen("@own", SOCK_SEQPACKET, 64);
	for (int i = 0; i < 5; i++) {
		int fd = rig_connect(path, SOCK_STREAM);
		if (fd < 0)
			return fd;
		close(fd);
	}
	if (chdir(r->dir) < 0 || rig_connect("own.sock", SOCK_STREAM) < 0 ||
	    rig_connect("@own", SOCK_SEQPACKET) < 0)
		return -1;
	unlink(path);
	if (rig_connect(path, SOCK_STREAM) != -ENOENT)
		return -2;
	(void)rig_listen(path, SOCK_STREAM, 4); /* another socket at the same place */
	return rig_connect(path, SOCK_STREAM) >= 0 ? 0 : -3;
}

static bool has_own_counts(struct rig *r)
{
	const struct rig_row *row = rig_row(r, ZW_DID_AUTO, "own.sock");

	return row != NULL && row->n_times == 7;
}

static void test_z157_own_socket__connects_unasked_and_is_counted(void **state)
{
	struct rig *r = make_rig();

	(void)state;
	rig_start(r, agent_own);
	assert_int_equal(rig_result(r), 0);
	assert_true(rig_run(r, has_own_counts, 3000));
	assert_non_null(rig_row(r, ZW_DID_AUTO, "@own"));
	assert_int_equal(r->n_asks, 0);
	assert_false(rig_row(r, ZW_DID_AUTO, "own.sock")->want_commit);
	rig_free(r);
}

static int backlog_listener;

static void *accept_later(void *arg)
{
	(void)arg;
	usleep(300 * 1000);
	return (void *)(intptr_t)accept(backlog_listener, NULL, NULL);
}

/* A full backlog holds its own client and nobody else. */
static int agent_backlog(struct rig *r)
{
	char path[200], other[200];
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	pthread_t thread;
	int64_t start_ms;

	snprintf(path, sizeof(path), "%s/full.sock", r->dir);
	snprintf(other, sizeof(other), "%s/other.sock", r->dir);
	backlog_listener = rig_listen(path, SOCK_STREAM, 0);
	(void)rig_listen(other, SOCK_STREAM, 64);
	if (rig_connect(path, SOCK_STREAM) < 0)
		return -1;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	zw_strlcpy(un.sun_path, path, sizeof(un.sun_path));
	if (connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0 || errno != EAGAIN)
		return -2;
	pid_t pid = fork();
	if (pid == 0)
		_exit(rig_connect(path, SOCK_STREAM) >= 0 ? 0 : 1);
	usleep(50 * 1000);
	start_ms = zw_mono_ms();
	for (int i = 0; i < 50; i++)
		if (rig_connect(other, SOCK_STREAM) < 0)
			return -3;
	if (zw_mono_ms() - start_ms > 5000)
		return -4;
	pthread_create(&thread, NULL, accept_later, NULL);
	int status;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -5;
}

static void test_full_backlog__waits_alone(void **state)
{
	struct rig *r = make_rig();

	(void)state;
	rig_start(r, agent_backlog);
	assert_int_equal(rig_result(r), 0);
	rig_free(r);
}

/* -- host sockets ------------------------------------------------------------------------------ */

static int agent_connect_once(struct rig *r)
{
	(void)r;
	int fd = rig_connect(host_path, SOCK_STREAM);
	return fd < 0 ? fd : 0;
}

static void test_host_socket__denied_by_user(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(host_path, SOCK_STREAM, 4);

	(void)state;
	r->answer = RIG_DENY;
	rig_start(r, agent_connect_once);
	assert_int_equal(rig_result(r), -EACCES);
	assert_true(rig_untouched(fd));
	assert_int_equal(r->n_asks, 1);
	assert_string_equal(r->asks[0].target, host_path);
	assert_int_equal(r->asks[0].listener_pid, getpid());
	assert_int_equal(r->asks[0].listener_uid, getuid());
	assert_non_null(rig_row(r, ZW_DID_DENY, "host.sock"));
	assert_int_equal(rig_row(r, ZW_DID_DENY, "host.sock")->by, ZW_BY_USER);
	rig_free(r);
}

static int agent_talk(struct rig *r)
{
	const char *path = r->local_port == 1 ? host_path_2 : host_path;
	char text[64] = "";
	int fd = rig_connect(path, SOCK_STREAM);

	if (fd < 0)
		return fd;
	if (send(fd, "hello", 5, 0) != 5)
		return -1;
	for (size_t len = 0; len < 8;) {
		ssize_t n = recv(fd, text + len, sizeof(text) - 1 - len, 0);
		if (n <= 0)
			return -2;
		len += (size_t)n;
	}
	if (strcmp(text, "ok:hello") != 0)
		return -3;
	shutdown(fd, SHUT_WR); /* the server ends when it reads the end, which comes back */
	return recv(fd, text, sizeof(text), 0) == 0 ? 0 : -4;
}

static bool has_closed(struct rig *r)
{
	return r->n_rows > 0 && r->rows[0].phase == 2;
}

static void talk_and_check(struct rig *r, const char *target)
{
	r->answer = RIG_ALLOW;
	pid_t server = rig_echo(target, SOCK_STREAM, "ok:");

	rig_start(r, agent_talk);
	assert_int_equal(rig_result(r), 0);
	assert_true(rig_run(r, has_closed, 2000));
	const struct rig_row *row = rig_row(r, ZW_DID_ALLOW, target);
	assert_non_null(row);
	assert_int_equal(row->want_commit, 1);
	assert_int_equal(row->up_b, 5);
	assert_int_equal(row->down_b, 8);
	assert_string_equal(r->asks[0].target, target);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
}

static void test_host_socket__allowed_is_relayed_and_counted(void **state)
{
	struct rig *r = make_rig();

	(void)state;
	talk_and_check(r, host_path);
	rig_free(r);
}

static void test_host_socket__not_mounted_inside_is_reached_after_allow(void **state)
{
	struct rig *r = make_rig();

	(void)state;
	r->local_port = 1;
	talk_and_check(r, host_path_2);
	assert_string_equal(r->asks[0].class_name, "docker");
	assert_int_equal(r->asks[0].risk, POL_RISK_CRITICAL);
	rig_free(r);
}

static int agent_direct(struct rig *r)
{
	char path[200], text[16] = "";
	struct ucred cred;
	socklen_t len = sizeof(cred);

	snprintf(path, sizeof(path), "%s/direct.sock", r->dir);
	int fd = rig_connect(path, SOCK_STREAM);
	if (fd < 0)
		return fd;
	if (send(fd, "x", 1, 0) != 1 || recv(fd, text, 4, MSG_WAITALL) != 4 ||
	    strcmp(text, "ok:x") != 0)
		return -1;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len);
}

static void test_host_socket__direct_way_connects_the_programs_own_socket(void **state)
{
	struct rig *r = make_rig();
	char path[200];

	(void)state;
	snprintf(path, sizeof(path), "%s/direct.sock", r->dir);
	r->answer = RIG_ALLOW;
	pid_t server = rig_echo(path, SOCK_STREAM, "ok:");
	rig_start(r, agent_direct);
	assert_int_equal(rig_result(r), 0);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	rig_free(r);
}

static void test_host_socket__no_record_no_grant(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(host_path, SOCK_STREAM, 4);

	(void)state;
	r->answer = RIG_ALLOW;
	r->commit = RIG_REFUSE;
	rig_start(r, agent_connect_once);
	assert_int_equal(rig_result(r), -EACCES);
	assert_true(rig_untouched(fd));
	assert_non_null(rig_row(r, ZW_DID_DENY, "host.sock"));
	rig_free(r);
}

static void test_host_socket__nobody_to_ask_is_denied(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(host_path, SOCK_STREAM, 4);

	(void)state;
	r->cannot_ask = true;
	rig_start(r, agent_connect_once);
	assert_int_equal(rig_result(r), -EACCES);
	assert_true(rig_untouched(fd));
	assert_int_equal(r->n_asks, 0);
	assert_int_equal(rig_row(r, ZW_DID_DENY, "host.sock")->by, ZW_BY_NO_TERMINAL);
	rig_free(r);
}

static void test_host_socket__exchanged_while_reading_is_not_opened(void **state)
{
	struct rig *r = make_rig();
	int fd = rig_listen(host_path, SOCK_STREAM, 4);

	(void)state;
	rig_start(r, agent_connect_once);
	assert_true(rig_run(r, rig_has_ask, 3000));
	close(fd);
	unlink(host_path);
	fd = rig_listen(host_path, SOCK_STREAM, 4);
	rig_answer(r, 0, POL_ALLOW, ZW_SCOPE_ONCE);
	assert_int_equal(rig_result(r), -EACCES);
	assert_true(rig_untouched(fd));
	assert_non_null(strstr(rig_row(r, ZW_DID_DENY, "host.sock")->reason, "changed"));
	close(fd);
	rig_free(r);
}

static int agent_native_errors(struct rig *r)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/nothing", r->dir);
	for (int i = 0; i < 3; i++)
		if (rig_connect(path, SOCK_STREAM) != -ENOENT)
			return -1;
	snprintf(path, sizeof(path), "%s/dead", r->dir);
	if (rig_connect(path, SOCK_STREAM) != -ECONNREFUSED)
		return -2;
	snprintf(path, sizeof(path), "%s/file", r->dir);
	if (rig_connect(path, SOCK_STREAM) != -ECONNREFUSED)
		return -3;
	snprintf(path, sizeof(path), "%s/nscd", r->dir);
	if (rig_connect(path, SOCK_STREAM) != -ENOENT)
		return -4;
	if (rig_connect("/tmp", SOCK_STREAM) != -ECONNREFUSED)
		return -5;
	return rig_connect("@zwbrk-nobody", SOCK_STREAM) == -ECONNREFUSED ? 0 : -6;
}

static bool has_three(struct rig *r)
{
	const struct rig_row *row = rig_row(r, ZW_DID_FAIL, "/nothing");

	return row != NULL && row->n_times == 3;
}

static void test_nothing_there__native_errors_counted_once(void **state)
{
	struct rig *r = make_rig();
	char path[200];

	(void)state;
	snprintf(path, sizeof(path), "%s/dead", r->dir);
	close(rig_listen(path, SOCK_STREAM, 1));
	snprintf(path, sizeof(path), "%s/file", r->dir);
	close(open(path, O_CREAT | O_WRONLY, 0644));
	snprintf(path, sizeof(path), "%s/nscd", r->dir);
	zw_autoclose int nscd = rig_listen(path, SOCK_STREAM, 1);
	rig_start(r, agent_native_errors);
	assert_int_equal(rig_result(r), 0);
	assert_true(rig_run(r, has_three, 3000));
	assert_int_equal(r->n_asks, 0);
	assert_true(rig_untouched(nscd));
	rig_free(r);
}

static int agent_allowed(struct rig *r)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/allowed.sock", r->dir);
	int fd = rig_connect(path, SOCK_STREAM);
	return fd < 0 ? fd : 0;
}

static void test_rule_allows__without_a_question(void **state)
{
	struct rig *r = make_rig();
	char path[200];

	(void)state;
	snprintf(path, sizeof(path), "%s/allowed.sock", r->dir);
	zw_autoclose int fd = rig_listen(path, SOCK_STREAM, 4);
	rig_start(r, agent_allowed);
	assert_int_equal(rig_result(r), 0);
	assert_false(rig_untouched(fd));
	assert_int_equal(r->n_asks, 0);
	assert_int_equal(rig_row(r, ZW_DID_ALLOW, "allowed.sock")->by, ZW_BY_RULE);
	assert_int_equal(rig_row(r, ZW_DID_ALLOW, "allowed.sock")->want_commit, 1);
	rig_free(r);
}

/* mv denied.sock allowed.sock, a hard link, and a link that makes the old name lead there. */
static int agent_moves(struct rig *r)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/allowed.sock", r->dir);
	if (link(host_path, path) < 0 || agent_allowed(r) != -EACCES)
		return 1;
	if (unlink(path) < 0 || rename(host_path, path) < 0 || agent_allowed(r) != -EACCES)
		return 2;
	return symlink(path, host_path) == 0 && agent_allowed(r) == -EACCES ? 0 : 3;
}

static void test_rule_by_path__does_not_hold_for_what_was_moved_there(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(host_path, SOCK_STREAM, 4);

	(void)state;
	r->answer = RIG_DENY;
	rig_start(r, agent_moves);
	assert_int_equal(rig_result(r), 0);
	assert_int_equal(r->n_asks, 3);
	assert_string_equal(r->asks[1].target, host_path);
	assert_true(rig_untouched(fd));
	rig_free(r);
}

static int foreign_fd;

static int agent_foreign(struct rig *r)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(9)};

	(void)r;
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return connect(foreign_fd, (struct sockaddr *)&in, sizeof(in)) < 0 ? -errno : 0;
}

static void test_socket_of_another_network__not_connected(void **state)
{
	struct rig *r = make_rig();

	(void)state;
	foreign_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	rig_start(r, agent_foreign);
	assert_int_equal(rig_result(r), -EACCES);
	assert_non_null(rig_row(r, ZW_DID_DENY, "127.0.0.1:9"));
	close(foreign_fd);
	rig_free(r);
}

/* -- spellings --------------------------------------------------------------------------------- */

static int agent_spellings(struct rig *r)
{
	char path[12][300];
	int n = 0;
	int dir_fd = open(r->dir, O_PATH);

	snprintf(path[n++], 300, "%s", host_path);
	snprintf(path[n++], 300, "/%s/./host.sock", r->dir);
	snprintf(path[n++], 300, "%s/hidden/../host.sock", r->dir);
	snprintf(path[n++], 300, "%s/link/host.sock", r->dir);
	snprintf(path[n++], 300, "%s/direct-link", r->dir);
	snprintf(path[n++], 300, "/proc/self/root%s", host_path);
	snprintf(path[n++], 300, "/proc/thread-self/root%s", host_path);
	snprintf(path[n++], 300, "/proc/self/cwd/host.sock");
	snprintf(path[n++], 300, "/proc/self/fd/%d/host.sock", dir_fd);
	snprintf(path[n++], 300, "./host.sock");
	snprintf(path[n++], 300, "hidden/../host.sock");
	snprintf(path[n++], 300, "%s/hard", r->dir);
	if (chdir(r->dir) < 0)
		return -1;
	for (int i = 0; i < n; i++)
		if (rig_connect(path[i], SOCK_STREAM) != -EACCES)
			return 100 + i;
	return 0;
}

static void test_z005_spellings__one_card_one_verdict(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(host_path, SOCK_STREAM, 4);
	char path[200];

	(void)state;
	snprintf(path, sizeof(path), "%s/link", r->dir);
	assert_int_equal(symlink(r->dir, path), 0);
	snprintf(path, sizeof(path), "%s/direct-link", r->dir);
	assert_int_equal(symlink("host.sock", path), 0);
	snprintf(path, sizeof(path), "%s/hard", r->dir);
	assert_int_equal(link(host_path, path), 0);
	r->answer = RIG_DENY;
	r->scope = ZW_SCOPE_SESSION;
	rig_start(r, agent_spellings);
	assert_int_equal(rig_result(r), 0);
	assert_int_equal(r->n_asks, 1);
	assert_true(rig_untouched(fd));
	rig_free(r);
}

/* The same for one that is not there inside; links are made inside and outside. */
static int agent_hidden_spellings(struct rig *r)
{
	char path[5][300], link_path[200];

	snprintf(link_path, sizeof(link_path), "%s/mine", r->dir);
	if (symlink("hidden", link_path) < 0 || chdir(r->dir) < 0)
		return -1;
	snprintf(path[0], 300, "%s", host_path_2);
	snprintf(path[1], 300, "hidden/./docker.sock");
	snprintf(path[2], 300, "mine/docker.sock");
	snprintf(path[3], 300, "/proc/self/root%s", host_path_2);
	snprintf(path[4], 300, "%s/mine//docker.sock", r->dir);
	for (int i = 0; i < 5; i++)
		if (rig_connect(path[i], SOCK_STREAM) != -EACCES)
			return 100 + i;
	return rig_connect("hidden/no/../docker.sock", SOCK_STREAM) == -ENOENT ? 0 : 200;
}

static void test_z005_spellings_of_what_is_not_mounted__one_card_one_verdict(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(host_path_2, SOCK_STREAM, 4);

	(void)state;
	r->answer = RIG_DENY;
	r->scope = ZW_SCOPE_SESSION;
	rig_start(r, agent_hidden_spellings);
	assert_int_equal(rig_result(r), 0);
	assert_int_equal(r->n_asks, 1);
	assert_string_equal(r->asks[0].target, host_path_2);
	assert_true(rig_untouched(fd));
	rig_free(r);
}

static char abstract_name[64];

static int agent_abstract(struct rig *r)
{
	(void)r;
	if (rig_connect(host_path, SOCK_STREAM) != -EACCES)
		return -1;
	if (rig_connect(abstract_name, SOCK_STREAM) != -EACCES)
		return -2;
	if (socket(AF_UNIX, SOCK_DGRAM, 0) >= 0 || errno != EACCES)
		return -3;
	return rig_connect("@zwbrk-unknown", SOCK_STREAM) == -EACCES ? 0 : -4;
}

static void test_z006_abstract_twin__refused_and_named_with_its_kind(void **state)
{
	struct rig *r = make_rig();

	(void)state;
	snprintf(abstract_name, sizeof(abstract_name), "@/tmp/.zwbrk-X%d", (int)getpid());
	zw_autoclose int file_fd = rig_listen(host_path, SOCK_STREAM, 4);
	zw_autoclose int name_fd = rig_listen(abstract_name, SOCK_STREAM, 4);
	zw_autoclose int unknown_fd = rig_listen("@zwbrk-unknown", SOCK_STREAM, 4);
	r->answer = RIG_DENY;
	rig_start(r, agent_abstract);
	assert_int_equal(rig_result(r), 0);
	assert_int_equal(r->n_asks, 1);
	const struct rig_row *row = rig_row_op(r, ZW_OP_ABSTRACT, ZW_DID_DENY, abstract_name);
	assert_non_null(row);
	assert_string_equal(row->class_name, "x11");
	assert_true(rig_untouched(file_fd) && rig_untouched(name_fd) && rig_untouched(unknown_fd));
	assert_int_equal(rig_row(r, ZW_DID_DENY, "@zwbrk-unknown")->op, ZW_OP_ABSTRACT);
	rig_free(r);
}

static int agent_abstract_talk(struct rig *r)
{
	char text[16] = "";
	int fd = rig_connect(abstract_name, SOCK_STREAM);

	(void)r;
	if (fd < 0)
		return fd;
	return send(fd, "x", 1, 0) == 1 && recv(fd, text, 4, MSG_WAITALL) == 4 &&
			       strcmp(text, "ok:x") == 0
		       ? 0
		       : -1;
}

static void test_abstract_of_the_host__reached_by_a_rule(void **state)
{
	struct rig *r = make_rig();

	(void)state;
	snprintf(abstract_name, sizeof(abstract_name), "@/tmp/.zwbrk-X%d-b", (int)getpid());
	pid_t server = rig_echo(abstract_name, SOCK_STREAM, "ok:");
	zw_strlcpy(r->allow, abstract_name, sizeof(r->allow));
	rig_start(r, agent_abstract_talk);
	assert_int_equal(rig_result(r), 0);
	assert_int_equal(r->n_asks, 0);
	assert_int_equal(rig_row_op(r, ZW_OP_ABSTRACT, ZW_DID_ALLOW, abstract_name)->rule, 8);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	rig_free(r);
}

/* -- arguments --------------------------------------------------------------------------------- */

static int try_raw(int fd, const void *addr, int len)
{
	return connect(fd, addr, (socklen_t)len) < 0 ? errno : 0;
}

static int agent_arguments(struct rig *r)
{
	long page = sysconf(_SC_PAGESIZE);
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	char *p = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)r;
	munmap(p + page, (size_t)page);
	memcpy(p + page - 20, &un, 20);
	zw_strlcpy(un.sun_path, host_path, sizeof(un.sun_path));
	if (try_raw(fd, p + page, 50) != EFAULT)
		return 1;
	if (try_raw(fd, p + page - 20, 50) != EFAULT)
		return 2;
	if (try_raw(fd, &un, -1) != EINVAL || try_raw(fd, &un, 129) != EINVAL)
		return 3;
	if (try_raw(fd, &un, 2) != EINVAL || try_raw(fd, &un, 0) != EINVAL ||
	    try_raw(fd, &un, 111) != EINVAL)
		return 4;
	if (try_raw(-1, &un, sizeof(un)) != EBADF || try_raw(0x7ffffff, &un, sizeof(un)) != EBADF)
		return 5;
	int dir = open("/", O_RDONLY);
	if (try_raw(dir, &un, sizeof(un)) != ENOTSOCK)
		return 6;
	int tcp = socket(AF_INET, SOCK_STREAM, 0);
	if (try_raw(tcp, &un, sizeof(un)) != EAFNOSUPPORT)
		return 7;
	/* 108 bytes and no NUL. */
	memset(un.sun_path, 'x', sizeof(un.sun_path));
	return try_raw(fd, &un, sizeof(un)) == ENOENT ? 0 : 8;
}

static bool has_unreadable(struct rig *r)
{
	return r->n_rows > 0 && strstr(r->rows[0].reason, "cannot be read") != NULL;
}

static void test_z009_unreadable_address__fails_and_is_recorded(void **state)
{
	struct rig *r = make_rig();

	(void)state;
	rig_start(r, agent_arguments);
	assert_int_equal(rig_result(r), 0);
	assert_true(rig_run(r, has_unreadable, 1000));
	assert_int_equal(r->end_error, 0);
	rig_free(r);
}

/* -- datagrams --------------------------------------------------------------------------------- */

static int agent_datagrams(struct rig *r)
{
	char text[16] = "";
	int pair[2];

	(void)r;
	if (socket(AF_UNIX, SOCK_DGRAM, 0) >= 0 || errno != EACCES)
		return 1;
	if (socket(AF_UNIX, SOCK_RAW | SOCK_CLOEXEC, 0) >= 0 || errno != EACCES)
		return 2;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return 3;
	if (!(fcntl(pair[0], F_GETFD) & FD_CLOEXEC) || !(fcntl(pair[1], F_GETFL) & O_NONBLOCK))
		return 4;
	if (send(pair[0], "one", 3, 0) != 3 || send(pair[0], "four", 4, 0) != 4 ||
	    recv(pair[1], text, sizeof(text), 0) != 3 || recv(pair[1], text, sizeof(text), 0) != 4)
		return 5;
	/* NULL is what the compiler must not see. */
	int *volatile nowhere = NULL;
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, nowhere) == 0 || errno != EFAULT)
		return 6;
	return socketpair(AF_UNIX, SOCK_DGRAM, 7, pair) < 0 && errno == EPROTONOSUPPORT ? 0 : 7;
}

static void test_datagram_sockets__refused_and_pairs_emulated(void **state)
{
	struct rig *r = make_rig();

	(void)state;
	rig_start(r, agent_datagrams);
	assert_int_equal(rig_result(r), 0);
	const struct rig_row *row = rig_row(r, ZW_DID_DENY, "SOCK_DGRAM)");
	assert_non_null(row);
	assert_int_equal(row->op, ZW_OP_DATAGRAM);
	rig_free(r);
}

/* SEQPACKET through the relay: boundaries stay, descriptors do not come along. */
static int agent_packets(struct rig *r)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char text[64];
	struct iovec iov = {text, sizeof(text)};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.space,
			   .msg_controllen = sizeof(control.space)};
	int fd = rig_connect(host_path, SOCK_SEQPACKET);

	(void)r;
	if (fd < 0)
		return fd;
	if (send(fd, "ab", 2, 0) != 2 || send(fd, "cde", 3, 0) != 3)
		return -1;
	if (recvmsg(fd, &m, 0) != 1 || m.msg_controllen != 0)
		return -2;
	return recv(fd, text, sizeof(text), 0) == 5 ? 0 : -3;
}

static void send_with_fd(int c)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec iov = {(void *)(uintptr_t) "f", 1};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.space,
			   .msg_controllen = sizeof(control.space)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	int root = open("/", O_PATH);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &root, sizeof(int));
	assert_int_equal(sendmsg(c, &m, 0), 1);
	close(root);
}

static void *serve_packets(void *arg)
{
	char text[64];
	int c = accept(*(int *)arg, NULL, NULL);
	ssize_t a = recv(c, text, sizeof(text), 0), b = recv(c, text, sizeof(text), 0);

	send_with_fd(c);
	send(c, "12345", a == 2 && b == 3 ? 5 : 1, 0);
	return (void *)(intptr_t)c;
}

static void test_relay__keeps_packets_and_drops_descriptors(void **state)
{
	struct rig *r = make_rig();
	int fd = rig_listen(host_path, SOCK_SEQPACKET, 4);
	pthread_t thread;

	(void)state;
	r->answer = RIG_ALLOW;
	rig_start(r, agent_packets);
	pthread_create(&thread, NULL, serve_packets, &fd);
	assert_true(rig_run(r, rig_has_result, 5000));
	assert_int_equal(r->result, 0);
	pthread_join(thread, NULL);
	close(fd);
	rig_free(r);
}

/* -- open questions ---------------------------------------------------------------------------- */

static void test_z121_open_question__nothing_passes_until_yes(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(host_path, SOCK_STREAM, 4);

	(void)state;
	rig_start(r, agent_connect_once);
	assert_true(rig_run(r, rig_has_ask, 3000));
	assert_false(rig_run(r, rig_never, 1500));
	assert_false(r->has_result);
	assert_true(rig_untouched(fd));
	rig_answer(r, 0, POL_ALLOW, ZW_SCOPE_ONCE);
	assert_int_equal(rig_result(r), 0);
	assert_false(rig_untouched(fd));
	rig_free(r);
}

static void test_z121_question_held_too_long__missed_and_denied(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(host_path, SOCK_STREAM, 4);

	(void)state;
	r->hold_ms = 300;
	rig_start(r, agent_connect_once);
	assert_int_equal(rig_result(r), -EACCES);
	assert_true(rig_untouched(fd));
	assert_int_equal(rig_row(r, ZW_DID_MISS, "host.sock")->by, ZW_BY_TIMEOUT);
	rig_free(r);
}

static void test_z121_broker_killed__call_fails(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(host_path, SOCK_STREAM, 4);

	(void)state;
	rig_start(r, agent_connect_once);
	assert_true(rig_run(r, rig_has_ask, 3000));
	kill(r->broker, SIGKILL);
	assert_int_equal(rig_result(r), -ENOSYS);
	assert_true(rig_untouched(fd));
	rig_free(r);
}

static int agent_askers(struct rig *r)
{
	pid_t pids[200];

	for (size_t i = 0; i < ZW_N_ELEMENTS(pids); i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(rig_connect(host_path, SOCK_STREAM) == -EACCES ? 0 : 1);
	}
	rig_wait_step(r->ctl);
	for (size_t i = 0; i < ZW_N_ELEMENTS(pids); i++)
		kill(pids[i], SIGKILL);
	for (size_t i = 0; i < ZW_N_ELEMENTS(pids); i++)
		waitpid(pids[i], NULL, 0);
	return 0;
}

static bool all_wait(struct rig *r)
{
	return r->n_asks > 0 && r->asks[0].n_waiting == 200;
}

static bool is_gone(struct rig *r)
{
	return r->asks[0].is_gone;
}

static void test_z127_askers_killed__question_goes(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(host_path, SOCK_STREAM, 4);

	(void)state;
	rig_start(r, agent_askers);
	assert_true(rig_run(r, all_wait, 10000));
	assert_int_equal(r->n_asks, 1);
	rig_step(r->ctl);
	assert_true(rig_run(r, is_gone, 5000));
	assert_int_equal(rig_result(r), 0);
	rig_answer(r, 0, POL_ALLOW, ZW_SCOPE_ONCE); /* too late */
	assert_false(rig_run(r, rig_never, 100));
	assert_non_null(rig_row(r, ZW_DID_GONE, "host.sock"));
	assert_true(rig_untouched(fd));
	assert_int_equal(r->end_error, 0);
	rig_free(r);
}

static char storm_path[200];
static atomic_int storm_failed;

static void *storm_thread(void *arg)
{
	(void)arg;
	for (int i = 0; i < 100; i++) {
		int fd = rig_connect(storm_path, SOCK_STREAM);
		if (fd < 0)
			storm_failed++;
		else
			close(fd);
	}
	return NULL;
}

static void *accept_thread(void *arg)
{
	for (;;) {
		int c = accept(*(int *)arg, NULL, NULL);
		if (c >= 0)
			close(c);
	}
	return NULL;
}

static int agent_storm(struct rig *r)
{
	pthread_t threads[64], acceptor;
	static int listener;

	pid_t asker = fork();
	if (asker == 0)
		_exit(rig_connect(host_path, SOCK_STREAM) == -EACCES ? 0 : 1);
	rig_wait_step(r->ctl);
	snprintf(storm_path, sizeof(storm_path), "%s/storm.sock", r->dir);
	listener = rig_listen(storm_path, SOCK_STREAM, 4096);
	pthread_create(&acceptor, NULL, accept_thread, &listener);
	int64_t start_us = zw_mono_us();
	for (size_t i = 0; i < 64; i++)
		pthread_create(&threads[i], NULL, storm_thread, NULL);
	for (size_t i = 0; i < 64; i++)
		pthread_join(threads[i], NULL);
	int64_t took_us = zw_mono_us() - start_us;
	fprintf(stderr, "# 64 threads x 100: %lld connects/s\n",
		6400LL * 1000000 / (long long)took_us);
	kill(asker, SIGKILL);
	return storm_failed;
}

static void test_storm__goes_on_while_a_question_is_open(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(host_path, SOCK_STREAM, 4);

	(void)state;
	rig_start(r, agent_storm);
	assert_true(rig_run(r, rig_has_ask, 3000));
	rig_step(r->ctl);
	assert_int_equal(rig_result(r), 0);
	assert_true(rig_untouched(fd));
	rig_free(r);
}

/* -- internet ---------------------------------------------------------------------------------- */

static int tcp_try(const char *ip, uint16_t port, int type)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, type, 0);

	inet_pton(AF_INET, ip, &in.sin_addr);
	return connect(fd, (struct sockaddr *)&in, sizeof(in)) < 0 ? -errno : fd;
}

static int second_connect(int type_flags)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(443)};
	int fd = socket(AF_INET, SOCK_STREAM | type_flags, 0);
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	int error, so_error = -1;
	socklen_t len = sizeof(so_error);

	inet_pton(AF_INET, "198.18.0.9", &in.sin_addr);
	error = connect(fd, (struct sockaddr *)&in, sizeof(in)) < 0 ? errno : 0;
	if (error != 0 && error != EINPROGRESS)
		return error;
	if (poll(&p, 1, 2000) != 1 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &so_error, &len) < 0 ||
	    so_error != 0)
		return 2000;
	if (type_flags & SOCK_NONBLOCK)
		(void)connect(fd, (struct sockaddr *)&in,
			      sizeof(in)); /* 0: told that it is through */
	return connect(fd, (struct sockaddr *)&in, sizeof(in)) < 0 && errno == EISCONN ? 0 : 2001;
}

static int agent_inet(struct rig *r)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(80)};
	struct sockaddr_in own = {.sin_family = AF_INET};
	struct sockaddr unspec = {.sa_family = AF_UNSPEC};
	socklen_t len = sizeof(own);

	(void)r;
	if (tcp_try("198.18.0.7", 443, SOCK_STREAM) < 0)
		return 1;
	if (tcp_try("198.19.255.254", RIG_HTTP_PORT, SOCK_STREAM) < 0)
		return 2;
	int error = tcp_try("93.184.216.34", 443, SOCK_STREAM);
	if (error != -ENETUNREACH)
		return 3;
	if (tcp_try("8.8.8.8", 53, SOCK_DGRAM) != -ENETUNREACH)
		return 4;
	int udp = tcp_try("127.0.0.1", 53, SOCK_DGRAM);
	if (udp < 0 || connect(udp, &unspec, sizeof(unspec)) < 0)
		return 5;
	if (tcp_try("127.0.0.1", 9, SOCK_STREAM) != -ECONNREFUSED)
		return 6;
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&own, sizeof(own)) < 0 || listen(listener, 4) < 0 ||
	    getsockname(listener, (struct sockaddr *)&own, &len) < 0)
		return 7;
	if (tcp_try("127.0.0.1", ntohs(own.sin_port), SOCK_STREAM) < 0)
		return 8;
	if (tcp_try("127.0.0.1", 7777, SOCK_STREAM) < 0) /* a service of the host, by setting */
		return 9;
	inet_pton(AF_INET6, "::ffff:198.18.0.8", &in6.sin6_addr);
	int fd6 = socket(AF_INET6, SOCK_STREAM, 0);
	if (connect(fd6, (struct sockaddr *)&in6, sizeof(in6)) < 0)
		return 10;
	int a = second_connect(0), b = second_connect(SOCK_NONBLOCK);
	return a != 0 ? a : b;
}

static bool has_six_whos(struct rig *r)
{
	return r->n_whos == 6;
}

static void test_internet__to_the_proxy_with_where_and_who(void **state)
{
	static const uint8_t first[4] = {198, 18, 0, 7};
	struct rig *r = make_rig();

	(void)state;
	r->local_port = 7777;
	rig_start(r, agent_inet);
	assert_int_equal(rig_result(r), 0);
	assert_true(rig_run(r, has_six_whos, 1000));
	struct sockaddr_in peer;
	socklen_t len = sizeof(peer);
	int c = accept(r->transparent_fd, (struct sockaddr *)&peer, &len);
	assert_true(c >= 0);
	close(c);
	assert_int_equal(r->whos[0].local_port, ntohs(peer.sin_port));
	assert_memory_equal(r->whos[0].addr, first, 4);
	assert_int_equal(r->whos[0].port, 443);
	assert_int_equal(r->whos[1].port, RIG_HTTP_PORT);
	assert_int_equal(r->whos[2].is_host_local, 1);
	assert_int_equal(r->whos[2].port, 7777);
	assert_int_equal(r->whos[3].family, 4);
	const struct rig_row *row = rig_row(r, ZW_DID_DENY, "93.184.216.34");
	assert_non_null(row);
	assert_true(row->is_conn);
	assert_int_equal(rig_row(r, ZW_DID_DENY, "8.8.8.8:53")->op, ZW_OP_UDP);
	rig_free(r);
}

static char own_path[200];

/* -- speed ------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t p50_ns(const char *path)
{
	static int64_t took[3000];

	for (size_t i = 0; i < ZW_N_ELEMENTS(took); i++) {
		struct timespec a, b;
		struct sockaddr_un un = {.sun_family = AF_UNIX};
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		zw_strlcpy(un.sun_path, path, sizeof(un.sun_path));
		clock_gettime(CLOCK_MONOTONIC, &a);
		if (connect(fd, (struct sockaddr *)&un, sizeof(un)) < 0)
			return -1;
		clock_gettime(CLOCK_MONOTONIC, &b);
		took[i] = (b.tv_sec - a.tv_sec) * 1000000000LL + b.tv_nsec - a.tv_nsec;
		close(fd);
	}
	qsort(took, ZW_N_ELEMENTS(took), sizeof(took[0]), by_value);
	return took[ZW_N_ELEMENTS(took) / 2];
}

static int agent_speed(struct rig *r)
{
	static int listener;
	pthread_t acceptor;

	snprintf(own_path, sizeof(own_path), "%s/own.sock", r->dir);
	listener = rig_listen(own_path, SOCK_STREAM, 4096);
	pthread_create(&acceptor, NULL, accept_thread, &listener);
	return (int)p50_ns(own_path);
}

static void test_speed__own_connect(void **state)
{
	struct rig *r = make_rig();
	static int listener;
	pthread_t acceptor;

	(void)state;
	listener = rig_listen(host_path, SOCK_STREAM, 4096);
	pthread_create(&acceptor, NULL, accept_thread, &listener);
	int64_t native_ns = p50_ns(host_path);
	rig_start(r, agent_speed);
	int brokered_ns = rig_result(r);
	print_message("# own connect p50: native %lld us, brokered %d us\n",
		      (long long)native_ns / 1000, brokered_ns / 1000);
	assert_true(brokered_ns > 0);
	rig_free(r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_z157_own_socket__connects_unasked_and_is_counted),
		cmocka_unit_test(test_full_backlog__waits_alone),
		cmocka_unit_test(test_host_socket__denied_by_user),
		cmocka_unit_test(test_host_socket__allowed_is_relayed_and_counted),
		cmocka_unit_test(test_host_socket__not_mounted_inside_is_reached_after_allow),
		cmocka_unit_test(test_host_socket__direct_way_connects_the_programs_own_socket),
		cmocka_unit_test(test_host_socket__no_record_no_grant),
		cmocka_unit_test(test_host_socket__nobody_to_ask_is_denied),
		cmocka_unit_test(test_host_socket__exchanged_while_reading_is_not_opened),
		cmocka_unit_test(test_nothing_there__native_errors_counted_once),
		cmocka_unit_test(test_rule_allows__without_a_question),
		cmocka_unit_test(test_rule_by_path__does_not_hold_for_what_was_moved_there),
		cmocka_unit_test(test_socket_of_another_network__not_connected),
		cmocka_unit_test(test_z005_spellings__one_card_one_verdict),
		cmocka_unit_test(test_z005_spellings_of_what_is_not_mounted__one_card_one_verdict),
		cmocka_unit_test(test_z006_abstract_twin__refused_and_named_with_its_kind),
		cmocka_unit_test(test_abstract_of_the_host__reached_by_a_rule),
		cmocka_unit_test(test_z009_unreadable_address__fails_and_is_recorded),
		cmocka_unit_test(test_datagram_sockets__refused_and_pairs_emulated),
		cmocka_unit_test(test_relay__keeps_packets_and_drops_descriptors),
		cmocka_unit_test(test_z121_open_question__nothing_passes_until_yes),
		cmocka_unit_test(test_z121_question_held_too_long__missed_and_denied),
		cmocka_unit_test(test_z121_broker_killed__call_fails),
		cmocka_unit_test(test_z127_askers_killed__question_goes),
		cmocka_unit_test(test_storm__goes_on_while_a_question_is_open),
		cmocka_unit_test(test_internet__to_the_proxy_with_where_and_who),
		cmocka_unit_test(test_speed__own_connect),
	};

	if (getenv("ZW_BROKER") == NULL)
		return 77;
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
