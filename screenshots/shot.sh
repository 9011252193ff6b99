#!/bin/bash
# One screen of a tmux pane as a PNG, drawn by xterm.js in headless Chromium.
#   shot.sh TMUX-SOCKET-NAME TARGET OUT.png COLUMNSxROWS
# Needs chromium (Debian) and @xterm/xterm (npm) in $XTERM_DIR.
set -eu
socket=$1 target=$2 out=$3 size=$4
cols=${size%x*}
rows=${size#*x}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tmux -L "$socket" capture-pane -e -p -t "$target" >"$dir/screen.txt"
cursor=$(tmux -L "$socket" display-message -p -t "$target" '#{cursor_y};#{cursor_x}')
cp "$XTERM_DIR/node_modules/@xterm/xterm/lib/xterm.js" "$XTERM_DIR/node_modules/@xterm/xterm/css/xterm.css" "$dir/"
python3 - "$dir" "$cols" "$rows" "$cursor" <<'P'
import json, sys
d, cols, rows, cursor = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
text = open(d + "/screen.txt", encoding="utf-8", errors="replace").read().rstrip("\n").replace("\n", "\r\n")
y, x = cursor.split(";")
text += "\x1b[%d;%dH" % (int(y) + 1, int(x) + 1)
open(d + "/page.html", "w").write("""<!doctype html><meta charset=utf-8><link rel=stylesheet href=xterm.css>
<style>body{margin:0;background:#101418}#t{padding:8px;display:inline-block}</style><div id=t></div><script src=xterm.js></script><script>
const t=new Terminal({cols:%d,rows:%d,fontFamily:"DejaVu Sans Mono",fontSize:14,allowProposedApi:true,
theme:{background:"#101418",foreground:"#d8dee4"}});t.open(document.getElementById("t"));t.write(%s);</script>""" % (cols, rows, json.dumps(text)))
P
width=$(((cols * 843 + 99) / 100 + 16))
height=$((rows * 16 + 16))
chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
	--disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$dir/profile" --virtual-time-budget=2000 \
	--window-size=$width,$height --screenshot="$out" "file://$dir/page.html" >/dev/null 2>&1
