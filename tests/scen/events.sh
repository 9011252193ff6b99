#!/bin/bash
# --events: what happens, as it happens; a taker that stops reading, or goes, stops nobody.
. "${ZW_SRC:?}/tests/support/lib.sh"

# the program waits for its own event to be in the file: it comes while the session runs
out=$W/events.ndjson
: >"$out"
cat >inside.sh <<END
i=0
try() { python3 -c 'import urllib.request
try: urllib.request.urlopen("http://live.test/", timeout=5)
except Exception: pass'; }
try
python3 -c 'import socket
for i in range(40):
    try: socket.socket(socket.AF_UNIX).connect("/run/storm")
    except OSError: pass'
try
until [ -e "$PWD/seen" ]; do sleep 0.05; done
END
"$zwatch" --events "$out" run -- sh inside.sh </dev/null >/dev/null 2>&1 &
pid=$!
pids="$pids $pid"
wait_until 60 grep -q live.test "$out" || bad "no event while the session runs"
touch seen
wait $pid
same "exit status" 0 $?
python3 - "$out" <<'END' && echo "ok: one object a line, with the members of log --json" || bad "lines"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert rows and all(r["schema"] == 1 and "session" in r and "id" in r for r in rows)
assert any(r.get("host") == "live.test" and r["did"] == "deny" for r in rows)
END
python3 - "$out" <<'END' && echo "ok: of a storm the last line has its count" || bad "storm"
import json, sys
counts = [r["count"] for r in map(json.loads, open(sys.argv[1])) if r.get("target") == "/run/storm"]
assert counts[-1] == 40 and len(counts) <= 3, counts
END
same "the file is its owner's" 600 "$(rm -f "$W/new"; "$zwatch" --events "$W/new" run -- true </dev/null >/dev/null 2>&1; stat -c %a "$W/new")"
"$zwatch" log 1 --format ndjson | sort >"$W/log"
# of a row that changed, the newest line holds
python3 -c 'import json, sys
rows = {json.loads(line)["id"]: line for line in open(sys.argv[1])}
sys.stdout.write("".join(sorted(rows.values())))' "$out" >"$W/newest"
diff "$W/log" "$W/newest" && echo "ok: the log has the same lines" || bad "the log and the events differ"

# a descriptor
"$zwatch" --events fd:7 run -- sh -c 'python3 -c "
import urllib.request
try: urllib.request.urlopen(\"http://seven.test/\", timeout=5)
except Exception: pass"; ls /proc/self/fd' 7>"$W/seven" </dev/null >"$W/inside" 2>/dev/null
has "fd:7" 'seven.test' "$(cat "$W/seven")"
hasnt "which is not the agent's" '^7$' "$(cat "$W/inside")"
"$zwatch" --events fd:9 run -- true </dev/null >/dev/null 2>"$W/err"
same "no such descriptor" 2 $?
"$zwatch" --events /no/such/place run -- true </dev/null >/dev/null 2>"$W/err"
same "no such place" 2 $?
has "is named" 'cannot be written' "$(cat "$W/err")"

# a FIFO that nobody reads, and one whose reader stops after it has opened: the agent ends all the same
mkfifo "$W/none" "$W/stops"
"$zwatch" --events "$W/none" run -- true </dev/null >/dev/null 2>&1
same "nobody reads" 0 $?
none_waits() { ! pgrep -f -- "--events $W/none" >/dev/null; }
wait_until 15 none_waits && echo "ok: and nobody goes on waiting for a reader" || bad "a writer stays for ever"
sleep 600 <"$W/stops" &
pids="$pids $!"
cat >many.py <<'END'
import socket
for i in range(3000):
    s = socket.socket(socket.AF_UNIX)
    try: s.connect("/nowhere/%d-%s" % (i, "x" * 60))
    except OSError: pass
    s.close()
END
"$zwatch" --events "$W/stops" run -- python3 many.py </dev/null >/dev/null 2>&1
same "the reader has stopped" 0 $?
n=$("$zwatch" log last --format ndjson | grep -c nowhere)
[ "$n" -gt 100 ] && echo "ok: the record has them" || bad "the record has $n rows"
: >"$W/gone"
"$zwatch" --events "$W/stops" run -- true </dev/null >/dev/null 2>&1
same "again" 0 $?
exit 0
