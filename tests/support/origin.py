"""A small web origin: HTTP on one port, HTTPS on another; answers 'hello from HOST'."""
import hashlib
import http.server
import ssl
import sys
import threading

http_port, https_port, cert, key = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]


class Hello(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = ("hello from %s\n" % self.headers.get("Host", "?")).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self):
        left, digest = int(self.headers["Content-Length"]), hashlib.sha256()
        while left > 0:
            part = self.rfile.read(min(left, 1 << 20))
            if not part:
                return
            digest.update(part)
            left -= len(part)
        body = ("took %s\n" % digest.hexdigest()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


plain = http.server.ThreadingHTTPServer(("127.0.0.1", http_port), Hello)
tls = http.server.ThreadingHTTPServer(("127.0.0.1", https_port), Hello)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(cert, key)
tls.socket = context.wrap_socket(tls.socket, server_side=True)
threading.Thread(target=plain.serve_forever, daemon=True).start()
tls.serve_forever()
