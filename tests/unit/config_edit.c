/* SPDX-License-Identifier: MIT
 * Adding to a file that somebody wrote by hand. */
#include "tests/support/test.h"

#include <string.h>

#include "src/base/mem.h"
#include "src/config/edit.h"
#include "src/config/json.h"

static void adds(const char *text, const char *path, char bracket, const char *value,
		 const char *wanted)
{
	zw_autofree char *fresh = cfg_edit_add(text, strlen(text), path, bracket, value);
	struct cfg_json_doc *doc = NULL;
	struct cfg_json_error error;

	if (wanted == NULL) {
		assert_null(fresh);
		return;
	}
	assert_non_null(fresh);
	assert_string_equal(fresh, wanted);
	assert_int_equal(cfg_json_parse(fresh, strlen(fresh), &doc, &error), 0);
	cfg_json_free(doc);
}

static void test_list__gets_what_it_lacks(void **state)
{
	(void)state;
	adds("{\"a\": {\"b\": [\"x\"]}}", "a.b", '[', "\"y\"", "{\"a\": {\"b\": [\"x\", \"y\"]}}");
	adds("{\"a\": {\"b\": [\"x\"]}}", "a.b", '[', "\"x\"", "{\"a\": {\"b\": [\"x\"]}}");
	adds("{\"a\": {\"b\": []}}", "a.b", '[', "\"y\"", "{\"a\": {\"b\": [\"y\"]}}");
	adds("{\"b\": [\n\t\"x\" // last\n]}", "b", '[', "\"y\"",
	     "{\"b\": [\n\t\"x\" // last\n, \"y\"]}");
	adds("{\"b\": [\n\t\"x\" /* last */\n]}", "b", '[', "\"y\"",
	     "{\"b\": [\n\t\"x\" /* last */, \"y\"\n]}");
	adds("\xef\xbb\xbf{\"b\": []}", "b", '[', "\"y\"", "\xef\xbb\xbf{\"b\": [\"y\"]}");
	adds("{\"b\": {\"x\": 1}}", "b", '{', "\"y\": 2", "{\"b\": {\"x\": 1, \"y\": 2}}");
	adds("{\"b\": {\"x\": 1}}", "b", '{', "\"x\": 2", "{\"b\": {\"x\": 1}}");
	adds("{\"b\": [5432]}", "b", '[', "5432", "{\"b\": [5432]}");
}

static void test_missing__sections_are_made(void **state)
{
	(void)state;
	adds("{}", "mode", 0, "\"strict\"", "{\n\t\"mode\": \"strict\"\n}");
	adds("{\"mode\": \"guard\"}", "mode", 0, "\"strict\"", "{\"mode\": \"guard\"}");
	adds("{\n\t\"mode\": \"guard\"\n}\n", "a.b", '[', "\"y\"",
	     "{\n\t\"mode\": \"guard\",\n\t\"a\": {\n\t\t\"b\": [\"y\"]\n\t}\n}\n");
	adds("{\"a\": {}}", "a.b.c", '[', "\"y\"",
	     "{\"a\": {\n\t\t\"b\": {\n\t\t\t\"c\": [\"y\"]\n\t\t}\n\t}}");
}

static void test_something_else_there__nothing(void **state)
{
	(void)state;
	adds("{\"a\": 1}", "a.b", '[', "\"y\"", NULL);
	adds("{\"a\": {\"b\": 1}}", "a.b", '[', "\"y\"", NULL);
	adds("{\"a\": {\"b\": {}}}", "a.b", '[', "\"y\"", NULL);
	adds("[]", "a", '[', "\"y\"", NULL);
	adds("{", "a", '[', "\"y\"", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list__gets_what_it_lacks),
		cmocka_unit_test(test_missing__sections_are_made),
		cmocka_unit_test(test_something_else_there__nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
