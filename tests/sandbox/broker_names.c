/* SPDX-License-Identifier: MIT
 * What a socket is called: every spelling leads to the one that is meant, each is put on record as it
 * was spelt, and nothing but what the kernel would open is opened. Binds, and the record itself. */
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/base/str.h"
#include "tests/sandbox/broker_rig.h"

static char host_path[200], hidden_path[200], class_path[200];

static struct rig *make_rig(void)
{
	struct rig *r = rig_new();
	char path[200];

	snprintf(host_path, sizeof(host_path), "%s/host.sock", r->dir);
	snprintf(hidden_path, sizeof(hidden_path), "%s/hidden/docker.sock", r->dir);
	snprintf(path, sizeof(path), "%s/sub", r->dir);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(class_path, sizeof(class_path), "%s/sub/docker.sock", r->dir);
	return r;
}

/* -- spellings ------------------------------------------------------------------------------------- */

/* In front of the text: R the folder, F a descriptor of the folder, S one of the socket; the working
 * folder is R/sub. '%' stands for 108 bytes without a NUL. */
static const struct spelling {
	const char *what, *text;
} spellings[] = {
	{"as it is", "R/host.sock"},
	{"more slashes", "R//host.sock"},
	{"dots", "R/./././host.sock"},
	{"up and down", "R/sub/../host.sock"},
	{"relative, up", "../host.sock"},
	{"relative, dot", "./../sub/.././host.sock"},
	{"symlink, relative", "R/rel"},
	{"symlink, absolute", "R/abs"},
	{"symlink to a symlink", "R/abs2"},
	{"symlink to the folder", "R/dir/host.sock"},
	{"absolute symlink to the folder", "R/absdir/sub/../host.sock"},
	{"symlink to the root", "R/top/R/host.sock"},
	{"relative symlink, relative path", "../dir/rel"},
	{"no UTF-8", "R/\xff\xfe\x80/host.sock"},
	{"hard link", "R/hard"},
	{"hard link elsewhere", "hard"},
	{"bind mount of the folder", "R/bound/host.sock"},
	{"bind mount of the socket", "R/bound.sock"},
	{"root of the process", "/proc/self/root/R/host.sock"},
	{"root of the thread", "/proc/thread-self/root/R/host.sock"},
	{"folder of the process", "/proc/self/cwd/../host.sock"},
	{"descriptor of the folder", "F/host.sock"},
	{"descriptor of the folder, up", "F/sub/../host.sock"},
	{"descriptor of the socket", "S"},
	{"108 bytes, no NUL", "%"},
};

static void prepare(const struct rig *r)
{
	char path[300], to[300];
	static const struct {
		const char *name, *to;
		bool is_absolute;
	} links[] = {
		{"rel", "host.sock", false}, {"abs", "host.sock", true}, {"abs2", "abs", true},
		{"dir", ".", false},	     {"absdir", "", true},	 {"\xff\xfe\x80", "", true},
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(links); i++) {
		snprintf(path, sizeof(path), "%s/%s", r->dir, links[i].name);
		snprintf(to, sizeof(to), "%s%s%s", links[i].is_absolute ? r->dir : "",
			 links[i].is_absolute ? "/" : "", links[i].to);
		assert_int_equal(symlink(to, path), 0);
	}
	snprintf(path, sizeof(path), "%s/top", r->dir);
	assert_int_equal(symlink("/", path), 0);
	snprintf(path, sizeof(path), "%s/hard", r->dir);
	assert_int_equal(link(host_path, path), 0);
	snprintf(path, sizeof(path), "%s/sub/hard", r->dir);
	assert_int_equal(link(host_path, path), 0);
	snprintf(path, sizeof(path), "%s/bound", r->dir);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/bound.sock", r->dir);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
}

static void spell(const struct rig *r, const char *text, char *out, size_t size)
{
	char number[48];

	out[0] = '\0';
	for (; *text != '\0'; text++) {
		const char *part = number;

		snprintf(number, sizeof(number), "%c", *text);
		if (*text == 'R')
			part = r->dir;
		else if (*text == 'F' || *text == 'S')
			snprintf(number, sizeof(number), "/proc/self/fd/%d",
				 *text == 'F' ? 60 : 61);
		snprintf(out + strlen(out), size - strlen(out), "%s", part);
	}
}

/* Fills the whole address: "R/././…/host.sock". */
static void spell_long(const struct rig *r, char *out)
{
	const char *name = "host.sock";
	size_t len = strlen(r->dir), end = 108 - strlen(name);

	memcpy(out, r->dir, len);
	for (; len < end; len++)
		out[len] = (end - len) % 2 == 1 ? '/' : '.';
	/* "…/./" whatever the length is; two slashes are one. */
	out[strlen(r->dir)] = '/';
	memcpy(out + end, name, strlen(name) + 1);
	out[108] = '\0';
}

static int connect_spelling(const struct rig *r, const struct spelling *s)
{
	char path[400];

	if (s->text[0] == '%')
		spell_long(r, path);
	else
		spell(r, s->text, path, sizeof(path));
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	size_t len = strlen(path);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (len > sizeof(un.sun_path))
		return -ENAMETOOLONG;
	memcpy(un.sun_path, path, len);
	int result = connect(fd, (struct sockaddr *)&un,
			     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0
			     ? -errno
			     : 0;
	close(fd);
	return result;
}

static int agent_spellings(struct rig *r)
{
	char path[300], to[300];

	snprintf(path, sizeof(path), "%s/bound", r->dir);
	if (mount(r->dir, path, NULL, MS_BIND, NULL) < 0)
		return 1000 + errno;
	snprintf(to, sizeof(to), "%s/bound.sock", r->dir);
	if (mount(host_path, to, NULL, MS_BIND, NULL) < 0)
		return 2000 + errno;
	snprintf(path, sizeof(path), "%s/sub", r->dir);
	if (dup2(open(r->dir, O_PATH), 60) < 0 || dup2(open(host_path, O_PATH), 61) < 0 ||
	    chdir(path) < 0)
		return 3000;
	for (size_t i = 0; i < ZW_N_ELEMENTS(spellings); i++) {
		int result = connect_spelling(r, &spellings[i]);

		if (result != -EACCES) {
			fprintf(stderr, "%s: %d\n", spellings[i].what, result);
			return 1 + (int)i;
		}
	}
	return 0;
}

static void test_z005_every_spelling__asked_about_by_its_real_name(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(host_path, SOCK_STREAM, 4);
	char text[400];

	(void)state;
	prepare(r);
	r->answer = RIG_DENY;
	rig_start(r, agent_spellings);
	assert_int_equal(rig_result(r), 0);
	assert_int_equal(r->n_asks, ZW_N_ELEMENTS(spellings));
	for (size_t i = 0; i < r->n_asks; i++) {
		assert_string_equal(r->asks[i].target, host_path);
		assert_int_equal(r->asks[i].listener_pid, getpid());
		spell(r, spellings[i].text, text, sizeof(text));
		if (spellings[i].text[0] != '%')
			assert_string_equal(r->asks[i].asked, text);
		else
			assert_int_equal(strlen(r->asks[i].asked), 108);
	}
	assert_true(rig_untouched(fd));
	rig_free(r);
}

/* A socket of the catalogue under other names, made by the agent or not, is of its class all the same. */
static int agent_other_names(struct rig *r)
{
	static const char *const names[] = {"innocent", "harmless.sock", "deep/x"};
	char path[300];

	snprintf(path, sizeof(path), "%s/deep", r->dir);
	if (mkdir(path, 0755) < 0)
		return 1;
	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", r->dir, names[i]);
		int error = i == 1 ? symlink(class_path, path) : link(class_path, path);
		if (error < 0 || rig_connect(path, SOCK_STREAM) != -EACCES)
			return 10 + (int)i;
	}
	snprintf(path, sizeof(path), "%s/moved", r->dir);
	if (rename(class_path, path) < 0)
		return 20;
	return rig_connect(path, SOCK_STREAM) == -EACCES ? 0 : 21;
}

static void test_catalogue_socket_by_another_name__keeps_its_class(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(class_path, SOCK_STREAM, 4);

	(void)state;
	r->answer = RIG_DENY;
	rig_start(r, agent_other_names);
	assert_int_equal(rig_result(r), 0);
	assert_int_equal(r->n_asks, 4);
	for (size_t i = 0; i < r->n_asks; i++) {
		assert_string_equal(r->asks[i].class_name, "docker");
		assert_string_equal(r->asks[i].target, class_path);
		assert_int_equal(r->asks[i].risk, POL_RISK_CRITICAL);
	}
	assert_true(rig_untouched(fd));
	rig_free(r);
}

/* -- stand-ins ------------------------------------------------------------------------------------- */

static int agent_stand_in(struct rig *r)
{
	char path[200];

	/* As zwatch-init does: a file of nobody's, in a folder that the host does not see. */
	if (mknod(hidden_path, S_IFSOCK | 0600, 0) < 0)
		return 1;
	if (rig_connect(hidden_path, SOCK_STREAM) != -EACCES)
		return 2;
	snprintf(path, sizeof(path), "%s/hidden/nobody.sock", r->dir);
	if (mknod(path, S_IFSOCK | 0600, 0) < 0 || rig_connect(path, SOCK_STREAM) != -ECONNREFUSED)
		return 3;
	/* An own socket in its place is an own socket. */
	unlink(hidden_path);
	(void)rig_listen(hidden_path, SOCK_STREAM, 4);
	int fd = rig_connect(hidden_path, SOCK_STREAM);
	return fd >= 0 ? 0 : fd;
}

static void test_stand_in__leads_to_the_hosts(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(hidden_path, SOCK_STREAM, 4);

	(void)state;
	r->answer = RIG_DENY;
	rig_start(r, agent_stand_in);
	assert_int_equal(rig_result(r), 0);
	assert_int_equal(r->n_asks, 1);
	assert_string_equal(r->asks[0].target, hidden_path);
	assert_string_equal(r->asks[0].class_name, "docker");
	assert_true(rig_untouched(fd));
	rig_free(r);
}

/* -- abstract names -------------------------------------------------------------------------------- */

/* Before each name: the same test may run beside this one. */
#define MARK_LEN 8
static char mark[MARK_LEN + 1];

static socklen_t put_name(struct sockaddr_un *un, const void *name, size_t len)
{
	memcpy(un->sun_path + 1, mark, MARK_LEN);
	memcpy(un->sun_path + 1 + MARK_LEN, name, len);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + MARK_LEN + len);
}

static int connect_name(const void *name, size_t len, int type)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	socklen_t un_len = put_name(&un, name, len);
	int result = connect(fd, (struct sockaddr *)&un, un_len) < 0 ? -errno : 0;

	close(fd);
	return result;
}

static int listen_name(const void *name, size_t len)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t un_len = put_name(&un, name, len);

	assert_int_equal(bind(fd, (struct sockaddr *)&un, un_len), 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

/* NUL bytes, what spells like them, and as many bytes as fit; each its own name and its own text. */
static const struct {
	const char *name;
	size_t len;
	const char *text;
} names[] = {
	{"\0n", 2, "\\x00n"},
	{"\\x00n", 5, "\\x5cx00n"},
	{"\0n\0", 3, "\\x00n\\x00"},
	{"/\xff\xfe", 3, "/\xff\xfe"},
	{"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
	 "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyz",
	 107 - MARK_LEN, "yyyz"},
};

static int agent_names(struct rig *r)
{
	(void)r;
	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++)
		if (connect_name(names[i].name, names[i].len, SOCK_STREAM) != -EACCES)
			return 1 + (int)i;
	/* A prefix and a longer one are others: nobody listens there. */
	if (connect_name("", 0, SOCK_STREAM) != -ECONNREFUSED ||
	    connect_name("\0n\0\0", 4, SOCK_STREAM) != -ECONNREFUSED)
		return 20;
	return 0;
}

static void test_abstract_names__told_apart_and_by_rule_only(void **state)
{
	struct rig *r = make_rig();
	int fds[ZW_N_ELEMENTS(names)];
	char text[64];

	(void)state;
	snprintf(mark, sizeof(mark), "z%07d", (int)getpid());
	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++)
		fds[i] = listen_name(names[i].name, names[i].len);
	rig_start(r, agent_names);
	assert_int_equal(rig_result(r), 0);
	(void)rig_run(r, rig_never, 50);
	assert_int_equal(r->n_asks, 0);
	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++) {
		const struct rig_row *row =
			rig_row_op(r, ZW_OP_ABSTRACT, ZW_DID_DENY, names[i].text);

		assert_non_null(row);
		snprintf(text, sizeof(text), "@%s%s", mark, names[i].text);
		if (names[i].len < 10)
			assert_string_equal(row->target, text);
		assert_int_equal(row->by, ZW_BY_CATALOGUE);
		assert_true(rig_untouched(fds[i]));
		close(fds[i]);
	}
	rig_free(r);
}

/* -- binds ----------------------------------------------------------------------------------------- */

static int bind_to(const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	zw_strlcpy(un.sun_path, path, sizeof(un.sun_path));
	return bind(fd, (struct sockaddr *)&un, sizeof(un)) < 0 ? -errno : fd;
}

static int agent_binds(struct rig *r)
{
	char path[200];
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(un);

	if (chdir(r->dir) < 0)
		return 1;
	int fd = bind_to("sub/../mine.sock");
	/* The kernel did it, with the address as it was given: no trace of a broker between. */
	if (fd < 0 || getsockname(fd, (struct sockaddr *)&un, &len) < 0 ||
	    strcmp(un.sun_path, "sub/../mine.sock") != 0)
		return 2;
	if (bind_to("mine.sock") != -EADDRINUSE)
		return 3;
	if (bind_to("nowhere/x") != -ENOENT)
		return 4;
	snprintf(path, sizeof(path), "%s/sub/docker.sock", r->dir);
	if (bind_to(path) < 0)
		return 5;
	snprintf(path, sizeof(path), "%s/allowed.sock", r->dir);
	if (bind_to(path) < 0)
		return 6;
	snprintf(path, sizeof(path), "/tmp/zwbrk-out-%d", (int)getpid());
	fd = bind_to(path);
	unlink(path);
	if (fd < 0)
		return 7; /* only Landlock would have said no, and the rig has none */
	(void)rig_listen("@zwbrk-mine", SOCK_STREAM, 4);
	un = (struct sockaddr_un){.sun_family = AF_UNIX};
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(fd, (struct sockaddr *)&un, sizeof(sa_family_t)) < 0)
		return 8;
	if (bind(fd, (struct sockaddr *)8, 20) == 0 || errno != EFAULT)
		return 9;
	return bind(fd, (struct sockaddr *)&un, 0) < 0 && errno == EINVAL ? 0 : 10;
}

static void test_bind__on_record_with_what_the_rules_say_and_left_to_the_kernel(void **state)
{
	struct rig *r = make_rig();

	(void)state;
	rig_start(r, agent_binds);
	assert_int_equal(rig_result(r), 0);
	(void)rig_run(r, rig_never, 50);
	const struct rig_row *row = rig_row_op(r, ZW_OP_BIND, ZW_DID_AUTO, "/mine.sock");
	assert_non_null(row);
	assert_string_equal(row->asked, "sub/../mine.sock");
	assert_int_equal(row->by, ZW_BY_INSIDE);
	assert_int_equal(row->want_commit, 0);
	assert_string_equal(row->cwd, r->dir);
	row = rig_row_op(r, ZW_OP_BIND, ZW_DID_FAIL, "/mine.sock");
	assert_non_null(row);
	assert_non_null(strstr(row->reason, "already"));
	row = rig_row_op(r, ZW_OP_BIND, ZW_DID_AUTO, "/sub/docker.sock");
	assert_non_null(row);
	assert_string_equal(row->class_name, "docker");
	row = rig_row_op(r, ZW_OP_BIND, ZW_DID_AUTO, "/allowed.sock");
	assert_non_null(row);
	assert_int_equal(row->by, ZW_BY_RULE);
	assert_int_equal(row->rule, 7);
	bool is_outside_denied = false;
	for (size_t i = 0; i < r->n_rows; i++)
		is_outside_denied = is_outside_denied ||
				    (r->rows[i].op == ZW_OP_BIND && r->rows[i].did == ZW_DID_DENY &&
				     strstr(r->rows[i].target, "zwbrk-out") != NULL);
	assert_true(is_outside_denied);
	assert_non_null(rig_row_op(r, ZW_OP_BIND, ZW_DID_AUTO, "@zwbrk-mine"));
	assert_int_equal(r->n_asks, 0);
	rig_free(r);
}

/* -- the record ------------------------------------------------------------------------------------ */

static int agent_records(struct rig *r)
{
	if (chdir(r->dir) < 0)
		return 1;
	int fd = rig_connect("sub/../host.sock", SOCK_STREAM);
	if (fd != -EACCES)
		return 2;
	for (int i = 0; i < 500; i++)
		if (rig_connect("host.sock", SOCK_STREAM) != -EACCES)
			return 3;
	return 0;
}

static bool has_storm(struct rig *r)
{
	const struct rig_row *row = rig_row(r, ZW_DID_DENY, "/host.sock");

	return row != NULL && row->n_times >= 500;
}

static void test_record__says_who_what_where_and_counts_a_storm(void **state)
{
	struct rig *r = make_rig();
	zw_autoclose int fd = rig_listen(host_path, SOCK_STREAM, 4);

	(void)state;
	rig_start(r, agent_records);
	assert_true(rig_run(r, rig_has_ask, 20000));
	(void)rig_run(r, rig_never, 120);
	rig_answer(r, 0, POL_DENY, ZW_SCOPE_SESSION);
	assert_int_equal(rig_result(r), 0);
	assert_true(rig_run(r, has_storm, 20000));
	const struct rig_row *row = rig_row(r, ZW_DID_DENY, "/host.sock");
	assert_string_equal(row->target, host_path);
	assert_string_equal(row->asked, "sub/../host.sock");
	assert_string_equal(row->cwd, r->dir);
	assert_int_equal(row->by, ZW_BY_USER);
	assert_int_equal(row->op, ZW_OP_CONNECT);
	assert_int_equal(row->listener_pid, getpid());
	assert_int_equal(row->listener_uid, getuid());
	assert_true(row->waited_ms >= 100);
	assert_non_null(strstr(row->argv, "broker_names"));
	assert_non_null(strstr(row->exe, "broker_names"));
	assert_true(row->pid > 0);
	/* One row more at most: what was refused before the answer was kept. */
	size_t n_rows = 0;
	for (size_t i = 0; i < r->n_rows; i++)
		n_rows += zw_ends_with(r->rows[i].target, "/host.sock");
	assert_true(n_rows <= 2);
	assert_true(rig_untouched(fd));
	rig_free(r);
}

/* -- datagrams ------------------------------------------------------------------------------------- */

static char host_name[64];
static int first_to; /* 0 = a file, then an abstract name; 1 = the name alone */

/* Z007: each way to send to an address, over what stands for a pair of datagram sockets. */
static int agent_sends(struct rig *r)
{
	struct sockaddr_un to[2] = {{.sun_family = AF_UNIX}, {.sun_family = AF_UNIX}};
	struct iovec iov = {(void *)(uintptr_t) "x", 1};
	struct mmsghdr m[2] = {0};
	int pair[2];
	char text[8];

	(void)r;
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
		return 1;
	zw_strlcpy(to[0].sun_path, host_path, sizeof(to[0].sun_path));
	zw_strlcpy(to[1].sun_path + 1, host_name + 1, sizeof(to[1].sun_path) - 1);
	for (int i = 0; i < 2; i++)
		m[i].msg_hdr = (struct msghdr){.msg_name = &to[i],
					       .msg_namelen = sizeof(to[i]),
					       .msg_iov = &iov,
					       .msg_iovlen = 1};
	int n = sendmmsg(pair[0], m + first_to, (unsigned)(2 - first_to), 0);
	for (int i = first_to; i < 2; i++)
		n += sendto(pair[0], "x", 1, 0, (struct sockaddr *)&to[i], sizeof(to[i])) == 1;
	/* All of them went to the other end of the pair, or nowhere. */
	for (; n > 0; n--)
		if (recv(pair[1], text, sizeof(text), MSG_DONTWAIT) != 1)
			return 2;
	if (connect(pair[0], (struct sockaddr *)&to[0], sizeof(to[0])) == 0)
		return 3;
	return recv(pair[1], text, sizeof(text), MSG_DONTWAIT) < 0 ? 0 : 4;
}

static int datagram_at(const char *path, size_t len)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(un.sun_path, path, len);
	assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	return fd;
}

static void check_datagrams(int first)
{
	struct rig *r = make_rig();
	char text[8];

	first_to = first;
	/* Of its own: one of the test before may be held yet by what it forked. */
	snprintf(host_name, sizeof(host_name), "@zwbrk-dgram-%d-%d", (int)getpid(), first);
	host_name[0] = '\0';
	int file_fd = datagram_at(host_path, strlen(host_path));
	int name_fd = datagram_at(host_name, 1 + strlen(host_name + 1));
	rig_start(r, agent_sends);
	assert_int_equal(rig_result(r), 0);
	assert_true(recv(file_fd, text, sizeof(text), MSG_DONTWAIT) < 0);
	assert_true(recv(name_fd, text, sizeof(text), MSG_DONTWAIT) < 0);
	close(file_fd);
	close(name_fd);
	rig_free(r);
}

static void test_z002_batch_of_datagrams__none_arrives_outside(void **state)
{
	(void)state;
	check_datagrams(0);
}

static void test_z007_datagram_to_an_abstract_name__does_not_arrive(void **state)
{
	(void)state;
	check_datagrams(1);
}

/* -- exactly what was allowed ------------------------------------------------------------------------ */

static int agent_neighbours(struct rig *r)
{
	char path[200];
	static const char *const others[] = {"allowed.sock2", "allowed.soc", "Allowed.sock"};

	snprintf(path, sizeof(path), "%s/allowed.sock", r->dir);
	int fd = rig_connect(path, SOCK_STREAM);
	if (fd < 0)
		return fd;
	for (size_t i = 0; i < ZW_N_ELEMENTS(others); i++) {
		snprintf(path, sizeof(path), "%s/%s", r->dir, others[i]);
		if (rig_connect(path, SOCK_STREAM) != -EACCES)
			return 1 + (int)i;
	}
	return 0;
}

static void test_z022_one_path_allowed__its_neighbours_are_asked_about(void **state)
{
	static const char *const near[] = {"allowed.sock", "allowed.sock2", "allowed.soc",
					   "Allowed.sock"};
	struct rig *r = make_rig();
	int fds[ZW_N_ELEMENTS(near)];
	char path[200];

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(near); i++) {
		snprintf(path, sizeof(path), "%s/%s", r->dir, near[i]);
		fds[i] = rig_listen(path, SOCK_STREAM, 4);
	}
	r->answer = RIG_DENY;
	rig_start(r, agent_neighbours);
	assert_int_equal(rig_result(r), 0);
	assert_int_equal(r->n_asks, 3);
	assert_false(rig_untouched(fds[0]));
	for (size_t i = 0; i < ZW_N_ELEMENTS(near); i++) {
		assert_true(i == 0 || rig_untouched(fds[i]));
		close(fds[i]);
	}
	rig_free(r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_z005_every_spelling__asked_about_by_its_real_name),
		cmocka_unit_test(test_catalogue_socket_by_another_name__keeps_its_class),
		cmocka_unit_test(test_stand_in__leads_to_the_hosts),
		cmocka_unit_test(test_abstract_names__told_apart_and_by_rule_only),
		cmocka_unit_test(
			test_bind__on_record_with_what_the_rules_say_and_left_to_the_kernel),
		cmocka_unit_test(test_z002_batch_of_datagrams__none_arrives_outside),
		cmocka_unit_test(test_z007_datagram_to_an_abstract_name__does_not_arrive),
		cmocka_unit_test(test_z022_one_path_allowed__its_neighbours_are_asked_about),
		cmocka_unit_test(test_record__says_who_what_where_and_counts_a_storm),
	};

	if (getenv("ZW_BROKER") == NULL)
		return 77;
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
