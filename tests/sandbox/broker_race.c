/* SPDX-License-Identifier: MIT
 * Races against the broker: while one half of the threads connects, the other half changes what the
 * call is about, on all processors. The denied socket must be reached zero times. ZW_LONG=1 tries
 * 20,000 times each. */
#include "tests/support/test.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/base/str.h"
#include "tests/sandbox/broker_rig.h"

#define TRIES_LONG  20000
#define TRIES_SHORT 2500
#define THREADS_MAX 16
#define FLIP_PAGE_B 4096
#define LIMIT_MS    600000

static char host_path[200], own_path[200], flip_path[200];
static struct sockaddr_un flip;
static int flip_fd[THREADS_MAX];
static atomic_bool is_over;
static atomic_int n_left, n_own, n_denied, n_other;

/* Also keeps the compiler from dropping a store that nothing in this program reads. */
static void spin(int n)
{
	for (volatile int i = 0; i < n; i++)
		__asm__ volatile("" ::: "memory");
}

static void count(int result)
{
	if (result == 0)
		n_own++;
	else if (result == -EACCES)
		n_denied++;
	else
		n_other++;
}

static int try_connect(int fd, const struct sockaddr_un *un)
{
	return connect(fd, (const struct sockaddr *)un, sizeof(*un)) < 0 ? -errno : 0;
}

/* -- what is changed ------------------------------------------------------------------------------ */

static void *flip_address(void *arg)
{
	(void)arg;
	for (unsigned i = 0; !is_over; i++) {
		memcpy(flip.sun_path, i % 2 != 0 ? own_path : host_path, sizeof(flip.sun_path));
		spin(200);
	}
	return NULL;
}

static void *flip_link(void *arg)
{
	char other[220];

	snprintf(other, sizeof(other), "%s.%d", flip_path, (int)(intptr_t)arg);
	for (unsigned i = 0; !is_over; i++) {
		unlink(other);
		if (symlink(i % 2 != 0 ? own_path : host_path, other) == 0)
			(void)rename(other, flip_path);
	}
	return NULL;
}

/* The files themselves under one name: hard links, renamed over it. */
static void *flip_rename(void *arg)
{
	char other[220];

	snprintf(other, sizeof(other), "%s.%d", flip_path, (int)(intptr_t)arg);
	for (unsigned i = 0; !is_over; i++) {
		unlink(other);
		if (link(i % 2 != 0 ? own_path : host_path, other) == 0)
			(void)rename(other, flip_path);
	}
	return NULL;
}

/* Z009: the address comes and goes with its page, one for each thread that changes. */
static char *flip_pages;

static void *flip_mapping(void *arg)
{
	char *page = flip_pages + (intptr_t)arg * FLIP_PAGE_B;
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	memcpy(un.sun_path, host_path, sizeof(un.sun_path));
	for (unsigned i = 0; !is_over; i++) {
		bool is_there = i % 2 == 0;
		/* In its place at once: nothing else may get there in between. */
		void *p = mmap(page, FLIP_PAGE_B, is_there ? PROT_READ | PROT_WRITE : PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		if (p == page && is_there)
			memcpy(page, &un, sizeof(un));
		spin(is_there ? 20000 : 2000);
	}
	return NULL;
}

static void *connect_mapping(void *arg)
{
	const char *page = flip_pages + (intptr_t)arg * FLIP_PAGE_B;

	while (n_left-- > 0) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);
		count(try_connect(fd, (const struct sockaddr_un *)(const void *)page));
		close(fd);
	}
	return NULL;
}

static void *flip_descriptor(void *arg)
{
	int fd = flip_fd[(intptr_t)arg % THREADS_MAX];

	while (!is_over) {
		int un = socket(AF_UNIX, SOCK_STREAM, 0), in = socket(AF_INET, SOCK_STREAM, 0);
		dup2(in, fd);
		spin(300);
		dup2(un, fd);
		close(un);
		close(in);
	}
	return NULL;
}

/* -- and who connects meanwhile -------------------------------------------------------------------- */

static void *connect_flip(void *arg)
{
	(void)arg;
	while (n_left-- > 0) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);
		count(try_connect(fd, &flip));
		close(fd);
	}
	return NULL;
}

static void *connect_path(void *arg)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	(void)arg;
	zw_strlcpy(un.sun_path, flip_path, sizeof(un.sun_path));
	while (n_left-- > 0) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);
		count(try_connect(fd, &un));
		close(fd);
	}
	return NULL;
}

static void *connect_descriptor(void *arg)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	zw_strlcpy(un.sun_path, host_path, sizeof(un.sun_path));
	while (n_left-- > 0)
		count(try_connect(flip_fd[(intptr_t)arg % THREADS_MAX], &un));
	return NULL;
}

static void *accept_all(void *arg)
{
	for (;;) {
		int c = accept(*(int *)arg, NULL, NULL);
		if (c >= 0)
			close(c);
	}
	return NULL;
}

static int race(struct rig *r, void *(*change)(void *), void *(*try)(void *))
{
	static int listener;
	pthread_t changers[THREADS_MAX], triers[THREADS_MAX], acceptor;
	long n = sysconf(_SC_NPROCESSORS_ONLN) / 2;

	n = n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : n;
	const char *is_long = getenv("ZW_LONG");

	n_left = is_long != NULL && *is_long != '\0' ? TRIES_LONG : TRIES_SHORT;
	snprintf(own_path, sizeof(own_path), "%s/own.sock", r->dir);
	snprintf(flip_path, sizeof(flip_path), "%s/flip", r->dir);
	listener = rig_listen(own_path, SOCK_STREAM, 4096);
	pthread_create(&acceptor, NULL, accept_all, &listener);
	flip.sun_family = AF_UNIX;
	memcpy(flip.sun_path, own_path, sizeof(flip.sun_path));
	for (long i = 0; i < n; i++)
		flip_fd[i] = socket(AF_INET, SOCK_STREAM, 0);
	for (long i = 0; i < n; i++)
		pthread_create(&changers[i], NULL, change, (void *)(intptr_t)i);
	for (long i = 0; i < n; i++)
		pthread_create(&triers[i], NULL, try, (void *)(intptr_t)i);
	for (long i = 0; i < n; i++)
		pthread_join(triers[i], NULL);
	is_over = true;
	for (long i = 0; i < n; i++)
		pthread_join(changers[i], NULL);
	fprintf(stderr, "# own %d, denied %d, other %d\n", n_own, n_denied, n_other);
	return 0;
}

static int agent_address(struct rig *r)
{
	race(r, flip_address, connect_flip);
	return n_own > 0 && n_denied > 0 ? 0 : 1; /* else nothing was raced */
}

static int agent_link(struct rig *r)
{
	race(r, flip_link, connect_path);
	return n_own > 0 && n_denied > 0 ? 0 : 1;
}

static int agent_rename(struct rig *r)
{
	race(r, flip_rename, connect_path);
	return n_own > 0 && n_denied > 0 ? 0 : 1;
}

static int agent_mapping(struct rig *r)
{
	flip_pages = mmap(NULL, (size_t)THREADS_MAX * FLIP_PAGE_B, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (flip_pages == MAP_FAILED)
		return -errno;
	race(r, flip_mapping, connect_mapping);
	/* Others: EFAULT, or EINVAL for a page that is still empty. */
	return n_own == 0 && n_denied + n_other > 0 ? 0 : 1;
}

static int agent_descriptor(struct rig *r)
{
	race(r, flip_descriptor, connect_descriptor);
	return n_own == 0 && n_denied > 0 && n_other > 0 ? 0 : 1;
}

static void run_race(int (*agent)(struct rig *r))
{
	struct rig *r = rig_new();

	snprintf(host_path, sizeof(host_path), "%s/host.sock", r->dir);
	zw_autoclose int fd = rig_listen(host_path, SOCK_STREAM, 4096);
	r->answer = RIG_DENY;
	r->scope = ZW_SCOPE_SESSION;
	rig_start(r, agent);
	assert_true(rig_run(r, rig_has_result, LIMIT_MS));
	assert_int_equal(r->result, 0);
	assert_true(rig_untouched(fd));
	rig_free(r);
}

static void test_address_changed_meanwhile__denied_socket_never_reached(void **state)
{
	(void)state;
	run_race(agent_address);
}

static void test_link_changed_meanwhile__denied_socket_never_reached(void **state)
{
	(void)state;
	run_race(agent_link);
}

static void test_files_renamed_meanwhile__denied_socket_never_reached(void **state)
{
	(void)state;
	run_race(agent_rename);
}

static void test_z009_address_unmapped_meanwhile__never_reached(void **state)
{
	(void)state;
	run_race(agent_mapping);
}

static void test_descriptor_changed_meanwhile__denied_socket_never_reached(void **state)
{
	(void)state;
	run_race(agent_descriptor);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_address_changed_meanwhile__denied_socket_never_reached),
		cmocka_unit_test(test_link_changed_meanwhile__denied_socket_never_reached),
		cmocka_unit_test(test_files_renamed_meanwhile__denied_socket_never_reached),
		cmocka_unit_test(test_z009_address_unmapped_meanwhile__never_reached),
		cmocka_unit_test(test_descriptor_changed_meanwhile__denied_socket_never_reached),
	};

	if (getenv("ZW_BROKER") == NULL)
		return 77;
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
