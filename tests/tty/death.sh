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
	tt_wait '^up' 15
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
		sleep 1.2
		tt_keys y
		tt_type docker
		tt_keys Enter
		tt_wait 'curl=7'
		;;
	esac
	[ ! -e "$W/served" ] && echo "ok: $helper dead: nothing was opened" || bad "$helper dead: the socket was opened"
done

# proxy and resolver start with the first connection
start_net() {
	tt_start 100x30 "$zwatch" run -- sh -c "'echo up; while read x; do curl -sS -o /dev/null -w %{http_code} --max-time 8 http://a.test/; echo \" curl=\$?\"; done'"
	tt_wait '^up' 15
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
tt_wait 'curl=[1-9]' 15
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
