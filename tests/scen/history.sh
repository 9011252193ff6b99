#!/bin/bash
# The record from the command line: verified, kept in bounds, removed for good.
. "${ZW_SRC:?}/tests/support/lib.sh"

store=$HOME/.local/state/zwatch/history.db
for i in 1 2 3; do "$zwatch" run -- sh -c "echo $i" </dev/null >/dev/null 2>&1; done
[ -f "$store" ] || bad "no store at $store"

out=$("$zwatch" db verify)
same "verify: exit status" 0 $?
has "verify: all fit" '^ok .* 3 sessions' "$out"
out=$("$zwatch" db info --json)
same "info: sessions" 3 "$(printf '%s' "$out" | python3 -c 'import json,sys; print(json.load(sys.stdin)["sessions"])')"
has "check" "whole" "$("$zwatch" db check)"

# the line at the end shows the head, and it is the head
err=$(script -qec "$zwatch --ui none run -- true" /dev/null </dev/null 2>&1)
head=$(printf '%s' "$err" | sed -n 's/.*head of its record: \([0-9a-f]*\).*/\1/p')
has "the last line shows a head" '^[0-9a-f]{32}$' "$head"
"$zwatch" db verify 4 --head "$head" >/dev/null
same "it is that session's head" 0 $?
out=$("$zwatch" db verify 3 --head "$head")
same "and not another's" 1 $?
has "which is said" "never had the head" "$out"

# a change behind zwatch's back is found and named
cp "$store" "$W/keep.db"
sqlite3 "$store" "UPDATE sessions SET exit_status = 1 WHERE id = 2"
out=$("$zwatch" db verify)
same "changed session: exit status" 1 $?
has "changed session: named" "session 2: how it ended was changed" "$out"
cp "$W/keep.db" "$store"

# nothing goes without a count and a yes
out=$("$zwatch" history rm 2 --dry-run)
has "dry run counts" "^1 session, [0-9]+ events" "$out"
"$zwatch" history rm 2 </dev/null >/dev/null 2>&1
same "without a terminal and --yes nothing is removed" 2 $?
"$zwatch" show 2 >/dev/null
same "it is still there" 0 $?
mkdir -p "${store%/*}/screens"; echo x >"${store%/*}/screens/2.cast"; echo x >"${store%/*}/screens/3.cast"
out=$("$zwatch" history rm 2 --yes)
has "removed for good" "Gone from the store" "$out"
"$zwatch" show 2 >/dev/null 2>&1
same "it is gone" 1 $?
[ ! -e "${store%/*}/screens/2.cast" ] && [ -e "${store%/*}/screens/3.cast" ] && echo "ok: its recorded screen too, no other" || bad "recorded screens"
out=$("$zwatch" db verify)
same "the rest still fits" 0 $?
has "and the removal is known" "1 removed on purpose" "$out"
"$zwatch" history rm 99 --yes >/dev/null 2>&1
same "a session that is not there" 1 $?
err=$("$zwatch" history rm --yes $(seq 1000 1300) 2>&1)
same "more than can be passed on at once" 2 $?
has "which is said" "too many at once" "$err"
"$zwatch" history rm x >/dev/null 2>&1
same "not a number" 2 $?

"$zwatch" db backup "$W/copy.db" >/dev/null
same "backup" 0 $?
same "backup: mode" 600 "$(stat -c %a "$W/copy.db")"
has "backup: whole" "ok" "$(ZWATCH_DB=$W/copy.db "$zwatch" db verify)"
"$zwatch" db backup "$W/copy.db" >/dev/null 2>&1
same "a backup writes over nothing" 2 $?
has "vacuum" "before" "$("$zwatch" db vacuum)"

# what is too old goes by itself when a session ends
sqlite3 "$store" "UPDATE sessions SET ended_us = 1 WHERE id = 1"
config <<<'{ "history": { "keep": "1d" } }'
"$zwatch" run -- true </dev/null >/dev/null 2>&1
gone() { ! "$zwatch" show 1; }
wait_until 10 gone || bad "an old session is still there"
"$zwatch" show 3 >/dev/null
same "a new one is kept" 0 $?
config <<<'{}'

out=$("$zwatch" db prune --max-size 1 --dry-run)
has "prune by size counts" "^[0-9]+ sessions" "$out"
err=$("$zwatch" db verfy 2>&1)
has "near word" "Did you mean 'verify'" "$err"
err=$(ZWATCH_DB=$W/none.db "$zwatch" db verify 2>&1)
same "no store" 1 $?
head -c 20000 /dev/urandom >"$W/bad.db"
err=$(ZWATCH_DB=$W/bad.db "$zwatch" db verify 2>&1)
same "not a store: exit status" 6 $?
has "not a store: named" "bad.db: damaged" "$err"

# command lines: as they are, or not at all
config <<<'{ "history": { "commandLines": "none" } }'
"$zwatch" run -- sh -c 'true; echo hunter2' </dev/null >/dev/null 2>&1
same "no command lines" 0 "$(cat "$store" "$store-wal" 2>/dev/null | grep -ac hunter2)"

# a running session keeps all in its place; one that was cut off, and that nobody has marked yet, does not
"$zwatch" run -- sh -c 'touch there; exec sleep 600' </dev/null >/dev/null 2>&1 &
job=$!
wait_until 20 test -e there || bad "the session did not start"
# The store begins after the agent does.
on_record() { "$zwatch" history --json | grep -q running; }
wait_until 20 on_record || bad "the session is not on record"
out=$("$zwatch" uninstall --yes 2>&1)
same "uninstall while a session runs" 1 $?
has "and why" "a session is running" "$out"
kill -9 $job
wait $job 2>/dev/null
if command -v sqlite3 >/dev/null; then
	# The writer ends it by itself where it can: as if it had died too.
	wait_until 20 [ "$("$zwatch" history --json | grep -c running)" = 0 ]
	sqlite3 "$store" 'PRAGMA trusted_schema = ON; UPDATE sessions SET ended_us = NULL, how = NULL WHERE id = (SELECT max(id) FROM sessions)'
	same "the session seems to run" 1 "$(sqlite3 "$store" 'SELECT count(*) FROM sessions WHERE ended_us IS NULL')"
fi

# a table for a narrow screen leaves columns out and cuts no line; a pipe gets all of them
for width in 40 80 100; do
	widest=$("$zwatch" stats --width "$width" | awk '{ if (length($0) > n) n = length($0) } END { print n }')
	[ "$widest" -le "$width" ] && echo "ok: stats in $width columns" || bad "stats takes $widest columns of $width"
	has "and what was refused is there" 'DENY' "$("$zwatch" stats --width "$width")"
done
has "all in a pipe" 'SESSIONS +TRIES +UP +DOWN +ALLOW +DENY +FIRST +LAST' "$("$zwatch" stats)"
same "no width" 2 "$("$zwatch" stats --width x >/dev/null 2>&1; echo $?)"

# leaving: a list first, the history only when it is said
config <<<'{}'
out=$("$zwatch" uninstall)
has "uninstall lists the settings" "settings +$HOME/.config/zwatch" "$out"
has "and what stays" "history.db .*stays" "$out"
[ -f "$HOME/.config/zwatch/config.json" ] || bad "uninstall without --yes removed the settings"
"$zwatch" uninstall --yes >/dev/null
same "uninstall --yes" 0 $?
[ ! -e "$HOME/.config/zwatch" ] && [ -f "$store" ] && echo "ok: settings gone, history kept" || bad "uninstall --yes"
"$zwatch" uninstall --yes --purge >/dev/null
[ ! -e "$HOME/.local/state/zwatch" ] && echo "ok: all gone" || bad "uninstall --purge: $(ls "$HOME/.local/state/zwatch")"
exit 0
