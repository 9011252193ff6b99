#!/bin/bash
# The five minutes of a newcomer: demonstration, question, answer, history.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"

tt_start 100x30 "$zwatch" demo
tt_wait 'scripted agent'
tt_wait 'own\.sock'
tt_wait 'hello from inside'
tt_wait 'CRITICAL.*'
tt_prefix
tt_keys a
tt_wait 'If you allow it: the agent gets root'
tt_wait 'docker\.sock'
has "the question names the program" 'zwatch-demo\(' "$(tt_screen)"
has "and the folder" 'Folder' "$(tt_screen)"
tt_keys n
tt_wait 'docker.sock: Permission denied'
tt_wait 'example\.com:443'
tt_prefix
tt_keys a
tt_wait 'it can send data there'
tt_keys Enter
tt_wait '403'
tt_wait 'Done\.'
tt_keys Enter
tt_wait '\[exit 0\]'
has "the exit line" 'session 1, .*exit 0' "$(tt_screen)"

log=$("$zwatch" log last --json)
has "own socket: auto" '"did": ?"auto"' "$log"
has "docker.sock: denied by the user" '"class": ?"docker"' "$log"
has "site: denied by the user" '"host": ?"example.com"' "$log"
has "by the user" '"by": ?"user"' "$log"
printf '%s' "$log" | python3 -m json.tool >/dev/null && echo "ok: log --json is JSON" || bad "log --json is no JSON"

tt_start 100x30 "$zwatch" history
tt_wait 'Sessions'
tt_wait '1 .*zwatch|demo'
tt_keys Enter
tt_wait 'docker\.sock'
tt_keys q
tt_keys q
tt_wait '\[exit 0\]'
exit 0
