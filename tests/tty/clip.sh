#!/bin/bash
# Copying with the real xclip, on an X server of the test's own (Xvfb). In the list of tests only where both are
# installed. wl-copy has no such test: cage, the small Wayland server of Debian, has neither a keyboard nor the
# protocol that wl-copy needs without one.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
command -v xclip >/dev/null && command -v Xvfb >/dev/null || skip "xclip or Xvfb is missing"

text='caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac 123'
wanted=$(printf '%b' "$text")
pasted() { DISPLAY=$x timeout 5 xclip -o -selection clipboard 2>&1; }
is_pasted() { [ "$(pasted)" = "$wanted" ]; }
is_up() { [ -s "$W/display" ]; }

Xvfb -displayfd 1 -screen 0 64x64x8 -nolisten tcp >"$W/display" 2>"$W/xvfb.log" &
pids="$pids $!"
wait_until 15 is_up || bad "Xvfb does not start: $(cat "$W/xvfb.log")"
x=":$(cat "$W/display")"

tt_start 100x30 env -u TMUX -u TMUX_PANE DISPLAY="$x" "$zwatch" --env PS1="'ready> '" run -- bash --norc --noprofile
tt_wait 'ready>'
tt_type "clear; printf '$text\\n'"
tt_keys Enter
tt_wait "^$wanted"
tt_prefix
tt_keys '['
tt_wait 'scrolled 0 of'
tt_keys Up y # the line above the prompt
tt_wait 'copied 1[0-9] characters \(xclip\)'
wait_until 15 is_pasted || true
same "X has it on its clipboard" "$wanted" "$(pasted)"

# The agent is over, and zwatch too: the clipboard is still served.
tt_type 'exit'
tt_keys Enter
tt_wait '\[exit 0\]'
same "and keeps it" "$wanted" "$(pasted)"
exit 0
