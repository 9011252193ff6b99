#!/bin/bash
# The page with a project's wishes: before the agent starts, once for each content, nothing by Enter alone.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
store=$HOME/.local/state/zwatch/trust.json
cat >.zwatch.json <<'J'
{ "network": { "deniedDomains": ["*.tracker.example"] },
  "wish": { "allowedDomains": ["*.mirror.example:443", "two.example"], "allowUnixSockets": ["/run/docker.sock"],
  "why": "com\u202epany\u001b[2J mirror" } }
J
start() { tt_start "${1:-100x30}" "$zwatch" --ui none run -- sh -c "'echo in''side'"; }
granted() { grep -c '"net [^"]*"' "$store" 2>/dev/null; }

start
tt_wait 'do not start:$' 60
screen=$(tt_screen)
has "who asks" 'This project asks for more access: .*/project/\.zwatch\.json' "$screen"
has "its words are escaped" 'It says: "com\\u\{202e\}pany\\x1b\[2J mirror"' "$screen"
has "a low one has a number" '^ *1  net \*\.mirror\.example:443 +low ' "$screen"
has "a CRITICAL one has none" '^ *-  unix /run/docker\.sock +CRITICAL +not possible from a project file' "$screen"
has "what it tightens" 'deny net  \*\.tracker\.example' "$screen"
hasnt "the agent has not started" '^inside' "$screen"
tt_type "3"
tt_keys Enter
tt_wait 'none of the answers' 20
tt_type q
tt_keys Enter
tt_wait 'nothing was started' 20
tt_wait '\[exit 4\]' 20
[ -e "$store" ] && bad "q kept something"

start
tt_wait 'do not start:$' 60
tt_type "2"
tt_keys Enter
tt_wait '^inside' 60
has "how many" '1 of 3 wishes granted, for this exact file' "$(tt_screen)"
same "kept" '"net two.example"' "$(grep -o '"net [^"]*"' "$store")"
same "the store is the user's alone" 600 "$(stat -c %a "$store")"
start
tt_wait '^inside' 60
hasnt "asked once for this content" 'asks for more' "$(tt_screen)"

sed -i 's/two.example/two.example", "three.example/' .zwatch.json
start 80x24
tt_wait 'do not start:$' 60
has "changed since" 'changed since you last answered \([-0-9]+\)' "$(tt_screen)"
has "what is new" '\+ net three\.example' "$(tt_screen)"
hasnt "what is not" '\+ net two\.example' "$(tt_screen)"
tt_keys Enter
tt_wait '^inside' 60
has "Enter grants none" '0 of 4 wishes granted' "$(tt_screen)"
same "of this content none" 1 "$(granted)"
start
tt_wait '^inside' 60
hasnt "and none is remembered" 'asks for more' "$(tt_screen)"

echo >>.zwatch.json
start
tt_wait 'do not start:$' 60
tt_type a
tt_keys Enter
tt_wait '3 of 4 wishes granted' 60
echo >>.zwatch.json
start
tt_wait 'do not start:$' 60
tt_type N
tt_keys Enter
tt_wait '0 of 4 wishes granted' 60
has "never" '"never": true' "$(cat "$store")"
tt_end
exit 0
