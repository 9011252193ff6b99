/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/config/config.h"

static void test_duration__units(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ms;
	} good[] = {
		{"500ms", 500},	     {"5s", 5000}, {"2m", 120000}, {"1h", 3600000},
		{"90d", 7776000000}, {"0", 0},	   {"0s", 0},	   {"1ms", 1},
	};
	static const char *const bad[] = {"",	  "5",	  "s",	  "5 s", "-5s", "+5s",	"5S",
					  "1.5s", "5sec", "0x5s", "5s ", " 5s", "1h30m"};
	int64_t ms = -1;

	for (size_t i = 0; i < ZW_N_ELEMENTS(good); i++) {
		assert_int_equal(cfg_parse_duration(good[i].text, &ms), 0);
		assert_int_equal(ms, good[i].ms);
	}
	for (size_t i = 0; i < ZW_N_ELEMENTS(bad); i++)
		assert_int_equal(cfg_parse_duration(bad[i], &ms), ZW_E_SYNTAX);
	assert_int_equal(cfg_parse_duration("99999999999999999999s", &ms), ZW_E_TOOBIG);
	assert_int_equal(cfg_parse_duration("9223372036854775807h", &ms), ZW_E_TOOBIG);
}

static void test_size__units(void **state)
{
	(void)state;
	int64_t b = -1;

	assert_int_equal(cfg_parse_size("500M", &b), 0);
	assert_int_equal(b, 500 << 20);
	assert_int_equal(cfg_parse_size("64K", &b), 0);
	assert_int_equal(b, 65536);
	assert_int_equal(cfg_parse_size("17", &b), 0);
	assert_int_equal(b, 17);
	assert_int_equal(cfg_parse_size("0", &b), 0);
	assert_int_equal(b, 0);
	assert_int_equal(cfg_parse_size("500MB", &b), ZW_E_SYNTAX);
	assert_int_equal(cfg_parse_size("M", &b), ZW_E_SYNTAX);
	assert_int_equal(cfg_parse_size("9223372036854775807T", &b), ZW_E_TOOBIG);
}

static void test_flood__number_in_time(void **state)
{
	(void)state;
	struct cfg_flood f;

	assert_int_equal(cfg_parse_flood("8 in 10s", &f), 0);
	assert_int_equal(f.n, 8);
	assert_int_equal(f.in_ms, 10000);
	assert_int_equal(cfg_parse_flood("8 per 10s", &f), ZW_E_SYNTAX);
	assert_int_equal(cfg_parse_flood("8", &f), ZW_E_SYNTAX);
	assert_int_equal(cfg_parse_flood("8 in ", &f), ZW_E_SYNTAX);
	assert_int_equal(cfg_parse_flood("0 in 10s", &f), ZW_E_TOOBIG);
	assert_int_equal(cfg_parse_flood("8 in 0", &f), ZW_E_TOOBIG);
	assert_int_equal(cfg_parse_flood("8 in 2h", &f), ZW_E_TOOBIG);
}

static void test_key__names(void **state)
{
	(void)state;
	static const char *const good[] = {"C-]", "C-a", "C-\\", "M-x", "M-1", "F1", "F12"};
	static const char *const bad[] = {"",	"]",   "C-",  "C-A", "C-ab", "C-m", "C-i", "C-[",
					  "F0", "F13", "F01", "M-",  "M- ",  "S-x", "x",   "F"};

	for (size_t i = 0; i < ZW_N_ELEMENTS(good); i++)
		assert_int_equal(cfg_check_key(good[i]), 0);
	for (size_t i = 0; i < ZW_N_ELEMENTS(bad); i++)
		assert_int_equal(cfg_check_key(bad[i]), ZW_E_SYNTAX);
}

static void test_upstream__forms(void **state)
{
	(void)state;
	static const char *const good[] = {
		"system",
		"tls://9.9.9.9#dns.quad9.net",
		"tls://9.9.9.9:8853#dns.quad9.net",
		"tls://[2620:fe::fe]#dns.quad9.net",
		("tls://[2620:fe::fe]:853#dns.quad9.net;pin-sha256="
		 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=;ca=/etc/ca.pem"),
		"https://dns.quad9.net/dns-query;addr=9.9.9.9",
		"https://[2620:fe::fe]/dns-query",
		"https://dns.example:8443/q;ca=/x;addr=2001:db8::1",
	};
	static const struct {
		const char *text;
		const char *says;
	} bad[] = {
		{"", "a resolver is"},
		{"9.9.9.9", "a resolver is"},
		{"System", "a resolver is"},
		{"http://dns.quad9.net/", "a resolver is"},
		{"tls://9.9.9.9", "#NAME"},
		{"tls://9.9.9.9:#n.example", "#NAME"},
		{"tls://9.9.9.9:0#n.example", "#NAME"},
		{"tls://9.9.9.9:65536#n.example", "#NAME"},
		{"tls://[::1#n.example", "#NAME"},
		{"tls://dns.quad9.net#dns.quad9.net", "must be an address"},
		{"tls://9.9.9.9#", "certificate"},
		{"tls://9.9.9.9#9.9.9.9", "certificate"},
		{"tls://9.9.9.9#n.example;pin=x", "only ;pin-sha256"},
		{"tls://9.9.9.9#n.example;ca=rel.pem", "only ;pin-sha256"},
		{"https:///x", "followed by a host"},
		{"https://a:0/x;addr=9.9.9.9", "followed by a host"},
		{"https://a", "stands a path"},
		{"https://dns.quad9.net/dns-query", "give its address"},
		{"https://a/x;addr=b", "addr= wants"},
		{"https://a/x;addr=9.9.9.9;pin=1", "only ;addr="},
		{"tls://9.9.9.9#a;addr=9.9.9.9", "only ;pin-sha256"},
		{"tls://9.9.9.9#a;pin-sha256=abc=", "SHA-256"},
		{"https://a b/x", "blank"},
		{"tls://9.9.9.9#n.example\n", "blank"},
	};
	const char *why = "";

	for (size_t i = 0; i < ZW_N_ELEMENTS(good); i++) {
		if (cfg_check_upstream(good[i], &why) < 0)
			print_error("%s: %s\n", good[i], why);
		assert_int_equal(cfg_check_upstream(good[i], &why), 0);
	}
	for (size_t i = 0; i < ZW_N_ELEMENTS(bad); i++) {
		assert_int_equal(cfg_check_upstream(bad[i].text, &why), ZW_E_SYNTAX);
		if (strstr(why, bad[i].says) == NULL)
			print_error("%s: %s\n", bad[i].text, why);
		assert_non_null(strstr(why, bad[i].says));
	}
}

static void test_site__international_names_become_ascii(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *ascii;
	} good[] = {
		{"example.com", "example.com"},
		{"*.example.com:8443", "*.example.com:8443"},
		{"b\xc3\xbc"
		 "cher.example:443",
		 "xn--bcher-kva.example:443"},
		{"*.B\xc3\x9c"
		 "CHER.example",
		 "*.xn--bcher-kva.example"},
		/* The sharp s is kept (non-transitional), as browsers do. */
		{"stra\xc3\x9f"
		 "e.example",
		 "xn--strae-oqa.example"},
		{"[::1]:443", "[::1]:443"},
		{"10.0.0.0/8", "10.0.0.0/8"},
	};
	static const char *const bad[] = {
		"",    "https://example.com", "a b.example",
		"x\n", "\xff.example",	      "a\xe2\x80\x8b\xe2\x80\xae.example"};
	const char *why = NULL;

	for (size_t i = 0; i < ZW_N_ELEMENTS(good); i++) {
		zw_autofree char *ascii = NULL;

		assert_int_equal(cfg_site_to_ascii(good[i].text, &ascii, &why), 0);
		assert_string_equal(ascii, good[i].ascii);
	}
	for (size_t i = 0; i < ZW_N_ELEMENTS(bad); i++) {
		zw_autofree char *ascii = NULL;

		assert_int_equal(cfg_site_to_ascii(bad[i], &ascii, &why), ZW_E_SYNTAX);
		assert_non_null(why);
	}
}

static void test_path__expansion(void **state)
{
	(void)state;
	const struct cfg_places places = {
		.home = (char[]){"/home/u"},
		.home_real = (char[]){"/home/u"},
		.runtime_dir = (char[]){"/run/user/1000"},
	};
	static const struct {
		const char *text;
		const char *path;
	} good[] = {
		{"~", "/home/u"},
		{"~/x", "/home/u/x"},
		{"$HOME/x/", "/home/u/x"},
		{"$XDG_RUNTIME_DIR/x.sock", "/run/user/1000/x.sock"},
		{".", "/p"},
		{"./a//b/../c", "/p/a/c"},
		{"a", "/p/a"},
		{"..", "/"},
		{"../../..", "/"},
		{"/", "/"},
		{"/var/run/docker.sock", "/run/docker.sock"},
		{"/var/./run/../run/x", "/run/x"},
		{"/var/running", "/var/running"},
	};
	static const char *const bad[] = {"", "~other/x", "$OTHER/x", "$HOMER", "a\nb", "a\x7f"};

	for (size_t i = 0; i < ZW_N_ELEMENTS(good); i++) {
		zw_autofree char *path = NULL;

		assert_int_equal(cfg_path_expand(&places, "/p", good[i].text, &path), 0);
		assert_string_equal(path, good[i].path);
	}
	for (size_t i = 0; i < ZW_N_ELEMENTS(bad); i++) {
		zw_autofree char *path = NULL;

		assert_int_equal(cfg_path_expand(&places, "/p", bad[i], &path), ZW_E_SYNTAX);
	}
	zw_autofree char *shown = cfg_path_show(&places, "/home/u/x");
	assert_string_equal(shown, "~/x");
	zw_autofree char *other = cfg_path_show(&places, "/home/user2");
	assert_string_equal(other, "/home/user2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_duration__units),
		cmocka_unit_test(test_size__units),
		cmocka_unit_test(test_flood__number_in_time),
		cmocka_unit_test(test_key__names),
		cmocka_unit_test(test_upstream__forms),
		cmocka_unit_test(test_site__international_names_become_ascii),
		cmocka_unit_test(test_path__expansion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
