"""Runs inside of the booted system: a part of the comparison. Adds what it finds to result.json.

usage: measure.py figures|misfires|abilities|after-reboot [--quick]

After abilities the system has to be rebooted, for after-reboot.
"""
import json
import os
import sys
import time

import abilities
import figures
import host
import misfires
import peers as known
from host import Web, address, shell

QUICK = "--quick" in sys.argv
RESULT = f"{known.HERE}/result.json"
AUTHORITY = f"{known.HERE}/certificates/authority.pem"
LANES = [0, 1]


def made(*kinds):
    return [kind(address, AUTHORITY) for kind in kinds or known.ALL]


def web_server():
    web = Web()
    for lane in LANES:
        web.publish(lane, host.OPEN)
    shell("systemctl daemon-reload; systemctl start compare-web")
    return web


def measure_figures():
    web = web_server()
    fast = made(*[kind for kind in known.ALL if kind is not known.Ansible])
    figures.begin(fast, LANES, web)
    result = {"flips": figures.flips(fast, web, 6 if QUICK else 200)}
    figures.end(fast)
    # One document, as most hosts have it.
    figures.begin(fast, LANES[:1], web)
    time.sleep(2)
    result["idle"] = figures.idle(fast, web, 6 if QUICK else 60)
    without = [peer for peer in fast if peer.name != "timer"]
    for peer in fast:
        if peer.name == "timer":
            peer.stop()
    result["idle_without_timer"] = figures.idle(without, web, 4 if QUICK else 30)
    figures.end(fast)
    quick = made(known.Ours, known.C)
    for peer in quick:
        peer.interval = 0.1
    figures.begin(quick, LANES, web)
    result["flips_100ms"] = figures.flips(quick, web, 6 if QUICK else 200)
    figures.end(quick)
    ansible = made(known.Ansible)
    figures.begin(ansible, LANES[:1], web)
    began = web.polls().get("ansible", 0)
    used, start = host.cpu(ansible[0].slice), host.now()
    result["flips"]["ansible"] = figures.rounds(ansible[0], web, 1 if QUICK else 10)
    result["idle"] |= figures.idle(ansible, web, 4 if QUICK else 15) | {"system": result["idle"]["system"]}
    polls = web.polls().get("ansible", 0) - began
    result["idle"]["ansible"] |= {
        "cpu_of_poll_us": (host.cpu(ansible[0].slice) - used) / max(1, polls),
        "cpu_of_hour_s": (host.cpu(ansible[0].slice) - used) / (host.now() - start) * 3600 / 1e6,
        "polls_a_second": polls / (host.now() - start)}
    figures.end(ansible)
    return result


def try_abilities():
    web = web_server()
    peers = made()
    peers[0].format = "switch"
    for peer in peers:
        for lane in LANES:
            web.publish(lane, host.OPEN)
    figures.begin(peers, LANES, web)
    result = abilities.run(peers, web)
    abilities.before_reboot(peers, web)
    return result


def prepared():
    """The peers as they were before the reboot."""
    peers = made()
    for peer in peers:
        peer.lanes = LANES
    return peers


def main():
    part = sys.argv[1]
    result = {}
    if os.path.exists(RESULT):
        with open(RESULT, encoding="utf-8") as file:
            result = json.load(file)
    began = time.time()
    if part == "figures":
        result["figures"] = measure_figures()
    elif part == "abilities":
        result["abilities"] = try_abilities()
    elif part == "after-reboot":
        result["abilities"]["reboot"] = abilities.after_reboot(prepared())
    elif part == "misfires":
        result["misfires"] = misfires.run(made(), f"{known.HERE}/certificates", 20 if QUICK else 200)
    print(f"compare: {part} took {time.time() - began:.0f} s", flush=True)
    with open(RESULT, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)


main()
