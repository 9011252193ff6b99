#!/bin/bash
# SPDX-License-Identifier: MIT
# P3: a hold time that is over denies one try, makes no rule and leaves a card, which still answers for the
# session. Z129: while a question is read its clock stands. P4: what talks inside is never asked about.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
serve_unix "$W/docker.sock"
export DOCKER_HOST=unix://$W/docker.sock
cat >"$project/agent.py" <<'P'
"""One try at docker.sock for each line that is typed."""
import os, socket, sys
print("READY", flush=True)
n = 0
while sys.stdin.readline().strip() != "end":
    n += 1
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(sys.argv[1])
        said = "reached"
    except OSError as e:
        said = os.strerror(e.errno)
    s.close()
    print("TRY", n, said, flush=True)
P
tt_start 100x30 "$zwatch" --hold 10 run -- python3 agent.py "$W/docker.sock"
tt_wait READY

# Z129: read for longer than the hold time; with keys that only show more
tt_keys Enter
tt_wait CRITICAL
tt_prefix
tt_keys a
tt_wait 'clock stopped'
for i in {1..11}; do
	tt_keys d
	sleep 1
done
tt_has 'TRY 1' && bad "Z129 a question that was read was answered by its clock" || echo "ok: Z129 the clock stands while it is read"
tt_wait 'clock stopped'
tt_keys Escape

# P3: and runs on then
tt_wait 'TRY 1 Permission denied' 30
tt_wait '1 missed|missed'
[ ! -e "$HOME/.config/zwatch/rules.json" ] && echo "ok: P3 no rule was made" || bad "P3 a rule was made"
[ ! -e "$W/served" ] && echo "ok: P3 the listener saw nothing" || bad "P3 the listener was reached"
tt_prefix
tt_keys w
tt_wait 'Waiting +0 held +1 missed'
tt_keys Enter
tt_wait 'If you allow it'
tt_answer s 'Type docker'
tt_type docker
tt_keys Enter
tt_wait_gone 'Type docker'
tt_keys q
tt_keys Enter
tt_wait 'TRY 2 reached'
tt_type end
tt_keys Enter
tt_wait '\[exit 0\]'
log=$("$zwatch" log last --format ndjson)
same "P3 one denial, for nobody answered" 1 "$(grep '"kind":"unix"' <<<"$log" | grep -c '"did":"miss"')"
same "P3 and no other" 0 "$(grep '"kind":"unix"' <<<"$log" | grep -c '"did":"deny"')"
[ ! -e "$HOME/.config/zwatch/rules.json" ] && echo "ok: P3 the late answer is the session's" || bad "P3 the late answer was saved"

# P4: 10,000 times
cat >"$project/inside.py" <<'P'
import os, socket, threading
l = socket.socket(socket.AF_UNIX)
l.bind("own.sock")
l.listen(64)
def serve():
    while True:
        l.accept()[0].close()
threading.Thread(target=serve, daemon=True).start()
for i in range(10000):
    s = socket.socket(socket.AF_UNIX)
    s.connect("own.sock")
    s.close()
print("DONE")
P
has "P4 10,000 connections inside" DONE "$("$zwatch" run --ui none -- python3 inside.py 2>&1 </dev/null)"
log=$("$zwatch" log last --format ndjson | grep '"op":"connect"' | grep 'own.sock')
same "P4 no question" 0 "$(grep -cE '"did":"(ask|deny|miss)"' <<<"$log")"
same "P4 all of them counted" 10000 "$(grep -oE '"count":[0-9]+' <<<"$log" | cut -d: -f2 | awk '{ n += $1 } END { print n }')"
[ "$(wc -l <<<"$log")" -le 4 ] && echo "ok: P4 in a row or two" || bad "P4 $(wc -l <<<"$log") rows: $(head -3 <<<"$log")"
exit 0
