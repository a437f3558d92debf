#!/usr/bin/env python3
"""Stands in for the services of Firebase Remote Config, well or badly, as a test tells it to.

usage: firebase-server.py FOLDER

FOLDER is used as folder.py says. There is one project, `demo`, with what lies in FOLDER, each file
read at each request:
  server-template.json  the server template; without it none was ever published
  client.json           {"entries", "templateVersion"}: what a fetch of the client template gives
  accounts.json         {email: {key id: modulus in hexadecimal}}: who may sign for a token
  case                  how to behave: the name of a case below, or ok

It speaks as the services do: OAuth by a signed assertion, the metadata server, installations with
their tokens, ETags (for the template only to who takes gzip), errors with a status and a message, and
the stream of invalidations.

Cases: closed (nobody listens), 401 403 404 429 503 (to what brings flags), page, truncated, empty, huge,
late, error-200, plain (no gzip), old-version, token-503, short-tokens (they end after a second), forget-tokens;
no-change, NO_TEMPLATE, EMPTY_CONFIG, INSTANCE_STATE_UNSPECIFIED, MYSTERY, no-state, lagging;
installations-503, forget-installations; realtime-403, realtime-off, realtime-cut, realtime-silent.
"""
import base64
import gzip
import hashlib
import http.server
import json
import re
import secrets
import socket
import threading
import time
import urllib.parse

from folder import follow, lock, note, read, replace

KEY = "AIza-demo"
APP = re.compile(r"^1:[0-9]+:(android|ios|web):[0-9a-f]+$")
PREFIX = bytes.fromhex("3031300d060960864801650304020105000420")

access_tokens = {}
installations = {}
installation_tokens = {}
connections = set()
streams = 0


def case():
    return read("case", "ok").strip()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def is_signed(assertion, modulus):
    """RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 section 8.2.2), exponent 65537."""
    text, _, signature = assertion.rpartition(".")
    number = int(modulus, 16)
    size = (number.bit_length() + 7) // 8
    found = pow(int.from_bytes(decode(signature), "big"), 65537, number).to_bytes(size, "big")
    tail = b"\0" + PREFIX + hashlib.sha256(text.encode()).digest()
    return found == b"\0\1" + b"\xff" * (size - 2 - len(tail)) + tail


def flaw_of(assertion):
    """Why the token endpoint refuses an assertion."""
    try:
        head, claims = (json.loads(decode(part)) for part in assertion.split(".")[:2])
        modulus = json.loads(read("accounts.json"))[claims["iss"]][head["kid"]]
        if head["alg"] != "RS256" or not is_signed(assertion, modulus):
            return "Invalid JWT Signature."
    except (ValueError, KeyError, TypeError):
        return "Invalid grant: account not found"
    if claims.get("aud") != "https://oauth2.googleapis.com/token" or not claims.get("scope"):
        return "Invalid JWT: wrong audience or scope."
    if abs(claims["iat"] - time.time()) > 300 or not 0 < claims["exp"] - claims["iat"] <= 3600:
        return ("Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable "
                "timeframe. Check your iat and exp values in the JWT claim.")
    return None


class Refusal(Exception):
    def __init__(self, code, status, message, headers=()):
        self.code, self.headers = code, headers
        self.body = {"error": {"code": code, "message": message, "status": status}}


REFUSALS = {
    "401": Refusal(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
    "403": Refusal(403, "PERMISSION_DENIED",
                   "Permission 'cloudconfig.configs.get' denied on resource '//demo'."),
    "404": Refusal(404, "NOT_FOUND", "Requested entity was not found."),
    "429": Refusal(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", [("Retry-After", "2")]),
    "503": Refusal(503, "UNAVAILABLE", "The service is currently unavailable."),
}


class Handler(http.server.BaseHTTPRequestHandler):
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

    # What is common to all.

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

    # OAuth and the metadata server.

    def give_token(self, kind, extra=()):
        lifetime = 1 if self.case == "short-tokens" else 3599
        token = "ya29." + secrets.token_urlsafe(24)
        access_tokens[token] = (time.time() + lifetime, kind)
        self.send(200, {"access_token": token, "expires_in": lifetime, "token_type": "Bearer"},
                  extra)

    def oauth(self, body):
        if self.case == "token-503":
            raise REFUSALS["503"]
        form = urllib.parse.parse_qs(body.decode())
        if form.get("grant_type") != ["urn:ietf:params:oauth:grant-type:jwt-bearer"]:
            return self.send(400, {"error": "unsupported_grant_type"})
        assertion = form.get("assertion", [""])[0]
        if flaw := flaw_of(assertion):
            return self.send(400, {"error": "invalid_grant", "error_description": flaw})
        head = json.loads(decode(assertion.split(".")[0]))
        self.give_token(head["kid"])

    def metadata(self, _):
        if self.headers.get("Metadata-Flavor") != "Google":
            raise Refusal(403, "PERMISSION_DENIED", "Metadata-Flavor is missing.")
        self.give_token(None, [] if self.case == "no-flavor" else [("Metadata-Flavor", "Google")])

    def check_bearer(self):
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.case == "forget-tokens":
            access_tokens.pop(token, None)
            replace("case", "ok")
        expires, kind = access_tokens.get(token, (0, None))
        known = [kid for keys in json.loads(read("accounts.json") or "{}").values() for kid in keys]
        if expires < time.time() or kind is not None and kind not in known:
            raise REFUSALS["401"]

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

    # Installations.

    def give_installation_token(self, fid):
        token = "eyFIS." + secrets.token_urlsafe(24)
        installation_tokens[token] = fid
        return {"token": token, "expiresIn": "604800s"}

    def register(self, body, project):
        self.check_key(project)
        if self.case == "installations-503":
            raise REFUSALS["503"]
        asked = json.loads(body)
        if (not re.fullmatch(r"[cdef][\w-]{21}", asked.get("fid", ""))
                or asked.get("authVersion") != "FIS_v2" or not asked.get("sdkVersion")
                or not APP.match(asked.get("appId", ""))):
            raise Refusal(400, "INVALID_ARGUMENT", "Request contains an invalid argument.")
        installations[asked["fid"]] = "refresh-" + secrets.token_hex(8)
        self.send(200, {
            "name": f"projects/demo/installations/{asked['fid']}", "fid": asked["fid"],
            "refreshToken": installations[asked["fid"]],
            "authToken": self.give_installation_token(asked["fid"])})

    def renew(self, body, project, fid):
        self.check_key(project)
        if self.case == "installations-503":
            raise REFUSALS["503"]
        if self.case == "forget-installations":
            installations.pop(fid, None)
        if fid not in installations:
            raise REFUSALS["404"]
        if self.headers.get("Authorization") != "FIS_v2 " + installations[fid]:
            raise REFUSALS["401"]
        if not json.loads(body)["installation"]["appId"]:
            raise Refusal(400, "INVALID_ARGUMENT", "Request contains an invalid argument.")
        self.send(200, self.give_installation_token(fid))

    def check_installation(self, fid, needed):
        token = self.headers.get("X-Goog-Firebase-Installations-Auth")
        if token is None and not needed:
            return
        if self.case == "forget-tokens":
            installation_tokens.pop(token, None)
            replace("case", "ok")
        if installation_tokens.get(token) != fid:
            raise REFUSALS["401"]

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


def listen(port):
    server = Server(("127.0.0.1", port), Handler)
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
        server = listen(port)


server = listen(0)
port = server.server_address[1]
replace("port", str(port))
follow(case, take_up)
