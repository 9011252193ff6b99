/* SPDX-License-Identifier: MIT
 * The page at the end of a session: what is typed for the agent decides nothing (P2), what is kept was
 * on the terminal, and what is one program. */
#include "tests/support/test.h"

#include "tests/support/ui_fake.h"
#include "ui/review.h"

#define LONG_PATH "/home/ana/projects/shop/node_modules/.bin/a-program-with-a-long-name"

static struct ui_fake f;
static const char *refusal;
static int n_saves;

static const char *try_row(void *arg, size_t row)
{
	(void)arg;
	(void)row;
	return "Tried on the last 3 sessions: answers 2 of 2.";
}

static const char *save(void *arg)
{
	(void)arg;
	n_saves++;
	return refusal;
}

static struct ui_review_row rows[3];
static struct ui_review review = {
	.title = "Session 1 is over", .rows = rows, .n = 3, .try_row = try_row, .save = save};

static struct ui_review_row row(const char *what, const char *identity)
{
	return (struct ui_review_row){
		.kind = "unix",
		.what = what,
		.program = "pip",
		.said = "allow session",
		.identity = identity,
		.n_times = 1,
		.is_asked = true,
		.can_always = true,
		.can_never = true,
		.always =
			"From now on zwatch does not ask when " LONG_PATH " connects to " LONG_PATH,
		.never = "From now on " LONG_PATH " is refused",
	};
}

static void open_page(int n_rows, int n_cols)
{
	refusal = NULL;
	n_saves = 0;
	rows[0] = row("/run/a.sock", "/usr/bin/pip");
	rows[1] = row("/run/b.sock", "/proj/.venv/bin/pip");
	rows[2] = row("/run/c.sock", "/usr/bin/pip");
	ui_fake_init_history(&f, n_rows, n_cols);
	view_review_open(&f.core, &review);
	ui_fake_draw(&f);
}

/* Keys as somebody types who does not look: ten a second. */
static void type_on(const char *text)
{
	for (; *text != '\0'; text++) {
		ui_fake_wait(&f, 100);
		ui_fake_type_n(&f, text, 1);
	}
}

static void test_typing_for_the_agent__decides_nothing(void **state)
{
	(void)state;
	open_page(30, 100);
	type_on("please call all the tools\ryes l\ry lll\ryyyy\r");
	assert_int_equal(n_saves, 0);
	assert_non_null(f.core.top);
	for (int i = 0; i < 3; i++)
		assert_int_equal(rows[i].next, UI_NEXT_AS_IS);
	ui_fake_wait(&f, 600);
	ui_fake_type(&f, "l");
	assert_int_equal(rows[0].next, UI_NEXT_ALWAYS);
	/* The second step sleeps, too. */
	ui_fake_type(&f, "\r");
	type_on("yyyyyy");
	assert_int_equal(n_saves, 0);
	ui_fake_wait(&f, 600);
	ui_fake_type(&f, "y");
	assert_int_equal(n_saves, 1);
	assert_null(f.core.top);
	ui_fake_fini(&f);
}

/* A picture of before the second step, written late, wakes nothing. */
static void test_old_picture__wakes_nothing(void **state)
{
	(void)state;
	open_page(30, 100);
	ui_fake_wait(&f, 600);
	ui_fake_type(&f, "l");
	ui_core_input(&f.core, "\r", 1, f.now_ms);
	ui_core_written(&f.core, f.now_ms);
	f.now_ms += 490;
	ui_fake_draw(&f); /* the picture that the key would be for */
	f.now_ms += 20;
	ui_core_input(&f.core, "y", 1, f.now_ms);
	assert_int_equal(n_saves, 0);
	ui_fake_fini(&f);
}

static void test_small_window__saves_what_was_read(void **state)
{
	(void)state;
	open_page(5, 20);
	ui_fake_wait(&f, 600);
	ui_fake_type(&f, "l");
	ui_fake_type(&f, "\r");
	ui_fake_wait(&f, 600);
	ui_fake_type(&f, "y");
	assert_int_equal(n_saves, 0);
	assert_false(ui_fake_shows(&f, "y save"));
	int n = 0;
	for (; n < 100 && !ui_fake_shows(&f, "y save"); n++)
		ui_fake_type(&f, " ");
	assert_true(n > 3 && n < 100);
	ui_fake_type(&f, "y");
	assert_int_equal(n_saves, 1);
	ui_fake_fini(&f);
}

static void test_refused__said_and_nothing_closed(void **state)
{
	(void)state;
	open_page(30, 100);
	refusal = "Nothing was saved: No space left on device";
	ui_fake_wait(&f, 600);
	ui_fake_type(&f, "l");
	ui_fake_type(&f, "\r");
	ui_fake_wait(&f, 600);
	ui_fake_type(&f, "y");
	assert_int_equal(n_saves, 1);
	assert_true(ui_fake_shows(&f, "No space left on device"));
	assert_non_null(f.core.top);
	ui_fake_fini(&f);
}

/* Two programs of one name are two. */
static void test_same__goes_by_the_whole_path(void **state)
{
	(void)state;
	open_page(30, 100);
	ui_fake_wait(&f, 600);
	ui_fake_type(&f, "l");
	ui_fake_type(&f, "m");
	assert_int_equal(rows[0].next, UI_NEXT_ALWAYS);
	assert_int_equal(rows[1].next, UI_NEXT_AS_IS);
	assert_int_equal(rows[2].next, UI_NEXT_ALWAYS);
	ui_fake_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_typing_for_the_agent__decides_nothing),
		cmocka_unit_test(test_old_picture__wakes_nothing),
		cmocka_unit_test(test_small_window__saves_what_was_read),
		cmocka_unit_test(test_refused__said_and_nothing_closed),
		cmocka_unit_test(test_same__goes_by_the_whole_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
