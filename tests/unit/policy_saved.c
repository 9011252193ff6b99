/* SPDX-License-Identifier: MIT
 * Saved rules: who x what x where x until, and every way to miss narrowly. Z016, Z066, Z068, Z125. */
#include "tests/support/test.h"

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/sha256.h"
#include "src/base/words.h"
#include "src/policy/saved.h"
#include "src/policy/script.h"

#define NOW    INT64_C(1796000000)
#define DAY    86400
#define HASH_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HASH_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void set(char **field, const char *text)
{
	free(*field);
	*field = zw_xstrdup(text);
}

static struct pol_saved docker(void)
{
	struct pol_saved r;

	pol_saved_init(&r);
	r.id = 12;
	r.kind = POL_KIND_SOCKET;
	r.risk = POL_RISK_CRITICAL;
	set(&r.target, "/run/docker.sock");
	set(&r.program, "/usr/bin/docker");
	set(&r.program_hash, HASH_A);
	set(&r.project, "/home/u/src/shop");
	r.has_listener = true;
	r.listener_uid = 0;
	set(&r.listener_exe, "/usr/bin/dockerd");
	r.made_s = NOW;
	r.until_s = NOW + 7 * DAY;
	return r;
}

static struct pol_try docker_try(void)
{
	return (struct pol_try){.kind = POL_KIND_SOCKET,
				.risk = POL_RISK_CRITICAL,
				.socket = "/run/docker.sock",
				.program = "/usr/bin/docker",
				.program_hash = HASH_A,
				.script = "",
				.project = "/home/u/src/shop",
				.listener_uid = 0,
				.listener_exe = "/usr/bin/dockerd",
				.now_s = NOW + 60};
}

static void check(const struct pol_saved *r, const struct pol_try *t, enum pol_fit fit,
		  const char *why)
{
	zw_autofree char *text = pol_saved_why_not(r, t);

	assert_int_equal(pol_saved_fit(r, t), fit);
	if (why == NULL)
		assert_null(text);
	else
		assert_string_equal(text, why);
}

static void test_socket__each_part_counts(void **state)
{
	struct pol_saved r = docker();
	struct pol_try t = docker_try();

	(void)state;
	check(&r, &t, POL_FIT_YES, NULL);
	t.socket = "/var/run/docker.sock"; /* the same folder by its other name */
	check(&r, &t, POL_FIT_YES, NULL);
	t.socket = "/run/podman.sock";
	check(&r, &t, POL_FIT_OTHER, NULL);
	t = docker_try();
	t.project = "/home/u/src/api";
	check(&r, &t, POL_FIT_PROJECT,
	      "Rule 12 did not apply: it is for /home/u/src/shop, this is /home/u/src/api.");
	t = docker_try();
	t.program = "/usr/bin/node";
	check(&r, &t, POL_FIT_PROGRAM, "Rule 12 did not apply: it is for docker, this is node.");
	t.program = "/home/u/bin/docker";
	check(&r, &t, POL_FIT_PROGRAM,
	      "Rule 12 did not apply: it is for /usr/bin/docker, this is /home/u/bin/docker.");
	t = docker_try();
	t.program_hash = HASH_B;
	check(&r, &t, POL_FIT_PROGRAM_CHANGED,
	      "Rule 12 did not apply: docker is not the same file as when you agreed.");
	t.program_hash = NULL;
	check(&r, &t, POL_FIT_NEEDS_HASH,
	      "Rule 12 did not apply: docker could not be read to compare it.");
	t.program_hash = ""; /* could not be told: not the same */
	check(&r, &t, POL_FIT_PROGRAM_CHANGED,
	      "Rule 12 did not apply: docker is not the same file as when you agreed.");
	t = docker_try();
	t.listener_uid = 1000;
	check(&r, &t, POL_FIT_LISTENER,
	      "Rule 12 did not apply: somebody else answers there now, not who did when you "
	      "agreed.");
	t = docker_try();
	t.listener_exe = "/usr/bin/socat";
	assert_int_equal(pol_saved_fit(&r, &t), POL_FIT_LISTENER);
	t.listener_exe = ""; /* the system does not tell */
	assert_int_equal(pol_saved_fit(&r, &t), POL_FIT_YES);
	pol_saved_fini(&r);
}

static void test_risk__a_class_that_was_raised_asks_again(void **state)
{
	struct pol_saved r = docker();
	struct pol_try t = docker_try();

	(void)state;
	r.risk = POL_RISK_LOW;
	check(&r, &t, POL_FIT_RISK, "Rule 12 did not apply: you agreed when this counted as low.");
	pol_saved_fini(&r);
}

static void test_time__ends_and_a_clock_turned_back(void **state)
{
	struct pol_saved r = docker();
	struct pol_try t = docker_try();

	(void)state;
	t.now_s = NOW + 7 * DAY - 1;
	assert_int_equal(pol_saved_fit(&r, &t), POL_FIT_YES);
	t.now_s = NOW + 7 * DAY;
	assert_int_equal(pol_saved_fit(&r, &t), POL_FIT_OVER);
	/* before it was made: not a few minutes, which a clock may be corrected by */
	t.now_s = NOW - 60;
	assert_int_equal(pol_saved_fit(&r, &t), POL_FIT_YES);
	t.now_s = NOW - DAY;
	assert_int_equal(pol_saved_fit(&r, &t), POL_FIT_CLOCK);
	/* back to when it still held, although it had ended */
	t.now_s = NOW + 60;
	t.seen_s = NOW + 8 * DAY;
	assert_int_equal(pol_saved_fit(&r, &t), POL_FIT_CLOCK);
	/* without an end the clock does not matter */
	r.until_s = 0;
	assert_int_equal(pol_saved_fit(&r, &t), POL_FIT_YES);
	pol_saved_fini(&r);
}

static void test_until__words_and_ends(void **state)
{
	(void)state;
	assert_int_equal(pol_until_end(POL_UNTIL_HOUR, NOW), NOW + 3600);
	assert_int_equal(pol_until_end(POL_UNTIL_WEEK, NOW), NOW + 7 * DAY);
	assert_int_equal(pol_until_end(POL_UNTIL_NO_END, NOW), 0);
	for (int64_t t = NOW; t < NOW + 2 * DAY; t += 1800) {
		int64_t end = pol_until_end(POL_UNTIL_TODAY, t);

		assert_in_range(end - t, 3600, 25 * 3600);
	}
}

static int fit_site(const char *target, const char *asked)
{
	struct pol_saved r;
	struct pol_host host;
	struct pol_try t = {.kind = POL_KIND_SITE, .program = "", .script = "", .project = "/p"};

	pol_saved_init(&r);
	r.id = 1;
	set(&r.target, target);
	assert_int_equal(pol_target_site(asked, &host, &t.port), 0);
	t.host = &host;
	int fit = pol_saved_fit(&r, &t);
	pol_saved_fini(&r);
	return fit;
}

static void test_Z066_site__its_name_and_its_ports_alone(void **state)
{
	(void)state;
	assert_int_equal(fit_site("a.test", "a.test:443"), POL_FIT_YES);
	assert_int_equal(fit_site("a.test", "a.test:80"), POL_FIT_YES);
	assert_int_equal(fit_site("a.test", "a.test:22"), POL_FIT_PORT);
	assert_int_equal(fit_site("a.test", "a.test:6379"), POL_FIT_PORT);
	assert_int_equal(fit_site("a.test:443", "a.test:8443"), POL_FIT_PORT);
	assert_int_equal(fit_site("a.test:443", "sub.a.test:443"), POL_FIT_OTHER);
	assert_int_equal(fit_site("a.test:443", "b.test:443"), POL_FIT_OTHER);
	assert_int_equal(fit_site("*.a.test:443", "sub.a.test:443"), POL_FIT_YES);
	assert_int_equal(fit_site("*.a.test:443", "a.test:443"), POL_FIT_OTHER);
	assert_int_equal(fit_site("*.a.test:443", "sub.xa.test:443"), POL_FIT_OTHER);
	assert_int_equal(fit_site("192.0.2.0/24", "192.0.2.7:443"), POL_FIT_YES);
}

static bool below(const char *name, const char *want)
{
	char out[POL_HOST_MAX + 3];
	struct pol_host host;

	assert_int_equal(pol_host_parse(name, strlen(name), &host), 0);
	bool is = pol_site_below(&host, out, sizeof(out));
	if (is)
		assert_string_equal(out, want);
	return is;
}

static void test_below__never_a_registry(void **state)
{
	(void)state;
	assert_true(below("files.pythonhosted.org", "*.pythonhosted.org"));
	assert_true(below("a.b.example.org", "*.b.example.org"));
	assert_false(below("example.org", NULL));
	assert_false(below("shop.co.uk", NULL));
	assert_true(below("www.shop.co.uk", "*.shop.co.uk"));
	assert_false(below("127.0.0.1", NULL));
}

/* -- in the policy ------------------------------------------------------------------------------ */

static struct pol_decision decide(enum pol_mode mode, bool want_deny)
{
	struct policy *p = pol_new();
	struct pol_saved saved = docker();
	struct pol_rule rule;
	struct pol_decision d;
	const struct pol_socket s = {.path = "/run/docker.sock",
				     .path_len = strlen("/run/docker.sock"),
				     .program = "/usr/bin/docker"};

	pol_set_mode(p, mode);
	assert_int_equal(pol_class_add(p, &(struct pol_class){"docker", POL_RISK_CRITICAL,
							      POL_TREAT_BY_RISK, POL_WAY_RELAY}),
			 0);
	assert_int_equal(pol_pattern_add(p, 0, false, "/run/docker.sock"), 0);
	pol_saved_rule(&saved, "your rule 12", &rule);
	assert_int_equal(pol_rule_add(p, &rule), 0);
	rule.action = POL_ACTION_DENY;
	rule.flags = 0;
	rule.program = "";
	if (want_deny)
		assert_int_equal(pol_rule_add(p, &rule), 0);
	pol_decide_socket(p, &s, &d, NULL);
	d.origin = d.reason = ""; /* borrowed of what goes now */
	pol_free(p);
	pol_saved_fini(&saved);
	return d;
}

static void test_look__opens_nothing_by_itself(void **state)
{
	(void)state;
	for (unsigned mode = 0; mode < POL_MODE_MAX; mode++) {
		struct pol_decision d = decide((enum pol_mode)mode, false);

		assert_int_equal(d.verdict, POL_ASK);
		assert_true(d.is_look);
		assert_int_equal(d.rule, 12);
		assert_int_equal(d.otherwise, mode == POL_MODE_STRICT ? POL_DENY : POL_ASK);
		d = decide((enum pol_mode)mode, true);
		assert_int_equal(d.verdict, POL_DENY);
		assert_false(d.is_look);
	}
}

static void test_look__the_mode_allows_without_it(void **state)
{
	struct policy *p = pol_new();
	struct pol_decision d;
	struct pol_host host;
	struct pol_rule rule = {.id = 3,
				.kind = POL_KIND_SITE,
				.action = POL_ACTION_ALLOW,
				.layer = POL_LAYER_ANSWER,
				.flags = POL_RULE_LOOK,
				.pattern = "a.test:443",
				.program = "/usr/bin/curl"};

	(void)state;
	assert_int_equal(pol_host_parse("a.test", 6, &host), 0);
	assert_int_equal(pol_rule_add(p, &rule), 0);
	pol_set_mode(p, POL_MODE_WATCH);
	pol_decide_site(p, &host, 443, "/usr/bin/curl", &d);
	assert_int_equal(d.verdict, POL_ALLOW);
	assert_int_equal(d.by, ZW_BY_MODE);
	pol_set_mode(p, POL_MODE_STRICT);
	pol_decide_site(p, &host, 443, "/usr/bin/curl", &d);
	assert_int_equal(d.verdict, POL_ASK);
	assert_int_equal(d.otherwise, POL_DENY);
	pol_decide_site(p, &host, 443, "/usr/bin/wget", &d);
	assert_int_equal(d.verdict, POL_DENY);
	/* of an unknown program nobody knows that it is the one */
	pol_decide_site(p, &host, 443, "", &d);
	assert_int_equal(d.verdict, POL_DENY);
	/* a rule that needs no look comes first */
	rule.flags = 0;
	rule.id = 4;
	rule.program = "";
	assert_int_equal(pol_rule_add(p, &rule), 0);
	pol_decide_site(p, &host, 443, "/usr/bin/curl", &d);
	assert_int_equal(d.verdict, POL_ALLOW);
	assert_int_equal(d.rule, 4);
	pol_free(p);
}

static void test_check__what_is_no_rule(void **state)
{
	struct pol_saved r = docker();
	const char *why = "";

	(void)state;
	assert_int_equal(pol_saved_check(&r, &why), 0);
	set(&r.program_hash, "");
	assert_true(pol_saved_check(&r, &why) < 0);
	assert_string_equal(why, "an allow for a program needs the program's hash");
	set(&r.program_hash, "ABC");
	assert_true(pol_saved_check(&r, &why) < 0);
	set(&r.program_hash, HASH_A);
	set(&r.program, "docker");
	assert_true(pol_saved_check(&r, &why) < 0);
	set(&r.program, "/usr/bin/docker");
	r.until_s = r.made_s;
	assert_true(pol_saved_check(&r, &why) < 0);
	r.until_s = 0;
	r.action = POL_ACTION_DENY;
	set(&r.script, "/home/u/x.py");
	assert_true(pol_saved_check(&r, &why) < 0);
	set(&r.script, "");
	set(&r.target, "relative");
	assert_true(pol_saved_check(&r, &why) < 0);
	pol_saved_fini(&r);
}

/* -- interpreters ------------------------------------------------------------------------------- */

static void script(const char *exe, const char *args, enum pol_script want, const char *path)
{
	char argv[256], out[256];
	size_t len = strlen(args);

	memcpy(argv, args, len + 1);
	for (size_t i = 0; i < len; i++)
		if (argv[i] == ' ')
			argv[i] = '\0';
	assert_int_equal(pol_script_of(exe, zw_span_n(argv, len), "/home/u/src", out, sizeof(out)),
			 want);
	assert_string_equal(out, path);
}

static void test_script__what_an_interpreter_runs(void **state)
{
	(void)state;
	script("/usr/bin/curl", "curl x.py", POL_SCRIPT_NONE, "");
	script("/usr/bin/python3.11", "python3 build.py -c x", POL_SCRIPT_FILE,
	       "/home/u/src/build.py");
	script("/usr/bin/python3.11", "python3 -u -W ignore ../x.py", POL_SCRIPT_FILE,
	       "/home/u/x.py");
	script("/usr/bin/python3.11", "python3 -c import os", POL_SCRIPT_INLINE, "");
	script("/usr/bin/python3.11", "python3 -Ec import", POL_SCRIPT_INLINE, "");
	script("/usr/bin/python3.11", "python3 -m pip", POL_SCRIPT_INLINE, "");
	script("/usr/bin/python3.11", "python3 -", POL_SCRIPT_INLINE, "");
	script("/usr/bin/python3.11", "python3", POL_SCRIPT_INLINE, "");
	script("/usr/bin/python3.11", "python3 -- -odd.py", POL_SCRIPT_FILE, "/home/u/src/-odd.py");
	script("/usr/bin/node", "node --require ./a.js /usr/lib/npm.js ci", POL_SCRIPT_FILE,
	       "/usr/lib/npm.js");
	script("/usr/bin/node", "node -e x", POL_SCRIPT_INLINE, "");
	script("/usr/bin/bash", "bash -ec x", POL_SCRIPT_INLINE, "");
	script("/usr/bin/bash", "bash ./a/./b/../run.sh", POL_SCRIPT_FILE, "/home/u/src/a/run.sh");
	script("/usr/bin/dash", "sh -e run.sh", POL_SCRIPT_FILE, "/home/u/src/run.sh");
	script("/usr/bin/perl", "perl -E say", POL_SCRIPT_INLINE, "");
}

static void test_sha256__known_answers(void **state)
{
	static const struct {
		const char *text;
		size_t times;
		const char *hex;
	} cases[] = {
		{"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(cases); i++) {
		char hex[ZW_SHA256_HEX + 1];
		struct zw_sha256 s;

		zw_sha256_init(&s);
		for (size_t n = 0; n < cases[i].times; n++)
			zw_sha256_add(&s, cases[i].text, strlen(cases[i].text));
		zw_sha256_hex(&s, hex);
		assert_string_equal(hex, cases[i].hex);
	}
}

static void test_publish__a_port_of_a_server_inside(void **state)
{
	struct pol_try t = {.kind = POL_KIND_SITE,
			    .publish = "publish:8080",
			    .program = "/usr/bin/node",
			    .program_hash = HASH_A,
			    .script = "",
			    .project = "/p",
			    .now_s = NOW};
	struct pol_host host = {.name = "publish"};
	struct pol_saved r;
	const char *why;

	(void)state;
	pol_saved_init(&r);
	r.id = 3;
	r.action = POL_ACTION_ALLOW;
	r.made_s = NOW;
	pol_saved_set_site(&r, "publish:8080");
	set(&r.program, "/usr/bin/node");
	set(&r.program_hash, HASH_A);
	assert_int_equal(pol_saved_check(&r, &why), 0);
	check(&r, &t, POL_FIT_YES, NULL);
	t.program_hash = NULL;
	assert_int_equal(pol_saved_fit(&r, &t), POL_FIT_NEEDS_HASH);
	t.program_hash = HASH_B;
	check(&r, &t, POL_FIT_PROGRAM_CHANGED,
	      "Rule 3 did not apply: node is not the same file as when you agreed.");
	t.program_hash = HASH_A;
	t.publish = "publish:8081";
	check(&r, &t, POL_FIT_OTHER, NULL);
	/* A site of that name is another thing, in both directions. */
	t.publish = NULL;
	t.host = &host;
	t.port = 8080;
	check(&r, &t, POL_FIT_OTHER, NULL);
	set(&r.program, "");
	set(&r.program_hash, "");
	pol_saved_set_site(&r, "publish.example:8080");
	assert_false(r.is_publish);
	t.publish = "publish:8080";
	check(&r, &t, POL_FIT_OTHER, NULL);
	for (size_t i = 0; i < 5; i++) {
		static const char *const bad[] = {"publish:", "publish:0", "publish:65536",
						  "publish:x", "publish:80 "};

		pol_saved_set_site(&r, bad[i]);
		assert_int_equal(pol_saved_check(&r, &why), ZW_E_SYNTAX);
	}
	pol_saved_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_publish__a_port_of_a_server_inside),
		cmocka_unit_test(test_socket__each_part_counts),
		cmocka_unit_test(test_risk__a_class_that_was_raised_asks_again),
		cmocka_unit_test(test_time__ends_and_a_clock_turned_back),
		cmocka_unit_test(test_until__words_and_ends),
		cmocka_unit_test(test_Z066_site__its_name_and_its_ports_alone),
		cmocka_unit_test(test_below__never_a_registry),
		cmocka_unit_test(test_look__opens_nothing_by_itself),
		cmocka_unit_test(test_look__the_mode_allows_without_it),
		cmocka_unit_test(test_check__what_is_no_rule),
		cmocka_unit_test(test_script__what_an_interpreter_runs),
		cmocka_unit_test(test_sha256__known_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
