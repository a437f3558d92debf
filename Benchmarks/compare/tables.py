"""The page docs/comparison.md, from what was measured and tried."""
import datetime
import platform
import subprocess

import peers

QUICK = " **A quick run: its figures mean nothing.**"
KINDS = {kind.name: kind for kind in peers.ALL}
ABILITIES = [
    ("hand", "refuse a start by hand while closed"),
    ("end", "keep an announced end without the server"),
    ("stubborn", "name the unit that does not stop"),
    ("author", "say who has ordered"),
    ("reboot", "be right after a reboot without the server"),
]


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def number(value, places=1):
    return "–" if value is None else f"{value:,.{places}f}"


def ratio(value, ours):
    if not value or not ours:
        return ""
    times = value / ours
    return f" ({times:,.0f})" if times >= 100 else f" ({times:.2f})"


def milliseconds(figure, key, ours):
    if not figure or figure.get(key) is None:
        return "–"
    return f"{figure[key] * 1e3:,.0f} ms" + ratio(figure[key], ours.get(key))


def flips(result):
    rows = []
    for part, suffix in (("flips", ""), ("flips_100ms", ", every 100 ms")):
        figures = result[part]
        ours = figures["killswitchd"]
        for name, figure in figures.items():
            missed = figure["missed"]
            rows.append([KINDS[name].title + suffix, milliseconds(figure, "p50", ours), milliseconds(figure, "p99", ours),
                         str(figure.get("count", 0)), str(missed)])
    return table(["flag changed → last unit down", "p50", "p99", "flips", "missed"], rows)


def costs(result, sizes):
    idle = result["idle"]
    ours, own_size = idle["killswitchd"], sizes["killswitchd"]
    rows = []
    for name, kind in KINDS.items():
        figure, size = idle[name], sizes[name]
        poll = figure["cpu_of_poll_us"]
        rest = "0 between runs; " if figure["is_transient"] else ""
        rows.append([
            kind.title,
            "–" if poll is None else f"{poll / 1e3:,.2f} s" + ratio(poll, ours["cpu_of_poll_us"]),
            f"{figure['cpu_of_hour_s']:,.1f} s" + ratio(figure["cpu_of_hour_s"], ours["cpu_of_hour_s"]),
            rest + f"{figure['resident']:.1f} MB" + ratio(figure["resident"], ours["resident"]),
            rest + f"{figure['proportional']:.1f} MB" + ratio(figure["proportional"], ours["proportional"]),
            f"{size['megabytes']:.1f} MB" + ratio(size["megabytes"], own_size["megabytes"]),
            str(len(size["packages"]))])
    return table(["", "CPU of 1,000 polls", "CPU of an idle hour", "resident", "proportional", "installed", "packages"], rows)


def misfires(result):
    kinds = result["kinds"]
    rows = []
    for name, kind in KINDS.items():
        own = result[name]
        down = [each[0] for each in own["misfires"]]
        rows.append([kind.title, f"**{len(down)}**", *[str(down.count(each)) for each in kinds],
                     f"**{len(own['missed'])}** of {own['orders']}", str(len(own["stuck"]))])
    head = ["", f"of {result['answers']}", *[f"{each} ({count})" for each, count in kinds.items()], "true orders missed",
            "not back within 10 s"]
    return table(head, rows)


def details(result):
    lines = []
    for name, kind in KINDS.items():
        names = [f"{each[1]} ({each[0]})" for each in result[name]["misfires"]]
        missed = [f"{each[1]} ({each[0]})" for each in result[name]["missed"]]
        for what, entries in (("taken down by", names), ("orders missed after", missed)):
            if entries and len(entries) <= 40:
                lines.append(f"- {kind.title}, {what}: {'; '.join(entries)}.")
    return "\n".join([*lines, "", "Lists of more than 40 are left out."])


def abilities(result, broken):
    rows = []
    for name, kind in KINDS.items():
        half = sum(each[0] == "half a document" for each in broken[name]["misfires"]) if broken else None
        row = [kind.title, "–" if half is None else "yes" if half == 0 else f"no: taken down by {half}"]
        for key, _ in ABILITIES:
            seen = result[key][name]
            word = "yes" if seen["can"] else "no"
            row.append(word if seen["text"] == word else f"{word}: {seen['text']}")
        rows.append(row)
    return table(["can it …", "survive half a document", *[title for _, title in ABILITIES]], rows)


def told(result):
    lines = []
    for key, title in ABILITIES:
        for name, seen in result[key].items():
            if seen.get("line"):
                lines.append(f"- {title}, {KINDS[name].title}: `{seen['line']}`")
    return "\n".join(lines)


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = [line.partition(": ")[2].strip() for line in file if line.startswith("model name")]
    with open("/etc/os-release", encoding="utf-8") as file:
        system = dict(line.strip().split("=", 1) for line in file if "=" in line)["PRETTY_NAME"].strip('"')
    systemd = subprocess.run(["systemctl", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    return f"{len(models)} × {models[0]}, {system}, Linux {platform.release().partition('-')[0]}, systemd {systemd}"


def page(result, sizes, took, is_quick):
    parts = [f"""# Beside what people would use instead

`make compare` makes this page, as root, in {took / 60:.0f} minutes: {datetime.date.today():%-d %B %Y},
{machine()}.{QUICK if is_quick else ""} It installs the packages of the others: use a machine
that does nothing else, and that you can throw away. `make compare QUICK=1` prints short tables and writes nothing, and
`Benchmarks/compare/compare --only misfires` makes one part. The programs and configurations are in `Benchmarks/compare`. We wrote
those of the others: they show what such a script does without extra work. None of them reads `ends_at` or `author`, stores its
state over a reboot, or masks a unit.

Everybody follows the same small document over HTTP on the same machine, in the same minutes, on a booted systemd, and has two
units to stop. In brackets are multiples of killswitchd's figure. Each polls as often as it can, at most once a second. Usual
are 30 to 120 s for monit, and 15 minutes or more for ansible-pull; an idle hour then costs that much less.

""" + table(["", "version of its first package", "how"], [[kind.title, sizes[name]["version"], kind.how] for name, kind in KINDS.items()])]
    if "figures" in result:
        figures = result["figures"]
        idle = figures["idle"]
        timer = max(0.0, idle["system"] - figures["idle_without_timer"]["system"]) * 3600 / 1e6
        parts.append(f"""
## How fast, and what it costs

A flip closes one document and opens another at the same moment. Most of the time is the wait for the next poll, half of the interval.
It comes by chance, so the p50 of two equal peers differ by up to a tenth of the interval. A flip is missed if the units are not
down, or the others not up, within 20 s. ansible-pull is measured alone, after the others.

{flips(figures)}

CPU time is that of all processes of a peer, with those that have ended, while the document stays the same: measured for a minute, with
one document (ansible-pull: for about two, with its flips). Beside it the timer costs an hour {timer:,.0f} s of systemd, the journal,
and the bus, because systemd starts a unit each second. Once a second a poll finds the processor's caches cold;
[benchmarks](benchmarks.md) has polls every 100 ms. Memory is the sum of all processes. *Installed* and *packages* are what apt adds to a Debian of its base packages,
without recommended packages.

{costs(figures, sizes)}
""")
    if "misfires" in result:
        parts.append(f"""
## Misfires

{result["misfires"]["answers"]} broken answers over HTTPS, in a shuffled order, each for two polls or more. None asks a service to stop; two have a key twice, once
`true`. A misfire is an answer that stops a unit that runs. After each tenth answer a true order to close follows at once; it is
missed if the units are not down within 10 s. Here killswitchd and the C program poll every 0.1 s, Python 0.2, the timer 0.5,
keepalived and monit 1; ansible-playbook runs once for each answer.

keepalived's script and monit's check know two answers and no *unknown*: here they close when in doubt. Written the other way round they would
misfire less. The Python loop and the timer take every value that is true in their language for `true`.

{misfires(result["misfires"])}

{details(result["misfires"])}
""")
    if "abilities" in result:
        parts.append(f"""
## What each can and cannot do

Tried, each on all of them at once; killswitchd reads the format `switch`. *Name the unit*: of two units one ignores SIGTERM; a line of the
peer itself names it, and not the other. For all of them systemd's journal names the unit at its stop limit. *Say who*: the order
is signed by alice; for the others, which read no signatures, the document says so in a member. *Reboot*: one document was closed
and another open before it, and after it the web server does not run. killswitchd starts what is open after `first_timeout`,
30 s; the page looks 45 s after the boot.

{abilities(result["abilities"], result.get("misfires"))}

{told(result["abilities"])}
""")
    return "\n".join(part.rstrip() + "\n" for part in parts)
