/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/config/json.h"

static struct cfg_json_doc *good(const char *text)
{
	struct cfg_json_doc *doc = NULL;
	struct cfg_json_error error;
	int code = cfg_json_parse(text, strlen(text), &doc, &error);

	if (code < 0)
		print_error("%s: line %u: %s\n", text, error.line, error.text);
	assert_int_equal(code, 0);
	return doc;
}

static void bad_n(const char *text, size_t len, int code, unsigned line, const char *says)
{
	struct cfg_json_doc *doc = NULL;
	struct cfg_json_error error;

	assert_int_equal(cfg_json_parse(text, len, &doc, &error), code);
	assert_null(doc);
	if (error.line != line || strstr(error.text, says) == NULL)
		print_error("%s\n-> line %u: %s\n", text, error.line, error.text);
	assert_int_equal(error.line, line);
	assert_non_null(strstr(error.text, says));
}

static void bad(const char *text, unsigned line, const char *says)
{
	bad_n(text, strlen(text), ZW_E_SYNTAX, line, says);
}

static void test_json__values_and_lines(void **state)
{
	(void)state;
	struct cfg_json_doc *doc = good("{ // a comment\n"
					"  \"text\": \"\\u00fc \\\"x\\\"\",\n"
					"  \"number\": -12, \"half\": 0.5, /* two\n"
					"lines */ \"yes\": true,\n"
					"  \"list\": [1,\n 2],\n"
					"  \"section\": {\"inner\": null}\n"
					"} // no line break behind this");
	const struct cfg_json *root = cfg_json_root(doc);

	assert_int_equal(root->type, CFG_JSON_OBJECT);
	assert_int_equal(root->n, 6);
	assert_string_equal(cfg_json_text(root, "text", ""), "\xc3\xbc \"x\"");
	assert_int_equal(cfg_json_get(root, "text")->line, 2);
	assert_true(cfg_json_get(root, "number")->is_integer);
	assert_int_equal(cfg_json_get(root, "number")->number, -12);
	assert_false(cfg_json_get(root, "half")->is_integer);
	assert_string_equal(cfg_json_get(root, "half")->str, "0.5");
	assert_int_equal(cfg_json_get(root, "yes")->line, 4);
	assert_true(cfg_json_get(root, "yes")->boolean);
	assert_int_equal(cfg_json_get(root, "list")->child->next->line, 6);
	const struct cfg_json *inner = cfg_json_get(cfg_json_get(root, "section"), "inner");
	assert_int_equal(inner->type, CFG_JSON_NULL);
	assert_int_equal(inner->line, 7);
	assert_null(cfg_json_get(root, "none"));
	assert_null(cfg_json_get(inner, "none"));
	cfg_json_free(doc);
}

static void test_json__byte_order_mark_and_crlf(void **state)
{
	(void)state;
	struct cfg_json_doc *doc = good("\xef\xbb\xbf{\r\n\"a\": 1,\r\n\"b\": 2 // end\r\n}\r\n");

	assert_int_equal(cfg_json_get(cfg_json_root(doc), "b")->line, 3);
	cfg_json_free(doc);
	bad("\xef\xbb\xbf", 1, "the file is empty");
	bad("{\r\n\"a\": 1,\r\n\"b\" 2\r\n}", 3, "colon is missing");
}

static void test_json__every_way_to_be_wrong(void **state)
{
	(void)state;
	bad("", 1, "the file is empty");
	bad("\n\n// nothing\n", 3, "the file is empty");
	bad("{\n\"a\": {\n\"b\": 1\n", 3, "the bracket of line 2 is not closed");
	bad("[1, 2", 1, "the bracket of line 1 is not closed");
	bad("{\"a\": 1}\n{\"b\": 2}", 2, "behind the end");
	bad("{\"a\": 1}\nx", 2, "behind the end");
	bad("{\"a\": 1,\n}", 2, "a name in quotes");
	bad("{\"a\": [1,\n]}", 2, "comma");
	bad("{\"a\": 1\n\"b\": 2}", 2, "a comma or } is missing");
	bad("[1\n2]", 2, "a comma or ] is missing");
	bad("{\na: 1}", 2, "no meaning");
	bad("{'a': 1}", 1, "no meaning");
	bad("{\"a\": tru}", 1, "need quotes");
	bad("{\"a\": \"one\ntwo\"}", 1, "not closed on its line");
	bad("{\"a\": \"\\x\"}", 1, "cannot escape");
	bad("{\"a\": \"\\u12g4\"}", 1, "hexadecimal");
	bad("{\"a\": -}", 1, "not a number");
	bad("{\n/* \n\n", 2, "this comment has no end");
	bad("{\"a\": 1} /*", 1, "this comment has no end");
}

static void test_json__duplicate_keys_are_found_at_any_depth(void **state)
{
	(void)state;
	bad("{\"a\": 1,\n\"b\": 2,\n\"a\": 3}", 3, "`a` stands here twice (before in line 1)");
	bad("{\"s\": {\"x\": [{\"k\": 1,\n\"\\u006b\": 2}]}}", 2, "`k` stands here twice");
	cfg_json_free(good("{\"a\": {\"k\": 1}, \"b\": {\"k\": 1}}"));
}

static void test_json__bytes_that_are_no_text(void **state)
{
	(void)state;
	bad("{\n\"a\": \"\xff\"}", 2, "not UTF-8");
	bad("{\n\"a\": \"\xc0\xaf\"}", 2, "not UTF-8");
	bad("{\n\"a\": \"\xed\xa0\x80\"}", 2, "not UTF-8");
	bad("{} // \xc3", 1, "not UTF-8");
	bad("\xff\xfe{\0}\0", 1, "not UTF-8");
	bad_n("{\n\0}", 4, ZW_E_SYNTAX, 2, "a zero byte");
	bad_n("\x7f"
	      "ELF\2\1\1\0\0\0",
	      10, ZW_E_SYNTAX, 1, "a zero byte");
	bad("{\"a\": \"x\\u0000y\"}", 1, "zero character");
	bad("{\"x\\u0000\": 1}", 1, "zero character");
	bad("{\"a\": \"\\udc00\"}", 1, "half a character");
}

static void test_json__bounds(void **state)
{
	(void)state;
	char deep[64];
	size_t len = CFG_JSON_SIZE_MAX + 1;
	zw_autofree char *large = zw_xmalloc(len);
	zw_autofree char *many = zw_xmalloc(2 * CFG_JSON_NODES_MAX + 8);

	memset(deep, '[', CFG_JSON_DEPTH_MAX);
	memset(deep + CFG_JSON_DEPTH_MAX, ']', CFG_JSON_DEPTH_MAX);
	deep[2 * CFG_JSON_DEPTH_MAX] = '\0';
	cfg_json_free(good(deep));
	memset(deep, '[', CFG_JSON_DEPTH_MAX + 1);
	bad_n(deep, CFG_JSON_DEPTH_MAX + 1, ZW_E_TOOBIG, 1, "nested too deep");
	memset(large, ' ', len);
	bad_n(large, len, ZW_E_TOOBIG, 1, "larger than");
	bad_n(large, len - 1, ZW_E_SYNTAX, 1, "empty");
	many[0] = '[';
	for (size_t i = 0; i < CFG_JSON_NODES_MAX; i++)
		memcpy(many + 1 + 2 * i, "1,", 2);
	bad_n(many, 1 + 2 * CFG_JSON_NODES_MAX, ZW_E_TOOBIG, 1, "more values");
}

static void test_json__whole_numbers(void **state)
{
	(void)state;
	struct cfg_json_doc *doc = good("[9223372036854775807, 9223372036854775808, 1e3, 1.0, 0]");
	const struct cfg_json *v = cfg_json_root(doc)->child;

	assert_true(v->is_integer);
	assert_int_equal(v->number, INT64_MAX);
	for (int i = 0; i < 3; i++) {
		v = v->next;
		assert_false(v->is_integer);
	}
	assert_string_equal(v->str, "1.0");
	assert_true(v->next->is_integer);
	cfg_json_free(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json__values_and_lines),
		cmocka_unit_test(test_json__byte_order_mark_and_crlf),
		cmocka_unit_test(test_json__every_way_to_be_wrong),
		cmocka_unit_test(test_json__duplicate_keys_are_found_at_any_depth),
		cmocka_unit_test(test_json__bytes_that_are_no_text),
		cmocka_unit_test(test_json__bounds),
		cmocka_unit_test(test_json__whole_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
