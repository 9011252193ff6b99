/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "src/base/words.h"
#include "src/model/model.h"
#include "tests/support/test.h"

static void test_proc__hostile_names_are_printable(void **state)
{
	struct mdl_session s;
	bool is_new;

	(void)state;
	mdl_session_init(&s, "/home/u");
	struct mdl_conn *c = mdl_conn_get(&s, 1, &is_new);
	assert_true(is_new);
	mdl_proc_set(&s, &c->proc, 7, zw_span("/bin/a\033[2J"), zw_span_n("a\0b c\0\0\n", 8),
		     zw_span("/home/u/src\u202e"), zw_span_n("1 claude\0002 ba\nsh", 16));
	assert_string_equal(c->proc.exe, "/bin/a\\x1b[2J");
	assert_string_equal(c->proc.command, "a 'b c' '' \\n");
	assert_string_equal(c->proc.cwd, "~/src\\u{202e}");
	assert_string_equal(c->proc.chain, "claude(1) > ba\\nsh(2)");
	mdl_session_fini(&s);
}

static void test_home__only_at_a_component(void **state)
{
	struct mdl_session s;
	char *shown = NULL;

	(void)state;
	mdl_session_init(&s, "/home/u");
	mdl_set_path(&s, &shown, zw_span("/home/user/x"));
	assert_string_equal(shown, "/home/user/x");
	mdl_set_path(&s, &shown, zw_span("/home/u"));
	assert_string_equal(shown, "~");
	free(shown);
	mdl_session_fini(&s);
}

static void test_lists__bounded_and_live_rows_stay(void **state)
{
	struct mdl_session s;
	bool is_new;

	(void)state;
	mdl_session_init(&s, "");
	mdl_conn_get(&s, 1, &is_new);
	for (uint64_t id = 2; id < 2 * MDL_CONNS_MAX; id++)
		mdl_conn_get(&s, id, &is_new)->closed_us = 5;
	assert_true(s.n_conns <= MDL_CONNS_MAX);
	mdl_conn_get(&s, 1, &is_new);
	assert_false(is_new);
	for (uint64_t i = 0; i < 2 * MDL_SOCKS_MAX; i++)
		mdl_sock_get(&s, zw_span("/s"), (uint32_t)i, ZW_DID_AUTO, ZW_OP_CONNECT, &is_new);
	assert_int_equal(s.n_socks, MDL_SOCKS_MAX);
	for (uint64_t i = 1; i < 2 * MDL_ASKS_MAX; i++)
		mdl_ask_new(&s, i)->state = i == 1 ? MDL_ASK_HELD : MDL_ASK_GONE;
	assert_non_null(mdl_ask_find(&s, 1));
	assert_true(s.n_asks <= MDL_ASKS_MAX);
	mdl_session_fini(&s);
}

static void test_asks__riskiest_first_then_oldest_and_clock_stands_while_open(void **state)
{
	struct mdl_session s;

	(void)state;
	mdl_session_init(&s, "");
	struct mdl_ask *site = mdl_ask_new(&s, 1), *high = mdl_ask_new(&s, 2),
		       *high2 = mdl_ask_new(&s, 3);
	site->risk = POL_RISK_LOW;
	high->risk = high2->risk = POL_RISK_HIGH;
	assert_ptr_equal(mdl_ask_first(&s), high);
	high->state = MDL_ASK_ANSWERED;
	assert_ptr_equal(mdl_ask_first(&s), high2);
	assert_int_equal(mdl_asks_waiting(&s), 2);
	site->left_ms = 1000;
	site->clock_ms = 5000;
	assert_int_equal(mdl_ask_left_ms(site, 5400), 600);
	assert_int_equal(mdl_ask_left_ms(site, 9000), 0);
	site->state = MDL_ASK_OPEN;
	assert_int_equal(mdl_ask_left_ms(site, 9000), 1000);
	site->left_ms = 0;
	assert_int_equal(mdl_ask_left_ms(site, 9000), INT64_MAX);
	mdl_session_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_proc__hostile_names_are_printable),
		cmocka_unit_test(test_home__only_at_a_component),
		cmocka_unit_test(test_lists__bounded_and_live_rows_stay),
		cmocka_unit_test(test_asks__riskiest_first_then_oldest_and_clock_stands_while_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
