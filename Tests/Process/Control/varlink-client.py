"""Calls every method of io.killswitchd with the public Varlink client, and prints the answers.

usage: varlink-client.py SOCKET CONFIGURATION

The configuration has one service 'shop' on one source 'shop'. The client checks each answer against
the interface description, which it gets from the daemon.
"""

import json
import re
import socket
import sys

import varlink
import varlink.scanner

client = varlink.Client(address=f"unix:{sys.argv[1]}")
configuration = sys.argv[2]
print("interfaces:", *client.get_interfaces())
shop = client.open("io.killswitchd")
description = client.get_interface("io.killswitchd")
called = set()


def call(method, **parameters):
    called.add(method)
    return getattr(shop, method)(**parameters)


def refused(method, **parameters):
    try:
        return f"not refused: {call(method, **parameters)}"
    except varlink.VarlinkError as error:
        return f"{error.error()} {dict(sorted(error.parameters().items()))}"


def answer(message):
    """What a call gets that the client above cannot make."""
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(sys.argv[1])
        raw.sendall(json.dumps(message).encode() + b"\0")
        return raw.recv(4096).rstrip(b"\0").decode()


def undeclared(method, **parameters):
    """The members of an answer that the description does not have: a client by the description drops them."""
    def names(value):
        return {name for key, more in value.items() for name in [key, *(names(more) if isinstance(more, dict) else ())]}

    sent = json.loads(answer({"method": f"io.killswitchd.{method}", "parameters": parameters}))["parameters"]
    declared = set(re.findall(r"(\w+): ", description.description))
    return sorted(names(sent) - declared)


def state(service):
    return f"{service['service']} {service['state']} {service['reason']}"


order = dict(service="shop", state="maintenance", reason="disk swap")
print("force:", state(call("Force", **order, seconds=60)["service"]))
print("undeclared:", undeclared("Force", **order, seconds=60))
print("until:", state(call("Force", **order, until="2099-01-01T00:00:00Z")["service"]))
print("another:", call("Release", service="shop", reason="drill")["wasForced"])
print("release:", call("Release", service="shop")["wasForced"])
print("refresh:", [f"{f['source']} {f['outcome']}" for f in call("Refresh")["fetched"]])
print("activate:", call("Activate")["activated"])
print("reload:", call("Reload"))
print("forget:", call("Forget", source="shop"))
print("confirm:", call("Confirm")["confirmed"])
print("note:", call("NoteDrill", service="shop")["drill"].get("problem"))
print("explain:", sorted(call("Explain", service="shop")))
print("no service:", refused("Force", **{**order, "service": "shpo"}, seconds=60))
print("no source:", refused("Refresh", source="shpo"))
print("no state:", refused("Force", **{**order, "state": "shut"}, seconds=60))
print("past:", refused("Force", **order, until="2001-01-01T00:00:00Z"))
print("no gates:", refused("Force", **order, seconds=60, ifOpen=True))
print("no upgrade:", answer({"method": "io.killswitchd.Explain", "upgrade": True}))
with open(configuration, "a", encoding="utf-8") as file:
    file.write("\nnonsense = 1\n")
print("refused:", refused("Reload").replace(configuration, "FILE"))

methods = {name for name, member in description.members.items()
           if isinstance(member, varlink.scanner._Method)}
print("not called:", sorted(methods - called))
