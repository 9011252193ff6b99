# zwatch in a private tmux: type, wait for what the screen shows. Sourced after lib.sh.
tmux_name=zw$$
# The page at the end of a session has a test of its own.
echo '{ "ui": { "review": false } }' >"$HOME/.config/zwatch/config.json"
config() { sed '0,/{/s//{ "ui": { "review": false },/; s/,\( *}\)$/\1/' >"$HOME/.config/zwatch/config.json"; }
command -v tmux >/dev/null || skip "tmux is missing"

# tt_end: ends the window and its server, and waits until it is gone
tt_end() {
	tmux -L "$tmux_name" kill-server 2>/dev/null || return 0
	wait_until 60 tt_is_gone
}
tt_is_gone() { ! tmux -L "$tmux_name" has-session 2>/dev/null && ! pgrep -f "^tmux -L $tmux_name " >/dev/null; }

# tt_start COLUMNSxROWS COMMAND...: runs it in a new window of this size
tt_start() {
	local size=$1
	shift
	tt_end
	tmux -L "$tmux_name" -f /dev/null new-session -d -x "${size%x*}" -y "${size#*x}" -s t \
		"env TERM=${TT_TERM:-tmux-256color} $*; echo \"[exit \$?]\"; cat"
	tmux -L "$tmux_name" set -g status off
	tmux -L "$tmux_name" resize-window -t t -x "${size%x*}" -y "${size#*x}" 2>/dev/null
}
tt_screen() { tmux -L "$tmux_name" capture-pane -p -t t; }
tt_keys() { tmux -L "$tmux_name" send-keys -t t "$@"; }
tt_type() { tmux -L "$tmux_name" send-keys -t t -l -- "$1"; }
tt_prefix() { tmux -L "$tmux_name" send-keys -t t 'C-]'; }
tt_paste() {
	printf '%s' "$1" | tmux -L "$tmux_name" load-buffer -
	tmux -L "$tmux_name" paste-buffer -p -d -t t
}
tt_resize() { tmux -L "$tmux_name" resize-window -t t -x "$1" -y "$2"; }
tt_has() { tt_screen | grep -qE -- "$1"; }
# How long a screen may take: a machine under load needs long, and a test that passes waits no longer for it.
tt_patience=15 # times what wait_until makes of it
# tt_wait REGEX [SECONDS]: until the screen shows it
tt_wait() {
	if wait_until "${2:-$tt_patience}" tt_has "$1"; then echo "ok: screen shows $1"; else
		bad "screen never showed: $1"
		tt_screen | sed 's/^/  | /'
	fi
}
tt_wait_gone() {
	if wait_until "${2:-$tt_patience}" tt_hasnt "$1"; then echo "ok: screen no longer shows $1"; else
		bad "screen still shows: $1"
		tt_screen | sed 's/^/  | /'
	fi
}
tt_hasnt() { ! tt_has "$1"; }
# tt_awake: until the open question takes keys that allow. Its countdown stands where a hint of the last key
# would, so that one is cleared first.
tt_awake() {
	if wait_until "$tt_patience" tt_is_awake; then echo "ok: the question is awake"; else
		bad "the question does not wake"
		tt_screen | sed 's/^/  | /'
	fi
}
tt_is_awake() {
	local screen
	screen=$(tt_screen)
	if grep -qE 'Too early|Nothing was allowed' <<<"$screen"; then
		tt_keys PageUp
		return 1
	fi
	grep -qE '\[N\]|Enter saves|Empty goes back' <<<"$screen" && ! grep -qE 'wake in|asleep' <<<"$screen"
}
# tt_answer KEY REGEX: the open question, as soon as it takes the key; until the screen shows what came of it
tt_answer() {
	tt_awake
	tt_keys "$1"
	tt_wait "$2"
}
