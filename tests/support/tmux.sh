# zwatch in a private tmux: type, wait for what the screen shows. Sourced after lib.sh.
tmux_name=zw$$
command -v tmux >/dev/null || skip "tmux is missing"

# tt_end: ends the window and its server, and waits until it is gone
tt_end() {
	tmux -L "$tmux_name" kill-server 2>/dev/null || return 0
	wait_until 5 tt_is_gone
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
# tt_wait REGEX [SECONDS]: until the screen shows it
tt_wait() {
	if wait_until "${2:-10}" tt_has "$1"; then echo "ok: screen shows $1"; else
		bad "screen never showed: $1"
		tt_screen | sed 's/^/  | /'
	fi
}
tt_wait_gone() {
	if wait_until "${2:-10}" tt_hasnt "$1"; then echo "ok: screen no longer shows $1"; else
		bad "screen still shows: $1"
		tt_screen | sed 's/^/  | /'
	fi
}
# tt_answer KEY REGEX: a question takes a key only some time after its picture was written
tt_answer() {
	tt_answered() {
		sleep 1.2
		tt_has "$2" && return
		tt_keys "$1"
		wait_until 1 tt_has "$2"
	}
	wait_until 15 tt_answered "$1" "$2" || true
	tt_wait "$2" 1
}
tt_hasnt() { ! tt_has "$1"; }
