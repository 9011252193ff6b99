/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "ui/pane/width.h"

/* Columns of a text, cluster by cluster, and how many clusters it has. */
static unsigned columns(const char *text, unsigned *ret_n)
{
	const uint8_t *p = (const uint8_t *)text;
	size_t len = strlen(text);
	struct pane_cluster c = {0};
	unsigned sum = 0, open = 0;

	*ret_n = 0;
	while (len > 0) {
		uint32_t cp = 0;
		int n = zw_utf8_decode(p, len, &cp);

		assert_true(n > 0);
		if (!pane_cluster_join(&c, cp, pane_width(cp))) {
			sum += open;
			(*ret_n)++;
		}
		open = c.width;
		p += n;
		len -= (size_t)n;
	}
	return sum + open;
}

static void test_width__clusters(void **state)
{
	static const struct {
		const char *text;
		unsigned columns, clusters;
	} rows[] = {
		{"abc", 3, 3},
		{"e\u0301", 1, 1},
		{"\u65e5\u672c", 4, 2},
		{"\U0001f389", 2, 1},
		{"\U0001f469\u200d\U0001f469\u200d\U0001f467", 2, 1},
		{"\U0001f44d\U0001f3fd", 2, 1},
		{"\U0001f1e9\U0001f1ea", 2, 1},
		{"\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", 4, 2},
		{"\U0001f1e9\U0001f1ea\U0001f1eb", 3, 2},
		{"\u2764\ufe0f", 2, 1},
		{"\u2764", 1, 1},
		{"1\ufe0f\u20e3", 2, 1},
		{"a\ufe0f", 1, 1},
		{"a\u200d\U0001f469", 3, 2},
		{"\u1100\u1161\u11a8", 2, 1},
		{"\uac00\u11a8", 2, 1},
		{"\u0915\u093f", 1, 1},
		{"\u00ad", 1, 1},
		{"\u2500\u2588\u2026", 3, 3},
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		unsigned clusters, got = columns(rows[i].text, &clusters);

		if (got != rows[i].columns || clusters != rows[i].clusters)
			fail_msg("row %zu: %u columns, %u clusters", i, got, clusters);
	}
}

static void test_width__every_code_point(void **state)
{
	(void)state;
	for (uint32_t cp = 0; cp <= 0x110000; cp++) {
		struct pane_width w = pane_width(cp);

		assert_true(w.width <= 2 && w.gc <= PANE_GC_CONTROL);
		if (w.gc == PANE_GC_CONTROL)
			assert_int_equal(w.width, 0);
	}
	assert_int_equal(pane_width(UINT32_MAX).width, 0);
}

/* What zwatch draws by ncurses goes through libc's idea of widths; it may differ in new characters
 * and emoji only, never in ASCII and Latin. */
static void test_width__latin_is_narrow(void **state)
{
	(void)state;
	for (uint32_t cp = 0x20; cp < 0x300; cp++)
		if (cp < 0x7f || cp >= 0xa0)
			assert_int_equal(pane_width(cp).width, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_width__clusters),
		cmocka_unit_test(test_width__every_code_point),
		cmocka_unit_test(test_width__latin_is_narrow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
