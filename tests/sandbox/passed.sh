#!/bin/bash
# SPDX-License-Identifier: MIT
# Descriptors that come in over a socket of the host: a relay drops them and says so; over a direct
# socket they arrive, and a folder among them opens nothing of the host's files.
. "${ZW_SRC:?}/tests/support/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"

mkdir -p "$W/out/secrets"
echo topsecret >"$W/out/secrets/file"
cat >"$W/out/server.py" <<'P'
import array, os, socket, sys, threading
path, folder = sys.argv[1:3]
l = socket.socket(socket.AF_UNIX); l.bind(path); l.listen(8)
def serve(c):
    fds = [os.open(folder, os.O_PATH), os.open(folder, os.O_RDONLY)]
    socket.send_fds(c, [b"two"], fds)
    data, got, _, _ = socket.recv_fds(c, 64, 4)
    c.sendall(b"got %d" % len(got)); c.close()
while True:
    threading.Thread(target=serve, args=(l.accept()[0],), daemon=True).start()
P
python3 "$W/out/server.py" "$W/out/give.sock" "$W/out/secrets" &
pids="$pids $!"
wait_until 60 test -S "$W/out/give.sock" || bad "server"
cat >take.py <<'P'
import os, socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
data, fds, _, _ = socket.recv_fds(s, 64, 4)
print("bytes", data.decode(), "descriptors", len(fds))
for fd in fds:
    for what in ("file", ".", ".."):
        try:
            got = os.open(what, os.O_RDONLY, dir_fd=fd)
            print("OPENED", what, os.read(got, 9) if what == "file" else os.listdir(got))
        except OSError as e:
            print(what, type(e).__name__)
socket.send_fds(s, [b"mine"], [0])
print("outside", s.recv(16).decode())
P
run() { timeout 120 "$zwatch" run --ui none -- python3 take.py "$W/out/give.sock" </dev/null 2>&1; }

config <<E2
{ "network": { "allowUnixSockets": ["$W/out/give.sock"] } }
E2
out=$(run)
has "relay: the bytes arrive" "^bytes two descriptors 0$" "$out"
has "relay: the agent's do not either" "^outside got 0$" "$out"
log=$("$zwatch" log last --json)
has "relay: what came from outside is on record" '"op":"passed-descriptor","did":"deny".*from outside' "$log"
has "relay: and what the agent sent" '"op":"passed-descriptor","did":"deny".*of the agent' "$log"

config <<E2
{ "network": { "allowUnixSockets": [{"path": "$W/out/give.sock", "direct": true}] } }
E2
out=$(run)
has "direct: they arrive" "^bytes two descriptors 2$" "$out"
hasnt "direct: nothing is opened through them" "OPENED" "$out"
same "direct: each way is refused" "6" "$(printf '%s\n' "$out" | grep -c PermissionError)"
has "direct: outside gets the agent's" "^outside got 1$" "$out"
has "direct: the grant is on record" '"op":"connect","did":"allow".*give.sock' "$("$zwatch" log last --json)"
