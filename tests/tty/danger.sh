#!/bin/bash
# A dangerous socket: every row of the table in `zwatch help config`, on a terminal and without one.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
sock=$W/docker.sock
serve_unix "$sock"
export DOCKER_HOST=unix://$sock
printf 'curl -sS --max-time 60 --unix-socket %s http://x/_ping 2>&1; echo; echo ended\n' "$sock" >call.sh
listed() { config <<<"{ \"network\": { \"allowUnixSockets\": [\"$sock\"] } }"; }
unlisted() { config <<<'{}'; }
# terminal OPTION...: on a terminal, nobody there to answer questions
terminal() { tt_start 100x30 "$zwatch" --ui none "$*" run -- sh call.sh; }
without() { "$zwatch" --ui none "$@" run -- sh call.sh 2>&1 </dev/null; }
opened() {
	tt_wait '^ ?ended' 60
	has "opened" 'OK from outside' "$(tt_screen)"
}
sure='Are you sure\? \[y/N\]'
# 1: not listed
unlisted
same "not listed: asked" ask "$("$zwatch" explain "unix:$sock" | head -1 | cut -d' ' -f1)"
same "not listed, watch: asked" ask "$("$zwatch" -m watch explain "unix:$sock" | head -1 | cut -d' ' -f1)"
same "not listed, strict: refused" deny "$("$zwatch" -m strict explain "unix:$sock" | head -1 | cut -d' ' -f1)"
out=$(without --allow-dangerous-sockets)
hasnt "not listed, the flag opens nothing" 'OK from outside' "$out"
hasnt "and there is no warning" 'Security Warning' "$out"

# 2: listed, terminal
listed
terminal
tt_wait "$sure" 60
has "the warning" "Security Warning: .*docker\.sock.* grants root-equivalent access" "$(tt_screen)"
has "with its line" 'listed in ~/.config/zwatch/config.json:1' "$(tt_screen)"
tt_type y
tt_keys Enter
opened
terminal
tt_wait "$sure" 60
tt_keys Enter
tt_wait '^ ?ended' 60
hasnt "Enter alone does not open it" 'OK from outside' "$(tt_screen)"
tt_start 100x30 sh -c "'until [ -e typed ]; do sleep 0.1; done; exec $zwatch --ui none run -- sh call.sh'"
tt_type y
tt_keys Enter
tt_wait '^y' 60
touch typed
tt_wait "$sure" 60
tt_keys Enter
tt_wait '^ ?ended' 60
hasnt "what was typed before does not open it" 'OK from outside' "$(tt_screen)"
terminal -m strict
tt_wait "$sure" 60
tt_type n
tt_keys Enter
tt_wait '^ ?ended' 60
hasnt "strict, no: refused" 'OK from outside' "$(tt_screen)"
terminal -m strict
tt_wait "$sure" 60
tt_type yes
tt_keys Enter
opened

# 3: listed, terminal, flag: printed, opened, and said all the time
terminal --allow-dangerous-sockets
opened
has "the flag: the warning is printed" 'Security Warning' "$(tt_screen)"
hasnt "and nothing is asked" "$sure" "$(tt_screen)"
tt_start 100x30 "$zwatch" --allow-dangerous-sockets run -- sh -c "'read x'"
tt_wait 'DANGEROUS' 60
tt_keys Enter
tt_wait '\[exit 0\]' 60

# 4 and 5: listed, no terminal
out=$(without)
same "no terminal: exit status" 4 $?
has "no terminal: the warning" 'Security Warning' "$out"
hasnt "no terminal: nothing started" '^ ?ended' "$out"
has "no terminal, the flag: opened" 'OK from outside' "$(without --allow-dangerous-sockets)"
out=$("$zwatch" --ui none --no-input run -- sh call.sh 2>&1 </dev/null)
same "--no-input: exit status" 4 $?

# 6: denied by any layer
echo "{ \"network\": { \"denyUnixSockets\": [\"$sock\"] } }" >.zwatch.json
out=$(without --allow-dangerous-sockets --allow-unix "$sock")
hasnt "denied: refused, with the flag too" 'OK from outside' "$out"
terminal --allow-unix "$sock"
tt_wait '^ ?ended' 60
hasnt "denied: nothing is asked" "$sure" "$(tt_screen)"
hasnt "denied: refused" 'OK from outside' "$(tt_screen)"
rm .zwatch.json

# a project file, or a variable, cannot list one
unlisted
echo "{ \"network\": { \"allowUnixSockets\": [\"$sock\"] } }" >.zwatch.json
hasnt "a project file lists nothing" 'OK from outside' "$(without --allow-dangerous-sockets)"
rm .zwatch.json

# what stands in the place of a path says what to write
says() {
	config <<<"{ \"network\": { \"allowUnixSockets\": $2 } }"
	err=$("$zwatch" config validate 2>&1)
	same "$1: status" 4 $?
	has "$1: says what to write" "$3" "$err"
}
says "true" true 'must be a list of the sockets you need, each by its path \["/run/x.sock"\]'
says "true in the list" '[true]' 'must be text in quotes, not true or false'
says "a pattern" '["/run/*.sock"]' 'list each socket by its own path'
says "a folder" "[\"$W/\"]" 'it is a folder; list each socket by its own path'
says "a folder without its slash" "[\"$W\"]" 'it is a folder; list each socket by its own path'
says "a word" '["docker"]' 'write its path, such as /run/x.sock'
config <<<'{ "network": { "allowAllUnixSockets": true } }'
has "all of them" 'list the sockets you need in' "$("$zwatch" config validate 2>&1)"
for word in '/run/*.sock' "$W" docker ''; do
	unlisted
	err=$("$zwatch" --allow-unix "$word" run -- true 2>&1 </dev/null)
	same "--allow-unix '$word'" 4 $?
done
tt_end
exit 0
