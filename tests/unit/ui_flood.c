/* SPDX-License-Identifier: MIT
 * Very many questions are one card, which only refuses; and prompt.arm "second-key". */
#include "tests/support/test.h"

#include <string.h>

#include "src/base/words.h"
#include "tests/support/ui_fake.h"

static struct ui_fake f;

static int start(void **state)
{
	(void)state;
	ui_fake_init(&f, UI_LAYOUT_DASHBOARD, 30, 100);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	ui_fake_fini(&f);
	return 0;
}

static void come(struct mdl_ask *a)
{
	a->since_ms = a->clock_ms = f.now_ms;
	ui_core_changed(&f.core, MDL_CHANGED_ASKS, f.now_ms);
	ui_fake_draw(&f);
}

static void test_more_than_eight_in_ten_seconds(void **state)
{
	(void)state;
	for (uint64_t id = 1; id <= 8; id++)
		come(ui_model_ask_site(&f.model, id));
	assert_false(view_flood_is(&f.core));
	f.now_ms += 10001;
	come(ui_model_ask_site(&f.model, 9));
	assert_false(view_flood_is(&f.core)); /* not within the time */
	for (uint64_t id = 10; id <= 17; id++)
		come(ui_model_ask_docker(&f.model, id));
	assert_true(view_flood_is(&f.core));
}

static void flood(void)
{
	for (uint64_t id = 1; id <= 6; id++)
		come(ui_model_ask_site(&f.model, id));
	for (uint64_t id = 7; id <= 12; id++)
		come(ui_model_ask_docker(&f.model, id));
	ui_fake_type(&f, "\x1d"
			 "a");
}

static void test_Z131_many__card_allows_nothing(void **state)
{
	(void)state;
	flood();
	assert_true(ui_fake_shows(&f, "12 questions at once"));
	ui_fake_wait(&f, 5000);
	ui_fake_type(&f, "y");
	ui_fake_type(&f, "s");
	ui_fake_type(&f, "A");
	ui_fake_type(&f, " ");
	ui_fake_type(&f, "docker");
	assert_int_equal(f.n_answers, 0);
	assert_true(ui_fake_shows(&f, "12 questions at once"));
}

static void test_Z131_many__n_denies_those_of_one_program(void **state)
{
	(void)state;
	flood();
	ui_fake_type(&f, "n");
	assert_int_equal(f.n_answers, 6);
	assert_int_equal(f.answer.verdict, POL_DENY);
	assert_int_equal(f.answer.scope, ZW_SCOPE_ONCE);
	assert_int_equal(mdl_asks_waiting(&f.model), 6);
}

static void test_S_is_for_one_program(void **state)
{
	(void)state;
	flood();
	ui_fake_type(&f, "S");
	assert_int_equal(f.strict, 1);
	assert_int_equal(f.n_answers, 0);
}

static void test_l_shows_the_list(void **state)
{
	(void)state;
	flood();
	ui_fake_type(&f, "l");
	assert_true(ui_fake_shows(&f, "docker.sock"));
	assert_false(ui_fake_shows(&f, "questions at once"));
}

/* A card that is being read stays as it is, however many come. */
static void test_P8_open_card_stays(void **state)
{
	(void)state;
	come(ui_model_ask_site(&f.model, 1));
	ui_fake_type(&f, "\x1d"
			 "a");
	for (uint64_t id = 2; id <= 51; id++)
		come(ui_model_ask_docker(&f.model, id));
	assert_true(view_is(&f.core, &view_ask_ops));
	assert_false(ui_fake_shows(&f, "CRITICAL"));
	ui_fake_type(&f, "n");
	assert_int_equal(f.n_answers, 1);
	assert_int_equal(f.answer.ask, 1);
	assert_null(f.core.top); /* and nothing opens by itself */
}

static void second_key(struct mdl_ask *a)
{
	f.core.config.is_second_key = true;
	come(a);
	ui_fake_type(&f, "\x1d"
			 "a");
}

static void test_second_key__no_clock_but_enter(void **state)
{
	(void)state;
	second_key(ui_model_ask_site(&f.model, 1));
	ui_fake_type(&f, "y");
	assert_int_equal(f.n_answers, 0);
	ui_fake_type(&f, "x"); /* anything else goes back */
	assert_int_equal(f.n_answers, 0);
	ui_fake_type(&f, "y");
	ui_fake_type(&f, "\r");
	assert_int_equal(f.n_answers, 1);
	assert_int_equal(f.answer.verdict, POL_ALLOW);
}

static void test_second_key__enter_alone_denies(void **state)
{
	(void)state;
	second_key(ui_model_ask_site(&f.model, 1));
	ui_fake_type(&f, "\r");
	assert_int_equal(f.n_answers, 1);
	assert_int_equal(f.answer.verdict, POL_DENY);
}

static void test_second_key__critical_takes_the_word(void **state)
{
	(void)state;
	second_key(ui_model_ask_docker(&f.model, 1));
	ui_fake_type(&f, "y");
	ui_fake_type(&f, "\r");
	assert_int_equal(f.n_answers, 0);
	ui_fake_type(&f, "y");
	ui_fake_type(&f, "docker");
	ui_fake_type(&f, "\r");
	assert_int_equal(f.n_answers, 1);
	assert_int_equal(f.answer.verdict, POL_ALLOW);
}

#define T(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_more_than_eight_in_ten_seconds),
		T(test_Z131_many__card_allows_nothing),
		T(test_Z131_many__n_denies_those_of_one_program),
		T(test_S_is_for_one_program),
		T(test_l_shows_the_list),
		T(test_P8_open_card_stays),
		T(test_second_key__no_clock_but_enter),
		T(test_second_key__enter_alone_denies),
		T(test_second_key__critical_takes_the_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
