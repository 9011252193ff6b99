/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include "src/base/err.h"
#include "src/base/mask.h"
#include "src/base/mem.h"

/* Masks a command line written with '|' between its arguments, and compares. */
static void check(const char *args, const char *want)
{
	char in[ZW_MASK_MAX], out[ZW_MASK_MAX];
	size_t len = strlen(args);

	assert_true(len < sizeof(in));
	for (size_t i = 0; i < len; i++)
		in[i] = args[i] == '|' ? '\0' : args[i];
	size_t n = zw_mask(out, sizeof(out), in, len);
	for (size_t i = 0; i < n; i++)
		if (out[i] == '\0')
			out[i] = '|';
	assert_string_equal(out, want);
}

static void check_same(const char *args)
{
	check(args, args);
}

static void test_z109_flags__value_is_hidden(void **state)
{
	(void)state;
	check("tool|--password|hunter2|--verbose", "tool|--password|***|--verbose");
	check("tool|--password=hunter two|x", "tool|--password=***|x");
	check("tool|--api-key|abc|--private-token=x", "tool|--api-key|***|--private-token=***");
	check("tool|--clientSecret|abc", "tool|--clientSecret|***");
	check("npm|publish|--otp|123456", "npm|publish|--otp|***");
	check("tool|--token|--verbose", "tool|--token|--verbose");
	check("tool|--token", "tool|--token");
}

static void test_z109_variables__value_is_hidden(void **state)
{
	(void)state;
	check("env|AWS_SECRET_ACCESS_KEY=a/b+c|npm|ci", "env|AWS_SECRET_ACCESS_KEY=***|npm|ci");
	check("docker|run|-e|POSTGRES_PASSWORD=x y|db", "docker|run|-e|POSTGRES_PASSWORD=***|db");
	check("psql|host=h password=p4 dbname=d", "psql|host=h password=*** dbname=d");
	check("sh|-c|export GITHUB_TOKEN=abc; make", "sh|-c|export GITHUB_TOKEN=***; make");
	check("x|{\"user\":\"a\",\"password\":\"p q\"}", "x|{\"user\":\"a\",\"password\":\"***\"}");
	check("x|{\\\"secret\\\": \\\"pq\\\"}", "x|{\\\"secret\\\": \\\"***\"}");
}

static void test_z109_urls__credentials_and_query_are_hidden(void **state)
{
	(void)state;
	check("curl|https://bob:s3cret@h.example/p?key=AAA&x=1#frag",
	      "curl|https://***@h.example/p?***");
	check("git|clone|https://token@h.example/r.git", "git|clone|https://***@h.example/r.git");
	check("psql|postgres://u:p/w@h/db", "psql|postgres://***@h/db");
	check("x|bob:hunter2@host", "x|bob:***@host");
	check_same("npm|install|https://registry.pkgs.test/@types/node");
	check_same("git|clone|git@github.com:a/b.git");
	check_same("curl|http://localhost:8080/@me");
	check_same("curl|https://auth.docker.io:443/x");
}

static void test_z109_headers__value_is_hidden(void **state)
{
	(void)state;
	check("curl|-H|Authorization: Bearer abc", "curl|-H|Authorization: ***");
	check("curl|-H|authorization: token x y", "curl|-H|authorization: ***");
	check("curl|-HX-Api-Key: abc def", "curl|-HX-Api-Key: ***");
	check("sh|-c|curl -H 'Cookie: a=b; c=d' https://h/",
	      "sh|-c|curl -H 'Cookie: ***' https://h/");
	check("x|say Bearer abc please", "x|say Bearer *** please");
}

static void test_z109_programs__their_own_flags_are_known(void **state)
{
	(void)state;
	check("/usr/bin/curl|-u|me:pw|https://h/", "/usr/bin/curl|-u|***|https://h/");
	check("curl|-sSu|me:pw|https://h/", "curl|-sSu|***|https://h/");
	check("curl|-d|{\"a\": 1}|https://h/", "curl|-d|***|https://h/");
	check("mysql|-uroot|-phunter2|shop", "mysql|-uroot|-p***|shop");
	check("sshpass|-p|pw|ssh|h", "sshpass|-p|***|ssh|h");
	check("docker|login|-u|me|-p|pw", "docker|login|-u|me|-p|***");
	check("sh|-c|mysql -phunter2 shop", "sh|-c|mysql -p*** shop");
	check_same("mkdir|-p|src/a");
	check_same("claude|-p|add a database and make the tests pass");
}

static void test_z109_tokens__known_makers(void **state)
{
	(void)state;
	check("x|ghp_abcdefghijklmnopqrstuvwxyz012345", "x|***");
	check("x|sk-ant-api03-aaaaaaaaaaaaaaaa", "x|***");
	check("x|AKIAIOSFODNN7EXAMPLE", "x|***");
	check("x|eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig", "x|***");
	check("x|-----BEGIN RSA PRIVATE KEY-----\nMIIE\n", "x|-----BEGIN RSA PRIVATE KEY-----***");
}

static void test_ordinary_lines__stay_as_they_are(void **state)
{
	(void)state;
	check_same("git|fetch|--depth|1|origin");
	check_same("git|show|5cfd2a3");
	check_same(
		"node|/usr/lib/node_modules/@scope/some-package_v2/dist/x86_64-linux-gnu/index.js");
	check_same("gcc|-Wall|-fstack-protector-strong|-D_FORTIFY_SOURCE=3|-o|build/zwatch.dir/"
		   "main.c.o");
	check_same("vitest|run|src/components/getElementByIdAndClassNameV2.test.tsx");
	check_same("x|--max-tokenizer-length|100|--password-file|/run/secret.txt");
	check_same("apt-get|install|linux-headers-6.1.0-28-amd64|libstdc++-12-dev");
	check_same("docker|compose|up|-d|db");
	check_same("tar|-xzf|node-v22.11.0-linux-x64.tar.gz");
	check_same("");
	check_same("a||b|");
}

/* Every random string of 32 and more must go; a run of luck may spare one in a thousand. */
static void check_random(const char *alphabet, size_t len)
{
	size_t n = strlen(alphabet), n_left = 0;
	uint32_t x = 12345;

	for (int i = 0; i < 2000; i++) {
		char in[128], out[256];

		for (size_t k = 0; k < len; k++) {
			x = x * 1664525u + 1013904223u;
			in[k] = alphabet[(x >> 8) % n];
		}
		zw_mask(out, sizeof(out), in, len);
		n_left += strcmp(out, "***") != 0;
	}
	assert_in_range(n_left, 0, 2);
}

static void test_z109_random_strings__are_hidden(void **state)
{
	(void)state;
	check_random("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 32);
	check_random("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_", 43);
	check_random("0123456789abcdef", 32);
	check_random("0123456789abcdef", 64);
}

static void test_output__bounded_and_terminated(void **state)
{
	char in[ZW_MASK_MAX + 100], out[ZW_MASK_MAX + 1];

	(void)state;
	memset(in, 'a', sizeof(in));
	assert_int_equal(zw_mask(out, sizeof(out), in, sizeof(in)), ZW_MASK_MAX);
	assert_int_equal(zw_mask(out, 4, "--token x", 9), 3);
	assert_string_equal(out, "--t");
	assert_int_equal(zw_mask(out, 1, "abc", 3), 0);
	assert_string_equal(out, "");
	/* A cut never leaves part of a secret. */
	assert_int_equal(zw_mask(out, 10, "--token hunter2", 15), 9);
	assert_string_equal(out, "--token *");
}

static void test_twice__changes_nothing_more(void **state)
{
	char once[512], twice[512];
	static const char in[] = "curl\0-u\0a:b\0https://x:y@h/?q=1\0--token=abc";

	(void)state;
	size_t n = zw_mask(once, sizeof(once), in, sizeof(in) - 1);
	assert_int_equal(zw_mask(twice, sizeof(twice), once, n), n);
	assert_memory_equal(once, twice, n);
}

static void check_rule(const char *in, const char *wanted)
{
	char out[200];

	zw_mask(out, sizeof(out), in, strlen(in));
	assert_string_equal(out, wanted);
}

static void test_rules_of_the_settings__count_as_well(void **state)
{
	static const char rules[] = "f--licence\0pACME-[0-9]+\0p(\0pa*\0p(x)\\1";
	const char *why = "";

	(void)state;
	check_rule("run --licence abc ACME-12", "run --licence abc ACME-12");
	zw_mask_rules(rules, sizeof(rules) - 1);
	check_rule("run --licence abc ACME-12.ACME-3 aaa xx", "run --licence *** ***.*** aaa xx");
	check_rule("run --licence=abc --licences abc", "run --licence=*** --licences abc");
	assert_int_equal(zw_mask_check_flag("--a b", &why), ZW_E_SYNTAX);
	assert_int_equal(zw_mask_check_pattern("(", &why), ZW_E_SYNTAX);
	assert_int_equal(zw_mask_check_pattern("(x)\\1", &why), ZW_E_SYNTAX);
	assert_int_equal(zw_mask_check_pattern("", &why), ZW_E_SYNTAX);
	zw_mask_rules("", 0);
	check_rule("run --licence abc ACME-12", "run --licence abc ACME-12");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_z109_flags__value_is_hidden),
		cmocka_unit_test(test_z109_variables__value_is_hidden),
		cmocka_unit_test(test_z109_urls__credentials_and_query_are_hidden),
		cmocka_unit_test(test_z109_headers__value_is_hidden),
		cmocka_unit_test(test_z109_programs__their_own_flags_are_known),
		cmocka_unit_test(test_z109_tokens__known_makers),
		cmocka_unit_test(test_ordinary_lines__stay_as_they_are),
		cmocka_unit_test(test_z109_random_strings__are_hidden),
		cmocka_unit_test(test_output__bounded_and_terminated),
		cmocka_unit_test(test_rules_of_the_settings__count_as_well),
		cmocka_unit_test(test_twice__changes_nothing_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
