#!/bin/bash
# The way out for a long time, with faults: name servers killed and stopped in turn, origins that stall,
# cut and reset, clients that break off, a resolver that crashes every 30 seconds. No answer is a wrong
# one, and once it is quiet again nothing is left over: memory, descriptors, slots.
# Ten minutes with --long, else a short one. ZW_SOAK_S: seconds of faults.
. "${ZW_SRC:?}/tests/net/session.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
seconds=${ZW_SOAK_S:-10}
[ -z "${ZW_LONG:-}" ] || seconds=${ZW_SOAK_S:-600}
crash_every=$((seconds < 60 ? 4 : 30))
http=$((port + 1)) slots=40
for i in $(seq 20); do
	printf '*.s%d 1 A 127.1.0.%d\n*.s%d 1 TXT "site %d"\n' $i $i $i $i
done >>"$work/zone"
kill $dot_pid
unbound_start one $((port + 2)) ""
unbound_start two $((port + 3)) ""
python3 "$ZW_SRC/tests/support/soak_origin.py" $http &
pids="$pids $!"
answers() { curl -s -o "$W/up" "http://127.1.0.20:$http/ok"; }
wait_until 60 answers || bad "the origin did not start"
config <<C
{
  "network": {
    "dns": { "upstreams": ["tls://127.0.0.1:$((port + 2))#dns.zw.test;ca=$ca", "tls://127.0.0.1:$((port + 3))#dns.zw.test;ca=$ca"] },
    "allowPrivate": ["127.1.0.0/16"],
    "limits": { "newPerSecond": 0, "perProgram": 0, "perHost": 0, "connections": $slots },
    "allowedDomains": ["*.zw.test", "*.zw.test:$http"],
    "deniedDomains": ["*.denied.zw.test"]
  }
}
C
cp "$ZW_SRC/tests/support/soak_client.py" "$project/"
"$zwatch" run --ui none -- python3 soak_client.py "$project" $http $slots </dev/null >"$W/session" 2>&1 &
session=$!
pids="$pids $session"

is_at() { [ "$(cat "$project/at" 2>/dev/null)" = "$1" ]; }
# phase NAME: tells the client, and waits for it to be there
phase() {
	echo "$1" >"$project/phase.new" && mv "$project/phase.new" "$project/phase"
	wait_until 60 is_at "$1" || bad "the client does not come to '$1': $(tail -3 "$W/session")"
}
helper() { pgrep -P $session -f "$1" | head -1; }
# sample FILE: descriptors and kilobytes of every helper that is not started anew
sample() {
	local name pid
	for name in zwatch proxy broker audit; do
		pid=$session
		[ $name = zwatch ] || pid=$(helper "zwatch-$name")
		[ -n "$pid" ] || { bad "no zwatch-$name"; continue; }
		echo "$name $(ls /proc/$pid/fd | wc -l) $(awk '/VmRSS/ {print $2}' /proc/$pid/status)"
	done >"$1"
}

server() { unbound -d -c "$work/$1.conf" >"$work/$1.out" 2>&1 & eval "$1_pid=$!"; pids="$pids $!"; }
# fault N: one of the outside world's
fault() {
	local name=one
	[ $(($1 % 2)) -eq 0 ] || name=two
	eval "pid=\$${name}_pid"
	case $(($1 % 4)) in
	0 | 1) kill -KILL $pid; wait $pid 2>/dev/null; sleep 2; server $name ;;
	2 | 3) kill -STOP $pid; sleep 2; kill -CONT $pid ;;
	esac
}

phase load
sleep $((seconds / 6 + 2))
phase quiet
sleep 3
sample "$W/before"
phase faults
end=$(($(date +%s) + seconds)) n=0 n_crashes=0 next=$(date +%s)
while [ "$(date +%s)" -lt $end ]; do
	if [ "$(date +%s)" -ge $next ]; then
		resolver=$(helper zwatch-resolver)
		[ -n "$resolver" ] && kill -SEGV $resolver && n_crashes=$((n_crashes + 1))
		next=$((next + crash_every))
	fi
	fault $n
	n=$((n + 1))
	sleep 1
done
phase quiet
sleep 3
phase calm
sleep $((seconds / 12 + 3))
phase quiet
sleep 3
sample "$W/after"
phase slots
phase end
wait $session
cat "$project/result"
echo "$n_crashes crashes of the resolver, $n faults of its servers"
paste -d' ' "$W/before" "$W/after" | while read -r name fds kb _ fds2 kb2; do
	echo "$name: $fds descriptors and $kb KB before, $fds2 and $kb2 after"
done
judge() {
	python3 - "$project/result" "$W/before" "$W/after" "$seconds" <<'P'
import json, os, sys
r = json.load(open(sys.argv[1]))
c, bad = r["counts"], list(r["wrong"])
if c.get("faults right", 0) < 5 * int(sys.argv[4]) // 4:
    bad.append("too little came through: %s" % c)
bad += ["%d %s without any fault" % (n, what) for what, n in c.items() if what.startswith(("load failed", "calm failed"))]
before, after = [{l.split()[0]: list(map(int, l.split()[1:])) for l in open(p)} for p in sys.argv[2:4]]
for name in before:
    if after[name][0] > before[name][0]:
        bad.append("%s holds %d descriptors, %d before" % (name, after[name][0], before[name][0]))
    # A sanitizer keeps what was freed.
    if not os.environ.get("ZW_SANITIZED") and after[name][1] > before[name][1] * 1.1 + 6000:
        bad.append("%s has %d KB, %d before" % (name, after[name][1], before[name][1]))
print("\n".join(bad))
P
}
same "nothing wrong, nothing left over" "" "$(judge)"
[ $n_crashes -ge 2 ] || bad "the resolver was not killed"
"$zwatch" db verify >"$W/verify" 2>&1 && echo "ok: the record is whole" || bad "the record: $(cat "$W/verify")"
exit 0
