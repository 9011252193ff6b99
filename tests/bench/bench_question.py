#!/usr/bin/env python3
"""From a connect() that is held to its question on screen: the real zwatch on a pseudo-terminal.

bench_question.py [QUESTIONS] [BUSY PROCESSES]: prints p50, p99 and the worst in ms. The time begins before
connect() is called, and ends when the last words of the band have come out of the terminal."""
import fcntl, os, pty, select, shutil, socket, struct, subprocess, sys, tempfile, termios, time

n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
n_busy = int(sys.argv[2]) if len(sys.argv) > 2 else 0
zwatch = os.environ["ZW_BIN"] + "/zwatch"
work = tempfile.mkdtemp(prefix="zwbench.")
for d in ("home", "run", "project", "s"):
    os.makedirs(work + "/" + d, 0o700)
os.makedirs(work + "/home/.config/zwatch")
with open(work + "/home/.config/zwatch/config.json", "w") as f:
    f.write('{"ui": {"review": false}}')  # nobody's first run
env = {k: v for k, v in os.environ.items() if k not in ("ZWATCH", "ZWATCH_UI", "XDG_CONFIG_HOME", "XDG_STATE_HOME")}
env.update(HOME=work + "/home", XDG_RUNTIME_DIR=work + "/run", TERM="xterm-256color", LC_ALL="C.UTF-8")

names = ["%d.sock" % i for i in range(n)]
listeners = []
for name in names:
    s = socket.socket(socket.AF_UNIX)
    s.bind("%s/s/%s" % (work, name))
    s.listen(4)
    listeners.append(s)

agent = """
import socket, sys, time
for name in %r:
    sys.stdin.readline()
    s = socket.socket(socket.AF_UNIX)
    open("at", "w").write(str(time.monotonic_ns()))
    try:
        s.connect("%s/s/" + name)
    except OSError:
        pass
    s.close()
    open("done-" + name, "w").close()
""" % (names, work)
open(work + "/project/agent.py", "w").write(agent)
busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n_busy)]

pid, fd = pty.fork()
if pid == 0:
    os.chdir(work + "/project")
    os.execvpe(zwatch, [zwatch, "run", "--", "python3", "agent.py"], env)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))


def read_until(what, seconds=60):
    """What came, and when the last piece of it did."""
    out, end = b"", time.monotonic() + seconds
    while not what(out):
        if time.monotonic() > end:
            sys.exit("bench_question: nothing came: %r" % out[:3000])
        if select.select([fd], [], [], 0.05)[0]:
            out += os.read(fd, 65536)
    return time.monotonic_ns()


times = []
read_until(lambda out: b"guard" in out)
for name in names:
    os.write(fd, b"\r")
    seen = read_until(lambda out: b"Until then it is held" in out)
    times.append((seen - int(open(work + "/project/at").read())) / 1e6)
    os.write(fd, b"\x1d")
    os.write(fd, b"a")
    read_until(lambda out: b"If you allow it" in out)
    os.write(fd, b"n")
    done = work + "/project/done-" + name
    read_until(lambda out: os.path.exists(done))
os.kill(pid, 15)
try:
    while os.read(fd, 65536):
        pass
except OSError:
    pass
os.waitpid(pid, 0)
for b in busy:
    b.kill()
shutil.rmtree(work, ignore_errors=True)
times.sort()
print("%d questions, %d busy processes: p50 %.1f ms, p99 %.1f ms, worst %.1f ms" % (
    n, n_busy, times[n // 2], times[n * 99 // 100], times[-1]))
