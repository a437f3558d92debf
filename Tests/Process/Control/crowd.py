"""A crowd of clients at the control socket, most of them ill-behaved. Prints measurements as JSON.

usage: crowd.py FOLDER

Listens as the service manager at FOLDER/notify, then makes FOLDER/listening, and waits for the daemon
whose control socket is FOLDER/run/control.sock and whose process ID is in FOLDER/pid. The
daemon follows the file FOLDER/flags.json as the source of its service 'shop'.
"""

import json
import os
import socket
import sys
import threading
import time

folder = sys.argv[1]
path = f"{folder}/run/control.sock"
CLIENTS = 500


def message(method, **more):
    return json.dumps({"method": f"io.killswitchd.{method}", **more}).encode() + b"\0"


def connect():
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(20)
    client.connect(path)
    return client


def read(client):
    data = b""
    while not data.endswith(b"\0"):
        more = client.recv(1 << 20)
        if not more:
            raise EOFError
        data += more
    return [json.loads(part) for part in data.split(b"\0")[:-1]]


def states(replies):
    return [service["state"] for reply in replies for service in reply["parameters"]["services"]]


def memory():
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def wait(condition):
    end = time.monotonic() + 30
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.01)


class Gaps:
    """The longest time between two signs of life."""

    def __init__(self):
        self.last = None
        self.longest = 0.0
        self.count = 0

    def sign(self):
        now = time.monotonic()
        if self.last is not None:
            self.longest = max(self.longest, now - self.last)
            self.count += 1
        self.last = now


pings, polls, over = Gaps(), Gaps(), threading.Event()
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(f"{folder}/notify")
manager.settimeout(0.2)


def listen():
    while not over.is_set():
        try:
            if b"WATCHDOG=1" in manager.recv(1 << 16):
                pings.sign()
        except socket.timeout:
            pass


def follow():
    seen = None
    while not over.is_set():
        try:
            mark = os.stat(f"{folder}/run/source.app").st_mtime_ns
            if mark != seen:
                seen = mark
                polls.sign()
        except FileNotFoundError:
            pass
        time.sleep(0.01)


threads = [threading.Thread(target=work) for work in (listen, follow)]
for thread in threads:
    thread.start()
open(f"{folder}/listening", "w", encoding="ascii").close()
result = {}
try:
    wait(lambda: os.path.exists(f"{folder}/pid") and os.path.exists(path))
    with open(f"{folder}/pid", encoding="ascii") as file:
        pid = int(file.read())
    first = connect()
    first.sendall(message("Status"))
    read(first)
    result["memory_before"] = memory()

    # A client that sends calls and never reads, one that sends a byte a second, and a silent one.
    deaf = connect()
    deaf.setblocking(False)
    asked = 0
    try:
        while asked < 64 << 20:
            asked += deaf.send(message("Status") * 1000)
    except BlockingIOError:
        pass
    slow, silent = connect(), connect()
    letters = iter(message("Status"))

    def dawdle():
        while not over.is_set():
            slow.send(bytes([next(letters)]))
            time.sleep(1)

    threads.append(threading.Thread(target=dawdle))
    threads[-1].start()

    # A line of a hundred megabytes, other protocols, and clients that disconnect at once.
    huge, sent = connect(), 0
    try:
        while sent < 100 << 20:
            sent += huge.send(b"x" * (1 << 16))
    except OSError:
        pass
    result["huge_was_cut"] = sent < 100 << 20
    result["answers_to_noise"] = 0
    for noise in (b"GET / HTTP/1.1\r\n\r\n\0", b"\0", b"{}\0", b"\xff\xfe\0", b"[" * 60000 + b"\0"):
        client = connect()
        client.sendall(noise)
        try:
            result["answers_to_noise"] += len(client.recv(100))
        except ConnectionResetError:
            pass
    for _ in range(200):
        client = connect()
        client.sendall(message("Refresh") if _ % 2 else message("Watch", more=True))
        client.close()
    result["deaf_asked"] = asked

    # Three calls in one piece, then a half-closed connection: each call is answered, in order.
    client = connect()
    client.sendall(message("Status") + message("Sources") + message("Nonsense"))
    client.shutdown(socket.SHUT_WR)
    data = b""
    while more := client.recv(1 << 16):
        data += more
    replies = [json.loads(part) for part in data.split(b"\0")[:-1]]
    result["half_closed"] = [sorted(reply.get("parameters", {})) for reply in replies]

    # Five hundred clients at once: each calls Status, and then all of them watch.
    crowd = [connect() for _ in range(CLIENTS)]
    for client in crowd:
        client.sendall(message("Status"))
    result["served"] = sum(states(read(client)) == ["running"] for client in crowd)
    for client in crowd:
        client.sendall(message("Watch", more=True))
    result["following"] = sum(states(read(client)) == ["running"] for client in crowd)
    with open(f"{folder}/flags.new", "w", encoding="ascii") as file:
        file.write('{"service_end": "over"}')
    os.rename(f"{folder}/flags.new", f"{folder}/flags.json")
    result["told"] = sum(states(read(client)) == ["ended"] for client in crowd)
    wait(lambda: polls.count >= 5 and pings.count >= 5)
    result["memory_with_all"] = memory()
    for client in crowd:
        client.close()
    first.sendall(message("Status"))
    result["first_is_served_still"] = states(read(first)) == ["ended"]
    result["longest_without_poll"] = round(polls.longest, 2)
    result["longest_without_ping"] = round(pings.longest, 2)
finally:
    over.set()
    for thread in threads:
        thread.join()
print(json.dumps(result))
