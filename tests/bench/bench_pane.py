#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""zwatch beside tmux: CPU of all their processes, latency, paste, memory. Not a test: run by hand.

usage: ZW_BIN=build/release/bin tests/bench/bench_pane.py [--runs N] [PART...]

Each program runs in a pty of 50 x 200 whose other side only reads. Parts:
  cpu     `cat` prints nothing (what start and end cost), 50 MB of text, 10 MB of colour and Unicode, 8 MB of
          the recordings of tests/term/rec. Everything that a run starts is waited for, daemons too, so that
          the kernel's own count is complete. The smallest of N runs is shown: another load on the machine
          makes it only larger.
  echo    from a key to its echo on the screen, while nothing else happens: p50, p99
  flood   the same while a program writes as fast as it can below
  paste   1 MB, from its first byte to the program's word that it has all: time and CPU
  memory  resident memory when 10,000 lines of history are kept
"""
import argparse
import ctypes
import fcntl
import os
import pty
import random
import resource
import select
import shutil
import struct
import sys
import tempfile
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS, COLS = 50, 200
PR_SET_CHILD_SUBREAPER = 36
PLAIN = ["17 The quick brown fox jumps over the lazy dog, 42 times in a row.",
         "drwxr-xr-x   2 user group 4096 Jan 01 12:00 some-directory/with/a/long/name.txt"]
COLOUR = ["\x1b[38;2;215;119;87mTr\u00fce \u2500\u2500\u2500 \u2714 done\x1b[0m",
          "\x1b[1;35m\u65e5\u672c\u8a9e\x1b[22m \U0001f389 \x1b[48;5;237m caf\u00e9 \x1b[0m",
          "\x1b[2m\u2502\x1b[0m 12 \x1b[4mline\x1b[24m \u2588\u2588\u2588 99"]
KEYS = "QZXJ"  # stand in no frame of either
N_KEYS = 300
PASTE_B = 1 << 20

# Inside: says READY, then echoes each key; with an argument it floods the rows below meanwhile.
ECHO = r"""
import os, select, sys, tty
tty.setraw(0)
flood = len(sys.argv) > 1
line = b"drwxr-xr-x   2 user group 4096 Jan 01 12:00 some-directory/with/a/long/name.txt\r\n" * 50
os.write(1, b"\x1b[2J\x1b[2;1HREADY" + (b"\x1b[4r\x1b[4;1H" if flood else b""))
n = 0
while True:
    if select.select([0], [], [], 0 if flood else None)[0]:
        for key in os.read(0, 100):
            if key == 4:
                sys.exit()
            n += 1
            os.write(1, b"\x1b7\x1b[1;%dH%c\x1b8" % (n % 79 + 1, key))
    if flood:
        os.write(1, line)
"""
# Inside: takes what is pasted, counts, says DONE.
PASTE = r"""
import os, sys, tty
tty.setraw(0)
os.write(1, b"\x1b[?2004hREADY\r\n")
n, end = 0, b""
while not end.endswith(b"\x1b[201~"):
    got = os.read(0, 65536)
    n, end = n + len(got), (end + got)[-6:]
os.write(1, b"\x1b[?2004lDONE %d\r\n" % n)
"""


def lines(kinds, size):
    block = "".join(line + "\n" for line in kinds * 500).encode()
    return (block * (size // len(block) + 1))[:size]


def recordings(size):
    folder = os.path.join(HERE, "..", "term", "rec")
    block = b""
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as f:
            block += f.read() + b"\x1bc"
    return block * (size // len(block) + 1)


class Run:
    """A program in a pty, and its terminal, which says what it is when asked and else only reads."""

    def __init__(self, argv):
        self.before, self.start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        self.tail = b""
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLS, 0, 0))
            os.execvp(argv[0], argv)

    def read(self):
        """What came; b"" at the end."""
        try:
            data = os.read(self.master, 1 << 20)
        except OSError:
            return b""
        if b"\x1b[c" in data:
            os.write(self.master, b"\x1b[?62;22c")
        return data

    def until(self, mark, seconds=60):
        """Reads until @mark came. Returns the time it did."""
        end = time.monotonic() + seconds
        while mark not in self.tail:
            if not select.select([self.master], [], [], max(end - time.monotonic(), 0))[0]:
                sys.exit(f"{mark} never came: {self.tail[-2000:]!r}")
            data = self.read()
            if not data:
                sys.exit(f"it ended before {mark}: {self.tail[-2000:]!r}")
            self.tail = self.tail[-64:] + data
        self.tail = b""
        return time.monotonic()

    def finish(self):
        """Waits for all that it started. Returns (CPU seconds, seconds)."""
        while self.read():
            pass
        os.close(self.master)
        while True:
            try:
                os.wait()
            except ChildProcessError:
                break
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - self.before.ru_utime - self.before.ru_stime
        return cpu, time.monotonic() - self.start


def wrapped(*argv):
    """How each of the three is told to run it. tmux takes one word, a shell's."""
    kinds = {"pty": list(argv), "zwatch": [ZWATCH, "run", "--", *argv]}
    if shutil.which("tmux"):
        kinds["tmux"] = ["tmux", "-L", "bench", "-f", "/dev/null", "new-session", " ".join(argv)]
    return kinds


def ratio(results, key=lambda x: x):
    return f"{key(results['zwatch']) / max(key(results['tmux']), 1e-9):8.3f}" if "tmux" in results else "       -"


def cpu(args):
    loads = [("nothing", b""), ("50 MB text", lines(PLAIN, 50 << 20)),
             ("10 MB colour, Unicode", lines(COLOUR, 10 << 20)), ("8 MB recordings", recordings(8 << 20))]
    print(f"{'CPU s, all processes':24}{'plain pty':>11}{'zwatch':>9}{'tmux':>9}{'ratio':>8}   wall s: zwatch, tmux")
    for name, data in loads:
        with open("load", "wb") as f:
            f.write(data)
        best = {kind: min(Run(argv).finish() for _ in range(args.runs)) for kind, argv in wrapped("cat", "load").items()}
        tmux = best.get("tmux", (0, 0))
        print(f"{name:24}{best['pty'][0]:11.2f}{best['zwatch'][0]:9.2f}{tmux[0]:9.2f}{ratio(best, lambda x: x[0])}"
              f"   {best['zwatch'][1]:.2f}, {tmux[1]:.2f}", flush=True)


def latency(argv):
    r, times = random.Random(1), []
    run = Run(argv)
    run.until(b"READY")
    for i in range(N_KEYS):
        end = time.monotonic() + r.uniform(0.015, 0.045)
        while time.monotonic() < end:
            if select.select([run.master], [], [], max(end - time.monotonic(), 0))[0]:
                run.read()
        key = KEYS[i % len(KEYS)].encode()
        start = time.monotonic()
        os.write(run.master, key)
        times.append((run.until(key) - start) * 1000)
    os.write(run.master, b"\x04")
    run.finish()
    times.sort()
    return times[len(times) // 2], times[len(times) * 99 // 100]


def echo(_, what="echo, idle, ms", *more):
    with open("echo.py", "w") as f:
        f.write(ECHO)
    got = {kind: latency(argv) for kind, argv in wrapped("python3", "echo.py", *more).items() if kind != "pty" or not more}
    for i, name in enumerate(("p50", "p99")):
        print(f"{what + ', ' + name:24}" + f"{got['pty'][i] if 'pty' in got else 0:11.2f}{got['zwatch'][i]:9.2f}"
              f"{got['tmux'][i] if 'tmux' in got else 0:9.2f}{ratio(got, lambda x, i=i: x[i])}", flush=True)


def flood(args):
    echo(args, "echo in a flood, ms", "flood")


def paste_one(argv):
    block = (b"pasted text, line after line of it, as it comes from an editor\r" * (PASTE_B // 63 + 1))[:PASTE_B]
    data = b"\x1b[200~" + block + b"\x1b[201~"
    run = Run(argv)
    run.until(b"READY")
    start = time.monotonic()
    os.set_blocking(run.master, False)
    sent, got = 0, b""
    while b"DONE" not in got:
        ready = select.select([run.master], [run.master] if sent < len(data) else [], [], 60)
        if ready[1]:
            try:
                sent += os.write(run.master, data[sent:sent + 65536])
            except BlockingIOError:
                time.sleep(0.0005)  # poll(2) says that there is room where there is none
        if ready[0]:
            got = got[-64:] + run.read()
    took = time.monotonic() - start
    os.set_blocking(run.master, True)
    return took, run.finish()[0]


def paste(_):
    with open("paste.py", "w") as f:
        f.write(PASTE)
    got = {kind: paste_one(argv) for kind, argv in wrapped("python3", "paste.py").items()}
    for i, name in enumerate(("paste of 1 MB, s", "the same, CPU s")):
        # Of CPU what comes on top of the plain pty, where the program inside has to be started too.
        base = got["pty"][i] if i == 1 else 0
        print(f"{name:24}{got['pty'][i]:11.2f}{got['zwatch'][i]:9.2f}{got.get('tmux', (0, 0))[i]:9.2f}"
              f"{ratio(got, lambda x, i=i, b=base: x[i] - b)}", flush=True)


def processes():
    """(parent, name, resident KB) by pid."""
    out = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/status", errors="replace") as f:
                fields = dict(line.split(":", 1) for line in f if ":" in line)
        except OSError:
            continue
        if "VmRSS" in fields:
            out[int(pid)] = (int(fields["PPid"]), fields["Name"].strip(), int(fields["VmRSS"].split()[0]))
    return out


def memory(_):
    with open("load", "wb") as f:
        f.write(lines(PLAIN, 2 << 20))
    for kind, argv in wrapped("sh", "-c", "'cat load; echo READY; sleep 3'").items():
        if kind == "pty":
            continue
        if kind == "zwatch":
            argv = argv[:-1] + ["cat load; echo READY; sleep 3"]
        run = Run(argv)
        run.until(b"READY")
        all_of = processes()
        ours = {os.getpid()}
        for _ in range(10):
            ours |= {pid for pid in all_of if all_of[pid][0] in ours and all_of[pid][1].startswith(kind)}
        ours.discard(os.getpid())
        parts = sorted(((all_of[p][1], all_of[p][2] / 1024) for p in ours), key=lambda x: -x[1])
        screen = sum(mb for name, mb in parts if name in ("zwatch", "zwatch-pane") or name.startswith("tmux"))
        print(f"{'memory, ' + kind + ', MB':24}{screen:11.1f}   " + ", ".join(f"{n} {mb:.1f}" for n, mb in parts), flush=True)
        run.finish()


PARTS = {"cpu": cpu, "echo": echo, "flood": flood, "paste": paste, "memory": memory}
ZWATCH = os.path.join(os.path.abspath(os.environ.get("ZW_BIN", "build/release/bin")), "zwatch")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("part", nargs="*", choices=[[], *PARTS])
    args = parser.parse_args()
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 or not os.access(ZWATCH, os.X_OK):
        sys.exit("no zwatch in ZW_BIN")
    with tempfile.TemporaryDirectory() as home:
        project = os.path.join(home, "project")
        os.makedirs(project)
        os.chdir(project)
        os.makedirs(os.path.join(home, ".config/zwatch"))
        with open(os.path.join(home, ".config/zwatch/config.json"), "w") as f:
            f.write('{"ui": {"review": false}}')  # nobody's first run
        for name in ("TMUX", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            os.environ.pop(name, None)
        os.environ.update(HOME=home, TERM="xterm-256color", COLORTERM="truecolor", LC_ALL="C.UTF-8", TMUX_TMPDIR=home)
        for part in args.part or PARTS:
            PARTS[part](args)


main()
