#!/bin/bash
# The first run: one page, three modes, Enter is guard; what is chosen stands in config.json.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
file=$HOME/.config/zwatch/config.json
start() { tt_start "${1:-100x40}" "$zwatch" --ui none ${2:-} run -- sh -c "'echo in''side'"; }
rm -r "$HOME/.config"

start
tt_wait 'q quit without saving:$' 60
screen=$(tt_screen)
has "three modes" '1  Watch .*allowed and listed' "$screen"
has "the default is named" '\(default\)' "$screen"
has "what is never allowed" 'docker.sock, ssh-agent, D-Bus' "$screen"
has "what is kept" '90 days or 500 MB' "$screen"
has "what there is" 'zwatch check' "$screen"
hasnt "nothing has started" '^inside' "$screen"
tt_type q
tt_keys Enter
tt_wait '\[exit 4\]' 60
[ -e "$file" ] && bad "q saved something"

mkdir -p "$HOME/.claude"
echo '{ "sandbox": { "network": { "allowedDomains": ["a.example", "*"] } } }' >"$HOME/.claude/settings.json"
start
tt_wait 'q quit without saving:$' 60
has "settings of Claude Code" '~/.claude/settings.json +1 usable, 1 need a look +zwatch import claude' "$(tt_screen)"
tt_type 7
tt_keys Enter
tt_type 3
tt_keys Enter
tt_wait '^inside' 60
has "where it is kept" 'Saved in ~/.config/zwatch/config.json' "$(tt_screen)"
same "what was chosen" strict "$("$zwatch" config get mode)"
has "in force in this session" '"mode": ?"strict"' "$("$zwatch" history --json)"
start
tt_wait '^inside' 60
hasnt "asked once" 'first run' "$(tt_screen)"

rm "$file"
start 80x24
tt_wait 'q quit without saving:$' 60
tt_keys Enter
tt_wait '^inside' 60
same "Enter is guard" guard "$("$zwatch" config get mode)"

# not asked: a mode is named, nobody to ask, a system that says so
rm "$file"
start 100x40 --mode=watch
tt_wait '^inside' 60
hasnt "with --mode" 'first run' "$(tt_screen)"
start 100x40 --no-input
tt_wait '^inside' 60
has "with --no-input it is said" 'no settings yet: mode guard' "$(tt_screen)"
[ -e "$file" ] && bad "settings were made without a choice"
tt_end
exit 0
