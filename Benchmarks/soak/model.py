"""What each service must be: the contract read once more, in another language, and none of the daemon's code.

The model knows the flags that were published, the orders that operators gave, and the time. `Model.verdict` is what
must be true once the world is quiet. `Model.possible` is every state that may be seen meanwhile: by flags that a
daemon may have missed or not, by an order whose answer was lost, and at each time since the world was last quiet.
"""
import calendar
import itertools
import time

RANK = ["running", "countdown", "maintenance", "update-required", "ended"]
GOOD_ANSWER_COUNTS = 7  # Seconds: five, what the question takes, and how exact the sampler is.
CLOSED = ("maintenance", "update-required", "ended")


def text_of(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def seconds_of(text):
    return calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))


def gate(state):
    return "closed" if state in CLOSED else "open"


def read_switch(flags, now):
    """The format "switch": a state, an end, windows, the steps of a rollout."""
    state, reason = flags["state"], "flags"
    if "ends_at" in flags and RANK.index(state) <= 1:
        state, reason = ("ended", "end-passed") if now >= seconds_of(flags["ends_at"]) else ("countdown", "flags")
    for window in flags.get("windows", ()):
        begin, end = seconds_of(window["from"]), seconds_of(window["until"])
        if begin <= now < end and RANK.index(state) < RANK.index("maintenance"):
            state, reason = "maintenance", "window"
        elif now < begin and (state, reason) == ("running", "flags"):
            reason = "window-ahead"
    steps = [step["percent"] for step in flags.get("rollout", ()) if seconds_of(step["at"]) <= now]
    if "rollout" in flags and gate(state) == "closed" and (steps or [0])[-1] == 0:
        state, reason = "running", "rollout"
    return state, reason


def read_status(flags, _):
    if flags["forceUpdate"]:
        return "update-required", "flags"
    return ("maintenance" if flags["apiInactive"] else "running"), "flags"


def read_maintenance(flags, _):
    return ("maintenance" if flags["isUnderMaintenance"] else "running"), "flags"


def read_service_end(flags, now):
    if flags["service_end"] == "no":
        return "running", "flags"
    if flags["service_end"] != "countdown":
        return "ended", "flags"
    return ("ended", "end-passed") if now >= seconds_of(flags["service_countdown"]) else ("countdown", "flags")


READERS = {"switch": read_switch, "status": read_status, "maintenance": read_maintenance,
           "service-end": read_service_end}


def edges(value):
    """Every time in flags or in an order: when it alone may change something."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [edge for item in value for edge in edges(item)]
    return [seconds_of(value)] if isinstance(value, str) and value[:2] == "20" and "T" in value else []


class Model:
    """`services` maps a name to its switches, pairs of a place and a format. A place is a source with a key: where the
    flags of one switch are."""

    def __init__(self, services, flags, clocks, guarded):
        self.services = services
        self.guarded = guarded  # the services whose steps wait for a guard
        self.refuses_since = None  # when the guard began to say no; None while it says yes
        self.refused_until = 0     # until when a step may wait because it said no
        self.clocks = clocks  # the sources whose servers have a clock
        self.flags = {place: [value] for place, value in flags.items()}
        self.orders = {name: [None] for name in services}  # that may have been in force since then
        self.final = {name: [None] for name in services}   # that may be in force at last
        self.quiet_since = time.time()
        self.shifts = set()  # what the clocks of servers were wrong by since then
        self.held = set()    # services that the host guard must hold open, until it is confirmed

    def publish(self, place, flags):
        self.flags[place].append({**flags, "published": text_of(time.time())})

    def guard_refuses(self):
        self.refuses_since, self.refused_until = time.time(), float("inf")

    def guard_is_well(self):
        self.refuses_since, self.refused_until = None, time.time() + 60

    def is_held(self, name, flags, state, now):
        """Whether the guard surely holds a step: it came after the last good answer had ceased to count. A guard is
        asked about a step that moves the gate, and not where the flags before had closed it."""
        if name not in self.guarded or self.refuses_since is None or gate(state) == "open" or "rollout" not in flags:
            return False
        if self.were_closed_before(name, flags):
            return False
        came = max((edge for edge in edges(flags["rollout"]) if edge <= now), default=0)
        return max(came, seconds_of(flags["published"])) > self.refuses_since + GOOD_ANSWER_COUNTS

    def were_closed_before(self, name, flags):
        """Whether the gate may have been closed by the flags before these."""
        for place, form in self.services[name]:
            values = self.flags[place]
            if flags in values[1:]:
                before = values[values.index(flags) - 1]
                return any(gate(READERS[form](before, moment)[0]) == "closed" for moment in (self.quiet_since, time.time()))
        return False

    def begin_order(self, service, order):
        """An operator gives an order, None for a release: from now on it may be seen."""
        self.orders[service].append(order)

    def end_order(self, service, order, is_certain):
        """The answer to an order. Without one it may be in force or not."""
        self.final[service] = ([] if is_certain else self.final[service]) + [order]

    def shift_clock(self, seconds):
        """The clock of a server is wrong. Ends of its source may follow it, and an order may end by it."""
        self.shifts.add(seconds)
        for candidates in (*self.orders.values(), *self.final.values()):
            if None not in candidates:
                candidates.insert(0, None)

    def order_in_force(self, name, now, told):
        """The operator's order; where it is not known which, the one that the daemon tells, if it may be."""
        candidates = [order if order and now < order["until"] else None for order in self.final[name]]
        return next((order for order in candidates if (order or {}).get("reason") == told), candidates[-1])

    def verdict(self, name, now, order):
        """The state, and the reason of the switches that decide it."""
        if order:
            return order["state"], {"override"}
        readings = [READERS[form](self.flags[place][-1], now) for place, form in self.services[name]]
        state = max((state for state, _ in readings), key=RANK.index)
        return state, {reason for other, reason in readings if other == state}

    def possible(self, name, now):
        switches = self.services[name]
        times = {self.quiet_since - 1, now + 1}
        values = [value for place, _ in switches for value in self.flags[place]]
        times.update(edge for edge in edges(values) if self.quiet_since - 1 <= edge <= now + 1)
        if any(source in self.clocks for (source, _), _ in switches):
            times.update([moment + shift for moment in list(times) for shift in self.shifts])
        found = {order["state"] for order in self.orders[name] if order and order["until"] > self.quiet_since - 1}
        # An order that holds for the whole time hides the flags.
        if all(order and order["until"] > now + 1 for order in self.orders[name]):
            return found
        for flags in itertools.product(*(self.flags[place] for place, _ in switches)):
            for moment in times:
                states = [READERS[form](value, moment)[0] for value, (_, form) in zip(flags, switches)]
                if not any(self.is_held(name, value, state, moment) for value, state in zip(flags, states)):
                    found.add(max(states, key=RANK.index))
        # A step that came behind an operator's order is asked about at its end, which takes the guard's second at most.
        has_ended = any(order and now - 2 < order["until"] <= now + 1 for order in self.orders[name])
        is_asked = has_ended or now < self.refused_until
        if name in self.guarded and is_asked and any("rollout" in value for value in values):
            found.add("running")
        return {state for state in found if name not in self.held or gate(state) == "open"}

    def settle(self, orders, now):
        """The world was quiet at this time: what was read and ordered is known."""
        self.flags = {place: values[-1:] for place, values in self.flags.items()}
        self.orders = {name: [order] for name, order in orders.items()}
        self.final = {name: [order] for name, order in orders.items()}
        self.shifts = set()
        self.quiet_since = now

    def next_edge(self, now, within):
        """The last time within so many seconds at which something changes by itself."""
        values = [values[-1] for values in self.flags.values()]
        times = edges(values) + [order["until"] for orders in self.final.values() for order in orders if order]
        return max((edge for edge in times if now <= edge <= now + within), default=now)
