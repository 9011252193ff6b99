/* SPDX-License-Identifier: MIT
 * The history view over a real store: sessions, their events, one event, and back; pages as it
 * scrolls; a hostile record shown escaped. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "tests/support/audit.h"
#include "tests/support/ui_fake.h"

static struct ui_fake f;
static struct place place;

static int start(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	place_make(&place);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	ui_fake_fini(&f);
	place_drop(&place);
	return 0;
}

static void open_history(int rows, int cols)
{
	ui_fake_init_history(&f, rows, cols);
	view_history_open(&f.core, place.path, 0);
	ui_fake_draw(&f);
}

static void record(uint64_t n_events, const char *host)
{
	struct ear e;
	struct aud_writer *w = writer_start(&place, &e);
	union zw_msg_any m = a_sock(1, ZW_DID_DENY);

	m.sock_event.note = zw_span("use localhost:5432");
	m.sock_event.waited_ms = 41000;
	aud_writer_put(w, ZW_ID_sock_event, &m);
	for (uint64_t seq = 2; seq < n_events + 1; seq++) {
		m = a_conn(seq, 0, seq % 5 == 0 ? ZW_DID_DENY : ZW_DID_ALLOW);
		m.conn_event.host = zw_span(host);
		m.conn_event.port = (uint16_t)(seq + 1000);
		aud_writer_put(w, ZW_ID_conn_event, &m);
		if (seq % 100 == 0)
			run_for(w, 1);
	}
	assert_int_equal(writer_stop(w), 0);
}

static void test_empty__no_store(void **state)
{
	(void)state;
	open_history(24, 80);
	assert_true(ui_fake_shows(&f, "No session is recorded yet."));
	ui_fake_type(&f, "jG\rgk");
	ui_fake_type(&f, "q");
	assert_int_equal(f.n_quits, 1);
}

static void test_broken__says_so(void **state)
{
	(void)state;
	record(1, "a.example");
	FILE *file = fopen(place.path, "we");
	assert_non_null(file);
	for (int i = 0; i < 4096; i++)
		fputs("not a store ", file);
	fclose(file);
	open_history(24, 80);
	assert_true(ui_fake_shows(&f, "The history cannot be read"));
	ui_fake_type(&f, "jG\r g");
	ui_fake_type(&f, "\033");
	assert_int_equal(f.n_quits, 1);
}

static void test_walk__sessions_events_event_and_back(void **state)
{
	(void)state;
	record(6, "registry.pkgs.test");
	record(2, "pypi.org");
	open_history(30, 100);
	assert_true(ui_fake_shows(&f, "Sessions  2"));
	assert_true(ui_fake_shows(&f, "claude"));
	assert_true(ui_fake_shows(&f, "~/src/shop"));
	ui_fake_type(&f, "j\r");
	assert_true(ui_fake_shows(&f, "Session 1  ~/src/shop"));
	assert_true(ui_fake_shows(&f, "registry.pkgs.test:1005"));
	ui_fake_type(&f, "G\r");
	assert_true(ui_fake_shows(&f, "/run/docker.sock"));
	assert_true(ui_fake_shows(&f, "Note       use localhost:5432"));
	assert_true(ui_fake_shows(&f, "Command    docker compose up"));
	assert_true(ui_fake_shows(&f, "Waited     41000 ms"));
	ui_fake_type(&f, "\033");
	ui_fake_type(&f, "\033");
	assert_true(ui_fake_shows(&f, "Sessions  2"));
	assert_int_equal(f.n_quits, 0);
	ui_fake_type(&f, "q");
	assert_int_equal(f.n_quits, 1);
}

static void test_pages__all_events_are_reached(void **state)
{
	(void)state;
	record(950, "registry.pkgs.test");
	open_history(24, 80);
	ui_fake_type(&f, "\r");
	for (int i = 0; i < 60; i++)
		ui_fake_type(&f, "\033[6~");
	assert_true(ui_fake_shows(&f, ">")); /* one is selected */
	assert_true(ui_fake_shows(&f, "/run/docker.sock"));
	ui_fake_type(&f, "g");
	assert_true(ui_fake_shows(&f, "registry.pkgs.test:1950"));
	ui_fake_type(&f, "G");
	assert_true(ui_fake_shows(&f, "/run/docker.sock"));
}

static void row_has(int row, const char *want)
{
	zw_autofree char *text = draw_row_text(&f.screen, row);

	if (strstr(text, want) == NULL)
		fail_msg("row %d: %s", row, text);
}

/* Row 3 is the first of a list. */
static void test_sort__by_a_column_both_ways_and_stable(void **state)
{
	(void)state;
	record(700, "registry.pkgs.test"); /* more than one page */
	open_history(30, 100);
	ui_fake_type(&f, "\r");
	row_has(3, ":1700");
	ui_fake_type(&f, "ss"); /* by did: equal ones stay the newest first */
	for (int i = 0; i < 40; i++)
		ui_fake_wait(&f, 30);
	row_has(2, "DIDv");
	row_has(3, "allow");
	row_has(3, ":1699");
	row_has(4, ":1698");
	ui_fake_type(&f, "G");
	assert_true(ui_fake_shows(&f, "/run/docker.sock")); /* the oldest denial */
	ui_fake_type(&f, "gr");
	row_has(2, "DID^");
	row_has(3, "DENY");
	row_has(3, ":1700");
	row_has(4, ":1695");
	ui_fake_type(&f, "ss"); /* kind, what */
	row_has(2, "WHATv");
	row_has(3, "/run/docker.sock");
	ui_fake_type(&f, "sss"); /* who, by, and the newest first again */
	row_has(2, "TIME ");
	row_has(3, ":1700");
	assert_true(ui_fake_shows(&f, "the newest first"));
}

static void test_columns__chosen_and_hidden(void **state)
{
	(void)state;
	record(3, "registry.pkgs.test");
	open_history(30, 100);
	ui_fake_type(&f, "\rx");
	assert_true(ui_fake_shows(&f, "time did kind what who by took note no risk"));
	ui_fake_type(&f, "\x15no hosts\r");
	assert_true(ui_fake_shows(&f, "no column 'hosts'"));
	ui_fake_type(&f, "x\x15no what address\r");
	row_has(2, "# WHAT");
	row_has(2, "ADDRESS");
	assert_false(ui_fake_shows(&f, "DID "));
	assert_true(ui_fake_shows(&f, "registry.pkgs.test"));
	ui_fake_resize(&f, 12, 40); /* the last ones go first */
	assert_false(ui_fake_shows(&f, "ADDRESS"));
	assert_true(ui_fake_shows(&f, "WHAT"));
	ui_fake_type(&f, "x\x15\r");
	row_has(2, "TIME");
}

static void test_line__denials_stand_on_it(void **state)
{
	(void)state;
	record(50, "registry.pkgs.test");
	open_history(30, 100);
	ui_fake_type(&f, "\r");
	for (int i = 0; i < 20; i++)
		ui_fake_wait(&f, 30);
	assert_true(ui_fake_shows(&f, "deny !   missed ?   mode change =   busy :"));
	row_has(27, "!");
	ui_fake_resize(&f, 12, 40);
	assert_false(ui_fake_shows(&f, "busy :"));
}

static void test_Z117_hostile__shown_escaped(void **state)
{
	(void)state;
	record(3, "a\033[2J\n%s%n');DROP TABLE event;--");
	open_history(30, 100);
	ui_fake_type(&f, "\r");
	assert_true(ui_fake_shows(&f, "a\\x1b[2J\\n%s%n')"));
	for (int row = 0; row < f.screen.rows; row++)
		for (int col = 0; col < f.screen.cols; col++)
			assert_in_range(f.screen.cell[row * f.screen.cols + col].cp[0], ' ', '~');
	ui_fake_type(&f, "\r");
	assert_true(ui_fake_shows(&f, "a\\x1b[2J\\n%s%n')"));
}

static void test_sizes__every_level(void **state)
{
	(void)state;
	record(30, "registry.pkgs.test");
	open_history(30, 100);
	for (int level = 0; level < 3; level++) {
		for (int rows = 1; rows < 60; rows += 3)
			for (int cols = 1; cols < 200; cols += 7)
				ui_fake_resize(&f, rows, cols);
		ui_fake_type(&f, "\r");
	}
}

static void test_session__esc_leaves_where_it_began(void **state)
{
	(void)state;
	record(3, "a.example");
	ui_fake_init_history(&f, 24, 80);
	view_history_open(&f.core, place.path, 1);
	ui_fake_draw(&f);
	assert_true(ui_fake_shows(&f, "Session 1"));
	ui_fake_type(&f, "\033");
	assert_int_equal(f.n_quits, 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, start, stop)

/* The same language as on the command line; what is wrong is said while it is typed. */
static void test_filter__typed_in_the_screen(void **state)
{
	(void)state;
	record(20, "a.example");
	record(3, "b.example");
	open_history(24, 100);
	ui_fake_type(&f, "/hosts:x");
	assert_true(ui_fake_shows(&f, "no field 'hosts' - did you mean host"));
	ui_fake_type(&f, "\r"); /* stays open: it is no filter */
	assert_true(ui_fake_shows(&f, "/ hosts:x"));
	ui_fake_type(&f, "\177\177\177:b.example\r");
	assert_true(ui_fake_shows(&f, "/ host:b.example"));
	assert_false(ui_fake_shows(&f, "did you mean"));
	ui_fake_type(&f, "/\177\177\177\177\177\177\177\177\177a.example did:deny\r");
	assert_true(ui_fake_shows(&f, "/ host:a.example did:deny"));
	/* The first session alone, and of it the refused ones alone. */
	ui_fake_type(&f, "\r");
	assert_true(ui_fake_shows(&f, "a.example:1005"));
	assert_false(ui_fake_shows(&f, "a.example:1004"));
	ui_fake_type(&f, "F");
	assert_false(ui_fake_shows(&f, "a.example:1005"));
	assert_true(ui_fake_shows(&f, "Nothing matches the filter."));
}

/* Where there is no room beside it, what is wrong is said below it. */
static void test_filter__narrow(void **state)
{
	(void)state;
	record(5, "a.example");
	open_history(12, 40);
	ui_fake_type(&f, "/did:deny hosts:aaaaaaaa");
	assert_true(ui_fake_shows(&f, "no field 'hosts'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_empty__no_store),
		T(test_broken__says_so),
		T(test_walk__sessions_events_event_and_back),
		T(test_pages__all_events_are_reached),
		T(test_sort__by_a_column_both_ways_and_stable),
		T(test_columns__chosen_and_hidden),
		T(test_line__denials_stand_on_it),
		T(test_Z117_hostile__shown_escaped),
		T(test_sizes__every_level),
		T(test_session__esc_leaves_where_it_began),
		T(test_filter__typed_in_the_screen),
		T(test_filter__narrow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
