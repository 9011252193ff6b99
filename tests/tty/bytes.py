#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The bytes that the terminal gets: colours as it can show them, whole pictures only, none of them twice,
and no more of them than an eye can see. Z104 floods."""
# Z104 floods: frames() and flood()
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ZW_SRC"], "tests", "support"))
import xterm  # noqa: E402
from xterm import ZWATCH, check  # noqa: E402

xterm.prepare()
COLOURS = r"""printf '\033[38;2;215;119;87mAA\033[m \033[48;2;1;200;3mBB\033[m \033[38;5;208mCC\033[m \033[91mDD\033[m'
printf ' \033[1;4mEE\033[m \033[4:3;58;2;9;9;9mFF\033[m \033[9mGG\033[m colours\n'; read x
"""
with open("colours.sh", "w") as f:
    f.write(COLOURS)
# Pictures in blocks, once a line is entered: every row of one has the same number. The first of each two is
# written in halves, where a careless terminal would show it, and the other right behind it. Then the terminal is
# asked where the cursor is: its answer says that it has read both. What took as long as no block may be held
# (150 ms) is noted down: a machine under load may tear it.
with open("blocks.py", "w") as f:
    f.write(r"""import os, sys, time, tty
sys.stdin.readline()
tty.setraw(0)
def write(s):
    s = s.encode()
    while s:
        s = s[os.write(1, s):]
def picture(n):
    return ["\x1b[?2026h\x1b[H"] + [f"\x1b[{row + 1};1H\x1b[Krow {row} of picture {n} " + "x" * 60 for row in range(10)] + ["\x1b[?2026l"]
write("\x1b[2J")
slow = open("slow", "w")
for n in range(0, int(sys.argv[1]), 2):
    begin = time.monotonic()
    rows = picture(n)
    write("".join(rows[:5]))
    time.sleep(0.004)
    write("".join(rows[5:] + picture(n + 1)) + "\x1b[6n")
    answer = b""
    while not answer.endswith(b"R"):
        answer += os.read(0, 100)
    if time.monotonic() - begin > 0.14:
        print(n, n + 1, file=slow)
slow.close()
write("\x1b[12;1Hthe end")
os.read(0, 100)
""")


def parameters(data):
    """Of all SGR sequences that were sent, each colour as a tuple."""
    out = set()
    for body in re.findall(rb"\x1b\[([0-9;:]*)m", data):
        n = [int(x) if x else 0 for x in re.split(rb"[;:]", body)]
        while n:
            width = 5 if n[:2] in ([38, 2], [48, 2]) else 3 if n[:2] in ([38, 5], [48, 5]) else 1
            out.add(tuple(n[:width]))
            n = n[width:]
    return out


def sent(options="", **env):
    """What a terminal of this kind is sent for the colours above."""
    words = " ".join(f"{k}={v}" for k, v in env.items())
    with xterm.Terminal(["bash", "-c", f"env -u COLORTERM {words} {ZWATCH} {options} run -- bash colours.sh; cat"],
                        30, 100) as t:
        t.shows("AA BB CC DD EE FF GG colours")
        return parameters(bytes(t.bytes))


def is_colour(p):
    return p[0] in (38, 48) or 30 <= p[0] <= 37 or 40 <= p[0] <= 47 or 90 <= p[0] <= 107


def fallbacks():
    p = sent(TERM="xterm-256color", COLORTERM="truecolor")
    check("true colour: as the agent said it",
          {(38, 2, 215, 119, 87), (48, 2, 1, 200, 3), (38, 5, 208)} <= p, p)
    p = sent(TERM="xterm-256color")
    check("256 colours: the nearest", {(38, 5, 173), (48, 5, 40), (38, 5, 208)} <= p and
          not any(x[:2] in ((38, 2), (48, 2)) for x in p), p)
    p = sent(TERM="xterm-16color")
    check("16 colours: 30 to 37, 90 to 97", (91,) in p and not any(x[0] in (38, 48) for x in p) and
          any(is_colour(x) for x in p), p)
    p = sent(TERM="xterm")
    check("8 colours: 30 to 37", any(is_colour(x) for x in p) and
          not any(x[0] in (38, 48) or 90 <= x[0] <= 107 for x in p), p)
    check("bold and underline all the same", {(1,), (4,)} <= p, p)
    for what, options, env in (("vt100", "", {"TERM": "vt100"}), ("NO_COLOR", "", {"TERM": "xterm-256color", "NO_COLOR": "1"}),
                               ("--color never", "--color never", {"TERM": "xterm-256color", "COLORTERM": "truecolor"})):
        p = sent(options, **env)
        check(f"{what}: no colour", not any(is_colour(x) for x in p), p)
        check(f"{what}: but bold and underline", {(1,), (4,)} <= p, p)


def frames_of(data):
    """What stands between begin and end of each synchronized frame, what stands outside, and what came before
    the terminal had said that it knows such frames."""
    cut = re.split(rb"\x1b\[\?2026h(.*?)\x1b\[\?2026l", data, flags=re.S)
    return cut[1::2], cut[2::2], cut[0]


def play(got, before):
    """The screen after each frame."""
    with xterm.Terminal(None, 30, 100) as t:
        t.show(before)
        for frame in got:
            t.show(frame)
            yield t.look()


def frames():
    start = time.monotonic()
    with xterm.Terminal(["bash", "-c", f"{ZWATCH} run -- python3 blocks.py 300; cat"], 30, 100) as t:
        # Once zwatch knows that the terminal takes whole frames.
        t.wait(lambda _: b"\x1b[?2026h" in t.bytes, "frames are marked")
        t.type("\r")
        t.shows("^the end")
        took, data = time.monotonic() - start, bytes(t.bytes)
    got, outside, before = frames_of(data)
    check("frames come", len(got) >= 2, len(got))
    check("at most sixty a second", len(got) <= took * 1000 / 16 + 2, f"{len(got)} in {took} s")
    check("nothing of a picture is outside of a frame", not any(b"picture" in x for x in outside), outside)
    check("the screen is cleared once", not any(re.search(rb"\x1b\[[023]?J", f) for f in got[1:]), got[1:3])
    rows = [re.findall(r"row \d of picture (\d+) ", s["text"]) for s in play(got, before)]
    with open("slow") as f:
        slow = set(f.read().split())
    rows = [r for r in rows if not slow & set(r)]
    torn = [r for r in rows if len(set(r)) > 1]
    check("no torn picture", not torn, torn[:3])
    first = next((i for i, r in enumerate(rows) if r), len(rows))
    check("no blank picture, no part of one", all(len(r) == 10 for r in rows[first:]), rows[first:first + 20])


def flood():
    start = time.monotonic()
    command = "yes a line of a flood | head -n 1000000; echo over; read x"
    with xterm.Terminal(["bash", "-c", f"{ZWATCH} run -- bash -c '{command}'; cat"], 30, 100) as t:
        t.shows("^over", 120)
        took, data = time.monotonic() - start, bytes(t.bytes)
    got, _, before = frames_of(data)
    check("a flood is frames, not lines", len(got) <= took * 1000 / 16 + 2, f"{len(got)} frames in {took} s")
    large = [len(x) for x in got[1:] if len(x) > 30 * 100]
    check("and none is more than a screen", not large, large)
    last = [s["screen"][29] for s in play(got, before)]
    check("the status line stands in every frame", all("guard" in x for x in last[1:]), last)


parts = {"fallbacks": fallbacks, "frames": frames, "flood": flood}
for part in sys.argv[1:] or parts:
    parts[part]()
sys.exit(1 if xterm.n_bad else 0)
