"""The limits of the benchmarks: each is one line of one form, of which Benchmarks/run makes its last table."""
import sys

missed = []


def limit(what, value, most, unit=""):
    """Prints whether a figure is at most its limit."""
    if value > most:
        missed.append(what)
    verdict = "MISSED" if value > most else "ok"
    print(f"LIMIT  {what:<62} {value:9.2f} {unit:<3} at most {most:<6g} {verdict}", flush=True)


def end():
    """Ends the benchmark: with 1 if it has missed a limit."""
    sys.exit(1 if missed else 0)
