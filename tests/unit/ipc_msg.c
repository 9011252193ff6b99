/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/ipc/chan.h"
#include "src/ipc/msg.h"
#include "tests/support/test.h"

static struct zw_buf encode(enum zw_msg_id id, const void *msg)
{
	struct zw_buf b;

	zw_buf_init(&b, ZW_MSG_SIZE_MAX);
	assert_int_equal(zw_msg_encode(&b, id, msg), 0);
	return b;
}

static struct zw_msg_tcp_who who(void)
{
	return (struct zw_msg_tcp_who){.local_port = 1234,
				       .family = 4,
				       .addr = zw_span_n("\x01\x02\x00\x04", 4),
				       .port = 443,
				       .pid = 77,
				       .exe = zw_span("/usr/bin/curl"),
				       .argv = zw_span_n("curl\0x", 6),
				       .cwd = zw_span("/"),
				       .chain = zw_span("")};
}

static void test_round_trip__all_kinds_of_fields(void **state)
{
	struct zw_msg_tcp_who m = who();
	struct zw_buf b = encode(ZW_ID_tcp_who, &m);
	union zw_msg_any out;
	enum zw_msg_id id;

	(void)state;
	assert_int_equal(
		zw_msg_decode(zw_buf_head(&b), b.len, ROLE_BROKER, ROLE_SUPER, 0, &id, &out), 0);
	assert_int_equal(id, ZW_ID_tcp_who);
	assert_int_equal(out.tcp_who.local_port, 1234);
	assert_int_equal(out.tcp_who.addr.len, 4);
	assert_memory_equal(out.tcp_who.argv.p, "curl\0x", 6);
	assert_true(zw_span_eq(out.tcp_who.exe, "/usr/bin/curl"));
	zw_buf_fini(&b);
}

static void test_decode__every_cut_is_short_and_more_is_trailing(void **state)
{
	struct zw_msg_tcp_who m = who();
	struct zw_buf b = encode(ZW_ID_tcp_who, &m);
	union zw_msg_any out;
	enum zw_msg_id id;

	(void)state;
	for (size_t len = 0; len < b.len; len++)
		assert_int_equal(
			zw_msg_decode(zw_buf_head(&b), len, ROLE_BROKER, ROLE_SUPER, 0, &id, &out),
			ZW_E_SHORT);
	assert_int_equal(zw_buf_add(&b, "", 1), 0);
	assert_int_equal(
		zw_msg_decode(zw_buf_head(&b), b.len, ROLE_BROKER, ROLE_SUPER, 0, &id, &out),
		ZW_E_TRAILING);
	zw_buf_fini(&b);
}

static void test_decode__direction_and_descriptors(void **state)
{
	struct zw_msg_tcp_who m = who();
	struct zw_buf b = encode(ZW_ID_tcp_who, &m);
	union zw_msg_any out;
	enum zw_msg_id id;
	const uint8_t *p = zw_buf_head(&b);

	(void)state;
	assert_int_equal(zw_msg_decode(p, b.len, ROLE_PROXY, ROLE_SUPER, 0, &id, &out),
			 ZW_E_DIRECTION);
	assert_int_equal(zw_msg_decode(p, b.len, ROLE_SUPER, ROLE_BROKER, 0, &id, &out),
			 ZW_E_DIRECTION);
	assert_int_equal(zw_msg_decode(p, b.len, ROLE_BROKER, ROLE_SUPER, 1, &id, &out),
			 ZW_E_FD_COUNT);
	assert_int_equal(zw_msg_decode((const uint8_t *)"\xff\xff", 2, ROLE_BROKER, ROLE_SUPER, 0,
				       &id, &out),
			 ZW_E_UNKNOWN_MSG);
	zw_buf_fini(&b);
}

static void test_text__no_nul_and_no_more_than_the_row_says(void **state)
{
	char host[400];
	struct zw_msg_res_query m = {.query = 1};
	union zw_msg_any out;
	enum zw_msg_id id;

	(void)state;
	memset(host, 'h', sizeof(host));
	m.name = zw_span_n(host, sizeof(host));
	struct zw_buf b = encode(ZW_ID_res_query, &m);
	assert_int_equal(
		zw_msg_decode(zw_buf_head(&b), b.len, ROLE_PROXY, ROLE_SUPER, 0, &id, &out), 0);
	assert_int_equal(out.res_query.name.len, 255);
	zw_buf_head(&b)[b.len - 3] = 0; /* the last of the name, a number behind it */
	assert_int_equal(
		zw_msg_decode(zw_buf_head(&b), b.len, ROLE_PROXY, ROLE_SUPER, 0, &id, &out),
		ZW_E_SYNTAX);
	zw_buf_fini(&b);
}

/* Channel: what comes out at the other end, and how a bad frame ends it. */
struct ends {
	struct zev_loop *loop;
	int n_msg, error;
};

static void on_msg(struct zw_chan *c, enum zw_msg_id id, const union zw_msg_any *msg, int *fds,
		   void *arg)
{
	struct ends *e = arg;

	(void)c;
	(void)fds;
	assert_int_equal(id, ZW_ID_res_answer);
	assert_int_equal(msg->res_answer.query, e->n_msg);
	e->n_msg++;
}

static void on_end(struct zw_chan *c, int error, void *arg)
{
	struct ends *e = arg;

	(void)c;
	e->error = error;
	zev_stop(e->loop);
}

static const struct zw_chan_ops ops = {.on_msg = on_msg, .on_end = on_end};

static void test_chan__many_messages_in_order_then_end(void **state)
{
	struct ends a = {.loop = zev_loop_new()}, b = {.loop = a.loop};
	int fds[2];

	(void)state;
	assert_int_equal(zw_chan_pair(fds), 0);
	struct zw_chan *from = zw_chan_new(a.loop, fds[0], ROLE_RESOLVER, ROLE_SUPER, &ops, &a);
	struct zw_chan *to = zw_chan_new(a.loop, fds[1], ROLE_SUPER, ROLE_RESOLVER, &ops, &b);
	for (uint64_t i = 0; i < 5000; i++) {
		if (i == 1000 || i == 3000)
			zw_chan_cork(from, i == 1000);
		zw_send(from, res_answer, .query = i, .detail = zw_span("some text"));
	}
	assert_true(zw_chan_n_queued(from) > 0);
	struct zev_timer *t = zev_timer_new(a.loop, (void (*)(void *))zev_stop, a.loop);
	zev_timer_start(t, 300);
	zev_run(a.loop);
	assert_int_equal(b.n_msg, 5000);
	zw_chan_free(from);
	zev_run(a.loop);
	assert_int_equal(b.error, ZW_E_EOF);
	zw_chan_free(to);
	zev_timer_free(t);
	zev_loop_free(a.loop);
}

static void test_chan__wrong_sender_ends_it(void **state)
{
	struct ends a = {.loop = zev_loop_new()}, b = {.loop = a.loop};
	int fds[2];

	(void)state;
	assert_int_equal(zw_chan_pair(fds), 0);
	/* The sender believes to be the resolver; the receiver knows that it is the pane. */
	struct zw_chan *from = zw_chan_new(a.loop, fds[0], ROLE_RESOLVER, ROLE_SUPER, &ops, &a);
	struct zw_chan *to = zw_chan_new(a.loop, fds[1], ROLE_SUPER, ROLE_PANE, &ops, &b);
	zw_send(from, res_answer, .query = 0);
	zev_run(a.loop);
	assert_int_equal(b.error, ZW_E_DIRECTION);
	assert_int_equal(b.n_msg, 0);
	zw_chan_free(from);
	zw_chan_free(to);
	zev_loop_free(a.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip__all_kinds_of_fields),
		cmocka_unit_test(test_decode__every_cut_is_short_and_more_is_trailing),
		cmocka_unit_test(test_decode__direction_and_descriptors),
		cmocka_unit_test(test_text__no_nul_and_no_more_than_the_row_says),
		cmocka_unit_test(test_chan__many_messages_in_order_then_end),
		cmocka_unit_test(test_chan__wrong_sender_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
