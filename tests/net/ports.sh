#!/bin/bash
# SPDX-License-Identifier: MIT
# Services across the border: a server inside on the host's loopback, by the settings and by an answer; a
# service of the host by an answer; what is refused looks as if nobody listened.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
command -v curl >/dev/null || skip "curl is not installed"
command -v perl >/dev/null || skip "perl is not installed"

. "$ZW_SRC/tests/support/ports.sh"
take_ports
offered=$port taken=$((port + 1)) host_port=$((port + 2)) nobody=$((port + 3)) asked=$((port + 4)) listed6=$((port + 5))
up() { curl -sS --noproxy '*' --max-time 5 "http://$1:$2/" 2>/dev/null; }
is_up() { up 127.0.0.1 "$1" | grep -q "$2"; }
is_down() { ! up 127.0.0.1 "$1" >/dev/null; }
listening() { python3 - "$1" <<'P'
import socket, struct, sys
for name, family in ("/proc/net/tcp", socket.AF_INET), ("/proc/net/tcp6", socket.AF_INET6):
    for line in open(name).readlines()[1:]:
        addr, port = line.split()[1].split(":")
        if line.split()[3] == "0A" and int(port, 16) == int(sys.argv[1]):
            raw = b"".join(struct.pack("=I", int(addr[i:i + 8], 16)) for i in range(0, len(addr), 8))
            print(socket.inet_ntop(family, raw))
P
}
cat >"$project/serve.py" <<'P'
import http.server, os, signal, sys
signal.signal(signal.SIGUSR1, lambda *a: os.execlp("perl", "perl", "other.pl", sys.argv[2], "turned"))
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = b"inside %d\n" % os.getpid()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *a):
        pass
class S(http.server.ThreadingHTTPServer):
    address_family = 10 if ":" in sys.argv[1] else 2
S((sys.argv[1], int(sys.argv[2])), H).serve_forever()
P

# -- by the settings --------------------------------------------------------------------------------
python3 "$project/serve.py" 127.0.0.1 "$taken" &
holder=$!
pids="$pids $!"
wait_until 10 is_up "$taken" inside || bad "the other server did not start"
config <<C
{ "network": { "publishPorts": [$offered, $taken, $listed6] } }
C
# Two: the end of one word's writer must not be taken for the end of the next.
mkfifo "$project/go" "$project/end"
timeout 120 "$zwatch" run --ui none -- sh -c "python3 serve.py 0.0.0.0 $offered & a=\$!
	python3 serve.py ::1 $listed6 & python3 serve.py 127.0.0.1 $taken & read x <go; kill \$a; read x <end" </dev/null >"$W/out" 2>&1 &
session=$!
wait_until 30 is_up "$offered" inside && echo "ok: a server inside is reached" || bad "a server inside is not reached: $(cat "$W/out")"
wait_until 30 is_up "$listed6" inside && echo "ok: one on ::1 too" || bad "a server on ::1 is not reached"
same "on the host's loopback only" "127.0.0.1" "$(listening "$offered")"
for address in $(hostname -I 2>/dev/null); do
	case $address in *:*) address="[$address]" ;; esac
	hasnt "not by $address" inside "$(up "$address" "$offered")"
done
n=0
for _ in 1 2 3 4 5 6 7 8; do up 127.0.0.1 "$offered" >"$W/get$n" & n=$((n + 1)); done
wait_until 20 sh -c "[ \$(cat '$W'/get* | grep -c inside) = 8 ]" && echo "ok: eight at once" || bad "not all of eight were answered"
timeout 30 sh -c "echo x >'$project/go'"
wait_until 20 is_down "$offered" && echo "ok: closed when the server has gone" || bad "still open"
# A connection can fail a moment before the host's port goes.
nobody_listens() { [ -z "$(listening "$offered")" ]; }
wait_until 20 nobody_listens && echo "ok: nothing listens there any more" || bad "it still listens"
same "the port that is taken is still the other's" "inside $holder" "$(up 127.0.0.1 "$taken")"
timeout 30 sh -c "echo x >'$project/end'"
wait $session
same "the session ended well" 0 $?
log=$("$zwatch" log last --json)
has "connections are on record" '"via": ?"published"' "$log"
has "with their bytes" '"down": ?[1-9]' "$log"
has "what was offered is on record" "127.0.0.1:$offered leads to python3" "$log"
has "and that it was closed" "127.0.0.1:$offered is closed" "$log"
has "a port that is taken names who has it" "127.0.0.1:$taken is taken by python3\($holder\)" "$log"

# -- nobody to ask ----------------------------------------------------------------------------------
config <<<'{}'
python3 "$project/serve.py" 127.0.0.1 "$host_port" &
pids="$pids $!"
wait_until 10 is_up "$host_port" inside || bad "the service of the host did not start"
cat >"$project/try.py" <<'P'
import errno, socket, sys
for port in sys.argv[1:]:
    for family, address in (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET, "0.0.0.0"):
        s = socket.socket(family)
        try:
            s.connect((address, int(port)))
            print("REACHED")
        except OSError as e:
            print(errno.errorcode[e.errno])
P
same "without a terminal both look empty" "ECONNREFUSED" "$(timeout 60 "$zwatch" run --ui none -- python3 try.py "$host_port" "$nobody" 2>&1 </dev/null | sort -u)"
log=$("$zwatch" log last --json)
has "the refusal is on record" "\"port\": ?$host_port.*no-terminal|no-terminal.*\"port\": ?$host_port" "$(printf %s "$log" | tr '\n' ' ')"
hasnt "nothing about a port that nobody has" "\"did\": ?\"deny\"[^}]*\"port\": ?$nobody" "$log"
config <<C
{ "network": { "allowedDomains": ["localhost:$host_port"] } }
C
has "a rule for localhost opens it" "inside" "$(timeout 60 "$zwatch" run --ui none -- curl -sS --noproxy '*' "http://127.0.0.1:$host_port/" 2>&1 </dev/null)"
config <<<'{}'

# -- questions --------------------------------------------------------------------------------------
# Another program, which takes the port before anybody has seen that the first one left it.
cat >"$project/other.pl" <<'P'
use IO::Socket::INET;
my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1", LocalPort => $ARGV[0], ReuseAddr => 1) or die "$@";
$| = 1;
print "[$ARGV[1]]\n";
while (my $c = $s->accept) {
	sysread $c, my $x, 4096;
	print $c "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nother\n";
}
P
cat >"$project/agent.sh" <<A
get() { curl -sS --noproxy '*' --max-time 100 http://127.0.0.1:\$1/; }
echo up
while read x; do
	case \$x in
	n) get $nobody; echo "[none \$?]" ;;
	g) get $host_port; echo "[got \$?]" ;;
	s) python3 serve.py 127.0.0.1 $asked & echo "[serving]" ;;
	k) kill \$!; wait; echo "[killed]" ;;
	o) kill \$!; wait; perl other.pl $asked other & ;;
	x) kill -USR1 \$! ;;
	esac
done
A
tt_start 100x30 "$zwatch" run -- sh agent.sh
tt_wait '^up'
tt_type n
tt_keys Enter
tt_wait '\[none 7\]'
tt_hasnt "127.0.0.1:$nobody.*wait" && echo "ok: no question where nobody listens" || bad "asked about nothing"
tt_type g
tt_keys Enter
tt_wait "127\.0\.0\.1:$host_port"
tt_prefix
tt_keys a
tt_wait 'Port of this machine'
tt_wait 'every program of yours'
tt_wait "Answers +python3"
tt_keys n
tt_wait '\[got 7\]'
tt_type g
tt_keys Enter
tt_wait '1 waiting'
tt_prefix
tt_keys a
tt_wait 'Port of this machine'
tt_answer s '^inside [0-9]+'
tt_type g
tt_keys Enter
tt_wait '\[got 0\]'
tt_type s
tt_keys Enter
tt_wait 'serving'
tt_wait "127\.0\.0\.1:$asked"
is_down "$asked" && echo "ok: not offered before the answer" || bad "offered without an answer"
tt_prefix
tt_keys a
tt_wait 'Server inside'
tt_wait 'your browser'
tt_awake
tt_keys s
wait_until 20 is_up "$asked" inside && echo "ok: offered after it" || bad "not offered: $(tt_screen)"
tt_type k
tt_keys Enter
tt_wait 'killed'
wait_until 20 is_down "$asked" && echo "ok: closed with it" || bad "still open"
tt_type s
tt_keys Enter
wait_until 20 is_up "$asked" inside && echo "ok: the answer holds when it comes back" || bad "not offered again"
tt_type o
tt_keys Enter
tt_wait '\[other\]'
tt_wait '1 waiting'
is_down "$asked" && echo "ok: another program on that port is not offered" || bad "another program is offered: $(up 127.0.0.1 "$asked")"
tt_prefix
tt_keys a
tt_wait 'Server inside'
tt_wait 'perl'
tt_awake
tt_keys n
tt_wait_gone '1 waiting'
is_down "$asked" && echo "ok: nor after a no" || bad "offered after a no"
tt_type k
tt_keys Enter
tt_wait '\[killed\]'
tt_type s
tt_keys Enter
wait_until 20 is_up "$asked" inside && echo "ok: the first one is offered as before" || bad "not offered any more"
tt_type x
tt_keys Enter
tt_wait '\[turned\]'
wait_until 20 is_down "$asked" && echo "ok: nor what the same process becomes" || bad "still offered: $(up 127.0.0.1 "$asked")"
tt_type k
tt_keys Enter
tt_type s
tt_keys Enter
wait_until 20 is_up "$asked" inside && echo "ok: and once more" || bad "not offered any more"
tt_type k
tt_keys Enter
tt_keys C-d
tt_wait '\[exit 0\]'
log=$("$zwatch" log last --json)
line=$(printf '%s\n' "$log" | grep "\"did\": \?\"deny\".*\"port\": \?$host_port")
has "the refusal is on record with who said it" '"by": ?"user"' "$line"
has "the grant is on record" "\"did\": ?\"allow\".*\"port\": ?$host_port" "$log"
has "the offer is on record" "127.0.0.1:$asked leads to python[0-9.]*\([0-9]+\) inside, by your answer" "$log"
has "the questions are on record" '"class": ?"publish"' "$log"

# -- always, and the way back -------------------------------------------------------------------------
rules=$HOME/.config/zwatch/rules.json
yes_always() {
	tt_prefix
	tt_keys a
	tt_wait "$1" 20
	tt_wait_gone 'wake in' 20
	sleep 0.4
	tt_keys A
	tt_wait 'will NOT ask when' 20
	tt_wait 'sha256 [0-9a-f]{4}' 30
	tt_wait_gone 'asleep' 20
	sleep 0.4
	tt_keys Enter
	tt_wait 'Allowed always' 20
}
tt_start 100x30 "$zwatch" run -- sh agent.sh
tt_wait '^up' 20
tt_type s
tt_keys Enter
tt_wait "127\.0\.0\.1:$asked" 20
yes_always 'Server inside'
wait_until 20 is_up "$asked" inside && echo "ok: offered" || bad "not offered: $(tt_screen)"
has "always: a rule about that port" "\"target\": \"publish:$asked\".*\"sha256\": \"[0-9a-f]{64}\".*\"script\": \"[^\"]*serve.py\"" "$(cat "$rules")"
tt_type g
tt_keys Enter
tt_wait '1 waiting' 20
yes_always 'Port of this machine'
tt_wait '\[got 0\]' 20
has "always of a port of this machine: a rule about it" "\"target\": \"localhost:$host_port\"" "$(cat "$rules")"
tt_keys C-d
tt_wait '\[exit 0\]' 20
tt_start 100x30 "$zwatch" run -- sh agent.sh
tt_wait '^up' 20
tt_type s
tt_keys Enter
wait_until 30 is_up "$asked" inside && echo "ok: offered by the rule in the next session" || bad "not offered: $(tt_screen)"
tt_type g
tt_keys Enter
tt_wait '\[got 0\]' 20
tt_hasnt '1 waiting' && echo "ok: neither is asked about again" || bad "asked again"
has "rules names both" "publish:$asked" "$("$zwatch" rules)"
# The rule goes: nothing is offered any more, and it is asked about again.
same "rules rm" 0 "$("$zwatch" rules rm 1 >"$W/rm" 2>&1; echo $?)"
wait_until 30 is_down "$asked" && echo "ok: without its rule it is closed" || bad "still open"
tt_type k
tt_keys Enter
tt_wait 'killed' 20
tt_type s
tt_keys Enter
tt_wait '1 waiting' 20
tt_prefix
tt_keys a
tt_wait 'Server inside' 20
tt_wait_gone 'wake in' 20
sleep 0.4
tt_keys s
wait_until 20 is_up "$asked" inside && echo "ok: offered by an answer" || bad "not offered: $(tt_screen)"
# Undo takes the port back, with what is open.
python3 - "$asked" "$W/cut" <<'P' &
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
s.recv(1)
open(sys.argv[2], "w").write("open")
try:
    while s.recv(4096):
        pass
except OSError:
    pass
open(sys.argv[2], "w").write("cut")
P
wait_until 20 grep -q open "$W/cut"
tt_prefix
tt_keys u
tt_wait 'Taken back' 20
wait_until 20 is_down "$asked" && echo "ok: undo takes the port back" || bad "undo: still open"
wait_until 20 grep -q cut "$W/cut" && echo "ok: and what was open" || bad "undo: a connection lives on"
tt_type k
tt_keys Enter
tt_wait 'killed' 20
tt_type s
tt_keys Enter
tt_wait '1 waiting' 20
tt_keys C-d
tt_wait '\[exit 0\]' 20
log=$("$zwatch" log last --json)
has "what a rule offered is on record" "127.0.0.1:$asked leads to python[0-9.]*\([0-9]+\) inside, by your rule 1" "$log"
has "that the rule has gone" "127.0.0.1:$asked is closed: its rule is no more" "$log"
has "that it was taken back" "127.0.0.1:$asked is closed: you took the answer back" "$log"
exit 0
