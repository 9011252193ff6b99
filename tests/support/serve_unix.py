"""A Unix listener that answers every connection with HTTP 200 OK and notes in a file that it was reached."""
import os
import socket
import sys
import threading

path, note = sys.argv[1:3]
try:
    os.unlink(path)
except FileNotFoundError:
    pass
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(64)


def serve(client):
    data = client.recv(65536)
    with open(note, "ab") as f:
        f.write(data.split(b"\r\n")[0] + b"\n")
    body = b"OK from outside\n"
    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)
    client.close()


while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
