/* SPDX-License-Identifier: MIT
 * Plain mode: what is printed, who gets the keys, and that an allow needs the whole sequence. */
#include "tests/support/test.h"

#include <string.h>

#include "src/base/mem.h"
#include "src/base/words.h"
#include "tests/support/ui_fake.h"
#include "ui/plain.h"

static struct ui_fake f;
static struct plain p;
static struct zw_buf out;

static void on_write(void *arg, const void *bytes, size_t len)
{
	(void)arg;
	assert_int_equal(zw_buf_add(&out, bytes, len), 0);
}

static int setup(void **state)
{
	const struct plain_effects effects = {.write = on_write};
	const struct plain_config config = {.arm_ms = 500,
					    .quiet_ms = 300,
					    .repeat_n = 3,
					    .flood_n = 8,
					    .flood_ms = 10000,
					    .agent_name = "claude",
					    .why = "ZWATCH_PLAIN"};

	(void)state;
	ui_fake_init(&f, UI_LAYOUT_COLLAPSED, 24, 80);
	zw_buf_init(&out, 1 << 20);
	plain_init(&p, &f.model, &f.core.host, &config, &effects, 80, f.now_ms);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	plain_fini(&p);
	zw_buf_fini(&out);
	ui_fake_fini(&f);
	return 0;
}

/* What was printed since the last call, in one line. */
static const char *printed(void)
{
	static char text[16384];
	size_t n = 0;

	plain_written(&p, f.now_ms);
	for (size_t i = 0; i < out.len && n + 1 < sizeof(text); i++) {
		uint8_t b = zw_buf_head(&out)[i];

		if (b == '\r')
			continue;
		text[n++] = b == '\n' ? ' ' : (char)b;
	}
	text[n] = '\0';
	zw_buf_consume(&out, out.len);
	return text;
}

static void shows(const char *text)
{
	const char *all = printed();

	if (strstr(all, text) == NULL)
		fail_msg("wanted: %s\nprinted: %s", text, all);
}

static void pass(int64_t ms)
{
	f.now_ms += ms;
}

/* One key in one piece, as a hand types. */
static void type(const char *keys)
{
	for (; *keys != '\0'; keys++) {
		pass(40);
		plain_input(&p, keys, 1, f.now_ms);
		plain_written(&p, f.now_ms);
	}
}

static void come(struct mdl_ask *a)
{
	(void)a;
	plain_changed(&p, MDL_CHANGED_ASKS, f.now_ms);
}

static void open_first(void)
{
	printed();
	type("\x1d");
	type("a");
}

static void test_words_of_a_question(void **state)
{
	(void)state;
	shows("zwatch: plain mode on (from ZWATCH_PLAIN). Say \"zwatch help plain\" for more.");
	come(ui_model_ask_docker(&f.model, 118));
	const char *all = printed();
	assert_non_null(strstr(all, "Question 118. CRITICAL. docker, started by claude, wants to"));
	assert_non_null(strstr(all, "If you allow it, the agent gets root on this machine."));
	assert_non_null(strstr(all, "Waiting. Press Control right bracket, then a, to answer."));
	open_first();
	all = printed();
	assert_non_null(
		strstr(all, "If you allow it: the agent gets root on this machine. It can"));
	assert_non_null(strstr(all, "1 deny once, 2 deny for this session, 3 deny with a note,"));
	assert_non_null(strstr(all, "Number, then Enter. Enter alone is 1:"));
}

static void test_keys_are_the_agents(void **state)
{
	(void)state;
	come(ui_model_ask_docker(&f.model, 1));
	type("4\rdocker\ry\r1\rsave\r");
	assert_int_equal(f.n_answers, 0);
	assert_int_equal(f.input.len, strlen("4\rdocker\ry\r1\rsave\r"));
}

static void test_enter_alone_denies(void **state)
{
	(void)state;
	come(ui_model_ask_docker(&f.model, 1));
	open_first();
	type("\r");
	assert_int_equal(f.n_answers, 1);
	assert_int_equal(f.answer.verdict, POL_DENY);
	assert_int_equal(f.answer.scope, ZW_SCOPE_ONCE);
	assert_int_equal(p.with, PLAIN_AGENT);
}

static void test_critical_takes_the_word(void **state)
{
	(void)state;
	come(ui_model_ask_docker(&f.model, 1));
	open_first();
	pass(600);
	type("4\r");
	shows("Type docker and Enter to allow once. Enter alone goes back:");
	assert_int_equal(f.n_answers, 0);
	type("dockr\r");
	shows("Not the same as docker. Nothing was allowed.");
	assert_int_equal(f.n_answers, 0);
	pass(600);
	type("4\rdocker\r");
	assert_int_equal(f.n_answers, 1);
	assert_int_equal(f.answer.verdict, POL_ALLOW);
	assert_string_equal(f.answer.key, "y+docker");
	assert_non_null(strstr(f.answer.shown, "the agent gets root"));
}

static void test_too_early_allows_nothing(void **state)
{
	(void)state;
	come(ui_model_ask_site(&f.model, 1));
	open_first();
	type("4\r");
	shows("Too early");
	assert_int_equal(f.n_answers, 0);
	pass(600);
	type("4\r");
	assert_int_equal(f.n_answers, 1);
	assert_int_equal(f.answer.verdict, POL_ALLOW);
}

static void test_high_takes_yes(void **state)
{
	(void)state;
	come(ui_model_ask_ssh(&f.model, 1));
	open_first();
	pass(600);
	type("4\r");
	shows("Type yes and Enter");
	type("\r");
	assert_int_equal(f.n_answers, 0);
	pass(600);
	type("4\ryes\r");
	assert_int_equal(f.n_answers, 1);
	assert_int_equal(f.answer.verdict, POL_ALLOW);
}

static void in_one_piece(const char *keys)
{
	pass(1000);
	plain_input(&p, keys, strlen(keys), f.now_ms);
	plain_written(&p, f.now_ms);
}

static void test_a_paste_allows_nothing(void **state)
{
	(void)state;
	come(ui_model_ask_docker(&f.model, 1));
	open_first();
	in_one_piece("4\r");
	assert_int_equal(p.ask.step, UI_ASK_CHOOSE);
	pass(600);
	type("4\r");
	in_one_piece("docker\r");
	in_one_piece("docker");
	type("\r");
	in_one_piece("\033[200~docker\r\033[201~");
	assert_int_equal(f.n_answers, 0);
	/* And what stood behind the key that opened it was typed ahead. */
	in_one_piece("\033");
	plain_input_timeout(&p, f.now_ms);
	in_one_piece("\x1d"
		     "a4\rdocker\r");
	assert_int_equal(f.n_answers, 0);
}

static void test_always_shows_the_rule_first(void **state)
{
	(void)state;
	come(ui_model_ask_docker(&f.model, 1));
	open_first();
	pass(600);
	type("6\r");
	const char *all = printed();
	assert_non_null(strstr(all, "From now on zwatch will not ask when"));
	assert_non_null(strstr(all, "until: 7 days"));
	type("5\r");
	shows("Tried on 12 past sessions");
	type("2\r");
	shows("in every project");
	type("docker\r");
	assert_int_equal(f.n_answers, 0);
	pass(600);
	type(mdl_ask_find(&f.model, 1)->target);
	type("\r");
	assert_int_equal(f.n_answers, 1);
	assert_int_equal(f.answer.scope, ZW_SCOPE_ALWAYS);
	assert_true(f.answer.is_everywhere);
}

static void test_note_for_the_agent(void **state)
{
	(void)state;
	come(ui_model_ask_site(&f.model, 1));
	open_first();
	type("3\ruse the cache\r");
	assert_int_equal(f.n_answers, 1);
	assert_int_equal(f.answer.verdict, POL_DENY);
	assert_string_equal(f.answer.note, "use the cache");
}

static void test_agent_is_held_back(void **state)
{
	(void)state;
	int done = f.n_frames_done;

	plain_agent(&p, "one\r\n", 5, f.now_ms);
	shows("one");
	assert_int_equal(f.n_frames_done, done + 1);
	come(ui_model_ask_site(&f.model, 1));
	open_first();
	printed();
	plain_agent(&p, "two\r\n", 5, f.now_ms);
	assert_null(strstr(printed(), "two"));
	assert_int_equal(f.n_frames_done, done + 1);
	type("\r");
	shows("two");
	assert_int_equal(f.n_frames_done, done + 2);
}

static void test_a_card_that_comes_changes_nothing(void **state)
{
	(void)state;
	come(ui_model_ask_site(&f.model, 1));
	open_first();
	printed();
	for (uint64_t id = 2; id < 52; id++)
		come(ui_model_ask_docker(&f.model, id));
	assert_string_equal(printed(), "");
	assert_int_equal(p.id, 1);
	type("\r");
	assert_int_equal(f.answer.ask, 1);
	assert_int_equal(p.with, PLAIN_AGENT); /* nothing opens by itself */
	shows("questions wait");
}

static void test_missed_gone_and_time_left(void **state)
{
	(void)state;
	struct mdl_ask *a = ui_model_ask_site(&f.model, 1), *b = ui_model_ask_docker(&f.model, 2);

	a->left_ms = b->left_ms = 120000;
	a->clock_ms = b->clock_ms = f.now_ms;
	come(a);
	printed();
	assert_in_range(plain_next_ms(&p, f.now_ms), 0, 1000);
	pass(60001);
	plain_tick(&p, f.now_ms);
	shows("still waits");
	plain_tick(&p, f.now_ms);
	assert_string_equal(printed(), "");
	pass(45000);
	plain_tick(&p, f.now_ms);
	shows("Time left 0:14");
	a->state = MDL_ASK_MISSED;
	b->state = MDL_ASK_GONE;
	come(a);
	const char *all = printed();
	assert_non_null(strstr(all, "Missed: question 1"));
	assert_non_null(strstr(all, "Gone: question 2"));
	type("\x1dw1\r");
	pass(600);
	shows("1 deny once");
	type("4\r");
	assert_int_equal(f.n_answers, 0); /* that try is over */
	pass(600);
	type("5\r");
	assert_int_equal(f.answer.scope, ZW_SCOPE_SESSION);
}

static void test_list_allows_low_risk_only(void **state)
{
	(void)state;
	come(ui_model_ask_site(&f.model, 1));
	come(ui_model_ask_ssh(&f.model, 2));
	type("\x1dw");
	pass(600);
	type("allow 1 2\r");
	assert_int_equal(f.n_answers, 0);
	type("\x1dwallow 1\r");
	shows("Too early");
	assert_int_equal(f.n_answers, 0);
	type("\x1dw");
	pass(600);
	type("allow 1\r");
	assert_int_equal(f.n_answers, 1);
	type("\x1dwdeny all\r");
	assert_int_equal(f.n_answers, 2);
	assert_int_equal(f.answer.verdict, POL_DENY);
}

static void test_second_key_has_no_clock(void **state)
{
	(void)state;
	p.config.is_second_key = true;
	come(ui_model_ask_site(&f.model, 1));
	open_first();
	type("4\r");
	shows("Type yes and Enter to allow once.");
	assert_int_equal(f.n_answers, 0);
	type("yes\r");
	assert_int_equal(f.answer.verdict, POL_ALLOW);
}

static void test_mode_stop_freeze_and_help(void **state)
{
	(void)state;
	type("\x1dm3\r");
	assert_int_equal(f.model.mode, POL_MODE_STRICT);
	type("\x1dm\r");
	assert_int_equal(f.model.mode, POL_MODE_STRICT);
	type("\x1d"
	     "f");
	assert_true(f.is_frozen);
	type("\x1dxstopp\r");
	assert_false(f.is_stopped);
	type("\x1dxstop\r");
	assert_true(f.is_stopped);
	printed();
	type("\x1d?");
	shows("answer the oldest question");
	type("\x1d\x1d");
	assert_int_equal(f.input.len, 1);
}

/* P11 and the rule of plain mode: whatever a program calls itself. */
static void test_no_control_reaches_the_terminal(void **state)
{
	(void)state;
	struct mdl_ask *a = ui_model_ask_docker(&f.model, 1);

	mdl_set(&a->proc.command,
		zw_span("a\033[2J\xe2\x80\xae"
			"b\r\n\a\x7f"),
		200);
	plain_message(&p, "\033[2Jx\r\xc2\x9b", f.now_ms);
	come(a);
	open_first();
	type("7\r");
	plain_written(&p, f.now_ms);
	type("\x1d"
	     "1\x1d"
	     "2\x1d"
	     "3\r\x1dw\r");
	for (size_t i = 0; i < out.len; i++) {
		uint8_t b = zw_buf_head(&out)[i];

		if (b == '\r')
			assert_int_equal(zw_buf_head(&out)[i + 1], '\n');
		else if (b != '\n')
			assert_true(b >= 0x20 && b != 0x7f);
	}
	zw_buf_add(&out, "", 1);
	assert_null(memmem(zw_buf_head(&out), out.len, "\xe2\x80\xae", 3));
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_words_of_a_question),
		T(test_keys_are_the_agents),
		T(test_enter_alone_denies),
		T(test_critical_takes_the_word),
		T(test_too_early_allows_nothing),
		T(test_high_takes_yes),
		T(test_a_paste_allows_nothing),
		T(test_always_shows_the_rule_first),
		T(test_note_for_the_agent),
		T(test_agent_is_held_back),
		T(test_a_card_that_comes_changes_nothing),
		T(test_missed_gone_and_time_left),
		T(test_list_allows_low_risk_only),
		T(test_second_key_has_no_clock),
		T(test_mode_stop_freeze_and_help),
		T(test_no_control_reaches_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
