#!/usr/bin/env python3
"""usage: fleet-hosts.py DIR PORT

Answers /HOST/metrics with DIR/HOST.prom, as an exporter on each host would. A host without a file is away."""
import http.server
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])


class Exporter(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        try:
            body = (folder / (self.path.split("/")[1] + ".prom")).read_bytes()
        except FileNotFoundError:
            self.close_connection = True
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True


server = Server(("127.0.0.1", int(sys.argv[2])), Exporter)
(folder / "now").touch()
server.serve_forever()
