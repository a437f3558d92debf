"""200 broken answers to a poll of flags, and a server that gives one of them.

The document is of the format `status`: an object with the Booleans apiInactive and forceUpdate. Every broken answer is
made of the document of an open service, or has nothing to do with it: none asks a service to stop. Two true orders, to
close and to open, are beside them.
"""
import gzip
import json
import socket
import ssl
import threading
import zlib

KEYS = ("apiInactive", "forceUpdate")


def document(**changes):
    return json.dumps({"apiInactive": False, "forceUpdate": False, "userMessage": None, **changes}).encode()


OPEN = document()
CLOSED = document(apiInactive=True, userMessage="back at noon")
JSON_TYPE = "Content-Type: application/json"
HTML_TYPE = "Content-Type: text/html; charset=utf-8"


class Reply:
    """An answer of a server that speaks HTTP. `length`: what Content-Length claims, if not the truth."""

    def __init__(self, status, fields, body, length=None):
        self.status, self.fields, self.body = status, fields, body
        self.length = len(body) if length is None else length

    def bytes(self):
        fields = [f"HTTP/1.1 {self.status}", *self.fields]
        if not any(field.startswith("Transfer-Encoding") for field in fields):
            fields.append(f"Content-Length: {self.length}")
        return "".join(field + "\r\n" for field in [*fields, ""]).encode("latin-1") + self.body


class Fault:
    """Something that goes wrong below HTTP: its name is a method of the server, or a certificate."""

    def __init__(self, name, certificate=None):
        self.name, self.certificate = name, certificate


def good(body):
    return Reply("200 OK", [JSON_TYPE], body)


def page(title, text=""):
    return (f"<!DOCTYPE html><html><head><title>{title}</title></head><body><h1>{title}</h1>"
            f"<p>{text}</p></body></html>").encode()


def html():
    titles = ["Welcome to nginx!", "It works!", "Index of /", "Log in", "Scheduled maintenance", "Access denied",
              "Just a moment...", "This domain is for sale", "Error", "Flags of the shop"]
    for title in titles:
        yield title, Reply("200 OK", [HTML_TYPE], page(title))
        yield f"{title}, called JSON", Reply("200 OK", [JSON_TYPE], page(title))
    manual = page("Manual", 'To close the shop, serve <code>{"apiInactive": true, "forceUpdate": false}</code>.')
    yield "a manual that quotes the document", Reply("200 OK", [HTML_TYPE], manual)
    yield "a manual that quotes the document, called JSON", Reply("200 OK", [JSON_TYPE], manual)
    yield "the document in a page", Reply("200 OK", [HTML_TYPE], b"<pre>" + OPEN + b"</pre>")


def halves():
    for size in (1, 2, 3, 5, 8, 12, 14, 15, 16, 17, 18, 20, 22, 24, 26, 30, 33, 36, 38, 40, 42, 44, 46, 50, 54, 58, len(OPEN) - 1):
        yield f"{size} bytes", good(OPEN[:size])
    for size in (0, 1, 16, 22, 24, 44, 50, len(OPEN) - 1):
        yield f"cut off after {size} bytes", Reply("200 OK", [JSON_TYPE], OPEN[:size], len(OPEN))
    chunk = b"%x\r\n" % 22 + OPEN[:22] + b"\r\n"
    chunked = [JSON_TYPE, "Transfer-Encoding: chunked"]
    yield "one chunk and no end", Reply("200 OK", chunked, chunk)
    yield "one chunk and an end", Reply("200 OK", chunked, chunk + b"0\r\n\r\n")
    yield "a chunk of no size", Reply("200 OK", chunked, b"zz\r\n" + OPEN)
    yield "the second half", good(OPEN[len(OPEN) // 2:])
    yield "without the first brace", good(OPEN[1:])


def empty():
    for name, body in (("nothing", b""), ("a blank", b" "), ("a line end", b"\n"), ("null", b"null"), ('""', b'""'),
                       ("a zero byte", b"\0"), ("an empty object", b"{}"), ("an empty list", b"[]")):
        yield name, good(body)
    yield "204", Reply("204 No Content", [], b"")
    yield "nothing, without a type", Reply("200 OK", [], b"")


def types():
    wrong = ["", "maybe", "unknown", "null", "None", "undefined", "-", "FALSE?", [], {}, [False], {"value": False}, None,
             2, -1, 0.5, 1e3]
    for value in wrong:
        for key in KEYS:
            yield f"{key} is {json.dumps(value)}", good(document(**{key: value}))
    yield "a list of documents", good(b"[" + OPEN + b"]")
    yield "a string of the document", good(json.dumps(OPEN.decode()).encode())
    for body in (b"true", b"false", b"0", b"1"):
        yield f"only {body.decode()}", good(body)


def errors():
    problem = json.dumps({"error": "upstream", "code": 500, "message": "try again"}).encode()
    for status in ("500 Internal Server Error", "502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout",
                   "429 Too Many Requests", "404 Not Found", "403 Forbidden", "401 Unauthorized"):
        yield f"{status}, a page", Reply(status, [HTML_TYPE], page(status))
        yield f"{status}, a problem in JSON", Reply(status, [JSON_TYPE], problem)
    for status in ("500 Internal Server Error", "503 Service Unavailable", "410 Gone", "400 Bad Request"):
        yield f"{status}, nothing", Reply(status, [], b"")
    for status in ("405 Method Not Allowed", "406 Not Acceptable", "409 Conflict", "412 Precondition Failed",
                   "416 Range Not Satisfiable", "421 Misdirected Request", "431 Request Header Fields Too Large",
                   "451 Unavailable For Legal Reasons", "501 Not Implemented", "505 HTTP Version Not Supported"):
        yield status, Reply(status, [HTML_TYPE], page(status))
    yield "503 and Retry-After", Reply("503 Service Unavailable", ["Retry-After: 1"], b"")
    yield "200, a problem in JSON", good(problem)
    yield "503 and the document", Reply("503 Service Unavailable", [JSON_TYPE], OPEN)


def portals():
    form = page("Guest Wi-Fi", '<form action="/login"><input name="room"></form>')
    yield "a form", Reply("200 OK", [HTML_TYPE], form)
    yield "a form, called JSON", Reply("200 OK", [JSON_TYPE], form)
    yield "511", Reply("511 Network Authentication Required", [HTML_TYPE], form)
    for status in ("302 Found", "303 See Other", "307 Temporary Redirect"):
        yield f"{status} to a page", Reply(status, ["Location: /portal"], b"")
    yield "301 to another host", Reply("301 Moved Permanently", ["Location: http://portal.test/"], b"")
    yield "302 in circles", Reply("302 Found", ["Location: /circle"], b"")
    yield "302 to nowhere", Reply("302 Found", [], b"")
    yield "a page that reloads", Reply(
        "200 OK", [HTML_TYPE], b'<meta http-equiv="refresh" content="0; url=http://portal.test/">')
    yield "a login in JSON", good(b'{"login": "required", "url": "http://portal.test/"}')


def encodings():
    yield "UTF-8 with a byte order mark", good(b"\xef\xbb\xbf" + OPEN)
    for name in ("utf-16-le", "utf-16-be", "utf-32-le"):
        mark = "\ufeff".encode(name)
        yield f"{name} with a mark", good(mark + OPEN.decode().encode(name))
    yield "UTF-16 without a mark", good(OPEN.decode().encode("utf-16-le"))
    yield "a byte that is no UTF-8", good(OPEN.replace(b"null", b'"\xff"'))
    yield "a lone surrogate", good(OPEN.replace(b"null", b'"\\ud800"'))
    yield "a byte of Latin-1 in a key", good(OPEN.replace(b"userMessage", b"userM\xe9ssage"))
    yield "zero bytes between", good(OPEN.replace(b",", b",\0"))
    yield "gzip that is not said", good(gzip.compress(OPEN))
    yield "gzip that is not so", Reply("200 OK", [JSON_TYPE, "Content-Encoding: gzip"], OPEN)
    yield "half of gzip", Reply("200 OK", [JSON_TYPE, "Content-Encoding: gzip"], gzip.compress(OPEN)[:30])
    yield "an unknown coding", Reply("200 OK", [JSON_TYPE, "Content-Encoding: rot13"], zlib.compress(OPEN))


def keys():
    yield "apiInactive is missing", good(b'{"forceUpdate": false}')
    yield "forceUpdate is missing", good(b'{"apiInactive": false}')
    yield "keys and values swapped", good(b'{"false": ["apiInactive", "forceUpdate"]}')
    yield "keys of another format", good(b'{"isUnderMaintenance": false, "title": "", "message": ""}')
    yield "keys of a third format", good(b'{"service_end": "no"}')
    yield "the opposite key", good(b'{"apiActive": true, "forceUpdate": false}')
    yield "another case", good(b'{"ApiInactive": false, "ForceUpdate": false}')
    yield "with underscores", good(b'{"api_inactive": false, "force_update": false}')
    yield "below data", good(b'{"data": ' + OPEN + b"}")
    yield "blanks in the keys", good(b'{" apiInactive": false, "forceUpdate ": false}')
    yield "apiInactive twice", good(b'{"apiInactive": false, "forceUpdate": false, "apiInactive": true}')
    yield "forceUpdate twice", good(b'{"apiInactive": false, "forceUpdate": true, "forceUpdate": false}')
    yield "a trailing comma", good(b'{"apiInactive": false, "forceUpdate": false,}')
    yield "single quotes", good(b"{'apiInactive': false, 'forceUpdate': false}")
    yield "two documents", good(OPEN + OPEN)
    yield "text after the document", good(OPEN + b"<!-- served by proxy 7 -->")


def network():
    for name in ("refused", "no name", "closed at once", "reset", "no HTTP", "half a head", "a head and no body", "silence"):
        yield name, Fault(name)
    for certificate in ("expired", "other-name", "stranger"):
        yield f"certificate: {certificate}", Fault("certificate", certificate)
    yield "no TLS", Fault("no TLS")
    yield "an alert of TLS", Fault("alert")
    yield "a reset in the handshake", Fault("reset early")


KINDS = {
    "HTML": html, "half a document": halves, "empty": empty, "wrong types": types, "errors of servers": errors,
    "captive portals": portals, "encodings": encodings, "other keys and syntax": keys, "DNS, connection and TLS": network,
}


def broken():
    """All of them: kind, name, answer."""
    return [(kind, name, answer) for kind, make in KINDS.items() for name, answer in make()]


class Server:
    """Serves the flags of one client over TLS: `answer`. Counts what was asked."""

    def __init__(self, port, folder):
        self.port, self.folder = port, folder
        self.answer = good(OPEN)
        self.asked = 0
        self.contexts = {name: self.context(name) for name in ("server", "expired", "other-name", "stranger")}
        self.clients = set()
        self.listener = None
        self.listen()

    def context(self, name):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{self.folder}/{name}.pem")
        return context

    def listen(self):
        if self.listener is None:
            self.listener = socket.create_server(("127.0.0.1", self.port))
            threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def serve(self, answer):
        """Gives another answer from now on. After a fault nobody has a connection from before it."""
        was_fault = isinstance(self.answer, Fault)
        self.answer = answer
        if was_fault or isinstance(answer, Fault):
            for client in list(self.clients):
                self.drop(client)
        if isinstance(answer, Fault) and answer.name in ("refused", "no name"):
            if self.listener is not None:
                self.listener.shutdown(socket.SHUT_RDWR)
                self.listener.close()
                self.listener = None
        else:
            self.listen()

    def drop(self, client):
        try:
            client.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self.follow, args=(client,), daemon=True).start()

    def follow(self, client):
        self.clients.add(client)
        try:
            self.converse(client)
        except (OSError, ValueError):
            pass
        finally:
            self.clients.discard(client)
            client.close()

    def converse(self, client):
        client.settimeout(20)
        answer = self.answer
        fault = answer.name if isinstance(answer, Fault) else None
        if fault in ("reset early", "alert", "no TLS"):
            self.asked += 1
            client.recv(4096)
            if fault == "alert":
                client.sendall(b"\x15\x03\x03\x00\x02\x02\x28")
            elif fault == "no TLS":
                client.sendall(good(OPEN).bytes())
            else:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            return
        if fault == "certificate":
            self.asked += 1
        name = answer.certificate if fault == "certificate" else "server"
        with self.contexts[name].wrap_socket(client, server_side=True) as secure:
            self.clients.add(secure)
            try:
                self.talk(secure)
            finally:
                self.clients.discard(secure)

    def talk(self, secure):
        requests = secure.makefile("rb")
        while line := requests.readline():
            while requests.readline().strip():
                pass
            answer = self.answer
            self.asked += 1
            if isinstance(answer, Fault):
                return self.misbehave(secure, answer.name)
            if b"/portal" in line:
                answer = Reply("200 OK", [HTML_TYPE], page("Guest Wi-Fi"))
            secure.sendall(answer.bytes())
            # What is cut off, or has no end of chunks, ends with the connection.
            if answer.length != len(answer.body) or b"Transfer-Encoding" in answer.bytes():
                return None

    def misbehave(self, secure, name):
        if name == "no HTTP":
            secure.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
        elif name == "half a head":
            secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: applica")
        elif name == "a head and no body":
            secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 62\r\n\r\n")
        elif name == "silence":
            threading.Event().wait(4)
        elif name == "reset":
            secure.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
