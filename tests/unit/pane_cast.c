/* SPDX-License-Identifier: MIT
 * The recording of the screen: its lines, characters that come in pieces, its bound, and a disk that
 * takes no more. */
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "ui/pane/cast.h"

static struct pane_cast begin(int *ret_fd, uint64_t size_b, uint64_t max_b)
{
	struct pane_cast c;

	*ret_fd = memfd_create("cast", MFD_CLOEXEC);
	assert_true(*ret_fd >= 0);
	pane_cast_init(&c);
	pane_cast_begin(&c, &(struct pane_cast_begin){.take_fd = dup(*ret_fd),
						      .size_b = size_b,
						      .max_b = max_b,
						      .t_us = 1700000000 * INT64_C(1000000),
						      .start_us = 5000000,
						      .title = zw_span("a \"title\"\\"),
						      .rows = 24,
						      .cols = 80});
	return c;
}

static void file_is(int fd, const char *want)
{
	static char got[1 << 20];
	ssize_t n = pread(fd, got, sizeof(got) - 1, 0);

	assert_true(n >= 0);
	got[n] = '\0';
	assert_string_equal(got, want);
}

#define HEAD                                                                                   \
	"{\"version\": 2, \"width\": 80, \"height\": 24, \"timestamp\": 1700000000, \"env\": " \
	"{\"TERM\": \"xterm-256color\"}, \"title\": \"a \\\"title\\\"\\\\\"}\n"

static void test_cast__lines(void **state)
{
	int fd;
	struct pane_cast c = begin(&fd, 0, 1 << 20);

	(void)state;
	file_is(fd, HEAD);
	pane_cast_output(&c, "a\033[1m\r\n\x7f\"\\", 10, 5000001);
	pane_cast_resize(&c, 30, 100, 6500000);
	pane_cast_mark(&c, zw_span("deny: x"), 6500000);
	file_is(fd, HEAD); /* what is small waits */
	pane_cast_flush(&c);
	file_is(fd, HEAD "[0.000001, \"o\", \"a\\u001b[1m\\u000d\\u000a\\u007f\\\"\\\\\"]\n"
			 "[1.500000, \"r\", \"100x30\"]\n"
			 "[1.500000, \"m\", \"deny: x\"]\n");
	pane_cast_fini(&c);
	close(fd);
}

static void test_cast__a_character_in_pieces_is_one(void **state)
{
	static const char text[] = "\xe6\x97\xa5\xf0\x9f\x8e\x89z";
	int fd;
	struct pane_cast c = begin(&fd, 1, 1 << 20);

	(void)state;
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		pane_cast_output(&c, text + i, 1, 5000000);
	pane_cast_output(&c, "\xe6\x97", 2, 5000000); /* never completed */
	pane_cast_fini(&c);
	file_is(fd, "[0.000000, \"o\", \"\xe6\x97\xa5\"]\n[0.000000, \"o\", \"\xf0\x9f\x8e\x89\"]\n"
		    "[0.000000, \"o\", \"z\"]\n[0.000000, \"o\", \"\xef\xbf\xbd\"]\n");
	close(fd);
}

static void test_cast__what_is_not_utf8_is_replaced(void **state)
{
	int fd;
	struct pane_cast c = begin(&fd, 1, 1 << 20);

	(void)state;
	pane_cast_output(&c,
			 "a\xff\xc0\xaf\xed\xa0\x80"
			 "b",
			 8, 5000000);
	pane_cast_flush(&c);
	file_is(fd, "[0.000000, \"o\", \"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf"
		    "\xbd\xef\xbf\xbd"
		    "b\"]\n");
	pane_cast_fini(&c);
	close(fd);
}

/* Any bytes: each line is whole, in UTF-8 and without a control character. */
static void test_cast__any_bytes(void **state)
{
	static uint8_t bytes[100000];
	char *got = NULL;
	size_t len = 0;
	int fd;
	struct pane_cast c = begin(&fd, 0, 4 << 20);

	(void)state;
	srandom(11);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)random();
	for (size_t i = 0; i < sizeof(bytes); i += 777)
		pane_cast_output(&c, bytes + i, sizeof(bytes) - i < 777 ? sizeof(bytes) - i : 777,
				 zw_mono_us());
	pane_cast_fini(&c);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(zw_read_fd(fd, 4 << 20, &got, &len), 0);
	assert_true(len > sizeof(bytes));
	assert_int_equal(got[len - 1], '\n');
	for (size_t i = 0; i < len;) {
		uint32_t cp;
		int n = zw_utf8_decode((uint8_t *)got + i, len - i, &cp);

		assert_true(n > 0);
		assert_true(cp >= ' ' ||
			    (cp == '\n' && got[i - 1] == (got[0] == '{' && i < 200 ? '}' : ']')));
		i += (size_t)n;
	}
	free(got);
	close(fd);
}

static void test_cast__never_above_its_maximum(void **state)
{
	static uint8_t bytes[20000];
	struct pane_cast c;
	char last[64];
	int fd;

	(void)state;
	memset(bytes, '\n', sizeof(bytes)); /* six bytes each */
	c = begin(&fd, 0, 50000);
	for (int i = 0; i < 10; i++)
		pane_cast_output(&c, bytes, sizeof(bytes), 7000000);
	off_t size = lseek(fd, 0, SEEK_END);
	assert_true(size > 0 && size <= 50000);
	assert_true(pane_cast_has_ended(&c));
	assert_false(pane_cast_has_ended(&c));
	assert_int_equal(c.error, ZW_E_TOOBIG);
	assert_int_equal(c.fd, -1);
	static const char want[] = "\"m\", \"end: the recording is full\"]\n";
	ssize_t n = pread(fd, last, strlen(want), size - (off_t)strlen(want));
	assert_int_equal(n, strlen(want));
	assert_memory_equal(last, want, strlen(want));
	pane_cast_mark(&c, zw_span("x"), 0); /* does nothing */
	pane_cast_fini(&c);
	assert_int_equal(lseek(fd, 0, SEEK_END), size);
	close(fd);
}

static void test_cast__a_write_that_fails_ends_it(void **state)
{
	struct pane_cast c;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	pane_cast_init(&c);
	pane_cast_begin(&c,
			&(struct pane_cast_begin){.take_fd = fd, .size_b = 1, .max_b = 1 << 20});
	assert_false(pane_cast_has_ended(&c));
	pane_cast_output(&c, "x", 1, 0);
	pane_cast_flush(&c);
	assert_true(pane_cast_has_ended(&c));
	assert_int_equal(c.error, -ENOSPC);
	pane_cast_output(&c, "x", 1, 0);
	pane_cast_flush(&c);
	assert_false(pane_cast_has_ended(&c));
	pane_cast_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cast__lines),
		cmocka_unit_test(test_cast__a_character_in_pieces_is_one),
		cmocka_unit_test(test_cast__what_is_not_utf8_is_replaced),
		cmocka_unit_test(test_cast__any_bytes),
		cmocka_unit_test(test_cast__never_above_its_maximum),
		cmocka_unit_test(test_cast__a_write_that_fails_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
