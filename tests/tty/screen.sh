#!/bin/bash
# The pane as a terminal: colours, wide characters, resize, Ctrl-C and Ctrl-Z, paste, arrows, vim, less;
# collapsed; without UTF-8. Z090 resize, Z107 locales.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
ps1="PS1='ready> '"

tt_start 100x30 env "$ps1" "$zwatch" --env PS1="'ready> '" run -- bash --norc --noprofile
tt_wait 'ready>'
tt_type "printf '\\033[31mred\\033[0m 日本語 👩‍👩‍👧 é |end\\n'"
tt_keys Enter
tt_wait 'red 日本語.*\|end'
tt_type 'stty size; tput cols'
tt_keys Enter
tt_wait '^[0-9]+ 100'
tt_resize 80 24
tt_type 'clear; stty size'
tt_keys Enter
tt_wait '[0-9]+ 80$'
tt_resize 100 30

# told once it runs, so that the keys are for it and not for the shell
tt_type "clear; sh -c 'echo ru''nning; exec sleep 1000'"
tt_keys Enter
tt_wait '^running'
tt_keys C-c
tt_wait '\^C'
tt_type "clear; sh -c 'echo ru''nning; exec sleep 1000'"
tt_keys Enter
tt_wait '^running'
tt_keys C-z
tt_wait 'Stopped'
tt_type 'kill %1; clear; echo ab''cd'
tt_keys Enter
tt_wait 'abcd'
tt_type 'echo efgz'
tt_keys BSpace
tt_type 'h'
tt_keys Left Left Left Left
tt_type 'x'
tt_keys Enter
tt_wait '^xefgh'
tt_paste 'echo pasted-text'
tt_keys Enter
tt_wait '^pasted-text'

if command -v vim >/dev/null || command -v vi >/dev/null; then
	editor=$(command -v vim || command -v vi)
	printf 'line %s\n' $(seq 1 200) >"$project/long.txt"
	tt_type "clear; $editor -u NONE long.txt"
	tt_keys Enter
	tt_wait 'line 5$'
	tt_keys G
	tt_wait 'line 200$'
	tt_resize 90 26
	tt_keys C-l
	tt_wait 'line 200$'
	tt_type ':q!'
	tt_keys Enter
	tt_resize 100 30
	tt_wait 'ready>'
fi
if command -v less >/dev/null; then
	tt_type 'clear; less long.txt'
	tt_keys Enter
	tt_wait 'line 3$'
	# less drops a key that comes together with a new size
	for _ in 1 2 3; do
		tt_keys G
		wait_until 2 tt_has 'line 200$' && break
	done
	tt_wait 'line 200$'
	tt_keys q
	tt_wait 'ready>'
fi

if command -v htop >/dev/null; then
	tt_type 'clear; htop'
	tt_keys Enter
	tt_wait 'PID.*USER'
	tt_wait 'zwatch-init|bash'
	tt_resize 80 24
	tt_wait 'F10'
	tt_resize 100 30
	tt_wait '^.{100}$' # tmux tells of a new size only after a while
	tt_keys q
	tt_wait 'ready>'
fi

# collapsed and back: the agent gets the lines
tt_type 'clear'
tt_keys Enter
tt_prefix
tt_keys z
sized() { # a new size may still be on its way
	tt_type 'stty size'
	tt_keys Enter
	wait_until 1 tt_has '^29 100'
}
wait_until 15 sized
tt_wait '^29 100' 1
tt_prefix
tt_keys z
tt_type 'exit 7'
tt_keys Enter
tt_wait '\[exit 7\]'

# Z107: poor locales and terminals
for env in "LC_ALL=C" "LC_ALL=POSIX" "LC_ALL=xx_YY.UTF-8" "LC_ALL=" ; do
	tt_start 100x30 env "$env" "$zwatch" run -- "sh -c 'locale charmap; sleep 60'"
	tt_wait 'UTF-8|ANSI'
done
for term in linux vt100 xterm; do
	TT_TERM=$term tt_start 80x24 "$zwatch" run -- "sh -c 'echo up; sleep 60'"
	tt_wait '^up'
done
TT_TERM=dumb tt_start 80x24 "$zwatch" run -- echo plain
tt_wait '^plain'
tt_wait '\[exit 0\]'
exit 0
