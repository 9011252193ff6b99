/* SPDX-License-Identifier: MIT
 * Rules about Unix sockets: classes, risk, treatments, modes, abstract names. */
#include "tests/support/test.h"

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/policy/policy.h"

#define DOCKER "/run/docker.sock"

static void add_class(struct policy *p, const char *name, enum pol_risk risk, enum pol_treat treat,
		      bool is_abstract, const char *glob)
{
	struct pol_class c = {.risk = risk, .treat = treat, .way = POL_WAY_RELAY};
	int index;

	zw_strlcpy(c.name, name, sizeof(c.name));
	index = pol_class_add(p, &c);
	assert_true(index >= 0);
	assert_int_equal(pol_pattern_add(p, (unsigned)index, is_abstract, glob), 0);
}

static struct policy *catalogue(void)
{
	struct policy *p = pol_new();

	add_class(p, "zwatch", POL_RISK_CRITICAL, POL_TREAT_REFUSE, false, "/run/user/*/zwatch/**");
	add_class(p, "nscd", POL_RISK_LOW, POL_TREAT_NOT_THERE, false, "/var/run/nscd/socket");
	add_class(p, "docker", POL_RISK_CRITICAL, POL_TREAT_BY_RISK, false, DOCKER);
	add_class(p, "wayland", POL_RISK_HIGH, POL_TREAT_BY_RISK, false, "/run/user/*/wayland-?");
	add_class(p, "syslog", POL_RISK_HARMLESS, POL_TREAT_BY_RISK, false, "/dev/log");
	add_class(p, "postgres", POL_RISK_LOW, POL_TREAT_BY_RISK, false,
		  "/run/postgresql/.s.PGSQL.*");
	add_class(p, "x11", POL_RISK_CRITICAL, POL_TREAT_BY_RISK, true, "/tmp/.X11-unix/X*");
	return p;
}

static struct pol_decision decide(const struct policy *p, const char *path, const char *alias)
{
	struct pol_socket s = {.program = "/usr/bin/node"};
	struct pol_decision d;

	if (path[0] == '@') {
		s.abstract = path + 1;
		s.abstract_len = strlen(path) - 1;
	} else {
		s.path = path;
		s.path_len = strlen(path);
	}
	if (alias != NULL) {
		s.alias = alias;
		s.alias_len = strlen(alias);
	}
	pol_decide_socket(p, &s, &d, NULL);
	return d;
}

static int add(struct policy *p, enum pol_action action, unsigned flags, const char *pattern)
{
	struct pol_rule r = {.kind = POL_KIND_SOCKET,
			     .action = action,
			     .layer = POL_LAYER_USER,
			     .flags = flags,
			     .pattern = pattern};

	return pol_rule_add(p, &r);
}

static void test_mode__table(void **state)
{
	static const struct {
		const char *path;
		enum pol_verdict in[POL_MODE_MAX];
	} rows[] = {
		{"/dev/log", {POL_ALLOW, POL_ALLOW, POL_DENY}},
		{"/run/postgresql/.s.PGSQL.5432", {POL_ALLOW, POL_ASK, POL_DENY}},
		{"/run/unknown.sock", {POL_ALLOW, POL_ASK, POL_DENY}},
		{"/run/user/1000/wayland-0", {POL_ASK, POL_ASK, POL_DENY}},
		{DOCKER, {POL_ASK, POL_ASK, POL_DENY}},
		{"@/tmp/.X11-unix/X0", {POL_DENY, POL_DENY, POL_DENY}},
		{"@unknown", {POL_DENY, POL_DENY, POL_DENY}},
		{"/run/nscd/socket", {POL_NOT_THERE, POL_NOT_THERE, POL_NOT_THERE}},
		{"/run/user/1000/zwatch/a.sock", {POL_DENY, POL_DENY, POL_DENY}},
	};
	struct policy *p = catalogue();

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		for (unsigned m = 0; m < POL_MODE_MAX; m++) {
			pol_set_mode(p, (enum pol_mode)m);
			if (decide(p, rows[i].path, NULL).verdict != rows[i].in[m])
				fail_msg("%s in mode %s: %d", rows[i].path,
					 pol_mode_word((enum pol_mode)m),
					 decide(p, rows[i].path, NULL).verdict);
		}
	}
	assert_int_equal(decide(p, "@unknown", NULL).by, ZW_BY_CATALOGUE);
	pol_free(p);
}

static void test_allow__of_a_dangerous_socket_needs_the_second_step(void **state)
{
	struct policy *p = catalogue();

	(void)state;
	assert_int_equal(add(p, POL_ACTION_ALLOW, 0, DOCKER), 0);
	assert_int_equal(decide(p, DOCKER, NULL).verdict, POL_ASK);
	assert_int_equal(add(p, POL_ACTION_ALLOW, 0, "/run/user/1000/wayland-0"), 0);
	assert_int_equal(decide(p, "/run/user/1000/wayland-0", NULL).verdict, POL_ASK);
	assert_int_equal(add(p, POL_ACTION_ALLOW, POL_RULE_DANGEROUS_OK, DOCKER), 0);
	assert_int_equal(decide(p, DOCKER, NULL).verdict, POL_ALLOW);
	assert_int_equal(add(p, POL_ACTION_DENY, 0, DOCKER), 0);
	assert_int_equal(decide(p, DOCKER, NULL).verdict, POL_DENY);

	struct pol_rule builtin = {.kind = POL_KIND_SOCKET,
				   .action = POL_ACTION_ALLOW,
				   .layer = POL_LAYER_BUILTIN,
				   .flags = POL_RULE_DANGEROUS_OK,
				   .pattern = "/run/user/1000/wayland-0"};
	assert_int_equal(pol_rule_add(p, &builtin), 0);
	assert_int_equal(decide(p, "/run/user/1000/wayland-0", NULL).verdict, POL_ASK);
	pol_free(p);
}

static void test_treat__no_rule_opens_what_is_refused(void **state)
{
	struct policy *p = catalogue();

	(void)state;
	assert_int_equal(
		add(p, POL_ACTION_ALLOW, POL_RULE_DANGEROUS_OK, "/run/user/1000/zwatch/a.sock"), 0);
	assert_int_equal(decide(p, "/run/user/1000/zwatch/a.sock", NULL).verdict, POL_DENY);
	assert_int_equal(add(p, POL_ACTION_ALLOW, POL_RULE_DANGEROUS_OK, "/run/nscd/socket"), 0);
	assert_int_equal(decide(p, "/run/nscd/socket", NULL).verdict, POL_NOT_THERE);
	assert_int_equal(add(p, POL_ACTION_DENY, 0, "/run/nscd/socket"), 0);
	assert_int_equal(decide(p, "/run/nscd/socket", NULL).verdict, POL_DENY);
	pol_free(p);
}

static void test_path__var_run_is_run(void **state)
{
	struct policy *p = catalogue();

	(void)state;
	assert_int_equal(decide(p, "/var/run/nscd/socket", NULL).verdict, POL_NOT_THERE);
	assert_int_equal(add(p, POL_ACTION_ALLOW, 0, "/var/run/a.sock"), 0);
	assert_int_equal(decide(p, "/run/a.sock", NULL).verdict, POL_ALLOW);
	assert_int_equal(decide(p, "/var/run/a.sock", NULL).verdict, POL_ALLOW);
	assert_int_equal(decide(p, "/run/a.sock2", NULL).verdict, POL_ASK);
	assert_int_equal(decide(p, "/run/a.soc", NULL).verdict, POL_ASK);
	pol_free(p);
}

static void test_alias__raises_and_never_lowers(void **state)
{
	struct policy *p = catalogue();
	struct pol_socket s = {.path = "/home/u/.rd/docker.sock",
			       .path_len = 23,
			       .alias = "/var/run/docker.sock",
			       .alias_len = 20};

	(void)state;
	assert_string_equal(pol_classify(p, &s)->name, "docker");
	/* a link of the agent's own making, named like a harmless socket */
	assert_int_equal(decide(p, "/run/unknown.sock", "/dev/log").verdict, POL_ASK);
	assert_int_equal(decide(p, DOCKER, "/dev/log").verdict, POL_ASK);
	assert_int_equal(decide(p, "/dev/log", DOCKER).verdict, POL_ASK);
	assert_int_equal(decide(p, "/run/x.sock", "/run/nscd/socket").verdict, POL_NOT_THERE);
	pol_free(p);
}

static void test_alias__is_denied_and_never_allowed(void **state)
{
	struct policy *p = catalogue();

	(void)state;
	add(p, POL_ACTION_DENY, 0, "/srv/denied.sock");
	add(p, POL_ACTION_ALLOW, 0, "/srv/allowed.sock");
	assert_int_equal(decide(p, "/srv/x.sock", "/srv/denied.sock").verdict, POL_DENY);
	assert_int_equal(decide(p, "/srv/allowed.sock", "/srv/denied.sock").verdict, POL_DENY);
	assert_int_equal(decide(p, "/srv/x.sock", "/srv/allowed.sock").verdict, POL_ASK);
	pol_free(p);
}

static void test_abstract__rule_opens_an_unknown_name(void **state)
{
	struct policy *p = catalogue();
	struct pol_socket nul = {.abstract = "name\0x", .abstract_len = 6};
	struct pol_decision d;

	(void)state;
	assert_int_equal(add(p, POL_ACTION_ALLOW, 0, "@name"), 0);
	assert_int_equal(decide(p, "@name", NULL).verdict, POL_ALLOW);
	pol_decide_socket(p, &nul, &d, NULL);
	assert_int_equal(d.verdict, POL_DENY);
	/* as a record shows it */
	assert_int_equal(add(p, POL_ACTION_ALLOW, 0, "@name\\x00x"), 0);
	pol_decide_socket(p, &nul, &d, NULL);
	assert_int_equal(d.verdict, POL_ALLOW);
	assert_int_equal(decide(p, "@name\\x00x", NULL).verdict, POL_DENY);
	assert_int_equal(add(p, POL_ACTION_ALLOW, 0, "@name\\x5cx00x"), 0);
	assert_int_equal(decide(p, "@name\\x00x", NULL).verdict, POL_ALLOW);
	/* a path of the same bytes is something else */
	assert_int_equal(add(p, POL_ACTION_ALLOW, 0, "@/run/z.sock"), 0);
	assert_int_equal(decide(p, "/run/z.sock", NULL).verdict, POL_ASK);
	pol_free(p);
}

static void test_pattern__bad_ones_say_what_to_write(void **state)
{
	static const struct {
		const char *pattern, *why;
	} rows[] = {
		{"", "empty"},
		{"true", "list the sockets"},
		{"*", "list the sockets"},
		{"/run/*.sock", "in full"},
		{"/run/user/?/bus", "in full"},
		{"@*", "in full"},
		{"/run/", "folder"},
		{"/", "folder"},
		{"run/x.sock", "whole path"},
		{"~/x.sock", "whole path"},
		{"docker", "whole path"},
		{"@", "abstract name"},
		{"/run//x.sock", "without //"},
		{"/run/../x.sock", "without //"},
		{"/run/./x.sock", "without //"},
		{"/run/..", "without //"},
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		struct pol_rule r = {.kind = POL_KIND_SOCKET,
				     .action = POL_ACTION_ALLOW,
				     .layer = POL_LAYER_OPTION,
				     .pattern = rows[i].pattern};
		const char *why = NULL;

		if (pol_rule_check(&r, &why) != ZW_E_SYNTAX)
			fail_msg("'%s' was taken", rows[i].pattern);
		assert_non_null(why);
		if (strstr(why, rows[i].why) == NULL)
			fail_msg("'%s': %s", rows[i].pattern, why);
	}
}

static void test_pattern__an_answer_is_about_the_bytes_that_were_seen(void **state)
{
	struct policy *p = catalogue();
	struct pol_rule r = {.kind = POL_KIND_SOCKET,
			     .action = POL_ACTION_ALLOW,
			     .layer = POL_LAYER_ANSWER,
			     .pattern = "/run/a*.sock"};

	(void)state;
	assert_int_equal(pol_rule_add(p, &r), 0);
	assert_int_equal(decide(p, "/run/a*.sock", NULL).verdict, POL_ALLOW);
	assert_int_equal(decide(p, "/run/ab.sock", NULL).verdict, POL_ASK);
	pol_free(p);
}

static void test_class__bounds(void **state)
{
	struct policy *p = pol_new();
	struct pol_class c = {.risk = POL_RISK_MAX};

	(void)state;
	assert_int_equal(pol_class_add(p, &c), ZW_E_SYNTAX);
	assert_int_equal(pol_pattern_add(p, 0, false, "/x"), ZW_E_SYNTAX);
	c.risk = POL_RISK_LOW;
	for (int i = 0; i < 65535; i++)
		assert_int_equal(pol_class_add(p, &c), i);
	assert_int_equal(pol_class_add(p, &c), ZW_E_TOOBIG);
	pol_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mode__table),
		cmocka_unit_test(test_allow__of_a_dangerous_socket_needs_the_second_step),
		cmocka_unit_test(test_treat__no_rule_opens_what_is_refused),
		cmocka_unit_test(test_path__var_run_is_run),
		cmocka_unit_test(test_alias__raises_and_never_lowers),
		cmocka_unit_test(test_alias__is_denied_and_never_allowed),
		cmocka_unit_test(test_abstract__rule_opens_an_unknown_name),
		cmocka_unit_test(test_pattern__bad_ones_say_what_to_write),
		cmocka_unit_test(test_pattern__an_answer_is_about_the_bytes_that_were_seen),
		cmocka_unit_test(test_class__bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
