"""Answers that many services read: what they cost another source's closing, memory, the runtime directory and the
watchdog.

The daemon follows two flags files: 'quiet', whose 20 services close and open again and again, and 'hostile', which 1, 30
or 256 services read. A closing is the time from the rename of the file of 'quiet' to its last marker 'closed'. Each row
is a daemon of its own: first it has flags in force that are good, then the hostile answer is served. Of several programs
each has its row, one after the other, so that all meet the same machine.

With --turns the daemon runs under strace(1), which stops it where it waits for events and nowhere else: a turn is the time
between two such waits. The table then ends with the longest turn.
"""
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import threading
import time

import limits

COUNTS = (1, 30, 256)
QUIET = 20
LIMIT = 100  # milliseconds that a closing may be later than a quiet one
TURN = 100  # milliseconds that one answer may take the loop
PATIENCE = 20  # seconds until a closing counts as never
PING = 1  # seconds between two pings of the watchdog
SIZE = 1_000_000
OPEN = {"state": "running"}


def dumps(flags):
    return json.dumps(flags, separators=(",", ":"), ensure_ascii=False)


def time_text(second):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(4_000_000_000 + second))


def windows(count, **more):
    return [{"from": time_text(7200 * at), "until": time_text(7200 * at + 3600), **more} for at in range(count)]


def steps(count):
    return [{"at": time_text(600 * at), "percent": (at + 1) * 100 / count} for at in range(count)]


# Unsigned answers: what the services hold before, the hostile answer, and lines for each of its services.
VALUES = "".join(f'values.{name} = {{ key = "{name}", type = "string" }}\n' for name in "abc")
NUMBER = {"at": 0}


def new_title(_):
    NUMBER["at"] += 1
    return {**OPEN, "title": str(NUMBER["at"]) + "x" * 500_000}


def new_message(_):
    NUMBER["at"] += 1
    return {**OPEN, "title": str(NUMBER["at"]) + "x" * 190, "message": "y" * 4000}


UNSIGNED = {
    "16,507 windows": (lambda _: {**OPEN, "windows": windows(16_507)}, ""),
    "64 windows in 1 MiB": (lambda _: {**OPEN, "windows": windows(64, message="é" * 3900), "more": "x" * 400_000}, ""),
    "three values and a message, 1 MiB": (
        lambda _: {**OPEN, "message": "x" * 250_000, **{name: name * 250_000 for name in "abc"}}, VALUES),
    "values and a message at their limits": (
        lambda _: {**OPEN, "message": "x" * 4000, **{name: "\\" * 16_000 for name in "abc"}}, VALUES),
    "500 KB of title, new at each poll": (new_title, ""),
    "texts at their limits, new at each poll": (new_message, ""),
}
# Documents that one of two people has signed.
SIGNED = {
    "249 windows, one of two signatures": lambda: {"state": "running", "windows": windows(249)},
    "64 windows, one of two signatures": lambda: {"state": "running", "windows": windows(64)},
    "64 windows and steps, one of two": lambda: {
        "state": "maintenance", "windows": windows(64), "rollout": steps(64)},
}


class Signers:
    """Two people with keys of ssh-keygen."""

    def __init__(self, folder):
        self.folder = folder
        lines = []
        for name in ("alice", "bob"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{name}"], check=True)
            with open(f"{folder}/{name}.pub", encoding="ascii") as file:
                lines.append(f"{name} {file.read()}")
        with open(f"{folder}/allowed_signers", "w", encoding="ascii") as file:
            file.writelines(lines)

    def sign(self, flags, version, *names):
        path = f"{self.folder}/document"
        text = dumps({**flags, "version": version, "expires": time_text(0), "audience": "prod"}) + "\n"
        signatures = ""
        for name in names:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-n", "killswitchd", "-f", f"{self.folder}/{name}", path],
                           check=True, stderr=subprocess.DEVNULL)
            with open(f"{path}.sig", encoding="ascii") as file:
                signatures += file.read()
            os.remove(f"{path}.sig")
        return text + signatures


class Daemon:
    def __init__(self, program, count, lines, signers, turns):
        self.folder = tempfile.mkdtemp(prefix="killswitchd-readers.", dir="/dev/shm")
        self.count = count
        self.signers = Signers(self.folder) if signers else None
        rule = 'signers = "allowed_signers"\naudience = "prod"\n' if signers else ""
        two = "signatures_to_close = 2\nsignatures_to_open = 2\n" if signers else ""
        services = "".join(
            f'[service.quiet{at}]\nsource = "quiet"\nformat = "status"\nmin_closed = "0s"\n' for at in range(QUIET))
        services += "".join(
            f'[service.hostile{at}]\nsource = "hostile"\nformat = "switch"\nmin_closed = "0s"\n{two}{lines}'
            for at in range(count))
        self.write("killswitchd.toml", '[source.quiet]\ntype = "file"\npath = "quiet.json"\n'
                   f'[source.hostile]\ntype = "file"\npath = "hostile.json"\ninterval = "500ms"\n{rule}{services}')
        self.quiet(False)
        self.hostile(self.signers.sign(OPEN, 1, "alice", "bob") if signers else dumps(OPEN))
        self.pings = []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(f"{self.folder}/notify")
        self.socket.settimeout(0.2)
        # As a detached process (-D): the child is the daemon, and not strace.
        trace = ["strace", "-D", "--seccomp-bpf", "-f", "-qq", "-ttt", "-T", "-e", "trace=epoll_wait,epoll_pwait2",
                 "-e", "signal=none", "-o", f"{self.folder}/turns"] if turns else []
        self.process = subprocess.Popen(
            [*trace, program, "--config", f"{self.folder}/killswitchd.toml", "--runtime-directory", f"{self.folder}/run",
             "--state-directory", f"{self.folder}/state"], stderr=subprocess.DEVNULL,
            env={"SWIFT_BACKTRACE": "enable=no", "NOTIFY_SOCKET": f"{self.folder}/notify",
                 "WATCHDOG_USEC": str(2_000_000 * PING)})
        self.isRunning = True
        threading.Thread(target=self.listen, daemon=True).start()
        self.wait(f"hostile{count - 1}", "open")
        self.wait(f"quiet{QUIET - 1}", "open")

    def listen(self):
        while self.isRunning:
            try:
                if b"WATCHDOG=1" in self.socket.recv(1 << 16):
                    self.pings.append(time.monotonic())
            except TimeoutError:
                continue

    def write(self, name, text):
        with open(f"{self.folder}/{name}.new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(f"{self.folder}/{name}.new", f"{self.folder}/{name}")

    def quiet(self, closed):
        self.write("quiet.json", json.dumps({"apiInactive": closed, "forceUpdate": False}))

    def hostile(self, text):
        self.write("hostile.json", text)

    def wait(self, service, marker):
        path, end = f"{self.folder}/run/{service}/{marker}", time.monotonic() + PATIENCE
        while not os.path.exists(path):
            if time.monotonic() > end:
                raise TimeoutError
            time.sleep(0.0005)

    def closings(self, seconds):
        """Milliseconds of each closing in so many seconds; the last is PATIENCE if one never came."""
        end, took = time.monotonic() + seconds, []
        while time.monotonic() < end:
            try:
                start = time.monotonic()
                self.quiet(True)
                self.wait(f"quiet{QUIET - 1}", "closed")
                took.append((time.monotonic() - start) * 1e3)
                self.quiet(False)
                self.wait(f"quiet{QUIET - 1}", "open")
            except TimeoutError:
                return [*took, PATIENCE * 1e3]
            time.sleep(0.05)
        return took

    def memory(self):
        """MB: the most so far."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next((int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM")), 0)

    def size(self):
        """MB in the runtime directory."""
        size = 0
        for folder, _, files in os.walk(f"{self.folder}/run"):
            for name in files:
                try:
                    size += os.lstat(f"{folder}/{name}").st_size
                except OSError:
                    pass
        return size / 1e6

    def turns(self, begin):
        """Milliseconds of each turn of the loop after that time."""
        took, last = [], None
        with open(f"{self.folder}/turns", encoding="ascii") as file:
            for line in file:
                match = re.match(r"\d+ +([\d.]+) epoll_\w+\(.*<([\d.]+)>$", line)
                if match:
                    called, waited = float(match[1]), float(match[2])
                    if last and last > begin:
                        took.append((called - last) * 1e3)
                    last = called + waited
        return took

    def end(self):
        self.isRunning = False
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.folder)


def row(program, label, name, count, answer, lines, seconds, turns):
    """Prints a row. Returns in milliseconds how much later the longest closing is than a quiet one, and the longest turn."""
    daemon = Daemon(program, count, lines, name in SIGNED, turns)
    stop = threading.Event()
    try:
        quiet, before, start = daemon.closings(seconds / 2), daemon.memory(), time.time()
        text = daemon.signers.sign(answer(), 2, "alice") if name in SIGNED else dumps(answer(None))
        daemon.hostile(text)
        if "new at each poll" in name:
            def renew():
                while not stop.wait(0.5):
                    daemon.hostile(dumps(answer(None)))
            threading.Thread(target=renew, daemon=True).start()
        begin, known = time.monotonic(), len(daemon.pings)
        took = daemon.closings(seconds)
        passed = time.monotonic() - begin
        pings = len(daemon.pings) - known
        late = max(took) - max(quiet)
        peak = daemon.memory()
        allowed = 12 * len(text.encode()) / 1e6 + count * 65_536 / 1e6
        end = "" if daemon.process.poll() is None else "  the daemon has ended"
        never = max(took) >= PATIENCE * 1e3
        longest = sorted(daemon.turns(start), reverse=True)[:3] if turns else [0]
        if turns:
            end += f"  {longest[0]:.1f} ms (then {', '.join(f'{turn:.1f}' for turn in longest[1:])})"
        print(f"{label:<4}{count:>4} {name:<42} {max(quiet):>6.1f} ms {statistics.median(took):>8.1f} ms "
              f"{'never' if never else f'{max(took):.1f} ms':>11} {peak:>6.1f} MB {peak - before:>+7.1f} MB "
              f"(of {allowed:>5.1f}) {daemon.size():>6.1f} MB {pings:>3} of {int(passed / PING):<3}{end}", flush=True)
        return late, longest[0]
    finally:
        stop.set()
        daemon.end()


def compare(programs, seconds, counts, turns):
    """Prints the table, and whether the last program keeps the limits."""
    labels = [f"{number + 1}:" if len(programs) > 1 else "" for number in range(len(programs))]
    print(f"\n{QUIET} services of another source close while so many services read a hostile answer")
    for label, program in zip(labels, programs):
        print(f"{label:<4}{program}")
    print(f"{'':<4}{'':>4} {'':<42} {'quiet':>9} {'median':>11} {'longest':>11} {'memory':>9} {'more':>10} {'':>10} "
          f"{'files':>9} pings{'     longest turn' if turns else ''}", flush=True)
    late = turn = 0
    rows = [(name, answer, lines) for name, (answer, lines) in UNSIGNED.items()]
    rows += [(name, answer, "") for name, answer in SIGNED.items()]
    for name, answer, lines in rows:
        for count in counts:
            delays = [row(program, label, name, count, answer, lines, seconds, turns)
                      for label, program in zip(labels, programs)]
            late, turn = max(late, delays[-1][0]), max(turn, delays[-1][1])
    limits.limit("a closing beside a hostile answer, later than a quiet one", late, LIMIT, "ms")
    if turns:
        limits.limit("the longest turn of the loop", turn, TURN, "ms")
    limits.end()
