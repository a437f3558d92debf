"""Who is compared: how each is configured to stop two units when a flag over HTTP says so, and to start them again.

Everybody has the same lanes: documents of their own, numbered, with two units each. Each has a slice of control groups,
whose CPU time counts what its children used as well.
"""
import json
import os
import shutil
import subprocess

HERE = "/usr/local/compare"
SITE = "/srv/site"


def shell(command, check=True):
    """What a command has printed. A failure that is checked ends the comparison."""
    result = subprocess.run(command, shell=True, check=False, text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if check and result.returncode != 0:
        raise RuntimeError(f"'{command}' ended with {result.returncode}: {result.stdout}")
    return result.stdout


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


class Peer:
    """A peer without its configuration. `url(peer, lane)` is where it finds the flags of a lane."""
    name = title = packages = ""
    how = ""
    polls_by_itself = True
    # Seconds between two polls, and where the broken answers are tried.
    interval = pace = 1

    def __init__(self, url, authority):
        self.url, self.authority = url, authority
        self.lanes = []

    def units(self, lane):
        return [f"lane{lane}-{self.name}-{part}.service" for part in ("web", "app")]

    @property
    def slice(self):
        return f"compare-{self.name}.slice"

    @property
    def services(self):
        """The units that are the peer itself."""
        return [f"compare-{self.name}.service"]

    def address(self, lane):
        return self.url(self, lane)

    def prepare(self, lanes):
        """Writes the units of the lanes, which the boot starts too, and the configuration."""
        self.lanes = lanes
        for lane in lanes:
            for unit in self.units(lane):
                write(f"/etc/systemd/system/{unit}", "[Unit]\nStartLimitIntervalSec=0\n"
                      "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n")
                # A unit that nothing wants is forgotten when it stops, with the time at which it did.
                link = f"/etc/systemd/system/multi-user.target.wants/{unit}"
                os.makedirs(os.path.dirname(link), exist_ok=True)
                if not os.path.lexists(link):
                    os.symlink(f"../{unit}", link)
        self.configure()

    def service(self, command, more="", name=None, unit=""):
        write(f"/etc/systemd/system/{name or self.services[0]}", f"""[Unit]
StartLimitIntervalSec=0
After=network.target
{unit}
[Service]
ExecStart={command}
Slice={self.slice}
Restart=always
RestartSec=1
{more}
[Install]
WantedBy=multi-user.target
""")

    def configure(self):
        raise NotImplementedError

    def attach(self):
        """What has to be done once the services are known to systemd."""

    def start(self):
        shell(f"systemctl start {' '.join(self.services)}")

    def stop(self):
        shell(f"systemctl stop {' '.join(self.services)}")

    def words(self, since):
        """What it has told since a time: its journal, and what its own command shows, if it has one."""
        return shell(f"journalctl --no-pager --quiet --output cat --since @{since} _SYSTEMD_SLICE={self.slice}", False)


class Ours(Peer):
    name, title = "killswitchd", "killswitchd"
    how = "`type = \"http\"`, `format = \"status\"`, `interval = \"1s\"`, `min_closed = \"0s\"`; the units are attached"
    services = ["killswitchd.service"]
    format = "status"
    more_of_lane = {}
    pace = 0.1

    def configure(self):
        write("/etc/killswitchd/killswitchd.toml", "".join(f"""
[source.lane{lane}]
type = "http"
url = "{self.address(lane)}"
interval = "{int(self.interval * 1000)}ms"
timeout = "5s"
ca = "{self.authority}"
{self.more_of_lane.get(lane, "")}
[service.lane{lane}]
source = "lane{lane}"
format = "{self.format}"
min_closed = "0s"
""" for lane in self.lanes))
        write("/etc/systemd/system/killswitchd.service.d/compare.conf", f"[Service]\nSlice={self.slice}\n")

    def attach(self):
        for lane in self.lanes:
            shell(f"killswitchctl attach lane{lane} {' '.join(self.units(lane))}")

    def stop(self):
        super().stop()
        shell("killswitchctl detach --all", False)

    def words(self, since):
        return shell(f"journalctl --no-pager --quiet --output cat --since @{since} -u killswitchd; killswitchctl status",
                     False)


class Monit(Peer):
    name, title, packages = "monit", "monit", "monit"
    how = "`set daemon 1`; `check host`, `protocol http`, `content != \"…\": *true`, `exec systemctl stop`, " \
          "`else if succeeded then exec systemctl start`"

    def configure(self):
        checks = ""
        for lane in self.lanes:
            scheme, _, rest = self.address(lane).partition("://")
            host, _, request = rest.partition("/")
            name, _, port = host.partition(":")
            units = " ".join(self.units(lane))
            checks += f"""
check host lane{lane} with address {name}
    if failed port {port} protocol {scheme} request "/{request}"
        content != '"(apiInactive|forceUpdate)": *true' timeout 5 seconds
    then exec "/usr/bin/systemctl stop {units}"
    else if succeeded then exec "/usr/bin/systemctl start {units}"
"""
        write("/etc/monit/compare", f"""set daemon {self.interval}
set pidfile /run/monit-compare.pid
set idfile /var/lib/monit/compare.id
set statefile /var/lib/monit/compare.state
set ssl options {{ verify: enable, cacertificatefile: {self.authority} }}
{checks}""", 0o600)
        os.makedirs("/var/lib/monit", exist_ok=True)
        self.service("/usr/bin/monit -I -c /etc/monit/compare")


class Keepalived(Peer):
    name, title, packages = "keepalived", "keepalived with a track script", "keepalived curl jq"
    how = "`interval 1`, `fall 1`, `rise 1`; the script is curl and jq; `notify_fault` stops, `notify_master` starts"

    def configure(self):
        parts = ""
        for lane in self.lanes:
            units = " ".join(self.units(lane))
            parts += f"""
vrrp_script flags{lane} {{
    script "{HERE}/programs/track {self.address(lane)} {self.authority}"
    interval {self.interval}
    timeout 3
    fall 1
    rise 1
}}
vrrp_instance lane{lane} {{
    state MASTER
    interface compare0
    virtual_router_id {lane + 1}
    version 3
    priority 200
    advert_int 0.1
    virtual_ipaddress {{
        192.0.2.{10 + lane}
    }}
    track_script {{
        flags{lane}
    }}
    notify_fault "/usr/bin/systemctl stop {units}"
    notify_master "/usr/bin/systemctl start {units}"
}}
"""
        write("/etc/keepalived/compare.conf",
              f"global_defs {{\n    script_user root\n    enable_script_security\n}}\n{parts}")
        self.service("/usr/sbin/keepalived --dont-fork --vrrp -f /etc/keepalived/compare.conf",
                     "ExecStartPre=-/usr/sbin/ip link add compare0 type veth peer name compare1\n"
                     "ExecStartPre=/usr/sbin/ip link set compare1 up\nExecStartPre=/usr/sbin/ip link set compare0 up\n"
                     "ExecStartPre=-/usr/sbin/ip address add 192.0.2.1/24 dev compare0")


class Timer(Peer):
    name, title, packages = "timer", "a systemd timer with curl and jq", "curl jq"
    pace = 0.5
    how = "`OnUnitInactiveSec=1s`, `AccuracySec=1ms`; the script calls `systemctl` at each poll"

    @property
    def services(self):
        return [f"compare-timer-{lane}.timer" for lane in self.lanes]

    def configure(self):
        for lane in self.lanes:
            write(f"/etc/systemd/system/compare-timer-{lane}.service", f"""[Unit]
StartLimitIntervalSec=0
[Service]
Type=oneshot
Slice={self.slice}
ExecStart={HERE}/programs/follow "{self.address(lane)}" {self.authority} {' '.join(self.units(lane))}
""")
            write(f"/etc/systemd/system/compare-timer-{lane}.timer", f"""[Timer]
OnActiveSec=0
OnBootSec=0
OnUnitInactiveSec={self.interval}s
AccuracySec=1ms
[Install]
WantedBy=timers.target
""")


class Loop(Peer):
    """A program that is started for each lane."""

    @property
    def services(self):
        return [f"compare-{self.name}-{lane}.service" for lane in self.lanes]

    def configure(self):
        for lane, service in zip(self.lanes, self.services):
            self.service(*self.command(lane), name=service)

    def command(self, lane):
        raise NotImplementedError


class Python(Loop):
    name, title, packages = "python", "a loop of Python requests", "python3-requests"
    pace = 0.2
    how = "one session, `time.sleep(1)`; it acts when the answer has changed"

    def command(self, lane):
        return (f'{HERE}/programs/loop "{self.address(lane)}" {self.authority} {self.interval} {" ".join(self.units(lane))}',)


class C(Loop):
    name, title, packages = "c", "a C program on libcurl and cJSON", "libcurl4 libcjson1 libsystemd0"
    how = "ETags, one connection; it stores the flags, and acts when the answer has changed"
    pace = 0.1

    def command(self, lane):
        return (f'{HERE}/peer "{self.address(lane)}" /run/compare-c-{lane} {int(self.interval * 1000)} 1 {self.authority}',
                f'RuntimeDirectory=compare-c-{lane}\n'
                f'Environment="ON_CHANGE={HERE}/programs/move" "UNITS={" ".join(self.units(lane))}"')


class Ansible(Peer):
    name, title, packages = "ansible", "ansible-pull", "ansible-core git"
    how = "a service with `Restart=always`: run after run, without a pause"
    polls_by_itself = False

    def configure(self):
        os.makedirs(SITE, exist_ok=True)
        shutil.copy(f"{HERE}/programs/site.yml", f"{SITE}/local.yml")
        shell(f"cd {SITE} && git init --quiet . 2>&1; git add . && git -c user.name=c -c user.email=c@test commit "
              "--quiet --allow-empty -m site")
        write("/etc/compare-ansible.json", self.variables(self.lanes))
        self.service(f"/usr/bin/ansible-pull --url {SITE} --directory /var/lib/ansible-pull "
                     "--inventory localhost, --extra-vars @/etc/compare-ansible.json local.yml",
                     "Environment=HOME=/root\nRestartSec=0")

    def variables(self, lanes):
        return json.dumps({"authority": self.authority, "lanes": [
            {"url": self.address(lane), "units": self.units(lane)} for lane in lanes]})

    def poll(self, lane):
        """One run of what ansible-pull runs after its pull."""
        write(f"/run/ansible-{lane}.json", self.variables([lane]))
        shell(f"cd {SITE} && HOME=/root ansible-playbook --inventory localhost, --extra-vars @/run/ansible-{lane}.json "
              "local.yml", False)


ALL = [Ours, C, Python, Timer, Keepalived, Monit, Ansible]
