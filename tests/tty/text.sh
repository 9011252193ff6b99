#!/bin/bash
# What the agent prints, as the user's terminal gets it: Z097 widths and copying, Z099 titles, clipboard,
# links and notices, Z108 strings without an end. A second engine draws what zwatch wrote.
. "${ZW_SRC:?}/tests/support/lib.sh"

cat >"$project/table.py" <<'P'
import os, sys
from samples import SAMPLES
for s in SAMPLES:
    os.write(1, b"\r" + s + b"\x1b[m\x1b[30G\x1b[41m|\x1b[m\r\n")
os.write(1, b"READY\r\n")
sys.stdin.read()
P
cat >"$project/samples.py" <<'P'
SAMPLES = [s.encode() for s in (
    "plain", "\u26a1 bolt", "\U0001f1e9\U0001f1ea flag", "\U0001f469\u200d\U0001f469\u200d\U0001f467 family",
    "\u65e5\u672c\u8a9e", "\u1112\u1161\u11ab jamo", "e" + "\u0301" * 40 + " marks", "\u2764\ufe0f heart",
    "\U0001f44d\U0001f3fd skin", "\u0645\u0631\u062d\u0628\u0627", "1\ufe0f\u20e3 key", "\u0e01\u0e33 thai")]
SAMPLES.append(b"\xff\xfe bad \xc3 bytes \xe6\x97")
P
cat >"$project/hostile.py" <<'P'
import os, sys
def put(b): os.write(1, b)
put(b"\x1b]0;one\x1b[31mtwo\x07\x1b]2;first\nsecond\x07\x1b]2;\xe2\x80\xaeevil\xc2\x9b31m title\x07")
put(b"\x1b]2;" + b"long " * 2000 + b"\x07\x1b]0;the last title\x07")
put(b"\x1b]52;c;aGVsbG8=\x07\x1b]52;c;?\x07\x1b]8;;http://example.com/\x07link\x1b]8;;\x07\r\n")
put(b"\x1b]9;a note\x07\x1b]777;notify;a title;another\x07\x1b]4;1;#ff0000\x07\x1b]11;#ffffff\x07\x1b[21t\x1b[5i\x1bP$qm\x1b\\")
put(b"\x1b]1337;File=:AAAA\x07\x1b_Gi=1;AAAA\x1b\\\x1b]133;A\x07\x1b]7;file:///\x07SHOWN\r\n")
sys.stdin.readline()
put(b"\x1b_lost")
put(b"x" * 10000000)
put(b"\r\nBACK\r\n")
sys.stdin.readline()
P
mkdir -p "$HOME/.config/zwatch"
PYTHONPATH=$ZW_SRC/tests/support:$project python3 - "$zwatch" "$ZW_BUILD/tests/vt_dump" "$W" <<'P' || n_bad=1
import base64, os, re, subprocess, sys
from outer import Outer, fail, same
from samples import SAMPLES
zwatch, vt_dump, folder = sys.argv[1:]

def drawn(t):
    """Text and looks of the rows as a terminal shows what was written so far."""
    path = os.path.join(folder, "drawn")
    with open(path, "wb") as f:
        f.write(t.out)
    lines = subprocess.run([vt_dump, "30", "100", "0", path], capture_output=True, check=True).stdout.decode().split("\n")
    return [(a[2:], b) for a, b in zip(lines[1::2], lines[2::2]) if a.startswith("T ")]

def cursor(t):
    """Its row, after drawn()."""
    path = os.path.join(folder, "drawn")
    out = subprocess.run([vt_dump, "30", "100", "0", path], capture_output=True, check=True).stdout.decode()
    return int(out.rstrip().split("\n")[-1].split(" ")[1])

def copied(t):
    return [base64.b64decode(x) for x in re.findall(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07", t.out)]

t = Outer([zwatch, "run", "--", "python3", "table.py"])
t.until(lambda: any(a.startswith("READY") for a, _ in drawn(t)), "the table is drawn")
rows = [(a, b) for a, b in drawn(t) if "29-29:0/1000001/0" in b]
same("Z097 the border of every row stands in its column", len(SAMPLES), len(rows))
for want, row in zip(("plain", "\u26a1", "\U0001f1e9\U0001f1ea", "\U0001f469", "\u65e5\u672c\u8a9e"), rows):
    if not row[0].startswith(want):
        fail(f"Z097 {want} is shown as {row[0]}")
for find, sample in (("flag", 2), ("family", 3), ("\u65e5\u672c", 4), ("jamo", 5), ("heart", 7), ("\u062d\u0628", 9)):
    n = len(copied(t))
    t.send(b"\x1d[/" + find.encode() + b"\r")
    t.until(lambda: find in drawn(t)[cursor(t)][0], f"finds {find}")
    t.send(b"y")
    t.until(lambda: len(copied(t)) > n, "and copies the line")
    line = copied(t)[-1].decode().split("|")[0].rstrip()
    same("Z097 as it was printed", SAMPLES[sample].decode(), line)
t.send(b"\x04")
t.wait()

def hostile(allowed):
    with open(os.path.expanduser("~/.config/zwatch/config.json"), "w") as f:
        f.write('{"ui": {"agentClipboard": %s}}' % ("true" if allowed else "false"))
    t = Outer([zwatch, "run", "--", "python3", "hostile.py"])
    # In it, not at the front: the terminal driver may echo a reply first.
    t.until(lambda: any("SHOWN" in a for a, _ in drawn(t)), "the hostile program has printed")
    t.until(lambda: "the last title" in "\n".join(a for a, _ in drawn(t)), "Z099 its title is shown in zwatch's frame")
    same("Z099 the clipboard is set only where it may be", [b"hello"] if allowed else [], copied(t))
    for osc in set(re.findall(rb"\x1b\]([0-9]*);", t.out)):
        if osc not in (b"2", b"9", b"10", b"11", b"52"):
            fail(f"OSC {osc} reached the terminal")
    for never in (b"\xe2\x80\xae", b"\xc2\x9b", b"\x1b[21t", b"\x1b[5i", b"\x1bP", b"\x1b_", b"\x1b]52;c;?", b"http://example"):
        if never in t.out:
            fail(f"{never!r} reached the terminal")
    print("ok: Z099 nothing unlisted did")
    log = subprocess.run([zwatch, "log", "last", "--json"], capture_output=True).stdout.decode()
    return t, log

t, _ = hostile(False)
t.send(b"\r")
t.until(lambda: any(a.startswith("BACK") for a, _ in drawn(t)), "Z108 a string without an end is given up")
t.send(b"\r")
t.wait()
log = subprocess.run([zwatch, "log", "last", "--json"], capture_output=True).stdout.decode()
same("Z099 the refusal is on record", True, "clipboard; refused" in log)
t, _ = hostile(True)
t.send(b"\r")
t.until(lambda: any(a.startswith("BACK") for a, _ in drawn(t)), "on to the end")
t.send(b"\r")
t.wait()
log = subprocess.run([zwatch, "log", "last", "--json"], capture_output=True).stdout.decode()
same("Z099 and so is what was set", True, "the agent set the clipboard" in log)
P
exit 0
