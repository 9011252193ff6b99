"""A WebSocket server: agrees to every upgrade and sends back what comes, with 'echo: ' before it."""
import base64
import hashlib
import socket
import sys
import threading

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def serve(conn):
    head = b""
    while b"\r\n\r\n" not in head:
        more = conn.recv(4096)
        if not more:
            return
        head += more
    head, rest = head.split(b"\r\n\r\n", 1)
    fields = dict(l.split(b": ", 1) for l in head.split(b"\r\n")[1:])
    fields = {k.lower(): v for k, v in fields.items()}
    if fields.get(b"upgrade", b"").lower() != b"websocket" or b"upgrade" not in fields.get(b"connection", b"").lower():
        conn.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        return
    accept = base64.b64encode(hashlib.sha1(fields[b"sec-websocket-key"] + GUID).digest())
    conn.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
    while len(rest) < 6 or len(rest) < 6 + (rest[1] & 127):
        more = conn.recv(4096)
        if not more:
            return
        rest += more
    n, mask = rest[1] & 127, rest[2:6]
    text = b"echo: " + bytes(c ^ mask[i % 4] for i, c in enumerate(rest[6:6 + n]))
    conn.sendall(bytes([0x81, len(text)]) + text)
    conn.recv(1)


s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1])))
s.listen()
while True:
    threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
