#!/bin/bash
# kill -9 of each helper in turn, and of zwatch itself: nothing is opened, the death is named, nothing
# of the sandbox lives on, the store is intact.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
serve_unix "$W/docker.sock"
export DOCKER_HOST=unix://$W/docker.sock

# The zwatch in the window, and one of its helpers, by process number.
zpid() { pgrep -P "$(tmux -L "$tmux_name" list-panes -t t -F '#{pane_pid}')" -f "^$zwatch run"; }
child() { pgrep -P "$(zpid)" -f "$1" | head -n 1; }

start() {
	rm -f "$W/served"
	tt_start 100x30 "$zwatch" run -- sh -c "'echo up; read x; curl -sS --max-time 20 --unix-socket $W/docker.sock http://x/_ping; echo curl=\$?; sleep 100'"
	tt_wait '^up'
}

for helper in pane broker audit; do
	start
	p=$(child "zwatch-$helper")
	[ -n "$p" ] || bad "zwatch-$helper does not run"
	kill -9 "$p"
	tt_wait "zwatch-$helper killed by signal 9"
	tt_type x
	tt_keys Enter
	case $helper in
	pane)
		tt_wait CRITICAL
		tt_prefix
		tt_keys a
		tt_wait 'If you allow it'
		tt_keys n
		tt_wait 'curl=7'
		;;
	broker) tt_wait 'curl=[1-9]' ;;
	audit) # a question may come; allowing it must not open anything
		tt_wait CRITICAL
		tt_prefix
		tt_keys a
		tt_wait 'If you allow it'
		tt_answer y 'Type docker'
		tt_type docker
		tt_keys Enter
		tt_wait 'curl=7'
		;;
	esac
	[ ! -e "$W/served" ] && echo "ok: $helper dead: nothing was opened" || bad "$helper dead: the socket was opened"
done

# Twice within a minute: the pane says so and waits for a key; what happens inside goes on, is judged and
# recorded; the new engine finds the same terminal, and the programs in it draw themselves anew.
printf 'line %s\n' $(seq 1 100) >"$project/long.txt"
tt_start 100x30 "$zwatch" run --env PS1="'ready> '" --deny refused.test -- bash --norc --noprofile
tt_wait 'ready>'
tt_type 'vi''m -u NONE long.txt || less long.txt'
tt_keys Enter
tt_wait '^line 5$'
kill -9 "$(child zwatch-pane)"
tt_wait 'zwatch-pane killed by signal 9.*started anew'
tt_wait '^line 5$'
tt_keys 3 G
kill -9 "$(child zwatch-pane)"
tt_wait 'which draws the agent.s screen, killed by signal 9'
tt_wait 'Ctrl-\] r starts a new one'
same "no other runs" '' "$(child zwatch-pane)"
tt_type ':q!'
tt_keys Enter
tt_type 'q'
tt_keys C-u
tt_type '(curl -sS -o /dev/null --max-time 9 http://refused.test/; echo $? >went-on)'
tt_keys Enter
wait_until 15 test -s "$project/went-on" && echo "ok: the agent went on" || bad "the agent did not go on"
tt_wait 'DENY.*refused.test'
tt_type 'cle''ar; vi''m -u NONE long.txt || less long.txt'
tt_keys Enter
tt_prefix
tt_keys r
tt_wait '^line 5$'
tt_wait_gone 'which draws the agent'
tt_keys G
tt_wait '^line 100$'
tt_type ':q!'
tt_keys Enter
tt_type q
tt_keys C-u
tt_wait 'ready>'
# a shell at its prompt redraws too; one that hangs can be ended
kill -STOP "$(child zwatch-pane)"
tt_prefix
tt_keys r
tt_wait 'The agent.s screen starts anew'
tt_wait '^ready>'
tt_type 'echo al''ive; exit 5'
tt_keys Enter
tt_wait '\[exit 5\]'
has "the record tells of it" 'zwatch-pane killed by signal 9' "$("$zwatch" log last --json)"

# proxy and resolver start with the first connection
start_net() {
	tt_start 100x30 "$zwatch" run -- sh -c "'echo up; while read x; do curl -sS -o /dev/null -w %{http_code} --max-time 8 http://a.test/; echo \" curl=\$?\"; done'"
	tt_wait '^up'
}
start_net
tt_keys x Enter
tt_wait 'a\.test'
for helper in resolver proxy; do
	p=$(child "zwatch-$helper")
	[ -n "$p" ] || bad "zwatch-$helper does not run"
	kill -9 "$p"
	tt_wait "zwatch-$helper killed by signal 9"
done
tt_wait 'curl=[1-9]'
tt_type 'clear'
tt_keys x Enter
tt_wait 'a\.test'

# zwatch itself
start
z=$(zpid)
kill -9 "$z"
gone() { [ -z "$(pgrep -P "$z" 2>/dev/null)" ] && ! pgrep -f "^($zwatch|sh|curl|bwrap|/proc/self/fd).*$W" >/dev/null; }
wait_until 5 gone && echo "ok: nothing of the sandbox lives on" || { bad "processes live on"; pgrep -af "$W"; }
same "the store is intact" ok "$(sqlite3 "$HOME/.local/state/zwatch/history.db" 'PRAGMA integrity_check')"
"$zwatch" run -- true </dev/null
same "the next session runs" 0 $?
has "and the killed one is called crashed" 'crashed' "$("$zwatch" history </dev/null | cat)"
exit 0
