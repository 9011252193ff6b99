#!/bin/bash
# The history screen: words on a session, comparison, sums, filter with completion and the last ones,
# a row copied, exported, made a rule, the question as it was shown, news of a session that runs.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "$ZW_SRC/tests/support/tmux.sh"

mkdir -p "$W/host"
serve_unix "$W/host/s.sock"
cat >connect.py <<'END'
import socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(sys.argv[1])
except OSError:
    pass
END
# session 1: a question, answered on the screen
tt_start 110x30 "$zwatch --name first --tag alpha --note 'a line on it' run -- sh -c 'python3 connect.py $W/host/s.sock; sleep 600'"
tt_wait '1 waiting|waiting: Ctrl' 30
tt_prefix
tt_keys a
tt_wait 'n  ?Deny once|Deny once' 30
tt_keys n
in_record() { "$zwatch" log 1 kind:question | grep -qi deny; }
wait_until 30 in_record || bad "the answer is not in the record"
tt_end
# session 2: other sites
"$zwatch" run -- sh -c 'for i in 1 2 3; do python3 -c "
import os, urllib.request
try: urllib.request.urlopen(\"http://b$i.test/\", timeout=5)
except Exception: pass"; done' >/dev/null 2>&1 </dev/null

out=$("$zwatch" history note 2 'kept  as typed')
has "a note later" 'note kept' "$out"
"$zwatch" history tag 2 'x y' z >/dev/null
out=$("$zwatch" show 2 --json)
has "note and tags" '"tags":"x y z","note":"kept  as typed"' "$out"
"$zwatch" history tag 2 >/dev/null
hasnt "tags taken away" '"tags"' "$("$zwatch" show 2 --json)"
"$zwatch" history tag 2 'a(b' >/dev/null 2>&1
same "no tag" 2 $?
"$zwatch" history note 99 x >/dev/null 2>&1
same "a note on no session" 1 $?
same "the record still fits" 0 "$("$zwatch" db verify >/dev/null; echo $?)"

out=$("$zwatch" history diff 1 2 --json)
has "what is new" '"new":.*"kind":"net"' "$out"
has "what is gone" '"gone":.*s\.sock' "$out"
"$zwatch" history diff 1 99 >/dev/null 2>&1
same "diff with no session" 1 $?

tt_start 110x30 "$zwatch history"
tt_wait 'Sessions  2' 30
tt_wait 'kept  as typed' 30
tt_keys S
tt_wait 'How you answer' 30
tt_wait 'median' 30
tt_keys q
tt_wait 'Sessions  2' 30
tt_keys Space
tt_wait '\* +today|2\*|\*' 30
tt_keys d
tt_wait 'Only in session 1' 30
tt_wait 's\.sock' 30
tt_keys q
tt_wait 'Sessions  2' 30
tt_keys m
tt_wait 'note: ' 30
tt_keys C-u
tt_type 'another'
tt_keys Enter
tt_wait 'note kept' 30
tt_keys q
tt_wait 'another' 30

# session 1: as it was shown, then a rule of its row
tt_keys G Enter
tt_wait 'Session 1' 30
tt_wait 's\.sock' 30
tt_type '/kind:unix did:d'
tt_keys Tab
tt_wait 'did:deny .*ok  1 match' 30
tt_keys Enter
tt_wait 'ok  1 match' 30
tt_keys v
tt_wait 'What you saw on screen' 30
tt_wait 'the answer was n' 30
tt_keys q
tt_wait '^ / kind:unix did:deny' 30
tt_type '/'
tt_wait 'Tab complete' 30
tt_keys C-u
tt_type 'kind:question'
tt_keys Enter
tt_wait '^ / kind:question .*ok  1 match' 30
tt_type '/'
tt_keys Up Up
tt_wait '/ kind:unix did:deny' 30
tt_keys Enter
tt_wait '^ / kind:unix did:deny .*match' 30
tt_keys T
tt_wait '1 +zwatch rules test deny unix:' 30
tt_keys 2
tt_wait 'Tried on' 30
has "nothing was kept by trying" 'no rules|^$|0 rules' "$("$zwatch" rules list 2>&1)"
tt_keys q
tt_wait 'Session 1' 30
tt_keys R
tt_wait '1 +zwatch rules add deny unix:' 30
tt_keys 1
tt_wait 'rule 1 saved' 30
has "the rule" 's\.sock' "$("$zwatch" rules list)"
tt_keys q
tt_wait 'Session 1' 30
tt_keys e
tt_wait 'export to: zwatch-1.csv' 30
tt_keys Enter
tt_wait 'Done' 30
same "what is shown was exported: a head and a row" 2 "$(wc -l <zwatch-1.csv)"
tt_keys q
tt_wait 'Session 1' 30
tt_keys c
tt_wait 'copy: l line' 30
tt_keys t
tt_wait 'copied [0-9]+ characters' 30
has "the last filters are kept" 'kind:unix did:deny' "$(cat "$HOME/.local/state/zwatch/filters")"
same "for their owner alone" 600 "$(stat -c %a "$HOME/.local/state/zwatch/filters")"
tt_end

# at the top of a running session its events come by themselves
"$zwatch" run -- sh -c 'until [ -e go ]; do sleep 0.1; done; python3 connect.py '"$W"'/host/s.sock; until [ -e end ]; do sleep 0.1; done' \
	>/dev/null 2>&1 </dev/null &
pids="$pids $!"
begun() { "$zwatch" show 3; }
wait_until 30 begun || bad "session 3 did not begin"
tt_start 110x30 "$zwatch history"
tt_wait 'Sessions  3' 30
tt_keys Enter
tt_wait 'Session 3' 30
touch go
tt_wait 's\.sock' 30
touch end
exit 0
