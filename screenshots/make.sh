#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the pictures of the README from a real demonstration, in tmux, drawn by xterm.js, light and dark.
#   screenshots/make.sh [BIN-FOLDER]          needs tmux, chromium, npm, fonts-dejavu
#   screenshots/make.sh --check [BIN-FOLDER]  only compares what the screens say now with what they said when the
#                                             pictures were made (*.txt); needs tmux
set -eu
here=$(cd "$(dirname "$0")" && pwd)
is_check=
[ "${1:-}" != --check ] || { is_check=1; shift; }
bin=${1:-$here/../build/release/bin}
export XTERM_DIR=${XTERM_DIR:-$here/../build/xterm}
if [ -z "$is_check" ] && [ ! -d "$XTERM_DIR/node_modules/@xterm/xterm" ]; then
	npm install --silent --no-fund --no-audit --prefix "$XTERM_DIR" @xterm/xterm
fi
# The folders are on the pictures: names that say nothing of this machine.
work=/tmp/zwatch-shots
# As long a name: what is cut at an edge is cut at the same place.
if [ -n "$is_check" ]; then work=$(mktemp -d /tmp/zwatch-XXXXX); else mkdir -m 700 "$work"; fi
mkdir "$work/shop" "$work/run" "$work/bin"
chmod 700 "$work/run"
cp "$bin"/zwatch* "$work/bin/"
bin=$work/bin
export HOME=$work XDG_RUNTIME_DIR=$work/run LC_ALL=C.UTF-8
unset XDG_CONFIG_HOME XDG_STATE_HOME ZWATCH ZWATCH_CONFIG ZWATCH_DB ZWATCH_UI TMUX NO_COLOR
cd "$work/shop"
name=shots$$
n_bad=0
trap 'tmux -L $name kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
screen() { tmux -L $name capture-pane -p -t s; }
wait_for() {
	for _ in $(seq 600); do
		screen | grep -qE -- "$1" && return
		sleep 0.1
	done
	echo "never shown: $1" >&2
	screen >&2
	exit 1
}
keys() { tmux -L $name send-keys -t s "$@"; }
# What differs from run to run is not what a screen says: numbers, amounts, traffic, folders of this run.
words() {
	screen | sed -E -e "s#$work#~#g; s#/tmp/demo-[A-Za-z0-9]*#/tmp/demo#g" -e 's/[0-9][0-9.,:]*[KMGT]?/0/g' -e 's/(▁|▂|▃|▄|▅|▆|▇|█)+/~/g' -e 's/(-|─| )+/ /g' \
		-e 's/ $//' -e '/^$/d'
}
shot() {
	if [ -n "$is_check" ]; then
		words | diff -u "$here/$1.txt" - || { n_bad=$((n_bad + 1)); echo "$1 is not what the picture shows: screenshots/make.sh makes them anew" >&2; }
		return
	fi
	words >"$here/$1.txt"
	"$here/shot.sh" $name s "$here/$1.png" "$size" dark
	"$here/shot.sh" $name s "$here/$1-light.png" "$size" light
}
start() {
	size=$1
	tmux -L $name kill-server 2>/dev/null || true
	while tmux -L $name has-session 2>/dev/null; do sleep 0.1; done
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
keys C-]
keys 3
wait_for 'Enter open'
keys /
keys did:deny Enter
wait_for '1 of'
keys Enter
wait_for 'Socket 1 of'
wait_for 'deny from now on' # the message of the last answer has gone
shot row
keys q q q
keys C-]
keys p
wait_for 'Processes'
wait_for 'X kill'
sleep 1.5
shot processes
keys q
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
[ "$n_bad" -eq 0 ]
