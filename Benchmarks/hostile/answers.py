"""Answers over HTTP that cost a reader as much as their bytes can, clocks that are wrong, templates that take long
to evaluate, and a server that gives one of them."""
import email.utils
import gzip
import json
import socket
import threading
import time
import zlib

FLAGS = b'{"apiInactive": false, "forceUpdate": false}'
ZIPPED = gzip.compress(FLAGS)
HEADER = ZIPPED[:10]
GZIP = "Content-Encoding: gzip"
SIZE = 1_000_000  # below the limit of a body, 1 MiB


def dynamic_block():
    """An empty block of deflate with a full table of codes, which takes the most time for its bytes."""
    bits, lengths = [], {16: 2, 8: 2, 9: 2, 1: 2}
    order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1]

    def put(value, count):
        bits.extend(value >> index & 1 for index in range(count))

    def code(value, count):
        bits.extend(value >> index & 1 for index in reversed(range(count)))

    def symbol(wanted):
        code(sorted(lengths).index(wanted), 2)

    put(0b100, 3)  # not the last block, dynamic codes
    put(0, 10)  # 257 symbols, 1 distance
    put(len(order) - 4, 4)
    for each in order:
        put(lengths.get(each, 0), 3)
    symbol(8)
    for run in [6] * 41 + [5, 3]:  # 255 symbols of 8 bits
        symbol(16)
        put(run - 3, 2)
    for each in (9, 9, 1):
        symbol(each)
    code(0x1FF, 9)  # the end of the block
    put(0, 3)  # an empty stored block, to end at a byte
    bits.extend([0] * (-len(bits) % 8))
    octets = [sum(bit << place for place, bit in enumerate(bits[at:at + 8])) for at in range(0, len(bits), 8)]
    return bytes(octets) + b"\0\0\xff\xff"


def filled(block):
    return HEADER + block * (SIZE // len(block)) + ZIPPED[10:]


def layers():
    """Three layers, of which the innermost decodes to nothing for a long time."""
    body = HEADER + b"\0\0\0\xff\xff" * 40_000_000 + ZIPPED[10:]
    for _ in range(2):
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        body = packer.compress(body) + packer.flush()
    return body


def date(ahead):
    return f"Date: {email.utils.formatdate(time.time() + ahead, usegmt=True)}"


def document():
    """Objects with a key more than are searched one by one."""
    one = b'{' + b",".join(b'"k%d":0' % number for number in range(17)) + b"}"
    return b'{"apiInactive": false, "forceUpdate": false, "more": [' + b",".join(
        [one] * (8_000_000 // len(one))) + b"]}"


ANSWERS = {
    "small flags, gzip": ([GZIP], ZIPPED),
    "16 MiB of blanks, gzip": ([GZIP], gzip.compress(b" " * (16 << 20))),
    "three layers of gzip": (["Content-Encoding: gzip, gzip, gzip\x0b"], layers()),
    "empty stored blocks": ([GZIP], filled(b"\0\0\0\xff\xff")),
    "empty dynamic blocks": ([GZIP], filled(dynamic_block())),
    "empty members": ([GZIP], gzip.compress(b"") * (SIZE // 20) + ZIPPED),
    "chunks of one byte": (["Transfer-Encoding: chunked"], b"1\r\n \r\n" * SIZE + b"0\r\n\r\n"),
    "60,000 bytes of fields": (["a:"] * 15_000, FLAGS),
    "8 MB of objects with 17 keys": ([], document()),
    "a clock two days ahead": ([date(172_800)], FLAGS),
    "a clock two days behind": ([date(-172_800)], FLAGS),
}


def template(condition):
    """A server template of Firebase with 8 MB of conditions."""
    size = len(json.dumps(condition(0))) + 40
    conditions = [{"name": f"c{number}", "condition": condition(number)}
                  for number in range(8_000_000 // size)]
    values = {each["name"]: {"value": "over"} for each in conditions[:100]}
    return json.dumps({
        "conditions": conditions, "version": {"versionNumber": "1"},
        "parameters": {"service_end": {"defaultValue": {"value": "no"}, "conditionalValues": values}},
    }).encode()


def test(operator, *targets):
    return {"customSignal": {"customSignalOperator": operator, "customSignalKey": "s",
                             "targetCustomSignalValues": targets}}


# Conditions that took minutes; the signal 's' is 200 times the letter a.
TEMPLATES = {
    "a template of patterns that are large when compiled":
        template(lambda number: test("STRING_CONTAINS_REGEX", f"\\pL{{999}}{number}")),
    "a template of patterns that are slow to search":
        template(lambda number: test("STRING_CONTAINS_REGEX", f"(a{{100}}){{10}}b{number}")),
    "a template of texts that are nearly contained":
        template(lambda number: test("STRING_CONTAINS", *["a" * 100 + "b"] * 1000)),
}
SMALL = json.dumps({
    "parameters": {"service_end": {"defaultValue": {"value": "no"}}},
    "version": {"versionNumber": "1"}}).encode()


class Server:
    """Gives the answer or the template that is selected, and tokens of Google's metadata server."""

    def __init__(self):
        self.name = next(iter(ANSWERS))
        self.count = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            requests = client.makefile("rb")
            while request := requests.readline():
                while requests.readline().strip():
                    pass
                fields, body = self.answer(request.split()[1])
                if not any(field.startswith("Transfer") for field in fields):
                    fields = [*fields, f"Content-Length: {len(body)}"]
                head = "".join(f"{line}\r\n" for line in ["HTTP/1.1 200 OK", *fields, ""])
                client.sendall(head.encode("latin-1") + body)
        except OSError:
            pass
        finally:
            client.close()

    def answer(self, path):
        """Fields and a body, by the path of a request."""
        if b"computeMetadata" in path:
            return ["Metadata-Flavor: Google"], b'{"access_token": "t", "expires_in": 3599}'
        is_template = b"serverRemoteConfig" in path
        if is_template == (self.name in TEMPLATES):
            self.count += 1
        if is_template:
            return [], TEMPLATES.get(self.name, SMALL)
        return ANSWERS.get(self.name) or ([], FLAGS)
