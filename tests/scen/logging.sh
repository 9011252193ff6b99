#!/bin/bash
# The record through the whole program. Z110 side files, readers beside it; Z113 a damaged store; Z114 every
# decision is in it; Z115 no row twice, bytes exact; Z117 hostile names shown, filtered, sorted, exported.
. "${ZW_SRC:?}/tests/support/lib.sh"
state=$HOME/.local/state/zwatch store=$HOME/.local/state/zwatch/history.db
zw() { "$zwatch" "$@" </dev/null; }
events() { zw log "$@" --json; }
# count WHAT WANTED FILTER...: so many tries, rows added up
count() {
	local what=$1 wanted=$2
	shift 2
	same "$what" "$wanted" "$(events "$@" | python3 -c 'import json,sys; print(sum(e.get("count", 1) for e in json.load(sys.stdin)))' 2>/dev/null || echo 0)"
}

# a service of the host that sends what it is told to: "N\n" -> N bytes
cat >"$W/origin.py" <<'P'
import socket, sys, threading
def serve(c):
    try:
        n = int(c.makefile().readline())
        c.sendall(b"x" * n)
        c.shutdown(socket.SHUT_WR)
        while c.recv(4096): pass
    except (OSError, ValueError): pass
    c.close()
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(50)
print(s.getsockname()[1], flush=True)
while True: threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
P
for f in port port2; do
	python3 "$W/origin.py" >"$W/$f" &
	pids="$pids $!"
	wait_until 30 test -s "$W/$f"
done
port=$(cat "$W/port") refused=$(cat "$W/port2")
cat >"$project/transfers.py" <<'P'
import socket, sys, threading
port, deny = int(sys.argv[1]), int(sys.argv[2])
def one(i, results):
    s = socket.create_connection(("127.0.0.1", port), timeout=60)
    s.sendall(b"%05d\n" % (1000 + i))
    got = b""
    while True:
        b = s.recv(65536)
        if not b: break
        got += b
    s.close(); results.append(len(got))
results = []
for i in range(10): one(i, results)
for i in range(10):
    try: socket.create_connection(("127.0.0.1", deny), timeout=60); results.append("open")
    except OSError: pass
print(results)
P
config <<<"{ \"network\": { \"allowLocalPorts\": [$port] } }"

# Z115: ten that are allowed, of known size, and ten that are refused
out=$(zw run -- python3 transfers.py "$port" "$refused" 2>&1)
same "Z115 all sizes arrive" '[1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009]' "$(printf '%s\n' "$out" | tail -n 1)"
count "Z115 ten allowed" 10 last did:allow "port:$port"
count "Z115 ten refused" 10 last did:deny "port:$refused"
sums=$(events last did:allow "port:$port" | python3 -c 'import json,sys; e = json.load(sys.stdin); print(sum(x["up"] for x in e), sum(x["down"] for x in e))')
same "Z115 bytes exact" "60 10045" "$sums"
same "Z115 and in the sums of the session" "60 10045" "$(zw history --json | python3 -c 'import json,sys; s = json.load(sys.stdin)[0]; print(s["up"], s["down"])')"

# Z114: each way to decide, with who, what, when, by whom
serve_unix "$W/a.sock"
serve_unix "$W/b.sock"
serve_unix "$W/c.sock"
cat >"$project/ask.sh" <<'S'
get() { curl -sS -o /dev/null --max-time 240 --unix-socket "$1" http://x/; }
get "$1/a.sock"; get "$1/b.sock"; get "$1/b.sock"; get "$1/c.sock"
curl -sS -o /dev/null http://refused.test/; curl -sS -o /dev/null --max-time 240 http://asked.test/
get "$2"
S
"$zwatch" --deny refused.test run --ui none --on-ask wait -- bash ask.sh "$W" "$W/none.sock" >"$W/out" 2>&1 </dev/null &
session=$!
pids="$pids $session"
waits() { "$zwatch" ask 2>/dev/null | grep -q "$1"; }
# answer WHAT WORDS...: the question on WHAT
answer() {
	local what=$1 n
	shift
	wait_until 30 waits "$what" || bad "$what is not asked"
	n=$("$zwatch" ask 2>/dev/null | awk -v w="$what" 'index($0, w) { print $1; exit }')
	zw ask "$@" "${n%.}" >/dev/null 2>&1 || bad "no answer to $what ($n)"
}
answer a.sock allow
answer b.sock allow --for session
answer c.sock deny
answer asked.test deny
wait "$session"
for want in 'a.sock allow user once' 'b.sock allow user session' 'c.sock deny user once' 'asked.test deny user once'; do
	set -- $want
	has "Z114 question on $1" "$2 $3 $4" "$(events last kind:question | python3 -c 'import json,sys
for e in json.load(sys.stdin):
    if sys.argv[1] in e["target"]: print(e["did"], e["by"], e.get("scope", "-"))' "$1")"
done
has "Z114 what a rule refused" 'deny rule' "$(events last host:refused.test | python3 -c 'import json,sys; [print(e["did"], e["by"]) for e in json.load(sys.stdin)]')"
count "Z114 two tries after one answer for the session" 2 last 'path:*b.sock' did:allow kind:unix
out=$(events last 'not kind:mode' | python3 -c 'import json,sys
for e in json.load(sys.stdin):
    if e["kind"] in ("net", "unix", "question") and not (e.get("time") and e.get("did") and e.get("process", {}).get("pid") and (e.get("target") or e.get("host"))): print(e)')
same "Z114 each has who, what and when" "" "$out"
same "Z114 the export has what the log has" "$(events last | python3 -c 'import json,sys; print(sorted(e["id"] for e in json.load(sys.stdin)))')" \
	"$(zw export last --format json | python3 -c 'import json,sys; print(sorted(e["id"] for e in json.load(sys.stdin)))')"
same "Z114 and the table as many lines" "$(events last | python3 -c 'import json,sys; print(len(json.load(sys.stdin)))')" "$(zw log last | tail -n +2 | wc -l)"
"$zwatch" --hold 1 run --ui none --on-ask wait -- curl -sS -o /dev/null --unix-socket "$W/a.sock" http://x/ >/dev/null 2>&1 </dev/null
has "Z114 nobody answered in time" 'miss timeout' "$(events last kind:question | python3 -c 'import json,sys; [print(e["did"], e["by"]) for e in json.load(sys.stdin)]')"
zw run -- curl -sS -o /dev/null --unix-socket "$W/a.sock" http://x/ >/dev/null 2>&1
has "Z114 nobody there to answer" 'deny no-terminal' "$(events last kind:unix | python3 -c 'import json,sys; [print(e["did"], e["by"]) for e in json.load(sys.stdin)]')"
zw rules add deny "unix:$W/a.sock" >/dev/null
zw run -- curl -sS -o /dev/null --unix-socket "$W/a.sock" http://x/ >/dev/null 2>&1
has "Z114 a saved rule, with its number" 'deny rule 1$' "$(events last kind:unix | python3 -c 'import json,sys; [print(e["did"], e["by"], e.get("rule")) for e in json.load(sys.stdin)]')"

# Z110: whatever the umask, nobody else reads; readers, copies and a backup while much is written harm nothing
for mask in 022 077 000; do
	(umask $mask && zw run -- bash -c 'for i in $(seq 60); do exec 3<>/dev/tcp/127.0.0.1/9; done 2>/dev/null; true' >/dev/null 2>&1) &
	writer=$!
	while kill -0 "$writer" 2>/dev/null; do
		python3 -c 'import sqlite3,sys
try:
    d = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True, timeout=20); d.execute("SELECT count(*) FROM sessions").fetchall(); d.close()
except sqlite3.Error as e: print("reader:", e)' "$store"
		cat "$store" >/dev/null
		stat -c '%a %n' "$state" "$store"* 2>/dev/null | grep -vE "^(600 $store|700 $state$)" && bad "Z110 mode with umask $mask"
	done
	wait "$writer"
done >"$W/z110" 2>&1
same "Z110 modes, and no reader failed" "" "$(cat "$W/z110")"
same "Z110 integrity" ok "$(python3 -c 'import sqlite3,sys; print(sqlite3.connect(sys.argv[1]).execute("PRAGMA integrity_check").fetchone()[0])' "$store")"
zw db backup "$W/backup.db" >/dev/null
same "Z110 a backup is whole" ok "$(python3 -c 'import sqlite3,sys; print(sqlite3.connect(sys.argv[1]).execute("PRAGMA integrity_check").fetchone()[0])' "$W/backup.db")"
zw db verify >/dev/null
same "Z110 and so is the chain" 0 $?

# Z117: a name that would be a format, SQL, controls, no UTF-8, too long, a line of its own
python3 - "$project" <<'P'
import os, sys
names = [b"%s%n%p", b"'); DROP TABLE sessions;--", b"a\x1b[2Jb", b"bad\xff\xfe", b"=cmd()|x", b"x" * 200]
with open(os.path.join(sys.argv[1], "names.sh"), "wb") as f:
    for n in names:
        f.write(b"cp /bin/true './" + n.replace(b"'", b"'\\''") + b"'; ")
        f.write(b"(exec -a '" + n.replace(b"'", b"'\\''") + b"' curl -sS --unix-socket '/tmp/" + n.replace(b"'", b"'\\''")[:90] + b".sock' http://x/) 2>/dev/null\n")
    f.write(b"curl -sS 'http://%s%n.test/' 2>/dev/null; curl -sS $'http://a\\nb.test/' 2>/dev/null; true\n")
P
python3 "$ZW_SRC/tests/support/serve_unix.py" "/tmp/zw-$$-%s%n.sock" "$W/served" &
pids="$pids $!"
wait_until 30 test -S "/tmp/zw-$$-%s%n.sock"
echo "curl -sS --unix-socket '/tmp/zw-$$-%s%n.sock' http://x/ 2>/dev/null" >>"$project/names.sh"
zw --name $'a\e[2J%s%n' --tag "t1" run -- bash names.sh >/dev/null 2>&1
rm -f "/tmp/zw-$$-%s%n.sock"
[ "$(events last | python3 -c 'import json,sys; print(len(json.load(sys.stdin)))')" -ge 3 ] && echo "ok: Z117 recorded" || bad "Z117 nothing is recorded"
for what in "log last" "history" "show last" "stats" "export last --format csv" "export last --format ndjson" "log last --format rfc5424"; do
	# shellcheck disable=SC2086 # words
	zw $what >"$W/shown" 2>&1
	same "Z117 nothing acts on a terminal: $what" 0 "$(LC_ALL=C grep -c $'[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]' "$W/shown")"
done
zw export --format csv | python3 -c 'import csv,sys
rows = list(csv.reader(sys.stdin)); assert len({len(r) for r in rows}) == 1, {len(r) for r in rows}
for r in rows[1:]:
    for c in r: assert not c[:1] in "=+@" or c == "", c' && echo "ok: Z117 CSV" || bad "Z117 CSV"
zw export --format ndjson | python3 -c 'import json,sys; [json.loads(l) for l in sys.stdin]' && echo "ok: Z117 JSON" || bad "Z117 JSON"
zw log last 'path:*%s%n*' >/dev/null
same "Z117 a filter finds it" 0 $?
zw log last "path:\"'); DROP TABLE sessions;--\"" >/dev/null 2>&1
[ $? -le 1 ] && echo "ok: Z117 a filter that is hostile" || bad "Z117 a hostile filter"
same "Z117 the store is as it was" ok "$(python3 -c 'import sqlite3,sys; print(sqlite3.connect(sys.argv[1]).execute("PRAGMA integrity_check").fetchone()[0])' "$store")"

# Z113: 4 KB of the store are overwritten: said, set aside, a new one begun, and the program's status is its own
n=$(zw history --json | python3 -c 'import json,sys; print(len(json.load(sys.stdin)))')
[ "$n" -ge 5 ] && echo "ok: Z113 there is a store" || bad "Z113 only $n sessions"
dd if=/dev/urandom of="$store" bs=4096 count=1 conv=notrunc 2>/dev/null
out=$("$zwatch" -v run -- sh -c 'exit 7' 2>&1 </dev/null)
same "Z113 the program's own status" 7 $?
has "Z113 it is said" 'damaged' "$out"
ls "$state" | grep -q '^history.db.damaged-' && echo "ok: Z113 set aside" || bad "Z113 the damaged one is not kept"
same "Z113 a new one has it" 1 "$(zw history --json | python3 -c 'import json,sys; print(len(json.load(sys.stdin)))')"
exit 0
