"""The limits of the benchmarks: each is one line of one form, of which Benchmarks/run makes its last table.

A limit holds what was reached. Where a goal was out of reach, the line has it too: docs/benchmarks.md says why.

The limits of times are for a processor of pace 1. A shared machine has half of that within a minute, and a limit that
each slow minute misses tells nobody of a regression. So a time is divided by the pace of its minute: the processor time
that Python's json, which is in C, needs for one document, times what it needed at pace 1."""
import json
import statistics
import sys
import time

DOCUMENT = json.dumps({f"k{i}": {"a": [i, i + 1.5, "text" * 4], "b": True, "c": None} for i in range(8000)})
AT_PACE_ONE_MS = 10.0
missed = []


def measured():
    """How much slower the machine is now than at pace 1."""
    times = []
    for _ in range(9):
        began = time.process_time()
        json.loads(DOCUMENT)
        times.append(time.process_time() - began)
    return max(1, 1e3 * statistics.median(times) / AT_PACE_ONE_MS)


before = measured()


def limit(what, value, most, unit="", goal=None):
    """Prints whether a figure is at most its limit. A time in ms is measured against the pace of the machine, the
    mean of now and of the last limit."""
    global before
    pace = ""
    if unit == "ms":
        now = measured()
        mean, before = (before + now) / 2, now
        pace = f" ({value:.2f} at pace {mean:.2f})"
        value /= mean
    if value > most:
        missed.append(what)
    verdict = "MISSED" if value > most else "ok"
    wanted = "" if goal is None or value <= goal else f", goal {goal:g}"
    print(f"LIMIT  {what:<62} {value:9.2f} {unit:<3} at most {most:<6g} {verdict}{wanted}{pace}", flush=True)


def end():
    """Ends the benchmark: with 1 if it has missed a limit."""
    sys.exit(1 if missed else 0)
