#!/bin/bash
# Running sessions from another terminal: ps, mode, stop; two users of zwatch ask at once; the typed word.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"

out=$("$zwatch" ps 2>&1)
same "no session: ps says so" "zwatch: no session runs" "$out"
"$zwatch" ps >/dev/null 2>&1
same "and exits with 1" 1 $?

"$zwatch" --on-ask wait run -- sh -c 'touch up1; sleep 300' 2>/dev/null &
pids="$pids $!"
first=$!
mkdir "$W/two"
(cd "$W/two" && exec "$zwatch" --on-ask wait -m watch run -- sh -c 'touch up2; sleep 300' 2>/dev/null) &
pids="$pids $!"
wait_until 60 test -e "$project/up1" || bad "the first session did not start"
wait_until 60 test -e "$W/two/up2" || bad "the second session did not start"
both() { [ "$("$zwatch" ps | grep -c ' sh ')" = 2 ] && ! "$zwatch" ps | grep -q '^ *0 '; }
wait_until 60 both || bad "ps shows not both: $("$zwatch" ps 2>&1)"
list=$("$zwatch" ps)
has "ps: the first" ' sh .* guard .*project' "$list"
has "ps: the second" ' sh .* watch .*two' "$list"
one=$(printf '%s\n' "$list" | awk '/ guard /{print $1}')
two=$(printf '%s\n' "$list" | awk '/ watch /{print $1}')
sock=$(find "$XDG_RUNTIME_DIR/zwatch" -name "$first.sock")
same "the socket is for its user alone" "600 700" "$(stat -c %a "$sock") $(stat -c %a "$XDG_RUNTIME_DIR/zwatch")"

has "mode wants to know which" '2 sessions run: say which' "$("$zwatch" mode 2>&1)"
same "mode shows" guard "$("$zwatch" mode "$one")"
has "mode sets" 'The mode is strict' "$("$zwatch" mode strict "$one")"
same "and it is set" strict "$("$zwatch" mode "$one")"
same "of that session only" watch "$("$zwatch" mode "$two")"
has "an unknown mode" 'no session wild' "$("$zwatch" mode wild 2>&1)"
has "stop wants a number" 'which session' "$("$zwatch" stop 2>&1)"
has "stop of none" 'no session 999 runs' "$("$zwatch" stop 999 2>&1)"
has "stop" 'told to end' "$("$zwatch" stop "$two")"
gone() { ! "$zwatch" ps 2>/dev/null | grep -q two; }
wait_until 60 gone || bad "the second session goes on"
same "mode of the only one needs no number" strict "$("$zwatch" mode)"
"$zwatch" stop "$one" >/dev/null
wait_until 60 test ! -e "$sock" || bad "the first session goes on"
log=$("$zwatch" log "$one" --json)
has "recorded: the mode" 'guard -> strict' "$log"
has "recorded: the end" 'stopped from another terminal' "$log"

# Two users of zwatch ask, and the word.
serve_unix "$W/docker.sock"
export DOCKER_HOST=unix://$W/docker.sock
cat >ask.py <<'P'
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(sys.argv[1])
    said = "connected"
except OSError as e:
    said = os.strerror(e.errno)
open(sys.argv[2], "w").write(said)
P
"$zwatch" --on-ask wait run -- sh -c "python3 ask.py $W/docker.sock one & python3 ask.py $W/docker.sock two; wait; sleep 300" 2>/dev/null &
pids="$pids $!"
held() { [ "$("$zwatch" ask list 2>/dev/null | grep -c 'CRITICAL.*held')" = 1 ]; }
wait_until 60 held || bad "no question is listed: $("$zwatch" ask list 2>&1)"
question=$("$zwatch" ask list | awk '{print $1; exit}')
has "allow without a terminal" 'on a terminal only' "$("$zwatch" ask allow "$question" 2>&1 </dev/null)"
tt_start 100x30 "$zwatch" ask allow "$question"
tt_wait 'Type  docker  and Enter' 60
tt_type dockr
tt_keys Enter
tt_wait 'Not the same as docker. Nothing was allowed' 60
tt_start 100x30 "$zwatch" ask allow "$question"
tt_wait 'Type  docker  and Enter' 60
has "the other user denies it meanwhile" 'Denied once: docker.sock' "$("$zwatch" ask deny "$question")"
tt_type docker
tt_keys Enter
tt_wait 'answered meanwhile: denied|no such question any more' 60
wait_until 60 test -s one && wait_until 60 test -s two || bad "the programs still wait"
hasnt "nobody was connected" connected "$(cat one two)"
hasnt "nothing reached the listener" . "$(cat "$W/served" 2>/dev/null)"
exit 0
