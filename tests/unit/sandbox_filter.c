/* SPDX-License-Identifier: MIT
 * The agent's filter, run in a simulator: every row of the table, and the cases by hand. */
#include "tests/support/test.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>

#include "sandbox/filter.h"
#include "sandbox/syscalls.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "tests/support/bpf_sim.h"

#define ALLOW SECCOMP_RET_ALLOW
#define ASK   SECCOMP_RET_USER_NOTIF
#define KILL  SECCOMP_RET_KILL_PROCESS
#define E(e)  SB_ERRNO(e)
#define HIGH  0x7fffffff00000000ull

static struct sock_filter fenced[SB_BPF_MAX], unfenced[SB_BPF_MAX];
static size_t n_fenced, n_unfenced;

static int setup(void **state)
{
	(void)state;
	n_fenced = (size_t)sb_filter_make(true, fenced, SB_BPF_MAX);
	n_unfenced = (size_t)sb_filter_make(false, unfenced, SB_BPF_MAX);
	return n_fenced <= SB_BPF_MAX && n_unfenced <= SB_BPF_MAX ? 0 : -1;
}

/* -- by hand: what the design asks for --------------------------------------------------------- */

struct expect {
	uint32_t nr;
	uint64_t args[4];
	uint32_t action;
};

static void check_all(const struct expect *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t args[6] = {0}, high[6];

		memcpy(args, e[i].args, sizeof(e[i].args));
		for (size_t k = 0; k < 6; k++)
			high[k] = args[k] | HIGH;
		uint32_t plain = sim_call(fenced, n_fenced, e[i].nr, args);
		uint32_t upper = sim_call(fenced, n_fenced, e[i].nr, high);
		if (plain != e[i].action || upper != e[i].action)
			fail_msg("row %zu, call %u: %#x, with upper bits %#x, wanted %#x", i,
				 e[i].nr, plain, upper, e[i].action);
	}
}

static void test_z013_sockets__by_the_low_half(void **state)
{
	static const struct expect rows[] = {
		{__NR_socket, {AF_UNIX, SOCK_STREAM}, ALLOW},
		{__NR_socket, {AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC}, ALLOW},
		{__NR_socket, {AF_UNIX, SOCK_DGRAM}, ASK},
		{__NR_socket, {AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK}, ASK},
		{__NR_socket, {AF_UNIX, SOCK_RAW}, ASK},
		{__NR_socketpair, {AF_UNIX, SOCK_STREAM}, ALLOW},
		{__NR_socketpair, {AF_UNIX, SOCK_DGRAM}, ASK},
		{__NR_socketpair, {AF_UNIX, SOCK_RAW | SOCK_NONBLOCK}, ASK},
		{__NR_socketpair, {AF_INET, SOCK_STREAM}, E(EAFNOSUPPORT)},
		{__NR_connect, {3, 0, 0}, ASK},
		{__NR_connect, {3, 1, 110}, ASK},
	};

	(void)state;
	check_all(rows, ZW_N_ELEMENTS(rows));
}

static void test_z014_families__are_an_allow_list(void **state)
{
	static const struct expect rows[] = {
		{__NR_socket, {AF_INET, SOCK_STREAM}, ALLOW},
		{__NR_socket, {AF_INET6, SOCK_DGRAM}, ALLOW},
		{__NR_socket, {AF_INET, SOCK_RAW}, ASK},
		{__NR_socket, {AF_INET, SOCK_DGRAM, IPPROTO_ICMP}, ASK},
		{__NR_socket, {AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6}, ASK},
		{__NR_socket, {AF_INET, SOCK_DGRAM, IPPROTO_UDP}, ALLOW},
		{__NR_socket, {AF_INET, SOCK_PACKET}, E(EPERM)},
		{__NR_socket, {AF_INET6, SOCK_RAW | SOCK_CLOEXEC}, ASK},
		{__NR_socket, {AF_NETLINK, SOCK_RAW, NETLINK_ROUTE}, ALLOW},
		{__NR_socket, {AF_NETLINK, SOCK_DGRAM, NETLINK_ROUTE}, ALLOW},
		{__NR_socket, {AF_NETLINK, SOCK_RAW, NETLINK_XFRM}, E(EPROTONOSUPPORT)},
		{__NR_socket, {AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG}, E(EPROTONOSUPPORT)},
	};
	uint64_t args[6] = {0, SOCK_STREAM};

	(void)state;
	check_all(rows, ZW_N_ELEMENTS(rows));
	for (args[0] = 0; args[0] < 128; args[0]++) {
		bool is_listed = args[0] == AF_UNIX || args[0] == AF_INET || args[0] == AF_INET6 ||
				 args[0] == AF_NETLINK;

		assert_int_equal(sim_call(fenced, n_fenced, __NR_socket, args),
				 is_listed ? ALLOW : E(EAFNOSUPPORT));
	}
}

static void test_z012_rings__are_off(void **state)
{
	static const struct expect rows[] = {
		{__NR_io_uring_setup, {8}, E(ENOSYS)},
		{__NR_io_uring_enter, {3, 1}, E(ENOSYS)},
		{__NR_io_uring_register, {3}, E(ENOSYS)},
	};

	(void)state;
	check_all(rows, ZW_N_ELEMENTS(rows));
}

static void test_z013_other_abis__are_refused(void **state)
{
	const uint64_t args[6] = {AF_UNIX, SOCK_STREAM};
	struct seccomp_data d = {.nr = 1, .arch = AUDIT_ARCH_I386};

	(void)state;
	assert_int_equal(sim_run(fenced, n_fenced, &d), KILL);
	d.arch = AUDIT_ARCH_AARCH64;
	assert_int_equal(sim_run(fenced, n_fenced, &d), KILL);
	for (uint32_t nr = 0; nr < 600; nr++)
		assert_int_equal(sim_call(fenced, n_fenced, 0x40000000u | nr, args), E(ENOSYS));
	assert_int_equal(sim_call(fenced, n_fenced, 0xffffffffu, args), E(ENOSYS));
}

static void test_z036_namespaces__are_closed(void **state)
{
	static const struct expect rows[] = {
		{__NR_clone, {CLONE_NEWUSER | 17}, E(EPERM)},
		{__NR_clone, {CLONE_NEWNS}, E(EPERM)},
		{__NR_clone, {CLONE_NEWNET | CLONE_VM}, E(EPERM)},
		{__NR_clone, {CLONE_NEWPID}, E(EPERM)},
		{__NR_clone, {CLONE_NEWIPC}, E(EPERM)},
		{__NR_clone, {CLONE_NEWUTS}, E(EPERM)},
		{__NR_clone, {CLONE_NEWCGROUP}, E(EPERM)},
		{__NR_clone,
		 {CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD},
		 ALLOW},
		{__NR_clone, {17}, ALLOW},
		{__NR_clone3, {0}, E(ENOSYS)},
		{__NR_unshare, {CLONE_FILES}, E(EPERM)},
		{__NR_setns, {3, 0}, E(EPERM)},
		{__NR_mount, {0}, E(EPERM)},
		{__NR_chroot, {0}, E(EPERM)},
		{__NR_open_tree_attr, {0}, E(ENOSYS)},
	};

	(void)state;
	check_all(rows, ZW_N_ELEMENTS(rows));
}

static void test_z069_fast_open__is_refused(void **state)
{
	static const struct expect rows[] = {
		{__NR_sendto, {3, 0, 1, MSG_FASTOPEN}, E(EOPNOTSUPP)},
		{__NR_sendto, {3, 0, 1, MSG_FASTOPEN | MSG_NOSIGNAL}, E(EOPNOTSUPP)},
		{__NR_sendto, {3, MSG_FASTOPEN, MSG_FASTOPEN, MSG_NOSIGNAL}, ALLOW},
		{__NR_sendmsg, {3, 0, MSG_FASTOPEN}, E(EOPNOTSUPP)},
		{__NR_sendmsg, {3, 0, MSG_NOSIGNAL, MSG_FASTOPEN}, ALLOW},
		{__NR_sendmmsg, {3, 0, 2, MSG_FASTOPEN}, E(EOPNOTSUPP)},
		{__NR_setsockopt, {3, IPPROTO_TCP, 30}, E(ENOPROTOOPT)},
		{__NR_setsockopt, {3, IPPROTO_TCP, 1}, ALLOW},
		{__NR_setsockopt, {3, SOL_SOCKET, 30}, ALLOW},
	};

	(void)state;
	check_all(rows, ZW_N_ELEMENTS(rows));
}

static void test_rest__as_the_table_says(void **state)
{
	static const struct expect rows[] = {
		{__NR_ioctl, {0, TIOCSTI}, E(EPERM)},
		{__NR_ioctl, {0, TIOCLINUX}, E(EPERM)},
		{__NR_ioctl, {0, TIOCGWINSZ}, ALLOW},
		{__NR_personality, {0}, ALLOW},
		{__NR_personality, {ADDR_NO_RANDOMIZE}, ALLOW},
		{__NR_personality, {0xffffffff}, ALLOW},
		{__NR_personality, {READ_IMPLIES_EXEC}, E(EPERM)},
		{__NR_keyctl, {0}, E(EPERM)},
		{__NR_userfaultfd, {0}, E(EPERM)},
		{__NR_pidfd_getfd, {0}, E(EPERM)},
		{__NR_ptrace, {0}, ALLOW},
		{__NR_read, {0}, ALLOW},
		{__NR_bind, {0}, ASK},
		{__NR_seccomp, {0}, ALLOW},
	};

	(void)state;
	check_all(rows, ZW_N_ELEMENTS(rows));
}

/* Once more, apart from the table: a row that gets lost there is missed here. */
static void test_calls_refused_whole__none_is_missing(void **state)
{
	static const uint32_t no_permission[] = {__NR_unshare,
						 __NR_setns,
						 __NR_mount,
						 __NR_umount2,
						 __NR_pivot_root,
						 __NR_chroot,
						 __NR_keyctl,
						 __NR_add_key,
						 __NR_request_key,
						 __NR_pidfd_getfd,
						 __NR_kcmp,
						 __NR_process_madvise,
						 __NR_bpf,
						 __NR_perf_event_open,
						 __NR_userfaultfd,
						 __NR_fanotify_init,
						 __NR_lookup_dcookie,
						 __NR_quotactl,
						 __NR_quotactl_fd,
						 __NR_acct,
						 __NR_syslog,
						 __NR_uselib,
						 __NR_nfsservctl,
						 __NR_modify_ldt,
						 __NR_iopl,
						 __NR_ioperm,
						 __NR_open_by_handle_at,
						 __NR_kexec_load,
						 __NR_kexec_file_load,
						 __NR_init_module,
						 __NR_finit_module,
						 __NR_delete_module,
						 __NR_create_module,
						 __NR_reboot,
						 __NR_swapon,
						 __NR_swapoff,
						 __NR_settimeofday,
						 __NR_clock_settime,
						 __NR_clock_adjtime,
						 __NR_adjtimex,
						 __NR_sethostname,
						 __NR_setdomainname,
						 __NR_vhangup,
						 __NR_move_pages,
						 __NR_migrate_pages,
						 __NR_mbind,
						 __NR_set_mempolicy,
						 __NR_vmsplice};
	static const uint32_t not_there[] = {
		__NR_io_uring_setup, __NR_io_uring_enter, __NR_io_uring_register,
		__NR_clone3,	     __NR_open_tree,	  __NR_open_tree_attr,
		__NR_move_mount,     __NR_fsopen,	  __NR_fsconfig,
		__NR_fsmount,	     __NR_fspick,	  __NR_mount_setattr};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(no_permission); i++)
		check_all(&(struct expect){no_permission[i], {0}, E(EPERM)}, 1);
	for (size_t i = 0; i < ZW_N_ELEMENTS(not_there); i++)
		check_all(&(struct expect){not_there[i], {0}, E(ENOSYS)}, 1);
}

static void test_without_landlock__no_ptrace(void **state)
{
	static const uint32_t calls[] = {__NR_ptrace, __NR_process_vm_readv,
					 __NR_process_vm_writev};
	const uint64_t args[6] = {0};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(calls); i++) {
		assert_int_equal(sim_call(fenced, n_fenced, calls[i], args), ALLOW);
		assert_int_equal(sim_call(unfenced, n_unfenced, calls[i], args), E(EPERM));
	}
}

/* -- every row of the table against a reading of it that makes no jumps ------------------------ */

#define TYPE_MASK	     0xf
#define CLONE_NEW_ANY	     0x7e020000
#define FENCED		     ALLOW
#define TCP_FASTOPEN_CONNECT 30

static const struct sb_rule table[] = {
#define SB_ROW(call, c1, c2, act) {__NR_##call, {c1, c2}, (act)},
#include "sandbox/filter.def"
#undef SB_ROW
};

static bool holds(const struct sb_cond *c, const uint64_t args[6])
{
	uint32_t low = (uint32_t)args[c->arg] & c->mask;

	return c->op == SB_COND_ANY || (c->op == SB_COND_EQ ? low == c->value : low != c->value);
}

static uint32_t by_table(uint32_t nr, const uint64_t args[6])
{
	for (size_t i = 0; i < ZW_N_ELEMENTS(table); i++) {
		if (table[i].nr == nr && holds(&table[i].cond[0], args) &&
		    holds(&table[i].cond[1], args))
			return table[i].action;
	}
	return ALLOW;
}

static void test_table__rows_of_a_call_stand_together(void **state)
{
	(void)state;
	for (size_t i = 1; i < ZW_N_ELEMENTS(table); i++) {
		for (size_t k = 0; k + 1 < i; k++)
			assert_false(table[k].nr == table[i].nr && table[i - 1].nr != table[i].nr);
	}
}

static void test_table__compiled_as_read(void **state)
{
	/* Arguments out of the values that rows compare with, and their neighbours. */
	uint64_t values[3 * 2 * ZW_N_ELEMENTS(table)];
	size_t n_values = 0;
	unsigned seed = 1;

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(table); i++) {
		for (size_t k = 0; k < 2; k++) {
			values[n_values++] = table[i].cond[k].value;
			values[n_values++] = table[i].cond[k].value + 1ull;
			values[n_values++] = table[i].cond[k].value | HIGH;
		}
	}
	for (uint32_t nr = 0; nr < 500; nr++) {
		for (int round = 0; round < 400; round++) {
			uint64_t args[6];

			for (size_t k = 0; k < 6; k++)
				args[k] = values[(size_t)rand_r(&seed) % n_values];
			assert_int_equal(sim_call(fenced, n_fenced, nr, args), by_table(nr, args));
		}
	}
}

static void test_compile__says_when_too_large(void **state)
{
	struct sock_filter small[8];

	(void)state;
	assert_int_equal(sb_filter_make(true, small, 8), ZW_E_TOOBIG);
}

static void test_compile__long_groups_jump_far(void **state)
{
	struct sb_rule rules[201];
	struct sock_filter prog[SB_BPF_MAX];
	uint64_t args[6] = {0};

	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		rules[i] = (struct sb_rule){7, {SB_IS(0, i), SB_ANY}, E(i + 1)};
	rules[200] = (struct sb_rule){8, {SB_ANY, SB_ANY}, E(EPERM)};
	int n = sb_bpf_compile(rules, 201, ALLOW, prog, SB_BPF_MAX);
	assert_true(n > 0);
	for (args[0] = 0; args[0] < 200; args[0]++)
		assert_int_equal(sim_call(prog, (size_t)n, 7, args), E(args[0] + 1));
	assert_int_equal(sim_call(prog, (size_t)n, 7, args), ALLOW);
	assert_int_equal(sim_call(prog, (size_t)n, 8, args), E(EPERM));
	assert_int_equal(sim_call(prog, (size_t)n, 9, args), ALLOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_z013_sockets__by_the_low_half),
		cmocka_unit_test(test_z014_families__are_an_allow_list),
		cmocka_unit_test(test_z012_rings__are_off),
		cmocka_unit_test(test_z013_other_abis__are_refused),
		cmocka_unit_test(test_z036_namespaces__are_closed),
		cmocka_unit_test(test_z069_fast_open__is_refused),
		cmocka_unit_test(test_rest__as_the_table_says),
		cmocka_unit_test(test_calls_refused_whole__none_is_missing),
		cmocka_unit_test(test_without_landlock__no_ptrace),
		cmocka_unit_test(test_table__rows_of_a_call_stand_together),
		cmocka_unit_test(test_table__compiled_as_read),
		cmocka_unit_test(test_compile__says_when_too_large),
		cmocka_unit_test(test_compile__long_groups_jump_far),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
