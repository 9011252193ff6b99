# SPDX-License-Identifier: MIT
"""A terminal of bytes: runs a program on a pty, answers what every terminal answers, and shows what
was written. For tests that need exact bytes both ways, which tmux would translate."""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

PATIENCE = 90


class Outer:
    """@answers: to other questions than `CSI c`, sent before the answer to that."""

    def __init__(self, argv, rows=30, cols=100, env=None, answers=b""):
        self.out = b""
        self.answers = answers
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update({"TERM": "xterm-256color", "COLORTERM": "truecolor"})
            os.environ.update(env or {})
            os.execvp(argv[0], argv)
        self.resize(rows, cols)

    def resize(self, rows, cols):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def read(self, seconds):
        """What came in this time, or b'' at the end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return None
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return b""
        for _ in range(data.count(b"\x1b[c")):
            os.write(self.fd, self.answers + b"\x1b[?62;22c")
        self.out += data
        return data

    def until(self, condition, what, patience=PATIENCE):
        """Reads until it holds; else the test failed."""
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end or self.read(0.05) == b"" and not condition():
                fail(f"{what}: never; last {self.out[-2000:]!r}")
            while self.read(0):  # looking may cost: not after each piece
                pass
        print("ok:", what)

    def shows(self, text, what=None):
        self.until(lambda: text in self.out, what or f"shows {text!r}")

    def send(self, data):
        """All of it, reading meanwhile, so that neither side waits for the other."""
        while data:
            _, can_write, _ = select.select([], [self.fd], [], 0.05)
            if can_write:
                # a terminal's driver may take only a part
                os.set_blocking(self.fd, False)
                try:
                    data = data[os.write(self.fd, data[:4096]):]
                except BlockingIOError:
                    pass
                os.set_blocking(self.fd, True)
            self.read(0)

    def forget(self):
        self.out = b""

    def wait(self):
        """Its exit status."""
        ended = []
        self.until(lambda: ended or self.read(0) == b"" and (ended.append(True) or ended), "it ends")
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def fail(text):
    print("FAIL:", text)
    sys.exit(1)


def same(what, wanted, got):
    if wanted != got:
        print(f"  wanted: {wanted!r}"[:3000])
        print(f"  got:    {got!r}"[:3000])
        fail(what)
    print("ok:", what)
