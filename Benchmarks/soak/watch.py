"""Looks at markers, files and processes every 150 ms, and notes what may never be seen, whatever the faults."""
import os
import threading
import time

from model import gate
from world import OWNERS, RUN, SERVICES, UNITS, read_json

EVERY = 0.15


def marker(name):
    """The marker `closed` as it is: None without it, and another one after each closing."""
    try:
        status = os.stat(f"{RUN}/{name}/closed")
        return status.st_ino, status.st_ctime_ns
    except OSError:
        return None


def says_closed(name):
    """Whether the daemon has confirmed that the gate is closed and its units are down."""
    try:
        return (read_json(f"{RUN}/{name}/gate.json") or {}).get("actual") == "closed"
    except (OSError, ValueError):
        return False


class Watch(threading.Thread):
    def __init__(self, model, lock):
        super().__init__(daemon=True)
        self.model, self.lock = model, lock
        self.groups, self.before, self.wrong, self.samples = {}, {}, [], 0
        self.ends = False

    def stop(self):
        """Returns how many samples there were."""
        self.ends = True
        self.join()
        return self.samples

    def run(self):
        while not self.ends:
            self.sample()
            time.sleep(EVERY)

    def sample(self):
        self.samples += 1
        first = {name: (marker(name), says_closed(name)) for name in SERVICES}
        runs = {unit: self.has_process(unit) for unit in OWNERS}
        last = {name: (marker(name), says_closed(name)) for name in SERVICES}
        for name, units in UNITS.items():
            stood = first[name][0] if first[name][0] == last[name][0] else None
            for unit in units:
                if stood and first[name][1] and last[name][1] and runs[unit]:
                    self.note(f"{name}: says closed while a process of {unit} runs")
                previous = self.before.get(unit)
                if stood and previous and previous[1].get(name) == stood and runs[unit] and not previous[0]:
                    self.note(f"{name}: {unit} was started beside the marker closed")
        self.check_states(runs)
        self.before = {unit: (runs[unit], {name: last[name][0] for name in OWNERS[unit]}) for unit in OWNERS}

    def check_states(self, runs):
        with self.lock:
            possible = {}
            for name in SERVICES:
                try:
                    facts = read_json(f"{RUN}/{name}/state.json")
                except (OSError, ValueError) as error:
                    facts = self.note(f"{name}: state.json cannot be read: {error}")
                closed = marker(name)
                possible[name] = self.model.possible(name, time.time())
                if facts and facts["state"] not in possible[name]:
                    self.note(f"{name}: is {facts['state']} by {facts['reason']}, and may be {sorted(possible[name])}")
                if closed and all(gate(state) == "open" for state in possible[name]):
                    self.note(f"{name}: has the marker closed without an order")
            for unit, owners in OWNERS.items():
                was_up = self.before.get(unit, (False,))[0]
                if was_up and not runs[unit] and all(
                        gate(state) == "open" for name in owners for state in possible[name]):
                    self.note(f"{owners[0]}: {unit} was stopped without an order")

    def note(self, what):
        self.wrong.append(f"{time.strftime('%H:%M:%S')} {what}")

    def has_process(self, unit):
        """Whether the control group of a unit has a process. Its folder is looked for once."""
        if unit not in self.groups:
            top = "/sys/fs/cgroup/systemd" if os.path.isdir("/sys/fs/cgroup/systemd") else "/sys/fs/cgroup"
            found = [os.path.join(place, unit) for place, folders, _ in os.walk(top) if unit in folders]
            if not found:
                return False
            self.groups[unit] = found[0]
        try:
            with open(f"{self.groups[unit]}/cgroup.procs", encoding="ascii") as file:
                return bool(file.read())
        except OSError:
            return False
