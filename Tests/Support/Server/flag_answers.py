"""The answers of flag-server.py, case by case.

Every bad answer carries an order to close and the ETag "bad", so that a test notices a daemon that takes
one.
"""
import base64
import gzip
import hashlib
import json
import sys
import time
import zlib
from email.utils import formatdate

from folder import read
from framing import EMPTY_BLOCK, GZIP_HEADER, ORDER, UNUSUAL, WRONG

TLS = "--tls" in sys.argv
BAD = [("ETag", '"bad"'), ("Last-Modified", "Thu, 01 Jan 1970 00:00:00 GMT")]

# 32 MiB of zeros, compressed to 32 KiB.
_deflate = zlib.compressobj(9, zlib.DEFLATED, 31)
BOMB = b"".join(_deflate.compress(bytes(1 << 20)) for _ in range(32)) + _deflate.flush()

START = time.time()

# The port of a second listener on this address, which flag-server.py sets.
other_port = 0


def case():
    return read("case", "running").strip()


def head(status, fields=(), length=None, ahead=0):
    lines = [f"HTTP/1.1 {status}", "Date: " + formatdate(later(ahead), usegmt=True)]
    lines += [f"{name}: {value}" for name, value in fields]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def flags(closed, message=None):
    value = {"apiInactive": closed, "forceUpdate": False}
    if message:
        value["userMessage"] = message
    return json.dumps(value).encode()


def good(request, name, body, extra=()):
    etag = f'"{name}"'
    fields = [("ETag", etag), ("Content-Type", "application/json"), *extra]
    if request["headers"].get("if-none-match") == etag:
        return head("304 Not Modified", fields)
    if "gzip" in request["headers"].get("accept-encoding", ""):
        body = gzip.compress(body)
        fields.append(("Content-Encoding", "gzip"))
    return head("200 OK", fields, len(body)) + body


def bad(body, extra=()):
    return head("200 OK", [*BAD, *extra], len(body)) + body


def error(status, *fields):
    return head(status, [*BAD, *fields], len(ORDER)) + ORDER


def later(seconds):
    return time.time() + seconds


def rfc3339(moment):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def here(request):
    """The server's own origin, as the request named it."""
    return ("https" if TLS else "http") + "://" + request["headers"]["host"]


def pieces(request, name):
    """The parts of an answer as they are sent; None at the end closes the connection."""
    if name in ("running", "dropped", "client-certificate"):
        yield good(request, "running", flags(False))
    elif name == "maintenance":
        yield good(request, "maintenance", flags(True))
    elif name == "document":
        body = read("document", "{}").encode()
        yield good(request, str(zlib.crc32(body)), body)
    elif name == "old-document":
        # A cache guesses from its age that it stays good for days (RFC 9111 §4.2.2).
        body = read("document", "{}").encode()
        fields = [("Last-Modified", "Wed, 01 Jan 2020 00:00:00 GMT")]
        yield good(request, str(zlib.crc32(body)), body, fields)
    elif name == "retry-interval":
        value = {"apiInactive": True, "forceUpdate": False, "retryInterval": 1}
        yield good(request, "retry", json.dumps(value).encode())
    elif name.startswith("clock_"):
        # clock_AHEAD_END: the server's clock is ahead, and the end comes so long after its start.
        ahead, end = map(int, name.split("_")[1:])
        value = {"state": "countdown", "ends_at": rfc3339(START + end)}
        body = json.dumps(value).encode()
        yield head("200 OK", [("Content-Type", "application/json")], len(body), ahead) + body
    elif name.startswith("lying_"):
        # lying_AHEAD: a file of the folder, named by the path, with such a Date.
        body = read(request["path"].strip("/"), "{}").encode()
        yield head("200 OK", [], len(body), int(name.split("_")[1])) + body
    elif name == "same-body-other-etag":
        yield head("200 OK", [("ETag", f'"{time.time()}"')], len(flags(False))) + flags(False)
    elif name == "aged":
        # As of a cache that has kept it for 720 s. The file "age" holds its fields Age, one a line.
        fields = [("Age", age) for age in read("age", "720").split("\n")]
        yield head("200 OK", fields, len(flags(False)), -720) + flags(False)
    elif name == "idle-408":
        # As a proxy that closes an idle connection when the next request is on its way.
        if request["is_idle"]:
            yield error("408 Request Timeout", ("Connection", "close"))
            yield None
        yield good(request, "running", flags(False))
    elif name.isdigit():
        yield error({"204": "204 No Content", "206": "206 Partial Content",
                     "203": "203 Non-Authoritative"}.get(name, name + " Some Words"))
    elif name == "304":
        yield head("304 Not Modified", BAD)
    elif name.startswith("seconds-"):
        yield error(name[8:], ("Retry-After", "2"))
    elif name.startswith("date-"):
        yield error(name[5:], ("Retry-After", formatdate(later(3), usegmt=True)))
    elif name.startswith("rfc3339-"):
        yield error(name[8:], ("Retry-After", rfc3339(later(3))))
    elif name == "past-503":
        yield error("503 Busy", ("Retry-After", formatdate(later(-9999), usegmt=True)))
    elif name == "negative-503":
        yield error("503 Busy", ("Retry-After", "-7"))
    elif name == "nonsense-503":
        yield error("503 Busy", ("Retry-After", "soon"))
    elif name == "week-503":
        yield error("503 Busy", ("Retry-After", "604800"))
    elif name == "empty":
        yield bad(b"")
    elif name == "page":
        yield bad(b"<!DOCTYPE html><html><body>Welcome! " + ORDER + b"</body></html>")
    elif name == "truncated":
        yield bad(ORDER[:-1])
    elif name == "cut-short":
        yield head("200 OK", BAD, len(ORDER) + 1) + ORDER
        yield None
    elif name == "hang-up":
        yield None
    elif name == "nonsense":
        yield b"\x16\x03\x01 this is no HTTP\r\n\r\n"
        yield None
    elif name == "duplicate":
        yield bad(b'{"apiInactive": true, "apiInactive": true, "forceUpdate": false}')
    elif name == "wrong-type":
        yield bad(b'{"apiInactive": 1, "forceUpdate": false}')
    elif name == "unknown-word":
        yield bad(b'{"apiInactive": "perhaps", "forceUpdate": false}')
    elif name == "another-word":
        yield bad(b'{"apiInactive": "word %d", "forceUpdate": false}' % time.monotonic_ns())
    elif name == "another-error":
        yield bad(b"{" + b" " * (time.monotonic_ns() // 1000 % 100_000) + b"!")
    elif name == "missing-key":
        yield bad(b'{"apiInactive": true}')
    elif name == "list":
        yield bad(b"[" + ORDER + b"]")
    elif name == "latin":
        yield bad(b'{"apiInactive": true, "forceUpdate": false, "userMessage": "caf\xe9"}')
    elif name == "large":
        yield bad(ORDER[:-1] + b', "x": "' + b"x" * (2 << 20) + b'"}')
    elif name == "nested":
        yield bad(b'{"apiInactive": true, "forceUpdate": false, "x": ' + b"[" * 100_000)
    elif name == "drip":
        yield head("200 OK", BAD, 10_000)
        for byte in ORDER * 100:
            yield bytes([byte])
            time.sleep(0.05)
    elif name == "header-drip":
        yield b"HTTP/1.1 200 OK\r\n"
        while True:
            yield b"X-More: and more\r\n"
            time.sleep(0.05)
    elif name == "headers":
        yield b"HTTP/1.1 200 OK\r\n"
        while True:
            yield b"X-More: " + b"m" * 1000 + b"\r\n"
    elif name == "long-header":
        yield b"HTTP/1.1 200 OK\r\nX-More: "
        while True:
            yield b"m" * 1000
    elif name == "bomb":
        yield bad(BOMB, [("Content-Encoding", "gzip")])
    elif name == "double-bomb":
        yield bad(gzip.compress(BOMB), [("Content-Encoding", "gzip, gzip")])
    elif name == "no-gzip":
        yield bad(b"\x00\x01" + ORDER, [("Content-Encoding", "gzip")])
    elif name in WRONG:
        yield WRONG[name]
        yield None
    elif name == "byte-by-byte":
        for byte in UNUSUAL[name]:
            yield bytes([byte])
            time.sleep(0.001)
    elif name in UNUSUAL:
        yield UNUSUAL[name]
    elif name == "empty-blocks":
        yield head("200 OK", [*BAD, ("Content-Encoding", "gzip")]) + GZIP_HEADER
        while True:
            yield EMPTY_BLOCK * 1000
    elif name == "other-coding":
        yield bad(ORDER, [("Content-Encoding", "br")])
    elif name == "redirect-host":
        # The same server under another name, with an order that would be taken.
        target = here(request).replace("127.0.0.1", "127.0.0.2").replace("localhost", "127.0.0.2")
        yield error("302 Found", ("Location", target + "/order"))
    elif name == "redirect-port":
        yield error("302 Found", ("Location", f"http://127.0.0.1:{other_port}/order"))
    elif name == "redirect-down":
        yield error("301 Moved", ("Location", f"http://localhost:{other_port}/order"))
    elif name == "redirect-loop":
        time.sleep(0.02)  # Long enough that the answer is waited for.
        yield error("307 Go", ("Location", "/again"))
    elif name == "redirect-nowhere":
        yield error("302 Found")
    elif name == "redirect-file":
        yield error("302 Found", ("Location", "file:///etc/passwd"))
    elif name == "redirect-once":
        if request["path"] == "/moved":
            yield good(request, "moved", flags(True))
        else:
            yield error("302 Found", ("Location", "/moved"))
    elif name == "held":
        # The file flags.json of the test.
        body = read("flags.json", "{}").encode()
        yield good(request, hashlib.sha256(body).hexdigest()[:16], body)
    elif name == "etcd-maintenance" and request["path"] != "/v3/kv/range":
        yield head("404 No Watch", [], 0)
    elif (name.startswith("etcd-") and name != "etcd-last-revision"
            and request["path"] == "/v3/kv/range"):
        if name == "etcd-slow":
            time.sleep(3)
        value = base64.b64encode(flags(name == "etcd-maintenance")).decode()
        kv = {"key": base64.b64encode(b"/flags/shop").decode(), "mod_revision": "2", "value": value}
        body = {"header": {"cluster_id": "1", "revision": "2"}, "kvs": [kv], "count": "1"}
        yield head("200 OK", [], len(json.dumps(body))) + json.dumps(body).encode()
    elif name == "etcd-last-revision":
        body = {"header": {"cluster_id": "1", "revision": str(2 ** 63 - 1)}, "kvs": []}
        yield head("200 OK", [], len(json.dumps(body))) + json.dumps(body).encode()
    elif name == "etcd-events":
        yield head("200 OK")
        while True:
            yield b'{"result":{"header":{"revision":"2"},"events":[{"kv":{"key":"L2ZsYWdzL3Nob3A="}}]}}\n' * 100
    elif name == "etcd-line":
        yield head("200 OK") + b'{"result":{"header":{"revision":"2"},"events":[{"kv":{"value":"'
        while True:
            yield b"YQ" * 10_000
    elif name in ("etcd-drip", "etcd-slow"):
        yield head("200 OK")
        while case() == name:
            yield b" "
            time.sleep(0.02)
        yield None
    elif name == "stream-quiet":
        yield head("200 OK", BAD) + b"one line\n"
        while case() == name:
            time.sleep(0.01)
        yield None
    elif name == "stream-lines":
        yield head("200 OK", BAD)
        while case() == name:
            yield b"one line\n"
            time.sleep(0.01)
        yield None
    elif name == "stream-flood":
        yield head("200 OK", BAD)
        while True:
            yield b"one line\n" * 10_000
    elif name == "stream-gzip":
        yield head("200 OK", [("Content-Encoding", "gzip")]) + BOMB
    elif name == "silence":
        time.sleep(3600)
    elif name in ("expired", "other-name", "other-authority", "tls-1.1"):
        yield good(request, "order", ORDER)
    else:
        yield error("500 No such case")
