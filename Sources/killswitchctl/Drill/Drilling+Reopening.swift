import CivilTime
import Decision
import EventLoop

extension Drilling {
    /// Ends the order, and says whether the gate opens. A daemon that is not there is waited for: the
    /// order ends by itself too, but that is also its work.
    func open() -> Bool {
        var isAbsenceSaid = false
        let last = max(expiry, loop.now.boot) + Self.daemonMayTake
        while true {
            let asked = EventLoop.uptime
            do {
                let standing = try order.release()
                switch standing {
                case .open:
                    times.reopened = asked
                    return true
                case .ordered, .kept: return awaitMinClosed()
                case .forced, .closed: return fail(standing.words)
                }
            } catch  where error.status == .unreachable {
                if !isAbsenceSaid {
                    tell("killswitchd does not answer, waiting for it: it opens the gate again")
                }
                isAbsenceSaid = true
                guard loop.now.boot < last, !isImpatient else {
                    return fail(
                        "killswitchd does not answer; the gate opens when it is there again, or "
                            + "with 'systemctl start killswitch-open@\(order.service).target'")
                }
                wait(.milliseconds(200))
            } catch {
                return fail(error.message ?? "the order could not be ended")
            }
        }
    }

    /// The gate opens later by the service's own policy. A drill that was broken off does not wait for
    /// long.
    private func awaitMinClosed() -> Bool {
        tell("min_closed keeps the gate closed for a moment")
        var lastClosed = EventLoop.uptime
        while !isImpatient {
            let looked = EventLoop.uptime
            guard let standing = standing() else {
                return fail(published.isOutOfDate(order.service))
            }
            switch standing {
            case .kept, .ordered:
                lastClosed = looked
                wait()
            case .open:
                // Units may have been started between the two looks.
                times.reopened = lastClosed
                return true
            case .forced, .closed: return fail(standing.words)
            }
        }
        return fail("the gate is still closed, and opens by itself when min_closed is over")
    }

    /// Waits until every unit is as before, or has had its time.
    func awaitStarts() throws(CommandFailure) {
        let began = loop.now.boot
        patience = DrillPatience(since: began)
        var openSince: Boottime?
        while !isImpatient {
            let seen = try list()
            let now = loop.now.boot
            if openSince == nil, rehearsal.isOpen(seen) { openSince = now }
            if let standing = standing(), standing.isTakenAway { return note(standing.words) }
            var awaited = rehearsal.units
            if let openSince {
                awaited.removeAll { $0.hasSettled(seen[$0.name], after: now - openSince) }
                let isOver = awaited.allSatisfy { now - openSince >= limit(of: $0) }
                if isOver || interruption != nil { return }
            } else if now - began >= gateLimit {
                return note("the gate has not opened: see 'systemctl status killswitchd'")
            }
            sayWhatIsWaitedFor(awaited, seen)
            wait()
        }
    }

    /// How long a unit may take after the gate has opened.
    private func limit(of unit: RehearsedUnit) -> Duration {
        let isLate = courses[unit.name]?.closed.map { !unit.hasStopped($0.seen) } ?? false
        switch unit.kind {
        case .attached, .dependent: return unit.startLimit + (isLate ? unit.stopLimit : .zero)
        case .state: return unit.stopLimit
        }
    }

    /// How long the gate may take: what has to stop before it opens may take its time.
    private var gateLimit: Duration {
        rehearsal.units.map(\.stopLimit).reduce(.zero, max) + Self.daemonMayTake
    }

    private static let daemonMayTake: Duration = .seconds(60)
}
