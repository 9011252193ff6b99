/* SPDX-License-Identifier: MIT
 * Hosts in one canonical form, and what kind of place an address is. */
#include "tests/support/test.h"

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/policy/host.h"

struct row {
	const char *in;
	const char *out;
};

static struct pol_host parse(const char *s)
{
	struct pol_host h;

	if (pol_host_parse(s, strlen(s), &h) != 0)
		fail_msg("'%s' was refused", s);
	return h;
}

static void assert_refused(const char *s)
{
	struct pol_host h;

	if (pol_host_parse(s, strlen(s), &h) == 0)
		fail_msg("'%s' was taken as '%s'", s, h.name);
}

static enum pol_addr_kind kind_of(const char *s)
{
	struct pol_host h = parse(s);

	if (h.addr.family == POL_FAMILY_NONE)
		fail_msg("'%s' is no address", s);
	return pol_addr_classify(&h.addr);
}

static void test_host_parse__Z043_every_spelling_of_an_address(void **state)
{
	static const struct row rows[] = {
		{"0x7f.1", "127.0.0.1"},
		{"2130706433", "127.0.0.1"},
		{"0177.0.0.1", "127.0.0.1"},
		{"127.1", "127.0.0.1"},
		{"[::ffff:127.0.0.1]", "127.0.0.1"},
		{"[::ffff:7f00:1]", "127.0.0.1"},
		{"[::1]", "::1"},
		{"0", "0.0.0.0"},
		{"[0:0::1]", "::1"},
		{"127.0.0.1.", "127.0.0.1"},
		{"127.0.1", "127.0.0.1"},
		{"1.2.3.", "1.2.0.3"},
		{"127.0x1", "127.0.0.1"},
		{"017700000001", "127.0.0.1"},
		{"0x7F000001", "127.0.0.1"},
		{"0X7F.0.0.0X1", "127.0.0.1"},
		{"00000177.1", "127.0.0.1"},
		{"0xa9.0xfe.0xa9.0xfe", "169.254.169.254"},
		{"2852039166", "169.254.169.254"},
		{"10.0.256", "10.0.1.0"},
		{"1.0x", "1.0.0.0"},
		{"4294967295", "255.255.255.255"},
		{"::ffff:1.2.3.4", "1.2.3.4"},
		{"2001:DB8:0:0::00A", "2001:db8::a"},
		{"::", "::"},
		{"64:ff9b::1.2.3.4", "64:ff9b::102:304"},
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		struct pol_host h = parse(rows[i].in);

		assert_int_not_equal(h.addr.family, POL_FAMILY_NONE);
		assert_string_equal(h.name, rows[i].out);
	}
}

static void test_host_parse__what_ends_like_a_number_is_no_name(void **state)
{
	static const char *const rows[] = {
		"256.1.1.1",   "1.2.3.4.5",   "1.2.3.256",
		"4294967296",  "0x100000000", "08.1.1.1",
		"127.0.0.08",  "1..1",	      "1.2.3..",
		"a.1",	       "example.0x1", "example.0xzz",
		"1.2.3.0xg",   "example.127", "127.65536.1",
		"10.16777216", ".1",	      "1.-1",
		"1.+1",	       "1. 1",	      "99999999999999999999999999999999",
		"0x0x1",       "[127.0.0.1]", "[1]",
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++)
		assert_refused(rows[i]);
}

static void test_host_parse__names(void **state)
{
	static const struct row rows[] = {
		{"Example.COM", "example.com"},
		{"example.com.", "example.com"},
		{"localhost", "localhost"},
		{"_dns.resolver.arpa", "_dns.resolver.arpa"},
		{"xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"a-b--c.example-", "a-b--c.example-"},
		{"1password.com", "1password.com"},
		{"0x7f.example", "0x7f.example"},
		{"1.2.3.4.nip.io", "1.2.3.4.nip.io"},
		{"3com", "3com"},
		{"a", "a"},
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		struct pol_host h = parse(rows[i].in);

		assert_int_equal(h.addr.family, POL_FAMILY_NONE);
		assert_string_equal(h.name, rows[i].out);
	}
}

static void test_host_parse__hostile_bytes_are_refused(void **state)
{
	static const char *const rows[] = {
		"",
		".",
		"..",
		".a",
		"a..b",
		"a..",
		"-oProxyCommand=x",
		"a.-b",
		"a b",
		"a\tb",
		"a\nb",
		"a\rb",
		"a/b",
		"a\\b",
		"a@b",
		"user:pw@host",
		"a%2eb",
		"a:80",
		"[::1",
		"::1]",
		"[]",
		"[::1]x",
		"[fe80::1%eth0]",
		"fe80::1%1",
		"[::1].",
		"ex\xc3\xa4mple.com",
		"\xef\xbc\x91.1.1.1",
		"a*b",
		"*",
		"*.a",
		"a?b",
		"a#b",
		":::",
		"1:2",
		"::ffff:1.2.3.4.5",
		"::ffff:256.1.1.1",
		"1:2:3:4:5:6:7:8:9",
		"a;b",
		"a'b",
		"a\"b",
		"a<b",
		"a`b",
		"a$b",
	};
	static const char nul_name[] = "good.example\0.evil.example";
	static const char nul_v6[] = "::1\0evil";
	struct pol_host h;

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++)
		assert_refused(rows[i]);
	assert_int_equal(pol_host_parse(nul_name, sizeof(nul_name) - 1, &h), ZW_E_SYNTAX);
	assert_int_equal(pol_host_parse(nul_v6, sizeof(nul_v6) - 1, &h), ZW_E_SYNTAX);
}

static void test_host_parse__lengths(void **state)
{
	char s[300];
	struct pol_host h;

	(void)state;
	memset(s, 'a', sizeof(s));
	assert_int_equal(pol_host_parse(s, 63, &h), 0);
	assert_int_equal(pol_host_parse(s, 64, &h), ZW_E_SYNTAX);
	for (size_t i = 50; i < sizeof(s); i += 51)
		s[i] = '.';
	assert_int_equal(pol_host_parse(s, 253, &h), 0);
	assert_int_equal(strlen(h.name), 253);
	assert_int_equal(pol_host_parse(s, 254, &h), ZW_E_TOOBIG);
	s[253] = '.';
	assert_int_equal(pol_host_parse(s, 254, &h), 0);
	assert_int_equal(strlen(h.name), 253);
}

static void test_host_eq__by_what_is_meant(void **state)
{
	struct pol_host a = parse("EXAMPLE.com."), b = parse("example.com"), c = parse("127.1"),
			d = parse("[::ffff:127.0.0.1]"), e = parse("[::1]");

	(void)state;
	assert_true(pol_host_eq(&a, &b));
	assert_false(pol_host_eq(&a, &c));
	assert_true(pol_host_eq(&c, &d));
	assert_false(pol_host_eq(&d, &e));
}

static void test_localhost__and_below(void **state)
{
	static const struct row rows[] = {
		{"localhost", "y"}, {"LOCALHOST.", "y"},  {"a.b.localhost", "y"},
		{"127.0.0.1", ""},  {"notlocalhost", ""}, {"localhost.example", ""},
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		struct pol_host h = parse(rows[i].in);

		assert_int_equal(pol_host_is_localhost(&h), rows[i].out[0] == 'y');
	}
}

static void test_classify__Z044_what_wraps_a_private_address(void **state)
{
	static const struct {
		const char *addr;
		enum pol_addr_kind kind;
	} rows[] = {
		{"10.1.2.3", POL_ADDR_PRIVATE},
		{"100.64.0.1", POL_ADDR_PRIVATE},
		{"100.127.255.255", POL_ADDR_PRIVATE},
		{"169.254.169.254", POL_ADDR_METADATA},
		{"169.254.1.1", POL_ADDR_PRIVATE},
		{"64:ff9b::a00:1", POL_ADDR_PRIVATE},
		{"64:ff9b::a9fe:a9fe", POL_ADDR_METADATA},
		{"64:ff9b:1::8.8.8.8", POL_ADDR_PRIVATE},
		{"2002:a00:1::1", POL_ADDR_PRIVATE},
		{"2002:7f00:1::", POL_ADDR_LOOPBACK},
		{"2002:808:808::1", POL_ADDR_SPECIAL},
		/* Teredo: server 8.8.8.8, client 10.0.0.1, and the other way round */
		{"2001:0:808:808::f5ff:fffe", POL_ADDR_PRIVATE},
		{"2001:0:a00:1::f7f7:f7f7", POL_ADDR_PRIVATE},
		{"2001:0:808:808::f7f7:f7f7", POL_ADDR_SPECIAL},
		{"::ffff:10.0.0.1", POL_ADDR_PRIVATE},
		{"0.0.0.0", POL_ADDR_SPECIAL},
		{"0.1.2.3", POL_ADDR_SPECIAL},
		{"255.255.255.255", POL_ADDR_SPECIAL},
		{"239.255.255.250", POL_ADDR_SPECIAL},
		{"ff02::2", POL_ADDR_SPECIAL},
		{"::", POL_ADDR_SPECIAL},
		{"::1", POL_ADDR_LOOPBACK},
		{"::127.0.0.1", POL_ADDR_SPECIAL},
		{"127.255.255.254", POL_ADDR_LOOPBACK},
		{"172.16.0.1", POL_ADDR_PRIVATE},
		{"172.31.255.255", POL_ADDR_PRIVATE},
		{"172.32.0.0", POL_ADDR_PUBLIC},
		{"172.15.255.255", POL_ADDR_PUBLIC},
		{"192.168.0.1", POL_ADDR_PRIVATE},
		{"192.0.0.8", POL_ADDR_SPECIAL},
		{"192.0.2.1", POL_ADDR_SPECIAL},
		{"192.88.99.1", POL_ADDR_SPECIAL},
		{"198.18.0.1", POL_ADDR_FAKE},
		{"198.19.255.254", POL_ADDR_FAKE},
		{"198.20.0.0", POL_ADDR_PUBLIC},
		{"198.51.100.1", POL_ADDR_SPECIAL},
		{"203.0.113.1", POL_ADDR_SPECIAL},
		{"240.0.0.1", POL_ADDR_SPECIAL},
		{"168.63.129.16", POL_ADDR_METADATA},
		{"100.100.100.200", POL_ADDR_METADATA},
		{"fd00:ec2::254", POL_ADDR_METADATA},
		{"fd12:3456::1", POL_ADDR_PRIVATE},
		{"fe80::1", POL_ADDR_PRIVATE},
		{"fec0::1", POL_ADDR_PRIVATE},
		{"2001:db8::1", POL_ADDR_SPECIAL},
		{"2001:1ff::1", POL_ADDR_SPECIAL},
		{"3fff:fff::1", POL_ADDR_SPECIAL},
		{"100::1", POL_ADDR_SPECIAL},
		{"5f00::1", POL_ADDR_SPECIAL},
		{"4000::1", POL_ADDR_SPECIAL},
		{"8.8.8.8", POL_ADDR_PUBLIC},
		{"1.1.1.1", POL_ADDR_PUBLIC},
		{"223.255.255.255", POL_ADDR_PUBLIC},
		{"2001:4860:4860::8888", POL_ADDR_PUBLIC},
		{"2606:4700::1111", POL_ADDR_PUBLIC},
		{"2a00:1450::1", POL_ADDR_PUBLIC},
		{"64:ff9b::8.8.8.8", POL_ADDR_PUBLIC},
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		enum pol_addr_kind kind = kind_of(rows[i].addr);

		if (kind != rows[i].kind)
			fail_msg("%s: %s", rows[i].addr, pol_addr_kind_word(kind));
	}
}

/* As a resolver hands it over: family 6 with an IPv4 address inside. */
static void test_classify__mapped_address_that_was_not_canonicalised(void **state)
{
	struct pol_addr a = {POL_FAMILY_V6, {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1}}, v4;
	struct pol_host h;

	(void)state;
	assert_int_equal(pol_addr_classify(&a), POL_ADDR_PRIVATE);
	assert_true(pol_addr_unwrap(&a, &v4));
	assert_int_equal(v4.family, POL_FAMILY_V4);
	pol_host_from_addr(&a, &h);
	assert_string_equal(h.name, "10.0.0.1");
}

static void test_addr_in__bits(void **state)
{
	struct pol_host a = parse("10.129.0.1"), net = parse("10.128.0.0"), six = parse("::1");

	(void)state;
	assert_true(pol_addr_in(&a.addr, &net.addr, 0));
	assert_true(pol_addr_in(&a.addr, &net.addr, 8));
	assert_true(pol_addr_in(&a.addr, &net.addr, 15));
	assert_false(pol_addr_in(&a.addr, &net.addr, 16));
	assert_false(pol_addr_in(&a.addr, &net.addr, 32));
	assert_true(pol_addr_in(&a.addr, &a.addr, 32));
	assert_false(pol_addr_in(&a.addr, &a.addr, 33));
	assert_false(pol_addr_in(&six.addr, &net.addr, 0));
	assert_true(pol_addr_in(&six.addr, &six.addr, 128));
	assert_false(pol_addr_in(&six.addr, &six.addr, 129));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host_parse__Z043_every_spelling_of_an_address),
		cmocka_unit_test(test_host_parse__what_ends_like_a_number_is_no_name),
		cmocka_unit_test(test_host_parse__names),
		cmocka_unit_test(test_host_parse__hostile_bytes_are_refused),
		cmocka_unit_test(test_host_parse__lengths),
		cmocka_unit_test(test_host_eq__by_what_is_meant),
		cmocka_unit_test(test_localhost__and_below),
		cmocka_unit_test(test_classify__Z044_what_wraps_a_private_address),
		cmocka_unit_test(test_classify__mapped_address_that_was_not_canonicalised),
		cmocka_unit_test(test_addr_in__bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
