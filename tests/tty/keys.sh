#!/bin/bash
# Keys and pastes reach the agent byte for byte: Z093 escape and split sequences, Z103 modified keys, Z095
# end marks inside a paste, Z105 large pastes; the terminal has the agent's modes only while that has the keys.
. "${ZW_SRC:?}/tests/support/lib.sh"

cat >"$project/agent.py" <<'P'
"""In raw mode: says what it is told to, then notes every byte, until Ctrl-D."""
import os, sys, tty
tty.setraw(0)
os.write(1, sys.argv[1].encode().decode("unicode_escape").encode("latin1") + b"READY\r\n")
f = open("keys", "wb", buffering=0)
while True:
    b = os.read(0, 65536)
    f.write(b)
    if b.endswith(b"\x04"): break
P
PYTHONPATH=$ZW_SRC/tests/support python3 - "$zwatch" <<'P' || n_bad=1
import os, random, sys, time
from outer import Outer, fail, same
zwatch = sys.argv[1]

def keys():
    try:
        return open("keys", "rb").read()
    except FileNotFoundError:
        return b""

def agent(modes, answers=b"", env=None):
    if os.path.exists("keys"):
        os.unlink("keys")
    t = Outer([zwatch, "run", "--", "python3", "agent.py", modes], answers=answers, env=env)
    t.shows(b"READY", "the agent runs")
    t.until(lambda: os.path.exists("keys"), "and reads")
    return t

def end(t):
    t.send(b"\x04")
    same("the agent ended well", 0, t.wait())

# Z103: what a terminal may send for a key, in every protocol
KEYS = [b"a", b"\xc3\xa9", "日本語".encode(), b"@", "€".encode(), b"\r", b"\x1b\r", b"\x1b[13;2u", b"\x1b[13;3u",
        b"\x1b[13;5u", b"\x1b[27;2;13~", b"\x1b[27;5;13~", b"\n", b"\x00", b"\x1b[32;5u", b"\x1ba", b"\x1bz", b"\x1b\x7f",
        b"\x7f", b"\t", b"\x1b[Z", b"\x1b[A", b"\x1bOA", b"\x1b[1;5C", b"\x1b[1;2D", b"\x1b[5~", b"\x1b[3;5~", b"\x1bOP",
        b"\x1b[11~", b"\x1b[15;2~", b"\x1b[97;1:3u", b"\x1b[97:65;2:1u", b"\x1b[97;;97u", b"\x1b[57441;2u", b"\x03",
        b"\x1c", b"\x1e", b"\x1f", b"\x1b[23~", b"\x1b]", b"\x1b\\", b"\x1b[27;6;65~", b"\xff\xfe"]
t = agent("")
want = b""
for key in KEYS:
    t.send(key)
    want += key
    t.until(lambda: len(keys()) >= len(want), f"key {key!r}")
    same("as it was sent", want, keys())
for key in KEYS:  # Z093: a slow line brings it byte by byte
    for i in range(len(key)):
        t.send(key[i:i + 1])
        time.sleep(0.005)
    want += key
t.until(lambda: len(keys()) >= len(want), "byte by byte")
same("Z093 the same in pieces", want, keys())

# Z093: Esc alone comes at once, twice too, and before a mouse report that was not asked for
for n in (1, 2):
    t.send(b"\x1b" * n)
    want += b"\x1b" * n
    begin = time.monotonic()
    t.until(lambda: len(keys()) >= len(want), f"Z093 {n} Esc without another key")
    print(f"    after {(time.monotonic() - begin) * 1000:.0f} ms")
t.send(b"\x1b\x1b[<35;10;5M\x1b[<35;11;5Mx")
want += b"\x1bx"
t.until(lambda: len(keys()) >= len(want), "Z093 Esc within mouse reports")
same("Z093 no report is typed", want, keys())

# the prefix, in all its spellings, twice
for prefix in (b"\x1d", b"\x1b[93;5u", b"\x1b[27;5;93~", b"\x1b[24~"):
    t.send(prefix + prefix)
    want += prefix
    t.until(lambda: len(keys()) >= len(want), f"prefix {prefix!r}, doubled")
    same("is sent once", want, keys())
t.send(b"q")  # an ordinary key
end(t)

# modes are the terminal's only while the agent has the keys
t = agent("\\x1b[?1h\\x1b=\\x1b[?2004h\\x1b[?1004h\\x1b[?1003h\\x1b[?1006h\\x1b[>5u\\x1b[>4;2m", answers=b"\x1b[?0u")
for on in (b"\x1b[?1h", b"\x1b=", b"\x1b[?1003h", b"\x1b[>5u", b"\x1b[>4;2m"):
    t.shows(on)
t.forget()
t.send(b"\x1d[")
for off in (b"\x1b[?1l", b"\x1b>", b"\x1b[?1003l", b"\x1b[<u", b"\x1b[>4m"):
    t.shows(off)
t.forget()
t.send(b"q")
for on in (b"\x1b[?1h", b"\x1b=", b"\x1b[?1003h", b"\x1b[>5u", b"\x1b[>4;2m"):
    t.shows(on)
t.forget()
want = keys()
t.send(b"\x1b[O\x1b[I\x1b[<35;10;5M\x1b[200~p\x1b[201~")
want += b"\x1b[O\x1b[I\x1b[<35;10;4M\x1b[200~p\x1b[201~"
t.until(lambda: len(keys()) >= len(want), "focus, mouse and paste as asked for")
same("with the mouse moved into the pane", want, keys())

# Z105: a large paste, with its marks cut anywhere
r = random.Random(5)
text = b"".join(b"%06d " % i + bytes(r.choices(b"abc \xc3\xa9\x1b[20\x1d01~\r", k=20)).replace(b"\x1b[201~", b"") for i in range(80000))
paste = b"\x1b[200~" + text + b"\x1b[201~"
cuts = sorted([0, 1, 2, 3, 4, 5, 7, len(paste)] + [len(paste) - i for i in range(1, 7)] + r.sample(range(len(paste)), 40))
for a, b in zip(cuts, cuts[1:]):
    t.send(paste[a:b])
want += paste
t.until(lambda: len(keys()) >= len(want), f"Z105 a paste of {len(paste)} bytes arrives")
if keys() != want:
    fail("Z105 it is another one")
print("ok: Z105 it is the same")
t.forget()
end(t)
for off in (b"\x1b[?1l", b"\x1b>", b"\x1b[?1003l", b"\x1b[?1004l", b"\x1b[?2004l", b"\x1b[<9u", b"\x1b[>4m"):
    if off not in t.out:
        fail(f"at the end {off!r} was not sent")
print("ok: all modes are undone at the end")

# Z095: an end mark that was copied: nothing runs, and who did not ask for marks gets none
evil = b"\x1b[200~\x1b[201~\ntouch executed\n\x1b[201~"
t = Outer([zwatch, "--env", "PS1=ready> ", "run", "--", "bash", "--norc", "--noprofile"])
t.shows(b"ready> ")
t.until(lambda: t.out.count(b"\x1b[?2004h") > 0, "brackets are on")
# While the shell runs a command it has not asked for marks: the next prompt stands when it has.
t.send(b"PS1='aga''in> '\r")
t.shows(b"again> ", "the shell works, and takes pastes")
t.send(evil)
t.send(b"\x15touch after\r")
t.until(lambda: os.path.exists("after"), "and works on")
same("Z095 nothing of the paste was executed", False, os.path.exists("executed"))
t.send(b"cat >plain\r")
t.until(lambda: os.path.exists("plain"), "cat runs")
t.send(evil.replace(b"\n", b"\r") + b"\r\x04")
t.until(lambda: b"touch" in open("plain", "rb").read(), "Z095 it got the paste")
same("Z095 without any mark", False, b"20" in open("plain", "rb").read())
# Z105: a reader that does not read: zwatch's own keys work, and Ctrl-C does
t.send(b"python3 -c 'import time; open(\"asleep\", \"w\"); time.sleep(1000)'; touch interrupted\r")
t.until(lambda: os.path.exists("asleep"), "a program that does not read")
t.send(b"\x1b[200~" + b"x" * 78 * 1000 + (b"y" * 100 + b"\r") * 20000 + b"\x1b[201~")
t.forget()
t.send(b"\x1d?")
t.shows(b"AFTER Ctrl-]", "Z105 the help opens")
t.send(b"q")
t.send(b"\x03")
t.until(lambda: os.path.exists("interrupted") or b"again> " in t.out, "Z105 Ctrl-C ends it")
t.send(b"\x03\rexit\r")
t.wait()
P
exit 0
