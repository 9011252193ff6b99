"""Inside the sandbox: asks for what soak.sh has made, in every way, and holds each answer against the one
that is right. Fails are counted (there are faults outside); a wrong answer is an end.

    soak_client.py FOLDER PORT SLOTS

Goes by FOLDER/phase: load, faults, quiet, calm, slots, end; answers in FOLDER/at and, at the end, FOLDER/result.
"""
import collections
import json
import os
import random
import socket
import struct
import sys
import threading
import time

folder, port, slots = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
PROXY, SOCKS = ("198.19.255.254", 3128), ("198.19.255.254", 1080)
phase = "load"
counts = collections.Counter()
wrong = []
lock = threading.Lock()


def count(what):
    with lock:
        counts[phase + " " + what] += 1


def read_all(s, max_b=1 << 22):
    parts = []
    while sum(map(len, parts)) < max_b:
        part = s.recv(65536)
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def by_connect(name):
    s = socket.create_connection(PROXY, 20)
    s.sendall(b"CONNECT %s:%d HTTP/1.1\r\nHost: %s:%d\r\n\r\n" % (name.encode(), port, name.encode(), port))
    head = b""
    while b"\r\n\r\n" not in head:
        part = s.recv(4096)
        if not part:
            raise OSError("no answer to CONNECT")
        head += part
    return s, head.split(b" ")[1].decode()


def by_socks(name):
    s = socket.create_connection(SOCKS, 20)
    s.sendall(b"\5\1\0\5\1\0\3" + bytes([len(name)]) + name.encode() + struct.pack(">H", port))
    answer = b""
    while len(answer) < 12:
        part = s.recv(12 - len(answer))
        if not part:
            raise OSError("no answer to SOCKS")
        answer += part
    return s, "200" if answer[3] == 0 else {2: "403"}.get(answer[3], "502")


def directly(name):
    return socket.create_connection((name, port), 20), "200"


def plain(name):
    return socket.create_connection(PROXY, 20), "200"


def break_off(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def one(rng):
    site = rng.randrange(1, 21)
    name = "r%d.s%d.zw.test" % (rng.randrange(300), site)
    way = rng.choice((by_connect, by_socks, directly, plain))
    path = rng.choices(("/ok", "/bulk", "/slow", "/reset", "/half", "/stall"), (60, 4, 6, 8, 8, 2))[0]
    if phase != "faults":
        path = rng.choices(("/ok", "/bulk"), (20, 1))[0]
    is_denied = rng.random() < 0.1
    if is_denied:
        name = "x%d.denied.zw.test" % rng.randrange(50)
    s = None
    try:
        s, status = way(name)
        s.settimeout(20)
        if status != "200":
            if status == "403" and not is_denied:
                wrong.append("%s was denied by %s" % (name, way.__name__))
            count("denied" if status == "403" else "failed " + status)
            return
        if phase == "faults" and rng.random() < 0.05:
            s.sendall(b"GET / HT")
            time.sleep(rng.random() * 2)
            break_off(s)
            count("broken off")
            return
        url = "http://%s:%d%s" % (name, port, path) if way is plain else path
        s.sendall(b"GET %s HTTP/1.1\r\nHost: %s:%d\r\n\r\n" % (url.encode(), name.encode(), port))
        if phase == "faults" and path == "/bulk" and rng.random() < 0.5:
            s.recv(1000)
            break_off(s)
            count("broken off")
            return
        answer = read_all(s)
    except OSError:
        # That is how a program which knows no proxy is told.
        if not is_denied:
            raise
        count("denied")
        return
    finally:
        if s is not None:
            s.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    if is_denied:
        if b"you are at" in body:
            wrong.append("%s was reached by %s" % (name, way.__name__))
        count("denied")
    elif head.split(b" ")[1:2] != [b"200"]:
        count("failed " + head[9:12].decode(errors="replace"))
    elif path in ("/reset", "/half", "/stall"):
        count("cut")
    elif body.split(b"\n")[0] != b"you are at 127.1.0.%d" % site:
        if b"you are at" in body and b"\n" in body:
            wrong.append("%s led to %r" % (name, body[:60]))
        count("failed short")
    elif path == "/bulk" and len(body) < 2000000:
        count("failed short")
    else:
        count("right")


def nowhere(rng):
    """A name that is allowed and does not exist."""
    s, status = by_connect("g%d.gone.zw.test" % rng.randrange(300))
    s.close()
    if status not in ("502", "504"):
        wrong.append("a name that does not exist: %s" % status)
    count("no such name")


def dns(rng):
    """A TXT record of an allowed name is asked outside."""
    site = rng.randrange(1, 21)
    labels = ["t%d" % rng.randrange(300), "s%d" % site, "zw", "test"]
    number = rng.randrange(65536)
    q = struct.pack(">6H", number, 0x100, 1, 0, 0, 0)
    q += b"".join(bytes([len(p)]) + p.encode() for p in labels) + b"\0" + struct.pack(">2H", 16, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(12)
        s.connect(("127.0.0.1", 53))
        s.send(q)
        a = s.recv(4096)
    if struct.unpack(">H", a[:2])[0] != number:
        wrong.append("an answer to another question")
    if a[3] & 15 != 0:
        count("failed dns")
    elif b"site %d\x00" % site not in a + b"\0":
        wrong.append("TXT of %s: %r" % (".".join(labels), a))
    else:
        count("right")


def worker(n):
    rng = random.Random(n)
    while phase not in ("slots", "end"):
        if phase == "quiet":
            busy[n] = False
            time.sleep(0.05)
            continue
        busy[n] = True
        try:
            rng.choices((one, dns, nowhere), (75, 20, 5))[0](rng)
        except OSError as e:
            count("failed " + type(e).__name__)
        time.sleep(0.02)
    busy[n] = False


def try_slots():
    """All slots are there again, and one more is refused."""
    held = []
    for i in range(slots):
        s, status = by_connect("r%d.s1.zw.test" % i)
        held.append(s)
        if status != "200":
            wrong.append("slot %d of %d: %s" % (i, slots, status))
            break
    s, status = by_connect("one.s1.zw.test")
    if status == "200":
        wrong.append("more than %d at once" % slots)
    for s in held:
        s.close()


busy = [True] * 8
threads = [threading.Thread(target=worker, args=(n,), daemon=True) for n in range(len(busy))]
for t in threads:
    t.start()
said = None
while phase != "end":
    try:
        phase = open(folder + "/phase").read().strip() or phase
    except OSError:
        pass
    if phase != said and not (phase in ("quiet", "slots", "end") and any(busy)):
        if phase == "slots":
            try_slots()
        with open(folder + "/at.new", "w") as f:
            f.write(phase)
        os.rename(folder + "/at.new", folder + "/at")
        said = phase
    time.sleep(0.05)
with open(folder + "/result", "w") as f:
    json.dump({"counts": counts, "wrong": wrong[:20]}, f, indent=1, sort_keys=True)
