#!/bin/bash
# P1 P2 Typing is never an answer; denying and allowing docker.sock; paste and wrong word; size changes.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
serve_unix "$W/docker.sock"
export DOCKER_HOST=unix://$W/docker.sock

cat >"$project/agent.py" <<'P'
"""Asks for docker.sock in one thread and notes every byte it is sent in another."""
import os, socket, sys, termios, threading, tty
tty.setraw(0)
def ask():
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(sys.argv[1])
        s.sendall(b"GET / HTTP/1.0\r\n\r\n")
        said = s.recv(4096).split(b"\r\n")[0].decode()
    except OSError as e:
        said = os.strerror(e.errno)
    sys.stdout.write("ANSWER %s\r\n" % said)
    sys.stdout.flush()
def again():
    threading.Thread(target=ask, daemon=True).start()
sys.stdout.write("READY\r\n"); sys.stdout.flush()
again()
f = open("keys", "wb", buffering=0)
while True:
    b = os.read(0, 65536)
    f.write(b)
    if b.endswith(b"\x04"): break
    if b.endswith(b"\x12"): again()
P
tt_start 100x30 "$zwatch" run -- python3 agent.py "$W/docker.sock"
tt_wait READY
tt_wait 'CRITICAL'

# 1,000 random keys, typed and pasted, among them y, Enter, A, docker: all reach the agent, none answers
python3 - "$W" <<'P'
import random, sys
random.seed(7)
keys = "".join(random.choice("yYsSAnNt \rdocker1234567890abcdefgh") for _ in range(500))
open(sys.argv[1] + "/typed", "w").write(keys)
open(sys.argv[1] + "/pasted", "w").write("".join(random.choice("yYsSAnN docker1") for _ in range(500)))
P
tt_type "$(tr '\r' ' ' <"$W/typed")"
tt_paste "$(cat "$W/pasted")"
typed() { [ "$(stat -c %s "$project/keys" 2>/dev/null || echo 0)" -ge 1000 ]; }
wait_until 15 typed || bad "not all keys reached the agent: $(stat -c %s "$project/keys" 2>/dev/null)"
got=$(sed -e 's/\x1b\[20[01]~//g' "$project/keys")
same "all 1,000 keys reached the agent" "$(tr '\r' ' ' <"$W/typed")$(cat "$W/pasted")" "$got"
tt_hasnt 'ANSWER' && echo "ok: no key answered" || bad "a key answered"
[ ! -e "$W/served" ] && echo "ok: the listener saw nothing" || bad "the listener was reached"

# deny
tt_prefix
tt_keys a
tt_wait 'If you allow it'
tt_keys n
tt_wait 'ANSWER Permission denied'

# allow: y at once does nothing; a paste of the word does nothing; the wrong word does nothing
tt_keys C-r
tt_wait 'CRITICAL'
tt_prefix
tt_keys a
tt_keys y
tt_wait 'If you allow it'
tt_has 'ANSWER HTTP' && bad "y within the arming time allowed"
tt_answer y 'Type docker'
tt_paste docker
tt_keys Enter
tt_has 'ANSWER HTTP' && bad "a paste allowed"
tt_has 'ANSWER HTTP' && bad "Enter after a paste allowed"
tt_wait_gone 'Type docker'
tt_answer y 'Type docker'
tt_type dockr
tt_keys Enter
tt_wait 'Nothing was allowed'
tt_answer y 'Type docker'
tt_type docker
tt_keys Enter
tt_wait 'ANSWER HTTP/1.1 200 OK'
same "the listener was reached once" 1 "$(wc -l <"$W/served")"
tt_keys C-d
tt_wait '\[exit 0\]'
log=$("$zwatch" log last --json | tr -d '\n')
has "the grant is on record" '"did": ?"allow"' "$log"
has "with its bytes" '"down": ?[1-9]' "$log"
exit 0
