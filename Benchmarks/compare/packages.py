"""What each peer installs on a Debian that has only its base: by apt, which simulates, and installs nothing."""
import os
import subprocess
import tempfile

import peers

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def output(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def simulate(status, *packages):
    """The packages that apt would install beside those of a status file."""
    text = output("apt-get", "install", "--simulate", "--no-install-recommends", "-o", f"Dir::State::status={status}",
                  "-o", "Dir::State::extended_states=/dev/null", *packages)
    return [line.split()[1] for line in text.splitlines() if line.startswith("Inst ")]


def paragraphs(text):
    """Fields of each package that apt or dpkg shows."""
    for part in text.strip().split("\n\n"):
        yield dict(line.split(": ", 1) for line in part.splitlines() if ": " in line and not line.startswith(" "))


def shown(*packages):
    """What apt or dpkg shows of packages: of those that can be installed now, in one call, which takes a while."""
    if packages[0].endswith(".deb"):
        return output("dpkg-deb", "--field", *packages)
    return output("apt-cache", "--no-all-versions", "show", *packages)


def base(folder):
    """A status file of a Debian with the packages of the priorities required and important, systemd, and its bus."""
    names = {field["Package"] for field in paragraphs(output("apt-cache", "dumpavail"))
             if field.get("Priority") in ("required", "important")}
    empty = os.path.join(folder, "empty")
    open(empty, "w", encoding="ascii").close()
    status = os.path.join(folder, "status")
    there = simulate(empty, *sorted(names), "systemd-sysv", "dbus", "ca-certificates")
    with open(status, "w", encoding="utf-8") as file:
        for part in shown(*there).strip().split("\n\n"):
            file.write(part.replace("\n", "\nStatus: install ok installed\n", 1) + "\n\n")
    return status


def sizes():
    """For each peer: the packages that come, their size, and the version of the first."""
    version = output(f"{ROOT}/packaging/version", "deb").strip()
    ours = f"{ROOT}/build/killswitchd_{version}_{output('dpkg', '--print-architecture').strip()}.deb"
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        status = base(folder)
        for kind in peers.ALL:
            wanted = [ours] if kind is peers.Ours else kind.packages.split()
            names = simulate(status, *wanted)
            fields = list(paragraphs(shown(*[ours if name == "killswitchd" else name for name in names]))) if names else []
            result[kind.name] = {
                "packages": names, "megabytes": sum(int(field["Installed-Size"]) for field in fields) / 1024,
                "version": next(paragraphs(shown(wanted[0])))["Version"]}
    return result
