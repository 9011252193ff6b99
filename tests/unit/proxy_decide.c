/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include "proxy/decide.h"
#include "src/base/mem.h"
#include "src/base/words.h"

static struct px_ports ports;

static int setup(void **state)
{
	struct policy *p = pol_new();
	const struct pol_rule rules[] = {
		{.id = 1,
		 .kind = POL_KIND_SITE,
		 .action = POL_ACTION_ALLOW,
		 .layer = POL_LAYER_USER,
		 .pattern = "good.example"},
		{.id = 2,
		 .kind = POL_KIND_SITE,
		 .action = POL_ACTION_DENY,
		 .layer = POL_LAYER_USER,
		 .pattern = "bad.example",
		 .reason = "no"},
		{.id = 3,
		 .kind = POL_KIND_SITE,
		 .action = POL_ACTION_DENY,
		 .layer = POL_LAYER_USER,
		 .pattern = "localhost:9999"},
		{.id = 4,
		 .kind = POL_KIND_SITE,
		 .action = POL_ACTION_ALLOW,
		 .layer = POL_LAYER_USER,
		 .pattern = "*:53"},
		{.id = 5,
		 .kind = POL_KIND_SITE,
		 .action = POL_ACTION_DENY,
		 .layer = POL_LAYER_USER,
		 .pattern = "93.184.216.40",
		 .reason = "not there"},
		{.id = 6,
		 .kind = POL_KIND_SITE,
		 .action = POL_ACTION_ALLOW,
		 .layer = POL_LAYER_USER,
		 .pattern = "10.7.0.0/16:8443",
		 .program = "/bin/x"},
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(rules); i++)
		assert_int_equal(pol_rule_add(p, &rules[i]), 0);
	assert_int_equal(pol_private_add(p, "*.corp.example"), 0);
	assert_int_equal(pol_private_add(p, "10.9.0.0/16"), 0);
	px_ports_set(&ports, (const uint8_t[]){0x1f, 0x90, 0x27, 0x0f}, 4); /* 8080, 9999 */
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	pol_free(*state);
	return 0;
}

static struct px_decision decide(void **state, const char *host, uint16_t port, bool is_local)
{
	struct px_decision d;
	struct pol_host h;

	assert_int_equal(pol_host_parse(host, strlen(host), &h), 0);
	px_decide(*state, &ports, &h, port, is_local, "/bin/x", &d);
	return d;
}

static void test_decide__names_go_by_policy(void **state)
{
	struct px_decision d = decide(state, "good.example", 443, false);

	assert_int_equal(d.d.verdict, POL_ALLOW);
	assert_int_equal(d.way, PX_WAY_NAME);
	assert_int_equal(decide(state, "bad.example", 443, false).d.verdict, POL_DENY);
	assert_int_equal(decide(state, "new.example", 443, false).d.verdict, POL_ASK);
}

static void test_decide__dns_ports_are_never_let_through(void **state)
{
	assert_int_equal(decide(state, "good.example", 53, false).d.verdict, POL_DENY);
	assert_int_equal(decide(state, "9.9.9.9", 853, false).d.by, ZW_BY_CATALOGUE);
	assert_non_null(strstr(decide(state, "x.example", 853, false).d.reason, "DNS over TLS"));
}

static void test_decide__loopback_only_by_its_setting(void **state)
{
	static const char *const hosts[] = {"localhost",	  "LOCALHOST.", "a.localhost",
					    "127.0.0.1",	  "127.1",	"0x7f.1",
					    "2130706433",	  "0177.0.0.1", "[::1]",
					    "[::ffff:127.0.0.1]", "0",		"127.9.9.9"};

	for (size_t i = 0; i < ZW_N_ELEMENTS(hosts); i++) {
		struct px_decision d = decide(state, hosts[i], 8080, false);

		assert_int_equal(d.d.verdict, POL_ALLOW);
		assert_int_equal(d.way, PX_WAY_HOST);
		d = decide(state, hosts[i], 8081, false);
		assert_int_equal(d.d.verdict, POL_DENY);
		assert_int_equal(d.d.by, ZW_BY_ADDRESS);
	}
	/* A deny rule wins over the setting. */
	assert_int_equal(decide(state, "localhost", 9999, false).d.verdict, POL_DENY);
	assert_int_equal(decide(state, "127.0.0.1", 8080, true).d.verdict, POL_ALLOW);
	assert_int_equal(decide(state, "127.0.0.1", 22, true).d.verdict, POL_DENY);
}

static void test_decide__fake_address_without_a_name(void **state)
{
	struct px_decision d = decide(state, "198.18.3.4", 443, false);

	assert_int_equal(d.d.verdict, POL_DENY);
	assert_int_equal(d.d.by, ZW_BY_ADDRESS);
}

static struct pol_addr addr(const char *s)
{
	struct pol_host h;

	assert_int_equal(pol_host_parse(s, strlen(s), &h), 0);
	return h.addr;
}

static void check(void **state, const char *name, const char *a, const char *b,
		  struct px_checked *ret)
{
	struct pol_addr addrs[2] = {addr(a), addr(b)};
	struct pol_host h;

	assert_int_equal(pol_host_parse(name, strlen(name), &h), 0);
	px_check_addrs(*state, &h, 443, "/bin/x", addrs, 2, ret);
}

static void test_z044__private_answers_are_dropped(void **state)
{
	struct px_checked c;

	check(state, "good.example", "10.0.0.1", "93.184.216.34", &c);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.n_refused, 1);
	assert_int_equal(c.kind, POL_ADDR_PRIVATE);
	check(state, "good.example", "169.254.169.254", "[64:ff9b::a00:1]", &c);
	assert_int_equal(c.n, 0);
	assert_int_equal(c.kind, POL_ADDR_METADATA);
	check(state, "a.corp.example", "10.0.0.1", "198.18.0.1", &c);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.kind, POL_ADDR_FAKE);
	check(state, "good.example", "10.9.1.1", "10.8.1.1", &c);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.addrs[0].b[1], 9);
}

/* A rule about an address holds for the names behind which it stands, with its port and program. */
static void test_addrs__rules_hold_for_what_a_name_resolves_to(void **state)
{
	struct pol_addr in_net = addr("10.7.0.1");
	struct px_checked c;
	struct pol_host h;

	check(state, "good.example", "93.184.216.40", "93.184.216.34", &c);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.addrs[0].b[3], 34);
	assert_int_equal(c.why.rule, 5);
	assert_string_equal(c.why.reason, "not there");
	pol_host_parse("good.example", 12, &h);
	px_check_addrs(*state, &h, 443, "/bin/x", &in_net, 1, &c);
	assert_int_equal(c.n, 0);
	px_check_addrs(*state, &h, 8443, "/bin/y", &in_net, 1, &c);
	assert_int_equal(c.n, 0);
	px_check_addrs(*state, &h, 8443, "/bin/x", &in_net, 1, &c);
	assert_int_equal(c.n, 1);
}

static void test_addrs__families_take_turns(void **state)
{
	struct pol_addr addrs[4] = {addr("93.184.216.34"), addr("93.184.216.35"),
				    addr("[2606:2800:220:1::1]"), addr("[2606:2800:220:1::2]")};
	struct px_checked c;
	struct pol_host h;

	pol_host_parse("good.example", 12, &h);
	px_check_addrs(*state, &h, 443, "", addrs, 4, &c);
	assert_int_equal(c.n, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(c.addrs[i].family, i % 2 ? POL_FAMILY_V4 : POL_FAMILY_V6);
	assert_int_equal(c.addrs[2].b[15], 2);
}

static void test_cnames__a_denied_one_in_the_chain(void **state)
{
	static const char chain[] = "cdn.example\0bad.example\0end.example";
	struct pol_decision d;
	char name[POL_HOST_MAX + 1];

	assert_true(px_check_cnames(*state, chain, sizeof(chain) - 1, 443, "", &d, name));
	assert_string_equal(name, "bad.example");
	assert_int_equal(d.rule, 2);
	/* Names that no rule denies were not asked for, and are not asked about. */
	assert_false(px_check_cnames(*state, chain, 11, 443, "", &d, name));
	assert_false(px_check_cnames(*state, "", 0, 443, "", &d, name));
}

static const char *hello(void **state, const char *host, const char *sni, const char *alpn)
{
	struct px_hello h = {.has_sni = sni != NULL};
	struct pol_host judged;

	assert_int_equal(pol_host_parse(host, strlen(host), &judged), 0);
	if (sni != NULL)
		assert_int_equal(pol_host_parse(sni, strlen(sni), &h.sni), 0);
	if (alpn != NULL) {
		h.alpn[0] = (uint8_t)strlen(alpn);
		memcpy(h.alpn + 1, alpn, strlen(alpn));
		h.alpn_len_b = (uint16_t)(strlen(alpn) + 1);
	}
	struct px_tls_rules rules = {0};

	return px_check_hello(*state, &rules, &h, &judged, 443, "");
}

static void test_hello__must_name_the_judged_host(void **state)
{
	assert_null(hello(state, "good.example", "Good.Example.", "h2"));
	assert_non_null(hello(state, "good.example", "other.example", NULL));
	assert_non_null(hello(state, "good.example", NULL, "h2"));
	assert_non_null(hello(state, "good.example", "good.example", "dot"));
	assert_non_null(hello(state, "good.example", "good.example", "doq"));
	assert_non_null(hello(state, "good.example", "good.example", "h3"));
	/* Judged by address: no name is needed, a denied one is refused. */
	assert_null(hello(state, "93.184.216.34", NULL, NULL));
	assert_null(hello(state, "93.184.216.34", "x.example", NULL));
	assert_non_null(hello(state, "93.184.216.34", "bad.example", NULL));
}

static void test_hello__settings_of_tls(void **state)
{
	struct px_hello h = {.has_ech = true, .has_sni = true};
	struct px_tls_rules rules = {0};
	struct pol_host judged;

	assert_int_equal(pol_host_parse("good.example", 12, &judged), 0);
	h.sni = judged;
	/* Browsers send a dummy with every hello. */
	assert_null(px_check_hello(*state, &rules, &h, &judged, 443, ""));
	rules.is_ech_denied = true;
	assert_non_null(px_check_hello(*state, &rules, &h, &judged, 443, ""));
	h.has_ech = h.has_sni = false;
	assert_non_null(px_check_hello(*state, &rules, &h, &judged, 443, ""));
	rules.is_sni_optional = true;
	assert_null(px_check_hello(*state, &rules, &h, &judged, 443, ""));
	/* Another name is another name, whatever is optional. */
	h.has_sni = true;
	assert_int_equal(pol_host_parse("other.example", 13, &h.sni), 0);
	assert_non_null(px_check_hello(*state, &rules, &h, &judged, 443, ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decide__names_go_by_policy),
		cmocka_unit_test(test_decide__dns_ports_are_never_let_through),
		cmocka_unit_test(test_decide__loopback_only_by_its_setting),
		cmocka_unit_test(test_decide__fake_address_without_a_name),
		cmocka_unit_test(test_z044__private_answers_are_dropped),
		cmocka_unit_test(test_addrs__rules_hold_for_what_a_name_resolves_to),
		cmocka_unit_test(test_addrs__families_take_turns),
		cmocka_unit_test(test_cnames__a_denied_one_in_the_chain),
		cmocka_unit_test(test_hello__must_name_the_judged_host),
		cmocka_unit_test(test_hello__settings_of_tls),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
