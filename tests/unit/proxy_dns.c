/* SPDX-License-Identifier: MIT
 * The name server inside: what it answers, and the map of names and fake addresses. */
#include "tests/support/test.h"

#include "proxy/dns.h"
#include "src/base/mem.h"

enum { TYPE_NS = 2, TYPE_PTR = 12, TYPE_MX = 15, TYPE_TXT = 16, TYPE_SRV = 33, TYPE_ANY = 255 };

static struct policy *policy; /* of the group */

static struct px_dns_answer ask(struct px_fake *f, const char *name, uint16_t type)
{
	struct px_dns_query q = {.type = type, .qclass = 1};
	struct px_dns_answer a;

	if (name[0] != '\0')
		assert_int_equal(pol_host_parse(name, strlen(name), &q.host), 0);
	px_dns_decide(f, policy, &q, &a);
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

static void allow(const char *pattern)
{
	struct pol_rule r = {.id = 1,
			     .kind = POL_KIND_SITE,
			     .action = POL_ACTION_ALLOW,
			     .layer = POL_LAYER_USER,
			     .pattern = pattern};

	assert_int_equal(pol_rule_add(policy, &r), 0);
}

/* What leaves is of a name that is allowed, and of a type that is known; a question or a denial is
 * no allow. */
static void test_Z071_dns__few_types_of_allowed_names_are_asked(void **state)
{
	static const uint16_t types[] = {TYPE_TXT, TYPE_MX, TYPE_SRV, 257};
	static const uint16_t never[] = {TYPE_NS, TYPE_ANY, 10, 6, 35, 43, 48, 99, 251, 252, 65535};
	struct px_fake *f = px_fake_new(1000);

	(void)state;
	allow("mail.example");
	allow("*.deep.example");
	for (size_t i = 0; i < ZW_N_ELEMENTS(types); i++) {
		assert_true(ask(f, "mail.example", types[i]).must_ask);
		assert_true(ask(f, "_sip._tcp.mail.example", types[i]).must_ask);
		assert_true(ask(f, "_dmarc.a.deep.example", types[i]).must_ask);
		assert_false(ask(f, "deep.example", types[i]).must_ask);
		assert_int_equal(ask(f, "x.mail.example", types[i]).rcode, PX_DNS_REFUSED);
		assert_int_equal(ask(f, "_tcp", types[i]).rcode, PX_DNS_REFUSED);
	}
	for (size_t i = 0; i < ZW_N_ELEMENTS(never); i++)
		assert_int_equal(ask(f, "mail.example", never[i]).rcode, PX_DNS_REFUSED);
	pol_set_mode(policy, POL_MODE_STRICT);
	assert_int_equal(ask(f, "else.example", TYPE_TXT).rcode, PX_DNS_REFUSED);
	pol_set_mode(policy, POL_MODE_WATCH);
	assert_true(ask(f, "else.example", TYPE_TXT).must_ask);
	pol_set_mode(policy, POL_MODE_GUARD);
	assert_int_equal(px_fake_n(f), 0);
	px_fake_free(f);
}

static void test_dns__reverse_questions(void **state)
{
	struct px_fake *f = px_fake_new(1000);
	struct px_dns_answer a = ask(f, "some.example", PX_DNS_A);
	char name[80];

	(void)state;
	snprintf(name, sizeof(name), "%u.%u.%u.%u.in-addr.arpa", a.addr.b[3], a.addr.b[2],
		 a.addr.b[1], a.addr.b[0]);
	assert_string_equal(ask(f, name, TYPE_PTR).name, "some.example");
	assert_string_equal(ask(f, "1.0.0.127.in-addr.arpa", TYPE_PTR).name, "localhost");
	assert_string_equal(ask(f,
				"1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0."
				"ip6.arpa",
				TYPE_PTR)
				    .name,
			    "localhost");
	allow("8.8.4.4");
	assert_true(ask(f, "4.4.8.8.in-addr.arpa", TYPE_PTR).must_ask);
	assert_int_equal(ask(f, "8.8.8.8.in-addr.arpa", TYPE_PTR).rcode, PX_DNS_REFUSED);
	assert_int_equal(ask(f, "1.0.0.10.in-addr.arpa", TYPE_PTR).rcode, PX_DNS_NXDOMAIN);
	assert_int_equal(ask(f, "256.0.0.10.in-addr.arpa", TYPE_PTR).rcode, PX_DNS_NXDOMAIN);
	assert_int_equal(ask(f, "0.0.10.in-addr.arpa", TYPE_PTR).rcode, PX_DNS_NXDOMAIN);
	assert_int_equal(ask(f, "www.example", TYPE_PTR).rcode, PX_DNS_NXDOMAIN);
	px_fake_free(f);
}

static void test_reply__records_fit_or_are_cut_as_a_whole(void **state)
{
	static const uint8_t records[] = {0, 3, 2, 'h', 'i', 0, 2, 1, 'x'};
	uint8_t out[PX_DNS_RECORDS_MAX], many[8000] = {0};
	struct px_dns_query q = {.id = 7, .type = TYPE_TXT, .qclass = 1, .question_len_b = 7};

	(void)state;
	memcpy(q.question, "\1a\0\0\20\0\1", 7);
	size_t n = px_dns_records_write(&q, records, sizeof(records), 60, out, 512);
	assert_int_equal(n, 12 + 7 + 2 * 12 + 3 + 2);
	assert_int_equal(out[7], 2);
	assert_memory_equal(out + 12 + 7, "\xc0\x0c\0\20\0\1\0\0\0\74\0\3\2hi", 15);
	/* not a list of records */
	assert_int_equal(px_dns_records_write(&q, records, sizeof(records) - 1, 60, out, 512),
			 12 + 7);
	assert_int_equal(out[3] & 15, PX_DNS_SERVFAIL);
	many[0] = 0x1f;
	many[1] = 0x3e;
	n = px_dns_records_write(&q, many, sizeof(many), 60, out, 1232);
	assert_int_equal(n, 12 + 7);
	assert_true((out[2] & 2) != 0 && out[7] == 0); /* TC, and no answer */
	n = px_dns_records_write(&q, many, sizeof(many), 60, out, sizeof(out));
	assert_int_equal(n, 12 + 7 + 12 + 7998);
	assert_int_equal(out[2] & 2, 0);
}

static int policy_make(void **state)
{
	(void)state;
	policy = pol_new();
	return 0;
}

static int policy_drop(void **state)
{
	(void)state;
	pol_free(policy);
	return 0;
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
		cmocka_unit_test_setup_teardown(test_dns__names_get_fake_addresses, policy_make,
						policy_drop),
		cmocka_unit_test_setup_teardown(test_dns__other_types_say_nothing, policy_make,
						policy_drop),
		cmocka_unit_test_setup_teardown(test_Z071_dns__few_types_of_allowed_names_are_asked,
						policy_make, policy_drop),
		cmocka_unit_test_setup_teardown(test_dns__reverse_questions, policy_make,
						policy_drop),
		cmocka_unit_test(test_reply__records_fit_or_are_cut_as_a_whole),
		cmocka_unit_test_setup_teardown(test_dns__localhost_and_canaries, policy_make,
						policy_drop),
		cmocka_unit_test(test_fake__oldest_name_goes_first),
		cmocka_unit_test(test_fake__addresses_are_usable_and_distinct),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
