"""What is measured of the peers: times of flips, CPU time, memory."""
import random
import statistics
import time

from host import (CLOSED, OPEN, cpu, is_down, is_up, memory_of, now, processes, processes_named, run_quietly, shell, stamps,
                  summary, system_cpu, wait)

PATIENCE = 20


def begin(peers, lanes, web):
    """Configures the peers for these lanes, of which the first is open and the others are closed, and starts them."""
    for peer in peers:
        peer.prepare(lanes)
    for lane in lanes:
        web.publish(lane, OPEN if lane == lanes[0] else CLOSED)
    shell("systemctl daemon-reload")
    for peer in peers:
        for lane in lanes:
            run_quietly("systemctl", "start", *peer.units(lane))
        peer.start()
        peer.attach()
    for peer in peers:
        if not wait(lambda: settled(peer, lanes[0], lanes[1:]), PATIENCE):
            print(f"compare: {peer.name} does not follow its flags:\n{peer.words(time.time() - 60)[-1500:]}", flush=True)


def end(peers):
    for peer in peers:
        peer.stop()
        for lane in peer.lanes:
            run_quietly("systemctl", "stop", *peer.units(lane))


def settled(peer, opened, closed):
    return is_up(peer.units(opened)) and all(is_down(peer.units(lane)) for lane in closed)


def flips(peers, web, count, lanes=(0, 1)):
    """Closes one lane and opens the other, again and again. Seconds from the change until the last unit is down."""
    times = {peer.name: [] for peer in peers}
    missed = {peer.name: 0 for peer in peers}
    opened, closed = lanes
    for _ in range(count):
        opened, closed = closed, opened
        began = web.publish(closed, CLOSED)
        web.publish(opened, OPEN)
        waiting = list(peers)
        limit = now() + PATIENCE
        while waiting and now() < limit:
            waiting = [peer for peer in waiting if not settled(peer, opened, [closed])]
            time.sleep(0.01)
        seen = stamps([unit for peer in peers for unit in peer.units(closed)], "InactiveEnter")
        for place, peer in enumerate(peers):
            if peer in waiting:
                missed[peer.name] += 1
                run_quietly("systemctl", "stop", *peer.units(closed))
                run_quietly("systemctl", "start", *peer.units(opened))
            else:
                times[peer.name].append(max(seen[2 * place:2 * place + 2]) - began)
        # A flip comes at any time of a poll's interval, whoever was the last to settle.
        time.sleep(random.uniform(0, max(peer.interval for peer in peers)))
    return {name: {**(summary(values) or {}), "missed": missed[name]} for name, values in times.items()}


def rounds(peer, web, count):
    """The same for a peer of one lane, whose runs are long."""
    times = []
    for _ in range(count):
        began = web.publish(0, CLOSED)
        if wait(lambda: is_down(peer.units(0)), PATIENCE):
            times.append(max(stamps(peer.units(0), "InactiveEnter")) - began)
        web.publish(0, OPEN)
        wait(lambda: is_up(peer.units(0)), PATIENCE)
    return {**(summary(times) or {}), "missed": count - len(times)}


def idle(peers, web, seconds):
    """CPU time and polls of everybody at once, while the document stays the same, and the memory of each."""
    before = {peer.name: cpu(peer.slice) for peer in peers}
    polls, system = web.polls(), system_cpu()
    samples = {peer.name: [] for peer in peers}
    limit = now() + seconds
    began = now()
    while now() < limit:
        time.sleep(0.25)
        # Reading the memory of a process costs time: only of those that may have none at another moment.
        for peer in peers:
            if peer.name in ("timer", "ansible"):
                samples[peer.name].append(memory_of(processes(peer.slice)))
    took = now() - began
    result = {"system": (system_cpu() - system) / took}
    counts = web.polls()
    for peer in peers:
        used = cpu(peer.slice) - before[peer.name]
        asked = counts.get(peer.name, 0) - polls.get(peer.name, 0)
        running = [sample for sample in samples[peer.name] if sample[0] > 0] or [memory_of(processes(peer.slice))]
        result[peer.name] = {
            "cpu_of_poll_us": used / asked if asked else None, "cpu_of_hour_s": used / took * 3600 / 1e6,
            "polls_a_second": asked / took,
            "resident": statistics.median(sample[0] for sample in running),
            "proportional": statistics.median(sample[1] for sample in running),
            "is_transient": bool(samples[peer.name]),
        }
    return result
