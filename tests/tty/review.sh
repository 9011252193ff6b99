#!/bin/bash
# SPDX-License-Identifier: MIT
# The end of a session: what was asked and what was new, and what of it is kept. Nothing by default, by Enter
# alone, or by what was typed for the agent; switched off by a setting; the same as lines.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
rules=$HOME/.config/zwatch/rules.json
kept() { [ ! -e "$rules" ] || grep -o '"do"' "$rules"; }
on() { echo '{}' >"$HOME/.config/zwatch/config.json"; }
serve_unix "$W/low.sock" "$W/served" 2>/dev/null # told no more than that somebody came
serve_unix "$W/other.sock" "$W/served2" 2>/dev/null
cat >"$project/agent.py" <<'P'
import socket, sys
def ask(path):
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(path)
        return "OPEN"
    except OSError as e:
        return "NO"
print("READY", flush=True)
for line in sys.stdin:
    print("ANSWER", ask(line.strip()), flush=True)
P
# session SIZE: one socket allowed for the session, one denied once
session() {
	tt_start "$1" "$zwatch" run -- python3 agent.py
	tt_wait READY
	for one in "$W/low.sock s OPEN" "$W/other.sock n NO"; do
		set -- $one
		tt_type "$1"
		tt_keys Enter
		tt_wait "ASK|WAITING"
		tt_prefix
		tt_keys a
		tt_wait 'y/N'
		tt_awake
		tt_keys "$2"
		tt_wait "ANSWER $3"
	done
	tt_keys C-d
}
# press KEY REGEX: again and again until the screen shows it: keys sleep at first
press() {
	for _ in $(seq 200); do
		tt_has "$2" && break
		tt_keys "$1"
		sleep 0.7 # keys that come faster are taken for what is typed for the agent
	done
	tt_wait "$2"
}

on
session 100x30
tt_wait 'Session 1 is over.*review: 2 new'
tt_wait 'low.sock +x1 +allow session +\[ask\] +always +never'
tt_wait 'other.sock +x1 +deny once +\[ask\] +never'
# Enter alone keeps nothing.
press Enter '\[exit 0\]'
same "Enter alone keeps nothing" "" "$(kept)"

session 100x30
tt_wait 'Session 2 is over.*review: 0 new'
press Right '\[always\]'
tt_wait 'does not ask when .*python'
tt_wait 'agent.py, as the file is now'
press T 'Tried on the last [0-9]+ sessions: answers [0-9]+ of'
tt_keys j
press Right 'ask +\[never\]'
press Enter 'y save'
tt_wait 'From now on .*other.sock is refused'
# The second key is not Enter: that one goes back.
press Enter 'Enter save'
same "twice Enter keeps nothing" "" "$(kept)"
press Enter 'y save'
press y '\[exit 0\]'
tt_wait 'undo what was kept \(2\)'
has "kept: the allow" '^1 +allow +unix:.*low.sock +python[^ ]* agent.py' "$("$zwatch" rules list --session 2)"
has "kept: the deny" '^2 +deny +unix:.*other.sock' "$("$zwatch" rules list --session 2)"

# What was kept holds, and with nothing to decide there is no page.
tt_start 100x30 "$zwatch" run -- python3 agent.py
tt_wait READY
tt_type "$W/low.sock"
tt_keys Enter
tt_wait 'ANSWER OPEN'
tt_type "$W/other.sock"
tt_keys Enter
tt_wait 'ANSWER NO'
tt_keys C-d
tt_wait '\[exit 0\]'

"$zwatch" rules rm 1 2 >/dev/null
session 40x12
tt_wait 'low.sock +\[ask\]'
press q '\[exit 0\]'
echo '{ "ui": { "review": false } }' >"$HOME/.config/zwatch/config.json"
session 80x24
tt_wait '\[exit 0\]'

# As lines.
on
tt_start 100x30 "$zwatch" --ui plain run -- python3 agent.py
tt_wait READY
tt_type "$W/low.sock"
tt_keys Enter
tt_wait 'Waiting. Press'
tt_prefix
tt_keys a
tt_wait 'Enter alone is 1:'
for _ in $(seq 100); do
	tt_keys 5
	sleep 0.3
	tt_keys Enter
	wait_until 1 tt_has 'ANSWER OPEN' && break
done
tt_wait 'ANSWER OPEN'
tt_keys C-d
tt_wait 'So far: allow session. Next time: ask'
tt_wait 'Enter alone leaves all as they are:'
tt_type '1 always'
tt_keys Enter
tt_wait 'does not ask when'
tt_type 'save'
tt_keys Enter
tt_wait 'Type yes and Enter to save'
tt_type 'yes'
tt_keys Enter
tt_wait '\[exit 0\]'
has "kept by lines" '"target": "unix:[^"]*/low.sock"' "$(cat "$rules")"
exit 0
