#!/bin/bash
# Makes the pictures of the README from a real demonstration, in tmux, drawn by xterm.js.
#   screenshots/make.sh [BIN-FOLDER]
# Needs tmux, chromium, npm, fonts-dejavu.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=${1:-$here/../build/release/bin}
export XTERM_DIR=${XTERM_DIR:-$here/../build/xterm}
[ -d "$XTERM_DIR/node_modules/@xterm/xterm" ] || npm install --silent --no-fund --no-audit --prefix "$XTERM_DIR" @xterm/xterm
work=$(mktemp -d)
export HOME=$work
cd "$work"
name=shots$$
trap 'tmux -L $name kill-server 2>/dev/null; rm -rf "$work"' EXIT
screen() { tmux -L $name capture-pane -p -t s; }
wait_for() {
	for _ in $(seq 200); do
		screen | grep -qE -- "$1" && return
		sleep 0.1
	done
	echo "never shown: $1" >&2
	screen >&2
	exit 1
}
keys() { tmux -L $name send-keys -t s "$@"; }
shot() { "$here/shot.sh" $name s "$here/$1.png" "$size"; }
start() {
	size=$1
	tmux -L $name kill-server 2>/dev/null || true
	sleep 0.3
	tmux -L $name -f /dev/null new-session -d -s s -x "${size%x*}" -y "${size#*x}" "COLORTERM=truecolor TERM=tmux-256color $2; cat"
	tmux -L $name set -g status off
	tmux -L $name resize-window -t s -x "${size%x*}" -y "${size#*x}"
}

start 100x30 "$bin/zwatch demo"
wait_for CRITICAL
sleep 0.5
shot knock
keys C-]
keys a
wait_for 'If you allow it'
sleep 1
shot question
keys n
wait_for 'wants example.com'
keys C-]
keys a
wait_for 'New site'
sleep 1
shot site
keys n
wait_for 'Done'
sleep 0.5
shot dashboard
keys Enter
sleep 1
start 100x30 "$bin/zwatch history"
wait_for Sessions
keys Enter
wait_for docker.sock
sleep 0.3
shot history
start 40x12 "$bin/zwatch demo"
wait_for WAITING
keys C-]
keys a
wait_for 'allow'
sleep 0.5
shot small
