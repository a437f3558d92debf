#!/usr/bin/env python3
"""A server of flags that behaves well or badly, as a test selects.

usage: flag-server.py FOLDER PORT [--tls]

folder.py describes FOLDER, and flag_answers.py holds the cases. With --tls the server speaks TLS, with the
certificates FOLDER/*.pem.
"""
import socket
import ssl
import threading

import flag_answers
from flag_answers import ORDER, TLS, case, good, pieces
from folder import PORT, follow, lock, note, path

connections = set()


def context(name):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    files = {"expired": "expired", "other-name": "other-name", "other-authority": "stranger"}
    file = path(files.get(name, "server") + ".pem")
    made.load_cert_chain(file)
    if name == "client-certificate":
        made.verify_mode = ssl.CERT_REQUIRED
        made.load_verify_locations(path("authority.pem"))
    if name == "tls-1.1":
        made.set_ciphers("ALL:@SECLEVEL=0")
        made.minimum_version = ssl.TLSVersion.TLSv1
        made.maximum_version = ssl.TLSVersion.TLSv1_1
    return made


def read_request(stream):
    line = stream.readline(65536).decode("latin-1").split()
    if len(line) < 2:
        return None
    headers = {}
    while True:
        field = stream.readline(65536).decode("latin-1").rstrip("\r\n")
        if not field:
            body = stream.read(int(headers.get("content-length", "0"))).decode("latin-1")
            return {"method": line[0], "path": line[1], "headers": headers, "body": body}
        name, _, value = field.partition(":")
        headers[name.strip().lower()] = value.strip()


def tunnel(client, request):
    """Handles CONNECT, as a proxy does."""
    host, _, number = request["path"].rpartition(":")
    server = socket.create_connection((host.strip("[]"), int(number)))
    client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")

    def copy(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    thread = threading.Thread(target=copy, args=(server, client), daemon=True)
    thread.start()
    copy(client, server)


def serve(client, is_order):
    try:
        name = case()
        if TLS and not is_order:
            client = context(name).wrap_socket(client, server_side=True)
        with lock:
            connections.add(client)
        if client.family == socket.AF_INET:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = client.makefile("rb")
        is_idle = False
        while request := read_request(stream):
            request["is_idle"], is_idle = is_idle, True
            # Over TLS a connection keeps its certificate and its case, and ends with the first answer after a change.
            # Ended before, it would have the request repeated, and the message would be about the first try.
            if not TLS:
                name = case()
            note(name, request["method"], request["path"], request["headers"].items(),
                 request["body"])
            if request["method"] == "CONNECT":
                # A status refuses the tunnel.
                return (client.sendall(next(pieces(request, name))) if name.isdigit()
                        else tunnel(client, request))
            if is_order or request["path"] == "/order":
                client.sendall(good(request, "order", ORDER))
                continue
            for piece in pieces(request, name):
                if piece is None:
                    return
                client.sendall(piece)
            if TLS and name != case():
                return
    except (OSError, ValueError):
        pass
    finally:
        with lock:
            connections.discard(client)
        try:
            client.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        client.close()


def listen(address, number):
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((address, number))
    made.listen(64)
    return made


def listen_unix(file):
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.bind(file)
    made.listen(64)
    return made


def accept(listener, is_order):
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=serve, args=(client, is_order), daemon=True).start()


def run(listener, is_order=False):
    threading.Thread(target=accept, args=(listener, is_order), daemon=True).start()
    return listener


def close(listener):
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def drop_connections():
    with lock:
        for client in list(connections):
            try:
                client.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def take_up(name):
    global main
    if name == "closed":
        close(main)
        main = None
    elif main is None:
        main = run(listen("127.0.0.1", PORT))
    if name in ("closed", "dropped"):
        drop_connections()


main = run(listen("127.0.0.1", PORT))
elsewhere = run(listen("127.0.0.2", PORT), is_order=True)
other = run(listen("127.0.0.1", 0), is_order=True)
flag_answers.other_port = other.getsockname()[1]
run(listen_unix(path("socket")))
follow(case, take_up)
