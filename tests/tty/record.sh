#!/bin/bash
# --record: what was on the screen can be played again elsewhere and ends the same; the decisions are
# marks in it; nobody else can read the file; one that cannot be written is said, not passed over.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
ZW_NODE_ROOT=$(cd "${ZW_BUILD:?}/.." && pwd)/npm
export ZW_NODE_ROOT
bash "$ZW_SRC/tests/support/npm.sh" "$ZW_NODE_ROOT" >/dev/null || skip "@xterm/headless is not to be had"
played() { node "$ZW_SRC/tests/term/cast_play.mjs" "$1"; }
# What is above the status line, as the agent's screen is where zwatch shows nothing else.
shown() { tt_screen | sed '$d'; }
marks() { python3 -c 'import json,sys
for line in open(sys.argv[1]).read().splitlines()[1:]:
    e = json.loads(line)
    if e[1] == sys.argv[2]: print(e[2])' "$1" "$2"; }
serve_unix "$W/docker.sock"
export DOCKER_HOST=unix://$W/docker.sock
screens=$HOME/.local/state/zwatch/screens

cat >"$project/agent.sh" <<'S'
printf '\033[2J\033[H\033[1;31mred\033[m 日本語 🎉 é "quote" back\\slash |end\r\n'
printf '\033[5;10H\033[44mplace\033[m\033[3;1Hbad \377 byte\r\n'
curl -sS --max-time 30 --unix-socket $1 http://x/_ping; echo "curl=$?"
curl -sS -o /dev/null --max-time 5 http://refused.test/; echo "site=$?"
read x; printf '\033[?1049h\033[2;3Hother screen\033[7mREV\033[m'; stty size
read x; printf '\033[?1049l'; echo over; read x; exit 3
S
umask 022
tt_start 90x28 "$zwatch" --record --ui collapsed --deny refused.test run -- bash agent.sh "$W/docker.sock"
tt_wait '\| *REC|REC *[|│]'
tt_wait 'CRITICAL'
tt_prefix
tt_keys a
tt_wait 'If you allow it'
tt_keys n
tt_wait 'curl=[0-9]'
tt_wait 'site=[0-9]'
cast=$(ls "$screens"/*.cast)
same "named after the session" "$screens/1.cast" "$cast"
same "mode of the file" 600 "$(stat -c %a "$cast")"
same "mode of the folder" 700 "$(stat -c %a "$screens")"
alike() { [ "$(played "$cast" | sed 's/ *$//')" = "$(shown | sed 's/ *$//')" ]; }
same_screen() {
	wait_until 15 alike && echo "ok: $1" || {
		bad "$1"
		diff <(played "$cast") <(shown)
	}
}
same_screen "main screen, played, is what was shown"
tt_keys Enter
tt_wait 'other screen'
same_screen "the other screen too"
tt_resize 70 24
tt_wait_gone '^.{75}'
tt_keys Enter
tt_wait 'over'
same_screen "after another size"
tt_keys Enter
tt_wait '\[exit 3\]'
tt_wait 'screen: /'
m=$(marks "$cast" m)
has "the question is marked" '^ask: .*docker.sock, .*curl\([0-9]+\)$' "$m"
has "and its answer" '^deny: .*docker.sock, curl\([0-9]+\), by user, once$' "$m"
has "what a rule refused" '^deny: refused.test:80, curl\([0-9]+\), by rule$' "$m"
has "sizes" '^70x23$' "$(marks "$cast" r)"
hasnt "no typed keys" '"i"' "$(cut -c1-30 "$cast")"
played "$cast" >/dev/null && echo "ok: it is asciicast v2" || bad "it is not asciicast v2"
has "the record tells of it" 'recorded in .*/screens/1.cast' "$("$zwatch" log last --json)"

# to a file of one's own; not over another, not where the agent may write
"$zwatch" --record="$W/own.cast" run -- true </dev/null
same "without a screen there is nothing to record" 2 $?
[ ! -e "$W/own.cast" ] && echo "ok: and no file" || bad "a file was left"
tt_start 90x28 "$zwatch" --record="$W/own.cast" run -- echo hello
tt_wait '\[exit 0\]'
has "its text" 'hello' "$(played "$W/own.cast")"
tt_start 90x28 "$zwatch" --record="$W/own.cast" run -- echo hello
tt_wait 'cannot be recorded.*own.cast'
tt_wait '\[exit 4\]'
tt_start 160x28 "$zwatch" --record="$project/own.cast" run -- echo hello
tt_wait 'the agent may write there'
tt_wait '\[exit 4\]'
tt_start 90x28 "$zwatch" --record --private run -- echo hello
tt_wait '\[exit 2\]'

# by setting; a session without a screen runs all the same, and nothing of a failed start is left
config <<'C'
{ "history": { "recordScreen": true } }
C
tt_start 90x28 "$zwatch" run -- sh -c "'echo by setting; read x'"
tt_wait 'by setting'
tt_wait 'REC'
tt_keys Enter
tt_wait '\[exit 0\]'
same "no screen, no record" hello "$("$zwatch" run -- echo hello </dev/null)"
tt_start 90x28 "$zwatch" run -- /no/such/program
tt_wait '\[exit 127\]'
tt_wait 'not be found|no such|No such'
ls "$screens"

# a new engine goes on with the same file
tt_start 90x28 "$zwatch" --record --ui collapsed run -- sh -c "'echo before; read x; echo after; read x'"
tt_wait before
zpid=$(pgrep -P "$(tmux -L "$tmux_name" list-panes -t t -F '#{pane_pid}')" -f "^$zwatch --record")
kill -9 "$(pgrep -P "$zpid" zwatch-pane)"
tt_wait 'killed by signal 9'
tt_keys Enter
tt_wait '^after'
tt_keys Enter
tt_wait '\[exit 0\]'
cast=$(ls -t "$screens"/*.cast | head -n 1)
has "both halves" 'before' "$(played "$cast")"
has "both halves" '^after' "$(played "$cast")"
has "and the death" '^warning: zwatch-pane' "$(marks "$cast" m)"

# a disk that is full: said, and the session goes on
if [ "$(id -u)" = 0 ] && mkdir "$W/small" && mount -t tmpfs -o size=64k none "$W/small" 2>/dev/null; then
	tt_start 90x28 "$zwatch" --record="$W/small/full.cast" run -- sh -c "'seq 1 30000; echo done; read x; echo alive; read x'"
	tt_wait 'done'
	tt_wait 'no longer recorded: No space left'
	tt_wait_gone 'REC'
	tt_keys Enter
	tt_wait '^alive'
	tt_keys Enter
	tt_wait '\[exit 0\]'
	played "$W/small/full.cast" >/dev/null && echo "ok: whole lines only" || bad "half a line is left"
	tt_end
	umount "$W/small"
fi
exit 0
