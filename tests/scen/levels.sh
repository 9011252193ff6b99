#!/bin/bash
# How much holds the agent: told on screen and in the record, never less than promised. Z141, Z142.
# Not below /tmp, which is another one inside.
if [ "$(id -u)" = 0 ]; then TMPDIR=/var/lib; else TMPDIR=$HOME; fi
. "${ZW_SRC:?}/tests/support/lib.sh"
: "${ZW_SB_DRIVER:?}"
lacking() { # WHAT COMMAND...: on a machine that lacks it
	local what=$1
	shift
	timeout 60 "$ZW_SB_DRIVER" --without "$what" --exec -- "$@" </dev/null 2>&1
}
abi=$(python3 -c 'import ctypes; print(ctypes.CDLL(None).syscall(444, None, 0, 1))')
[ "$abi" -ge 2 ] || skip "this kernel has no Landlock"
level=3
[ "$abi" -lt 9 ] || level=4

same "starts" "on" "$("$zwatch" run -- echo on 2>&1 </dev/null)"
has "record: the level" "^  level    $level\$" "$("$zwatch" show)"
has "record: as JSON" "\"level\":$level," "$("$zwatch" show --json | tr -d ' ')"

# Without Landlock: weaker, said so, and started all the same.
cat >"$W/in.sh" <<'X'
echo on
python3 - <<'P'
import os, socket
s = socket.socket(socket.AF_UNIX)
s.bind("own.sock"); s.listen()
c = socket.socket(socket.AF_UNIX); c.connect("own.sock"); print("own reached")
try:
    open("/proc/1/mem", "r+b"); print("PID 1 OPEN")
except OSError:
    print("pid 1 closed")
P
X
out=$(lacking landlock "$zwatch" run --verbose -- sh "$W/in.sh")
has "level 2: starts" "^on\$" "$out"
has "level 2: own sockets" "^own reached\$" "$out"
has "level 2: pid 1 is closed" "^pid 1 closed\$" "$out"
has "level 2: says that it is weaker" "weaker \(level 2\): .*no Landlock" "$out"
has "level 2: record" "^  level    2, weaker" "$("$zwatch" show)"
has "level 2: check" "level 2" "$(lacking landlock "$zwatch" check)"

# Below it nothing starts: exit 3, the cause, the remedy.
refused() { # NAME WHAT PATTERN
	out=$(lacking "$2" "$zwatch" run -- touch "$project/ran")
	same "$1: exit status" 3 $?
	has "$1: what, and what to do" "$3" "$out"
	has "$1: a fix" "^ +fix: ." "$out"
	[ -e "$project/ran" ] && bad "$1: the program ran"
	lacking "$2" "$zwatch" check >/dev/null
	same "$1: check fails" 3 $?
}
refused "no user namespaces" userns "no user namespace could be made"
refused "no notifications" notify "filter could not be switched on: Invalid argument"
refused "Z142 another supervisor listens" free-listener "filter could not be switched on: Device or resource busy"
refused "no look into processes" getfd "does not hold what it must: .*|zwatch-broker did not get ready"
exit 0
