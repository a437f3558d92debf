"""Answers for flag-server.py whose codings, lengths or status lines are wrong, or right and unusual.

They are written byte by byte, and carry an order to close.
"""
import gzip
import zlib

ORDER = b'{"apiInactive": true, "forceUpdate": false}'
ZIPPED = gzip.compress(ORDER)
NESTED = gzip.compress(gzip.compress(ZIPPED))
GZIP = b"Content-Encoding: gzip"
CHUNKS = b"Transfer-Encoding: chunked"

# The header of gzip, and a block of deflate that decodes to nothing (RFC 1951 §3.2.4).
GZIP_HEADER = ZIPPED[:10]
EMPTY_BLOCK = b"\x00\x00\x00\xff\xff"


def answer(*lines, body=ORDER, etag=b"bad"):
    fields = [b'ETag: "' + etag + b'"', *lines]
    return b"HTTP/1.1 200 OK\r\n" + b"".join(line + b"\r\n" for line in fields) + b"\r\n" + body


def length(body):
    return b"Content-Length: %d" % len(body)


def whole(*lines, body=ORDER, etag=b"bad"):
    """An answer with the length of its body."""
    return answer(*lines, length(body), body=body, etag=etag)


def chunked(body, trailer=b""):
    return b"%x\r\n%s\r\n0\r\n%s\r\n" % (len(body), body, trailer)


def damaged(body, position):
    """The bytes with one of them changed."""
    body = bytearray(body)
    body[position] ^= 1
    return bytes(body)


WRONG = {
    # Codings that are not accepted, some of them hidden from a careless reader.
    "hidden-codings": whole(b"Content-Encoding: gzip, gzip, gzip\x0b", body=NESTED),
    "hidden-by-a-field": whole(
        b"Content-Encoding: gzip, gzip, gzip", b"HTTP/1.1 200: x", body=NESTED),
    "coding-twice": whole(GZIP, GZIP, body=ZIPPED),
    "coding-not-in-ascii": whole(b"Content-Encoding: gzip\xa0", body=ZIPPED),
    "long-coding": whole(b"Content-Encoding: " + b"x" * 30_000),
    "hidden-transfer-coding": answer(b"Transfer-Encoding: gzip\x0b, chunked", body=chunked(ZIPPED)),
    "transfer-coding-twice": answer(b"Transfer-Encoding: gzip", CHUNKS, body=chunked(ZIPPED)),

    # Damaged gzip.
    "no-trailer": whole(GZIP, body=ZIPPED[:-8]),
    "half-a-trailer": whole(GZIP, body=ZIPPED[:-1]),
    "no-trailer-in-chunks": answer(GZIP, CHUNKS, body=chunked(ZIPPED[:-8])),
    "no-trailer-of-the-second": whole(GZIP, body=ZIPPED + ZIPPED[:-8]),
    "wrong-sum": whole(GZIP, body=damaged(ZIPPED, -5)),
    "wrong-size": whole(GZIP, body=damaged(ZIPPED, -1)),
    "after-gzip": whole(GZIP, body=ZIPPED + ORDER),
    "zlib-as-gzip": whole(GZIP, body=zlib.compress(ORDER)),

    # Lengths that two readers may understand differently.
    "two-lengths": answer(b"Content-Length: 5", length(ORDER)),
    "two-lengths-in-a-list": answer(length(ORDER) + b", 5"),
    "length-with-a-sign": answer(b"Content-Length: +%d" % len(ORDER)),
    "length-with-a-unit": answer(length(ORDER) + b" bytes"),
    "hidden-length": answer(length(ORDER) + b"\x0b", b"Content-Length: 5\x0b"),
    "huge-length": answer(b"Content-Length: " + b"9" * 40),
    "length-and-chunks": answer(length(ORDER), CHUNKS, body=chunked(ORDER)),

    # Lines like a status line where none may stand.
    "status-in-the-trailer":
        answer(CHUNKS, body=chunked(ORDER, b"HTTP/1.1 200: OK\r\n")).replace(b"200 OK", b"500 No", 1),
    "status-among-the-fields": whole(b"HTTP/1.1 200: OK").replace(b"200 OK", b"500 No", 1),
    "other-status-line": whole().replace(b"1.1 200", b"1.1  200", 1),
}

_parts = [gzip.compress(part) for part in (ORDER[:9], b"", ORDER[9:])]
_named = GZIP_HEADER[:3] + b"\x08" + GZIP_HEADER[4:] + b"flags.json\0" + ZIPPED[10:]
_interim = b"HTTP/1.1 103 Early Hints\r\nContent-Encoding: br\r\nContent-Length: 3\r\n\r\n"

UNUSUAL = {
    "members": whole(GZIP, body=b"".join(_parts), etag=b"order"),
    "named-member": whole(b"content-encoding:X-GZip ", body=_named, etag=b"order"),
    "same-length-twice": whole(b"Content-Length: %d, 0%d" % (2 * (len(ORDER),)), etag=b"order"),
    "no-coding": whole(b"Content-Encoding:", b"Content-Encoding: identity", etag=b"order"),
    "interim": _interim + _interim + whole(etag=b"order"),
    "field-like-a-status-line": whole(b"HTTP/1.1 500: x", etag=b"order"),
    "no-reason": whole(etag=b"order").replace(b" OK", b""),
    "byte-by-byte": whole(GZIP, body=ZIPPED, etag=b"order"),
}
