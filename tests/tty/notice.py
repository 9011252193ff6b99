#!/usr/bin/env python3
"""A question for a user who is not looking: bell, notice in each terminal's form, notify-send and the user's
command from outside the sandbox, title. The words are zwatch's; a program of the agent's is never started."""
import fcntl, json, os, pty, select, shutil, struct, sys, tempfile, termios, time

zwatch = os.environ["ZW_BIN"] + "/zwatch"
bad = 0


def check(what, good):
    global bad
    print(("ok: " if good else "FAIL: ") + what)
    bad += not good


def program(path, text):
    open(path, "w").write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)


class Session:
    def __init__(self, settings, **more):
        self.dir = tempfile.mkdtemp(prefix="zwtest.")
        self.home = self.dir + "/home"
        for d in ("home/.config/zwatch", "run", "project/bin", "tools"):
            os.makedirs(self.dir + "/" + d, 0o700)
        json.dump({"ui": {"review": False}, **settings}, open(self.home + "/.config/zwatch/config.json", "w"))
        self.told = self.dir + "/told"
        program(self.dir + "/tools/notify-send", "printf '%%s\\n' \"$@\" >>%s\n" % self.told)
        # What the agent may write stands first in PATH, and must not be found.
        program(self.dir + "/project/bin/notify-send", "echo FAKE >>%s\n" % self.told)
        env = {k: v for k, v in os.environ.items() if k not in (
            "ZWATCH", "ZWATCH_UI", "DOCKER_HOST", "NO_COLOR", "TMUX", "STY", "TERM_PROGRAM", "VTE_VERSION",
            "SSH_CONNECTION", "KITTY_WINDOW_ID", "XDG_CONFIG_HOME", "XDG_STATE_HOME")}
        env.update(HOME=self.home, XDG_RUNTIME_DIR=self.dir + "/run", LC_ALL="C.UTF-8", TERM="xterm-256color",
                   PATH=self.dir + "/project/bin:" + self.dir + "/tools:" + env["PATH"],
                   DOCKER_HOST="unix://" + self.dir + "/docker.sock", TOLD=self.told, **more)
        import socket
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.bind(self.dir + "/docker.sock")
        self.sock.listen(8)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(self.dir + "/project")
            # The focus report comes first: the user is away.
            os.execvpe(zwatch, [zwatch, "run", "--", "python3", "-c",
                                "import socket,sys;sys.stdin.readline();socket.socket(socket.AF_UNIX).connect('%s/docker.sock')"
                                % self.dir], env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.all = b""

    def until(self, what, seconds=60):
        end = time.time() + seconds
        while not what() and time.time() < end:
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    self.all += os.read(self.fd, 65536)
                except OSError:
                    break
        return what()

    def lines(self):
        return open(self.told).read() if os.path.exists(self.told) else ""

    def away_and_ask(self):
        self.until(lambda: b"guard" in self.all)
        os.write(self.fd, b"\r\x1b[O")  # the agent's line, and the terminal loses the focus
        check("title", self.until(lambda: b"\x1b]2;(!) zwatch: 1 waiting\a" in self.all))

    def end(self):
        os.kill(self.pid, 15)
        self.until(lambda: False, 0.1)
        while True:
            try:
                if not os.read(self.fd, 65536):
                    break
            except OSError:
                break
        os.waitpid(self.pid, 0)
        os.close(self.fd)
        self.sock.close()
        shutil.rmtree(self.dir, ignore_errors=True)


words = b"zwatch: python3 waits for you (docker.sock, "

s = Session({"notify": {"desktop": "always", "command": 'printf "cmd:%s\\n" "$1" >>"$TOLD"; notify-send via-command'}})
s.away_and_ask()
check("bell and OSC 9", s.until(lambda: b"\a\x1b]9;" + words in s.all))
check("the command of the settings", s.until(lambda: "cmd:zwatch: python3 waits for you" in s.lines()))
check("its programs come from outside", s.until(lambda: "via-command" in s.lines()))
check("notify-send, ten seconds later", s.until(lambda: "\n-a\nzwatch\n" in "\n" + s.lines() and
                                               "--\nzwatch: python3 waits for you (docker.sock, " in s.lines()))
check("nothing that the agent can write was started", "FAKE" not in s.lines())
s.end()

s = Session({"notify": {"bell": False, "desktop": "never"}}, VTE_VERSION="7000")
s.away_and_ask()
check("OSC 777", s.until(lambda: b"\x1b]777;notify;zwatch;" + words in s.all))
check("no bell", b"\a\x1b]777" not in s.all)
s.end()

s = Session({}, KITTY_WINDOW_ID="1")
s.away_and_ask()
check("OSC 99", s.until(lambda: b"\x1b]99;i=zwatch;" + words in s.all))
os.write(s.fd, b"\x1da")
check("taken back when it is read", s.until(lambda: b"\x1b]99;i=zwatch:p=close;\a" in s.all))
s.end()

s = Session({}, STY="1.none")
s.away_and_ask()
check("through screen", s.until(lambda: b"\x1bP\x1b]9;" + words in s.all and b")\a\x1b\\" in s.all))
s.end()

# One who types sees it come: nothing but the title.
s = Session({})
s.until(lambda: b"guard" in s.all)
os.write(s.fd, b"\x1b[Ix\r")
check("title for one who looks", s.until(lambda: b"\x1b]2;(!) zwatch: 1 waiting\a" in s.all))
s.until(lambda: False, 3)
check("no notice for one who looks", b"\x1b]9;" not in s.all)
s.end()

s = Session({}, TMUX="/tmp/none,1,0")
s.away_and_ask()
check("through tmux", s.until(lambda: b"\x1bPtmux;\x1b\x1b]9;" + words in s.all and b")\a\x1b\\" in s.all))
s.end()

s = Session({"notify": {"osc": "never"}})
s.away_and_ask()
check("no notice", b"\x1b]9;" not in s.all)
s.end()
sys.exit(bad != 0)
