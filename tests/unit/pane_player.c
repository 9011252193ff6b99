/* SPDX-License-Identifier: MIT
 * Playing a recording: what is in it, the screen at any time on the way there and back, and that
 * what was recorded with cast.c is read as it was. */
#include "tests/support/test.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "ui/pane/cast.h"
#include "ui/pane/player.h"

static struct pane_player p; /* large */
static char marks[4096];

static void on_mark(void *arg, int64_t at_us, const char *text)
{
	size_t n = strlen(marks);

	(void)arg;
	snprintf(marks + n, sizeof(marks) - n, "%lld %s\n", (long long)at_us, text);
}

static int file_of(const char *text, size_t len)
{
	int fd = memfd_create("cast", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	return fd;
}

static void look(int fd)
{
	marks[0] = '\0';
	assert_int_equal(pane_player_init(&p, fd), 0);
	while (pane_player_look(&p, on_mark, NULL))
		;
	assert_true(p.is_known);
}

static void go(int64_t us)
{
	pane_player_go(&p, us);
	while (pane_player_step(&p))
		;
}

static void row_is(unsigned row, const char *want)
{
	static struct pane_cell cell[PANE_COLS_MAX];
	char got[PANE_COLS_MAX + 1];
	size_t end = 0;

	pane_vt_copy_row(p.vt, row, cell);
	for (unsigned i = 0; i < 20; i++) {
		got[i] = cell[i].cp[0] == 0 ? ' ' : (char)cell[i].cp[0];
		end = got[i] != ' ' ? i + 1 : end;
	}
	got[end] = '\0';
	assert_string_equal(got, want);
}

#define HEAD "{\"version\": 2, \"width\": 20, \"height\": 5, \"timestamp\": 1700000000}\n"

static void test_player__any_time_and_back(void **state)
{
	static const char text[] = HEAD "[1.0, \"o\", \"one\"]\n"
					"[2.5, \"m\", \"deny: x\"]\n"
					"[2.5, \"o\", \" two\"]\n"
					"[3, \"r\", \"40x7\"]\n"
					"[4.000001, \"o\", \"\\u001b[2J\\u001b[Hthree\"]\n"
					"[9, \"m\", \"allow: y\"]\n";
	struct pane_vt_state s;

	(void)state;
	look(file_of(text, sizeof(text) - 1));
	assert_int_equal(p.end_us, 9000000);
	assert_int_equal(p.head.t_s, 1700000000);
	assert_string_equal(marks, "2500000 deny: x\n9000000 allow: y\n");
	assert_int_equal(p.n_bad, 0);
	go(0);
	row_is(0, "");
	assert_int_equal(pane_player_next_us(&p), 1000000);
	go(1000000);
	row_is(0, "one");
	go(2600000);
	row_is(0, "one two");
	go(9000000);
	row_is(0, "three");
	assert_int_equal(pane_player_next_us(&p), -1);
	pane_vt_state(p.vt, &s);
	assert_int_equal(s.cols, 40);
	go(2000000);
	row_is(0, "one");
	pane_vt_state(p.vt, &s);
	assert_int_equal(s.cols, 20);
	go(INT64_MAX);
	row_is(0, "three");
	pane_player_fini(&p);
}

static void test_player__reads_what_is_recorded(void **state)
{
	int fd = memfd_create("cast", MFD_CLOEXEC);
	struct pane_cast c;
	char wide[9000];

	(void)state;
	assert_true(fd >= 0);
	memset(wide, 'x', sizeof(wide)); /* more than one line of the file holds */
	pane_cast_init(&c);
	pane_cast_begin(&c, &(struct pane_cast_begin){.take_fd = dup(fd),
						      .max_b = 1 << 20,
						      .start_us = 0,
						      .title = zw_span("a \"title\"\\"),
						      .rows = 5,
						      .cols = 20});
	pane_cast_output(&c, wide, sizeof(wide), 1000);
	pane_cast_output(&c, "\033[2J\033[H\"q\" \\ \xff end", 18, 2000);
	pane_cast_mark(&c, zw_span("ask: a \"b\""), 3000);
	pane_cast_fini(&c);
	look(fd);
	assert_string_equal(marks, "3000 ask: a \"b\"\n");
	assert_int_equal(p.n_bad, 0);
	go(p.end_us);
	row_is(0, "\"q\" \\ \xfd end");
	pane_player_fini(&p);
}

static void test_player__what_is_no_line_is_counted(void **state)
{
	size_t long_b = PANE_CAST_LINE_MAX_B + 5, used = sizeof(HEAD) - 1;
	char *text = zw_xmalloc(2 * long_b);

	(void)state;
	memcpy(text, HEAD, used);
	memset(text + used, 'y', long_b); /* longer than any line may be */
	used += long_b;
	used += (size_t)snprintf(text + used, long_b,
				 "\n[1, \"o\", \"a\"]\n[x]\n[1,\"o\",\"\\q\"]\n[2, \"o\", \"b\"]\n"
				 "[1.5, \"o\", \"c\"]\n[3, \"o\", \"cut o");
	look(file_of(text, used));
	assert_int_equal(p.n_bad, 3);
	assert_int_equal(p.end_us, 2000000);
	go(p.end_us);
	row_is(0, "abc"); /* a time that goes back is the time that it was */
	pane_player_fini(&p);
	free(text);
}

static void test_player__what_is_no_recording(void **state)
{
	static const char *const heads[] = {
		"",
		"\n",
		"{",
		"{}\n",
		"[1, \"o\", \"x\"]\n",
		"{\"version\": 3, \"width\": 1, \"height\": 1}\n",
		"{\"version\": 2, \"width\": 0, \"height\": 1}\n",
		"{\"version\": 2, \"width\": 1, \"height\": 1", /* no line end: not whole */
		"{\"version\": 2, \"width\": 1, \"height\": 1, \"a\": [[[[[[[[[[[[[[[[[[[[1]\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		assert_int_equal(pane_player_init(&p, file_of(heads[i], strlen(heads[i]))),
				 ZW_E_SYNTAX);
		assert_false(pane_player_look(&p, on_mark, NULL));
		pane_player_fini(&p);
	}
}

/* The time line has a fixed number of parts, however long it is. */
static void test_player__parts_of_the_time(void **state)
{
	static const char text[] = HEAD "[0.05, \"o\", \"aaaa\"]\n[86400, \"o\", \"bb\"]\n";
	uint8_t busy[PANE_PLAYER_PARTS];

	(void)state;
	look(file_of(text, sizeof(text) - 1));
	size_t n = pane_player_busy(&p, busy);
	assert_true(n > PANE_PLAYER_PARTS / 2 && n <= PANE_PLAYER_PARTS);
	assert_int_equal(busy[0], 255);
	assert_int_equal(busy[n - 1], 127);
	assert_int_equal(busy[1], 0);
	pane_player_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_player__any_time_and_back),
		cmocka_unit_test(test_player__reads_what_is_recorded),
		cmocka_unit_test(test_player__what_is_no_line_is_counted),
		cmocka_unit_test(test_player__what_is_no_recording),
		cmocka_unit_test(test_player__parts_of_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
