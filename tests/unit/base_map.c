/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include "src/base/map.h"
#include "src/base/mem.h"

struct item {
	struct zw_map_node node;
	char name[16];
};

/* The reference vector of the SipHash paper, appendix A. */
static void test_siphash__reference_vector(void **state)
{
	const uint64_t seed[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
	uint8_t in[15];

	(void)state;
	for (uint8_t i = 0; i < sizeof(in); i++)
		in[i] = i;
	assert_true(zw_siphash(seed, in, sizeof(in)) == 0xa129ca6149be45e5);
}

static void test_map__finds_what_was_added_and_no_more(void **state)
{
	enum { N = 5000 };
	struct item *items = zw_xcalloc(N, sizeof(*items));
	struct zw_map m;

	(void)state;
	zw_map_init(&m);
	assert_null(zw_map_find(&m, "x", 1));
	for (int i = 0; i < N; i++) {
		snprintf(items[i].name, sizeof(items[i].name), "name%d", i);
		zw_map_add(&m, &items[i].node, items[i].name, strlen(items[i].name));
	}
	for (int i = 0; i < N; i += 2)
		zw_map_remove(&m, &items[i].node);
	assert_int_equal(m.n, N / 2);
	for (int i = 0; i < N; i++) {
		struct zw_map_node *n = zw_map_find(&m, items[i].name, strlen(items[i].name));

		assert_ptr_equal(n, i % 2 ? &items[i].node : NULL);
		if (n != NULL)
			assert_ptr_equal(zw_map_entry(n, struct item, node), &items[i]);
	}
	/* A prefix is another key. */
	assert_null(zw_map_find(&m, "name11", 4));
	zw_map_fini(&m);
	free(items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_siphash__reference_vector),
		cmocka_unit_test(test_map__finds_what_was_added_and_no_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
