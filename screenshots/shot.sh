#!/bin/bash
# One screen of a tmux pane as a PNG, drawn by xterm.js in headless Chromium.
#   shot.sh TMUX-SOCKET-NAME TARGET OUT.png COLUMNSxROWS dark|light
# Needs chromium (Debian) and @xterm/xterm (npm) in $XTERM_DIR.
set -eu
socket=$1 target=$2 out=$3 size=$4 look=${5:-dark}
cols=${size%x*}
rows=${size#*x}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tmux -L "$socket" capture-pane -e -p -t "$target" >"$dir/screen.txt"
cursor=$(tmux -L "$socket" display-message -p -t "$target" '#{cursor_y};#{cursor_x}')
cp "$XTERM_DIR/node_modules/@xterm/xterm/lib/xterm.js" "$XTERM_DIR/node_modules/@xterm/xterm/css/xterm.css" "$dir/"
python3 - "$dir" "$cols" "$rows" "$cursor" "$look" <<'P'
import json, sys
d, cols, rows, cursor = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
light = sys.argv[5] == "light"
back, fore = ("#ffffff", "#1f2328") if light else ("#101418", "#d8dee4")
# A light terminal has darker colours of its own, as their makers ship them.
more = ',red:"#b31d28",green:"#1a7f37",yellow:"#8a6100",blue:"#0550ae",magenta:"#8250df",cyan:"#1b7c83"' if light else ""
text = open(d + "/screen.txt", encoding="utf-8", errors="replace").read().rstrip("\n").replace("\n", "\r\n")
y, x = cursor.split(";")
text += "\x1b[%d;%dH" % (int(y) + 1, int(x) + 1)
open(d + "/page.html", "w").write("""<!doctype html><meta charset=utf-8><link rel=stylesheet href=xterm.css>
<style>body{margin:0;background:%s}#t{padding:8px;display:inline-block}</style><div id=t></div><script src=xterm.js></script><script>
const t=new Terminal({cols:%d,rows:%d,fontFamily:"DejaVu Sans Mono",fontSize:14,allowProposedApi:true,drawBoldTextInBrightColors:false,
theme:{background:"%s",foreground:"%s",cursor:"%s"%s}});t.open(document.getElementById("t"));t.write(%s);</script>""" % (back, cols, rows, back, fore, fore, more, json.dumps(text)))
P
width=$(((cols * 843 + 99) / 100 + 16))
height=$((rows * 16 + 16))
chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
	--disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$dir/profile" --virtual-time-budget=2000 \
	--window-size=$width,$height --screenshot="$out" "file://$dir/page.html" >/dev/null 2>&1
