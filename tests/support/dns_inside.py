"""Asks the name server inside a sandbox and prints what it says, one line a question:

  dns_inside.py [udp|tcp]:NAME/TYPE[/OPTION...]...

OPTION: edns=N (size), do, pad, ecs, extra (a record that does not belong there), class=N, server=ADDR.
A reply is: rcode, flags, then each record as the last label types have it. Words of their own:
  storm=N    N pairs of questions that differ in their letters' case alone, UDP and TCP at once: every
             reply has to repeat its own question
  servers=N  every nameserver of /etc/resolv.conf, N times by UDP and by TCP
"""
import socket
import struct
import sys
import time

RCODES = {0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED"}


def wire_name(name):
    return b"".join(bytes([len(x)]) + x.encode() for x in name.rstrip(".").split(".") if x) + b"\0"


def query(number, name, kind, options=()):
    flags, extra, edns = 0x0100, b"", None
    klass = 1
    rdata = b""
    for o in options:
        key, _, value = o.partition("=")
        if key == "edns":
            edns = int(value)
        elif key == "do":
            edns = edns or 1232
        elif key == "pad":
            edns = edns or 1232
            rdata += struct.pack(">HH", 12, 20) + bytes(20)
        elif key == "ecs":
            edns = edns or 1232
            rdata += struct.pack(">HHHBB", 8, 7, 1, 24, 0) + b"\x0a\x01\x02"
        elif key == "extra":
            extra += wire_name("evil.example") + struct.pack(">HHIH", 1, 1, 60, 4) + b"\1\2\3\4"
        elif key == "class":
            klass = int(value)
    n = (edns is not None) + (extra != b"")
    message = struct.pack(">HHHHHH", number, flags, 1, 0, 0, n) + wire_name(name) + struct.pack(">HH", kind, klass)
    if edns is not None:
        message += b"\0" + struct.pack(">HHIH", 41, edns, 0x8000 if "do" in options else 0, len(rdata)) + rdata
    return message + extra


def name_at(m, at):
    labels, end = [], None
    while m[at]:
        if m[at] >= 0xc0:
            end = end or at + 2
            at = struct.unpack(">H", m[at:at + 2])[0] & 0x3fff
            continue
        labels.append(m[at + 1:at + 1 + m[at]].decode())
        at += 1 + m[at]
    return ".".join(labels), end or at + 1


def data_text(m, at, n, kind):
    if kind in (1, 28):
        return socket.inet_ntop(socket.AF_INET if n == 4 else socket.AF_INET6, m[at:at + n])
    if kind == 12:
        return name_at(m, at)[0]
    if kind == 15:
        return "%d %s" % (struct.unpack(">H", m[at:at + 2])[0], name_at(m, at + 2)[0])
    if kind == 33:
        return "%d %d %d " % struct.unpack(">HHH", m[at:at + 6]) + name_at(m, at + 6)[0]
    if kind == 16:
        texts, end = [], at + n
        while at < end:
            texts.append(m[at + 1:at + 1 + m[at]].decode())
            at += 1 + m[at]
        return "|".join(texts)
    return m[at:at + n].hex()


def describe(m, sent):
    number, flags, n_q, n_an, n_ns, n_ar = struct.unpack(">HHHHHH", m[:12])
    out = [RCODES.get(flags & 15, str(flags & 15))]
    if flags & 0x0200:
        out.append("TC")
    if not flags & 0x8000 or number != struct.unpack(">H", sent[:2])[0]:
        out.append("NOT-A-REPLY")
    name, at = name_at(m, 12)
    at += 4
    if n_q != 1 or m[12:at] != sent[12:at]:
        out.append("OTHER-QUESTION")
    records = []
    for i in range(n_an + n_ns + n_ar):
        _, at = name_at(m, at)
        kind, _, _, n = struct.unpack(">HHIH", m[at:at + 10])
        at += 10
        if kind == 41:
            out.append("EDNS" if n == 0 else "EDNS+%d" % n)
        elif i < n_an:
            records.append(data_text(m, at, n, kind))
        else:
            out.append("EXTRA")
        at += n
    if at != len(m):
        out.append("TRAILING")
    return " ".join(out + sorted(records))


def udp(message, server, timeout=10):
    s = socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(timeout)
    s.connect((server, 53))
    s.send(message)
    return s.recv(65535)


def tcp(message, server, timeout=10):
    with socket.create_connection((server, 53), timeout) as s:
        s.sendall(struct.pack(">H", len(message)) + message)
        data = b""
        while len(data) < 2 or len(data) < 2 + struct.unpack(">H", data[:2])[0]:
            more = s.recv(65535)
            if not more:
                raise EOFError("closed")
            data += more
        return data[2:]


def servers():
    for line in open("/etc/resolv.conf"):
        if line.startswith("nameserver"):
            yield line.split()[1]


def storm(n, server):
    """Both spellings of a name are under way at the same time, on both transports."""
    bad = 0
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(20)
    s.connect((server, 53))
    t = socket.create_connection((server, 53), 20)
    for i in range(n):
        pair = {j: query(j, name, 1) for j, name in ((2 * i & 0xffff, "ExAmple%d.test" % i), (2 * i + 1 & 0xffff, "exaMPLE%d.test" % i))}
        for m in pair.values():
            s.send(m)
            t.sendall(struct.pack(">H", len(m)) + m)
        got = [s.recv(4096), s.recv(4096)]
        data = b""
        while len(data) < sum(2 + len(g) for g in got):
            data += t.recv(4096)
        while data:
            size = struct.unpack(">H", data[:2])[0]
            got.append(data[2:2 + size])
            data = data[2 + size:]
        for g in got:
            sent = pair[struct.unpack(">H", g[:2])[0]]
            bad += g[12:12 + len(sent) - 12] != sent[12:]
    print("storm: %d pairs, %d wrong" % (n, bad))


def all_servers(n):
    for server in servers():
        for i in range(n):
            for how in (udp, tcp):
                m = query(i, "good.zw.test", 1)
                start = time.monotonic()
                text = describe(how(m, server), m)
                if not text.startswith("NOERROR 198."):
                    print("server", server, how.__name__, text)
                    return
        print("server %s answers" % server)


for arg in sys.argv[1:]:
    if arg.startswith("storm="):
        storm(int(arg[6:]), next(servers()))
        continue
    if arg.startswith("servers="):
        all_servers(int(arg[8:]))
        continue
    how, _, rest = arg.partition(":")
    name, kind, *options = rest.split("/")
    server = next((o[7:] for o in options if o.startswith("server=")), next(servers()))
    m = query(0x1234, name, int(kind), options)
    try:
        print(arg, "=>", describe((tcp if how == "tcp" else udp)(m, server), m), flush=True)
    except (OSError, EOFError) as e:
        print(arg, "=> nothing:", type(e).__name__, flush=True)
