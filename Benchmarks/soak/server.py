"""The server of flags: documents over HTTP on loopback, and what the guard is asked. It fails as it is told."""
import hashlib
import http.server
import json
import socketserver
import threading
import time

HTML = b"<!doctype html><title>Guest Wi-Fi</title><h1>Please sign in</h1>"
# What a wrong answer may be; each closes everything in the eyes of a careless reader.
WRONG_BODIES = {
    "html": HTML, "empty": b"", "null": b"null", "word": b'"ended"', "bom": b"\xef\xbb\xbf{}",
    "array": b'[{"state": "ended"}]', "twice": b'{"state": "running", "state": "ended"}',
    "comma": b'{"state": "ended",}', "latin": b'{"state": "ended", "message": "\xe4"}',
}
STATUSES = {"500": 500, "503": 503, "401": 401, "404": 404, "204": 204, "206": 206, "302": 302}
MODES = ["down", "hang", "half", "cut", "types", "words", "date-ahead", "date-behind", *STATUSES, *WRONG_BODIES]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/guard":
            time.sleep(3 if Server.guard == "hang" else 0)
            self.answer(200 if Server.guard == "yes" else 503, b"", '"guard"')
        else:
            self.answer_flags(self.server.mode)

    def answer_flags(self, mode):
        body = json.dumps(self.server.documents[self.path.strip("/")]).encode()
        if mode in ("down", "hang"):
            while mode == "hang" and self.server.mode == "hang":
                time.sleep(0.05)
            self.close_connection = True
            return
        tag = f'"{hashlib.sha1(body).hexdigest()}"'
        if mode in STATUSES:
            self.answer(STATUSES[mode], HTML if STATUSES[mode] not in (204, 302) else b"", tag)
        elif mode in WRONG_BODIES:
            self.answer(200, WRONG_BODIES[mode], '"wrong"')
        elif mode in ("types", "words"):
            wrong = 7 if mode == "types" else "shut"
            self.answer(200, json.dumps(spoil(json.loads(body), wrong)).encode(), '"wrong"')
        elif mode == "cut":
            self.answer(200, body[:len(body) // 2], '"wrong"')
        elif mode == "half":
            self.answer(200, body[:len(body) // 2], tag, length=len(body))
            self.close_connection = True
        elif self.headers["If-None-Match"] == tag:
            self.answer(304, b"", tag)
        else:
            self.answer(200, body, tag)

    def answer(self, status, body, tag, length=None):
        self.send_response(status)
        self.send_header("ETag", tag)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(body) if length is None else length))
        if status == 503:
            self.send_header("Retry-After", "2")
        if status == 302:
            self.send_header("Location", "http://portal.invalid/")
        self.end_headers()
        self.wfile.write(body)

    def date_time_string(self, timestamp=None):
        shift = {"date-ahead": 7200, "date-behind": -7200}.get(self.server.mode, 0)
        return super().date_time_string(time.time() + shift)

    def log_message(self, *_):
        pass


def spoil(value, wrong):
    """The same object with a wrong value in place of each fact."""
    if isinstance(value, dict):
        return {key: spoil(item, wrong) for key, item in value.items()}
    return wrong


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    guard = "yes"  # What the guard is answered; it outlives a server that is down.

    def __init__(self, port, documents):
        self.documents, self.mode = documents, "well"
        super().__init__(("127.0.0.1", port), Handler)
        threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True).start()

    def handle_error(self, *_):
        pass  # A daemon that was killed leaves its connections.
