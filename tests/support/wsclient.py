"""A WebSocket client, as libraries have it: CONNECT where a proxy is named, direct otherwise; or, with
'absolute', the upgrade as a request to the proxy."""
import os
import socket
import sys

host, port, form = sys.argv[1], int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else ""
proxy = os.environ.get("http_proxy", "http://198.19.255.254:3128" if form else "")
url = "/"


def head(s):
    text = b""
    while b"\r\n\r\n" not in text:
        more = s.recv(1)
        if not more:
            sys.exit("ended: " + text.decode()[:200])
        text += more
    return text.decode()


if proxy:
    s = socket.create_connection(tuple(proxy.split("//")[1].split(":")), 8)
    if form:
        url = "http://%s:%d/" % (host, port)
    else:
        s.sendall(b"CONNECT %b:%d HTTP/1.1\r\nHost: %b:%d\r\n\r\n" % (host.encode(), port, host.encode(), port))
        line = head(s).split("\r\n")[0]
        if " 200 " not in line:
            sys.exit(line)
else:
    s = socket.create_connection((host, port), 8)
s.sendall(("GET %s HTTP/1.1\r\nHost: %s:%d\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
           "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" % (url, host, port)).encode())
line = head(s).split("\r\n")[0]
if " 101 " not in line:
    sys.exit(line)
s.sendall(bytes([0x81, 0x85, 1, 2, 3, 4]) + bytes(c ^ (i % 4 + 1) for i, c in enumerate(b"hello")))
n = s.recv(2)[1]
print(s.recv(n).decode())
