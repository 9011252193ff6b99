#!/bin/bash
# Replay: the recorded screen of a session, played by zwatch's own engine in a process of its own; pause,
# speed, decisions as marks, going on and back; from the list, by command, and of a file that is hostile.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
cat >"$project/agent.sh" <<'S'
printf '\033[2J\033[Hfirst \033[1;31mred\033[m 日本語\r\n'
read x
curl -sS -o /dev/null --max-time 20 http://refused.test/; echo "site=$?"
read x; printf '\033[?1049h\033[2J\033[2;3Hother screen'
read x; printf '\033[?1049l'; echo over
read x; exit 0
S
tt_start 90x28 "$zwatch" --record --ui collapsed --deny refused.test run -- bash agent.sh
tt_wait 'first red'
tt_keys Enter
tt_wait 'site=[0-9]'
tt_keys Enter
tt_wait 'other screen'
tt_keys Enter
tt_wait '^over'
tt_keys Enter
tt_wait '\[exit 0\]'

# by command; it plays to its end by itself, silence is skipped
tt_start 100x30 "$zwatch" replay last
tt_wait 'Replay +session 1'
tt_wait 'at its end'
tt_wait '^over'
tt_wait 'at this moment'
tt_wait 'DENY +net.* refused.test'
[ -z "${LOOK:-}" ] || tt_screen
tt_keys '0'
tt_wait '0:00 of'
tt_wait_gone '^over'
tt_mark() { tt_has '[0-9] of [0-9] +deny: refused.test:80' || { tt_keys ']'; false; }; }
wait_until "$tt_patience" tt_mark && echo "ok: ] goes to the refusal" || bad "] does not find the refusal"
tt_wait 'paused'
tt_wait 'first red 日本語'
tt_keys ']'
tt_wait 'no other decision'
tt_keys '.' # from output to output: in the end the other screen has come
tt_other() { tt_has '^  other screen' || { tt_keys '.'; false; }; }
wait_until "$tt_patience" tt_other && echo "ok: step by step" || bad "no step shows the other screen"
[ -z "${LOOK:-}" ] || tt_screen
tt_keys '>'
tt_wait 'x2 '
tt_keys '<' '<'
tt_wait 'x0.5 '
tt_keys 'i'
tt_wait 'as long as it was'
tt_keys 'g'
tt_type '25:00'
tt_keys Enter
tt_wait 'no time of the day'
tt_keys '$'
tt_wait 'at its end'
tt_wait '^over'
tt_keys '['
tt_wait '[0-9] of [0-9] +deny'
tt_wait_gone '^over'
tt_resize 80 24
tt_wait '^first red'
[ -z "${LOOK:-}" ] || tt_screen
tt_resize 40 12
tt_wait 'deny: refused'
[ -z "${LOOK:-}" ] || tt_screen
tt_keys Escape
tt_wait 'refused.test:80'
tt_wait_gone 'Replay'
tt_keys q
tt_wait '\[exit 0\]'

# from the list of sessions
"$zwatch" run -- true </dev/null
tt_start 100x30 "$zwatch" history
tt_wait 'Sessions +2'
tt_keys p
tt_wait 'was not recorded'
tt_keys j p
tt_wait 'Replay +session 1'
tt_keys Escape
tt_wait 'Sessions +2'
tt_keys q
tt_wait '\[exit 0\]'

# what cannot be played
tt_start 100x30 "$zwatch" replay 2
tt_wait 'was not recorded'
tt_wait '\[exit 1\]'
same "no terminal" 1 "$("$zwatch" replay 1 </dev/null >/dev/null 2>&1; echo $?)"
same "no such session" 1 "$("$zwatch" replay 99 </dev/null >/dev/null 2>&1; echo $?)"
echo '{"version": 3, "term": {}}' >"$W/three.cast"
tt_start 100x30 "$zwatch" replay "$W/three.cast"
tt_wait 'no asciicast v2'
tt_keys q
tt_wait '\[exit 0\]'

# a hostile one: sizes, lines that are none, one without end, time that goes back, what acts on a terminal
python3 - "$W/bad.cast" <<'P'
import json, sys
with open(sys.argv[1], "w") as f:
    f.write(json.dumps({"version": 2, "width": 99999, "height": 99999, "timestamp": 1700000000}) + "\n")
    f.write("[no json at all\n[1e9, \"o\", \"x\"]\n[0.5, \"o\", 7]\n" + "y" * 400000 + "\n")
    f.write(json.dumps([0.5, "r", "1000000x1000000"]) + "\n" + json.dumps([0.2, "r", "80x24"]) + "\n")
    f.write(json.dumps([1.0, "o", "\x1b]0;title\x07\x1b]52;c;aGVsbG8=\x07\x1b[?1049h\x1b[6n\x1b[c good text"]) + "\n")
    f.write(json.dumps([2.0, "m", "deny: \x1b[2J\x00\u202e evil"]) + "\n")
    f.write(json.dumps([2.5, "o", "\ud83d\ude00\ud83d end"]) + "\n[3.0, \"o\", \"cut of")
P
tt_start 100x30 "$zwatch" replay "$W/bad.cast"
tt_wait 'at its end'
tt_wait 'good text'
tt_wait ' end'
tt_keys '['
tt_wait '1 of 1 +deny: \[2J evil'
tt_keys '0'
tt_wait '4 lines of the file could not be read'
tt_wait_gone 'good text'
[ -z "${LOOK:-}" ] || tt_screen

# the player is killed: said, and the history lives on
zpid=$(pgrep -P "$(tmux -L "$tmux_name" list-panes -t t -F '#{pane_pid}')" -f "^$zwatch replay")
kill -9 "$(pgrep -P "$zpid" zwatch-pane)"
tt_wait 'The player has ended: killed by signal 9'
tt_keys q
tt_wait '\[exit 0\]'
exit 0
