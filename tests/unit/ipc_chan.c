/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include <sys/socket.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/ipc/chan.h"

struct seen {
	struct zev_loop *loop;
	unsigned n_msgs;
	int error;
};

static void on_msg(struct zw_chan *chan, enum zw_msg_id id, const union zw_msg_any *msg, int *fds,
		   void *arg)
{
	struct seen *s = arg;

	(void)chan;
	(void)msg;
	(void)fds;
	assert_int_equal(id, ZW_ID_hello);
	s->n_msgs++;
}

static void on_end(struct zw_chan *chan, int error, void *arg)
{
	struct seen *s = arg;

	(void)chan;
	s->error = error;
	zev_stop(s->loop);
}

static const struct zw_chan_ops ops = {.on_msg = on_msg, .on_end = on_end};

/* A helper that dies has not read all that was sent to it; its own last words count all the same,
 * and its death is a death, not a fault in what it sent. */
static void test_end__of_one_that_has_not_read_all(void **state)
{
	struct seen s = {.loop = zev_loop_new()};
	int fds[2];

	(void)state;
	assert_int_equal(zw_chan_pair(fds), 0);
	struct zw_chan *here = zw_chan_new(s.loop, fds[0], ROLE_SUPER, ROLE_PANE, &ops, &s);
	struct zw_chan *there = zw_chan_new(s.loop, fds[1], ROLE_PANE, ROLE_SUPER, &ops, &s);

	zw_send(here, pane_next, .unused = 0);
	zw_send(there, hello, .version = ZW_MSG_VERSION, .pid = 1);
	zw_chan_free(there);
	zev_run(s.loop);
	assert_int_equal(s.n_msgs, 1);
	assert_int_equal(s.error, ZW_E_EOF);
	zw_chan_free(here);
	zev_loop_free(s.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_end__of_one_that_has_not_read_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
