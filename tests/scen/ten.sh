#!/bin/bash
# Ten writers on one store at 200 events a second each, three of them killed: nobody else loses a row, the
# file is whole, the chains fit, and the next session says which ones were cut off.
. "${ZW_SRC:?}/tests/support/lib.sh"

feed=${ZW_BUILD:?}/tests/bench_store
[ -x "$feed" ] || skip "bench_store is not built"
store=$HOME/.local/state/zwatch/history.db
writers=""
for i in 1 2 3 4 5 6 7 8 9 10; do
	"$feed" --into "$store" 3 200 >"$W/out.$i" 2>&1 &
	writers="$writers $!"
done
pids="$pids $writers"
all_began() { [ "$(sqlite3 "$store" 'SELECT count(*) FROM sums WHERE n_events > 20' 2>/dev/null)" = 10 ]; }
wait_until 60 all_began || bad "not all of them write"
n=0
for p in $writers; do
	n=$((n + 1))
	case $n in 3 | 6 | 9) kill -9 "$p" ;; esac
done
for p in $writers; do wait "$p" 2>/dev/null; done
for i in 1 2 4 5 7 8 10; do
	has "writer $i lost nothing" 'lost 0, status 0' "$(cat "$W/out.$i")"
done
same "integrity" ok "$(sqlite3 "$store" 'PRAGMA integrity_check')"
marked() { [ "$(sqlite3 "$store" "SELECT count(*) FROM sessions WHERE how = 'crashed'")" = 3 ]; }
"$zwatch" run -- sh -c 'until [ -e stop ]; do sleep 0.1; done' </dev/null >/dev/null 2>"$W/err" &
session=$!
wait_until 60 marked && echo "ok: three are marked as cut off" || bad "crashed: $(sqlite3 "$store" 'SELECT id, how FROM sessions')"
touch stop
wait $session
same "the next session: exit status" 0 $?
same "and not a word" "" "$(grep -i 'history' "$W/err" | grep -v 'head of its record')"
"$zwatch" db verify >"$W/verify"
same "every chain fits" 0 $?
has "all eleven" '11 sessions' "$(cat "$W/verify")"
# what is there of those that were killed is whole: numbers without a gap
same "no gaps" 0 "$(sqlite3 "$store" 'SELECT count(*) FROM sums WHERE n_events <> (SELECT count(*) FROM events WHERE events.session = sums.session)')"
exit 0
