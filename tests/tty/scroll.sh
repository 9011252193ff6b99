#!/bin/bash
# Looking back in the agent's output: scroll, search, select, copy, links; output does not move the
# view, typed keys do not reach the agent, and a change of width wraps the past anew.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"

tt_copied() { tmux -L "$tmux_name" show-buffer 2>/dev/null; }
tt_kept() { tt_screen | sed -nE 's/.*scrolled [0-9,]+ of ([0-9,]+) lines.*/\1/p' | tr -d ,; }
tt_has_copied() { [ "$(tt_copied)" = "$1" ]; }

tt_start 100x30 "$zwatch" --env PS1="'ready> '" run -- bash --norc --noprofile
tt_wait 'ready>'
tt_type "clear; for i in \$(seq 1 400); do echo line \$i of many; done; echo a''bc"
tt_keys Enter
tt_wait '^abc'

# in, back, and nothing typed reaches the agent
tt_prefix
tt_keys '['
tt_wait 'scrolled 0 of [0-9]+ lines'
tt_keys PageUp
tt_wait 'scrolled 1[0-9] of'
tt_keys g
tt_wait '^line 1 of many'
tt_wait 'scrolled ([0-9]+) of \1 lines'
tt_type 'xwzW'
tt_keys G
tt_wait 'scrolled 0 of'
tt_keys Escape
tt_wait_gone 'scrolled'
tt_type 'echo sti''ll'
tt_keys Enter
tt_wait '^still'
hasnt "keys stayed in the scroll mode" 'xwz' "$(tt_screen)"

# search, with the other matches, and copy of the line
tt_prefix
tt_keys '['
tt_type '/line 7'
tt_wait '/line 7_'
tt_keys Enter
tt_wait '^line 79 of many'
tt_keys n
tt_wait 'scrolled'
tt_keys N
tt_keys y
wait_until 15 tt_has_copied 'line 79 of many' || true
same "the line found was copied" 'line 79 of many' "$(tt_copied)"
tt_wait 'copied 1[56] characters \(tmux\)'
tt_wait_gone 'scrolled'

# nothing found
tt_prefix
tt_keys '['
tt_type '/no such text'
tt_keys Enter
tt_wait 'Not found: no such text'

# selection over lines
tt_type '/line 211'
tt_keys Enter
tt_wait '^line 211 of many'
tt_keys v Down Down l l
tt_keys y
wait_until 15 tt_has_copied "$(printf 'line 211 of many\nline 212 of many\nlin')" || true
same "characters over three lines" "$(printf 'line 211 of many\nline 212 of many\nlin')" "$(tt_copied)"

# output does not move the view
tt_type '(until [ -e go ]; do sleep 0.1; done; for i in $(seq 1 50); do echo later $i; done) &'
tt_keys Enter
tt_wait '^\[1\]'
tt_prefix
tt_keys '['
tt_type '/line 150'
tt_keys Enter
tt_wait '^line 150 of many'
before=$(tt_screen | grep '^line')
kept=$(tt_kept)
touch "$project/go"
tt_grew() { [ "$(tt_kept)" -ge $((kept + 50)) ]; }
wait_until 15 tt_grew || bad "the history did not grow from $kept"
same "the view stood still" "$before" "$(tt_screen | grep '^line')"
tt_keys q
tt_wait '^later 50'

# a link is shown and copied, not followed
tt_type "clear; printf '\\033]8;;https://example.com/a?b=c\\033\\\\click\\033]8;;\\033\\\\ here\\n'"
tt_keys Enter
tt_wait '^click here'
tt_prefix
tt_keys '['
tt_type '/click here'
tt_keys Enter
tt_wait 'c copies https://example.com/a\?b=c'
tt_keys c
wait_until 15 tt_has_copied 'https://example.com/a?b=c' || true
same "the link was copied" 'https://example.com/a?b=c' "$(tt_copied)"
tt_keys q

# the agent cannot put anything on the clipboard
tt_type "clear; printf '\\033]52;c;ZXZpbA==\\a'; echo refu''sed"
tt_keys Enter
tt_wait '^refused'
same "the buffer is as it was" 'https://example.com/a?b=c' "$(tt_copied)"

# without a place to copy to (a tool that fails is none), a file that only the user can read
tt_type 'exit'
tt_keys Enter
tt_wait '\[exit 0\]'
mkdir "$W/tools"
printf '#!/bin/sh\necho "no display" >&2\nexit 1\n' >"$W/tools/xclip"
chmod 755 "$W/tools/xclip"
tt_start 100x30 env -u TMUX DISPLAY=:0 PATH="$W/tools:$PATH" "$zwatch" --env PS1="'ready> '" run -- bash --norc --noprofile
tt_wait 'ready>'
tt_type 'clear; echo into a file'
tt_keys Enter
tt_wait '^into a file'
tt_prefix
tt_keys '['
tt_keys Up y
tt_wait 'copied 1[0-9] characters to .*zwatch-copy-'
file=$(ls "$XDG_RUNTIME_DIR"/zwatch-copy-*)
same "its text" 'into a file' "$(cat "$file")"
same "its mode" 600 "$(stat -c %a "$file")"

# another width: what wrapped is joined
tt_type "clear; echo \$(printf 'w%.0s' \$(seq 1 120)) joined"
tt_keys Enter
tt_wait '^w+ joined'
tt_type 'clear'
tt_keys Enter
tt_type "printf 'z%.0s' \$(seq 1 120); echo; echo en''d"
tt_keys Enter
tt_wait '^end'
tt_wait '^z{20}$'
tt_resize 140 30
tt_wait '^z{120}$'
tt_type 'exit'
tt_keys Enter
tt_wait '\[exit 0\]'
exit 0
