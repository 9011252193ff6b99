/* SPDX-License-Identifier: MIT */
#include "src/policy/resolvers.h"

#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/policy/policy.h"
#include "tests/support/test.h"

static struct pol_host host_of(const char *text)
{
	struct pol_host h;

	assert_int_equal(pol_host_parse(text, strlen(text), &h), 0);
	return h;
}

static const char *provider_of(const char *text)
{
	struct pol_host h = host_of(text);
	const struct pol_resolver *r = pol_resolver_of(&h);

	return r != NULL ? r->provider : "";
}

/* Every row of the table is found by what stands in it, and with its own provider. */
static void test_table__every_row_is_found(void **state)
{
	static const char *const providers[] = {
#define ZW_RESOLVER(provider) provider,
#include "data_resolvers.inc"
#undef ZW_RESOLVER
	};
	char text[300];
	size_t n_names = 0, n_nets = 0, names, nets;

	(void)state;
#define ZW_RESOLVER_NAMES(name, i)                            \
	assert_string_equal(provider_of(name), providers[i]); \
	n_names++;
#include "data_resolvers.inc"
#undef ZW_RESOLVER_NAMES
#define ZW_RESOLVER_BELOW(name, i)                            \
	snprintf(text, sizeof(text), "a.b.%s", name);         \
	assert_string_equal(provider_of(text), providers[i]); \
	n_names++;
#include "data_resolvers.inc"
#undef ZW_RESOLVER_BELOW
#define ZW_RESOLVER_NET(net, i)                                            \
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(net, "/"), net); \
	assert_string_equal(provider_of(text), providers[i]);              \
	n_nets++;
#include "data_resolvers.inc"
#undef ZW_RESOLVER_NET
	pol_resolver_count(&names, &nets);
	assert_int_equal(names, n_names);
	assert_int_equal(nets, n_nets);
	assert_true(n_names > 300 && n_nets > 300);
}

static void test_table__what_is_near_is_not_in_it(void **state)
{
	static const char *const others[] = {
		"google.com",	  "notdns.google", "dns.google.evil.test",
		"cloudflare.com", "quad9.net",	   "dnscry.pt",
		"8.8.8.9",	  "9.9.8.9",	   "2001:4860:4860::8889",
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(others); i++)
		assert_string_equal(provider_of(others[i]), "");
	assert_string_equal(provider_of("DNS.Google."), "Google Public DNS");
	assert_string_equal(provider_of("::ffff:8.8.8.8"), "Google Public DNS");
	assert_string_equal(provider_of("64:ff9b::909:909"), "Quad9");
	assert_string_equal(provider_of("134744072"), "Google Public DNS");
}

static struct pol_decision judge(struct policy *p, const char *text)
{
	struct pol_host h = host_of(text);
	struct pol_decision d;

	pol_decide_site(p, &h, 443, "/usr/bin/curl", &d);
	return d;
}

/* Blocked, it stays so in the mode that allows all, and although a rule allows it; a deny rule has
 * the first word; and what the name of another site leads to is judged as well. */
static void test_block__nothing_opens_a_resolver(void **state)
{
	struct policy *p = pol_new();
	struct pol_host host = host_of("site.test"), doh = host_of("1.1.1.1");
	struct pol_decision d;

	(void)state;
	pol_set_mode(p, POL_MODE_WATCH);
	assert_int_equal(judge(p, "dns.google").verdict, POL_ALLOW);
	pol_set_resolvers(p, POL_RESOLVERS_BLOCKED);
	struct pol_rule allow = {.id = 1,
				 .action = POL_ACTION_ALLOW,
				 .layer = POL_LAYER_USER,
				 .pattern = "*.google"};
	assert_int_equal(pol_rule_add(p, &allow), 0);
	allow.pattern = "1.0.0.0/8";
	assert_int_equal(pol_rule_add(p, &allow), 0);
	d = judge(p, "dns.google");
	assert_int_equal(d.verdict, POL_DENY);
	assert_int_equal(d.by, ZW_BY_CATALOGUE);
	assert_non_null(strstr(d.reason, "Google Public DNS"));
	assert_int_equal(judge(p, "1.1.1.1").verdict, POL_DENY);
	assert_int_equal(judge(p, "www.google").verdict, POL_ALLOW);
	pol_decide_resolved(p, &host, &doh.addr, 443, "", &d);
	assert_int_equal(d.verdict, POL_DENY);
	assert_int_equal(d.by, ZW_BY_CATALOGUE);
	assert_non_null(strstr(d.reason, "Cloudflare"));
	struct pol_rule deny = {.id = 7,
				.action = POL_ACTION_DENY,
				.layer = POL_LAYER_USER,
				.pattern = "dns.google"};
	assert_int_equal(pol_rule_add(p, &deny), 0);
	assert_int_equal(judge(p, "dns.google").rule, 7);
	pol_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table__every_row_is_found),
		cmocka_unit_test(test_table__what_is_near_is_not_in_it),
		cmocka_unit_test(test_block__nothing_opens_a_resolver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
