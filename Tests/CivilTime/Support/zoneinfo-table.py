"""Prints conversions of every zone of a folder by Python's zoneinfo, for tests to compare.

For each zone a line `zone NAME`, then lines of five integers:

    instant  offset  midnight  other  days

instant and other are seconds since 1970-01-01T00:00:00Z, offset is seconds east at the instant,
midnight is the earliest later second with another local date, days is the difference of the local
dates of other and instant. Only conversions by zoneinfo are used; the choice of instants is seeded.
"""

import os
import random
import sys
import zoneinfo
from datetime import date, datetime, timedelta, timezone

ROWS = 200
HOUR = 3600
DAY = 24 * HOUR
FIRST = int(datetime(1970, 1, 1, tzinfo=timezone.utc).timestamp())
LAST = int(datetime(2100, 12, 31, tzinfo=timezone.utc).timestamp())


def local(zone, second):
    return datetime.fromtimestamp(second, zone)


def offset(zone, second):
    return local(zone, second).utcoffset()


def first_change(zone, low, high):
    """The second of the change of offset in (low, high], given that the offsets there differ."""
    before = offset(zone, low)
    while high - low > 1:
        middle = (low + high) // 2
        if offset(zone, middle) == before:
            low = middle
        else:
            high = middle
    return high


def changes(zone, low, high, step):
    """The changes of offset in (low, high], as far as they are more than a step apart."""
    before = offset(zone, low)
    for second in range(low, high, step):
        end = min(second + step, high)
        after = offset(zone, end)
        if after != before:
            yield first_change(zone, second, end)
        before = after


def next_midnight(zone, second):
    """The local date can change at a local midnight and at a change of offset, and nowhere else."""
    today = local(zone, second).date()

    def is_candidate(other):
        return other > second and local(zone, other).date() != today

    midnight = datetime.combine(today + timedelta(days=1), datetime.min.time(), zone)
    folds = [int(midnight.replace(fold=fold).timestamp()) for fold in (0, 1)]
    candidates = [other for other in folds if is_candidate(other)]
    horizon = min(candidates, default=second + 50 * HOUR)
    candidates += filter(is_candidate, changes(zone, second, horizon, 2 * HOUR))
    return min(candidates)


def instants(zone, dice):
    """A third anywhere, a third around changes of offset, a third around midnights."""
    known = list(changes(zone, FIRST, LAST, 10 * DAY))
    for row in range(ROWS):
        anywhere = dice.randrange(FIRST, LAST)
        kind = row % 3
        if kind == 1 and known:
            near = (-DAY, -HOUR, -61, -60, -1, 0, 1, 59, 60, HOUR, dice.randrange(-DAY, DAY))
            yield dice.choice(known) + dice.choice(near)
        elif kind == 2:
            around = dice.choice(known) if known and dice.random() < 0.3 else anywhere
            yield next_midnight(zone, around) + dice.choice((-1, 0, 1))
        else:
            yield anywhere


def main(folder):
    zoneinfo.reset_tzpath(to=[folder])
    for name in sorted(zoneinfo.available_timezones()):
        if not os.path.isfile(os.path.join(folder, name)):
            continue  # known to the package tzdata only
        zone = zoneinfo.ZoneInfo(name)
        dice = random.Random(name)
        print("zone", name)
        for second in instants(zone, dice):
            reach = dice.choice((3 * DAY, 400 * DAY, 20000 * DAY))
            other = second + dice.randrange(-reach, reach)
            here, there = local(zone, second), local(zone, other)
            east = here.utcoffset() // timedelta(seconds=1)
            days = date.toordinal(there) - date.toordinal(here)
            print(second, east, next_midnight(zone, second), other, days)


main(sys.argv[1])
