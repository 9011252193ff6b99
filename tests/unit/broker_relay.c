/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/broker/relay.h"
#include "src/base/io.h"
#include "src/base/mem.h"

struct end {
	struct zev_loop *loop;
	uint64_t up_b, down_b;
	bool is_over;
	unsigned n_passed[2]; /* from the host, from inside */
};

static void on_end(uint64_t up_b, uint64_t down_b, void *arg)
{
	struct end *e = arg;

	e->up_b = up_b;
	e->down_b = down_b;
	e->is_over = true;
	zev_stop(e->loop);
}

static void on_passed(bool is_from_inside, void *arg)
{
	struct end *e = arg;

	e->n_passed[is_from_inside]++;
}

static const struct brk_relay_ops ops = {.on_end = on_end, .on_passed = on_passed};

static void stop(void *arg)
{
	zev_stop(arg);
}

/* Two pairs with a relay between: near[0] ... near[1] = relay = far[1] ... far[0]. */
static struct brk_relay *between(struct end *e, int type, int near[2], int far[2])
{
	assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, near), 0);
	assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, far), 0);
	e->loop = zev_loop_new();
	return brk_relay_new(e->loop, type, near[1], far[1], &ops, e);
}

static void run(struct end *e, int64_t ms)
{
	struct zev_timer *t = zev_timer_new(e->loop, stop, e->loop);

	zev_timer_start(t, ms);
	zev_run(e->loop);
	zev_timer_free(t);
}

#define BULK_B (4u << 20)

static void *write_bulk(void *arg)
{
	int fd = *(int *)arg;
	uint8_t *p = zw_xmalloc(BULK_B);

	for (size_t i = 0; i < BULK_B; i++)
		p[i] = (uint8_t)(i * 7 >> 3);
	(void)zw_write_all(fd, p, BULK_B);
	free(p);
	shutdown(fd, SHUT_WR);
	return NULL;
}

static void *read_bulk(void *arg)
{
	int fd = *(int *)arg;
	uint8_t chunk[3000];
	size_t at = 0;
	bool is_right = true;
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		for (ssize_t i = 0; i < n; i++, at++)
			is_right = is_right && chunk[i] == (uint8_t)(at * 7 >> 3);
	shutdown(fd, SHUT_WR);
	return (void *)(intptr_t)(is_right && at == BULK_B);
}

static void test_stream__all_bytes_in_order_then_half_close(void **state)
{
	struct end e = {0};
	int near[2], far[2];
	pthread_t writer, reader;
	void *is_right;

	(void)state;
	between(&e, SOCK_STREAM, near, far);
	pthread_create(&writer, NULL, write_bulk, &near[0]);
	pthread_create(&reader, NULL, read_bulk, &far[0]);
	run(&e, 10000);
	pthread_join(writer, NULL);
	pthread_join(reader, &is_right);
	assert_non_null(is_right);
	assert_true(e.is_over);
	assert_int_equal(e.up_b, BULK_B);
	assert_int_equal(e.down_b, 0);
	close(near[0]);
	close(far[0]);
	zev_loop_free(e.loop);
}

static void test_stream__other_way_stays_open_after_half_close(void **state)
{
	struct end e = {0};
	int near[2], far[2];
	char byte = 0;

	(void)state;
	struct brk_relay *r = between(&e, SOCK_STREAM, near, far);
	shutdown(near[0], SHUT_WR);
	run(&e, 30);
	assert_false(e.is_over);
	assert_int_equal(read(far[0], &byte, 1), 0);
	assert_int_equal(write(far[0], "x", 1), 1);
	run(&e, 30);
	assert_int_equal(read(near[0], &byte, 1), 1);
	brk_relay_free(r);
	close(near[0]);
	close(far[0]);
	zev_loop_free(e.loop);
}

static void test_stream__a_side_that_is_gone_ends_it(void **state)
{
	struct end e = {0};
	int near[2], far[2];

	(void)state;
	between(&e, SOCK_STREAM, near, far);
	assert_int_equal(write(near[0], "last", 4), 4);
	close(near[0]);
	run(&e, 1000);
	assert_true(e.is_over);
	assert_int_equal(e.up_b, 4);
	close(far[0]);
	zev_loop_free(e.loop);
}

static void test_packets__boundaries_and_empty_ones_stay(void **state)
{
	struct end e = {0};
	int near[2], far[2];
	char text[8];

	(void)state;
	struct brk_relay *r = between(&e, SOCK_SEQPACKET, near, far);
	assert_int_equal(send(near[0], "ab", 2, 0), 2);
	assert_int_equal(send(near[0], "", 0, 0), 0);
	assert_int_equal(send(near[0], "cde", 3, 0), 3);
	run(&e, 50);
	assert_int_equal(recv(far[0], text, sizeof(text), MSG_DONTWAIT), 2);
	assert_int_equal(recv(far[0], text, sizeof(text), MSG_DONTWAIT), 0);
	assert_int_equal(recv(far[0], text, sizeof(text), MSG_DONTWAIT), 3);
	assert_true(recv(far[0], text, sizeof(text), MSG_DONTWAIT) < 0 && errno == EAGAIN);
	brk_relay_free(r);
	close(near[0]);
	close(far[0]);
	zev_loop_free(e.loop);
}

static void send_fd(int to, const char *text)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec iov = {(void *)(uintptr_t)text, strlen(text)};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.space,
			   .msg_controllen = sizeof(control.space)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &to, sizeof(int));
	assert_int_equal(sendmsg(to, &m, 0), (ssize_t)strlen(text));
}

/* The bytes arrive, the descriptors do not, and that is told for each direction. */
static void check_passed(int type)
{
	struct end e = {0};
	int near[2], far[2];
	char text[16], control[64];
	struct iovec iov = {text, sizeof(text)};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	struct brk_relay *r = between(&e, type, near, far);

	send_fd(near[0], "up");
	send_fd(near[0], "up");
	send_fd(far[0], "down");
	assert_int_equal(send(near[0], "..", 2, 0), 2);
	run(&e, 50);
	assert_true(recvmsg(far[0], &m, MSG_DONTWAIT) >= 2);
	assert_int_equal(m.msg_controllen, 0);
	m.msg_controllen = sizeof(control);
	assert_int_equal(recvmsg(near[0], &m, MSG_DONTWAIT), 4);
	assert_int_equal(m.msg_controllen, 0);
	assert_int_equal(e.n_passed[1], 2);
	assert_int_equal(e.n_passed[0], 1);
	brk_relay_free(r);
	close(near[0]);
	close(far[0]);
	zev_loop_free(e.loop);
}

static void test_passed_descriptors__dropped_and_told(void **state)
{
	(void)state;
	check_passed(SOCK_STREAM);
	check_passed(SOCK_SEQPACKET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stream__all_bytes_in_order_then_half_close),
		cmocka_unit_test(test_stream__other_way_stays_open_after_half_close),
		cmocka_unit_test(test_stream__a_side_that_is_gone_ends_it),
		cmocka_unit_test(test_packets__boundaries_and_empty_ones_stay),
		cmocka_unit_test(test_passed_descriptors__dropped_and_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
