#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the first TLS records that a program sends to a file: material for tests of the parser.

usage: capture_hello.py FILE COMMAND...     PORT in the command stands for the port listened on
example: capture_hello.py curl curl -s --connect-to ::127.0.0.1:PORT https://www.example.com/
"""
import socket
import subprocess
import sys

listener = socket.create_server(("127.0.0.1", 0))
listener.settimeout(10)
port = str(listener.getsockname()[1])
child = subprocess.Popen([a.replace("PORT", port) for a in sys.argv[2:]], stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
data = b""
try:
    conn, _ = listener.accept()
    conn.settimeout(1)
    # as many bytes as the first handshake message says, over as many records as it takes
    while True:
        records, rest = b"", data
        while len(rest) >= 5 and len(rest) >= 5 + int.from_bytes(rest[3:5], "big"):
            n = int.from_bytes(rest[3:5], "big")
            records, rest = records + rest[5:5 + n], rest[5 + n:]
        if len(records) >= 4 and len(records) >= 4 + int.from_bytes(records[1:4], "big"):
            break
        got = conn.recv(65536)
        if not got:
            break
        data += got
    conn.close()
finally:
    child.terminate()
    child.wait()
with open(sys.argv[1], "wb") as f:
    f.write(data)
print(f"{len(data)} bytes")
