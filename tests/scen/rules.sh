#!/bin/bash
# zwatch rules, explain, ask, why, from the command line. Z016, Z018, Z064, Z066, Z068, Z118, Z125, Z130.
. "${ZW_SRC:?}/tests/support/lib.sh"
rules=$HOME/.config/zwatch/rules.json
zw() { "$zwatch" "$@"; }

# --- rules: add, list, show, rm; a bad file stops everything
zw rules list >/dev/null
same "no rule yet" 1 $?
has "a site" 'rule 1 saved' "$(zw rules add allow a.test --by curl --here --until 7d)"
has "a deny" 'rule 2 saved' "$(zw rules add deny '*.ads.test' --note 'use the mirror')"
same "its file is its owner's alone" 600 "$(stat -c %a "$rules")"
has "listed" '^1 +allow +a.test +curl' "$(zw rules)"
has "in JSON" '"target": "a.test"' "$(zw rules --json)"
has "shown with its hash" '^sha256 +[0-9a-f]{64}' "$(zw rules show 1)"
for bad in 'foo.*.test' 'http://a.test' 'a.test/path' '*' 'a.test:1-9' 'a test'; do
	zw rules add allow "$bad" >/dev/null 2>"$W/err"
	same "Z065 '$bad' is no rule" 2 $?
	has "Z065 and it is said" 'zwatch: ' "$(cat "$W/err")"
done
zw rules add allow 'unix:/run/*.sock' >/dev/null 2>&1
same "a pattern of sockets" 2 $?
err=$(zw rules add allow unix:/var/run/docker.sock 2>&1 </dev/null)
same "CRITICAL without a terminal" 4 $?
has "CRITICAL is typed" 'on a terminal' "$err"
hasnt "and not saved" 'docker' "$(cat "$rules")"
EDITOR="sed -i s/a.test/b.test/" zw rules edit >/dev/null
has "edited" 'b.test' "$(zw rules)"
EDITOR="sed -i s/allow/alow/" zw rules edit >/dev/null 2>"$W/err" </dev/null
same "a wrong edit" 4 $?
has "said with its line" 'rules.json:[0-9]+' "$(cat "$W/err")"
has "and the old rules stay" 'b.test' "$(zw rules)"
has "the copy beside it is the one before" 'a.test' "$(cat "$rules.bak")"
cp "$rules" "$W/good"
echo '{ broken' >"$rules"
err=$(zw run -- true 2>&1 </dev/null)
same "Z118 a bad file: nothing starts" 4 $?
has "Z118 with its line" 'rules.json:1' "$err"
cp "$W/good" "$rules"
chmod 666 "$rules"
zw run -- true >/dev/null 2>&1 </dev/null
same "a file that others can write" 4 $?
chmod 600 "$rules"

# --- explain
config <<'C'
{ "network": { "allowedDomains": ["c.test"], "deniedDomains": ["d.test"] } }
C
has "by a rule of the settings" '^allow .*c.test:443' "$(zw explain c.test)"
has "Z066 its ports alone" '^ask .*c.test:22' "$(zw explain c.test:22)"
has "Z068 nothing below it" '^ask .*sub.c.test:443' "$(zw explain sub.c.test)"
has "denied" '^deny ' "$(zw explain d.test)"
zw explain d.test --exit-code >/dev/null
same "exit code deny" 1 $?
zw explain e.test --exit-code >/dev/null
same "exit code ask" 5 $?
has "a saved rule, for its program" '^allow .*b.test' "$(zw explain b.test --as curl)"
has "and why not for another" 'it is for curl, this is python3' "$(zw explain b.test --as python3)"
has "Z064 strict: the saved rule holds" '^allow ' "$(ZWATCH_MODE=strict zw explain b.test --as curl)"
has "Z064 strict: nothing else" '^deny ' "$(ZWATCH_MODE=strict zw explain e.test)"
# Z064: every mode with one allow, one deny and what is not listed; a way out by a proxy, another
# way of DNS, no variables of a proxy change none of it. DNS that is off altogether is no setting.
for more in '' ', "upstreamProxy": "http://127.0.0.1:9"' ', "dns": { "doh": "filter" }' ', "proxyEnv": false'; do
	config <<<"{ \"network\": { \"allowedDomains\": [\"c.test\"], \"deniedDomains\": [\"d.test\"]$more } }"
	for mode in watch guard strict; do
		case $mode in watch) other=allow ;; guard) other=ask ;; strict) other=deny ;; esac
		got=$(for site in c.test d.test e.test; do ZWATCH_MODE=$mode zw explain "$site" 2>&1 | head -1 | cut -d' ' -f1; done)
		same "Z064 $mode$more" "allow deny $other" "$(echo $got)"
		has "Z064 $mode$more: and so it is printed" "\"mode\": *\"$mode\"|^ *mode +$mode|$mode" "$(ZWATCH_MODE=$mode zw --print-policy run -- true 2>&1)"
	done
done
config <<'C'
{ "network": { "allowedDomains": ["c.test"], "deniedDomains": ["d.test"] } }
C
out=$(zw explain unix:/var/run/docker.sock)
has "a socket" 'CRITICAL' "$out"
hasnt "P13 no hint that opens it" 'rules add|allow-unix|--allow' "$out"
hasnt "P13 nor by its class" 'rules add|allow-unix|--allow' "$(zw explain docker.sock)"
classes=$(python3 -c "import json;print(' '.join(c['name'] for c in json.load(open('$ZW_SRC/data/sockets.json'))['classes']))")
[ "$(printf '%s' "$classes" | wc -w)" -gt 20 ] || bad "the classes of the catalogue could not be read: $classes"
for c in $classes; do
	text=$(zw explain "$c")
	case $text in HIGH* | CRITICAL*) ;; *) continue ;; esac
	n_dangerous=$((${n_dangerous:-0} + 1))
	printf '%s %s' "$text" "$(zw explain --json "$c")" | grep -qE 'rules add|allow-unix|--allow' && bad "P13 $c: $text"
done
[ "${n_dangerous:-0}" -gt 10 ] && echo "ok: P13 no class of $n_dangerous offers an allow" || bad "only ${n_dangerous:-0} dangerous classes were looked at"
json() { zw explain --json "$@" | python3 -c "import json,sys;d=json.load(sys.stdin);print(d['schema'],d.get('verdict',d.get('view')),d.get('risk'),len(d.get('steps',[])))"; }
same "explain --json of a site" "1 ask low 4" "$(json e.test)"
same "of one that a rule denies" "1 deny low 2" "$(json d.test)"
same "of a socket" "1 ask CRITICAL 4" "$(json unix:/var/run/docker.sock)"
same "of a path" "1 write None 0" "$(json "path:$project/x")"
same "and nothing for what is no site" "" "$(zw explain --json 'a b' 2>/dev/null)"
has "a path" '^write ' "$(zw explain "path:$project/x")"
has "a hidden path" '^hidden ' "$(zw explain "path:$HOME/.config/zwatch/rules.json")"

# --- inside: rules.json is not there, the control socket cannot be reached, why tells
cp "$zwatch" "$project/zw"
cat >"$project/in.py" <<'P'
import os, socket, subprocess, sys
home, run = sys.argv[1:3]
def tries(f):
    try: f(); print("REACHED", f.__name__)
    except OSError as e: print("no", f.__name__, e.errno)
def read_rules(): open(home + "/.config/zwatch/rules.json").read()
def write_rules(): open(home + "/.config/zwatch/rules.json", "w").write("x")
def control():
    for kind in (socket.SOCK_SEQPACKET, socket.SOCK_STREAM):
        s = socket.socket(socket.AF_UNIX, kind); s.connect(sys.argv[3]); s.send(b"\x09\x05allow")
for f in (read_rules, write_rules, control): tries(f)
p = subprocess.run(["./zw", "why"], capture_output=True, text=True); print(p.stdout, p.stderr, p.returncode)
p = subprocess.run(["./zw", "why", "--json"], capture_output=True, text=True); print(p.stdout)
P
serve_unix "$W/low.sock" "$W/served"
out=$("$zwatch" run -- sh -c 'python3 in.py "$1" "$2" "$2/zwatch/$3.sock"' sh "$HOME" "$XDG_RUNTIME_DIR" "$$" 2>&1 </dev/null)
hasnt "Z018 nothing of zwatch is reached" 'REACHED' "$out"
out=$("$zwatch" run -- sh -c 'curl -sS --unix-socket "$1" http://x/ ; ./zw why; ./zw why --json' sh "$W/low.sock" 2>&1 </dev/null)
has "why: what" 'refused .*low.sock' "$out"
has "why: for how long" 'retry ' "$out"
has "why: JSON" '"by": "no-terminal"' "$out"
"$zwatch" why >/dev/null 2>&1
same "why is for inside" 2 $?

# --- ask: a session without a terminal waits for it
serve_unix "$W/docker.sock" "$W/served2"
export DOCKER_HOST=unix://$W/docker.sock
"$zwatch" run --ui none --on-ask wait -- sh -c 'curl -sS --unix-socket "$1" http://x/ && echo "GOT $?"; curl -sS --unix-socket "$2" http://x/ || echo REFUSED' \
	sh "$W/low.sock" "$W/docker.sock" >"$W/out" 2>&1 </dev/null &
session=$!
pids="$pids $session"
waits() { "$zwatch" ask 2>/dev/null | grep -q "$1"; }
wait_until 20 waits low.sock || bad "low.sock does not wait"
same "the control socket is its owner's alone" 600 "$(stat -c %a "$XDG_RUNTIME_DIR"/zwatch/*.sock)"
control=$(ls "$XDG_RUNTIME_DIR"/zwatch/*.sock)
# Z018: junk does no harm
python3 - "$control" <<'P'
import os, socket, sys
for junk in (b"", b"\0" * 9, os.urandom(4000), b"\0\0\0\x04\x09\x05\0\0", b"\0\0\0\x03\x02\x04\0"):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(sys.argv[1])
    try: s.send(junk); s.recv(10)
    except OSError: pass
P
id=$("$zwatch" ask | sed -n 's/^\([0-9]*:[0-9]*\) .*low.sock.*/\1/p')
has "shown" 'If you allow it' "$("$zwatch" ask show "$id")"
"$zwatch" ask allow "$id" >"$W/first" 2>&1 &
one=$!
"$zwatch" ask deny "$id" >"$W/second" 2>&1
wait $one
same "two at once: one counts, the other is told" 1 "$(cat "$W/first" "$W/second" | grep -cE 'Allowed|Denied')"
wait_until 20 waits docker.sock || bad "docker.sock does not wait"
id=$("$zwatch" ask | sed -n 's/^\([0-9]*:[0-9]*\) .*docker.sock.*/\1/p')
"$zwatch" ask allow "$id" >"$W/err" 2>&1 </dev/null
same "CRITICAL without a terminal" 1 $?
has "is said" 'terminal' "$(cat "$W/err")"
has "denied with a note" 'Denied' "$("$zwatch" ask deny "$id" --note 'use the database on localhost')"
wait $session
has "the denied call ends" 'REFUSED' "$(cat "$W/out")"
[ ! -e "$W/served2" ] && echo "ok: docker.sock was not reached" || bad "docker.sock was reached"
same "the socket is gone with its session" '' "$(ls "$XDG_RUNTIME_DIR"/zwatch 2>/dev/null)"
has "rules test" 'answers [0-9]+ of [0-9]+ questions' "$(zw rules test deny "unix:$W/low.sock")"
has "with a filter, of that alone" 'answers [0-9]+ of 1 questions' "$(zw rules test deny "unix:$W/low.sock" 'kind:question path:*low.sock')"
has "and of nothing" 'nothing is recorded that the filter' "$(zw rules test deny "unix:$W/low.sock" host:none.test)"
same "a filter that is none" 2 "$(zw rules test deny "unix:$W/low.sock" hosts:x >/dev/null 2>&1; echo $?)"
has "and says what was denied" 'BUT matches' "$(zw rules test allow "unix:$W/docker.sock")"
has "retire keeps what is new" 'in use' "$(zw rules retire)"
has "removed" '2 removed' "$(zw rules rm 1 2)"
exit 0
