/* SPDX-License-Identifier: MIT
 * The table of settings against the schema that editors use. */
#include "tests/support/test.h"

#include <string.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/config/config.h"
#include "src/config/json.h"

#define SCHEMA "data/schema/config.schema.json"

static struct cfg_json_doc *read_schema(void)
{
	zw_autofree char *text = NULL;
	size_t len = 0;
	struct cfg_json_doc *doc = NULL;
	struct cfg_json_error error;

	assert_int_equal(zw_read_file(SCHEMA, 1 << 20, &text, &len), 0);
	assert_int_equal(cfg_json_parse(text, len, &doc, &error), 0);
	return doc;
}

static const struct cfg_json *find(const struct cfg_json *schema, const char *path)
{
	while (schema != NULL) {
		size_t len = strcspn(path, ".");
		zw_autofree char *name = zw_xmemdup0(path, len);

		schema = cfg_json_get(cfg_json_get(schema, "properties"), name);
		if (path[len] == '\0')
			return schema;
		path += len + 1;
	}
	return NULL;
}

/* Leaves of the schema: properties that hold no further properties of ours. */
static size_t count_leaves(const struct cfg_json *schema)
{
	const struct cfg_json *properties = cfg_json_get(schema, "properties");
	size_t n = 0;

	for (const struct cfg_json *v = properties->child; v != NULL; v = v->next)
		n += cfg_json_get(v, "properties") != NULL ? count_leaves(v) : 1;
	return n;
}

static void check_default(const struct cfg_key *key, const struct cfg_json *v)
{
	assert_non_null(v);
	switch (v->type) {
	case CFG_JSON_BOOL:
		assert_string_equal(key->fallback, v->boolean ? "true" : "false");
		return;
	case CFG_JSON_NUMBER:
	case CFG_JSON_STRING:
		assert_string_equal(key->fallback, v->str);
		return;
	case CFG_JSON_ARRAY:
		for (const struct cfg_json *e = v->child; e != NULL; e = e->next)
			assert_non_null(strstr(key->fallback, e->str));
		assert_int_equal(v->n == 0, strcmp(key->fallback, "[]") == 0);
		return;
	case CFG_JSON_OBJECT:
		assert_string_equal(key->fallback, "{}");
		return;
	case CFG_JSON_NULL:
		fail();
	}
}

static void check_choices(const struct cfg_key *key, const struct cfg_json *v)
{
	const struct cfg_json *words = cfg_json_get(v, "enum");
	zw_autofree char *joined = zw_xstrdup("");

	for (const struct cfg_json *e = words != NULL ? words->child : NULL; e != NULL;
	     e = e->next) {
		zw_autofree char *before = joined;

		joined = zw_xasprintf("%s%s%s", before, before[0] != '\0' ? "|" : "", e->str);
	}
	assert_string_equal(joined, key->choices);
}

static void test_schema__has_the_rows_of_the_table_and_no_other(void **state)
{
	(void)state;
	struct cfg_json_doc *doc = read_schema();
	const struct cfg_json *root = cfg_json_root(doc);
	size_t n;
	const struct cfg_key *keys = cfg_keys(&n);

	assert_true(n >= 50);
	for (size_t i = 0; i < n; i++) {
		const struct cfg_json *v = find(root, keys[i].path);

		if (v == NULL)
			print_error("%s is missing in " SCHEMA "\n", keys[i].path);
		assert_non_null(v);
		assert_string_equal(cfg_json_text(v, "description", ""), keys[i].help);
		check_default(&keys[i], cfg_json_get(v, "default"));
		check_choices(&keys[i], v);
	}
	/* `$schema` and `wish` stand in the schema alone. */
	assert_int_equal(count_leaves(root), n + 2);
	cfg_json_free(doc);
}

static void test_table__texts_are_usable(void **state)
{
	(void)state;
	size_t n;
	const struct cfg_key *keys = cfg_keys(&n);

	for (size_t i = 0; i < n; i++) {
		assert_true(strlen(keys[i].help) >= 10 && strlen(keys[i].help) <= 100);
		assert_true(strlen(keys[i].path) < 64);
		/* What narrows are the denies, and single values that can be stricter. */
		assert_int_equal(keys[i].is_narrow,
				 keys[i].is_ordered || strstr(keys[i].path, ".den") != NULL);
		if (keys[i].is_ordered)
			assert_true(strcmp(keys[i].type, "MODE") == 0 ||
				    strcmp(keys[i].type, "CHOICE") == 0 ||
				    strcmp(keys[i].type, "BOOL") == 0 ||
				    strcmp(keys[i].type, "INT") == 0 ||
				    strcmp(keys[i].type, "SIZE") == 0);
	}
}

/* The example of the documentation: every key with its default, so it changes nothing. */
static void test_defaults__written_out_change_nothing(void **state)
{
	(void)state;
	const struct cfg_places places = {
		.home = (char[]){"/home/u"},
		.home_real = (char[]){"/home/u"},
		.runtime_dir = (char[]){"/run/u"},
		.config_dir = (char[]){"/home/u/c"},
		.state_dir = (char[]){"/home/u/s"},
		.start_dir = (char[]){"/home/u/p"},
	};
	size_t n;
	const struct cfg_key *keys = cfg_keys(&n);
	struct cfg *cfg = cfg_new(&places, NULL), *plain = cfg_new(&places, NULL);
	struct cfg_report report = {0};

	for (size_t i = 0; i < n; i++) {
		bool is_quoted = strcmp(keys[i].type, "BOOL") != 0 &&
				 strcmp(keys[i].type, "INT") != 0 && keys[i].fallback[0] != '[' &&
				 keys[i].fallback[0] != '{';
		zw_autofree char *text = is_quoted ? zw_xasprintf("\"%s\"", keys[i].fallback)
						   : zw_xstrdup(keys[i].fallback);
		unsigned depth = 1;

		for (const char *end = keys[i].path + strlen(keys[i].path), *p = end;
		     p >= keys[i].path; p--) {
			if (p != keys[i].path && p[-1] != '.')
				continue;
			zw_autofree char *inner = text;
			text = zw_xasprintf("{\"%.*s\": %s}", (int)strcspn(p, "."), p, inner);
			depth++;
		}
		assert_true(depth >= 2);
		cfg_read_text(cfg, &places, POL_LAYER_USER, "f", text, strlen(text), &report);
	}
	if (report.n > 0)
		print_error("%s\n", report.list[0].text);
	assert_int_equal(report.n, 0);
	for (size_t i = 0; i < CFG_KEYS_MAX; i++)
		assert_int_equal(cfg->keys_set[i], i < n);
	assert_int_equal(cfg->n_rules, 0);
	assert_int_equal(cfg->dns_upstreams.n, plain->dns_upstreams.n);
	assert_int_equal(cfg->allow_write.n, plain->allow_write.n);
	assert_int_equal(cfg->prefix_keys.n, plain->prefix_keys.n);
	assert_int_equal(cfg->redact_flags.n, plain->redact_flags.n);
	assert_int_equal(cfg->history_keep_ms, plain->history_keep_ms);
	assert_int_equal(cfg->arm_ms, plain->arm_ms);
	cfg_free(cfg);
	cfg_free(plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schema__has_the_rows_of_the_table_and_no_other),
		cmocka_unit_test(test_table__texts_are_usable),
		cmocka_unit_test(test_defaults__written_out_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
