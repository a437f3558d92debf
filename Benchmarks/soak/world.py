"""The booted system: its services, units and flags; and what each surface says about a service."""
import json
import os
import subprocess
import threading
import time

from model import gate, text_of
from server import Server

PORT = 8099
RUN, STATE, KEPT = "/run/killswitchd", "/var/lib/killswitchd", "/var/lib/soak"
KEY = "/var/lib/soak-key"
CONFIGURATION = "/etc/killswitchd/killswitchd.toml"
CROWD = [f"c{number}" for number in range(1, 7)]
AT_ONCE = 5  # So many closings of one answer the host guard lets pass: all of the crowd are more.
# The switches of each service: the place of the flags, and their format. A place without a key is the whole document.
SERVICES = {
    "shop": [(("desk", "shop"), "switch")],
    "mail": [(("web", "mail"), "switch")],
    "api": [(("web", "api"), "status")],
    "till": [(("vault", ""), "switch")],
    "paper": [(("desk", "paper"), "service-end"), (("web", "paper"), "maintenance")],
    "step": [(("web", "step"), "switch")],
    **{name: [(("crowd", name), "switch")] for name in CROWD},
}
MORE = {"api": 'drain = "2s"', "paper": "", "shop": 'units = ["soak-shop.service", "soak-slow.service"]',
        "step": 'min_closed = "0s"\nopen_spread = "4s"\nguard = "check"'}
SWITCH = {"state": "running"}
OPEN = {"switch": SWITCH, "status": {"apiInactive": False, "forceUpdate": False},
        "service-end": {"service_end": "no"}, "maintenance": {"isUnderMaintenance": False}}
UNITS = {
    "shop": ["soak-shop.service", "soak-slow.service", "soak-both.service"],
    "mail": ["soak-mail.service", "soak-deaf.service", "soak-lane@mail.service"],
    "api": ["soak-api.service", "soak-lane@api.service"],
    "till": ["soak-till.service"],
    "paper": ["soak-paper.service", "soak-both.service"],
    "step": ["soak-step.service"],
    **{name: [] for name in CROWD},
}
OWNERS = {unit: [name for name in UNITS if unit in UNITS[name]] for units in UNITS.values() for unit in units}
STATE_TARGETS = ("countdown", "update-required", "maintenance", "ended")
# The files of a service that is closed, or counts down.
COMING_AND_GOING = {"unavailable", "problem.json", "retry-after", "sunset"}
DECIDED = "5fcfbfe15f554b1a8a22afdb89d33e39"
STARTED = "39f53479d3a045ac8e11786248231fbf"
# Nobody moves a gate by hand here, and no unit is started behind one: these entries would be wrong.
NEVER = {"144257383e3d45c183d5547b093dc6ba": "says that somebody else moved a gate",
         "18dd91b5dc694ff797a9517e10bf2dd7": "found a unit that runs behind a closed gate",
         "c41beed77b6a4a139962726f71c41e79": "says that a unit did not stop"}


def shell(command, check=True, limit=60):
    """Runs a shell command; returns its exit status and what it printed on both streams."""
    try:
        result = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired as error:
        return 124, f"'{error.cmd[2]}' took longer than {limit} s"
    if check and result.returncode != 0:
        raise RuntimeError(f"'{command}' ended with {result.returncode}: {result.stdout}")
    return result.returncode, result.stdout


def write(path, text):
    """Replaces a file at once."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(path + ".new", path)


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def read_json(path):
    text = read(path)
    return None if text is None else json.loads(text)


def configuration():
    sources = {"desk": 'type = "file"\npath = "/etc/killswitchd/desk.json"',
               "vault": 'type = "file"\npath = "/etc/killswitchd/vault.json"\naudience = "soak"\n'
                        'signers = "/etc/killswitchd/allowed_signers"'}
    for name in ("web", "crowd"):
        sources[name] = (f'type = "http"\nurl = "http://127.0.0.1:{PORT}/{name}"\ntimeout = "2s"\n'
                         'max_backoff = "2s"')
    parts = [f'[limits]\nclose_at_once = {AT_ONCE}\nclose_within = "0s"',
             f'[guard.check]\nurl = "http://127.0.0.1:{PORT}/guard"\ntimeout = "1s"']
    parts += [f'[source.{name}]\n{text}\ninterval = "1s"' for name, text in sources.items()]
    for name, switches in SERVICES.items():
        parts.append(f"[service.{name}]\n" + MORE.get(name, 'min_closed = "0s"'))
        for (source, key), form in switches:
            # service-end reads a member of the whole document.
            key = f'\nkey = "{key}"' if key and form != "service-end" else ""
            parts.append(f'[[service.{name}.switch]]\nsource = "{source}"\nformat = "{form}"{key}')
    return "\n".join(parts) + "\n"


def unit_files():
    sleep = "[Unit]\nStartLimitIntervalSec=0\n[Service]\nExecStart=/bin/sleep infinity\n"
    files = {name: sleep for name in ("shop", "mail", "api", "till", "paper", "both", "step", "lane@")}
    files["slow"] = sleep + "ExecStop=/bin/sleep 1.5\n"
    files["deaf"] = sleep.replace(
        "/bin/sleep infinity", "/bin/sh -c 'trap \"sleep 2; exit 0\" TERM; while :; do sleep 60; done'")
    return {f"soak-{name}.service": text for name, text in files.items()} | {"soak-directories.service": DIRECTORIES}


# Both directories are small file systems, which a fault can fill. What is in the one of /var outlives a reboot.
DIRECTORIES = f"""[Unit]
Before=killswitchd.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=mkdir -p {RUN} {STATE} {KEPT}
ExecStart=mount -t tmpfs -o size=4m,nr_inodes=600,mode=0755 tmpfs {RUN}
ExecStart=mount -t tmpfs -o size=4m,nr_inodes=600,mode=0700 tmpfs {STATE}
ExecStart=cp -a {KEPT}/. {STATE}
ExecStop=rm -rf {KEPT}
ExecStop=cp -a {STATE} {KEPT}
[Install]
RequiredBy=killswitchd.service
"""


class World:
    """Publishes flags, and reads what came of them."""

    def __init__(self):
        self.documents = {source: {} for source in ("desk", "web", "vault", "crowd")}
        self.lock = threading.Lock()  # Acts and faults write flags at the same time.
        self.versions = 0
        self.signed = []
        for switches in SERVICES.values():
            for (source, key), form in switches:
                self.documents[source][key] = dict(OPEN[form])
        self.server = None
        self.cursor, self.read_until = None, 0

    def set_up(self):
        """Everything is installed, runs, and is open."""
        os.makedirs("/etc/killswitchd", exist_ok=True)
        shell("mkdir -p /var/log/journal && journalctl --flush")  # What it tells outlives a reboot too.
        shell(f"ssh-keygen -q -t ed25519 -N '' -C soak -f {KEY}")
        key = " ".join(read(f"{KEY}.pub").split()[:2])
        write("/etc/killswitchd/allowed_signers", f'soak namespaces="killswitchd" {key}\n')
        write(CONFIGURATION, configuration())
        for name, text in unit_files().items():
            write(f"/etc/systemd/system/{name}", text)
        self.start_server()
        for source in ("desk", "vault"):
            self.save(source)
        shell("systemctl enable killswitchd soak-directories; systemctl start killswitchd")
        for name, units in UNITS.items():
            if units and name != "shop":
                shell(f"killswitchctl attach --no-reload {name} {' '.join(units)}")
        shell("killswitchctl attach shop soak-both.service; systemctl daemon-reload")
        end = time.monotonic() + 30
        while shell("systemctl start " + " ".join(OWNERS), check=False)[0] and time.monotonic() < end:
            time.sleep(0.5)

    def __getstate__(self):
        return {**vars(self), "lock": None, "server": None}

    def come_back(self):
        """The system has been booted again."""
        self.lock = threading.Lock()
        self.start_server()

    def started_units(self):
        """The units that were started since the last boot."""
        entries = shell(f"journalctl -b -o json MESSAGE_ID={STARTED}", check=False)[1].splitlines()
        return {json.loads(entry).get("UNIT") for entry in entries if entry.startswith("{")}

    def start_server(self):
        self.server = Server(PORT, self.documents)

    def stop_server(self):
        self.server.mode = "down"
        self.server.shutdown()
        self.server.server_close()

    def publish(self, place, flags):
        source, key = place
        with self.lock:
            self.documents[source][key] = flags
        self.save(source)

    def save(self, source):
        """Writes the file of a source that is one. Servers send `documents` as they are."""
        with self.lock:
            self.save_alone(source)

    def save_alone(self, source):
        if source == "desk":
            members = dict(self.documents["desk"])
            members.update(members.pop("paper"))
            write("/etc/killswitchd/desk.json", json.dumps(members))
        elif source == "vault":
            self.versions += 1
            members = dict(self.documents["vault"][""], version=self.versions, audience="soak",
                           expires=text_of(time.time() + 86400))
            write("/run/soak-text", json.dumps(members))
            shell(f"rm -f /run/soak-text.sig; ssh-keygen -q -Y sign -n killswitchd -f {KEY} /run/soak-text")
            self.signed = self.signed[-1:] + [read("/run/soak-text") + read("/run/soak-text.sig")]
            write("/etc/killswitchd/vault.json", self.signed[-1])

    def disagreements(self, name, states, reasons, order):
        """What differs from the model: the name of the surface, and what it says."""
        state = states[name]
        folder, wanted = f"{RUN}/{name}", gate(state)
        facts = read_json(f"{folder}/state.json") or {}
        found = compare("state.json", facts, state=state, gate=wanted, service=name, stale=False)
        if facts.get("reason") not in reasons:
            found.append(f"state.json: reason {facts.get('reason')}, not {sorted(reasons)}")
        if (facts.get("override") or {}).get("reason") != (order or {}).get("reason"):
            found.append(f"state.json: override {facts.get('override')}, not {order}")
        if f'KILLSWITCH_STATE="{state}"' not in (read(f"{folder}/state.env") or ""):
            found.append("state.env: another state")
        markers = {marker for marker in ("open", "closed", "unavailable") if os.path.exists(f"{folder}/{marker}")}
        # The page stays behind an open gate while another service keeps a unit down that it waits for.
        is_held = any(gate(states[owner]) == "closed" for unit in UNITS[name] for owner in OWNERS[unit])
        pages = [{"unavailable"}] if wanted == "closed" else [set(), {"unavailable"}] if is_held else [set()]
        if markers not in [{wanted} | page for page in pages]:
            found.append(f"markers: {sorted(markers)}")
        moved = read_json(f"{folder}/gate.json") or {}
        return found + compare("gate.json", moved, wanted=wanted, actual=wanted, problem=None)

    def unit_disagreements(self, states):
        """What systemd and units.json say, for all services together: one call of systemctl."""
        wanted = {unit: all(gate(states[owner]) == "open" for owner in owners) for unit, owners in OWNERS.items()}
        for name, state in states.items():
            for target in ("open", "closed"):
                wanted[f"killswitch-{target}@{name}.target"] = gate(state) == target
            for target in STATE_TARGETS:
                wanted[f"killswitch-{target}@{name}.target"] = state == target
        # systemd prints them in the sequence in which it is asked.
        listed = shell(f"systemctl show -P ActiveState {' '.join(wanted)}", check=False)[1].split()
        shown = dict(zip(wanted, listed))
        found = [f"systemd: {unit} is {shown.get(unit)}, wanted {'up' if up else 'down'}" for unit, up in wanted.items()
                 if shown.get(unit) not in (("active",) if up else ("inactive", "failed"))]
        for name, units in UNITS.items():
            rows = {row["name"]: row for row in read_json(f"{RUN}/{name}/units.json") or []}
            if set(rows) != set(units):
                found.append(f"{name}: units.json lists {sorted(rows)}")
                continue
            found += [f"{name}: units.json: {unit} is {row['active']}, problem {row['problem']}"
                      for unit, row in rows.items()
                      if (row["active"] == "active") != wanted[unit] or row["problem"] or row["attached"] is False]
        return found

    def was_read(self, source, since):
        """Whether the source has confirmed its flags since then."""
        try:
            return os.stat(f"{RUN}/source.{source}").st_mtime > since
        except OSError:
            return False

    def metric_disagreements(self, states):
        samples = {}
        for line in (read(f"{RUN}/metrics.prom") or "").splitlines():
            if not line.startswith("#"):
                series, _, value = line.rpartition(" ")
                samples[series] = float(value)
        found = []
        for name, state in states.items():
            label, changes = f'service="{name}"', read_json(f"{RUN}/{name}/state.json")["generation"]
            is_open = float(gate(state) == "open")
            wanted = {f'service_state{{{label},state="{other}"}}': float(other == state)
                      for other in ("running", "undecided", *STATE_TARGETS)}
            wanted.update({f"gate_open{{{label}}}": is_open, f"gate_wanted_open{{{label}}}": is_open,
                           f"units{{{label}}}": float(len(UNITS[name])), f"units_unwanted{{{label}}}": 0.0,
                           f"state_changes_total{{{label}}}": float(changes)})
            found += [f"metrics: {series} is {samples.get('killswitch_' + series)}, not {value}"
                      for series, value in wanted.items() if samples.get("killswitch_" + series) != value]
        return found

    def journal(self):
        """The entries of the daemon since the last call, as objects."""
        shell("journalctl --sync", check=False)
        since = f"--after-cursor='{self.cursor}'" if self.cursor else ""
        lines = shell(f"journalctl -u killswitchd -o json --all {since}", check=False)[1].splitlines()
        entries = [json.loads(line) for line in lines if line.startswith("{")]
        if entries:
            self.cursor, self.read_until = entries[-1]["__CURSOR"], int(entries[-1]["__REALTIME_TIMESTAMP"])
        return [entry for entry in entries if "MESSAGE_ID" in entry]

    def history(self, since):
        """The decisions that `killswitchctl history` tells since a time, in microseconds."""
        when = text_of(since // 1000000)[:-1] + f".{since % 1000000:06d}Z"
        lines = shell(f"killswitchctl history --json --since {when}", check=False)[1].splitlines()
        events = [json.loads(line) for line in lines if line.startswith("{")]
        return [(event["service"], event["state"], event["message"]) for event in events
                if event["message_id"] == DECIDED]

    def daemon(self):
        """The process ID of the daemon; None without one."""
        process = shell("systemctl show killswitchd -P MainPID", check=False)[1].strip()
        return process if process not in ("", "0") else None

    def resources(self):
        """Resident kilobytes, descriptors, and files in both directories; None without a daemon."""
        process = self.daemon()
        try:
            with open(f"/proc/{process}/status", encoding="ascii") as file:
                resident = next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))
            descriptors = len(os.listdir(f"/proc/{process}/fd"))
        except (OSError, StopIteration):
            return None
        files = [sum(len(set(names) - COMING_AND_GOING) for _, _, names in os.walk(folder)) for folder in (RUN, STATE)]
        return {"resident kB": resident, "descriptors": descriptors, "files in /run": files[0],
                "files in /var": files[1]}


def compare(surface, facts, **wanted):
    return [f"{surface}: {key} {facts.get(key, 'missing')}, not {value}" for key, value in wanted.items()
            if facts.get(key, "missing") != value]
