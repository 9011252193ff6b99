#!/bin/bash
# What leaves the record for other programs: CSV, JSON, syslog as rsyslog reads it, OTLP as its schema
# wants it; following live, and going on where one stopped.
# P14 What is on screen can be had as text.
. "${ZW_SRC:?}/tests/support/lib.sh"

config <<<'{ "network": { "deniedDomains": ["denied.example"] } }'
mkdir "$W/=cmd"
"$zwatch" run -- sh -c "curl -s http://denied.example/; curl -s --unix-socket '$W/=cmd/\"a,b\"]\\.sock' http://x/; exit 0" \
	</dev/null >/dev/null 2>&1
"$zwatch" run -- curl -s http://other.example/ </dev/null >/dev/null 2>&1

# CSV: as a reader of RFC 4180 takes it, and no cell that a spreadsheet would run
"$zwatch" export --format csv -o "$W/out.csv"
same "csv: exit status" 0 $?
same "csv: mode" 600 "$(stat -c %a "$W/out.csv")"
out=$(python3 - "$W/out.csv" <<-'P'
	import csv, sys
	raw = open(sys.argv[1], 'rb').read()
	assert raw.count(b'\n') == raw.count(b'\r\n'), 'line ends'
	rows = list(csv.DictReader(open(sys.argv[1], newline=''), strict=True))
	assert all(len(r) == len(rows[0]) and None not in r for r in rows), 'cells'
	assert not any(v[:1] in '=+-@' and v[:1] for r in rows for v in r.values()), 'formula'
	print(len([r for r in rows if r['did'] == 'deny' and r['target'] == 'denied.example']),
	      any('"a,b"]\\\\.sock' in r['target'] for r in rows), {r['session'] for r in rows} == {'1', '2'})
	P
)
same "csv: read back" "1 True True" "$out"
"$zwatch" export -o "$W/out.csv" 2>/dev/null
same "an export writes over nothing" 2 $?
"$zwatch" export host:nowhere.example >/dev/null
same "nothing matched" 1 $?
same "json and ndjson hold the same" \
	"$("$zwatch" export --format json | python3 -c 'import json,sys; [print(json.dumps(e, sort_keys=True)) for e in json.load(sys.stdin)]')" \
	"$("$zwatch" export --format ndjson | python3 -c 'import json,sys; [print(json.dumps(json.loads(l), sort_keys=True)) for l in sys.stdin]')"

# OTLP: every member is one of the protocol's, with the type that its JSON form has
"$zwatch" export --format otlp | python3 -c '
import json, re, sys
def fields(o, **types):
    assert set(o) <= set(types), set(o) - set(types)
    for k, v in o.items():
        types[k](v)
text = lambda v: isinstance(v, str) or sys.exit("text: %r" % v)
def digits(v): assert isinstance(v, str) and re.fullmatch(r"-?[0-9]+", v), v
def value(v):
    assert len(v) == 1, v
    fields(v, stringValue=text, intValue=digits)
def attribute(a):
    assert set(a) == {"key", "value"}
    text(a["key"]); value(a["value"])
def each(f): return lambda l: [f(x) for x in l]
def severity(v): assert isinstance(v, int) and 1 <= v <= 24
def record(r):
    fields(r, timeUnixNano=digits, observedTimeUnixNano=digits, severityNumber=severity, severityText=text,
           body=value, attributes=each(attribute))
scope = lambda s: fields(s, name=text, version=text)
resource = lambda r: fields(r, attributes=each(attribute))
n = 0
for line in sys.stdin:
    n += 1
    fields(json.loads(line), resourceLogs=each(lambda r: fields(r, resource=resource,
        scopeLogs=each(lambda s: fields(s, scope=scope, logRecords=each(record))))))
assert n >= 3, n
'
same "otlp: as the schema says" 0 $?

# syslog: rsyslog takes the lines from a socket and finds the fields again
PATH=$PATH:/usr/sbin
if command -v rsyslogd >/dev/null; then
	cat >"$W/rsyslog.conf" <<-C
		global(workDirectory="$W")
		module(load="imptcp")
		module(load="mmpstrucdata")
		input(type="imptcp" path="$W/syslog.sock")
		action(type="mmpstrucdata")
		template(name="t" type="string" string="%app-name% %procid% %msgid% %syslogseverity-text% %\$!rfc5424-sd!zwatch@32473!target% %\$!rfc5424-sd!zwatch@32473!did%\n")
		action(type="omfile" file="$W/syslog.out" template="t")
	C
	rsyslogd -n -f "$W/rsyslog.conf" -i "$W/rsyslog.pid" 2>"$W/rsyslog.err" &
	pids="$pids $!"
	wait_until 10 test -S "$W/syslog.sock" || bad "rsyslog: $(cat "$W/rsyslog.err")"
	"$zwatch" log 1 --format rfc5424 | python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(sys.stdin.buffer.read())' "$W/syslog.sock"
	wait_until 10 grep -q denied.example "$W/syslog.out" || bad "rsyslog got nothing"
	has "rsyslog: fields and severity" '^zwatch 1 net warning denied.example deny' "$(cat "$W/syslog.out")"
	has "rsyslog: what must be escaped comes back" '"a,b"\]\\\\\.sock' "$(cat "$W/syslog.out")"
else
	[ -z "${ZW_MUST_WORK:-}" ] || bad "rsyslog is not installed"
	echo "SKIP: rsyslog is not installed"
fi

# Following: what comes is told once, a connection again when it closes; it ends with its taker
"$zwatch" log -f --format ndjson did:deny >"$W/live" &
live=$!
sleep 0.5
"$zwatch" run -- curl -s http://denied.example/ </dev/null >/dev/null 2>&1
wait_until 10 grep -q '"session":3' "$W/live" || bad "nothing followed"
same "only what is new" 0 "$(grep -c '"session":1' "$W/live")"
same "each once" 1 "$(grep -c '"session":3' "$W/live")"
kill $live
"$zwatch" log -f 3 >/dev/null
same "a session that is over ends the following of it" 0 $?

# Going on where one stopped: over runs, nothing twice, nothing left out
"$zwatch" log --since-last siem --format ndjson >"$W/part1"
"$zwatch" run -- curl -s http://third.example/ </dev/null >/dev/null 2>&1
"$zwatch" log --since-last siem --format ndjson >"$W/part2"
"$zwatch" log --since-last siem --format ndjson >"$W/part3"
same "nothing twice" 0 "$(grep -c '"session":[123],' "$W/part2")"
has "what came" third.example "$(cat "$W/part2")"
same "and no more" 0 "$(wc -l <"$W/part3")"
same "together they are all" "$("$zwatch" export --format ndjson | wc -l)" "$(cat "$W"/part? | wc -l)"
echo damaged >"$HOME/.local/state/zwatch/cursors/siem"
err=$("$zwatch" log --since-last siem 2>&1)
same "a damaged place is an error" 6 $?
has "which is named" "cursors/siem is damaged" "$err"
"$zwatch" log --since-last ../x 2>/dev/null
same "a name is no path" 2 $?

# sums
has "stats" 'denied.example:80 +2 +2' "$("$zwatch" stats)"
same "stats as JSON" 2 "$("$zwatch" stats host:denied.example --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["sites"][0]["deny"])')"

# filters on the command line
err=$("$zwatch" log hosts:x 2>&1)
same "bad filter" 2 $?
has "bad filter: named" "did you mean host" "$err"
err=$("$zwatch" log $(seq -s" " -f "word%g" 1 300) 2>&1)
same "a filter that is too long is not cut" 2 $?
has "too long: named" "longer than" "$err"
has "history by filter" ' sh ' "$("$zwatch" history host:denied.example)"
same "history by filter: only those" 2 "$("$zwatch" history host:denied.example | sed 1d | wc -l)"
# the recorded screen, as any player takes it
"$zwatch" export last --format cast >/dev/null 2>"$W/err"
same "no screen was recorded" 1 $?
has "which is said" 'was not recorded' "$(cat "$W/err")"
last=$("$zwatch" show last --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["session"])')
mkdir -p "$HOME/.local/state/zwatch/screens"
printf '{"version": 2, "width": 80, "height": 24}\n[0.5, "o", "hello"]\n' >"$HOME/.local/state/zwatch/screens/$last.cast"
"$zwatch" export last --format cast -o "$W/screen.cast"
same "the cast: exit status" 0 $?
same "and it is the same" "$(md5sum <"$HOME/.local/state/zwatch/screens/$last.cast")" "$(md5sum <"$W/screen.cast")"
exit 0
