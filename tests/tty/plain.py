#!/usr/bin/env python3
"""Plain mode on a real terminal: a question of each kind, answered; every byte that zwatch prints."""
import os, pty, re, select, shutil, subprocess, sys, tempfile, time

zwatch = os.environ["ZW_BIN"] + "/zwatch"
home = tempfile.mkdtemp(prefix="zwtest.")
env = {k: v for k, v in os.environ.items() if k not in ("ZWATCH", "ZWATCH_UI", "DOCKER_HOST", "NO_COLOR")}
env.update(HOME=home + "/home", XDG_RUNTIME_DIR=home + "/run", LC_ALL="C.UTF-8", TERM="dumb")
os.makedirs(env["HOME"] + "/.config/zwatch", 0o700)
with open(env["HOME"] + "/.config/zwatch/config.json", "w") as f:
    f.write('{"ui": {"review": false}}')  # nobody's first run
os.makedirs(env["XDG_RUNTIME_DIR"], 0o700)
bad = 0


class Session:
    def __init__(self, *args, **more):
        e = dict(env, **more)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(zwatch, [zwatch, *args], e)
        self.all = b""
        self.at = 0

    def read(self, seconds):
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                self.all += os.read(self.fd, 65536)
            except OSError:
                return False
        return True

    def wait(self, text, seconds=60):
        """Until this is printed, after what was waited for before."""
        end = time.time() + seconds
        while (i := self.all.find(text.encode(), self.at)) < 0:
            if time.time() > end or not self.read(0.5):
                check("printed: " + text, False)
                sys.stderr.write(self.all.decode(errors="replace"))
                return
        self.at = i + len(text)
        check("printed: " + text, True)

    def type(self, keys):
        """A key at a time, each after the echo of the one before."""
        for key in keys:
            os.write(self.fd, key.encode())
            if key.isprintable():
                end = time.time() + 60
                while not self.all.endswith(key.encode()) and time.time() < end:
                    self.read(0.2)
            time.sleep(0.02)

    def end(self):
        while self.read(60):
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def check(what, good):
    global bad
    print(("ok: " if good else "FAIL: ") + what)
    bad += not good


def open_question(s):
    s.wait("Waiting. Press Control right bracket, then a, to answer.")
    os.write(s.fd, b"\x1d")
    os.write(s.fd, b"a")
    s.wait("Number, then Enter. Enter alone is 1:")


def allow(s, keys):
    """Answers that come too early say so and change nothing: then once more."""
    for _ in range(20):
        time.sleep(0.6)
        at = len(s.all)
        s.type(keys + "\r")
        end = time.time() + 60
        while b"goes back:" not in s.all[at:] and b"Enter alone is 1:" not in s.all[at:] \
                and b"Allowed" not in s.all[at:] and time.time() < end:
            s.read(0.2)
        if b"Too early" not in s.all[at:]:
            return


def whole_demo(*args, **more):
    s = Session(*args, "demo", **more)
    s.wait("zwatch: plain mode on (from ")
    s.wait("CRITICAL. zwatch-demo, started by demo, wants to")
    s.wait("If you allow it, the agent gets root on this machine.")
    open_question(s)
    os.write(s.fd, b"4\rdocker\r")  # in one piece, as a paste comes
    s.wait("Number, then Enter. Enter alone is 1:")
    check("a paste allows nothing", b"HTTP/1.1 200" not in s.all)
    allow(s, "4")
    s.wait("Type docker and Enter to allow once. Enter alone goes back:")
    s.type("docker\r")
    s.wait("Allowed once. docker.sock for zwatch-demo")
    s.wait("HTTP/1.1 200")
    open_question(s)
    os.write(s.fd, b"\r")
    s.wait("Denied once.")
    s.wait("403")
    os.write(s.fd, b"\r")
    check("exit status", s.end() == 0)
    return s.all


text = whole_demo()
printed = re.sub(rb"\x1b\[[0-9;]*m", b"", text).replace(b"\r\n", b"\n")  # the agent's own colours
left = re.findall(rb"[^\n]{0,20}[\x00-\x09\x0b-\x1f\x7f][^\n]{0,20}", printed)
check("nothing below 0x20 but newlines %s" % left, not left)
whole_demo("--ui", "plain", TERM="xterm-256color")
s = Session("run", "--", "sh", "-c", "printf '\\033[1mbold\\033[m \\033[6n\\033]52;c;aGk=\\007over\\n'; stty -a",
            TERM="xterm", ZWATCH_PLAIN="1")
check("exit status of the program", s.end() == 0)
check("the variable is named", b"(from ZWATCH_PLAIN)" in s.all)
check("the agent's colours pass, its questions to the terminal do not", b"\x1b[1mbold\x1b[m over" in s.all)
check("the agent has a terminal of the real size", b"rows" in s.all and b"columns" in s.all)
long = Session("run", "--", "seq", "200000")
check("exit status of a long output", long.end() == 0)
lines = [l for l in long.all.replace(b"\r\n", b"\n").split(b"\n") if l.isdigit()]
check("all of a long output arrives, in order", lines == [b"%d" % i for i in range(1, 200001)])
shutil.rmtree(home, ignore_errors=True)
sys.exit(bad != 0)
