#!/bin/bash
# SPDX-License-Identifier: MIT
# What a session may take of the machine, and that nothing of it is left at its end.
# Z083 sizes that are none, Z085 the whole tree ends, Z087 what is left behind, Z089 limits that the host
# cannot set.
. "${ZW_SRC:?}/tests/support/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
inside() { timeout 100 "$zwatch" run --ui none -- "$@" </dev/null 2>&1; }
groups() { "$zwatch" check | grep -q '^ok *limits *memory, processes and CPU of a session, by control group'; }
groups && way=groups || way=rlimits
echo "-- by $way, as $(id -un)"

# -- Z083 ---------------------------------------------------------------------------------------------
for value in '"17179869184G"' '"18446744073709551616"' '-1' '"10GBx"' '""' '"1 M"' '1.5' 'true'; do
	config <<<"{ \"resources\": { \"memory\": $value } }"
	inside true >"$W/out"
	status=$?
	[ $status -eq 4 ] && echo "ok: Z083 memory $value is refused" || bad "Z083 memory $value: exit $status"
	grep -q 'resources.memory\|memory' "$W/out" || bad "Z083 memory $value: $(cat "$W/out")"
done
config <<<'{ "resources": { "processes": -1 } }'
inside true >"$W/out"
same "Z083 processes -1 is refused" 4 $?

# -- a fork bomb --------------------------------------------------------------------------------------
cat >"$project/bomb.py" <<'P'
import errno, os, time
n = 0
try:
    while n < 400:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        n += 1
    print("all of them")
except OSError as e:
    print("stopped", errno.errorcode[e.errno], n < 60)
P
config <<<'{ "resources": { "processes": 50 } }'
out=$(inside python3 bomb.py)
log=$("$zwatch" log last --json)
if [ $way = rlimits ] && [ "$(id -u)" -eq 0 ]; then
	has "Z089 root is told that processes are not bounded" 'not bounded, since you are root' "$log"
else
	has "a fork bomb is stopped" 'stopped EAGAIN True' "$out"
fi
if [ $way = groups ]; then
	has "and that is on record" 'as many processes as it may \(50\)' "$log"
else
	has "Z089 what is weaker is said" 'limits without a control group' "$log"
fi

# -- memory -------------------------------------------------------------------------------------------
cat >"$project/eat.py" <<'P'
import sys
try:
    blocks = [bytearray(8 << 20) for i in range(40)]
    print("all of it")
except MemoryError:
    print("no memory")
P
config <<<'{ "resources": { "memory": "128M" } }'
out=$(inside python3 eat.py)
status=$?
log=$("$zwatch" log last --json)
hasnt "320 MB are not to be had" 'all of it' "$out"
if [ $way = groups ]; then
	same "the program is killed" 137 $status
	has "and that is on record" 'used all the memory it may \(128 MB\)' "$log"
	# Two of them: together they are over it.
	out=$(inside sh -c 'python3 -c "b = bytearray(90 << 20); import time; time.sleep(20)" & sleep 2
		python3 -c "b = bytearray(90 << 20); print(\"both\")"; kill $! 2>/dev/null && echo first lives')
	hasnt "all processes count together" 'both.*first lives|first lives.*both' "$(echo $out)"
else
	has "the program is told" 'no memory' "$out"
fi

# -- CPU ----------------------------------------------------------------------------------------------
config <<<'{ "resources": { "cpu": 60 } }'
# A share of the processor cannot be measured on a busy machine; what the kernel was told can. Not too
# small a one: the start of the session has to do with it as well.
root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
told=$(inside sh -c 'cat "$1$(sed -n "s/^0:://p" /proc/self/cgroup)/cpu.max"' sh "$root")
log=$("$zwatch" log last --json)
if [ $way = groups ]; then
	same "a part of a processor, as the kernel was told" "60000 100000" "$told"
else
	has "Z089 CPU: said that it is not limited" 'CPU is not limited' "$log"
fi

# -- Z085, Z087: the end ------------------------------------------------------------------------------
config <<<'{}'
mark=7$RANDOM
cat >"$project/daemons.sh" <<P
(while :; do echo x; sleep 1; done) &
sleep 60$mark &
setsid sleep 61$mark &
nohup sleep 62$mark >/dev/null 2>&1 &
(setsid sh -c 'sleep 63$mark & exit' &)
python3 - <<'Q'
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 64)
        os.execvp("sleep", ["sleep", "64$mark"])
    os._exit(0)
os.wait()
Q
echo started
P
left() { pgrep -f "^sleep 6[0-4]$mark" | wc -l; }
none_left() { [ "$(left)" = 0 ]; }
all_there() { [ "$(left)" = 5 ]; }
# The agent ends by itself.
has "started" started "$(inside sh -c 'sh daemons.sh | head -2 | tail -1 | sed s/x/started/')"
wait_until 2 none_left && echo "ok: Z087 nothing outlives the agent" || bad "Z087 $(left) left: $(pgrep -af "^sleep 6[0-4]$mark")"
# zwatch is told to end, and is killed.
for signal in TERM HUP KILL; do
	timeout 700 "$zwatch" run --ui none -- sh -c 'sh daemons.sh; exec sleep 600' </dev/null >/dev/null 2>&1 &
	wait_until 150 all_there || bad "Z085 SIG$signal: only $(left) of the daemons started"
	pid=$(pgrep -f "^$zwatch run --ui none -- sh -c sh daemons.sh")
	kill -"$signal" $pid
	if wait_until 2 none_left; then echo "ok: Z085 SIG$signal: all of them end within 2 s"; else
		wait_until 20 none_left && bad "Z085 SIG$signal: later than 2 s" || bad "Z085 SIG$signal: $(left) left"
	fi
	wait
done
# Orphans are reaped while the agent lives.
out=$(inside python3 -c '
import os, time
for i in range(300):
    if os.fork() == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.wait()
def is_zombie(p):
    try:
        return open("/proc/%s/stat" % p).read().split()[2] == "Z"
    except OSError:
        return False
for i in range(100):
    zombies = [p for p in os.listdir("/proc") if p.isdigit() and is_zombie(p)]
    if not zombies:
        break
    time.sleep(0.1)
print("zombies", len(zombies))')
same "Z087 no zombies" "zombies 0" "$out"
if [ $way = groups ]; then
	own=$(sed -n 's/^0:://p' /proc/self/cgroup)
	same "no control group is left" "" "$(find "/sys/fs/cgroup${own%/*}" -maxdepth 2 -name 'zwatch-[0-9]*' 2>/dev/null)"
fi
exit 0
