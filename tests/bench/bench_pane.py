#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPU of zwatch and of tmux for the same output, all their processes together. Not a test: run by hand.

usage: ZW_BIN=build/release/bin tests/bench/bench_pane.py [--runs N]

Each program runs in a pty of 50 x 200 whose other side only reads; inside, `cat` prints
  nothing                 what a start and an end cost
  50 MB text              lines of ordinary text
  10 MB colour, Unicode   SGR, wide characters, emoji
  8 MB recordings         those of tests/term/rec, again and again
Everything that a run starts is waited for, daemons too, so that the kernel's own count is complete. The
smallest of N runs is shown: another load on the machine makes it only larger.
"""
import argparse
import ctypes
import fcntl
import os
import pty
import resource
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


def drain(master):
    """Reads until the other side is gone; says what it is when asked, as a terminal does."""
    while True:
        try:
            data = os.read(master, 1 << 20)
        except OSError:
            return
        if not data:
            return
        if b"\x1b[c" in data:
            os.write(master, b"\x1b[?62;22c")


def run(argv):
    """CPU seconds and wall seconds of a command and of all that it starts."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    pid, master = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLS, 0, 0))
        os.execvp(argv[0], argv)
    drain(master)
    os.close(master)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    zwatch = os.path.join(os.path.abspath(os.environ.get("ZW_BIN", "build/release/bin")), "zwatch")
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 or not os.access(zwatch, os.X_OK):
        sys.exit("no zwatch in ZW_BIN")
    with tempfile.TemporaryDirectory() as home:
        project = os.path.join(home, "project")
        os.makedirs(project)
        os.chdir(project)
        for name in ("TMUX", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            os.environ.pop(name, None)
        os.environ.update(HOME=home, TERM="xterm-256color", COLORTERM="truecolor", LC_ALL="C.UTF-8", TMUX_TMPDIR=home)
        loads = [("nothing", b""), ("50 MB text", lines(PLAIN, 50 << 20)),
                 ("10 MB colour, Unicode", lines(COLOUR, 10 << 20)), ("8 MB recordings", recordings(8 << 20))]
        print(f"{'CPU s, all processes':24}{'plain pty':>11}{'zwatch':>9}{'tmux':>9}{'ratio':>8}   wall s: zwatch, tmux")
        for name, data in loads:
            with open("load", "wb") as f:
                f.write(data)
            kinds = {"pty": ["cat", "load"], "zwatch": [zwatch, "run", "--", "cat", "load"]}
            if shutil.which("tmux"):
                kinds["tmux"] = ["tmux", "-L", "bench", "-f", "/dev/null", "new-session", "cat load"]
            best = {kind: min(run(argv) for _ in range(args.runs)) for kind, argv in kinds.items()}
            tmux = best.get("tmux", (0, 0))
            ratio = best["zwatch"][0] / tmux[0] if tmux[0] > 0 else 0
            print(f"{name:24}{best['pty'][0]:11.2f}{best['zwatch'][0]:9.2f}{tmux[0]:9.2f}{ratio:8.2f}"
                  f"   {best['zwatch'][1]:.2f}, {tmux[1]:.2f}", flush=True)


main()
