"""The soak inside of the booted system: step by step, until the time is over or something disagrees.

A step is planned by the seed and its number alone: what is ordered, by whom, and which faults come when. Then the world
gets quiet, and each surface has to say what the model says.

usage: inside.py SEED MINUTES [UNTIL-STEP]
"""
import os
import pickle
import random
import statistics
import sys
import threading
import time
import traceback

import faults
from model import Model, gate, text_of
from watch import Watch
from world import CROWD, DECIDED, NEVER, OPEN, OWNERS, RUN, SERVICES, World, read_json, shell

SAVED, REBOOTS = "/var/lib/soak-saved", 77
QUIET_LIMIT = 40   # After the last fault and the last time in the flags, everything agrees within so many seconds: deleted files in 30.
PLACES = [(place, form) for name, switches in SERVICES.items() if name not in CROWD for place, form in switches]
STATES = ["running", "maintenance", "update-required", "ended"]


def draw_flags(form, dice):
    """A function that gives flags when the time is known."""
    soon, later = dice.randint(1, 6), dice.randint(3, 6)
    number, word = dice.randint(1, 999999), dice.choice(["maintenance", "ended", "update-required"])
    kind = dice.choice(["open", "open", "open", "closed", "closed", "end", "window", "rollout"])
    if form == "status":
        update, inactive = dice.choice([(False, False), (False, False), (False, True), (True, False), (True, True)])
        return lambda now: {"apiInactive": inactive, "forceUpdate": update, "userMessage": f"number {number}"}
    if form == "maintenance":
        return lambda now: {"isUnderMaintenance": kind == "closed", "message": f"number {number}"}
    if form == "service-end":
        word = {"closed": "yes", "end": "countdown", "window": "countdown"}.get(kind, "no")
        wait = soon if kind == "end" else 864000
        return lambda now: {"service_end": word, "service_countdown": text_of(now + wait)}
    flags = {"state": word if kind in ("closed", "rollout") else "running", "message": f"number {number}"}
    percents = dice.choice([[0], [100], [0, 100]])
    return lambda now: {**flags, **{
        "end": {"ends_at": text_of(now + soon)},
        "window": {"windows": [{"from": text_of(now + soon), "until": text_of(now + soon + later)}]},
        "rollout": {"seed": str(number), "rollout": [{"at": text_of(now + soon * place - 1), "percent": percent}
                                                     for place, percent in enumerate(percents)]},
    }.get(kind, {})}


class Act:
    """An order, by flags or by an operator, or a start by hand."""

    def __init__(self, dice, number, place):
        self.kind = dice.choices(["flags", "force", "release", "crowd", "start"], [10, 3, 2, 1, 2])[0]
        self.at = dice.uniform(0, 5)
        self.place, form = dice.choice(PLACES)
        self.flags = draw_flags(form, dice)
        self.service = dice.choice([name for name in SERVICES if name not in CROWD])
        self.order = {"state": dice.choice(STATES), "reason": f"step {number}.{place}"}
        self.lasts, self.unit = dice.randint(2, 20), dice.choice(sorted(OWNERS))
        self.closes = dice.choice([0, 0, 2, len(CROWD)])

    @property
    def subject(self):
        """Two acts of one step have different subjects, where their sequence would count."""
        return {"force": self.service, "release": self.service, "crowd": "crowd"}.get(self.kind)

    def __str__(self):
        what = {"flags": f"{self.place[0]}/{self.place[1]}", "force": f"{self.service} {self.order['state']} "
                f"{self.lasts}s", "release": self.service, "crowd": str(self.closes), "start": self.unit}[self.kind]
        return f"{self.kind} {what} {self.at:.1f}s"


class Soak:
    def __init__(self, seed, minutes, until):
        self.seed, self.until = seed, until
        self.world = World()
        flags = {place: OPEN[form] for switches in SERVICES.values() for place, form in switches}
        self.model, self.lock = Model(SERVICES, flags, {"web", "crowd"}, {"step"}), threading.RLock()
        self.watch = Watch(self.model, self.lock)
        self.lines, self.wrong, self.figures, self.untied = [], [], [], set()
        self.counts = {"orders": 0, "transitions": 0, "samples": 0}
        self.decisions, self.changes, self.daemons = {}, {}, set()
        self.minutes, self.began, self.changed_at = minutes, None, time.time()
        self.number = 0

    def run(self):
        if self.number:
            self.come_back()
        else:
            self.set_up()
        self.watch.start()
        if self.number:
            self.guarded(self.quieten, self.number)
        while not self.wrong and (self.number < self.until if self.until else
                                  time.monotonic() < self.began + self.minutes * 60):
            self.number += 1
            self.guarded(self.step, self.number)
        return self.report()

    def set_up(self):
        self.world.set_up()
        self.agree(time.monotonic() + 60)
        self.read_journal()
        # It has counted before: the first decision of a service is none or one change.
        self.changes = {name: read_json(f"{RUN}/{name}/state.json")["generation"] for name in SERVICES}
        self.began = time.monotonic()

    def __getstate__(self):
        return {**vars(self), "lock": None, "watch": None}

    def reboot(self):
        """Has the system booted again, in the middle of what was ordered. Another process goes on: see `come_back`."""
        self.counts["reboots"] = self.counts.get("reboots", 0) + 1
        self.counts["samples"] += self.watch.stop()
        self.wrong += self.watch.wrong
        with open(SAVED, "wb") as file:
            pickle.dump(self, file)
        sys.exit(REBOOTS)

    def come_back(self):
        self.lock = threading.RLock()
        self.watch = Watch(self.model, self.lock)
        self.world.come_back()
        # While the system booted, nobody answered for the guard.
        self.model.guard_is_well()
        closed = {unit for unit, owners in OWNERS.items() if any(self.is_surely_closed(name) for name in owners)}
        self.wrong += [f"the boot has started {unit}, whose gate is closed"
                       for unit in sorted(closed & self.world.started_units())]

    def is_surely_closed(self, name):
        return all(gate(state) == "closed" for state in self.model.possible(name, time.time()))

    def step(self, number):
        dice = random.Random(f"{self.seed}:{number}")
        planned = faults.plan(dice)
        # A gate whose drop-in was purged stops no unit until it is made again: the journal has to say so.
        self.untied = {fault.untied for fault in planned} - {None}
        acts, subjects = [], set()
        for place in range(dice.choice([1, 1, 2, 2, 3, 4])):
            act = Act(dice, number, place)
            if act.subject is None or act.subject not in subjects:
                subjects.add(act.subject)
                acts.append(act)
        if any(fault.kind == "guard" for fault in planned):
            for act in acts:
                act.at += 8  # When the last good answer of the guard has ceased to count.
        since = time.time()
        threads = [threading.Thread(target=self.guarded, args=(work, item))
                   for work, items in ((self.suffer, planned), (self.act, acts)) for item in items]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.lines.append(f"step {number} at {time.strftime('%H:%M:%S', time.gmtime(since))}: "
                          f"{'; '.join(map(str, acts))} | {'; '.join(map(str, planned)) or 'no fault'}")
        for act in acts:
            self.counts["orders"] += act.kind != "start"
        for fault in planned:
            name = f"fault {fault.kind}"
            self.counts[name] = self.counts.get(name, 0) + 1
        # A boot ends the daemon, which stores again only some time later what was deleted, or could not be stored.
        may_boot = not any(fault.group == "state" for fault in planned)
        if number % 20 == self.seed % 20 and may_boot and not self.wrong:
            self.lines[-1] += " | reboot"
            self.reboot()
        self.wrong += faults.settle(planned)
        self.quieten(number)

    def quieten(self, number):
        """Waits until everything agrees with the model, and looks back at the step."""
        quiet, self.changed_at = time.monotonic(), time.time()
        edge = self.model.next_edge(time.time(), 30) - time.time()
        self.agree(quiet + edge + QUIET_LIMIT)
        if not self.wrong:
            self.check_journal()
        self.wrong += self.watch.wrong
        figure = self.world.resources()
        if figure:
            self.figures.append((time.monotonic() - self.began, figure))
        self.daemons.add((self.counts.get("reboots"), self.world.daemon()))
        self.lines[-1] += f" | quiet after {time.monotonic() - quiet:.1f} s"
        print(self.lines[-1], flush=True)
        if figure and number % 50 == 0:
            print(f"after {(time.monotonic() - self.began) / 60:.0f} min: {figure}, {self.counts}", flush=True)

    def guarded(self, work, item):
        try:
            work(item)
        except Exception:  # What could not be done or read is a disagreement, and is told.
            self.wrong.append(f"{item}: {traceback.format_exc()}")

    def suffer(self, fault):
        time.sleep(fault.at)
        if fault.clock_shift:
            with self.lock:
                self.model.shift_clock(fault.clock_shift)
        concerns_guard = fault.kind == "guard" or fault.what == "down"
        try:
            fault.begin(self.world)
            if concerns_guard:
                with self.lock:
                    self.model.guard_refuses()
            time.sleep(fault.lasts)
        finally:
            if concerns_guard:
                with self.lock:
                    self.model.guard_is_well()
            fault.end(self.world)

    def act(self, act):
        time.sleep(act.at)
        now = time.time()
        if act.kind == "flags":
            self.publish({act.place: act.flags(now)})
        elif act.kind == "crowd":
            # All of them at once are more than the host guard lets pass.
            was_open = all(self.model.flags[("crowd", name)][-1]["state"] == "running" for name in CROWD)
            if act.closes == len(CROWD) and was_open:
                with self.lock:
                    self.model.held = set(CROWD)
            self.publish({("crowd", name): {"state": "ended" if place < act.closes else "running"}
                          for place, name in enumerate(CROWD)})
        elif act.kind == "start":
            shell(f"systemctl start --no-block {act.unit}", check=False, limit=30)
        else:
            self.give_order(act, int(now))

    def publish(self, flags):
        for place, value in flags.items():
            with self.lock:
                self.model.publish(place, value)
        with self.world.lock:
            for (source, key), value in flags.items():
                self.world.documents[source][key] = value
        for source in {source for source, _ in flags} & {"desk", "vault"}:
            self.world.save(source)

    def give_order(self, act, now):
        """An order whose answer does not come may be in force or not: its reason in state.json tells."""
        order = dict(act.order, until=now + act.lasts) if act.kind == "force" else None
        with self.lock:
            self.model.begin_order(act.service, order)
        command = f"release {act.service}"
        if order:
            state = order["state"]
            command = f"open {act.service}" if state == "running" else f"close {act.service} --state {state}"
            command += f" --reason '{order['reason']}' --until {text_of(order['until'])}"
        status, said = shell(f"killswitchctl {command}", check=False, limit=30)
        with self.lock:
            self.model.end_order(act.service, order, status == 0 or "stays in force" in said)

    def agree(self, deadline):
        """Waits until the model and each surface agree."""
        found = ["nothing was looked at"]
        while found and not self.wrong:
            found = self.disagreements()
            if found and time.monotonic() > deadline:
                self.wrong += found
            if found:
                time.sleep(0.25)

    def disagreements(self):
        now = time.time()
        states, reasons, orders = {}, {}, {}
        if self.waits_for_guard():
            shell("killswitchctl confirm step", check=False)
        found = [f"source {name} has not been read again" for name in self.world.documents
                 if not self.world.was_read(name, self.changed_at)]
        for name in SERVICES:
            told = ((read_json(f"{RUN}/{name}/state.json") or {}).get("override") or {}).get("reason")
            order = orders[name] = self.model.order_in_force(name, now, told)
            states[name], reasons[name] = self.model.verdict(name, now, order)
            if name in self.model.held and gate(states[name]) == "closed":
                states[name], reasons[name] = "running", {"closing-held"}
        for name in SERVICES:
            found += [f"{name}: {what}" for what in self.world.disagreements(name, states, reasons[name], orders[name])]
        found = found or self.world.unit_disagreements(states) or self.unstored()
        if found:
            return found
        if self.model.held:
            return self.confirm()
        found = self.world.metric_disagreements(states)
        if not found and not any(orders.values()):
            status, said = shell("killswitchctl status --check", check=False)
            # A drop-in that had gone is a problem for ten minutes more.
            wrong = [line for line in said.splitlines() if "it was made again" not in line]
            found = [f"status --check: {wrong}"] if status and wrong else []
        if not found:
            with self.lock:
                self.model.settle(orders, now)
        return found

    def unstored(self):
        """What could not be stored yet, and would be lost with the daemon: an order's reply has said so."""
        findings = (read_json(f"{RUN}/host.json") or {}).get("findings", [])
        return [finding["text"] for finding in findings if finding["kind"] == "state-directory"]

    def waits_for_guard(self):
        """Whether a step waits, as it must, because the guard said no: it is asked again after half a minute."""
        facts = read_json(f"{RUN}/step/state.json") or {}
        return facts.get("reason") == "awaiting-guard" and time.time() < self.model.refused_until

    def confirm(self):
        """The host guard holds the crowd, as it must. An operator confirms it."""
        with self.lock:
            self.model.held = set()
        status, said = shell("killswitchctl confirm --all", check=False)
        if status:
            self.wrong.append(f"confirm ended with {status}: {said}")
        return ["held closings are confirmed"]

    def check_journal(self):
        """What the journal and the history say of this step: nothing false, nothing twice, nothing that is missing."""
        since, decided = self.world.read_until + 1, []
        end = time.monotonic() + 5
        while True:
            decided += self.read_journal()
            found = [f"history has {history}, the journal {decided}"
                     for history in [self.world.history(since)] if history != decided]
            for name in SERVICES:
                facts = read_json(f"{RUN}/{name}/state.json")
                told = (*self.decisions[name][:1], self.changes[name])
                if told != (facts["state"], facts["generation"]):
                    found.append(f"{name}: state and generation are {told} by the journal, {facts['state']} and "
                                 f"{facts['generation']} by state.json")
            if not found:
                return
            if time.monotonic() > end:
                self.wrong += found
                return
            time.sleep(0.2)

    def read_journal(self):
        """The decisions since the last call: service, state and sentence."""
        decided = []
        for entry in self.world.journal():
            kind, name = entry["MESSAGE_ID"], entry.get("KILLSWITCH_SERVICE")
            is_untied = any(f"unit '{unit}'" in entry["MESSAGE"] for unit in self.untied)
            if kind in NEVER and self.began and not is_untied:
                self.wrong.append(f"the journal {NEVER[kind]}: {entry['MESSAGE']}")
            if kind != DECIDED:
                continue
            # A daemon that starts tells each decision once, whatever the one before it told.
            decision = (entry["KILLSWITCH_STATE"], entry["KILLSWITCH_REASON"], entry["MESSAGE"], entry["_BOOT_ID"],
                        entry["_PID"])
            before = self.decisions.get(name, ("", "", "", "", ""))
            if decision == before:
                self.wrong.append(f"the journal has a decision twice: {decision[2]}")
            if decision[0] != before[0]:
                self.counts["transitions"] += self.began is not None
                self.changes[name] = self.changes.get(name, 0) + 1
            self.decisions[name] = decision
            decided.append((name, decision[0], decision[2]))
        return decided

    def report(self):
        """Prints the figures, and what disagrees with all that is known of it. Returns the exit status."""
        minutes = (time.monotonic() - self.began) / 60
        self.counts["samples"] += self.watch.stop()
        third = len(self.figures) // 3
        for key, slack in (("resident kB", 1500), ("descriptors", 3), ("files in /run", 3), ("files in /var", 3)):
            if third < 5:
                break
            first, last = (statistics.median(figure[key] for _, figure in part)
                           for part in (self.figures[:third], self.figures[-third:]))
            print(f"{key}: median {first:.0f} in the first third, {last:.0f} in the last")
            if last > first * 1.05 + slack:
                self.wrong.append(f"{key} has grown from {first:.0f} to {last:.0f}")
        counts = ", ".join(f"{key} {count}" for key, count in sorted(self.counts.items()))
        print(f"seed {self.seed}: {self.number} steps in {minutes:.1f} min, {len(self.daemons)} daemons; {counts}; "
              f"disagreements {len(self.wrong)}")
        if not self.wrong:
            return 0
        print("\nDISAGREEMENTS\n" + "\n".join(self.wrong) + "\n\nThe last steps:\n" + "\n".join(self.lines[-20:]))
        journal = shell("journalctl --since=-90s -o short-precise --no-pager", False)[1]
        print(f"\nThe journal of the last minutes:\n{journal}\n")
        print(shell("killswitchctl status; systemctl list-jobs", False)[1])
        print(f"To repeat it: make deb && Benchmarks/soak/soak --seed {self.seed} --until {self.number}")
        return 1


def main():
    if os.path.exists(SAVED):
        with open(SAVED, "rb") as file:
            saved = pickle.load(file)
        os.remove(SAVED)
    else:
        saved = Soak(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
    sys.exit(saved.run())


main()
