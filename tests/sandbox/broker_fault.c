/* SPDX-License-Identifier: MIT
 * Each call by which the broker looks into another process is made to fail: for ever, and once at
 * each of its first uses. No failure may let a connect through, and each is told (Z015). */
#include "tests/support/test.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/base/str.h"
#include "tests/sandbox/broker_rig.h"

#define EVER	  0
#define TIMES_MAX 4

/* Read after the fork of the broker; 0 = each time. */
static unsigned fail_at;

#define X(type, name, params, args)                    \
	static type fail_##name params                 \
	{                                              \
		static unsigned n;                     \
		if (fail_at == EVER || ++n == fail_at) \
			return -EIO;                   \
		return brk_sys_real.name args;         \
	}
BRK_SYS_CALLS(X)
#undef X

static char host_path[200], own_path[200], unknown_path[200];

/* What is refused has no connection either. Returns 1 connected, 0 not, -1 both. */
static int attempt(const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	zw_strlcpy(un.sun_path, path, sizeof(un.sun_path));
	int r = connect(fd, (struct sockaddr *)&un, sizeof(un));
	if (r == 0)
		return 1;
	usleep(5 * 1000);
	r = send(fd, "x", 1, MSG_NOSIGNAL) < 0 ? 0 : -1;
	close(fd);
	return r;
}

static int address(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(80)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	in.sin_addr.s_addr = htonl(0x01020304);
	int r = connect(fd, (struct sockaddr *)&in, sizeof(in));
	close(fd);
	return r == 0 ? -1 : 0;
}

/* A datagram pair, which the broker makes. Returns 1 made, 0 refused, -1 numbers that are none. */
static int pair(void)
{
	int fds[2] = {-1, -1};

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) < 0)
		return 0;
	return write(fds[0], "x", 1) == 1 ? 1 : -1;
}

/* A socket of its own, unless that was refused. */
static void listen_own(void)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	zw_strlcpy(un.sun_path, own_path, sizeof(un.sun_path));
	if (bind(fd, (struct sockaddr *)&un, sizeof(un)) == 0)
		(void)listen(fd, 64);
}

/* Result: 4 = a pair, 2 = the host socket was reached, 1 = own one, or-ed; negative = what must never be. */
static int agent_tries(struct rig *r)
{
	(void)r;
	snprintf(own_path, sizeof(own_path), "%s/own.sock", r->dir);
	listen_own();
	int own = attempt(own_path), host = attempt(host_path), unknown = attempt(unknown_path);
	int made = pair();
	if (own < 0 || host < 0 || made < 0 || unknown != 0 || address() < 0)
		return -1;
	return own | host << 1 | made << 2;
}

static bool has_fault(struct rig *r)
{
	for (size_t i = 0; i < r->n_rows; i++)
		if (r->rows[i].by == ZW_BY_FAULT && r->rows[i].did == ZW_DID_DENY)
			return true;
	return false;
}

struct outcome {
	int result;
	bool is_told, is_host_reached, is_denied_reached, has_ended;
};

static struct outcome run(const struct brk_sys *sys, unsigned at)
{
	struct rig *r = rig_new();
	struct outcome o;

	snprintf(host_path, sizeof(host_path), "%s/host.sock", r->dir);
	snprintf(unknown_path, sizeof(unknown_path), "%s/hidden/nobody.sock", r->dir);
	zw_autoclose int host_fd = rig_listen(host_path, SOCK_STREAM, 64);
	fail_at = at;
	r->sys = sys;
	r->answer = RIG_ALLOW;
	rig_start(r, agent_tries);
	o.result = rig_result(r);
	(void)rig_run(r, has_fault, 20);
	o.is_told = has_fault(r);
	o.is_host_reached = !rig_untouched(host_fd);
	o.has_ended = r->end_error != 0;
	rig_free(r);
	return o;
}

struct fault {
	const char *name;
	struct brk_sys sys;
	bool is_for_show; /* only what is shown and recorded depends on it */
	bool is_late;	  /* fails when the host side is connected already, which is then closed */
};

static void check_for_ever(const struct fault *f)
{
	struct outcome o = run(&f->sys, EVER);

	print_message("# %s fails always: result %d, told %d, ended %d\n", f->name, o.result,
		      o.is_told, o.has_ended);
	assert_true(o.result >= 0);
	if (strcmp(f->name, "vm_write") == 0) {
		assert_int_equal(o.result, 3); /* EFAULT for the pair */
		return;
	}
	if (strcmp(f->name, "notif_continue") == 0) {
		assert_int_equal(o.result, 6); /* nothing was bound, so the own one is not there */
		assert_true(o.is_told);
		return;
	}
	if (f->is_for_show)
		return;
	assert_int_equal(o.result & 2, 0);
	assert_false(o.is_host_reached && !f->is_late);
	assert_true(o.is_told || o.has_ended);
}

static void check_once(const struct fault *f)
{
	for (unsigned at = 1; at <= TIMES_MAX; at++) {
		struct outcome o = run(&f->sys, at);

		assert_true(o.result >= 0);
		/* Something was refused for it, unless it failed where nothing is decided. */
		if (o.result != 7 && o.result != 3 && strcmp(f->name, "notif_recv") != 0)
			assert_true(o.is_told || o.has_ended);
	}
}

static void test_z015_each_look_into_the_caller_fails__refused_and_told(void **state)
{
	struct fault faults[] = {
#define X(type, call, params, args) {.name = #call, .sys = brk_sys_real},
		BRK_SYS_CALLS(X)
#undef X
	};
	size_t i = 0;

	(void)state;
#define X(type, call, params, args) faults[i++].sys.call = fail_##call;
	BRK_SYS_CALLS(X)
#undef X
	for (i = 0; i < ZW_N_ELEMENTS(faults); i++) {
		struct fault *f = &faults[i];

		f->is_for_show =
			strcmp(f->name, "proc_read") == 0 || strcmp(f->name, "vm_is_there") == 0;
		f->is_late =
			strcmp(f->name, "notif_send") == 0 || strcmp(f->name, "notif_addfd") == 0;
		if (strcmp(f->name, "sock_netns") == 0)
			continue; /* the broker does not even start */
		check_for_ever(f);
		check_once(f);
	}
}

static void test_without_fault__all_is_reached(void **state)
{
	struct outcome o = run(&brk_sys_real, EVER);

	(void)state;
	assert_int_equal(o.result, 7);
	assert_true(o.is_host_reached);
	assert_false(o.is_told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_fault__all_is_reached),
		cmocka_unit_test(test_z015_each_look_into_the_caller_fails__refused_and_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
