"""The broken answers against everybody: which of them take a running service down, and which true orders are missed.

Each peer has five lanes, with a server of its own for each, so that it has its own pace. An answer is served until the
peer has asked twice, and for one and a half of its intervals at least; after it comes the document of an open service.
Each tenth is followed at once by a true order.
"""
import os
import random
import threading
import time

import answers
from host import incarnation, is_down, is_up, now, run_quietly, shell, wait

LANES = 5
PORT = 20000
ORDER_EVERY = 10
REST = 1  # So many seconds nothing happens to the units before the next answer.
HOSTS = threading.Lock()


def name(peer, lane):
    return f"{peer.name}-{lane}.flags.test"


def port(peer, lane):
    return PORT + 100 * sum(map(ord, peer.name)) % 9000 + lane


def address(peer, lane):
    return f"https://{name(peer, lane)}:{port(peer, lane)}/flags.json"


def resolve(host, resolves):
    """Whether a name resolves, by /etc/hosts."""
    with HOSTS:
        with open("/etc/hosts", encoding="ascii") as file:
            lines = [line for line in file if line.split()[1:] != [host]]
        if resolves:
            lines.append(f"127.0.0.1 {host}\n")
        with open("/etc/hosts.new", "w", encoding="ascii") as file:
            file.writelines(lines)
        os.chmod("/etc/hosts.new", 0o644)
        os.rename("/etc/hosts.new", "/etc/hosts")


class Trial:
    """One peer on one lane."""

    def __init__(self, peer, lane, items, folder):
        self.peer, self.lane, self.items = peer, lane, items
        self.units = peer.units(lane)
        self.server = answers.Server(port(peer, lane), folder)
        self.misfires, self.missed, self.orders, self.stuck = [], [], 0, []

    def serve(self, answer):
        resolve(name(self.peer, self.lane), not (isinstance(answer, answers.Fault) and answer.name == "no name"))
        self.server.serve(answer)

    def run(self):
        for place, (kind, title, answer) in enumerate(self.items):
            before = [incarnation(unit) for unit in self.units]
            self.serve(answer)
            self.let_ask(answer)
            has_misfired = [incarnation(unit) for unit in self.units] != before
            if has_misfired:
                self.misfires.append((kind, title))
            is_ordered = place % ORDER_EVERY == 3
            if is_ordered:
                self.order(kind, title)
            self.serve(answers.good(answers.OPEN))
            self.recover(title, has_misfired or is_ordered)

    def let_ask(self, answer):
        """Waits until the peer has met an answer twice, as far as that can be seen."""
        if not self.peer.polls_by_itself:
            return self.peer.poll(self.lane)
        asked, began = self.server.asked, now()
        limit = 8 if isinstance(answer, answers.Fault) and answer.name == "silence" else 3.5
        wait(lambda: self.server.asked >= asked + 2, limit)
        return time.sleep(max(0.3, 1.5 * self.peer.pace - (now() - began)))

    def order(self, kind, title):
        """A true order to close, straight after a broken answer."""
        self.orders += 1
        self.serve(answers.good(answers.CLOSED))
        if not self.peer.polls_by_itself:
            self.peer.poll(self.lane)
        if not wait(lambda: is_down(self.units), 10):
            self.missed.append((kind, title))

    def recover(self, title, was_down):
        """The service runs again before the next answer, and is at rest: a start that comes late is no misfire."""
        asked = self.server.asked
        if not self.peer.polls_by_itself:
            return self.peer.poll(self.lane) if was_down else None
        wait(lambda: self.server.asked > asked, 5)
        if not wait(lambda: is_up(self.units), 10):
            self.stuck.append(title)
            run_quietly("systemctl", "start", *self.units)
        seen = [None]
        while (latest := [incarnation(unit) for unit in self.units]) != seen:
            seen = latest
            time.sleep(REST)
        return None


def run(peers, folder, count):
    """Runs all trials at once. Returns what each has done: misfires by kind, true orders that were missed."""
    items = answers.broken()
    random.Random(38).shuffle(items)
    items = items[:count]
    for peer in peers:
        peer.url, peer.authority, peer.interval = address, f"{folder}/authority.pem", peer.pace
        peer.prepare(list(range(LANES)))
        for lane in peer.lanes:
            resolve(name(peer, lane), True)
    trials = [Trial(peer, lane, items[lane::LANES], folder) for peer in peers for lane in peer.lanes]
    shell("systemctl daemon-reload")
    for peer in peers:
        run_quietly("systemctl", "start", *[unit for lane in peer.lanes for unit in peer.units(lane)])
        if peer.polls_by_itself:
            peer.start()
            peer.attach()
    for trial in trials:
        if trial.peer.polls_by_itself and not wait(lambda: is_up(trial.units) and trial.server.asked > 1, 20):
            print(f"compare: {trial.peer.name} does not follow its flags over TLS:\n"
                  f"{trial.peer.words(time.time() - 60)[-1500:]}", flush=True)
    threads = [threading.Thread(target=trial.run) for trial in trials]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result = {"answers": len(items), "kinds": {kind: sum(item[0] == kind for item in items) for kind in answers.KINDS}}
    for peer in peers:
        own = [trial for trial in trials if trial.peer is peer]
        gather = lambda key: [each for trial in own for each in getattr(trial, key)]  # noqa: E731
        result[peer.name] = {"misfires": gather("misfires"), "missed": gather("missed"), "stuck": gather("stuck"),
                             "orders": sum(trial.orders for trial in own)}
        if peer.polls_by_itself:
            peer.stop()
    return result
