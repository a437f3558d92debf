"""The limits of the benchmarks: each is one line of one form, of which Benchmarks/run makes its last table.

A limit holds what was reached. Where a goal was out of reach, the line has it too: docs/benchmarks.md says why."""
import sys

missed = []


def limit(what, value, most, unit="", goal=None):
    """Prints whether a figure is at most its limit."""
    if value > most:
        missed.append(what)
    verdict = "MISSED" if value > most else "ok"
    wanted = "" if goal is None or value <= goal else f", goal {goal:g}"
    print(f"LIMIT  {what:<62} {value:9.2f} {unit:<3} at most {most:<6g} {verdict}{wanted}", flush=True)


def end():
    """Ends the benchmark: with 1 if it has missed a limit."""
    sys.exit(1 if missed else 0)
