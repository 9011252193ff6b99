/* SPDX-License-Identifier: MIT
 * Who listens on which port, as /proc/net/tcp has it. */
#include "tests/support/test.h"

#include <stdio.h>

#include "sandbox/broker/ports.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/tcp_table.h"

#define HEAD                                                                                  \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  " \
	"timeout inode\n"
#define ROW(addr, port, state, uid, ino)                                 \
	"   0: " addr ":" port " 00000000:0000 " state                   \
	" 00000000:00000000 00:00000000 00000000  " uid "        0 " ino \
	" 1 0000000000000000 100 0 0 10 0\n"

struct seen {
	char text[512];
	unsigned stop_after, n;
};

static bool on_each(const struct zw_tcp_listener *l, void *arg)
{
	struct seen *s = arg;
	size_t len = strlen(s->text);
	int n = snprintf(s->text + len, sizeof(s->text) - len, "%u%s/%u/%llu ", l->port,
			 l->is_on_loopback ? "" : "!", l->uid, (unsigned long long)l->ino);

	assert_true(n > 0 && len + (size_t)n < sizeof(s->text));
	return ++s->n != s->stop_after;
}

static void check(const char *text, const char *want)
{
	struct seen s = {.n = 0};

	zw_tcp_table(text, on_each, &s);
	assert_string_equal(s.text, want);
}

static void test_table__listeners_alone_with_owner_and_socket(void **state)
{
	(void)state;
	check(HEAD ROW("0100007F", "0CEA", "0A", "1000", "4711")
		      ROW("0100007F", "0CEB", "01", "0", "4712")
			      ROW("00000000", "0050", "0A", "0", "99"),
	      "3306/1000/4711 80/0/99 ");
	check(HEAD, "");
	check("", "");
	check(ROW("0100007F", "0CEA", "0A", "1000", "4711"), ""); /* the first line is the head */
}

static void test_table__what_loopback_reaches(void **state)
{
	(void)state;
	check(HEAD ROW("0A00000A", "0001", "0A", "0", "1") ROW("0200007F", "0002", "0A", "0", "2"),
	      "1!/0/1 2/0/2 ");
	check(HEAD ROW("00000000000000000000000001000000", "0003", "0A", "0",
		       "3") ROW("00000000000000000000000000000000", "0004", "0A", "0",
				"4") ROW("0000000000000000FFFF00000100007F", "0005", "0A", "0", "5")
		      ROW("0000000000000000FFFF00000A00000A", "0006", "0A", "0", "6")
			      ROW("B80D0120000000000000000001000000", "0007", "0A", "0", "7"),
	      "3/0/3 4/0/4 5/0/5 6!/0/6 7!/0/7 ");
	/* neither four bytes nor sixteen */
	check(HEAD ROW("0100007F0100007F", "0008", "0A", "0", "8"), "8!/0/8 ");
}

static void test_table__cut_and_broken_lines(void **state)
{
	static const char row[] = ROW("0100007F", "0CEA", "0A", "1000", "4711");
	char text[512];

	(void)state;
	/* Cut anywhere: all of the row or nothing, never a part of a number. */
	for (size_t cut = 0; cut < sizeof(row); cut++) {
		snprintf(text, sizeof(text), "%s%.*s", HEAD, (int)cut, row);
		check(text, cut == sizeof(row) - 1 ? "3306/1000/4711 " : "");
	}
	/* A short line does not take the next one's fields. */
	check(HEAD "   0: 0100007F:0CEA 00000000:0000 0A\n" ROW("0100007F", "0001", "0A", "5", "6"),
	      "1/5/6 ");
	check(HEAD "\n\n x\n" ROW("0100007F", "0001", "0A", "5", "6"), "1/5/6 ");
	memset(text, ' ', sizeof(text));
	memcpy(text, "\n", 1);
	memcpy(text + 300, row, sizeof(row)); /* longer than any line */
	check(text, "");
}

static void test_table__can_be_stopped(void **state)
{
	struct seen s = {.stop_after = 1};

	(void)state;
	zw_tcp_table(HEAD ROW("0100007F", "0001", "0A", "0", "1")
			     ROW("0100007F", "0002", "0A", "0", "2"),
		     on_each, &s);
	assert_string_equal(s.text, "1/0/1 ");
}

static void test_set__counts_each_port_once(void **state)
{
	struct brk_ports s = {.n = 0};

	(void)state;
	assert_true(brk_ports_add(&s, 0));
	assert_true(brk_ports_add(&s, 65535));
	assert_false(brk_ports_add(&s, 65535));
	assert_int_equal(s.n, 2);
	assert_true(brk_ports_has(&s, 65535));
	assert_false(brk_ports_has(&s, 65534));
	brk_ports_remove(&s, 65534);
	brk_ports_remove(&s, 65535);
	assert_false(brk_ports_has(&s, 65535));
	assert_int_equal(s.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table__listeners_alone_with_owner_and_socket),
		cmocka_unit_test(test_table__what_loopback_reaches),
		cmocka_unit_test(test_table__cut_and_broken_lines),
		cmocka_unit_test(test_table__can_be_stopped),
		cmocka_unit_test(test_set__counts_each_port_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
