/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>

#include "sandbox/broker/diag.h"
#include "sandbox/broker/who.h"
#include "src/base/err.h"
#include "src/base/mem.h"

struct answer {
	uint8_t bytes[1024];
	size_t len;
};

static void put_header(struct answer *a, uint16_t type, uint32_t seq, size_t body_len)
{
	struct nlmsghdr h = {.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + body_len),
			     .nlmsg_type = type,
			     .nlmsg_seq = seq};

	memcpy(a->bytes + a->len, &h, sizeof(h));
	a->len += NLMSG_HDRLEN;
}

static void put_sock(struct answer *a, uint32_t seq, uint32_t vfs_ino, uint32_t vfs_dev)
{
	struct unix_diag_msg m = {
		.udiag_type = SOCK_STREAM, .udiag_state = TCP_LISTEN, .udiag_ino = 77};
	struct unix_diag_vfs vfs = {.udiag_vfs_ino = vfs_ino, .udiag_vfs_dev = vfs_dev};
	struct rtattr attr = {.rta_len = RTA_LENGTH(sizeof(vfs)), .rta_type = UNIX_DIAG_VFS};

	put_header(a, SOCK_DIAG_BY_FAMILY, seq, sizeof(m) + RTA_LENGTH(sizeof(vfs)));
	memcpy(a->bytes + a->len, &m, sizeof(m));
	memcpy(a->bytes + a->len + sizeof(m), &attr, sizeof(attr));
	memcpy(a->bytes + a->len + sizeof(m) + RTA_LENGTH(0), &vfs, sizeof(vfs));
	a->len += sizeof(m) + RTA_LENGTH(sizeof(vfs));
}

static bool keep_last(const struct brk_diag_sock *s, void *arg)
{
	*(struct brk_diag_sock *)arg = *s;
	return true;
}

static void test_parse__finds_inode_and_listener(void **state)
{
	struct answer a = {0};
	struct brk_diag_sock s = {0};
	struct brk_diag_want want = {.ino = 1234, .dev = makedev(8, 1)};

	(void)state;
	put_sock(&a, 5, 1234, 8 << 20 | 1);
	assert_int_equal(brk_diag_parse(a.bytes, a.len, 5, keep_last, &s), 1);
	assert_int_equal(s.sk_ino, 77);
	assert_true(s.is_listening);
	assert_true(brk_diag_is(&s, &want));
	want.dev = makedev(8, 2);
	assert_false(brk_diag_is(&s, &want));
	put_header(&a, NLMSG_DONE, 5, 0);
	assert_int_equal(brk_diag_parse(a.bytes, a.len, 5, keep_last, &s), 0);
}

static void test_parse__answers_to_other_questions_are_skipped(void **state)
{
	struct answer a = {0};
	struct brk_diag_sock s = {0};

	(void)state;
	put_sock(&a, 4, 1, 1);
	put_header(&a, NLMSG_DONE, 4, 0);
	assert_int_equal(brk_diag_parse(a.bytes, a.len, 5, keep_last, &s), 1);
	assert_int_equal(s.sk_ino, 0);
}

static void test_parse__every_cut_is_safe(void **state)
{
	struct answer a = {0};
	struct brk_diag_sock s;

	(void)state;
	put_sock(&a, 5, 1234, 1);
	for (size_t len = 0; len < a.len; len++) {
		uint8_t *copy = zw_xmalloc(len + 1);

		memcpy(copy, a.bytes, len);
		assert_int_equal(brk_diag_parse(copy, len, 5, keep_last, &s),
				 len < NLMSG_HDRLEN ? 1 : -EBADMSG);
		free(copy);
	}
}

static void test_parse__the_kernels_error_is_told(void **state)
{
	struct answer a = {0};
	int error = -EPERM;

	(void)state;
	put_header(&a, NLMSG_ERROR, 5, sizeof(error));
	memcpy(a.bytes + a.len, &error, sizeof(error));
	a.len += sizeof(error);
	assert_int_equal(brk_diag_parse(a.bytes, a.len, 5, keep_last, NULL), -EPERM);
}

static void test_status__innermost_numbers(void **state)
{
	struct brk_status s;
	const char *text = "Name:\ta\\nTgid:\\t9\nUmask:\t0022\nTgid:\t4711\nNgid:\t0\nPid:"
			   "\t4712\nPPid:\t4000\n"
			   "NStgid:\t4711\t12\t3\nNSpid:\t4712\t13\t4\nNSpgid:\t1\n";

	(void)state;
	assert_int_equal(brk_status_parse(text, &s), 0);
	assert_int_equal(s.tgid, 4711);
	assert_int_equal(s.ppid, 4000);
	assert_int_equal(s.ns_tgid, 3);
	assert_int_equal(s.ns_pid, 4);
	assert_int_equal(brk_status_parse("Name:\tx\nTgid:\t1\n", &s), ZW_E_SYNTAX);
	assert_int_equal(brk_status_parse("", &s), ZW_E_SYNTAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse__finds_inode_and_listener),
		cmocka_unit_test(test_parse__answers_to_other_questions_are_skipped),
		cmocka_unit_test(test_parse__every_cut_is_safe),
		cmocka_unit_test(test_parse__the_kernels_error_is_told),
		cmocka_unit_test(test_status__innermost_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
