#!/bin/bash
# SPDX-License-Identifier: MIT
# System calls inside: what the filter, Landlock and the namespaces refuse.
. "$(dirname "$0")/lib.sh"

# Z012: a ring, made here or handed in.
check "Z012 io_uring_setup" "$(probe syscall 425 8 0)" "syscall ENOSYS"
check "Z012 io_uring_enter" "$(probe syscall 426 0 1 0 0)" "syscall ENOSYS"
check "Z012 io_uring_register" "$(probe syscall 427 0 0 0 0)" "syscall ENOSYS"

# Z013: upper bits, x32 and i386.
check "Z013 socket AF_UNIX datagram" "$(probe socket 1 2)" "socket EACCES"
check "Z013 socket with upper bits" "$(probe socket 0x100000001 2)" "socket EACCES"
check "Z013 type with upper bits" "$(probe socket 1 0x700000002)" "socket EACCES"
check "Z013 raw becomes datagram" "$(probe socket 1 3)" "socket EACCES"
check "Z013 socketpair datagram" "$(probe socketpair 0x900000001 2)" "socketpair EACCES"
check "Z013 family with upper bits" "$(probe socket 0x100000028 1)" "socket EAFNOSUPPORT"
check "Z013 x32 getpid" "$(probe syscall 0x40000027)" "syscall ENOSYS"
check "Z013 x32 connect" "$(probe syscall 0x4000002a 0 0 0)" "syscall ENOSYS"
# A kernel without the 32-bit gate answers SIGSEGV, the filter SIGSYS.
sb -- ./probe i386 >/dev/null
check_in "Z013 int 0x80 ends the process" $? 159 139

# Z014: families whatever the socket settings are.
for family in 0 3 4 5 9 10000 17 21 22 26 29 30 31 33 38 40 41 42 43 44 45; do
	check "Z014 family $family" "$(probe socket $family 1)" "socket EAFNOSUPPORT"
done
check "Z014 netlink xfrm" "$(probe socket 16 3 6)" "socket EPROTONOSUPPORT"
check "Z014 netlink sock_diag" "$(probe socket 16 3 4)" "socket EPROTONOSUPPORT"
check "Z014 netlink route" "$(probe socket 16 3 0)" "socket ok"
check "Z014 unix stream" "$(probe socket 1 1)" "socket ok"
check "Z014 unix seqpacket pair" "$(probe socketpair 1 5)" "socketpair ok"
check "Z014 inet" "$(probe socket 2 1 , socket 10 2)" "$(printf 'socket ok\nsocket ok')"
check "Z014 raw inet" "$(probe socket 2 3 1 , socket 10 3 58)" "$(printf 'socket EPERM\nsocket EPERM')"
check "Z014 SOCK_PACKET" "$(probe socket 2 10)" "socket EPERM"

# Z040: the processes outside the fence.
check_in "Z040 /proc/1/mem" "$(probe mem1)" "mem1 EACCES" "mem1 EPERM"
check_in "Z040 /proc/1/mem to write" "$(probe write /proc/1/mem)" "write EACCES" "write EPERM" "write EROFS"
check_in "Z040 ptrace pid 1" "$(probe ptrace 1)" "ptrace EPERM"
check_in "Z040 process_vm_writev pid 1" "$(probe vmwrite 1)" "vmwrite EPERM"
check "Z040 signal to pid 1" "$(probe kill 1)" "kill EPERM"
check "Z040 own child can be traced" "$(probe ptrace-child)" "ptrace-child ok"
check "Z040 umount /proc" "$(probe umount /proc)" "umount EPERM"
check_in "Z040 pids are the sandbox's" "$(sb -- sh -c 'ls -d /proc/[0-9]* | wc -l')" "[2345]"
check "Z040 pid 1 is zwatch-init" "$(sb -- cat /proc/1/comm)" "zwatch-init"
check "Z040 status" "$(probe status | sort | tr -d '\t\n')" \
	"CapAmb:0000000000000000CapBnd:0000000000000000CapEff:0000000000000000CapInh:0000000000000000CapPrm:0000000000000000NoNewPrivs:1Seccomp:2"
check "Z040 only standard descriptors" "$(exec 7</etc/passwd 8</; probe fds)" "0 1 2 "

# Z036: nothing of root's powers is left, whoever starts it.
check "Z036 remount /" "$(probe remount /)" "remount EPERM"
check_in "Z036 device" "$(probe mknod ./null c)" "mknod EPERM"
check_in "Z036 chown to others" "$(probe chown ./probe 1)" "chown EPERM" "chown EINVAL"
check "Z036 unshare" "$(probe unshare 0x10000000 , unshare 0x20000 , unshare 0x40000000)" \
	"$(printf 'unshare EPERM\nunshare EPERM\nunshare EPERM')"
check "Z036 clone into namespaces" "$(probe clone 0x10000000 , clone 0x20000000 , clone 0)" \
	"$(printf 'clone EPERM\nclone EPERM\nclone ok')"
check "Z036 clone3" "$(probe syscall 435 0 0)" "syscall ENOSYS"
check "Z036 write to the system" "$(probe write /etc/zw-test , write /usr/zw-test)" \
	"$(printf 'write EROFS\nwrite EROFS')"
for file in sys/kernel/core_pattern sys/kernel/hostname sysrq-trigger sys/vm/drop_caches; do
	check_in "Z036 /proc/$file" "$(probe write /proc/$file)" "write EACCES" "write EROFS" "write EPERM" "write ENOENT"
done

# Z069: no packet leaves, proxy or not.
for to in "1.1.1.1 443" "8.8.8.8 53" "203.0.113.9 3128" "169.254.169.254 80" "2606:4700::1111 853"; do
	# shellcheck disable=SC2086
	check "Z069 datagram to $to" "$(probe udp $to)" "udp ENETUNREACH"
done
check "Z069 MSG_FASTOPEN" "$(probe fastopen)" "fastopen EOPNOTSUPP"
check "Z069 TCP_FASTOPEN_CONNECT" "$(probe fastopen-connect)" "fastopen-connect ENOPROTOOPT"
check "Z069 raw icmp" "$(probe socket 2 3 1)" "socket EPERM"

# The rest of the table, one of each group.
check "connect is asked for" "$(probe connect /nowhere)" "connect EACCES"
check "keyctl" "$(probe syscall 250 0 0)" "syscall EPERM"
check "bpf, perf, userfaultfd" "$(probe syscall 321 0 , syscall 298 0 , syscall 323 0)" \
	"$(printf 'syscall EPERM\nsyscall EPERM\nsyscall EPERM')"
check "mount calls" "$(probe syscall 165 , syscall 428 , syscall 467)" \
	"$(printf 'syscall EPERM\nsyscall ENOSYS\nsyscall ENOSYS')"
check "pidfd_getfd" "$(probe syscall 438 0 0 0)" "syscall EPERM"
check "TIOCSTI with upper bits" "$(probe tiocsti)" "tiocsti EPERM"
check "personality" "$(probe syscall 135 0x40000 , syscall 135 0x10000000)" \
	"$(printf 'syscall ok\nsyscall EPERM')"
finish
