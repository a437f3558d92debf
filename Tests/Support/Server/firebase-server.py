#!/usr/bin/env python3
"""A stand-in for the services of Firebase Remote Config, which behaves well or badly, as a test selects.

usage: firebase-server.py FOLDER PORT

folder.py describes FOLDER. There is one project, `demo`, with these files in FOLDER, which are read at
each request:
  server-template.json  the server template; without the file none is published
  client.json           {"entries", "templateVersion"}: the client template
  accounts.json         {email: {key id: modulus in hexadecimal}}: who may sign for a token
  case                  the name of a case below, or ok

It answers like the services: OAuth by a signed assertion, the metadata server, installations with
their tokens, ETags (for the template only with gzip), errors with a status and a message, and the
stream of invalidations.

Cases: closed (no listener), 401 403 404 429 503 (to fetches of flags), page, truncated, empty, huge,
late, error-200, plain (no gzip), old-version, token-503, short-tokens (they expire after a second), forget-tokens;
no-change, NO_TEMPLATE, EMPTY_CONFIG, INSTANCE_STATE_UNSPECIFIED, MYSTERY, no-state, lagging;
installations-503, forget-installations; realtime-403, realtime-off, realtime-cut, realtime-silent.
"""
import gzip
import hashlib
import http.server
import json
import re
import socket
import threading
import time
import urllib.parse

from firebase_access import APP, REFUSALS, Access, Refusal, case
from folder import PORT, follow, lock, note, read

KEY = "AIza-demo"
connections = set()
streams = 0


class Handler(Access, http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with lock:
            connections.add(self.connection)

    def finish(self):
        with lock:
            connections.discard(self.connection)
        try:
            super().finish()
        except OSError:
            pass

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.serve(b"")

    def do_POST(self):
        self.serve(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def serve(self, body):
        address = urllib.parse.urlsplit(self.path)
        self.case = case()
        note(self.case, self.command, self.path, self.headers.items(), body.decode("latin-1"))
        try:
            for pattern, answer in ROUTES:
                if match := re.fullmatch(pattern, f"{self.command} {address.path}"):
                    return answer(self, body, *match.groups())
            raise Refusal(404, "NOT_FOUND", "No such method.")
        except Refusal as refusal:
            self.send(refusal.code, refusal.body, refusal.headers)

    # Common to all services.

    def send(self, status, value, headers=(), may_zip=True):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        headers = [*headers, ("Content-Type", "application/json; charset=UTF-8")]
        if may_zip and self.takes_gzip() and self.case != "plain":
            body = gzip.compress(body)
            headers.append(("Content-Encoding", "gzip"))
        self.send_response(status)
        for name, text in headers:
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def takes_gzip(self):
        return "gzip" in self.headers.get("Accept-Encoding", "")

    def refuse_by_case(self):
        if self.case in REFUSALS:
            raise REFUSALS[self.case]

    def check_key(self, project):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        if KEY not in (self.headers.get("X-Goog-Api-Key"), *query.get("key", [])):
            raise Refusal(400, "INVALID_ARGUMENT",
                          "API key not valid. Please pass a valid API key.")
        if project != "demo":
            raise Refusal(403, "PERMISSION_DENIED", "Permission denied on the project.")

    # The server template.

    def template(self, _, project):
        self.refuse_by_case()
        self.check_bearer()
        if project != "demo":
            raise REFUSALS["403"]
        text = read("server-template.json")
        if text is None:
            raise REFUSALS["404"]
        if self.case == "page":
            return self.send(200, b"<!DOCTYPE html><title>Sign in</title>")
        if self.case == "empty":
            return self.send(200, b"", may_zip=False)
        if self.case == "huge":
            return self.send(200, text.encode() + b" " * (9 << 20))
        if self.case == "late":
            time.sleep(5)
        if self.case == "truncated":
            return self.send(200, text.encode()[:-1])
        if self.case == "error-200":
            return self.send(200, REFUSALS["503"].body)
        if self.case == "old-version":
            text = json.dumps({"parameters": {}, "version": {"versionNumber": "1"}})
        etag = f"etag-demo-firebase-server-fetch-{hashlib.md5(text.encode()).hexdigest()}"
        fields = [("ETag", etag)] if self.takes_gzip() and self.case != "plain" else []
        if self.headers.get("If-None-Match") == etag:
            self.send_response(304)
            self.send_header("ETag", etag)
            return self.end_headers()
        self.send(200, text.encode(), fields)

    # The client template.

    def fetch(self, body, project):
        self.check_key(project)
        self.refuse_by_case()
        asked = json.loads(body)
        if not APP.match(asked.get("appId", "")) or not asked.get("appInstanceId"):
            raise Refusal(400, "INVALID_ARGUMENT", "Request contains an invalid argument.")
        self.check_installation(asked["appInstanceId"], needed=False)
        text = read("client.json")
        held = json.loads(text)
        etag = f"etag-demo-firebase-fetch-{hashlib.md5(text.encode()).hexdigest()}"
        if self.case == "lagging":
            held = json.loads(read("client-before.json"))
            etag = "etag-before"
        if self.case == "error-200":
            return self.send(200, REFUSALS["503"].body)
        if self.case in ("NO_TEMPLATE", "EMPTY_CONFIG", "INSTANCE_STATE_UNSPECIFIED", "MYSTERY"):
            return self.send(200, {"state": self.case}, [("ETag", etag + "-none")])
        if self.headers.get("If-None-Match") == etag:
            if self.case == "no-change":
                return self.send(200, {"state": "NO_CHANGE"}, [("ETag", etag)])
            self.send_response(304)
            self.send_header("ETag", etag)
            return self.end_headers()
        answer = {"appName": asked["appId"], **held}
        if self.case != "no-state":
            answer["state"] = "UPDATE"
        self.send(200, answer, [("ETag", etag)])

    def stream(self, body, project):
        global streams
        self.check_key(project)
        asked = json.loads(body)
        self.check_installation(asked["appInstanceId"], needed=True)
        if self.case == "realtime-403":
            raise Refusal(403, "PERMISSION_DENIED", (
                "Firebase Remote Config Realtime API has not been used in project 1234567 before "
                "or it is disabled. Enable it by visiting "
                "https://console.developers.google.com/apis/api/"
                "firebaseremoteconfigrealtime.googleapis.com/overview?project=1234567 then "
                "retry."))
        with lock:
            number = streams
            streams += 1
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if self.case == "realtime-silent":
            time.sleep(3600)
        if self.case == "realtime-off":
            return self.chunk(b'[{"featureDisabled": true, "retryIntervalSeconds": 1}\n')
        said = asked["lastKnownVersionNumber"]
        if self.case == "realtime-cut":
            self.chunk(self.news()[:number])
            self.close_connection = True
            return self.connection.shutdown(socket.SHUT_RDWR)
        self.chunk(b"[")
        while case() == self.case:
            version = json.loads(read("client.json"))["templateVersion"]
            if str(version) != str(said):
                self.chunk(self.news()[1:])
                said = version
            time.sleep(0.02)
        self.close_connection = True

    def news(self):
        version = json.loads(read("client.json"))["templateVersion"]
        return f'[{{"latestTemplateVersionNumber": "{version}"}}\n,'.encode()

    def chunk(self, data):
        if data:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()


PROJECT = r"/v1/projects/([\w-]+)"
ROUTES = [
    (r"POST /token", Handler.oauth),
    (r"GET /computeMetadata/v1/instance/service-accounts/default/token", Handler.metadata),
    (rf"GET {PROJECT}/namespaces/firebase-server/serverRemoteConfig", Handler.template),
    (rf"POST {PROJECT}/installations", Handler.register),
    (rf"POST {PROJECT}/installations/([\w-]+)/authTokens:generate", Handler.renew),
    (rf"POST {PROJECT}/namespaces/firebase:fetch", Handler.fetch),
    (rf"POST {PROJECT}/namespaces/firebase:streamFetchInvalidations", Handler.stream),
]


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass


def listen():
    server = Server(("127.0.0.1", PORT), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    return server


def take_up(name):
    global server
    if name == "closed":
        server.shutdown()
        server.server_close()
        server = None
        with lock:
            for connection in list(connections):
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
    elif server is None:
        server = listen()


server = listen()
follow(case, take_up)
