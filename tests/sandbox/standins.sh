#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that look for a socket before they connect find one, where there is one outside; and what they
# find is nobody's.
. "${ZW_SRC:?}/tests/support/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
command -v tmux >/dev/null || skip "tmux is not installed"
inside() { timeout 120 "$zwatch" run --ui none -- "$@" </dev/null 2>&1; }

mkdir -p -m 700 "$W/out/deep"
serve_unix "$W/out/deep/docker.sock" "$W/docker"
serve_unix "$W/out/none.sock" "$W/none"
export DOCKER_HOST=unix://$W/out/deep/docker.sock
tmux_name=zwt$$
tmux -L "$tmux_name" -f /dev/null new-session -d 'sleep 300'
server=/tmp/tmux-$(id -u)/$tmux_name
wait_until 60 test -S "$server" || bad "tmux server at $server"

has "what a variable names" "^found$" "$(inside sh -c 'test -S "'"$W"'/out/deep/docker.sock" && echo found')"
same "what a pattern names" "found" "$(inside sh -c "test -S $server && echo found")"
same "with the modes that it has outside" "700 700 600" "$(inside sh -c "stat -c %a '$W/out/deep' $(dirname "$server") $server" | paste -sd' ')"
same "what is in no class stays away" "" "$(inside sh -c "ls '$W/out'" | grep none)"
same "and what is not there outside" "" "$(inside sh -c 'test -e /run/docker.sock.none && echo found')"
[ -e /var/run/docker.sock ] || same "no Docker, no socket" "" "$(inside sh -c 'ls /var/run/docker.sock 2>/dev/null')"

# Nobody answers, so the connect is denied; the kernel itself finds nobody behind the file.
connect='import socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(sys.argv[1]); print("reached")
except OSError as e:
    print(type(e).__name__)'
same "a connect goes to the host's, and is denied" "PermissionError" "$(inside python3 -c "$connect" "$W/out/deep/docker.sock")"
same "nobody was reached" "" "$(cat "$W/docker" 2>/dev/null)"
out=$("$zwatch" log last --json 2>&1)
has "the record names the host's socket and its class" "$W/out/deep/docker.sock.*\"class\": *\"docker\"|\"class\": *\"docker\".*$W/out/deep/docker.sock" "$out"
same "nothing listens on it" "0" "$(inside sh -c "grep -c docker.sock /proc/net/unix")"

# In a hidden folder, which stays hidden and read-only.
mkdir -p -m 700 "$HOME/.gnupg/d"
echo key >"$HOME/.gnupg/secring"
serve_unix "$HOME/.gnupg/S.gpg-agent" "$W/gpg"
serve_unix "$HOME/.gnupg/d/other" "$W/other"
same "in a hidden folder: found, and no file beside it" "socket S.gpg-agent d" \
	"$(inside sh -c 'stat -c %F ~/.gnupg/S.gpg-agent; ls -A ~/.gnupg' | paste -sd' ')"
same "nothing can be made or removed there" "600 kept" \
	"$(inside sh -c 'cd ~/.gnupg; touch x 2>/dev/null || mkdir d 2>/dev/null || rm -f S.gpg-agent 2>/dev/null || mv S.gpg-agent y 2>/dev/null || echo $(stat -c %a S.gpg-agent) kept')"
same "its connect is judged, and denied" "PermissionError" "$(inside python3 -c "$connect" "$HOME/.gnupg/S.gpg-agent")"
has "and recorded as what it is" 'S.gpg-agent.*"class": *"gpg[^"]*"|"class": *"gpg[^"]*".*S.gpg-agent' "$("$zwatch" log last --json 2>&1)"
same "nobody was reached" "" "$(cat "$W/gpg" 2>/dev/null)"
get='import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1]); s.sendall(b"GET / HTTP/1.0\r\n\r\n"); print(s.recv(12).decode())'
same "it is reached by a rule" "HTTP/1.1 200" \
	"$(timeout 120 "$zwatch" run --ui none --allow-dangerous-sockets --allow-unix "$HOME/.gnupg/S.gpg-agent" -- python3 -c "$get" "$HOME/.gnupg/S.gpg-agent" </dev/null 2>/dev/null | tail -1)"
same "outside all is as it was" "S.gpg-agent d secring" "$(ls -A "$HOME/.gnupg" | paste -sd' ')"

# They are in private folders alone: nothing of them is left.
same "the project is as it was" "" "$(ls -A "$project")"
# One's own server takes the place.
own='import os, socket, sys
p = sys.argv[1]
os.unlink(p)
l = socket.socket(socket.AF_UNIX); l.bind(p); l.listen()
s = socket.socket(socket.AF_UNIX); s.connect(p); print("own")'
same "an own server takes its place" "own" "$(inside python3 -c "$own" "$server")"
same "the one outside lives" "found" "$(test -S "$server" && echo found)"

# Z018: zwatch listens nowhere, so there is nothing to which an answer could be sent.
"$zwatch" run --ui none -- sh -c 'touch up; sleep 3' </dev/null >/dev/null 2>&1 &
wait_until 60 test -e up || bad "no session"
# Another session that starts just now has its self-test's.
same "Z018 zwatch has no socket with a name" "" "$(grep -i 'zwatch' /proc/net/unix | grep -v '@zwatch-self-test-')"
wait $!
rm -f up

# Z020: a secret that is asked for by way of the bus. The keyring is a stand-in: whoever asks gets it.
cat >"$project/keyring.py" <<'P'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(30)
try:
    s.connect(sys.argv[1]); s.sendall(b"\0AUTH EXTERNAL 30\r\n"); print(s.recv(100).decode())
except OSError as e:
    print(type(e).__name__)
P
python3 - "$XDG_RUNTIME_DIR/bus" <<'P' &
import os, socket, sys
l = socket.socket(socket.AF_UNIX)
l.bind(sys.argv[1])
l.listen()
while True:
    c = l.accept()[0]
    c.recv(100)
    c.sendall(b"the secret")
    c.close()
P
keyring=$!
wait_until 60 test -S "$XDG_RUNTIME_DIR/bus" || bad "keyring"
export DBUS_SESSION_BUS_ADDRESS="unix:path=$XDG_RUNTIME_DIR/bus"
same "Z020 outside the secret is had" "the secret" "$(python3 keyring.py "$XDG_RUNTIME_DIR/bus")"
same "Z020 inside it is not, and that is said at once" "PermissionError" "$(inside timeout 30 python3 keyring.py "$XDG_RUNTIME_DIR/bus")"
kill $keyring
wait $keyring 2>/dev/null
rm -f "$XDG_RUNTIME_DIR/bus" "$project/keyring.py"
unset DBUS_SESSION_BUS_ADDRESS

# Z019: the session bus, by its variable, and what asks it.
if command -v dbus-daemon >/dev/null && command -v dbus-send >/dev/null; then
	dbus-daemon --session --nofork --nopidfile --address="unix:path=$XDG_RUNTIME_DIR/bus" >/dev/null 2>&1 &
	pids="$pids $!"
	wait_until 60 test -S "$XDG_RUNTIME_DIR/bus" || bad "bus"
	names="dbus-send --address=unix:path=$XDG_RUNTIME_DIR/bus --print-reply --dest=org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus.ListNames"
	export DBUS_SESSION_BUS_ADDRESS="unix:path=$XDG_RUNTIME_DIR/bus"
	has "Z019 the bus answers outside" "org.freedesktop.DBus" "$($names 2>&1)"
	hasnt "Z019 and not inside without a yes" "array" "$(inside $names)"
	has "Z019 on record as the session bus" '"did":"deny".*"class":"dbus-session"|"class":"dbus-session".*"did":"deny"' "$("$zwatch" log last --json)"
	if command -v secret-tool >/dev/null; then
		hasnt "no secret by way of the bus" "." "$(inside timeout 20 secret-tool lookup a b 2>/dev/null)"
	fi
	unset DBUS_SESSION_BUS_ADDRESS
else
	echo "note: dbus-daemon, dbus-send are not here"
fi

# The user's runtime folder is the sandbox's own inside; what is in the real one can be allowed.
real=/run/user/$(id -u)
made=
[ -d "$real" ] || { mkdir -p "$real" 2>/dev/null && made=$real; }
if [ -w "$real" ]; then
	serve_unix "$real/zwt$$.sock" "$W/served"
	out=$(timeout 120 "$zwatch" run --ui none --allow-unix "$real/zwt$$.sock" -- python3 -c "$get" "$real/zwt$$.sock" </dev/null 2>&1)
	same "a socket in the runtime folder can be allowed" "HTTP/1.1 200" "$out"
	rm -f "$real/zwt$$.sock"
	[ -z "$made" ] || rmdir "$made"
else
	echo "note: no runtime folder at $real"
fi

# The system log: harmless, so it is open. Name services: not there, without a question, and programs fall
# back to files and to the names inside.
mkdir -p "$XDG_RUNTIME_DIR/systemd/journal"
serve_unix "$XDG_RUNTIME_DIR/systemd/journal/stdout" "$W/journal"
same "the journal is found and open" "HTTP/1.1 200" "$(inside python3 -c "$get" "$XDG_RUNTIME_DIR/systemd/journal/stdout" | tail -1)"
has "on record as the system log" '"class": *"syslog"' "$("$zwatch" log last --json 2>&1)"
if [ "$(id -u)" = 0 ] && [ ! -e /dev/log ]; then
	serve_unix /dev/log "$W/devlog"
	same "/dev/log is found, and open" "socket HTTP/1.1 200" \
		"$(inside sh -c 'stat -c %F /dev/log; python3 -c "$1" /dev/log' sh "$get" | paste -sd' ')"
	has "syslog(3) harms nobody" "^went on$" "$(inside python3 -c 'import syslog; syslog.syslog("x"); print("went on")')"
	rm -f /dev/log
else
	echo "note: /dev/log is not ours to make"
fi
made=
for dir in /run/nscd /run/systemd /run/systemd/resolve; do
	[ "$(id -u)" = 0 ] && [ ! -e $dir ] && mkdir $dir && made="$dir $made"
done
# Beside the real names: programs outside must not meet them.
for socket in /run/nscd/zwt$$ /run/systemd/resolve/zwt$$; do
	if [ "$(id -u)" != 0 ]; then
		echo "note: $socket is not ours to make"
		continue
	fi
	serve_unix $socket "$W/names"
	same "$socket: not there" "FileNotFoundError" "$(inside python3 -c "$connect" $socket)"
	has "$socket: on record, without a question" '"did": *"(deny|none|not-there|nothing)".*"class": *"names"|"class": *"names".*"did"' "$("$zwatch" log last --json 2>&1)"
	same "$socket: no stand-in" "" "$(inside sh -c "ls $socket 2>/dev/null")"
	same "$socket: users and hosts are found all the same" "root localhost" \
		"$(inside sh -c 'getent passwd root | cut -d: -f1; getent hosts localhost | sed "s/.* //"' | paste -sd' ')"
	same "$socket: nobody was reached" "" "$(cat "$W/names" 2>/dev/null)"
	rm -f $socket
done
[ -z "$made" ] || rmdir $made
