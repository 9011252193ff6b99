/* SPDX-License-Identifier: MIT
 * The relay between two socket pairs: back-pressure, ends, filters. */
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

#include "proxy/relay.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"

struct bench {
	struct zev_loop *loop;
	struct zev_timer *timer;
	struct px_relay relay;
	uint8_t *buf;
	int client, server; /* the far ends */
	int ended;	    /* -1 = not yet */
};

static void on_timer(void *arg)
{
	zev_stop(((struct bench *)arg)->loop);
}

static void on_activity(void *arg)
{
	(void)arg;
}

static void on_end(void *arg, enum px_relay_end how)
{
	((struct bench *)arg)->ended = (int)how;
}

static int setup(void **state)
{
	struct bench *b = zw_xnew(struct bench);
	int c[2], s[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, c), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, s), 0);
	b->loop = zev_loop_new();
	b->timer = zev_timer_new(b->loop, on_timer, b);
	b->buf = zw_xmalloc(PX_READ_B);
	b->client = c[0];
	b->server = s[0];
	b->ended = -1;
	b->relay.on_activity = on_activity;
	b->relay.on_end = on_end;
	b->relay.arg = b;
	px_relay_start(&b->relay, b->loop, c[1], s[1], b->buf);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	px_relay_fini(&b->relay);
	zw_close(&b->client);
	zw_close(&b->server);
	zev_timer_free(b->timer);
	zev_loop_free(b->loop);
	free(b->buf);
	free(b);
	return 0;
}

static void turn(struct bench *b)
{
	zev_timer_start(b->timer, 10);
	zev_run(b->loop);
}

static void test_relay__both_ways_and_counts(void **state)
{
	struct bench *b = *state;
	char in[16] = "";

	assert_int_equal(write(b->client, "ping", 4), 4);
	turn(b);
	assert_int_equal(read(b->server, in, sizeof(in)), 4);
	assert_memory_equal(in, "ping", 4);
	assert_int_equal(write(b->server, "pong!", 5), 5);
	turn(b);
	assert_int_equal(read(b->client, in, sizeof(in)), 5);
	assert_int_equal(b->relay.up_b, 4);
	assert_int_equal(b->relay.down_b, 5);
	assert_int_equal(b->ended, -1);
}

static void test_relay__half_close_lets_the_answer_through(void **state)
{
	struct bench *b = *state;
	char in[16];

	assert_int_equal(write(b->client, "q", 1), 1);
	shutdown(b->client, SHUT_WR);
	turn(b);
	assert_int_equal(read(b->server, in, sizeof(in)), 1);
	assert_int_equal(read(b->server, in, sizeof(in)), 0);
	assert_int_equal(b->ended, -1);
	assert_int_equal(write(b->server, "answer", 6), 6);
	zw_close(&b->server);
	turn(b);
	assert_int_equal(b->ended, PX_END_CLIENT);
	px_relay_fini(&b->relay);
	assert_int_equal(read(b->client, in, sizeof(in)), 6);
	assert_int_equal(read(b->client, in, sizeof(in)), 0);
}

static void test_relay__a_slow_reader_stops_the_writer(void **state)
{
	struct bench *b = *state;
	static char block[65536];
	size_t sent = 0, received = 0;
	ssize_t n;

	for (int i = 0; i < 200; i++) {
		while ((n = write(b->server, block, sizeof(block))) > 0)
			sent += (size_t)n;
		turn(b);
		if (n < 0 && errno == EAGAIN && i > 20)
			break;
	}
	/* Two socket buffers and one pending buffer, not more. */
	assert_true(b->relay.client.pending.len <= PX_PENDING_MAX);
	assert_true(sent < 4u << 20);
	shutdown(b->server, SHUT_WR);
	for (int i = 0; i < 1000 && b->relay.client.is_shut == false; i++) {
		while ((n = read(b->client, block, sizeof(block))) > 0)
			received += (size_t)n;
		turn(b);
	}
	while ((n = read(b->client, block, sizeof(block))) > 0)
		received += (size_t)n;
	assert_int_equal(n, 0);
	assert_int_equal(received, sent);
	assert_null(b->relay.client.pending.data);
}

static int filter(void *arg, const uint8_t *p, size_t len)
{
	struct bench *b = arg;

	if (memchr(p, '!', len) != NULL)
		return ZW_E_DENIED;
	return px_relay_send_up(&b->relay, p, len);
}

static void test_relay__filter_ends_it_before_the_server_sees(void **state)
{
	struct bench *b = *state;
	char in[16];

	b->relay.on_up = filter;
	assert_int_equal(write(b->client, "fine", 4), 4);
	turn(b);
	assert_int_equal(read(b->server, in, sizeof(in)), 4);
	assert_int_equal(write(b->client, "bad!", 4), 4);
	turn(b);
	assert_int_equal(b->ended, PX_END_FILTER);
	assert_int_equal(read(b->server, in, sizeof(in)), -1);
}

static void test_relay__complete_request_is_deaf_and_waits_for_the_server(void **state)
{
	struct bench *b = *state;
	char in[16];

	px_relay_complete(&b->relay, true);
	px_relay_kick(&b->relay, false);
	assert_int_equal(write(b->client, "second request", 14), 14);
	turn(b);
	assert_int_equal(read(b->server, in, sizeof(in)), -1);
	assert_int_equal(write(b->server, "done", 4), 4);
	zw_close(&b->server);
	turn(b);
	assert_int_equal(read(b->client, in, sizeof(in)), 4);
	assert_int_equal(b->ended, PX_END_SERVER);
}

/* Fills @fd with bytes that tell their place; returns how many are there in all. */
static size_t pattern_write(int fd, size_t at, uint8_t salt)
{
	static uint8_t block[131072];
	ssize_t n;

	do {
		for (size_t i = 0; i < sizeof(block); i++)
			block[i] = (uint8_t)((at + i) * 7 + ((at + i) >> 8) + salt);
		n = write(fd, block, sizeof(block));
		at += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	return at;
}

static size_t pattern_read(int fd, size_t at, size_t max, uint8_t salt)
{
	static uint8_t block[65536];
	ssize_t n;

	while (max > 0 && (n = read(fd, block, max < sizeof(block) ? max : sizeof(block))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			if (block[i] !=
			    (uint8_t)((at + (size_t)i) * 7 + ((at + (size_t)i) >> 8) + salt))
				fail_msg("byte %zu is not its own", at + (size_t)i);
		at += (size_t)n;
		max -= (size_t)n;
	}
	return at;
}

/* Many bytes, a reader that takes them in odd pieces: every one arrives once and in its place. */
static void test_relay__bulk_goes_through_the_pipe_whole(void **state)
{
	struct bench *b = *state;
	size_t sent = 0, got = 0;
	bool was_bulk = false;

	for (int i = 0; i < 300 && sent < 8u << 20; i++) {
		sent = pattern_write(b->server, sent, 1);
		turn(b);
		was_bulk |= b->relay.server.is_bulk;
		got = pattern_read(b->client, got, i % 3 == 0 ? 1 << 20 : 30001, 1);
	}
	shutdown(b->server, SHUT_WR);
	for (int i = 0; i < 1000 && got < sent; i++) {
		turn(b);
		got = pattern_read(b->client, got, 1 << 20, 1);
	}
	assert_true(was_bulk);
	assert_int_equal(got, sent);
	assert_int_equal(b->relay.down_b, sent);
	assert_true(b->relay.client.pending.len == 0);
}

/* A far end that breaks off leaves nothing behind for the next one. */
static void test_relay__bytes_of_a_broken_one_reach_nobody(void **state)
{
	struct bench *b = *state;
	size_t sent = pattern_write(b->server, 0, 1);

	turn(b);
	assert_true(b->relay.server.is_bulk);
	zw_close(&b->client);
	for (int i = 0; i < 100 && b->ended < 0; i++) {
		sent = pattern_write(b->server, sent, 1);
		turn(b);
	}
	assert_int_equal(b->ended, PX_END_RESET);
	void *next;
	assert_int_equal(setup(&next), 0);
	struct bench *other = next;
	sent = 0;
	size_t got = 0;
	for (int i = 0; i < 20; i++) {
		sent = pattern_write(other->server, sent, 99);
		turn(other);
		got = pattern_read(other->client, got, 1 << 20, 99);
	}
	assert_true(got > 1 << 20);
	teardown(&next);
}

/* What somebody looks at is never spliced past him. */
static void test_relay__a_filter_sees_bulk_too(void **state)
{
	struct bench *b = *state;
	static char block[131072];

	b->relay.on_up = filter;
	for (int i = 0; i < 20; i++) {
		while (write(b->client, block, sizeof(block)) > 0)
			;
		turn(b);
		while (read(b->server, block, sizeof(block)) > 0)
			;
	}
	assert_true(b->relay.client.is_bulk);
	block[100] = '!';
	assert_true(write(b->client, block, sizeof(block)) > 100);
	turn(b);
	assert_int_equal(b->ended, PX_END_FILTER);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	px_relay_pipe_open();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_relay__both_ways_and_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_relay__half_close_lets_the_answer_through,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_relay__a_slow_reader_stops_the_writer, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_relay__filter_ends_it_before_the_server_sees,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_relay__complete_request_is_deaf_and_waits_for_the_server, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_relay__bulk_goes_through_the_pipe_whole, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_relay__bytes_of_a_broken_one_reach_nobody,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_relay__a_filter_sees_bulk_too, setup,
						teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
