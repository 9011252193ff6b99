# SPDX-License-Identifier: MIT
"""A terminal for tests: a pty whose other side is xterm.js, answers and all. What is typed goes into the
pty; what stands on the screen, and in which modes the terminal is, xterm.js says.

    with Terminal(["bash"], 30, 100) as t:
        t.type("echo hello\\r")
        t.wait(lambda s: "hello" in s["screen"])
"""
import atexit
import base64
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

SRC = os.environ["ZW_SRC"]
NPM = os.path.abspath(os.path.join(os.environ["ZW_BUILD"], "..", "npm"))  # one for all builds
ZWATCH = os.path.join(os.environ["ZW_BIN"], "zwatch")
WAIT_S = 60  # a machine under load needs long, and a test that passes waits no longer for it
n_bad = 0


def check(what, is_good, more=""):
    global n_bad
    print(("ok: " if is_good else "FAIL: ") + what, flush=True)
    if not is_good:
        n_bad += 1
        for line in str(more).splitlines()[-60:]:
            print("  | " + line)


def skip(why):
    print("SKIP: " + why)
    sys.exit(1 if os.environ.get("ZW_MUST_WORK") else 77)


def prepare():
    """An empty home and a project; returns its folder. Ends with the test."""
    done = subprocess.run(["bash", os.path.join(SRC, "tests/support/npm.sh"), NPM], stdout=subprocess.DEVNULL)
    if done.returncode != 0 or shutil.which("node") is None:
        skip("@xterm/headless is not to be had")
    folder = tempfile.mkdtemp(prefix="zwtest.")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in ("home", "run", "project"):
        os.makedirs(os.path.join(folder, name), mode=0o700)
    os.makedirs(os.path.join(folder, "home/.config/zwatch"), mode=0o700)
    with open(os.path.join(folder, "home/.config/zwatch/config.json"), "w") as f:
        f.write('{"ui": {"review": false}}')  # nobody's first run
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")}
    os.environ.clear()
    os.environ.update(keep, HOME=os.path.join(folder, "home"), XDG_RUNTIME_DIR=os.path.join(folder, "run"),
                      LC_ALL="C.UTF-8", TERM="xterm-256color", COLORTERM="truecolor", ZW_NODE_ROOT=NPM,
                      PS1="sh> ", SHELL="/bin/bash")
    os.chdir(os.path.join(folder, "project"))
    return os.getcwd()


def children(pid):
    out = {}
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/stat", errors="replace") as f:
                name, rest = re.match(r"\d+ \((.*)\) (.*)", f.read(), re.S).groups()
        except (OSError, AttributeError):
            continue
        if int(rest.split()[1]) == pid and rest[0] != "Z":
            out[int(entry)] = name
    return out


class Terminal:
    """@argv: what runs in it; None = nothing, and no pty: a screen that only shows what show() is given. Its
    answers are dropped, where a tty would echo them into the picture."""

    def __init__(self, argv, rows, cols):
        self.bytes = bytearray()  # all that was printed
        self.is_reading = True
        self.lock = threading.Condition()
        self.looks, self.n_looks = {}, 0
        self.node = subprocess.Popen(["node", os.path.join(SRC, "tests/term/xterm_live.mjs"), str(rows), str(cols)],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.master = None
        self.is_over = False
        if argv is not None:
            self.pid, self.master = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
            os.execvp(argv[0], argv)
        self.threads = [threading.Thread(target=self._from_node, daemon=True)]
        if argv is not None:
            self.threads.insert(0, threading.Thread(target=self._from_pty, daemon=True))
        for thread in self.threads:
            thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_over = True
        if self.pid is not None:
            try:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
            self.threads[0].join()
            os.close(self.master)
        self.node.stdin.close()
        self.node.wait()

    def _send(self, what):
        with self.lock:
            self.node.stdin.write(json.dumps(what).encode() + b"\n")
            self.node.stdin.flush()

    def _from_pty(self):
        while not self.is_over:
            if not self.is_reading or not select.select([self.master], [], [], 0.1)[0]:
                time.sleep(0.005)
                continue
            try:
                data = os.read(self.master, 1 << 16)
            except OSError:
                return
            if not data:
                return
            self.bytes += data
            self.show(data)

    def _from_node(self):
        for line in self.node.stdout:
            said = json.loads(line)
            if "reply" in said:
                if self.master is None:
                    continue
                try:
                    os.write(self.master, base64.b64decode(said["reply"]))
                except OSError:
                    return
                continue
            with self.lock:
                self.looks[said["look"]] = said
                self.lock.notify_all()

    def show(self, data):
        """As if a program had printed it."""
        self._send({"data": base64.b64encode(data).decode()})

    def type(self, text):
        os.write(self.master, text.encode())

    def resize(self, rows, cols):
        """The size that programs are told. xterm.js has no screen of less than 1 x 2."""
        self._send({"resize": [max(rows, 1), max(cols, 2)]})
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def look(self):
        with self.lock:
            self.n_looks += 1
            n = self.n_looks
        self._send({"look": n})
        with self.lock:
            if not self.lock.wait_for(lambda: n in self.looks, 60):
                raise TimeoutError("xterm.js does not answer")
            s = self.looks.pop(n)
        s["text"] = "\n".join(s["screen"])
        return s

    def wait(self, is_so, what, seconds=WAIT_S):
        """Until is_so(look); says so."""
        end = time.monotonic() + seconds
        while True:
            s = self.look()
            if is_so(s):
                check(what, True)
                return s
            if time.monotonic() > end:
                check(what, False, s["text"])
                return s
            time.sleep(0.05)

    def shows(self, pattern, seconds=WAIT_S):
        return self.wait(lambda s: re.search(pattern, s["text"], re.M), f"screen shows {pattern}", seconds)

    def settings(self):
        return termios.tcgetattr(self.master)
