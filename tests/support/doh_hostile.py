#!/usr/bin/env python3
"""A DNS-over-HTTPS server that behaves badly, one way on each port:

  doh_hostile.py CERT KEY PORT WAY...     the first way on PORT, the next one on PORT + 1, and so on

HTTP/2 frames are made by hand, since no library would send most of these. Every question is
answered with 127.0.0.1 where a way says nothing else; each question that arrives is one line on
standard output: the way, and how many came on it so far.
"""
import socket
import ssl
import struct
import sys
import threading
import time

DATA, HEADERS, RST, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
asked = {}
lock = threading.Lock()


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    assert len(name) < 127 and len(value) < 127
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def head(stream, status=b"200", kind=b"application/dns-message", more=b"", flags=4):
    block = literal(b":status", status) + literal(b"content-type", kind) + more
    return frame(HEADERS, flags, stream, block)


def dns(query, addr=b"\x7f\0\0\1", ttl=60, name=None):
    end = 12
    while query[end]:
        end += 1 + query[end]
    question = query[12:end + 5]
    if name:
        question = name + question[-4:]
    is_a = question[-4:-2] == b"\0\1"
    answer = b"\xc0\x0c" + question[-4:] + struct.pack(">IH", ttl, 4) + addr if is_a else b""
    return query[:2] + b"\x81\x80\0\1" + (b"\0\1" if is_a else b"\0\0") + b"\0\0\0\0" + question + answer


def answer(conn, way, stream, query, n):
    """Returns whether the connection goes on."""
    good = head(stream) + frame(DATA, 1, stream, dns(query))
    if way == "good":
        conn.sendall(good)
    elif way == "slow":
        for i in range(0, len(good), 7):
            conn.sendall(good[i:i + 7])
            time.sleep(0.002)
    elif way == "stall":
        pass
    elif way == "once":  # the connection is closed behind each answer
        conn.sendall(good)
        return False
    elif way == "leave":  # said good-bye to before the question was looked at
        if n % 3 == 1:
            conn.sendall(frame(GOAWAY, 0, 0, struct.pack(">II", 0, 0)))
            return False
        conn.sendall(good)
    elif way == "refuse":  # REFUSED_STREAM once, answered on the next connection
        conn.sendall(frame(RST, 0, stream, struct.pack(">I", 7)) if n % 3 == 1 else good)
    elif way == "goaway":  # for ever
        conn.sendall(frame(GOAWAY, 0, 0, struct.pack(">II", 0, 0)))
        return False
    elif way == "reset":
        conn.sendall(frame(RST, 0, stream, struct.pack(">I", 2)))
    elif way == "hangup":
        return False
    elif way == "500":
        conn.sendall(head(stream, status=b"500") + frame(DATA, 1, stream, dns(query)))
    elif way == "redirect":
        conn.sendall(head(stream, status=b"302", more=literal(b"location", b"https://127.0.0.1/")) +
                     frame(DATA, 1, stream, dns(query)))
    elif way == "type":
        conn.sendall(head(stream, kind=b"text/html") + frame(DATA, 1, stream, dns(query)))
    elif way == "cut":  # the DNS message ends too early
        conn.sendall(head(stream) + frame(DATA, 1, stream, dns(query)[:-3]))
    elif way == "tail":  # or too late
        conn.sendall(head(stream) + frame(DATA, 1, stream, dns(query) + b"x"))
    elif way == "broken":  # the body has no end
        conn.sendall(head(stream) + frame(DATA, 0, stream, dns(query)))
        return False
    elif way == "empty":
        conn.sendall(head(stream, flags=5))
    elif way == "other":  # an answer to another question
        conn.sendall(head(stream) + frame(DATA, 1, stream, dns(query, name=b"\4evil\2zw\4test\0")))
    elif way == "query":  # the question itself comes back
        conn.sendall(head(stream) + frame(DATA, 1, stream, query))
    elif way == "huge":
        conn.sendall(head(stream))
        for _ in range(5):
            conn.sendall(frame(DATA, 0, stream, b"\0" * 16000))
    elif way == "fields":
        conn.sendall(head(stream, more=b"".join(literal(b"x%d" % i, b"y" * 100) for i in range(100))))
    elif way == "pings":
        for _ in range(40000):
            conn.sendall(frame(PING, 0, 0, b"01234567"))
    elif way == "garbage":
        conn.sendall(b"HTTP/1.1 200 OK\r\n\r\n" * 100)
    elif way == "push":  # a stream that nobody asked for
        conn.sendall(frame(5, 4, stream, struct.pack(">I", 2) + literal(b":status", b"200")))
    elif way == "aged":  # lay in a cache for a minute
        conn.sendall(head(stream, more=literal(b"age", b"40")) + frame(DATA, 1, stream, dns(query)))
    else:
        raise SystemExit("no such way: " + way)
    return True


def exactly(conn, n):
    data = b""
    while len(data) < n:
        more = conn.recv(n - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def serve(conn, way):
    exactly(conn, 24)  # the client's preface
    conn.sendall(frame(SETTINGS, 0, 0))
    bodies = {}
    while True:
        size, kind, flags, stream = parse(exactly(conn, 9))
        payload = exactly(conn, size)
        if kind == SETTINGS and not flags & 1:
            conn.sendall(frame(SETTINGS, 1, 0))
        elif kind == PING and not flags & 1:
            conn.sendall(frame(PING, 1, 0, payload))
        elif kind == DATA:
            bodies[stream] = bodies.get(stream, b"") + payload
            if flags & 1:
                with lock:
                    asked[way] = n = asked.get(way, 0) + 1
                    print(way, n, flush=True)
                if not answer(conn, way, stream, bodies.pop(stream), n):
                    return


def parse(h):
    return int.from_bytes(h[:3], "big"), h[3], h[4], int.from_bytes(h[5:9], "big") & 0x7fffffff


def client(sock, context, way):
    try:
        if way == "mute":  # takes the connection and never speaks
            time.sleep(600)
        with context.wrap_socket(sock, server_side=True) as conn:
            serve(conn, way)
            # What was sent has to arrive before the end does.
            conn.unwrap()
    except (EOFError, OSError, ValueError):
        pass
    finally:
        sock.close()


def listen(port, way):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    context.set_alpn_protocols(["http/1.1"] if way == "h1" else ["h2"])
    s = socket.create_server(("127.0.0.1", port), backlog=64)
    while True:
        conn, _ = s.accept()
        threading.Thread(target=client, args=(conn, context, way), daemon=True).start()


for i, one in enumerate(sys.argv[4:]):
    threading.Thread(target=listen, args=(int(sys.argv[3]) + i, one), daemon=True).start()
time.sleep(100000)
