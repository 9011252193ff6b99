/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include <fcntl.h>

#include "sandbox/broker/prompt.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/words.h"

struct seen {
	unsigned n_asks, n_more, n_gone, n_answered;
	uint64_t last_ask;
	struct brk_answer last;
};

static void on_ask(struct brk_wait *first, uint64_t ask, void *arg)
{
	struct seen *s = arg;

	(void)first;
	s->n_asks++;
	s->last_ask = ask;
}

static void on_more(uint64_t ask, uint32_t n_waiting, void *arg)
{
	(void)ask;
	(void)n_waiting;
	((struct seen *)arg)->n_more++;
}

static void on_gone(uint64_t ask, void *arg)
{
	(void)ask;
	((struct seen *)arg)->n_gone++;
}

static void on_answered(struct brk_wait *w, const struct brk_answer *a, void *arg)
{
	struct seen *s = arg;

	(void)w;
	s->n_answered++;
	s->last = *a;
}

static const struct brk_prompts_ops ops = {on_ask, on_more, on_gone, on_answered};

static struct brk_found *found(uint64_t ino, const char *path)
{
	static struct brk_found f;

	brk_found_init(&f);
	f.where = BRK_HOST;
	f.pin_fd = 0;
	f.ino = ino;
	f.dev = 1;
	f.listener.uid = 1000;
	zw_strlcpy(f.listener.exe, "/usr/bin/agent", sizeof(f.listener.exe));
	zw_strlcpy(f.path, path, sizeof(f.path));
	return &f;
}

static void test_prompts__same_who_and_what_is_one_question(void **state)
{
	struct zev_loop *loop = zev_loop_new();
	struct seen s = {0};
	struct brk_prompts *p = brk_prompts_new(loop, &ops, &s);
	struct brk_wait w[4] = {0};
	struct brk_answer a = {.verdict = POL_DENY};

	(void)state;
	assert_int_equal(brk_prompts_wait(p, found(1, "/a"), "/bin/x", &w[0]), 0);
	assert_int_equal(brk_prompts_wait(p, found(1, "/other/name"), "/bin/x", &w[1]), 0);
	assert_int_equal(s.n_asks, 1);
	uint64_t first = s.last_ask;
	assert_int_equal(brk_prompts_wait(p, found(1, "/a"), "/bin/y", &w[2]), 0);
	assert_int_equal(brk_prompts_wait(p, found(2, "/a"), "/bin/x", &w[3]), 0);
	assert_int_equal(s.n_asks, 3);
	brk_prompts_answer(p, first, &a);
	assert_int_equal(s.n_answered, 2);
	assert_null(w[0].prompt);
	brk_prompts_answer(p, first, &a); /* twice counts once */
	assert_int_equal(s.n_answered, 2);
	brk_prompts_leave(p, &w[2]);
	brk_prompts_leave(p, &w[3]);
	assert_int_equal(s.n_gone, 2);
	brk_prompts_free(p);
	zev_loop_free(loop);
}

static void stop(void *arg)
{
	zev_stop(arg);
}

static void test_prompts__held_too_long_is_a_miss(void **state)
{
	struct zev_loop *loop = zev_loop_new();
	struct seen s = {0};
	struct brk_prompts *p = brk_prompts_new(loop, &ops, &s);
	struct brk_wait w = {0};
	struct zev_timer *t = zev_timer_new(loop, stop, loop);

	(void)state;
	brk_prompts_hold(p, 10);
	brk_prompts_wait(p, found(1, "/a"), "/bin/x", &w);
	zev_timer_start(t, 60);
	zev_run(loop);
	assert_int_equal(s.n_answered, 1);
	assert_int_equal(s.n_gone, 1);
	assert_int_equal(s.last.verdict, POL_DENY);
	assert_int_equal(s.last.did, ZW_DID_MISS);
	zev_timer_free(t);
	brk_prompts_free(p);
	zev_loop_free(loop);
}

static void test_memory__same_file_or_same_listener_where_agent_cannot_write(void **state)
{
	struct brk_memory *m = brk_memory_new();
	struct brk_answer a = {.verdict = POL_ALLOW, .by = ZW_BY_USER};
	struct brk_found *f = found(1, "/run/x.sock");

	(void)state;
	f->pin_fd = open("/", O_PATH | O_CLOEXEC);
	brk_memory_add(m, f, "/bin/x", &a);
	assert_non_null(brk_memory_find(m, f, "/bin/x"));
	assert_null(brk_memory_find(m, f, "/bin/y"));
	close(f->pin_fd);
	assert_non_null(brk_memory_find(m, found(1, "/other/name"), "/bin/x"));
	/* The daemon was started anew: another inode, the same program. */
	assert_non_null(brk_memory_find(m, found(2, "/run/x.sock"), "/bin/x"));
	f = found(2, "/run/x.sock");
	f->listener.uid = 0;
	assert_null(brk_memory_find(m, f, "/bin/x"));
	f = found(2, "/run/x.sock");
	zw_strlcpy(f->listener.exe, "/tmp/fake", sizeof(f->listener.exe));
	assert_null(brk_memory_find(m, f, "/bin/x"));
	f = found(2, "/run/x.sock");
	f->is_visible = true; /* the agent may have put it there */
	assert_null(brk_memory_find(m, f, "/bin/x"));
	brk_memory_free(m);
}

static void test_memory__deny_stands_against_allow(void **state)
{
	struct brk_memory *m = brk_memory_new();
	struct brk_answer deny = {.verdict = POL_DENY}, allow = {.verdict = POL_ALLOW};

	(void)state;
	brk_memory_add(m, found(1, "/run/x.sock"), "/bin/x", &deny);
	brk_memory_add(m, found(1, "/run/x.sock"), "/bin/x", &allow);
	assert_int_equal(brk_memory_find(m, found(1, "/run/x.sock"), "/bin/x")->verdict, POL_DENY);
	brk_memory_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prompts__same_who_and_what_is_one_question),
		cmocka_unit_test(test_prompts__held_too_long_is_a_miss),
		cmocka_unit_test(test_memory__same_file_or_same_listener_where_agent_cannot_write),
		cmocka_unit_test(test_memory__deny_stands_against_allow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
