#!/bin/bash
# SPDX-License-Identifier: MIT
# The lists of a running session: find a row, look at it, close what it has open, refuse it from now on,
# take that back; a connection and a socket.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
command -v curl >/dev/null || skip "curl is not installed"

# Answers at once, or, for /slow, begins to and goes on until it is ended.
cat >"$W/origin.py" <<'P'
import http.server, sys, time
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"began\n")
        while self.path == "/slow":
            self.wfile.write(b"." * 100)
            self.wfile.flush()
            time.sleep(0.1)
    def log_message(self, *a):
        pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
print(s.server_port, flush=True)
s.serve_forever()
P
python3 "$W/origin.py" >"$W/port" 2>/dev/null &
pids="$pids $!"
wait_until 60 test -s "$W/port"
port=$(cat "$W/port")
mkdir "$W/srv"
serve_unix "$W/srv/db.sock"
config <<<"{ \"network\": { \"allowLocalPorts\": [$port], \"allowUnixSockets\": [\"$W/srv/db.sock\"] } }"

tt_start 100x30 env "PS1='ready> '" "$zwatch" --env PS1="'ready> '" run -- bash --norc --noprofile
tt_wait 'ready>' 60
run() {
	tt_type "clear; $1"
	tt_keys Enter
}
go() {
	tt_prefix
	tt_keys "$1"
}

run "curl -sN http://127.0.0.1:$port/slow >got; echo ended=\$?"
tt_wait "live[*] +127.0.0.1:$port" 60
go 2
tt_type '/host:127.0.0.1'
tt_wait 'ok 1 of 1' 60
tt_keys Enter
tt_wait 'Enter open' 60
tt_keys Enter
tt_wait 'Connection 1 of 1' 60
tt_wait 'Rate ' 60
tt_wait 'Before this session' 60
tt_type b
tt_wait "done NEW in this project$" 60
tt_keys q q q
tt_wait 'ended=[1-9]' 60

go 2
tt_wait 'Enter open' 60
tt_type n
tt_wait "127.0.0.1:$port, for whatever the agent runs" 60
tt_keys Enter
tt_wait 'From now on denied' 60
tt_keys q
run "curl -s http://127.0.0.1:$port/ -o got; cat got; echo code=\$?"
tt_wait "DENY[* ]+127.0.0.1:$port" 60
go u
tt_wait 'Taken back: the deny' 60
run "curl -s http://127.0.0.1:$port/"
tt_wait '^began' 60

run "curl -s --unix-socket $W/srv/db.sock http://x/; echo first=\$?"
tt_wait 'first=0' 60
go 3
tt_wait 'Enter open' 60
tt_type '/path:db.sock did:allow'
tt_keys Enter
tt_wait '1 of [0-9]+' 60
tt_type n
tt_wait 'db.sock, for whatever' 60
tt_type A
tt_wait 'From now on denied \(rule 1\)' 60
tt_keys q q
run "curl -s --unix-socket $W/srv/db.sock http://x/; echo second=\$?"
tt_wait 'second=[1-9]' 60
has "the rule is kept" 'db\.sock' "$(cat "$HOME/.config/zwatch/rules.json")"
go 3
tt_type '/did:deny'
tt_keys Enter
tt_type ch
tt_wait 'opied' 60
tt_keys q q

# A process of the sandbox: frozen, thawed, ended.
run 'sleep 7777 & p=$!'
tt_wait 'ready>' 60
go p
tt_wait 'sleep 7777$' 60
tt_keys G
tt_wait ' sleep\([0-9]+\) ' 60
tt_type f
tt_wait 'FROZEN +sleep 7777' 60
tt_type f
tt_wait 'sleep +sleep 7777' 60
tt_type X
tt_wait_gone 'sleep 7777$' 60
tt_keys q
run 'wait $p; echo gone=$?'
tt_wait 'gone=137' 60
tt_type 'exit'
tt_keys Enter
tt_wait '\[exit' 60
exit 0
