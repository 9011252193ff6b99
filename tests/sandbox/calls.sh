#!/bin/bash
# SPDX-License-Identifier: MIT
# System calls inside: what the filter, Landlock and the namespaces refuse.
. "$(dirname "$0")/lib.sh"

# A ring, made here or handed in.
want "Z012 io_uring_setup" ENOSYS syscall 425 8 0
want "Z012 io_uring_enter" ENOSYS syscall 426 0 1 0 0
want "Z012 io_uring_register" ENOSYS syscall 427 0 0 0 0

# Upper bits, x32 and i386.
want "Z013 socket AF_UNIX datagram" EACCES socket 1 2
want "Z013 socket with upper bits" EACCES socket 0x100000001 2
want "Z013 type with upper bits" EACCES socket 1 0x700000002
want "Z013 raw becomes datagram" EACCES socket 1 3
want "Z013 socketpair datagram" EACCES socketpair 0x900000001 2
want "Z013 family with upper bits" EAFNOSUPPORT socket 0x100000028 1
want "Z013 x32 getpid" ENOSYS syscall 0x40000027
want "Z013 x32 connect" ENOSYS syscall 0x4000002a 0 0 0

# Families, whatever the socket settings are.
for family in 0 3 4 5 9 17 21 22 26 29 30 31 33 38 40 41 42 43 44 45 10000; do
	want "Z014 family $family" EAFNOSUPPORT socket $family 1
done
want "Z014 netlink xfrm" EPROTONOSUPPORT socket 16 3 6
want "Z014 netlink sock_diag" EPROTONOSUPPORT socket 16 3 4
want "Z014 netlink route" ok socket 16 3 0
want "Z014 unix stream" ok socket 1 1
want "Z014 unix seqpacket pair" ok socketpair 1 5
want "Z014 inet" ok socket 2 1
want "Z014 inet6 datagram" ok socket 10 2
want "Z014 raw inet" EPERM socket 2 3 1
want "Z014 raw inet6" EPERM socket 10 3 58
want "Z014 SOCK_PACKET" EPERM socket 2 10
try_all

# The processes outside the fence.
want "Z040 /proc/1/mem" "EACCES|EPERM" mem1
want "Z040 /proc/1/mem to write" "EACCES|EPERM|EROFS" write /proc/1/mem
want "Z040 ptrace pid 1" EPERM ptrace 1
want "Z040 process_vm_writev pid 1" EPERM vmwrite 1
# Before Landlock 6 it is delivered, and the kernel drops what a pid 1 has no handler for.
case $(sb --verbose -- true | grep -o 'landlock=[0-9]*') in
landlock=[0-5]) want "Z040 signal to pid 1 is lost" ok kill 1 ;;
*) want "Z040 signal to pid 1" EPERM kill 1 ;;
esac
want "Z040 own child can be traced" ok ptrace-child
want "Z040 umount /proc" EPERM umount /proc
try_all
# A kernel without the 32-bit gate answers SIGSEGV, the filter SIGSYS.
sb -- ./probe i386 >/dev/null
check_in "Z013 int 0x80 ends the process" $? 159 139
check_in "Z040 pids are the sandbox's" "$(sb -- sh -c 'ls -d /proc/[0-9]* | wc -l')" "[2345]"
check "Z040 pid 1 is zwatch-init" "$(sb -- cat /proc/1/comm)" "zwatch-init"
check "Z040 status" "$(probe status | sort | tr -d '\t\n')" \
	"CapAmb:0000000000000000CapBnd:0000000000000000CapEff:0000000000000000CapInh:0000000000000000CapPrm:0000000000000000NoNewPrivs:1Seccomp:2"
check "Z040 only standard descriptors" "$(exec 7</etc/passwd 8</; probe fds)" "0 1 2 "

# Nothing of root's powers is left, whoever starts it.
want "Z036 remount /" EPERM remount /
want "Z036 device" EPERM mknod ./null c
want "Z036 chown to others" "EPERM|EINVAL" chown ./probe 1
want "Z036 unshare user" EPERM unshare 0x10000000
want "Z036 unshare mount" EPERM unshare 0x20000
want "Z036 unshare net" EPERM unshare 0x40000000
want "Z036 clone into a user namespace" EPERM clone 0x10000000
want "Z036 clone into a mount namespace" EPERM clone 0x20000
want "Z036 plain clone" ok clone 0
want "Z036 clone3" ENOSYS syscall 435 0 0
want "Z036 write to /etc" "EROFS|EACCES" write /etc/zw-test
want "Z036 write to /usr" "EROFS|EACCES" write /usr/zw-test
for file in sys/kernel/core_pattern sys/kernel/hostname sysrq-trigger sys/vm/drop_caches; do
	want "Z036 /proc/$file" "EACCES|EROFS|EPERM|ENOENT" write /proc/$file
done

# No packet leaves, proxy or not.
for to in "1.1.1.1 443" "8.8.8.8 53" "203.0.113.9 3128" "169.254.169.254 80" "2606:4700::1111 853"; do
	# shellcheck disable=SC2086
	want "Z069 datagram to $to" ENETUNREACH udp $to
done
want "Z069 MSG_FASTOPEN" EOPNOTSUPP fastopen
want "Z069 TCP_FASTOPEN_CONNECT" ENOPROTOOPT fastopen-connect
want "Z069 raw icmp" EPERM socket 2 3 1

# The rest of the table, one of each group.
want "connect is asked for" EACCES connect /nowhere
want "keyctl" EPERM syscall 250 0 0
want "bpf" EPERM syscall 321 0
want "perf_event_open" EPERM syscall 298 0
want "userfaultfd" EPERM syscall 323 0
want "mount" EPERM syscall 165
want "open_tree" ENOSYS syscall 428
want "open_tree_attr" ENOSYS syscall 467
want "pidfd_getfd" EPERM syscall 438 0 0 0
want "TIOCSTI with upper bits" EPERM tiocsti
want "personality for gdb" ok syscall 135 0x40000
want "personality READ_IMPLIES_EXEC" EPERM syscall 135 0x400000
try_all
finish
