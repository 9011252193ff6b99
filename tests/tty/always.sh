#!/bin/bash
# "Allow always": the sentence, the rule it saves, what the rule covers and what it does not, the way
# back; zwatch ask and zwatch why beside it. Z016, Z018, Z068, Z125.
# P7 What is kept is said in full before.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
serve_unix "$W/low.sock" "$W/served"
rules=$HOME/.config/zwatch/rules.json
cp "$zwatch" "$project/zw" # the build may lie where the sandbox does not see it

cat >"$project/agent.py" <<'P'
"""Runs `ask PATH [PROGRAM]` lines from its terminal: connects, or lets PROGRAM do it."""
import os, socket, subprocess, sys, threading
code = "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ntry:\n s.connect(sys.argv[1]); s.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n'); print('GOT', s.recv(15).decode())\nexcept OSError as e:\n print('NO', e.strerror)\n"
open("one.py", "w").write(code)
open("two.py", "w").write(code + "#\n")
n = 0
print("READY", flush=True)
for line in sys.stdin:
    n += 1
    p = subprocess.run(line.split(), capture_output=True, text=True)
    print("ANSWER%d %s%s" % (n, p.stdout.strip(), p.stderr.strip()), flush=True)
P
start() {
	tt_start "${1:-100x30}" "$zwatch" run -- python3 agent.py
	tt_wait READY
}
# run COMMAND: typed to the agent
run() { tt_type "$1"; tt_keys Enter; }
answer() { # answer KEY...: opens the question and waits until its keys are awake
	tt_wait "$1"
	shift
	tt_prefix
	tt_keys a
	tt_wait 'If you allow it'
	tt_awake
	tt_keys "$@"
}

start
run "python3 one.py $W/low.sock"
answer 'wants' A
tt_wait 'will NOT ask when'
tt_wait 'one.py'
tt_wait 'sha256 [0-9a-f]{4}'
tt_awake
tt_keys Enter
tt_wait 'ANSWER1 GOT HTTP/1.1 200 OK'
tt_wait 'Allowed always'
has "the rule is in rules.json" '"target": "unix:[^"]*/low.sock"' "$(cat "$rules")"
has "with its program's hash" '"sha256": "[0-9a-f]{64}"' "$(cat "$rules")"
has "with its script" '"script": "[^"]*/one.py", "script-sha256": "[0-9a-f]{64}"' "$(cat "$rules")"
has "for this project" "\"project\": \"$project\"" "$(cat "$rules")"
same "for nobody else to read" 600 "$(stat -c %a "$rules")"

# the same program and script: no question
run "python3 one.py $W/low.sock"
tt_wait 'ANSWER2 GOT'
# another script of the same interpreter: asked, and told why
run "python3 two.py $W/low.sock"
tt_wait 'ASK'
tt_prefix
tt_keys a
tt_wait 'Rule 1 did not apply: it is for one.py, this is two.py'
tt_keys n
tt_wait 'ANSWER3 NO Permission denied'
# the script changes: it is not what the user agreed to
echo '#more' >>"$project/one.py"
run "python3 one.py $W/low.sock"
tt_wait 'ASK'
tt_prefix
tt_keys a
tt_wait 'one.py is not the same file as when you agreed'
tt_keys n
tt_wait 'ANSWER4 NO'
has "rules of this session" '^1 +allow' "$("$zwatch" rules list --session 1)"
same "and of another" '' "$("$zwatch" rules list --session 99)"
# zwatch why, inside
run "./zw why"
tt_wait 'ANSWER5 refused'
tt_wait 'by the user'
# undo takes the rule away
tt_prefix
tt_keys u
tt_wait 'Taken back'
same "undone" '' "$(grep -o '"do"' "$rules")"
tt_keys C-d
tt_wait '\[exit 0\]'
exit 0
