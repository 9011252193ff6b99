#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""However a session ends, or is interrupted: the terminal is the shell's again, with its keys, its cursor,
its screen and its past, and nothing of an answer lies on the command line. A shell with job control runs
in xterm.js, and zwatch in the shell. Z090 resize, Z102 exit."""
# Z090 resize, Z102 exit: see below
import os
import random
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ZW_SRC"], "tests", "support"))
import xterm  # noqa: E402
from xterm import ZWATCH, check  # noqa: E402

project = xterm.prepare()
n_runs = 0
DEFAULT_MODES = {"applicationCursorKeysMode": False, "applicationKeypadMode": False, "bracketedPasteMode": False,
                 "insertMode": False, "mouseTrackingMode": "none", "originMode": False, "sendFocusMode": False,
                 "wraparoundMode": True}
# All that a program can do to a terminal, and no word of undoing it.
with open("rude.sh", "w") as f:
    f.write(r"""stty raw -echo
printf '\033[?1049h\033[?1h\033=\033[?1003h\033[?1006h\033[?1004h\033[?2004h\033[?25l\033[5 q\033[>31u\033[>4;2m'
printf '\033[?2026h\033[2;5r\033[?6h\033[4h\033[?7l\033[31;44;1mRUDE\033]0;rude title\007\033[c\033[6n\033[?2026l'
printf ' and \033P unfinished'
""")


def wrong(s):
    """What of the terminal is not as a shell wants it."""
    out = [f"{k} is {s['modes'][k]}" for k, v in DEFAULT_MODES.items() if s["modes"][k] != v]
    out += ["the cursor is hidden"] if s["isCursorHidden"] else []
    return out + ([f"the {s['buffer']} screen"] if s["buffer"] != "normal" else [])


def state_is_sane(t, what, past, n):
    """At the shell's prompt, with nothing on it, and everything as it was."""
    s = t.wait(lambda s: f"over {n}" in s["screen"] and s["screen"][s["cursor"][0]].rstrip() == "sh>", f"{what}: the shell's prompt")
    check(f"{what}: keys, cursor, screen", not wrong(s), "\n".join(wrong(s)))
    check(f"{what}: the past is intact", s["past"][:len(past)] == past, "\n".join(s["past"]))
    # What comes late would come now: the shell shows whatever it is typed.
    t.type(f"echo a''b{n}\r")
    s = t.wait(lambda s: f"ab{n}" in s["screen"], f"{what}: the shell has the keys")
    check(f"{what}: nothing was typed for it", f"sh> echo a''b{n}" in s["screen"], s["text"])


def shell():
    # readline would set the terminal by itself: it stays out, so that stty shows what zwatch left.
    t = xterm.Terminal(["bash", "--norc", "--noprofile", "--noediting", "-i"], 30, 100)
    t.shows(r"^sh> ?$")
    t.type("for i in $(seq 60); do echo line $i; done\r")
    t.wait(lambda s: "line 60" in s["screen"] and s["screen"][s["cursor"][0]].rstrip() == "sh>", "a shell")
    return t


def run(t, what, command, drive=None):
    global n_runs
    n_runs += 1
    s = t.wait(lambda s: s["screen"][s["cursor"][0]].rstrip() == "sh>", f"{what}: begins at the prompt")
    past, settings = [line for line in s["past"] if line][:-1], t.settings()
    t.type(f"{command}; echo over {n_runs}\r")
    if drive is not None:
        drive()
    state_is_sane(t, what, past, n_runs)
    now = t.settings()
    check(f"{what}: settings of the tty", now == settings, f"{settings}\n{now}")


def zwatch_of(t):
    """The zwatch that runs in the shell."""
    end = time.monotonic() + xterm.WAIT_S
    while time.monotonic() < end:
        for pid, name in xterm.children(t.pid).items():
            if name == "zwatch":
                return pid
        time.sleep(0.02)
    raise TimeoutError("no zwatch in the shell")


def ends(t):
    run(t, "quit", f"{ZWATCH} run -- echo hello")
    run(t, "an agent that leaves a mess", f"{ZWATCH} run -- bash rude.sh")

    def crash():
        t.shows("RUDE")
        t.type("q")
    run(t, "an agent that crashes in raw mode", f"{ZWATCH} run -- bash -c '. ./rude.sh; until [ \"$x\" = q ]; do read -n 1 x; done; kill -SEGV $$'", crash)

    def stop():
        t.shows("RUDE")
        t.type("\x1dx")
        t.shows("Stop the agent")
        t.type("stop\r")
    run(t, "stopped by its key", f"{ZWATCH} run -- bash -c '. ./rude.sh; sleep 1000'", stop)
    run(t, "nothing to start", f"{ZWATCH} run -- /no/such/program")
    run(t, "no program", f"{ZWATCH} run -- /etc/passwd")
    run(t, "no such terminal", f"TERM=nonesuch {ZWATCH} --ui dashboard run -- echo hello")
    for name in ("TERM", "HUP", "INT", "QUIT", "SEGV", "BUS", "FPE", "ILL", "ABRT", "USR1", "USR2", "ALRM", "SYS"):
        def kill(name=name):
            t.shows("RUDE")
            os.kill(zwatch_of(t), getattr(signal, "SIG" + name))
        run(t, "SIG" + name, f"{ZWATCH} run -- bash -c '. ./rude.sh; sleep 1000'", kill)


def stopped(t):
    """Suspended by key and by signal, stopped without a word, and on again each time."""
    t.type(f"{ZWATCH} run -- bash -c '. ./rude.sh; for i in 1 2 3 4; do x=; until [ \"$x\" = k ]; do read -n 1 x; done; printf \"\\033\\\\\\\\key $i \"; done'\r")
    t.shows("RUDE")
    pid, n = zwatch_of(t), 0
    for how in ("key", "SIGTSTP", "SIGSTOP"):
        t.type("\x1d\x1a") if how == "key" else os.kill(pid, getattr(signal, how))
        if how == "SIGSTOP":  # nobody can put the terminal in order then; the shell takes its settings
            t.wait(lambda s: "Stopped" in s["text"], f"{how}: the shell says so")
            t.type("printf '\\033[?1049l\\033[?25h\\033[?1003l\\033[?1l\\033>'\r")
        t.wait(lambda s: s["buffer"] == "normal" and "Stopped" in s["text"] and not s["isCursorHidden"] and
               s["modes"]["mouseTrackingMode"] == "none" and not s["modes"]["applicationCursorKeysMode"],
               f"{how}: stopped, and the shell has the terminal")
        t.type("echo fr''ee\r")
        t.shows("^free$")
        t.type("fg\r")
        s = t.wait(lambda s: s["buffer"] == "alternate" and "RUDE" in s["text"] and
                   s["modes"]["mouseTrackingMode"] == "any" and s["modes"]["applicationCursorKeysMode"],
                   f"{how}: on again, with the agent's modes")
        n += 1
        t.type("k")
        t.shows(f"key {n}")
    t.type("k")
    t.wait(lambda s: s["buffer"] == "normal" and s["screen"][s["cursor"][0]].rstrip() == "sh>", "and it ends")


def storm(t):
    """Sizes as a window manager, or a hostile one, makes them."""
    r = random.Random(5)
    past = [line for line in t.look()["past"] if line][:20]
    t.type(f"{ZWATCH} --env PS1='ready> ' run -- bash --norc --noprofile\r")
    t.shows("^ready>")
    t.type("while :; do echo $((n++)) some text that is long enough to wrap in a small window; done\r")
    t.shows("some text")
    special = [(1, 1), (0, 0), (2, 1), (1, 200), (300, 2), (400, 600), (1, 0), (0, 5), (24, 80)]
    for i in range(150):
        t.resize(*(r.choice(special) if i % 3 == 0 else (r.randrange(1, 80), r.randrange(1, 250))))
        time.sleep(r.choice([0, 0, 0.002, 0.02]))
    t.resize(1, 1)
    time.sleep(0.3)
    t.resize(30, 100)
    t.type("\x03")
    # The tty of the shell may throw the prompt away: it signals first and empties its queue then (isig() in n_tty.c).
    for _ in range(10):
        time.sleep(0.5)
        if re.search(r"^ready>", t.look()["text"], re.M):
            break
        t.type("\r")
        time.sleep(2)
    t.wait(lambda s: s["rows"] == 30 and re.search(r"^ready>", s["text"], re.M), "a shell after the storm")
    t.type("clear; stty size\r")
    t.shows(r"^\d\d 100$")
    t.type("exit\r")
    t.wait(lambda s: s["buffer"] == "normal" and s["screen"][s["cursor"][0]].rstrip() == "sh>", "the storm ends")
    check("the past of the shell", "line 60" in "\n".join(t.look()["past"]), past)


def stuck(t):
    """A terminal that reads nothing: what the agent does is judged and recorded all the same."""
    settings = t.settings()
    open("tries", "w").close()
    os.mkfifo("go")
    with open("busy.sh", "w") as f:
        f.write("echo begin; (exec 3<go; while read x <&3; do curl -sS --max-time 9 -o /dev/null "
                "http://refused.test/; echo $? >>tries; done) >/dev/null 2>&1 & yes 'a flood of text'\n")
    t.type(f"{ZWATCH} --deny refused.test run -- bash busy.sh\r")
    t.shows("a flood")
    t.is_reading = False
    time.sleep(1)  # nothing is waited for: the pty is full long before
    with open("go", "w") as go:
        for i in range(3):
            go.write("x\n")
            go.flush()
        end = time.monotonic() + 60
        while time.monotonic() < end and len(open("tries").readlines()) < 3:
            time.sleep(0.05)
    n = len(open("tries").readlines())
    check("stuck: three tries of the agent were judged meanwhile", n == 3, n)
    t.is_reading = True
    t.wait(lambda s: "DENY" in s["text"] and "refused.test" in s["text"], "stuck: and are on the screen when it reads again")
    # It has to end as well while nobody reads.
    pid = zwatch_of(t)
    t.is_reading = False
    time.sleep(1)
    os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + 60
    while time.monotonic() < end and pid in xterm.children(t.pid):
        time.sleep(0.05)
    check("stuck: it ends all the same", pid not in xterm.children(t.pid))
    t.is_reading = True
    t.type("\r")
    t.wait(lambda s: "sh>" in s["text"], "stuck: the shell is back")
    check("stuck: settings of the tty", t.settings() == settings, t.settings())


parts = {"ends": ends, "stopped": stopped, "storm": storm, "stuck": stuck}
for part in sys.argv[1:] or parts:
    with shell() as terminal:
        parts[part](terminal)
sys.exit(1 if xterm.n_bad else 0)
