#!/bin/bash
# The agent's full screen under strain: Z124 a question over vim, less and a mouse program, Z106 regions and
# resizes, Z104 a flood with keys, Z102 the user's scrollback before and after.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
serve_unix "$W/docker.sock"
export DOCKER_HOST=unix://$W/docker.sock

# asks for docker.sock when a file appears, from outside of the screen's program
cat >"$project/asker.sh" <<'P'
while :; do
	while [ ! -e ask ]; do sleep 0.1; done
	rm ask
	curl -sS --max-time 60 --unix-socket "$1" http://x/_ping >answer 2>&1
	echo "exit $?" >>answer
done
P
answered() { grep -q '^exit' "$project/answer" 2>/dev/null; }

# question SHOWN: raised, read in two sizes, denied by the key; then the program's screen is what it was
question() {
	local before
	rm -f "$project/answer"
	tt_wait "$1"
	before=$(tt_screen | grep -E "$1")
	touch "$project/ask"
	tt_wait 'CRITICAL'
	tt_prefix
	tt_keys a
	tt_wait 'If you allow it'
	tt_resize 80 24
	tt_wait 'docker.sock'
	tt_resize 100 30
	tt_wait 'If you allow it'
	tt_keys n
	wait_until 15 answered || bad "no answer came"
	has "it was denied" 'exit [1-9]' "$(cat "$project/answer")"
	tt_wait_gone 'If you allow it'
	tt_wait "$1"
	same "Z124 the screen is what it was" "$before" "$(tt_screen | grep -E "$1")"
}

printf 'text line %s\n' $(seq 1 200) >"$project/long.txt"
cat >"$project/mouse.py" <<'P'
import os, termios, tty
was = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b"\x1b[?1049h\x1b[?1003h\x1b[?1006h\x1b[2J\x1b[3;5Hmouse program here\x1b[4;8r")
while True:
    b = os.read(0, 100)
    if b"q" in b: break
os.write(1, b"\x1b[r\x1b[?1003l\x1b[?1006l\x1b[?1049l")
termios.tcsetattr(0, termios.TCSADRAIN, was)
P
editor=$(command -v vim || command -v vi)
tt_start 100x30 "$zwatch" --env PS1="'ready> '" run -- bash --norc --noprofile
tt_wait 'ready>'
tt_type "sh asker.sh $W/docker.sock & clear; $editor -u NONE long.txt"
tt_keys Enter
question 'text line 7$'
tt_type ':q!'
tt_keys Enter
tt_wait 'ready>'
tt_type 'clear; less long.txt'
tt_keys Enter
question 'text line 9$'
tt_keys q
tt_wait 'ready>'
tt_type 'clear; python3 mouse.py'
tt_keys Enter
question 'mouse program here'
tt_keys q
tt_wait 'ready>'

# Z106: a region at the top gives its lines to the scrollback, one below does not, a resize within loses nothing
cat >"$project/region.py" <<'P'
import os, sys
def put(s): os.write(1, s.encode())
put("\x1b[2J\x1b[H\x1b[1;10r\x1b[10;1H" + "".join(f"kept {i}\r\n" for i in range(1, 61)))
put("\x1b[3;8r\x1b[8;1H" + "".join(f"gone {i}\r\n" for i in range(1, 31)) + "\x1b[r\x1b[12;1HREGION")
sys.stdin.readline()
put("\x1b[?1049h\x1b[2J\x1b[2;5r\x1b[5;1H" + "".join(f"alt {i}\r\n" for i in range(1, 31)) + "ALTERNATE")
sys.stdin.readline()
put("\x1b[r\x1b[?1049l")
P
tt_type 'clear; python3 region.py'
tt_keys Enter
tt_wait REGION
tt_prefix
tt_keys '['
tt_type '/kept 1'
tt_keys Enter
tt_wait '^kept 1'
tt_keys g
tt_type '/gone 10'
tt_keys Enter
tt_wait 'Not found: gone 10'
tt_keys q
tt_wait_gone scrolled
tt_keys Enter
tt_wait ALTERNATE
tt_resize 60 12
tt_wait 'ALTERNATE'
tt_resize 100 30
tt_wait 'ALTERNATE'
tt_hasnt 'kept' && echo "ok: Z106 nothing of the main screen on the other" || bad "Z106 the screens are mixed"
tt_keys Enter
tt_wait 'ready>'
tt_prefix
tt_keys '['
tt_type '/kept 30'
tt_keys Enter
tt_wait '^kept 30$'
tt_keys q

# Z104: while a flood runs, a key gets through, the frame stays, and it can be stopped
tt_type 'clear; yes flooding'
tt_keys Enter
tt_wait '^flooding$'
tt_prefix
tt_wait 'answer'
tt_has 'Connections' && echo "ok: Z104 the frame stays" || bad "Z104 the frame is gone"
# One key after the other: an Esc with a key right behind it is Alt and that key.
tt_keys Escape
tt_wait_gone 'answer'
tt_keys C-c
tt_wait 'ready>'
tt_type 'clear; echo qui''et'
tt_keys Enter
tt_wait '^quiet'
tt_type 'exit'
tt_keys Enter
tt_wait '\[exit 0\]'

# Z102: what stood in the terminal before stands there after, with nothing typed into it
tt_end
tmux -L "$tmux_name" -f /dev/null new-session -d -x 100 -y 30 -s t "env PS1='outer> ' bash --norc --noprofile"
tmux -L "$tmux_name" set -g status off
tt_wait 'outer>'
tt_type "seq -f 'before %g' 500"
tt_keys Enter
tt_wait '^before 500'
tt_all() { tmux -L "$tmux_name" capture-pane -p -S - -t t; }
ended() { [ "$(tt_all | grep -c 'exit 0\.  allowed')" -ge "$1" ]; }
for i in 1 2 3; do
	tt_type "$zwatch run -- sh -c 'printf \"\\033[?1049h\\033[2Jinside $i\\n\"; sleep 0.3'"
	tt_keys Enter
	wait_until 15 ended "$i" || bad "session $i did not end"
done
tt_type "$zwatch --ui none run -- echo plain"
tt_keys Enter
tt_wait '^plain'
all=$(tt_all)
same "Z102 the scrollback is whole" 500 "$(grep -c '^before [0-9]*$' <<<"$all")"
hasnt "Z102 nothing stray" '\[[0-9;?<>]+[cRuy]|rgb:|^inside' "$all"
exit 0
