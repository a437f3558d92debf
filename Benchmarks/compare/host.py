"""The booted system in which peers are compared: its web server, its units and its control groups."""
import os
import statistics
import subprocess
import time

from peers import shell, write

FOLDER = "/srv/flags"
CLOSED = ('{"apiInactive": true, "forceUpdate": false, "userMessage": "back at noon", "state": "maintenance", '
          '"message": "back at noon"}')
OPEN = '{"apiInactive": false, "forceUpdate": false, "userMessage": null, "state": "running"}'


def now():
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def wait(condition, limit, every=0.02):
    """Waits for a condition. Returns whether it came true within the limit."""
    end = now() + limit
    while not condition():
        if now() > end:
            return False
        time.sleep(every)
    return True


class Web:
    """nginx with a document for each lane. Its log has one line for each answer: who has asked."""
    log = "/run/compare-access.log"

    def __init__(self):
        write("/etc/nginx/compare.conf", f"""
daemon off; pid /run/compare-web.pid; error_log stderr;
events {{ worker_connections 512; }}
http {{
    log_format by '$arg_by'; access_log {self.log} by;
    types {{ application/json json; }}
    keepalive_requests 100000000;
    server {{ listen 127.0.0.1:8080; root {FOLDER}; }}
    server {{ listen 127.0.0.1:80; default_type text/html; location / {{ return 200 "<h1>Guest Wi-Fi</h1>"; }} }}
}}
""")
        write("/etc/systemd/system/compare-web.service",
              "[Service]\nExecStart=/usr/sbin/nginx -c /etc/nginx/compare.conf\nSlice=compare-web.slice\n")
        with open("/etc/hosts", "a", encoding="ascii") as file:
            file.write("127.0.0.1 flags.test portal.test\n")
        os.makedirs(FOLDER, exist_ok=True)

    def publish(self, lane, body):
        """Replaces the document of a lane. Returns when."""
        path = f"{FOLDER}/lane{lane}.json"
        write(path + ".new", body)
        began = now()
        os.rename(path + ".new", path)
        return began

    def polls(self):
        """How often each has asked so far."""
        counts = {}
        with open(self.log, encoding="ascii") as file:
            for line in file:
                name = line.strip().partition("?")[0]
                counts[name] = counts.get(name, 0) + 1
        return counts


def address(peer, lane):
    return f"http://flags.test:8080/lane{lane}.json?by={peer.name}"


# Units and control groups.

def groups(name):
    """The folders of a unit's control group: systemd may keep one in each of two hierarchies."""
    if name not in KNOWN:
        found = [os.path.join(place, name) for place, folders, _ in os.walk("/sys/fs/cgroup") if name in folders]
        if not found:
            return []
        KNOWN[name] = found
    return KNOWN[name]


KNOWN = {}


def incarnation(unit):
    """The control group that the processes of a unit have now; None if it has none. Each start makes another one."""
    for folder in groups(unit):
        try:
            with open(f"{folder}/cgroup.procs", encoding="ascii") as file:
                if file.read():
                    return os.stat(folder).st_ino
        except OSError:
            pass
    return None


def is_up(units):
    return all(incarnation(unit) is not None for unit in units)


def is_down(units):
    return all(incarnation(unit) is None for unit in units)


def stamps(units, name):
    """Seconds of the monotonic clock at which systemd has seen each unit change."""
    lines = shell(f"systemctl show --value --property {name}TimestampMonotonic {' '.join(units)}").split()
    return [int(line) / 1e6 for line in lines]


def cpu(slice_name):
    """Microseconds that a slice has used, with its processes that have ended."""
    for folder in groups(slice_name):
        try:
            with open(f"{folder}/cpu.stat", encoding="ascii") as file:
                return int(file.readline().split()[1])
        except OSError:
            pass
        try:
            with open(f"{folder}/cpuacct.usage", encoding="ascii") as file:
                return int(file.read()) / 1000
        except OSError:
            pass
    return 0


def processes(slice_name):
    """The numbers of the processes of a slice."""
    found = set()
    for top in groups(slice_name):
        for place, _, files in os.walk(top):
            if "cgroup.procs" in files:
                with open(f"{place}/cgroup.procs", encoding="ascii") as file:
                    found.update(file.read().split())
    return found


def processes_named(names):
    return shell(f"pgrep -x '{names}'", False).split()


def memory_of(numbers):
    """MB resident and proportional, of processes together."""
    total = [0, 0]
    for process in numbers:
        try:
            with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as file:
                for line in file:
                    for place, key in enumerate(("Rss:", "Pss:")):
                        if line.startswith(key):
                            total[place] += int(line.split()[1]) / 1024
        except OSError:
            pass
    return total


def system_cpu():
    """Microseconds of systemd, the journal and the bus."""
    total = 0
    for process in ["1", *processes_named("systemd-journal|dbus-daemon")]:
        with open(f"/proc/{process}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0]) / 1000
    return total


def percentile(values, part):
    """By the nearest rank."""
    values = sorted(values)
    return values[min(len(values) - 1, max(0, -(-len(values) * part // 100) - 1))]


def summary(values):
    return {"count": len(values), "p50": statistics.median(values), "p99": percentile(values, 99)} if values else None


def run_quietly(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
