#!/bin/bash
# SPDX-License-Identifier: MIT
# The program inside: its arguments, environment, terminal, end; and the start that fails.
. "$(dirname "$0")/lib.sh"

# Z134: arguments are bytes.
arg_test() {
	local name=$1
	shift
	check "Z134 $name" "$(sb -- ./probe argv "$@" | sha256sum)" \
		"$(if [ $# -gt 0 ]; then printf '%s\0' "$@"; fi | sha256sum)"
}
arg_test "none"
arg_test "quotes and blanks" 'a b' "it's" '"q"' '!' '!!' '=ls' '$x' '\' '\\n' $'new\nline' '' '-n' '--' '*'
arg_test "bad UTF-8" $'\xff\xfe' $'\xc3' $'\x01\x1b[2J'
arg_test "100 KB" "$(head -c 102400 /dev/zero | tr '\0' x)"
mapfile -t thousand < <(seq 1000)
arg_test "1000 arguments" "${thousand[@]}"

check "environment by list" "$(env -i A=1 'B=x y' E= PATH=/usr/bin:/bin "$ZW_SB_DIR/driver" --project "$project" \
	--init "$ZW_SB_DIR/zwatch-init" -- env | sort)" "$(printf 'A=1\nB=x y\nE=\nPATH=/usr/bin:/bin')"
check "large environment" "$(BIG=$(head -c 100000 /dev/zero | tr '\0' y) sb -- sh -c 'echo ${#BIG}')" "100000"
check "PATH of the environment" "$(cd /; mkdir "$project/bin"; printf '#!/bin/sh\necho mine\n' >"$project/bin/zw-mine"
	chmod +x "$project/bin/zw-mine"; PATH=$project/bin:$PATH sb -- zw-mine)" "mine"

sb -- ./probe exit 42 >/dev/null
check "exit status" $? 42
sb -- ./probe die 15 >/dev/null
check "death by signal" $? 143
sb -- ./probe die 9 >/dev/null
check "death by SIGKILL" $? 137
check "input and output pass through" "$(printf 'a\0b' | sb -- cat | od -An -c | tr -d ' ')" 'a\0b'
# Files of the host as standard descriptors lie outside the sandbox's tree, and are opened again all the same.
echo from outside >"$top/in"
check "standard input by its name" "$(sb -- cat /dev/stdin <"$top/in")" "from outside"
sb -- sh -c 'echo text >/dev/stdout' >"$top/out"
check "standard output by its name" "$(cat "$top/out")" "text"
sb -- sh -c 'echo evil >/dev/stdin' <"$top/in" >/dev/null
check "what was given to read is not written to" "$(cat "$top/in")" "from outside"
check "SIGPIPE is not ignored" "$(sb -- sh -c 'trap; grep SigIgn /proc/self/status' | tr -d '\t')" "SigIgn:0000000000000000"
check "the end takes everything along" "$(sb -- sh -c "setsid sleep 31$$ & echo on"; sleep 0.1; pgrep -f "^sleep 31$$\$")" "on"
check "terminal inside" "$(sb --pty -- ./probe tty | tr -d '\r')" \
	"$(printf '0 /dev/pts/0\n1 /dev/pts/0\n2 /dev/pts/0\n24 x 80\ncontrolling yes')"
check "no host terminal as console" "$(sb -- sh -c 'ls /dev/console 2>/dev/null; ls /dev/pts')" "ptmx"

# Z140: what is missing stops the start, with cause and remedy.
fails() { # NAME STATUS PATTERN [options] -- COMMAND
	local name=$1 status=$2 pattern=$3 out rc
	shift 3
	out=$(sb "$@")
	rc=$?
	check "Z140 $name: status" $rc "$status"
	check_in "Z140 $name: text" "$out" "$pattern"
}
fails "program missing" 127 "*cannot be started: no-such-program: No such file*" -- no-such-program
fails "program not startable" 126 "*cannot be started: /etc/passwd: Permission denied*" -- /etc/passwd
fails "bwrap missing" 3 "*bwrap*cannot be started: /nowhere/bwrap: No such file*apt install*" --bwrap /nowhere/bwrap -- true
fails "zwatch-init missing" 3 "*zwatch-init is missing*" --init /nowhere/init -- true
fails "project missing" 3 "*cannot be laid out*" --project /nowhere -- true
fails "project is /" 3 "*cannot be laid out*" --project / -- true
printf '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n' >"$project/bwrap"
chmod +x "$project/bwrap"
fails "user namespaces forbidden" 3 "*no user namespace*uid map*AppArmor*" --bwrap "$project/bwrap" -- true
check_in "Z140 datagram socket as standard input" "$(python3 -c '
import socket, subprocess, sys
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
print(subprocess.run(sys.argv[1:], stdin=a, stderr=subprocess.PIPE).stderr.decode())
' "$ZW_SB_DIR/driver" --project "$project" --init "$ZW_SB_DIR/zwatch-init" -- true)" "*Protocol wrong type*"
fails "user namespaces refused" 3 "*no user namespace*" --without userns -- true
fails "listener taken by another" 3 "*filter could not be switched on: Device or resource busy*" \
	--without free-listener -- true
fails "no notifications" 3 "*filter could not be switched on: Invalid argument*" --without notify -- true
fails "nobody serves the listener" 3 "*did not stand in time*" --deaf -- touch "$top/ran"
check_in "Z140 no Landlock is the weaker level" "$(sb --verbose --without landlock -- ./probe ptrace-child)" \
	"level=2 landlock=0*ptrace-child EPERM"
check_in "Z140 without Landlock pid 1 is closed all the same" "$(sb --without landlock -- ./probe mem1)" \
	"mem1 EACCES" "mem1 EPERM"
check_in "Z140 old kernel: signals interrupt" "$(sb --verbose --without killable -- ./probe connect /x)" \
	"level=3*killable=0*connect EACCES"
# Each row of the self-test, by a sandbox in which just that does not hold: nothing is started.
while read -r fault row; do
	fails "self-test, $fault" 3 "*does not hold what it must: $row*" --fault "$fault" -- touch "$top/ran"
done <<-'X'
	vsock AF_VSOCK is refused
	datagram a datagram socket is asked for
	upper-bits upper bits of a family count for nothing
	connect a socket of the host is refused
	canary-granted a socket of the host is refused
	canary-reached no socket of the host is reached
	no-own a socket made inside is reached
	pair a datagram pair reaches nobody
	io_uring io_uring is off
	x32 x32 calls are off
	unshare no new namespaces
	pid1-open pid 1 cannot be looked into
	ptrace pid 1 cannot be traced
	sockets-anywhere sockets are made only where they may be
	rename no socket is moved into the start folder
	capabilities no capabilities
	no-new-privs no new privileges
	unfiltered filtered
	foreign-tree own process tree
X
rows=$(grep -c '^SB_TEST' "${ZW_SRC:?}/sandbox/init/selftest.def")
check "the self-test's rows, each but the first connect with a fault" "$rows" 18
check "a sandbox without a fault starts" "$(sb -- echo started)" "started"
# A link on the way to what is protected, exchanged between the look at it and the start.
mkdir "$project/real"
echo r >"$project/real/rc"
exchanged() { # NAME PATTERN COMMAND
	ln -s real "$project/link"
	printf '#!/bin/sh\ncd "%s" || exit 1\nrm link\n%s\nexec bwrap "$@"\n' "$project" "$3" >"$project/bwrap"
	fails "$1" 3 "$2" --bwrap "$project/bwrap" --guard "$project/link/rc" -- touch "$top/ran"
	rm -rf "$project/link"
}
exchanged "a folder in the place of a link" "*a link on the way*could not be held*$project/link: *Put the file or folder itself*" "mkdir link"
exchanged "a link is gone" "*a link on the way*could not be held*$project/link: No such file*" true
rm -r "$project/real"
# A bwrap that builds no sandbox at all: the self-test of pid 1 itself refuses.
printf '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n' >"$project/bwrap"
fails "no sandbox at all" 3 "*" --bwrap "$project/bwrap" -- touch "$top/ran"
check "Z140 nothing ran" "$(ls "$top/ran" 2>/dev/null)" ""

# zwatch killed: everything inside is gone.
mark=31$RANDOM
sb -- sleep "$mark" &
for _ in $(seq 1200); do pgrep -f "^sleep $mark" >/dev/null && break; sleep 0.05; done
driver=$(pgrep -f "^$ZW_SB_DIR/driver .* sleep $mark")
check "it runs" "$(pgrep -c -f "^sleep $mark")" 1
kill -9 $driver
wait $! 2>/dev/null
for _ in $(seq 1200); do pgrep -f "^sleep $mark" >/dev/null || break; sleep 0.05; done
check "zwatch killed, the agent is gone" "$(pgrep -f "^sleep $mark")" ""
finish
