#!/usr/bin/env python3
"""A server for the OpenFeature Remote Evaluation Protocol 0.3.0, which behaves as a test selects.

usage: ofrep-server.py FOLDER PORT

It evaluates one flag or all flags, and reports changes by server-sent events.

FOLDER/flags.json holds the flags, by key: {"value": ..., "variant": ..., "metadata": ...}, where the
value may be absent (the default of the code that asks), or {"errorCode": ..., "errorDetails": ...}.
A flag with "for": HOSTNAME is given to the host of that name alone. FOLDER/bearer and FOLDER/key,
if they exist, hold the required credentials. folder.py describes the other files of FOLDER. The cases
are:

  normal            as in the protocol
  no-etag           without ETag
  entries           the list FOLDER/entries, which a test writes, with the ETag FOLDER/etag if there is one
  400, 401, 500 ... this status
  seconds, date, rfc3339   429, with each form of Retry-After: two or three seconds ahead
  quiet             no event is sent, and no comment
  no-streams        no stream is offered
  closed            each stream is ended at once
  flood             streams bring endless events, each of which asks for a fetch
  noise             streams bring endless bytes without a line end
  other-origin      the stream is offered at another origin, 127.0.0.2
  plain-page        the stream is a page of HTML
"""
import hashlib
import json
import threading
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from folder import PORT, follow, note, read


def case():
    return read("case", "normal").strip()


def flags():
    return json.loads(read("flags.json", "{}"))


def etag():
    text = read("etag") or json.dumps([flags(), read("entries")], sort_keys=True)
    return '"' + hashlib.sha256(text.encode()).hexdigest()[:12] + '"'


class Problem(Exception):
    def __init__(self, status, body=None, fields=()):
        self.status, self.body, self.fields = status, body, fields


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def note(self, body):
        note(case(), self.command, self.path, self.headers.items(), body.decode())

    def answer(self, status, body=None, fields=()):
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        if body is not None:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.note(body)
        route = urlsplit(self.path).path
        prefix = "/ofrep/v1/evaluate/flags"
        try:
            self.behave()
            if route == prefix:
                self.all_flags(self.context(body))
            elif route.startswith(prefix + "/"):
                key = unquote(route[len(prefix) + 1:])
                try:
                    self.one_flag(key, self.context(body))
                except Problem as problem:
                    if problem.status in (400, 404):
                        problem.body = {"key": key, **problem.body}
                    raise
            else:
                raise Problem(404, {"errorDetails": "no such address"})
        except Problem as problem:
            self.answer(problem.status, problem.body, problem.fields)

    def behave(self):
        bearer, key = read("bearer", "").strip(), read("key", "").strip()
        if bearer and self.headers.get("Authorization") != "Bearer " + bearer:
            raise Problem(401)
        if key and self.headers.get("X-API-Key") != key:
            raise Problem(401)
        name = case()
        later = time.time() + 3
        forms = {
            "seconds": "2",
            "date": formatdate(later, usegmt=True),
            "rfc3339": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(later)),
        }
        if name in forms:
            raise Problem(429, fields=[("Retry-After", forms[name])])
        if name == "400":
            raise Problem(400, {"errorCode": "GENERAL", "errorDetails": "as told"})
        if name.isdigit():
            raise Problem(int(name), {"errorDetails": "as told"})

    def context(self, body):
        try:
            request = json.loads(body)
        except ValueError:
            raise Problem(400, {"errorCode": "PARSE_ERROR", "errorDetails": "no JSON"})
        context = request.get("context") if isinstance(request, dict) else None
        if not isinstance(context, dict):
            raise Problem(400, {"errorCode": "INVALID_CONTEXT", "errorDetails": "no object"})
        if not isinstance(context.get("targetingKey"), str) or not context["targetingKey"]:
            raise Problem(
                400, {"errorCode": "TARGETING_KEY_MISSING", "errorDetails": "no targetingKey"})
        return context

    def evaluate(self, key, flag, context):
        if "errorCode" in flag:
            return {"key": key, **flag}
        wanted = flag.get("for")
        if wanted not in (None, context.get("hostName")):
            return {"key": key, "reason": "DISABLED"}
        found = {"key": key, "reason": "TARGETING_MATCH" if wanted else "STATIC"}
        found.update({name: flag[name] for name in ("value", "variant", "metadata") if name in flag})
        return found

    def one_flag(self, key, context):
        flag = flags().get(key)
        if flag is None:
            raise Problem(404, {"errorCode": "FLAG_NOT_FOUND", "errorDetails": "no such flag"})
        found = self.evaluate(key, flag, context)
        if "errorCode" in found:
            raise Problem(400, {"errorDetails": "", **found})
        found.setdefault("variant", "default")
        self.answer(200, found)

    def all_flags(self, context):
        tag = etag()
        fields = [] if case() == "no-etag" else [("ETag", tag)]
        if fields and self.headers.get("If-None-Match") == tag:
            return self.answer(304, fields=fields)
        if case() == "entries":
            return self.answer(200, {"flags": json.loads(read("entries"))}, fields)
        found = [self.evaluate(key, flag, context) for key, flag in flags().items()]
        body = {"flags": found, "metadata": {"version": tag.strip('"')}}
        if case() != "no-streams":
            body["eventStreams"] = [
                {"type": "telegraph", "url": "semaphore:hill"},
                self.stream(),
            ]
        self.answer(200, body, fields)

    def stream(self):
        if case() == "other-origin":
            return {"type": "sse", "url": f"http://127.0.0.2:{PORT}/events?token=secret"}
        return {
            "type": "sse", "inactivityDelaySec": 120,
            "endpoint": {"requestUri": "/events?token=secret"}}

    def do_GET(self):
        self.note(b"")
        if urlsplit(self.path).path != "/events":
            return self.answer(404, {"errorDetails": "no such address"})
        self.close_connection = True
        page = case() == "plain-page"
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if page else "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            self.events()
        except OSError:
            pass

    def events(self):
        known, said, number = etag(), time.time(), 0
        self.wfile.write(b": welcome\r\nretry: 200\r\n\r\n")
        while case() != "closed":
            name = case()
            if name == "flood":
                self.wfile.write(b'data: {"type": "refetchEvaluation"}\n\n' * 1000)
                continue
            if name == "noise":
                self.wfile.write(b"data: noise" * 10_000)
                continue
            if name != "quiet" and etag() != known:
                known, number = etag(), number + 1
                data = json.dumps(
                    {"type": "refetchEvaluation", "etag": known, "lastModified": int(time.time())})
                self.wfile.write(b'data: {"type": "of another kind"}\n\n')
                self.wfile.write(f"id: event-{number}\nevent: message\ndata: {data}\n\n".encode())
            elif name != "quiet" and time.time() - said > 1:
                said = time.time()
                self.wfile.write(b": still here\n\n")
            time.sleep(0.005)


server = ThreadingHTTPServer(("0.0.0.0", PORT), Server)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
follow(case)
