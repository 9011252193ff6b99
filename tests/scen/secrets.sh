#!/bin/bash
# Credentials and tokens are nowhere: not in the store, its log, zwatch's own log, a screen, a list or
# an export; the settings name more of them.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "$ZW_SRC/tests/support/tmux.sh"

state=$HOME/.local/state/zwatch
config <<<'{ "redact": { "flags": ["--licence"], "patterns": ["ACME-[0-9]+"] } }'
mkdir -p "$W/host"
serve_unix "$W/host/s.sock"

# Each of these is a secret by its form, by the name before it, or by a rule of the settings.
secrets="hunter2one hunter2two hunter2three hunter2four hunter2five hunter2six hunter2seven ACME-4711
	ghp_0123456789abcdefghijABCDEFGHIJ012345 AKIAIOSFODNN7EXAMPLE Zx9kQ2mWv7Lr4TpYc8Nd1Hs6"
cat >client.py <<'END'
import socket, sys, time, urllib.request
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(sys.argv[1])
except OSError:
    pass
try:
    urllib.request.urlopen("http://user:hunter2six@denied.test/path?token=hunter2seven", timeout=5)
except Exception:
    pass
open("done", "w").close()
time.sleep(600)
END
cat >run.sh <<END
exec python3 client.py $W/host/s.sock --password hunter2one --token=hunter2two https://u:hunter2three@h.test/x?key=hunter2four \
	-H 'Authorization: Bearer hunter2five' --licence hunter2six ACME-4711 ghp_0123456789abcdefghijABCDEFGHIJ012345 \
	AKIAIOSFODNN7EXAMPLE Zx9kQ2mWv7Lr4TpYc8Nd1Hs6
END

# nothing WHAT TEXT-FILE: none of the secrets stands in it
nothing() {
	local s n=0
	for s in $secrets; do
		grep -aqF -- "$s" "$2" && { bad "$1 holds $s"; n=1; }
	done
	[ -s "$2" ] || bad "$1 is empty"
	[ $n -gt 0 ] || echo "ok: no secret in $1"
}
screen() { tt_screen >"$W/screen"; nothing "$1" "$W/screen"; }

tt_start 140x40 "$zwatch -v --name ghp_0123456789abcdefghijABCDEFGHIJ012345 --tag t1 --note ACME-4711 run -- sh run.sh"
tt_wait 'waiting: Ctrl|1 waiting' 60
tt_prefix
tt_keys a
tt_wait 's\.sock' 60
screen "the question"
tt_keys d
tt_wait 'Class +unknown' 60
screen "its details"
tt_awake # a key that comes before the new picture is on screen is for nobody
tt_keys n
wait_until 60 test -e done || bad "the program did not go on"
cat "$state"/history.db* >"$W/bytes"
has "the record has the line" "client.py" "$(strings "$W/bytes" | grep -a client.py)"
nothing "the store and its log while it is written" "$W/bytes"
tt_end
wait_until 60 sh -c "'$zwatch' show last --json | grep -q '\"ended\"'" || bad "the session did not end"

cat "$state"/history.db* >"$W/bytes"
nothing "the store" "$W/bytes"
cat "$state"/*.log >"$W/bytes" 2>/dev/null
[ -s "$W/bytes" ] && nothing "zwatch's own log" "$W/bytes"
for format in table json ndjson csv rfc5424 otlp; do
	"$zwatch" export --format $format -o - >"$W/out"
	nothing "export as $format" "$W/out"
done
{ "$zwatch" show last; "$zwatch" show last --json; "$zwatch" history; "$zwatch" stats; "$zwatch" log last; } >"$W/out"
nothing "what show, history, stats and log print" "$W/out"
has "tag in the session" '"tags":"t1"' "$("$zwatch" show last --json | tr -d ' ')"
has "tag as a filter" . "$("$zwatch" history tag:t1)"
"$zwatch" history tag:t2 >/dev/null
same "another tag" 1 $?

no=$("$zwatch" log last kind:unix --json | python3 -c 'import json,sys; print([e["id"] for e in json.load(sys.stdin) if "process" in e][0])')
"$zwatch" show "last.$no" >"$W/out"
has "one event names the program" client.py "$(cat "$W/out")"
nothing "one event" "$W/out"
tt_start 140x40 "$zwatch history"
tt_wait 'Sessions' 60
tt_keys Enter
tt_wait 's\.sock' 60
screen "the history screen"
tt_keys Enter
tt_wait 'Command' 60
screen "one event on screen"
tt_end

config <<<'{ "redact": { "patterns": ["("] } }'
err=$("$zwatch" run -- true 2>&1)
same "a pattern that is none: exit status" 4 $?
has "is named" 'regular expression' "$err"
config <<<'{ "redact": { "patterns": ["a*"] } }'
err=$("$zwatch" run -- true 2>&1)
has "one that matches nothing at all" 'matches where nothing is' "$err"
config <<<'{ "redact": { "flags": ["licence"] } }'
err=$("$zwatch" run -- true 2>&1)
has "a flag that is none" 'begins with -' "$err"
exit 0
