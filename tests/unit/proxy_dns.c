/* SPDX-License-Identifier: MIT
 * The name server inside: what it answers, and the map of names and fake addresses. */
#include "tests/support/test.h"

#include "proxy/dns.h"
#include "src/base/mem.h"

enum { TYPE_NS = 2, TYPE_PTR = 12, TYPE_MX = 15, TYPE_TXT = 16, TYPE_SRV = 33, TYPE_ANY = 255 };

static struct px_dns_answer ask(struct px_fake *f, const char *name, uint16_t type)
{
	struct px_dns_query q = {.type = type, .qclass = 1};
	struct px_dns_answer a;

	if (name[0] != '\0')
		assert_int_equal(pol_host_parse(name, strlen(name), &q.host), 0);
	px_dns_decide(f, &q, &a);
	return a;
}

static void test_dns__names_get_fake_addresses(void **state)
{
	struct px_fake *f = px_fake_new(1000);
	struct px_dns_answer a = ask(f, "Some.Example", PX_DNS_A),
			     b = ask(f, "some.example.", PX_DNS_A);

	(void)state;
	assert_int_equal(a.rcode, PX_DNS_NOERROR);
	assert_true(a.has_addr);
	assert_int_equal(a.ttl_s, 1);
	assert_int_equal(pol_addr_classify(&a.addr), POL_ADDR_FAKE);
	assert_memory_equal(a.addr.b, b.addr.b, 4);
	assert_string_equal(px_fake_name(f, &a.addr), "some.example");
	px_fake_free(f);
}

static void test_dns__other_types_say_nothing(void **state)
{
	static const uint16_t nodata[] = {PX_DNS_AAAA, PX_DNS_HTTPS, PX_DNS_SVCB};
	static const uint16_t refused[] = {TYPE_TXT, TYPE_MX, TYPE_SRV, TYPE_NS, TYPE_ANY, 10};
	struct px_fake *f = px_fake_new(1000);

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(nodata); i++) {
		struct px_dns_answer a = ask(f, "x.example", nodata[i]);

		assert_int_equal(a.rcode, PX_DNS_NOERROR);
		assert_false(a.has_addr);
	}
	for (size_t i = 0; i < ZW_N_ELEMENTS(refused); i++)
		assert_int_equal(ask(f, "x.example", refused[i]).rcode, PX_DNS_REFUSED);
	assert_int_equal(ask(f, "4.3.18.198.in-addr.arpa", TYPE_PTR).rcode, PX_DNS_NXDOMAIN);
	/* Only questions for A take a place in the map. */
	assert_int_equal(px_fake_n(f), 0);
	px_fake_free(f);
}

static void test_dns__localhost_and_canaries(void **state)
{
	static const uint8_t loop4[4] = {127, 0, 0, 1}, loop6[16] = {[15] = 1};
	struct px_fake *f = px_fake_new(1000);
	struct px_dns_answer a = ask(f, "localhost", PX_DNS_A);

	(void)state;
	assert_memory_equal(a.addr.b, loop4, 4);
	a = ask(f, "my.localhost", PX_DNS_AAAA);
	assert_memory_equal(a.addr.b, loop6, 16);
	assert_int_equal(ask(f, "use-application-dns.net", PX_DNS_A).rcode, PX_DNS_NXDOMAIN);
	assert_int_equal(ask(f, "mask.icloud.com", PX_DNS_AAAA).rcode, PX_DNS_NXDOMAIN);
	assert_int_equal(ask(f, "x.mask-h2.icloud.com", PX_DNS_A).rcode, PX_DNS_NXDOMAIN);
	a = ask(f, "_dns.resolver.arpa", PX_DNS_SVCB);
	assert_int_equal(a.rcode, PX_DNS_NOERROR);
	assert_false(a.has_addr);
	/* An address is no name. */
	assert_int_equal(ask(f, "1.2.3.4", PX_DNS_A).rcode, PX_DNS_NXDOMAIN);
	assert_true(ask(f, "notmask.icloud.com", PX_DNS_A).has_addr);
	assert_false(ask(f, "", PX_DNS_A).has_addr);
	assert_int_equal(px_fake_n(f), 1);
	px_fake_free(f);
}

static void test_fake__oldest_name_goes_first(void **state)
{
	struct px_fake *f = px_fake_new(3);
	struct pol_addr a, b, c, d;

	(void)state;
	px_fake_addr(f, "a", &a);
	px_fake_addr(f, "b", &b);
	px_fake_addr(f, "c", &c);
	assert_string_equal(px_fake_name(f, &a), "a"); /* used: b is the oldest now */
	px_fake_addr(f, "d", &d);
	assert_null(px_fake_name(f, &b));
	assert_string_equal(px_fake_name(f, &a), "a");
	assert_string_equal(px_fake_name(f, &d), "d");
	assert_int_equal(px_fake_n(f), 3);
	px_fake_free(f);
}

static void test_fake__addresses_are_usable_and_distinct(void **state)
{
	struct px_fake *f = px_fake_new(PX_FAKE_MAX);
	uint8_t *seen = zw_xcalloc(131072, 1);

	(void)state;
	for (int i = 0; i < 250000; i++) {
		char name[32];
		struct pol_addr a;

		snprintf(name, sizeof(name), "n%d.example", i);
		px_fake_addr(f, name, &a);
		size_t offset = (size_t)(a.b[1] - 18) << 16 | (size_t)a.b[2] << 8 | a.b[3];
		assert_true(a.b[0] == 198 && (a.b[1] == 18 || a.b[1] == 19));
		assert_true(a.b[3] != 0 && a.b[3] != 255);
		assert_false(a.b[1] == 19 && a.b[2] == 255 && a.b[3] == 254);
		if (i < PX_FAKE_MAX)
			assert_int_equal(seen[offset]++, 0);
	}
	assert_int_equal(px_fake_n(f), PX_FAKE_MAX);
	free(seen);
	px_fake_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dns__names_get_fake_addresses),
		cmocka_unit_test(test_dns__other_types_say_nothing),
		cmocka_unit_test(test_dns__localhost_and_canaries),
		cmocka_unit_test(test_fake__oldest_name_goes_first),
		cmocka_unit_test(test_fake__addresses_are_usable_and_distinct),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
