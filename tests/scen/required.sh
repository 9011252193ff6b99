#!/bin/bash
# history.required: without a record no agent. A store that cannot be opened starts nothing; one that
# fails under way freezes the agent, and lets it go on when it can be written again. Z116.
. "${ZW_SRC:?}/tests/support/lib.sh"

state=$HOME/.local/state/zwatch
config <<<'{ "history": { "required": true } }'
"$zwatch" run -- true </dev/null
same "with a store it runs" 0 $?

mkdir "$W/no.db"
err=$(ZWATCH_DB=$W/no.db "$zwatch" run -- touch started </dev/null 2>&1)
same "a store that cannot be: exit status" 6 $?
has "the reason" "settings require it" "$err"
[ ! -e started ] && echo "ok: nothing was started" || bad "the program ran"
config <<<'{}'
ZWATCH_DB=$W/no.db "$zwatch" run -- true </dev/null >/dev/null 2>&1
same "without the setting the session goes on" 0 $?

# the store is locked by another program for longer than zwatch waits
config <<<'{ "history": { "required": true } }'
"$zwatch" run -- sh -c 'i=0; while [ ! -e stop ]; do i=$((i + 1)); echo $i >count; curl -s http://x$i.example/ >/dev/null; sleep 0.1; done' \
	</dev/null >/dev/null 2>"$W/err" &
session=$!
counted() { [ "$(cat count 2>/dev/null || echo 0)" -ge "$1" ]; }
wait_until 20 counted 3 || bad "the program does not run"
mkfifo "$W/lock"
sqlite3 "$state/history.db" >/dev/null 2>&1 <"$W/lock" &
locker=$!
exec 7>"$W/lock"
echo 'BEGIN IMMEDIATE;' >&7
stands() {
	local a b
	a=$(cat count) && sleep 1.5 && b=$(cat count) && [ "$a" = "$b" ]
}
wait_until 40 stands && echo "ok: it stands still while the store is locked" || bad "the agent runs without a record"
before=$(cat count)
echo 'ROLLBACK;' >&7
exec 7>&-
wait $locker
wait_until 30 counted $((before + 3)) && echo "ok: it goes on" || bad "it does not go on: $(cat "$W/err")"
touch stop
wait $session
same "and ends well" 0 $?
has "the freeze is on record" "frozen" "$("$zwatch" log last)"
exit 0
