#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records what ordinary programs print to a terminal of 24 x 80 into tests/term/rec/.

usage: record.py [NAME...]      run as root: htop gets its own process list by unshare

Each program is started on a pty in an empty home, its keys are typed with pauses, and all that it
prints is kept as it came. Nothing answers its queries.
"""
import fcntl
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

ROWS, COLS = 24, 80
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rec")
TEXT = "".join(f"{i:3} The quick brown fox jumps over the lazy dog. \u65e5\u672c\u8a9e \U0001f389 caf\u00e9\n"
               for i in range(1, 121))
TMUX = "set -g default-command 'bash --norc -i'\nset -g status-right ''\n"
VIMRC = "set nocompatible number hlsearch\nsyntax on\nset background=dark\n"
RECORDINGS = {
    "bash": (["bash", "--norc", "-i"], ["ls --color=always -l\r", "echo hello world\x01\x1b[C\x1b[C\x05\r",
                                        "seq 1 60\r", "printf '\\e[1;31mred\\e[0m \\e[4:3mcurly\\e[0m\\n'\r",
                                        "long" * 40 + "\x17\r", "exit\r"]),
    "vim": (["vim", "text"], ["jjjj", "ihello \u65e5\u672c\x1b", "yyppp", "/fox\r", "nn", "G", "gg", ":split\r",
                              "\x06", "dd", "u", ":q!\r", ":q!\r"]),
    "less": (["less", "-R", "text"], [" ", "jjj", "/dog\r", "n", "b", "G", "g", "q"]),
    "htop": (["unshare", "-fp", "--mount-proc", "htop", "-d", "5"], ["", "\x1b[B\x1b[B", "t", "\x1bOR\x1b", "q"]),
    "tmux": (["tmux", "-L", "record", "-f", "tmux.conf", "new"],
             ["\x02%", "seq 1 30\r", "\x02\"", "echo pane\r", "\x02o", "\x02z", "exit\r", "exit\r", "exit\r"]),
}


def record(argv, keys, home):
    env = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "HOME": home, "PATH": os.environ["PATH"],
           "LANG": "C.UTF-8", "PS1": "$ ", "USER": "user"}
    out = b""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(home)
        os.execvpe(argv[0], argv, env)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLS, 0, 0))
    for key in [None] + keys + [None]:
        if key is not None:
            try:
                os.write(fd, key.encode())
            except OSError:
                break
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            if not select.select([fd], [], [], 0.1)[0]:
                continue
            try:
                data = os.read(fd, 65536)
            except OSError:
                data = b""
            if not data:
                break
            out += data
    os.close(fd)
    os.waitpid(pid, 0)
    return out


def main():
    os.makedirs(OUT, exist_ok=True)
    for name in sys.argv[1:] or RECORDINGS:
        home = tempfile.mkdtemp(prefix="home")
        with open(os.path.join(home, "text"), "w", encoding="utf-8") as f:
            f.write(TEXT)
        with open(os.path.join(home, ".vimrc"), "w", encoding="utf-8") as f:
            f.write(VIMRC)
        with open(os.path.join(home, "tmux.conf"), "w", encoding="utf-8") as f:
            f.write(TMUX)
        argv, keys = RECORDINGS[name]
        data = record(argv, keys, home)
        with open(os.path.join(OUT, name + ".vt"), "wb") as f:
            f.write(data)
        print(name, len(data))
        if name == "tmux":
            subprocess.run(["tmux", "-L", "record", "kill-server"], check=False, capture_output=True)
        shutil.rmtree(home)


main()
