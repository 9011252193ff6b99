#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How quick the history is over very many events: the real program on a terminal of its own.

  bench_history.py [EVENTS] [SESSIONS]     default 1,000,000 events in 50 sessions

Makes a store (kept at $ZW_BENCH_STORE when that is set, and used again), opens `zwatch history` on it,
types filters, and follows a session that takes 5,000 events a second while keys are typed. Prints a line
per measure; exit status 1 when one misses its goal."""
import fcntl, os, pty, re, select, shutil, struct, subprocess, sys, tempfile, termios, time

BIN = os.environ.get("ZW_BIN", "build/release/bin")
N = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
SESSIONS = int(sys.argv[2]) if len(sys.argv) > 2 else 50
W = tempfile.mkdtemp(prefix="zwbench")
STORE = os.environ.get("ZW_BENCH_STORE", os.path.join(W, "state", "history.db"))
FEED = os.path.join(BIN, "..", "tests", "bench_store")
bad = 0


def measure(what, seconds, goal):
    global bad
    print(f"{what}: {seconds * 1000:.0f} ms (goal {goal * 1000:.0f})", flush=True)
    bad |= seconds > goal


class Screen:
    """A program on a pty; what it wrote since the last look, as text."""

    def __init__(self, *argv):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            env = dict(os.environ, TERM="xterm-256color", ZWATCH_DB=STORE, HOME=W, LC_ALL="C.UTF-8")
            os.execve(os.path.join(BIN, "zwatch"), ["zwatch", *argv], env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.seen = ""

    def read(self, timeout):
        if select.select([self.fd], [], [], timeout)[0]:
            self.seen += os.read(self.fd, 65536).decode("utf-8", "replace")

    def wait(self, pattern, limit=60.0):
        start = time.monotonic()
        while not re.search(pattern, self.seen):
            self.read(0.2)
            if time.monotonic() - start > limit:
                sys.exit(f"never seen: {pattern}\n{self.seen[-2000:]!r}")
        took = time.monotonic() - start
        self.seen = ""
        return took

    def keys(self, text):
        self.seen = ""
        os.write(self.fd, text.encode())

    def end(self):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def filters():
    """Over all sessions, from Enter to the list with what was found first; a program each, since a
    terminal is only told what changes."""
    for text in (
        "did:allow",
        "host:host7.example.org",
        "proc:docker",
        "host:*7.example.org did:allow",
        "down>1k",
        'note:"refused by"',
        "docker",
        "host:none.example.org",
    ):
        s = Screen("history")
        s.wait("Sessions")
        s.keys("/")
        s.wait("Tab complete")
        s.keys(text)
        s.wait("ok")
        s.keys("\r")
        measure(f"first page of {text}", s.wait("Enter open"), 0.3 if N <= 1_000_000 else 1.0)
        s.end()
    start = time.monotonic()
    subprocess.run([os.path.join(BIN, "zwatch"), "log", "host:none.example.org"],
                   env=dict(os.environ, ZWATCH_DB=STORE, HOME=W), check=False)
    print(f"zwatch log looks through all: {time.monotonic() - start:.2f} s", flush=True)


def follow():
    feed = subprocess.Popen([FEED, "--into", STORE, "8", "5000"], stdout=subprocess.PIPE)
    time.sleep(1)
    s = Screen("history")
    s.wait("Sessions")
    s.keys("\r")
    s.wait("WHAT|TIME")
    worst = 0.0
    for i in range(60):
        key, want = ("?", "AFTER|HISTORY|LIST") if i % 2 == 0 else ("q", "WHAT|DID")
        s.keys(key)
        worst = max(worst, s.wait(want, 10))
        time.sleep(0.05)
    measure("slowest of 60 keys while a session takes 5,000 events/s", worst, 0.05)
    s.end()
    print(feed.communicate()[0].decode().splitlines()[0])


if not os.path.exists(STORE):
    start = time.monotonic()
    subprocess.run([FEED, "--make", STORE, str(N), str(SESSIONS)], check=True)
    print(f"store made: {os.path.getsize(STORE) / 1e6:.0f} MB, {time.monotonic() - start:.0f} s", flush=True)
times = []
for _ in range(3):
    start = time.monotonic()
    s = Screen("history")
    s.wait("Sessions")
    times.append(time.monotonic() - start)
    s.end()
measure("history opened", sorted(times)[1], 0.2 if N <= 1_000_000 else 0.5)
s = Screen("history")
s.wait("Sessions")
start = time.monotonic()
s.keys("\r")
s.wait("WHAT")
measure("a session opened", time.monotonic() - start, 0.2)
start = time.monotonic()
s.keys("G")
s.wait("host|sock")
measure("its oldest event", time.monotonic() - start, 0.2)
s.end()
filters()
follow()
shutil.rmtree(W)
sys.exit(bad)
