"""The folder through which a test and its server communicate, and the port of the server: the first two
arguments of every server here.

FOLDER/case holds the name of the selected case; a new name takes effect at once. The server writes each case
that it has taken up to FOLDER/now, and for each request a line of JSON to FOLDER/requests.
"""
import json
import os
import sys
import threading
import time

FOLDER = sys.argv[1]
PORT = int(sys.argv[2])

lock = threading.Lock()


def path(name):
    return os.path.join(FOLDER, name)


def read(name, default=None):
    try:
        with open(path(name)) as file:
            return file.read()
    except FileNotFoundError:
        return default


def replace(name, text):
    with open(path(name + ".new"), "w") as file:
        file.write(text)
    os.rename(path(name + ".new"), path(name))


def note(case, method, asked, headers, body):
    """Writes down a request; `headers` are pairs."""
    line = json.dumps({
        "time": time.time(), "case": case, "method": method, "path": asked,
        "headers": {name.lower(): value for name, value in headers}, "body": body})
    with lock, open(path("requests"), "a") as file:
        file.write(line + "\n")


def follow(case, take_up=lambda name: None):
    """Takes up each selected case, until the test has ended."""
    taken = None
    while os.getppid() != 1:
        name = case()
        if name != taken:
            take_up(name)
            taken = name
            replace("now", name)
        time.sleep(0.01)
