/* SPDX-License-Identifier: MIT
 * When the user who is not looking is told, how, and in which words. */
#include "tests/support/test.h"

#include <string.h>

#include "tests/support/ui_model.h"
#include "ui/nudge.h"

static struct mdl_session model;
static struct ui_nudge n;
static int64_t now_ms;
static char text[UI_NUDGE_TEXT_MAX];

static int setup(void **state)
{
	(void)state;
	ui_model_fill(&model);
	n = (struct ui_nudge){0};
	now_ms = UI_MODEL_NOW_MS;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	mdl_session_fini(&model);
	return 0;
}

static unsigned step(bool is_looking)
{
	return ui_nudge_step(&n, &model, "claude", is_looking, now_ms, text);
}

/* A question that came now. */
static struct mdl_ask *come(struct mdl_ask *a, int64_t hold_ms)
{
	a->since_ms = a->clock_ms = now_ms;
	a->left_ms = hold_ms;
	return a;
}

static void test_at_once_then_the_desktop_then_half(void **state)
{
	(void)state;
	come(ui_model_ask_docker(&model, 1), 600000);
	assert_int_equal(step(false), UI_NUDGE_TERMINAL);
	assert_string_equal(text, "zwatch: claude waits for you (docker.sock, ~/src/shop)");
	now_ms += 9999;
	assert_int_equal(step(false), 0);
	now_ms += 1;
	assert_int_equal(step(false), UI_NUDGE_DESKTOP);
	now_ms += 280000;
	assert_int_equal(step(false), 0);
	now_ms += 10001;
	assert_int_equal(step(false), UI_NUDGE_TERMINAL | UI_NUDGE_DESKTOP);
	now_ms += 290000;
	assert_int_equal(step(false), 0); /* that was the last */
}

static void test_a_site_is_not_for_the_desktop(void **state)
{
	(void)state;
	come(ui_model_ask_site(&model, 1), 120000);
	assert_int_equal(step(false), UI_NUDGE_TERMINAL);
	assert_non_null(strstr(text, "(a new site, "));
	now_ms += 30000;
	assert_int_equal(step(false), 0);
	now_ms += 30001;
	assert_int_equal(step(false), UI_NUDGE_TERMINAL);
}

static void test_one_who_looks_is_told_nothing(void **state)
{
	(void)state;
	come(ui_model_ask_docker(&model, 1), 600000);
	assert_int_equal(step(true), 0);
	now_ms += 11000;
	assert_int_equal(step(true), 0);
	assert_int_equal(step(false), UI_NUDGE_DESKTOP); /* he has left since */
}

static void test_many_are_one_notice(void **state)
{
	(void)state;
	come(ui_model_ask_site(&model, 1), 120000);
	assert_int_equal(step(false), UI_NUDGE_TERMINAL);
	for (uint64_t id = 2; id < 200; id++) {
		come(ui_model_ask_docker(&model, id), 600000);
		now_ms += 50;
		assert_int_equal(step(false) & UI_NUDGE_TERMINAL, 0);
	}
	now_ms += 20000;
	assert_int_equal(step(false) & UI_NUDGE_TERMINAL, UI_NUDGE_TERMINAL);
	assert_string_equal(text, "zwatch: claude waits for you (199 waiting)");
}

static void test_answered_is_not_told(void **state)
{
	(void)state;
	struct mdl_ask *a = come(ui_model_ask_docker(&model, 1), 600000);

	assert_int_equal(step(false), UI_NUDGE_TERMINAL);
	a->state = MDL_ASK_GONE;
	now_ms += 400000;
	assert_int_equal(step(false), UI_NUDGE_WITHDRAW);
	assert_int_equal(step(false), 0);
}

/* Once, and alone: nothing that was not told is taken back. */
static void test_what_is_over_is_withdrawn(void **state)
{
	(void)state;
	struct mdl_ask *a = come(ui_model_ask_docker(&model, 1), 600000);
	struct mdl_ask *b = come(ui_model_ask_ssh(&model, 2), 600000);

	assert_int_equal(step(false), UI_NUDGE_TERMINAL);
	a->state = MDL_ASK_ANSWERED;
	assert_int_equal(step(true), 0); /* another one waits */
	b->state = MDL_ASK_OPEN;
	assert_int_equal(step(true), UI_NUDGE_WITHDRAW);
	assert_int_equal(step(true), 0);
	b->state = MDL_ASK_GONE;
	come(ui_model_ask_ssh(&model, 3), 600000)->state = MDL_ASK_HELD;
	assert_int_equal(step(true), 0);
	mdl_ask_find(&model, 3)->state = MDL_ASK_ANSWERED;
	assert_int_equal(step(true), 0);
}

/* No more than one notice of a kind in 20 s, however many come. */
static void test_a_flood_is_one_notice_in_20_s(void **state)
{
	int n_told = 0;

	(void)state;
	for (uint64_t id = 1; id <= 60; id++, now_ms += 1000) {
		come(ui_model_ask_docker(&model, id), 600000);
		n_told += (step(false) & UI_NUDGE_TERMINAL) != 0;
	}
	assert_int_equal(n_told, 3);
}

static void test_names_are_cut(void **state)
{
	(void)state;
	struct mdl_ask *a = come(ui_model_ask_docker(&model, 1), 600000);
	char name[4097];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	mdl_set(&a->title, zw_span(name), 4096);
	step(false);
	assert_true(strlen(text) < 140);
	assert_null(strstr(text, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
	/* between characters */
	for (size_t i = 0; i < 60; i++)
		memcpy(name + 2 * i, "\xc3\xa9", 2);
	name[120] = '\0';
	mdl_set(&a->title, zw_span(name), 4096);
	now_ms += 400000;
	step(false);
	name[80] = '\0';
	assert_non_null(strstr(text, name));
	assert_non_null(strstr(text + 30, "\xc3\xa9, ~/src/shop)"));
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_at_once_then_the_desktop_then_half),
		T(test_a_site_is_not_for_the_desktop),
		T(test_one_who_looks_is_told_nothing),
		T(test_many_are_one_notice),
		T(test_answered_is_not_told),
		T(test_what_is_over_is_withdrawn),
		T(test_a_flood_is_one_notice_in_20_s),
		T(test_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
