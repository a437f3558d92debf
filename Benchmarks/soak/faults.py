"""The faults of the soak: each begins, lasts for seconds, and undoes itself.

Two faults of one step belong to different groups. What loses stored files comes without what ends the daemon: together
they lose orders, and the manual says so. A daemon that starts in a read-only directory sees it so until it is restarted,
because systemd gives it a view of the mounts of its own. A systemd that is executed again while the bus is frozen answers
nobody for a minute and a half, not even `systemctl kill -s CONT dbus`.
"""
import glob
import os
import signal
import time

from server import MODES, Server
from world import CONFIGURATION, RUN, STATE, configuration, shell, write

WRONG_FILES = ["", "{", '{"shop": {"state": "ended"}', "<html></html>", '{"shop": {"state": 7}, "service_end": 0}',
               '{"shop": {"state": "shut"}, "shop": {"state": "ended"}, "service_end": "yes"}', None]
UNSIGNED = '{"state": "ended", "version": 900000, "audience": "soak", "expires": "2040-01-01T00:00:00Z"}'
MISTAKES = ["[service.shop\n", "[service.shop]\nsorce = 1\n", "[limits]\nclose_at_once = 0\n", None]
RUN_FILES = ["shop/state.json", "mail/closed", "mail/open", "api/gate.json", "api/units.json", "till/state.env",
             "paper/unavailable", "metrics.prom", "control.sock", "alive", "host.json", "shop/*", "source.web"]
STATE_FILES = ["flags/*", "services.json", "overrides.json", "configuration.json"]
MOVER = "killswitchd-gates.socket killswitchd-gates.service"
SIGNAL = "systemctl kill --kill-whom=main -s"

# Faults of one command, and the command that ends each.
COMMANDS = {
    "run-read-only": (f"mount -o remount,ro {RUN}", f"mount -o remount,rw {RUN}"),
    "state-read-only": (f"mount -o remount,ro {STATE}", f"mount -o remount,rw {STATE}"),
    "mover-gone": (f"systemctl mask --runtime --now {MOVER}",
                   f"systemctl unmask --runtime {MOVER}; systemctl start {MOVER}"),
    "mover-frozen": (f"{SIGNAL} STOP killswitchd-gates", f"{SIGNAL} CONT killswitchd-gates"),
    "mover-killed": (f"{SIGNAL} KILL killswitchd-gates", "true"),
    "bus-frozen": (f"{SIGNAL} STOP dbus", f"{SIGNAL} CONT dbus"),
    "bus-restarted": ("systemctl restart dbus.service", "true"),
    "manager-reexecuted": ("systemctl daemon-reexec", "true"),
    "manager-reloaded": ("systemctl daemon-reload", "true"),
    # The daemon has them made again at once, and then every ten minutes: an administrator does not wait for that.
    "ties-reverted": ("systemctl revert soak-mail.service; systemctl daemon-reload",
                      "killswitchctl attach --from-configuration"),
    "ties-purged": ("rm -rf /etc/systemd/system/killswitch-open@till.target.d; systemctl daemon-reload",
                    "killswitchctl attach --from-configuration"),
    "configuration-reloaded": ("systemctl reload killswitchd", "true"),
    "daemon-killed": (f"{SIGNAL} KILL killswitchd", "true"),
    "daemon-restarted": ("systemctl restart killswitchd", "true"),
}
# How often each comes, and what it may be. The others come once.
WEIGHTS = {"server": 6, "desk": 2, "vault": 2, "guard": 3, "daemon-killed": 2, "daemon-frozen": 2}
CHOICES = {"server": MODES, "desk": WRONG_FILES, "vault": ["unsigned", "older", "cut", "changed"],
           "configuration-wrong": MISTAKES, "guard": ["no", "hang"], "run-deleted": RUN_FILES, "state-deleted": STATE_FILES}
KINDS = sorted([*COMMANDS, *CHOICES, "run-full", "run-inodes", "state-full", "state-inodes", "daemon-frozen"])
# What together takes longer than a step to be well again.
APART = [{"run-read-only", "daemon-killed"}, {"run-read-only", "daemon-restarted"}, {"run-read-only", "daemon-frozen"},
         {"bus-frozen", "manager-reexecuted"}]


class Fault:
    """One fault of a step: what, from when, and for how long, in seconds since the step began."""

    def __init__(self, dice):
        self.kind = dice.choices(KINDS, [WEIGHTS.get(kind, 1) for kind in KINDS])[0]
        self.group = self.kind.partition("-")[0]
        self.folder = RUN if self.group == "run" else STATE
        self.what = dice.choice(CHOICES.get(self.kind, [""]))
        self.at, self.lasts = dice.uniform(0, 3), dice.uniform(0.3, 6)
        if self.kind == "guard":
            self.at, self.lasts = 0, 15  # A good answer counts for five seconds more.
        self.process = None
        self.deleted = []  # The stored files that were there before.

    def __str__(self):
        return f"{self.kind}{'' if self.what == '' else f' {self.what!r}'} {self.at:.1f}+{self.lasts:.1f}s"

    @property
    def untied(self):
        """The unit that its gate does not stop meanwhile, if it closes."""
        return {"ties-purged": "soak-till.service"}.get(self.kind)

    @property
    def clock_shift(self):
        """What the clock of the server is wrong by, in seconds."""
        return {"date-ahead": 7200, "date-behind": -7200}.get(self.what, 0)

    def begin(self, world):
        if self.kind in COMMANDS:
            shell(COMMANDS[self.kind][0], check=False)
        elif self.kind == "server":
            if self.what == "down":
                world.stop_server()
            world.server.mode = self.what
        elif self.kind == "guard":
            Server.guard = self.what
        elif self.kind == "desk":
            replace("/etc/killswitchd/desk.json", self.what)
        elif self.kind == "vault":
            body = world.signed[-1]
            replace("/etc/killswitchd/vault.json", {
                "unsigned": UNSIGNED, "older": world.signed[0], "cut": body[:-40],
                "changed": body.replace("soak", "sock", 1)}[self.what])
        elif self.kind == "configuration-wrong":
            replace(CONFIGURATION, self.what and configuration() + self.what)
            status, said = shell("killswitchctl reload", check=False, limit=10)
            if status == 0:
                raise AssertionError(f"a reload with a mistake ended with 0: {said}")
        elif self.kind == "daemon-frozen":
            self.process = world.daemon()
            send(self.process, signal.SIGSTOP)
        elif self.kind.endswith("-deleted"):
            if self.group == "state":
                self.deleted = glob.glob(f"{self.folder}/{self.what}")
            shell(f"rm -f {self.folder}/{self.what}", check=False)
        else:
            fill(self.folder, 4096 if self.kind.endswith("-full") else 0)

    def end(self, world):
        if self.kind in COMMANDS:
            shell(COMMANDS[self.kind][1], check=False)
        elif self.kind == "server":
            if self.what == "down":
                world.start_server()
            world.server.mode = "well"
        elif self.kind == "guard":
            Server.guard = "yes"
        elif self.kind in ("desk", "vault"):
            world.save(self.kind)
        elif self.kind == "configuration-wrong":
            write(CONFIGURATION, configuration())
        elif self.kind == "daemon-frozen":
            send(self.process, signal.SIGCONT)
        else:
            shell(f"rm -rf {self.folder}/soak-fill")


def replace(path, text):
    if text is None:
        os.remove(path)
    else:
        write(path, text)


def fill(folder, size):
    """Fills a file system with files of a size: its bytes, or with empty files its inodes."""
    os.makedirs(f"{folder}/soak-fill", exist_ok=True)
    try:
        for number in range(10000):
            with open(f"{folder}/soak-fill/{number if size == 0 else 0}", "ab", buffering=0) as file:
                file.write(bytes(size))
    except OSError:
        pass  # It is full.


def send(process, number):
    try:
        os.kill(int(process), number)
    except (OSError, TypeError, ValueError):
        pass  # It has ended meanwhile, or nobody knows its number: the bus is away.


def plan(dice):
    """The faults of a step: none, one, or several at once."""
    faults, taken = [], set()
    for _ in range(dice.choice([0, 1, 1, 1, 2, 2, 3])):
        fault = Fault(dice)
        kinds = {fault.kind} | {other.kind for other in faults}
        if (fault.group not in taken and not {"state", "daemon"} <= taken | {fault.group}
                and not any(pair <= kinds for pair in APART)):
            taken.add(fault.group)
            faults.append(fault)
    return faults


def settle(faults):
    """After the last fault the right configuration is read, and every file that was deleted is there again: a daemon
    that is ended before that has lost it. Returns what is wrong."""
    end = time.monotonic() + 35
    while lost := [file for fault in faults for file in fault.deleted if not os.path.exists(file)]:
        if time.monotonic() > end:
            return [f"deleted, and not back within 30 s: {', '.join(lost)}"]
        time.sleep(0.5)
    end = time.monotonic() + 30
    while any(fault.group == "configuration" for fault in faults):
        status, said = shell("killswitchctl reload", check=False, limit=20)
        if status == 0:
            return []
        if time.monotonic() > end:
            return [f"the right configuration is refused: {said}"]
        time.sleep(0.5)
    return []
