#!/bin/bash
# SPDX-License-Identifier: MIT
# Z157: what talks to itself over sockets of its own does so without a question: real programs, started
# inside, with nobody there to answer. Z168 databases among them, with their socket in the project.
. "${ZW_SRC:?}/tests/support/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
inside() { timeout 200 "$zwatch" run --ui none -- "$@" </dev/null 2>&1; }

# own NAME WANTED COMMAND...: its output has WANTED; then the record has connects to own sockets, and
# nothing that was asked about or denied.
own() {
	local name=$1 wanted=$2 out log
	shift 2
	out=$(inside "$@")
	log=$("$zwatch" log last --json)
	has "$name works" "$wanted" "$out"
	has "$name: its connects are on record" '"op":"(connect|abstract)","did":"auto"' "$log"
	same "$name: nothing was asked about" "" "$(printf '%s\n' "$log" | grep -E '"did":"(deny|miss|ask)"' | grep -vE '"kind":"(site|conn)|"op":"datagram"')"
}
missing() { echo "note: $1 is not here"; }

cat >mp.py <<'P'
import multiprocessing as mp, os
from multiprocessing.connection import Client, Listener
def work(q): q.put(os.getpid())
def answer(l):
    c = l.accept(); c.send(c.recv() + " back"); c.close()
if __name__ == "__main__":
    with mp.Manager() as m:
        d = m.dict(a=1); d["b"] = 2
        assert sorted(d.keys()) == ["a", "b"]
    for how in ("fork", "spawn", "forkserver"):
        ctx = mp.get_context(how); q = ctx.Queue()
        p = ctx.Process(target=work, args=(q,)); p.start(); assert q.get() > 0; p.join()
    import threading
    l = Listener(family="AF_UNIX"); t = threading.Thread(target=answer, args=(l,)); t.start()
    c = Client(l.address); c.send("there and"); print(c.recv()); t.join()
P
own "Python multiprocessing" "there and back" python3 mp.py

# As Gradle's: started by the first client, outlives it, found by the next by its socket.
cat >daemon.py <<'P'
import os, socket, sys, time
path = os.path.join(os.environ["XDG_RUNTIME_DIR"] if len(sys.argv) > 1 else os.getcwd(), "build-daemon.sock")
def call():
    s = socket.socket(socket.AF_UNIX); s.connect(path); s.sendall(b"x"); return s.recv(16).decode()
try:
    print("again", call())
except OSError:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            l = socket.socket(socket.AF_UNIX); l.bind(path); l.listen(8)
            for fd in (0, 1, 2): os.dup2(os.open("/dev/null", os.O_RDWR), fd)
            while True:
                c, _ = l.accept(); c.recv(1); c.sendall(b"built"); c.close()
        os._exit(0)
    os.wait()
    while True:
        try:
            print("first", call()); break
        except OSError:
            time.sleep(0.02)
P
own "a build daemon in the project" "again built" sh -c 'python3 daemon.py && python3 daemon.py'
rm -f build-daemon.sock
own "a build daemon in the runtime folder" "again built" sh -c 'python3 daemon.py r && python3 daemon.py r'

if command -v node >/dev/null; then
	cat >cluster.js <<'P'
const cluster = require("cluster"), http = require("http"), net = require("net"), path = process.cwd() + "/w.sock";
if (cluster.isPrimary) {
  let n = 0;
  for (let i = 0; i < 2; i++) cluster.fork();
  cluster.on("listening", () => {
    if (++n < 2) return;
    http.get({ socketPath: path, path: "/" }, (r) => r.on("data", (d) => {
      const l = net.createServer((c) => c.end("abstract")).listen("\0zw-own", () => {
        net.connect("\0zw-own").on("data", (e) => { console.log("" + d, "" + e); process.exit(0); });
      });
    }));
  });
} else {
  http.createServer((q, r) => r.end("worker")).listen(path);
}
P
	own "node cluster" "worker abstract" node cluster.js
	if bash "$ZW_SRC/tests/support/npm.sh" "$ZW_SRC/build/npm-dev" tsx@4 vite@5 >/dev/null 2>&1; then
		cp -a "$ZW_SRC/build/npm-dev/node_modules" .
		printf 'const a: number = 6 * 7;\nconsole.log("tsx", a);\n' >a.ts
		own "tsx" "tsx 42" node_modules/.bin/tsx a.ts
		printf '<script type="module" src="/a.ts"></script>\n' >index.html
		out=$(inside node_modules/.bin/vite build)
		has "vite builds" "built in" "$out"
		same "vite: nothing was asked about" "" "$("$zwatch" log last --json | grep '"kind":"unix"' | grep -E '"did":"(deny|miss|ask)"')"
		rm -rf node_modules
	else
		missing "tsx, vite (npm)"
	fi
else
	missing node
fi

if command -v tmux >/dev/null; then
	own "tmux" "^own: 1 windows" sh -c 'tmux -L own -f /dev/null new-session -d -s own "sleep 60" && tmux -L own list-sessions && tmux -L own kill-server'
else
	missing tmux
fi

if command -v gpg >/dev/null && command -v gpg-agent >/dev/null; then
	mkdir -m 700 keys
	own "gpg-agent" "Good signature" sh -c 'export GNUPGHOME=$PWD/keys
gpg --batch -q --passphrase "" --quick-generate-key u@host.example ed25519 sign never &&
echo text >t && gpg --batch -q --passphrase "" --pinentry-mode loopback --sign t && gpg --verify t.gpg'
else
	missing gnupg
fi

if command -v ssh-agent >/dev/null && command -v ssh-keygen >/dev/null; then
	own "ssh-agent" "ED25519" sh -c 'eval "$(ssh-agent -a "$XDG_RUNTIME_DIR/a.sock")" >/dev/null && ssh-keygen -q -t ed25519 -N "" -f k &&
ssh-add -q k && ssh-add -l; ssh-agent -k >/dev/null'
else
	missing ssh-agent
fi

# redis-tools has the server under another name, and starts no service when it is installed.
if command -v redis-cli >/dev/null && command -v redis-check-rdb >/dev/null; then
	own "redis" "^42" bash -c '(exec -a redis-server redis-check-rdb --port 0 --unixsocket "$PWD/redis.sock" --save "" >/dev/null) &
until redis-cli -s redis.sock ping >/dev/null 2>&1; do sleep 0.05; done
redis-cli -s redis.sock set k 42 >/dev/null; redis-cli -s redis.sock get k; redis-cli -s redis.sock shutdown nosave'
else
	missing redis-tools
fi

if command -v watchman >/dev/null; then
	mkdir watched state
	own "watchman" '"watch":' sh -c 'w="watchman -U $PWD/state/sock -o $PWD/state/log --statefile $PWD/state/s --pidfile $PWD/state/pid"
$w watch "$PWD/watched"; $w shutdown-server >/dev/null'
else
	missing watchman
fi

if [ "$(id -u)" = 0 ]; then
	echo "note: postgres does not run as root; the unprivileged run tries it"
elif postgres=$(command -v postgres || ls /usr/lib/postgresql/*/bin/postgres 2>/dev/null | tail -1) && [ -n "$postgres" ] && command -v psql >/dev/null; then
	bin=$(dirname "$(readlink -f "$postgres")")
	own "postgres" "^7$" sh -c "'$bin/initdb' -D data -A trust --no-sync >/dev/null 2>&1 &&
'$bin/pg_ctl' -D data -w -l pg.log -o \"-k '\$PWD' -c listen_addresses= -c fsync=off\" start >/dev/null &&
psql -h \"\$PWD\" -d postgres -Atc 'select 3 + 4'; '$bin/pg_ctl' -D data -m immediate stop >/dev/null"
else
	missing postgres
fi
