#!/bin/bash
# `zwatch run --ui none`: bytes, arguments and exit status are the program's own; nothing of zwatch on
# standard error. Z130 no terminal, Z134 arguments, Z137 diagnostics.
. "${ZW_SRC:?}/tests/support/lib.sh"

# bytes untouched, both ways
head -c 300000 /dev/urandom >"$W/in"
"$zwatch" run --ui none -- cat <"$W/in" >"$W/out" 2>"$W/err"
same "cat: exit status" 0 $?
cmp -s "$W/in" "$W/out" && echo "ok: 300 kB in and out byte for byte" || bad "cat changed bytes"
same "Z137 nothing on standard error" "" "$(cat "$W/err")"

# Z137: stdout and stderr apart
"$zwatch" run -- sh -c 'echo o; echo e >&2' >"$W/out" 2>"$W/err" </dev/null
same "Z137 stdout" o "$(cat "$W/out")"
same "Z137 stderr" e "$(cat "$W/err")"

# exit statuses
for n in 0 1 3 77 255; do
	"$zwatch" run -- sh -c "exit $n" </dev/null
	same "exit status $n" "$n" $?
done
"$zwatch" run -- sh -c 'kill -TERM $$' </dev/null
same "SIGTERM inside" 143 $?
"$zwatch" run -- sh -c 'kill -KILL $$' </dev/null
same "SIGKILL inside" 137 $?
err=$("$zwatch" run -- /no/such/program 2>&1 </dev/null)
same "not found" 127 $?
has "not found is said" 'zwatch: .*no/such/program' "$err"
echo 'not a program' >"$project/plain"
"$zwatch" run -- ./plain 2>/dev/null </dev/null
same "not executable" 126 $?

# Z088: 50 MB on both streams at once; the reader is late and slow, or closes one of them
cat >"$project/flood.py" <<'P'
import os, sys, threading
def fill(fd):
    left = 50 << 20
    try:
        while left > 0:
            left -= os.write(fd, b"x" * min(left, 65536))
    except BrokenPipeError:
        closed.append(fd)
closed = []
threads = [threading.Thread(target=fill, args=(fd,)) for fd in (1, 2)]
for t in threads:
    t.start()
for t in threads:
    t.join()
os._exit(7 if not closed else 8)
P
python3 - "$zwatch" <<'P' && echo "ok: Z088 all of it arrives, and a closed end ends the writer" || bad "Z088 streams that nobody reads"
import subprocess, sys, threading, time
def start():
    return subprocess.Popen([sys.argv[1], "run", "--ui", "none", "--", "python3", "flood.py"], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
def take(name, f, got):
    n = 0
    time.sleep(1)
    while True:
        data = f.read(1 << 20)
        n += len(data)
        if not data:
            break
        time.sleep(0.002)
    got[name] = n
p, got = start(), {}
threads = [threading.Thread(target=take, args=(n, f, got)) for n, f in (("out", p.stdout), ("err", p.stderr))]
for t in threads:
    t.start()
status = p.wait(timeout=120)
for t in threads:
    t.join(60)
good = status == 7 and got == {"out": 50 << 20, "err": 50 << 20}
p, got2 = start(), {}
p.stdout.close()
take("err", p.stderr, got2)
status2 = p.wait(timeout=120)
good = good and status2 == 8 and got2["err"] >= 50 << 20
if not good:
    print(status, got, status2, got2)
sys.exit(not good)
P

# Z134: arguments arrive as they are
python3 - "$zwatch" <<'P' && echo "ok: Z134 argv byte for byte" || bad "Z134 argv differs"
import os, subprocess, sys
zw = sys.argv[1].encode()
cases = [b"a b", b"'", b'"', b"!", b"=ls", b"$x", b"\\", b"a\nb", b"", b"-n", b"--", b"\xff\xfe\x80", b"x" * 100000]
cases += [b"arg%d" % i for i in range(1000)]
show = b"import sys, os\nsys.stdout.buffer.write(b'\\0'.join(os.fsencode(a) for a in sys.argv[1:]))"
out = subprocess.run([zw, b"run", b"--", b"python3", b"-c", show] + cases, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout
sys.exit(0 if out == b"\0".join(cases) else 1)
P

# Z130: a question without a terminal is an immediate denial, on record, with a hint
serve_unix "$W/docker.sock"
export DOCKER_HOST=unix://$W/docker.sock
# (By its own limit curl would end with 28.)
timeout 100 "$zwatch" run -- curl -sS --max-time 60 --unix-socket "$W/docker.sock" http://x/_ping >"$W/out" 2>"$W/err" </dev/null
same "Z130 refused, and at once" 7 $?
[ ! -e "$W/served" ] && echo "ok: Z130 the listener saw nothing" || bad "Z130 the listener was reached"
log=$("$zwatch" log last --json)
has "Z130 on record" '"did": ?"deny"' "$log"
has "Z130 with the reason" '"by": ?"no-terminal"' "$log"
has "Z130 with its class" '"class": ?"docker"' "$log"

# nothing there, and no permission: native errors, on record, no question
"$zwatch" run -- python3 - "$W/nothing.sock" >"$W/out" 2>&1 <<'P'
import errno, socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(sys.argv[1])
except OSError as e:
    print(errno.errorcode[e.errno])
P
same "nothing there" ENOENT "$(cat "$W/out")"
has "nothing there is on record" '"did": ?"fail".*nothing.sock|nothing.sock.*"did": ?"fail"' "$("$zwatch" log last --json | tr -d '\n')"
# a storm is counted in full, on the exit line and on record
storm='import socket, sys
for i in range(50):
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(sys.argv[1])
    except OSError:
        pass'
has "a storm on the exit line" 'refused 50,' "$("$zwatch" -v run -- python3 -c "$storm" "$W/docker.sock" 2>&1 </dev/null)"
has "a storm on record" '"count":50\b' "$("$zwatch" log last --json)"
exit 0
