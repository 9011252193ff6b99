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
SCALE = 1 if N <= 1_000_000 else 2  # ten million: 0.5 s and 1 s
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


def filters(s):
    """From Enter to the first rows of the answer, at the list of events of all kinds of filters."""
    for text, goal in (
        ("did:deny", 0.3),
        ("host:host7.example.org", 0.3),
        ("proc:docker", 0.3),
        ("host:*7.example.org did:allow", 0.3),
        ("down>1k", 0.3),
        ("note:\"refused by\"", 0.3),
        ("host:none.example.org", None),
    ):
        s.keys("/")
        s.wait("Tab complete")
        s.keys("\x15" + text)
        time.sleep(0.3)
        start = time.monotonic()
        s.keys("\r")
        s.wait(r"ok  \d+\+? ?match|match,|match  \d+|Nothing matches")
        if goal:
            measure(f"first page of {text}", time.monotonic() - start, goal * SCALE if N > 1_000_000 else goal)
        else:
            s.seen = ""
            if time.monotonic() - start < 30:
                try:
                    s.wait(r"ok  0 match", 60)
                except SystemExit:
                    pass
            print(f"a filter that nothing matches, to its end: {time.monotonic() - start:.2f} s", flush=True)
    s.keys("/")
    s.wait("Tab complete")
    s.keys("\x15\r")
    time.sleep(0.5)


def follow():
    feed = subprocess.Popen([FEED, "--into", STORE, "8", "5000"], stdout=subprocess.PIPE)
    time.sleep(1)
    s = Screen("history")
    s.wait("Sessions")
    s.keys("\r")
    s.wait("Session")
    worst = 0.0
    for i in range(60):
        key, want = ("?", "help|Help|HISTORY") if i % 2 == 0 else ("q", "WHAT")
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
filters(s)
s.end()
follow()
shutil.rmtree(W)
sys.exit(bad)
