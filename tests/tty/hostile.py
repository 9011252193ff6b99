#!/usr/bin/env python3
"""P11: one corpus of names that programs, folders, arguments, sockets and sites can have, and every surface that
shows them: dashboard, plain mode, notices, ask, ps, log and export in each format, show, history, stats, why."""
import fcntl, json, os, pty, re, select, shutil, socket, struct, subprocess, sys, tempfile, termios, time

zwatch = os.environ["ZW_BIN"] + "/zwatch"
names = [b"a\x1b[2Jb", b"c\xe2\x80\xaed", b"e\xe2\x80\x8bf", b"g\nh\r", b"i\xc2\x9b31mj", b"k\x7f\x07l",
         b"m\xff\xfen", b"o\xe2\x81\xa6p", b"=q+HYPERLINK(1)"]
forbidden = ["\u202e", "\u200b", "\u2066", "\x9b", "\x7f", "\x1b[2J", "\x07"]
bad = 0
work = tempfile.mkdtemp(prefix="zwh.")
for d in ("home/.config/zwatch", "run", "project", "s", "tools"):
    os.makedirs(work + "/" + d, 0o700)
env = {k: v for k, v in os.environ.items() if k not in (
    "ZWATCH", "ZWATCH_UI", "NO_COLOR", "TMUX", "STY", "TERM_PROGRAM", "VTE_VERSION", "SSH_CONNECTION", "ZWATCH_PLAIN",
    "XDG_CONFIG_HOME", "XDG_STATE_HOME", "DOCKER_HOST", "CLAUDE_AX_SCREEN_READER")}
env.update(HOME=work + "/home", XDG_RUNTIME_DIR=work + "/run", LC_ALL="C.UTF-8",
           PATH=work + "/tools:" + env["PATH"], TOLD=work + "/told")
json.dump({"ui": {"review": False}, "notify": {"desktop": "always", "command": 'printf "%s" "$1" >>"$TOLD"'}},
          open(work + "/home/.config/zwatch/config.json", "w"))


def check(what, good, more=""):
    global bad
    print(("ok: " if good else "FAIL: ") + what + ("" if good else " " + repr(more)))
    bad += not good


def clean(what, data, wanted=None, is_screen=False):
    """Text that any terminal may get: no control but the end of a line, nothing that turns or hides text."""
    try:
        text = data.decode()
    except UnicodeDecodeError as e:
        check(what + ": UTF-8", False, e)
        return
    found = [f for f in forbidden if f in text and not (is_screen and f in ("\x1b[2J", "\x07"))]
    if not is_screen:
        found += re.findall(r"[\x00-\x09\x0b-\x1f]", text.replace("\r\n", "\n"))
    check(what, not found, found)
    check(what + ": holds the names", wanted is None or re.search(wanted, text) is not None, text[-800:])


listeners = []
for name in names:
    s = socket.socket(socket.AF_UNIX)
    s.bind(os.fsencode(work) + b"/s/" + name)
    s.listen(8)
    listeners.append(s)

open(work + "/project/agent.py", "w").write("""
import os, socket, subprocess, sys, threading
names, sockets = %r, %r
shutil_exe = os.path.realpath(sys.executable)
one = b"import socket,sys,os;s=socket.socket(socket.AF_UNIX);s.connect(os.fsencode(sys.argv[1]))"
import shutil
shutil.copy(shutil_exe, "exe")
started = []
for name in names:
    os.makedirs(name + b".dir", exist_ok=True)
    if not os.path.exists(name + b".exe"): os.link("exe", name + b".exe")
    started.append(subprocess.Popen([os.path.abspath(name + b".exe"), "-c", one, sockets + b"/" + name, name * 400],
                   cwd=name + b".dir", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
def site(host):
    proxy = os.environ["http_proxy"].split("//")[1].rstrip("/").rsplit(":", 1)
    s = socket.create_connection((proxy[0], int(proxy[1])))
    s.sendall(b"CONNECT " + host + b":443 HTTP/1.1\\r\\nHost: " + host + b":443\\r\\n\\r\\n")
    s.recv(4096)
for host in (b"xn--pple-43d.com", "\u0430pple.example".encode(), b"a.b\\x1b[2J.example"):
    threading.Thread(target=site, args=(host,), daemon=True).start()
sys.stdin.readline()
for p in started: p.wait()
out = subprocess.run([sys.argv[1], "why"], capture_output=True).stdout
out += subprocess.run([sys.argv[1], "why", "--json"], capture_output=True).stdout
open("why", "wb").write(out)
""" % (names, os.fsencode(work) + b"/s"))
shutil.copy(zwatch, work + "/project/zw")


def command(*args):
    return subprocess.run([zwatch, *args], env=env, capture_output=True, cwd=work + "/project").stdout


def session(what, ui, term, is_screen):
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(work + "/project")
        os.execvpe(zwatch, [zwatch, "--ui", ui, "run", "--", "python3", "agent.py", "./zw"], dict(env, TERM=term))
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    got = bytearray()

    def until(done, seconds=90):
        end = time.time() + seconds
        while not done() and time.time() < end:
            if select.select([fd], [], [], 0.1)[0]:
                try:
                    got.extend(os.read(fd, 65536))
                except OSError:
                    return True
        return done()

    listed = [b""]

    def all_wait():
        listed[0] = command("ask", "list")
        return listed[0].count(b" held\n") > len(names) and b"xn--pple-43d.com" in listed[0]
    check(what + ": the questions wait", until(all_wait), listed[0])
    if is_screen:
        os.write(fd, b"\x1b[O\x1dw")  # away, and the list of questions
        until(lambda: b"WHAT" in got)
        os.write(fd, b"\r")
        until(lambda: b"If you allow it" in got)
        os.write(fd, b"\x1b")
    else:
        for key in (b"\x1d", b"w", b"\r", b"\x1d", b"a"):
            os.write(fd, key)
            until(lambda: False, 0.3)
        until(lambda: b"Enter alone is 1" in got)
        os.write(fd, b"7\r")
        until(lambda: b"one piece" in got)
        for key in (b"7", b"\r"):
            os.write(fd, key)
            until(lambda: False, 0.3)
        until(lambda: b"Why zwatch asks" in got)
        os.write(fd, b"\x1b")  # later
        until(lambda: b"stays held" in got)
    listed = command("ask", "list")
    clean(what + ": ask list", listed, r"\\u\{202e\}")
    for line in listed.decode().splitlines():
        clean("ask show " + line.split()[0], command("ask", "show", line.split()[0]), "If you allow it")
    clean(what + ": ps", command("ps"), "python3")
    check("a site that looks like another is shown as what it is", b"xn--pple-43d.com" in listed and
          "\u0430".encode() not in listed, listed)
    deadline = time.time() + 90
    while not os.path.exists(work + "/project/why") and time.time() < deadline:
        command("ask", "deny", "--all")
        for key in (b"\x1b", b"\r"):  # back to the agent, and its line
            os.write(fd, key)
            until(lambda: False, 0.3)
    check(what + ": the agent ended its work", os.path.exists(work + "/project/why"))
    until(lambda: False, 60)
    os.waitpid(pid, 0)
    os.close(fd)
    clean(what, bytes(got), r"\\u\{202e\}", is_screen)
    clean(what + ": why", open(work + "/project/why", "rb").read(), "refused")
    os.unlink(work + "/project/why")


session("plain", "plain", "dumb", False)
session("dashboard", "dashboard", "xterm-256color", True)
told = open(work + "/told", "rb").read() if os.path.exists(work + "/told") else b""
clean("notices", told)
for args in (("log", "1"), ("log", "1", "--json"), ("show", "1"), ("history",), ("stats",),
             ("log", "1", "--format", "rfc5424"), ("log", "1", "--format", "otlp")):
    clean(" ".join(args), command(*args), "python3|u.?202e" if args[0] != "history" else "python3")
for form in ("csv", "json", "ndjson"):
    out = command("export", "1", "--format", form, "-o", "-")
    clean("export " + form, out, r"202e")
    if form == "csv":
        check("no cell is a formula", not re.search(rb"(^|[,\n])\"?[=+@-][A-Za-z]", out))
json.loads(command("log", "1", "--json"))
shutil.rmtree(work, ignore_errors=True)
sys.exit(bad != 0)
