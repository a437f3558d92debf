"""What each can do beside following a flag. Each is tried, and the answer says what was seen."""
import json
import os
import re
import threading
import time

from host import CLOSED, FOLDER, OPEN, is_down, is_up, now, run_quietly, shell, stamps, wait, write

PATIENCE = 20
# What a line says of a unit that does not stop.
STUBBORN = re.compile(r"n[o']t stop|still|kill(ed|ing) it|timed? ?out|within its", re.IGNORECASE)
# A document that announces an end: by the format `switch`, beside the members that the others read.
COUNTDOWN = ('{"apiInactive": false, "forceUpdate": false, "userMessage": null, "state": "countdown", '
             '"ends_at": "%s"}')


def settle(peers, lane, up):
    condition = is_up if up else is_down
    for peer in peers:
        if not wait(lambda: condition(peer.units(lane)), PATIENCE):
            run_quietly("systemctl", "start" if up else "stop", *peer.units(lane))


def reset(peers, web):
    web.publish(0, OPEN)
    settle(peers, 0, True)
    time.sleep(1.5)


def hand_start(peers, web):
    """Somebody starts a unit of the closed service."""
    web.publish(0, CLOSED)
    settle(peers, 0, False)
    time.sleep(1.5)
    result = {}
    threads = [threading.Thread(target=try_start, args=(peer, result)) for peer in peers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reset(peers, web)
    return result


def try_start(peer, result):
    """How long a unit runs that somebody starts. ansible-pull takes some seconds to see it."""
    unit = peer.units(0)[0]
    began, ran, last = now(), 0.0, now()
    status = run_quietly("systemctl", "start", unit)
    while now() < began + 8:
        if is_up([unit]):
            ran += now() - last
        last = now()
        time.sleep(0.02)
    text = "runs on" if is_up([unit]) else f"runs for {ran:.1f} s" if ran > 0 else "refused"
    result[peer.name] = {"can": status != 0 and ran == 0, "text": text}
    run_quietly("systemctl", "stop", unit)


def announced_end(peers, web):
    """An end was announced, and the web server is gone before it comes."""
    moment = int(time.time()) + 10
    due = now() + moment - time.time()
    web.publish(0, COUNTDOWN % time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment)))
    time.sleep(5)
    gone = now()
    shell("systemctl stop compare-web")
    time.sleep(due + 6 - now())
    result = {}
    for peer in peers:
        units = peer.units(0)
        if not is_down(units):
            result[peer.name] = {"can": False, "text": "runs on"}
            continue
        down = max(stamps(units, "InactiveEnter"))
        text = (f"stops {down - due:.1f} s after the end" if down >= due - 1
                else f"stops when the server is gone, {down - gone:.1f} s after it")
        result[peer.name] = {"can": down >= due - 1, "text": text}
    shell("systemctl start compare-web")
    reset(peers, web)
    return result


def stubborn_unit(peers, web):
    """One of two units does not stop. Who names it, and not the other?"""
    for peer in peers:
        unit = peer.units(0)[1]
        write(f"/etc/systemd/system/{unit}.d/stubborn.conf", "[Service]\nExecStart=\nTimeoutStopSec=6\n"
              "ExecStart=/bin/sh -c 'trap \"\" TERM; while :; do sleep 1; done'\n")
    shell("systemctl daemon-reload")
    for peer in peers:
        shell(f"systemctl restart {peer.units(0)[1]}")
    time.sleep(1.5)
    since = int(time.time())
    web.publish(0, CLOSED)
    time.sleep(5)
    during = {peer.name: peer.words(since) for peer in peers}
    settle(peers, 0, False)
    time.sleep(2)
    result = {}
    for peer in peers:
        good, bad = peer.units(0)
        lines = (during[peer.name] + "\n" + peer.words(since)).splitlines()
        named = [line.strip() for line in lines if bad in line and good not in line and STUBBORN.search(line)]
        result[peer.name] = {"can": bool(named), "text": "yes" if named else "no", "line": named[-1] if named else ""}
        os.remove(f"/etc/systemd/system/{bad}.d/stubborn.conf")
    shell("systemctl daemon-reload")
    reset(peers, web)
    return result


def author(peers, web):
    """Who has ordered? Ours reads the signature; the others get a member that says it."""
    ours = peers[0]
    keys = "/etc/killswitchd/keys"
    os.makedirs(keys, exist_ok=True)
    shell(f"rm -f {keys}/alice*; ssh-keygen -q -t ed25519 -N '' -f {keys}/alice; "
          f"printf 'alice ' | cat - {keys}/alice.pub > /etc/killswitchd/allowed_signers")

    def sign(version, state):
        path = f"{FOLDER}/signed.json"
        write("/run/signed", json.dumps({"state": state, "version": version, "audience": "test",
                                         "expires": "2099-01-01T00:00:00Z"}) + "\n")
        shell(f"rm -f /run/signed.sig; ssh-keygen -q -Y sign -n killswitchd -f {keys}/alice /run/signed 2>&1; "
              f"cat /run/signed /run/signed.sig > {path}.new; mv {path}.new {path}")

    sign(1, "running")
    usual = ours.url
    ours.url = lambda peer, lane: f"http://flags.test:8080/{'signed' if lane == 0 else f'lane{lane}'}.json?by=killswitchd"
    ours.more_of_lane = {0: 'signers = "/etc/killswitchd/allowed_signers"\naudience = "test"\n'}
    ours.configure()
    shell("killswitchctl reload; sleep 2")
    since = int(time.time())
    sign(2, "maintenance")
    web.publish(0, CLOSED.replace("{", '{"author": "alice", ', 1))
    settle(peers, 0, False)
    result = {}
    for peer in peers:
        lines = [line.strip() for line in peer.words(since).splitlines() if "alice" in line]
        result[peer.name] = {"can": bool(lines), "text": "yes" if lines else "no", "line": lines[0] if lines else ""}
    sign(3, "running")
    web.publish(0, OPEN)
    settle(peers, 0, True)
    ours.url = usual
    ours.more_of_lane = {}
    ours.configure()
    shell("killswitchctl reload; sleep 2")
    reset(peers, web)
    return result


def before_reboot(peers, web):
    """Lane 0 is closed and lane 1 open when the system reboots, without its web server after that."""
    web.publish(0, CLOSED)
    web.publish(1, OPEN)
    settle(peers, 0, False)
    settle(peers, 1, True)
    time.sleep(2)
    units = [unit for peer in peers for unit in peer.services]
    shell(f"systemctl enable {' '.join(units)}")


def after_reboot(peers):
    """Longer than `first_timeout`, for which a stored answer that opens waits."""
    time.sleep(max(0, 45 - now_since_boot()))
    result = {}
    for peer in peers:
        closed, opened = peer.units(0), peer.units(1)
        ran = any(moment > 0 for moment in stamps(closed, "ActiveEnter"))
        closed_text = "runs" if is_up(closed) else "was started, and stopped again" if ran else "stays down"
        opened_text = "runs" if is_up(opened) else "is down"
        result[peer.name] = {"can": not ran and is_up(opened),
                             "text": f"closed: {closed_text}; open: {opened_text}"}
    return result


def now_since_boot():
    """Seconds since the system has started: the clock is that of the machine."""
    return now() - stamps(["basic.target"], "ActiveEnter")[0]


def run(peers, web):
    return {
        "hand": hand_start(peers, web), "end": announced_end(peers, web), "stubborn": stubborn_unit(peers, web),
        "author": author(peers, web),
    }

