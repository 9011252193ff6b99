/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include "ui/pane/pace.h"

#define NO_SYNC (-1)

static struct pane_pace fresh(void)
{
	struct pane_pace p;

	pane_pace_init(&p);
	p.has_credit = true;
	return p;
}

static void test_pace__nothing_to_show(void **state)
{
	struct pane_pace p = fresh();

	(void)state;
	assert_int_equal(pane_pace_wait(&p, NO_SYNC, 1000), -1);
}

static void test_pace__first_echo_goes_at_once(void **state)
{
	struct pane_pace p = fresh();

	(void)state;
	pane_pace_read(&p, 1, 1000);
	pane_pace_change(&p, 1000);
	assert_int_equal(pane_pace_wait(&p, NO_SYNC, 1000), 0);
}

static void test_pace__no_frame_without_the_grid(void **state)
{
	struct pane_pace p = fresh();

	(void)state;
	pane_pace_change(&p, 1000);
	pane_pace_sent(&p, 1000);
	pane_pace_change(&p, 2000);
	assert_int_equal(pane_pace_wait(&p, NO_SYNC, 2000), -1);
	p.has_credit = true;
	assert_int_equal(pane_pace_wait(&p, NO_SYNC, 2000), 0);
}

static void test_pace__no_two_in_8_ms(void **state)
{
	struct pane_pace p = fresh();

	(void)state;
	pane_pace_sent(&p, 1000);
	p.has_credit = true;
	pane_pace_read(&p, 1, 1005);
	pane_pace_change(&p, 1005);
	assert_int_equal(pane_pace_wait(&p, NO_SYNC, 1005), 3);
	assert_int_equal(pane_pace_wait(&p, NO_SYNC, 1008), 0);
}

static void test_pace__larger_piece_waits_for_its_rest(void **state)
{
	struct pane_pace p = fresh();

	(void)state;
	pane_pace_read(&p, 4096, 1000);
	pane_pace_change(&p, 1000);
	assert_int_equal(pane_pace_wait(&p, NO_SYNC, 1000), 3);
	pane_pace_read(&p, 4096, 1004);
	assert_int_equal(pane_pace_wait(&p, NO_SYNC, 1004), 3);
	/* A flood is not waited out: 8 ms after the first change it is shown. */
	pane_pace_read(&p, 4096, 1006);
	assert_int_equal(pane_pace_wait(&p, NO_SYNC, 1006), 0);
}

static void test_pace__synchronized_block_is_held_150_ms(void **state)
{
	struct pane_pace p = fresh();

	(void)state;
	pane_pace_read(&p, 10, 1000);
	pane_pace_change(&p, 1000);
	assert_int_equal(pane_pace_wait(&p, 1000, 1000), 150);
	assert_int_equal(pane_pace_wait(&p, 1000, 1149), 1);
	assert_int_equal(pane_pace_wait(&p, 1000, 1150), 0);
	assert_int_equal(pane_pace_wait(&p, NO_SYNC, 1001), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pace__nothing_to_show),
		cmocka_unit_test(test_pace__first_echo_goes_at_once),
		cmocka_unit_test(test_pace__no_frame_without_the_grid),
		cmocka_unit_test(test_pace__no_two_in_8_ms),
		cmocka_unit_test(test_pace__larger_piece_waits_for_its_rest),
		cmocka_unit_test(test_pace__synchronized_block_is_held_150_ms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
