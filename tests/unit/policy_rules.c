/* SPDX-License-Identifier: MIT
 * Rules about sites: patterns, layers, ports, modes, resolved addresses, and many of them. */
#include "tests/support/test.h"

#include <time.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/policy/policy.h"

static struct pol_rule rule(enum pol_action action, const char *pattern)
{
	return (struct pol_rule){.kind = POL_KIND_SITE,
				 .action = action,
				 .layer = POL_LAYER_USER,
				 .pattern = pattern};
}

static void add(struct policy *p, uint32_t id, enum pol_action action, const char *pattern)
{
	struct pol_rule r = rule(action, pattern);

	r.id = id;
	if (pol_rule_add(p, &r) != 0)
		fail_msg("'%s' was refused", pattern);
}

static struct pol_decision decide(const struct policy *p, const char *host, uint16_t port)
{
	struct pol_decision d;
	struct pol_host h;

	assert_int_equal(pol_host_parse(host, strlen(host), &h), 0);
	pol_decide_site(p, &h, port, "/usr/bin/curl", &d);
	return d;
}

static enum pol_verdict verdict(const struct policy *p, const char *host, uint16_t port)
{
	return decide(p, host, port).verdict;
}

static void test_Z061_pattern__subdomains_and_look_alikes(void **state)
{
	struct policy *p = pol_new();

	(void)state;
	add(p, 1, POL_ACTION_ALLOW, "*.example.test");
	assert_int_equal(verdict(p, "example.test", 443), POL_ASK);
	assert_int_equal(verdict(p, "a.example.test", 443), POL_ALLOW);
	assert_int_equal(verdict(p, "a.b.example.test", 80), POL_ALLOW);
	assert_int_equal(verdict(p, "A.EXAMPLE.test.", 443), POL_ALLOW);
	assert_int_equal(verdict(p, "notexample.test", 443), POL_ASK);
	assert_int_equal(verdict(p, "example.test.evil.test", 443), POL_ASK);
	assert_int_equal(verdict(p, "a.example.test.evil.test", 443), POL_ASK);
	assert_int_equal(verdict(p, "test", 443), POL_ASK);
	pol_free(p);
}

static void test_Z065_pattern__bad_ones_say_what_to_write(void **state)
{
	static const struct {
		const char *pattern, *why;
	} rows[] = {
		{"", "empty"},
		{"foo.*.test", "beginning"},
		{"*", "mode"},
		{"*example.test", "beginning"},
		{"*.*.test", "beginning"},
		{".example.test", "*.example.com"},
		{"*..example.test", "*.example.com"},
		{"https://example.test", "without http"},
		{"example.test/path", "path"},
		{"example.test:443/path", "path"},
		{"example.test:80-90", "one entry"},
		{"example.test:80,443", "one entry"},
		{"a.test b.test", "one site"},
		{"a.test\n", "one site"},
		{"b\xc3\xbc"
		 "cher.test",
		 "xn--"},
		{"user@example.test", "user name"},
		{"example.test:0", "1 to 65535"},
		{"example.test:65536", "1 to 65535"},
		{"example.test:", "1 to 65535"},
		{"example.test:https", "1 to 65535"},
		{":443", "no host"},
		{"*.", "beginning"},
		{"*.10.0.0.1", "address"},
		{"ex?mple.test", "in full"},
		{"a..b", "not a host"},
		{"300.1.1.1", "not a host"},
		{"10.0.0.0/33", "prefix"},
		{"10.0.0.0/", "prefix"},
		{"10.0.0.0/a", "prefix"},
		{"10.1.0.0/8", "first address"},
		{"0.0.0.0/0", "smaller"},
		{"::/0", "smaller"},
		{"[::1", "not closed"},
		{"[::1]x", "IPv6"},
		{"[example.test]:443", "IPv6"},
		{"[10.0.0.1]:443", "IPv6"},
		{"fd00::1/129", "prefix"},
		{"fd00::1/8", "first address"},
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		struct pol_rule r = rule(POL_ACTION_ALLOW, rows[i].pattern);
		struct policy *p = pol_new();
		const char *why = NULL;

		if (pol_rule_check(&r, &why) != ZW_E_SYNTAX)
			fail_msg("'%s' was taken", rows[i].pattern);
		assert_non_null(why);
		if (strstr(why, rows[i].why) == NULL)
			fail_msg("'%s': %s", rows[i].pattern, why);
		assert_int_equal(pol_rule_add(p, &r), ZW_E_SYNTAX);
		pol_free(p);
	}
}

static void test_pattern__too_long(void **state)
{
	zw_autofree char *s = zw_xmalloc(5001);
	struct pol_rule r = rule(POL_ACTION_DENY, s);

	(void)state;
	memset(s, 'a', 5000);
	s[5000] = '\0';
	assert_int_equal(pol_rule_check(&r, NULL), ZW_E_TOOBIG);
}

static void test_Z066_port__none_is_80_and_443_for_an_allow(void **state)
{
	struct policy *p = pol_new();

	(void)state;
	add(p, 1, POL_ACTION_ALLOW, "a.test");
	add(p, 2, POL_ACTION_ALLOW, "b.test:8080");
	add(p, 3, POL_ACTION_DENY, "c.test");
	add(p, 4, POL_ACTION_ALLOW, "*:2222");
	assert_int_equal(verdict(p, "a.test", 80), POL_ALLOW);
	assert_int_equal(verdict(p, "a.test", 443), POL_ALLOW);
	assert_int_equal(verdict(p, "a.test", 22), POL_ASK);
	assert_int_equal(verdict(p, "a.test", 25), POL_ASK);
	assert_int_equal(verdict(p, "a.test", 6379), POL_ASK);
	assert_int_equal(verdict(p, "a.test", 8080), POL_ASK);
	assert_int_equal(verdict(p, "b.test", 8080), POL_ALLOW);
	assert_int_equal(verdict(p, "b.test", 443), POL_ASK);
	assert_int_equal(verdict(p, "c.test", 443), POL_DENY);
	assert_int_equal(verdict(p, "c.test", 1), POL_DENY);
	assert_int_equal(verdict(p, "other.test", 2222), POL_ALLOW);
	assert_int_equal(verdict(p, "c.test", 2222), POL_DENY);
	pol_free(p);
}

static void test_order__a_deny_of_any_layer_wins(void **state)
{
	static const enum pol_layer denying[] = {
		POL_LAYER_BUILTIN, POL_LAYER_MANAGED, POL_LAYER_SYSTEM, POL_LAYER_USER,
		POL_LAYER_PROJECT, POL_LAYER_OPTION,  POL_LAYER_ANSWER};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(denying); i++) {
		struct policy *p = pol_new();
		struct pol_rule deny = rule(POL_ACTION_DENY, "*.test");
		struct pol_rule allow = rule(POL_ACTION_ALLOW, "a.test");

		deny.layer = denying[i];
		deny.id = 7;
		deny.origin = "somewhere:3";
		deny.reason = "not here";
		allow.layer = POL_LAYER_ANSWER;
		assert_int_equal(pol_rule_add(p, &allow), 0);
		assert_int_equal(verdict(p, "a.test", 443), POL_ALLOW);
		assert_int_equal(pol_rule_add(p, &deny), 0);
		assert_int_equal(pol_rule_add(p, &allow), 0);

		struct pol_decision d = decide(p, "a.test", 443);
		assert_int_equal(d.verdict, POL_DENY);
		assert_int_equal(d.by, ZW_BY_RULE);
		assert_int_equal(d.rule, 7);
		assert_string_equal(d.origin, "somewhere:3");
		assert_string_equal(d.reason, "not here");
		pol_free(p);
	}
}

static void test_layer__managed_and_project_cannot_allow(void **state)
{
	struct pol_rule r = rule(POL_ACTION_ALLOW, "a.test");
	struct policy *p = pol_new();
	const char *why = NULL;

	(void)state;
	r.layer = POL_LAYER_PROJECT;
	assert_int_equal(pol_rule_check(&r, &why), ZW_E_SYNTAX);
	assert_non_null(strstr(why, "wish"));
	assert_int_equal(pol_rule_add(p, &r), ZW_E_SYNTAX);
	r.layer = POL_LAYER_MANAGED;
	assert_int_equal(pol_rule_check(&r, &why), ZW_E_SYNTAX);
	assert_int_equal(pol_rule_add(p, &r), ZW_E_SYNTAX);
	r.kind = POL_KIND_SOCKET;
	r.pattern = "/run/x.sock";
	assert_int_equal(pol_rule_add(p, &r), ZW_E_SYNTAX);
	assert_int_equal(verdict(p, "a.test", 443), POL_ASK);
	pol_free(p);
}

static void test_mode__unknown_site(void **state)
{
	static const enum pol_verdict expected[POL_MODE_MAX] = {POL_ALLOW, POL_ASK, POL_DENY};
	struct policy *p = pol_new();

	(void)state;
	assert_int_equal(pol_mode(p), POL_MODE_GUARD);
	for (unsigned m = 0; m < POL_MODE_MAX; m++) {
		enum pol_mode back;

		pol_set_mode(p, (enum pol_mode)m);
		struct pol_decision d = decide(p, "unknown.test", 443);
		assert_int_equal(d.verdict, expected[m]);
		assert_int_equal(d.by, ZW_BY_MODE);
		assert_int_equal(d.rule, 0);
		assert_int_equal(verdict(p, "10.0.0.1", 443), POL_DENY);
		assert_int_equal(pol_mode_parse(pol_mode_word((enum pol_mode)m), &back), 0);
		assert_int_equal(back, m);
	}
	assert_int_equal(pol_mode_parse("stict", &(enum pol_mode){0}), ZW_E_SYNTAX);
	pol_free(p);
}

static void test_program__allow_for_one_is_none_for_an_unknown(void **state)
{
	struct policy *p = pol_new();
	struct pol_rule allow = rule(POL_ACTION_ALLOW, "a.test");
	struct pol_rule deny = rule(POL_ACTION_DENY, "b.test");
	struct pol_host a, b;
	struct pol_decision d;

	(void)state;
	allow.program = deny.program = "/usr/bin/git";
	assert_int_equal(pol_rule_add(p, &allow), 0);
	assert_int_equal(pol_rule_add(p, &deny), 0);
	assert_int_equal(pol_host_parse("a.test", 6, &a), 0);
	assert_int_equal(pol_host_parse("b.test", 6, &b), 0);
	pol_decide_site(p, &a, 443, "/usr/bin/git", &d);
	assert_int_equal(d.verdict, POL_ALLOW);
	pol_decide_site(p, &a, 443, "/usr/bin/gitk", &d);
	assert_int_equal(d.verdict, POL_ASK);
	pol_decide_site(p, &a, 443, "", &d);
	assert_int_equal(d.verdict, POL_ASK);
	pol_decide_site(p, &b, 443, "/usr/bin/curl", &d);
	assert_int_equal(d.verdict, POL_ASK);
	pol_decide_site(p, &b, 443, "", &d);
	assert_int_equal(d.verdict, POL_DENY);
	pol_decide_site(p, &b, 443, NULL, &d);
	assert_int_equal(d.verdict, POL_DENY);
	pol_free(p);
}

static void test_address__by_address_rules_alone(void **state)
{
	struct policy *p = pol_new();

	(void)state;
	pol_set_mode(p, POL_MODE_WATCH);
	add(p, 1, POL_ACTION_ALLOW, "*:443");
	struct pol_decision d = decide(p, "8.8.8.8", 443);
	assert_int_equal(d.verdict, POL_DENY);
	assert_int_equal(d.by, ZW_BY_ADDRESS);
	assert_string_not_equal(d.reason, "");
	add(p, 2, POL_ACTION_ALLOW, "8.8.8.0/24");
	assert_int_equal(verdict(p, "8.8.8.8", 443), POL_ALLOW);
	assert_int_equal(verdict(p, "8.8.9.8", 443), POL_DENY);
	assert_int_equal(verdict(p, "8.8.8.8", 53), POL_DENY);
	add(p, 3, POL_ACTION_ALLOW, "10.0.0.5:5432");
	assert_int_equal(verdict(p, "10.0.0.5", 5432), POL_ALLOW);
	assert_int_equal(verdict(p, "167772165", 5432), POL_ALLOW);
	assert_int_equal(verdict(p, "10.0.0.5", 443), POL_DENY);
	add(p, 4, POL_ACTION_ALLOW, "[fd00::]/8:443");
	add(p, 5, POL_ACTION_ALLOW, "[2001:db8::1]:22");
	add(p, 6, POL_ACTION_ALLOW, "2001:db8::2");
	add(p, 7, POL_ACTION_ALLOW, "[fe80::/10]:8080");
	assert_int_equal(verdict(p, "[fd12::1]", 443), POL_ALLOW);
	assert_int_equal(verdict(p, "[fd12::1]", 80), POL_DENY);
	assert_int_equal(verdict(p, "[2001:db8::1]", 22), POL_ALLOW);
	assert_int_equal(verdict(p, "[2001:db8::2]", 443), POL_ALLOW);
	assert_int_equal(verdict(p, "[fe80::2]", 8080), POL_ALLOW);
	add(p, 8, POL_ACTION_DENY, "*:443");
	assert_int_equal(decide(p, "8.8.8.8", 443).rule, 8);
	pol_free(p);
}

static void test_address__deny_through_a_wrapper(void **state)
{
	struct policy *p = pol_new();

	(void)state;
	add(p, 1, POL_ACTION_ALLOW, "64:ff9b::/96");
	assert_int_equal(verdict(p, "64:ff9b::1.2.3.4", 443), POL_ALLOW);
	add(p, 2, POL_ACTION_DENY, "1.2.3.0/24");
	assert_int_equal(verdict(p, "64:ff9b::1.2.3.4", 443), POL_DENY);
	assert_int_equal(decide(p, "::ffff:1.2.3.4", 443).rule, 2);
	pol_free(p);
}

static void test_localhost__is_a_loopback_address(void **state)
{
	struct policy *p = pol_new();

	(void)state;
	pol_set_mode(p, POL_MODE_WATCH);
	add(p, 1, POL_ACTION_ALLOW, "*:3000");
	assert_int_equal(decide(p, "localhost", 3000).by, ZW_BY_ADDRESS);
	assert_int_equal(verdict(p, "localhost", 3000), POL_DENY);
	assert_int_equal(verdict(p, "app.localhost", 3000), POL_DENY);
	add(p, 2, POL_ACTION_ALLOW, "localhost:3000");
	assert_int_equal(verdict(p, "localhost", 3000), POL_ALLOW);
	assert_int_equal(verdict(p, "app.localhost", 3000), POL_DENY);
	add(p, 3, POL_ACTION_ALLOW, "127.0.0.0/8:4000");
	assert_int_equal(verdict(p, "app.localhost", 4000), POL_ALLOW);
	add(p, 4, POL_ACTION_DENY, "127.0.0.1");
	assert_int_equal(verdict(p, "localhost", 3000), POL_DENY);
	pol_free(p);
}

static struct pol_decision resolved(const struct policy *p, const char *host, const char *addr,
				    uint16_t port)
{
	struct pol_host h, a;
	struct pol_decision d;

	assert_int_equal(pol_host_parse(host, strlen(host), &h), 0);
	assert_int_equal(pol_host_parse(addr, strlen(addr), &a), 0);
	pol_decide_resolved(p, &h, &a.addr, port, "", &d);
	return d;
}

static void test_Z044_resolved__private_answer_of_an_allowed_name(void **state)
{
	static const char *const refused[] = {
		"10.0.0.1",	   "100.64.0.1",      "169.254.169.254", "64:ff9b::a00:1",
		"2002:a00:1::1",   "2001:0:a00:1::1", "::ffff:10.0.0.1", "0.0.0.0",
		"255.255.255.255", "ff02::2",	      "127.0.0.1",	 "198.18.0.1",
	};
	struct policy *p = pol_new();

	(void)state;
	add(p, 1, POL_ACTION_ALLOW, "a.test");
	for (size_t i = 0; i < ZW_N_ELEMENTS(refused); i++) {
		struct pol_decision d = resolved(p, "a.test", refused[i], 443);

		assert_int_equal(d.verdict, POL_DENY);
		assert_int_equal(d.by, ZW_BY_ADDRESS);
		assert_string_not_equal(d.reason, "");
	}
	assert_int_equal(resolved(p, "a.test", "8.8.8.8", 443).verdict, POL_ALLOW);
	add(p, 2, POL_ACTION_DENY, "8.8.8.0/24");
	assert_int_equal(resolved(p, "a.test", "8.8.8.8", 443).rule, 2);
	pol_free(p);
}

static void test_resolved__allow_private(void **state)
{
	struct policy *p = pol_new();

	(void)state;
	assert_int_equal(pol_private_add(p, "*.corp.example"), 0);
	assert_int_equal(pol_private_add(p, "db.example"), 0);
	assert_int_equal(pol_private_add(p, "192.168.7.0/24"), 0);
	assert_int_equal(pol_private_add(p, "*.corp.example:443"), ZW_E_SYNTAX);
	assert_int_equal(pol_private_add(p, "*:443"), ZW_E_SYNTAX);
	assert_int_equal(pol_private_add(p, "http://x"), ZW_E_SYNTAX);
	static const struct {
		const char *host;
		bool is_inside;
	} hosts[] = {{"git.corp.example", true}, {"corp.example", false}, {"db.example", true},
		     {"x.db.example", false},	 {"192.168.7.1", true},	  {"192.168.8.1", false}};
	for (size_t i = 0; i < ZW_N_ELEMENTS(hosts); i++) {
		struct pol_host h;

		assert_int_equal(pol_host_parse(hosts[i].host, strlen(hosts[i].host), &h), 0);
		assert_int_equal(pol_private_has(p, &h), hosts[i].is_inside);
	}
	assert_int_equal(resolved(p, "git.corp.example", "10.1.1.1", 443).verdict, POL_ALLOW);
	assert_int_equal(resolved(p, "corp.example", "10.1.1.1", 443).verdict, POL_DENY);
	assert_int_equal(resolved(p, "db.example", "fd00::1", 443).verdict, POL_ALLOW);
	assert_int_equal(resolved(p, "x.db.example", "fd00::1", 443).verdict, POL_DENY);
	/* a name opens private networks, never the machine itself or its cloud */
	assert_int_equal(resolved(p, "git.corp.example", "127.0.0.1", 443).verdict, POL_DENY);
	assert_int_equal(resolved(p, "git.corp.example", "169.254.169.254", 80).verdict, POL_DENY);
	assert_int_equal(resolved(p, "git.corp.example", "198.18.0.1", 80).verdict, POL_DENY);
	assert_int_equal(resolved(p, "any.test", "192.168.7.9", 443).verdict, POL_ALLOW);
	assert_int_equal(resolved(p, "any.test", "192.168.8.9", 443).verdict, POL_DENY);
	/* it is no rule: it opens no site, and no address by itself */
	assert_int_equal(verdict(p, "git.corp.example", 443), POL_ASK);
	assert_int_equal(verdict(p, "192.168.7.9", 443), POL_DENY);
	add(p, 9, POL_ACTION_ALLOW, "10.0.0.5:5432");
	assert_int_equal(resolved(p, "any.test", "10.0.0.5", 5432).verdict, POL_ALLOW);
	assert_int_equal(resolved(p, "any.test", "10.0.0.5", 443).verdict, POL_DENY);
	pol_free(p);
}

static void test_remove__by_number(void **state)
{
	struct policy *p = pol_new();

	(void)state;
	add(p, 1, POL_ACTION_ALLOW, "a.test");
	add(p, 2, POL_ACTION_DENY, "a.test");
	add(p, 2, POL_ACTION_DENY, "10.0.0.0/8");
	add(p, 3, POL_ACTION_ALLOW, "10.0.0.1");
	assert_int_equal(pol_private_add(p, "*.corp.example"), 0);
	assert_int_equal(verdict(p, "a.test", 443), POL_DENY);
	assert_int_equal(verdict(p, "10.0.0.1", 443), POL_DENY);
	assert_int_equal(pol_rule_remove(p, 2), 2);
	assert_int_equal(verdict(p, "a.test", 443), POL_ALLOW);
	assert_int_equal(verdict(p, "10.0.0.1", 443), POL_ALLOW);
	assert_int_equal(pol_rule_remove(p, 2), 0);
	assert_int_equal(pol_rule_remove(p, 1), 1);
	assert_int_equal(verdict(p, "a.test", 443), POL_ASK);
	assert_int_equal(pol_rule_remove(p, 0), 0);
	pol_free(p);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void test_Z065_many__100000_rules(void **state)
{
	enum { N = 100000, LOOKUPS = 20000 };
	struct policy *p = pol_new();
	char host[64];
	double t0 = seconds(), loaded, looked_up;

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		if (i % 10 == 9)
			snprintf(host, sizeof(host), "11.%u.%u.%u", i >> 16, i >> 8 & 255, i & 255);
		else
			snprintf(host, sizeof(host), "%sd%u.example%u.test", i % 2 ? "*." : "", i,
				 i % 100);
		add(p, i + 1, POL_ACTION_ALLOW, host);
	}
	loaded = seconds() - t0;
	t0 = seconds();
	for (unsigned i = 0; i < LOOKUPS; i++) {
		snprintf(host, sizeof(host), "a.b.c.d%u.example%u.test", i, i % 100);
		assert_int_equal(verdict(p, host, 443),
				 i % 2 == 1 && i % 10 != 9 ? POL_ALLOW : POL_ASK);
		snprintf(host, sizeof(host), "11.0.%u.%u", i >> 8 & 255, i & 255);
		assert_int_equal(verdict(p, host, 443), i % 10 == 9 ? POL_ALLOW : POL_DENY);
	}
	looked_up = seconds() - t0;
	print_message("100,000 rules: %.0f ms to load, %.2f us a lookup\n", loaded * 1e3,
		      looked_up / (2 * LOOKUPS) * 1e6);
	assert_true(loaded < 1.0 * 5); /* the goal, with room for sanitizers */
	assert_true(looked_up <
		    1.0); /* 25 us each; a scan of all rules would take 100 times that */
	pol_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_Z061_pattern__subdomains_and_look_alikes),
		cmocka_unit_test(test_Z065_pattern__bad_ones_say_what_to_write),
		cmocka_unit_test(test_pattern__too_long),
		cmocka_unit_test(test_Z066_port__none_is_80_and_443_for_an_allow),
		cmocka_unit_test(test_order__a_deny_of_any_layer_wins),
		cmocka_unit_test(test_layer__managed_and_project_cannot_allow),
		cmocka_unit_test(test_mode__unknown_site),
		cmocka_unit_test(test_program__allow_for_one_is_none_for_an_unknown),
		cmocka_unit_test(test_address__by_address_rules_alone),
		cmocka_unit_test(test_address__deny_through_a_wrapper),
		cmocka_unit_test(test_localhost__is_a_loopback_address),
		cmocka_unit_test(test_Z044_resolved__private_answer_of_an_allowed_name),
		cmocka_unit_test(test_resolved__allow_private),
		cmocka_unit_test(test_remove__by_number),
		cmocka_unit_test(test_Z065_many__100000_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
