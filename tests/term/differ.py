#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the terminal engine with xterm.js: random streams and the recordings in rec/, cut at
several places. Same text, colours, attributes and cursor, or the test fails and shows the stream.

usage: differ.py [--count N] [--seed N] [FILE...]
       FILE...  compare these recordings of 40 x 120 instead

A recording is replayed up to several places on a terminal of its own size, and to its end on others,
with changes of size in its midst. vttest's screens are compared one by one where it is installed.

Needs node and npm (@xterm/headless is installed below the build folder); exit 77 without them.

Where the engine differs from xterm.js on purpose, the generator stays away:
- What is no text is never obeyed and never lost: bytes that are not UTF-8 show as U+FFFD (xterm.js drops them
  silently), C1 controls in UTF-8 are dropped (it obeys them; no program needs them).
- Clusters are those of the Unicode standard, UAX #29: VS16 widens emoji only, ZWJ joins pictographs only, a mark
  without a base joins the cell on the left, a format control has no cell. xterm.js widens and joins anything, and
  gives each lonely mark a cell, which moves everything behind it.
- No half of a wide character is ever left, nor marks of one that found no room. xterm.js leaves halves where cells
  are inserted or a character is printed right on one, in insert mode, and marks at the edge with wrapping off.
- What a VT220 has and xterm.js has not: CPR and relative moves that know origin mode, DECRC (and leaving ?1049) that
  restores it with character sets, underline and the place on the screen (not in the text), DECALN that resets the
  margins and is plain, SD that fills with the pen's background, tabs common to both screens, the reversed screen.
- A change of width: colours of blanks behind a line's text are not kept when it wraps anew; the cursor stays on its
  text when lines below it change their rows; rows below the cursor that wrap push none of themselves out. A history
  that is full by wrapping anew: xterm.js loses count there.
"""
import argparse
import fcntl
import os
import pty
import random
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("ZW_BUILD", "build/debug")
ROWS, COLS = 10, 30
EMOJI = ["\U0001f389", "\U0001f469\u200d\U0001f469\u200d\U0001f467", "\U0001f44d\U0001f3fd", "\u2764\ufe0f",
         "\U0001f1e9\U0001f1ea", "\u26a0\ufe0f", "1\ufe0f\u20e3", "\u231a", "\U0001f9d1\u200d\U0001f4bb"]
WIDE = list("\u65e5\u672c\u8a9e\uac00\uff21\u3042")
NARROW = list("\u00e9\u2500\u2502\u2588\u2714\u03b1\u0416\u2192\u2026") + ["e\u0301", "o\u0308\u0323", "\u0e01\u0e33"]


def install():
    """The folder whose node_modules holds the oracle, or None."""
    root = os.path.abspath(os.path.join(BUILD, "..", "npm"))
    if shutil.which("node") is None:
        return None
    done = subprocess.run([os.path.join(HERE, "..", "support", "npm.sh"), root], check=False)
    return root if done.returncode == 0 else None


class Stream:
    """One random stream. What it may hold is drawn first, so that rare mixtures come up."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.origin = self.r.random() < 0.2
        self.margins = self.r.random() < 0.6
        self.insert = self.r.random() < 0.2
        self.wide = self.r.random() < 0.6
        self.shift = self.r.random() < 0.7
        self.tabs = self.r.random() < 0.2
        self.charsets = self.r.random() < 0.2
        self.underline = self.r.random() < 0.3
        self.nowrap = self.r.random() < 0.3
        self.wide = self.wide and not self.nowrap

    def text(self):
        r = self.r
        out = [r.choice("abcXYZ 01~#qjx") for _ in range(r.choice([1, 3, 8, 20, 45]))]
        pool = NARROW + (WIDE + EMOJI if self.wide and not self.insert else [])
        for _ in range(r.randrange(3)):
            out.insert(r.randrange(len(out) + 1), r.choice(pool))
        return "".join(out)

    def sgr(self):
        r = self.r
        one = ["0", "1", "2", "3", "5", "7", "8", "9", "22", "23", "24", "25", "27", "28", "29", "53",
               "55", "39", "49", "31", "42", "97", "104", "38;5;200", "48;5;17", "38;2;1;2;3", "48;2;200;100;0",
               "38:2::9:8:7", "48:5:99", "58;5;3", "58:2::1:1:1", "59"]
        if self.underline:
            one += ["4:3", "4:0", "4:2", "4", "21"]
        return "\x1b[" + ";".join(r.choice(one) for _ in range(r.randrange(4))) + "m"

    def csi(self):
        r = self.r
        n = r.choice(["", "0", "1", "2", "3", "7", "50"])
        shift = "@P" if self.shift and not self.wide else "A"
        final = r.choice("ABCDEFGHdfGHXJKLMSaeIZ`" + shift)
        if final in "Hf":
            return f"\x1b[{r.randrange(1, ROWS + 2)};{r.randrange(1, COLS + 2)}{final}"
        if final in "JK":
            return f"\x1b[{r.randrange(3)}{final}"
        return f"\x1b[{n}{final}"

    def margin(self):
        r = self.r
        if not self.margins:
            return ""
        top = 1 if self.origin else r.randrange(1, ROWS)
        return r.choice([f"\x1b[{top};{r.randrange(top + 1, ROWS + 1)}r", "\x1b[r"])

    def mode(self):
        r = self.r
        pick = ["\x1b[?25l", "\x1b[?2026h\x1b[?2026l", "\x1b[?2004h", "\x1b[?45h",
                "\x1b[?45l", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?1047l", "\x1b[!p"]
        if self.charsets or self.tabs or self.underline:
            pick = ["\x1b[?25l"]
        if self.origin:
            pick = ["\x1b[?6h", "\x1b[?6l"]
        if self.nowrap:
            pick += ["\x1b[?7l", "\x1b[?7l", "\x1b[?7h"]
        if self.insert:
            pick += ["\x1b[4h", "\x1b[4l", "\x1b[4h"]
        return r.choice(pick)

    def odd(self):
        r = self.r
        if self.origin:
            return r.choice(["\x1bM", "\x1bD", "\x1bE", "\x1bM"])
        if self.charsets:
            return r.choice(["\x1b(0", "\x1b(B", "\x1b)0", "\x1b)A", "\x0e", "\x0f"])
        saving = [] if self.underline else ["\x1b7", "\x1b8", "\x1b[s", "\x1b[u"]
        pick = saving + ["\x1bM", "\x1bM", "\x1bD", "\x1bE",
                "x\x1b[3b", "\x1b[49m\x1b[2T", "\x1bc", "\x1b]0;title\x07",
                "\x1b]66;w=1; \x1b\\", "\x1b_Gi=1;AAAA\x1b\\", "\x1bP+q4d73\x1b\\", "\x1b[>4;?m", "\x1b[?u", "\x1b[>1u",
                "\x1b[<u", "\x1b[31\x18", "\x1b]2;cut\x18", "\x1b[3\nC"]
        if self.tabs:
            pick = ["\x1bH", "\x1bH", "\x1b[g", "\x1b[3g"]
        if not self.margins:
            pick.append("\x1b[m\x1b#8")
        return r.choice(pick)

    def resize(self):
        """Text that wraps, the cursor at its end as a shell has it, and other sizes."""
        r = self.r
        self.nowrap = self.insert = self.origin = self.margins = False
        kinds = [self.plain] * 6 + [lambda: "\r\n"] * 3 + [self.look]
        out = []
        for _ in range(r.choice([2, 3, 5])):
            out += [r.choice(kinds)() for _ in range(r.choice([3, 20, 60]))]
            if self.wide:
                out.append("\r\n")  # so that the cursor's line, which is cut, cuts no wide character
            elif r.random() < 0.3:
                out.append(r.choice(["\x1b[K", "\x1b[3D\x1b[K", "\x1b[2A\x1b[2;1Hx\x1b[99B\r", "\x1b[5D", "\r"]))
            if not self.wide and r.random() < 0.15:
                out.append("\x1b[?47hother" + self.size() + "x" + r.choice(["", self.size()]) + "\x1b[?47l\x1b[99B\r\n")
            out.append(self.size())
        return "".join(out).encode()

    def size(self):
        r = self.r
        rows, cols = r.choice([(ROWS, COLS), (ROWS, r.randrange(5, 60)), (r.randrange(2, 20), COLS),
                               (r.randrange(2, 20), r.randrange(5, 60))])
        return f"\x1b_size;{rows};{cols}\x1b\\"

    def plain(self):
        """Text without marks: xterm.js mixes them up when it moves cells."""
        r = self.r
        out = [r.choice("abcXYZ 01~#qjx") for _ in range(r.choice([1, 3, 8, 20, 45]))]
        for _ in range(r.randrange(3)):
            out.insert(r.randrange(len(out) + 1), r.choice(["\u2500", "\u0416"] + (WIDE if self.wide else [])))
        return "".join(out)

    def look(self):
        return "\x1b[" + self.r.choice(["0", "1", "3", "31", "38;5;200", "38;2;1;2;3", "9"]) + "m"

    def make(self):
        kinds = [self.text] * 6 + [self.sgr] * 3 + [self.csi] * 5 + [self.margin, self.mode, self.odd]
        kinds += [lambda: self.r.choice(["\r\n", "\n", "\r", "\b", "\t", "\b\b\b", "\v"])] * 3
        return "".join(self.r.choice(kinds)() for _ in range(self.r.choice([5, 20, 60, 150]))).encode()


def dumps(argv):
    """Output of a dump tool as {file: lines}."""
    done = subprocess.run(argv, capture_output=True, check=True)
    out, now = {}, None
    for line in done.stdout.decode().splitlines():
        if line.startswith("F "):
            now = out.setdefault(line[2:], [])
        else:
            now.append(line)
    return out


def compare(files, rows, cols, root, scrollback=0):
    os.environ["ZW_NODE_ROOT"] = root
    size = [str(rows), str(cols), str(scrollback)]
    ours = dumps([os.path.join(BUILD, "tests", "vt_dump"), *size, *files])
    theirs = dumps(["node", os.path.join(HERE, "xterm_dump.mjs"), *size, *files])
    bad = 0
    for f in files:
        if ours[f] == theirs[f]:
            continue
        if theirs[f][0].startswith("X "):
            print(f"{os.path.basename(f)}: xterm.js failed: {theirs[f][0][2:]}")
            continue
        bad += 1
        if bad > 3:
            print("---", os.path.basename(f))
            continue
        with open(f, "rb") as data:
            print(f"--- {f}: {data.read()[-2000:]!r}")
        for i, (a, b) in enumerate(zip(ours[f], theirs[f])):
            if a != b:
                print(f"  row {i // 2}\n    zwatch   {a}\n    xterm.js {b}")
    return bad


def cuts(path, folder):
    """The recording up to several places; what the terminal shows half way counts too."""
    with open(path, "rb") as f:
        data = f.read()
    out = []
    for i in range(1, 9):
        name = os.path.join(folder, f"{os.path.basename(path)}.{i}")
        part = data[:len(data) * i // 8]
        while part and part[-1] >= 0x80:  # not within a character
            part = part[:-1]
        with open(name, "wb") as f:
            f.write(part)
        out.append(name)
    return out


# What a stream is made of: controls and strings whole, text in pieces.
PIECE = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]P_^X].*?(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[\x00-\x1a\x1c-\x1f]|"
                   rb"[\x20-\x7e]+|[\x80-\xff]+|.", re.DOTALL)
SIZES = [(24, 80), (40, 120), (12, 40), (50, 200), (30, 61)]
# No narrower than a program that redraws was recorded: else its screen wraps below its cursor (see above).
LARGE = [(40, 120), (24, 120), (50, 200), (30, 141), (60, 160)]


def resized(path, first, sizes, folder):
    """The recording on a terminal of size @first, with changes to @sizes in between its sequences. Not before
    it goes to the alternate screen: one that was made smaller unseen keeps a history in xterm.js."""
    with open(path, "rb") as f:
        data = f.read()
    pick = random.Random(str(first))
    start = data.find(b"\x1b[?1049h") + 1
    ends = [m.end() for m in PIECE.finditer(data) if m.end() > start and m.group()[:2] == b"\x1b["]
    parts, was = [], 0
    for cut in sorted(pick.sample(ends, min(4, len(ends)))):
        parts += [data[was:cut], b"\x1b_size;%d;%d\x1b\\" % pick.choice(sizes)]
        was = cut
    out = os.path.join(folder, f"{os.path.basename(path)}.{first[0]}x{first[1]}")
    with open(out, "wb") as f:
        f.write(b"".join(parts) + data[was:])
    return out


def vttest(folder):
    """The screens of vttest's menus that need no terminal to answer, each as all that led to it."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvpe("vttest", ["vttest", "24x80.80"], {"TERM": "vt100", "PATH": os.environ["PATH"], "HOME": folder})
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    out, seen, screens = b"", 0, []
    choices = ["1", "2", "3", "8", "0", "8", "0"]
    end = time.monotonic() + 200
    while time.monotonic() < end:
        if select.select([fd], [], [], 0.3)[0]:
            try:
                data = os.read(fd, 65536)
            except OSError:  # it ended
                break
            if not data:
                break
            out += data
            if data.endswith((b"\x1b[c", b"\x1b[0c")):
                os.write(fd, b"\x1b[?62;22c")
            continue
        if len(out) > seen:
            seen = len(out)
            screens.append(os.path.join(folder, f"vttest{len(screens)}"))
            with open(screens[-1], "wb") as f:
                f.write(out.replace(b"\x1b[?5h", b""))
            tail = out[-200:]
        if b"Enter choice number" in tail and choices:
            os.write(fd, choices.pop(0).encode())
        os.write(fd, b"\r")
    os.close(fd)
    os.waitpid(pid, 0)
    assert len(screens) > 30, f"vttest got stuck after {len(screens)} screens: {out[-200:]!r}"
    return screens


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    root = install()
    if root is None:
        print("skip: node or npm or the packages are not to be had")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        bad = total = 0
        if not args.files:
            names = []
            for i in range(args.count):
                names.append(os.path.join(folder, f"stream{args.seed + i}"))
                with open(names[-1], "wb") as f:
                    f.write(Stream(args.seed + i).make())
            bad += compare(names, ROWS, COLS, root)
            total += len(names)
            names = []
            for i in range(args.count):
                names.append(os.path.join(folder, f"resize{args.seed + i}"))
                with open(names[-1], "wb") as f:
                    f.write(Stream(args.seed + i).resize())
            bad += compare(names, ROWS, COLS, root, 1000)
            total += len(names)
        rec = sorted(os.path.join(HERE, "rec", f) for f in os.listdir(os.path.join(HERE, "rec")))
        files = [c for f in args.files or rec for c in cuts(f, folder)]
        size = (40, 120) if args.files else (24, 80)
        bad += compare(files, *size, root)
        total += len(files)
        sizes = LARGE if args.files else SIZES
        for size in sizes:
            files = [resized(f, size, sizes, folder) for f in args.files or rec]
            bad += compare(files, *size, root, 10000)
            total += len(files)
        if not args.files and shutil.which("vttest") is not None:
            files = vttest(folder)
            bad += compare(files, 24, 80, root)
            total += len(files)
    print(f"{total} streams, {bad} differ")
    sys.exit(1 if bad else 0)


main()
