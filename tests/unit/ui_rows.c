/* SPDX-License-Identifier: MIT
 * The lists of connections and sockets: what is selected stays selected, and what is done is done to
 * the row that was seen. */
#include "tests/support/test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/words.h"
#include "tests/support/ui_fake.h"

#define PREFIX "\x1d"

static struct ui_fake f;

static int setup(void **state)
{
	(void)state;
	ui_fake_init(&f, UI_LAYOUT_DASHBOARD, 30, 100);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ui_fake_fini(&f);
	return 0;
}

static struct mdl_conn *add_conn(uint64_t id, unsigned did)
{
	bool is_new;
	struct mdl_conn *c = mdl_conn_get(&f.model, id, &is_new);

	mdl_set(&c->host, zw_span("late.example"), 255);
	c->port = 443;
	c->did = did;
	c->closed_us = did == ZW_DID_ALLOW ? 0 : 1;
	c->n_times = 1;
	ui_core_changed(&f.core, MDL_CHANGED_CONNS, f.now_ms);
	return c;
}

static const struct mdl_conn *selected(void)
{
	return dash_selected(&f.core).conn;
}

/* A newer row comes between the look and the key: the key is about the row that was seen. */
static void test_selection__stays_when_rows_come(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "2");
	const struct mdl_conn *first = selected();
	assert_non_null(first);
	add_conn(100, ZW_DID_ALLOW);
	ui_fake_type(&f, "b");
	assert_ptr_equal(f.closed_conn, first);
	ui_fake_draw(&f);
	assert_ptr_equal(selected(), first);
	assert_true(f.core.lists[UI_FOCUS_CONNS].sel == 1);
	ui_fake_type(&f, "g");
	add_conn(101, ZW_DID_ALLOW);
	ui_fake_draw(&f);
	assert_int_equal(selected()->id, 100);
	/* Without the keys the list shows what is new. */
	ui_fake_type(&f, "\033");
	ui_fake_wait(&f, 1000);
	ui_core_input_timeout(&f.core, f.now_ms);
	assert_int_equal(f.core.focus, UI_FOCUS_AGENT);
}

/* A socket that is used again has a new event and a new place, and is the same row. */
static void test_selection__stays_on_a_socket_that_repeats(void **state)
{
	bool is_new;

	(void)state;
	ui_fake_type(&f, PREFIX "3jj");
	const struct mdl_sock *k = dash_selected(&f.core).sock;
	struct mdl_sock *again =
		mdl_sock_get(&f.model, zw_span(k->raw_target), k->proc.pid, k->did, k->op, &is_new);
	assert_false(is_new);
	again->id = 9000;
	ui_core_changed(&f.core, MDL_CHANGED_SOCKS, f.now_ms);
	ui_fake_draw(&f);
	assert_ptr_equal(dash_selected(&f.core).sock, k);
}

static void test_filter__narrows_as_it_is_typed(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "2/proc:node");
	assert_int_equal(f.core.list_rows[UI_FOCUS_CONNS].n, 5);
	assert_true(ui_fake_shows(&f, "ok 5 of 8"));
	ui_fake_type(&f, " did:deny");
	assert_int_equal(f.core.list_rows[UI_FOCUS_CONNS].n, 1);
	/* What is no filter (yet) leaves the last one in force and says where it is wrong. */
	ui_fake_type(&f, " hosts:x");
	assert_true(ui_fake_shows(&f, "did you mean host"));
	ui_fake_type(&f, "\r");
	assert_true(f.core.is_filtering);
	ui_fake_type(&f, "\x15port:5432\r");
	assert_false(f.core.is_filtering);
	assert_true(ui_fake_shows(&f, "1 of 8: port:5432"));
	assert_int_equal(f.input.len, 0); /* nothing of it went to the agent */
	/* The last lines come back. */
	ui_fake_type(&f, "/\x15\033[A");
	assert_string_equal(f.core.edit.text, "port:5432");
}

static void test_filter__by_row(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "2jf");
	assert_int_equal(f.core.list_rows[UI_FOCUS_CONNS].n, 3);
	ui_fake_type(&f, "q");
	assert_int_equal(f.core.list_rows[UI_FOCUS_CONNS].n, 8);
	ui_fake_type(&f, "gF");
	assert_int_equal(f.core.list_rows[UI_FOCUS_CONNS].n, 6);
	ui_fake_type(&f, "qgp");
	assert_int_equal(f.core.list_rows[UI_FOCUS_CONNS].n, 2);
}

static void test_sort__keeps_the_selection(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "2jj");
	const struct mdl_conn *c = selected();
	for (int i = 0; i < UI_SORT_MAX; i++) {
		ui_fake_type(&f, "s");
		ui_fake_draw(&f);
		assert_ptr_equal(selected(), c);
	}
	assert_int_equal(f.core.picks[UI_FOCUS_CONNS].sort, UI_SORT_NEWEST);
	ui_fake_type(&f, "ssg");
	assert_string_equal(mdl_proc_name(&selected()->proc), "claude");
	ui_fake_type(&f, "sg");
	assert_int_equal(selected()->down_b, 2306867);
	/* What waits stands first whatever the order. */
	ui_model_ask_site(&f.model, 3);
	ui_core_changed(&f.core, MDL_CHANGED_ASKS, f.now_ms);
	ui_fake_type(&f, "g");
	assert_non_null(dash_selected(&f.core).ask);
}

static void copied(const char *keys, const char *wanted)
{
	f.copied[0] = '\0';
	ui_fake_type(&f, keys);
	if (strncmp(f.copied, wanted, strlen(wanted)) != 0)
		fail_msg("'%s' copies '%s'", keys, f.copied);
	assert_null(f.core.top);
}

static void test_copy__every_part(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "2j");
	copied("ch", "registry.pkgs.test:443");
	copied("cp", "node(4720) prog --flag");
	copied("cl", "allow net registry.pkgs.test:443 node(4720) up 1228 down 860160 by rule 7");
	copied("c\r", "allow net registry.pkgs.test:443");
	copied("cr", "zwatch rules add deny registry.pkgs.test:443");
	copied("cj", "{\"schema\": 1, \"kind\": \"net\", \"did\": \"allow\", \"host\": "
		     "\"registry.pkgs.test\", \"port\": 443");
	ui_fake_type(&f, "ca");
	assert_true(ui_fake_shows(&f, "It has no address"));
	ui_fake_type(&f, PREFIX "3");
	copied("ch", "/run/user/1000/ssh-agent.sock");
	copied("cj", "{\"schema\": 1, \"kind\": \"unix\", \"op\": \"connect\", \"did\": \"deny\"");
}

static void test_deny__says_what_and_asks_for_how_long(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "2jn");
	assert_true(ui_fake_shows(&f, "registry.pkgs.test:443, for whatever the agent runs."));
	ui_fake_type(&f, "x"); /* no key of it: nothing happens */
	assert_int_equal(f.n_denies, 0);
	ui_fake_type(&f, "p");
	assert_true(ui_fake_shows(&f, "for /usr/bin/node."));
	ui_fake_type(&f, "A");
	assert_int_equal(f.n_denies, 1);
	assert_true(f.deny.is_always);
	assert_int_equal(f.deny.kind, POL_KIND_SITE);
	assert_string_equal(f.deny_target, "registry.pkgs.test:443");
	assert_string_equal(f.deny_program, "/usr/bin/node");
	assert_true(ui_fake_shows(&f, "From now on denied."));
	ui_fake_type(&f, PREFIX "3n\r");
	assert_int_equal(f.n_denies, 2);
	assert_false(f.deny.is_always);
	assert_string_equal(f.deny_target, "/run/user/1000/ssh-agent.sock");
	assert_string_equal(f.deny_program, "");
	ui_fake_type(&f, "jn"); /* both ends inside */
	assert_null(f.core.top);
	assert_int_equal(f.n_denies, 2);
}

static void test_page__walks_the_list_and_acts_on_its_row(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "2j\r");
	assert_true(ui_fake_shows(&f, "Connection 2 of 8"));
	assert_true(ui_fake_shows(&f, "allow by rule 7: allow *.pkgs.test, from"));
	ui_fake_type(&f, "l");
	assert_true(ui_fake_shows(&f, "codeload.github.com:443"));
	assert_true(ui_fake_shows(&f, "NEW in this project"));
	add_conn(100, ZW_DID_ALLOW); /* the page stays with its row */
	ui_fake_type(&f, "b");
	assert_string_equal(f.closed_conn->host, "codeload.github.com");
	copied("qcl", "allow net codeload.github.com:443");
	ui_fake_type(&f, "\rf");
	assert_null(f.core.top);
	assert_int_equal(f.core.list_rows[UI_FOCUS_CONNS].n, 1);
}

/* A row that made room must not be touched any more. */
static void test_page__of_a_row_that_is_gone(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "2G\r");
	for (uint64_t id = 1000; id < 1000 + MDL_CONNS_MAX; id++)
		add_conn(id, ZW_DID_DENY);
	ui_fake_draw(&f);
	assert_true(ui_fake_shows(&f, "made room for newer ones"));
	ui_fake_type(&f, "b");
	assert_null(f.closed_conn);
	ui_fake_type(&f, "n");
	assert_int_equal(f.n_denies, 0);
}

static void click(int row, int col)
{
	zw_autofree char *press =
		zw_xasprintf("\033[<0;%d;%dM\033[<0;%d;%dm", col + 1, row + 1, col + 1, row + 1);

	ui_fake_type(&f, press);
	ui_fake_draw(&f);
}

/* The first click into a list only gives it the keys. */
static void test_mouse__focus_then_select_then_open(void **state)
{
	const struct ui_rect *r = &f.core.rects.conns;

	(void)state;
	click(r->top + 3, 10);
	assert_int_equal(f.core.focus, UI_FOCUS_CONNS);
	assert_int_equal(f.core.lists[UI_FOCUS_CONNS].sel, 0);
	click(r->top + 3, 10);
	assert_int_equal(f.core.lists[UI_FOCUS_CONNS].sel, 2);
	assert_null(f.core.top);
	click(r->top + 3, 10);
	assert_non_null(f.core.top);
	assert_true(ui_fake_shows(&f, "Connection 3 of 8"));
}

/* -- processes ----------------------------------------------------------------------------------- */

static void test_processes__freeze_end_and_what_they_have_open(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "p");
	assert_true(f.is_watched);
	assert_true(ui_fake_shows(&f, "Processes  5  CPU 101%"));
	ui_fake_type(&f, "x"); /* the agent itself is not ended by a slip of the finger */
	assert_int_equal(f.signalled, 0);
	ui_fake_type(&f, "jjx");
	assert_int_equal(f.signalled, 4720);
	assert_int_equal(f.signal, SIGTERM);
	/* Others come and go: the selection is on its process. */
	memmove(&f.model.tasks[0], &f.model.tasks[1], 4 * sizeof(*f.model.tasks));
	f.model.n_tasks = 4;
	ui_core_changed(&f.core, MDL_CHANGED_TASKS, f.now_ms);
	ui_fake_draw(&f);
	ui_fake_type(&f, "f");
	assert_int_equal(f.signalled, 4720);
	assert_int_equal(f.signal, SIGSTOP);
	ui_fake_type(&f, "Gf");
	assert_int_equal(f.signalled, 4790);
	assert_int_equal(f.signal, SIGCONT);
	f.refusal = "That process is over.";
	ui_fake_type(&f, "X");
	assert_int_equal(f.signal, SIGKILL);
	assert_true(ui_fake_shows(&f, "That process is over."));
	ui_fake_type(&f, "ssgj");
	copied("kcq", "4720 node node_modules");
	assert_false(f.is_watched);
	ui_fake_type(&f, PREFIX "pgj\r");
	assert_null(f.core.top);
	assert_int_equal(f.core.focus, UI_FOCUS_CONNS);
	assert_string_equal(f.core.picks[UI_FOCUS_CONNS].text, "pid:4720");
}

/* -- colours ------------------------------------------------------------------------------------- */

static void test_themes__what_each_may_use(void **state)
{
	static const uint32_t red = PANE_COLOUR_INDEX | 1, green = PANE_COLOUR_INDEX | 2;

	(void)state;
	for (int theme = 0; theme < UI_THEME_MAX; theme++) {
		for (int style = 0; style < UI_STYLE_MAX; style++) {
			struct draw_ctx c = draw_all(&f.screen, true, true);

			c.theme = (enum ui_theme)theme;
			draw_text(&c, 0, 0, (enum ui_style)style, "x");
			const struct pane_cell *cell = &f.screen.cell[0];
			if (theme == UI_THEME_MONO)
				assert_int_equal(cell->fg, PANE_COLOUR_DEFAULT);
			if (theme == UI_THEME_MONO || theme == UI_THEME_HIGH_CONTRAST)
				assert_int_equal(cell->attrs & PANE_ATTR_DIM, 0);
			if (theme == UI_THEME_BLUE_ORANGE)
				assert_true(cell->fg != red && cell->fg != green &&
					    cell->bg != red);
		}
	}
}

static void test_rate__a_minute_and_no_more(void **state)
{
	struct mdl_rate r = {0};
	uint32_t up, down;

	(void)state;
	mdl_rate_add(&r, 1000, 5, 7);
	mdl_rate_add(&r, 1000, 5, UINT64_C(1) << 40);
	mdl_rate_at(&r, 1003, 3, &up, &down);
	assert_int_equal(up, 10);
	assert_int_equal(down, UINT32_MAX);
	mdl_rate_at(&r, 1060, 60, &up, &down);
	assert_int_equal(up, 0);
	mdl_rate_add(&r, 1059, 1, 1);
	mdl_rate_at(&r, 1059, 59, &up, &down);
	assert_int_equal(up, 10);
	mdl_rate_at(&r, 1059, 30, &up, &down);
	assert_int_equal(up, 0);
	mdl_rate_add(&r, 5000, 2, 2);
	mdl_rate_at(&r, 5000, 0, &up, &down);
	assert_int_equal(up, 2);
	mdl_rate_at(&r, 5000, 41, &up, &down);
	assert_int_equal(up, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_selection__stays_when_rows_come, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_selection__stays_on_a_socket_that_repeats,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_filter__narrows_as_it_is_typed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_filter__by_row, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sort__keeps_the_selection, setup, teardown),
		cmocka_unit_test_setup_teardown(test_copy__every_part, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deny__says_what_and_asks_for_how_long, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_page__walks_the_list_and_acts_on_its_row,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_page__of_a_row_that_is_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mouse__focus_then_select_then_open, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_processes__freeze_end_and_what_they_have_open,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_themes__what_each_may_use, setup, teardown),
		cmocka_unit_test(test_rate__a_minute_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
