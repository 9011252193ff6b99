/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "sandbox/broker/addr.h"
#include "src/base/mem.h"

static int parse(int domain, int type, const void *raw, size_t len, struct brk_addr *ret)
{
	return brk_addr_parse(domain, type, raw, len, ret);
}

static void test_unix__path_without_nul_takes_all_108(void **state)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	uint8_t raw[sizeof(un) + 1] = {0};
	struct brk_addr a;

	(void)state;
	memset(un.sun_path, 'x', sizeof(un.sun_path));
	memcpy(raw, &un, sizeof(un));
	assert_int_equal(parse(AF_UNIX, SOCK_STREAM, raw, sizeof(un), &a), 0);
	assert_int_equal(a.kind, BRK_ADDR_PATH);
	assert_int_equal(a.name_len, 108);
	assert_int_equal(strlen(a.name), 108);
	assert_int_equal(parse(AF_UNIX, SOCK_STREAM, raw, sizeof(raw), &a), -EINVAL);
}

static void test_unix__path_ends_at_nul_or_length(void **state)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/run/x\0/y"};
	struct brk_addr a;

	(void)state;
	assert_int_equal(parse(AF_UNIX, SOCK_STREAM, &un, sizeof(un), &a), 0);
	assert_string_equal(a.name, "/run/x");
	assert_int_equal(parse(AF_UNIX, SOCK_STREAM, &un, 2 + 4, &a), 0);
	assert_string_equal(a.name, "/run");
}

static void test_unix__abstract_name_is_all_bytes_of_the_length(void **state)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "\0a\0b"};
	struct brk_addr a;
	char text[32];

	(void)state;
	assert_int_equal(parse(AF_UNIX, SOCK_STREAM, &un, 2 + 4, &a), 0);
	assert_int_equal(a.kind, BRK_ADDR_ABSTRACT);
	assert_int_equal(a.name_len, 3);
	assert_memory_equal(a.name, "a\0b", 3);
	brk_addr_format(&a, text, sizeof(text));
	assert_string_equal(text, "@a\\x00b");
	brk_addr_format(&a, text, 5);
	assert_string_equal(text, "@ab");
	/* One that spells the text of another has a text of its own. */
	memcpy(un.sun_path, "\0a\\x00b", 7);
	assert_int_equal(parse(AF_UNIX, SOCK_STREAM, &un, 2 + 7, &a), 0);
	brk_addr_format(&a, text, sizeof(text));
	assert_string_equal(text, "@a\\x5cx00b");
	assert_int_equal(parse(AF_UNIX, SOCK_STREAM, &un, 3, &a), 0);
	assert_int_equal(a.name_len, 0);
}

static void test_unix__unnamed_or_of_another_family_is_invalid(void **state)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct brk_addr a;

	(void)state;
	for (size_t len = 0; len <= 2; len++)
		assert_int_equal(parse(AF_UNIX, SOCK_STREAM, &un, len, &a), -EINVAL);
	un.sun_family = AF_UNSPEC;
	assert_int_equal(parse(AF_UNIX, SOCK_STREAM, &un, sizeof(un), &a), -EINVAL);
	un.sun_family = AF_INET;
	assert_int_equal(parse(AF_UNIX, SOCK_STREAM, &un, sizeof(un), &a), -EINVAL);
}

static void test_inet__family_comes_from_the_socket(void **state)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/run/docker.sock"};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(80)};
	struct brk_addr a;

	(void)state;
	in.sin_addr.s_addr = htonl(0x01020304);
	assert_int_equal(parse(AF_INET, SOCK_STREAM, &un, sizeof(un), &a), -EAFNOSUPPORT);
	assert_int_equal(parse(AF_INET, SOCK_STREAM, &in, sizeof(in), &a), 0);
	assert_int_equal(brk_addr_v4(&a), 0x01020304);
	assert_int_equal(a.port, 80);
	assert_int_equal(parse(AF_INET, SOCK_STREAM, &in, sizeof(in) - 1, &a), -EINVAL);
	in.sin_family = AF_UNSPEC;
	assert_int_equal(parse(AF_INET, SOCK_DGRAM, &in, 2, &a), 0);
	assert_int_equal(a.kind, BRK_ADDR_UNSPEC);
	assert_int_equal(parse(AF_VSOCK, SOCK_STREAM, &in, sizeof(in), &a), -EAFNOSUPPORT);
}

static void test_inet6__mapped_address_counts_as_ipv4(void **state)
{
	uint8_t raw[BRK_ADDR_MAX];
	size_t len = brk_addr_make_v4(AF_INET6, 0xc613fffe, 15001, raw);
	struct brk_addr a;
	char text[64];

	(void)state;
	assert_int_equal(len, sizeof(struct sockaddr_in6));
	assert_int_equal(parse(AF_INET6, SOCK_STREAM, raw, len, &a), 0);
	assert_int_equal(brk_addr_v4(&a), 0xc613fffe);
	brk_addr_format(&a, text, sizeof(text));
	assert_string_equal(text, "198.19.255.254:15001");
	len = brk_addr_make_v4(AF_INET, 0x7f000001, 53, raw);
	assert_int_equal(parse(AF_INET6, SOCK_STREAM, raw, len, &a), -EINVAL);
	assert_int_equal(parse(AF_INET6, SOCK_DGRAM, raw, len, &a), 0);
	assert_int_equal(brk_addr_v4(&a), 0x7f000001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unix__path_without_nul_takes_all_108),
		cmocka_unit_test(test_unix__path_ends_at_nul_or_length),
		cmocka_unit_test(test_unix__abstract_name_is_all_bytes_of_the_length),
		cmocka_unit_test(test_unix__unnamed_or_of_another_family_is_invalid),
		cmocka_unit_test(test_inet__family_comes_from_the_socket),
		cmocka_unit_test(test_inet6__mapped_address_counts_as_ipv4),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
